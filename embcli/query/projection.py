"""From rows in many dimensions to places on a plane: principal components, t-SNE, and one map turned onto another.

Points come as float64 (n, d). Nothing here draws: see report/plots.py and report/page.py.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from embcli.errors import InputError
from embcli.query.topk import Floats, Ints

#: t-SNE is given no more than this many principal components: what is beyond is noise, and costs time
_COMPONENTS = 50
#: magnitudes this close count as equal when a sign is chosen
_EQUAL = 1 - 1e-9


@dataclass(frozen=True)
class Plane:
    """A plane through points of d dimensions.

    mean : (d,), the point that lies at (0, 0).  axes : (d, 2), orthonormal columns, or zeros where points do not vary.
    shares : of the points' variance along each axis, from 0 to 1.
    """

    mean: Floats
    axes: Floats
    shares: tuple[float, float]

    def place(self, points: Floats) -> Floats:
        """Return the places (n, 2) of points (n, d)."""
        placed: Floats = (points - self.mean) @ self.axes
        return placed


def principal(points: Floats) -> Plane:
    """Return the plane of the first two principal components of points (n, d).

    Of each axis the point that lies farthest out is on the positive side (of equally far ones the first), as in svd.
    """
    mean = points.mean(0)
    axes, values = _directions(points - mean, 2)
    placed = (points - mean) @ axes
    axes = axes * _signs(placed)
    total = float(((points - mean) ** 2).sum())
    shares = [float(value) / total if total > 0 else 0.0 for value in values]
    return Plane(mean, axes, (shares[0], shares[1]))


def _directions(centred: Floats, k: int) -> tuple[Floats, Floats]:
    """Return the k principal directions, (d, k), and the sums of squares along them, descending; zeros where none."""
    n, d = centred.shape
    axes, sums = np.zeros((d, k)), np.zeros(k)
    few = n < d  # the smaller of the two products has the same spectrum
    values, found = np.linalg.eigh(centred @ centred.T if few else centred.T @ centred)
    values, found = values[::-1][:k], found[:, ::-1][:, :k]
    there = values > 1e-12 * max(float(values[0]), 0.0) if len(values) else np.zeros(0, np.bool_)
    for i in np.flatnonzero(there).tolist():
        axis = centred.T @ found[:, i] if few else found[:, i]
        axes[:, i], sums[i] = axis / np.sqrt((axis * axis).sum()), values[i]
    return axes, sums


def _signs(placed: Floats) -> Floats:
    """Return the sign of the first point in each column that is as far out as any."""
    size = np.abs(placed)
    first = (size >= _EQUAL * size.max(0, initial=0)).argmax(0)
    return np.where(placed[first, np.arange(placed.shape[1])] < 0, -1.0, 1.0)


def neighborly(points: Floats, perplexity: float | None, seed: int) -> Floats:
    """Return places (n, 2) by t-SNE (van der Maaten and Hinton 2008; Barnes-Hut, 2014), through scikit-learn.

    It starts from principal components, so the map is alike from seed to seed, and runs on one thread, so it is the
    same whatever the machine. ``perplexity`` None is 30, or a third of the points where they are few.

    Raises InputError if scikit-learn is not installed, or perplexity is not below the number of points.
    """
    try:
        from sklearn.manifold import TSNE
    except ImportError:
        raise InputError("--tsne needs scikit-learn, which is not installed: pip install 'embcli[tsne]'") from None
    n = len(points)
    if n < 4:
        raise InputError(f"--tsne: lays out at least 4 words, found {n}")
    wanted = min(30.0, max((n - 1) / 3, 1.0)) if perplexity is None else perplexity
    if not wanted < n:
        raise InputError(f"--perplexity {wanted:g}: must be below the number of words, {n:,}")
    centred = points - points.mean(0)
    if centred.shape[1] > _COMPONENTS:
        centred = centred @ _directions(centred, _COMPONENTS)[0]
    start = centred @ _directions(centred, 2)[0]
    spread = float(start[:, 0].std())
    start = (start / spread * 1e-4 if spread > 0 else np.random.default_rng(seed).normal(0, 1e-4, (n, 2))).astype(
        np.float32
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = TSNE(perplexity=wanted, init=start, learning_rate="auto", random_state=seed, n_jobs=1)
        placed: Floats = np.asarray(made.fit_transform(centred.astype(np.float32)), np.float64)
    return placed


def turned(placed: Floats, onto: Floats, mine: Ints, theirs: Ints) -> Floats:
    """Return places (n, 2) turned, and mirrored if need be, so that the rows ``mine`` lie towards ``onto[theirs]``.

    Orthogonal Procrustes about the means (Schoenemann 1966): distances within the map stay as they are.
    """
    if not len(mine):
        return placed
    a, b = placed[mine], onto[theirs]
    u, _, vt = np.linalg.svd((a - a.mean(0)).T @ (b - b.mean(0)))
    made: Floats = placed @ (u @ vt)
    return made


def unit(points: NDArray[np.floating]) -> Floats:
    """Return points (n, d) at length 1 in float64; zero rows stay zero."""
    wide = points.astype(np.float64)
    lengths = np.linalg.norm(wide, axis=1, keepdims=True)
    made: Floats = wide / np.where(lengths > 0, lengths, 1)
    return made


def shared(names: Sequence[str], others: Sequence[str]) -> tuple[Ints, Ints]:
    """Return the places of names that stand in both lists, in the order of the first."""
    where = {name: i for i, name in enumerate(others)}
    pairs = [(i, where[name]) for i, name in enumerate(names) if name in where]
    found = np.array(pairs, np.int64).reshape(-1, 2)
    return found[:, 0], found[:, 1]
