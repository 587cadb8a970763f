"""Count rows of the co-occurrence matrix in blocks on a job's threads, and merge rows that were counted in slices.

Blocks are cut by the number of cells they may have and of windows they read. However they are cut, the rows are the
same.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from embcli.artifacts.spill import Spill
from embcli.job import Job
from embcli.kernels import cooc as kernels
from embcli.kernels.cooc import Cells, Rows, Rule, Sums, Text

#: windows read by a block of rows, unless a single row has more
_WINDOWS = 1 << 18


@dataclass(frozen=True)
class Block:
    """Consecutive finished rows.

    first : number of the first row.  cols : int32, ascending within a row.  values : int64 sums, or float64 after
    division.  ends : int64, where in ``cols`` each row ends.  totals : int64, the sum of each row.
    """

    first: int
    cols: NDArray[np.int32]
    values: NDArray[Any]
    ends: NDArray[np.int64]
    totals: NDArray[np.int64]


class Slices(Protocol):
    """Counts of the same rows that are to be added up.

    filled : int64 (V,), cells that the slices hold for each row.  slices : how many there are.
    """

    filled: NDArray[np.int64]
    slices: int

    def each(self, row: int) -> Iterator[Cells]:
        """Yield one row of each slice."""

    def read(self, first: int, last: int) -> Cells:
        """Return rows [first, last) of all slices."""


class Counter:
    """Makes blocks of rows.

    Parameters
    ----------
    size : number of words, V.
    rule : what counts as context.
    cells : most cells of a block, unless one row has more.
    job : whose threads work.
    """

    def __init__(self, size: int, rule: Rule, cells: int, job: Job) -> None:
        self.size, self.rule, self.cells, self.job = size, rule, cells, job
        self._free: SimpleQueue[Sums] = SimpleQueue()
        spans = 8 * (size // 64 + 1)
        for _ in range(job.threads):
            sums = np.zeros(kernels.SPAN * spans, np.int64)
            self._free.put(Sums(sums, np.zeros(spans, np.uint8), np.zeros(spans + 1, np.int32)))

    @contextmanager
    def _row(self) -> Iterator[Sums]:
        """Lend a dense row to one thread."""
        row = self._free.get()
        try:
            yield row
        finally:
            self._free.put(row)

    def count(self, text: Text, denominator: int | None) -> Iterator[Block]:
        """Yield the rows of a text; sums are divided by the denominator, None leaves them whole."""
        windows = np.diff(text.starts)
        most = np.minimum(windows * self._reach, self.size)

        def work(bounds: tuple[int, int]) -> Block:
            first, last = bounds
            out = room(int(most[first:last].sum()), last - first)
            with self._row() as into:
                if last - first > 1:
                    n, _ = kernels.count_rows(text, self.rule, first, last, self.size, into, out)
                else:
                    n = self._count_one(text, first, into, out)
            return _block(first, out, n, denominator)

        yield from self.job.map(work, _cut((most + 1, self.cells), (windows, _WINDOWS)))

    @property
    def _reach(self) -> int:
        """Contexts of one position."""
        return (len(self.rule.weights) - 1) * (self.rule.before + self.rule.after)

    def _count_one(self, text: Text, row: int, into: Sums, out: Rows) -> int:
        """Count a single row, which may be that of a very frequent word, a limited number of windows at a time."""
        first, last = int(text.starts[row]), int(text.starts[row + 1])
        for a in range(first, last, _WINDOWS):
            kernels.add_windows(text, self.rule, a, min(a + _WINDOWS, last), into)
        out.ends[0], out.totals[0] = kernels.take_row(into, self.size, out, 0)
        return int(out.ends[0])

    def merge(self, parts: Slices, denominator: int | None) -> Iterator[Block]:
        """Yield the rows that slices add up to; sums are divided by the denominator, None leaves them whole."""
        most = np.minimum(parts.filled, self.size)

        def work(bounds: tuple[int, int]) -> Block:
            first, last = bounds
            out = room(int(most[first:last].sum()), last - first)
            with self._row() as into:
                if last - first > 1:
                    n = kernels.merge_rows(parts.read(first, last), self.size, into, out)
                else:
                    for one in parts.each(first):
                        kernels.add_cells(one.cols, one.sums, 0, len(one.cols), into)
                    n, out.totals[0] = kernels.take_row(into, self.size, out, 0)
                    out.ends[0] = n
            return _block(first, out, n, denominator)

        yield from self.job.map(work, _cut((parts.filled + parts.slices + 1, self.cells // 2)))


def _cut(*costs: tuple[NDArray[np.int64], int]) -> Iterator[tuple[int, int]]:
    """Yield bounds of blocks of items, each within all limits (costs of the items, limit) or of one item."""
    sums = [(np.concatenate(([0], np.cumsum(cost))), limit) for cost, limit in costs]
    first, n = 0, len(costs[0][0])
    while first < n:
        last = min(int(np.searchsorted(s, s[first] + limit, "right")) - 1 for s, limit in sums)
        last = max(last, first + 1)
        yield first, last
        first = last


def room(cells: int, rows: int) -> Rows:
    """Return room for so many cells, and one more, in so many rows."""
    cols, sums = np.empty(cells + 1, np.int32), np.empty(cells + 1, np.int64)
    return Rows(cols, sums, np.empty(rows, np.int64), np.empty(rows, np.int64))


def _block(first: int, out: Rows, n: int, denominator: int | None) -> Block:
    values: NDArray[Any] = out.sums[:n]
    if denominator is not None:
        quotients = values.view(np.float64)  # in place: the sums are not needed any more
        kernels.divide(values, denominator, quotients)
        values = quotients
    return Block(first, out.cols[:n], values, out.ends, out.totals)


class Stacked:
    """Rows of several slices that lie in compressed rows somewhere.

    filled : int64 (rows,), cells that the slices hold for each row.  slices : how many there are.
    """

    filled: NDArray[np.int64]
    slices: int

    def span(self, part: int, first: int, last: int) -> NDArray[np.int64]:
        """Return where rows [first, last) of a slice begin among its cells, and where the last one ends."""
        raise NotImplementedError

    def cells(self, part: int, start: int, stop: int) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Return columns and sums of cells [start, stop) of a slice."""
        raise NotImplementedError

    def each(self, row: int) -> Iterator[Cells]:
        """Yield one row of each slice."""
        for part in range(self.slices):
            bounds = self.span(part, row, row + 1)
            start, stop = bounds.tolist()
            yield Cells(*self.cells(part, start, stop), bounds[None] - start)

    def read(self, first: int, last: int) -> Cells:
        """Return rows [first, last) of all slices."""
        n = int(self.filled[first:last].sum())
        cols, sums = np.empty(n, np.int32), np.empty(n, np.int64)
        bounds = np.empty((self.slices, last - first + 1), np.int64)
        n = 0
        for part in range(self.slices):
            span = self.span(part, first, last)
            start, stop = int(span[0]), int(span[-1])
            bounds[part] = span - start + n
            cols[n : n + stop - start], sums[n : n + stop - start] = self.cells(part, start, stop)
            n += stop - start
        return Cells(cols, sums, bounds)


class Parts(Stacked):
    """Rows counted slice by slice, on disk."""

    def __init__(self, size: int, folder: str | None) -> None:
        self.filled, self.slices = np.zeros(size, np.int64), 0
        self._cols, self._sums, self._bounds = Spill(np.int32, folder), Spill(np.int64, folder), Spill(np.int64, folder)

    def add(self, block: Block) -> None:
        """Append rows; a block whose first row is 0 begins a slice."""
        if block.first == 0:
            self._bounds.append(np.array([len(self._cols)]))
            self.slices += 1
        self._bounds.append(len(self._cols) + block.ends)
        self._cols.append(block.cols)
        self._sums.append(block.values)
        self.filled[block.first : block.first + len(block.ends)] += np.diff(block.ends, prepend=0)

    def span(self, part: int, first: int, last: int) -> NDArray[np.int64]:
        """Return where rows [first, last) of a slice begin, and where the last one ends."""
        base = part * (len(self.filled) + 1)
        return self._bounds.read(base + first, base + last + 1)

    def cells(self, part: int, start: int, stop: int) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Return cells [start, stop), which are counted through all slices."""
        return self._cols.read(start, stop), self._sums.read(start, stop)
