"""Oracle: scikit-learn's KMeans and PCA, and the formulas of Land and Bartolo 2024 written with them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from embcli.artifacts import store
from embcli.artifacts.schema import Vectors, Words
from embcli.job import Job
from embcli.query.geometry import geometry
from embcli.query.kmeans import kmeans
from embcli.spec import EvalParams

cluster = pytest.importorskip("sklearn.cluster")
decomposition = pytest.importorskip("sklearn.decomposition")


def groups(n: int, d: int, k: int) -> Any:
    """Return unit rows around k directions of unlike weight."""
    rng = np.random.default_rng(0)
    centers = rng.standard_normal((k, d))
    rows = centers[np.minimum(rng.geometric(0.15, n), k) - 1] + 0.8 * rng.standard_normal((n, d))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


@pytest.mark.parametrize("k", [2, 10, 40])
def test_inertia_is_that_of_scikit_learn(k: int) -> None:
    units = groups(4_000, 20, 25)
    theirs = [cluster.KMeans(k, n_init=1, random_state=s).fit(units).inertia_ for s in range(5)]
    ours = [kmeans(units, k, s, Job()).inertia for s in range(5)]
    assert np.mean(ours) < 1.02 * np.mean(theirs)
    assert min(theirs) < 1.02 * min(ours)


def test_one_round_would_not_do() -> None:
    units = groups(4_000, 20, 25)
    theirs = cluster.KMeans(40, n_init=1, random_state=0).fit(units).inertia_
    seeded = cluster.KMeans(40, n_init=1, random_state=0, init="random", max_iter=1).fit(units).inertia_
    assert seeded > 1.02 * theirs


def test_labels_and_inertia_agree_when_scikit_learn_goes_on_from_our_centers() -> None:
    units = groups(4_000, 20, 25)
    ours = kmeans(units, 10, 0, Job())
    theirs = cluster.KMeans(10, n_init=1, init=ours.centers).fit(units)
    assert theirs.inertia_ == pytest.approx(ours.inertia, rel=1e-3)
    assert (theirs.labels_ == ours.labels).mean() > 0.99


def test_shares_are_those_of_pca(chain: Any) -> None:
    artifact: Any = store.read(str(chain / "vectors.npz"), ("vectors",))
    (found,) = geometry([artifact], EvalParams(geometry=True), Job())
    theirs = decomposition.PCA().fit(np.asarray(artifact.vectors, np.float64)).explained_variance_ratio_
    assert found.spectrum is not None
    assert np.allclose([s for s in found.spectrum.shares if s], [theirs[:n].sum() for n in (1, 3, 10)])


def test_the_cosine_score_is_the_published_one() -> None:
    """U without its first principal component, cosine distance to the mean of the rows that are known to be unused."""
    rng = np.random.default_rng(2)
    rows = (rng.standard_normal((500, 12)) * np.arange(1, 13) + 2).astype(np.float32)
    counts = np.maximum(490 - np.arange(500), 0)
    artifact = Vectors(vectors=rows, words=Words.of(str(i) for i in range(500)), unigram=counts)
    (found,) = geometry([artifact], EvalParams(geometry=True, top=500), Job())
    axis = decomposition.PCA(1).fit(rows.astype(np.float64)).components_[0]
    left = rows - np.outer(rows @ axis, axis)
    mean = left[counts == 0].mean(0)
    expected = 1 - left @ mean / np.linalg.norm(left, axis=1) / np.linalg.norm(mean)
    (ranking,) = found.rankings
    scores = np.array([line.score for line in sorted(ranking.lowest, key=lambda line: int(line.word))])
    assert np.abs(scores - expected).max() < 2e-6
    plain = 1 - rows @ rows[counts == 0].mean(0) / np.linalg.norm(rows, axis=1)
    assert np.abs(scores - plain).max() > 0.01
