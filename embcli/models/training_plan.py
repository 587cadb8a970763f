"""What word2vec training does, and the two tables that it changes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from embcli.kernels.means import PARTS, by_part, mean_rows
from embcli.kernels.vectors16 import aligned, padded


@dataclass(frozen=True)
class Plan:
    """What training does; all of it decides the bytes of the result.

    Parameters
    ----------
    arch : "skipgram" or "cbow".  loss : "negative", "hierarchical" or "softmax".
    dim, window, fixed_window, cbow_sum, negative, ns_power, sample, epochs, lr, min_lr, seed : as the options.
    freeze_output : leave the output table as it is.  hogwild : threads write to the tables at the same time.
    lanes : shares of a block that are trained side by side.  apart : whether they lie far from each other in the text,
    each lane in a part of its own, or one behind the other.  turn : whether the contexts of a centre (skip-gram) are
    trained one after the other, or see the tables of before.  block : tokens of a share, at most.
    share : neighbouring centres that have their negatives in common; 0: 1, in CBOW 2.
    """

    arch: str = "skipgram"
    loss: str = "negative"
    dim: int = 100
    window: int = 5
    fixed_window: bool = False
    cbow_sum: bool = False
    negative: int = 5
    ns_power: float = 0.75
    sample: float = 1e-3
    epochs: int = 5
    lr: float = 0.025
    min_lr: float = 1e-4
    seed: int = 0
    freeze_output: bool = False
    hogwild: bool = False
    lanes: int = 8
    apart: bool = False
    turn: bool = False
    block: int = 200
    share: int = 0

    def __post_init__(self) -> None:
        """Choose ``share``: skip-gram's contexts have their negatives in common already."""
        if self.share == 0:
            object.__setattr__(self, "share", 2 if self.arch == "cbow" else 1)


class Lists(NamedTuple):
    """The rows of the input table that each word is the mean of (``kernels.means.by_part``); none: each is its own.

    starts : int64 (words * PARTS + 1,).  rows : int32.  shares : float32 (words,), n / sum m^2 for a word of n rows
    each of which it holds m times: 1 unless some are there twice.
    """

    starts: NDArray[np.int64] = np.zeros(0, np.int64)
    rows: NDArray[np.int32] = np.zeros(0, np.int32)
    shares: NDArray[np.float32] = np.zeros(0, np.float32)

    @classmethod
    def of(cls, offsets: NDArray[np.int64], rows: NDArray[np.int32]) -> Lists:
        """Return the lists by part of words whose rows are rows[offsets[w]:offsets[w + 1]], at least one each."""
        sizes = np.diff(offsets)
        keys = np.repeat(np.arange(len(sizes)), sizes) << 32 | rows
        each, times = np.unique(keys, return_counts=True)
        squares = np.bincount(each >> 32, times.astype(np.float64) ** 2, len(sizes))
        starts, listed = np.empty(len(sizes) * PARTS + 1, np.int64), np.empty(len(rows), np.int32)
        by_part(offsets, rows, starts, listed)
        return cls(starts, listed, (sizes / squares).astype(np.float32))

    def __bool__(self) -> bool:
        return len(self.rows) > 0

    @property
    def sizes(self) -> NDArray[np.int64]:
        """How many rows each word has."""
        return np.diff(self.starts[::PARTS])


class Tables:
    """The two tables, rows padded with zeros to whole cache lines.

    inputs : float32 (V, padded).  outputs : float32 (V, padded), of the tree (V - 1, padded).
    lists : where there are any, a word is the mean of several rows of ``inputs``, which then has more than V.
    means : float32 (V, padded), what training takes for input rows: ``inputs``, or room for means of them.
    dim : columns that are used; ``vectors`` and ``contexts`` are views of them.
    """

    def __init__(self, rows: int, nodes: int, dim: int, lists: Lists = Lists()) -> None:  # noqa: B008
        self.dim, self.lists = dim, lists
        width = padded(dim)
        self.inputs, self.outputs = aligned(rows, width), aligned(nodes, width)
        self.means = aligned(len(lists.shares), width) if lists else self.inputs

    def words_at(self, at: Any) -> NDArray[np.float32]:
        """Return the vectors of some words (a slice or numbers), float32 (words, dim): rows, or means of rows."""
        if not self.lists:
            rows: NDArray[np.float32] = self.vectors[at]
            return rows
        words = np.arange(len(self.lists.sizes))[at]
        made: NDArray[np.float32] = aligned(len(words), self.inputs.shape[1])
        mean_rows(self.inputs, self.lists.starts, self.lists.rows, words, made)
        return made[:, : self.dim]

    def rows_of(self, word: int) -> list[int]:
        """Return which rows of the input table a word is the mean of, its own the first."""
        starts, rows = self.lists.starts, self.lists.rows
        if not self.lists:
            return [word]
        return sorted(rows[starts[word * PARTS] : starts[(word + 1) * PARTS]].tolist())

    @property
    def vectors(self) -> NDArray[np.float32]:
        """The input table (V, dim), a view."""
        return self.inputs[:, : self.dim]

    @property
    def contexts(self) -> NDArray[np.float32]:
        """The output table (V or V - 1, dim), a view."""
        return self.outputs[:, : self.dim]
