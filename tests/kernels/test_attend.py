"""Oracle: the readable layers in float64; float32 within a few units of its last place."""

from __future__ import annotations

import numpy as np
import pytest

from embcli.kernels import normrows, optimizers, softmaxes
from embcli.models import attention, layers, positions

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("d", [1, 7, 33])
def test_norm_gelu_and_residual_sums_in_float32(d: int) -> None:
    X, gain, bias = (RNG.standard_normal(s).astype(np.float32) for s in ((5, d), d, d))
    Y, unit, inverse, G, U = np.empty_like(X), np.empty_like(X), np.empty(5, np.float32), np.empty_like(X), 3 * X
    normrows.norm_rows(X, gain, bias, Y, unit, inverse)
    wanted = layers.layer_norm(X.astype(float), gain.astype(float), bias.astype(float))
    np.testing.assert_allclose(Y, wanted, rtol=0, atol=2e-6 if d > 1 else 1e-4)
    normrows.gelu_rows(U, bias, G)
    at = 3 * X.astype(float) + bias
    np.testing.assert_allclose(G, layers.gelu(at), rtol=0, atol=2e-6)
    np.testing.assert_allclose(U, (layers.gelu(at + 1e-6) - layers.gelu(at - 1e-6)) / 2e-6, rtol=0, atol=2e-6)


@pytest.mark.parametrize("T", [1, 5, 40, 70])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_weights_of_spans(T: int, kind: type) -> None:
    """user-reports A01, A02: empty spans, large scores, spans that begin and end anywhere."""
    S = (RNG.standard_normal((2, T, T)) * 30).astype(kind)
    first = RNG.integers(0, T, T)
    last = np.minimum(first + RNG.integers(0, T + 1, T), T)
    first[0], last[0] = 0, 0
    slopes, at = np.array([0, 0.25], kind), np.arange(T)
    mask = (at >= first[:, None]) & (at < last[:, None])
    wanted = attention.softmax(S.astype(float) * 0.5 - slopes[:, None, None] * np.abs(at[:, None] - at), mask)
    A = S.copy()
    softmaxes.weigh(A, first, last, (0, T), (0, T), kind(0.5), slopes)
    np.testing.assert_allclose(A, wanted, rtol=0, atol=2e-6 if kind == np.float32 else 1e-12)
    assert (A[:, ~mask] == 0).all() and (A[:, 0] == 0).all()
    huge = S * kind(1e4)
    softmaxes.weigh(huge, first, last, (0, T), (0, T), kind(0.5), slopes)
    assert np.isfinite(huge).all() and np.allclose(huge.sum(-1), mask.any(1), atol=1e-6)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_cross_entropy(kind: type) -> None:
    Z, targets, bias = (
        (RNG.standard_normal((4, 100)) * 20).astype(kind),
        np.array([0, 99, 5, 5]),
        RNG.random(100).astype(kind),
    )
    wanted = Z.astype(float) + bias
    loss = softmaxes.cross_entropy(Z, bias, targets, 0.25)
    assert loss == pytest.approx(layers.losses(wanted, targets).sum(), rel=1e-6)
    np.testing.assert_allclose(Z, layers.loss_gradient(wanted, targets) * 0.25, rtol=0, atol=3e-7)
    assert np.isnan(
        softmaxes.cross_entropy(np.array([[np.nan, 1, 2]], kind), kind(0) * np.zeros(0, kind), np.array([1]), 1.0)
    )
    assert softmaxes.cross_entropy(np.zeros((0, 3), kind), np.zeros(0, kind), np.zeros(0, np.int64), 1.0) == 0


def test_rope_and_lookup() -> None:
    X, at = RNG.standard_normal((6, 8)), np.array([0, 1, 2, 0, 5, 3])
    angle = positions.angles(np.arange(6), 4)
    turned = X.copy()
    normrows.turn_rows(turned, np.cos(angle), np.sin(angle), at, 2, 1.0)
    for i in range(6):
        for h in (0, 4):
            np.testing.assert_allclose(
                turned[i, h : h + 4], positions.rotate(X[i : i + 1, h : h + 4], at[i : i + 1])[0]
            )
    normrows.turn_rows(turned, np.cos(angle), np.sin(angle), at, 2, -1.0)
    np.testing.assert_allclose(turned, X, atol=1e-14)
    ids, dE, dP = np.array([2, -1, 2, 0, 1, 1]), np.zeros((3, 8)), np.zeros((6, 8))
    normrows.look_up_back(X, ids, 2.0, at, dE, dP)
    real = ids >= 0
    np.testing.assert_allclose(dE, 2 * layers.lookup_gradient(X[real], ids[real], 3))
    np.testing.assert_allclose(dP, layers.lookup_gradient(X[real], at[real], 6))


def test_dropout_leaves_out_its_share_and_repeats() -> None:
    X, Y = np.ones((200, 50), np.float32), np.empty((200, 50), np.float32)
    limit, places = round(0.75 * 2**24), np.arange(200)
    normrows.drop_rows(X, Y, places, np.uint64(3), limit)
    assert set(np.unique(Y).tolist()) == {0.0, float(np.float32(4 / 3))}
    assert abs((Y == 0).mean() - 0.25) < 0.02
    again, other = np.empty_like(Y), np.empty_like(Y)
    normrows.drop_rows(X[50:], again[50:], places[50:], np.uint64(3), limit)  # a part of the batch: the same numbers
    normrows.drop_rows(X, other, places, np.uint64(4), limit)
    assert np.array_equal(again[50:], Y[50:]) and not np.array_equal(other, Y)


def test_gradients_are_summed_in_order_and_steps_are_plain() -> None:
    G = RNG.standard_normal((3, 40)).astype(np.float32)
    wanted = (G[0] + G[1]) + G[2]
    norm = optimizers.gather(G, 10, 30)
    np.testing.assert_array_equal(G[0, 10:30], wanted[10:30])
    assert norm == pytest.approx((wanted[10:30].astype(float) ** 2).sum(), rel=1e-6)
    theta = np.ones(40, np.float32)
    optimizers.descend(theta[10:30], G[0, 10:30], 1.0, 0.5)
    np.testing.assert_array_equal(theta[10:30], np.float32(1) - np.float32(0.5) * G[0, 10:30])
    assert (theta[:10] == 1).all()
