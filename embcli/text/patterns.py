r"""Patterns that cut text into pieces before bytes are merged: their names and expressions, and special tokens.

A text is what an expression is run on: a line, a file, or a stretch of one between special tokens. The pieces put
together are the text. ``\s`` is White_Space, ``\p{...}`` as Unicode 18 has it. A byte that is no part of a UTF-8
sequence (Python's ``surrogateescape`` names the same ones) is neither letter nor number nor white space.

gpt2, gpt4 and gpt4o are what tiktoken runs for r50k, cl100k and o200k. Hugging Face files carry an older text of
cl100k's, which differs at the end of a text only: white space that holds a line end, and more behind it, is one piece
in tiktoken, and is cut behind the line end in the older one. Expressions of either kind run in the kernel.
Tables: tiktoken 0.14 has those of Unicode 16. On what Unicode 14 knows they agree but for U+0295 (Lo since 17), which
matters to gpt4o only.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from embcli.errors import InputError, UsageError

if TYPE_CHECKING:
    from embcli.kernels.pretoken import Rule

_SHORTENED = r"'(?i:[sdmt]|ll|ve|re)"
_ENDINGS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_LETTERS, _SYMBOLS = r"[^\r\n\p{L}\p{N}]?\p{L}+", r" ?[^\s\p{L}\p{N}]+"
_CAPITALS, _SMALL = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_LINES, _TAIL = r"\s*[\r\n]+", r"\s+(?!\S)|\s+"


#: other names of patterns
_ALIASES = {"r50k": "gpt2", "p50k": "gpt2", "cl100k": "gpt4", "o200k": "gpt4o"}
#: seconds that an expression may take on a text, and one more for every 100,000 characters
_PATIENCE = 5


def _joined(*parts: str) -> str:
    return "|".join(parts)


#: the named patterns, as published
PATTERNS = {
    "gpt2": _joined(r"'(?:[sdmt]|ll|ve|re)", r" ?\p{L}+", r" ?\p{N}+", _SYMBOLS, _TAIL),
    "gpt4": _joined(
        _SHORTENED,
        r"[^\r\n\p{L}\p{N}]?+\p{L}++",
        r"\p{N}{1,3}+",
        r" ?[^\s\p{L}\p{N}]++[\r\n]*+",
        r"\s++$|\s*[\r\n]|\s+(?!\S)|\s",
    ),
    "gpt4o": _joined(
        rf"[^\r\n\p{{L}}\p{{N}}]?{_CAPITALS}*{_SMALL}+{_ENDINGS}?",
        rf"[^\r\n\p{{L}}\p{{N}}]?{_CAPITALS}+{_SMALL}*{_ENDINGS}?",
        r"\p{N}{1,3}",
        _SYMBOLS + r"[\r\n/]*",
        _LINES,
        _TAIL,
    ),
    "whitespace": _joined(r" ?\S+", _TAIL),
    "none": r"[\s\S]+",
}
#: other published texts of expressions that the kernel runs: GPT-2's own, tiktoken's for it, those of Hugging Face
#: files (cl100k, Llama 3; Qwen, one digit a piece)
_KNOWN = {
    r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+": "gpt2",
    r"""'s|'t|'re|'ve|'m|'ll|'d| ?[\p{L}]+| ?[\p{N}]+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+""": "gpt2",
    r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s": "gpt2",
    _joined(_ENDINGS, _LETTERS, r"\p{N}{1,3}", _SYMBOLS + r"[\r\n]*", _LINES, _TAIL): "llama3",
    _joined(_ENDINGS, _LETTERS, r"\p{N}", _SYMBOLS + r"[\r\n]*", _LINES, _TAIL): "qwen2",
}


@dataclass(frozen=True)
class Splitter:
    """A pattern and the special tokens around which text is cut first.

    pattern : a name of ``PATTERNS``, or a regular expression.  specials : tokens; where they overlap, the leftmost and
    then the longest one counts.
    """

    pattern: str = "gpt4"
    specials: tuple[bytes, ...] = ()
    _expression: Any = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.run is None:
            object.__setattr__(self, "_expression", _compiled(self.pattern))

    @property
    def text(self) -> str:
        """The regular expression."""
        return PATTERNS.get(self.pattern, self.pattern)

    @cached_property
    def name(self) -> str:
        """The name of the pattern if it is a named one, as name or expression; else ``custom``."""
        return self.pattern if self.pattern in PATTERNS else _names().get(self.pattern, "custom")

    @property
    def run(self) -> str | None:
        """What the kernel runs, or None where the ``regex`` package must."""
        return self.name if self.name in PATTERNS else _KNOWN.get(self.pattern)

    def rule(self, mode: str) -> Rule:
        """Return what the kernel needs. mode : ``line``, ``line+`` (the LF belongs to its line), or ``file``."""
        from embcli.text.rules import rule  # compiles: convert, which only names patterns, must not wait for it

        assert self.run is not None
        return rule(self.run, mode)

    def cuts(self, mode: str) -> str:
        """Return where blocks of text may end: ``split`` of ``Corpus``."""
        free = self.run not in (None, "none") and not any(re.search(rb"[A-Za-z] |\n", s) for s in self.specials)
        if mode == "file":
            return "pieces" if free else "whole"
        return "lines or pieces" if free else "lines"

    def find_specials(self, data: bytes | memoryview, mode: str) -> NDArray[np.uint64]:
        """Return where special tokens begin and end in a stretch of text, and their numbers; (n, 3).

        None reaches over a line end that separates texts.
        """
        search, numbers = _search(self.specials, mode)
        found = [(m.start(), m.end(), numbers[m.group()]) for m in search.finditer(data)] if search else []
        return np.array(found, np.uint64).reshape(-1, 3)

    def spans(self, text: str) -> list[int]:
        """Return where the pieces of one text end, in characters, if the kernel does not run this pattern."""
        ends, at = [], 0
        try:
            for match in self._expression.finditer(text, timeout=_PATIENCE + len(text) / 1e5):
                begin, end = match.span()
                if end > begin:
                    if begin > at:
                        ends.append(begin)
                    ends.append(end)
                    at = end
        except TimeoutError:
            raise InputError(
                f"pattern {self.pattern!r} takes more than {_PATIENCE} s on a text of {len(text):,} characters: it can "
                "match in too many ways; write it without nested repeats"
            ) from None
        if at < len(text):
            ends.append(len(text))
        return ends


@cache
def _names() -> dict[str, str]:
    """Return the names of the named patterns by their expressions."""
    known = {text: name for text, name in _KNOWN.items() if name in PATTERNS}
    return {text: name for name, text in PATTERNS.items()} | known


@cache
def _search(specials: tuple[bytes, ...], mode: str) -> tuple[re.Pattern[bytes] | None, dict[bytes, int]]:
    """Return what finds special tokens, the longest first, and their numbers."""
    numbers = {token: i for i, token in enumerate(specials)}
    last = {"file": None, "line": 0, "line+": 1}[mode]  # bytes at the end of a token that may be a LF
    some = [t for t in numbers if last is None or b"\n" not in t[: len(t) - last]]
    some.sort(key=len, reverse=True)
    return (re.compile(b"|".join(map(re.escape, some))) if some else None), numbers


def _compiled(pattern: str) -> Any:
    """Return a compiled expression, or raise UsageError: it is invalid, or there is no ``regex`` package."""
    try:
        import regex  # type: ignore[import-untyped,unused-ignore]
    except ImportError:
        raise UsageError(
            f"pattern {pattern!r}: is no name ({', '.join(PATTERNS)}), and a regular expression needs the regex "
            "package: pip install regex"
        ) from None
    try:
        return regex.compile(pattern)  # type: ignore[no-untyped-call,unused-ignore]
    except regex.error as e:
        raise UsageError(f"pattern {pattern!r}: is no regular expression: {e}") from None


def splitter(pattern: str, specials: Sequence[str] = ()) -> Splitter:
    """Return the splitter for options as given on the command line; tiktoken's names of patterns are names here too.

    Raises UsageError for an expression that is none, or a bare word, which is rather a wrong name.
    """
    pattern = _ALIASES.get(pattern.removesuffix("_base"), pattern)
    if pattern not in PATTERNS and re.fullmatch(r"[\w.-]*", pattern):
        near = difflib.get_close_matches(pattern, PATTERNS, 1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise UsageError(f"pattern {pattern!r}: expected {', '.join(PATTERNS)}, or a regular expression{hint}")
    return Splitter(pattern, tuple(token.encode("utf-8", "surrogateescape") for token in specials))
