"""Oracle: numbers read back from the SVG, and ticks counted by hand."""

from __future__ import annotations

import re

import numpy as np
import pytest

from embcli.query.curves import Curve, thinned
from embcli.report.linechart import loss_charts, ticks


@pytest.mark.parametrize(
    ("low", "high", "most", "whole", "due"),
    [
        (0, 10, 5, False, [0, 2, 4, 6, 8, 10]),
        (0.0203, 0.0405, 4, False, [0.03, 0.04]),
        (1, 3, 8, True, [1, 2, 3]),
        (1, 3000, 8, True, [500, 1000, 1500, 2000, 2500, 3000]),
        (2, 2.0000001, 5, True, [2]),
        (-0.3, 0.3, 3, False, [-0.2, 0, 0.2]),
    ],
)
def test_ticks_are_round_numbers_inside(low: float, high: float, most: int, whole: bool, due: list[float]) -> None:
    assert ticks(low, high, most, whole) == due


def test_lines_go_through_their_values() -> None:
    values = np.array([3.0, 1.0, 2.0, 0.5])
    text = "".join(loss_charts([Curve("a<b", "m&m", np.arange(1.0, 5), values, "epoch")]))
    points = np.array([spot.split(",") for spot in re.findall(r'points="([^"]*)"', text)[0].split()], float)
    assert np.corrcoef(points[:, 1], values)[0, 1] < -0.99999  # upwards is towards smaller y
    assert np.allclose(np.diff(points[:, 0]), np.diff(points[:, 0])[0], atol=0.11)
    assert "a&lt;b" in text and "m&amp;m" in text and "a<b" not in text and text.count("<circle") == 4


def test_objectives_are_told_apart_and_runs_keep_their_color() -> None:
    x = np.arange(1.0, 4)
    curves = [Curve("a", "one", x, x, "epoch"), Curve("b", "two", x, x, "epoch"), Curve("b", "one", x, x, "epoch")]
    charts = list(loss_charts(curves))
    text = "".join(charts)
    assert text.count("<figure>") == 2 and len(re.findall('polyline class="c1', text)) == 2


@pytest.mark.parametrize("value", [0.0, 5.0, -1e-12, 1e9])
def test_one_value_or_equal_ones_are_drawn(value: float) -> None:
    text = "".join(loss_charts([Curve("a", "m", np.array([1.0]), np.array([value]), "step")]))
    assert "nan" not in text and "inf" not in text and "<polyline" in text


def test_thinned_keeps_means_and_the_last_step() -> None:
    values = np.random.default_rng(0).random(1003)
    steps, means = thinned(values)
    assert len(steps) <= 200 and steps[-1] == 1003 and steps[0] == 6
    sizes = np.diff([0, *steps])
    assert np.isclose((means * sizes).sum(), values.sum()) and np.isclose(means[0], values[:6].mean())
    few, same = thinned(values[:200])
    assert few.tolist() == list(range(1, 201)) and (same == values[:200]).all()
