"""From the gradients of the lanes to new parameters: sums in order, clipping, AdamW or plain steps, and the rate."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embcli.kernels import optimizers
from embcli.models.workroom import Layout

Array = NDArray[Any]
#: numbers that one task takes
_SPAN = 1 << 16
#: parameters whose rows weight decay leaves alone: tables; biases and gains are found by their names
_TABLES = {"token_rows", "position_rows", "output_rows"}

#: runs work on each item, on whatever threads, and gives the results in order
Map = Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]]


@dataclass(frozen=True)
class Schedule:
    """The rate of each step: it rises linearly for ``warmup`` steps, then falls to ``least`` at step ``steps``."""

    lr: float
    least: float
    warmup: int
    steps: int
    decay: str = "cosine"

    def rate(self, step: int) -> float:
        """Return the rate of a step, from 1."""
        if step <= self.warmup:
            return self.lr * step / self.warmup
        done = (step - self.warmup) / max(self.steps - self.warmup, 1)
        if self.decay == "none":
            return self.lr
        left = (1 + math.cos(math.pi * done)) / 2 if self.decay == "cosine" else 1 - done
        return self.least + (self.lr - self.least) * left


@dataclass(frozen=True)
class Rule:
    """How a step is made: ``adamw`` or plain; ``clip`` 0 is no clipping."""

    adamw: bool
    beta1: float = 0.9
    beta2: float = 0.95
    weight_decay: float = 0.1
    clip: float = 1.0


class Optimizer:
    """Changes parameters in place.

    theta : all parameters (size,).  gradients : (lanes, size), used up at each step.  mean, square : AdamW's state,
    (size,), without numbers for plain steps.  frozen : names that stay as they are.
    """

    def __init__(self, layout: Layout, theta: Array, lanes: int, rule: Rule, frozen: frozenset[str]) -> None:
        self.theta, self.rule = theta, rule
        self.gradients = np.zeros((lanes, layout.size), theta.dtype)
        state = layout.size if rule.adamw else 0
        self.mean, self.square = np.zeros(state, theta.dtype), np.zeros(state, theta.dtype)
        self.tasks: list[tuple[int, int, bool]] = []
        for name, (start, stop) in layout.spans.items():
            if name not in frozen:
                decayed = name not in _TABLES and not name.endswith(("_bias", "_gain"))
                self.tasks += [(a, min(a + _SPAN, stop), decayed) for a in range(start, stop, _SPAN)]

    def step(self, number: int, lr: float, run: Map) -> float:
        """Make step ``number``, from 1, and return the norm of the gradient before clipping."""
        rule = self.rule
        squares = list(run(lambda task: optimizers.gather(self.gradients, task[0], task[1]), self.tasks))
        norm = math.sqrt(sum(squares))
        if not math.isfinite(norm):
            return norm
        factor = rule.clip / norm if rule.clip and norm > rule.clip else 1.0
        first, second = 1 - rule.beta1**number, 1 - rule.beta2**number

        def change(task: tuple[int, int, bool]) -> None:
            start, stop, decayed = task
            theta, g = self.theta[start:stop], self.gradients[0, start:stop]
            if not rule.adamw:
                optimizers.descend(theta, g, factor, lr)
                return
            mean, square = self.mean[start:stop], self.square[start:stop]
            keep = 1 - lr * rule.weight_decay if decayed else 1.0
            optimizers.adamw(theta, g, mean, square, factor, lr, rule.beta1, rule.beta2, first, second, keep)

        for _ in run(change, self.tasks):
            pass
        return norm
