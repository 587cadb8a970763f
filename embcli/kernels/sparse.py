"""Loops over padded sparse rows: multiply by a thin dense block, pack, transpose.

A tile is some rows of a sparse matrix in a band of columns: row r owns cells starts[r] to starts[r + 1] of ``values``
(float32) and ``columns`` (uint32), padded to a multiple of four. A pad has value 0 and the row's last column; no cell
has value 0. Pads spare the product a loop over left-over cells. The whole matrix is in models/sparse.py.
"""

from __future__ import annotations

from typing import Any

from embcli.kernels._jit import kernel
from embcli.kernels.lanes import CHAINS, add_products
from embcli.kernels.vectors16 import WIDTH

#: cells of a row are padded to a multiple of this
GROUP = CHAINS
#: cells that are summed before they join the sum of their row
SEGMENT = 256


@kernel
def multiply(starts: Any, values: Any, columns: Any, X: Any, Y: Any) -> None:
    """Add to Y[r] the sum over the cells of row r of value * X[column]. X (columns, 16), Y (rows, 16), float32.

    Long rows are summed in segments first: a frequent word has ten thousands of cells, and float32 forgets in long
    sums. All arrays must be contiguous.
    """
    data, where, table, target = values.ctypes.data, columns.ctypes.data, X.ctypes.data, Y.ctypes.data
    for r in range(len(starts) - 1):
        end = starts[r + 1]
        for begin in range(starts[r], end, SEGMENT):
            add_products(data, where, table, target + r * WIDTH * 4, begin, min(begin + SEGMENT, end))


@kernel
def count_bands(weights: Any, columns: Any, ends: Any, bounds: Any, found: Any) -> None:
    """Set found[p, r] to the weights of row r that are not 0, in columns bounds[p] to bounds[p + 1].

    Row r has weights ends[r - 1] to ends[r], columns ascending.
    """
    at = 0
    for r in range(len(ends)):
        for p in range(len(bounds) - 1):
            cells = 0
            while at < ends[r] and columns[at] < bounds[p + 1]:
                cells += weights[at] != 0
                at += 1
            found[p, r] = cells


@kernel
def pack(weights: Any, columns: Any, ends: Any, right: int, at: Any, starts: Any, tile: Any) -> None:
    """Copy the weights of each row r from at[r] on, in columns below ``right``, into a tile; at[r] moves behind them.

    ``tile`` is (values, columns). Weights of 0 are no cells.
    """
    to_values, to_columns = tile
    for r in range(len(ends)):
        to, i = starts[r], at[r]
        while i < ends[r] and columns[i] < right:
            if weights[i] != 0:
                to_values[to] = weights[i]
                to_columns[to] = columns[i]
                to += 1
            i += 1
        at[r] = i
        for pad in range(to, starts[r + 1]):
            to_values[pad] = 0
            to_columns[pad] = to_columns[to - 1]


@kernel
def count_columns(values: Any, columns: Any, found: Any) -> None:
    """Add to found[c] the number of cells in column c."""
    for i in range(len(values)):
        found[columns[i]] += values[i] != 0


@kernel
def scatter(tile: Any, first: int, left: int, right: int, at: Any, to_values: Any, to_columns: Any) -> None:
    """Put a tile's cells of columns [left, right) where the transpose has them, in the order of their rows.

    ``tile`` is (starts, values, columns), its first row is row ``first`` of the matrix; at[c - left] is the next place
    of column c, and is advanced. Few columns keep the places that are written to in cache, which makes this fast.
    """
    starts, values, columns = tile
    for r in range(len(starts) - 1):
        low, end = starts[r], starts[r + 1]
        high = end
        while low < high:
            middle = (low + high) // 2
            if columns[middle] < left:
                low = middle + 1
            else:
                high = middle
        while low < end and columns[low] < right:
            if values[low] != 0:
                to = at[columns[low] - left]
                at[columns[low] - left] += 1
                to_values[to] = values[low]
                to_columns[to] = first + r
            low += 1


@kernel
def end_rows(starts: Any, ends: Any, to_values: Any, to_columns: Any) -> None:
    """Set the pads of rows whose cells end at ends[r]."""
    for r in range(len(ends)):
        for i in range(ends[r], starts[r + 1]):
            to_values[i] = 0
            to_columns[i] = to_columns[ends[r] - 1]
