"""Tables to search in, and a float64 brute force that sorts all rows: what searches are compared with."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from embcli.artifacts.schema import Counts, Vectors, Words

SMALL = arrays.arrays(
    np.float32, st.tuples(st.integers(2, 30), st.integers(1, 6)), elements=st.integers(-3, 3).map(float)
)


def of(table: Any, **more: Any) -> Vectors:
    table = np.asarray(table, np.float32)
    words = Words.of(f"w{i}" for i in range(len(table)))
    return Vectors(vectors=table, words=words, unigram=np.arange(len(table), 0, -1), **more)


def brute(table: Any, signed: dict[int, int], metric: str, method: str = "add") -> Any:
    """Return the scores of all rows, higher nearer; nan where a row must not be listed."""
    rows = np.asarray(table, np.float32).astype(np.float64)
    norms = np.linalg.norm(rows, axis=1)
    with np.errstate(invalid="ignore"):
        units = rows / norms[:, None]
    if metric == "cosine" and method == "mul":
        cosines = {row: (np.clip(units @ units[row], -1, 1) + 1) / 2 for row in signed}
        above = math.prod(cosines[r] for r, sign in signed.items() if sign > 0)
        return above / (math.prod(cosines[r] for r, sign in signed.items() if sign < 0) + 0.001)
    target = sum(sign * (units if metric == "cosine" else rows)[row] for row, sign in signed.items())
    if metric == "cosine":
        return units @ target / np.linalg.norm(target)
    return rows @ target if metric == "dot" else -np.linalg.norm(rows - target, axis=1)


def agrees(found: list[tuple[int, float]], scores: Any, left_out: set[int], top: int) -> None:
    """Require the best rows of the brute force: their number, scores to 1e-5, no better row left."""
    allowed = [i for i in range(len(scores)) if i not in left_out and not np.isnan(scores[i])]
    assert len(found) == min(top, len(allowed))
    assert {i for i, _ in found} <= set(allowed)
    best = sorted((scores[i] for i in allowed), reverse=True)[: len(found)]
    slack = 1e-5 * max(1.0, max((abs(s) for s in best), default=0))
    for (i, score), expected in zip(found, best, strict=True):
        assert abs(score - scores[i]) <= slack and abs(score - expected) <= slack


def large(seed: int = 0, rows: int = 9000, dim: int = 20, groups: int = 40) -> Any:
    """Return rows around some centres, with many exact copies among them."""
    rng = np.random.default_rng(seed)
    table = rng.standard_normal((groups, dim))[rng.integers(0, groups, rows)] + 0.3 * rng.standard_normal((rows, dim))
    table[rng.integers(0, rows, 500)] = table[7]
    return table.astype(np.float32)


@st.composite
def count_tables(draw: st.DrawFn) -> Any:
    n = draw(st.integers(2, 12))
    return draw(arrays.arrays(np.int64, (n, n), elements=st.sampled_from([0, 0, 0, 1, 2, 5, 40])))


def counts_of(table: Any) -> Counts:
    words = Words.of(f"w{i}" for i in range(len(table)))
    return Counts(
        data=table[table > 0], indices=np.nonzero(table)[1].astype(np.int32),
        indptr=np.concatenate([[0], (table > 0).sum(1).cumsum()]), shape=np.array(table.shape), words=words,
        unigram=table.sum(1),
    )  # fmt: skip
