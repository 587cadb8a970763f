"""A pre-norm Transformer in plain NumPy, in any precision: its configuration, its parameters, its forward pass.

A = H + MHA(LN H), H' = A + FFN(LN A), and a norm behind the last layer (Vaswani et al. 2017 with the norms of Xiong et
al. 2020). One text at a time, every state and weight kept: for looking, and to compare with. Training is network.py.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embcli.artifacts.networks import PARAMETERS, shapes_of
from embcli.models import attention, layers, positions

Array = NDArray[Any]
Parameters = Mapping[str, Array]
#: the parameters that a layer has for its own
_OF_LAYER = tuple(name for name in PARAMETERS if name.split("_")[0] not in ("token", "position", "final", "output"))


@dataclass(frozen=True)
class Config:
    """What a Transformer is like: the recorded options of the same names, and the vocabulary."""

    vocabulary: int
    layers: int = 2
    heads: int = 4
    dim: int = 128
    ffn: int = 512
    context: int = 128
    position: str = "sinusoidal"
    objective: str = "causal"
    tie: bool = True
    output_bias: bool = False
    scale_embeddings: bool = True

    @property
    def masked(self) -> bool:
        """Whether the objective is the masked one: then a [MASK] row stands behind the vocabulary."""
        return self.objective == "masked"

    @property
    def scale(self) -> float:
        """The factor of the token rows."""
        return math.sqrt(self.dim) if self.scale_embeddings else 1.0

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Return the shape of each parameter, in their order."""
        found = shapes_of(self.vocabulary, self.dim, self.layers, self.ffn)
        found["token_rows"] = (self.vocabulary + self.masked, self.dim)
        found["position_rows"] = (self.context, self.dim)
        absent = set() if self.position == "learned" else {"position_rows"}
        absent |= {"output_rows"} if self.tie else set()
        absent |= set() if self.output_bias else {"output_bias"}
        return {name: found[name] for name in PARAMETERS if name not in absent}


@dataclass
class Seen:
    """What a forward pass saw of one text of T tokens.

    inputs : (T, d), what enters the first layer.  states : the states behind each layer, layers times (T, d).
    weights : of each layer, (heads, T, T).  final : (T, d), the last states behind the final norm.
    """

    inputs: Array
    states: list[Array] = field(default_factory=list)
    weights: list[Array] = field(default_factory=list)
    final: Array | None = None


def layer_of(parameters: Parameters, number: int) -> dict[str, Array]:
    """Return the parameters of one layer."""
    return {name: parameters[name][number] for name in _OF_LAYER}


@dataclass
class Past:
    """Keys and values of the tokens that one layer has read, so that they need not be made again for the next token.

    keys, values : (heads, room, d / heads), of which ``read`` tokens are filled.
    """

    keys: Array
    values: Array
    read: int = 0

    def grown(self, K: Array, V: Array) -> tuple[Array, Array]:
        """Return all keys and values, with those of further tokens, (heads, T, d / heads) each, behind them."""
        start, self.read = self.read, self.read + K.shape[1]
        self.keys[:, start : self.read], self.values[:, start : self.read] = K, V
        return self.keys[:, : self.read], self.values[:, : self.read]


def first_inputs(config: Config, parameters: Parameters, ids: Array, start: int = 0) -> Array:
    """Return what enters the first layer, (T, d): scale E[ids] + P, P only where positions are added, from ``start``.

    Raises ValueError if the text is longer than a learned table.
    """
    rows, stop = parameters["token_rows"], start + len(ids)
    X = layers.lookup(rows, ids) * np.asarray(config.scale, rows.dtype)
    if config.position == "sinusoidal":
        return np.asarray(X + positions.sinusoidal(np.arange(start, stop), config.dim).astype(X.dtype))
    if config.position == "learned":
        if stop > len(parameters["position_rows"]):
            raise ValueError(f"{stop:,} tokens, and {len(parameters['position_rows']):,} learned positions")
        return np.asarray(X + parameters["position_rows"][start:stop])
    return np.asarray(X)


def attend_heads(
    config: Config, layer: Parameters, X: Array, mask: attention.Mask | None, past: Past | None = None
) -> tuple[Array, Array]:
    """Return the output (T, d) and the weights (heads, T, T) of one layer's heads for normed states X (T, d).

    With a ``past`` of S tokens they are looked at too, the mask is (T, S + T), so are a head's weights, and T tokens
    come to the past.
    """
    Q, K, V = (
        attention.split_heads(X @ layer[name] + layer[f"{name}_bias"], config.heads)
        for name in ("query", "key", "value")
    )
    start, bias = past.read if past is not None else 0, None
    at = np.arange(start, start + len(X))
    if config.position == "rope":
        Q, K = positions.rotate(Q, at), positions.rotate(K, at)
    if past is not None:
        K, V = past.grown(K, V)
    if config.position == "alibi":
        bias = positions.alibi(at, config.heads, np.arange(start + len(X)))
    mixed, A = attention.attention(Q, K, V, mask, bias)
    return attention.join_heads(mixed) @ layer["merge"] + layer["merge_bias"], A


def block(
    config: Config, layer: Parameters, H: Array, mask: attention.Mask | None, past: Past | None = None
) -> tuple[Array, Array]:
    """Return the states behind a layer, (T, d), and its weights; see ``attend_heads``."""
    normed = layers.layer_norm(H, layer["norm1_gain"], layer["norm1_bias"])
    mixed, weights = attend_heads(config, layer, normed, mask, past)
    A = H + mixed
    X = layers.layer_norm(A, layer["norm2_gain"], layer["norm2_bias"])
    parts = (layer["widen"], layer["widen_bias"], layer["narrow"], layer["narrow_bias"])
    return np.asarray(A + layers.feed_forward(X, *parts)), weights


def mask_of(config: Config, T: int) -> attention.Mask:
    """Return the mask under which this kind of model was trained."""
    return attention.unmasked(T) if config.masked else attention.causal(T)


def forward(
    config: Config, parameters: Parameters, ids: Array, mask: attention.Mask | None = None, weights: bool = True
) -> Seen:
    """Return everything that a model sees of one text; no dropout.

    Parameters
    ----------
    ids : int (T,), T >= 0; V is [MASK] in masked models.
    mask : bool (T, T); None is the model's own.
    weights : whether those of every layer are kept.
    """
    mask = mask_of(config, len(ids)) if mask is None else mask
    seen = Seen(first_inputs(config, parameters, np.asarray(ids, np.int64)))
    H = seen.inputs
    for number in range(config.layers):
        H, A = block(config, layer_of(parameters, number), H, mask)
        seen.states.append(H)
        if weights:
            seen.weights.append(A)
    seen.final = layers.layer_norm(H, parameters["final_gain"], parameters["final_bias"])
    return seen


def output_rows(config: Config, parameters: Parameters) -> Array:
    """Return the output rows (V, d): the token rows without [MASK] if they are tied."""
    return parameters["token_rows"][: config.vocabulary] if config.tie else parameters["output_rows"]


def scores(config: Config, parameters: Parameters, H: Array) -> Array:
    """Return the logits (T, V) of final states (T, d)."""
    return layers.logits(H, output_rows(config, parameters), parameters.get("output_bias"))
