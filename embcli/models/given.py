"""The arithmetic of attention on tables written by hand, every step of it kept: what the sources work out on paper.

By the same functions that the readable model calls (layers.py, attention.py, positions.py), in float64.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from embcli.errors import UsageError
from embcli.models import attention, layers, positions
from embcli.models.given_tables import Array, Tables

#: rows of a table between which all distances and cosines are shown
_SQUARE = 16


@dataclass(frozen=True)
class Result:
    """One step: its name, how it follows, and its value, float64 of any shape."""

    name: str
    formula: str
    value: Array


def work(given: Tables) -> list[Result]:
    """Return everything that follows from the tables, in the order in which it follows.

    Raises UsageError that names the table if shapes do not fit.
    """
    return list(_Sheet(given).steps())


def need(sound: bool, text: str) -> None:
    """Raise UsageError with the text unless something holds."""
    if not sound:
        raise UsageError(text)


class _Sheet:
    """One sheet of arithmetic; what later steps need is kept under its name."""

    def __init__(self, given: Tables) -> None:
        self.g, self.kept = given, dict[str, Array]()

    def put(self, name: str, formula: str, value: Any) -> Result:
        self.kept[name] = np.asarray(value, np.float64)
        return Result(name, formula, self.kept[name])

    def steps(self) -> Iterator[Result]:
        for part in (self.tables, self.inputs, self.heads, self.outputs, self.gradients, self.step):
            yield from part()

    def tables(self) -> Iterator[Result]:
        g = self.g
        if g.E is not None:
            yield self.put("numbers of E", "V d", g.E.size)
            yield self.put("d", "columns of E", g.E.shape[1])
        if g.dim is not None:
            need(g.E is None or g.E.shape[1] == g.dim, f"dim: {g.dim}, and E has {0 if g.E is None else g.E.shape[1]}")
            yield self.put("d", "", g.dim)
        if g.scale:
            need("d" in self.kept, "scale: multiplies by sqrt(d); give E or dim")
            yield self.put("factor", "sqrt(d)", math.sqrt(self.kept["d"]))
        if g.E is not None and len(g.E) <= _SQUARE:
            apart = g.E[:, None] - g.E[None]
            yield self.put("distances", "|E_i - E_j|^2", (apart * apart).sum(-1))
            norms = np.linalg.norm(g.E, axis=1, keepdims=True)
            unit = g.E / np.where(norms > 0, norms, 1)
            yield self.put("cosines", "E_i . E_j / |E_i| |E_j|", unit @ unit.T)
        if g.E is not None and (g.U is not None or g.tie):
            yield self.put("numbers of both tables", "V d if tied, else 2 V d", g.E.size * (1 if g.tie else 2))

    def inputs(self) -> Iterator[Result]:
        g = self.g
        P = self._positions()
        if P is not None:
            yield self.put("P", "given" if g.P is not None else "sin and cos of i / 10000^(2 r / d)", P)
            yield self.put("numbers of P", "L d if they are trained, else 0", P.size if g.P is not None else 0)
        if g.E is None or g.ids is None:
            return
        yield self.put("X", "E[ids]", layers.lookup(g.E, g.ids))
        yield self.put("numbers of X", "T d", self.kept["X"].size)
        yield self.put("S E", "one-hot rows times E", layers.one_hot(g.ids, len(g.E)) @ g.E)
        H = self.kept["X"] * (math.sqrt(g.E.shape[1]) if g.scale else 1)
        if g.scale:
            yield self.put("sqrt(d) X", "", H)
        if P is not None:
            need(P.shape == H.shape[-2:], f"P: {_size(P)} where {_size(H)} is due")
        if P is not None or g.scale:
            yield self.put("H", f"{'sqrt(d) ' * g.scale}X{' + P' * (P is not None)}", H if P is None else H + P)
        else:
            self.kept["H"] = H
        if g.ids.ndim == 2:
            yield self.put("sum of X", "over positions", self.kept["X"].sum(1))
            yield self.put("sum of H", "over positions", self.kept["H"].sum(1))

    def _positions(self) -> Array | None:
        g = self.g
        if g.P is not None or g.position != "sinusoidal":
            return g.P
        d = self.kept.get("d")
        length = g.length if g.ids is None else g.ids.shape[-1]
        need(d is not None and length is not None, "position: sinusoidal needs ids and E, or length and dim")
        need(int(d or 0) % 2 == 0, f"position: sinusoidal: its columns are pairs, and d is {int(d or 0)}")  # type: ignore[arg-type]
        return positions.sinusoidal(np.arange(length or 0), int(d or 0))  # type: ignore[arg-type]

    def heads(self) -> Iterator[Result]:
        g = self.g
        if g.scores is None and all(x is None for x in (g.W_Q, g.W_K, g.W_V, g.mask)):
            return
        if g.scores is not None:
            need(g.scores.ndim >= 2, "scores: expected a table")
            Z, V = g.scores, g.V
            self.kept["scores"] = Z
        else:
            need("H" in self.kept, "W_Q, W_K, W_V, mask: need scores, or E and ids")
            Z, V = yield from self._scores(self.kept["H"])
        mask = self._mask(Z.shape[-2:])
        A = attention.softmax(Z, mask)
        yield self.put("A", "softmax of each row, within the mask", A)
        yield self.put("row sums of A", "", A.sum(-1))
        if V is not None:
            need(V.shape[-2] == A.shape[-1], f"V: {V.shape[-2]} rows, and the scores have {A.shape[-1]} columns")
            O = A @ V  # noqa: E741
            joined = O if g.heads == 1 else np.moveaxis(O, -3, -2).reshape(*O.shape[:-3], O.shape[-2], -1)
            yield self.put("O", "A V", joined)

    def _scores(self, H: Array) -> Any:
        g, made = self.g, dict[str, Array]()
        for name, W in (("Q", g.W_Q), ("K", g.W_K), ("V", g.W_V)):
            need(W is None or len(W) == H.shape[-1], f"W_{name}: {0 if W is None else len(W)} rows, d is {H.shape[-1]}")
            made[name] = H if W is None else H @ W
            if W is not None:
                yield self.put(name, f"H W_{name}", made[name])
        if g.V is not None:
            made["V"] = g.V
        need(made["Q"].shape == made["K"].shape, f"W_K: makes {_size(made['K'])}, and W_Q {_size(made['Q'])}")
        if g.heads > 1:
            need(all(x.shape[-1] % g.heads == 0 for x in made.values()), f"heads: {g.heads} do not divide the columns")
            made = {name: np.moveaxis(x.reshape(*x.shape[:-1], g.heads, -1), -2, -3) for name, x in made.items()}
        at = np.arange(H.shape[-2])
        if g.position == "rope":
            need(made["Q"].shape[-1] % 2 == 0, "position: rope: turns pairs of columns, and their number is odd")
            for name in ("Q", "K"):
                made[name] = positions.rotate(made[name], at)
                yield self.put(f"{name} turned", "by i / 10000^(2 r / d_k)", made[name])
        bias = None
        if g.position == "alibi":
            bias = positions.alibi(at, g.heads)
            bias = bias if g.heads > 1 else bias[0]
            yield self.put("bias", "-slope |i - j|", bias)
        Z = attention.scores(made["Q"], made["K"], bias)
        yield self.put("scores", f"Q K^T / sqrt({made['Q'].shape[-1]}){' + bias' * (bias is not None)}", Z)
        return Z, made["V"]

    def _mask(self, shape: tuple[int, ...]) -> attention.Mask | None:
        mask = self.g.mask
        if mask is None or isinstance(mask, str):
            return attention.causal(shape[0]) if mask == "causal" else None
        need(mask.shape == shape, f"mask: {_size(mask)} where {_size(np.empty(shape))} is due")
        return mask

    def outputs(self) -> Iterator[Result]:
        g = self.g
        U = g.E if g.tie else g.U
        h = g.h if g.h is not None else self.kept.get("O", self.kept.get("H"))
        if U is None or h is None:
            return
        h = np.atleast_2d(h)
        h = h.reshape(-1, h.shape[-1])
        targets, where = self._targets(len(h))
        if isinstance(g.targets, str) and targets is not None and g.ids is not None:
            yield self.put("examples", "token, next token", np.stack([g.ids.reshape(-1)[where], targets], 1))
        h = h[where]
        need(U.shape[1] == h.shape[1], f"U: {U.shape[1]} columns, and states have {h.shape[1]}")
        need(g.b is None or g.b.shape == (len(U),), f"b: one number for each of {len(U)} rows of U is due")
        self.kept |= {"h": h, "U": U, "where": where}
        Z = layers.logits(h, U, g.b)
        yield self.put("logits", f"h U^T{' + b' * (g.b is not None)}", Z)
        yield self.put("softmax", "of each row of logits", np.exp(layers.log_softmax(Z)))
        if g.R is not None:
            need(g.R.shape == (h.shape[1],) * 2, f"R: {_size(g.R)}, and d is {h.shape[1]}")
            yield self.put("logits turned", "(h R) (U R)^T", layers.logits(h @ g.R, U @ g.R, g.b))
        if targets is not None:
            need(bool(((targets >= 0) & (targets < len(U))).all()), f"targets: ids of rows of U are 0 to {len(U) - 1}")
            self.kept["targets"] = targets
            yield self.put("losses", "-log p(target)", layers.losses(Z, targets))
            yield self.put("loss", "their mean", self.kept["losses"].mean())
            yield self.put("p - onehot", "gradient at the logits", layers.loss_gradient(Z, targets))

    def _targets(self, n: int) -> tuple[Array | None, Array]:
        """Return the targets, and the places that have one."""
        g, everywhere = self.g, np.arange(n)
        if isinstance(g.targets, str):
            need(g.ids is not None, "targets: next needs ids")
            ids = np.atleast_2d(g.ids if g.ids is not None else 0)
            T = ids.shape[1]
            where = everywhere[everywhere % T < T - 1]
            return ids[:, 1:].reshape(-1), where
        if g.targets is not None:
            need(len(g.targets) == n, f"targets: {len(g.targets)}, and there are {n} states")
        return g.targets, everywhere

    def gradients(self) -> Iterator[Result]:
        g, kept = self.g, self.kept
        if "p - onehot" in kept:
            error = kept["p - onehot"]
            yield self.put("dL/dh", "(p - onehot) U", error @ kept["U"])
            yield self.put("dL/dU", "(p - onehot)^T h", error.T @ kept["h"])
        if g.E is None or g.ids is None:
            return
        G, ids = g.G, g.ids.reshape(-1)
        if G is None and "dL/dh" in kept and g.h is None and "O" not in kept:  # h is H: the way back is one factor
            G = np.zeros((len(ids), g.E.shape[1]))
            G[kept["where"].astype(np.int64)] = kept["dL/dh"] * (math.sqrt(g.E.shape[1]) if g.scale else 1)
        if G is None:
            return
        G = G.reshape(-1, G.shape[-1])
        need(G.shape == (len(ids), g.E.shape[1]), f"G: {_size(G)} where {len(ids)} x {g.E.shape[1]} is due")
        yield self.put("S^T G", "each row: the sum of G where its id stood", layers.lookup_gradient(G, ids, len(g.E)))
        if g.tie and "dL/dU" in kept:
            yield self.put(
                "dL/dE", "S^T G + (p - onehot)^T h: the one table is read twice", kept["S^T G"] + kept["dL/dU"]
            )

    def step(self) -> Iterator[Result]:
        g, kept = self.g, self.kept
        if g.lr is None:
            return
        h = kept.get("h")
        if "S^T G" in kept and g.E is not None:
            gradient = kept.get("dL/dE", kept["S^T G"])
            E = layers.plain_step(g.E, gradient, g.lr)
            yield self.put("E after", "E - lr dL/dE", E)
            if h is not None and g.G is None and g.ids is not None and "H" in kept:
                moved = kept["H"] + (E - g.E)[g.ids] * (math.sqrt(g.E.shape[1]) if g.scale else 1)
                h = moved.reshape(-1, moved.shape[-1])[kept["where"].astype(np.int64)]
        elif "dL/dh" in kept and h is not None:
            h = layers.plain_step(h, kept["dL/dh"], g.lr)
            yield self.put("h after", "h - lr dL/dh", h)
        if "dL/dU" in kept and h is not None:
            U = kept["E after"] if g.tie and "E after" in kept else kept["U"]
            if not g.tie:
                yield self.put("U after", "U - lr dL/dU", layers.plain_step(kept["U"], kept["dL/dU"], g.lr))
            Z, targets = layers.logits(h, U, g.b), kept["targets"].astype(np.int64)
            yield self.put(
                "softmax after", "of the moved states" + " and U as it was" * (not g.tie), np.exp(layers.log_softmax(Z))
            )
            yield self.put("loss after", "their mean", layers.losses(Z, targets).mean())


def _size(array: Array) -> str:
    return " x ".join(map(str, array.shape)) or "one number"
