"""What Unicode says about each code point, the same under every Python: categories, white space, lower case.

The table is Unicode 18.0.0 (``unicode.txt``, made by ``experiments/unicode_table.py``). Not for splitting text: the
kernels do that, with class tables that are made from these.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

#: code points there are
SIZE = 0x110000

#: the property White_Space, which does not change any more
WHITE_SPACE = (
    *range(0x9, 0xE), 0x20, 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029, 0x202F, 0x205F, 0x3000,
)  # fmt: skip


@cache
def _data() -> dict[str, str]:
    """Return the parts of the data file by name."""
    parts: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in Path(__file__).with_name("unicode.txt").read_text(encoding="ascii").splitlines():
        if line.endswith(":"):
            lines = parts.setdefault(line[:-1], [])
        elif not line.startswith("#"):
            lines.append(line)
    return {name: ("" if name == "runs" else " ").join(some) for name, some in parts.items()}


@cache
def _runs() -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the runs of equal category in code point order: category (a number into ``names()``) and length."""
    runs = re.findall("([A-Za-z])([0-9]*)", _data()["runs"])
    letters = np.frombuffer("".join(letter for letter, _ in runs).encode(), np.uint8).astype(np.intp)
    kinds = np.where(letters >= ord("a"), letters - ord("a") + 26, letters - ord("A"))
    return kinds, np.array([int(n or 1) for _, n in runs])


def version() -> str:
    """Return the version of Unicode that the table holds."""
    return _data()["version"]


def names() -> tuple[str, ...]:
    """Return the 30 general categories, in the order in which ``categories`` numbers them."""
    return tuple(_data()["categories"].split())


def categories() -> NDArray[np.uint8]:
    """Return the general category of every code point as a number into ``names()``; uint8, shape (0x110000,)."""
    kinds, lengths = _runs()
    return np.repeat(kinds.astype(np.uint8), lengths)


def among(prefixes: str) -> NDArray[np.bool_]:
    """Return for every code point whether its category begins with one of the letters, as in ``among("LMN")``."""
    kinds, lengths = _runs()
    return np.repeat(np.array([name[0] in prefixes for name in names()])[kinds], lengths)


def white_space() -> NDArray[np.bool_]:
    """Return for every code point whether it has the property White_Space."""
    flags = np.zeros(SIZE, np.bool_)
    flags[list(WHITE_SPACE)] = True
    return flags


@cache
def _newer() -> tuple[dict[int, int], re.Pattern[str]]:
    """Return the lower case of capitals that an older Python does not know, and a pattern that finds them."""
    codes = [int(code, 16) for code in _data()["lower"].split()]
    return dict(zip(codes[::2], codes[1::2], strict=True)), re.compile("[" + "".join(map(chr, codes[::2])) + "]")


def lower(text: str) -> str:
    """Return the text in lower case: ``str.lower``, full mappings and final sigma included, up to Unicode 18."""
    pairs, found = _newer()
    low = text.lower()
    return low.translate(pairs) if found.search(low) else low
