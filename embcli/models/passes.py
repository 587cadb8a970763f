"""The forward and the backward pass of training, on some windows of text, in the memory of one lane.

Every gradient is exact and written out by hand; all windows of a lane go through a matrix product at once, and nothing
is allocated. What stands between queries, keys, values and the outputs of the heads is heads.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embcli.kernels import normrows, softmaxes
from embcli.models.heads import Heads
from embcli.models.transformer import Config
from embcli.models.workroom import Room, Rows

Array = NDArray[Any]
Arrays = dict[str, Array]


@dataclass(frozen=True)
class Dropout:
    """What is left out: ``share`` of the numbers, decided by ``key`` (uint64, one for each step)."""

    share: float
    key: np.uint64

    @property
    def limit(self) -> int:
        """Of 2^24 hashes, those that leave a number in."""
        return round((1 - self.share) * (1 << 24))

    def site(self, number: int) -> np.uint64:
        """Return the key of one place of the network."""
        return np.uint64((int(self.key) + number * 0x9E3779B97F4A7C15) % (1 << 64))


class Tables:
    """What passes read: the parameters by name, and what is added to token rows, (context, d) or without rows."""

    def __init__(self, config: Config, parameters: Arrays, heads: Heads, added: Array, frozen: bool) -> None:
        self.config, self.parameters, self.heads, self.added, self.frozen = config, parameters, heads, added, frozen
        self.no_rows, self.no_bias = np.zeros((0, config.dim), added.dtype), np.zeros(0, added.dtype)


class Pass:
    """One pass of some rows through a network; ``gradients`` None: no way back."""

    def __init__(
        self, tables: Tables, rows: Rows, room: Room, gradients: Arrays | None, dropout: Dropout | None,
        first: bool = True,
    ) -> None:  # fmt: skip
        self.tables, self.config, self.P = tables, tables.config, tables.parameters
        self.heads, self.real = tables.heads, tables.heads.real
        self.rows, self.room, self.G, self.dropout, self.first = rows, room, gradients, dropout, first
        self.M = len(rows.ids)
        self.blocks = rows.blocks(room.T)
        self.targets = np.flatnonzero(rows.targets >= 0)

    # ---- forward

    def forward(self, share: float) -> float:
        """Return the sum of the losses; with gradients, those of the last states are in ``room.dH`` afterwards."""
        room, rows, H = self.room, self.rows, self.room.H[: self.M]
        scale = self.real(self.config.scale)
        normrows.look_up(self.P["token_rows"], rows.ids, scale, self.tables.added, rows.at, H)
        self._drop(H, H, 0)
        for layer in range(self.config.layers):
            self._heads(layer, H)
            self._feed_forward(layer, H)
        n = len(self.targets)
        X, Y = room.picked[:n], room.final[:n]
        np.take(H, self.targets, axis=0, out=X, mode="clip")
        gain, bias = self.P["final_gain"], self.P["final_bias"]
        normrows.norm_rows(X, gain, bias, Y, room.final_unit[:n], room.final_inverse[:n])
        return self._scores(Y, share)

    def _heads(self, layer: int, H: Array) -> None:
        room, P, M = self.room, self.P, self.M
        X, unit, inverse = room.normed1[layer, :M], room.unit1[layer, :M], room.inverse1[layer, :M]
        normrows.norm_rows(H, P["norm1_gain"][layer], P["norm1_bias"][layer], X, unit, inverse)
        for name, out in (("query", room.Q), ("key", room.K), ("value", room.V)):
            np.matmul(X, P[name][layer], out=out[layer, :M])
            normrows.add_bias(out[layer, :M], P[f"{name}_bias"][layer])
        self.heads.turn(room.Q[layer, :M], self.rows.at, 1)
        self.heads.turn(room.K[layer, :M], self.rows.at, 1)
        self.heads.look(layer, self.rows, room, self.blocks)
        np.matmul(room.O[layer, :M], P["merge"][layer], out=room.mixed[:M])
        self._join(room.mixed[:M], P["merge_bias"][layer], H, 2 * layer + 1)

    def _feed_forward(self, layer: int, H: Array) -> None:
        room, P, M = self.room, self.P, self.M
        X, unit, inverse = room.normed2[layer, :M], room.unit2[layer, :M], room.inverse2[layer, :M]
        normrows.norm_rows(H, P["norm2_gain"][layer], P["norm2_bias"][layer], X, unit, inverse)
        U, G = room.slope[layer, :M], room.wide[layer, :M]
        np.matmul(X, P["widen"][layer], out=U)
        normrows.gelu_rows(U, P["widen_bias"][layer], G)
        np.matmul(G, P["narrow"][layer], out=room.mixed[:M])
        self._join(room.mixed[:M], P["narrow_bias"][layer], H, 2 * layer + 2)

    def _scores(self, Y: Array, share: float) -> float:
        """Return the sum of the losses of final states; with gradients, begin the way back."""
        room, config, n = self.room, self.config, len(Y)
        U = self.P["token_rows"][: config.vocabulary] if config.tie else self.P["output_rows"]
        bias, targets = self.P.get("output_bias", self.tables.no_bias), self.rows.targets[self.targets]
        loss = 0.0
        for start in range(0, max(n, 1), room.scores_at_once):
            y = Y[start : start + room.scores_at_once]
            Z = room.Z[: len(y)]
            np.matmul(y, U.T, out=Z)
            loss += softmaxes.cross_entropy(Z, bias, targets[start : start + len(y)], share)
            if self.G is not None:
                np.matmul(Z, U, out=room.d_final[start : start + len(y)])
                self._scores_back(Z, y, self.first and start == 0)
        return loss

    # ---- backward

    def _scores_back(self, Z: Array, y: Array, first: bool) -> None:
        assert self.G is not None
        if "output_bias" in self.G:
            normrows.sum_rows(Z, self.G["output_bias"])
        if self.config.tie and self.tables.frozen:
            return
        table = self.G["token_rows"][: self.config.vocabulary] if self.config.tie else self.G["output_rows"]
        self._product(table, Z, y, first)

    def backward(self) -> None:
        """Put or add the gradients of all parameters."""
        room, tables, n = self.room, self.tables, len(self.targets)
        assert self.G is not None
        G, dH = self.G, room.dH[: self.M]
        back = room.picked[:n]
        back.fill(0)
        normrows.norm_back(
            room.d_final[:n], self.P["final_gain"], room.final_unit[:n], room.final_inverse[:n], back, G["final_gain"],
            G["final_bias"],
        )  # fmt: skip
        dH.fill(0)
        dH[self.targets] = back
        for layer in reversed(range(self.config.layers)):
            self._feed_forward_back(layer, dH)
            self._heads_back(layer, dH)
        self._drop(dH, dH, 0)
        rows = tables.no_rows if tables.frozen else G["token_rows"]
        places = G.get("position_rows", tables.no_rows)
        normrows.look_up_back(dH, self.rows.ids, self.real(self.config.scale), self.rows.at, rows, places)

    def _feed_forward_back(self, layer: int, dH: Array) -> None:
        room, P, M = self.room, self.P, self.M
        assert self.G is not None
        G, dF = self.G, self._dropped(dH, 2 * layer + 2)
        X, wide, dU, dX = room.normed2[layer, :M], room.wide[layer, :M], room.d_wide[:M], room.normed_back[:M]
        self._product(G["narrow"][layer], wide, dF, self.first)
        normrows.sum_rows(dF, G["narrow_bias"][layer])
        np.matmul(dF, P["narrow"][layer].T, out=dU)
        normrows.gelu_back(dU, room.slope[layer, :M], G["widen_bias"][layer])
        self._product(G["widen"][layer], X, dU, self.first)
        np.matmul(dU, P["widen"][layer].T, out=dX)
        unit, inverse = room.unit2[layer, :M], room.inverse2[layer, :M]
        gains = (G["norm2_gain"][layer], G["norm2_bias"][layer])
        normrows.norm_back(dX, P["norm2_gain"][layer], unit, inverse, dH, *gains)

    def _heads_back(self, layer: int, dH: Array) -> None:
        room, P, M = self.room, self.P, self.M
        assert self.G is not None
        G, dF = self.G, self._dropped(dH, 2 * layer + 1)
        X, dX = room.normed1[layer, :M], room.normed_back[:M]
        self._product(G["merge"][layer], room.O[layer, :M], dF, self.first)
        normrows.sum_rows(dF, G["merge_bias"][layer])
        np.matmul(dF, P["merge"][layer].T, out=room.dO[:M])
        self.heads.back(layer, self.rows, room, self.blocks)
        self.heads.turn(room.dQ[:M], self.rows.at, -1)
        self.heads.turn(room.dK[:M], self.rows.at, -1)
        for name, d_out, out in (("query", room.dQ, dX), ("key", room.dK, room.mixed), ("value", room.dV, room.mixed)):
            self._product(G[name][layer], X, d_out[:M], self.first)
            normrows.sum_rows(d_out[:M], G[f"{name}_bias"][layer])
            np.matmul(d_out[:M], P[name][layer].T, out=out[:M])
            if out is room.mixed:
                dX += out[:M]
        unit, inverse = room.unit1[layer, :M], room.inverse1[layer, :M]
        gains = (G["norm1_gain"][layer], G["norm1_bias"][layer])
        normrows.norm_back(dX, P["norm1_gain"][layer], unit, inverse, dH, *gains)

    # ---- parts of both
    def _drop(self, X: Array, Y: Array, site: int) -> None:
        if self.dropout is not None:
            normrows.drop_rows(X, Y, self.rows.place, self.dropout.site(site), self.dropout.limit)

    def _dropped(self, dH: Array, site: int) -> Array:
        """Return the gradient of what was added to the states at a site."""
        if self.dropout is None:
            return dH
        self._drop(dH, self.room.mixed[: self.M], site)
        return self.room.mixed[: self.M]

    def _join(self, X: Array, bias: Array, H: Array, site: int) -> None:
        """H += X + bias, or what dropout leaves of it."""
        if self.dropout is None:
            normrows.add_rows(X, bias, H)
            return
        normrows.add_bias(X, bias)
        self._drop(X, X, site)
        H += X

    def _product(self, total: Array, left: Array, right: Array, first: bool) -> None:
        """Put left^T right into ``total``, or add it."""
        if first:
            np.matmul(left.T, right, out=total)
            return
        part = self.room.spare(*total.shape)
        np.matmul(left.T, right, out=part)
        total += part
