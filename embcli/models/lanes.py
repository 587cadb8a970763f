"""One step of a Transformer's training on all threads: lanes of windows side by side, their gradients in order.

How a batch is shared out follows from the shapes alone: about ``_TOKENS`` tokens go through the matrix products at a
time, and as many such lanes as the batch fills, up to ``_LANES``, have gradients of their own.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embcli.models.network import Network
from embcli.models.optimizer import Map, Optimizer, Rule
from embcli.models.passes import Dropout
from embcli.models.transformer import Config
from embcli.models.workroom import Layout, Room, Rows

_TOKENS, _LANES = 512, 8
#: bytes that the gradients of all lanes may take, if there are more than two
_GRADIENTS = 1 << 29


class Rooms:
    """Memory to work in, as much as threads work at a time, each for ``windows`` windows of a configuration."""

    def __init__(self, config: Config, windows: int, dtype: Any) -> None:
        self.config, self.windows, self.dtype = config, windows, dtype
        self._free: deque[Room] = deque()

    @contextmanager
    def one(self) -> Iterator[Room]:
        """Lend room that nobody works in."""
        try:
            room = self._free.pop()
        except IndexError:
            room = Room(self.config, self.windows, self.dtype)
        yield room
        self._free.append(room)


class Lanes:
    """A Transformer in training.

    Parameters
    ----------
    config, theta : what it is like, and all its parameters, changed in place.
    batch : windows of a step.  rule : of the optimizer.  frozen : leave the token rows as they are.
    run : runs work on items, on any number of threads, in the order of the items (``Job.crew``).
    """

    def __init__(
        self, config: Config, theta: NDArray[Any], batch: int, rule: Rule, frozen: bool = False, run: Map = map
    ) -> None:
        self.config, self.run, layout = config, run, Layout(config)
        self.count = lanes_of(config, batch)
        self.optimizer = Optimizer(layout, theta, self.count, rule, frozenset({"token_rows"} if frozen else ()))
        self.network = Network(config, layout.views(theta), frozen)
        self.gradients = [layout.views(row) for row in self.optimizer.gradients]
        self.bounds = [(lane * batch // self.count, (lane + 1) * batch // self.count) for lane in range(self.count)]
        self.windows = windows_at_once(config, batch)
        self.rooms = Rooms(config, self.windows, theta.dtype)

    def step(self, rows: Rows, number: int, lr: float, dropout: Dropout | None = None) -> tuple[float, float]:
        """Make step ``number`` (from 1) on a batch; return its mean loss in nats, and the norm of the gradient."""
        targets = max(int((rows.targets >= 0).sum()), 1)
        T = self.config.context

        def work(lane: int) -> float:
            start, end = self.bounds[lane]
            loss = 0.0
            # what diverges is found out by its loss
            with self.rooms.one() as room, np.errstate(over="ignore", invalid="ignore"):
                for a in range(start, end, self.windows):
                    part = rows.part(a * T, min(a + self.windows, end) * T)
                    loss += self.network.gradients(part, room, self.gradients[lane], 1 / targets, dropout, a == start)
            return loss

        loss = sum(list(self.run(work, range(self.count)))) / targets
        if not np.isfinite(loss):
            return loss, float("nan")
        return loss, self.optimizer.step(number, lr, self.run)

    def loss(self, rows: Rows) -> float:
        """Return the mean loss of the targets of some windows, nats."""
        return mean_loss(self.network, rows, self.rooms, self.run)


def mean_loss(network: Network, rows: Rows, rooms: Rooms, run: Map) -> float:
    """Return the mean loss of the targets of some windows, nats; no dropout."""
    span = rooms.windows * rooms.config.context

    def work(start: int) -> float:
        with rooms.one() as room, np.errstate(over="ignore", invalid="ignore"):
            return network.loss(rows.part(start, start + span), room)

    total = sum(list(run(work, range(0, len(rows.ids), span))))
    return float(total / max(int((rows.targets >= 0).sum()), 1))


def windows_at_once(config: Config, batch: int) -> int:
    """Return how many windows go through the matrix products together."""
    return max(1, min(_TOKENS // config.context, -(-batch // lanes_of(config, batch))))


def lanes_of(config: Config, batch: int) -> int:
    """Return how many lanes have gradients of their own."""
    most = max(2, _GRADIENTS // (4 * Layout(config).size))
    return max(1, min(batch, batch * config.context // _TOKENS, _LANES, most))
