"""Oracle: scikit-learn's PCA and t-SNE, and Procrustes by hand."""

from __future__ import annotations

import numpy as np
import pytest

from embcli.query.projection import neighborly, principal, shared, turned, unit

rng = np.random.default_rng(5)


@pytest.mark.parametrize("shape", [(200, 30), (12, 100)], ids=["tall", "wide"])
def test_principal_components_are_those_of_scikit_learn(shape: tuple[int, int]) -> None:
    decomposition = pytest.importorskip("sklearn.decomposition")
    points = rng.normal(size=shape) * np.linspace(3, 0.1, shape[1]) + 5
    plane, peer = principal(points), decomposition.PCA(2).fit(points)
    ours, theirs = plane.place(points), peer.transform(points)
    np.testing.assert_allclose(ours * np.sign((ours * theirs).sum(0)), theirs, atol=1e-8)
    np.testing.assert_allclose(plane.shares, peer.explained_variance_ratio_, rtol=1e-9)


def test_the_farthest_point_of_each_axis_is_on_its_positive_side() -> None:
    for seed in range(20):
        points = np.random.default_rng(seed).normal(size=(9, 4))
        for ours in (principal(points).place(points), principal(-points).place(-points)):
            assert (ours[np.abs(ours).argmax(0), [0, 1]] > 0).all()


def test_points_that_do_not_vary_lie_at_the_origin() -> None:
    plane = principal(np.ones((3, 5)))
    assert plane.shares == (0.0, 0.0) and not plane.place(np.ones((3, 5))).any()
    one = principal(np.array([[0.0, 0.0], [2.0, 0.0]]))
    assert one.shares == pytest.approx((1, 0))
    np.testing.assert_allclose(np.abs(one.place(np.array([[0.0, 0.0], [2.0, 0.0]]))), [[1, 0], [1, 0]])


def test_a_turned_and_mirrored_map_is_turned_back() -> None:
    onto = rng.normal(size=(20, 2))
    angle = 1.2
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]) @ np.diag([1, -1])
    rows = np.arange(20)
    np.testing.assert_allclose(turned(onto @ turn, onto, rows, rows), onto, atol=1e-9)
    assert not np.allclose(onto @ turn, onto)
    mine, theirs = shared(["a", "b", "c"], ["c", "x", "a"])
    assert (mine.tolist(), theirs.tolist()) == ([0, 2], [2, 0])
    assert turned(onto, onto[:3], mine[:0], theirs[:0]) is onto


def test_t_sne_keeps_groups_together_and_is_the_same_twice() -> None:
    pytest.importorskip("sklearn")
    centres = np.eye(4, 20) * 10
    points = unit(np.repeat(centres, 15, axis=0) + rng.normal(size=(60, 20)) * 0.3)
    placed = neighborly(points, None, 0)
    np.testing.assert_array_equal(placed, neighborly(points, None, 0))
    group = np.repeat(np.arange(4), 15)
    middles = np.stack([placed[group == g].mean(0) for g in range(4)])
    nearest = np.linalg.norm(placed[:, None] - middles, axis=2).argmin(1)
    assert (nearest == group).all()
