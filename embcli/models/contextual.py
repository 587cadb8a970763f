"""Texts through a model, or through one head without parameters: contextual states, weights, predictions.

The arithmetic is transformer.py; what is pooled is pooling.py, how texts are cut texts.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embcli.artifacts.schema import Context, Model, Vectors, Words
from embcli.errors import NumbersError
from embcli.job import Job
from embcli.models import layers, transformer
from embcli.models.readers import Reader, applied, check_layer, check_length, need_memory, reader
from embcli.models.texts import Cut, cut_texts, spelled
from embcli.spec import AttendParams

Array = NDArray[Any]


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


def look(use: Reader, ids: Array, params: AttendParams) -> Looked:
    """Return what becomes of one text of T >= 0 tokens. Raises NumbersError if the numbers overflow."""
    seen = use.see(ids, params.weights is not False)
    assert seen.final is not None
    T, _d = seen.inputs.shape
    heads = use.config.heads
    levels = np.stack([seen.inputs, *seen.states, seen.final] if use.trained else [seen.inputs, seen.final])
    weights = np.stack(seen.weights) if seen.weights else np.zeros((0, heads, T, T))
    predicted, probabilities, log_prob = predictions(use, seen.final, ids, params.top)
    states = seen.final if params.layer is None else levels[params.layer]
    if not np.isfinite(levels).all():
        raise NumbersError("the states are not finite: the numbers of the model are too large")
    return Looked(
        states.astype(np.float32),
        weights.astype(np.float32),
        levels.astype(np.float32),
        predicted,
        probabilities,
        log_prob,
    )


def predictions(use: Reader, final: Array, ids: Array, top: int) -> tuple[Array, Array, Array]:
    """Return the ids (T, top) that are most probable at each place, their probabilities, and log P of each token (T,).

    Causal: place t predicts token t + 1, and a token's log P is what the place before it gave it. Masked: place t
    predicts what stands there. Where the model gives none log P is 0. Ties go to the lower id.
    """
    T = len(ids)
    top = min(top, use.config.vocabulary) if use.predicts else 0
    log_prob = np.zeros(T)
    if not use.predicts or not T:
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
    check_length(use, [len(each.ids) for each in cuts], job)
    need_memory(use, cuts, job, params.weights is not False)
    found = list(job.map(lambda each: look(use, each.ids, params), cuts))
    return _context(use, cuts, found, params)


def _context(use: Reader, cuts: list[Cut], found: list[Looked], params: AttendParams) -> Context:
    """Return the artifact of all texts."""
    ids = np.concatenate([each.ids for each in cuts])
    offsets = np.concatenate([[0], np.cumsum([len(each.ids) for each in cuts])]).astype(np.int64)
    names = [
        f"{word}@{i}:{t}" for i, each in enumerate(cuts, 1) for t, word in enumerate(spelled(use.artifact, each.ids), 1)
    ]
    one = len(found) == 1
    parts = {} if one else {f"states_{i}": each.states for i, each in enumerate(found)}
    parts |= {} if one else {f"weights_{i}": each.weights for i, each in enumerate(found)}
    ordered = {
        name: parts[name] for i in range(len(found)) for name in (f"states_{i}", f"weights_{i}") if name in parts
    }
    predicts = use.predicts
    made = Context(
        ids=ids, text_offsets=offsets, words=Words.of(names), rows=np.asarray(use.rows[ids], np.float32), parts=ordered,
        states=found[0].states if one else None, weights=found[0].weights if one else None,
        predicted=np.concatenate([each.predicted for each in found]) if predicts else None,
        probabilities=np.concatenate([each.probabilities for each in found]) if predicts else None,
        log_prob=np.concatenate([each.log_prob for each in found]) if predicts else None,
        stats={"tokens": len(ids), "texts": len(cuts), "source": use.artifact.kind},
        text=dict(use.artifact.text), options=applied(use, params),
    )  # fmt: skip
    made.levels = np.concatenate([each.levels for each in found], axis=1)
    return made
