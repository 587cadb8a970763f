"""Oracle: what holds for every singular value decomposition and every run; user reports S01, S02, S04, S09, X17."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from conftest import environment
from hypothesis import given, settings
from hypothesis import strategies as st
from svd_twin import apart, counts_of, solved, weighted, zipf

from embcli.counts import weighting
from embcli.counts.weighting import Cells, Weighted, marginals, read_cells
from embcli.errors import InputError
from embcli.job import Job
from embcli.models import basis, krylov

SOLVERS = ["dense", "arpack", "krylov"]


def digest(made: Any) -> str:
    parts = [made.vectors, made.contexts, made.singular_values]
    return hashlib.sha256(b"".join(p.tobytes() for p in parts) + repr(made.stats).encode()).hexdigest()


@pytest.mark.parametrize("solver", SOLVERS)
@settings(max_examples=15)
@given(seed=st.integers(0, 10_000), n=st.integers(3, 40), data=st.data())
def test_order_signs_and_orthonormal_factors(solver: str, seed: int, n: int, data: st.DataObject) -> None:
    counts = np.random.default_rng(seed).poisson(0.7, (n, n))
    counts[0, 0] += 1
    dim = data.draw(st.integers(1, n - 1 if solver == "arpack" else n))
    made = solved(counts, weight="log", solver=solver, dim=dim, eig=0.0)
    s, rank = made.singular_values, made.stats["rank"]
    assert (s[:-1] >= s[1:]).all() and (s >= 0).all() and rank == (s > 0).sum()
    largest = np.abs(made.vectors).argmax(axis=0)
    assert (made.vectors[largest, np.arange(dim)][:rank] > 0).all()
    for table in (made.vectors, made.contexts):
        assert np.abs(table[:, :rank].T @ table[:, :rank] - np.eye(rank)).max() < 2e-5
        assert not table[:, rank:].any()
    exact = np.linalg.svd(np.log1p(counts), compute_uv=False)[:dim]
    assert np.abs(s - exact).max() <= 2e-6 * exact[0]


def test_factors_with_flipped_signs_give_the_same_vectors() -> None:
    # user report S02: U and V may come with either sign; the product may not change
    from embcli.models.svd import Factors, scaled

    rng = np.random.default_rng(0)
    U, V, s = rng.standard_normal((9, 4)), rng.standard_normal((9, 4)), np.array([4.0, 3, 2, 1])
    flip = np.array([1, -1, -1, 1])
    a, b = scaled(Factors(U, s, V, 0, 0), 4, 0.5), scaled(Factors(U * flip, s, V * flip, 0, 0), 4, 0.5)
    assert a[0].tobytes() == b[0].tobytes() and a[2].tobytes() == b[2].tobytes()
    assert np.allclose(a[0] @ a[2].T, (U * s) @ V.T, atol=1e-5)
    # the sibling: flipping U alone is another product
    c = scaled(Factors(U * flip, s, V, 0, 0), 4, 0.5)
    assert not np.allclose(c[0] @ c[2].T, (U * s) @ V.T, atol=1e-5)


def test_of_equal_entries_the_first_is_positive() -> None:
    from embcli.models.svd import Factors, scaled

    U = np.array([[-0.5], [0.5], [0.5], [-0.5]])
    left, _, right = scaled(Factors(U, np.array([1.0]), U, 0, 0), 1, 0.5)
    assert left[:, 0].tolist() == right[:, 0].tolist() == [0.5, -0.5, -0.5, 0.5]


@settings(max_examples=20)
@given(seed=st.integers(0, 10_000), k=st.integers(1, 30))
def test_the_error_of_k_dimensions_is_the_sum_of_the_dropped_squares(seed: int, k: int) -> None:
    counts = np.random.default_rng(seed).poisson(0.5, (30, 30)) + np.eye(30)
    X = weighted(counts, "log")
    made = solved(counts, weight="log", dim=k, eig=0.5)
    error = ((X - made.vectors.astype(np.float64) @ made.contexts.T.astype(np.float64)) ** 2).sum()
    dropped = (np.linalg.svd(X, compute_uv=False)[k:] ** 2).sum()
    assert error == pytest.approx(dropped, abs=1e-5 * (X**2).sum())
    assert made.stats["explained"] == pytest.approx(1 - dropped / (X**2).sum(), abs=1e-6)


@pytest.mark.parametrize("weight", ["none", "log", "pmi", "ppmi"])
@settings(max_examples=25)
@given(seed=st.integers(0, 10_000), cds=st.floats(0.1, 1), shift=st.floats(1, 5))
def test_weights_equal_the_formula(weight: str, seed: int, cds: float, shift: float) -> None:
    rng = np.random.default_rng(seed)
    dense = rng.poisson(0.6, (12, 9)) / rng.choice([1, 3, 5])
    dense[0, 0] += 1
    counts, out = counts_of(dense), np.zeros(dense.shape)
    for _ in Weighted(counts, weight, cds, shift, Job()).blocks(
        lambda c, w: out.__setitem__((np.repeat(np.arange(len(c.sizes)), c.sizes) + c.first, c.columns), w)
    ):
        pass
    assert out == pytest.approx(weighted(dense, weight, cds, shift), abs=2e-12)
    if weight == "ppmi":
        assert (out >= 0).all()


def test_blocks_do_not_change_weights_or_marginals(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = counts_of(zipf(60, 60) / 5)

    def run(threads: int) -> tuple[Any, ...]:
        matrix = Weighted(counts, "ppmi", 0.75, 1.0, Job(threads=threads))
        weights = np.concatenate([*matrix.blocks(lambda cells, weights: weights)])
        return weights.tobytes(), matrix.squares, matrix.cells, matrix.margins.columns.tobytes()

    whole = run(1)
    monkeypatch.setattr(weighting, "CHUNK", 64)
    monkeypatch.setattr(weighting, "LEAST", 256)
    small = run(1)
    # other bounds may change the last bits of sums, other threads nothing
    assert small == run(2) == run(5)
    assert np.allclose(np.frombuffer(whole[0]), np.frombuffer(small[0]), rtol=0, atol=1e-12)
    assert whole[1] == pytest.approx(small[1]) and whole[2] == small[2]


def test_marginals_read_every_cell_once() -> None:
    dense = zipf(50, 40)
    margins = marginals(counts_of(dense), 0.5)
    assert margins.rows == pytest.approx(dense.sum(1)) and margins.columns == pytest.approx(dense.sum(0) ** 0.5)
    assert margins.total == pytest.approx((dense.sum(0) ** 0.5).sum())


@pytest.mark.parametrize("solver", SOLVERS)
def test_same_bits_at_any_number_of_threads_and_whatever_the_global_state(
    solver: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(weighting, "LEAST", 1000)
    monkeypatch.setattr(weighting, "CHUNK", 300)
    monkeypatch.setattr(basis, "ROWS", 64)
    counts = zipf(300, 300)
    first = digest(solved(counts, threads=1, solver=solver, dim=20))
    for threads in (1, 2, 5):
        np.random.seed(threads)  # noqa: NPY002  the point is that it does not matter
        assert digest(solved(counts, threads=threads, solver=solver, dim=20)) == first
    # the sibling: a cell more is another digest
    counts[299, 299] += 5
    assert digest(solved(counts, threads=1, solver=solver, dim=20)) != first


SEEDED = """
import hashlib, sys
sys.path.insert(0, "tests")
from svd_twin import solved, zipf
for solver in ("dense", "arpack", "krylov"):
    made = solved(zipf(200, 200), solver=solver, dim=12, seed=int(sys.argv[1]))
    arrays = [made.vectors, made.contexts, made.singular_values]
    print(hashlib.sha256(b"".join(a.tobytes() for a in arrays)).hexdigest())
"""


def fresh(seed: int, hashing: int) -> list[str]:
    """Return the digests of three solvers from a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", SEEDED, str(seed)],
        capture_output=True,
        text=True,
        check=True,
        cwd=environment()["PYTHONPATH"],
        env=environment(PYTHONHASHSEED=str(hashing), OPENBLAS_NUM_THREADS="1"),
    )
    return done.stdout.split()


def test_two_processes_give_the_same_bits_and_another_seed_only_another_start() -> None:
    first, second, other = fresh(0, 1), fresh(0, 2), fresh(3, 1)
    assert first == second
    assert first[0] == other[0]
    assert first[2] != other[2]


@pytest.mark.parametrize("solver", ["arpack", "krylov"])
def test_seeds_agree_where_values_lie_apart(solver: str) -> None:
    counts = np.abs(apart(0.8 ** np.arange(400), 400)) + 1e-9
    s = np.linalg.svd(counts, compute_uv=False)
    apart_enough = int(np.argmax(s[1:-1] / s[2:] < 1.02))
    dim = max(apart_enough, 3)
    a, b = (solved(counts, weight="none", solver=solver, dim=dim, seed=seed, eig=0.0) for seed in (0, 9))
    assert np.abs(a.singular_values / b.singular_values - 1).max() < 1e-5
    assert np.abs(a.vectors - b.vectors).max() < 1e-5


def test_too_few_steps_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(krylov, "STEPS", 5)
    said: list[str] = []
    made = solved(zipf(600, 600), warnings=said, solver="krylov", dim=60)
    assert any("stopped after 5 steps" in text for text in said)
    assert made.stats["residual"] > 1e-4


MEMORY = """
import sys
sys.path.insert(0, "tests")
import numpy as np
from scipy.sparse import random_array
from svd_twin import solved
from embcli.artifacts.schema import Counts, Words
V, cells = 30_000, 300_000
X = random_array((V, V), density=cells / V / V, rng=np.random.default_rng(0)).tocsr()
X.data[:] = np.random.default_rng(1).integers(1, 50, X.nnz)
counts = Counts(data=X.data, indices=X.indices.astype(np.int32), indptr=X.indptr.astype(np.int64),
    shape=np.array([V, V]), words=Words.of(map(str, range(V))), unigram=np.ones(V, np.int64))
dim = int(sys.argv[1])
made = solved(counts, dim=dim, weight="none")
assert made.options["solver"] == "krylov" and np.isfinite(made.vectors).all() and made.vectors.shape == (V, dim)
if len(sys.argv) > 2:
    np.ones((V, V // 8)).sum()
print(int(open('/proc/self/status').read().split('VmHWM:')[1].split()[0]) * 1024)
"""


def peak(*args: str) -> int:
    """Return the peak resident memory, in bytes, of a process that solves a large sparse matrix."""
    code = [sys.executable, "-c", MEMORY, *args]
    env = environment(OPENBLAS_NUM_THREADS="1")
    done = subprocess.run(code, capture_output=True, text=True, check=True, cwd=env["PYTHONPATH"], env=env)
    return int(done.stdout)


def test_a_large_sparse_matrix_stays_sparse() -> None:
    # user report S09; a dense matrix of 30,000 words is 7.2 GB
    assert peak("50") < 10**9


def test_an_eighth_of_the_dense_matrix_would_be_seen() -> None:
    assert peak("1", "and an eighth of the dense matrix, as float64") > 0.9 * 10**9


def test_memory_is_asked_for_before_it_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("embcli.job.free_memory", lambda: 1000)
    for solver in SOLVERS:
        with pytest.raises(InputError, match=r"svd of .* needs .* of memory"):
            solved(zipf(50, 50), solver=solver, dim=5)


def test_pages_are_given_back_and_cells_stay_what_they_were() -> None:
    counts = counts_of(zipf(20, 20))
    cells = read_cells(counts, 3, 9)
    assert isinstance(cells, Cells)
    weighting.give_back(counts, 3, 9)
    assert cells.values.tolist() == counts.data[counts.indptr[3] : counts.indptr[9]].tolist()
