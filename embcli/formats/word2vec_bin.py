"""word2vec's binary files: a header, then each word, a blank and its numbers as little-endian float32.

The original writes a line end after each row, other programs do not; both are read. Nothing is held but blocks and the
words. Words with blanks have no place in this format.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from embcli.artifacts import identify, store
from embcli.artifacts.schema import Vectors
from embcli.errors import InputError
from embcli.formats.opened import Stream
from embcli.formats.vector_shape import impossible, numbers
from embcli.formats.vector_text import finish, unread
from embcli.formats.vector_words import Taken, nth, shown
from embcli.job import counted

#: bytes taken at a time, and a word may have at most
_PIECE, _LONGEST = 1 << 22, 1 << 16
_HEADER = re.compile(rb"[ \t]*(\d{1,12})[ \t]+(\d{1,6})[ \t\r]*\n")
#: two whole numbers, which may be none of a header
_PAIR = re.compile(rb"[ \t]*(-?\d{1,40})[ \t]+(-?\d{1,40})[ \t\r]*\n")


def looks_like(head: bytes) -> bool:
    """Return whether a file begins with a header and goes on with what is no text."""
    found = _PAIR.match(head)
    if found is None or identify.is_text(head[found.end() :]):
        return False
    return not numbers(head[found.end() :].split(b"\n", 1)[0])  # text in another encoding than UTF-8 has some


def read(stream: Stream, name: str, errors: str | None, limit: int | None) -> tuple[Vectors, list[str]]:
    """Return a file's vectors as an artifact whose arrays are made while it is written, and a list for notes.

    ``errors`` and ``limit`` as for ``Taken``. The notes are complete when the artifact was written. Raises InputError
    for a file without a header, a row that has no word, and numbers that are not finite.
    """
    first = stream.read(_PIECE)
    header = _HEADER.match(first)
    if header is None and (pair := _PAIR.match(first)):
        raise impossible(pair, name)
    if header is None:
        raise InputError(f"{name}: expected the number of words and of dimensions, found {ascii(first[:40])[1:]}")
    claimed, dim = int(header[1]), int(header[2])
    if not dim:
        raise InputError(f"{name}: its header says 0 dimensions")
    taken, notes = Taken(name, errors, limit, claimed, len(first) < _PIECE), list[str]()

    def rows() -> Iterator[NDArray[np.float32]]:
        faults = list[str]()
        stream.used(first[: header.end()])
        yield from _rows(first[header.end() :], stream, taken, dim, faults, notes)
        finish(made, taken)
        notes.insert(0, f"a header of {counted(claimed, 'word')}, {counted(dim, 'dimension')}")
        notes.extend(taken.notes(faults))

    made = unread(rows(), dim)
    return made, notes


def _rows(
    data: bytes, stream: Stream, taken: Taken, dim: int, faults: list[str], notes: list[str]
) -> Iterator[NDArray[np.float32]]:
    """Yield the rows of the words that are kept; what remains at the end is a fault."""
    row = lines = 0
    while taken.room > 0:
        starts, stops, newlines, end = _found(data, 4 * dim, taken.room)
        if len(starts):
            raw = b"".join(data[stop + 1 : stop + 1 + 4 * dim] for stop in stops)
            table = np.frombuffer(raw, "<f4").astype(np.float32, copy=False).reshape(-1, dim)
            at = np.array(stops, np.int64)
            if not np.isfinite(table).all():
                bad = int(np.argmin(np.isfinite(table).all(1)))
                raise InputError(
                    f"{taken.name}: row {row + bad + 1:,}, {shown(data[starts[bad] : stops[bad]])}: its numbers are "
                    "not all finite; is this word2vec's binary format, and of float32?"
                )
            kept = taken.take(np.frombuffer(data, np.uint8), np.array(starts, np.int64), at, nth("row", row))
            yield table if kept.all() else table[kept]
            row, lines = row + len(starts), lines + newlines
            stream.used(data[:end])
            data = data[end:]
            continue
        if len(data) > _LONGEST and data.find(b" ", 0, _LONGEST) < 0:
            raise InputError(f"{taken.name}: row {row + 1:,} has a word of more than {_LONGEST:,} bytes, which is none")
        more = stream.read(_PIECE)
        if not more:
            stream.used(data)
            if data.strip(b"\n"):
                faults.append(f"the file ends within row {row + 1:,}, which is left out")
            break
        data += more
    notes.append(f"{'with' if lines else 'without'} a line end after each row")


def _found(data: bytes, size: int, most: int) -> tuple[list[int], list[int], int, int]:
    """Return where the words of whole rows begin and stop, how many follow a line end, and where the last row ends."""
    starts, stops, newlines, at, end = list[int](), list[int](), 0, 0, 0
    while len(starts) < most:
        if data[at : at + 1] == b"\n":
            at += 1
            newlines += 1
        stop = data.find(b" ", at, at + _LONGEST)
        if stop < 0 or stop + 1 + size > len(data):
            break
        starts.append(at)
        stops.append(stop)
        at = end = stop + 1 + size
    return starts, stops, newlines, end


def write(made: Vectors) -> tuple[Iterator[bytes], int]:
    """Return a file in blocks, with a line end after each row as the original writes it, and its size.

    Raises InputError for words that could not be read back: the empty one, and those with a blank or a line end.
    """
    data, offsets = np.asarray(made.words.data), np.asarray(made.words.offsets)
    empty, ends = np.flatnonzero(np.diff(offsets) == 0), np.flatnonzero((data == 32) | (data == 10))
    bad = empty[:1] if len(empty) else np.searchsorted(offsets, ends[:1], "right") - 1
    if len(bad):
        raise InputError(
            f"{made.path}: the word {ascii(made.words[int(bad[0])])[:60]} cannot be written in word2vec's binary "
            "format: it is empty, or has a blank or a line end; --to word2vec writes text, which may have blanks"
        )
    n, dim = made.vectors.shape
    header = f"{n} {dim}\n".encode()
    return _written(made, header), len(header) + len(data) + n * (4 * dim + 2)


def _written(made: Vectors, header: bytes) -> Iterator[bytes]:
    yield header
    for start, block in store.stream(made, "vectors"):
        rows = np.ascontiguousarray(block, "<f4").tobytes()
        size = 4 * made.vectors.shape[1]
        offsets = made.words.offsets[start : start + len(block) + 1]
        words = np.asarray(made.words.data[offsets[0] : offsets[-1]]).tobytes()
        ends = (offsets - offsets[0]).tolist()
        yield b"".join(
            part
            for i in range(len(block))
            for part in (words[ends[i] : ends[i + 1]], b" ", rows[i * size : (i + 1) * size], b"\n")
        )
