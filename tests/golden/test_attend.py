"""Oracle: the worked numbers of the sources, done by hand, through the functions that ``attend`` uses."""

from __future__ import annotations

import math

import numpy as np
import pytest

from embcli.models import attention, layers, positions, transformer
from embcli.models.transformer import Config

E = np.array([[1.0, 0, 1, 0], [1, 1, 1, 0], [0, 1, 0, 1]])


def close(a: object, b: object, tolerance: float = 1e-12) -> None:
    np.testing.assert_allclose(a, b, rtol=0, atol=tolerance)


def test_lookup_is_the_one_hot_product() -> None:
    ids = np.array([2, 0])
    close(layers.lookup(E, ids), [[0, 1, 0, 1], [1, 0, 1, 0]])
    close(layers.one_hot(ids, 3) @ E, layers.lookup(E, ids))
    assert E.size == 12 and layers.lookup(E, ids).size == 8
    close([((E[0] - E[i]) ** 2).sum() for i in (1, 2)], [1, 4])


def test_lookup_of_the_second_source() -> None:
    table = np.array([[0.1, 0.2], [-0.4, 0.3], [0.8, -0.1], [0, 0.5]])
    found = layers.lookup(table, np.array([2, 0, 2]))
    assert found.shape == (3, 2)
    close(found[[0, 2]], [[0.8, -0.1]] * 2)
    moved = layers.plain_step(table, layers.lookup_gradient(np.array([[0.2, -0.4]]), np.array([2]), 4), 0.1)
    close(moved[2], [0.78, -0.06])
    close(moved[[0, 1, 3]], table[[0, 1, 3]])
    assert layers.lookup(table, np.array([[0, 1], [2, 3]])).shape == (2, 2, 2)


def test_repeated_ids_add_their_gradients() -> None:
    G = np.array([[1.0, 2, 3, 4], [5, 6, 7, 8], [10, 20, 30, 40]])
    found = layers.lookup_gradient(G, np.array([2, 0, 2]), 3)
    close(found, [G[1], np.zeros(4), G[0] + G[2]])
    close(found, layers.one_hot(np.array([2, 0, 2]), 3).T @ G)


def test_one_head_with_equal_scores() -> None:
    zero = np.zeros((2, 1))
    O, A = attention.attention(zero, zero, np.array([[2.0, 0], [0, 4]]), attention.causal(2))  # noqa: E741
    close(A, [[1, 0], [0.5, 0.5]])
    close(O, [[2, 0], [1, 2]])
    assert A[0, 1] == 0


def test_scores_are_scaled_by_the_root_of_the_head_width() -> None:
    Q, K = np.array([[1.0, 2, 3, 4]]), np.array([[1.0, 1, 1, 1]])
    close(attention.scores(Q, K), [[5]])


def test_logits_and_probabilities() -> None:
    Z = layers.logits(np.array([[2.0, 1]]), np.array([[1.0, 0], [0, 1], [1, 1]]))
    close(Z, [[2, 1, 3]])
    close(np.exp(layers.log_softmax(Z)), [[0.245, 0.090, 0.665]], 5e-4)
    close(layers.losses(Z, np.array([2])), -np.log(0.665241), 1e-6)
    close(layers.loss_gradient(Z, np.array([2])), [[0.244728, 0.090031, -0.334759]], 1e-6)


def test_sinusoidal_positions() -> None:
    P = positions.sinusoidal(np.arange(3), 4)
    close(P[0], [0, 1, 0, 1])
    close(P[1], [0.841471, 0.540302, 0.01, 0.99995], 5e-7)
    turn = np.array([[np.cos(1), np.sin(1)], [-np.sin(1), np.cos(1)]])
    close(turn @ P[1, :2], P[2, :2])  # a fixed offset is a linear map of each pair


def test_token_rows_are_scaled_before_positions_are_added() -> None:
    rows = np.array([[0.2, -0.4, 0.1, 0.5], [0, 0, 0, 0], [0.6, 0.1, -0.5, 0.3]])
    c = Config(3, 0, 1, 4, 4, 8, "none", scale_embeddings=True)
    close(transformer.first_inputs(c, {"token_rows": rows}, np.array([2])), [[1.2, 0.2, -1.0, 0.6]])
    assert Config(3, dim=512).scale == pytest.approx(22.6, abs=0.05)
    P = positions.sinusoidal(np.arange(3), 4)
    c = Config(3, 0, 1, 4, 4, 8, "sinusoidal")
    close(transformer.first_inputs(c, {"token_rows": rows}, np.array([0, 1, 2])), 2 * rows + P)
    rotary = Config(3, 0, 1, 4, 4, 8, "rope")
    close(transformer.first_inputs(rotary, {"token_rows": rows}, np.array([0, 1, 2])), 2 * rows)


def test_slopes_of_alibi() -> None:
    close(positions.slopes(8), [2.0**-i for i in range(1, 9)])
    close(positions.slopes(1), [2.0**-8])
    close(positions.slopes(3), [2.0**-4, 2.0**-8, 2.0**-2])
    close(positions.alibi(np.arange(3), 8)[0], [[0, -0.5, -1], [-0.5, 0, -0.5], [-1, -0.5, 0]])


def test_tying_saves_one_table_and_only_learned_positions_have_parameters() -> None:
    def size(**options: object) -> int:
        return sum(math.prod(shape) for shape in Config(50, 2, 4, 16, 64, 32, **options).shapes().values())  # type: ignore[arg-type]

    assert size(tie=False) - size(tie=True) == 50 * 16
    assert size(position="learned") - size(position="none") == 32 * 16
    assert size(position="sinusoidal") == size(position="rope") == size(position="alibi") == size(position="none")


def test_gelu_and_layer_norm() -> None:
    close(layers.gelu(np.array([0.0, 1.0, -1.0])), [0, 0.841345, -0.158655], 1e-6)
    close(layers.layer_norm(np.array([[1.0, 3.0]]), np.array([2.0, 2.0]), np.array([0.0, 1.0])), [[-2, 3]], 1e-4)


def test_large_scores_and_rows_without_columns() -> None:
    """user-reports A01, A02."""
    A = attention.softmax(np.array([[1000.0, 1001.0], [-1000.0, -1001.0]]))
    close(A, [[0.268941, 0.731059], [0.731059, 0.268941]], 1e-6)
    mask = np.array([[True, False], [False, False]])
    weights = attention.softmax(np.array([[1e4, 2e4], [1e4, 2e4]]), mask)
    close(weights, [[1, 0], [0, 0]])
    close(layers.losses(np.array([[1e6, 0.0]]), np.array([0])), [0])
    assert attention.softmax(np.zeros((0, 0))).shape == (0, 0)
