"""The heads of one layer in training: weights and outputs of each window, and their way back, in a lane's memory.

The formulas are those of attention.py. A window goes through in blocks of queries (``Rows.blocks``), each with the
columns that any of its rows looks at, so that what a causal mask hides is hardly computed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embcli.kernels import normrows, softmaxes
from embcli.models import positions
from embcli.models.transformer import Config
from embcli.models.workroom import QUERIES, Room, Rows

Array = NDArray[Any]
#: the blocks of a window, see ``Rows.blocks``
Blocks = Sequence[tuple[int, int, int, int]]


class Heads:
    """How the heads of a configuration look, with tables of one floating type."""

    def __init__(self, config: Config, dtype: Any) -> None:
        self.real = np.dtype(dtype).type
        self.heads, self.rope = config.heads, config.position == "rope"
        width = config.dim // config.heads
        angle = positions.angles(np.arange(config.context), width) if self.rope else np.zeros((0, 0))
        self.cos, self.sin = np.cos(angle).astype(dtype), np.sin(angle).astype(dtype)
        self.slopes = (positions.slopes(config.heads) * (config.position == "alibi")).astype(dtype)
        self.scale = self.real(1 / np.sqrt(width))

    def turn(self, X: Array, at: Array, back: int) -> None:
        """Turn queries or keys (M, d) by RoPE, where that is used; ``back`` -1 the other way."""
        if self.rope:
            normrows.turn_rows(X, self.cos, self.sin, at, self.heads, self.real(back))

    def look(self, layer: int, rows: Rows, room: Room, found: Sequence[Blocks]) -> None:
        """Fill a layer's weights and ``room.O`` from its queries, keys and values; ``found`` is ``rows.blocks``."""
        for window, span, blocks in windows(found, room.T):
            q, k, v, o = (self._split(array[layer, span]) for array in (room.Q, room.K, room.V, room.O))
            if not whole(blocks, room.T):
                room.O[layer, span].fill(0)
            A, first, last = room.A[layer, window], rows.first[span], rows.last[span]
            for a, b, c, d in blocks:
                np.matmul(q[:, a:b], k[:, c:d].transpose(0, 2, 1), out=A[:, a:b, c:d])
                softmaxes.weigh(A, first, last, (a, b), (c, d), self.scale, self.slopes)
                np.matmul(A[:, a:b, c:d], v[:, c:d], out=o[:, a:b])

    def back(self, layer: int, rows: Rows, room: Room, found: Sequence[Blocks]) -> None:
        """Fill the gradients of queries, keys and values from ``room.dO``."""
        for window, span, blocks in windows(found, room.T):
            self._window_back(layer, window, span, blocks, rows, room)

    def _window_back(self, layer: int, window: int, span: slice, blocks: Blocks, rows: Rows, room: Room) -> None:
        q, k, v = (self._split(array[layer, span]) for array in (room.Q, room.K, room.V))
        dq, dk, dv, do = (self._split(array[span]) for array in (room.dQ, room.dK, room.dV, room.dO))
        A, first, last = room.A[layer, window], rows.first[span], rows.last[span]
        alone = whole(blocks, room.T) and len(blocks) == 1
        if not alone:
            for array in (room.dQ, room.dK, room.dV):
                array[span].fill(0)
        for a, b, c, d in blocks:
            weights, dS = A[:, a:b, c:d], room.dA[:, a:b, c:d]
            np.matmul(do[:, a:b], v[:, c:d].transpose(0, 2, 1), out=dS)
            softmaxes.weigh_back(A, room.dA, first, last, (a, b), (c, d), self.scale)
            np.matmul(dS, k[:, c:d], out=dq[:, a:b])
            for left, right, total in ((weights, do, dv), (dS, q, dk)):
                if alone:
                    np.matmul(left.transpose(0, 2, 1), right[:, a:b], out=total)
                else:
                    part = room.d_heads[:, c:d]
                    np.matmul(left.transpose(0, 2, 1), right[:, a:b], out=part)
                    total[:, c:d] += part

    def _split(self, X: Array) -> Array:
        """Return (T, d) as (heads, T, d / heads), a view."""
        return X.reshape(len(X), self.heads, -1).transpose(1, 0, 2)


def windows(found: Sequence[Blocks], T: int) -> Iterator[tuple[int, slice, Blocks]]:
    """Yield each window's number, its rows, and its blocks of queries."""
    for number, blocks in enumerate(found):
        yield number, slice(number * T, (number + 1) * T), blocks


def whole(blocks: Blocks, T: int) -> bool:
    """Return whether the blocks of a window cover all of its T rows, and each column is looked at."""
    return bool(blocks) and len(blocks) == -(-T // QUERIES) and (blocks[0][2], blocks[-1][3]) == (0, T)
