"""Oracle: arithmetic done by hand, as written beside each number."""

from __future__ import annotations

import numpy as np
import pytest
from glove import array, counts_of, fit

from embcli.job import Job
from embcli.models.glove_trainer import Tables, Trainer
from embcli.spec import GloveParams


def test_one_step_of_one_cell() -> None:
    """X = 10: f = 0.1^0.75 = 0.177828, ln X = 2.302585.

    w.c + b + b' - ln X = 0.5 + 0.1 + 0.2 - 2.302585 = -1.502585; cost 0.177828 * 1.502585^2 / 2 = 0.200747. The rate
    times f times the error is -0.0133601: w moves by 0.0133601 (0.5, 2), c by 0.0133601 (1, 0), both biases by
    0.0133601, since all sums of squares are 1; these grow by the squares: 0.0133601^2 = 0.000178493.
    """
    counts, tables = counts_of([(0, 1, 10.0)], 2), Tables(2, 2)
    tables.words[0, 0, :2], tables.contexts[1, 0, :2] = (1, 0), (0.5, 2)
    tables.word_bias[0, 0], tables.context_bias[1, 0] = 0.1, 0.2
    passing = Trainer(counts, tables, GloveParams(dim=2), Job()).epoch(0, lambda cells, cost: None)[1]
    assert passing == pytest.approx(0.200747, abs=1e-6)
    assert tables.words[0, 0, :2] == pytest.approx((1.00668, 0.0267203), abs=1e-6)
    assert tables.contexts[1, 0, :2] == pytest.approx((0.5133601, 2), abs=1e-6)
    assert (tables.word_bias[0, 0], tables.context_bias[1, 0]) == pytest.approx((0.1133601, 0.2133601), abs=1e-6)
    assert tables.words[0, 1, :2] == pytest.approx((1 + 0.000178493 / 4, 1 + 0.000178493 * 4), abs=1e-6)
    assert tables.word_bias[0, 1] == pytest.approx(1.000178493, abs=1e-7)
    assert not tables.words[1, 0].any() and not tables.contexts[0, 0].any()


def test_a_gradient_counts_a_hundred_at_most() -> None:
    """X = 1e10, so f = 1, and w = c = (20): the error is 400 - 23.03 = 376.97, the gradient of w 7539, cut to 100.

    The step is 0.05 * 100 / 1 = 5.
    """
    counts, tables = counts_of([(0, 0, 1e10)], 1), Tables(1, 1)
    tables.words[0, 0, 0] = tables.contexts[0, 0, 0] = 20
    Trainer(counts, tables, GloveParams(dim=1), Job()).epoch(0, lambda cells, cost: None)
    assert (tables.words[0, 0, 0], tables.contexts[0, 0, 0]) == (15, 15)
    assert tables.word_bias[0, 0] == -5


def test_what_the_outputs_are() -> None:
    """Sum is word plus context, concat both side by side, all of the same training."""
    counts = counts_of([(0, 1, 3.0), (1, 0, 3.0), (1, 1, 200.0)], 3)
    sums, words, both = (fit(counts, dim=4, epochs=2, output=name) for name in ("sum", "words", "concat"))
    assert np.array_equal(array(words, "vectors"), sums.word_rows)
    assert np.array_equal(array(sums, "vectors"), sums.word_rows + sums.contexts)
    assert np.array_equal(array(both, "vectors"), np.hstack((sums.word_rows, sums.contexts)))
    assert (words.word_rows, both.contexts, both.word_rows) == (None, None, None)
    assert np.array_equal(words.contexts, sums.contexts) and np.array_equal(words.bias, both.bias)


@pytest.mark.parametrize("cells", [[(0, 0, 1.0)], [(0, 1, 1.0)], [(0, 1, 5.0), (1, 0, 7.0)]], ids=["1", "1 off", "2"])
def test_tiny_matrices(cells: list[tuple[int, int, float]]) -> None:
    made = fit(counts_of(cells, 2), dim=300, epochs=200)
    assert made.epoch_loss[-1] <= made.epoch_loss[0] and np.isfinite(array(made, "vectors")).all()
