"""Learn merges: the most frequent pair of neighboring symbols becomes a symbol, again and again.

Not for cutting text (pretoken.py), nor for using merges (pieces.py). The readable twin is text/bpe_plain.py. How types
are laid out is in symbols.py, what is kept of pairs in pairqueue.py.
"""

from typing import NamedTuple

import numpy as np

from embcli.kernels._jit import kernel
from embcli.kernels.pairqueue import COUNT, KEY, START, STOP, best, enter, push, seek
from embcli.kernels.symbols import (
    BYTES,
    LENGTH,
    MERGES,
    NODES,
    PAIRS,
    PLACES,
    QUEUED,
    TOKENS,
    WALL,
    after,
    length,
    lives,
    run_of,
    spell,
)

#: how a call of ``learn`` ends: enough merges, no pair left, time for a pause, or an array is too small
DONE, EMPTY, PAUSE, GROW = range(4)
#: columns of ``Room.made``: first node of a new symbol, of its left neighbor, both neighbors, which weight it has
NODE, BEFORE, LEFT, RIGHT, RUN = range(5)
#: columns of ``Room.sums``: of a neighbor, its weight, how often it was met, where its next place goes
WEIGHT, NUMBER, PLACE = range(3)


class Room(NamedTuple):
    """Scratch for one merge.

    made : int32 (capacity, 5), the new symbols, see NODE.  sums : int64 (2, capacity, 3), by side and symbol, see
    WEIGHT; all 0 between merges but for PLACE.  seen : int32 (2, capacity), the symbols met on each side.
    """

    made: np.ndarray
    sums: np.ndarray
    seen: np.ndarray


@kernel
def _join(forest, pairs, pair, new, made):
    """Merge a pair wherever it stands, left to right; write the new symbols and return how many there are."""
    sym = forest.sym
    key, n, run = pairs.rows[pair, KEY], 0, 0
    for k in range(pairs.rows[pair, START], pairs.rows[pair, STOP]):
        node = np.int64(pairs.places[k])
        if not lives(sym, key, node):
            continue
        inner = after(sym, node)
        behind = after(sym, inner)
        before = node + min(sym[node - 1], WALL)
        run = run_of(forest.begin, node, run)
        made[n, NODE], made[n, BEFORE], made[n, RUN] = node, before, run
        made[n, LEFT], made[n, RIGHT] = sym[before], sym[behind]
        if sym[before] == new:
            made[n - 1, RIGHT] = new
        sym[node] = new
        sym[node + 1] = sym[inner] = sym[behind - 1] = node - behind
        n += 1
    return n


@kernel
def _again(forest, rows, new, at, made, n, state):
    """Find every node of a symbol that was there before it was merged once more; its pairs start afresh.

    The ``n`` symbols just ``made`` have the id ``at`` so far. Returns how many symbols there are now.
    """
    sym = forest.sym
    for k in range(n):
        sym[made[k, NODE]] = new
    for pair in range(state[PAIRS]):
        if rows[pair, KEY] >> 32 == new or rows[pair, KEY] & 0xFFFFFFFF == new:
            rows[pair, COUNT] = 0
    n, run, before, node = 0, 0, 0, 1
    while node < len(sym) - 1:
        behind = after(sym, node)
        if sym[node] == new:
            run = run_of(forest.begin, node, run)
            made[n, NODE], made[n, BEFORE], made[n, RUN] = node, before, run
            made[n, LEFT], made[n, RIGHT] = sym[before], sym[behind]
            n += 1
        before, node = node, behind
    return n


@kernel
def _sum_up(weights, room, made, new):
    """Add up the neighbors of new symbols; return how many different ones there are on each side."""
    lefts = rights = 0
    rows, sums, seen = room
    for k in range(made):
        weight, left, right = weights[rows[k, RUN]], rows[k, LEFT], rows[k, RIGHT]
        if left >= 0 and left != new:  # two new symbols side by side: the left one has the right one as neighbor
            if sums[0, left, NUMBER] == 0:
                seen[0, lefts] = left
                lefts += 1
            sums[0, left, NUMBER] += 1
            sums[0, left, WEIGHT] += weight
        if right >= 0:
            if sums[1, right, NUMBER] == 0:
                seen[1, rights] = right
                rights += 1
            sums[1, right, NUMBER] += 1
            sums[1, right, WEIGHT] += weight
    return lefts, rights


@kernel
def _part(pairs, room, side, seen, symbol, other, new, forget):
    """Take pairs that ended when ``symbol`` was merged off the counts. other : the other symbol of that pair."""
    slots, rows, _ = pairs
    for k in range(seen):
        beside = np.int64(room.seen[side, k])
        near = other if beside == new else beside
        i = seek(slots, rows, near << 32 | symbol if side == 0 else symbol << 32 | near)
        if slots[i] != 0:
            rows[slots[i] - 1, COUNT] -= room.sums[side, beside, WEIGHT]
        if forget:
            room.sums[side, beside, WEIGHT] = room.sums[side, beside, NUMBER] = 0


@kernel
def _found(pairs, queue, tokens, room, side, seen, new, rules, state):
    """Make pairs of the new symbol and its neighbors on one side, with room for their places."""
    least, longest, first_seen = rules
    slots, rows, _ = pairs
    sums = room.sums[side]
    for k in range(seen):
        symbol = np.int64(room.seen[side, k])
        weight = sums[symbol, WEIGHT]
        sums[symbol, PLACE] = -1
        if weight >= least and length(tokens, symbol) + length(tokens, new) <= longest:
            key = symbol << 32 | new if side == 0 else new << 32 | symbol
            at = enter(slots, rows, key, state)
            rows[at, COUNT] = weight
            rows[at, START] = sums[symbol, PLACE] = state[PLACES]
            state[PLACES] += sums[symbol, NUMBER]
            rows[at, STOP] = state[PLACES]
            push(queue, weight, np.int64(0) if first_seen else key, at, state)  # corrected when it is on top
        sums[symbol, WEIGHT] = sums[symbol, NUMBER] = 0


@kernel
def _write(places, room, made, new):
    """Write down the places of the pairs that new symbols stand in."""
    rows, sums, _ = room
    for k in range(made):
        left, right = rows[k, LEFT], rows[k, RIGHT]
        if left >= 0 and left != new and sums[0, left, PLACE] >= 0:
            places[sums[0, left, PLACE]] = rows[k, BEFORE]
            sums[0, left, PLACE] += 1
        if right >= 0 and sums[1, right, PLACE] >= 0:
            places[sums[1, right, PLACE]] = rows[k, NODE]
            sums[1, right, PLACE] += 1


@kernel
def _fits(pairs, queue, tokens, room, merges, state):
    """Return whether there is room for what the next merge can make, at ``state[NODES]`` nodes."""
    more = 2 * min(state[NODES], state[TOKENS] + 1) + 2
    return (
        state[PAIRS] + more <= min(len(pairs.rows), len(pairs.slots) // 2)
        and state[PLACES] + 2 * state[NODES] <= len(pairs.places)
        and state[QUEUED] + more <= len(queue)
        and state[TOKENS] + 1 < min(len(tokens.begin) - 1, len(tokens.slots) // 2)
        and state[TOKENS] + 1 < room.seen.shape[1]
        and state[BYTES] + state[LENGTH] <= len(tokens.data)
        and state[NODES] <= len(room.made)
        and state[MERGES] < len(merges)
    )


@kernel
def _standing(sym, symbol):
    """Return at how many nodes a symbol stands."""
    n = 0
    for node in range(len(sym)):
        n += sym[node] == symbol
    return n


@kernel
def learn(forest, pairs, queue, tokens, room, merges, counts, size, rules, patience, state):
    """Merge until there are ``size`` tokens, no pair is frequent enough, or about ``patience`` places were looked at.

    queue : int64 (capacity, 3), see ``push``.
    merges : int32 (capacity, 2), counts : int64 (capacity,), written: the ids of the two parts, how often they stood
    together.  rules : (least frequency, longest token in bytes, how ties are broken: see ``rank_of``).
    state : int64 (8,), see MERGES.  Returns DONE, EMPTY, PAUSE or GROW; any but the first two can go on.
    """
    looked, sym = 0, forest.sym
    while state[TOKENS] < size:
        pair = best(sym, pairs, queue, rules[0], rules[2], state)
        if pair < 0:
            return EMPTY
        if looked > patience:
            return PAUSE
        key, count, at = pairs.rows[pair, KEY], pairs.rows[pair, COUNT], state[TOKENS]
        a, b = key >> 32, key & 0xFFFFFFFF
        state[NODES] = pairs.rows[pair, STOP] - pairs.rows[pair, START]
        state[LENGTH] = length(tokens, a) + length(tokens, b)
        if not _fits(pairs, queue, tokens, room, merges, state):
            return GROW
        looked += state[NODES] + 1
        new, fresh = spell(tokens, a, b, state)
        if not fresh:  # two merges that spell one token: its pairs are counted once more
            state[NODES] += _standing(sym, new)
            if not _fits(pairs, queue, tokens, room, merges, state):
                return GROW
        made = _join(forest, pairs, pair, at, room.made)
        lefts, rights = _sum_up(forest.weight, room, made, at)
        _part(pairs, room, 0, lefts, a, b, at, not fresh)
        _part(pairs, room, 1, rights, b, a, at, not fresh)
        pairs.rows[pair, COUNT] = 0
        if not fresh:
            made = _again(forest, pairs.rows, new, at, room.made, made, state)
            lefts, rights = _sum_up(forest.weight, room, made, new)
            looked += len(sym)
        _found(pairs, queue, tokens, room, 0, lefts, new, rules, state)
        _found(pairs, queue, tokens, room, 1, rights, new, rules, state)
        _write(pairs.places, room, made, new)
        merges[state[MERGES], 0], merges[state[MERGES], 1] = a, b
        counts[state[MERGES]] = count
        state[MERGES] += 1
    return DONE
