"""Cut UTF-8 text into words or characters and number them, straight from its bytes.

Not for byte-pair pre-tokens. Text is validated as table 3-7 of the Unicode Standard says (no overlong forms, no
surrogates, nothing above U+10FFFF); what becomes of a bad sequence is Python's business.
"""

import numpy as np

from embcli.kernels._jit import kernel
from embcli.kernels.typetable import (
    COUNT,
    EIGHT,
    LENGTH_AT,
    NONE,
    ONE,
    SEVEN,
    SHORT,
    THREE,
    ZERO,
    U,
    exact,
    insert,
    key_of,
    load8,
    probe,
)  # fmt: skip

#: what a byte or a code point is: a separator, white space, a line end, part of a word, an apostrophe that may join
#: two; WIDE stands for bytes from 0x80 on, BAD for what is not UTF-8
GAP, SPACE, LF, TOKEN, APOSTROPHE, WIDE, BAD = range(7)
#: where code points begin in a table of classes, behind the 256 bytes
POINTS = U(256)
#: what stands for a sequence that is not UTF-8, behind the last code point
BAD_POINT = 0x110000
#: how a scan ends: all done, the table of types is too full, or a sequence is not UTF-8
DONE, FULL, INVALID = range(3)
#: what stands in ``state``: next byte, ids and lines so far, whether the current line has anything but white space
POS, IDS, LINES, INK = range(4)

_CR, _LF = np.uint8(13), np.uint8(10)
_BYTE, _MARK, _MORE = U(0xFF), U(0x80), U(0x40)
_EACH = U(0x0101010101010101)
_TOP, _LOW7 = U(0x80) * _EACH, U(0x7F) * _EACH
_CASE, _FROM_A, _TO_Z = U(0x20) * _EACH, U(0x80 - 0x61) * _EACH, U(0x7F - 0x7A) * _EACH
_FROM_0, _TO_9 = U(0x80 - 0x30) * _EACH, U(0x7F - 0x39) * _EACH
_FROM_TAB, _TO_CR = U(0x80 - 9) * _EACH, U(0x7F - 13) * _EACH


@kernel
def decode(x):
    """Return 8 x the code point + the bytes it takes of the character at the low end of ``x``; 8 x BAD_POINT if bad."""
    a, b, c, d = x & _BYTE, (x >> U(8) & _BYTE) ^ _MARK, (x >> U(16) & _BYTE) ^ _MARK, (x >> U(24) & _BYTE) ^ _MARK
    if a < U(0x80):
        point, size, ok = a, U(1), True
    elif a < U(0xE0):
        point, size = (a & U(0x1F)) << U(6) | b, U(2)
        ok = a >= U(0xC2) and b < _MORE
    elif a < U(0xF0):
        point, size = (a & U(0x0F)) << U(12) | b << U(6) | c, U(3)
        ok = (b | c) < _MORE and point >= U(0x800) and (point < U(0xD800) or point > U(0xDFFF))
    else:
        point, size = (a & U(0x0F)) << U(18) | b << U(12) | c << U(6) | d, U(4)
        ok = (b | c | d) < _MORE and point >= U(0x10000) and point < U(BAD_POINT)
    return point << THREE | size if ok else U(BAD_POINT) << THREE


@kernel
def _word_end(wide, at, classes):
    """Return where the word that goes on at ``at`` ends, and the class of what stands there."""
    c, size = np.uint8(TOKEN), ZERO
    while c == TOKEN:
        at += size
        x = decode(load8(wide, at))
        c, size = classes[POINTS + (x >> THREE)], x & SEVEN
        if c == APOSTROPHE:  # it joins if a word goes on behind it
            x = decode(load8(wide, at + size))
            if classes[POINTS + (x >> THREE)] == TOKEN:
                c, size = np.uint8(TOKEN), size + (x & SEVEN)
    return at, c


@kernel
def _outside(x, spaces):
    """Return 8 bytes whose top bits say which bytes of ``x`` are no ASCII letter or digit; if ``spaces``, white space.

    Bytes from 0x80 on are outside too. Range tests without carries between bytes: Warren, Hacker's Delight, 6-1.
    """
    low = x & _LOW7
    if spaces:
        blank = ((low + _FROM_TAB) & ~(low + _TO_CR)) | ~((low ^ _CASE) + _LOW7)
        return (blank | x) & _TOP
    letter = low | _CASE
    word = ((letter + _FROM_A) & ~(letter + _TO_Z)) | ((low + _FROM_0) & ~(low + _TO_9))
    return (~word | x) & _TOP


@kernel
def _before(stop):
    """Return a mask of the bytes before the first one whose top bit is set in ``stop``."""
    return ((stop & (~stop + ONE)) - ONE) >> SEVEN


@kernel
def _bytes_in(mask):
    """Return how many bytes a mask of at most 7 covers."""
    return ((mask & _EACH) * _EACH) >> LENGTH_AT


@kernel
def scan_words(text, end, classes, spaces, types, ids, lines, state):
    """Number the words of ``text[state[POS]:end]`` and count them; return DONE, FULL or INVALID.

    text : uint8, whole words of 8 bytes, at least 16 LFs after ``end``.  classes : uint8 (256 + 0x110001,).
    spaces : whether words are runs of anything but white space.  ids : uint32, written: a number a word.
    lines : int64, written: for each line end 2 x ids so far, + 1 if the line has anything but white space.
    state : uint64 (4,), see POS; a scan that ended early goes on from it, at the beginning of a word.
    """
    slots, entries, wide = types.slots, types.entries, text.view(U)
    pos, n, m, ink = state
    end, status = U(end), DONE
    while pos < end and status == DONE:
        c = classes[text[pos]]
        if c < TOKEN:
            ink |= U(c == GAP)
            if c == LF:
                lines[m] = n << ONE | ink
                m += ONE
                ink = ZERO
            pos += ONE
            continue
        first = load8(wide, pos)
        stop = _outside(first, spaces)
        if stop != ZERO:
            size = _bytes_in(_before(stop))
            first, second = first & _before(stop), size << LENGTH_AT
        else:
            second = load8(wide, pos + EIGHT)
            stop = _outside(second, spaces)
            size = EIGHT + (_bytes_in(_before(stop)) if stop != ZERO else EIGHT)
            second = (second & _before(stop)) | size << LENGTH_AT
        if size == ZERO or size > SHORT or classes[text[pos + size]] >= TOKEN:  # not plain ASCII, or long
            x = decode(load8(wide, pos))
            c, size = classes[POINTS + (x >> THREE)], x & SEVEN
            if c == TOKEN:
                at, c = _word_end(wide, pos + size, classes)
                size = at - pos
                first, second = key_of(wide, pos, size)
            elif c != BAD:
                ink |= U(c != SPACE)
                pos += size
                continue
            if c == BAD:
                status = INVALID
                continue
        t = probe(slots, entries, first, second)
        if size > SHORT:
            t = exact(types, t, first, second, text, pos, size)
        if t == NONE:
            t = insert(types, first, second, text, pos, size)
            if t == NONE:
                status = FULL
                continue
        entries[t, COUNT] += ONE
        ids[n] = t
        n += ONE
        pos += size
        ink = ONE
    state[POS], state[IDS], state[LINES], state[INK] = pos, n, m, ink
    return status


@kernel
def scan_chars(text, end, classes, types, ids, lines, state):
    """Number the characters of ``text[state[POS]:end]``: code points but LF, and CR before LF. As ``scan_words``."""
    wide = text.view(U)
    pos, n, m, ink = state
    end, status = U(end), DONE
    while pos < end and status == DONE:
        x = decode(load8(wide, pos))
        c, size = classes[POINTS + (x >> THREE)], x & SEVEN
        if c == LF:
            lines[m] = n << ONE | ink
            m += ONE
            ink = ZERO
        elif c == BAD:
            status = INVALID
        elif text[pos] != _CR or text[pos + ONE] != _LF or pos + ONE == end:
            first, second = key_of(wide, pos, size)
            t = probe(types.slots, types.entries, first, second)
            if t == NONE:
                t = insert(types, first, second, text, pos, size)
            if t == NONE:
                status = FULL
            else:
                types.entries[t, COUNT] += ONE
                ids[n] = t
                n += ONE
                ink = ONE
        if status == DONE:
            pos += size
    state[POS], state[IDS], state[LINES], state[INK] = pos, n, m, ink
    return status


@kernel
def rename(ids, names, dropped, ends, out, starts):
    """Write the final ids of provisional ones, leaving out those whose name is ``dropped``; return how many there are.

    ids : uint32.  names : uint32, final id by provisional one.  ends : int64, ascending places in ``ids``.
    out : uint32, as long as ``ids``.  starts : int64, written: the place in ``out`` for each of ``ends``.
    """
    n, i = ZERO, ZERO
    for e in range(U(len(ends)) + ONE):
        stop = U(ends[e]) if e < U(len(ends)) else U(len(ids))
        while i < stop:
            name = names[ids[i]]
            out[n] = name
            n += U(name != dropped)
            i += ONE
        if e < U(len(ends)):
            starts[e] = n
    return n
