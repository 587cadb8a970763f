"""Clusters of the rows of a table, and which of them lies nearest to the centroid: where strange words gather.

Rows that training hardly touched were first seen this way, near the mean of all rows of a vocabulary. The clustering
itself is kmeans.py.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from embcli.errors import UsageError
from embcli.job import Job
from embcli.query.dense import DenseRows, unit_rows
from embcli.query.kmeans import Partition, kmeans
from embcli.query.lookup import words_at
from embcli.query.spectrum import Moments
from embcli.query.topk import Floats, Ints
from embcli.spec import EvalParams

#: products of numbers (rows x clusters x dimensions) of one round of k-means: a minute or two on one core
MOST = 2e12


@dataclass(frozen=True)
class Member:
    """A word of a cluster: its frequency, and its row's cosine with the cluster's center and with the centroid."""

    word: str
    count: int
    cosine: float
    centroid_cosine: float | None


@dataclass(frozen=True)
class Cluster:
    """One cluster.

    size : rows.  centroid_cosine : of its center with the mean of all rows, None if one of them is 0.
    tightness : mean cosine of its rows with its center, 0 if that is 0.  mean_norm : of its rows as they stand.
    median_count : of its words' frequencies.  words : the ``top`` nearest to its center, nearest first.
    """

    size: int
    centroid_cosine: float | None
    tightness: float
    mean_norm: float
    median_count: float
    words: tuple[Member, ...]


@dataclass(frozen=True)
class Clusters:
    """All clusters, the one nearest to the centroid (by cosine) first.

    ``asked`` clusters were asked for; ``inertia`` is the sum of squared distances of unit rows to their centers.
    """

    asked: int
    inertia: float
    rounds: int
    clusters: tuple[Cluster, ...]


def clusters(rows: DenseRows, unigram: Ints, about: Moments, params: EvalParams, job: Job) -> Clusters:
    """Return ``params.clusters`` clusters of the rows of ``about``, seeded by ``params.seed``.

    Rows are scaled to length 1, so that it is their direction that counts; zero rows are left out, and ``params.top``
    words of each cluster are named. Raises UsageError unless there are more different scaled rows than clusters, or if
    rows x clusters x dimensions exceed 2e12, and InputError if there is no memory for the scaled rows.
    """
    there = np.flatnonzero(about.norms > 0)
    job.need(8 * len(about.norms) * rows.shape[1], "the clustering of these rows")
    units = _units(rows, about, there, job)
    _check(units, params.clusters, rows.name)
    job.need(32 * params.clusters * rows.shape[1], f"the centers of {params.clusters:,} clusters")
    found = kmeans(units, params.clusters, params.seed, job)
    lengths = np.sqrt(np.einsum("ij,ij->i", found.centers, found.centers))
    towards = found.centers / np.where(lengths > 1e-9, lengths, np.inf)[:, None]
    own = np.round(_cosines(units, towards, found.labels), 6) + 0.0
    order = np.lexsort((np.arange(len(own)), -own, found.labels))
    groups = np.split(order, np.cumsum(np.bincount(found.labels))[:-1])
    counts = np.asarray(unigram[: len(about.norms)])[there]
    return _described(rows, counts, about, there, units, found, towards, own, groups, params)


def _check(units: NDArray[np.float32], k: int, name: str) -> None:
    """Raise UsageError if k clusters are too many for the rows, or too much work."""
    different = _different(units, k + 1)
    if k >= different:
        less = f"give {different - 1} clusters at most" if different > 2 else "these are too few to cluster"
        raise UsageError(f"--clusters {k}: {name} has {different:,} rows of different direction (zeros aside); {less}")
    most = int(MOST / units.size)
    if k > most:
        less = f"give {most} clusters at most, or take" if most > 1 else "take"
        raise UsageError(
            f"--clusters {k}: too much work for the {len(units):,} rows of {units.shape[1]:,} numbers of {name}; "
            f"{less} fewer rows with --restrict"
        )


def _different(units: NDArray[np.float32], enough: int) -> int:
    """Return how many different rows there are, looking no further once ``enough`` are found."""
    seen: set[bytes] = set()
    for row in units:
        # + 0 makes a negative zero positive
        seen.add(hashlib.blake2b(row + np.float32(0), digest_size=16).digest())
        if len(seen) == enough:
            break
    return len(seen)


def _units(rows: DenseRows, about: Moments, there: Ints, job: Job) -> NDArray[np.float32]:
    """Return the rows ``there`` at length 1."""
    limit = len(about.norms)
    units = np.empty((limit, rows.shape[1]), np.float32)

    def work(span: tuple[int, int]) -> None:
        units[slice(*span)] = unit_rows(rows.take(slice(*span)))[0]

    for _ in job.map(work, rows.spans(limit)):
        pass
    return units if len(there) == limit else units[there]


def _cosines(units: NDArray[np.float32], towards: Floats, labels: Ints) -> Floats:
    """Return the cosine of each row with the direction of its cluster, row by row in float64."""
    cosines = np.empty(len(units))
    for start in range(0, len(units), 4096):
        part = slice(start, start + 4096)
        cosines[part] = (units[part].astype(np.float64) * towards[labels[part]]).sum(1)
    return cosines


def _described(
    rows: DenseRows, counts: Ints, about: Moments, there: Ints, units: NDArray[np.float32], found: Partition,
    towards: Floats, own: Floats, groups: list[Ints], params: EvalParams,
) -> Clusters:  # fmt: skip
    """Return the clusters in the order of their nearness to the centroid; ``groups`` are their rows, nearest first."""
    length = float(np.sqrt((about.mean * about.mean).sum()))
    centroid = about.mean / (length or 1.0)
    near = np.round(towards @ centroid, 6) + 0.0
    pointless = (towards == 0).all(1) | (length == 0)
    order = np.argsort(np.where(pointless, np.inf, -near), kind="stable").tolist()

    def members(first: Ints) -> tuple[Member, ...]:
        cosines = np.round((units[first].astype(np.float64) * centroid).sum(1), 6) + 0.0
        columns = counts[first].tolist(), own[first].tolist(), cosines.tolist()
        each = zip(words_at(rows.words, there[first]), *columns, strict=True)
        return tuple(Member(w, n, c, t if length else None) for w, n, c, t in each)

    made = [
        Cluster(
            len(groups[i]), None if pointless[i] else float(near[i]), float(own[groups[i]].mean()),
            float(about.norms[there[groups[i]]].mean()), float(np.median(counts[groups[i]])),
            members(groups[i][: params.top]),
        )
        for i in order
    ]  # fmt: skip
    return Clusters(params.clusters, found.inertia, found.rounds, tuple(made))
