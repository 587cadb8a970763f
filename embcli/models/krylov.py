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
from embcli.kernels.vectors16 import WIDTH
from embcli.models.basis import FLOOR, Basis, Floats, fill, orthonormalize
from embcli.models.sparse import Multiplies, Table

#: columns of a block. More need more columns in all (32: a quarter more) and no less time.
BLOCK = WIDTH
#: a singular value is done when |A^T u - s v| <= TOLERANCE * s
TOLERANCE = 1e-5
#: residuals shrink by at most this factor a step, so tests that cannot succeed are left out
PACE = 4.0
#: after random directions came in, the values must stay the same for so many steps
PATIENCE = 4
#: steps after which the values are taken as they are
STEPS = 2000


@dataclass(frozen=True)
class Found:
    """U (rows, k), s (k,) descending, V (columns, k), and how good they are.

    ``residual`` is the largest |A^T u - s v| as a share of the largest s: measured at both ends of the spectrum, from
    the recurrence between, where it is true but for rounding below 1e-6. |A v - s u| is rounding only.
    """

    U: Table
    s: Floats
    V: Table
    residual: float
    steps: int
    converged: bool


def limit(k: int) -> int:
    """Return about how many columns a basis may have before a restart; measured to cost no steps."""
    return k + max(k, 16 * BLOCK)


def factorize(A: Multiplies, At: Multiplies, k: int, seed: int, job: Job, tolerance: float = TOLERANCE) -> Found:
    """Return the k largest singular values of a matrix and their vectors.

    Each value is within ``tolerance`` of an exact one, relatively, but for those below FLOOR / tolerance of the
    largest: float32 knows them only to FLOOR of the largest.

    Parameters
    ----------
    A, At
        The matrix, not all zero, and its transpose.
    k
        1 to min(shape).
    seed
        Of the random start; equal seeds give equal bits.
    """
    run = _Run(A, At, k, tolerance, np.random.default_rng(seed), job)
    while not run.step():
        pass
    return run.result()


class _Run:
    """The state: A P = Q B, and A^T Q = P B^T + X [0 ... 0 L], where X is the next block of P."""

    def __init__(
        self, A: Multiplies, At: Multiplies, k: int, tolerance: float, rng: np.random.Generator, job: Job
    ) -> None:
        self.A, self.At, self.tolerance, self.rng, self.job = A, At, tolerance, rng, job
        self.Q, self.P = (Basis(M.live(), limit(k) + BLOCK, job) for M in (A, At))
        #: more values than rows or columns with cells are 0
        self.wanted, self.k = k, min(k, self.Q.room, self.P.room)
        self.B = np.zeros((0, 0))
        self.L: Floats | None = None
        self.Y: Table | None = None
        self.scale, self.residual = 0.0, np.inf
        self.steps = self.next_test = 0
        self.filled = self.converged = False
        self.seen = np.full(self.k, np.inf)
        start = rng.standard_normal((A.shape[0], BLOCK)).astype(np.float32)
        self.X = At.times(start, job)
        real = orthonormalize(self.X, self.P, 0.0)[0]
        self.real = fill(self.X, real, self.P, rng)

    def step(self) -> bool:
        """Add a block to both bases; return whether the k largest values are found."""
        self.steps += 1
        self.P.append(self.X, self.real)
        Y = self.Y = self.A.times(self.X, self.job, self.Y)
        real, H, R = self._next(Y, self.Q, self.L)
        self.B = np.block([[self.B, H], [np.zeros((BLOCK, len(self.B))), R]])
        self.Q.append(Y, real)
        self.At.times(Y, self.job, self.X)
        self.real, _, L = self._next(self.X, self.P, R)
        self.job.progress(self.steps, 0, "step")
        enough = min(self.Q.real.sum(), self.P.real.sum()) >= self.k
        due = self.steps >= min(self.next_test, STEPS) or not self.real
        if enough and due and self._tested(L):
            return True
        self.L = L
        if len(self.B) + BLOCK > limit(self.k):
            self._restart()
        return False

    def _next(self, Y: Table, basis: Basis, last: Floats | None) -> tuple[int, Floats, Floats]:
        """Make Y the next block of a basis; where it has no full rank, random directions come in."""
        real, H, R, size = orthonormalize(Y, basis, self.scale, None if last is None else last.T)
        self.scale = max(self.scale, size)
        if real < BLOCK:
            self.filled = True
            real = fill(Y, real, basis, self.rng)
        return real, H, R

    def _tested(self, L: Floats) -> bool:
        """Return whether all residuals are small enough; otherwise set when to look again."""
        B = self._small()
        squares, turn = np.linalg.eigh(B @ B.T)
        s = np.sqrt(np.maximum(squares[: -self.k - 1 : -1], 0))
        last = self._whole(turn[:, : -self.k - 1 : -1], self.Q)[-BLOCK:]
        left = np.linalg.norm(L @ last, axis=0)
        self.residual = float(left.max())
        over = float((left / np.maximum(self.tolerance * s, FLOOR * s[0])).max())
        if self.steps >= STEPS:
            return True
        if over > 1:
            self.next_test = self.steps + max(1, int(np.log(over) / np.log(PACE)))
            return False
        closed = not self.P.left or not (self.Q.left or L.any())
        same = bool((np.abs(s - self.seen) <= self.tolerance * s[0]).all())
        self.converged = not self.filled or closed or same
        self.seen, self.next_test = s, self.steps + PATIENCE
        return self.converged

    def _small(self) -> Floats:
        """Return B without the rows and columns that belong to zero columns of Q and P."""
        small: Floats = self.B[np.ix_(self.Q.real, self.P.real)]
        return small

    @staticmethod
    def _whole(table: Floats, basis: Basis) -> Floats:
        """Return a table whose rows are the columns of a basis that are not zero, with zeros for the others."""
        whole: Floats = np.zeros((basis.n, table.shape[1]))
        whole[basis.real] = table
        return whole

    def _ritz(self) -> tuple[Floats, Floats, Floats]:
        """Return the coordinates in Q and in P of all Ritz vectors, and the values between."""
        U, s, Vt = np.linalg.svd(self._small(), full_matrices=False)
        return self._whole(U, self.Q), s, self._whole(Vt.T, self.P)

    def _restart(self) -> None:
        """Keep the best Ritz vectors and drop the rest of the bases."""
        U, s, V = self._ritz()
        keep = min(self.k + (len(self.B) - self.k) // 3, len(s))
        self.Q.turn(U[:, :keep])
        self.P.turn(V[:, :keep])
        self.B, self.L = np.diag(s[:keep]), None

    def result(self) -> Found:
        """Return the Ritz values and vectors."""
        left, s, right = (part[..., : self.k] for part in self._ritz())
        U, V = self.Q.combine(left), self.P.combine(right)
        measured = max(self._residual(U, s, V, i) for i in {0, max(self.k - BLOCK, 0)})
        if self.wanted > self.k:
            more = (0, self.wanted - self.k)
            U, s, V = np.pad(U, ((0, 0), more)), np.pad(s, more), np.pad(V, ((0, 0), more))
        return Found(U, s, V, max(self.residual, measured) / float(s[0]), self.steps, self.converged)

    def _residual(self, U: Table, s: Floats, V: Table, start: int) -> float:
        """Return the largest |A^T u - s v| of a block's width of columns from ``start`` on."""
        part, width = np.zeros((len(U), BLOCK), np.float32), min(BLOCK, self.k - start)
        part[:, :width] = U[:, start : start + width]
        there = V[:, start : start + width] * s[start : start + width]
        return float(np.linalg.norm(self.At.times(part, self.job)[:, :width] - there, axis=0).max())
