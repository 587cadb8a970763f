"""Read the files that people score vectors with: word pairs with scores, and analogy questions. Nothing is scored here.

Both are UTF-8 text, plain or compressed. A BOM, CR before LF, blank lines, and lines that begin with # are passed over.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass

from embcli.errors import InputError
from embcli.text.compressed import Plain

#: bytes of the largest file that is read: a corpus given by mistake ends here
_LARGEST = 1 << 28
_SHOWN = 60
_PAIR = "two words and a score, between tabs, blanks or commas"


@dataclass(frozen=True)
class Pairs:
    """Word pairs and what people said of them: ``lefts``, ``rights`` and ``scores``, equally long, as they stand."""

    name: str
    lefts: tuple[str, ...]
    rights: tuple[str, ...]
    scores: tuple[float, ...]


@dataclass(frozen=True)
class Questions:
    """Analogies ``a b c d`` (a is to b as c is to d), the names of the sections, and the section of each analogy."""

    name: str
    quads: tuple[tuple[str, str, str, str], ...]
    names: tuple[str, ...]
    sections: tuple[int, ...]


def read_pairs(path: str) -> Pairs:
    """Read a file of word pairs and scores; ``-`` is stdin.

    Fields stand between tabs if the first line has one, else between commas or semicolons, else between blanks. The
    words are the first two columns, or those that a line of headings calls words; the score is the first column behind
    them that holds a number. So files with parts of speech, standard deviations or single judgements can be read too; a
    column of numbers before the words is refused.

    Raises
    ------
    InputError
        If the file cannot be read, a line holds no pair with a finite score, there is no pair at all, or it is a file
        of analogies. The line is named.
    """
    lines = list(_lines(path))
    name = _called(path)
    if not lines:
        raise InputError(f"{name}: holds no word pairs; expected {_PAIR} a line")
    number, first = lines[0]
    cut = _delimiter(first)
    if first.startswith(":") or _is_question(_fields(first, cut)):
        raise InputError(f"{name}: line {number}: holds analogies, not word pairs; give it to --analogies")
    columns, headed = _columns([_fields(line, cut) for _, line in lines[:2]])
    rows = [_pair(name, number, line, _fields(line, cut), columns) for number, line in lines[headed:]]
    if len(rows) > 1 and columns[2] > 2 and all(_number(left) is not None for left, _, _ in rows):
        raise InputError(f"{name}: the first column holds numbers only, where words are due; leave that column out")
    if not rows:
        raise InputError(f"{name}: line {number}: expected {_PAIR}, found {_clip(first)}")
    if cut is None:
        width = len(_fields(lines[headed][1], cut))
        for number, line in lines[headed:]:
            if len(_fields(line, cut)) != width:
                raise InputError(f"{name}: line {number}: expected {width} fields as before, found {_clip(line)}")
    lefts, rights, scores = zip(*rows, strict=True)
    return Pairs(name, lefts, rights, scores)


def read_questions(path: str) -> Questions:
    """Read a file of analogies in word2vec's form: four words a line; ``: name`` begins a section. ``-`` is stdin.

    Questions before the first section belong to one without a name.

    Raises
    ------
    InputError
        If the file cannot be read, a line has not four words, there is no question at all, or it is a file of word
        pairs. The line is named.
    """
    name = _called(path)
    quads: list[tuple[str, str, str, str]] = []
    names: dict[str, int] = {}
    sections: list[int] = []
    at = 0
    for number, line in _lines(path):
        if line.startswith(":"):
            at = names.setdefault(line[1:].strip(), len(names))
            continue
        words = _fields(line, _delimiter(line))
        if not quads and len(words) != 4 and _scored(words):
            raise InputError(f"{name}: line {number}: holds word pairs with scores; give it to --similarity")
        if len(words) != 4 or not all(words):
            raise InputError(f"{name}: line {number}: expected four words 'a b c d', found {_clip(line)}")
        if not names:
            names[""] = 0
        quads.append((words[0], words[1], words[2], words[3]))
        sections.append(at)
    if not quads:
        raise InputError(f"{name}: holds no analogies; expected four words 'a b c d' a line")
    return Questions(name, tuple(quads), tuple(names), tuple(sections))


def _called(path: str) -> str:
    return "stdin" if path == "-" else path


def _lines(path: str) -> Iterator[tuple[int, str]]:
    """Yield the lines that hold something, with their numbers from 1."""
    for number, line in enumerate(_text(path).split("\n"), 1):
        line = line.strip()
        if line and not line.startswith("#"):
            yield number, line


def _text(path: str) -> str:
    """Return the text of a file with LF at the ends of lines."""
    name = _called(path)
    try:
        with nullcontext(sys.stdin.buffer) if path == "-" else open(path, "rb") as raw:
            plain = Plain(raw, name)
            data = bytearray()
            piece = memoryview(bytearray(1 << 20))
            while (n := plain.fill(piece)) and len(data) <= _LARGEST:
                data += piece[:n]
    except OSError as e:
        raise InputError(f"{name}: cannot be read: {e.strerror}") from None
    if len(data) > _LARGEST:
        raise InputError(f"{name}: larger than {_LARGEST:,} bytes; is it a corpus?")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as e:
        number = data.count(b"\n", 0, e.start) + 1
        raise InputError(f"{name}: line {number}: byte {data[e.start]:#04x} is not UTF-8; save it as UTF-8") from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _delimiter(line: str) -> str | None:
    """Return what stands between the fields of a line; None is any run of blanks."""
    for mark in "\t;,":
        if line.count(mark) >= 2 or (mark == "\t" and mark in line):
            return mark
    return None


def _fields(line: str, cut: str | None) -> list[str]:
    """Return the fields of a line without blanks and quotes around them."""
    return [field.strip().strip('"').strip() for field in line.split(cut)]


def _number(field: str) -> float | None:
    """Return a finite number, written with a point or a comma; None if it is none."""
    try:
        value = float("nan") if "_" in field else float(field.replace(",", "."))
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _is_question(fields: Sequence[str]) -> bool:
    """Return whether these are four words without a score."""
    return len(fields) == 4 and not any(map(_headed_word, fields)) and all(_number(f) is None for f in fields[2:])


def _scored(fields: Sequence[str]) -> bool:
    """Return whether these are two words and a score, with or without more."""
    return len(fields) >= 3 and any(_number(field) is not None for field in fields[2:])


def _headed_word(field: str) -> bool:
    """Return whether a heading announces a column of words."""
    return "word" in field.casefold() or field.casefold() in ("w1", "w2", "term1", "term2")


def _missing(field: str) -> bool:
    """Return whether a field stands where a number should be: NA, nan, inf, 0x10. Headings do not look like that."""
    return not field or field.casefold() in ("na", "n/a", "nan", "none", "null", "inf", "-", "?") or field[0].isdigit()


def _columns(first: Sequence[Sequence[str]]) -> tuple[tuple[int, int, int], bool]:
    """Return the columns of the words and of the score, and whether the first of these lines is headings."""
    left, right = 0, 1
    headed = len(first) > 1 and not _scored(first[0]) and _scored(first[1]) and not any(map(_missing, first[0][2:]))
    if headed:
        named = [i for i, field in enumerate(first[0]) if _headed_word(field)]
        if len(named) >= 2:
            left, right = named[:2]
    row = first[1] if headed else first[0]
    behind = range(max(left, right) + 1, len(row))
    return (left, right, next((i for i in behind if _number(row[i]) is not None), 2)), headed


def _pair(
    name: str, number: int, line: str, fields: Sequence[str], columns: tuple[int, int, int]
) -> tuple[str, str, float]:
    """Return the words and the score of a line."""
    left, right, at = columns
    score = _number(fields[at]) if at < len(fields) else None
    if score is None or not fields[left] or not fields[right]:
        raise InputError(f"{name}: line {number}: expected {_PAIR}, found {_clip(line)}")
    return fields[left], fields[right], score


def _clip(line: str) -> str:
    return repr(line if len(line) <= _SHOWN else line[: _SHOWN - 3] + "...")
