"""Learn merges: the most frequent pair of neighboring symbols becomes a symbol, again and again.

Not for cutting text (pretoken.py), nor for using merges (pieces.py). The readable twin is text/bpe_plain.py.

Types (distinct pieces of text) lie side by side as nodes, one a base symbol, with a wall before and behind each. A
symbol of several nodes has its id at the first node and its length at the first and the last one, so neighbors are
found in both directions without links. Of each pair we keep how often it stands in the text, and where it did when it
was last made: places are looked at again when their turn comes, and those that have changed are passed over. A pair's
count only falls after it was made, so pairs rarer than the least frequency are forgotten at once, and the queue may
hold counts that are too high: an entry is corrected when it comes to the top.
"""

from typing import NamedTuple

import numpy as np

from embcli.kernels._jit import kernel

#: what stands at a node that is no symbol: a wall between types, the inside of a symbol
WALL, INSIDE = -1, -2
#: how a call of ``learn`` ends: enough merges, no pair left, time for a pause, or an array is too small
DONE, EMPTY, PAUSE, GROW = range(4)
#: what stands in ``state``: merges so far, pairs, places in use, entries of the queue, tokens, bytes of tokens, and
#: what the next merge wants room for: nodes, bytes
MERGES, PAIRS, PLACES, QUEUED, TOKENS, BYTES, NODES, LENGTH = range(8)

_ODD = np.uint64(0x9E3779B97F4A7C15)
_HALF = np.uint64(32)


class Forest(NamedTuple):
    """All types as nodes.

    sym, size : int32 (nodes,), see above.  owner : int32 (nodes,), the type of a node.
    weight : int64 (types,), how often each type occurs.
    """

    sym: np.ndarray
    size: np.ndarray
    owner: np.ndarray
    weight: np.ndarray


class Pairs(NamedTuple):
    """Pairs of symbols that were ever frequent enough.

    slots : int32, a power of two of them, number of a pair + 1 or 0.  key : int64, left id << 32 | right id.
    count : int64.  start, stop : int64, its places among ``places``: int32, nodes where its left symbol begins.
    """

    slots: np.ndarray
    key: np.ndarray
    count: np.ndarray
    start: np.ndarray
    stop: np.ndarray
    places: np.ndarray


class Queue(NamedTuple):
    """A binary heap of pairs: highest count first, then lowest rank; int64, int64, int32."""

    count: np.ndarray
    rank: np.ndarray
    pair: np.ndarray


class Tokens(NamedTuple):
    """What symbols spell.

    data : uint8.  begin : int64 (capacity + 1,).  slots : int32, a power of two of them, id + 1 or 0; by bytes.
    """

    data: np.ndarray
    begin: np.ndarray
    slots: np.ndarray


class Beside(NamedTuple):
    """Room to gather the neighbors of a new symbol on one side: by symbol its weight, places and where they go.

    weight : int64 (capacity,).  number, place : int64 (capacity,).  seen : int32 (capacity,), symbols met.
    """

    weight: np.ndarray
    number: np.ndarray
    place: np.ndarray
    seen: np.ndarray


class Room(NamedTuple):
    """Scratch: ``made`` int32, nodes of the symbols made by one merge; ``left`` and ``right`` of them."""

    made: np.ndarray
    left: Beside
    right: Beside


@kernel
def _slot(slots, key):
    """Return the first slot to look at for a key."""
    h = np.uint64(key) * _ODD
    return np.int64((h ^ (h >> _HALF)) & np.uint64(len(slots) - 1))


@kernel
def find(pairs, key):
    """Return the number of a pair, or -1."""
    i = _slot(pairs.slots, key)
    n = pairs.slots[i]
    while n != 0 and pairs.key[n - 1] != key:
        i = (i + 1) & (len(pairs.slots) - 1)
        n = pairs.slots[i]
    return np.int64(n) - 1


@kernel
def enter(pairs, key, state):
    """Return the number of a pair, which is added with count 0 if it is new."""
    i = _slot(pairs.slots, key)
    n = pairs.slots[i]
    while n != 0 and pairs.key[n - 1] != key:
        i = (i + 1) & (len(pairs.slots) - 1)
        n = pairs.slots[i]
    if n == 0:
        at = state[PAIRS]
        pairs.slots[i] = at + 1
        pairs.key[at] = key
        pairs.count[at] = 0
        pairs.start[at] = 0
        pairs.stop[at] = 0
        state[PAIRS] = at + 1
        return at
    return np.int64(n) - 1


@kernel
def rehash(pairs, n):
    """Fill the slots, all 0, with the first ``n`` pairs."""
    for at in range(n):
        i = _slot(pairs.slots, pairs.key[at])
        while pairs.slots[i] != 0:
            i = (i + 1) & (len(pairs.slots) - 1)
        pairs.slots[i] = at + 1


@kernel
def _before(queue, i, j):
    """Return whether entry i of the queue comes before entry j."""
    if queue.count[i] != queue.count[j]:
        return queue.count[i] > queue.count[j]
    return queue.rank[i] < queue.rank[j]


@kernel
def _swap(queue, i, j):
    queue.count[i], queue.count[j] = queue.count[j], queue.count[i]
    queue.rank[i], queue.rank[j] = queue.rank[j], queue.rank[i]
    queue.pair[i], queue.pair[j] = queue.pair[j], queue.pair[i]


@kernel
def push(queue, count, rank, pair, state):
    """Add an entry to the queue."""
    i = state[QUEUED]
    state[QUEUED] = i + 1
    queue.count[i], queue.rank[i], queue.pair[i] = count, rank, pair
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
def _pop(queue, state):
    """Remove the first entry."""
    last = state[QUEUED] - 1
    _swap(queue, 0, last)
    state[QUEUED] = last
    _sink(queue, last)


@kernel
def _lives(forest, key, node):
    """Return whether a pair still stands at a node."""
    if forest.sym[node] != key >> 32:
        return False
    return forest.sym[node + forest.size[node]] == key & 0xFFFFFFFF


@kernel
def _rank(forest, pairs, pair, first_seen):
    """Return the rank of a pair among equally frequent ones: its ids, or the first node where it stands."""
    key = pairs.key[pair]
    if not first_seen:
        return key
    at = pairs.start[pair]
    while at < pairs.stop[pair] and not _lives(forest, key, pairs.places[at]):
        at += 1
    pairs.start[pair] = at
    return np.int64(pairs.places[at]) if at < pairs.stop[pair] else np.int64(1) << 62


@kernel
def best(forest, pairs, queue, least, first_seen, state):
    """Return the pair to merge next, or -1 if none is as frequent as ``least``; it stays in the queue."""
    while state[QUEUED] > 0:
        pair = queue.pair[0]
        count = pairs.count[pair]
        if count < least:
            _pop(queue, state)
            continue
        rank = _rank(forest, pairs, pair, first_seen)
        if count == queue.count[0] and rank == queue.rank[0]:
            return np.int64(pair)
        queue.count[0], queue.rank[0] = count, rank
        _sink(queue, state[QUEUED])
    return np.int64(-1)


@kernel
def survey(forest, pairs, state, start, stop):
    """Count the pairs of nodes [start, stop), and how many places each has (in ``stop`` of the pair).

    Returns the node to go on from, before ``stop`` if there may be no room for another pair.
    """
    sym, size = forest.sym, forest.size
    node, most = start, len(pairs.slots) // 2
    while node < stop:
        if state[PAIRS] >= most or state[PAIRS] >= len(pairs.key):
            return node
        after = node + size[node]
        if sym[node] >= 0 and sym[after] >= 0:
            at = enter(pairs, np.int64(sym[node]) << 32 | np.int64(sym[after]), state)
            pairs.count[at] += forest.weight[forest.owner[node]]
            pairs.stop[at] += 1
        node = after
    return node


@kernel
def settle(forest, pairs, queue, tokens, least, longest, first_seen, state):
    """Write down the places of all pairs that were surveyed, and queue those that may be merged."""
    total = state[PLACES]
    for at in range(state[PAIRS]):
        key = pairs.key[at]
        long = _length(tokens, key >> 32) + _length(tokens, key & 0xFFFFFFFF) > longest
        number = pairs.stop[at]
        pairs.start[at], pairs.stop[at] = total, total
        if pairs.count[at] < least or long:
            pairs.count[at] = 0
        else:
            total += number
    node, end = 0, len(forest.sym)
    while node < end:
        after = node + forest.size[node]
        if forest.sym[node] >= 0 and forest.sym[after] >= 0:
            at = find(pairs, np.int64(forest.sym[node]) << 32 | np.int64(forest.sym[after]))
            if pairs.count[at] > 0:
                pairs.places[pairs.stop[at]] = node
                pairs.stop[at] += 1
        node = after
    state[PLACES] = total
    for at in range(state[PAIRS]):
        if pairs.count[at] > 0:
            push(queue, pairs.count[at], _rank(forest, pairs, at, first_seen), at, state)


@kernel
def _length(tokens, symbol):
    """Return how many bytes a symbol spells."""
    return tokens.begin[symbol + 1] - tokens.begin[symbol]


@kernel
def _hash(data, start, stop):
    """Return a number that depends on all bytes."""
    h = np.uint64(stop - start)
    for i in range(start, stop):
        h = (h ^ np.uint64(data[i])) * _ODD
        h ^= h >> _HALF
    return h


@kernel
def place_token(tokens, start, stop, at):
    """Return the id of the bytes ``data[start:stop]``; if no token has them, they become token ``at``."""
    data, last = tokens.data, len(tokens.slots) - 1
    i = np.int64(_hash(data, start, stop) & np.uint64(last))
    while tokens.slots[i] != 0:
        other = tokens.slots[i] - 1
        begin = tokens.begin[other]
        if tokens.begin[other + 1] - begin == stop - start:
            k = 0
            while k < stop - start and data[begin + k] == data[start + k]:
                k += 1
            if k == stop - start:
                return np.int64(other)
        i = (i + 1) & last
    tokens.slots[i] = at + 1
    return np.int64(at)


@kernel
def _spell(tokens, a, b, state):
    """Return the id of the token that two symbols spell together, and whether it is new; it is written down then."""
    n = state[BYTES]
    for part in (a, b):
        for i in range(tokens.begin[part], tokens.begin[part + 1]):
            tokens.data[n] = tokens.data[i]
            n += 1
    at = state[TOKENS]
    found = place_token(tokens, state[BYTES], n, at)
    if found == at:
        tokens.begin[at + 1] = n
        state[BYTES], state[TOKENS] = n, at + 1
    return found, found == at


@kernel
def _less(pairs, left, right, weight):
    """Take the weight of a place off a pair, if it is one that we know."""
    at = find(pairs, np.int64(left) << 32 | np.int64(right))
    if at >= 0:
        pairs.count[at] -= weight


@kernel
def _join(forest, pairs, pair, new, made):
    """Merge a pair wherever it stands, left to right; write the nodes of the new symbols and return how many."""
    sym, size = forest.sym, forest.size
    key, n = pairs.key[pair], 0
    a, b = np.int32(key >> 32), np.int32(key & 0xFFFFFFFF)
    for k in range(pairs.start[pair], pairs.stop[pair]):
        node = pairs.places[k]
        if not _lives(forest, key, node):
            continue
        inner = node + size[node]
        after = inner + size[inner]
        weight = forest.weight[forest.owner[node]]
        left, right = sym[node - size[node - 1]], sym[after]
        if left >= 0 and left != new:
            _less(pairs, left, a, weight)
        if right >= 0 and right != new:
            _less(pairs, b, right, weight)
        sym[node], sym[inner] = new, INSIDE
        size[node] = size[after - 1] = after - node
        made[n] = node
        n += 1
    pairs.count[pair] = 0
    return n


@kernel
def _again(forest, pairs, new, made, state):
    """Find every node of a symbol that was there before it was merged once more; its pairs start afresh."""
    for at in range(state[PAIRS]):
        if pairs.key[at] >> 32 == new or pairs.key[at] & 0xFFFFFFFF == new:
            pairs.count[at] = 0
    n, node = 0, 0
    while node < len(forest.sym):
        if forest.sym[node] == new:
            made[n] = node
            n += 1
        node += forest.size[node]
    return n


@kernel
def _note(beside, seen, symbol, weight):
    """Count a neighbor; return how many different ones there are."""
    if beside.number[symbol] == 0:
        beside.seen[seen] = symbol
        seen += 1
    beside.number[symbol] += 1
    beside.weight[symbol] += weight
    return seen


@kernel
def _found(pairs, queue, tokens, beside, seen, new, left, rules, first_seen, state):
    """Make pairs of the new symbol and its neighbors on one side, with room for their places."""
    least, longest = rules
    for k in range(seen):
        symbol = np.int64(beside.seen[k])
        beside.place[symbol] = -1
        if beside.weight[symbol] >= least and _length(tokens, symbol) + _length(tokens, new) <= longest:
            key = symbol << 32 | new if left else new << 32 | symbol
            at = enter(pairs, key, state)
            pairs.count[at] = beside.weight[symbol]
            pairs.start[at] = beside.place[symbol] = state[PLACES]
            state[PLACES] += beside.number[symbol]
            pairs.stop[at] = state[PLACES]
            push(queue, pairs.count[at], np.int64(0) if first_seen else key, at, state)  # corrected when it is on top
        beside.weight[symbol] = beside.number[symbol] = 0


@kernel
def _meet(forest, pairs, queue, tokens, room, made, new, rules, first_seen, state):
    """Count the pairs that ``made`` new symbols stand in, and write down their places."""
    sym, size = forest.sym, forest.size
    lefts = rights = 0
    for k in range(made):
        node = room.made[k]
        weight = forest.weight[forest.owner[node]]
        left, right = sym[node - size[node - 1]], sym[node + size[node]]
        if left >= 0 and left != new:
            lefts = _note(room.left, lefts, left, weight)
        if right >= 0:
            rights = _note(room.right, rights, right, weight)
    _found(pairs, queue, tokens, room.left, lefts, new, True, rules, first_seen, state)
    _found(pairs, queue, tokens, room.right, rights, new, False, rules, first_seen, state)
    for k in range(made):
        node = room.made[k]
        before = node - size[node - 1]
        left, right = sym[before], sym[node + size[node]]
        if left >= 0 and left != new and room.left.place[left] >= 0:
            pairs.places[room.left.place[left]] = before
            room.left.place[left] += 1
        if right >= 0 and room.right.place[right] >= 0:
            pairs.places[room.right.place[right]] = node
            room.right.place[right] += 1


@kernel
def _fits(pairs, queue, tokens, room, merges, state):
    """Return whether there is room for what the next merge can make, at ``state[NODES]`` nodes."""
    more = 2 * min(state[NODES], state[TOKENS] + 1) + 2
    return (
        state[PAIRS] + more <= min(len(pairs.key), len(pairs.slots) // 2)
        and state[PLACES] + 2 * state[NODES] <= len(pairs.places)
        and state[QUEUED] + more <= len(queue.pair)
        and state[TOKENS] + 1 < min(len(tokens.begin) - 1, len(tokens.slots) // 2)
        and state[TOKENS] + 1 < len(room.left.seen)
        and state[BYTES] + state[LENGTH] <= len(tokens.data)
        and state[NODES] <= len(room.made)
        and state[MERGES] < len(merges)
    )


@kernel
def _standing(forest, symbol):
    """Return at how many nodes a symbol stands."""
    n, node = 0, 0
    while node < len(forest.sym):
        n += forest.sym[node] == symbol
        node += forest.size[node]
    return n


@kernel
def learn(forest, pairs, queue, tokens, room, merges, counts, size, rules, first_seen, patience, state):
    """Merge until there are ``size`` tokens, no pair is frequent enough, or about ``patience`` places were looked at.

    merges : int32 (capacity, 2), counts : int64 (capacity,), written: the ids of the two parts, how often they stood
    together.  rules : (least frequency, longest token in bytes).  first_seen : how ties are broken, see ``_rank``.
    state : int64 (8,), see MERGES.  Returns DONE, EMPTY, PAUSE or GROW; any but the first two can go on.
    """
    looked = 0
    while state[TOKENS] < size:
        pair = best(forest, pairs, queue, rules[0], first_seen, state)
        if pair < 0:
            return EMPTY
        if looked > patience:
            return PAUSE
        key, count = pairs.key[pair], pairs.count[pair]
        a, b = key >> 32, key & 0xFFFFFFFF
        state[NODES] = pairs.stop[pair] - pairs.start[pair]
        state[LENGTH] = _length(tokens, a) + _length(tokens, b)
        if not _fits(pairs, queue, tokens, room, merges, state):
            return GROW
        looked += state[NODES] + 1
        new, fresh = _spell(tokens, a, b, state)
        if not fresh:  # two merges that spell one token: its pairs are counted once more
            state[NODES] += _standing(forest, new)
            if not _fits(pairs, queue, tokens, room, merges, state):
                return GROW
        made = _join(forest, pairs, pair, new, room.made)
        if not fresh:
            made = _again(forest, pairs, new, room.made, state)
            looked += len(forest.sym)
        _meet(forest, pairs, queue, tokens, room, made, new, rules, first_seen, state)
        merges[state[MERGES], 0], merges[state[MERGES], 1] = a, b
        counts[state[MERGES]] = count
        state[MERGES] += 1
    return DONE
