"""Orthonormal columns that grow block by block: the bases of the block Krylov method (krylov.py).

Tables are float32 and are worked on in pieces of rows fixed by their number, so that sums have one order whatever the
number of threads; sums of pieces are float64. Not a QR factorisation of a finished matrix: LAPACK has that.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embcli.job import Job
from embcli.kernels.vectors16 import aligned
from embcli.models.sparse import Table

Floats = NDArray[np.float64]

#: rows that one task works on
ROWS = 4096
#: a pass that found more than this share of the shortest column within the basis is followed by another
LOSS = 1e-2
#: what float32 can tell from nothing, as a share of the largest length
FLOOR = 1e-6


class Basis:
    """Orthonormal columns, at most ``capacity`` of them, that are zero outside the rows where ``live`` is true.

    A column may be zero, where there was no further direction: ``real`` says which are not. Columns are kept as the
    rows of a table, each in one piece, which products are a third faster with; memory is taken as they come.
    """

    def __init__(self, live: NDArray[np.bool_], capacity: int, job: Job) -> None:
        self.live, self.rows, self.room, self.job = live, len(live), int(live.sum()), job
        self.table = np.empty((capacity, self.rows), np.float32)
        self.real = np.zeros(0, np.bool_)

    @property
    def n(self) -> int:
        """How many columns there are."""
        return len(self.real)

    @property
    def left(self) -> int:
        """How many directions are not in the basis yet."""
        return self.room - int(self.real.sum())

    def append(self, block: Table, real: int) -> None:
        """Add the columns of a block, the first ``real`` of which are not zero."""
        start = self.n
        self.real = np.concatenate((self.real, np.arange(block.shape[1]) < real))

        def work(cut: slice) -> None:
            self.table[start : self.n, cut] = block[cut].T

        _finish(self.job.map(work, _cuts(self.rows)))

    def project(self, Y: Table, near: Floats | None = None) -> tuple[Floats, float, Floats]:
        """Subtract from Y its part within the basis, in place.

        Parameters
        ----------
        Y : shape (rows, b).
        near : shape (m, b), the coordinates in the last m columns where they are known. They are large, and that part
            must go first: a large coefficient times what its column lacks in orthogonality would come in faster than
            one pass over all columns takes it out.

        Returns
        -------
        all coordinates (n, b), the length of those that were not known, and Y^T Y after it.
        """
        b, cuts, columns = Y.shape[1], [*_cuts(self.rows)], self.table[: self.n]
        known = None if near is None else np.ascontiguousarray(near.T, np.float32)

        def inside(cut: slice) -> Table:
            if known is not None:
                Y[cut] -= (known @ columns[-known.shape[1] :, cut]).T
            return columns[:, cut] @ Y[cut]

        H = _sum(self.job.map(inside, cuts), (self.n, b))
        rest = np.ascontiguousarray(H.T, np.float32)

        def outside(cut: slice) -> Floats:
            Y[cut] -= (rest @ columns[:, cut]).T
            wide = Y[cut].astype(np.float64)
            return wide.T @ wide

        gram = _sum(self.job.map(outside, cuts), (b, b))
        found = float(np.linalg.norm(H))
        if near is not None:
            H[-len(near) :] += near
        return H, found, gram

    def combine(self, weights: Floats) -> Table:
        """Return basis @ weights, float32, shape (rows, k), for weights of shape (n, k)."""
        out, small = aligned(self.rows, weights.shape[1]), np.ascontiguousarray(weights.T, np.float32)

        def work(cut: slice) -> None:
            out[cut] = (small @ self.table[: self.n, cut]).T

        _finish(self.job.map(work, _cuts(self.rows)))
        return out

    def turn(self, weights: Floats) -> None:
        """Replace the columns by basis @ weights, orthonormal ones, in place."""
        small = np.ascontiguousarray(weights.T, np.float32)

        def work(cut: slice) -> None:
            self.table[: len(small), cut] = small @ self.table[: self.n, cut]

        _finish(self.job.map(work, _cuts(self.rows)))
        self.real = np.ones(len(small), np.bool_)


def orthonormalize(
    Y: Table, basis: Basis, scale: float, near: Floats | None = None
) -> tuple[int, Floats, Floats, float]:
    """Make the columns of Y orthonormal, and orthogonal to the basis, in place.

    Y as it was is basis @ H + Y R up to rounding. Directions shorter than 1e-6 of ``scale`` (or of the longest) are
    rounding: they become zero columns, which stand last, with zero rows of R. Lengths are the eigenvalues of Y^T Y in
    float64 (a Cholesky QR that shows the rank). A pass that found much is followed by another ("twice is enough",
    Daniel, Gragg, Kaufman and Stewart 1976). ``near`` is as in ``Basis.project``.

    Returns
    -------
    the number of columns that are not zero, H (n, b), R (b, b), and about the length of Y.
    """
    b = Y.shape[1]
    H, R, size = np.zeros((basis.n, b)), np.eye(b), 0.0
    while True:
        inside, found, gram = basis.project(Y, near)
        H += inside @ R
        squares, turn = np.linalg.eigh(gram)
        lengths, turn = np.sqrt(np.maximum(squares[::-1], 0)), turn[:, ::-1]
        least = 0.5
        if size == 0:
            size = float(np.hypot(lengths[0], np.linalg.norm(inside)))
            least = FLOOR * max(scale, size)
        real = int((lengths > least).sum())
        inverse = np.zeros(b)
        inverse[:real] = 1 / lengths[:real]
        _turn(Y, turn * inverse, basis.job)
        R = np.where(inverse > 0, lengths, 0)[:, None] * turn.T @ R
        if real == 0 or found <= LOSS * lengths[real - 1]:
            return real, H, R, size
        near = None


def fill(Y: Table, real: int, basis: Basis, rng: np.random.Generator) -> int:
    """Put random directions, orthogonal to the basis, in place of the zero columns of Y, which are from ``real`` on.

    Returns how many columns are not zero now: the space may have no room for all.
    """
    want: int = min(Y.shape[1] - real, basis.left - real)
    if want <= 0:
        return real
    there = Y[:, :real].copy()
    Z = rng.standard_normal((basis.rows, want)).astype(np.float32)
    for _ in range(3):
        basis.project(Z)
        Z -= there @ (there.T @ Z)
        Z[~basis.live] = 0
        Z = np.linalg.qr(Z)[0]
    Z[~basis.live] = 0
    Y[:, real : real + want] = Z
    return real + want


def _turn(Y: Table, matrix: Floats, job: Job) -> None:
    """Set Y to Y @ matrix, computed in float64."""

    def work(cut: slice) -> None:
        Y[cut] = Y[cut].astype(np.float64) @ matrix

    _finish(job.map(work, _cuts(len(Y))))


def _cuts(rows: int) -> Iterator[slice]:
    """Yield the pieces of rows."""
    return (slice(a, min(a + ROWS, rows)) for a in range(0, rows, ROWS))


def _finish(work: Iterable[None]) -> None:
    """Wait for all of the work."""
    for _ in work:
        pass


def _sum(parts: Iterable[NDArray[Any]], shape: tuple[int, int]) -> Floats:
    """Add arrays in their order."""
    total = np.zeros(shape)
    for part in parts:
        total += part
    return total
