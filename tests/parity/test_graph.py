"""Oracle: faiss, IndexFlatIP on unit rows: the same neighbors, up to rows whose cosines differ by less than 1e-5."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from neighbors_twin import of

from embcli.job import Job
from embcli.query.graph import graph
from embcli.spec import NeighborsParams

faiss = pytest.importorskip("faiss")


def test_the_graph_is_that_of_faiss() -> None:
    table = np.random.default_rng(0).standard_normal((6000, 100)).astype(np.float32)
    units = table / np.linalg.norm(table, axis=1, keepdims=True)
    index = faiss.IndexFlatIP(100)
    index.add(units)
    scores, rows = index.search(units, 11)
    knn = graph([of(table)], NeighborsParams(), Job(threads=2))
    neighbors = np.concatenate(list(knn.neighbors.blocks))
    assert disagreeing(neighbors, knn.scores, rows, scores) == 0
    assert disagreeing(neighbors[::-1], knn.scores[::-1], rows, scores) > 5000  # it could have been seen


def disagreeing(neighbors: Any, values: Any, rows: Any, scores: Any) -> int:
    """Return how many rows have neighbors that faiss has not, nor an equal in their place."""
    bad = 0
    for i, (near, value) in enumerate(zip(neighbors, values, strict=True)):
        kept = rows[i] != i
        others, theirs = rows[i][kept][:10], scores[i][kept][:10]
        edge = theirs[-1] + 1e-5
        sure = set(others[theirs > edge].tolist()) ^ set(near[value > edge].tolist())
        bad += bool(sure) or bool((np.abs(theirs - value) > 1e-5).any())
    return bad
