"""Counts and tables for the tests of GloVe, and training within the process."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from glove_twin import Cell, weight
from samples import save

from embcli.artifacts import store
from embcli.artifacts.schema import Counts, Vectors, Words
from embcli.job import Job
from embcli.models.glove import train
from embcli.spec import STEPS, make


def counts_of(cells: Iterable[Cell], V: int) -> Counts:
    """Return counts of V words; cells in any order, each once."""
    found = sorted(cells)
    rows = np.array([i for i, _, _ in found], np.int64)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=V))]).astype(np.int64)
    return Counts(
        data=np.array([x for _, _, x in found], np.float64),
        indices=np.array([j for _, j, _ in found], np.int32),
        indptr=indptr,
        shape=np.array([V, V]),
        words=Words.of([f"w{i}" for i in range(V)]),
        unigram=np.ones(V, np.int64),
    )


def chance(V: int, share: float, seed: int = 0) -> Counts:
    """Return random counts from 0.1 to some 1,000, the first words with more cells."""
    rng = np.random.default_rng(seed)
    often = 1 / (1 + np.arange(V) / 20)
    known = rng.random((V, V)) < share * np.sqrt(np.outer(often, often)) * 4
    values = np.exp(rng.normal(2, 2, (V, V))) + 0.1
    return counts_of([(int(i), int(j), float(values[i, j])) for i, j in np.argwhere(known)], V)


def cells_of(counts: Counts) -> list[Cell]:
    rows = np.repeat(np.arange(len(counts.words)), np.diff(counts.indptr))
    return list(zip(rows.tolist(), counts.indices.tolist(), np.asarray(counts.data, float).tolist(), strict=True))


def fit(counts: Counts, threads: int = 1, seed: int = 0, job: Job | None = None, **options: Any) -> Vectors:
    return train([counts], make(STEPS["glove"].params, options), job or Job(seed=seed, threads=threads))


def saved(counts: Counts, path: Path) -> Counts:
    """Return counts as they are read back from a file."""
    save(counts, path)
    found = store.read(str(path))
    assert isinstance(found, Counts)
    return found


def array(made: Vectors, name: str) -> np.ndarray:
    """Return a member; one that is made while it is written is put together."""
    found = getattr(made, name)
    if hasattr(found, "blocks"):
        found = np.concatenate(list(found.blocks))
        setattr(made, name, found)
    return np.asarray(found)


def errors_of(counts: Counts, words: Any, contexts: Any, bias: Any, context_bias: Any) -> np.ndarray:
    """Return w.c + b + b' - ln X of every cell, float64."""
    rows = np.repeat(np.arange(len(counts.words)), np.diff(counts.indptr))
    columns = np.asarray(counts.indices)
    products = np.einsum("id,id->i", np.asarray(words, float)[rows], np.asarray(contexts, float)[columns])
    return products + np.asarray(bias, float)[rows] + np.asarray(context_bias, float)[columns] - np.log(counts.data)


def cost_of(counts: Counts, made: Vectors, x_max: float = 100.0, power: float = 0.75) -> float:
    """Return the mean cost of an artifact with --output sum, recomputed over all cells."""
    e = errors_of(counts, made.word_rows, made.contexts, made.bias, made.context_bias)
    weights = np.array([weight(x, x_max, power) for x in np.asarray(counts.data).tolist()])
    return float((weights * e * e / 2).mean())
