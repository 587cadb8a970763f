"""Rows that training hardly touched, by the scores of Land and Bartolo 2024 ("Fishing for Magikarp"), section 2.2.

A lower score is more suspicious; where suspicion ends is not said. U is the table that makes the output: the one
table of a tied model, the output table (``contexts``) of an untied one; E is the input table.

- untied, norm: |E_i|. Rows never read are never moved but by weight decay, and stay short if they began short.
- cosine (both): 1 - cos(U'_i, mean of U' over the reference), where U' = U - (U c) c^T and c is the first principal
  component of U (centred to find c, rows as they stand to remove it). Rows never right move together, away from every
  output, so they point where rows known to be unused point; c holds what all rows have in common.

The reference is the rows known to be unused: those whose word has count 0. Where every word has been seen the rarest
1 % of the rows (100 at most) stand in, which is weaker: the score is then likeness to the rarest rows, these included.
For a tied table a score of our own is added in that case: the centred norm |E_i - mean of E|.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from embcli.artifacts.schema import Vectors
from embcli.errors import KindError
from embcli.job import Job
from embcli.query.dense import DenseRows
from embcli.query.lookup import words_at
from embcli.query.spectrum import Moments, first_component, moments
from embcli.query.topk import Floats, Ints
from embcli.spec import EvalParams

#: rows that stand in for unused ones: this share of all, and at most so many
RAREST, MOST = 100, 100
#: what is left of a row, as a share of it, that is more than rounding
_LEFT = 1e-6


@dataclass(frozen=True)
class Scored:
    """A row of a ranking; ``count`` is its word's frequency."""

    word: str
    count: int
    score: float


@dataclass(frozen=True)
class Ranking:
    """The rows with the lowest scores, lowest first, and those with the highest, highest first.

    ``variant`` is which of the paper's variants it is, empty for a score that is not from the paper, ``score`` the name
    of the score, ``formula`` its arithmetic, ``reference`` which rows it compares with (empty for none), ``left_out``
    how many rows have no score (no direction).
    """

    variant: str
    score: str
    formula: str
    reference: str
    left_out: int
    lowest: tuple[Scored, ...]
    highest: tuple[Scored, ...]


def undertrained(artifact: Vectors, params: EvalParams, limit: int, name: str, job: Job) -> tuple[Ranking, ...]:
    """Return the rankings of the first ``limit`` rows, the variant's own score first.

    ``params.undertrained`` auto takes untied where there is an output table. Raises KindError for untied where there
    is none.
    """
    variant = params.undertrained
    if variant == "auto":
        variant = "tied" if artifact.contexts is None else "untied"
    if variant == "untied" and artifact.contexts is None:
        raise KindError(f"{name}: has no contexts, so there is no untied score; use --undertrained tied")
    if not limit:
        return ()
    inputs = DenseRows(artifact, "input", name)
    about = moments(inputs, limit, job)
    if variant == "untied":
        outputs = DenseRows(artifact, "output", name)
        cosine, _ = _by_cosine(artifact, variant, outputs, moments(outputs, limit, job), params.top, job)
        formula = "|E_i|, the length of the row of the input table"
        return _ranking(artifact, ("untied variant", "input norm", formula, ""), about.norms, params.top), cosine
    cosine, known = _by_cosine(artifact, variant, inputs, about, params.top, job)
    if known:
        return (cosine,)
    named = ("", "centred norm", "|E_i - mean of E|, the length of the row of the input table less the mean row", "")
    return cosine, _ranking(artifact, named, _apart(inputs, about, job), params.top)


def _by_cosine(
    artifact: Vectors, variant: str, rows: DenseRows, about: Moments, top: int, job: Job
) -> tuple[Ranking, bool]:
    """Return the ranking by cosine distance, and whether its reference is known to be unused."""
    component = first_component(rows, about, job) if rows.shape[1] > 1 else np.zeros(rows.shape[1])
    counts = np.asarray(artifact.unigram[: len(about.norms)], np.int64)
    spans = list(rows.spans(len(counts)))
    norms = np.concatenate(list(job.map(lambda span: _left(rows, span, component)[1], spans)))
    chosen, reference, known = _reference(counts, norms > 0)
    scores = _cosine_distances(rows, component, _mean(rows, component, chosen), len(about.norms), job)
    table = "input" if variant == "tied" else "output"
    formula = f"1 - cos(row, mean of reference) in the {table} table, first principal component removed"
    named = (f"{variant} variant", f"{table} cosine distance", formula, reference)
    return _ranking(artifact, named, scores, top), known


def _left(rows: DenseRows, span: tuple[int, int] | Ints, component: Floats) -> tuple[Floats, Floats]:
    """Return rows without the component, and their lengths, 0 where nothing but rounding is left."""
    block = rows.take(slice(*span) if isinstance(span, tuple) else span).astype(np.float64)
    left = block - (block @ component)[:, None] * component
    before, after = (np.sqrt(np.einsum("ij,ij->i", part, part)) for part in (block, left))
    return left, np.where(after > _LEFT * before, after, 0)


def _reference(counts: Ints, usable: NDArray[np.bool_]) -> tuple[Ints, str, bool]:
    """Return the rows to compare with, what they are, and whether they are known to be unused."""
    known = counts.max() > 0
    unseen = np.flatnonzero((counts <= 0) & usable) if known else np.zeros(0, np.int64)
    if len(unseen):
        return unseen, f"the {len(unseen):,} rows of words with count 0", True
    order = np.argsort(-counts, kind="stable")
    order = order[usable[order]]
    rarest = np.sort(order[len(order) - max(1, min(MOST, len(order) // RAREST)) :])
    if not len(rarest):
        return rarest, "none: no row has a direction", False
    if not known:
        return rarest, f"the last {len(rarest):,} rows; counts are not known", False
    return rarest, f"the {len(rarest):,} rarest rows (count {counts[rarest].max():,} at most); none has count 0", False


def _mean(rows: DenseRows, component: Floats, chosen: Ints) -> Floats:
    """Return the mean of chosen rows without the component; zeros if there are none."""
    total = np.zeros(rows.shape[1])
    for start in range(0, len(chosen), 4096):
        total += _left(rows, chosen[start : start + 4096], component)[0].sum(0)
    return total / max(len(chosen), 1)


def _cosine_distances(rows: DenseRows, component: Floats, mean: Floats, limit: int, job: Job) -> Floats:
    """Return 1 - cosine of each row, component removed, with ``mean``; nan for a row without direction."""
    length = float(np.sqrt((mean * mean).sum()))

    def work(span: tuple[int, int]) -> Floats:
        left, norms = _left(rows, span, component)
        scale = norms * length
        scores = np.full(len(left), np.nan)
        np.divide(left @ mean, scale, out=scores, where=scale > 0)
        # + 0.0 makes a negative zero positive
        rounded: Floats = np.round(1 - np.clip(scores, -1, 1), 6) + 0.0
        return rounded

    return np.concatenate(list(job.map(work, rows.spans(limit))))


def _apart(rows: DenseRows, about: Moments, job: Job) -> Floats:
    """Return the distance of each row to the mean of all."""

    def work(span: tuple[int, int]) -> Floats:
        block = rows.take(slice(*span)) - about.mean
        lengths: Floats = np.sqrt(np.einsum("ij,ij->i", block, block))
        return lengths

    return np.concatenate(list(job.map(work, rows.spans(len(about.norms)))))


def _ranking(artifact: Vectors, named: tuple[str, str, str, str], scores: Floats, top: int) -> Ranking:
    """Return both ends of a ranking; equal scores keep the order of the vocabulary. nan is no score.

    ``named``: variant, score, formula, reference.
    """
    order = np.argsort(scores, kind="stable")
    order = order[: len(order) - int(np.isnan(scores).sum())]
    down = np.argsort(-scores, kind="stable")[: min(top, len(order))]

    def lines(rows: Ints) -> tuple[Scored, ...]:
        counts, values = artifact.unigram[rows].tolist(), scores[rows].tolist()
        words = words_at(artifact.words, rows)
        return tuple(Scored(w, n, float(f"{v:.7g}")) for w, n, v in zip(words, counts, values, strict=True))

    missing = len(scores) - len(order)
    return Ranking(*named, missing, lines(order[:top]), lines(down))
