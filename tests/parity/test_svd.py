"""Oracle: NumPy's dense SVD, SciPy's svds and scikit-learn's TruncatedSVD, on the same weighted matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.linalg import svds
from svd_twin import solved, weighted, zipf

#: by solver: how far a singular value and a product of vectors may be off, relative to the largest singular value
CLOSE = {"dense": 1e-6, "arpack": 1e-6, "krylov": 2e-6}
WEIGHTS = ["none", "log", "pmi", "ppmi"]


def product(made: Any) -> Any:
    """Return U S V^T from vectors = U S and contexts = V S."""
    s = np.where(made.singular_values > 0, made.singular_values, 1)
    return (made.vectors.astype(np.float64) / s) @ made.contexts.T.astype(np.float64)


@pytest.mark.parametrize("solver", list(CLOSE))
@pytest.mark.parametrize("weight", WEIGHTS)
def test_equals_a_dense_svd_on_60_by_60(solver: str, weight: str) -> None:
    counts = zipf(60, 60, share=0.05)
    X = weighted(counts, weight)
    U, s, Vt = np.linalg.svd(X)
    made = solved(counts, weight=weight, solver=solver, dim=20, eig=1.0)
    assert np.abs(made.singular_values - s[:20]).max() <= CLOSE[solver] * s[0]
    assert np.abs(product(made) - (U[:, :20] * s[:20]) @ Vt[:20]).max() <= CLOSE[solver] * s[0]
    # column i of the factors belongs to value i
    for i in range(20):
        u, v = made.vectors[:, i] / s[i], made.contexts[:, i] / s[i]
        assert np.linalg.norm(X @ v - s[i] * u) <= 10 * CLOSE[solver] * s[0]


def test_vectors_in_another_order_would_be_seen() -> None:
    counts = zipf(60, 60, share=0.05)
    X = weighted(counts, "ppmi")
    made = solved(counts, solver="dense", dim=20, eig=1.0)
    s = made.singular_values
    assert np.linalg.norm(X @ (made.contexts[:, 1] / s[1]) - made.vectors[:, 0]) > 1e-3 * s[0]


@pytest.mark.parametrize("shape", [(90, 40), (40, 90)])
@pytest.mark.parametrize("solver", list(CLOSE))
def test_rectangular_matrices(shape: tuple[int, int], solver: str) -> None:
    from svd_twin import counts_of

    from embcli.job import Job
    from embcli.models import svd

    counts = zipf(*shape)
    matrix = svd.Matrix(counts_of(counts), "log", 1.0, 1.0, Job(threads=2))
    made = getattr(svd, f"_{solver}")(matrix, 10, "counts")
    s = np.linalg.svd(np.log1p(counts), compute_uv=False)[:10]
    assert made.U.shape == (shape[0], 10) and made.V.shape == (shape[1], 10)
    assert np.abs(made.s - s).max() <= CLOSE[solver] * s[0]
    assert np.abs(np.log1p(counts) @ made.V - made.U * made.s).max() <= 5 * CLOSE[solver] * s[0]
    assert made.residual <= 1e-5


@pytest.mark.parametrize("weight", WEIGHTS)
def test_krylov_equals_svds_on_a_matrix_of_many_blocks(weight: str) -> None:
    counts = zipf(800, 800)
    X = csr_array(weighted(counts, weight))
    expected = np.sort(svds(X, k=40, return_singular_vectors=False, rng=np.random.default_rng(0)))[::-1]
    made = solved(counts, weight=weight, solver="krylov", dim=40)
    assert made.options["solver"] == "krylov"
    # what issue 2 asks for is 1e-3
    assert np.abs(made.singular_values / expected - 1).max() < 2e-6
    assert made.stats["residual"] < 2e-5
    assert made.stats["cells"] == X.count_nonzero()
    assert made.stats["explained"] == pytest.approx((expected**2).sum() / (X.multiply(X)).sum(), rel=1e-5)


def test_plain_randomized_svd_would_not_pass() -> None:
    # the sibling: three subspace iterations with 10 more columns, the usual recipe, are per cents off
    X = weighted(zipf(800, 800), "ppmi")
    expected = np.linalg.svd(X, compute_uv=False)[:40]
    Q = np.linalg.qr(X @ np.random.default_rng(0).standard_normal((800, 50)))[0]
    for _ in range(3):
        Q = np.linalg.qr(X @ np.linalg.qr(X.T @ Q)[0])[0]
    found = np.linalg.svd(Q.T @ X, compute_uv=False)[:40]
    assert np.abs(found / expected - 1).max() > 1e-3


@pytest.mark.parametrize("solver", ["dense", "krylov"])
def test_equals_truncated_svd(solver: str) -> None:
    sklearn = pytest.importorskip("sklearn.decomposition")
    counts = zipf(400, 400)
    X = csr_array(weighted(counts, "ppmi"))
    peer = sklearn.TruncatedSVD(15, algorithm="arpack", random_state=0)
    there = peer.fit_transform(X)
    made = solved(counts, solver=solver, dim=15, eig=1.0)
    assert made.singular_values == pytest.approx(peer.singular_values_, rel=1e-5)
    signs = np.sign((there * made.vectors).sum(0))
    assert np.abs(there * signs - made.vectors).max() < 1e-3 * peer.singular_values_[0]


def test_the_residual_that_is_reported_is_the_true_one() -> None:
    counts = zipf(800, 800)
    X = weighted(counts, "ppmi")
    for solver in ("dense", "arpack", "krylov"):
        made = solved(counts, solver=solver, dim=30, eig=0.0)
        U, V, s = made.vectors.astype(np.float64), made.contexts.astype(np.float64), made.singular_values
        back = np.linalg.norm(X.T @ U - V * s, axis=0).max() / s[0]
        forth = np.linalg.norm(X @ V - U * s, axis=0).max() / s[0]
        # vectors are stored in float32
        assert back <= made.stats["residual"] + 1e-6, solver
        assert forth <= 1e-6, solver
