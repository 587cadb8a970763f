"""Attention in plain NumPy, in any precision: masks, weights, heads. To be read, and to be compared with.

A mask is a boolean (T, T) array, True where row i may look at column j. A row that may look nowhere has weights 0 and
output 0, never NaN. Masks combine with &.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Mask = NDArray[np.bool_]


def causal(T: int, past: int = 0) -> Mask:
    """Return the mask of a text that is read from left to right: i may look at j <= i, and at the ``past``."""
    return np.tri(T, past + T, past, dtype=np.bool_)


def unmasked(T: int) -> Mask:
    """Return the mask that lets every token look everywhere."""
    return np.ones((T, T), np.bool_)


def padding(lengths: int, T: int) -> Mask:
    """Return the mask of a text of ``lengths`` tokens in T places: the places behind it see and are seen by nothing."""
    real = np.arange(T) < lengths
    return real[:, None] & real[None, :]


def softmax(scores: NDArray[Any], mask: Mask | None = None) -> NDArray[Any]:
    """Return the weights of each row (..., T, T): exp(score) over its sum, among the columns that the mask allows.

    The largest score is subtracted first, so large scores do no harm; a row without any column is all zeros.
    """
    allowed = np.ones(scores.shape[-2:], np.bool_) if mask is None else mask
    masked = np.where(allowed, scores, -np.inf)
    top = masked.max(-1, keepdims=True, initial=-np.inf)
    weights = np.where(allowed, np.exp(masked - np.where(np.isfinite(top), top, 0)), 0)
    total = weights.sum(-1, keepdims=True)
    return np.asarray(weights / np.where(total > 0, total, 1), scores.dtype)


def scores(Q: NDArray[Any], K: NDArray[Any], bias: NDArray[Any] | None = None) -> NDArray[Any]:
    """Return Q K^T / sqrt(d_k) + bias, (..., T, T), for queries and keys (..., T, d_k) (Vaswani et al. 2017, 3.2.1)."""
    found = Q @ np.swapaxes(K, -1, -2) / np.asarray(np.sqrt(Q.shape[-1]), Q.dtype)
    return np.asarray(found if bias is None else found + bias.astype(found.dtype))


def attention(
    Q: NDArray[Any], K: NDArray[Any], V: NDArray[Any], mask: Mask | None = None, bias: NDArray[Any] | None = None
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return outputs A V (..., T, d_v) and weights A (..., T, T), A = softmax(Q K^T / sqrt(d_k) + bias) in the mask."""
    A = softmax(scores(Q, K, bias), mask)
    return A @ V, A


def split_heads(X: NDArray[Any], heads: int) -> NDArray[Any]:
    """Return (T, d) as (heads, T, d / heads), a view: head h has the h-th group of neighbouring columns."""
    T, d = X.shape
    return X.reshape(T, heads, d // heads).transpose(1, 0, 2)


def join_heads(X: NDArray[Any]) -> NDArray[Any]:
    """Return (heads, T, d / heads) as (T, d)."""
    return X.transpose(1, 0, 2).reshape(X.shape[1], X.shape[0] * X.shape[2])
