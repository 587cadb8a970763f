"""Numbers that pictures show as lines and clouds: losses, singular values, length and place of rows by frequency.

Only numbers and names; report/curves.py and report/linechart.py draw them. Words with their places: pictured.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from embcli.artifacts.schema import Artifact, Model, Vectors
from embcli.errors import InputError
from embcli.job import Job
from embcli.query.lookup import words_at
from embcli.query.neighbors import Answer
from embcli.query.pictured import counted_rows, frequent, looked_up, rows_of
from embcli.query.spectrum import moments
from embcli.query.tables import as_vectors
from embcli.query.topk import Floats, Ints
from embcli.spec import PlotParams

#: points that a line of many steps is thinned to
_POINTS = 200
#: what the held-out loss of vectors measures
HELD_OUT = "held-out text, full softmax"


@dataclass(frozen=True)
class Curve:
    """A line of a picture: what it is called, what it measures, and its values at some steps.

    ``unit`` is what a step is (epoch, step, or nothing where they are just numbered).  ``heldout`` are further steps
    and values of the same measure, on text that was not trained on, if there are any.
    """

    name: str
    measure: str
    steps: Floats
    values: Floats
    unit: str = ""
    heldout: tuple[Floats, Floats] | None = None


def losses(artifacts: Sequence[Artifact], names: Sequence[str]) -> list[Curve]:
    """Return the loss of each artifact by epoch or step; ``measure`` is its objective: only equal ones are comparable.

    Raises InputError if an artifact keeps no losses.
    """
    curves = []
    for artifact, name in zip(artifacts, names, strict=True):
        found = loss_of(artifact, name)
        if not found:
            step = artifact.meta.get("step", "its step")
            raise InputError(f"{name}: keeps no loss, since {step} has no epochs; "
                             "word2vec, glove, fasttext and attend keep it")  # fmt: skip
        curves += found
    return curves


def loss_of(artifact: Any, name: str) -> list[Curve]:
    """Return the loss of vectors by epoch, of a model by step, or nothing if there is none.

    Held-out loss of a model is the same measure. That of vectors is another one, of the full softmax whatever they
    were trained by: a line of its own.
    """
    stats = artifact.meta.get("stats") or {}
    objective = str(stats.get("objective") or artifact.meta.get("step") or "loss").partition(":")[0]
    if isinstance(artifact, Model) and len(artifact.step_loss):
        steps, values = thinned(np.asarray(artifact.step_loss, np.float64))
        held = stats.get("heldout") or {}
        return [Curve(name, objective, steps, values, "step", _pair(held.get("steps"), held.get("loss")))]
    if isinstance(artifact, Vectors) and artifact.epoch_loss is not None and len(artifact.epoch_loss):
        values = np.asarray(artifact.epoch_loss, np.float64)
        held_out = np.array(stats.get("heldout_loss") or [], np.float64)
        made = [Curve(name, objective, _numbers(values), values, "epoch")]
        return made + ([Curve(name, HELD_OUT, _numbers(held_out), held_out, "epoch")] if len(held_out) else [])
    return []


def _numbers(values: Floats) -> Floats:
    return np.arange(1.0, len(values) + 1)


def _pair(steps: Sequence[float] | None, values: Sequence[float] | None) -> tuple[Floats, Floats] | None:
    return (np.array(steps, np.float64), np.array(values, np.float64)) if steps and values else None


def thinned(values: Floats) -> tuple[Floats, Floats]:
    """Return the means of equally many neighboring values, at most 200 of them, each at its last step (from 1)."""
    n = len(values)
    each = -(-n // _POINTS)
    starts = np.arange(0, n, each)
    ends = np.minimum(starts + each, n)
    return ends.astype(np.float64), np.add.reduceat(values, starts) / (ends - starts)


def singular(artifacts: Sequence[Artifact], names: Sequence[str], params: PlotParams, job: Job) -> list[Curve]:
    """Return the singular values of each artifact, descending.

    Where all were factorised (svd) they are those of the weighted counts, as kept; else, or if a table is asked for,
    those of the table of vectors as it stands.
    """
    found = [getattr(artifact, "singular_values", None) for artifact in artifacts]
    kept = all(values is not None for values in found) and "table" not in params.given
    curves = []
    for artifact, name, known in zip(artifacts, names, found, strict=True):
        if kept:
            values = np.asarray(known, np.float64)
        else:
            space = rows_of(as_vectors(artifact), params, name, job)
            second = moments(space, space.shape[0], job).second * space.shape[0]
            values = np.sqrt(np.maximum(np.linalg.eigvalsh(second)[::-1], 0))
        what = "of the weighted counts" if kept else "of the table of vectors"
        curves.append(Curve(name, what, _numbers(values), values))
    return curves


@dataclass(frozen=True)
class ByFrequency:
    """Each row's count, length, and Euclidean distance to the mean of all rows, (V,); ``words`` of chosen rows."""

    name: str
    counts: Ints
    norms: Floats
    distances: Floats
    rows: Ints
    words: list[str]
    missing: tuple[Answer, ...]


def by_frequency(
    artifact: Artifact, at: int, queries: Sequence[str], params: PlotParams, name: str, job: Job
) -> ByFrequency:
    """Return how long the rows are, and how far from their centroid, with the counts of their words."""
    table = as_vectors(artifact)
    space = rows_of(table, params, name, job)
    about = moments(space, space.shape[0], job)
    distances = np.zeros(space.shape[0])
    for start, stop in space.spans(space.shape[0]):
        distances[start:stop] = np.linalg.norm(space.take(slice(start, stop)) - about.mean, axis=1)
    known, missing = looked_up(space, table, at, queries)
    rows = [row for row, _ in counted_rows(space, known)]
    taken = np.array(list(dict.fromkeys([*rows, *frequent(space.counts, params.frequent or 0).tolist()])), np.int64)
    counts = np.asarray(space.counts)
    return ByFrequency(name, counts, about.norms, distances, taken, words_at(space.words, taken), missing)
