"""The artifacts of ``attend``: a Transformer, and what it makes of texts. No files and no arithmetic here.

Parameters of the layers are stacked: ``query[l]`` is the matrix of layer l. Weights act on rows from the right, as in
X W + b, and a layer's heads lie side by side in the columns: head h has columns h d/heads to (h + 1) d/heads.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from embcli.artifacts.base import FLOAT, INT, TOKENIZER, WORD, Artifact, Member, Words, check_tokenizer, same_size

_F = ("f4",)
#: the parameters of a Transformer by name, in the order of the file and of the optimiser's state
PARAMETERS: dict[str, Member] = {
    "token_rows": Member(_F, 2),
    "position_rows": Member(_F, 2, False),
    "norm1_gain": Member(_F, 2),
    "norm1_bias": Member(_F, 2),
    "query": Member(_F, 3),
    "query_bias": Member(_F, 2),
    "key": Member(_F, 3),
    "key_bias": Member(_F, 2),
    "value": Member(_F, 3),
    "value_bias": Member(_F, 2),
    "merge": Member(_F, 3),
    "merge_bias": Member(_F, 2),
    "norm2_gain": Member(_F, 2),
    "norm2_bias": Member(_F, 2),
    "widen": Member(_F, 3),
    "widen_bias": Member(_F, 2),
    "narrow": Member(_F, 3),
    "narrow_bias": Member(_F, 2),
    "final_gain": Member(_F),
    "final_bias": Member(_F),
    "output_rows": Member(_F, 2, False),
    "output_bias": Member(_F, 1, False),
}


@dataclass(kw_only=True)
class Model(Artifact):
    """A pre-norm Transformer: its parameters (float32), the words of its token rows, and how it was trained.

    token_rows : (V, d); with the masked objective (V + 1, d), the last row being [MASK].  position_rows : (context, d),
    learned positions only.  query, key, value, merge : (layers, d, d), merge joins the heads.  widen : (layers, d, f)
    and narrow : (layers, f, d), the feed-forward network.  norm*, final_* : gains and biases of the layer norms.
    output_rows : (V, d), None if tied to the token rows.  output_bias : (V,).
    words, unigram : of the V types, as in ``tokens``; where the text was BPE its tokenizer's arrays too.
    adam_mean, adam_square : float32 (P,), AdamW's state, all parameters one after another in the order of the file.
    step_loss, step_lr : float64 (steps done,), mean loss per target in nats, and the rate of the step.
    The configuration is ``options`` (layers, heads, dim, ffn, context, position, objective, tie, output_bias,
    scale_embeddings); ``stats``: steps, tokens, targets, heldout (steps, loss), cursor (where the text goes on).
    """

    kind: ClassVar[str] = "model"
    members: ClassVar[dict[str, Member]] = {
        **PARAMETERS,
        **WORD,
        "unigram": Member(INT),
        **{name: Member(m.dtypes, m.ndim, False) for name, m in TOKENIZER.items()},
        "adam_mean": Member(_F, required=False),
        "adam_square": Member(_F, required=False),
        "step_loss": Member(FLOAT),
        "step_lr": Member(FLOAT),
    }
    token_rows: Any
    position_rows: Any = None
    norm1_gain: Any
    norm1_bias: Any
    query: Any
    query_bias: Any
    key: Any
    key_bias: Any
    value: Any
    value_bias: Any
    merge: Any
    merge_bias: Any
    norm2_gain: Any
    norm2_bias: Any
    widen: Any
    widen_bias: Any
    narrow: Any
    narrow_bias: Any
    final_gain: Any
    final_bias: Any
    output_rows: Any = None
    output_bias: Any = None
    words: Words
    unigram: NDArray[np.int64]
    tokens: Words | None = None
    merges: Any = None
    merge_counts: Any = None
    special_ids: Any = None
    adam_mean: Any = None
    adam_square: Any = None
    step_loss: Any
    step_lr: Any

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters by name, in their order; those that this model does not have are left out."""
        found = {name: getattr(self, name) for name in PARAMETERS}
        return {name: array for name, array in found.items() if array is not None}

    def check(self) -> None:
        """Raise ValueError if sizes do not fit together."""
        V, d = len(self.words), self.token_rows.shape[1]
        layers, f = len(self.query), self.widen.shape[-1]
        same_size("unigram", len(self.unigram), V)
        if len(self.token_rows) not in (V, V + 1):
            raise ValueError(f"token_rows has {len(self.token_rows):,} rows for {V:,} words")
        check_shapes(self.parameters, shapes_of(V, d, layers, f))
        parts = (self.tokens, self.merges, self.merge_counts, self.special_ids)
        if any(part is None for part in parts) != all(part is None for part in parts):
            raise ValueError("a part of the tokenizer's arrays is missing")
        if self.tokens is not None:
            same_size("tokens", len(self.tokens), V)
            check_tokenizer(self)
        if (self.adam_mean is None) != (self.adam_square is None):
            raise ValueError("a part of the optimiser's state is missing")
        if self.adam_mean is not None:
            size = sum(array.size for array in self.parameters.values())
            same_size("adam_mean", len(self.adam_mean), size)
            same_size("adam_square", len(self.adam_square), size)
        same_size("step_lr", len(self.step_lr), len(self.step_loss))


def shapes_of(V: int, d: int, layers: int, f: int) -> dict[str, tuple[int, ...]]:
    """Return the shapes of all parameters that are decided by these sizes."""
    norm = {f"norm{i}_{part}": (layers, d) for i in (1, 2) for part in ("gain", "bias")}
    squares = {name: (layers, d, d) for name in ("query", "key", "value", "merge")}
    biases = {f"{name}_bias": (layers, d) for name in (*squares, "narrow")}
    wide = {"widen": (layers, d, f), "widen_bias": (layers, f), "narrow": (layers, f, d)}
    return {**norm, **squares, **biases, **wide, "final_gain": (d,), "final_bias": (d,), "output_rows": (V, d),
            "output_bias": (V,)}  # fmt: skip


def check_shapes(parameters: Mapping[str, Any], due: Mapping[str, tuple[int, ...]]) -> None:
    """Raise ValueError if a parameter has another shape than is due."""
    for name, array in parameters.items():
        if name in due and array.shape != due[name]:
            raise ValueError(f"{name} has shape {array.shape} where {due[name]} is due")


@dataclass(kw_only=True)
class Context(Artifact):
    """What a model, or one parameter-free head, makes of the tokens of one or more texts.

    ids : int64 (N,), tokens of all texts one after another.  text_offsets : int64 (texts + 1,).
    words : one name for each token, ``word@text:position`` (both from 1).  rows : float32 (N, d), their token rows.
    states : float32 (T, d), the states behind the last layer, and weights : float32 (layers, heads, T, T), of one text.
    Of several texts ``parts`` holds states_0, weights_0, states_1 and so on instead.
    predicted : int32 (N, top), ids of the most probable tokens at each place, and probabilities : float32 (N, top).
    log_prob : float64 (N,), natural logarithm of the probability of each token; 0 where the model gives none (the first
    token of a text; static vectors).
    """

    kind: ClassVar[str] = "context"
    series: ClassVar[dict[str, Member]] = {"states": Member(_F, 2), "weights": Member(_F, 4)}
    members: ClassVar[dict[str, Member]] = {
        "states": Member(_F, 2, False),
        "weights": Member(_F, 4, False),
        "ids": Member(INT),
        "text_offsets": Member(INT),
        **WORD,
        "rows": Member(_F, 2),
        "predicted": Member(("i4",), 2, False),
        "probabilities": Member(_F, 2, False),
        "log_prob": Member(FLOAT, required=False),
    }
    states: Any = None
    weights: Any = None
    ids: Any
    text_offsets: Any
    words: Words
    rows: Any
    predicted: Any = None
    probabilities: Any = None
    log_prob: Any = None
    #: the states at every level, (levels, N, d), as they were made; in no file
    levels: Any = None

    @property
    def texts(self) -> int:
        """How many texts there are."""
        return len(self.text_offsets) - 1

    def text_at(self, i: int) -> tuple[Any, Any]:
        """Return states and weights of text i, from 0."""
        if self.states is not None:
            return self.states, self.weights
        return self.parts[f"states_{i}"], self.parts[f"weights_{i}"]

    def check(self) -> None:
        """Raise ValueError if sizes do not fit together."""
        same_size("words", len(self.words), len(self.ids))
        same_size("rows", len(self.rows), len(self.ids))
        ends = np.asarray(self.text_offsets)
        if len(ends) < 2 or ends[0] != 0 or ends[-1] != len(self.ids) or (np.diff(ends) < 0).any():
            raise ValueError("text_offsets do not span the tokens")
        for i in range(self.texts):
            try:
                states, weights = self.text_at(i)
            except KeyError as e:
                raise ValueError(f"array {e} is missing") from None
            same_size(f"states of text {i}", len(states), int(ends[i + 1] - ends[i]))
            if weights is None or weights.shape[2:] != (len(states), len(states)):
                raise ValueError(f"weights of text {i} do not fit its states")
