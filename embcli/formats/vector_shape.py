"""What a text file of vectors looks to be by its beginning: whether there is a header, and how many dimensions."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from embcli.errors import InputError, UsageError

#: what a file may begin with; a number; one that no vector may hold
BOM = b"\xef\xbb\xbf"
_HEADER = re.compile(rb"\s*(\d{1,12})[ \t]+(\d{1,6})\s*")
NUMBER = re.compile(rb"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
#: two whole numbers, which no file of vectors could have as its header
_PAIR = re.compile(rb"\s*(-?\d+)[ \t]+(-?\d+)\s*")
_COMMA = re.compile(rb"[+-]?\d+,\d+(?:[eE][+-]?\d+)?")
NOT_FINITE = re.compile(rb"[+-]?(?:nan|inf|infinity)", re.IGNORECASE)


@dataclass(frozen=True)
class Shape:
    """What the beginning of a file says: dimensions, and with a header the number of words that it claims."""

    dim: int
    claimed: int | None


def looks_like(head: bytes) -> bool:
    """Return whether text begins like vectors: a header and a fitting line, or mostly words with as many numbers."""
    lines = _lines(head)
    if not lines or b"\0" in lines[0]:
        return False
    if _HEADER.fullmatch(lines[0]) and (len(lines) == 1 or numbers(lines[1])):
        return True
    if _headed(lines):
        return True
    widths = Counter(numbers(line) for line in lines)
    width, most = widths.most_common(1)[0]
    return width >= 2 and 2 * most >= len(lines)


def ends_with_number(word: bytes) -> bool:
    """Return whether a word with blanks ends with a number, as where a line has one too many; also with a comma."""
    fields = word.split()
    return len(fields) > 1 and (NUMBER.fullmatch(fields[-1]) or _COMMA.fullmatch(fields[-1])) is not None


def _headed(lines: list[bytes]) -> bool:
    """Return whether the first line looks like a header, though it or the second line may be wrong.

    A second line of a word and one whole number may be a rank, and the first one too.
    """
    pair = _PAIR.fullmatch(lines[0])
    if pair is None or len(lines) < 2:
        return False
    fields = lines[1].split()
    if len(fields) == 2 and fields[1].isdigit():
        return False
    return numbers(lines[1]) > 0 or len(fields) == int(pair[2][:7]) + 1


def impossible(pair: re.Match[bytes], name: str) -> InputError:
    """Return the error for a header with a number that none can have."""
    (field, found) = (1, "words") if not re.fullmatch(rb"\d{1,12}", pair[1]) else (2, "dimensions")
    return InputError(f"{name}: its header cannot be: it says {pair[field].decode()[:30]} {found}")


def decimal_comma(head: bytes) -> str | None:
    """Return the first number with a decimal comma where the first line is a word and several numbers, else None."""
    fields = (_lines(head) or [b""])[0].split()[1:]
    commas = [field for field in fields if _COMMA.fullmatch(field)]
    if len(fields) < 2 or not commas or not all(_COMMA.fullmatch(field) or NUMBER.fullmatch(field) for field in fields):
        return None
    return commas[0].decode()


def begins_with_row(head: bytes) -> bool:
    """Return whether the first line that is not blank is a word and numbers."""
    lines = _lines(head)
    return bool(lines) and numbers(lines[0]) > 0


def single(head: bytes) -> bool:
    """Return whether text begins with lines of a word and one number."""
    lines = _lines(head)
    return len(lines) > 1 and all(numbers(line) == 1 == len(line.split()) - 1 for line in lines)


def _lines(head: bytes) -> list[bytes]:
    """Return the first lines that are not blank; the last one may be cut, and is left out if there are others."""
    lines = [line for line in head.removeprefix(BOM).split(b"\n")[:100] if line.strip()]
    return lines[:-1] if len(lines) > 1 and not head.endswith(b"\n") and head.count(b"\n") < 100 else lines


def numbers(line: bytes) -> int:
    """Return how many numbers stand at the end of a line behind a word (which may be a number itself)."""
    fields, n = line.split(), 0
    while n < len(fields) - 1 and (NUMBER.fullmatch(fields[-1 - n]) or NOT_FINITE.fullmatch(fields[-1 - n])):
        n += 1
    return n


def shape_of(head: bytes, form: str | None, name: str) -> Shape:
    """Return the shape of a file by its beginning: dimensions by the header, else by the majority of lines.

    form : ``word2vec``, ``fasttext`` (there is a header), ``glove`` (there is none), or None: to be found out.

    Raises InputError if there are no vectors, UsageError if only the user can say whether the first line is a header.
    """
    lines = [line for line in head.split(b"\n") if line.strip()]
    if len(lines) > 1 and not head.endswith(b"\n"):
        lines = lines[:-1]  # it may be cut
    if not lines:
        raise InputError(f"{name}: " + ("holds only blank lines" if head else "looks like an empty file"))
    header = _HEADER.fullmatch(lines[0]) if form != "glove" else None
    pair = _PAIR.fullmatch(lines[0]) if header is None and form != "glove" else None
    if pair and (form or _headed(lines)):
        raise impossible(pair, name)
    if header is None and form in ("word2vec", "fasttext"):
        raise InputError(f"{name}: line 1: expected the number of words and of dimensions, found {lines[0][:40]!r}")
    if header is not None:
        claimed, dim = int(header[1]), int(header[2])
        if form is None and any(
            numbers(line) == 1 == len(line.split()) - 1 and line[:1].strip() for line in lines[1:2]
        ):
            raise UsageError(
                f"{name}: its first line {lines[0].strip().decode()!r} may be a header or a word with one number; say "
                "--from word2vec or --from glove"
            )
        if not dim:
            raise InputError(f"{name}: its header says 0 dimensions")
        return Shape(dim, claimed)
    widths = Counter(n for line in lines[:1000] if (n := numbers(line)))
    if not widths:
        raise InputError(f"{name}: line 1: expected a word and numbers, found {ascii(lines[0][:40])[1:]}")
    whole = Counter(len(line.split()) - 1 for line in lines[:1000])
    common = max(widths, key=lambda n: (min(widths[n], whole[n]), widths[n], n))
    return Shape(common, None)
