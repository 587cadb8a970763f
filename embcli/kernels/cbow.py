"""CBOW: one centre word is predicted from the mean or the sum of its contexts' input rows (Mikolov et al. 2013).

x = scale * sum of rows, scale 1 / (number of rows) or 1, and every row takes the whole step of x, -lr dL/dx, as in
word2vec's code. For sums that is the gradient; for means it is q times that, which Irsoy et al. 2021 call a mistake and
mend. Mended, the usual rate 0.05 is much too low (3 epochs of 2.6 M words, WordSim-353: .12, at 0.2 .43; as it is
here .29, gensim .30). Where a context is the mean of several rows, all of these are rows of the sum.
"""

from __future__ import annotations

import numpy as np

from embcli.kernels._jit import inner_kernel
from embcli.kernels.predict import predict
from embcli.kernels.vectors16 import add_row, scale_row


@inner_kernel
def predict_from_all(goal, room, mean, word, q, count, n, lr):  # type: ignore[no-untyped-def]
    """Return (loss, 1) of a centre and its q >= 1 listed contexts together, after the step."""
    vector = room.vectors.ctypes.data + 64 * n * (len(room.vectors) - 2)
    move = vector + 64 * n
    scale = np.float32(1)
    if mean:
        total = np.float32(0)
        for c in range(q):
            total += room.weights[c]
        scale /= total
    scale_row(vector, room.targets[0], n, scale * room.weights[0])
    for c in range(1, q):
        add_row(vector, room.targets[c], n, scale * room.weights[c])
    scale_row(move, vector, n, np.float32(0))
    kept = room.targets[0]
    room.sources[0], room.targets[0] = vector, move
    loss = predict(goal, room, word, 1, count, n, lr)
    room.targets[0] = kept
    for c in range(q):
        add_row(room.targets[c], move, n, np.float32(1))
    return loss, 1
