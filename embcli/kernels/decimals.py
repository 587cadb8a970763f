"""Rows of decimal numbers in text: read to float32, and written from it with as few digits as bring it back.

The nearest float32 is found through a float64 whose error is bounded; the few numbers that are too near the middle
between two float32 for that, and whatever is not plainly a number, are handed back to the caller.
"""

from __future__ import annotations

import numpy as np

from embcli.kernels._jit import inner_kernel, kernel

U = np.uint64
_SPACE, _TAB, _CR, _PLUS, _MINUS, _DOT, _ZERO, _SMALL_E, _BIG_E = 32, 9, 13, 43, 45, 46, 48, 101, 69
#: powers of ten as float64; exact up to 10^22
POWERS = np.array([float(f"1e{k}") for k in range(61)])
#: float64 has 29 more bits of fraction than float32; the middle between two float32, and how near it is too near
_LOW, _MIDDLE, _NEAR = U((1 << 29) - 1), 1 << 28, 16
_LEAST, _MOST = 2.4e-38, 3.4e38
_FULL = U(1844674407370955160)


@inner_kernel
def _blank(c):  # type: ignore[no-untyped-def]
    return c in (_SPACE, _TAB, _CR)


@inner_kernel
def number(text, start, stop, powers):  # type: ignore[no-untyped-def]
    """Return (value, whether it is sure to be the nearest float32 once it is rounded to one) of text[start:stop].

    value = m 10^e with m of at most 19 digits: two roundings of m and of its product, and one of a power above 10^22.
    """
    i, m, e, digits = start, U(0), 0, 0
    negative = text[i] == _MINUS
    if negative or text[i] == _PLUS:
        i += 1
    while i < stop and _ZERO <= text[i] <= 57:
        if m < _FULL:
            m = m * U(10) + U(text[i] - _ZERO)
        else:
            e += 1
        digits += 1
        i += 1
    if i < stop and text[i] == _DOT:
        i += 1
        while i < stop and _ZERO <= text[i] <= 57:
            if m < _FULL:
                m = m * U(10) + U(text[i] - _ZERO)
                e -= 1
            digits += 1
            i += 1
    if digits == 0:
        return 0.0, False
    if i < stop and (text[i] == _SMALL_E or text[i] == _BIG_E):
        i += 1
        down = i < stop and text[i] == _MINUS
        if i < stop and (down or text[i] == _PLUS):
            i += 1
        if i == stop:
            return 0.0, False
        power = 0
        while i < stop and _ZERO <= text[i] <= 57:
            power = min(power * 10 + np.int64(text[i] - _ZERO), 9999)
            i += 1
        e += -power if down else power
    if i < stop:
        return 0.0, False
    if m == U(0):
        return (-0.0 if negative else 0.0), True
    if not -60 <= e <= 60:
        return 0.0, False
    value = np.float64(m) * powers[e] if e >= 0 else np.float64(m) / powers[-e]
    low = np.int64(np.float64(value).view(np.uint64) & _LOW)
    sure = abs(low - _MIDDLE) > _NEAR and _LEAST < value < _MOST
    return (-value if negative else value), sure


@kernel
def read_rows(text, starts, stops, first, powers, bare, out, word_stops, odd):  # type: ignore[no-untyped-def]
    """Read lines ``first`` on: a word (none if ``bare``), then as many numbers as ``out`` has columns.

    text : uint8.  starts, stops : int64, of each line, without its line end.
    out : float32 (lines, d), filled.  word_stops : int64, where each line's word ends; -1 where a line has not as many
    fields as are due. The word is all that stands before the blank before the numbers, blanks included.
    odd : int64 (n, 4), filled with (line, column, start, stop) of fields that the caller has to read.

    Returns (line to go on with, how many odd fields there are); it stops early when ``odd`` might not hold a line's.
    """
    d, found = out.shape[1], 0
    for line in range(first, len(starts)):
        if found + d > len(odd):
            return line, found
        start, at = starts[line], stops[line]
        word_stops[line] = -1
        before = found
        for j in range(d - 1, -1, -1):
            while at > start and _blank(text[at - 1]):
                at -= 1
            stop = at
            while at > start and not _blank(text[at - 1]):
                at -= 1
            if at == stop or (at == start and (j > 0 or not bare)):
                found, at = before, -1
                break
            value, sure = number(text, at, stop, powers)
            out[line, j] = value
            if not sure:
                odd[found, 0], odd[found, 1], odd[found, 2], odd[found, 3] = line, j, at, stop
                found += 1
        if bare:
            while at > start and _blank(text[at - 1]):
                at -= 1
            if at == start:
                word_stops[line] = start
        elif at > start:
            word_stops[line] = at - 1
    return len(starts), found


@inner_kernel
def _digits(x, powers):  # type: ignore[no-untyped-def]
    """Return (m, e) with m 10^e nearest to the float32 ``x`` > 0 and sure to be read as it, m of 6 to 10 digits."""
    wide = np.float64(x)
    bits = np.int64(np.float32(x).view(np.uint32))
    # half the way to the number below, which is never nearer than the one above
    half = 0.4999 * (wide - np.float64(np.uint32(bits - 1).view(np.float32)))
    e = np.int64(np.floor(np.log10(wide)))
    m = 0.0
    for p in range(6, 11):
        k = p - 1 - e
        m = np.rint(wide * powers[k] if k >= 0 else wide / powers[-k])
        back = m / powers[k] if k >= 0 else m * powers[-k]
        if abs(back - wide) < half:
            return np.int64(m), -k
    return np.int64(m), -k


@inner_kernel
def _put(out, at, m, n):  # type: ignore[no-untyped-def]
    """Write the ``n`` digits of ``m`` at out[at:]."""
    for i in range(n - 1, -1, -1):
        out[at + i] = _ZERO + m % 10
        m //= 10


@inner_kernel
def put_number(out, at, x, powers):  # type: ignore[no-untyped-def]
    """Write a float32 as text at out[at:], at most 16 bytes; return where it ends."""
    if np.float32(x).view(np.uint32) >> np.uint32(31):
        out[at] = _MINUS
        at += 1
        x = -x
    if x == 0:
        out[at] = _ZERO
        return at + 1
    m, e = _digits(x, powers)
    while m % 10 == 0:
        m //= 10
        e += 1
    n, rest = 0, m
    while rest:
        rest //= 10
        n += 1
    point = n + e  # of the digits stand before the point
    if point > 12 or point < -4:
        return _put_power(out, at, m, n, point - 1)
    if e >= 0:
        _put(out, at, m, n)
        for i in range(e):
            out[at + n + i] = _ZERO
        return at + point
    if point <= 0:
        out[at], out[at + 1] = _ZERO, _DOT
        for i in range(-point):
            out[at + 2 + i] = _ZERO
        _put(out, at + 2 - point, m, n)
        return at + 2 - point + n
    _put(out, at + 1, m, n)
    for i in range(point):
        out[at + i] = out[at + i + 1]
    out[at + point] = _DOT
    return at + n + 1


@inner_kernel
def _put_power(out, at, m, n, power):  # type: ignore[no-untyped-def]
    """Write m as d.ddde-xx at out[at:]; return where it ends."""
    _put(out, at + 1, m, n)
    out[at] = out[at + 1]
    if n > 1:
        out[at + 1] = _DOT
        at += n + 1
    else:
        at += 1
    out[at] = _SMALL_E
    out[at + 1] = _MINUS if power < 0 else _PLUS
    power = abs(power)
    out[at + 2], out[at + 3] = _ZERO + power // 10, _ZERO + power % 10
    return at + 4


@kernel
def write_rows(words, offsets, first, rows, powers, blank, bare, out):  # type: ignore[no-untyped-def]
    """Write lines of a word and its numbers: words first, first + 1 ... with the rows of ``rows``; return the bytes.

    ``blank`` stands before each number, but not at the beginning of a line if ``bare``.
    words, offsets : of the vocabulary.  rows : float32 (n, d), finite.  out : uint8, room for the words and 17 bytes a
    number and 1 a line.
    """
    at = 0
    for i in range(len(rows)):
        for j in range(offsets[first + i], offsets[first + i + 1]):
            out[at] = words[j]
            at += 1
        for j in range(rows.shape[1]):
            if j > 0 or not bare:
                out[at] = blank
                at += 1
            at = put_number(out, at, rows[i, j], powers)
        out[at] = 10
        at += 1
    return at
