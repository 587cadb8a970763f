"""Cut UTF-8 text into pieces (pre-tokens) as the published patterns do, and number them, straight from its bytes.

Not for merging. The patterns are in ``text.patterns``; their alternatives are walked here by hand, each as the greedy
matcher would, in time linear in the text. A byte that is no part of a UTF-8 sequence is a symbol of its own.
The end of a text ends every run, and is what ``(?!\\S)`` and ``$`` see; it is a class of its own.
"""

from typing import NamedTuple

import numpy as np

from embcli.kernels._jit import kernel
from embcli.kernels.memory import byte_at, word_at, zeros
from embcli.kernels.typetable import (
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
    _HALF,
    _LOW32,
    _hash,
    exact,
    insert,
    key_of,
    probe,
)  # fmt: skip
from embcli.kernels.words import (
    _CASE,
    _FROM_A,
    _LOW7,
    _TO_Z,
    _TOP,
    DONE,
    FULL,
    POINTS,
    _outside,
    decode,
)  # fmt: skip

#: classes of characters. END: no text here (or a LF between texts); LAST: a LF that ends its text; LF, CR, SPACE and
#: BLANK (other white space); DIGIT is \p{N}; APOSTROPHE and MARK (\p{M}) are symbols too; OTHER is Lm and Lo, UPPER Lu
#: and Lt, LOWER Ll; WIDE stands for bytes from 0x80 on
END, LAST, LF, CR, SPACE, BLANK, DIGIT, SYMBOL, APOSTROPHE, MARK, OTHER, UPPER, LOWER, WIDE = range(14)
#: families of patterns
GPT2, GPT4, GPT4O, SPACES, WHOLE = range(5)
#: what stands in ``state``: next byte; pieces, line ends and special tokens so far
POS, PIECES, LINES, MARKS = range(4)
#: what is added to the number of a special token among those of pieces
SPECIAL = 1 << 31
#: pieces that are looked up at a time
BATCH = 64

_QUOTE, _SLASH = np.uint8(0x27), np.uint8(0x2F)
_END, _LAST, _CR, _SPACE, _DIGIT = np.uint8(END), np.uint8(LAST), np.uint8(CR), np.uint8(SPACE), np.uint8(DIGIT)
_BLANK, _SYMBOL, _MARK, _OTHER = np.uint8(BLANK), np.uint8(SYMBOL), np.uint8(MARK), np.uint8(OTHER)
_UPPER, _LOWER, _WIDE = np.uint8(UPPER), np.uint8(LOWER), np.uint8(WIDE)


class Rule(NamedTuple):
    """How a pattern is run.

    classes : uint8 (256 + 0x110001,), the class of every byte, every code point, and (the last) of no character.
    prefixes : uint64 (256,), 0x80 for a byte that may stand before the letters of a word, else 0.
    family : see above.  digits : numbers in a piece at most.
    tail : whether white space up to the end of a text is one piece even if a line ends in it (``\\s++$`` stands first).
    """

    classes: np.ndarray
    prefixes: np.ndarray
    family: int
    digits: int
    tail: bool


class _Way(NamedTuple):
    """A rule with the address of its table of classes, which is cheaper to hand on. Places are addresses below."""

    classes: int
    family: int
    digits: int
    tail: bool


@kernel
def _look(at, end, way):
    """Return the class of the character at ``at``, and its bytes."""
    c, size = _END, ONE
    if at < end:
        c = byte_at(way.classes + U(byte_at(at)))
        if c == _WIDE:
            x = decode(word_at(at))
            size = x & SEVEN
            if size == ZERO or at + size > end:
                c, size = _SYMBOL, ONE
            else:
                c = byte_at(way.classes + POINTS + (x >> THREE))
    return c, size


@kernel
def _run(at, end, way, low, high):
    """Return where a run of classes ``low`` to ``high``, none of them LAST, ends that goes on at ``at``."""
    c, size = _look(at, end, way)
    while low <= c <= high:
        at += size
        c, size = _look(at, end, way)
    return at


@kernel
def _lines(at, end, way, slash):
    """Return where a run of CR and LF (and slashes) ends that goes on at ``at``."""
    more = at < end
    while more:
        c = byte_at(way.classes + U(byte_at(at)))
        more = _LAST <= c <= _CR or (slash and byte_at(at) == _SLASH)
        at += U(more)
        more &= c != _LAST and at < end
    return at


@kernel
def _contraction(at, end, fold):
    """Return the bytes of one of s, d, m, t, ll, ve, re at ``at``, behind an apostrophe, or 0.

    fold : in any case; U+017F, whose capital is S, is an s then.
    """
    size = ZERO
    if at < end:
        a, b = byte_at(at), byte_at(at + ONE)
        if fold and a == np.uint8(0xC5) and b == np.uint8(0xBF):
            size = TWO
        elif fold:
            a, b = a | np.uint8(0x20), b | np.uint8(0x20)
        if size == ZERO:
            if a == ord("s") or a == ord("d") or a == ord("m") or a == ord("t"):
                size = ONE
            elif (a == ord("l") and b == ord("l")) or ((a == ord("v") or a == ord("r")) and b == ord("e")):
                size = TWO
        if at + size > end:
            size = ZERO
    return size


@kernel
def _blanks(at, end, way):
    r"""Return where the piece of white space that begins at ``at`` ends.

    ``\s+(?!\S)|\s+``: all of it, but one character less where something follows; before that, but in the family of
    GPT-2, ``\s*[\r\n]+``: up to the last line end.
    """
    begin, before, line = at, at, at
    c, size = _look(at, end, way)
    while _LAST <= c <= _BLANK:
        before = at
        at += size
        if c <= _CR:
            line = at
        if c == _LAST:
            c = _END
        else:
            c, size = _look(at, end, way)
    lined = line > begin and (way.family == GPT4 or way.family == GPT4O)
    if lined and not (way.tail and c == _END):
        at = line
    elif c != _END and before > begin:
        at = before
    return at


@kernel
def _camel(at, end, way):
    r"""Return where ``[\p{Lu}\p{Lt}X]*[\p{Ll}X]+|[\p{Lu}\p{Lt}X]+[\p{Ll}X]*`` ends, X = ``\p{Lm}\p{Lo}\p{M}``.

    ``at`` itself if it matches nothing there; and whether it was the first alternative that matched. Where no Ll follows
    the first run, its last X ends that.
    """
    both, first = at, False
    c, size = _look(at, end, way)
    while _MARK <= c <= _UPPER:
        at += size
        if c != _UPPER:
            both, first = at, True
        c, size = _look(at, end, way)
    if c == _LOWER:
        first = True
        while c == _LOWER or _MARK <= c <= _OTHER:
            at += size
            c, size = _look(at, end, way)
    elif first:
        at = both
    return at, first


@kernel
def _word_4o(at, end, way, c, size):
    """Return where the word ends that begins at ``at``, with a character of class c, in gpt4o; ``at`` if there is none."""
    if c >= _OTHER:
        stop, _ = _camel(at, end, way)
    else:
        begin = at + size
        stop, first = _camel(begin, end, way)
        if c == _MARK and not first:  # a mark goes before a word, unless the first alternative needs it
            stop = begin
        elif stop == begin:
            stop = at
    if stop > at and stop < end and byte_at(stop) == _QUOTE:
        more = _contraction(stop + ONE, end, True)
        stop += more + U(more != ZERO)
    return stop


@kernel
def _digits(at, end, way):
    """Return where up to ``way.digits`` numbers end."""
    n = 0
    c, size = _look(at, end, way)
    while c == _DIGIT and n < way.digits:
        at += size
        n += 1
        c, size = _look(at, end, way)
    return at


@kernel
def _piece_2(at, end, way, c, size):
    """Return where the piece ends that begins at ``at`` with a character of class c: GPT2 and SPACES."""
    if c == _SPACE:
        c, _ = _look(at + ONE, end, way)
        if c > _BLANK:
            at += ONE
        else:
            c = _SPACE
    elif c == np.uint8(APOSTROPHE) and way.family == GPT2:
        more = _contraction(at + ONE, end, False)
        if more != ZERO:
            at += more + ONE
            c = _END
    if c == _END:
        pass
    elif c <= _BLANK:
        at = _blanks(at, end, way)
    elif way.family == SPACES:
        at = _run(at, end, way, _DIGIT, _LOWER)
    elif c >= _OTHER:
        at = _run(at, end, way, _OTHER, _LOWER)
    elif c == _DIGIT:
        at = _digits(at, end, way)
    else:
        at = _run(at, end, way, _SYMBOL, _MARK)
    return at


@kernel
def _piece_4(at, end, way, c, size):
    """Return where the piece ends that begins at ``at`` with a character of class c: GPT4 and GPT4O."""
    begin = at
    if c == _DIGIT:
        return _digits(at, end, way)
    if c == np.uint8(APOSTROPHE) and way.family == GPT4:
        more = _contraction(at + ONE, end, True)
        at += more + U(more != ZERO)
    if at == begin and c > _CR:
        if way.family == GPT4O:
            at = _word_4o(at, end, way, c, size)
        else:
            stop = at + (size if c < _OTHER else ZERO)
            at = _run(stop, end, way, _OTHER, _LOWER)
            if at == stop and c < _OTHER:
                at = begin
    if at == begin:
        first, skip = c, ZERO
        if c == _SPACE:
            first, _ = _look(at + ONE, end, way)
            skip = ONE
        if _SYMBOL <= first <= _MARK:
            at = _run(at + skip, end, way, _SYMBOL, _MARK)
            at = _lines(at, end, way, way.family == GPT4O)
        else:
            at = _blanks(at, end, way)
    return at


@kernel
def _whole(at, end, way):
    """Return where a text ends."""
    c = _LAST + ONE
    while at < end and c > _LAST:
        c = byte_at(way.classes + U(byte_at(at)))
        at += U(c != _END)
    return at


@kernel
def _piece(at, end, way):
    """Return where the piece ends that begins at ``at``; ``at`` if an END is there. The slow, exact way."""
    c, size = _look(at, end, way)
    if c == _END:
        pass
    elif way.family == WHOLE:
        at = _whole(at, end, way)
    elif way.family == GPT2 or way.family == SPACES:
        at = _piece_2(at, end, way, c, size)
    else:
        at = _piece_4(at, end, way, c, size)
    return at


@kernel
def _stops(x, skip, low, family):
    """Return 8 bytes whose top bits say which bytes of ``x`` do not go on a plain word, and whether it has a small letter.

    skip : 0x80 if the first byte may be anything.  low : whether a small letter came before (for gpt4o, in which a
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
    if behind >= U(0x80) or at + size > end or (family == GPT4O and behind == U(_QUOTE)):
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
            size = _piece(base + pos, stop, way) - base - pos
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
    way = _Way(U(rule.classes.ctypes.data), rule.family, rule.digits, rule.tail)
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
