"""One group of predictions: a few input vectors against a list of output rows, their loss and their step.

For input x_c and output rows y_k: score s_ck = x_c . y_k, all before any step. Then, with the rates r_ck that the loss
makes of the scores, x_c += sum_k r_ck y_k and y_k += r_ck x_c, one row after the other: by tiles of outputs, in a tile
by inputs, for an input by outputs. Every objective of word2vec is this with another list and another loss.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from embcli.kernels._jit import inner_kernel
from embcli.kernels.copies import ask_for, row_of
from embcli.kernels.draws import GOLD, draw, draw_other, mix
from embcli.kernels.rows16 import TILE, scores, step
from embcli.kernels.sigmoids import logistic, softmax
from embcli.kernels.vectors16 import copy_row

#: kinds of loss
NEGATIVE, TREE, SOFTMAX = 0, 1, 2


class Goal(NamedTuple):
    """What is predicted, and how.

    loss : NEGATIVE, TREE or SOFTMAX.  negative : negatives of a prediction.
    share : neighbouring centres that have their negatives in common.  thaw : float32, 0 if outputs stay as they are.
    cells : uint64 (V,), alias table of the noise.
    path_offsets, path, path_signs : the tree, as in ``tree.Tree``.
    """

    loss: int
    negative: int
    share: int
    thaw: Any
    cells: Any
    path_offsets: Any
    path: Any
    path_signs: Any


class Room(NamedTuple):
    """Working memory of one thread.

    places : int64 (3, places), word (-1: none), address of its input row, and reach of each place of a window.
    sources, targets : uint64, addresses of input vectors and of what takes their step.  weights : float32, of sources
    in a mean.
    outputs : uint64, addresses of output rows.  ahead : int64, the next negatives.
    scores, signs : float32, with 16 to spare.  vectors : float32 (n, padded), sums and copies of inputs.
    """

    places: Any
    sources: Any
    targets: Any
    weights: Any
    outputs: Any
    ahead: Any
    scores: Any
    signs: Any
    vectors: Any


@inner_kernel
def list_all(side, room, lane, base):  # type: ignore[no-untyped-def]
    """List all output rows, for the softmax."""
    for k in range(len(side.table)):
        room.outputs[k] = row_of(side, lane, base, k)


@inner_kernel
def fetch_negatives(goal, side, room, lane, state):  # type: ignore[no-untyped-def]
    """Draw the negatives to be used next and ask for their rows; return the new state."""
    for k in range(goal.negative):
        state += GOLD
        room.ahead[k] = draw(mix(state), goal.cells)
        ask_for(side, lane, room.ahead[k])
    return state


@inner_kernel
def choose_outputs(goal, side, room, lane, base, word, fresh, state):  # type: ignore[no-untyped-def]
    """List the output rows that predict ``word``; return the new state and how many there are.

    fresh : whether this centre is the first of those that share negatives.
    """
    if goal.loss == NEGATIVE:
        room.outputs[0] = row_of(side, lane, base, word)
        for k in range(goal.negative):
            if fresh or room.ahead[goal.negative + k] == word:
                other = room.ahead[k] if fresh else word
                if other == word:
                    state, other = draw_other(state, goal.cells, word)
                room.ahead[goal.negative + k] = other
                room.outputs[1 + k] = row_of(side, lane, base, other)
        if fresh:
            state = fetch_negatives(goal, side, room, lane, state)
        return state, goal.negative + 1
    if goal.loss == TREE:
        start, stop = goal.path_offsets[word], goal.path_offsets[word + 1]
        for k in range(start, stop):
            room.outputs[k - start] = row_of(side, lane, base, np.int64(goal.path[k]))
        return state, stop - start
    return state, len(side.table)  # listed once for the share


@inner_kernel
def losses(goal, room, word, q, count, lr):  # type: ignore[no-untyped-def]
    """Turn the scores of q inputs into rates; return the sum of the q losses."""
    start = room.scores.ctypes.data
    if goal.loss == NEGATIVE:
        return np.float64(logistic(start, room.signs.ctypes.data, q * count, lr))
    total = 0.0
    for c in range(q):
        if goal.loss == TREE:
            signs = goal.path_signs.ctypes.data + 4 * goal.path_offsets[word]
            total += np.float64(logistic(start + 4 * c * count, signs, count, lr))
        else:
            total += softmax(room.scores, c * count, count, word, lr)
    return total


@inner_kernel
def predict(goal, room, word, q, count, n, lr):  # type: ignore[no-untyped-def]
    """Predict ``word`` from the q inputs listed in ``room``, step, and return the sum of the losses."""
    outputs, numbers = room.outputs.ctypes.data, room.scores.ctypes.data
    if count <= TILE:
        for c in range(q):
            scores(room.sources[c], outputs, count, n, numbers + 4 * c * count)
    else:
        for first in range(0, count, TILE):
            size = min(TILE, count - first)
            for c in range(q):
                scores(room.sources[c], outputs + 8 * first, size, n, numbers + 4 * (c * count + first))
    loss = losses(goal, room, word, q, count, lr)
    if count <= TILE:
        for c in range(q):
            step(room.sources[c], room.targets[c], outputs, count, n, numbers + 4 * c * count, goal.thaw)
        return loss
    spare = room.vectors.ctypes.data
    for c in range(q):
        if room.sources[c] == room.targets[c]:  # the first tile moves it, the others need it as it was
            copy_row(spare + 64 * n * c, room.sources[c], n)
            room.sources[c] = spare + 64 * n * c
    for first in range(0, count, TILE):
        size = min(TILE, count - first)
        for c in range(q):
            rates = numbers + 4 * (c * count + first)
            step(room.sources[c], room.targets[c], outputs + 8 * first, size, n, rates, goal.thaw)
    return loss
