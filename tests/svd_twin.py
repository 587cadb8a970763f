"""Counts made from dense matrices, and the formulas of svd in plain float64 NumPy, for the tests of svd."""

from __future__ import annotations

from typing import Any

import numpy as np

from embcli.artifacts.schema import Counts, Vectors, Words
from embcli.job import Job
from embcli.models.svd import factorize
from embcli.spec import SvdParams


def counts_of(dense: Any, words: list[str] | None = None) -> Counts:
    """Return the positive cells of a matrix as counts; rectangular ones too, which commands do not make yet."""
    dense = np.asarray(dense, np.float64)
    rows, columns = np.nonzero(dense)
    indptr = np.concatenate(([0], np.cumsum(np.bincount(rows, minlength=len(dense)))))
    names = words or [f"w{i}" for i in range(dense.shape[1])]
    return Counts(
        data=dense[rows, columns],
        indices=columns.astype(np.int32),
        indptr=indptr.astype(np.int64),
        shape=np.array(dense.shape),
        words=Words.of(names),
        unigram=np.arange(len(names), 0, -1),
    )


def solved(counts: Any, threads: int = 2, seed: int = 0, warnings: list[str] | None = None, **options: Any) -> Vectors:
    """Run the step on counts, or on a matrix of counts."""
    given = counts if isinstance(counts, Counts) else counts_of(counts)
    said = warnings if warnings is not None else []
    return factorize([given], SvdParams(**options), Job(seed=seed, threads=threads, warn=said.append))


def weighted(dense: Any, weight: str, cds: float = 0.75, shift: float = 1.0) -> Any:
    """Return the weights of a matrix of counts by the formula, over the dense matrix."""
    n = np.asarray(dense, np.float64)
    if weight == "none":
        return n
    if weight == "log":
        return np.log(1 + n)
    of_word, of_context = n.sum(1, keepdims=True), n.sum(0, keepdims=True) ** cds
    with np.errstate(divide="ignore", invalid="ignore"):
        pmi = np.log(n * of_context.sum() / (of_word * of_context)) - np.log(shift)
    return np.where(n > 0, np.maximum(pmi, 0) if weight == "ppmi" else pmi, 0)


def zipf(rows: int, columns: int, share: float = 0.2, seed: int = 0) -> Any:
    """Return counts that look like those of words: the first rows and columns have the most and the highest."""
    rng = np.random.default_rng(seed)
    rate = share * 30 * np.outer(1 / np.arange(1, rows + 1) ** 0.6, 1 / np.arange(1, columns + 1) ** 0.6)
    topics = rng.random((rows, 8)) @ rng.random((8, columns))
    return rng.poisson(rate * topics).astype(np.float64)


def apart(s: Any, columns: int, seed: int = 0) -> Any:
    """Return a matrix of len(s) rows whose singular values are ``s``; its entries have both signs."""
    rng = np.random.default_rng(seed)
    left = np.linalg.qr(rng.standard_normal((len(s), len(s))))[0]
    right = np.linalg.qr(rng.standard_normal((columns, len(s))))[0]
    return (left * s) @ right.T
