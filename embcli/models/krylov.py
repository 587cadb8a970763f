"""The largest singular values and vectors of a sparse matrix by a block Krylov method.

Block Golub-Kahan bidiagonalisation (Golub, Luk and Overton 1981) with full reorthogonalisation, whose bases span the
block Krylov spaces of Musco and Musco (2015), with thick restarts (Baglama and Reichel 2006) and a stopping rule by
Ritz residuals. Tables are float32, small matrices float64. It is for a few hundred values of a large matrix; for most
of the values, or a small matrix, LAPACK is better (svd.py).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from embcli.job import Job
from embcli.models.basis import FLOOR, Basis, Floats, fill, orthonormalize
from embcli.models.sparse import SparseMatrix, Table

#: columns of a block: one cache line of a row
BLOCK = 16
#: a singular value is done when |A^T u - s v| <= TOLERANCE * s
TOLERANCE = 1e-5
#: residuals shrink by at most this factor a step, so that a test may be left out
PACE = 4.0
#: after random directions came in, values must stay the same for so many steps
PATIENCE = 4
#: steps after which the values are taken as they are
STEPS = 4000


@dataclass(frozen=True)
class Found:
    """U (rows, k), s (k,) descending, V (columns, k), the largest |A^T u - s v| / s, and the steps taken."""

    U: Table
    s: Floats
    V: Table
    residual: float
    steps: int


def limit(k: int) -> int:
    """Return how many columns a basis may have before a restart."""
    return max(8 * k, k + 48 * BLOCK)


def factorize(A: SparseMatrix, At: SparseMatrix, k: int, seed: int, job: Job) -> Found:
    """Return the k largest singular values of a matrix and their vectors.

    Values are within TOLERANCE of the exact ones, relatively, but for those below FLOOR of the largest.

    Parameters
    ----------
    A, At
        The matrix, not all zero, and its transpose.
    k
        1 to min(shape).
    seed
        Of the random start; equal seeds give equal bits.
    """
    run = _Run(A, At, k, np.random.default_rng(seed), job)
    while not run.step():
        pass
    return run.result()


class _Run:
    """The state: A P = Q B, and A^T Q = P B^T + X [0 ... 0 L], where X is the next block of P."""

    def __init__(self, A: SparseMatrix, At: SparseMatrix, k: int, rng: np.random.Generator, job: Job) -> None:
        self.A, self.At, self.k, self.rng, self.job = A, At, k, rng, job
        self.Q, self.P = Basis(A.shape[0], job), Basis(A.shape[1], job)
        self.B = np.zeros((0, 0))
        self.scale = 0.0
        self.steps = self.next_test = self.filled = 0
        self.residual, self.seen = np.inf, np.full(k, np.inf)
        start = rng.standard_normal((A.shape[0], BLOCK)).astype(np.float32)
        self.X = At.times(start, job)
        real = orthonormalize(self.X, self.P, 0.0)[0]
        self.real = fill(self.X, real, self.P, rng)

    def step(self) -> bool:
        """Add a block to both bases; return whether the k largest values are found."""
        self.P.append(self.X, self.real)
        Y = self.A.times(self.X, self.job)
        real, H, R = self._next(Y, self.Q)
        self.B = np.block([[self.B, H], [np.zeros((BLOCK, len(self.B))), R]])
        self.Q.append(Y, real)
        self.X = self.At.times(Y, self.job)
        self.real, _, L = self._next(self.X, self.P)
        self.steps += 1
        self.job.progress(self.steps, 0, "step")
        if self.steps >= self.next_test and len(self.B) >= self.k and self._tested(L):
            return True
        if len(self.B) + BLOCK > limit(self.k):
            self._restart()
        return False

    def _next(self, Y: Table, basis: Basis) -> tuple[int, Floats, Floats]:
        """Make Y the next block of a basis; where it has no full rank, random directions come in."""
        real, H, R, longest = orthonormalize(Y, basis, self.scale)
        self.scale = max(self.scale, longest)
        if real < BLOCK and real < (real := fill(Y, real, basis, self.rng)):
            self.filled = self.steps
        return real, H, R

    def _tested(self, L: Floats) -> bool:
        """Return whether all residuals are small enough; otherwise set when to look again."""
        squares, U = np.linalg.eigh(self.B @ self.B.T)
        s = np.sqrt(np.maximum(squares[: -self.k - 1 : -1], 0))
        left = np.linalg.norm(L @ U[-BLOCK:, : -self.k - 1 : -1], axis=0)
        self.residual = float((left / np.maximum(s, FLOOR / TOLERANCE * s[0])).max())
        over = self.residual / TOLERANCE
        print(self.steps, len(self.B), self.residual)
        if over > 1 and self.steps < STEPS:
            self.next_test = self.steps + max(1, int(np.log(over) / np.log(PACE)))
            return False
        whole = max(self.P.real, self.Q.real) >= min(self.A.shape)
        same = bool((np.abs(s - self.seen) <= TOLERANCE * s[0]).all())
        if self.filled == 0 or whole or same:
            return True
        self.seen, self.next_test = s, self.steps + PATIENCE
        return False

    def _restart(self) -> None:
        """Keep the best Ritz vectors and drop the rest of the bases."""
        U, s, Vt = np.linalg.svd(self.B)
        keep = -(-(self.k + (len(s) - self.k) // 3) // BLOCK) * BLOCK
        for basis, name, turn in ((self.Q, "Q", U), (self.P, "P", Vt.T)):
            kept = Basis(basis.rows, self.job)
            kept.append(basis.combine(turn[:, :keep]), min(keep, basis.real))
            setattr(self, name, kept)
        self.B = np.diag(s[:keep])

    def result(self) -> Found:
        """Return the Ritz values and vectors."""
        U, s, Vt = np.linalg.svd(self.B)
        k = self.k
        return Found(self.Q.combine(U[:, :k]), s[:k], self.P.combine(Vt[:k].T), self.residual, self.steps)
