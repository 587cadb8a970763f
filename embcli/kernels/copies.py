"""A lane's own copies of the table rows that it touches, and their way back into the table.

A row is copied when a lane first touches it in a block; the lane reads and writes only its copy. After the block
new = old + sum over lanes, in lane order, of (copy - old): the same bits whichever thread did what. Marks say which
rows have copies; they carry the block's base number, so nothing is cleared between blocks.

Where a word has several rows of the table (means.py), the copy is their mean, and ``before`` keeps it as it was made.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from embcli.kernels._jit import inner_kernel
from embcli.kernels.means import PARTS, mean_row
from embcli.kernels.vectors16 import change_row, copy_row, fetch_row, gain_row, scale_row


class Side(NamedTuple):
    """One table and the lanes' copies of its rows, or of means of its rows.

    table : float32 (V, padded).  copies : float32 (lanes, capacity, padded); capacity 0: threads write to the table.
    marks : int32 (V, lanes), base + place of the copy.  rows : int32 (lanes, capacity), which row is copied there.
    used : int64 (lanes, 8), copies so far in the first number (a cache line each).
    starts, lists : rows of each word, as ``means.by_part`` lists them; the table has more rows than there are words
    (V), and rows of ``rows`` and ``marks`` are words. Without elements: every word is one row.
    shares : float32 (V,), what part of a mean's step its rows take, for rows that a mean holds more than once.
    before : float32 like ``copies``, means as they were made; then the steps; capacity 0 without lists.
    """

    table: Any
    copies: Any
    marks: Any
    rows: Any
    used: Any
    starts: Any
    lists: Any
    shares: Any
    before: Any


#: rows that the merge asks for before it needs them
AHEAD = 6


@inner_kernel
def ask_for(side, lane, row):  # type: ignore[no-untyped-def]
    """Ask for a row's mark and its place in the table, soon to be used by ``row_of``."""
    n = side.table.shape[1] >> 4
    if side.copies.shape[1]:
        fetch_row(side.marks.ctypes.data + 4 * side.marks.shape[1] * row, 1)
    if len(side.lists):
        fetch_row(side.starts.ctypes.data + 8 * PARTS * row, 1)
        return
    fetch_row(side.table.ctypes.data + 64 * n * row, n)


@inner_kernel
def row_of(side, lane, base, row):  # type: ignore[no-untyped-def]
    """Return the address of a row as this lane sees it; made at first touch."""
    stride = side.table.shape[1] * 4
    if side.copies.shape[1] == 0:
        return side.table.ctypes.data + row * stride
    place = np.int64(side.marks[row, lane]) - base
    start = side.copies.ctypes.data + lane * side.copies.shape[1] * stride
    if place < 0:
        place = side.used[lane, 0]
        side.used[lane, 0] = place + 1
        side.marks[row, lane] = base + place
        side.rows[lane, place] = row
        if len(side.lists):
            n = stride >> 6
            mean_row(side.table.ctypes.data, n, side.starts, side.lists, row, start + place * stride)
            before = side.before.ctypes.data + (lane * side.before.shape[1] + place) * stride
            copy_row(before, start + place * stride, n)
            return start + place * stride
        copy_row(start + place * stride, side.table.ctypes.data + row * stride, stride >> 6)
    return start + place * stride


@inner_kernel
def rows_of(side, word):  # type: ignore[no-untyped-def]
    """Return how many rows a word has."""
    return side.starts[(word + 1) * PARTS] - side.starts[word * PARTS] if len(side.lists) else np.int64(1)


@inner_kernel
def sum_steps(side, lane, base):  # type: ignore[no-untyped-def]
    """Put all lanes' steps into ``before`` for words whose first copy is this lane's; -1 in ``rows`` else."""
    lanes, stride = side.marks.shape[1], side.table.shape[1] * 4
    n, size = stride >> 6, side.copies.shape[1] * stride
    copies, before = side.copies.ctypes.data, side.before.ctypes.data
    for place in range(side.used[lane, 0]):
        w = np.int64(side.rows[lane, place])
        for j in range(lane):
            if side.marks[w, j] >= base:
                side.rows[lane, place] = -1
        if side.rows[lane, place] < 0:
            continue
        at = lane * size + place * stride
        change_row(before + at, copies + at, n)
        for j in range(lane + 1, lanes):
            other = np.int64(side.marks[w, j]) - base
            if other >= 0:
                gain_row(before + at, copies + j * size + other * stride, before + j * size + other * stride, n)
        if side.shares[w] != np.float32(1):
            scale_row(before + at, before + at, n, side.shares[w])


@inner_kernel
def merge(side, lane, base, old):  # type: ignore[no-untyped-def]
    """Bring back the rows whose first copy is this lane's. ``old``: address of room for one row."""
    width, lanes = side.table.shape[1], side.marks.shape[1]
    n, stride = width >> 4, width * 4
    table, copies, size = side.table.ctypes.data, side.copies.ctypes.data, side.copies.shape[1] * width * 4
    for place in range(side.used[lane, 0]):
        if place + AHEAD < side.used[lane, 0]:
            ask_for(side, lane, np.int64(side.rows[lane, place + AHEAD]))
            fetch_row(copies + lane * size + (place + AHEAD) * stride, n)
        w = np.int64(side.rows[lane, place])
        first = True
        for j in range(lane):
            if side.marks[w, j] >= base:
                first = False
        if not first:
            continue
        row, mine = table + w * stride, copies + lane * size + place * stride
        alone = True
        for j in range(lane + 1, lanes):
            other = np.int64(side.marks[w, j]) - base
            if other >= 0:
                if alone:
                    copy_row(old, row, n)
                    copy_row(row, mine, n)
                    alone = False
                gain_row(row, copies + j * size + other * stride, old, n)
        if alone:
            copy_row(row, mine, n)
