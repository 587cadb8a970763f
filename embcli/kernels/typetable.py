"""A hash table of byte strings (types) with counts, filled straight from text. Python makes and enlarges its arrays.

Not for final ids: numbers come in order of first appearance. A kernel that finds the table full returns and is called
again after it has grown.

Open addressing with linear probing (Knuth, The Art of Computer Programming 3, section 6.4, algorithm L). A slot holds
the upper half of a type's hash and its number + 1. An entry holds the first 15 bytes of the type and its length, so
that most comparisons are exact in one cache line; longer types also compare their bytes.
Bytes are looked at 8 at a time, the first one lowest (little-endian processors only). Indices are unsigned: a signed
one costs a test for negative numbers at every access. Loops over arrays leave at their condition, never by break or
return: otherwise numba counts references to the arrays, atomically, at every call (measured: 2 x the time).
"""

from typing import NamedTuple

import numpy as np

from embcli.kernels._jit import kernel

U = np.uint64
ZERO, ONE, TWO, THREE, SEVEN, EIGHT = U(0), U(1), U(2), U(3), U(7), U(8)
#: longest type whose bytes all stand in its key; the top byte of a key is the length, or _LONG
SHORT, LENGTH_AT = U(15), U(56)
#: "there is no such type"
NONE = ~ZERO
_LONG = U(0xFF << 56)
_LOW56, _LOW32, _HALF = U((1 << 56) - 1), U((1 << 32) - 1), U(32)
_ODD1, _ODD2 = U(0x9E3779B97F4A7C15), U(0xD6E8FEB86659FD93)
#: columns of an entry: two words of key, where the bytes begin, how often the type occurs
BEGIN, COUNT = U(2), U(3)


class Types(NamedTuple):
    """The arrays of one table.

    slots : uint64, a power of two of them; 0 is empty.
    entries : uint64 (capacity + 1, 4), columns as above; the row after the last type holds where its bytes would begin.
    data : uint8, the types' bytes one after another.
    used : uint64 (2,), types and bytes so far.
    """

    slots: np.ndarray
    entries: np.ndarray
    data: np.ndarray
    used: np.ndarray


@kernel
def load8(wide, at):
    """Return the 8 bytes from byte ``at``, the first one lowest; ``wide`` is a text as uint64, with a word to spare."""
    shift = (at & SEVEN) << THREE
    word = at >> THREE
    return (wide[word] >> shift) | ((wide[word + ONE] << ONE) << (U(63) - shift))


@kernel
def _long_hash(wide, at, size):
    """Return 56 bits that depend on all bytes of a type of at least 8 bytes."""
    h = size * _ODD1
    stop = at + size - EIGHT
    while at < stop:
        h = (h ^ load8(wide, at)) * _ODD1
        h ^= h >> _HALF
        at += EIGHT
    h = (h ^ load8(wide, stop)) * _ODD2
    return (h ^ (h >> _HALF)) & _LOW56


@kernel
def key_of(wide, at, size):
    """Return the key of the type of ``size`` >= 1 bytes at byte ``at``: two words."""
    first = load8(wide, at)
    if size <= EIGHT:
        first &= NONE >> (U(64) - (size << THREE))
        second = size << LENGTH_AT
    elif size <= SHORT:
        second = (load8(wide, at + EIGHT) & (_LOW56 >> ((SHORT - size) << THREE))) | (size << LENGTH_AT)
    else:
        second = _long_hash(wide, at, size) | _LONG
    return first, second


@kernel
def _hash(first, second):
    """Return the hash of a key: two multiplications, high bits folded onto low ones."""
    h = (first ^ (second * _ODD1)) * _ODD2
    return h ^ (h >> _HALF)


@kernel
def probe(slots, entries, first, second):
    """Return the number of the first type with this key, or NONE. Types of up to SHORT bytes have keys of their own."""
    h = _hash(first, second)
    last = U(len(slots)) - ONE
    i = h & last
    slot = slots[i]
    found = NONE
    while slot != ZERO and found == NONE:
        if (slot ^ h) >> _HALF == ZERO:
            n = (slot & _LOW32) - ONE
            if entries[n, ZERO] == first and entries[n, ONE] == second:
                found = n
        i = (i + ONE) & last
        slot = slots[i]
    return found


@kernel
def _same(types, n, text, at, size):
    """Return whether type n is the one of ``size`` bytes at ``text[at]``."""
    begin = types.entries[n, BEGIN]
    k = ZERO
    if types.entries[n + ONE, BEGIN] - begin == size:
        while k < size and types.data[begin + k] == text[at + k]:
            k += ONE
    return k == size


@kernel
def exact(types, found, first, second, text, at, size):
    """Return the number of a long type, or NONE, where ``probe`` found the first one with its key."""
    last = U(len(types.slots)) - ONE
    i = _hash(first, second) & last
    while found != NONE and not _same(types, found, text, at, size):
        found = NONE
        while types.slots[i] != ZERO and found == NONE:
            n = (types.slots[i] & _LOW32) - ONE
            if types.entries[n, ZERO] == first and types.entries[n, ONE] == second and _same(types, n, text, at, size):
                found = n
            i = (i + ONE) & last
    return found


@kernel
def insert(types, first, second, text, at, size):
    """Add a type that is not there, with count 0; return its number, or NONE if the table is too full."""
    n, begin = types.used[ZERO], types.used[ONE]
    full = n + TWO > U(len(types.entries)) or TWO * (n + ONE) > U(len(types.slots))
    if full or begin + size > U(len(types.data)):
        n = NONE
    else:
        _place(types.slots, _hash(first, second), n)
        types.entries[n, ZERO] = first
        types.entries[n, ONE] = second
        types.entries[n, BEGIN] = begin
        types.entries[n, COUNT] = ZERO
        types.entries[n + ONE, BEGIN] = begin + size
        for k in range(size):
            types.data[begin + k] = text[at + k]
        types.used[ZERO] = n + ONE
        types.used[ONE] = begin + size
    return n


@kernel
def _place(slots, h, n):
    """Put type n with hash h into the first free slot of its probe sequence."""
    last = U(len(slots)) - ONE
    i = h & last
    while slots[i] != ZERO:
        i = (i + ONE) & last
    slots[i] = (h >> _HALF << _HALF) | (n + ONE)


@kernel
def rehash(types):
    """Fill the slots, all 0, from the entries."""
    slots, entries, _, used = types
    for n in range(used[ZERO]):
        _place(slots, _hash(entries[n, ZERO], entries[n, ONE]), n)


@kernel
def absorb(types, text, begins, sizes, counts, numbers, start):
    """Add types and their counts, from the one numbered ``start`` on, and write their numbers here to ``numbers``.

    text : uint8, whole words of 8 bytes, 16 bytes to spare; type i is ``text[begins[i]:begins[i] + sizes[i]]``.
    begins, sizes, counts : uint64; sizes >= 1.  numbers : uint32.
    Returns how many are done; fewer than all if the table is too full.
    """
    wide = text.view(U)
    i, stop = U(start), U(len(begins))
    full = False
    while i < stop and not full:
        at, size = begins[i], sizes[i]
        first, second = key_of(wide, at, size)
        n = probe(types.slots, types.entries, first, second)
        if size > SHORT:
            n = exact(types, n, first, second, text, at, size)
        if n == NONE:
            n = insert(types, first, second, text, at, size)
        full = n == NONE
        if not full:
            types.entries[n, COUNT] += counts[i]
            numbers[i] = n
            i += ONE
    return i


@kernel
def gather(data, begins, sizes, out):
    """Write the types ``data[begins[i]:begins[i] + sizes[i]]`` to ``out``, one after another."""
    n = ZERO
    for i in range(U(len(begins))):
        for k in range(sizes[i]):
            out[n] = data[begins[i] + k]
            n += ONE


@kernel
def prefixes(data, begins, sizes, skip, out):
    """Write bytes ``skip`` to ``skip + 7`` of each type as a number that sorts like the bytes; missing ones are 0."""
    for i in range(U(len(begins))):
        value = ZERO
        for k in range(U(skip), U(skip) + EIGHT):
            value = value << EIGHT
            if k < sizes[i]:
                value |= U(data[begins[i] + k])
        out[i] = value
