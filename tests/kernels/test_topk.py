"""Oracle: NumPy's argsort of whole rows. Scores are compared as they are: the lists must be exact."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from embcli.kernels.topk import RUN, keep, keep_both
from embcli.query.tiles import Lists


def scores_of(n: int, m: int, seed: int, values: int) -> Any:
    """Return scores with many ties if there are few values."""
    return (np.random.default_rng(seed).integers(0, values, (n, m)) - values // 2).astype(np.float32)


def listed(lists: Lists, query: int) -> list[float]:
    """Return the scores of a list, after a look at its order and that no row stands there twice."""
    rows = lists.rows[query][lists.rows[query] >= 0]
    scores = lists.scores[query][: len(rows)]
    assert len(set(rows.tolist())) == len(rows) and (np.diff(scores) <= 0).all()
    assert lists.floors[query] == lists.scores[query, -1]
    return scores.tolist()  # type: ignore[no-any-return]


def best(scores: Any, places: int) -> list[float]:
    return np.sort(scores)[::-1][:places].tolist()  # type: ignore[no-any-return]


@given(st.integers(1, 9), st.integers(1, 3 * RUN), st.integers(1, 12), st.integers(0, 99), st.sampled_from([3, 10**6]))
def test_tiles_leave_the_best_of_their_rows(n: int, m: int, places: int, seed: int, values: int) -> None:
    scores, lists = scores_of(n, m, seed, values), Lists.empty(max(n, m), places)
    for at in range(0, m, 50):
        part = np.ascontiguousarray(scores[:, at : at + 50])
        keep(part, 0, at, True, lists.live, lists.scores, lists.rows, lists.floors)
    for query in range(n):
        assert listed(lists, query) == best(scores[query], places)
        rows = lists.rows[query][lists.rows[query] >= 0]
        assert scores[query, rows].tolist() == listed(lists, query)


@given(st.integers(1, 40), st.integers(1, 2 * RUN + 5), st.integers(1, 6), st.integers(0, 99))
def test_a_tile_serves_both_sides(n: int, m: int, places: int, seed: int) -> None:
    scores, lists = scores_of(n, m, seed, 50), Lists.empty(n + m, places)
    keep_both(scores, 0, n, lists.live, lists.scores, lists.rows, lists.floors)
    for query in range(n):
        assert listed(lists, query) == best(scores[query], places)
    for row in range(m):
        assert listed(lists, n + row) == best(scores[:, row], places)


@pytest.mark.parametrize("own", [False, True])
def test_a_query_lists_itself_only_if_asked(own: bool) -> None:
    lists = Lists.empty(5, 5)
    keep(scores_of(5, 5, 0, 9), 0, 0, own, lists.live, lists.scores, lists.rows, lists.floors)
    assert all((query in lists.rows[query]) == own for query in range(5))


def test_dead_rows_neither_list_nor_are_listed() -> None:
    for both in (False, True):
        lists = Lists.empty(12, 3)
        lists.live[[2, 8]], lists.floors[[2, 8]] = False, np.inf
        tile = scores_of(6, 6, 1, 5)
        state = (lists.live, lists.scores, lists.rows, lists.floors)
        keep_both(tile, 0, 6, *state) if both else keep(tile, 0, 6, True, *state)
        assert not np.isin(lists.rows, [2, 8]).any() and (lists.rows[[2, 8]] == -1).all()
        assert (lists.rows[0] >= 0).all()


def test_a_wrong_list_is_seen() -> None:
    """Sibling: a list that missed its best row, and one out of order."""
    scores, lists = scores_of(3, 80, 0, 10**6), Lists.empty(80, 4)
    keep(np.ascontiguousarray(np.delete(scores, scores[0].argmax(), 1)), 0, 0, True,
         lists.live, lists.scores, lists.rows, lists.floors)  # fmt: skip
    assert listed(lists, 0) != best(scores[0], 4)
    lists.scores[1, :2] = lists.scores[1, 1::-1]
    with pytest.raises(AssertionError):
        listed(lists, 1)
