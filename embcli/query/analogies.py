"""Analogies in bulk: the best row for each of many questions, by 3CosAdd or 3CosMul. Files and totals: evaluate.py.

The cosines of the few distinct words of the questions with a block of rows are one matrix product; the score of a
question is a sum (or a product) of three of its rows. Fast scores find candidates, exact ones decide, so the result
depends neither on blocks nor on threads. One question with a list of answers: neighbors.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embcli.job import Job
from embcli.query.lexicon import Lexicon
from embcli.query.scan import EPSILON
from embcli.query.space import Space
from embcli.query.topk import Best, Floats, Ints, Scored

#: rows of a block at most, and questions scored at a time: fewer make more calls than work
_ROWS, _BATCH = 8192, 256
#: distinct words of the questions that are taken at a time
_WORDS = 2048

Table = NDArray[np.floating]


@dataclass(frozen=True)
class Batch:
    """Some questions, as places among the distinct words of their group.

    ``asked`` (n,) are their places in the list of questions; ``firsts`` and ``seconds`` the words a and b of each
    distinct pair, ``pairs`` (n,) the pair of each question, ``thirds`` (n,) its word c. ``barred`` are rows that are no
    answers, ascending, and ``barring`` the place in the batch of the question that bars each.
    """

    asked: Ints
    firsts: Ints
    seconds: Ints
    pairs: Ints
    thirds: Ints
    barred: Ints
    barring: Ints


def solve(
    space: Space, lexicon: Lexicon, probes: Mapping[int, Any], questions: Sequence[Sequence[str]],
    methods: Sequence[str], job: Job,
) -> dict[str, Best]:  # fmt: skip
    """Return the best row of each question by each method.

    Parameters
    ----------
    space, lexicon
        The rows, and which of them the words mean.
    probes
        The unit vector of every row that the lexicon knows, as ``space.probes`` makes it.
    questions
        Words (a, b, c, ...), all known: the answer is the row nearest to b - a + c.
    methods
        ``add``: cosine(b) - cosine(a) + cosine(c), which orders rows as the cosine with b - a + c does. ``mul``: with
        cosines shifted to [0, 1], b * c / (a + 0.001) (Levy and Goldberg 2014, equations 3 and 4).
    job
        Its threads share the rows.

    Notes
    -----
    No word with the (folded) form of a, b or c is an answer, nor a row of zeros. Scores are rounded to 6 decimals;
    of equal scores the lower row wins. ``Best`` has one place a question, row -1 if nothing can be an answer.
    """
    best = {method: Best(len(questions), 1) for method in methods}
    spans = list(row_spans(space, lexicon.limit))
    for words, batches in groups(lexicon, questions):
        stack = space.stack([probes[row] for row in words])

        def work(span: tuple[int, int], stack: Any = stack, batches: list[Batch] = batches) -> list[Any]:
            scored = space.block(*span).score(stack, "cosine")
            shut = shut_rows(scored, lexicon, span)
            return [_block(method, scored, shut, batches, span, best[method].floor()) for method in methods]

        for (_, stop), found in zip(spans, job.map(work, spans), strict=True):
            for method, parts in zip(methods, found, strict=True):
                best[method].add(*parts)
            job.progress(stop, lexicon.limit, "rows")
    return best


def row_spans(space: Space, limit: int) -> Iterator[tuple[int, int]]:
    """Yield blocks of rows whose cosines with the words of a group stay small."""
    for start, stop in space.spans(limit):
        for at in range(start, stop, _ROWS):
            yield at, min(at + _ROWS, stop)


def groups(lexicon: Lexicon, questions: Sequence[Sequence[str]]) -> Iterator[tuple[list[int], list[Batch]]]:
    """Yield the rows of the distinct words of some questions, and these questions in batches."""
    rows = [tuple(lexicon.row(word) for word in question[:3]) for question in questions]
    start, places = 0, dict[int, int]()
    for i, row in enumerate(rows):
        if len(places) + 3 > _WORDS:
            yield list(places), list(_batches(lexicon, questions, rows, range(start, i), places))
            start, places = i, {}
        for r in row:
            places.setdefault(r, len(places))
    if places:
        yield list(places), list(_batches(lexicon, questions, rows, range(start, len(rows)), places))


def _batches(
    lexicon: Lexicon, questions: Sequence[Sequence[str]], rows: Sequence[tuple[int, ...]], chosen: range,
    places: Mapping[int, int],
) -> Iterator[Batch]:  # fmt: skip
    """Yield questions so that those with the same a and b stand together: their difference is taken once."""
    order = sorted(chosen, key=lambda i: (rows[i], i))
    for at in range(0, len(order), _BATCH):
        asked = order[at : at + _BATCH]
        pairs = {pair: j for j, pair in enumerate(dict.fromkeys(rows[i][:2] for i in asked))}
        barred = sorted((row, j) for j, i in enumerate(asked) for w in questions[i][:3] for row in lexicon.rows(w))
        yield Batch(
            np.array(asked),
            np.array([places[a] for a, _ in pairs]),
            np.array([places[b] for _, b in pairs]),
            np.array([pairs[rows[i][:2]] for i in asked]),
            np.array([places[rows[i][2]] for i in asked]),
            np.array([row for row, _ in barred]),
            np.array([j for _, j in barred]),
        )


def shut_rows(scored: Scored, lexicon: Lexicon, span: tuple[int, int]) -> Ints:
    """Return the rows of a block that answer nothing: rows of zeros, and those that the lexicon does not allow."""
    shut = np.isneginf(scored.near[0])
    if lexicon.allowed is not None:
        shut |= ~lexicon.allowed[slice(*span)]
    scored.near[:, shut] = 0  # so that differences are numbers
    return np.flatnonzero(shut)


def _block(
    method: str, scored: Scored, shut: Ints, batches: Sequence[Batch], span: tuple[int, int], floor: Floats
) -> tuple[Ints, Ints, Floats]:
    """Return (question, row, exact score) of the rows of a block that may be the best of a question."""
    cosines = scored.near if method == "add" else shifted(scored.near)
    slack = _slack(method, cosines, float(scored.slack.max()))
    room = np.empty((2, _BATCH, cosines.shape[1]), cosines.dtype)
    questions, rows, scores = [], [], []
    for batch in batches:
        near = scores_of(method, cosines, batch, room[:, : len(batch.asked)])
        bar(near, batch, shut, span)
        at, columns = _leaders(near, floor[batch.asked, 0], slack[batch.firsts[batch.pairs]])
        terms = (batch.firsts[batch.pairs[at]], batch.seconds[batch.pairs[at]], batch.thirds[at])
        questions.append(batch.asked[at])
        rows.append(columns + span[0])
        scores.append(combined(method, *(scored.exact(term, columns) for term in terms)))
    return np.concatenate(questions), np.concatenate(rows), np.concatenate(scores)


def shifted(cosines: Table) -> Table:
    """Return cosines moved from [-1, 1] to [0, 1]."""
    moved: Table = np.clip(cosines, -1, 1)
    moved += 1
    moved *= 0.5
    return moved


def combined(method: str, a: Floats, b: Floats, c: Floats) -> Floats:
    """Return scores out of exact cosines with a, b and c, rounded to 6 decimals so that a tie is a tie."""
    scores = b - a + c if method == "add" else shifted(b) * shifted(c) / (shifted(a) + EPSILON)
    rounded: Floats = np.round(scores, 6) + 0.0  # + 0.0 makes a negative zero positive
    return rounded


def scores_of(method: str, cosines: Table, batch: Batch, room: Table) -> Table:
    """Return the scores of a batch's questions, (questions, rows), out of the words' (shifted) cosines.

    ``room`` (2, questions, rows) is written: new memory for each batch would cost more than the sums.
    """
    if method == "add":
        both = cosines[batch.seconds] - cosines[batch.firsts]
    else:
        both = cosines[batch.seconds] / (cosines[batch.firsts] + cosines.dtype.type(EPSILON))
    # clip: without a copy of its own
    np.take(both, batch.pairs, axis=0, out=room[0], mode="clip")
    np.take(cosines, batch.thirds, axis=0, out=room[1], mode="clip")
    near: Table = (np.add if method == "add" else np.multiply)(room[0], room[1], out=room[0])
    return near


def bar(near: Table, batch: Batch, shut: Ints, span: tuple[int, int]) -> None:
    """Put what is no answer to -inf."""
    if len(shut):
        near[:, shut] = -np.inf
    first, last = np.searchsorted(batch.barred, span)
    near[batch.barring[first:last], batch.barred[first:last] - span[0]] = -np.inf


def _slack(method: str, cosines: Table, slack: float) -> Floats:
    """Return for each word, as the a of a question, more than any error of a score: rounding to 6 decimals included.

    The error of a quotient (b / a) c, with all three off by e and at most 1, is below e (2 / a + 1 / a^2).
    """
    if method == "add":
        return np.full(len(cosines), 3 * slack + 1e-6)
    least: Floats = cosines.min(1).astype(np.float64) + EPSILON
    return (slack + 1e-7) * (2 / least + 1 / least**2) + 1e-6


def _leaders(near: Table, floor: Floats, slack: Floats) -> tuple[Ints, Ints]:
    """Return (question, row) of the scores that may be the best of their question and reach its floor."""
    tops = near.max(1).astype(np.float64)
    leading = np.flatnonzero((tops >= floor - slack) & ~np.isneginf(tops))
    low = (tops - 2 * slack)[leading, None].astype(near.dtype)
    questions, rows = np.divmod(np.flatnonzero(near[leading] >= low), near.shape[1])
    return leading[questions], rows
