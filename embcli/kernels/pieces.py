"""Turn pieces of text into token ids: neighbors whose merge comes first are merged, until none is left.

Not for cutting text (pretoken.py) nor for learning merges (merging.py). Only types (distinct pieces) are merged; what
stands in the text is looked up. The readable twin is text/bpe_plain.py.
"""

from typing import NamedTuple

import numpy as np

from embcli.kernels._jit import kernel

#: "these two do not merge": higher than any rule
NEVER = np.uint64(0xFFFFFFFFFFFFFFFF)
#: symbols of a piece up to which the best pair is looked for by looking at all of them
SHORT = 96
#: how many ids, counted from 0, have a rule for each pair in a table of their own
DENSE = 256

_ODD = np.uint64(0x9E3779B97F4A7C15)
_HALF, _ONE = np.uint64(32), np.uint64(1)
_LOW = np.uint64(0xFFFFFFFF)


class Rules(NamedTuple):
    """What merges. A rule is rank << 32 | id of the result.

    dense : uint64 (DENSE, DENSE), rules of pairs of low ids, or NEVER.
    key, rule : uint64, a power of two of them: other pairs (left << 32 | right; NEVER is empty) and their rules.
    data : uint8, begin : int64 (tokens + 1,): the bytes of tokens.
    slots : int32, a power of two of them: id + 1 or 0, by the bytes; empty if pieces are not looked up as a whole.
    """

    dense: np.ndarray
    key: np.ndarray
    rule: np.ndarray
    data: np.ndarray
    begin: np.ndarray
    slots: np.ndarray


class Room(NamedTuple):
    """Scratch for pieces of up to n symbols: ``rule`` uint64, ``after`` and ``before`` int32 links, ``heap`` uint64."""

    rule: np.ndarray
    after: np.ndarray
    before: np.ndarray
    heap: np.ndarray


@kernel
def hash_bytes(data, start, stop):
    """Return a number that depends on all bytes."""
    h = np.uint64(stop - start)
    for i in range(start, stop):
        h = (h ^ np.uint64(data[i])) * _ODD
        h ^= h >> _HALF
    return h


@kernel
def find_token(rules, data, start, stop):
    """Return the id of the token with these bytes, or -1."""
    last = len(rules.slots) - 1
    i = np.int64(hash_bytes(data, start, stop) & np.uint64(last))
    found = -1
    while rules.slots[i] != 0 and found < 0:
        at = rules.slots[i] - 1
        begin = rules.begin[at]
        if rules.begin[at + 1] - begin == stop - start:
            k = 0
            while k < stop - start and rules.data[begin + k] == data[start + k]:
                k += 1
            if k == stop - start:
                found = np.int64(at)
        i = (i + 1) & last
    return found


@kernel
def index_tokens(rules, chosen):
    """Fill the slots, all 0, with the ``chosen`` tokens; of equal ones the first is found."""
    last = len(rules.slots) - 1
    for at in range(len(chosen)):
        start, stop = rules.begin[at], rules.begin[at + 1]
        if chosen[at] and find_token(rules, rules.data, start, stop) < 0:
            i = np.int64(hash_bytes(rules.data, start, stop) & np.uint64(last))
            while rules.slots[i] != 0:
                i = (i + 1) & last
            rules.slots[i] = at + 1


@kernel
def _find_joined(rules, a, b):
    """Return the id of the token that tokens a and b spell together, or -1."""
    begin, data = rules.begin, rules.data
    sizes = begin[a + 1] - begin[a], begin[b + 1] - begin[b]
    h = np.uint64(sizes[0] + sizes[1])
    for part in (a, b):
        for i in range(begin[part], begin[part + 1]):
            h = (h ^ np.uint64(data[i])) * _ODD
            h ^= h >> _HALF
    last = len(rules.slots) - 1
    at, found = np.int64(h & np.uint64(last)), -1
    while rules.slots[at] != 0 and found < 0:
        token = np.int64(rules.slots[at] - 1)
        start = begin[token]
        if begin[token + 1] - start == sizes[0] + sizes[1]:
            k = 0
            while k < sizes[0] and data[start + k] == data[begin[a] + k]:
                k += 1
            while sizes[0] <= k < sizes[0] + sizes[1] and data[start + k] == data[begin[b] + k - sizes[0]]:
                k += 1
            if k == sizes[0] + sizes[1]:
                found = token
        at = (at + 1) & last
    return found


@kernel
def find_results(rules, merges, results):
    """Write the id of what each merge spells, -1 where there is none: int32 (n, 2) and (n,)."""
    for i in range(len(merges)):
        results[i] = _find_joined(rules, np.int64(merges[i, 0]), np.int64(merges[i, 1]))


@kernel
def put_rule(rules, left, right, rule):
    """Add the rule of a pair, unless it has a better one."""
    if left < DENSE and right < DENSE:
        rules.dense[left, right] = min(rules.dense[left, right], rule)
        return
    key = np.uint64(left) << _HALF | np.uint64(right)
    last = len(rules.key) - 1
    h = key * _ODD
    i = np.int64((h ^ (h >> _HALF)) & np.uint64(last))
    while rules.key[i] != NEVER and rules.key[i] != key:
        i = (i + 1) & last
    rules.rule[i] = rule if rules.key[i] == NEVER else min(rules.rule[i], rule)
    rules.key[i] = key


@kernel
def rule_of(rules, left, right):
    """Return the rule of a pair, or NEVER."""
    if left < DENSE and right < DENSE:
        return rules.dense[left, right]
    key = np.uint64(left) << _HALF | np.uint64(right)
    last = len(rules.key) - 1
    h = key * _ODD
    i = np.int64((h ^ (h >> _HALF)) & np.uint64(last))
    while rules.key[i] != NEVER and rules.key[i] != key:
        i = (i + 1) & last
    return rules.rule[i] if rules.key[i] == key else NEVER


@kernel
def put_merges(rules, merges, results, ranks):
    """Add the rules of merges: int32 (n, 2), the ids of their results and their ranks."""
    for i in range(len(merges)):
        rule = np.uint64(ranks[i]) << _HALF | np.uint64(results[i])
        put_rule(rules, np.int64(merges[i, 0]), np.int64(merges[i, 1]), rule)


@kernel
def merge_short(rules, room, ids, n):
    """Merge ``ids[:n]`` in place, n up to SHORT; return how many are left."""
    rule = room.rule
    for i in range(n - 1):
        rule[i] = rule_of(rules, np.int64(ids[i]), np.int64(ids[i + 1]))
    rule[n - 1] = NEVER
    while n > 1:
        best, at = rule[0], 0
        for i in range(1, n - 1):
            if rule[i] < best:
                best, at = rule[i], i
        if best == NEVER:
            return n
        ids[at] = np.int64(best & _LOW)
        n -= 1
        for i in range(at + 1, n):
            ids[i] = ids[i + 1]
            rule[i] = rule[i + 1]
        rule[n - 1] = NEVER
        rule[at] = rule_of(rules, np.int64(ids[at]), np.int64(ids[at + 1])) if at + 1 < n else NEVER
        if at > 0:
            rule[at - 1] = rule_of(rules, np.int64(ids[at - 1]), np.int64(ids[at]))
    return n


@kernel
def _push(heap, n, entry):
    """Add an entry to a heap of ``n``, lowest first; return the new number."""
    i = n
    while i > 0 and heap[(i - 1) >> 1] > entry:
        heap[i] = heap[(i - 1) >> 1]
        i = (i - 1) >> 1
    heap[i] = entry
    return n + 1


@kernel
def _pop(heap, n):
    """Remove the first entry of a heap of ``n``; return the new number."""
    n -= 1
    entry, i = heap[n], 0
    child = 1
    while child < n:
        if child + 1 < n and heap[child + 1] < heap[child]:
            child += 1
        if heap[child] < entry:
            heap[i] = heap[child]
            i = child
            child = 2 * i + 1
        else:
            child = n
    heap[i] = entry
    return n


@kernel
def merge_long(rules, room, ids, n):
    """Merge ``ids[:n]`` in place by a heap of places, in n log n steps; return how many are left.

    An entry is rank << 32 | place; one that the rule at the place does not bear out any more is passed over.
    """
    rule, after, before, heap = room.rule, room.after, room.before, room.heap
    m = 0
    for i in range(n):
        after[i], before[i] = i + 1, i - 1
        rule[i] = rule_of(rules, np.int64(ids[i]), np.int64(ids[i + 1])) if i + 1 < n else NEVER
        if rule[i] != NEVER:
            m = _push(heap, m, rule[i] >> _HALF << _HALF | np.uint64(i))
    while m > 0:
        entry = heap[0]
        m = _pop(heap, m)
        i = np.int64(entry & _LOW)
        if rule[i] == NEVER or rule[i] >> _HALF != entry >> _HALF:
            continue
        ids[i] = np.int64(rule[i] & _LOW)
        gone = after[i]
        rule[gone] = NEVER
        after[i] = after[gone]
        if after[i] < n:
            before[after[i]] = i
            rule[i] = rule_of(rules, np.int64(ids[i]), np.int64(ids[after[i]]))
        else:
            rule[i] = NEVER
        if rule[i] != NEVER:
            m = _push(heap, m, rule[i] >> _HALF << _HALF | np.uint64(i))
        left = before[i]
        if left >= 0:
            rule[left] = rule_of(rules, np.int64(ids[left]), np.int64(ids[i]))
            if rule[left] != NEVER:
                m = _push(heap, m, rule[left] >> _HALF << _HALF | np.uint64(left))
    i = k = 0
    while i < n:
        ids[k] = ids[i]
        k += 1
        i = after[i]
    return k


@kernel
def merge(rules, room, ids, n):
    """Merge ``ids[:n]`` in place; return how many are left."""
    if n < 2:
        return n
    return merge_short(rules, room, ids, n) if n <= SHORT else merge_long(rules, room, ids, n)


@kernel
def _point(data, at, size):
    """Return the code point of the ``size`` bytes at ``at``, which are UTF-8."""
    if size == 1:
        return np.int64(data[at])
    point = np.int64(data[at]) & (0x7F >> size)
    for i in range(1, size):
        point = point << 6 | (np.int64(data[at + i]) & 0x3F)
    return point


@kernel
def symbols(data, start, stop, base, tail, ids, n, unseen):
    """Write the base ids of a type to ``ids`` from ``n`` on; return where they end.

    base : int32, ids by byte (256,) or by code point (0x110000,); what is below 0 is left out and counted in
    ``unseen[0]``; ``unseen[1]`` becomes the code point.  tail : id of the end of a word, or -1.
    """
    while start < stop:
        lead, size = data[start], 1
        if len(base) > 256:
            size = 1 if lead < 0x80 else 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4
        point = _point(data, start, size)
        ids[n] = base[point]
        if ids[n] >= 0:
            n += 1
        else:
            unseen[0] += 1
            unseen[1] = point
        start += size
    if tail >= 0:
        ids[n] = tail
        n += 1
    return n


@kernel
def encode_types(rules, room, base, tail, data, begins, first, last, ids, starts, unseen):
    """Encode types [first, last): bytes ``data[begins[t]:begins[t + 1]]``; return how many are done.

    base, tail, unseen : see ``symbols``.  ids : int32, written from ``starts[first]`` on.  starts : int64, written:
    where the ids of type t + 1 begin.  Stops before a type for which there may be no room, in ``ids`` or in ``room``.
    """
    t, n = np.int64(first), starts[first]
    whole = len(rules.slots) > 1
    fits = True
    while t < last and fits:
        start, stop = np.int64(begins[t]), np.int64(begins[t + 1])
        size = stop - start + 1
        fits = n + size <= len(ids) and size <= len(room.rule)
        if fits:
            found = find_token(rules, data, start, stop) if whole else -1
            if found >= 0:
                ids[n] = found
                n += 1
            else:
                end = symbols(data, start, stop, base, tail, ids, n, unseen)
                n += merge(rules, room, ids[n:end], end - n)
            t += 1
            starts[t] = n
    return t


@kernel
def recover(rules, room, base, ordinary, merges):
    """Find the merges behind a table of ranks, where lower ids merge first; return how many there are.

    A token whose bytes come out as two tokens by the merges of lower ids is made of these; one that does not can only
    be a whole piece. ``merges`` int32 (tokens, 2) is written, ``rules`` gets the rules (of no rank but the order).
    """
    n = 0
    ids, unseen = np.empty(len(room.rule), np.int32), np.zeros(2, np.int64)
    for at in range(len(ordinary)):
        start, stop = rules.begin[at], rules.begin[at + 1]
        if ordinary[at] and stop - start > 1:
            end = symbols(rules.data, start, stop, base, -1, ids, 0, unseen)
            if merge(rules, room, ids, end) == 2:
                merges[n, 0], merges[n, 1] = ids[0], ids[1]
                put_rule(rules, np.int64(ids[0]), np.int64(ids[1]), np.uint64(n) << _HALF | np.uint64(at))
                n += 1
    return n


@kernel
def count_ids(numbers, starts, marked):
    """Return how many ids stand for pieces; a number from ``marked`` on is a special token."""
    n = 0
    for i in range(len(numbers)):
        t = numbers[i]
        n += starts[t + 1] - starts[t] if t < marked else 1
    return n


@kernel
def expand(numbers, ids, starts, marked, special, ends, out, stops):
    """Write the ids of pieces one after another; return how many.

    numbers : uint32; one from ``marked`` on is special token ``numbers[i] - marked``, whose id is in ``special``.
    ends : int64, ascending places in ``numbers``.  stops : int64, written: the place in ``out`` for each of them.
    """
    n = i = 0
    for e in range(len(ends) + 1):
        stop = ends[e] if e < len(ends) else len(numbers)
        while i < stop:
            t = numbers[i]
            if t < marked:
                for at in range(starts[t], starts[t + 1]):
                    out[n] = ids[at]
                    n += 1
            else:
                out[n] = special[t - marked]
                n += 1
            i += 1
        if e < len(ends):
            stops[e] = n
    return n


@kernel
def tally(ids, starts, counts, types, unigram):
    """Add up how often each id occurs in types that occur ``counts`` times."""
    for t in range(types):
        for at in range(starts[t], starts[t + 1]):
            unigram[ids[at]] += np.int64(counts[t])
