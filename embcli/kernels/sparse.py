"""Loops over padded sparse rows: multiply by a thin dense block, pad, transpose.

Rows are padded to whole groups of eight cells: ``values`` float32 and ``columns`` uint32, both (groups, 8), and row r
owns groups starts[r] to starts[r + 1]. A pad has value 0 and the row's last column; no cell has value 0. Groups spare the
product the loop over left-over cells, and unsigned columns the test for negative ones.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from embcli.kernels._jit import fast_kernel, kernel

#: columns of X and Y: one cache line of float32
WIDTH = 16
#: cells of a group
GROUP = 8
#: groups that are summed before they join the sum of their row
SEGMENT = 32


@fast_kernel
def multiply(values: Any, columns: Any, starts: Any, X: Any, Y: Any) -> None:
    """Set Y[r] = sum over the cells of row r of value * X[column]. X (columns, 16), Y (rows, 16), float32.

    Eight rows of X meet in one pass over the 16 columns, so that a sum is read and written once for eight cells. Long
    rows are summed in segments first: a frequent word has ten thousands of cells, and float32 forgets in long sums.
    X is used flat with a width known to the compiler: addresses then are shifts, where products cost a sixth more.
    """
    x, part = X.ravel(), np.empty(WIDTH, np.float32)
    for r in range(len(starts) - 1):
        for j in range(WIDTH):
            Y[r, j] = 0
        for begin in range(starts[r], starts[r + 1], SEGMENT):
            for j in range(WIDTH):
                part[j] = 0
            for g in range(begin, min(begin + SEGMENT, starts[r + 1])):
                v, c = values[g], columns[g]
                v0, v1, v2, v3, v4, v5, v6, v7 = v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7]
                c0, c1, c2, c3 = c[0] * WIDTH, c[1] * WIDTH, c[2] * WIDTH, c[3] * WIDTH
                c4, c5, c6, c7 = c[4] * WIDTH, c[5] * WIDTH, c[6] * WIDTH, c[7] * WIDTH
                for j in range(WIDTH):
                    low = (v0 * x[c0 + j] + v1 * x[c1 + j]) + (v2 * x[c2 + j] + v3 * x[c3 + j])
                    high = (v4 * x[c4 + j] + v5 * x[c5 + j]) + (v6 * x[c6 + j] + v7 * x[c7 + j])
                    part[j] += low + high
            for j in range(WIDTH):
                Y[r, j] += part[j]


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
    """Copy the cells of rows into their groups; sizes as above. Pads repeat the row's last column, so columns ascend."""
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
