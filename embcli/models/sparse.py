"""A weighted sparse matrix in memory, and its products with thin dense blocks on all threads.

float32, in blocks of rows, each cut into tiles by bands of columns. Both cuts depend on the matrix only. A band of the
dense block stays in the processor's cache while a tile is multiplied: 46 ms a product of 31 M cells with 16 columns
where rows without bands take 75. It is made for the block Krylov method; it is no general sparse library.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from embcli.counts.weighting import Cells, coarse, spans
from embcli.job import Job
from embcli.kernels import sparse as kernels
from embcli.kernels.sparse import GROUP
from embcli.kernels.vectors16 import WIDTH, aligned

Table = NDArray[np.float32]
Ints = NDArray[np.int64]

#: columns of the first band: half a megabyte of a dense block. Frequent words come first, so it has most of the cells.
BAND = 8192
#: tasks that count columns
PARTS = 8


@dataclass(frozen=True)
class Tile:
    """Rows in a band of columns: row r owns cells starts[r] to starts[r + 1], padded as kernels/sparse.py says."""

    starts: Ints
    values: Table
    columns: NDArray[np.uint32]


@dataclass(frozen=True)
class RowBlock:
    """The rows from ``first`` to before ``end``, one tile a band of columns."""

    first: int
    end: int
    tiles: Sequence[Tile]


def bands(columns: int) -> Ints:
    """Return the bounds of the bands of columns: 0, BAND, and on by doubling up to the number of columns."""
    bounds = [0]
    while bounds[-1] < columns:
        bounds.append(min(max(2 * bounds[-1], BAND), columns))
    return np.array(bounds)


def packed(cells: Cells, weights: Any, columns: int) -> RowBlock:
    """Return the weighted cells of some rows of a matrix of so many columns as tiles; weights of 0 are left out."""
    bounds, ends = bands(columns), np.cumsum(cells.sizes)
    found = np.empty((len(bounds) - 1, len(ends)), np.int64)
    kernels.count_bands(weights, cells.columns, ends, bounds, found)
    tiles, at = _unset(found), ends - cells.sizes
    for tile, right in zip(tiles, bounds[1:], strict=True):
        kernels.pack(weights, cells.columns, ends, right, at, tile.starts, (tile.values, tile.columns))
    return RowBlock(cells.first, cells.first + len(ends), tiles)


def _unset(cells: Ints) -> list[Tile]:
    """Return tiles with room for cells[p, r] cells in row r of tile p, next to each other in memory."""
    starts = np.zeros((len(cells), cells.shape[1] + 1), np.int64)
    np.cumsum(-(-cells // GROUP) * GROUP, axis=1, out=starts[:, 1:])
    ends = np.cumsum(starts[:, -1])
    both = np.empty((2, ends[-1]), np.uint32)  # one piece, so that it is large enough for large pages
    values, columns = both[0].view(np.float32), both[1]
    return [Tile(row, values[b - row[-1] : b], columns[b - row[-1] : b]) for row, b in zip(starts, ends, strict=True)]


def padded_cells(indptr: Any, columns: int) -> int:
    """Return an upper bound of the cells of rows once they are cut and padded."""
    sizes = np.diff(np.asarray(indptr))
    return int((sizes + (GROUP - 1) * np.minimum(sizes, len(bands(columns)) - 1)).sum())


class Multiplies(Protocol):
    """What the block Krylov method needs of a matrix: see ``SparseMatrix``."""

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""

    def live(self) -> NDArray[np.bool_]:
        """Return which rows hold a cell."""

    def times(self, X: Table, job: Job, out: Table | None = None) -> Table:
        """Return the product with 16 columns."""


@dataclass(frozen=True)
class SparseMatrix:
    """A sparse matrix of ``shape`` as blocks that cover its rows in order."""

    shape: tuple[int, int]
    blocks: Sequence[RowBlock]

    def live(self) -> NDArray[np.bool_]:
        """Return which rows hold a cell."""
        live = np.zeros(self.shape[0], np.bool_)
        for block in self.blocks:
            for tile in block.tiles:
                live[block.first : block.end] |= tile.starts[1:] > tile.starts[:-1]
        return live

    def times(self, X: Table, job: Job, out: Table | None = None) -> Table:
        """Return A @ X, float32, shape (rows, 16), for a contiguous X of shape (columns, 16); in ``out`` if given."""
        Y = aligned(self.shape[0], WIDTH) if out is None else out
        for table, rows in ((X, self.shape[1]), (Y, self.shape[0])):
            if table.shape != (rows, WIDTH) or table.dtype != np.float32 or not table.flags.c_contiguous:
                raise ValueError(f"expected float32 {(rows, WIDTH)}, found {table.dtype} {table.shape}")

        def work(block: RowBlock) -> None:
            rows = Y[block.first : block.end]
            rows[:] = 0
            for tile in block.tiles:
                kernels.multiply(tile.starts, tile.values, tile.columns, X, rows)

        for _ in job.map(work, self.blocks):
            pass
        return Y

    def transposed(self, job: Job) -> SparseMatrix:
        """Return the transpose as a matrix of its own, in time linear in the cells: count, then scatter."""
        bounds, columns = bands(self.shape[0]), self.shape[1]

        def count(blocks: Sequence[RowBlock]) -> NDArray[np.int32]:
            found = np.zeros((len(bounds) - 1, columns), np.int32)
            for _, tile, p in self._pieces(blocks, 0, columns):
                kernels.count_columns(tile.values, tile.columns, found[p])
            return found

        step = -(-len(self.blocks) // PARTS) or 1
        found = np.zeros((len(bounds) - 1, columns), np.int64)
        for part in job.map(count, [self.blocks[i : i + step] for i in range(0, len(self.blocks), step)]):
            found += part

        def scatter(span: tuple[int, int]) -> RowBlock:
            left, right = span
            tiles = _unset(found[:, left:right])
            places = [tile.starts[:-1].copy() for tile in tiles]
            for first, t, p in self._pieces(self.blocks, left, right):
                to = tiles[p]
                kernels.scatter((t.starts, t.values, t.columns), first, left, right, places[p], to.values, to.columns)
            for to, ends in zip(tiles, places, strict=True):
                kernels.end_rows(to.starts, ends, to.values, to.columns)
            return RowBlock(left, right, tiles)

        ends = np.concatenate(([0], np.cumsum(found.sum(axis=0))))
        return SparseMatrix((columns, self.shape[0]), [*job.map(scatter, spans(ends, coarse(ends)))])

    def _pieces(self, blocks: Sequence[RowBlock], left: int, right: int) -> Iterator[tuple[int, Tile, int]]:
        """Yield the tiles that hold some of the columns [left, right), cut where a band of rows ends.

        Yields the first row of the piece, the piece, and the number of its band of rows.
        """
        rows, columns = bands(self.shape[0]), bands(self.shape[1])
        wanted = [i for i in range(len(columns) - 1) if columns[i] < right and left < columns[i + 1]]
        for block in blocks:
            for p in range(len(rows) - 1):
                a, b = max(int(rows[p]), block.first) - block.first, min(int(rows[p + 1]), block.end) - block.first
                for i in wanted if a < b else ():
                    tile = block.tiles[i]
                    starts = tile.starts[a : b + 1]
                    inside = slice(starts[0], starts[-1])
                    yield block.first + a, Tile(starts - starts[0], tile.values[inside], tile.columns[inside]), p
