"""Oracle: what must hold of draws, text vectors and neighbors in context, each beside a case in which it does not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from transformers import config, parameters

from embcli.artifacts.schema import Context, Words
from embcli.models import attention, layers, transformer
from embcli.models.continuing import Reading, draw
from embcli.models.pooling import pooled
from embcli.query.contexts import cosines, moved, occurrences

LOGITS = st.lists(st.floats(-30, 30), min_size=1, max_size=8).map(np.array)


@given(LOGITS, st.floats(0, 0.999999))
def test_cold_draws_take_the_best_and_top_k_keeps_the_others_out(Z: np.ndarray, chance: float) -> None:
    best = int(np.argmax(Z))
    assert draw(Z, 0, 0, chance) == draw(Z, 1, 1, chance) == best
    assert draw(Z, 1, 2, chance) in np.argsort(-Z, kind="stable")[:2]
    assert 0 <= draw(Z, 100, 0, chance) < len(Z)


def test_draws_follow_the_softmax_of_logits_over_temperature() -> None:
    Z, n = np.array([1.0, 3.0, 2.0, -4.0]), 20_000
    for temperature in (0.5, 1.0, 3.0):
        found = np.bincount([draw(Z, temperature, 0, (i + 0.5) / n) for i in range(n)], minlength=4) / n
        np.testing.assert_allclose(found, np.exp(layers.log_softmax(Z / temperature)), atol=2e-4)
    assert not np.allclose(found, np.exp(layers.log_softmax(Z)), atol=1e-2)


@pytest.mark.parametrize("position", ["sinusoidal", "learned", "rope", "alibi", "none"])
def test_reading_token_by_token_is_the_forward_pass(position: str) -> None:
    """Kept keys and values change nothing; forgetting where the text stands would."""
    c = config(position, T=9)
    _, P = parameters(c)
    ids = np.random.default_rng(1).integers(0, c.vocabulary, 9)
    whole = transformer.scores(c, P, transformer.forward(c, P, ids).final)
    reading = Reading(c, P, 9)
    for upto, piece in ((4, ids[:4]), (5, ids[4:5]), (9, ids[5:])):
        np.testing.assert_allclose(reading.further(piece.tolist()), whole[upto - 1], rtol=1e-10)
    fresh = Reading(c, P, 9)
    fresh.further(ids[:4].tolist())
    fresh.read = 0
    if position in ("sinusoidal", "learned"):
        assert not np.allclose(fresh.further(ids[4:5].tolist()), whole[4])


def test_text_vectors_know_no_order_but_first_and_last_do() -> None:
    H = np.random.default_rng(0).standard_normal((5, 3))
    order = np.array([3, 1, 0, 4, 2])
    for how in ("sum", "mean"):
        np.testing.assert_allclose(pooled(H[order], how), pooled(H, how), atol=1e-12)
    for how in ("first", "last"):
        assert not np.allclose(pooled(H[order], how), pooled(H, how))
    assert (pooled(H[:0], "mean") == 0).all() and (pooled(H[:1], "mean") == H[0]).all()


def test_inputs_of_any_size_give_finite_rows_that_sum_to_one() -> None:
    """user-reports A01, A02: inputs times 1e4; a row that may look nowhere; the other rows to the last bit."""
    X = np.random.default_rng(0).standard_normal((4, 6)) * 1e4
    O, A = attention.attention(X, X, X, attention.causal(4))  # noqa: E741
    assert np.isfinite(O).all() and np.allclose(A.sum(-1), 1, atol=1e-6)
    mask = attention.causal(4)
    mask[2] = False
    P, B = attention.attention(X, X, X, mask)
    assert (B[2] == 0).all() and (P[2] == 0).all() and (B[[0, 1, 3]] == A[[0, 1, 3]]).all()
    assert (P[[0, 1, 3]] == O[[0, 1, 3]]).all()


@pytest.mark.parametrize("lower", [True, False])
def test_occurrences_before_and_after_context(lower: bool) -> None:
    """Two banks: as rows one and the same, as states each near its own company."""
    rows = np.eye(4, dtype=np.float32)
    ids = np.array([0, 1, 2, 1])  # river bank money bank
    states = np.array([[1, 0, 0, 0], [0.9, 0.1, 0, 0], [0, 0, 1, 0], [0, 0.1, 0.9, 0]], np.float32)
    context = Context(
        ids=ids, text_offsets=np.array([0, 2, 4]), words=Words.of(["river@1:1", "bank@1:2", "money@2:1", "bank@2:2"]),
        rows=rows[ids], text={"lower": lower},
    )  # fmt: skip
    context.levels = np.stack([rows[ids], states])
    labels = ["river", "bank", "money", "bank"]
    assert occurrences(context, labels, "Bank") == ([1, 3] if lower else [])
    first, second = moved(context, labels, [1, 3], rows, Words.of(["river", "bank", "money", "cat"]), 2)
    assert first.levels[0].items[0] == ("bank@2:2", 1.0) and first.around == "river [bank]"
    assert first.levels[-1].items[0][0] == "river@1:1" and second.levels[-1].items[0][0] == "money@2:1"
    assert "bank" not in [name for name, _ in first.levels[0].rows]
    assert cosines(context.levels[0], [1, 3])[0, 1] == 1 > cosines(context.levels[1], [1, 3])[0, 1]
