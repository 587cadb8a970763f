"""What the kernel needs to run a pattern: tables of classes of characters. Expressions are in patterns.py, not here."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from embcli.kernels import pieceends as k
from embcli.kernels.pretoken import Rule
from embcli.kernels.words import POINTS
from embcli.text import unicode

#: family of the kernel, numbers in a piece, whether white space at the end is one piece
_RUN = {
    "gpt2": (k.GPT2, 1 << 62, False),
    "gpt4": (k.GPT4, 3, True),
    "llama3": (k.GPT4, 3, False),
    "qwen2": (k.GPT4, 1, False),
    "gpt4o": (k.GPT4O, 3, False),
    "whitespace": (k.SPACES, 1 << 62, False),
    "none": (k.WHOLE, 1 << 62, False),
}
#: what a LF is: white space within a text, the end of one, or the last character of one
_LINE_ENDS = {"file": k.LF, "line": k.END, "line+": k.LAST}


@cache
def classes(line_end: int) -> NDArray[np.uint8]:
    """Return the class (see ``kernels.pieceends``) of every byte, every code point, and what is none.

    uint8, shape (256 + 0x110001,).  line_end : the class of LF.
    """
    table = np.full(int(POINTS) + unicode.SIZE + 1, k.SYMBOL, np.uint8)
    points, names = table[int(POINTS) : -1], np.array(unicode.names())[unicode.categories()]
    for letter, kind in (("L", k.OTHER), ("N", k.DIGIT), ("M", k.MARK)):
        points[unicode.among(letter)] = kind
    points[(names == "Lu") | (names == "Lt")] = k.UPPER
    points[names == "Ll"] = k.LOWER
    points[unicode.white_space()] = k.BLANK
    for character, kind in ((" ", k.SPACE), ("\r", k.CR), ("\n", line_end), ("'", k.APOSTROPHE)):
        points[ord(character)] = kind
    table[:128] = points[:128]
    table[128 : int(POINTS)] = k.WIDE
    return table


@cache
def rule(run: str, mode: str) -> Rule:
    """Return what the kernel needs to run a pattern.

    run : a name of ``patterns.PATTERNS``, ``llama3`` or ``qwen2``.  mode : ``line``, ``line+`` or ``file``.
    """
    family, digits, tail = _RUN[run]
    table = classes(_LINE_ENDS[mode])
    prefixes, first = np.zeros(256, np.uint64), table[:128]
    if family in (k.GPT2, k.SPACES):
        prefixes[ord(" ")] = 0x80
    elif family in (k.GPT4, k.GPT4O):
        prefixes[:128][(first > k.CR) & (first != k.DIGIT) & (first < k.OTHER)] = 0x80
        prefixes[ord("'")] = 0x80 if family == k.GPT4O else 0
    return Rule(table, prefixes, family, digits, tail)
