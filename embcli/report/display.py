"""How text of any kind looks in a line: control characters made visible, and how many columns it takes."""

from __future__ import annotations

import unicodedata

#: signs that turn the direction of what follows: harmless in a text, confusing in a table
_TURNS = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def shown(text: str, encoding: str = "utf-8") -> str:
    r"""Return the text so that it can stand in a table or on a terminal.

    Control characters, line and paragraph separators and signs of direction become escapes such as \n, \x1b and
    \u2028, so does what ``encoding`` cannot hold. Text without anything visible is put in quotes.
    """
    if text.isascii() and text.isprintable() and text.strip():
        return text
    escaped = "".join(_visible(c) for c in text)
    if not escaped.strip() or not width(escaped):
        escaped = f"'{escaped}'"
    return escaped.encode(encoding, "backslashreplace").decode(encoding)


def _visible(char: str) -> str:
    """Return a character, or its escape if it would not stay in its place."""
    if char in _SHORT:
        return _SHORT[char]
    if unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp") or char in _TURNS:
        code = ord(char)
        return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"
    return char


def width(text: str) -> int:
    """Return how many columns a terminal gives to the text: 2 for wide characters, 0 for combining ones."""
    if text.isascii():
        return len(text)
    return sum(_width(c) for c in text)


def _width(char: str) -> int:
    if unicodedata.category(char) in ("Mn", "Me", "Cf") or "\u1160" <= char <= "\u11ff":
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def padded(text: str, columns: int, align: str) -> str:
    """Return the text filled up with blanks to so many columns, ``align`` left or right."""
    blanks = " " * (columns - width(text))
    return blanks + text if align == "right" else text + blanks
