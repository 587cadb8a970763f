"""Oracle: three points on a line, for the accuracy that experiments/senses.py reports."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from conftest import ROOT


@pytest.fixture
def senses():  # the folder of experiments is no package
    sys.path.insert(0, str(ROOT / "experiments"))
    try:
        return __import__("senses")
    finally:
        sys.path.remove(str(ROOT / "experiments"))


def test_the_nearest_other_row_decides(senses) -> None:  # type: ignore[no-untyped-def]
    H = np.array([[1, 0], [0.9, 0.1], [0, 1], [0.1, 0.9]])
    assert senses.right(H, ["a", "a", "b", "b"]) == 1
    assert senses.right(H, ["a", "b", "a", "b"]) == 0


def test_equal_rows_are_at_chance(senses) -> None:  # type: ignore[no-untyped-def]
    assert senses.right(np.ones((5, 1)), list("aaabb")) == pytest.approx((3 * 2 / 4 + 2 * 1 / 4) / 5)


def test_the_picture_has_a_dot_for_each_sentence(senses) -> None:  # type: ignore[no-untyped-def]
    rows = [("bank", "money", "a <bank>"), ("bank", "river", "b"), ("bank", "river", "c")]
    figures = {"bank": {"token row": 0.5, "final state": 1.0}}
    drawn = "".join(senses.picture("t", rows, np.eye(3), figures))
    assert drawn.count("<circle") == 3 + 2 and "a &lt;bank&gt;" in drawn and "http:" not in drawn.replace(
        "http://www.w3.org/2000/svg", "")  # fmt: skip
