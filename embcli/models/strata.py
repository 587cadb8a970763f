"""How the cells of a matrix are cut into blocks, and in which order they are visited: by the matrix and the seed alone.

Blocks of rows and of columns are ranges of words, short where words have many cells, so that all blocks weigh about
the same and both tables' rows of a block stay in the processor's cache. Stratified as in Gemulla et al. (2011):
blocks that share neither rows nor columns are independent. What is done with the cells is kernels/glove.py's.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from embcli.artifacts.schema import Counts
from embcli.counts.weighting import CHUNK, check_cells, give_back, spans
from embcli.job import Job
from embcli.kernels.draws import key_of

Ints = NDArray[np.int64]
#: a group: blocks of rows that are open together, the order of the blocks of columns, a key each for the cells
Opened = tuple[Ints, Ints, NDArray[np.uint64]]

#: blocks of rows that are open at the same time: so many threads can work
OPEN = 8
#: blocks that the cells are cut into at least, and cells of a block that are not worth a further cut
PARTS, FEW = 64, 1 << 12
#: rows of a block at most, and bytes of a table that a block should keep to
ROWS, TABLE = 1024, 1 << 20
#: numbers of rows that the cells of a block may meet: 8 blocks take less than half a second
NUMBERS = 1 << 27
_STREAM = 0x474C4F56


@dataclass(frozen=True)
class Strata:
    """The cut of a matrix.

    rows, columns : int64, bounds of the blocks.  column_block : int32 (V,), block of each column.
    cells : int64 (blocks of rows,), how many each has.
    """

    rows: Ints
    columns: Ints
    column_block: NDArray[np.int32]
    cells: Ints

    @property
    def room(self) -> int:
        """Cells that open blocks have together, at most."""
        return int(np.sort(self.cells)[-OPEN:].sum())

    def groups(self, seed: int | None, epoch: int) -> Iterator[Opened]:
        """Yield the groups of an epoch.

        seed : None leaves everything in the order of the matrix.
        """
        blocks, columns = len(self.rows) - 1, len(self.columns) - 1
        chance = np.random.default_rng([_STREAM, seed or 0, epoch])
        order = np.arange(blocks) if seed is None else chance.permutation(blocks)
        key = int(key_of(seed or 0, epoch))
        for first in range(0, blocks, OPEN):
            chosen = order[first : first + OPEN]
            keys = np.array([key_of(key, block) for block in chosen.tolist()], np.uint64)
            yield chosen, np.arange(columns) if seed is None else chance.permutation(columns), keys


def columns_of(counts: Counts, rows: tuple[int, int], job: Job) -> Ints:
    """Return how many cells each column has in some rows of counts of V x V words. Every cell is checked on the way.

    Raises InputError where a count is not a positive number, or a cell lies outside the matrix.
    """
    V, (first, end) = int(counts.shape[0]), rows
    columns = np.zeros(V, np.int64)

    def work(span: tuple[int, int]) -> Ints:
        span = first + span[0], first + span[1]
        check_cells(counts, *span)
        a, b = int(counts.indptr[span[0]]), int(counts.indptr[span[1]])
        found = np.bincount(counts.indices[a:b], minlength=V).astype(np.int64, copy=False)
        give_back(counts, *span)
        return found

    # many cells at a time, since each span's counts are as long as the vocabulary
    for found in job.map(work, spans(counts.indptr[first : end + 1], max(CHUNK, V))):
        columns += found
    return columns


def strata_of(counts: Counts, width: int, columns: Ints) -> Strata:
    """Return how to cut counts of V x V words, rows of ``width`` numbers; ``columns`` are the cells of each column."""
    V = int(counts.shape[0])
    rows = np.diff(np.asarray(counts.indptr))
    longest = min(ROWS, max(TABLE // (8 * width), 64))
    share = int(rows.sum()) // PARTS
    by_row = _bounds(rows, longest, max(min(share, NUMBERS // width), FEW))
    by_column = _bounds(columns, longest, max(share, FEW))
    block = np.repeat(np.arange(len(by_column) - 1, dtype=np.int32), np.diff(by_column))
    return Strata(by_row, by_column, block, np.add.reduceat(rows, by_row[:-1]) if V else rows)


def _bounds(cells: Ints, longest: int, most: int) -> Ints:
    """Return bounds of blocks of at most ``longest`` words and ``most`` cells, one word at least."""
    ends = np.concatenate([[0], np.cumsum(cells)])
    found = [0]
    while found[-1] < len(cells):
        start = found[-1]
        stop = int(np.searchsorted(ends, ends[start] + most, "right")) - 1
        found.append(min(max(stop, start + 1), start + longest, len(cells)))
    return np.array(found)
