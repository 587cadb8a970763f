"""Counts to word vectors: weigh the counts, factorise them, X = U S V^T, and scale (Levy, Goldberg and Dagan 2015).

Of document-term counts this is latent semantic analysis (Deerwester, Dumais, Furnas, Landauer and Harshman 1990).

The step ``embcli svd``. Weights are made by counts/weighting.py, large matrices are solved by krylov.py; here are the
choice of the solver, the two that are borrowed (LAPACK, ARPACK), and what all share: order, signs, scale, report.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embcli.artifacts.schema import Counts, Vectors
from embcli.counts.weighting import Cells, Floats, Weighted, automatic
from embcli.errors import NumbersError
from embcli.job import Job
from embcli.spec import SvdParams

#: matrices with no longer short side are solved by LAPACK: it takes a second and is exact
SMALL = 1024


@dataclass(frozen=True)
class Factors:
    """U (rows, k), s (k,) descending, V (columns, k).

    ``noise`` is the share of the largest value below which a value is rounding, ``residual`` the largest
    |A^T u - s v| as a share of the largest value.
    """

    U: NDArray[Any]
    s: Floats
    V: NDArray[Any]
    noise: float
    residual: float


class Matrix(Weighted):
    """The weighted counts, as the solvers need them."""

    def pair(self, k: int) -> tuple[Any, Any]:
        """Return the matrix in memory and its transpose, for k dimensions. Raises InputError if memory is short."""
        from embcli.models import krylov, sparse  # compiles: a small matrix need not wait for that

        tables = krylov.limit(k) + 3 * k + 4 * krylov.BLOCK
        need = 16 * sparse.padded_cells(self.counts.indptr, self.shape[1]) + 4 * tables * sum(self.shape)
        self.job.need(need, f"svd of {self.shape[0]:,} x {self.shape[1]:,} counts to {k:,} dimensions")

        def pack(cells: Cells, weights: Floats) -> sparse.RowBlock:
            return sparse.packed(cells, weights, self.shape[1])

        A = sparse.SparseMatrix(self.shape, [*self.blocks(pack)])
        return A, A.transposed(self.job) if self.cells else A


def factorize(inputs: list[Counts], params: SvdParams, job: Job, large: Callable[..., Matrix] = Matrix) -> Vectors:
    """Return word vectors from weighted counts X = U S V^T.

    Of word-word counts ``vectors`` are U S^eig and ``contexts`` V S^eig, with eig 0.5 unless it is given. Of
    document-term counts ``documents`` are U S^eig and ``vectors`` V S^eig (words), with eig 1.

    Parameters
    ----------
    inputs
        One counts artifact.
    params
        Weights (by default PPMI of words, TF-IDF of documents), dimensions, exponent, solver. More dimensions than
        words, or documents, are lowered with a warning.
    job
        Its seed is the start of the iterative solvers and decides nothing else.
    large
        Makes the matrix that the block Krylov method multiplies.

    Returns
    -------
    Vectors
        Singular values descend; in each column of U the entry of largest size, the first of equals, is positive.
        Dimensions beyond the rank are zeros, with a warning. ``stats``: solver, cells that are not 0, rank, residual,
        explained (the share of the squared weights that is kept).

    Raises
    ------
    UsageError : an option belongs to another weight than the one that was taken.
    InputError : the counts are damaged, or the work needs more memory than is free.
    NumbersError : all weights are 0, or a solver did not converge.
    """
    (counts,) = inputs
    name = counts.path or "counts"
    weight, eig = _automatic(counts, params)
    dim = _lowered(params.dim, counts, job)
    solver = _chosen(params.solver, dim, int(min(counts.shape)), job)
    kind = large if solver == "krylov" else Matrix
    matrix = kind(counts, weight, params.cds, params.shift, job, params.idf)
    try:
        factors = {"dense": _dense, "arpack": _arpack, "krylov": _krylov}[solver](matrix, dim, name)
    except (np.linalg.LinAlgError, ZeroDivisionError) as e:
        raise NumbersError(f"{name}: {solver} cannot solve these weights ({e}); try another --weight") from None
    rank = int((factors.s > factors.noise * factors.s[0]).sum())
    if rank < dim:
        job.warn(f"the weighted counts have rank {rank:,}: dimensions from {rank + 1:,} to {dim:,} are zeros")
    left, s, right = scaled(factors, rank, eig)
    words = counts.rows is None
    return Vectors(
        vectors=left if words else right,
        contexts=right if words else None,
        documents=None if words else left,
        words=counts.words,
        unigram=np.asarray(counts.unigram),
        singular_values=s,
        labels=counts.rows,
        text=dict(counts.text),
        options={"dim": dim, "solver": solver, "weight": weight, "eig": eig} | _unused(weight),
        stats={
            **({"documents": len(counts.rows)} if counts.rows is not None else {}),
            "words": len(counts.words),
            "solver": solver,
            "cells": matrix.cells,
            "rank": rank,
            "residual": factors.residual,
            "explained": min(float((s * s).sum()) / matrix.squares, 1.0),
        },
    )


def _automatic(counts: Counts, params: SvdParams) -> tuple[str, float]:
    """Return the weight and the exponent. Raises UsageError if an option belongs to another weight."""
    weight = params.weight or automatic(counts)
    eig = params.eig if params.eig is not None else (0.5 if counts.rows is None else 1.0)
    replace(params, weight=weight).check()  # type: ignore[arg-type]
    return weight, eig


def _unused(weight: str) -> dict[str, None]:
    """Return the options that take no part under a weight, as recorded: not at all."""
    names = () if weight in ("pmi", "ppmi") else ("shift", "cds")
    return dict.fromkeys((*names, *(() if weight == "tfidf" else ("idf",))))


def _lowered(dim: int, counts: Counts, job: Job) -> int:
    most = int(min(counts.shape))
    if dim > most > 0:
        what = "words" if most == len(counts.words) else "documents"
        job.warn(f"--dim {dim:,} is more than there are {what}; lowered to {most:,}")
        return most
    return dim


def _chosen(solver: str, dim: int, short: int, job: Job) -> str:
    """Return the solver: the one asked for if it can do the work, LAPACK for small matrices and most of the values."""
    if solver == "auto":
        return "dense" if short <= SMALL or 4 * dim >= short else "krylov"
    if solver == "arpack" and dim >= short:
        job.warn(f"arpack finds at most {short - 1:,} singular values of this matrix; solved by dense instead")
        return "dense"
    return solver


def scaled(factors: Factors, rank: int, eig: float) -> tuple[NDArray[np.float32], Floats, NDArray[np.float32]]:
    """Return U S^eig, S and V S^eig with fixed signs and zeros beyond the rank; float32, float64, float32."""
    s = np.where(np.arange(len(factors.s)) < rank, factors.s, 0.0)
    scale = np.where(s > 0, np.power(s, eig, where=s > 0, out=np.ones_like(s)), 0.0)
    left, right = (
        (table * scale.astype(table.dtype)).astype(np.float32, order="C", copy=False)
        for table in (factors.U, factors.V)
    )
    largest = np.abs(left).argmax(axis=0)
    flip = np.where(left[largest, np.arange(len(s))] < 0, np.float32(-1), np.float32(1))
    left *= flip
    right *= flip
    return left, s, right


def _solvable(matrix: Matrix, name: str) -> None:
    """Raise NumbersError if all weights are 0, or float32 cannot hold them."""
    if matrix.cells and not 1e-30 < matrix.squares**0.5 < 1e30:
        raise NumbersError(f"{name}: the {matrix.weight} weights are too large or too small; use --weight ppmi")
    if matrix.cells:
        return
    if not len(matrix.counts.data):
        raise NumbersError(f"{name}: holds no counts; make them with a larger window or from more text")
    why = f"all {len(matrix.counts.data):,} cells have {matrix.weight} weight 0; use --weight log or a lower --shift"
    if matrix.weight == "tfidf":
        why = "every word stands in all rows, so all tfidf weights are 0; use --idf smooth"
    raise NumbersError(f"{name}: nothing to factorise: {why}")


def _krylov(matrix: Matrix, k: int, name: str) -> Factors:
    """Solve by the block Krylov method, in float32 on all threads."""
    from embcli.models import krylov
    from embcli.models.basis import FLOOR

    A, At = matrix.pair(k)
    _solvable(matrix, name)
    found = krylov.factorize(A, At, k, matrix.job.seed, matrix.job)
    if not found.converged:
        matrix.job.warn(
            f"krylov: stopped after {found.steps:,} steps, residual {found.residual:.1e}; the spectrum is flat"
        )
    return Factors(found.U, found.s, found.V, FLOOR, found.residual)


def _dense(matrix: Matrix, k: int, name: str) -> Factors:
    """Solve by LAPACK's divide and conquer, in float64."""
    rows, columns = matrix.shape
    need = 8 * (rows * columns + 4 * min(rows, columns) * max(rows, columns))
    matrix.job.need(need, f"dense svd of {rows:,} x {columns:,} counts (--solver krylov with a lower --dim takes less)")
    A = np.zeros(matrix.shape)

    def put(cells: Cells, weights: Floats) -> None:
        A[np.repeat(np.arange(len(cells.sizes)), cells.sizes) + cells.first, cells.columns] = weights

    for _ in matrix.blocks(put):
        pass
    _solvable(matrix, name)
    try:
        U, s, Vt = np.linalg.svd(A, full_matrices=False)
    except np.linalg.LinAlgError as e:
        raise NumbersError(f"{name}: LAPACK: {e}; use --solver krylov") from None
    U, s, V = U[:, :k], s[:k], Vt[:k].T
    U[~A.any(axis=1)], V[~A.any(axis=0)] = 0, 0  # words without weights are zero, not what rounding leaves
    return Factors(U, s, V, max(matrix.shape) * float(np.finfo(float).eps), _residual(A.T @ U, s, V))


def _arpack(matrix: Matrix, k: int, name: str) -> Factors:
    """Solve by ARPACK on the product with the transpose, as SciPy's ``svds`` does, from a seeded start."""
    from scipy.sparse import csr_array
    from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

    job, counts = matrix.job, matrix.counts
    need = 24 * len(counts.data) + 8 * sum(matrix.shape) * (2 * k + 20)
    job.need(need, f"svd of {matrix.shape[0]:,} x {matrix.shape[1]:,} counts to {k:,} dimensions")
    weights = np.concatenate([np.zeros(0), *matrix.blocks(lambda cells, weights: weights)])
    _solvable(matrix, name)
    A = csr_array((weights, np.array(counts.indices), np.array(counts.indptr)), shape=matrix.shape)
    A.eliminate_zeros()
    tall = matrix.shape[0] >= matrix.shape[1]
    A = A if tall else A.T
    rng, n = np.random.default_rng(job.seed), A.shape[1]
    gram = LinearOperator((n, n), matvec=lambda x: A.T @ (A @ x), dtype=np.float64)
    seeded = {"rng": rng} if "rng" in inspect.signature(eigsh).parameters else {}
    try:
        found = eigsh(gram, k, v0=rng.standard_normal(n), **seeded)[1]
    except ArpackError as e:
        raise NumbersError(f"{name}: ARPACK: {e}; use --solver krylov") from None
    basis = np.linalg.qr(found)[0]
    U, s, turn = np.linalg.svd(A @ basis, full_matrices=False)
    V = basis @ turn.T
    U[np.diff(A.tocsr().indptr) == 0], V[np.diff(A.tocsc().indptr) == 0] = 0, 0  # as above
    residual = _residual(A.T @ U, s, V)
    return Factors(U, s, V, 1e-7, residual) if tall else Factors(V, s, U, 1e-7, residual)


def _residual(back: Any, s: Floats, V: Any) -> float:
    """Return the largest |A^T u - s v| as a share of the largest singular value."""
    return float(np.linalg.norm(back - V * s, axis=0).max() / s[0])
