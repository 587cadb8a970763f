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
from embcli.models.sparse import Table, aligned

Floats = NDArray[np.float64]

#: rows that one task works on
ROWS = 4096
#: a pass that found more than this share of the shortest column within the basis is followed by another
LOSS = 1e-2
#: what float32 can tell from nothing, as a share of the largest length
FLOOR = 1e-6


class Basis:
    """Orthonormal columns of length ``rows``, in blocks of ``width``.

    A column may be zero, where there was no further direction: ``n`` columns are there, ``real`` of them not zero.
    """

    def __init__(self, rows: int, width: int, job: Job) -> None:
        self.rows, self.width, self.job = rows, width, job
        self.blocks: list[Table] = []
        self.real = 0

    @property
    def n(self) -> int:
        """How many columns there are."""
        return len(self.blocks) * self.width

    def append(self, block: Table, real: int) -> None:
        """Take a block in (not a copy of it); ``real`` of its columns are not zero."""
        self.blocks.append(block)
        self.real += real

    def project(self, Y: Table, near: Floats | None = None) -> tuple[Floats, float, Floats]:
        """Subtract from Y its part within the basis, in place.

        Parameters
        ----------
        Y : shape (rows, b).
        near : shape (width, b), the coordinates in the last block where they are known. They are large, and that part
            must go first: a large coefficient times what its column lacks in orthogonality would come in faster than
            one pass over all columns takes it out.

        Returns
        -------
        all coordinates (n, b), the length of those that were not known, and Y^T Y after it.
        """
        b, cuts = Y.shape[1], [*_cuts(self.rows)]
        known = None if near is None else near.astype(np.float32)

        def inside(cut: slice) -> Table:
            if known is not None:
                Y[cut] -= self.blocks[-1][cut] @ known
            return np.concatenate([block[cut].T @ Y[cut] for block in self.blocks] or [Y[:0]])

        H = _sum(self.job.map(inside, cuts), (self.n, b))
        rest = H.astype(np.float32)

        def outside(cut: slice) -> Floats:
            for i, block in enumerate(self.blocks):
                Y[cut] -= block[cut] @ rest[i * self.width : (i + 1) * self.width]
            wide = Y[cut].astype(np.float64)
            return wide.T @ wide

        gram = _sum(self.job.map(outside, cuts), (b, b))
        found = float(np.linalg.norm(H))
        if near is not None:
            H[-self.width :] += near
        return H, found, gram

    def combine(self, weights: Floats) -> Table:
        """Return basis @ weights, float32, shape (rows, k), for weights of shape (n, k)."""
        out, small = aligned(self.rows, weights.shape[1]), weights.astype(np.float32)

        def work(cut: slice) -> None:
            out[cut] = np.concatenate([block[cut] for block in self.blocks], axis=1) @ small

        _finish(self.job.map(work, _cuts(self.rows)))
        return out

    def turned(self, weights: Floats) -> Basis:
        """Return a basis of the columns basis @ weights; there must be a multiple of ``width`` of them."""
        table, made = self.combine(weights), Basis(self.rows, self.width, self.job)
        for i in range(0, table.shape[1], self.width):
            block = aligned(self.rows, self.width)
            block[:] = table[:, i : i + self.width]
            made.append(block, int(block.any(axis=0).sum()))
        return made


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
    want: int = min(Y.shape[1] - real, basis.rows - basis.real - real)
    if want <= 0:
        return real
    there = Y[:, :real].copy()
    Z = rng.standard_normal((basis.rows, want)).astype(np.float32)
    for _ in range(3):
        basis.project(Z)
        Z -= there @ (there.T @ Z)
        Z = np.linalg.qr(Z)[0]
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
