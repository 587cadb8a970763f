"""Small Transformers, batches of any shape, and gradients by differences, for the tests of ``attend``."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from embcli.models import layers
from embcli.models import transformer as readable
from embcli.models.transformer import Config
from embcli.models.workroom import Layout, Rows

#: (position, objective, tied, output bias, scaled, dropout, context): every option both ways, blocks of queries
COMBINATIONS = [
    ("sinusoidal", "causal", True, False, True, 0.0, 5),
    ("learned", "causal", False, True, True, 0.3, 5),
    ("rope", "masked", True, True, False, 0.0, 5),
    ("alibi", "causal", False, False, False, 0.2, 5),
    ("none", "masked", False, False, False, 0.0, 5),
    ("alibi", "masked", True, False, True, 0.0, 131),
    ("rope", "causal", False, False, True, 0.0, 131),
]


def config(position: str = "none", objective: str = "causal", tie: bool = True, bias: bool = False,
           scale: bool = False, T: int = 5, V: int = 7, layers: int = 2) -> Config:  # fmt: skip
    return Config(V, layers, 2, 8, 12, T, position, objective, tie, bias, scale)


def parameters(c: Config, seed: int = 0, spread: float = 0.5) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Return random parameters, as one row of numbers and by name."""
    layout = Layout(c)
    theta = np.random.default_rng(seed).standard_normal(layout.size) * spread
    return theta, layout.views(theta)


def batch(c: Config, windows: int = 3, seed: int = 0) -> Rows:
    """Return windows of three pieces, of one with an empty end, and of one that fills it."""
    rng, T, V = np.random.default_rng(seed), c.context, c.vocabulary
    rows = Rows.empty(windows * T)
    rows.ids[:], rows.targets[:] = rng.integers(0, V, (2, windows * T))
    for w in range(windows):
        cuts = ([0, 2, T - 1, T], [0, T - 2], [0, T])[w % 3]
        for a, b in pairwise(cuts):
            i = np.arange(a, b)
            rows.at[w * T + i], rows.first[w * T + i] = i - a, a
            rows.last[w * T + i] = b if c.masked else i + 1
        rows.ids[w * T + cuts[-1] : (w + 1) * T] = rows.targets[w * T + cuts[-1] : (w + 1) * T] = -1
    if c.masked:
        rows.targets[rng.random(windows * T) < 0.6] = -1
        rows.ids[::3] = np.where(rows.ids[::3] >= 0, V, -1)
    return rows


def pieces(rows: Rows, T: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return ids and targets of each piece of a batch."""
    found = []
    for start in range(0, len(rows.ids), T):
        real = rows.ids[start : start + T] >= 0
        begins = [i for i in range(T) if real[i] and rows.at[start + i] == 0]
        for a, b in zip(begins, [*begins[1:], int(real.sum())], strict=True):
            found.append((rows.ids[start + a : start + b], rows.targets[start + a : start + b]))
    return found


def readable_loss(c: Config, P: Any, rows: Rows) -> float:
    """Return the sum of the losses, piece by piece through the readable model."""
    total = 0.0
    for ids, targets in pieces(rows, c.context):
        Z, some = readable.scores(c, P, readable.forward(c, P, ids).final), targets >= 0
        if some.any():
            total += float(layers.losses(Z[some], targets[some]).sum())
    return total


def differences(f: Callable[[], float], theta: np.ndarray, places: list[int], h: float = 1e-5) -> np.ndarray:
    """Return the derivatives of f by some numbers of theta, from central differences."""
    found = []
    for i in places:
        old = theta[i]
        theta[i] = old + h
        above = f()
        theta[i] = old - h
        found.append((above - f()) / (2 * h))
        theta[i] = old
    return np.array(found)
