"""k-means of rows at unit length: k-means++ seeding and Lloyd's iterations, by blocked products.

Rounds and bounds depend on the rows, k and the seed only, never on threads. What clusters mean is clusters.py.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from embcli.job import Job
from embcli.query.topk import Floats, Ints

#: rounds at most and at least, and the share of the inertia that a round must save for another to follow
ROUNDS, FEWEST, SAVED = 100, 3, 1e-5
#: products of numbers (rows x clusters x dimensions) of all rounds together, where they are more than the fewest
PRODUCTS = 5e12
#: centers that are chosen one after the other
CAREFUL = 1024
#: squared distances below this are float32 rounding
_SAME = 1e-6
#: numbers of a block of scores
_NUMBERS = 1 << 20


@dataclass(frozen=True)
class Partition:
    """Clusters of n rows.

    centers : (k, d), the mean of each cluster's rows; no cluster is empty.  labels : (n,), the cluster of each row.
    inertia : sum of squared distances of rows to their centers.  rounds : iterations made.
    """

    centers: Floats
    labels: Ints
    inertia: float
    rounds: int


def kmeans(units: NDArray[np.float32], k: int, seed: int, job: Job) -> Partition:
    """Cluster rows of length 1.

    Parameters
    ----------
    units
        (n, d), n >= 1, every row of length 1.
    k
        Clusters wanted, >= 1; fewer are made where there are fewer different rows.
    seed
        Of the seeding.
    job
        Its threads share the rows.

    Notes
    -----
    Seeding: k-means++ (Arthur and Vassilvitskii 2007), the best of 2 + log k candidates each time; beyond 1,024 centers
    the others are drawn at once, by the same distances. A cluster that loses all rows takes the row that is farthest
    from its center. It ends when no row changes, when a round saves less than 1e-5 of the inertia, or after 100 rounds;
    after fewer, but 3 at least, where n k d times the rounds would exceed 5e12.
    """
    centers = units[_seeds(units, k, np.random.default_rng(seed), job)].astype(np.float64)
    sums, sizes = np.zeros_like(centers), np.zeros(len(centers), np.int64)
    labels = np.full(len(units), -1, np.int64)
    before, rounds = math.inf, 0
    for rounds in range(1, _bound(units, len(centers)) + 1):
        new, far = _assign(units, centers, job, (rounds - 1) * len(units))
        _refill(new, far, len(centers))
        changed = np.flatnonzero(new != labels)
        _move(units, changed, labels, new, sums, sizes)
        labels, inertia = new, float(far.sum())
        if not len(changed) or before - inertia < SAVED * inertia:
            break
        centers = sums / np.maximum(sizes, 1)[:, None]
        before = inertia
    return _finished(units, sums, sizes, labels, rounds, job)


def _bound(units: NDArray[np.float32], k: int) -> int:
    """Return how many rounds there may be."""
    return min(ROUNDS, max(FEWEST, int(PRODUCTS / max(units.size * k, 1))))


def _finished(units: NDArray[np.float32], sums: Floats, sizes: Ints, labels: Ints, rounds: int, job: Job) -> Partition:
    """Return the clusters that hold rows, each with the mean of its rows."""
    kept = np.flatnonzero(sizes)
    place = np.zeros(len(sizes), np.int64)
    place[kept] = np.arange(len(kept))
    centers, labels = sums[kept] / sizes[kept][:, None], place[labels]

    def work(span: tuple[int, int]) -> float:
        apart = units[slice(*span)] - centers[labels[slice(*span)]]
        return float(np.einsum("ij,ij->", apart, apart))

    return Partition(centers, labels, sum(job.map(work, _spans(len(units), units.shape[1]))), rounds)


def _spans(n: int, width: int) -> Iterator[tuple[int, int]]:
    """Yield blocks of n rows with ``width`` numbers each."""
    rows = max(min(8192, _NUMBERS // max(width, 1)), 64)
    for start in range(0, n, rows):
        yield start, min(start + rows, n)


def _seeds(units: NDArray[np.float32], k: int, rng: np.random.Generator, job: Job) -> Ints:
    """Return the rows of the first centers, at most k: rows that differ from all the others, the farther the likelier.

    Of several candidates the one that leaves the least sum of squared distances is taken; after the first ``CAREFUL``
    rows the others are drawn together.
    """
    careful, trials = min(k, CAREFUL), 2 + int(math.log(k))
    chosen = [int(rng.integers(len(units)))]
    nearest = np.full(len(units), 4.0, np.float32)
    picks = np.array(chosen)
    spans = list(_spans(len(units), max(units.shape[1], trials)))

    def work(span: tuple[int, int]) -> NDArray[np.float32]:
        apart = 2 - 2 * (units[picks] @ units[slice(*span)].T)
        apart[apart < _SAME] = 0
        closer: NDArray[np.float32] = np.minimum(apart, nearest[slice(*span)])
        return closer

    while True:
        left = np.concatenate(list(job.map(work, spans)), axis=1)
        best = int(left.sum(1, dtype=np.float64).argmin())
        chosen[-1], nearest = int(picks[best]), left[best]
        steps = np.cumsum(nearest, dtype=np.float64)
        job.progress(len(chosen), 0, "centers")
        if len(chosen) == careful or steps[-1] <= 0:
            return np.concatenate([chosen, _drawn(nearest, k - len(chosen), rng)])
        picks = np.searchsorted(steps, rng.random(trials) * steps[-1], side="right")
        # rounding may lead to a row without distance at the end
        picks = np.minimum(picks, int(np.flatnonzero(nearest)[-1]))
        chosen.append(-1)


def _drawn(nearest: NDArray[np.float32], n: int, rng: np.random.Generator) -> Ints:
    """Return n different rows, drawn in proportion to their distances, or all that have one if they are fewer.

    The n highest of log(u) / distance are such a sample (Efraimidis and Spirakis 2006).
    """
    apart = np.flatnonzero(nearest) if n else np.zeros(0, np.int64)
    keys = np.log1p(-rng.random(len(apart))) / nearest[apart]
    return np.sort(apart[np.argsort(-keys, kind="stable")[:n]])


def _assign(units: NDArray[np.float32], centers: Floats, job: Job, done: int) -> tuple[Ints, Floats]:
    """Return the nearest center of each row, the first of equally near ones, and the squared distance to it.

    ``done`` rows were placed before, in earlier rounds.
    """
    halves = (np.einsum("ij,ij->i", centers, centers) / 2).astype(np.float32)
    turned = np.ascontiguousarray(centers.T.astype(np.float32))

    def work(span: tuple[int, int]) -> tuple[Ints, Floats]:
        scores = units[slice(*span)] @ turned
        scores -= halves
        labels = scores.argmax(1)
        best = scores[np.arange(len(scores)), labels]
        return labels, np.maximum(1 - 2 * best.astype(np.float64), 0)

    parts = []
    for part in job.map(work, _spans(len(units), max(centers.shape))):
        parts.append(part)
        done += len(part[0])
        job.progress(done, 0, "rows")
    return np.concatenate([labels for labels, _ in parts]), np.concatenate([far for _, far in parts])


def _refill(labels: Ints, far: Floats, k: int) -> None:
    """Give each empty cluster the row that is farthest from its center, the first of equally far ones, in place."""
    sizes = np.bincount(labels, minlength=k)
    empty = np.flatnonzero(sizes == 0).tolist()
    if not empty:
        return
    for row in np.argsort(-far, kind="stable").tolist():
        if not empty or far[row] < _SAME:
            return
        if sizes[labels[row]] > 1:
            sizes[labels[row]] -= 1
            labels[row], far[row] = empty.pop(0), 0.0


def _move(units: NDArray[np.float32], changed: Ints, old: Ints, new: Ints, sums: Floats, sizes: Ints) -> None:
    """Take rows out of their old clusters' sums and sizes and into their new ones', in place; -1 is no cluster."""
    for labels, sign in ((old, -1), (new, 1)):
        for start in range(0, len(changed), 8192):
            rows = changed[start : start + 8192]
            rows = rows[labels[rows] >= 0]
            rows = rows[np.argsort(labels[rows], kind="stable")]
            if not len(rows):
                continue
            here = labels[rows]
            firsts = np.flatnonzero(np.diff(here, prepend=-1))
            sums[here[firsts]] += sign * np.add.reduceat(units[rows].astype(np.float64), firsts, axis=0)
            sizes += sign * np.bincount(here, minlength=len(sizes))
