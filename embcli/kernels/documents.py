"""Loops that count the words of documents, one row at a time, and write the labels of the rows.

A row's words are counted in a dense table beside a list of those that were seen, so a short document costs as much as
it is long, whatever the size of the vocabulary. Sums are whole numbers: their order cannot matter. Windows are in
cooc.py.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from embcli.kernels._jit import kernel

#: a row that holds more than one in this many words is read off the whole table, others are sorted
DENSE = 16
#: bytes of a label's words at most, and of a label: "doc", a number of up to 19 digits, and ": " come first
ROOM = 60
LABEL = ROOM + 24

COLON, BLANK, ZERO = ord(":"), ord(" "), ord("0")


class Tally(NamedTuple):
    """One row being counted.

    counts : int64 (V,), all zero between rows.  seen : int32 (V + 1,), room for the list of words.
    """

    counts: NDArray[np.int64]
    seen: NDArray[np.int32]


@kernel
def add_words(ids, start, stop, tally, n):
    """Count ids[start:stop]; ids from V on are gaps and are left out. Returns how many words were seen, n before."""
    for i in range(start, stop):
        word = np.int64(ids[i])
        if word < len(tally.counts):
            tally.seen[n] = word
            n += tally.counts[word] == 0
            tally.counts[word] += 1
    return n


@kernel
def add_cells(columns, sums, names, start, stop, tally, n):
    """Add cells [start, stop), whose column c is word names[c]. Returns how many words were seen, n before."""
    for i in range(start, stop):
        word = np.int64(names[columns[i]])
        tally.seen[n] = word
        n += tally.counts[word] == 0
        tally.counts[word] += sums[i]
    return n


@kernel
def take(tally, n, columns, sums, at):
    """Move the n words that were seen, ascending, to ``columns`` and ``sums`` from item ``at`` on, and clear them.

    Returns the item after the last, and the sum of the row.
    """
    total = np.int64(0)
    if n * DENSE > len(tally.counts):
        for word in range(len(tally.counts)):
            if tally.counts[word] != 0:
                columns[at] = word
                sums[at] = tally.counts[word]
                total += tally.counts[word]
                tally.counts[word] = 0
                at += 1
        return at, total
    tally.seen[:n].sort()
    for i in range(n):
        word = tally.seen[i]
        columns[at] = word
        sums[at] = tally.counts[word]
        total += tally.counts[word]
        tally.counts[word] = 0
        at += 1
    return at, total


@kernel
def count_documents(ids, offsets, first, last, tally, out):
    """Count rows [first, last) of ``ids`` (row r is ids[offsets[r]:offsets[r + 1]]) into ``out``, a cooc.Rows.

    Returns how many cells there are.
    """
    at = 0
    for row in range(first, last):
        n = add_words(ids, offsets[row], offsets[row + 1], tally, 0)
        at, out.totals[row - first] = take(tally, n, out.cols, out.sums, at)
        out.ends[row - first] = at
    return at


@kernel
def rename_documents(columns, sums, ends, names, tally, out):
    """Copy rows (row r ends at cell ends[r]) to ``out`` with column c renamed to names[c], ascending again.

    Returns how many cells there are.
    """
    start, at = 0, 0
    for row in range(len(ends)):
        n = add_cells(columns, sums, names, start, ends[row], tally, 0)
        at, out.totals[row] = take(tally, n, out.cols, out.sums, at)
        out.ends[row] = at
        start = ends[row]
    return at


@kernel
def write_head(number, out, n):
    """Write "doc" and the number to ``out`` from byte n on; return the byte after it."""
    out[n], out[n + 1], out[n + 2] = ord("d"), ord("o"), ord("c")
    digits, rest = 1, number
    while rest >= 10:
        rest //= 10
        digits += 1
    for i in range(digits):
        out[n + 2 + digits - i] = ZERO + number % 10
        number //= 10
    return n + 3 + digits


@kernel
def write_labels(ids, offsets, first, words, most, spaced, number, out, ends):
    """Write labels such as "doc17: hundreds of people" of the rows from ``first`` on, as many as ``ends`` has.

    The label of row r holds its number, ``number`` of the first row, and its first words: up to ``most``, and up to
    60 bytes of them. ``words`` is (bytes, offsets); a blank stands between words if ``spaced``. ``out`` needs LABEL
    bytes a row; ends[i] is set to where label i ends. Returns the end of the last.
    """
    data, begins = words
    n = 0
    for i in range(len(ends)):
        n = write_head(number + i, out, n)
        taken, room = 0, ROOM
        for j in range(offsets[first + i], offsets[first + i + 1]):
            word = np.int64(ids[j])
            if word >= len(begins) - 1:
                continue
            size = begins[word + 1] - begins[word]
            if taken == most or size + 1 > room:
                break
            if taken == 0:
                out[n] = COLON
                n += 1
            if taken == 0 or spaced:
                out[n] = BLANK
                n += 1
            for k in range(begins[word], begins[word + 1]):
                out[n] = data[k]
                n += 1
            taken += 1
            room -= size + 1
        ends[i] = n
    return n


@kernel
def renumber_labels(labels, first, number, out, ends):
    """Copy labels from number ``first`` on, as many as ``ends`` has, so that the first is "doc<number>" and so on.

    ``labels`` is (bytes, offsets). What stands behind "doc<digits>" is kept; a label of another form stands behind
    "doc<number>: " as a whole. ``out`` needs LABEL bytes a label more than the labels have. Returns the last end.
    """
    data, begins = labels
    n = 0
    for i in range(len(ends)):
        start, stop = begins[first + i], begins[first + i + 1]
        n = write_head(number + i, out, n)
        rest = start
        if stop - start > 3 and data[start] == ord("d") and data[start + 1] == ord("o") and data[start + 2] == ord("c"):
            rest = start + 3
            while rest < stop and data[rest] >= ZERO and data[rest] <= ord("9"):
                rest += 1
        if rest - start <= 3 or (rest < stop and data[rest] != COLON):
            rest = start
            if stop > start:
                out[n], out[n + 1] = COLON, BLANK
                n += 2
        for k in range(rest, stop):
            out[n] = data[k]
            n += 1
        ends[i] = n
    return n
