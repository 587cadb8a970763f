"""The slow twin of ``cooc``: counts in exact fractions straight from the definition, and helpers to compare with it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from embcli.artifacts.schema import Blocks, Counts, Tokens, Words
from embcli.counts.budget import Plan
from embcli.counts.cooc import count, count_by
from embcli.job import Job
from embcli.spec import CoocParams

Cells = dict[tuple[int, int], Fraction]


def weight(weighting: str, distance: int, window: int) -> Fraction:
    """Return the weight of a context: exact, but for harmonic weights in windows above 20."""
    if weighting == "flat":
        return Fraction(1)
    if weighting == "dynamic":
        return Fraction(window - distance + 1, window)
    if window <= 20:
        return Fraction(1, distance)
    return Fraction(math.floor(Fraction(2**30, distance) + Fraction(1, 2)), 2**30)


def twin(rows: Sequence[Sequence[int]], size: int, params: CoocParams) -> Cells:
    """Return X[w, c] by looking from every word at every place of its row."""
    found: Cells = {}
    if params.cross_rows:
        rows = [[word for row in rows for word in row]]
    for row in rows:
        for i, word in enumerate(row):
            for j, context in enumerate(row):
                near = 0 < abs(i - j) <= params.window and word < size and context < size
                side = {"symmetric": True, "left": j < i, "right": j > i}[params.direction]
                if near and side:
                    more = weight(params.weighting, abs(i - j), params.window)
                    found[word, context] = found.get((word, context), Fraction(0)) + more
    return found


def tokens_of(rows: Sequence[Sequence[int]], size: int) -> Tokens:
    """Return rows of ids as tokens; ids equal to ``size`` are gaps."""
    ids = np.array([word for row in rows for word in row], np.int64)
    unigram = np.bincount(ids[ids < size], minlength=size).astype(np.int64)
    offsets = np.concatenate(([0], np.cumsum([len(row) for row in rows]))).astype(np.int64)
    dtype = np.uint8 if size < 256 else np.uint16 if size < 65536 else np.uint32
    words = Words.of(f"w{i}" for i in range(size))
    gaps = {"gaps": "keep"} if (ids == size).any() else {}
    return Tokens(ids=ids.astype(dtype), row_offsets=offsets, words=words, unigram=unigram, options=gaps)


def sentences(*lines: str) -> Tokens:
    """Return lines of text as tokens; words are numbered as they appear."""
    numbers: dict[str, int] = {}
    rows = [[numbers.setdefault(word, len(numbers)) for word in line.split()] for line in lines]
    tokens = tokens_of(rows, len(numbers))
    tokens.words = Words.of(numbers)
    return tokens


def counted(tokens: Tokens, plan: Plan | None = None, threads: int = 1, **options: Any) -> Counts:
    """Return the counts with all arrays in memory."""
    params, job = CoocParams(**options), Job(threads=threads)
    return loaded(count([tokens], params, job) if plan is None else count_by(plan, tokens, params, job))


def added(inputs: Sequence[Tokens | Counts], threads: int = 1, **options: Any) -> Counts:
    """Return the counts of several inputs with all arrays in memory."""
    return loaded(count(list(inputs), CoocParams(**options), Job(threads=threads)))


def loaded(made: Counts) -> Counts:
    """Return counts that were to be produced while they are written, with all arrays in memory."""
    assert isinstance(made.data, Blocks)
    blocks = [block.copy() for block in made.data.blocks]
    made.data = np.concatenate([np.empty(0, made.data.dtype), *blocks])
    made.indices = made.indices.array()
    if made.rows is not None:
        made.indptr = made.indptr.array()
        made.rows = Words(made.rows.data.array(), made.rows.offsets.array())
    made.check()
    return made


def halves(lines: Sequence[str], at: int) -> tuple[Tokens, Tokens, Tokens]:
    """Return lines of text before ``at``, from there on, and all, each with its own vocabulary as encode makes it."""
    return tuple(encoded(part) for part in (lines[:at], lines[at:], lines))  # type: ignore[return-value]


def encoded(lines: Sequence[str]) -> Tokens:
    """Return lines of text as encode would: words by frequency, ties by bytes."""
    text = [line.split() for line in lines]
    counts = Counter(word for row in text for word in row)
    order = sorted(counts, key=lambda word: (-counts[word], word.encode()))
    numbers = {word: i for i, word in enumerate(order)}
    tokens = tokens_of([[numbers[word] for word in row] for row in text], len(order))
    tokens.words = Words.of(order)
    return tokens


def with_options(counts: Counts, **options: Any) -> Counts:
    """Return counts that say with which options they were made, as the store would read them."""
    counts.options = vars(CoocParams(**options)) | counts.options
    return counts


def cells_of(counts: Counts) -> dict[tuple[int, int], Any]:
    """Return the stored cells of counts by row and column."""
    rows = np.repeat(np.arange(len(counts.indptr) - 1), np.diff(counts.indptr))
    keys = zip(rows.tolist(), counts.indices.tolist(), strict=True)
    return dict(zip(keys, counts.data.tolist(), strict=True))


def dense(counts: Counts) -> np.ndarray[Any, Any]:
    """Return counts as a matrix."""
    matrix = np.zeros(counts.shape, counts.data.dtype)
    for (row, column), value in cells_of(counts).items():
        matrix[row, column] = value
    return matrix


def same_bytes(a: Counts, b: Counts) -> bool:
    """Say whether two counts hold the same bytes and figures."""
    arrays = ("data", "indices", "indptr", "shape")
    pairs = [(np.asarray(getattr(a, name)), np.asarray(getattr(b, name))) for name in arrays]
    return all(x.dtype == y.dtype and x.tobytes() == y.tobytes() for x, y in pairs) and a.stats == b.stats
