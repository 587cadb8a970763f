"""GloVe in plain loops and float64 (Pennington, Socher and Manning 2014, equation 8; AdaGrad as in their program).

Cost of a cell: f(X) e^2 / 2 with e = w.c + b + b' - ln X and f(X) = min(1, (X / x_max)^power). A step: g = lr * f e *
(the other side), cut to +-lr * clip; value -= g / sqrt(sum), sum += g^2, sums 1 at the start.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
#: row, column, count
Cell = tuple[int, int, float]


class Twin:
    """Two tables with biases as one more column each; sums of squared gradients beside."""

    def __init__(self, words: Floats, contexts: Floats, word_bias: Floats, context_bias: Floats) -> None:
        self.words = np.column_stack((words, word_bias)).astype(np.float64)
        self.contexts = np.column_stack((contexts, context_bias)).astype(np.float64)
        self.sums = np.ones_like(self.words), np.ones_like(self.contexts)

    def error(self, cell: Cell) -> float:
        i, j, x = cell
        w, c = self.words[i], self.contexts[j]
        return float(w[:-1] @ c[:-1] + w[-1] + c[-1] - math.log(x))

    def cost(self, cells: Iterable[Cell], x_max: float, power: float) -> float:
        return math.fsum(weight(cell[2], x_max, power) * self.error(cell) ** 2 / 2 for cell in cells)

    def step(self, cell: Cell, lr: float, x_max: float, power: float, clip: float = 100.0) -> None:
        i, j, x = cell
        pull = weight(x, x_max, power) * self.error(cell)
        w, c = self.words[i].copy(), self.contexts[j].copy()
        for row, other, sums in ((self.words[i], c, self.sums[0][i]), (self.contexts[j], w, self.sums[1][j])):
            g = lr * np.clip(pull * np.append(other[:-1], 1.0), -clip, clip)
            row -= g / np.sqrt(sums)
            sums += g * g


def weight(x: float, x_max: float, power: float) -> float:
    return 1.0 if x >= x_max else (x / x_max) ** power
