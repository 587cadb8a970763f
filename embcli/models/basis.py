"""Orthonormal columns that grow block by block: the bases of the block Krylov method (krylov.py).

Tables are float32 and cut into blocks of rows fixed by their number, so that sums have one order whatever the number
of threads; sums over rows are carried in float64. Not a QR factorisation of a finished matrix: LAPACK has that.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embcli.job import Job
from embcli.models.sparse import Table, aligned

Floats = NDArray[np.float64]

#: rows that one task works on
ROWS = 4096
#: columns of a panel; memory is taken a panel at a time
PANEL = 128
#: a pass that found more than this share of the shortest column within the basis is followed by another
LOSS = 1e-2
#: what float32 can tell from nothing, as a share of the largest length
FLOOR = 1e-6


class Basis:
    """Orthonormal columns of length ``rows``. A column may be zero where there was no further direction.

    ``n`` columns are there, ``real`` of them not zero.
    """

    def __init__(self, rows: int, job: Job) -> None:
        self.rows, self.job = rows, job
        self.panels: list[Table] = []
        self.n = self.real = 0

    def append(self, block: Table, real: int) -> None:
        """Add the columns of a block, ``real`` of which are not zero."""
        done, width = 0, block.shape[1]
        while done < width:
            used = self.n % PANEL
            if used == 0:
                self.panels.append(aligned(self.rows, PANEL))
            take = min(PANEL - used, width - done)
            self.panels[-1][:, used : used + take] = block[:, done : done + take]
            self.n += take
            done += take
        self.real += real

    def _views(self) -> Iterator[Table]:
        """Yield the filled part of each panel."""
        for i, panel in enumerate(self.panels):
            yield panel[:, : min(PANEL, self.n - i * PANEL)]

    def project(self, Y: Table) -> tuple[Floats, float, Floats]:
        """Subtract from Y its part within the basis, in place.

        The part within the last columns, which the recurrence makes large, goes first: a large coefficient times what
        its column lacks in orthogonality would come in faster than one pass over all columns takes it out.

        Returns
        -------
        the part's coordinates (n, b), the length of what the pass over all columns still found, and Y^T Y after it.
        """
        b, views, cuts = Y.shape[1], list(self._views()), [*_cuts(self.rows)]
        last = views[-1][:, -b:] if views else Y[:, :0]
        near = _sum(self.job.map(lambda cut: last[cut].T @ Y[cut], cuts), (last.shape[1], b))
        first = near.astype(np.float32)

        def inside(cut: slice) -> Table:
            Y[cut] -= last[cut] @ first
            return np.concatenate([view[cut].T @ Y[cut] for view in views] or [near])

        H = _sum(self.job.map(inside, cuts), (self.n, b))
        rest = H.astype(np.float32)

        def outside(cut: slice) -> Floats:
            for i, view in enumerate(views):
                Y[cut] -= view[cut] @ rest[i * PANEL : (i + 1) * PANEL]
            wide = Y[cut].astype(np.float64)
            return wide.T @ wide

        gram = _sum(self.job.map(outside, cuts), (b, b))
        found = float(np.linalg.norm(H))
        H[self.n - len(near) :] += near
        return H, found, gram

    def combine(self, weights: Floats) -> Table:
        """Return basis @ weights, float32, shape (rows, k), for weights of shape (n, k)."""
        out, views = aligned(self.rows, weights.shape[1]), list(self._views())
        small = weights.astype(np.float32)

        def work(cut: slice) -> None:
            out[cut] = 0
            for i, view in enumerate(views):
                out[cut] += view[cut] @ small[i * PANEL : (i + 1) * PANEL]

        for _ in self.job.map(work, _cuts(self.rows)):
            pass
        return out


def orthonormalize(Y: Table, basis: Basis, scale: float) -> tuple[int, Floats, Floats, float]:
    """Make the columns of Y orthonormal, and orthogonal to the basis, in place.

    Y as it was is basis @ H + Y R up to rounding. Directions shorter than 1e-6 of ``scale`` (or of the longest) are
    rounding: they become zero columns, which stand last, with zero rows of R. Lengths come from the eigenvalues of
    Y^T Y in float64 (a Cholesky QR that shows the rank); it is done twice where digits were lost (Daniel, Gragg,
    Kaufman and Stewart 1976).

    Returns
    -------
    the number of columns that are not zero, H (n, b), R (b, b), and the length of the longest direction of Y.
    """
    b = Y.shape[1]
    H, R, longest = np.zeros((basis.n, b)), np.eye(b), 0.0
    while True:
        inside, found, gram = basis.project(Y)
        H += inside @ R
        squares, turn = np.linalg.eigh(gram)
        lengths, turn = np.sqrt(np.maximum(squares[::-1], 0)), turn[:, ::-1]
        least = 0.5
        if longest == 0:
            longest = float(np.hypot(lengths[0], np.linalg.norm(inside)))
            least = FLOOR * max(scale, longest)
        real = int((lengths > least).sum())
        inverse = np.zeros(b)
        inverse[:real] = 1 / lengths[:real]
        _turn(Y, turn * inverse, basis.job)
        R = np.where(inverse > 0, lengths, 0)[:, None] * turn.T @ R
        if real == 0 or found <= LOSS * lengths[real - 1]:
            return real, H, R, longest


def fill(Y: Table, real: int, basis: Basis, rng: np.random.Generator) -> int:
    """Replace zero columns of Y (from ``real`` on) by random directions that are orthogonal to all; return how many
    columns are not zero now. The space may have no room for all."""
    want = min(Y.shape[1] - real, basis.rows - basis.real - real)
    if want <= 0:
        return real
    kept = Y[:, :real].copy()
    Z = rng.standard_normal((basis.rows, want)).astype(np.float32)
    for _ in range(3):
        basis.project(Z)
        Z -= kept @ (kept.T @ Z)
        Z = np.linalg.qr(Z)[0]
    Y[:, real : real + want] = Z
    return real + want


def _turn(Y: Table, matrix: Floats, job: Job) -> None:
    """Set Y to Y @ matrix, computed in float64."""

    def work(cut: slice) -> None:
        Y[cut] = Y[cut].astype(np.float64) @ matrix

    for _ in job.map(work, _cuts(len(Y))):
        pass


def _cuts(rows: int) -> Iterator[slice]:
    """Yield the blocks of rows."""
    return (slice(a, min(a + ROWS, rows)) for a in range(0, rows, ROWS))


def _sum(parts: Any, shape: tuple[int, int]) -> Floats:
    """Add arrays in their order."""
    total = np.zeros(shape)
    for part in parts:
        total += part
    return total
