"""The loss of text that was kept back, by the full softmax: one measure for every objective, on small vocabularies.

Skip-gram: -log p(centre | context) with p the softmax of x_context . y over all words, each pair weighted by the chance
that a random window holds it (the whole window with --fixed-window). CBOW: from the mean (or sum) of the whole window.
Hierarchical softmax has no y of words; the product of the turns to a word is a probability already.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embcli.artifacts.schema import Tokens
from embcli.errors import InputError, NumbersError
from embcli.job import Job
from embcli.kernels.tree import huffman
from embcli.models.training_plan import Lists, Tables
from embcli.spec import Word2vecParams

Ints = NDArray[np.int64]
#: the largest vocabulary for which every probability is computed
LARGEST = 50_000
#: input vectors that are looked at together
_INPUTS = 128
_STREAM = 0x48454C44


class HeldOut:
    """Rows of the text that training does not see.

    ``rows`` is bool (rows,), True for those, ``tokens`` how many they hold. Raises InputError if the vocabulary is too
    large, NumbersError if the rows hold nothing to predict.
    """

    def __init__(self, tokens: Tokens, params: Word2vecParams, seed: int) -> None:
        name, V = tokens.path or "tokens", len(tokens.words)
        if V > LARGEST:
            raise InputError(f"{name}: --heldout computes {V:,} probabilities a prediction; {LARGEST:,} words at most")
        chance = np.random.default_rng([_STREAM, seed]).random(len(tokens.row_offsets) - 1)
        self.rows: NDArray[np.bool_] = chance < params.heldout
        self._params, self._V = params, V
        self._tree = huffman(np.asarray(tokens.unigram)) if params.loss == "hierarchical" else None
        ids, row = _kept_back(tokens, self.rows)
        self.tokens = len(ids)
        self._windows = _windows(ids, row, params.window, V) if params.arch == "cbow" else None
        self._pairs = _pairs(ids, row, params, V) if params.arch != "cbow" else None
        if not len((self._windows or self._pairs or [()])[0]):
            raise NumbersError(f"{name}: --heldout {params.heldout:g}: {int(self.rows.sum()):,} rows kept back hold "
                               "nothing to predict; keep back more")  # fmt: skip

    def loss(self, tables: Tables, job: Job) -> float:
        """Return the mean loss per prediction, nats, with the tables as they are."""
        assert self._params.dim is not None
        X, Y = tables.words_at(slice(0, self._V)), tables.contexts
        blocks = self._from_pairs(X) if self._pairs is not None else self._from_windows(X, tables.lists)
        parts = list(job.map(lambda block: self._block(Y, *block), blocks))
        return sum(loss for loss, _ in parts) / sum(weight for _, weight in parts)

    def _from_pairs(self, X: Any) -> Iterator[tuple[Any, Ints, Ints, NDArray[np.float64]]]:
        """Yield input vectors, and of each prediction its place among them, its target and its weight."""
        assert self._pairs is not None
        inputs, targets, weights = self._pairs
        words, places = np.unique(inputs, return_inverse=True)
        for a in range(0, len(words), _INPUTS):
            low, high = np.searchsorted(places, (a, a + _INPUTS))
            yield X[words[a : a + _INPUTS]], places[low:high] - a, targets[low:high], weights[low:high]

    def _from_windows(self, X: Any, lists: Lists) -> Iterator[tuple[Any, Ints, Ints, NDArray[np.float64]]]:
        assert self._windows is not None
        targets, contexts = self._windows
        sizes = lists.sizes if len(lists.rows) else np.ones(len(X))
        for a in range(0, len(targets), _INPUTS):
            near = contexts[a : a + _INPUTS]
            known = near >= 0
            weights = known * sizes[np.where(known, near, 0)]
            h = (X[np.where(known, near, 0)] * weights[:, :, None]).sum(1, dtype=np.float64)
            if not self._params.cbow_sum:
                h /= weights.sum(1)[:, None]
            yield h.astype(np.float32), np.arange(len(near)), targets[a : a + _INPUTS], np.ones(len(near))

    def _block(self, Y: Any, h: Any, places: Ints, targets: Ints, weights: Any) -> tuple[float, float]:
        """Return the weighted loss of some predictions, and the sum of the weights."""
        scores = (np.ascontiguousarray(h) @ Y.T).astype(np.float64)
        if self._tree is None:
            top = scores.max(1)
            total = np.log(np.exp(scores - top[:, None]).sum(1)) + top
            losses = total[places] - scores[places, targets]
        else:
            losses = np.array([self._turns(scores[p], t) for p, t in zip(places, targets, strict=True)])
        return float(losses @ weights), float(weights.sum())

    def _turns(self, scores: Any, target: int) -> float:
        assert self._tree is not None
        span = slice(self._tree.offsets[target], self._tree.offsets[target + 1])
        return float(np.logaddexp(0, -self._tree.signs[span] * scores[self._tree.path[span]]).sum())


def _kept_back(tokens: Tokens, rows: NDArray[np.bool_]) -> tuple[Ints, Ints]:
    """Return the ids of the rows that are kept back, one after another, and the row of each."""
    ends = np.asarray(tokens.row_offsets)
    chosen = np.flatnonzero(rows)
    parts = [np.asarray(tokens.ids[ends[r] : ends[r + 1]], np.int64) for r in chosen.tolist()]
    return np.concatenate([np.zeros(0, np.int64), *parts]), np.repeat(chosen, [len(part) for part in parts])


def _pairs(ids: Ints, row: Ints, params: Word2vecParams, V: int) -> tuple[Ints, Ints, NDArray[np.float64]]:
    """Return (input, target, weight) of the distinct pairs, by input."""
    keys, weights = [np.zeros(0, np.int64)], [np.zeros(0)]
    for k in range(1, params.window + 1):
        together = (row[k:] == row[:-k]) & (ids[k:] < V) & (ids[:-k] < V)
        a, b = ids[:-k][together], ids[k:][together]
        keys += [a * V + b, b * V + a]
        weight = 1.0 if params.fixed_window else (params.window - k + 1) / params.window
        weights.append(np.full(2 * len(a), weight))
    distinct, places = np.unique(np.concatenate(keys), return_inverse=True)
    summed = np.bincount(places, np.concatenate(weights), len(distinct)).astype(np.float64)
    return distinct // V, distinct % V, summed


def _windows(ids: Ints, row: Ints, window: int, V: int) -> tuple[Ints, Ints]:
    """Return the words that have contexts, and these, (n, 2 window), -1 where there is none."""
    near = np.full((len(ids), 2 * window), -1, np.int64)
    for k in range(1, window + 1):
        together = (row[k:] == row[:-k]) & (ids[k:] < V) & (ids[:-k] < V)
        near[:-k, 2 * k - 2][together] = ids[k:][together]
        near[k:, 2 * k - 1][together] = ids[:-k][together]
    some = (near >= 0).any(1)
    return ids[some], near[some]
