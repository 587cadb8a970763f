"""What a Transformer's training keeps in memory: all parameters in one row of numbers, rows of text, and room to work.

Everything is allocated once. Which numbers stand where follows from the configuration alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embcli.models.transformer import Config

Array = NDArray[Any]
Ints = NDArray[np.int64]
#: scores of words that are held at a time, unless one row has more
_SCORES = 1 << 22
#: rows of queries that are taken together
QUERIES = 128


class Layout:
    """Where each parameter lies in one row of numbers: ``spans[name]`` is (start, stop), ``size`` their total."""

    def __init__(self, config: Config) -> None:
        self.shapes = config.shapes()
        self.spans: dict[str, tuple[int, int]] = {}
        at = 0
        for name, shape in self.shapes.items():
            self.spans[name] = (at, at + math.prod(shape))
            at += math.prod(shape)
        self.size = at

    def views(self, flat: Array) -> dict[str, Array]:
        """Return the parameters (or what lies in the same order) as views of ``flat`` (size,)."""
        return {name: flat[a:b].reshape(self.shapes[name]) for name, (a, b) in self.spans.items()}


@dataclass
class Rows:
    """Tokens of a few windows, one after another, M = windows x context of them.

    ids : int64, -1 where a window is empty.  targets : int64, the word to predict, -1 for none.
    at : int64, position within the piece of text.  first, last : int64, span of the window that may be looked at.
    place : int64, the number of the token in the whole batch, by which dropout decides.
    """

    ids: Ints
    targets: Ints
    at: Ints
    first: Ints
    last: Ints
    place: Ints

    @classmethod
    def empty(cls, M: int) -> Rows:
        """Return M places to be filled."""
        ids, targets, at, first, last = np.zeros((5, M), np.int64)
        return cls(ids, targets, at, first, last, np.arange(M))

    def part(self, start: int, stop: int) -> Rows:
        """Return tokens [start, stop)."""
        parts = (self.ids, self.targets, self.at, self.first, self.last, self.place)
        return Rows(*(part[start:stop] for part in parts))

    def blocks(self, T: int) -> list[list[tuple[int, int, int, int]]]:
        """Return each window's blocks of queries: rows [a, b) and the columns [c, d) that any of them looks at."""
        found = []
        for start in range(0, len(self.ids), T):
            first, last = self.first[start : start + T], self.last[start : start + T]
            window = []
            for a in range(0, T, QUERIES):
                b = min(a + QUERIES, T)
                some = first[a:b] < last[a:b]
                if some.any():
                    window.append((a, b, int(first[a:b][some].min()), int(last[a:b][some].max())))
            found.append(window)
        return found


def scores_at_once(config: Config, M: int) -> int:
    """Return of how many of M tokens the scores of all words are held at a time."""
    return max(1, min(M, max(64, _SCORES // config.vocabulary)))


class Room:
    """The working memory of one lane, for up to ``windows`` windows of ``T`` tokens at a time."""

    def __init__(self, config: Config, windows: int, dtype: Any = np.float32) -> None:
        self.T, self.windows, self.dtype = config.context, windows, np.dtype(dtype)
        M, d, f, layers = windows * self.T, config.dim, config.ffn, config.layers
        self.scores_at_once = scores_at_once(config, M)

        def make(*shape: int) -> Array:
            return np.empty(shape, dtype)

        self.H, self.dH, self.mixed, self.normed_back = (make(M, d) for _ in range(4))
        self.unit1, self.normed1, self.Q, self.K, self.V, self.O, self.unit2, self.normed2 = (
            make(layers, M, d) for _ in range(8)
        )
        self.inverse1, self.inverse2 = make(layers, M), make(layers, M)
        self.A = make(layers, windows, config.heads, self.T, self.T)
        self.slope, self.wide = make(layers, M, f), make(layers, M, f)
        self.dO, self.dQ, self.dK, self.dV = (make(M, d) for _ in range(4))
        self.dA, self.d_heads = make(config.heads, self.T, self.T), make(config.heads, self.T, d // config.heads)
        self.d_wide = make(M, f)
        self.picked, self.final_unit, self.final, self.d_final = (make(M, d) for _ in range(4))
        self.final_inverse = make(M)
        self.Z = make(self.scores_at_once, config.vocabulary)
        self._spare: Array | None = None

    @staticmethod
    def size(config: Config, windows: int) -> int:
        """Return about how many numbers a room holds."""
        M, d, f = windows * config.context, config.dim, config.ffn
        size = M * config.layers * (8 * d + 2 * f + config.heads * config.context) + M * (14 * d + f)
        return size + scores_at_once(config, M) * config.vocabulary

    def spare(self, rows: int, columns: int) -> Array:
        """Return room for a matrix that is added to another one."""
        if self._spare is None or self._spare.size < rows * columns:
            self._spare = np.empty(rows * columns, self.dtype)
        return self._spare[: rows * columns].reshape(rows, columns)
