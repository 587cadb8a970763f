"""The rows of a table by bands of frequency: how long, how alike, how far from their mean and from where they began."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from embcli.job import Job
from embcli.query.dense import DenseRows, unit_rows
from embcli.query.spectrum import Moments
from embcli.query.starts import Start
from embcli.query.topk import Floats, Ints

#: a band ends at each of these ranks
ENDS = (100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000)


@dataclass(frozen=True)
class Band:
    """Figures of the rows whose words have about the same rank of frequency. None where there is nothing to measure.

    name : the ranks, as 101-1,000; ``unseen`` for words of count 0; ``all``.
    rows, zero_rows : how many, and how many of them are all zeros; these have no cosine.
    most, least : the highest and the lowest count.
    pair_cosine : mean cosine over the pairs of distinct rows.
    mean_norm, median_norm : of the rows' lengths.
    centroid_cosine, centroid_distance : mean cosine with, and mean Euclidean distance to, the mean of the whole table.
    start_distance : mean Euclidean distance to the rows' start; unmoved : how many rows equal their start.
    """

    name: str
    rows: int
    zero_rows: int
    most: int
    least: int
    pair_cosine: float | None
    mean_norm: float
    median_norm: float
    centroid_cosine: float | None
    centroid_distance: float
    start_distance: float | None = None
    unmoved: int | None = None


def bands(
    rows: DenseRows, unigram: Ints, about: Moments, start: Start | None, meta: Mapping[str, Any], job: Job
) -> tuple[Band, ...]:
    """Return the bands of the rows of ``about``, the most frequent (by ``unigram``) first, and all rows at last.

    The mean over the n (n - 1) pairs of distinct rows is exact without looking at pairs: with unit rows u it is
    (|sum of u|^2 - sum of |u|^2) / (n (n - 1)).
    """
    limit = len(about.norms)
    if not limit:
        return ()
    counts = np.asarray(unigram[:limit], np.int64)
    names, labels = ranked(counts)
    sums, lengths, each = _measured(rows, about, labels, len(names), start, meta, job)
    found = []
    for band, name in enumerate([*names, "all"]):
        inside = labels == band if band < len(names) else np.ones(limit, np.bool_)
        pick = slice(band, band + 1) if band < len(names) else slice(None)
        found.append(_band(name, inside, counts, about.norms, sums[pick].sum(0), float(lengths[pick].sum()), each))
    return tuple(found)


def ranked(counts: Ints) -> tuple[list[str], Ints]:
    """Return the names of the bands of some words and the band of each word; no band is empty.

    Words are ranked by count, the first of equal ones before the others. Words of count 0 are a band of their own
    unless all are: then counts are not known, and the order of the words is the ranking.
    """
    rank = np.empty(len(counts), np.int64)
    rank[np.argsort(-counts, kind="stable")] = np.arange(len(counts))
    labels = np.searchsorted(ENDS, rank, side="right").astype(np.int64)
    seen = int((counts > 0).sum()) or len(counts)
    edges = [0, *(end for end in ENDS if end < seen), seen]
    names = [f"{first + 1:,}-{last:,}" for first, last in pairwise(edges)]
    if seen < len(counts):
        labels[counts <= 0] = len(names)
        names.append("unseen")
    return names, labels


def _measured(
    rows: DenseRows, about: Moments, labels: Ints, n: int, start: Start | None, meta: Mapping[str, Any], job: Job
) -> tuple[Floats, Floats, dict[str, Floats]]:
    """Return sums of unit rows a band (n, d), sums of their squared lengths (n,), and the figures of each row."""
    centroid = about.mean
    length = float(np.sqrt((centroid * centroid).sum()))

    def work(span: tuple[int, int]) -> tuple[Floats, Floats, dict[str, Floats]]:
        raw = rows.take(slice(*span))
        units, _ = unit_rows(raw, np.float64)
        here = labels[slice(*span)]
        sums, lengths = np.zeros((n, raw.shape[1])), np.zeros(n)
        for band in sorted(set(here.tolist())):
            inside = units[here == band]
            sums[band] = inside.sum(0)
            lengths[band] = np.einsum("ij,ij->", inside, inside)
        figures = {"cosine": units @ (centroid / (length or 1.0)), "distance": _lengths(raw - centroid)}
        began = start(meta, *span) if start is not None else None
        if began is not None:
            figures["start"] = _lengths(raw.astype(np.float64) - began)
            figures["unmoved"] = (raw == began.astype(np.float32)).all(1).astype(np.float64)
        return sums, lengths, figures

    parts = list(job.map(work, rows.spans(len(labels))))
    each = {key: np.concatenate([figures[key] for _, _, figures in parts]) for key in parts[0][2]}
    if not length:
        del each["cosine"]
    return np.sum([s for s, _, _ in parts], axis=0), np.sum([q for _, q, _ in parts], axis=0), each


def _lengths(block: Floats) -> Floats:
    lengths: Floats = np.sqrt(np.einsum("ij,ij->i", block, block))
    return lengths


def _band(
    name: str, inside: Any, counts: Ints, norms: Floats, unit_sum: Floats, squares: float, each: dict[str, Floats]
) -> Band:
    """Return the figures of one band from sums over its rows and the figures of each row."""
    own = norms[inside]
    full = inside & (norms > 0)
    n = int(full.sum())
    start = each.get("start")
    return Band(
        name, len(own), len(own) - n, int(counts[inside].max()), int(counts[inside].min()),
        (float(unit_sum @ unit_sum) - squares) / (n * (n - 1)) if n > 1 else None,
        float(own.mean()), float(np.median(own)),
        float(each["cosine"][full].mean()) if n and "cosine" in each else None,
        float(each["distance"][inside].mean()),
        None if start is None else float(start[inside].mean()),
        None if start is None else int(each["unmoved"][inside].sum()),
    )  # fmt: skip
