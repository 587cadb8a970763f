"""The other parts of a Transformer in plain NumPy, in any precision: lookup, norm, feed-forward, scores and losses.

To be read, and to be compared with; the worked numbers of the sources go through these functions.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
#: added to the variance of a row before the root is taken
EPSILON = 1e-5


def lookup(E: Array, ids: Array) -> Array:
    """Return X (..., d), the rows of the table E (V, d) that ids (...) name: X = S E, S the one-hot rows."""
    return E[ids]


def one_hot(ids: Array, V: int) -> NDArray[np.float64]:
    """Return S (T, V), row t all zeros but a 1 at ids[t]."""
    return np.eye(V)[ids]


def lookup_gradient(G: Array, ids: Array, V: int) -> Array:
    """Return dL/dE = S^T G (V, d): each row is the sum of the gradients G (T, d) at the places where its id stood."""
    summed = np.zeros((V, G.shape[-1]), G.dtype)
    np.add.at(summed, ids, G)
    return summed


def plain_step(rows: Array, gradient: Array, lr: float) -> Array:
    """Return rows after one step of gradient descent: rows - lr gradient."""
    return np.asarray(rows - lr * gradient, rows.dtype)


def layer_norm(X: Array, gain: Array, bias: Array) -> Array:
    """Return each row less its mean, over its standard deviation, times gain, plus bias (Ba et al. 2016)."""
    centred = X - X.mean(-1, keepdims=True)
    deviation = np.sqrt((centred * centred).mean(-1, keepdims=True) + np.asarray(EPSILON, X.dtype))
    return np.asarray(centred / deviation * gain + bias)


def gelu(X: Array) -> Array:
    """Return x Phi(x), Phi the normal distribution (Hendrycks and Gimpel 2016, the exact form)."""
    from scipy.special import erf

    return np.asarray(0.5 * X * (1 + erf(X / np.asarray(math.sqrt(2), X.dtype))))


def feed_forward(X: Array, widen: Array, widen_bias: Array, narrow: Array, narrow_bias: Array) -> Array:
    """Return gelu(X widen + bias) narrow + bias, row by row."""
    return np.asarray(gelu(X @ widen + widen_bias) @ narrow + narrow_bias)


def logits(H: Array, U: Array, b: Array | None = None) -> Array:
    """Return the score of every word, H U^T + b (..., V), for states H (..., d) and output rows U (V, d)."""
    found = H @ U.T
    return found if b is None else found + b


def log_softmax(Z: Array) -> Array:
    """Return log(exp(z) / sum exp(z)) along the last axis, whatever the size of the scores."""
    shifted = Z - Z.max(-1, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(-1, keepdims=True)))


def losses(Z: Array, targets: Array) -> Array:
    """Return -log p(target) of each row of scores Z (..., V), nats."""
    return np.asarray(-np.take_along_axis(log_softmax(Z), targets[..., None], -1)[..., 0])


def loss_gradient(Z: Array, targets: Array) -> Array:
    """Return d loss / d Z of each row: p - onehot(target)."""
    found = np.exp(log_softmax(Z))
    np.put_along_axis(found, targets[..., None], np.take_along_axis(found, targets[..., None], -1) - 1, -1)
    return found
