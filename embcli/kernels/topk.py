"""Loops over a tile of scores that keep the best few of every query. The products are BLAS's: see query/tiles.py.

Every query has a list of (score, row), best first, and a floor: the score of the last place, which a further row has to
exceed (-inf while there are free places, inf for a query that must find nothing). Nearly all scores stay below; so a
run of them is compared first, without branches, which LLVM turns into vector instructions. Equal scores keep the row
that came first; what is listed at the edge depends on the order of the tiles, and is for the caller to settle.
"""

from __future__ import annotations

from typing import Any

from embcli.kernels._jit import kernel

#: scores that are compared between two branches
RUN = 64


@kernel
def insert(scores: Any, rows: Any, floors: Any, query: int, row: int, score: Any) -> None:
    """Put a row into the list of a query, behind scores as high as its own; the last one falls out."""
    last = scores.shape[1] - 1
    at = last
    while at > 0 and scores[query, at - 1] < score:
        scores[query, at] = scores[query, at - 1]
        rows[query, at] = rows[query, at - 1]
        at -= 1
    scores[query, at] = score
    rows[query, at] = row
    floors[query] = scores[query, last]


@kernel
def keep(tile: Any, top: int, left: int, own: bool, live: Any, scores: Any, rows: Any, floors: Any) -> None:
    """Let the queries top, top + 1, ... keep what is best in a tile, whose columns are the rows left, left + 1, ...

    ``tile`` (queries, rows) float32; ``live`` (n,) says which rows may be listed; ``own`` whether a query may list
    itself. ``scores`` (n, places) float32, ``rows`` (n, places) int32 and ``floors`` (n,) float32 are updated.
    """
    for i in range(tile.shape[0]):
        query = top + i
        for begin in range(0, tile.shape[1], RUN):
            end = min(begin + RUN, tile.shape[1])
            floor, hits = floors[query], 0
            for j in range(begin, end):
                hits |= tile[i, j] > floor
            if hits:
                for j in range(begin, end):
                    if tile[i, j] > floors[query] and live[left + j] and (own or query != left + j):
                        insert(scores, rows, floors, query, left + j, tile[i, j])


@kernel
def keep_both(tile: Any, top: int, left: int, live: Any, scores: Any, rows: Any, floors: Any) -> None:
    """As ``keep``, where a score is one of both: the columns are queries too, and no row is among them.

    Halves the products of a search of all rows for all rows.
    """
    for i in range(tile.shape[0]):
        one = top + i
        for begin in range(0, tile.shape[1], RUN):
            end = min(begin + RUN, tile.shape[1])
            floor, hits = floors[one], 0
            for j in range(begin, end):
                hits |= (tile[i, j] > floor) | (tile[i, j] > floors[left + j])
            if hits:
                for j in range(begin, end):
                    score, other = tile[i, j], left + j
                    if score > floors[one] and live[other]:
                        insert(scores, rows, floors, one, other, score)
                    if score > floors[other] and live[one]:
                        insert(scores, rows, floors, other, one, score)
