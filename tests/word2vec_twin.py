"""Word2vec in plain loops and float64: the objective of each variant, its gradient, and one step of descent.

One prediction: an input vector h meets output vectors y_k with scores s_k = h . y_k.

- full softmax, target t:         L = -log(exp(s_t) / sum_k exp(s_k))
- negative sampling, y_0 right:   L = -log sigmoid(s_0) - sum_{k > 0} log sigmoid(-s_k)
- hierarchical, turns z_k = +-1:  L = -sum_k log sigmoid(z_k s_k)

h is a row of the input table (skip-gram), or the mean or the sum of several (CBOW).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

Vector = list[float]


def dot(a: Sequence[float], b: Sequence[float]) -> float:
    return math.fsum(x * y for x, y in zip(a, b, strict=True))


def sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x))


def loss(kind: str, h: Sequence[float], outputs: Sequence[Sequence[float]], labels: Sequence[float]) -> float:
    """Return L; ``labels`` are 1 for what is right (of a tree: for z = +1), else 0."""
    scores = [dot(h, y) for y in outputs]
    if kind == "softmax":
        return math.log(math.fsum(math.exp(s) for s in scores)) - dot(scores, labels)
    return -math.fsum(math.log(sigmoid(s if label else -s)) for s, label in zip(scores, labels, strict=True))


def errors(kind: str, h: Sequence[float], outputs: Sequence[Sequence[float]], labels: Sequence[float]) -> Vector:
    """Return dL / ds_k: probability minus label."""
    scores = [dot(h, y) for y in outputs]
    total = math.fsum(math.exp(s) for s in scores)
    p = [math.exp(s) / total if kind == "softmax" else sigmoid(s) for s in scores]
    return [a - b for a, b in zip(p, labels, strict=True)]


def gradient(kind: str, h: Sequence[float], outputs: Sequence[Sequence[float]], labels: Sequence[float]) -> Vector:
    """Return dL / dh."""
    e = errors(kind, h, outputs, labels)
    return [math.fsum(e[k] * outputs[k][j] for k in range(len(outputs))) for j in range(len(h))]


def hidden(rows: Sequence[Sequence[float]], mean: bool) -> Vector:
    return [math.fsum(row[j] for row in rows) / (len(rows) if mean else 1) for j in range(len(rows[0]))]


def step(
    kind: str, inputs: dict[str, Vector], outputs: dict[object, Vector], words: Sequence[str], keys: Sequence[object],
    labels: Sequence[float], rate: float, mean: bool = True, frozen: bool = False,
) -> float:  # fmt: skip
    """Make one step on the tables, in place; return the loss before it.

    Every row takes the whole step of h, of a mean too, as in word2vec's code (and gensim's).
    """
    h, ys = hidden([inputs[w] for w in words], mean), [outputs[k] for k in keys]
    before, g, e = loss(kind, h, ys, labels), gradient(kind, h, ys, labels), errors(kind, h, ys, labels)
    for w in words:
        inputs[w] = [x - rate * d for x, d in zip(inputs[w], g, strict=True)]
    for k, error in zip(keys, e, strict=True):
        if not frozen:
            outputs[k] = [y - rate * error * x for y, x in zip(outputs[k], h, strict=True)]
    return before
