"""Word similarity: cosines of word pairs against scores by people. Rank correlation in NumPy alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from embcli.query.evalfiles import Pairs
from embcli.query.lexicon import Lexicon
from embcli.query.space import Space
from embcli.query.topk import Floats


@dataclass(frozen=True)
class SimilarityResult:
    """How the cosines of one artifact agree with one file.

    ``artifact`` is its place among the artifacts. Of ``total`` pairs ``scored`` have both words, ``composed`` of them
    with a word that is not in the vocabulary and was composed of its n-grams. ``spearman`` and ``pearson`` are in
    [-1, 1], None where they do not exist: fewer than two pairs, or all scores equal. ``section`` is empty, or ``rare``
    for the pairs with a rare word.
    """

    artifact: int
    file: str
    total: int
    scored: int
    spearman: float | None
    pearson: float | None
    composed: int = 0
    section: str = ""

    @property
    def label(self) -> str:
        """The file and the section."""
        return f"{self.file}, {self.section}" if self.section else self.file


def correlate(
    space: Space, lexicon: Lexicon, probes: Mapping[int, Any], pairs: Pairs, artifact: int, unseen: Mapping[str, int],
    rare: int | None = None,
) -> SimilarityResult:  # fmt: skip
    """Return the SimilarityResult of one file: pairs with an unknown word are skipped, double pairs count twice.

    ``probes`` has the unit vector of every row that ``lexicon`` knows and of those of ``unseen``, words that were
    composed, as ``space.probes`` makes it. With ``rare`` only pairs count that have a word which the text has fewer
    times, or not at all.
    """

    def row(word: str) -> int:
        return unseen.get(word, lexicon.row(word))

    def count(row: int) -> int:
        return int(space.counts[row]) if 0 <= row < len(space.counts) else 0

    rows = [(row(a), row(b)) for a, b in zip(pairs.lefts, pairs.rights, strict=True)]
    asked = [i for i, (a, b) in enumerate(rows) if rare is None or min(count(a), count(b)) < rare]
    known = [i for i in asked if min(rows[i]) >= 0]
    found = cosines(space, probes, [rows[i] for i in known])
    people = np.array(pairs.scores)[known]
    found = np.round(found, 6) + 0.0  # so that a tie is a tie, and a negative zero positive
    rank = pearson(ranks(people), ranks(found))
    composed = sum(pairs.lefts[i] in unseen or pairs.rights[i] in unseen for i in known)
    section = "" if rare is None else "rare"
    return SimilarityResult(
        artifact, pairs.name, len(asked), len(known), rank, pearson(people, found), composed, section
    )


def cosines(space: Space, probes: Mapping[int, Any], pairs: Sequence[tuple[int, int]]) -> Floats:
    """Return the exact cosine of each pair of rows, one that ``probes`` has and any other."""
    partners: dict[int, list[int]] = {}
    for i, (_, right) in enumerate(pairs):
        partners.setdefault(right, []).append(i)
    found = np.zeros(len(pairs))
    for right, places in partners.items():
        stack = space.stack([probes[pairs[i][0]] for i in places])
        scored = space.block(right, right + 1).score(stack, "cosine", fine=True)
        found[places] = scored.exact(np.arange(len(places)), np.zeros(len(places), np.int64))
    return found


def ranks(values: Floats) -> Floats:
    """Return the rank of each value from 1, equal values at the mean of their ranks."""
    order = np.argsort(values, kind="stable")
    starts = np.flatnonzero(np.diff(values[order], prepend=-np.inf))
    sizes = np.diff(starts, append=len(values))
    found = np.empty(len(values))
    found[order] = np.repeat(starts + (sizes + 1) / 2, sizes)
    return found


def pearson(left: Floats, right: Floats) -> float | None:
    """Return the correlation of two equally long lists; None if one of them is constant. Of ranks it is Spearman's."""
    if len(left) < 2:
        return None
    left, right = left - left.mean(), right - right.mean()
    scale = float(np.sqrt((left * left).sum() * (right * right).sum()))
    return min(max(float((left * right).sum()) / scale, -1.0), 1.0) if scale > 0 else None
