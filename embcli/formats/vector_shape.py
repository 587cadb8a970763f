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
NOT_FINITE = re.compile(rb"[+-]?(?:nan|inf|infinity)", re.IGNORECASE)


@dataclass(frozen=True)
class Shape:
    """What the beginning of a file says: dimensions, and with a header the number of words that it claims."""

    dim: int
    claimed: int | None


def looks_like(head: bytes) -> bool:
    """Return whether text begins like vectors: a header and a fitting line, or a word and two numbers or more."""
    lines = [line for line in head.removeprefix(BOM).split(b"\n")[:3] if line.strip()]
    if not lines or b"\0" in lines[0]:
        return False
    if _HEADER.fullmatch(lines[0]) and (len(lines) == 1 or _numbers(lines[1])):
        return True
    return 2 <= _numbers(lines[0]) == len(lines[0].split()) - 1


def _numbers(line: bytes) -> int:
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
        raise InputError(f"{name}: looks like an empty file")
    header = _HEADER.fullmatch(lines[0]) if form != "glove" else None
    if header is None and form in ("word2vec", "fasttext"):
        raise InputError(f"{name}: line 1: expected the number of words and of dimensions, found {lines[0][:40]!r}")
    if header is not None:
        claimed, dim = int(header[1]), int(header[2])
        fits = dim > 0 and all(len(line.split()) > dim and _numbers(line) >= dim for line in lines[1:2])
        if form is None and len(lines) > 1 and (not fits or dim == 1):
            raise UsageError(
                f"{name}: its first line {lines[0].strip().decode()!r} may be a header or a word with one number; say "
                "--from word2vec or --from glove"
            )
        if not dim:
            raise InputError(f"{name}: its header says 0 dimensions")
        return Shape(dim, claimed)
    widths = Counter(n for line in lines[:1000] if (n := _numbers(line)))
    if not widths:
        raise InputError(f"{name}: line 1: expected a word and numbers, found {ascii(lines[0][:40])[1:]}")
    whole = Counter(len(line.split()) - 1 for line in lines[:1000])
    common = max(widths, key=lambda n: (min(widths[n], whole[n]), widths[n], n))
    return Shape(common, None)
