"""Cut UTF-8 text into pieces (pre-tokens), number and count them, straight from its bytes.

Not for merging. Plain words of up to 15 ASCII letters are cut 8 bytes at a time; for all else ``pieceends`` says where
a piece ends. The patterns are in ``text.patterns``.
"""

from typing import NamedTuple

import numpy as np

from embcli.kernels._jit import kernel
from embcli.kernels.memory import word_at, zeros
from embcli.kernels.pieceends import GPT4O, SPACES, WHOLE, Way, piece_end
from embcli.kernels.typetable import (
    _HALF,
    _LOW32,
    COUNT,
    EIGHT,
    LENGTH_AT,
    NONE,
    ONE,
    SEVEN,
    SHORT,
    THREE,
    TWO,
    ZERO,
    U,
    _hash,
    exact,
    insert,
    key_of,
    probe,
)  # fmt: skip
from embcli.kernels.words import _CASE, _FROM_A, _LOW7, _TO_Z, _TOP, DONE, FULL, _outside

#: what stands in ``state``: next byte; pieces, line ends and special tokens so far
POS, PIECES, LINES, MARKS = range(4)
#: what is added to the number of a special token among those of pieces
SPECIAL = 1 << 31
#: pieces that are looked up at a time
BATCH = 64


_QUOTE = U(0x27)


class Rule(NamedTuple):
    r"""How a pattern is run.

    classes : uint8 (256 + 0x110001,), the class of every byte, every code point, and (the last) of no character.
    prefixes : uint64 (256,), 0x80 for a byte that may stand before the letters of a word, else 0.
    family : see ``pieceends``.  digits : numbers in a piece at most.
    tail : whether white space up to the end of a text is one piece even if a line ends in it (``\s++$`` stands first).
    """

    classes: np.ndarray
    prefixes: np.ndarray
    family: int
    digits: int
    tail: bool


@kernel
def _stops(x, skip, low, family):
    """Return 8 bytes whose top bits say which bytes of ``x`` do not go on a plain word, and ``low`` for what follows.

    skip : 0x80 if the first byte may be anything.  low : whether there was a small letter (for gpt4o, in which a
    capital ends a word then). Range tests without carries between bytes: Warren, Hacker's Delight, 6-1.
    """
    if family == SPACES:
        stop = _outside(x, True) & ~skip
    else:
        letter = (x & _LOW7) | _CASE
        word = ((letter + _FROM_A) & ~(letter + _TO_Z)) & ~x & _TOP
        stop = (word ^ _TOP) & ~skip if family != WHOLE else _TOP
        if family == GPT4O:
            small = word & (x << TWO)
            large = word ^ small
            if not low:
                small &= ~small + ONE
                large &= ~(small - ONE)
                low = small != ZERO
            stop |= large
    return stop, low


@kernel
def _plain(at, end, prefixes, family):
    """Return the key and the bytes of the piece at ``at``, if it is a word of ASCII letters, else 0 bytes.

    At most 15 bytes, and no byte from 0x80 on behind it, nor an apostrophe in gpt4o.
    """
    first, second, size, behind = word_at(at), ZERO, ZERO, ZERO
    skip = word_at(prefixes + ((first & U(0xFF)) << THREE))
    stop, low = _stops(first, skip, False, family)
    if stop != ZERO:
        bits = zeros(stop) - SEVEN
        behind = first >> bits
        first &= (ONE << bits) - ONE
        size = bits >> THREE
        second = size << LENGTH_AT
        if size << SEVEN <= skip:
            size = ZERO
    else:
        second = word_at(at + EIGHT)
        stop, low = _stops(second, ZERO, low, family)
        if stop != ZERO:
            bits = zeros(stop) - SEVEN
            behind = second >> bits
            size = EIGHT + (bits >> THREE)
            second = (second & ((ONE << bits) - ONE)) | size << LENGTH_AT
    behind &= U(0xFF)
    if behind >= U(0x80) or at + size > end or (family == GPT4O and behind == _QUOTE):
        size = ZERO
    return first, second, size


@kernel
def _cut(text, pos, end, way, prefixes, batch, n, lines, m):
    """Cut a batch of pieces from ``text[pos:end]``; return where it ends, how many pieces it has, and line ends so far.

    batch : written; its columns are place, bytes, and key.  n : pieces so far.
    """
    wide, base, i = text.view(U), U(text.ctypes.data), ZERO
    stop = base + end
    while pos < end and i < BATCH:
        first, second, size = _plain(base + pos, stop, prefixes, way.family)
        if size == ZERO:
            size = piece_end(base + pos, stop, way) - base - pos
            if size != ZERO:
                first, second = key_of(wide, pos, size)
        if size == ZERO:  # an END
            lines[m] = n + i
            m += ONE
            pos += ONE
        else:
            batch[i, 0], batch[i, 1], batch[i, 2], batch[i, 3] = pos, size, first, second
            i += ONE
            pos += size
    return pos, i, m


@kernel
def _number(text, types, batch, count, numbers, keep, n):
    """Number and count a batch of pieces; return how many are done: fewer than ``count`` if the table is too full.

    All are looked up before the first one is used, so that loads do not wait for each other (measured: 1.3 x the speed
    of the whole scan, with 280,000 types).
    """
    slots, entries = types.slots, types.entries
    last = U(len(slots)) - ONE
    for i in range(count):
        h = _hash(batch[i, 2], batch[i, 3])
        at = h & last
        slot = slots[at]
        while slot != ZERO and (slot ^ h) >> _HALF != ZERO:
            at = (at + ONE) & last
            slot = slots[at]
        batch[i, 4] = (slot & _LOW32) - U(slot != ZERO)  # type 0, if it is new: its key will differ
    i, full = ZERO, False
    while i < count and not full:
        t, first, second, size = batch[i, 4], batch[i, 2], batch[i, 3], batch[i, 1]
        if entries[t, ZERO] != first or entries[t, ONE] != second or size > SHORT:
            t = probe(slots, entries, first, second)
            if size > SHORT:
                t = exact(types, t, first, second, text, batch[i, 0], size)
            if t == NONE:
                t = insert(types, first, second, text, batch[i, 0], size)
        full = t == NONE
        if not full:
            entries[t, COUNT] += ONE
            if keep:
                numbers[n + i] = t
            i += ONE
    return i


@kernel
def _texts(text, end, rule, types, batch, numbers, keep, lines, state):
    """Number the pieces of texts of which the last ends at ``end``; as ``scan_pieces``, without special tokens."""
    pos, n, m = state[POS], state[PIECES], state[LINES]
    way = Way(U(rule.classes.ctypes.data), rule.family, rule.digits, rule.tail)
    prefixes, status = U(rule.prefixes.ctypes.data), DONE
    while pos < end and status == DONE:
        pos, count, m = _cut(text, pos, end, way, prefixes, batch, n, lines, m)
        done = _number(text, types, batch, count, numbers, keep, n)
        n += done
        if done < count:  # take back what is behind that piece
            status, pos = FULL, batch[done, 0]
            while m > ZERO and U(lines[m - ONE]) > n:
                m -= ONE
    state[POS], state[PIECES], state[LINES] = pos, n, m
    return status


@kernel
def scan_pieces(text, end, rule, marks, types, numbers, keep, lines, state):
    """Number the pieces of ``text[state[POS]:end]`` and count them; return DONE or FULL.

    text : uint8, whole words of 8 bytes, at least 16 more after ``end``.  rule : see Rule.
    marks : uint64 (n, 3), where special tokens begin and end, and their numbers; text on either side is a text of its
    own.  numbers : uint32, written if ``keep``: a number a piece; that of a special token + SPECIAL.
    lines : int64, written: how many pieces stand before each END.
    state : uint64 (4,), see POS; a scan that ended early goes on from it, at the beginning of a piece.
    """
    end, i = U(end), state[MARKS]
    count, status, batch = U(len(marks)), DONE, np.empty((BATCH, 5), U)
    more = True
    while more and status == DONE:
        more = i < count
        stop = marks[i, ZERO] if more else end
        status = _texts(text, stop, rule, types, batch, numbers, keep, lines, state)
        if more and status == DONE:
            if keep:
                numbers[state[PIECES]] = U(SPECIAL) | marks[i, TWO]
            state[PIECES] += ONE
            state[POS] = marks[i, ONE]
            i += ONE
    state[MARKS] = i
    return status


@kernel
def number_pieces(text, bounds, types, numbers, state):
    """Number the pieces ``text[bounds[i]:bounds[i + 1]]`` and count them; return DONE or FULL. As ``scan_pieces``.

    bounds : uint64, ascending.  numbers : uint32, written.  state : as above; only PIECES is used.
    """
    wide, n, count, status = text.view(U), state[PIECES], U(len(bounds)) - ONE, DONE
    while n < count and status == DONE:
        at = bounds[n]
        size = bounds[n + ONE] - at
        first, second = key_of(wide, at, size)
        t = probe(types.slots, types.entries, first, second)
        if size > SHORT:
            t = exact(types, t, first, second, text, at, size)
        if t == NONE:
            t = insert(types, first, second, text, at, size)
        if t == NONE:
            status = FULL
        else:
            types.entries[t, COUNT] += ONE
            numbers[n] = t
            n += ONE
    state[PIECES] = n
    return status
