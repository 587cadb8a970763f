"""Rows that training hardly touched, by the scores of Land and Bartolo 2024 ("Fishing for Magikarp"), section 2.2.

A lower score is more suspicious; where suspicion ends is not said. U is the table that makes the output: the one
table of a tied model, the output table (``contexts``) of an untied one; E is the input table.

- untied, norm: |E_i|. Rows never read are never moved but by weight decay, and stay short if they began short.
- cosine (both): 1 - cos(U'_i, mean of U' over the reference), where U' = U - (U c) c^T and c is the first principal
  component of U (centred to find c, rows as they stand to remove it). Rows never right move together, away from every
  output, so they point where rows known to be unused point; c holds what all rows have in common.

The reference is the rows known to be unused: those whose word has count 0. Where every word has been seen the rarest
1 % of the rows (100 at most) stand in, and all rows as rare as the last of these, for no order of equal counts would
mean anything. If that is more than 10 % of the rows, so many are taken: the rarer ones and a sample, drawn by the seed,
of those of equal count. This is weaker: the score is then likeness to the rarest rows, these included.
For a tied table a score of our own is added in that case: the centred norm |E_i - mean of E|.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from embcli.artifacts.schema import Vectors
from embcli.errors import KindError
from embcli.job import Job
from embcli.query.dense import DenseRows
from embcli.query.lookup import words_at
from embcli.query.spectrum import Moments, first_component, moments
from embcli.query.topk import Floats, Ints
from embcli.spec import EvalParams

#: rows that stand in for unused ones: one in so many, and at most so many; those tied with them: one in so many at most
RAREST, MOST, TIED = 100, 100, 10
#: how many that are
_RULE = "the rarest 1 % of the rows, 100 at most, and all as rare as the last of them, up to 10 % of the rows"
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
    of the score, ``formula`` its arithmetic, ``reference`` which rows it compares with, ``rule`` how these were chosen
    (empty for none), ``left_out`` how many rows have no score (no direction).
    """

    variant: str
    score: str
    formula: str
    reference: str
    rule: str
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
        cosine, _ = _by_cosine(artifact, variant, outputs, moments(outputs, limit, job), params, job)
        formula = "|E_i|, the length of the row of the input table"
        return _ranking(artifact, ("untied variant", "input norm", formula, "", ""), about.norms, params.top), cosine
    cosine, known = _by_cosine(artifact, variant, inputs, about, params, job)
    if known:
        return (cosine,)
    formula = "|E_i - mean of E|, the length of the row of the input table less the mean row"
    named = ("", "centred norm", formula, "", "")
    return cosine, _ranking(artifact, named, _apart(inputs, about, job), params.top)


def _by_cosine(
    artifact: Vectors, variant: str, rows: DenseRows, about: Moments, params: EvalParams, job: Job
) -> tuple[Ranking, bool]:
    """Return the ranking by cosine distance, and whether its reference is known to be unused."""
    component = first_component(rows, about, job) if rows.shape[1] > 1 else np.zeros(rows.shape[1])
    counts = np.asarray(artifact.unigram[: len(about.norms)], np.int64)
    spans = list(rows.spans(len(counts)))
    norms = np.concatenate(list(job.map(lambda span: _left(rows, span, component)[1], spans)))
    chosen, reference, rule, known = _reference(counts, np.flatnonzero(norms > 0), params.seed)
    scores = _cosine_distances(rows, component, _mean(rows, component, chosen), len(about.norms), job)
    table = "input" if variant == "tied" else "output"
    formula = f"1 - cos(row, mean of reference) in the {table} table, first principal component removed"
    named = (f"{variant} variant", f"{table} cosine distance", formula, reference, rule)
    return _ranking(artifact, named, scores, params.top), known


def _left(rows: DenseRows, span: tuple[int, int] | Ints, component: Floats) -> tuple[Floats, Floats]:
    """Return rows without the component, and their lengths, 0 where nothing but rounding is left."""
    block = rows.take(slice(*span) if isinstance(span, tuple) else span).astype(np.float64)
    left = block - (block @ component)[:, None] * component
    before, after = (np.sqrt(np.einsum("ij,ij->i", part, part)) for part in (block, left))
    return left, np.where(after > _LEFT * before, after, 0)


def _reference(counts: Ints, usable: Ints, seed: int) -> tuple[Ints, str, str, bool]:
    """Return the rows to compare with, what they are, by which rule, and whether they are known to be unused.

    ``usable`` are the rows with a direction, of all whose ``counts`` are given.
    """
    if not len(usable):
        return usable, "none: no row has a direction", "", False
    wanted = max(1, min(MOST, len(usable) // RAREST))
    if counts.max() <= 0:
        return usable[-wanted:], f"the last {wanted:,} rows; counts are not known", "", False
    own = counts[usable]
    unseen = usable[own <= 0]
    if len(unseen):
        return unseen, f"the {len(unseen):,} rows of words with count 0", "", True
    last = int(np.partition(own, wanted - 1)[wanted - 1])
    rarer, tied = usable[own < last], usable[own == last]
    room = max(wanted, len(usable) // TIED) - len(rarer)
    said = f"all with count {last:,}" + (" or less" if len(rarer) else "")
    if len(tied) > room:
        said = f"{room:,} of {len(tied):,} rows of count {last:,}, drawn by --seed"
        said = f"the {len(rarer):,} rarer ones and {said}" if len(rarer) else said
        tied = np.random.default_rng(seed).choice(tied, room, replace=False)
    chosen = np.sort(np.concatenate([rarer, tied]))
    return chosen, f"the {len(chosen):,} rarest rows ({said}); none has count 0", _RULE, False


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


def _ranking(artifact: Vectors, named: tuple[str, str, str, str, str], scores: Floats, top: int) -> Ranking:
    """Return both ends of a ranking; equal scores keep the order of the vocabulary. nan is no score.

    ``named``: variant, score, formula, reference, rule.
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
