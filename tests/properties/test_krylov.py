"""Oracle: matrices made with known singular values, and NumPy in float64; the block Krylov method and its bases."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from svd_twin import apart, counts_of

from embcli.counts.weighting import read_cells, spans
from embcli.job import Job
from embcli.models import basis, krylov, sparse
from embcli.models.krylov import Found


def matrix_of(dense: Any, job: Job) -> sparse.SparseMatrix:
    """Return a matrix with entries of any sign, in blocks of about 500 cells."""
    counts = counts_of(np.where(dense == 0, 0, 1))
    values, blocks = dense[np.nonzero(dense)], []
    for a, b in spans(counts.indptr, 500):
        part = read_cells(counts, a, b)
        blocks.append(sparse.packed(part, values[counts.indptr[a] : counts.indptr[b]], dense.shape[1]))
    return sparse.SparseMatrix(dense.shape, blocks)


def found(dense: Any, k: int, seed: int = 0, threads: int = 1) -> Found:
    """Solve a dense matrix by the block Krylov method."""
    job = Job(threads=threads)
    A = matrix_of(dense, job)
    return krylov.factorize(A, A.transposed(job), k, seed, job)


SPECTRA = {
    "geometric": 0.9 ** np.arange(200.0),
    "linear": np.linspace(1, 0.01, 200),
    "flat": np.linspace(1, 0.9, 200),
    "all equal": np.ones(200),
    "five times each": np.repeat(np.linspace(1, 0.1, 40), 5),
    "forty times each": np.repeat(np.linspace(1, 0.3, 5), 40),
    "sixty equal, then less": np.repeat([1.0, 0.99, 0.5, 0.1], [60, 60, 60, 20]),
    "pairs a millionth apart": np.repeat(np.linspace(1, 0.1, 100), 2) * np.tile([1, 1 - 1e-6], 100),
    "one giant": np.concatenate(([1e4], np.linspace(1, 0.5, 199))),
    "rank 7": np.concatenate((np.linspace(1, 0.5, 7), np.zeros(193))),
    "down to the floor of float32": 10.0 ** -np.linspace(0, 6, 200),
}


@pytest.mark.parametrize("k", [1, 16, 70, 200])
@pytest.mark.parametrize("name", SPECTRA)
def test_krylov_finds_every_spectrum(name: str, k: int) -> None:
    s = SPECTRA[name]
    dense = apart(s, 220)
    made = found(dense, k, threads=2)
    assert made.converged
    assert np.abs(made.s - s[:k]).max() <= 2e-6 * s[0]
    real = made.s > 1e-5 * s[0]
    for table in (made.U[:, real], made.V[:, real]):
        assert np.abs(table.T @ table - np.eye(real.sum())).max() < 1e-5
    assert np.linalg.norm(dense.T @ made.U - made.V * made.s, axis=0).max() <= 2e-5 * s[0]


def test_restarts_lose_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    s = np.linspace(1, 0.2, 300)
    dense = apart(s, 300)
    monkeypatch.setattr(krylov, "limit", lambda k: 1000)
    whole = found(dense, 20)
    monkeypatch.setattr(krylov, "limit", lambda k: 80)
    short = found(dense, 20)
    assert np.abs(whole.s - s[:20]).max() < 1e-6 and np.abs(short.s - s[:20]).max() < 1e-6
    assert whole.steps < short.steps < 3 * whole.steps


def test_without_the_patience_copies_of_a_value_would_be_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    s = np.repeat([3.0, 2.0, 1.0], 120)
    dense = np.diag(s)
    assert found(dense, 100).s == pytest.approx(np.full(100, 3.0), rel=1e-5)
    # the sibling: taking the first values with small residuals stops with copies of 2 among the 3s
    monkeypatch.setattr(krylov, "PATIENCE", 0)
    monkeypatch.setattr(krylov._Run, "filled", property(lambda run: False, lambda run, value: None), raising=False)
    assert found(dense, 100).s[-1] == pytest.approx(2, rel=1e-5)


@settings(max_examples=15)
@given(rows=st.integers(20, 60), count=st.integers(0, 3), seed=st.integers(0, 999), rank=st.integers(0, 16))
def test_a_block_becomes_orthonormal_whatever_its_rank(rows: int, count: int, seed: int, rank: int) -> None:
    rng, job = np.random.default_rng(seed), Job()
    made = basis.Basis(np.ones(rows, bool), 100, job)
    for _ in range(count):
        block = rng.standard_normal((rows, 16)).astype(np.float32)
        real, *_ = basis.orthonormalize(block, made, 0.0)
        made.append(block, real)
    Y = (rng.standard_normal((rows, rank)) @ rng.standard_normal((rank, 16))).astype(np.float32)
    before, Q = Y.astype(np.float64), made.table[: made.n].T.astype(np.float64)
    real, H, R, _ = basis.orthonormalize(Y, made, 1.0)
    assert real == min(rank, made.left)
    assert np.abs(Q @ H + Y @ R - before).max() <= 1e-5 * max(1, np.abs(before).max())
    full = basis.fill(Y, real, made, rng)
    assert full == min(16, made.left)
    both = np.concatenate([Q[:, Q.any(axis=0)], Y[:, :full]], axis=1)
    assert np.abs(both.T @ both - np.eye(both.shape[1])).max() < 1e-5
