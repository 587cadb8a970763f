"""The nearest neighbors of every row: an artifact of kind knn. The same lists as ``neighbors`` gives word by word.

Approximate scores choose the candidates (tiles.py), exact ones decide. Where more rows than were kept lie within the
error of the last place, the query is searched once more (scan.py). neighbors.py answers single queries.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from embcli.artifacts.schema import Artifact, Blocks, Counts, Knn
from embcli.counts.weighting import automatic
from embcli.job import Job
from embcli.query.dense import NUMBERS, DenseRows, exact_scores
from embcli.query.points import Points
from embcli.query.scan import Plan, scan
from embcli.query.space import Space, open_space
from embcli.query.tables import as_vectors
from embcli.query.tiles import Lists, nbytes, search
from embcli.query.topk import Floats, Ints, Sum, keep_best
from embcli.spec import NeighborsParams

#: places of a list beyond those asked for: rows that may be as near as the last of them
SPARE = 6

#: queries, rows and exact scores, equally long
Found = tuple[Ints, Ints, Floats]


def graph(inputs: Sequence[Artifact], params: NeighborsParams, job: Job) -> Knn:
    """Return the nearest neighbors of every row of an artifact.

    Parameters
    ----------
    inputs
        One opened ``Vectors``, ``Counts``, ``Model`` or ``Context``. Counts are searched without matrix products,
        which is slow.
    params
        ``top``, ``metric``, ``table``, ``weight``, ``restrict``, ``min_score`` and ``include_inputs`` mean what they
        mean for a single word.
    job
        Its threads share the blocks; the result does not depend on how many there are.

    Returns
    -------
    Knn
        ``neighbors`` are produced while they are written, and ``scores`` (n, top) with them.

    Raises
    ------
    KindError : there is no such table.
    InputError : an input holds numbers that no step writes, or memory is short.
    """
    params.check()
    artifact = as_vectors(*inputs)
    space = open_space(artifact, params, artifact.path or "artifact", job)
    n = space.shape[0]
    k = _lowered(params, n, job)
    params = replace(params, top=k)
    job.need(n * 4 * k + (nbytes(n, k + SPARE) if isinstance(space, DenseRows) else 0), "a graph of the neighbors")
    scores = np.zeros((n, k), np.float32)
    what = "word" if space.counts is not None else "document"
    made = Knn(neighbors=None, scores=scores, words=space.words, text=artifact.text or artifact.meta.get("text") or {})
    made.stats |= {"rows": n, "row": what, "top": k, "searched": min(params.restrict or n, n), "listed": 0, "empty": 0}
    made.options |= {"top": k, "method": None}
    if isinstance(artifact, Counts):
        made.options["weight"] = params.weight or automatic(artifact)
    made.neighbors = Blocks(np.int32, _blocks(space, scores, made.stats, params, job), (k,))
    return made


def _lowered(params: NeighborsParams, n: int, job: Job) -> int:
    """Return how many neighbors a row can have at most, with a warning if more were asked for."""
    limit = min(params.restrict or n, n)
    most = limit if limit < n else max(n - (not params.include_inputs), 1)
    if params.top > most:
        job.warn(f"--top {params.top:,} is more than a row has neighbors; lowered to {most:,}")
    return min(params.top, most)


def _blocks(space: Space, scores: Any, stats: dict[str, Any], params: NeighborsParams, job: Job) -> Iterator[Any]:
    """Yield the neighbors block by block, and fill in scores and figures."""
    n, limit = space.shape[0], stats["searched"]
    lists = points = None
    if isinstance(space, DenseRows) and n:
        points = Points(space, params.metric)
        lists = search(points, limit, min(params.top, limit) + SPARE, params.include_inputs, job)

    def work(span: tuple[int, int]) -> tuple[int, Any, Any]:
        return span[0], *_settled(space, points, lists, span, limit, params)

    size = min(space.group, 2048)
    for start, rows, values in job.map(work, [(a, min(a + size, n)) for a in range(0, n, size)]):
        scores[start : start + len(rows)] = values
        filled = (rows >= 0).sum(1)
        stats["listed"] += int(filled.sum())
        stats["empty"] += int((filled == 0).sum())
        if lists is None:
            job.progress(start + len(rows), n, "rows")
        yield rows


def _settled(
    space: Space, points: Points | None, lists: Lists | None, span: tuple[int, int], limit: int, params: NeighborsParams
) -> tuple[Any, Any]:
    """Return neighbors and scores of some rows, (rows, top), in the order and with the scores of a single search."""
    start, stop = span
    sums: list[Sum] = [((1,), (row,)) for row in range(start, stop)]
    probes = space.probes(sums, params.metric == "cosine")
    again = np.ones(stop - start, np.bool_)
    found: list[Found] = []
    if points is not None and lists is not None:
        again, first = _rescored(points, lists, np.stack(probes), start, params)
        found.append(first)
    elif params.metric == "cosine":
        again[:] = [space.length(probe) > 0 for probe in probes]
    if again.any():
        found.append(_scanned(space, probes, np.flatnonzero(again), limit, params))
    queries, rows, exact = (np.concatenate(parts) for parts in zip(*found, strict=True)) if found else _NOTHING
    if not params.include_inputs:
        other = rows != queries + start
        queries, rows, exact = queries[other], rows[other], exact[other]
    queries, rows, exact, places = keep_best(queries, rows, exact, params.top)
    values = np.sqrt(np.maximum(-exact, 0)) if params.metric == "euclidean" else exact
    if params.min_score is not None:
        kept = _shown(values, params.metric) >= params.min_score
        queries, rows, values, places = queries[kept], rows[kept], values[kept], places[kept]
    neighbors = np.full((stop - start, params.top), -1, np.int32)
    scores = np.zeros((stop - start, params.top), np.float32)
    neighbors[queries, places], scores[queries, places] = rows, values
    return neighbors, scores


_NOTHING: Found = (np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))


def _shown(values: Floats, metric: str) -> Floats:
    """Return scores as a single search shows them: dot products have 7 digits, cosines 6 decimals already."""
    return values if metric == "cosine" else np.array([float(f"{value:.7g}") for value in values.tolist()])


def _rescored(points: Points, lists: Lists, probes: Floats, start: int, params: NeighborsParams) -> tuple[Any, Found]:
    """Return which queries have to be searched again, and exact scores of the candidates of the others.

    A row that is not listed scores no more than the last place does, and so is off the list if the gap between that
    and the last place asked for is more than both errors.
    """
    near = lists.scores[start : start + len(probes)].astype(np.float64)
    rows = lists.rows[start : start + len(probes)]
    slack = points.slack(probes)[:, None]
    enough = near[:, params.top - 1 : params.top] if params.top <= near.shape[1] else np.full((len(near), 1), -np.inf)
    low = enough - 2 * slack
    again = (near[:, -1:] >= low)[:, 0] & (rows[:, -1] >= 0)
    queries, places = np.nonzero((near >= low) & (rows >= 0) & ~again[:, None])
    chosen = rows[queries, places].astype(np.int64)
    scores = np.empty(len(chosen))
    step = max(NUMBERS // max(points.dim, 1), 64)
    for at in range(0, len(chosen), step):
        part = slice(at, at + step)
        table = points.space.take(chosen[part]).astype(np.float64)
        scores[part] = exact_scores(table, probes[queries[part]], params.metric)
    return again, (queries, chosen, np.round(scores, 6) + 0.0 if params.metric == "cosine" else scores)


def _scanned(space: Space, probes: Sequence[Any], asked: Ints, limit: int, params: NeighborsParams) -> Found:
    """Return the best rows of some queries by a search of their own: one more than asked for, the row itself."""
    best = scan([Plan((probes[i],)) for i in asked], space, params.metric, limit, min(params.top + 1, limit), Job())
    at, places = np.nonzero(best.rows >= 0)
    return asked[at], best.rows[at, places], best.scores[at, places]
