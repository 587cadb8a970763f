"""Moments of a table of vectors and what follows from them: principal components, effective rank, isotropy.

A few passes over blocks of rows in float64; what is kept is d x d and a norm a row. The blocks depend on the table's
shape only, so figures do not depend on the number of threads.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from embcli.job import Job
from embcli.query.dense import DenseRows
from embcli.query.topk import Floats

#: how many leading principal components are reported together
LEADING = (1, 3, 10)


@dataclass(frozen=True)
class Moments:
    """Of the first ``len(norms)`` rows: their mean (d,), their second moment (d, d) about 0, and their lengths."""

    mean: Floats
    second: Floats
    norms: Floats


@dataclass(frozen=True)
class Spectrum:
    """How the rows fill their dimensions. None where there is nothing to measure: no rows, or all rows equal.

    shares : of the variance in the first 1, 3 and 10 principal components (centred); components beyond d hold nothing.
    uncentred : share of the first direction in the second moment about 0, where the mean counts too.
    effective_rank : exp of the entropy of the shares of all principal components, from 1 to d: the effective rank of
        the covariance matrix (Roy and Vetterli 2007, definition 1).
    isotropy : from 0 to 1, 1 if no direction is preferred (see ``isotropy``).
    """

    shares: tuple[float | None, ...]
    uncentred: float | None
    effective_rank: float | None
    isotropy: float | None


def moments(rows: DenseRows, limit: int, job: Job) -> Moments:
    """Return the moments of the first ``limit`` rows.

    Raises InputError if a row holds a number that is not finite.
    """

    def work(span: tuple[int, int]) -> tuple[Floats, Floats, Floats]:
        block = rows.take(slice(*span)).astype(np.float64)
        return block.sum(0), block.T @ block, np.sqrt(np.einsum("ij,ij->i", block, block))

    d = rows.shape[1]
    total, second, norms = np.zeros(d), np.zeros((d, d)), np.zeros(limit)
    spans = list(rows.spans(limit))
    for (start, stop), (part, products, lengths) in zip(spans, job.map(work, spans), strict=True):
        total += part
        second += products
        norms[start:stop] = lengths
        job.progress(stop, limit, "rows")
    return Moments(total / max(limit, 1), second / max(limit, 1), norms)


def covariance(rows: DenseRows, about: Moments, job: Job) -> Floats:
    """Return the covariance matrix (d, d) of the rows, divided by their number.

    Each row is centred before it is multiplied: where all rows lie in a narrow cone, the second moment minus the
    mean's square would leave rounding.
    """

    def work(span: tuple[int, int]) -> Floats:
        block = rows.take(slice(*span)) - about.mean
        products: Floats = block.T @ block
        return products

    total = np.zeros_like(about.second)
    for part in job.map(work, rows.spans(len(about.norms))):
        total += part
    return total / max(len(about.norms), 1)


def first_component(rows: DenseRows, about: Moments, job: Job) -> Floats:
    """Return the direction of most variance, (d,), at length 1; zeros if the rows do not vary or d is 0."""
    values, directions = np.linalg.eigh(covariance(rows, about, job))
    if not len(values) or values[-1] <= 0:
        return np.zeros(rows.shape[1])
    first: Floats = directions[:, -1]
    return first


def spectrum(rows: DenseRows, about: Moments, job: Job) -> Spectrum:
    """Return how the rows of ``about`` fill their dimensions."""
    values = np.maximum(np.linalg.eigvalsh(covariance(rows, about, job))[::-1], 0)
    squares, directions = np.linalg.eigh(about.second)
    total, second = float(values.sum()), float(np.maximum(squares, 0).sum())
    # what is left of equal rows once they are centred is rounding
    varies = total > 1e-24 * second
    shares = [float(values[:n].sum()) / total if varies else None for n in LEADING]
    return Spectrum(
        tuple(shares),
        float(squares[-1]) / second if second > 0 else None,
        effective_rank(values) if varies else None,
        isotropy(rows, directions, len(about.norms), job) if second > 0 else None,
    )


def effective_rank(values: Floats) -> float:
    """Return exp(-sum of p log p) for p = values / their sum, from 1 to their number (Roy and Vetterli 2007)."""
    p = values[values > 0] / values.sum()
    return float(np.exp(-(p * np.log(p)).sum()))


def isotropy(rows: DenseRows, directions: Floats, limit: int, job: Job) -> float:
    """Return how even the rows lie around 0: min over max of Z(c) = sum over rows w of exp(c . w).

    c runs through the columns of ``directions`` (d, d), the eigenvectors of the second moment, and their opposites,
    since an eigenvector has no sign (Mu and Viswanath 2018, section 2.2, equation 3). Rows as they stand, so long rows
    count for more. Sums of exponentials are kept as logarithms; they do not overflow.
    """

    def work(span: tuple[int, int]) -> Floats:
        along = rows.take(slice(*span)).astype(np.float64) @ directions
        return np.concatenate([_log_sums(along), _log_sums(-along)])

    parts = np.stack(list(job.map(work, rows.spans(limit))))
    logs = _log_sums(parts)
    return float(np.exp(logs.min() - logs.max()))


def _log_sums(values: Floats) -> Floats:
    """Return log(sum(exp(column))) of each column."""
    most = values.max(0)
    sums: Floats = most + np.log(np.exp(values - most).sum(0))
    return sums
