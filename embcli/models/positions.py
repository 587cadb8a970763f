"""What tells a Transformer where a token stands: vectors that are added, turns of queries and keys, and distances.

Plain NumPy in any precision, to be read and to be compared with; training calls the same functions for its tables.
Learned positions are rows of a table (``layers.lookup``); "none" has nothing. Positions count from 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

#: the angle of pair r at position i is i / BASE^(2 r / d)
BASE = 10_000.0


def angles(positions: NDArray[Any], d: int) -> NDArray[np.float64]:
    """Return the angle of each pair of columns at each position, float64 (T, d / 2), radians.

    Angle (i, r) is i / 10000^(2 r / d) (Vaswani et al. 2017, 3.5). Raises ValueError if d is odd.
    """
    if d % 2:
        raise ValueError(f"{d} columns are not pairs")
    return np.asarray(positions, np.float64)[:, None] / BASE ** (np.arange(0, d, 2) / d)


def sinusoidal(positions: NDArray[Any], d: int) -> NDArray[np.float64]:
    """Return P, float64 (T, d): P[i, 2 r] = sin(angle), P[i, 2 r + 1] = cos(angle) (Vaswani et al. 2017, 3.5)."""
    angle = angles(positions, d)
    return np.stack([np.sin(angle), np.cos(angle)], axis=-1).reshape(len(angle), d)


def rotate(X: NDArray[Any], positions: NDArray[Any], back: bool = False) -> NDArray[Any]:
    """Return rows of queries or keys (..., T, d) with the neighbouring columns 2 r and 2 r + 1 turned by their angle.

    (x, y) becomes (x cos - y sin, x sin + y cos), so that q_i . k_j depends on i - j alone (RoPE, Su et al. 2021,
    3.2.2). ``back`` turns the other way, which is also the gradient. Raises ValueError if d is odd.
    """
    angle = angles(positions, X.shape[-1])
    cos, sin = np.cos(angle).astype(X.dtype), np.sin(-angle if back else angle).astype(X.dtype)
    turned = np.empty_like(X)
    x, y = X[..., 0::2], X[..., 1::2]
    turned[..., 0::2] = x * cos - y * sin
    turned[..., 1::2] = x * sin + y * cos
    return turned


def slopes(heads: int) -> NDArray[np.float64]:
    """Return ALiBi's slope of each head, float64 (heads,): 2^(-8 h / heads) for h = 1 ... heads (Press et al. 2022, 3).

    If heads is no power of two: those of the next lower power, then every second one of twice that power, as the
    authors' code has it.
    """
    power = 1 << (heads.bit_length() - 1)
    found = 2.0 ** (-8 * np.arange(1, power + 1) / power)
    more = 2.0 ** (-8 * np.arange(1, 2 * power + 1, 2) / (2 * power))
    return np.concatenate([found, more])[:heads]


def alibi(positions: NDArray[Any], heads: int, others: NDArray[Any] | None = None) -> NDArray[np.float64]:
    """Return what ALiBi adds to scores, float64 (heads, T, T): -slope |i - j|, in both directions.

    ``others`` are the positions of the S keys, for (heads, T, S), where they are not those of the queries.
    """
    at = np.asarray(positions, np.float64)
    to = at if others is None else np.asarray(others, np.float64)
    return -slopes(heads)[:, None, None] * np.abs(at[:, None] - to[None, :])
