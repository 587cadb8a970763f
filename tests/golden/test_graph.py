"""Oracle: the neighbors of five three-dimensional words (report N01), found by hand, word by word."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from embcli.artifacts.schema import Counts, Tokens, Vectors, Words
from embcli.errors import KindError, UsageError
from embcli.job import Job
from embcli.query.graph import graph
from embcli.spec import NeighborsParams

NAMES = ["man", "woman", "king", "queen", "apple"]
TABLE = np.array([(1, 0, 0), (0.9, 0.1, 0), (1, 0, 1), (0.8, 0.4, 0.8), (0, 1, 0)], np.float32)
HALF = round(math.sqrt(0.5), 6)


def lists(rows: Any = TABLE, **options: Any) -> dict[str, list[tuple[str, float]]]:
    """Return the lists of a graph by word."""
    names = NAMES[: len(rows)] if len(rows) < 6 else [*NAMES, "void"]
    artifact = Vectors(vectors=np.asarray(rows, np.float32), words=Words.of(names), unigram=np.ones(len(rows), int))
    knn = graph([artifact], NeighborsParams(**options), Job())
    nearest = np.concatenate(list(knn.neighbors.blocks))
    return {
        name: [(names[i], pytest.approx(float(s), abs=1e-6)) for i, s in zip(near, scores, strict=True) if i >= 0]
        for name, near, scores in zip(names, nearest.tolist(), knn.scores, strict=True)
    }


def test_the_two_nearest_of_each_word() -> None:
    """king is nearer to queen, 1.6 / (sqrt 2 * 1.2) = 0.942809, than to man, sqrt 1/2; apple to queen, 0.4 / 1.2."""
    found = lists(top=2)
    assert found["king"] == [("queen", 0.942809), ("man", HALF)]
    assert found["apple"] == [("queen", round(1 / 3, 6)), ("woman", round(0.1 / math.sqrt(0.82), 6))]
    assert [word for word, _ in found["man"]] == ["woman", "king"]


def test_dot_and_distance() -> None:
    assert lists(metric="dot")["king"] == [("queen", 1.6), ("man", 1), ("woman", 0.9), ("apple", 0)]
    found = lists(metric="euclidean", top=2)["king"]
    assert found == [("queen", 0.489898), ("man", 1)]


def test_restrict_limits_what_is_listed_not_what_is_asked() -> None:
    found = lists(restrict=2)
    assert [word for word, _ in found["apple"]] == ["woman", "man"]
    assert [word for word, _ in found["man"]] == ["woman"]


def test_min_score_leaves_places_empty() -> None:
    found = lists(min_score=0.705)
    assert found["king"] == [("queen", 0.942809), ("man", HALF)] and found["apple"] == []


def test_a_word_lists_itself_if_asked() -> None:
    assert lists(include_inputs=True, top=1)["king"] == [("king", 1)]


def test_a_row_of_zeros_has_no_neighbors_and_is_none() -> None:
    table = np.vstack([TABLE, np.zeros(3)])
    found = lists(table)
    assert found["void"] == [] and all("void" not in dict(line) for line in found.values())
    assert lists(table, metric="euclidean")["void"][0][0] == "woman"


def test_rows_of_counts() -> None:
    """Each of two rows has one cell, in the same column."""
    counts = Counts(
        data=np.array([3, 2]), indices=np.array([2, 2], np.int32), indptr=np.array([0, 1, 2, 2]),
        shape=np.array([3, 3]), words=Words.of(["a", "b", "c"]), unigram=np.ones(3, int),
    )  # fmt: skip
    knn = graph([counts], NeighborsParams(weight="none", top=2), Job())
    assert np.concatenate(list(knn.neighbors.blocks)).tolist() == [[1, -1], [0, -1], [-1, -1]]
    assert knn.scores.tolist() == [[1, 0], [1, 0], [0, 0]] and knn.stats["empty"] == 1


def test_what_has_no_rows_is_refused() -> None:
    tokens = Tokens(ids=np.zeros(1, np.uint8), row_offsets=np.array([0, 1]), words=Words.of(["a"]), unigram=np.ones(1))
    with pytest.raises(KindError, match="found 'tokens'"):
        graph([tokens], NeighborsParams(), Job())
    with pytest.raises(KindError, match="no contexts"):
        lists(table="output")
    with pytest.raises(UsageError, match="--min-score"):
        lists(metric="euclidean", min_score=1)
