"""Learn merges from counted types: the arrays of the kernel, and what makes them larger.

The loop is ``kernels.merging``; what types are is decided before (pretokens.py), what becomes of the merges behind
(bpe_train.py). The readable twin is bpe_plain.py.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embcli.artifacts.schema import Words
from embcli.kernels import merging as k

#: nodes surveyed, and places looked at, between two looks at the clock
_PATIENCE = 3_000_000


@dataclass(frozen=True)
class Rules:
    """When to stop, and which pairs may merge.

    size : tokens at most.  least : how often a pair must occur.  longest : bytes of a token at most.
    first_seen : of equally frequent pairs take the one that stands first, not the one with the lowest ids.
    """

    size: int
    least: int = 2
    longest: int | None = None
    first_seen: bool = False


@dataclass(frozen=True)
class Learned:
    """What was learned.

    tokens : the bytes of all ids, those of the beginning first.  merges : int32 (n, 2).  counts : int64 (n,).
    """

    tokens: Words
    merges: NDArray[np.int32]
    counts: NDArray[np.int64]


def learn(
    symbols: NDArray[np.int32],
    sizes: NDArray[np.int64],
    weights: NDArray[np.int64],
    base: Words,
    rules: Rules,
    tell: Callable[[int], None] = lambda n: None,
) -> Learned:
    """Return the merges that types teach.

    Parameters
    ----------
    symbols
        Base ids of all types, one type after another.
    sizes
        Symbols of each type.
    weights
        How often each type occurs; the order of types matters for ``first_seen`` only.
    base
        What the ids that are there from the beginning spell, in bytes; all different.
    rules
        See ``Rules``.
    tell
        Called now and then with the tokens so far.
    """
    return _Learner(symbols, sizes, weights, base, rules).run(tell)


class _Learner:
    """The arrays of one run."""

    def __init__(
        self,
        symbols: NDArray[np.int32],
        sizes: NDArray[np.int64],
        weights: NDArray[np.int64],
        base: Words,
        rules: Rules,
    ) -> None:
        self.rules, self.state = rules, np.zeros(8, np.int64)
        self.forest = _plant(symbols, sizes, weights)
        nodes = len(self.forest.sym)
        self.pairs = _pairs(1 << 16, 0)
        self.queue = k.Queue(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.int32))
        self.tokens = self._base(base)
        self.room = k.Room(np.empty(min(nodes, 1 << 16), np.int32), _beside(0), _beside(0))
        self.merges, self.counts = np.empty((1 << 12, 2), np.int32), np.empty(1 << 12, np.int64)

    def _base(self, base: Words) -> k.Tokens:
        n, length = len(base), len(base.data)
        data, begin = np.empty(2 * length + (1 << 16), np.uint8), np.zeros(2 * n + (1 << 12), np.int64)
        data[:length], begin[: n + 1] = base.data, base.offsets
        self.state[[k.TOKENS, k.BYTES]] = n, length
        return self._indexed(data, begin)

    def _indexed(self, data: NDArray[np.uint8], begin: NDArray[np.int64]) -> k.Tokens:
        """Return tokens with slots for twice as many as ``begin`` has room for."""
        tokens = k.Tokens(data, begin, np.zeros(_power(4 * len(begin)), np.int32))
        for at in range(int(self.state[k.TOKENS])):
            if begin[at + 1] > begin[at]:
                k.place_token(tokens, begin[at], begin[at + 1], at)
        return tokens

    def run(self, tell: Callable[[int], None]) -> Learned:
        """Survey the types, then merge until it is over."""
        rules, state = self.rules, self.state
        longest = rules.longest or 1 << 62
        node, nodes = 0, len(self.forest.sym)
        while node < nodes:
            before = node
            node = k.survey(self.forest, self.pairs, state, node, min(node + _PATIENCE, nodes))
            if node == before:
                self._more_pairs()
            tell(0)
        self._more_places(int(self.pairs.stop[: int(state[k.PAIRS])].sum()))
        self._more_queue(int(state[k.PAIRS]))
        k.settle(self.forest, self.pairs, self.queue, self.tokens, rules.least, longest, rules.first_seen, state)
        status = k.PAUSE
        while status not in (k.DONE, k.EMPTY):
            status = k.learn(
                self.forest, self.pairs, self.queue, self.tokens, self.room, self.merges, self.counts,
                rules.size, (rules.least, longest), rules.first_seen, _PATIENCE, state,
            )  # fmt: skip
            if status == k.GROW:
                self._grow()
            tell(int(state[k.TOKENS]))
        n, m = int(state[k.TOKENS]), int(state[k.MERGES])
        begin = self.tokens.begin[: n + 1].copy()
        return Learned(
            Words(self.tokens.data[: begin[-1]].copy(), begin), self.merges[:m].copy(), self.counts[:m].copy()
        )

    def _grow(self) -> None:
        """Make room for the next merge, and for more like it."""
        state = self.state
        nodes, more = int(state[k.NODES]), 2 * min(int(state[k.NODES]), int(state[k.TOKENS]) + 1) + 2
        while state[k.PAIRS] + more > min(len(self.pairs.key), len(self.pairs.slots) // 2):
            self._more_pairs()
        if state[k.PLACES] + 2 * nodes > len(self.pairs.places):
            self._more_places(2 * nodes)
        if state[k.QUEUED] + more > len(self.queue.pair):
            self._more_queue(more)
        if state[k.TOKENS] + 1 >= min(len(self.tokens.begin) - 1, len(self.tokens.slots) // 2):
            begin = _longer(self.tokens.begin, 2 * len(self.tokens.begin))
            self.tokens = self._indexed(self.tokens.data, begin)
        if state[k.BYTES] + state[k.LENGTH] > len(self.tokens.data):
            size = 2 * len(self.tokens.data) + int(state[k.LENGTH])
            self.tokens = self.tokens._replace(data=_longer(self.tokens.data, size))
        if nodes > len(self.room.made):
            size = min(max(2 * len(self.room.made), nodes), len(self.forest.sym))
            self.room = self.room._replace(made=np.empty(size, np.int32))
        if state[k.TOKENS] + 1 >= len(self.room.left.seen):
            size = 2 * int(state[k.TOKENS]) + (1 << 10)
            self.room = self.room._replace(left=_beside(size), right=_beside(size))
        if state[k.MERGES] >= len(self.merges):
            size = 2 * len(self.merges)
            self.merges, self.counts = _longer(self.merges, size), _longer(self.counts, size)

    def _more_pairs(self) -> None:
        n, old = int(self.state[k.PAIRS]), self.pairs
        new = _pairs(2 * len(old.slots), len(old.places))._replace(places=old.places)
        for name in ("key", "count", "start", "stop"):
            getattr(new, name)[:n] = getattr(old, name)[:n]
        k.rehash(new, n)
        self.pairs = new

    def _more_places(self, more: int) -> None:
        used = int(self.state[k.PLACES])
        self.pairs = self.pairs._replace(places=_longer(self.pairs.places, used + used // 4 + more))

    def _more_queue(self, more: int) -> None:
        size = 3 * len(self.queue.pair) // 2 + more
        self.queue = k.Queue(*(_longer(array, size) for array in self.queue))


def _plant(symbols: NDArray[np.int32], sizes: NDArray[np.int64], weights: NDArray[np.int64]) -> k.Forest:
    """Return types as nodes with walls between them."""
    owner = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
    nodes = np.arange(len(symbols), dtype=np.int64)
    nodes += owner
    nodes += 1
    total = len(symbols) + len(sizes) + 1
    sym, owners = np.full(total, k.WALL, np.int32), np.zeros(total, np.int32)
    sym[nodes], owners[nodes] = symbols, owner
    return k.Forest(sym, np.ones(total, np.int32), owners, np.asarray(weights, np.int64))


def _pairs(slots: int, places: int) -> k.Pairs:
    n = slots // 2
    return k.Pairs(
        np.zeros(slots, np.int32), np.empty(n, np.int64), np.empty(n, np.int64),
        np.empty(n, np.int64), np.empty(n, np.int64), np.empty(places, np.int32),
    )  # fmt: skip


def _beside(size: int) -> k.Beside:
    return k.Beside(
        np.zeros(size, np.int64), np.zeros(size, np.int64), np.zeros(size, np.int64), np.empty(size, np.int32)
    )


def _longer(array: Any, size: int) -> Any:
    """Return a copy with room for ``size`` items."""
    new = np.empty((size, *array.shape[1:]), array.dtype)
    new[: len(array)] = array
    return new


def _power(n: int) -> int:
    """Return the power of two that is at least ``n``."""
    return 1 << max(n - 1, 1).bit_length()
