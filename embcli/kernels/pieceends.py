r"""Where a piece (pre-token) ends: the published patterns walked by hand, exactly, one character at a time.

Not for numbering pieces, nor for speed on plain words; that is ``pretoken``. Each alternative goes as the greedy
matcher would, in time linear in the text. A byte that is no part of a UTF-8 sequence is a symbol of its own. The end
of a text, a class of its own, ends every run and is what ``(?!\S)`` and ``$`` see. Places are addresses.
"""

from typing import NamedTuple

import numpy as np

from embcli.kernels._jit import kernel
from embcli.kernels.memory import byte_at, word_at
from embcli.kernels.typetable import ONE, SEVEN, THREE, TWO, ZERO, U
from embcli.kernels.words import POINTS, decode

#: classes of characters. END: no text here (or a LF between texts); LAST: a LF that ends its text; LF, CR, SPACE and
#: BLANK (other white space); DIGIT is \p{N}; APOSTROPHE and MARK (\p{M}) are symbols too; OTHER is Lm and Lo, UPPER Lu
#: and Lt, LOWER Ll; WIDE stands for bytes from 0x80 on
END, LAST, LF, CR, SPACE, BLANK, DIGIT, SYMBOL, APOSTROPHE, MARK, OTHER, UPPER, LOWER, WIDE = range(14)
#: families of patterns
GPT2, GPT4, GPT4O, SPACES, WHOLE = range(5)

_QUOTE, _SLASH = np.uint8(0x27), np.uint8(0x2F)
_END, _LAST, _CR, _SPACE, _DIGIT = np.uint8(END), np.uint8(LAST), np.uint8(CR), np.uint8(SPACE), np.uint8(DIGIT)
_BLANK, _SYMBOL, _MARK, _OTHER = np.uint8(BLANK), np.uint8(SYMBOL), np.uint8(MARK), np.uint8(OTHER)
_UPPER, _LOWER, _WIDE = np.uint8(UPPER), np.uint8(LOWER), np.uint8(WIDE)


class Way(NamedTuple):
    """How a pattern is run; as ``pretoken.Rule``, but with the address of its table, which is cheaper to hand on."""

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

    ``at`` itself if it matches nothing there; and whether it was the first alternative that matched. Where no Ll
    follows the first run, its last X ends that.
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
    """Return where the word of gpt4o ends that begins at ``at``, with class c; ``at`` if there is none."""
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
def _piece_2(at, end, way, c):
    """Return where the piece ends that begins at ``at`` with a character of class c: GPT2 and SPACES."""
    if c == _SPACE:
        behind, _ = _look(at + ONE, end, way)
        if behind > _BLANK:
            at, c = at + ONE, behind
    elif c == np.uint8(APOSTROPHE) and way.family == GPT2:
        more = _contraction(at + ONE, end, False)
        if more != ZERO:
            at, c = at + more + ONE, _END
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
def piece_end(at, end, way):
    """Return where the piece ends that begins at ``at``; ``at`` if an END is there. The slow, exact way."""
    c, size = _look(at, end, way)
    if c == _END:
        pass
    elif way.family == WHOLE:
        at = _run(at, end, way, np.uint8(LF), _LOWER)
        c, _ = _look(at, end, way)
        at += U(c == _LAST)
    elif way.family == GPT2 or way.family == SPACES:
        at = _piece_2(at, end, way, c)
    else:
        at = _piece_4(at, end, way, c, size)
    return at
