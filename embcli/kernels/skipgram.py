"""Skip-gram: one centre word is predicted from each word of its window (Mikolov et al. 2013).

As in word2vec's code, the context word's input row meets the output rows of the centre. All contexts of a centre meet
the same outputs, so negatives are shared (Ji et al. 2016) and every row is loaded once.
"""

from __future__ import annotations

import numpy as np

from embcli.kernels._jit import inner_kernel
from embcli.kernels.predict import predict


@inner_kernel
def list_contexts(room, inputs, first, stop, centre):  # type: ignore[no-untyped-def]
    """List the input rows of places [first, stop) but the centre, and their weights; return how many."""
    q = 0
    for place in range(first, stop):
        if place != centre and room.places[0, place] >= 0:
            room.sources[q] = room.targets[q] = room.places[1, place]
            room.weights[q] = inputs.weights[room.places[0, place]] if len(inputs.weights) else np.float32(1)
            q += 1
    return q


@inner_kernel
def predict_from_each(goal, room, word, q, count, n, lr):  # type: ignore[no-untyped-def]
    """Return (sum of losses, predictions) of a centre and its q >= 1 listed contexts, after the step."""
    return predict(goal, room, word, q, count, n, lr), q


@inner_kernel
def predict_in_turn(goal, room, word, q, count, n, lr):  # type: ignore[no-untyped-def]
    """Return what ``predict_from_each`` does, each context's step taken before the next one is scored."""
    loss = 0.0
    for c in range(q):
        room.sources[0] = room.targets[0] = room.targets[c]
        loss += predict(goal, room, word, 1, count, n, lr)
    return loss, q
