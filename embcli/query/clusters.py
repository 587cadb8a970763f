"""Clusters of the rows of a table, and which of them lies nearest to the centroid: where strange words gather.

Rows that training hardly touched were first seen this way, near the mean of all rows of a vocabulary. The clustering
itself is kmeans.py.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from embcli.job import Job
from embcli.query.dense import DenseRows, unit_rows
from embcli.query.kmeans import Partition, kmeans
from embcli.query.lookup import words_at
from embcli.query.spectrum import Moments
from embcli.query.topk import Floats, Ints
from embcli.spec import EvalParams

#: words that stand for a cluster
SHOWN = 6


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
    median_count : of its words' frequencies.  words : those nearest to its center, nearest first.
    """

    size: int
    centroid_cosine: float | None
    tightness: float
    mean_norm: float
    median_count: float
    words: tuple[str, ...]


@dataclass(frozen=True)
class Clusters:
    """All clusters, the one nearest to the centroid (by cosine) first, and words of that one.

    ``asked`` clusters were asked for; ``inertia`` is the sum of squared distances of unit rows to their centers.
    """

    asked: int
    inertia: float
    rounds: int
    clusters: tuple[Cluster, ...]
    nearest: tuple[Member, ...]


def clusters(rows: DenseRows, unigram: Ints, about: Moments, params: EvalParams, job: Job) -> Clusters:
    """Return ``params.clusters`` clusters of the rows of ``about``, seeded by ``params.seed``.

    Rows are scaled to length 1, so that it is their direction that counts; zero rows are left out. Raises InputError if
    there is no memory for the scaled rows.
    """
    there = np.flatnonzero(about.norms > 0)
    if not len(there) or not rows.shape[1]:
        return Clusters(params.clusters, 0.0, 0, (), ())
    job.need(8 * len(about.norms) * rows.shape[1], "the clustering of these rows")
    units = _units(rows, about, there, job)
    found = kmeans(units, params.clusters, params.seed, job)
    lengths = np.sqrt(np.einsum("ij,ij->i", found.centers, found.centers))
    towards = found.centers / np.where(lengths > 1e-9, lengths, np.inf)[:, None]
    own = np.round(_cosines(units, towards, found.labels), 6) + 0.0
    order = np.lexsort((np.arange(len(own)), -own, found.labels))
    groups = np.split(order, np.cumsum(np.bincount(found.labels))[:-1])
    counts = np.asarray(unigram[: len(about.norms)])[there]
    return _described(rows, counts, about, there, units, found, towards, own, groups, params)


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
    made = [
        Cluster(
            len(groups[i]), None if pointless[i] else float(near[i]), float(own[groups[i]].mean()),
            float(about.norms[there[groups[i]]].mean()), float(np.median(counts[groups[i]])),
            tuple(words_at(rows.words, there[groups[i][:SHOWN]])),
        )
        for i in order
    ]  # fmt: skip
    first = groups[order[0]][: params.top]
    cosines = np.round((units[first].astype(np.float64) * centroid).sum(1), 6) + 0.0
    members = zip(
        words_at(rows.words, there[first]), counts[first].tolist(), own[first].tolist(), cosines.tolist(), strict=True
    )
    nearest = tuple(Member(w, n, c, t if length else None) for w, n, c, t in members)
    return Clusters(params.clusters, found.inertia, found.rounds, tuple(made), nearest)
