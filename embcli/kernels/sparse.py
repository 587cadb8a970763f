"""Loops over padded sparse rows: multiply by a thin dense block, pad, transpose.

Rows are padded to whole groups of eight cells: ``values`` float32 and ``columns`` uint32, both (groups, 8), and row r
owns groups starts[r] to starts[r + 1]. A pad has value 0 and the row's last column; no cell has value 0. Groups spare
the product a loop over left-over cells, unsigned columns the test for negative ones.
"""

from __future__ import annotations

from typing import Any

from embcli.kernels._jit import kernel
from embcli.kernels.lanes import WIDTH, add_products

#: cells of a group
GROUP = 8
#: cells that are summed before they join the sum of their row
SEGMENT = 256


@kernel
def multiply(values: Any, columns: Any, starts: Any, X: Any, Y: Any) -> None:
    """Set Y[r] = sum over the cells of row r of value * X[column]. X (columns, 16), Y (rows, 16), float32.

    Long rows are summed in segments first: a frequent word has ten thousands of cells, and float32 forgets in long
    sums. All arrays must be contiguous.
    """
    data, where, table, target = values.ctypes.data, columns.ctypes.data, X.ctypes.data, Y.ctypes.data
    for r in range(len(starts) - 1):
        for j in range(WIDTH):
            Y[r, j] = 0
        end = starts[r + 1] * GROUP
        for begin in range(starts[r] * GROUP, end, SEGMENT):
            add_products(data, where, table, target + r * WIDTH * 4, begin, min(begin + SEGMENT, end))


@kernel
def group_sizes(weights: Any, sizes: Any, groups: Any) -> None:
    """Set groups[r] to the groups that row r needs; it has sizes[r] of the weights, and those of 0 are no cells."""
    at = 0
    for r in range(len(sizes)):
        cells = 0
        for i in range(at, at + sizes[r]):
            cells += weights[i] != 0
        groups[r] = -(-cells // GROUP)
        at += sizes[r]


@kernel
def pack(weights: Any, columns: Any, sizes: Any, starts: Any, to_values: Any, to_columns: Any) -> None:
    """Copy the cells of rows into their groups; ``sizes`` as above. Pads repeat a row's last column: columns ascend."""
    to_values, to_columns = to_values.ravel(), to_columns.ravel()
    at = 0
    for r in range(len(sizes)):
        to, end = starts[r] * GROUP, starts[r + 1] * GROUP
        for i in range(at, at + sizes[r]):
            if weights[i] != 0:
                to_values[to] = weights[i]
                to_columns[to] = columns[i]
                to += 1
        for i in range(to, end):
            to_values[i] = 0
            to_columns[i] = to_columns[to - 1]
        at += sizes[r]


@kernel
def count_columns(values: Any, columns: Any, found: Any) -> None:
    """Add to found[c] the number of cells in column c."""
    for g in range(len(values)):
        for i in range(GROUP):
            found[columns[g, i]] += values[g, i] != 0


@kernel
def scatter(block: Any, left: int, right: int, at: Any, to_values: Any, to_columns: Any) -> None:
    """Put a block's cells of columns [left, right) where the transpose has them, in the order of their rows.

    ``block`` is (first row, starts, values, columns); at[c - left] is the next place of column c, and is advanced.
    The few columns keep the places that are written to in cache, which makes this fast.
    """
    first, starts, values, columns = block
    values, columns = values.ravel(), columns.ravel()
    for r in range(len(starts) - 1):
        low, high = starts[r] * GROUP, starts[r + 1] * GROUP
        end = high
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
        for i in range(ends[r], starts[r + 1] * GROUP):
            to_values[i] = 0
            to_columns[i] = to_columns[ends[r] - 1]
