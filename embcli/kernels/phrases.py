"""Pairs of adjacent words as numbers, grouped for counting, and the joining of pairs. Which pairs: see text.phrases."""

import numpy as np

from embcli.kernels._jit import kernel
from embcli.kernels.typetable import ONE, ZERO, U

#: "there is no word before": the beginning of a row, or behind a joined pair
NOBODY = np.uint32(0xFFFFFFFF)
#: what stands in the state of ``join``: the word that waits for its right neighbor, and words written so far
WAITING, WRITTEN = range(2)

_SECOND, _ODD, _WIDTH = U(32), U(0x9E3779B97F4A7C15), U(64)


@kernel
def pairs(ids, names, able, ends, before, bits, keys, out, begins):
    """Write the adjacent pairs of able words, grouped by the ``bits`` highest bits of a hash; return how many.

    ids : uint32.  names : uint32, a type by id.  able : bool, by type.  ends : int64, ascending places in ``ids``; no
    pair reaches over one.  before : the type in front of the first id, or NOBODY.
    keys, out : uint64, as long as ``ids``; a pair is first type * 2^32 + second.  keys is room to work in.
    begins : int64 (2^bits + 1,), all 0, bits >= 1; written: where each group begins in ``out``.
    """
    n, i, last = ZERO, ZERO, U(before)
    may = last != U(NOBODY) and able[last]
    shift = _WIDTH - U(bits)
    for e in range(U(len(ends)) + ONE):
        stop = U(ends[e]) if e < U(len(ends)) else U(len(ids))
        while i < stop:
            name = U(names[ids[i]])
            now = able[name]
            if may and now:
                key = last << _SECOND | name
                keys[n] = key
                n += ONE
                begins[((key * _ODD) >> shift) + ONE] += 1
            last, may = name, now
            i += ONE
        if e < U(len(ends)):
            may = False
    for g in range(U(len(begins)) - ONE):
        begins[g + ONE] += begins[g]
    for k in range(n):  # begins[g] moves to the end of its group, which is where the next one began
        g = (keys[k] * _ODD) >> shift
        out[begins[g]] = keys[k]
        begins[g] += 1
    for g in range(len(begins) - 1, 0, -1):
        begins[g] = begins[g - 1]
    begins[0] = 0
    return n


@kernel
def _place_of(starts, seconds, first, second):
    """Return the place of a pair among sorted ones, or ``len(seconds)`` if it is not one of them."""
    low, high = U(starts[first]), U(starts[first + ONE])
    stop = high
    while low < high:
        middle = (low + high) >> ONE
        if U(seconds[middle]) < second:
            low = middle + ONE
        else:
            high = middle
    return low if low < stop and U(seconds[low]) == second else U(len(seconds))


@kernel
def join(ids, names, ends, starts, seconds, joined, times, state, out, places):
    """Replace pairs by what they are joined to, left to right; a word is in one pair at most. Return words written.

    ids, names, ends : as for ``pairs``.  starts : uint32 (types + 1,); the pairs that begin with type t are those from
    starts[t] to starts[t + 1], with ascending ``seconds``; pair p becomes type joined[p].
    times : int64, by pair; 1 is added for each joining.  state : int64 (2,), see WAITING: carried from call to call.
    out : uint32, longer than ``ids`` by 1.  places : int64, written: for each end, words before it in all calls.
    """
    n, i, last, none = ZERO, ZERO, U(state[WAITING]), U(NOBODY)
    for e in range(U(len(ends)) + ONE):
        stop = U(ends[e]) if e < U(len(ends)) else U(len(ids))
        while i < stop:
            name = U(names[ids[i]])
            p = U(len(seconds))
            if last != none and starts[last] != starts[last + ONE]:
                p = _place_of(starts, seconds, last, name)
            if p < U(len(seconds)):
                times[p] += 1
                out[n] = joined[p]
                n += ONE
                last = none
            else:
                out[n] = last
                n += U(last != none)
                last = name
            i += ONE
        if e < U(len(ends)):
            if last != none:
                out[n] = last
                n += ONE
            last = none
            places[e] = state[WRITTEN] + np.int64(n)
    state[WAITING] = last
    state[WRITTEN] += np.int64(n)
    return n


@kernel
def longest(types, ends, most, starts, seconds, joined, known, counts, times, state, out, places):
    """Replace runs of at most ``most`` words by the longest known phrase that begins there, left to right.

    A walk goes from a word along pairs (what is read so far, next word) -> what is read then; ``known`` says, by pair,
    whether that is a phrase and not only the beginning of one. A walk that the end of ``types`` cuts short in the
    middle of a row is left undone. Returns words written and words read.

    types : uint32.  ends, starts, seconds, joined, state, out, places : as for ``join``.
    counts, times : int64, by type; how often it was written, and how often as a phrase, is added.
    """
    n, i, waits = ZERO, ZERO, False
    for e in range(U(len(ends)) + ONE):
        closed = e < U(len(ends))
        stop = U(ends[e]) if closed else U(len(types))
        while i < stop and not waits:
            best, taken, now, j, walks = U(types[i]), ONE, U(types[i]), i + ONE, True
            while walks and j < stop and j - i < U(most):
                p = _place_of(starts, seconds, now, U(types[j]))
                walks = p < U(len(seconds))
                if walks:
                    now = U(joined[p])
                    j += ONE
                    if known[p]:
                        best, taken = now, j - i
            waits = walks and not closed and j == stop and j - i < U(most)
            if not waits:
                out[n] = best
                counts[best] += 1
                times[best] += taken > ONE
                n += ONE
                i += taken
        if closed:
            places[e] = state[WRITTEN] + np.int64(n)
    state[WRITTEN] += np.int64(n)
    return n, i
