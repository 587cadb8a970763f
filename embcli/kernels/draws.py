"""Chance in training kernels: hashes of positions, subsampling of frequent words, words drawn from the noise.

Everything is a function of (seed, epoch, position), never of a thread: splitmix64 (Steele et al. 2014) of a counter.
The alias method is Walker's (1977) with Vose's tables (1991): one number decides the cell and its side.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from embcli.kernels._jit import inner_kernel, kernel

U = np.uint64
_M1, _M2, GOLD = U(0xBF58476D1CE4E5B9), U(0x94D049BB133111EB), U(0x9E3779B97F4A7C15)
_S30, _S27, _S31, S32, LOW = U(30), U(27), U(31), U(32), U(0xFFFFFFFF)
#: draws of a negative that may hit the target before any other word is taken
TRIES = 16


@inner_kernel
def mix(x):  # type: ignore[no-untyped-def]
    """Return uint64 ``x`` with its bits mixed (the finaliser of splitmix64)."""
    x = (x ^ (x >> _S30)) * _M1
    x = (x ^ (x >> _S27)) * _M2
    return x ^ (x >> _S31)


@inner_kernel
def draw(x, cells):  # type: ignore[no-untyped-def]
    """Return the word that the random uint64 ``x`` means: its upper half chooses the cell, its lower half the side."""
    j = (x >> S32) * U(len(cells)) >> S32
    cell = cells[j]
    return np.int64(j) if (x & LOW) < (cell >> S32) else np.int64(cell & LOW)


@inner_kernel
def draw_other(state, cells, target):  # type: ignore[no-untyped-def]
    """Return the new state and a word that is not ``target``: drawn again while it is."""
    for _ in range(TRIES):
        state += GOLD
        word = draw(mix(state), cells)
        if word != target:
            return state, word
    state += GOLD
    other = (mix(state) >> S32) * U(len(cells) - 1) >> S32
    return state, (target + 1 + np.int64(other)) % len(cells)


@kernel
def _alias(p, threshold, alias, small, large):  # type: ignore[no-untyped-def]
    """Fill the cells: ``p`` has mean 1 and is used up; small, large are room for indices."""
    s = g = 0
    for i in range(len(p)):
        if p[i] < 1:
            small[s] = i
            s += 1
        else:
            large[g] = i
            g += 1
    while s and g:
        i, j = small[s - 1], large[g - 1]
        threshold[i], alias[i] = p[i], j
        p[j] -= 1 - p[i]
        s -= 1
        if p[j] < 1:
            small[s] = j
            s += 1
            g -= 1


def alias_cells(weights: NDArray[np.float64]) -> NDArray[np.uint64]:
    """Return the cells of an alias table, one a word: share of its own in the upper half, the other word below.

    weights : float64 (V,), >= 0, with a sum above 0. Each cell is chosen equally often; probabilities are exact to
    2^-32.
    """
    n = len(weights)
    p = np.asarray(weights, np.float64) / np.sum(weights) * n
    threshold, alias = np.ones(n), np.arange(n, dtype=np.int64)
    _alias(p, threshold, alias, np.zeros(n, np.int64), np.zeros(n, np.int64))
    upper = np.minimum(threshold * 2.0**32, 2.0**32 - 1).astype(np.uint64)
    return (upper << S32) | alias.astype(np.uint64)


def keep_limits(unigram: NDArray[np.int64], sample: float) -> NDArray[np.uint64]:
    """Return for V words and for the gap how many of 2^32 hashes keep a token.

    A word is kept with probability min(1, sqrt(t / f) + t / f), f its share of the text and t ``sample`` (the rule of
    word2vec's code; Mikolov et al. 2013, 2.3, print another); 0 keeps all. The gap, id V, always takes its place.
    """
    share = np.maximum(unigram, 1) / max(int(np.sum(unigram)), 1)
    chance = np.minimum(1.0, np.sqrt(sample / share) + sample / share) if sample else np.ones(len(unigram))
    return np.append(np.round(chance * 2.0**32), 2.0**32).astype(np.uint64)


def key_of(seed: int, epoch: int) -> np.uint64:
    """Return the key of an epoch's hashes."""
    with np.errstate(over="ignore"):
        return U(mix(U(mix(U(seed & 0xFFFFFFFFFFFFFFFF)) + GOLD * U(epoch + 1))))
