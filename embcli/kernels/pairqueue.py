"""Pairs of symbols: a hash table of them, the places where they stand, and a queue with the most frequent one on top.

Of each pair we keep how often it stands in the text, and where it did when it was last made: places are looked at
again when their turn comes, and those that have changed are passed over. A pair's count only falls after it was made,
so pairs rarer than the least frequency are forgotten at once, and the queue may hold counts that are too high: an
entry is corrected when it comes to the top. Symbols and ``state`` are in symbols.py; merging.py does the rest.
"""

from typing import NamedTuple

import numpy as np

from embcli.kernels._jit import kernel
from embcli.kernels.symbols import _HALF, _ODD, PAIRS, PLACES, QUEUED, length, lives, run_of

#: columns of ``Pairs.rows``: left id << 32 | right id, how often, where its places begin and end
KEY, COUNT, START, STOP = range(4)


class Pairs(NamedTuple):
    """Pairs of symbols that were ever frequent enough.

    slots : int32, a power of two of them, number of a pair + 1 or 0.  rows : int64 (capacity, 4), see KEY.
    places : int32, nodes where the left symbol of a pair begins, ascending.
    """

    slots: np.ndarray
    rows: np.ndarray
    places: np.ndarray


@kernel
def _slot(slots, key):
    """Return the first slot to look at for a key."""
    h = np.uint64(key) * _ODD
    return np.int64((h ^ (h >> _HALF)) & np.uint64(len(slots) - 1))


@kernel
def seek(slots, rows, key):
    """Return the slot that holds a pair, or the empty one where it would be."""
    i = _slot(slots, key)
    while slots[i] != 0 and rows[slots[i] - 1, KEY] != key:
        i = (i + 1) & (len(slots) - 1)
    return i


@kernel
def enter(slots, rows, key, state):
    """Return the number of a pair, which is added with count 0 if it is new."""
    i = seek(slots, rows, key)
    if slots[i] == 0:
        at = state[PAIRS]
        slots[i] = at + 1
        rows[at, KEY] = key
        rows[at, COUNT] = rows[at, START] = rows[at, STOP] = 0
        state[PAIRS] = at + 1
    return np.int64(slots[i]) - 1


@kernel
def rehash(slots, rows, n):
    """Fill the slots, all 0, with the first ``n`` pairs."""
    for at in range(n):
        slots[seek(slots, rows, rows[at, KEY])] = at + 1


@kernel
def _before(queue, i, j):
    """Return whether entry i of the queue comes before entry j: a higher count first, then a lower rank."""
    if queue[i, 0] != queue[j, 0]:
        return queue[i, 0] > queue[j, 0]
    return queue[i, 1] < queue[j, 1]


@kernel
def _swap(queue, i, j):
    for c in range(3):
        queue[i, c], queue[j, c] = queue[j, c], queue[i, c]


@kernel
def push(queue, count, rank, pair, state):
    """Add an entry to the queue, a binary heap: int64 (capacity, 3), count, rank, pair."""
    i = state[QUEUED]
    state[QUEUED] = i + 1
    queue[i, 0], queue[i, 1], queue[i, 2] = count, rank, pair
    while i > 0 and _before(queue, i, (i - 1) >> 1):
        _swap(queue, i, (i - 1) >> 1)
        i = (i - 1) >> 1


@kernel
def _sink(queue, n):
    """Put the first of ``n`` entries where it belongs."""
    i = 0
    while 2 * i + 1 < n:
        child = 2 * i + 1
        if child + 1 < n and _before(queue, child + 1, child):
            child += 1
        if not _before(queue, child, i):
            return
        _swap(queue, i, child)
        i = child


@kernel
def rank_of(sym, pairs, pair, first_seen):
    """Return the rank of a pair among equally frequent ones: its ids, or the first node where it stands."""
    key = pairs.rows[pair, KEY]
    if not first_seen:
        return key
    at, stop = pairs.rows[pair, START], pairs.rows[pair, STOP]
    while at < stop and not lives(sym, key, pairs.places[at]):
        at += 1
    pairs.rows[pair, START] = at
    return np.int64(pairs.places[at]) if at < stop else np.int64(1) << 62


@kernel
def best(sym, pairs, queue, least, first_seen, state):
    """Return the pair to merge next, or -1 if none is as frequent as ``least``; it stays in the queue."""
    while state[QUEUED] > 0:
        pair = queue[0, 2]
        count = pairs.rows[pair, COUNT]
        if count < least:
            state[QUEUED] -= 1
            _swap(queue, 0, state[QUEUED])
        else:
            rank = rank_of(sym, pairs, pair, first_seen)
            if count == queue[0, 0] and rank == queue[0, 1]:
                return pair
            queue[0, 0], queue[0, 1] = count, rank
        _sink(queue, state[QUEUED])
    return np.int64(-1)


@kernel
def survey(forest, slots, rows, state, start, stop):
    """Count the pairs of nodes [start, stop), and how many places each has (in STOP of the pair).

    Returns the node to go on from, before ``stop`` if there may be no room for another pair.
    """
    sym, most = forest.sym, min(len(slots) // 2, len(rows))
    node, run = start, 0
    while node < stop and state[PAIRS] < most:
        a, b = np.int64(sym[node]), np.int64(sym[node + 1])
        if a >= 0 and b >= 0:
            run = run_of(forest.begin, node, run)
            at = enter(slots, rows, a << 32 | b, state)
            rows[at, COUNT] += forest.weight[run]
            rows[at, STOP] += 1
        node += 1
    return node


@kernel
def settle(sym, pairs, queue, tokens, least, longest, first_seen, state):
    """Write down the places of all pairs that were surveyed, and queue those that may be merged."""
    slots, rows, places = pairs
    for at in range(state[PAIRS]):
        key, number = rows[at, KEY], rows[at, STOP]
        rows[at, START] = rows[at, STOP] = state[PLACES]
        if rows[at, COUNT] < least or length(tokens, key >> 32) + length(tokens, key & 0xFFFFFFFF) > longest:
            rows[at, COUNT] = 0
        state[PLACES] += number * (rows[at, COUNT] > 0)
    for node in range(1, len(sym) - 1):
        a, b = np.int64(sym[node]), np.int64(sym[node + 1])
        if a >= 0 and b >= 0:
            at = slots[seek(slots, rows, a << 32 | b)] - 1
            if rows[at, COUNT] > 0:
                places[rows[at, STOP]] = node
                rows[at, STOP] += 1
    for at in range(state[PAIRS]):
        if rows[at, COUNT] > 0:
            push(queue, rows[at, COUNT], rank_of(sym, pairs, at, first_seen), at, state)


@kernel
def compact(sym, pairs, order, state):
    """Forget places at which nothing is left to merge. order : the pairs by START."""
    _, rows, places = pairs
    n = 0
    for at in order:
        start, stop, key = rows[at, START], rows[at, STOP], rows[at, KEY]
        rows[at, START] = n
        if rows[at, COUNT] > 0:
            for k in range(start, stop):
                if lives(sym, key, places[k]):
                    places[n] = places[k]
                    n += 1
        rows[at, STOP] = n
    state[PLACES] = n
