"""Oracle: the rule that labels do not cover each other, checked pair by pair."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from embcli.report.labels import Box, Placed, overlap, place

BOUNDS = (0.0, 0.0, 400.0, 300.0)
POINT = st.tuples(st.floats(0, 400), st.floats(0, 300))
SIZE = st.tuples(st.floats(5, 90), st.floats(6, 14))


def boxes(spots: list[Placed | None], sizes: list[tuple[float, float]]) -> list[Box]:
    """Return the boxes of the labels that have a place."""
    pairs = [(spot, size) for spot, size in zip(spots, sizes, strict=True) if spot is not None]
    return [(spot.x, spot.y, spot.x + width, spot.y + height) for spot, (width, height) in pairs]


@given(st.lists(st.tuples(POINT, SIZE, st.booleans()), max_size=60))
def test_no_label_covers_another_or_leaves_the_picture(given_labels: list) -> None:
    points, sizes, must = (list(part) for part in zip(*given_labels, strict=True)) if given_labels else ([], [], [])
    found = boxes(place(points, sizes, must, BOUNDS, 3), sizes)
    assert not [pair for pair in combinations(found, 2) if overlap(*pair)]
    assert all(a >= 0 and b >= 0 and c <= 400 and d <= 300 for a, b, c, d in found)


def test_labels_that_stay_beside_their_points_would_cover_each_other() -> None:
    """The property can fail: what everybody does first."""
    points, size = [(100.0, 100.0), (104.0, 103.0)], (40.0, 10.0)
    beside = [(x + 4, y, x + 4 + size[0], y + size[1]) for x, y in points]
    assert overlap(*beside)


def test_what_must_be_shown_is_shown_with_a_line_to_its_point() -> None:
    points, sizes = [(200.0, 150.0)] * 30, [(40.0, 10.0)] * 30
    spots = place(points, sizes, [True] * 30, BOUNDS, 3)
    assert None not in spots and sum(spot.leader for spot in spots if spot) >= 20
    assert place(points, sizes, [False] * 30, BOUNDS, 3).count(None) > 20


def test_at_most_so_many_labels_and_the_first_come_first() -> None:
    rng = np.random.default_rng(0)
    points = [tuple(p) for p in rng.uniform(50, 250, (40, 2)).tolist()]
    spots = place(points, [(20.0, 8.0)] * 40, [False] * 40, BOUNDS, 2, most=5)
    assert sum(spot is not None for spot in spots) == 5 and spots[0] is not None


@pytest.mark.parametrize("free", [[], [(110.0 + i, 100.0) for i in range(40)]], ids=["free", "line"])
def test_a_label_leaves_lines_free_where_it_can(free: list) -> None:
    (spot,) = place([(100.0, 100.0)], [(40.0, 10.0)], [True], BOUNDS, 3, free=free)
    assert spot is not None
    assert (spot.x > 100) == (not free)
