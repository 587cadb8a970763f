"""What pictures show of artifacts: words with their points, analogies, losses, singular values, figures by frequency.

Only numbers and words; report/plots.py draws them, projection.py lays points out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from embcli.artifacts.schema import Vectors
from embcli.errors import InputError, UsageError
from embcli.job import Job
from embcli.query.dense import DenseRows
from embcli.query.lookup import words_at
from embcli.query.neighbors import Answer, search
from embcli.query.projection import unit
from embcli.query.resolve import Resolved, in_pieces, lowered, resolve
from embcli.query.space import open_space
from embcli.query.spectrum import moments
from embcli.query.topk import Floats, Ints
from embcli.spec import NeighborsParams, PlotParams

#: words of a map of which no number is asked
FREQUENT, ON_A_PAGE = 200, 50_000


@dataclass(frozen=True)
class Chosen:
    """The words of a map of one artifact.

    words : what they are called; of an expression itself.  points : float64 (n, d), at unit length.
    rows : int64 (n,), -1 for an expression.  counts : int64 (n,), 0 for an expression.
    asked : bool (n,), whether the word was given, and not found by frequency or as a neighbor.
    missing : the queries with unknown words, as answers without results.
    total : how many words the artifact has.
    """

    words: list[str]
    points: Floats
    rows: Ints
    counts: Ints
    asked: np.ndarray
    missing: tuple[Answer, ...]
    total: int


def choose(artifact: Vectors, at: int, queries: Sequence[str], params: PlotParams, name: str, job: Job) -> Chosen:
    """Return the words of a map: those asked for, their neighbors (``around``), and the most frequent.

    ``at`` is the artifact's place among several. Words by frequency: by their counts, ties by row. Raises InputError if
    no query is known, or nothing is left to show.
    """
    space = _space(artifact, params, name, job)
    found = resolve(space.names, queries, lowered(artifact), in_pieces(artifact))
    known = [one for one in found if not one.unknown]
    missing = tuple(Answer(one.query, at, one.label, one.terms, one.unknown) for one in found if one.unknown)
    rows = list(dict.fromkeys(one.rows[0] for one in known if len(one.rows) == 1))
    sums = list({one.label: one for one in known if len(one.rows) > 1}.values())
    asked = len(rows)
    if params.around and known:
        rows += _around(artifact, at, [one.label for one in known], params, name, job, set(rows))
    wanted = params.frequent or (0 if queries else ON_A_PAGE if params.page else FREQUENT)
    rows = list(dict.fromkeys([*rows, *frequent(artifact.unigram, wanted).tolist()]))
    taken = np.array(rows, np.int64)
    points = unit(space.take(taken)) if rows else np.zeros((0, space.shape[1]))
    if sums:
        points = np.concatenate([points, unit(np.stack(space.probes([_sum(one) for one in sums], True)))])
    return Chosen(
        [*words_at(space.words, taken), *(one.label for one in sums)], points,
        np.concatenate([taken, np.full(len(sums), -1)]),
        np.concatenate([np.asarray(artifact.unigram)[taken], np.zeros(len(sums), np.int64)]),
        np.concatenate([np.arange(len(rows)) < asked, np.ones(len(sums), np.bool_)]),
        missing, space.shape[0],
    )  # fmt: skip


def _space(artifact: Vectors, params: PlotParams, name: str, job: Job) -> DenseRows:
    """Return the rows of an artifact. Raises KindError if it has not the table that is asked for."""
    space = open_space(artifact, NeighborsParams(table=params.table), name, job)
    assert isinstance(space, DenseRows)
    return space


def _sum(one: Resolved) -> tuple[tuple[int, ...], tuple[int, ...]]:
    return tuple(term.sign for term in one.terms), one.rows


def _around(
    artifact: Vectors, at: int, labels: Sequence[str], params: PlotParams, name: str, job: Job, rows: set[int]
) -> list[int]:
    """Return the rows of the nearest neighbors of some queries that are not among ``rows`` yet."""
    how = NeighborsParams(top=params.around, table=params.table)
    answers = search([artifact], labels, how, job, [name])
    words = dict.fromkeys(line.word for answer in answers for line in answer.results)
    found = resolve(artifact.words, list(words), False)
    return [row for row in dict.fromkeys(one.rows[0] for one in found if len(one.rows) == 1) if row not in rows]


def frequent(counts: Ints, n: int) -> Ints:
    """Return the rows of the n highest counts, the highest first, ties by row."""
    rows: Ints = np.argsort(-np.asarray(counts), kind="stable")[:n]
    return rows


@dataclass(frozen=True)
class Parallel:
    """An analogy a - b + c = d as two arrows, from ``b`` to ``a`` and from ``c`` to ``d``.

    ``points`` are the unit rows of a, b, c and d, and the sum a - b + c as it stands, float64 (5, d). ``score`` is the
    cosine of d with the sum.
    """

    a: str
    b: str
    c: str
    d: str
    score: float
    points: Floats


def parallels(
    artifact: Vectors, queries: Sequence[str], params: PlotParams, name: str, job: Job
) -> tuple[list[Parallel], tuple[Answer, ...]]:
    """Return each analogy with its answer, and the queries that have none because of unknown words.

    Raises UsageError for a query that is no analogy of three words.
    """
    space = _space(artifact, params, name, job)
    answers = search([artifact], queries, NeighborsParams(top=1, table=params.table), job, [name])
    made = []
    for answer in answers:
        plus = [term.word for term in answer.terms if term.sign > 0]
        minus = [term.word for term in answer.terms if term.sign < 0]
        if (len(plus), len(minus)) != (2, 1):
            raise UsageError(f"{answer.query!r}: arrows are drawn of a - b + c, such as 'king - man + woman'")
        if answer.unknown or not answer.results:
            continue
        best = answer.results[0]
        words = [*plus[:1], *minus, plus[1], best.word]
        rows = [one.rows[0] for one in resolve(space.names, words, False)]
        a, b, c, d = unit(space.take(np.array(rows, np.int64)))
        made.append(Parallel(words[0], words[1], words[2], words[3], best.score, np.stack([a, b, c, d, a - b + c])))
    return made, tuple(answer for answer in answers if answer.unknown)


@dataclass(frozen=True)
class Curve:
    """A line of a picture: what it is called, what it measures, and its values, one for each of 1, 2, ..."""

    name: str
    measure: str
    values: Floats


def losses(artifacts: Sequence[Vectors], names: Sequence[str]) -> list[Curve]:
    """Return the loss of each artifact by epoch; ``measure`` is its objective: only equal ones are comparable.

    Raises InputError if an artifact keeps no losses.
    """
    curves = []
    for artifact, name in zip(artifacts, names, strict=True):
        if artifact.epoch_loss is None or not len(artifact.epoch_loss):
            step = artifact.meta.get("step", "its step")
            raise InputError(f"{name}: keeps no loss, since {step} has no epochs; word2vec and glove keep it")
        stats = artifact.meta.get("stats") or {}
        objective = str(stats.get("objective") or artifact.meta.get("step") or "loss").partition(":")[0]
        curves.append(Curve(name, objective, np.asarray(artifact.epoch_loss, np.float64)))
    return curves


def singular(artifacts: Sequence[Vectors], names: Sequence[str], params: PlotParams, job: Job) -> list[Curve]:
    """Return the singular values of each artifact, descending.

    Where all were factorised (svd) they are those of the weighted counts, as kept; else, or if a table is asked for,
    those of the table of vectors as it stands.
    """
    kept = all(artifact.singular_values is not None for artifact in artifacts) and "table" not in params.given
    curves = []
    for artifact, name in zip(artifacts, names, strict=True):
        if kept:
            curves.append(Curve(name, "of the weighted counts", np.asarray(artifact.singular_values, np.float64)))
            continue
        space = _space(artifact, params, name, job)
        second = moments(space, space.shape[0], job).second * space.shape[0]
        values = np.sqrt(np.maximum(np.linalg.eigvalsh(second)[::-1], 0))
        curves.append(Curve(name, "of the table of vectors", values))
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
    artifact: Vectors, at: int, queries: Sequence[str], params: PlotParams, name: str, job: Job
) -> ByFrequency:
    """Return how long the rows are, and how far from their centroid, with the counts of their words."""
    space = _space(artifact, params, name, job)
    about = moments(space, space.shape[0], job)
    distances = np.zeros(space.shape[0])
    for start, stop in space.spans(space.shape[0]):
        distances[start:stop] = np.linalg.norm(space.take(slice(start, stop)) - about.mean, axis=1)
    found = resolve(space.names, queries, lowered(artifact), in_pieces(artifact))
    missing = tuple(Answer(one.query, at, one.label, one.terms, one.unknown) for one in found if one.unknown)
    rows = [one.rows[0] for one in found if not one.unknown and len(one.rows) == 1]
    taken = np.array(list(dict.fromkeys([*rows, *frequent(artifact.unigram, params.frequent or 0).tolist()])), np.int64)
    counts = np.asarray(artifact.unigram)
    return ByFrequency(name, counts, about.norms, distances, taken, words_at(space.words, taken), missing)
