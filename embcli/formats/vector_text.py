"""Read vectors as text, a word and its numbers a line, with a header "words dimensions" or, as GloVe writes, without.

Every number becomes the float32 nearest to it. Nothing is held but blocks and the words. What a file looks to be:
vector_shape.py; the way out: vector_text_write.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from embcli.artifacts.schema import Blocks, Vectors, Words
from embcli.errors import InputError
from embcli.formats.opened import Stream
from embcli.formats.vector_lines import Part, compiled, plain
from embcli.formats.vector_shape import BOM, NOT_FINITE, NUMBER, ends_with_number, shape_of
from embcli.formats.vector_words import Taken, blanks, shown
from embcli.job import Job, counted

Table = NDArray[np.float32]
Ints = NDArray[np.int64]
#: bytes of text taken at a time, and a line may have at most
_PIECE, _LONGEST = 1 << 18, 1 << 26
#: numbers that are parsed without compiled code, which would take longer to load
_FEW = 1 << 19


def read(
    stream: Stream, name: str, form: str | None, errors: str | None, limit: int | None, job: Job
) -> tuple[Vectors, list[str]]:
    """Return a file's vectors as an artifact whose arrays are made while it is written, and a list for notes.

    Parameters
    ----------
    form
        ``word2vec`` or ``fasttext`` (with a header), ``glove`` (without), None: by what the first lines look like.
    errors, limit
        See ``Taken``.
    job
        Its threads share the lines; the result does not depend on how many there are.

    The notes are complete when the artifact was written. Raises InputError, with the number of the line, for lines that
    are no word and as many numbers as there are dimensions, and numbers that are not finite.
    """
    first = beginning(stream)
    shape = shape_of(first.removeprefix(BOM), form, name)
    few = is_few(first, shape.dim, limit)
    taken, notes = Taken(name, errors, limit, shape.claimed, few), list[str]()
    lines = _Lines(name, shape.dim, shape.claimed is not None, False, few)

    def rows() -> Iterator[Table]:
        longer = list[str]()
        yield from _kept(_parts(first, stream, lines, job), taken, shape.dim, longer)
        finish(made, taken)
        head = "no header" if shape.claimed is None else f"a header of {counted(shape.claimed, 'word')}"
        notes.append(f"{head}, {counted(shape.dim, 'dimension')}")
        notes.extend(taken.notes(_too_many(longer, shape.dim)))
        notes.extend(blanks(made.words))

    made = unread(rows(), shape.dim)
    return made, notes


def unread(rows: Iterator[Table], dim: int) -> Vectors:
    """Return an artifact whose rows are still to be read; ``finish`` gives it its words when they are."""
    return Vectors(
        vectors=Blocks(np.float32, rows, (dim,)),
        words=Words.of([]),
        unigram=np.zeros(0, np.int64),
        stats={"dim": dim},
        options={"dim": dim},
    )


def finish(made: Vectors, taken: Taken) -> None:
    """Give an artifact the words that were read; how often they stood in a text is not known."""
    made.words, made.unigram = taken.words(), np.zeros(len(taken), np.int64)
    made.stats["words"] = len(taken)


def beginning(stream: Stream) -> bytes:
    """Return the first lines of a text, two at least if it has as many."""
    first = block = stream.read(_PIECE)
    while len(block) == _PIECE and first.count(b"\n") < 2 and len(first) <= 2 * _LONGEST:
        first += (block := stream.read(_PIECE))
    return first


def is_few(first: bytes, dim: int, limit: int | None) -> bool:
    """Return whether a text, by its beginning, has so few numbers to be read that compiled code does not pay."""
    return len(first) < _PIECE or (limit is not None and limit * dim <= _FEW)


@dataclass(frozen=True)
class _Lines:
    """How the lines of a text are read: its name, dimensions, whether there is a header, words, and only a few."""

    name: str
    dim: int
    header: bool
    bare: bool
    few: bool


def bare_rows(first: bytes, stream: Stream, name: str, dim: int, few: bool, job: Job) -> Iterator[Table]:
    """Yield the rows of a text of nothing but numbers, ``dim`` a line. Raises InputError for other lines."""
    for part in _parts(first, stream, _Lines(name, dim, False, True, few), job):
        if part.bad is not None:
            raise _bad_line(name, part, dim)
        yield part.rows


def _pieces(first: bytes, stream: Stream, name: str) -> Iterator[tuple[bytes, int]]:
    """Yield the text in pieces that end where a line ends, with the number of each one's first line."""
    rest, block, line = b"", first, 1
    while block:
        cut = block.rfind(b"\n") + 1
        if cut:
            piece, rest = rest + block[:cut], block[cut:]
            yield piece, line
            line += piece.count(b"\n")
        else:
            rest += block
        if len(rest) > _LONGEST:
            raise InputError(f"{name}: has a line of more than {_LONGEST:,} bytes, which is no vector")
        block = stream.read(_PIECE)
    if rest:
        yield rest, line


def _parts(first: bytes, stream: Stream, lines: _Lines, job: Job) -> Iterator[Part]:
    """Yield the lines of a text, parsed; with a header the first one is left out."""
    parse = plain if lines.few else compiled

    def work(piece: tuple[bytes, int]) -> Part:
        return parse(*piece, lines.dim, lines.header and piece[1] == 1, lines.bare)

    job = replace(job, threads=1) if lines.few else job
    with closing(job.map(work, _pieces(first, stream, lines.name))) as parts:  # type: ignore[type-var]
        for part in parts:
            stream.used(part.text)
            yield part


def _kept(parts: Iterator[Part], taken: Taken, dim: int, longer: list[str]) -> Iterator[Table]:
    """Yield the rows of the words that are kept. Raises InputError for a bad line before the limit is reached.

    ``longer`` gets the lines that seem to have a number too many.
    """
    if not taken.room:
        return
    for part in parts:
        at, stop = 0, len(part.starts) if part.bad is None else part.bad
        text = np.frombuffer(part.text, np.uint8)
        while at < stop:
            rows = slice(at, min(at + taken.room, stop))
            kept = taken.take(text, part.starts[rows], part.ends[rows], _line(part.numbers[rows]))
            longer += _longer(part, rows)
            yield part.rows[rows] if kept.all() else part.rows[rows][kept]
            at = rows.stop
            if not taken.room:
                return
        if part.bad is not None:
            raise _bad_line(taken.name, part, dim, taken.claimed is not None)


def _longer(part: Part, rows: slice) -> list[str]:
    """Return which lines have a word that ends with another number, and what that word is."""
    starts, ends = part.starts[rows], part.ends[rows]
    last = np.frombuffer(part.text, np.uint8)[np.maximum(ends - 1, 0)]  # few words end so: the others cost nothing
    return [
        f"line {part.numbers[rows][i]:,}, whose word is {shown(word)}"
        for i in np.flatnonzero(((last >= 48) & (last < 58)) | (last == 46)).tolist()
        if ends_with_number(word := part.text[starts[i] : ends[i]])
    ]


def _too_many(longer: list[str], dim: int) -> list[str]:
    """Return what is wrong with lines that have a number too many, if there are any."""
    if not longer:
        return []
    what = "1 line has" if len(longer) == 1 else f"{len(longer):,} lines have"
    return [f"{what} a number too many (more than {dim:,}), such as {longer[0]}"]


def _line(numbers: Ints) -> Callable[[int], str]:
    return lambda row: f"line {numbers[row]:,}"


def _bad_line(name: str, part: Part, dim: int, header: bool = False) -> InputError:
    """Return what is wrong with a line; ``header`` says how many numbers there are to be."""
    row = part.bad or 0
    line = part.text[part.starts[row] : part.stops[row]]
    have = len(line.split()) - (not part.bare)
    due = counted(dim, "number") if part.bare else f"a word and {counted(dim, 'number')}"
    due += ", as the header says" * header
    found = f"{counted(have, 'field')} {'stands' if have == 1 else 'stand'} {'there' if part.bare else 'behind it'}"
    if part.odd and have >= dim:
        what = "finite number" if NOT_FINITE.fullmatch(part.odd) or NUMBER.fullmatch(part.odd) else "number"
        found = f"{shown(part.odd)} is no {what}"
    return InputError(f"{name}: line {part.numbers[row]:,}: expected {due}, and {found}")
