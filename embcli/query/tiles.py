"""Approximate lists of the nearest rows of all rows: products in tiles that stay in the cache, the best few kept.

A product of two blocks serves the queries of both, since scores are symmetric. Blocks meet in rounds, as in a
tournament: in a round no block takes part twice, so threads never write to the same list. Numba is loaded here, when
the search begins and not before.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from embcli.job import Job
from embcli.query.points import Points

#: rows of a block at most, and numbers
ROWS, NUMBERS = 4096, 1 << 22
#: queries and rows of a tile: 2 MB of scores
QUERIES, COLUMNS = 256, 2048

Span = tuple[int, int]


@dataclass(frozen=True)
class Lists:
    """The best rows so far of each of n queries: ``scores`` descending and ``rows``, (n, places), -inf and -1 if free.

    ``floors`` (n,) is what a score has to exceed; ``live`` (n,) whether a row may be listed.
    """

    scores: Any
    rows: Any
    floors: Any
    live: Any

    @classmethod
    def empty(cls, n: int, places: int) -> Lists:
        """Return lists without entries."""
        scores, rows = np.full((n, places), -np.inf, np.float32), np.full((n, places), -1, np.int32)
        return cls(scores, rows, np.full(n, -np.inf, np.float32), np.ones(n, np.bool_))


def nbytes(n: int, places: int) -> int:
    """Return the memory that lists take."""
    return n * (8 * places + 5)


def search(points: Points, limit: int, places: int, own: bool, job: Job) -> Lists:
    """Return, for each row, the ``places`` rows among the first ``limit`` that score highest.

    Rows without direction have empty lists and stand in none. ``own`` says whether a row lists itself. At the edge
    of a list equal scores are taken as they come, and scores are approximate (see Points.slack).
    """
    n = points.space.shape[0]
    lists = Lists.empty(n, places)
    for start, stop in points.space.spans(n) if points.metric == "cosine" else ():
        zero = start + points.block(start, stop)[2]
        lists.live[zero], lists.floors[zero] = False, np.inf
    size = min(ROWS, max(NUMBERS // max(points.dim, 1), 64))
    listed, others = (_cut(a, b, size) for a, b in ((0, limit), (limit, n)))
    done, total = 0.0, limit * (limit + 1) / 2 + (n - limit) * limit
    for pairs in _rounds(listed, others):
        for left, right in job.map(lambda pair: _meet(points, *pair, limit, own, lists), pairs):
            a, b = left[1] - left[0], right[1] - right[0]
            done += a * (a + 1) / 2 if left == right else a * b
            job.progress(done, total, "pairs")
    return lists


def _cut(start: int, stop: int, size: int) -> list[Span]:
    return [(a, min(a + size, stop)) for a in range(start, stop, size)]


def _rounds(listed: list[Span], others: list[Span]) -> Iterator[list[tuple[Span, Span]]]:
    """Yield rounds of pairs (queries, rows), in none of which lists of a block are written twice.

    Every two blocks of ``listed`` meet once, and each meets itself: the circle method for tournaments. Then each of
    ``others`` meets every block of ``listed``, for its own lists only.
    """
    yield [(block, block) for block in listed]
    ring: list[int] = list(range(len(listed) + len(listed) % 2))
    for _ in range(len(ring) - 1):
        pairs = zip(ring[: len(ring) // 2], reversed(ring[len(ring) // 2 :]), strict=True)
        ordered = [(min(pair), max(pair)) for pair in pairs]
        yield [(listed[a], listed[b]) for a, b in ordered if b < len(listed)]
        ring = [ring[0], ring[-1], *ring[1:-1]]
    for shift in range(len(listed) if others else 0):
        yield [(block, listed[(i + shift) % len(listed)]) for i, block in enumerate(others)]


def _meet(points: Points, left: Span, right: Span, limit: int, own: bool, lists: Lists) -> tuple[Span, Span]:
    """Score the rows of two blocks for each other, or of a block for the queries of one beyond ``limit``."""
    from embcli.kernels.topk import keep, keep_both

    state = (lists.live, lists.scores, lists.rows, lists.floors)
    queries, rows = points.block(*left)[0], points.block(*right)[1]
    room = np.empty(QUERIES * COLUMNS, np.float32)

    def tile(a: int, b: int, end: int) -> Any:
        some, part = queries[a : a + QUERIES], rows[b:end]
        return np.matmul(some, part.T, out=room[: len(some) * len(part)].reshape(len(some), len(part)))

    for a in range(0, len(queries), QUERIES):
        first = 0
        if left == right:  # what was met before is left of here, and the queries of this tile meet each other
            first = min(a + QUERIES, len(rows))
            keep(tile(a, a, first), left[0] + a, right[0] + a, own, *state)
        for b in range(first, len(rows), COLUMNS):
            scores = tile(a, b, b + COLUMNS)
            if left[0] >= limit:
                keep(scores, left[0] + a, right[0] + b, own, *state)
            else:
                keep_both(scores, left[0] + a, right[0] + b, *state)
    return left, right
