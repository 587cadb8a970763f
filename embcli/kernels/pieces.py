"""Turn pieces of text into token ids: neighbors whose merge comes first are merged, until none is left.

Not for cutting text (pretoken.py) nor for learning merges (merging.py). Only types (distinct pieces) are merged; what
stands in the text is looked up. The readable twin is text/bpe_plain.py.
Rules and symbols are looked up by addresses, see ``memory``; the arrays behind them live in ``Rules`` meanwhile.
"""

from typing import NamedTuple

import numpy as np

from embcli.kernels._jit import kernel
from embcli.kernels.memory import word_at
from embcli.kernels.typetable import BEGIN, EIGHT, NONE, ONE, THREE, ZERO, U, exact, key_of, probe
from embcli.kernels.typetable import SHORT as IN_KEY

#: "these two do not merge": higher than any rule
NEVER = np.uint64(0xFFFFFFFFFFFFFFFF)
#: symbols of a piece up to which the best pair is looked for by looking at all of them
SHORT = 96
#: how many ids, counted from 0, have a rule for each pair in a table of their own
DENSE = 256
#: words of 64 bits, a power of two, that say of most pairs that they have no rule
FILTER = 1 << 14
#: stands in place of an id for white space that may stand around words
BLANK = -2
#: stands in place of its only id for a type that is not one token
SEVERAL = 0xFFFFFFFF

_ODD, _DENSE, _SEVERAL = U(0x9E3779B97F4A7C15), U(DENSE), U(SEVERAL)
_HALF, _FOUR = U(32), U(4)
_TOP, _NEXT, _SIX = U(50), U(44), U(63)
_LOW = U(0xFFFFFFFF)


class Rules(NamedTuple):
    """What merges. A rule is rank << 32 | id of the result.

    dense : uint64 (DENSE * DENSE,), rules of pairs of low ids, or NEVER.
    pairs : uint64 (n, 2), n a power of two: other pairs (left << 32 | right) and their rules; both NEVER where none is.
    some : uint64 (FILTER,), a bit a pair by its hash, 0 where there is none: most pairs that are asked for have no
    rule, and this much stays in the processor's cache (measured: 1.3 x the speed of merging).
    tokens : ``Types``, the tokens that are looked up by their bytes.  ids : int32, the id of each of them.
    whole : whether a piece that is a token is not taken apart.
    """

    dense: np.ndarray
    pairs: np.ndarray
    some: np.ndarray
    tokens: NamedTuple
    ids: np.ndarray
    whole: bool


class Room(NamedTuple):
    """Scratch for pieces of up to n symbols: ``rule`` uint64, ``after`` and ``before`` int32 links, ``heap`` uint64."""

    rule: np.ndarray
    after: np.ndarray
    before: np.ndarray
    heap: np.ndarray


class Way(NamedTuple):
    """Where the rules are, as addresses; ``last`` is the last slot of the pairs."""

    dense: int
    pairs: int
    last: int
    some: int


@kernel
def way_of(rules):
    """Return the addresses of rules."""
    last = U(len(rules.pairs) - 1)
    return Way(U(rules.dense.ctypes.data), U(rules.pairs.ctypes.data), last, U(rules.some.ctypes.data))


@kernel
def _find(tokens, ids, first, second, text, at, size):
    """Return the id of the token with this key, which is ``text[at:at + size]``, or -1."""
    n = probe(tokens.slots, tokens.entries, first, second)
    if size > IN_KEY:
        n = exact(tokens, n, first, second, text, at, size)
    return np.int64(ids[n]) if n != NONE else np.int64(-1)


@kernel
def find_results(tokens, ids, data, begin, merges, room, results):
    """Write the id of the token that the two sides of each merge spell together, -1 where there is none.

    tokens, ids : see ``Rules``.  data : uint8, begin : int64 (tokens + 1,): bytes of all ids.  merges : int32 (n, 2).
    room : uint8, whole words of 8 bytes, 16 more than two tokens have.  results : int32 (n,).
    """
    wide = room.view(U)
    for i in range(len(merges)):
        n = 0
        for side in range(2):
            part = merges[i, side]
            for k in range(begin[part], begin[part + 1]):
                room[n] = data[k]
                n += 1
        results[i] = -1
        if n > 0:
            first, second = key_of(wide, ZERO, U(n))
            results[i] = _find(tokens, ids, first, second, room, ZERO, U(n))


@kernel
def _slot(pairs, key):
    """Return the slot of a pair, or the empty one where it would be."""
    last = U(len(pairs) - 1)
    h = key * _ODD
    i = (h ^ (h >> _HALF)) & last
    while pairs[i, ZERO] != NEVER and pairs[i, ZERO] != key:
        i = (i + ONE) & last
    return i


@kernel
def put_rule(rules, left, right, rule):
    """Add the rule of a pair (uint64), unless it has a better one."""
    if left < _DENSE and right < _DENSE:
        rules.dense[left * _DENSE + right] = min(rules.dense[left * _DENSE + right], rule)
    else:
        key = left << _HALF | right
        i = _slot(rules.pairs, key)
        rules.pairs[i, ZERO] = key
        h = key * _ODD
        rules.some[h >> _TOP] |= ONE << ((h >> _NEXT) & _SIX)
        rules.pairs[i, ONE] = min(rules.pairs[i, ONE], rule)


@kernel
def put_merges(rules, merges, results):
    """Add the rules of merges in their order: int32 (n, 2), and the ids of their results."""
    for i in range(len(merges)):
        put_rule(rules, U(merges[i, 0]), U(merges[i, 1]), U(i) << _HALF | U(results[i]))


@kernel
def rule_of(way, left, right):
    """Return the rule of a pair, or NEVER."""
    if (left | right) < _DENSE:
        rule = word_at(way.dense + ((left * _DENSE + right) << THREE))
    else:
        key = left << _HALF | right
        h, rule = key * _ODD, NEVER
        if (word_at(way.some + (h >> _TOP << THREE)) >> ((h >> _NEXT) & _SIX)) & ONE:
            i = (h ^ (h >> _HALF)) & way.last
            found = word_at(way.pairs + (i << _FOUR))
            while found != NEVER and found != key:
                i = (i + ONE) & way.last
                found = word_at(way.pairs + (i << _FOUR))
            rule = word_at(way.pairs + (i << _FOUR) + EIGHT)
    return rule


@kernel
def merge_short(way, rule, ids, start, n):
    """Merge ``n`` >= 2 ids from ``ids[start]`` on in place; return how many are left. rule : scratch of n words."""
    last, start = U(n) - ONE, U(start)
    for i in range(last):
        rule[i] = rule_of(way, U(ids[start + i]), U(ids[start + i + ONE]))
    best = ZERO
    while last > ZERO and best != NEVER:
        best, at = rule[ZERO], ZERO
        for i in range(ONE, last):
            better = rule[i] < best
            best = rule[i] if better else best
            at = i if better else at
        if best != NEVER:
            last -= ONE
            ids[start + at] = best & _LOW
            for i in range(at + ONE, last + ONE):
                ids[start + i] = ids[start + i + ONE]
            for i in range(at + ONE, last):
                rule[i] = rule[i + ONE]
            if at < last:
                rule[at] = rule_of(way, best & _LOW, U(ids[start + at + ONE]))
            if at > ZERO:
                rule[at - ONE] = rule_of(way, U(ids[start + at - ONE]), best & _LOW)
    return np.int64(last + ONE)


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
def merge_long(way, room, ids, start, n):
    """Merge as ``merge_short`` by a heap of places, in n log n steps.

    An entry is rank << 32 | place; one that the rule at the place does not bear out any more is passed over.
    """
    rule, after, before, heap = room.rule, room.after, room.before, room.heap
    m = 0
    for i in range(n):
        after[i], before[i] = i + 1, i - 1
        rule[i] = rule_of(way, U(ids[start + i]), U(ids[start + i + 1])) if i + 1 < n else NEVER
        if rule[i] != NEVER:
            m = _push(heap, m, rule[i] >> _HALF << _HALF | U(i))
    while m > 0:
        entry = heap[0]
        m = _pop(heap, m)
        i = np.int64(entry & _LOW)
        if rule[i] != NEVER and rule[i] >> _HALF == entry >> _HALF:
            made = rule[i] & _LOW
            ids[start + i] = made
            gone = after[i]
            rule[gone] = NEVER
            after[i] = after[gone]
            rule[i] = NEVER
            if after[i] < n:
                before[after[i]] = i
                rule[i] = rule_of(way, made, U(ids[start + after[i]]))
            if rule[i] != NEVER:
                m = _push(heap, m, rule[i] >> _HALF << _HALF | U(i))
            left = before[i]
            if left >= 0:
                rule[left] = rule_of(way, U(ids[start + left]), made)
                if rule[left] != NEVER:
                    m = _push(heap, m, rule[left] >> _HALF << _HALF | U(left))
    i = k = 0
    while i < n:
        ids[start + k] = ids[start + i]
        k += 1
        i = after[i]
    return k


@kernel
def merge(way, room, ids, start, n):
    """Merge ``n`` ids from ``ids[start]`` on in place; return how many are left."""
    if n > SHORT:
        n = merge_long(way, room, ids, start, n)
    elif n > 1:
        n = merge_short(way, room.rule, ids, start, n)
    return n


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
def _characters(data, start, stop, base, other, tail, ids, n, unseen, row):
    """As ``symbols``, where symbols are characters."""
    begin, gap = n, 0
    while start < stop:
        lead = data[start]
        size = 1 if lead < 0x80 else 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4
        point = _point(data, start, size)
        start += size
        known = base[point]
        if known == BLANK:
            gap += n > begin  # it stands around a word, or within one
        else:
            lost = gap + (known < 0)
            if lost > 0 and unseen[row, 0] == 0:
                unseen[row, 1] = point if gap == 0 else 0x20
            unseen[row, 0] += lost
            for _ in range(lost if other >= 0 else 0):
                ids[n] = other
                n += 1
            if known >= 0:
                ids[n] = known
                n += 1
            gap = 0
    if tail >= 0 and n > begin:
        ids[n] = tail
        n += 1
    return n


@kernel
def symbols(data, start, stop, base, other, tail, ids, n, unseen, row):
    """Write the base ids of a type to ``ids`` from ``n`` on; return where they end.

    base : int32, ids by byte (256,) or by code point (0x110000,); what is below 0 becomes ``other``, or is left out if
    that is below 0, and is counted in ``unseen[row, 0]``; ``unseen[row, 1]`` is the first such code point.
    tail : id of the end of a word, or -1; with it, white space around a word is BLANK in ``base`` and left out.
    """
    if len(base) > 256:
        n = _characters(data, start, stop, base, other, tail, ids, n, unseen, row)
    else:
        for i in range(U(start), U(stop)):
            ids[n] = base[U(data[i])]
            n += 1
    return n


@kernel
def encode_types(rules, room, base, other, tail, types, first, last, ids, starts, only, unseen):
    """Encode types [first, last) of a table; return how many are done.

    base, other, tail : see ``symbols``.  unseen : int64 (types, 2), 0 before: as there, a row a type; none for bytes.
    ids : int32, written from ``starts[first]`` on.  starts : int64, written: where the ids of type t + 1 begin.
    only : uint32, written: the id of a type that is one token, or SEVERAL.
    Stops before a type for which there may be no room, in ``ids`` or in ``room``.
    """
    t, n, way = U(first), starts[first], way_of(rules)
    entries, data = types.entries, types.data
    fits = True
    while t < U(last) and fits:
        start, stop = entries[t, BEGIN], entries[t + ONE, BEGIN]
        size = stop - start
        fits = U(n) + size + ONE <= U(len(ids)) and size + ONE <= U(len(room.rule))
        if fits:
            begin, found = n, np.int64(-1)
            if rules.whole:
                found = _find(rules.tokens, rules.ids, entries[t, ZERO], entries[t, ONE], data, start, size)
            if found >= 0:
                ids[n] = found
                n += 1
            else:
                end = symbols(data, np.int64(start), np.int64(stop), base, other, tail, ids, n, unseen, t)
                n += merge(way, room, ids, n, end - n)
            only[t] = _SEVERAL if n != begin + 1 else U(ids[begin])
            t += ONE
            starts[t] = n
    return np.int64(t)


@kernel
def recover(rules, room, data, begin, base, ordinary, merges):
    """Find the merges behind a table of ranks, where lower ids merge first; return how many there are.

    A token whose bytes come out as two tokens by the merges of lower ids is made of these; one that does not can only
    be a whole piece. ``data`` uint8 and ``begin`` int64 hold the tokens' bytes. ``merges`` int32 (tokens, 2) is
    written, ``rules`` gets the rules (of no rank but the order).
    """
    n, way = 0, way_of(rules)
    ids, unseen = np.empty(len(room.rule), np.int32), np.zeros((1, 2), np.int64)
    for at in range(len(ordinary)):
        start, stop = begin[at], begin[at + 1]
        if ordinary[at] and stop - start > 1:
            end = symbols(data, start, stop, base, -1, -1, ids, 0, unseen, 0)
            if merge(way, room, ids, 0, end) == 2:
                merges[n, 0], merges[n, 1] = ids[0], ids[1]
                put_rule(rules, U(ids[0]), U(ids[1]), U(n) << _HALF | U(at))
                n += 1
    return n


@kernel
def expand(numbers, only, ids, starts, marked, special, ends, out, stops):
    """Write the ids of pieces one after another; return how many.

    numbers : uint32; one from ``marked`` on is special token ``numbers[i] - marked``, whose id is in ``special``.
    only, ids, starts : see ``encode_types``.  ends : int64, ascending places in ``numbers``.
    out : room for all ids.  stops : int64, written: the place in ``out`` for each of the ends.
    """
    n, i = ZERO, ZERO
    for e in range(len(ends) + 1):
        stop = U(ends[e]) if e < len(ends) else U(len(numbers))
        while i < stop:
            t = U(numbers[i])
            one = U(only[t]) if t < U(marked) else U(special[t - U(marked)])
            if one != _SEVERAL:
                out[n] = one
                n += ONE
            else:
                for at in range(U(starts[t]), U(starts[t + ONE])):
                    out[n] = ids[at]
                    n += ONE
            i += ONE
        if e < len(ends):
            stops[e] = n
    return np.int64(n)


@kernel
def tally(ids, starts, counts, types, unigram):
    """Add up how often each id occurs in types that occur ``counts`` times."""
    for t in range(types):
        for at in range(starts[t], starts[t + 1]):
            unigram[ids[at]] += np.int64(counts[t])
