"""Training whose input table holds means of rows (means.py): in spans of blocks, after which the rows take the steps.

For a span the words that it touches are listed and their means composed into the input table; its blocks train these as
if they were rows; then each row takes the steps of all its words, in the order of the list. Within a span words do not
see each other's steps on rows that they have in common.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from embcli.kernels._jit import inner_kernel, kernel
from embcli.kernels.draws import GOLD, S32, U, mix
from embcli.kernels.means import PARTS, ask_for_rows, mean_row, step_rows
from embcli.kernels.teams import fetch_add, load_now, wait_for
from embcli.kernels.training import train_blocks
from embcli.kernels.vectors16 import add_row, copy_row, scale_row

#: words that a thread composes in one go
_WORDS = 32


class Means(NamedTuple):
    """What the input table is made of.

    rows : float32 (n, padded).  starts, lists : of each word, as ``means.by_part`` lists them.
    shares : float32 (V,), what part of a mean's step its rows take.
    words : int64 (capacity,), listed in this span.  count : int64 (1,), how many.  seen : bool (V,), whether listed.
    before : float32 (capacity, padded), means as they were composed; after the span the steps of their rows.
    """

    rows: Any
    starts: Any
    lists: Any
    shares: Any
    words: Any
    count: Any
    seen: Any
    before: Any


@inner_kernel
def kept(text, means, token):  # type: ignore[no-untyped-def]
    """Return whether a token is not left out as too frequent; list its word if there is one (gaps have none)."""
    w = np.int64(text.ids[token])
    if (mix(text.key + U(token) * GOLD) >> S32) >= text.limits[w]:
        return False
    if w < len(text.limits) - 1 and not means.seen[w]:
        means.seen[w] = True
        means.words[means.count[0]] = w
        means.count[0] += 1
    return True


@inner_kernel
def list_share(text, course, means, first, stop):  # type: ignore[no-untyped-def]
    """List the words of tokens [first, stop) and of the margins that their windows reach."""
    row = np.searchsorted(text.row_offsets, first, side="right") - 1
    while first < stop:
        last = min(stop, text.row_offsets[row + 1])
        if last > first and not text.held[row]:
            left, token = course.window, first - 1
            while left > 0 and token >= text.row_offsets[row]:
                left -= kept(text, means, token)
                token -= 1
            for inside in range(first, last):
                kept(text, means, inside)
            left, token = course.window, last
            while left > 0 and token < text.row_offsets[row + 1]:
                left -= kept(text, means, token)
                token += 1
        first = last
        row += 1


@inner_kernel
def list_words(text, course, lanes, means, start, stop):  # type: ignore[no-untyped-def]
    """List the words that blocks [start, stop) touch instead of those of the span before."""
    for i in range(means.count[0]):
        means.seen[means.words[i]] = False
    means.count[0] = 0
    for lane in range(lanes):
        for block in range(start, stop):
            first = min((block * course.pace + lane * course.stride) * course.share, len(text.ids))
            list_share(text, course, means, first, min(first + course.share, len(text.ids)))


@inner_kernel
def compose(means, inputs, first):  # type: ignore[no-untyped-def]
    """Put the means of listed words, from ``first`` on, into the input table and into ``before``."""
    n, rows, stop = inputs.table.shape[1] >> 4, means.rows.ctypes.data, min(first + _WORDS, means.count[0])
    for i in range(first, stop):
        word = means.words[i]
        if i + 1 < stop:
            ask_for_rows(rows, n, means.starts, means.lists, means.words[i + 1], 0, PARTS)
        target = inputs.table.ctypes.data + 64 * n * word
        mean_row(rows, n, means.starts, means.lists, word, target)
        copy_row(means.before.ctypes.data + 64 * n * i, target, n)


@inner_kernel
def sum_steps(means, inputs, first):  # type: ignore[no-untyped-def]
    """Make what listed words, from ``first`` on, were before into the steps that their rows take."""
    n, stop = inputs.table.shape[1] >> 4, min(first + _WORDS, means.count[0])
    for i in range(first, stop):
        word = means.words[i]
        step = means.before.ctypes.data + 64 * n * i
        scale_row(step, step, n, -means.shares[word])
        add_row(step, inputs.table.ctypes.data + 64 * n * word, n, means.shares[word])


@inner_kernel
def bring_back(means, inputs, part):  # type: ignore[no-untyped-def]
    """Add the steps of all listed words to their rows of one part."""
    n, rows, count = inputs.table.shape[1] >> 4, means.rows.ctypes.data, means.count[0]
    for i in range(count):
        if i + 2 < count:
            ask_for_rows(rows, n, means.starts, means.lists, means.words[i + 2], part, 1)
        step_rows(rows, n, means.starts, means.lists, means.words[i], part, means.before.ctypes.data + 64 * n * i)


@kernel
def train_spans(text, course, goal, means, inputs, outputs, room, thread, base, start, stop, size, totals, control):  # type: ignore[no-untyped-def]
    """Do what ``train_blocks`` does, in spans of ``size`` blocks, the last one perhaps shorter.

    control : int64 (blocks + 2 spans, 8), zeros: those of the blocks; then of each span lists claimed and done, words
    claimed and batches composed, words claimed and batches of their steps, words in all, and on a line of its own
    parts claimed and done.
    """
    lanes, step = inputs.marks.shape[1], max(inputs.copies.shape[1], outputs.copies.shape[1])
    for first in range(start, stop, size):
        last = min(first + size, stop)
        at = control.ctypes.data + 64 * (stop - start + 2 * ((first - start) // size))
        if fetch_add(at, 1) == 0:
            list_words(text, course, lanes, means, first, last)
            fetch_add(at + 48, means.count[0])
            fetch_add(at + 8, 1)
        wait_for(at + 8, 1)
        # a thread may come here when the others are done and list the next span: the count is this span's own
        count = load_now(at + 48)
        batches = (count + _WORDS - 1) // _WORDS
        word = fetch_add(at + 16, _WORDS)
        while word < count:
            compose(means, inputs, word)
            fetch_add(at + 24, 1)
            word = fetch_add(at + 16, _WORDS)
        wait_for(at + 24, batches)
        train_blocks(
            text, course, goal, inputs, outputs, room, thread, base, first, last, totals, control[first - start :]
        )
        for block in range(first, last):
            wait_for(control.ctypes.data + 64 * (block - start) + 8, lanes)
        word = fetch_add(at + 32, _WORDS)
        while word < count:
            sum_steps(means, inputs, word)
            fetch_add(at + 40, 1)
            word = fetch_add(at + 32, _WORDS)
        wait_for(at + 40, batches)
        part = fetch_add(at + 64, 1)
        while part < PARTS:
            bring_back(means, inputs, part)
            fetch_add(at + 72, 1)
            part = fetch_add(at + 64, 1)
        wait_for(at + 72, PARTS)
        base += step * (last - first)
