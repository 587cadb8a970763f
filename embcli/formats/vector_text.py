"""Read vectors as text, a word and its numbers a line, with a header "words dimensions" or, as GloVe writes, without.

Every number becomes the float32 nearest to it. Nothing is held but blocks and the words. What a file looks to be:
vector_shape.py; the way out: vector_text_write.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from embcli.artifacts.schema import Blocks, Vectors, Words
from embcli.errors import InputError
from embcli.formats.opened import Stream
from embcli.formats.vector_shape import BOM, NOT_FINITE, NUMBER, Shape, shape_of

Table = NDArray[np.float32]
#: bytes of text taken at a time, and a line may have at most
_PIECE, _LONGEST = 1 << 23, 1 << 26
#: lines parsed in one go
_LINES = 1 << 16
#: fields that a piece hands back at a time, at least
_ODD = 1 << 12


@dataclass
class _Found:
    """The words read so far, and what there is to say about lines that were left out or repaired."""

    name: str
    shape: Shape
    errors: str | None
    limit: int | None
    words: list[bytes] = field(default_factory=list)
    seen: set[bytes] = field(default_factory=set)
    twice: int = 0
    again: bytes = b""
    repaired: int = 0
    skipped: int = 0


def read(
    stream: Stream, name: str, form: str | None, errors: str | None, limit: int | None
) -> tuple[Vectors, list[str]]:
    """Return a file's vectors as an artifact whose arrays are made while it is written, and a list for notes.

    Parameters
    ----------
    form
        ``word2vec`` or ``fasttext`` (with a header), ``glove`` (without), None: by what the first lines look like.
    errors
        None and ``strict``: a word that is not UTF-8 stops; ``replace``: U+FFFD for what is bad; ``skip``: without the
        word. ``strict`` also stops at what otherwise is only noted: another number of words than the header claims, and
        words that are there twice (the first one counts).
    limit
        At most so many words are read.

    The notes are complete when the artifact was written. Raises InputError, with the number of the line, for lines that
    are no word and as many numbers as there are dimensions, and numbers that are not finite.
    """
    first = stream.read(_PIECE).removeprefix(BOM)
    shape = shape_of(first, form, name)
    found, notes = _Found(name, shape, errors, limit), list[str]()

    def rows() -> Iterator[Table]:
        yield from _tables(first, stream, found)
        made.words, made.unigram = Words.of(found.words), np.zeros(len(found.words), np.int64)
        made.stats["words"] = len(found.words)
        notes.extend(_notes(found))

    made = Vectors(
        vectors=Blocks(np.float32, rows(), (shape.dim,)),
        words=Words.of([]),
        unigram=np.zeros(0, np.int64),
        stats={"dim": shape.dim},
        options={"dim": shape.dim},
    )
    return made, notes


def _notes(found: _Found) -> Iterator[str]:
    """Yield what there is to say of a file that was read. Raises InputError if nothing was, or if it must be strict."""
    n, claimed = len(found.words), found.shape.claimed
    head = "no header" if claimed is None else f"a header of {claimed:,} words"
    yield f"{head}, {found.shape.dim:,} dimensions"
    if not n:
        raise InputError(f"{found.name}: holds no vectors")
    faults = []
    rows = n + found.twice + found.skipped
    if claimed is not None and rows != claimed and not (found.limit is not None and n == found.limit):
        faults.append(f"its header claims {claimed:,} words, {rows:,} are there; all of them are kept")
    if found.twice:
        faults.append(f"{found.twice:,} words are there twice, such as {_shown(found.again)}; the first one is kept")
    if faults and found.errors == "strict":
        raise InputError(f"{found.name}: {'; '.join(faults)}, without --errors strict")
    yield from (f"warning: {fault}" for fault in faults)
    if found.repaired or found.skipped:
        what = f"{found.repaired:,} have U+FFFD in them" if found.repaired else f"{found.skipped:,} were left out"
        yield f"of the words that are not UTF-8, {what}"


def _shown(word: bytes) -> str:
    return ascii(word.decode("utf-8", "replace"))[:40]


def _pieces(first: bytes, stream: Stream, name: str) -> Iterator[bytes]:
    """Yield the text in pieces that end where a line ends."""
    rest, block = b"", first
    while block:
        cut = block.rfind(b"\n") + 1
        if cut:
            yield rest + block[:cut]
            rest = block[cut:]
        else:
            rest += block
        if len(rest) > _LONGEST:
            raise InputError(f"{name}: has a line of more than {_LONGEST:,} bytes, which is no vector")
        block = stream.read(_PIECE)
    if rest:
        yield rest


def _tables(first: bytes, stream: Stream, found: _Found) -> Iterator[Table]:
    """Yield the rows of the words that are kept, in blocks."""
    line, header = 1, found.shape.claimed is not None
    for piece in _pieces(first, stream, found.name):
        text = np.frombuffer(piece, np.uint8)
        stops = np.flatnonzero(text == 10)
        ends = stops if len(stops) and stops[-1] == len(text) - 1 else np.append(stops, len(text))
        starts = np.concatenate([[0], ends[:-1] + 1])
        at, header = int(header), False
        while at < len(ends):
            wanted = _LINES if found.limit is None else min(found.limit - len(found.words), _LINES)
            if not wanted:
                return
            part = slice(at, at + wanted)
            yield _rows(piece, text, starts[part], ends[part], line + at, found)
            at += wanted
        line += len(ends)


def _rows(
    piece: bytes, text: NDArray[np.uint8], starts: NDArray[np.int64], stops: NDArray[np.int64], line: int, found: _Found
) -> Table:
    """Return the rows of some lines, ``line`` the first one's number; their words are put into ``found``."""
    full = np.flatnonzero(stops - starts > (text[np.minimum(stops - 1, len(text) - 1)] == 13))
    full = full if len(full) < len(stops) else np.arange(len(stops))
    from embcli.kernels import decimals as k  # compiled code, which other formats do without

    starts, stops, numbers = starts[full], stops[full], full + line
    dim = found.shape.dim
    out, ends = np.empty((len(starts), dim), np.float32), np.empty(len(starts), np.int64)
    odd, at = np.empty((max(_ODD, dim), 4), np.int64), 0
    while at < len(starts):
        at, n = k.read_rows(text, starts, stops, at, k.POWERS, out, ends, odd)
        for row, column, start, stop in odd[:n].tolist():
            value = nearest(piece[start:stop])
            if value is None or not np.isfinite(value):
                raise _bad_line(found, int(numbers[row]), piece[starts[row] : stops[row]], piece[start:stop])
            out[row, column] = value
    if len(ends) and ends.min() < 0:
        row = int(np.argmax(ends < 0))
        raise _bad_line(found, int(numbers[row]), piece[starts[row] : stops[row]], b"")
    kept = [
        row
        for row, (start, end) in enumerate(zip(starts.tolist(), ends.tolist(), strict=True))
        if _keep(piece[start:end], found, numbers, row)
    ]
    return out if len(kept) == len(out) else out[kept]


def _keep(word: bytes, found: _Found, numbers: NDArray[np.int64], row: int) -> bool:
    """Add a word to those found and return whether it counts."""
    if not word:
        raise InputError(f"{found.name}: line {numbers[row]:,}: no word stands before its numbers")
    if not word.isascii():
        try:
            word.decode()
        except UnicodeDecodeError:
            if found.errors not in ("replace", "skip"):
                raise InputError(
                    f"{found.name}: line {numbers[row]:,}: the word {word[:40]!r} is not UTF-8; --errors replace "
                    "or skip reads the file all the same"
                ) from None
            if found.errors == "skip":
                found.skipped += 1
                return False
            word = word.decode("utf-8", "replace").encode()
            found.repaired += 1
    if word in found.seen:
        found.twice += 1
        found.again = found.again or word
        return False
    found.seen.add(word)
    found.words.append(word)
    return True


def _bad_line(found: _Found, number: int, line: bytes, odd: bytes) -> InputError:
    """Return what is wrong with a line."""
    have, due = len(line.split()) - 1, found.shape.dim
    what = f"{have:,} fields stand behind its first" if have != due else f"{_shown(odd)} is no finite number"
    return InputError(f"{found.name}: line {number:,}: expected a word and {due:,} numbers, and {what}")


def nearest(text: bytes) -> np.float32 | None:
    """Return the float32 nearest to a decimal number, ties to the even one; None if it is none. Exact, and slow."""
    if NOT_FINITE.fullmatch(text):
        return np.float32(float(text))
    if not NUMBER.fullmatch(text):
        return None
    with np.errstate(over="ignore"):
        guess = np.float32(float(text))
        near = [guess, np.nextafter(guess, np.float32(-np.inf)), np.nextafter(guess, np.float32(np.inf))]
    if not np.isfinite(guess) or len(text) > 400 or guess == 0:
        return guess
    exact = Fraction(text.decode())
    finite = [x for x in near if np.isfinite(x)]
    best: np.float32 = min(finite, key=lambda x: (abs(Fraction(float(x)) - exact), int(x.view(np.uint32)) & 1))
    return best
