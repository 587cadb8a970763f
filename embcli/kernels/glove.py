"""GloVe on blocks of cells: log and weight of counts, the order of the cells, the steps, and the schedule of threads.

The matrix is cut into blocks of rows and of columns. Cells of one block of rows are packed into words of 64 bits,
grouped by block of columns: 16 bits row and 16 bits column within their blocks, the count as float32 below. Some
blocks of rows are open at the same time, a group. Each walks through all blocks of columns in a fixed order of its own;
a block of columns takes the blocks of rows in a fixed order too. So any thread may take any block whose turn it is.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from embcli.kernels._jit import inner_kernel, kernel
from embcli.kernels.adagrad16 import dot, step
from embcli.kernels.draws import GOLD, S32, U, mix
from embcli.kernels.teams import SPINS, fetch_add, load_now, yield_now
from embcli.kernels.vectors16 import WIDTH, fetch_row
from embcli.kernels.weights16 import bits_of, weigh

#: cells whose logarithms and weights are made in one go
CHUNK = 256
#: cells to spare behind packed ones
SPARE = WIDTH
_S48, _16, _HALF = U(48), U(0xFFFF), np.float32(0.5)


class Model(NamedTuple):
    """What is trained.

    words, contexts : float32 (V, 2, padded), rows and behind each its sums of squared gradients.
    word_bias, context_bias : float32 (V, 2), likewise.
    """

    words: Any
    contexts: Any
    word_bias: Any
    context_bias: Any


class Rule(NamedTuple):
    """How it is trained, all float32: rate, x_max and its logarithm, weight power, and the most a gradient counts."""

    lr: Any
    x_max: Any
    top: Any
    power: Any
    clip: Any


@kernel
def pack(data, indices, indptr, first, stop, column_block, first_column, ends, cells):  # type: ignore[no-untyped-def]
    """Pack the cells of rows [first, stop), grouped by block of columns; group b ends at ends[b], fewer than 2^16 rows.

    data, indices, indptr : compressed rows.  column_block : int32 (columns,).  first_column : int64 (blocks,).
    ends : int64 (blocks,), filled.  cells : uint64, as many as needed or more, filled from the start on.
    """
    ends[:] = 0
    for k in range(indptr[first], indptr[stop]):
        ends[column_block[indices[k]]] += 1
    total = 0
    for b in range(len(ends)):
        total += ends[b]
        ends[b] = total - ends[b]
    for row in range(first, stop):
        for k in range(indptr[row], indptr[row + 1]):
            column = indices[k]
            b = column_block[column]
            place = U(row - first) << _S48 | U(column - first_column[b]) << S32
            cells[ends[b]] = place | bits_of(np.float32(data[k]))
            ends[b] += 1


@inner_kernel
def shuffle(cells, start, stop, state):  # type: ignore[no-untyped-def]
    """Put cells [start, stop) into a random order, every order as likely (Fisher and Yates)."""
    for i in range(stop - start - 1, 0, -1):
        state += GOLD
        j = np.int64((mix(state) >> S32) * U(i + 1) >> S32)
        cells[start + i], cells[start + j] = cells[start + j], cells[start + i]


@inner_kernel
def visit(model, rule, cells, start, stop, row, column, learn, room):  # type: ignore[no-untyped-def]
    """Return the cost of cells [start, stop) of a block, each before its step, and that of a model of zeros.

    row, column : first ones of the block.  learn : whether to step at all.  room : float32 (2, CHUNK + SPARE).
    """
    width = model.words.shape[2]
    n, size = width >> 4, np.uint64(8 * width)
    words = model.words.ctypes.data + size * np.uint64(row)
    contexts = model.contexts.ctypes.data + size * np.uint64(column)
    most = rule.lr * rule.clip
    cost, idle = 0.0, 0.0
    for a in range(start, stop, CHUNK):
        count = min(CHUNK, stop - a)
        weigh(
            cells.ctypes.data + np.uint64(8 * a), room[0].ctypes.data, room[1].ctypes.data, count, rule.x_max, rule.top,
            rule.power,
        )  # fmt: skip
        for k in range(count):
            cell = cells[a + k]
            i, j = cell >> _S48, cell >> S32 & _16
            if learn:  # costs alone need half of the rows, and come faster without
                ahead = cells[a + k + 1]
                fetch_row(words + size * (ahead >> _S48), n + n)
                fetch_row(contexts + size * (ahead >> S32 & _16), n + n)
            w, c = words + size * i, contexts + size * j
            own, other = model.word_bias[row + np.int64(i)], model.context_bias[column + np.int64(j)]
            error = dot(w, c, n) + own[0] + other[0] - room[0, k]
            pull = room[1, k] * error
            cost += np.float64(_HALF * pull * error)
            idle += np.float64(_HALF * room[1, k] * room[0, k] * room[0, k])
            if learn:
                pull *= rule.lr
                step(w, c, n, pull, most)
                pull = max(min(pull, most), -most)
                own[0] -= pull / np.sqrt(own[1])
                own[1] += pull * pull
                other[0] -= pull / np.sqrt(other[1])
                other[1] += pull * pull
    return cost, idle


class Group(NamedTuple):
    """Open blocks of rows.

    cells : uint64, those of all open blocks, SPARE behind.  ends : int64 (open, column blocks), as ``pack`` fills
    them, counted from ``starts`` : int64 (open,).  rows, columns : int64, first ones of each block.
    order : int64 (column blocks,), the order in which they are walked.  offsets : int64 (open,), where in that order
    each open block begins.  keys : uint64 (open,), for the order of the cells.
    """

    cells: Any
    starts: Any
    ends: Any
    rows: Any
    columns: Any
    order: Any
    offsets: Any
    keys: Any


@inner_kernel
def turn(offsets, i, place, size):  # type: ignore[no-untyped-def]
    """Return how many open blocks visit the columns at a place of the order before open block i does."""
    mine = (place - offsets[i]) % size
    before = 0
    for other in range(len(offsets)):
        theirs = (place - offsets[other]) % size
        before += theirs < mine or (theirs == mine and other < i)
    return before


@inner_kernel
def visit_block(model, rule, group, i, b, learn, room):  # type: ignore[no-untyped-def]
    """Visit the cells of open block i in block b of the columns, in random order; return what ``visit`` does."""
    start = group.starts[i] + (group.ends[i, b - 1] if b else 0)
    stop = group.starts[i] + group.ends[i, b]
    if stop == start:
        return 0.0, 0.0
    if learn:
        shuffle(group.cells, start, stop, mix(group.keys[i] + U(b) * GOLD))
    return visit(model, rule, group.cells, start, stop, group.rows[i], group.columns[b], learn, room)


@inner_kernel
def visit_group(model, rule, group, learn, room, control, costs):  # type: ignore[no-untyped-def]
    """Visit all cells of a group together with the other threads that are in here; all leave when all is done.

    Parameters
    ----------
    room : float32 (2, CHUNK + SPARE), of this thread.
    control : int64 (3, n), zeros: visits done of each open block, visits done of each block of columns, and claims of
    open block i's visit s at i * column blocks + s.
    costs : float64 (open, column blocks, 2), filled with what ``visit`` returns.
    """
    blocks, size = len(group.rows), len(group.order)
    at, line = control.ctypes.data, 8 * control.shape[1]
    looks = 0
    while True:
        left, worked = False, False
        for i in range(blocks):
            s = load_now(at + 8 * i)
            if s == size:
                continue
            left = True
            place = (group.offsets[i] + s) % size
            b = group.order[place]
            if load_now(at + line + 8 * b) != turn(group.offsets, i, place, size):
                continue
            if fetch_add(at + 2 * line + 8 * (i * size + s), 1):
                continue
            costs[i, b, 0], costs[i, b, 1] = visit_block(model, rule, group, i, b, learn, room)
            fetch_add(at + line + 8 * b, 1)
            fetch_add(at + 8 * i, 1)
            worked = True
        if not left:
            return
        looks = 0 if worked else looks + 1
        if looks > SPINS:
            yield_now()
