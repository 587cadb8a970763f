"""A weighted sparse matrix in memory, and its products with thin dense blocks on all threads.

float32, in padded rows (kernels/sparse.py), cut into blocks of rows whose bounds depend on the row lengths only.
It is made for the block Krylov method: the matrix is read once for 16 columns. It is no general sparse library.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embcli.counts.weighting import CELLS, Cells, spans
from embcli.job import Job
from embcli.kernels import sparse as kernels
from embcli.kernels.lanes import WIDTH
from embcli.kernels.sparse import GROUP

Table = NDArray[np.float32]

#: the transpose is made in at most this many parts, bands of columns
PARTS = 8


def padded_cells(indptr: Any) -> int:
    """Return how many cells the rows have at most when they are padded to whole groups."""
    return int((-(-np.diff(np.asarray(indptr)) // GROUP)).sum()) * GROUP


@dataclass(frozen=True)
class RowBlock:
    """Rows from ``first`` on: row first + i owns groups starts[i] to starts[i + 1] of ``values`` and ``columns``."""

    first: int
    starts: NDArray[np.int64]
    values: Table
    columns: NDArray[np.uint32]


def packed(cells: Cells, weights: Any) -> RowBlock:
    """Return weighted cells as a block of padded rows; cells of weight 0 are left out."""
    groups = np.zeros(len(cells.sizes), np.int64)
    kernels.group_sizes(weights, cells.sizes, groups)
    starts = _starts(groups)
    shape = (int(starts[-1]), GROUP)
    values, columns = np.empty(shape, np.float32), np.empty(shape, np.uint32)
    kernels.pack(weights, cells.columns, cells.sizes, starts, values, columns)
    return RowBlock(cells.first, starts, values, columns)


def _starts(groups: Any) -> NDArray[np.int64]:
    """Return where each row's groups begin, and the end."""
    return np.concatenate(([0], np.cumsum(groups)))


@dataclass(frozen=True)
class SparseMatrix:
    """A sparse matrix of ``shape`` as blocks that cover its rows in order."""

    shape: tuple[int, int]
    blocks: Sequence[RowBlock]

    def times(self, X: Table, job: Job) -> Table:
        """Return A @ X, float32, shape (rows, 16), for a contiguous X of shape (columns, 16)."""
        if X.shape != (self.shape[1], WIDTH) or X.dtype != np.float32 or not X.flags.c_contiguous:
            raise ValueError(f"expected float32 {(self.shape[1], WIDTH)}, found {X.dtype} {X.shape}")
        Y = aligned(self.shape[0], WIDTH)

        def work(block: RowBlock) -> None:
            rows = Y[block.first : block.first + len(block.starts) - 1]
            kernels.multiply(block.values, block.columns, block.starts, X, rows)

        for _ in job.map(work, self.blocks):
            pass
        return Y

    def transposed(self, job: Job) -> SparseMatrix:
        """Return the transpose as a matrix of its own, in time linear in the cells: count, then scatter."""

        def count(blocks: Sequence[RowBlock]) -> NDArray[np.int64]:
            found = np.zeros(self.shape[1], np.int64)
            for b in blocks:
                kernels.count_columns(b.values, b.columns, found)
            return found

        step = -(-len(self.blocks) // PARTS)
        parts = [self.blocks[i : i + step] for i in range(0, len(self.blocks), step)]
        sizes = np.zeros(self.shape[1], np.int64)
        for found in job.map(count, parts):
            sizes += found
        starts = _starts(-(-sizes // GROUP))
        values = np.empty(int(starts[-1]) * GROUP, np.float32)
        columns = np.empty(len(values), np.uint32)

        def scatter(band: tuple[int, int]) -> None:
            left, right = band
            at = starts[left:right] * GROUP
            for b in self.blocks:
                kernels.scatter((b.first, b.starts, b.values, b.columns), left, right, at, values, columns)
            kernels.end_rows(starts[left : right + 1], at, values, columns)

        for _ in job.map(scatter, spans(starts, -(-int(starts[-1]) // PARTS))):
            pass
        grouped = (values.reshape(-1, GROUP), columns.reshape(-1, GROUP))
        return SparseMatrix((self.shape[1], self.shape[0]), _cut(starts, *grouped))


def _cut(starts: Any, values: Any, columns: Any) -> list[RowBlock]:
    """Return blocks over shared groups."""
    blocks = []
    for first, stop in spans(starts, CELLS // GROUP):
        a, b = starts[first], starts[stop]
        blocks.append(RowBlock(first, starts[first : stop + 1] - a, values[a:b], columns[a:b]))
    return blocks


def aligned(rows: int, width: int) -> Table:
    """Return an unset float32 table whose first row begins at a cache line."""
    raw = np.empty(rows * width * 4 + 64, np.uint8)
    skip = -raw.ctypes.data % 64
    return raw[skip : skip + rows * width * 4].view(np.float32).reshape(rows, width)
