"""Oracle: scipy.linalg.orthogonal_procrustes, and scikit-learn's PCA and TruncatedSVD where it is installed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from transform_twin import saved, transformed

RNG = np.random.default_rng(0)
X = (RNG.standard_normal((80, 9)) * 0.7 ** np.arange(9) + 1).astype(np.float32)
Y = RNG.standard_normal((80, 9)).astype(np.float32)


def test_rotation_equals_scipy(tmp_path: Path) -> None:
    from scipy.linalg import orthogonal_procrustes

    wide = X.astype(np.float64)
    R, _ = orthogonal_procrustes(wide, Y.astype(np.float64))
    made = transformed(X, align_to=saved(tmp_path / "y.npz", Y))
    assert made.vectors == pytest.approx(wide @ R, abs=1e-6)
    assert made.stats["residual"] == pytest.approx(np.linalg.norm(wide @ R - Y) / np.linalg.norm(Y), rel=1e-6)
    assert made.vectors != pytest.approx(wide @ R.T, abs=1e-2)


@pytest.mark.parametrize("dim", [1, 4, 9])
def test_pca_equals_scikit_learn(dim: int) -> None:
    decomposition = pytest.importorskip("sklearn.decomposition")
    wide = X.astype(np.float64)
    pca = decomposition.PCA(dim, svd_solver="full").fit(wide)
    due = pca.transform(wide) * np.sign(pca.components_[np.arange(dim), np.abs(pca.components_).argmax(1)])
    made = transformed(X, center=True, dim=dim)
    assert made.vectors == pytest.approx(due, abs=1e-5)
    assert made.stats["explained"] == pytest.approx(pca.explained_variance_ratio_.sum(), rel=1e-6)
    # without --center it is another space: that of TruncatedSVD
    plain = transformed(X, dim=dim)
    assert plain.vectors != pytest.approx(due, abs=1e-2)
    svd = decomposition.TruncatedSVD(dim, algorithm="arpack").fit(wide) if dim < 9 else None
    if svd is not None:
        due = svd.transform(wide) * np.sign(svd.components_[np.arange(dim), np.abs(svd.components_).argmax(1)])
        assert plain.vectors == pytest.approx(due, abs=1e-5)


@pytest.mark.parametrize("top", [1, 3])
def test_all_but_the_top_equals_the_published_steps(top: int) -> None:
    """Algorithm 1 of Mu and Viswanath (2018), with scikit-learn's PCA as in the authors' description."""
    decomposition = pytest.importorskip("sklearn.decomposition")
    centred = X.astype(np.float64) - X.mean(0, dtype=np.float64)
    u = decomposition.PCA(top).fit(centred).components_
    due = centred - sum(np.outer(centred @ each, each) for each in u)
    assert transformed(X, remove_top=top).vectors == pytest.approx(due, abs=1e-5)
    assert transformed(X, remove_top=top + 1).vectors != pytest.approx(due, abs=1e-2)
