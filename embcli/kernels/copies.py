"""A lane's own copies of the table rows that it touches, and their way back into the table.

A row is copied when a lane first touches it in a block; the lane reads and writes only its copy. After the block
new = old + sum over lanes, in lane order, of (copy - old): the same bits whichever thread did what. Marks say which
rows have copies; they carry the block's base number, so nothing is cleared between blocks.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from embcli.kernels._jit import inner_kernel
from embcli.kernels.vectors16 import copy_row, fetch_row, gain_row


class Side(NamedTuple):
    """One table and the lanes' copies of its rows.

    table : float32 (V, padded).  copies : float32 (lanes, capacity, padded); capacity 0: threads write to the table.
    marks : int32 (V, lanes), base + place of the copy.  rows : int32 (lanes, capacity), which row is copied there.
    used : int64 (lanes, 8), copies so far in the first number (a cache line each).
    weights : float32 (V,), of how many rows of another table each row is the mean (means.py), in the input table.
    """

    table: Any
    copies: Any
    marks: Any
    rows: Any
    used: Any
    weights: Any


#: rows that the merge asks for before it needs them
AHEAD = 6


@inner_kernel
def ask_for(side, lane, row):  # type: ignore[no-untyped-def]
    """Ask for a row's mark and its place in the table, soon to be used by ``row_of``."""
    n = side.table.shape[1] >> 4
    if side.copies.shape[1]:
        fetch_row(side.marks.ctypes.data + 4 * side.marks.shape[1] * row, 1)
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
        copy_row(start + place * stride, side.table.ctypes.data + row * stride, stride >> 6)
    return start + place * stride


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
