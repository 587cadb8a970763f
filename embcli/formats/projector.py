r"""Vectors as the Embedding Projector takes them: a file of numbers between tabs, and one of labels, row for row.

A single column of labels has no header; where counts are known they are a second column, and there is one. In labels
a character that would break the lines, or could not be seen, is written as ``\uXXXX``, which is read back.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from embcli.artifacts import identify, store
from embcli.artifacts.schema import Vectors, Words
from embcli.errors import InputError
from embcli.formats.opened import Stream, opened
from embcli.formats.vector_shape import BOM, NUMBER
from embcli.formats.vector_text import bare_rows, beginning, finish, is_few, unread
from embcli.formats.vector_words import Taken, nth
from embcli.job import Job, counted

VECTORS, LABELS = "vectors.tsv", "metadata.tsv"
#: what a file of vectors may be called in a folder, the first one that is there
_NAMES = (VECTORS, "tensor.tsv", "tensors.tsv")
_WORD, _COUNT = ("word", "label", "token", "name"), ("count", "counts", "frequency")
_HEADER = b"word\tcount\n"
_LINES = 1 << 16
_ESCAPED = re.compile(r"\\u([0-9a-fA-F]{4})")


def labels_beside(path: str) -> str:
    """Return the name of the labels that belong to a file of vectors: x_vectors.tsv has x_metadata.tsv beside it."""
    folder, name = os.path.split(path)
    for part in ("vectors", "tensors", "tensor", "vecs"):
        if part in name:
            return os.path.join(folder, name.replace(part, "metadata"))
    stem, ending = os.path.splitext(name)
    return os.path.join(folder, f"{stem}_metadata{ending or '.tsv'}")


def parts_of(path: str) -> tuple[str, str] | None:
    """Return the file of vectors and the file of labels that a path (a folder, or the former) stands for, or None."""
    if path == "-":
        return None
    if os.path.isdir(path):
        found = [os.path.join(path, name) for name in _NAMES if os.path.isfile(os.path.join(path, name))]
        return (found[0], labels_beside(found[0])) if found else None
    for labels in (labels_beside(path), os.path.join(os.path.dirname(path), LABELS)):
        if os.path.isfile(labels) and os.path.realpath(labels) != os.path.realpath(path):
            return path, labels
    return None


def looks_like(head: bytes) -> bool:
    """Return whether text is nothing but rows of as many numbers, of which not all begin with a whole one."""
    lines = [line.split(b"\t") for line in head.removeprefix(BOM).split(b"\n")[:-1][:100]]
    if not lines or len(lines[0]) < 2 or len({len(line) for line in lines}) > 1:
        return False
    fields = [field.strip() for line in lines for field in line]
    whole = all(line[0].strip().isdigit() for line in lines)
    return not whole and all(NUMBER.fullmatch(field) for field in fields)


def read(
    stream: Stream, labels: str, name: str, errors: str | None, limit: int | None, job: Job
) -> tuple[Vectors, list[str], list[dict[str, str]]]:
    """Return an artifact whose arrays are made while it is written, a list for notes, and one for sources.

    ``stream`` is the file of vectors and ``labels`` the path of the other; ``errors`` and ``limit`` as for ``Taken``.
    Raises InputError for lines that are no numbers, and where the files have another number of rows.
    """
    first = beginning(stream)
    line = first.removeprefix(BOM).split(b"\n", 1)[0]
    dim = len(line.split())
    if not dim or not all(NUMBER.fullmatch(field) for field in line.split()):
        raise InputError(f"{name}: line 1: expected numbers between tabs, found {ascii(line[:40])[1:]}")
    few = is_few(first, dim, limit)
    taken, notes, sources = Taken(name, errors, limit, few=few), list[str](), list[dict[str, str]]()

    def rows() -> Iterator[NDArray[np.float32]]:
        with opened(labels) as file:
            listed = _Labels(Stream(file, labels), identify.show(labels))
            yield from _labelled(bare_rows(first, stream, name, dim, few, job), listed, taken, name)
        finish(made, taken)
        if listed.counts is not None:
            made.unigram = np.array(listed.counts, np.int64)
        sources.append({"kind": "file", "digest": listed.stream.digest})
        head = f"a header ({', '.join(listed.header)})" if listed.header else "no header"
        notes.append(f"{counted(dim, 'dimension')}; labels of {listed.name}: {head}")
        notes.extend(taken.notes())

    made = unread(rows(), dim)
    return made, notes, sources


class _Labels:
    """The lines of a file of labels as words and, if there is a column of them, counts of those that were kept."""

    def __init__(self, stream: Stream, name: str) -> None:
        self.stream, self.name = stream, name
        self._lines, self._first = self._read(), list[bytes]()
        self.header: list[str] = []
        self.column, self.count = 0, -1
        self.counts: list[int] | None = None

    def _read(self) -> Iterator[bytes]:
        rest = b""
        while block := self.stream.read(1 << 20):
            self.stream.used(block)
            *lines, rest = (rest + block).split(b"\n")
            yield from (line.removesuffix(b"\r") for line in lines)
        if rest:
            yield rest

    def begin(self) -> None:
        """Look at the first line: several columns have a header."""
        first = next(self._lines, None)
        if first is None:
            raise InputError(f"{self.name}: looks like an empty file; expected a label for each row of the vectors")
        columns = [c.decode("utf-8", "replace") for c in first.removeprefix(BOM).split(b"\t")]
        if len(columns) == 1:
            self._first = [first.removeprefix(BOM)]
            return
        self.header, small = columns, [column.strip().lower() for column in columns]
        self.column = next((small.index(name) for name in _WORD if name in small), 0)
        self.count = next((small.index(name) for name in _COUNT if name in small), -1)
        self.counts = [] if self.count >= 0 else None

    def take(self, n: int) -> list[list[bytes]]:
        """Return the columns of the next n lines, of fewer at the end."""
        some = self._first + list(islice(self._lines, n - len(self._first)))
        self._first = []
        return [line.split(b"\t") if self.header else [line] for line in some]

    def rest(self) -> int:
        """Return how many lines there are still."""
        return sum(1 for line in self._lines if line)


def _labelled(
    tables: Iterator[NDArray[np.float32]], listed: _Labels, taken: Taken, name: str
) -> Iterator[NDArray[np.float32]]:
    """Yield the rows whose labels are kept."""
    listed.begin()
    row = 0
    for table in tables:
        lines = listed.take(len(table))
        if len(lines) < len(table) or any(len(line) <= max(listed.column, listed.count) for line in lines):
            short = next((i for i, line in enumerate(lines) if len(line) <= listed.column), len(lines))
            raise InputError(f"{listed.name}: has {row + short:,} labels, and {name} has more rows")
        for at in range(0, len(table), step := min(max(taken.room, 1), len(table))):
            if taken.room <= 0:
                return
            some = lines[at : at + min(step, taken.room)]
            words = [_plain(line[listed.column]) for line in some]
            stops = np.cumsum([len(word) for word in words])
            starts = stops - np.array([len(word) for word in words])
            text = np.frombuffer(b"".join(words) or b"\0", np.uint8)
            kept = taken.take(text, starts, stops, nth("label", row + at))
            if listed.counts is not None:
                counts = [line[listed.count] for line, keep in zip(some, kept.tolist(), strict=True) if keep]
                listed.counts += [int(c) if c.isdigit() and len(c) < 19 else 0 for c in counts]
            yield table[at : at + len(some)][kept]
        row += len(table)
    if taken.limit is None and (more := listed.rest()):
        raise InputError(f"{listed.name}: has {row + more:,} labels, and {name} has {row:,} rows")


def _plain(label: bytes) -> bytes:
    """Return a label without what stands for characters that could not be written as they are."""
    if b"\\u" not in label:
        return label
    text = _ESCAPED.sub(lambda found: chr(int(found[1], 16)), label.decode("utf-8", "surrogateescape"))
    return text.encode("utf-8", "surrogatepass" if any("\ud800" <= c <= "\udfff" for c in text) else "strict")


def escaped(word: str) -> str:
    r"""Return a word as a label: one line, one column, something to see; the others as ``\uXXXX``."""
    plain = word.isprintable() and word.strip(" ") and word[0] not in ' "' and word[-1] != " "
    if plain and not _ESCAPED.search(word):
        return word
    text = _ESCAPED.sub(lambda found: "\\u005c" + found[0][1:], word)
    whole = not word.strip(" ")
    last = len(text) - 1
    return "".join(
        c
        if (c.isprintable() and not (c == '"' and i == 0) and not (c == " " and (whole or i in (0, last))))
        or ord(c) > 0xFFFF
        else f"\\u{ord(c):04x}"
        for i, c in enumerate(text)
    )


def write(made: Vectors, out: str, job: Job) -> tuple[dict[str, Iterator[bytes]], int | None, list[str]]:
    """Return the two files, by name, in blocks; their size is not known, and there are no notes.

    ``out`` is the file of vectors (its name ends with .tsv), or a folder for both. Raises InputError for an empty word.
    """
    if len(made.words) and not np.diff(made.words.offsets).all():
        raise InputError(f"{made.path}: the empty word cannot be written as a label; projectors count lines without it")
    names = (
        (out, labels_beside(out)) if out.endswith(".tsv") else (os.path.join(out, VECTORS), os.path.join(out, LABELS))
    )
    from embcli.formats.vector_text_write import write as lines

    return {names[0]: lines(made, header=False, bare=True, job=job), names[1]: _labels(made)}, None, []


def _labels(made: Vectors) -> Iterator[bytes]:
    """Yield the lines of the labels."""
    counted = bool(np.any(made.unigram))
    if counted:
        yield _HEADER
    for start, counts in store.stream(made, "unigram"):
        words = Words(made.words.data, made.words.offsets[start : start + len(counts) + 1])
        some = [escaped(words[i]) for i in range(len(words))]
        lines = [f"{word}\t{n}\n" for word, n in zip(some, counts.tolist(), strict=True)] if counted else [
            f"{word}\n" for word in some]  # fmt: skip
        yield "".join(lines).encode()
