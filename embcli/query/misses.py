"""Analogies that were not solved: what was found, what was expected, and where that stands among all answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from embcli.query.analogies import bar, combined, groups, row_spans, scores_of, shifted, shut_rows
from embcli.query.lexicon import Lexicon
from embcli.query.similarity import cosines
from embcli.query.space import Space
from embcli.query.topk import Floats, Ints


@dataclass(frozen=True)
class Miss:
    """A question that one artifact answers wrongly.

    ``question`` is the words a, b, c; ``found`` the best answer (empty if there is none) and ``score`` its score: the
    cosine with b - a + c, or that of 3CosMul. ``expected`` stands at ``rank`` among all answers with the score
    ``expected_score``; no rank if it is a word of the question.
    """

    artifact: int
    file: str
    section: str
    method: str
    question: tuple[str, str, str]
    expected: str
    found: str
    score: float | None
    expected_score: float
    rank: int | None


def missed(
    space: Space, lexicon: Lexicon, probes: Mapping[int, Any], questions: Sequence[Sequence[str]], best: Ints,
    method: str, artifact: int, file: str, sections: Sequence[str],
) -> list[Miss]:  # fmt: skip
    """Return what there is to say about some questions that were answered by the rows ``best``, -1 for none.

    ``sections`` has the section of each; see ``analogies.solve`` for the rest.
    """
    if not len(questions):
        return []
    due = np.array([lexicon.row(question[3]) for question in questions])
    scores = _exact(space, lexicon, probes, questions, best, method)
    wanted = _exact(space, lexicon, probes, questions, due, method)
    ranks = _ranks(space, lexicon, probes, questions, due, wanted, method)
    lengths = _lengths(space, lexicon, questions) if method == "add" else np.ones(len(questions))
    lines = []
    for i, (a, b, c, d) in enumerate(questions):
        own = {lexicon.form(word) for word in (a, b, c)}
        row = int(best[i])
        lines.append(
            Miss(
                artifact, file, sections[i], method, (a, b, c), d,
                space.words[row] if row >= 0 else "",
                round(float(scores[i] / lengths[i]), 6) if row >= 0 else None,
                round(float(wanted[i] / lengths[i]), 6),
                None if lexicon.form(d) in own else int(ranks[i]),
            )
        )  # fmt: skip
    return lines


def _exact(
    space: Space,
    lexicon: Lexicon,
    probes: Mapping[int, Any],
    questions: Sequence[Sequence[str]],
    rows: Ints,
    method: str,
) -> Floats:
    """Return the score of one row for each question; that of row -1 says nothing."""
    there = np.maximum(rows, 0).tolist()
    terms = [
        cosines(
            space, probes, [(lexicon.row(question[i]), row) for question, row in zip(questions, there, strict=True)]
        )
        for i in range(3)
    ]
    return combined(method, *terms)


def _lengths(space: Space, lexicon: Lexicon, questions: Sequence[Sequence[str]]) -> Floats:
    """Return the length of b - a + c of unit vectors, 1 where nothing is left of them."""
    sums = [((-1, 1, 1), tuple(lexicon.row(word) for word in question[:3])) for question in questions]
    return np.array([space.length(probe) or 1.0 for probe in space.probes(sums, True)])


def _ranks(
    space: Space, lexicon: Lexicon, probes: Mapping[int, Any], questions: Sequence[Sequence[str]], due: Ints,
    wanted: Floats, method: str,
) -> Ints:  # fmt: skip
    """Return the place from 1 of the row ``due`` with the score ``wanted`` in the order of all answers."""
    ahead = np.ones(len(questions), np.int64)
    for words, batches in groups(lexicon, questions):
        stack = space.stack([probes[row] for row in words])
        for span in row_spans(space, lexicon.limit):
            scored = space.block(*span).score(stack, "cosine", fine=True)
            shut = shut_rows(scored, lexicon, span)
            near = scored.near if method == "add" else shifted(scored.near)
            rows = np.arange(*span)
            for batch in batches:
                room = np.empty((2, len(batch.asked), near.shape[1]), near.dtype)
                scores = np.round(scores_of(method, near, batch, room), 6) + 0.0
                bar(scores, batch, shut, span)
                goal = wanted[batch.asked, None]
                before = (scores > goal) | ((scores == goal) & (rows < due[batch.asked, None]))
                ahead[batch.asked] += before.sum(1)
    return ahead
