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
from embcli.errors import InputError
from embcli.kernels import merging as k
from embcli.kernels import pairqueue as q
from embcli.kernels import symbols as s
from embcli.text.typetable import power_of_two

#: nodes surveyed, and places looked at, between two looks at the clock
_PATIENCE = 3_000_000
#: pairs, tokens and merges that there is room for at first
_FEW = 1 << 12
#: more bytes than a token can have
_ANY = 1 << 62


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
    highest : how often the most frequent pair stood before the first merge; 0 if there was none.
    """

    tokens: Words
    merges: NDArray[np.int32]
    counts: NDArray[np.int64]
    highest: int = 0


def learn(
    symbols: NDArray[np.int32],
    begins: NDArray[np.int64],
    weights: NDArray[np.int64],
    base: Words,
    rules: Rules,
    tell: Callable[[int], None] = lambda n: None,
) -> Learned:
    """Return the merges that types teach. Raises InputError if they have 2**31 symbols, or 2**62 with their weights.

    Parameters
    ----------
    symbols
        Base ids of all types, one type after another.
    begins
        Where each type begins, and one more: where the last one ends.
    weights
        How often each type occurs; the order of types matters for ``first_seen`` only.
    base
        What the ids that are there from the beginning spell, in bytes; all different.
    rules
        See ``Rules``.
    tell
        Called now and then with the tokens so far.
    """
    return _Learner(_plant(symbols, begins, weights, rules.first_seen), base, rules).run(tell)


class _Learner:
    """The arrays of one run."""

    def __init__(self, forest: s.Forest, base: Words, rules: Rules) -> None:
        self.rules, self.state, self.forest, self.highest = rules, np.zeros(8, np.int64), forest, 0
        self.pairs = q.Pairs(np.zeros(16 * _FEW, np.int32), np.empty((8 * _FEW, 4), np.int64), np.empty(0, np.int32))
        self.queue = np.empty((0, 3), np.int64)
        self.tokens = self._base(base)
        self.room = k.Room(np.empty((0, 5), np.int32), np.empty((2, 0, 3), np.int64), np.empty((2, 0), np.int32))
        self.merges, self.counts = np.empty((_FEW, 2), np.int32), np.empty(_FEW, np.int64)

    def _base(self, base: Words) -> s.Tokens:
        n, length = len(base), len(base.data)
        data, begin = np.empty(2 * length + 16 * _FEW, np.uint8), np.zeros(2 * n + _FEW, np.int64)
        data[:length], begin[: n + 1] = base.data, base.offsets
        self.state[[s.TOKENS, s.BYTES]] = n, length
        return self._indexed(data, begin)

    def _indexed(self, data: NDArray[np.uint8], begin: NDArray[np.int64]) -> s.Tokens:
        """Return tokens with slots for twice as many as ``begin`` has room for."""
        tokens = s.Tokens(data, begin, np.zeros(power_of_two(4 * len(begin)), np.int32))
        s.index_tokens(tokens, int(self.state[s.TOKENS]))
        return tokens

    def run(self, tell: Callable[[int], None]) -> Learned:
        """Survey the types, then merge until it is over."""
        self._survey(tell)
        rules, state = self.rules, self.state
        limits = (rules.least, rules.longest or _ANY, rules.first_seen)
        status = k.PAUSE
        while status not in (k.DONE, k.EMPTY):
            status = k.learn(
                self.forest, self.pairs, self.queue, self.tokens, self.room, self.merges, self.counts, rules.size,
                limits, _PATIENCE, state,
            )  # fmt: skip
            if status == k.GROW:
                self._grow()
            tell(int(state[s.TOKENS]))
        n, m = int(state[s.TOKENS]), int(state[s.MERGES])
        begin = self.tokens.begin[: n + 1].copy()
        tokens = Words(self.tokens.data[: begin[-1]].copy(), begin)
        return Learned(tokens, self.merges[:m].copy(), self.counts[:m].copy(), self.highest)

    def _survey(self, tell: Callable[[int], None]) -> None:
        """Count all pairs, and write down their places."""
        rules, state = self.rules, self.state
        node, stop = 1, len(self.forest.sym) - 1
        while node < stop:
            to = min(node + _PATIENCE, stop)
            node = int(q.survey(self.forest, self.pairs.slots, self.pairs.rows, state, node, to))
            if node < to:
                self._more_pairs()
            tell(0)
        n = int(state[s.PAIRS])
        places = int(self.pairs.rows[:n, q.STOP].sum())
        self.highest = int(self.pairs.rows[:n, q.COUNT].max(initial=0))
        self.pairs = self.pairs._replace(places=np.empty(places + places // 4, np.int32))
        self.queue = np.empty((3 * n // 2, 3), np.int64)
        q.settle(
            self.forest.sym, self.pairs, self.queue, self.tokens, rules.least, rules.longest or _ANY,
            rules.first_seen, state,
        )  # fmt: skip

    def _grow(self) -> None:
        """Make room for the next merge, and for more like it."""
        state = self.state
        nodes, more = int(state[s.NODES]), 2 * min(int(state[s.NODES]), int(state[s.TOKENS]) + 1) + 2
        while state[s.PAIRS] + more > min(len(self.pairs.rows), len(self.pairs.slots) // 2):
            self._more_pairs()
        if state[s.PLACES] + 2 * nodes > len(self.pairs.places):
            self._more_places(2 * nodes)
        if state[s.QUEUED] + more > len(self.queue):
            self.queue = _longer(self.queue, 3 * len(self.queue) // 2 + more)
        if state[s.TOKENS] + 1 >= min(len(self.tokens.begin) - 1, len(self.tokens.slots) // 2):
            begin = _longer(self.tokens.begin, 2 * len(self.tokens.begin))
            self.tokens = self._indexed(self.tokens.data, begin)
        if state[s.BYTES] + state[s.LENGTH] > len(self.tokens.data):
            size = 2 * len(self.tokens.data) + int(state[s.LENGTH])
            self.tokens = self.tokens._replace(data=_longer(self.tokens.data, size))
        if nodes > len(self.room.made):
            self.room = self.room._replace(made=np.empty((nodes + nodes // 4, 5), np.int32))
        if state[s.TOKENS] + 1 >= self.room.seen.shape[1]:
            size = 2 * int(state[s.TOKENS]) + (1 << 10)
            self.room = self.room._replace(sums=np.zeros((2, size, 3), np.int64), seen=np.empty((2, size), np.int32))
        if state[s.MERGES] >= len(self.merges):
            size = 2 * len(self.merges)
            self.merges, self.counts = _longer(self.merges, size), _longer(self.counts, size)

    def _more_pairs(self) -> None:
        rows = _longer(self.pairs.rows, 2 * len(self.pairs.rows))
        slots = np.zeros(2 * len(self.pairs.slots), np.int32)
        q.rehash(slots, rows, int(self.state[s.PAIRS]))
        self.pairs = self.pairs._replace(slots=slots, rows=rows)

    def _more_places(self, more: int) -> None:
        """Forget the places that are merged; if few are, make room."""
        order = np.argsort(self.pairs.rows[: int(self.state[s.PAIRS]), q.START], kind="stable")
        q.compact(self.forest.sym, self.pairs, order, self.state)
        need = int(self.state[s.PLACES]) + more
        need += need // 8
        if need > len(self.pairs.places):
            self.pairs = self.pairs._replace(places=_longer(self.pairs.places, need))


def _plant(
    symbols: NDArray[np.int32], begins: NDArray[np.int64], weights: NDArray[np.int64], ordered: bool
) -> s.Forest:
    """Return the types that have pairs as nodes with walls between them; unless ``ordered``, frequent types first."""
    sizes = np.diff(begins)
    order = np.flatnonzero(sizes > 1)
    if not ordered:
        order = order[np.argsort(-weights[order], kind="stable")]
    ends = np.cumsum(sizes[order] + 1)
    total = int(ends[-1]) + 1 if len(order) else 1
    if total >= 1 << 31:
        raise InputError(f"{total:,} symbols in different pieces are too many to learn from; give less text")
    if np.dot(sizes.astype(float), weights) >= 1 << 62:
        raise InputError("the counts add up to more than 2**62; divide them all by one number")
    sym = np.full(total, s.WALL, np.int32)
    s.plant(symbols, begins, order, sym)
    weights = weights[order]
    runs = np.flatnonzero(np.diff(weights, prepend=-1))
    return s.Forest(sym, np.append((ends - sizes[order])[runs], total), weights[runs])


def _longer(array: Any, size: int) -> Any:
    """Return a copy with room for ``size`` items."""
    new = np.empty((size, *array.shape[1:]), array.dtype)
    new[: len(array)] = array
    return new
