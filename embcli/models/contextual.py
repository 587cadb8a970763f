"""Texts through a model, or through one head without parameters: contextual states, weights, predictions.

The arithmetic is transformer.py; what is pooled is pooling.py, how texts are cut texts.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embcli.artifacts import store
from embcli.artifacts.schema import Context, Model, Vectors, Words
from embcli.errors import InputError, NumbersError, UsageError
from embcli.job import Job
from embcli.models import attention, layers, positions, transformer
from embcli.models.texts import Cut, cut_texts, spelled
from embcli.models.transformer import Config
from embcli.spec import AttendParams, fields
from embcli.spec.applying import PANEL

Array = NDArray[Any]


@dataclass(frozen=True)
class Reader:
    """What reads texts: a model's configuration and parameters, or static vectors.

    rows : (V, d), the token rows ((V + 1, d) with [MASK]).  config : of the model; of static vectors one that only says
    how rows and positions are added.  parameters : of the model, in memory and checked; empty for static vectors.
    mask : causal, none, or None for the model's own.
    """

    artifact: Model | Vectors
    config: Config
    parameters: dict[str, Array]
    rows: Array
    mask: str | None

    @property
    def trained(self) -> bool:
        """Whether it is a model."""
        return isinstance(self.artifact, Model)

    def mask_of(self, T: int) -> attention.Mask | None:
        """Return whom each of T tokens may look at."""
        if self.mask is None:
            return transformer.mask_of(self.config, T)
        return attention.causal(T) if self.mask == "causal" else attention.unmasked(T)

    def see(self, ids: Array) -> transformer.Seen:
        """Return inputs, states, weights and final states of one text."""
        if self.trained:
            return transformer.forward(self.config, self.parameters, ids, self.mask_of(len(ids)))
        H = transformer.first_inputs(self.config, {"token_rows": self.rows}, ids)
        bias, Q = None, H
        at = np.arange(len(ids))
        if self.config.position == "rope":
            Q = positions.rotate(H, at)
        if self.config.position == "alibi":
            bias = positions.alibi(at, 1)[0]
        mixed, weights = attention.attention(Q, Q, H, self.mask_of(len(ids)), bias)
        return transformer.Seen(H, [mixed], [weights[None]], mixed)


@dataclass(frozen=True)
class Looked:
    """What became of one text: (T, d) states as asked for, weights (layers, heads, T, T), predictions and levels.

    levels : (layers + 2, T, d): what enters the first layer, the states behind each layer, the last behind the norm.
    """

    states: Array
    weights: Array
    levels: Array
    predicted: Array
    probabilities: Array
    log_prob: Array


def reader(artifact: Model | Vectors, params: AttendParams) -> Reader:
    """Return what reads texts with a model, or one head without parameters over static vectors.

    Raises
    ------
    UsageError : an option belongs to training, or does not fit the width.
    InputError : the artifact is damaged.
    """
    _check_options(artifact, params)
    if isinstance(artifact, Model):
        config = Config.of(artifact.options or artifact.meta["options"], len(artifact.words))
        parameters = {name: _sound(artifact, name) for name in artifact.parameters}
        return Reader(artifact, config, parameters, parameters["token_rows"], params.mask)
    rows = _sound(artifact, "vectors")
    position = params.position if "position" in params.given else "none"
    V, d = rows.shape
    if position in ("sinusoidal", "rope") and d % 2:
        raise UsageError(f"--position {position}: its columns are pairs, and the vectors have {d}")
    scale = params.scale_embeddings
    scaled = position == "sinusoidal" if scale is None else scale
    config = Config(V, 1, 1, d, 0, 0, position, "masked", scale_embeddings=scaled)
    return Reader(artifact, config, {}, rows, params.mask)


def _check_options(artifact: Model | Vectors, params: AttendParams) -> None:
    """Raise UsageError for options that belong to training, or that static vectors have no use for."""
    model = isinstance(artifact, Model)
    for f in fields(type(params)):
        shape = not model and f.name in ("position", "scale_embeddings")
        if f.name in params.given and f.opt.panel != PANEL and not shape:
            raise UsageError(f"{f.flag}: is settled when a model is trained; with --text leave it out")
    if not model and params.position == "learned" and "position" in params.given:
        raise UsageError("--position learned: static vectors have no learned positions; train a model")
    if not model and (params.candidates or params.sample):
        flag = "--candidates" if params.candidates else "--sample"
        raise UsageError(f"{flag}: static vectors predict nothing; give a model")


def _sound(artifact: Model | Vectors, name: str) -> Array:
    """Return an array, every block of which was checked."""
    for _ in store.stream(artifact, name):
        pass
    return np.asarray(store.member_of(artifact, name))


def check_length(use: Reader, longest: int, job: Job) -> None:
    """Refuse texts longer than a learned table of positions; warn of those longer than the texts of training.

    Raises InputError.
    """
    context = use.config.context
    if not use.trained or longest <= context:
        return
    long = f"a text of {longest:,} tokens, and the model was trained with --context {context:,}"
    if use.config.position == "learned":
        raise InputError(f"{long}, of which its learned positions are a table; give shorter texts")
    job.warn(f"{long}; what lies beyond was never trained")


def look(use: Reader, ids: Array, params: AttendParams) -> Looked:
    """Return what becomes of one text of T >= 0 tokens. Raises NumbersError if the numbers overflow."""
    seen = use.see(ids)
    assert seen.final is not None
    T, d = seen.inputs.shape
    heads = use.config.heads
    levels = np.stack([seen.inputs, *seen.states, seen.final] if use.trained else [seen.inputs, seen.final])
    weights = np.stack(seen.weights) if seen.weights else np.zeros((0, heads, T, T))
    predicted, probabilities, log_prob = predictions(use, seen.final, ids, params.top)
    states = seen.final if params.layer is None else levels[params.layer]
    if not np.isfinite(levels).all():
        raise NumbersError("the states are not finite: the numbers of the model are too large")
    return Looked(
        states.astype(np.float32), weights.astype(np.float32), levels.astype(np.float32), predicted, probabilities, log_prob
    )


def predictions(use: Reader, final: Array, ids: Array, top: int) -> tuple[Array, Array, Array]:
    """Return the ids (T, top) that are most probable at each place, their probabilities, and log P of each token (T,).

    Causal: place t predicts token t + 1, and a token's log P is what the place before it gave it. Masked: place t
    predicts what stands there. Where the model gives none log P is 0. Ties go to the lower id.
    """
    T = len(ids)
    top = min(top, use.config.vocabulary) if use.trained else 0
    log_prob = np.zeros(T)
    if not use.trained or not T:
        return np.zeros((T, top), np.int32), np.zeros((T, top), np.float32), log_prob
    L = layers.log_softmax(transformer.scores(use.config, use.parameters, final).astype(np.float64))
    best = np.argsort(-L, axis=-1, kind="stable")[:, :top]
    if not use.config.masked:
        log_prob[1:] = np.take_along_axis(L[:-1], ids[1:, None], -1)[:, 0]
    return best.astype(np.int32), np.exp(np.take_along_axis(L, best, -1)).astype(np.float32), log_prob


def contextual(artifact: Model | Vectors, params: AttendParams, job: Job) -> Context:
    """Return the contextual states of texts, with the weights of every head and predictions.

    Parameters
    ----------
    artifact
        A model, or static vectors, whose one head has no parameters: softmax(H H^T / sqrt(d)) H, H the rows of the
        words (with ``--scale-embeddings`` times sqrt(d)) plus sinusoidal positions, if asked for.
    params
        ``text``, ``text_file``, ``mask``, ``layer`` (whose states), ``top``.
    job
        Its threads share the texts.

    Returns
    -------
    Context
        ``levels``, which no file holds, are the states at every level, (levels, N, d).

    Raises
    ------
    UsageError, KindError, InputError : see ``reader``, ``cut_texts`` and ``check_length``; memory is short.
    NumbersError : states are not finite.
    """
    use = reader(artifact, params)
    check_layer(use, params)
    cuts = cut_texts(artifact, params, job)
    check_length(use, max(len(each.ids) for each in cuts), job)
    need_memory(use, cuts, job)
    found = list(job.map(lambda each: look(use, each.ids, params), cuts))
    return _context(use, cuts, found, params)


def check_layer(use: Reader, params: AttendParams) -> None:
    """Raise UsageError if there is no such layer."""
    most = use.config.layers if use.trained else 1
    if params.layer is not None and params.layer > most:
        raise UsageError(f"--layer {params.layer}: there are layers 0 to {most}, 0 being what enters the first")


def need_memory(use: Reader, cuts: list[Cut], job: Job) -> None:
    """Raise InputError if weights and states of all texts do not fit into memory."""
    c = use.config
    sizes = [len(each.ids) for each in cuts]
    longest = max(sizes)
    kept = sum(4 * T * (c.layers * c.heads * T + (c.layers + 3) * c.dim) for T in sizes)
    work = 4 * longest * (6 * c.heads * longest + 2 * c.ffn + 12 * c.dim + 4 * c.vocabulary * use.trained)
    job.need(kept + work * min(job.threads, len(cuts)), f"weights and states of {sum(sizes):,} tokens")


def _context(use: Reader, cuts: list[Cut], found: list[Looked], params: AttendParams) -> Context:
    """Return the artifact of all texts."""
    ids = np.concatenate([each.ids for each in cuts])
    offsets = np.concatenate([[0], np.cumsum([len(each.ids) for each in cuts])]).astype(np.int64)
    names = [
        f"{word}@{i}:{t}"
        for i, each in enumerate(cuts, 1)
        for t, word in enumerate(spelled(use.artifact, each.ids), 1)
    ]
    one = len(found) == 1
    parts = {} if one else {f"states_{i}": each.states for i, each in enumerate(found)}
    parts |= {} if one else {f"weights_{i}": each.weights for i, each in enumerate(found)}
    ordered = {name: parts[name] for i in range(len(found)) for name in (f"states_{i}", f"weights_{i}") if name in parts}
    trained = use.trained
    made = Context(
        ids=ids, text_offsets=offsets, words=Words.of(names), rows=np.asarray(use.rows[ids], np.float32), parts=ordered,
        states=found[0].states if one else None, weights=found[0].weights if one else None,
        predicted=np.concatenate([each.predicted for each in found]) if trained else None,
        probabilities=np.concatenate([each.probabilities for each in found]) if trained else None,
        log_prob=np.concatenate([each.log_prob for each in found]) if trained else None,
        stats={"tokens": len(ids), "texts": len(cuts), "source": use.artifact.kind},
        text=dict(use.artifact.text), options=applied(use, params),
    )  # fmt: skip
    made.levels = np.concatenate([each.levels for each in found], axis=1)
    return made


def applied(use: Reader, params: AttendParams) -> dict[str, Any]:
    """Return what the options became: the mask, the layer, and how positions and rows were added."""
    mask = use.mask or ("none" if use.config.masked else "causal")
    scaled, position = use.config.scale_embeddings, use.config.position
    found: dict[str, Any] = {"mask": mask, "position": position, "scale_embeddings": scaled}
    return found | ({} if params.layer is not None else {"layer": None})
