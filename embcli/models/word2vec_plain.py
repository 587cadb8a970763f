"""Word2vec one prediction at a time in float64, to be read and shown (--explain): plain gradient steps, no tricks.

Which words are kept, how far windows reach and which negatives are drawn is what the kernels draw for the beginning of
the first epoch; each prediction then steps before the next one is scored, while the kernels score all contexts of a
centre first. Far too slow to train with: see trainer.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embcli.artifacts.schema import Tokens
from embcli.kernels.draws import GOLD, draw, draw_other, keep_limits, key_of, mix
from embcli.models.training_plan import Plan, Tables
from embcli.models.workspace import goal_of, share_of

Floats = NDArray[np.float64]
_ALL = (1 << 64) - 1


@dataclass(frozen=True)
class Prediction:
    """One step.

    inputs : rows of the input table whose mean (or sum, or the only one) is the input vector h; those from V on are of
    n-grams.  target : the word.
    outputs : rows of the output table that h meets, as words, or inner nodes of the Huffman tree.
    labels : what each should say, 1 or 0.  scores : h . y.  probabilities : softmax over the outputs, or a sigmoid
    each.  loss : nats.  gradient : of the loss by h.  rows, rows_after : the input rows before and after the step.
    loss_after, probabilities_after : of the same prediction after the step of both tables.
    """

    inputs: tuple[int, ...]
    target: int
    outputs: tuple[int, ...]
    labels: Floats
    scores: Floats
    probabilities: Floats
    loss: float
    gradient: Floats
    rate: float
    rows: Floats
    rows_after: Floats
    loss_after: float
    probabilities_after: Floats


class _Rows:
    """A table in float64 of which only the rows that were asked for are copied."""

    def __init__(self, table: Any, dim: int) -> None:
        self._table, self._dim = table, dim
        self._known: dict[int, Floats] = {}

    def take(self, ids: Sequence[int]) -> Floats:
        for i in ids:
            if i not in self._known:
                self._known[i] = self._table[i, : self._dim].astype(np.float64)
        return np.array([self._known[i] for i in ids]).reshape(len(ids), self._dim)

    def add(self, ids: Sequence[int], changes: Floats) -> None:
        for i, change in zip(ids, changes, strict=True):
            self._known[i] = self._known[i] + change


def judge(scores: Floats, labels: Floats, softmax: bool) -> tuple[Floats, float]:
    """Return (probabilities, loss): -log softmax at the label, or the sum of -log sigmoid(+-score)."""
    if softmax:
        shifted = scores - scores.max()
        total = float(np.log(np.exp(shifted).sum()))
        return np.exp(shifted - total), total - float(shifted @ labels)
    signs = 2 * labels - 1
    return 1 / (1 + np.exp(-scores)), float(np.logaddexp(0, -signs * scores).sum())


def explain(tokens: Tokens, tables: Tables, plan: Plan, count: int) -> Iterator[Prediction]:
    """Yield the first ``count`` predictions of the first epoch. The tables stay as they are."""
    inputs, outputs = _Rows(tables.inputs, plan.dim), _Rows(tables.outputs, plan.dim)
    goal, share = _Goal(tokens, plan), share_of(plan, tokens)
    for first, word, contexts in _centres(tokens, plan, share, goal):
        rate = plan.lr - (plan.lr - plan.min_lr) * first / (plan.epochs * len(tokens.ids))
        ids, labels = goal.outputs_of(word)
        if not ids:
            continue
        for words in [contexts] if plan.arch == "cbow" else [[c] for c in contexts]:
            if count <= 0:
                return
            count -= 1
            rows = tuple(row for w in words for row in tables.rows_of(w))
            yield _step(inputs, outputs, plan, rows, word, ids, labels, rate)


def _step(
    inputs: _Rows, outputs: _Rows, plan: Plan, rows: tuple[int, ...], word: int, ids: tuple[int, ...], labels: Floats,
    rate: float,
) -> Prediction:  # fmt: skip
    """Make one prediction and step: h is scale * sum of rows, and each row takes the whole step of h (see cbow.py)."""
    scale = 1.0 if plan.cbow_sum else 1 / len(rows)
    before, Y, softmax = inputs.take(rows), outputs.take(ids), plan.loss == "softmax"
    h = scale * before.sum(0)
    scores = Y @ h
    probabilities, loss = judge(scores, labels, softmax)
    error = probabilities - labels
    gradient = Y.T @ error
    inputs.add(rows, np.repeat(-rate * gradient[None], len(rows), axis=0))
    if not plan.freeze_output:
        outputs.add(ids, -rate * np.outer(error, h))
    after = inputs.take(rows)
    p_after, loss_after = judge(outputs.take(ids) @ (scale * after.sum(0)), labels, softmax)
    return Prediction(
        rows, word, ids, labels, scores, probabilities, loss, gradient, rate, before, after, loss_after, p_after
    )


class _Goal:
    """Which output rows a word is predicted by, and the chance that the kernels have for it."""

    def __init__(self, tokens: Tokens, plan: Plan) -> None:
        self.plan, self.V = plan, len(tokens.words)
        unigram = np.asarray(tokens.unigram)
        self.limits = keep_limits(unigram, plan.sample)
        self.key = int(key_of(plan.seed, 0))
        self.goal = goal_of(plan, unigram)
        self.state, self.turn, self.ahead, self.shared = 0, 0, [0], [0]

    def begin(self, first: int) -> None:
        """Start a lane's share, at token ``first``."""
        self.state, self.turn = _mixed(self.key ^ _times(first)), 0
        self._fetch()

    def _fetch(self) -> None:
        self.ahead = []
        for _ in range(self.goal.negative):
            self.state = (self.state + int(GOLD)) & _ALL
            self.ahead.append(int(draw(np.uint64(_mixed(self.state)), self.goal.cells)))

    def outputs_of(self, word: int) -> tuple[tuple[int, ...], Floats]:
        """Return the rows that h meets and their labels."""
        fresh, self.turn = self.turn == 0, (self.turn + 1) % self.plan.share
        if self.plan.loss == "softmax":
            return tuple(range(self.V)), np.eye(1, self.V, word)[0]
        if self.plan.loss == "hierarchical":
            span = slice(self.goal.path_offsets[word], self.goal.path_offsets[word + 1])
            return tuple(self.goal.path[span].tolist()), (self.goal.path_signs[span] > 0).astype(np.float64)
        others = list(self.ahead if fresh else self.shared)
        for k, other in enumerate(others):
            if other == word:
                state, others[k] = draw_other(np.uint64(self.state), self.goal.cells, word)
                self.state = int(state)
        self.shared = others
        if fresh:
            self._fetch()
        return (word, *others), np.eye(1, len(others) + 1)[0]

    def kept(self, word: int, token: int) -> tuple[int, int] | None:
        """Return a token's word (-1 for the gap) and how far its window reaches; None if it is left out."""
        x = _mixed(self.key + _times(token))
        if (x >> 32) >= int(self.limits[word]):
            return None
        window = self.plan.window
        less = 0 if self.plan.fixed_window else ((x & 0xFFFFFFFF) * window) >> 32
        return (-1 if word == len(self.limits) - 1 else word), window - less


def _mixed(x: int) -> int:
    return int(mix(np.uint64(x & _ALL)))


def _times(token: int) -> int:
    return (token * int(GOLD)) & _ALL


def _centres(tokens: Tokens, plan: Plan, share: int, goal: _Goal) -> Iterator[tuple[int, int, list[int]]]:
    """Yield (start of its share, word, contexts) of each centre with a context, in the order of the text."""
    ids, ends, size = tokens.ids, np.asarray(tokens.row_offsets), len(tokens.ids)
    for first in range(0, size, share):
        goal.begin(first)
        row = int(np.searchsorted(ends, first, side="right")) - 1
        start, last = first, min(first + share, size)
        while start < last:
            stop = min(last, int(ends[row + 1]))
            middle = _keep(ids, range(start, stop), goal, stop - start)
            before = _keep(ids, range(start - 1, int(ends[row]) - 1, -1), goal, plan.window)[::-1]
            after = _keep(ids, range(stop, int(ends[row + 1])), goal, plan.window)
            places = [*before, *middle, *after]
            for i in range(len(before), len(before) + len(middle)):
                word, reach = places[i]
                near = [*places[max(i - reach, 0) : i], *places[i + 1 : i + reach + 1]]
                contexts = [other for other, _ in near if other >= 0]
                if word >= 0 and contexts:
                    yield first, word, contexts
            start, row = stop, row + 1


def _keep(ids: Any, tokens: range, goal: _Goal, most: int) -> list[tuple[int, int]]:
    """Return the first ``most`` kept tokens."""
    found: list[tuple[int, int]] = []
    for token in tokens:
        if len(found) >= most:
            break
        one = goal.kept(int(ids[token]), token)
        if one is not None:
            found.append(one)
    return found
