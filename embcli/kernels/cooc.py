"""Loops that turn token ids into co-occurrence sums, one row of the matrix at a time. No hashing, no sorting of pairs.

Not for floats: sums are whole numbers, so the order in which they are added cannot matter.

V is the number of words; id V is a gap, which takes a place but is no row and no column; V + 1 is a wall, over which
no window reaches. A padded text holds ids with a wall after each row and at both ends. A row's sums grow in a dense
accumulator. Beside it stands one mark for every 8 columns, set when one of them is touched, so that a row is taken
out in ascending order, without looking at the columns that were left alone.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from embcli.kernels._jit import kernel

U = np.uint64  # unsigned places spare the test for negative ones
ONE = U(1)
#: columns that share a mark: a cache line of sums
SPAN = 8
#: positions whose surroundings are fetched together, and how far around each (beyond, the processor looks ahead itself)
BATCH, REACH = 128, 16


class Text(NamedTuple):
    """Tokens in reading order and by word.

    padded : uint16 or uint32, begins and ends with a wall.
    positions : uint32, places in ``padded``; those of word w are ``positions[starts[w]:starts[w + 1]]``, ascending.
    starts : int64 (V + 1,).
    """

    padded: NDArray[np.unsignedinteger]
    positions: NDArray[np.uint32]
    starts: NDArray[np.int64]


class Rule(NamedTuple):
    """What counts as context: ``weights[d]`` (int64, window + 1) of a word d places away, and on which sides."""

    weights: NDArray[np.int64]
    before: bool
    after: bool


class Cells(NamedTuple):
    """Sums of rows counted slice by slice.

    cols : int32, ascending within a row of a slice.  sums : int64.
    bounds : int64 (slices, rows + 1); row r of slice s is ``cols[bounds[s, r]:bounds[s, r + 1]]``.
    """

    cols: NDArray[np.int32]
    sums: NDArray[np.int64]
    bounds: NDArray[np.int64]


class Sums(NamedTuple):
    """One row being added up.

    acc : int64, a multiple of 64 and more than V; item V collects gaps.  marks : uint8, one for every 8 of ``acc``.
    spans : int32, one longer than ``marks``; room for a list. All but ``spans`` is zero between rows.
    """

    acc: NDArray[np.int64]
    marks: NDArray[np.uint8]
    spans: NDArray[np.int32]


class Rows(NamedTuple):
    """Finished rows: ``cols`` and ``sums``, one item longer than needed, and the end and the total of each row."""

    cols: NDArray[np.int32]
    sums: NDArray[np.int64]
    ends: NDArray[np.int64]
    totals: NDArray[np.int64]


@kernel
def pad(ids, offsets, row, start, stop, padded, n, wall):
    """Copy tokens [start, stop) of ``ids`` to ``padded[n:]``, with a wall after each row that ends there.

    ``row`` is the row of token ``start``. Returns the row of the last token and the new n. Rows without tokens leave
    nothing, so what is written is at most twice as long as what is read.
    """
    while start < stop:
        while offsets[row + 1] <= start:
            row += 1
        end = min(offsets[row + 1], stop)
        for i in range(start, end):
            padded[n] = ids[i]
            n += 1
        if end == offsets[row + 1]:
            padded[n] = wall
            n += 1
        start = end
    return row, n


@kernel
def tally(padded, start, stop, counts):
    """Add to ``counts`` (int64, V + 2) how often each id, gaps and walls included, stands in padded[start:stop]."""
    for i in range(start, stop):
        counts[padded[i]] += 1


@kernel
def place(padded, start, stop, cursor, positions):
    """Write the places of the words in padded[start:stop] to ``positions``, each where its word's cursor stands.

    A counting sort: ``cursor`` (int64, V) begins as ``starts[:-1]`` and moves on.
    """
    for i in range(start, stop):
        word = padded[i]
        if word < len(cursor):
            positions[cursor[word]] = i
            cursor[word] += 1


@kernel
def add_windows(text, rule, first, last, into):
    """Add the windows around positions [first, last) to one row's sums.

    Rare words stand far apart in the text, and one cache miss after another would take most of the time. So the
    surroundings of a batch of positions are read once in a tight loop, where many misses are under way together. What
    that loop read is returned, only so that it is not optimised away.
    """
    padded, positions, weights = text.padded, text.positions, rule.weights
    wall, edge = padded[0], len(padded) - 1
    reach = min(len(weights) - 1, REACH)
    fetched = np.int64(0)
    for batch in range(first, last, BATCH):
        stop = min(batch + BATCH, last)
        for i in range(batch, stop):
            at = np.int64(positions[i])
            fetched += padded[max(at - reach, 0)] + padded[min(at + reach, edge)]
        for i in range(batch, stop):
            here = U(positions[i])
            if rule.before:
                for d in range(ONE, U(len(weights))):
                    context = padded[here - d]
                    if context == wall:
                        break
                    into.acc[context] += weights[d]
                    into.marks[context // U(SPAN)] = 1
            if rule.after:
                for d in range(ONE, U(len(weights))):
                    context = padded[here + d]
                    if context == wall:
                        break
                    into.acc[context] += weights[d]
                    into.marks[context // U(SPAN)] = 1
    return fetched


@kernel
def add_cells(cols, sums, first, last, into):
    """Add cells [first, last) to one row's sums."""
    for i in range(first, last):
        into.acc[cols[i]] += sums[i]
        into.marks[cols[i] // SPAN] = 1


@kernel
def touched(into):
    """List the spans with a mark in ``into.spans``, ascending, clear the marks, and return how many there are."""
    eights = into.marks.view(np.uint64)
    n = 0
    for eight in range(len(eights)):
        if eights[eight] != 0:
            for mark in range(8 * eight, 8 * eight + 8):
                into.spans[n] = mark
                n += into.marks[mark]
            eights[eight] = 0
    return n


@kernel
def take_row(into, columns, out, n):
    """Move the sums of columns [0, columns) that are not zero to ``out`` from item n on, ascending, and clear all.

    Without branches that depend on the data, which would be guessed wrong half of the time: each column of a touched
    span is written, and n moves on if it was worth it. So one item beyond the last may be written. Returns the new n
    and the sum of the row.
    """
    acc, cols, sums = into.acc, out.cols, out.sums
    total = np.int64(0)
    acc[columns] = 0
    for i in range(touched(into)):
        first = SPAN * np.int64(into.spans[i])
        for column in range(first, first + SPAN):
            value = acc[column]
            cols[n] = column
            sums[n] = value
            total += value
            n += value != 0
        for column in range(first, first + SPAN):
            acc[column] = 0
    return n, total


@kernel
def count_rows(text, rule, first, last, columns, into, out):
    """Count rows [first, last) of the matrix into ``out``: X[w, c] = sum of weights[d] over c at d places from w.

    Returns how many cells there are.
    """
    n, fetched = 0, 0
    for row in range(first, last):
        out.totals[row - first] = 0
        if text.starts[row] < text.starts[row + 1]:  # looking for marks costs as much as the vocabulary is long
            fetched += add_windows(text, rule, text.starts[row], text.starts[row + 1], into)
            n, out.totals[row - first] = take_row(into, columns, out, n)
        out.ends[row - first] = n
    return n, fetched


@kernel
def merge_rows(cells, columns, into, out):
    """Add up what the slices hold for each of the rows of ``cells.bounds``. Returns how many cells there are."""
    n = 0
    for row in range(cells.bounds.shape[1] - 1):
        for part in range(cells.bounds.shape[0]):
            add_cells(cells.cols, cells.sums, cells.bounds[part, row], cells.bounds[part, row + 1], into)
        n, out.totals[row] = take_row(into, columns, out, n)
        out.ends[row] = n
    return n


@kernel
def divide(sums, denominator, quotients):
    """Write sums / denominator to ``quotients`` (float64), which may lie in the same memory."""
    for i in range(len(sums)):
        quotients[i] = sums[i] / denominator
