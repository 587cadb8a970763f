"""The best k of many scores, block by block, with a total order: higher score first, then the lower row.

Scores come from fast arithmetic (approximate, with a known bound on the error) and are computed again exactly for the
few that may be among the best. So the result does not depend on the size or the order of the blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
#: signs and rows of a signed sum of rows
Sum = tuple[Sequence[int], Sequence[int]]


@dataclass(frozen=True)
class Scored:
    """Scores of a block of rows for some queries, higher is nearer.

    near : (queries, rows), any float type; -inf for a row that must not be listed.
    slack : (queries, 1), more than any |near - exact|.
    exact : called with (queries, rows), equally long indices into ``near``; the float64 scores of these pairs.
    """

    near: NDArray[np.floating]
    slack: Floats
    exact: Callable[[Ints, Ints], Floats]


class Best:
    """The best ``k`` rows of each query so far: ``scores`` (queries, k) descending, and their ``rows``.

    Places not filled yet hold -inf and row -1.
    """

    def __init__(self, queries: int, k: int) -> None:
        self.scores = np.full((queries, k), -np.inf)
        self.rows = np.full((queries, k), -1, np.int64)

    def floor(self) -> Floats:
        """Return the score (queries, 1) that a row has to reach to get in."""
        return self.scores[:, -1:].copy()

    def add(self, queries: Ints, rows: Ints, scores: Floats) -> None:
        """Take in the rows of a block: three equally long arrays. No row may come twice for a query."""
        if not len(queries):
            return
        k = self.scores.shape[1]
        new = np.zeros(len(self.rows), np.bool_)
        new[queries] = True
        touched = np.flatnonzero(new)
        old = self.rows[touched] >= 0
        queries = np.concatenate([np.repeat(touched, old.sum(1)), queries])
        rows = np.concatenate([self.rows[touched][old], rows])
        scores = np.concatenate([self.scores[touched][old], scores])
        queries, rows, scores, places = keep_best(queries, rows, scores, k)
        self.scores[queries, places], self.rows[queries, places] = scores, rows


def keep_best(queries: Ints, rows: Ints, scores: Floats, k: int) -> tuple[Ints, Ints, Floats, Ints]:
    """Return the best k entries of each query, ordered, and the place (from 0) of each."""
    order = np.lexsort((rows, -scores, queries))
    queries, rows, scores = queries[order], rows[order], scores[order]
    starts = np.flatnonzero(np.diff(queries, prepend=-1))
    places = np.arange(len(queries)) - np.repeat(starts, np.diff(starts, append=len(queries)))
    kept = places < k
    return queries[kept], rows[kept], scores[kept], places[kept]


def candidates(block: Scored, floor: Floats, k: int) -> tuple[Ints, Ints, Floats]:
    """Return (queries, rows, exact scores) of a block's rows that may be among the best k, at most k a query.

    ``floor`` (queries, 1) is a score that the k-th best row is known to reach, -inf where nothing is known.
    """
    low = np.maximum(floor, _kth(block.near, k) - block.slack) if np.isneginf(floor).any() else floor
    hits = np.flatnonzero(block.near >= (low - block.slack).astype(block.near.dtype))
    queries, rows = np.divmod(hits, block.near.shape[1])
    listed = ~np.isneginf(block.near[queries, rows])
    queries, rows = queries[listed], rows[listed]
    scores = block.exact(queries, rows)
    if len(hits) <= k * len(floor):
        return queries, rows, scores
    return keep_best(queries, rows, scores, k)[:3]


def _kth(near: NDArray[np.floating], k: int) -> Floats:
    """Return a score (queries, 1) that at least k rows reach, near to the k-th best; -inf if there are fewer.

    The rows are dealt into groups; the k-th largest of the groups' maxima is such a score.
    """
    n = near.shape[1]
    groups = max(2 * k, n // 64)
    if groups >= n:
        groups = n
    if k > groups:
        return np.full((len(near), 1), -np.inf)
    deep = n // groups
    tops = near[:, : deep * groups].reshape(len(near), deep, groups).max(1)
    return np.partition(tops, groups - k, axis=1)[:, groups - k : groups - k + 1].astype(np.float64)
