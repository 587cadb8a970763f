"""Tables of vectors as blocks of float64 rows: chosen, added up, or side by side. Copies no table.

For steps from vectors to vectors. A search has its own (query/dense.py), which keeps float32 for speed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from embcli.artifacts.mapped import release
from embcli.artifacts.schema import Vectors, Words
from embcli.errors import InputError, KindError
from embcli.job import Job
from embcli.query.lookup import find, words_at

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
R = TypeVar("R")

#: numbers of a block, and the rows that it has at least: fewer would spend the time on sums of d x d numbers
_NUMBERS, _ROWS = 1 << 20, 1024


@dataclass(frozen=True)
class Part:
    """Arrays (n, d) that are added up, and which of their rows are meant (None is all of them).

    ``unit`` puts each row at length 1. ``name`` is the file, for messages.
    """

    name: str
    arrays: tuple[Any, ...]
    rows: Ints | None = None
    unit: bool = False

    def take(self, start: int, stop: int) -> Floats:
        """Return rows start..stop as a new array; their pages are given back. Raises InputError if not all finite."""
        made: Floats = np.zeros((stop - start, self.arrays[0].shape[1]))
        for array in self.arrays:
            if self.rows is None:
                made += array[start:stop]
                release(array, start, stop)
            else:
                made += array[self.rows[start:stop]]
                release(array)
        if not np.isfinite(made).all():
            raise InputError(f"{self.name}: damaged: it holds numbers that are not finite; make the file again")
        return unit_length(made) if self.unit else made


@dataclass(frozen=True)
class Table:
    """Parts of equally many rows side by side."""

    parts: tuple[Part, ...]
    shape: tuple[int, int]

    @classmethod
    def of(cls, name: str, arrays: Sequence[Any], rows: Ints | None = None) -> Table:
        """Return the sum of arrays as a table, or some rows of it."""
        return cls((Part(name, tuple(arrays), rows),), (len(arrays[0] if rows is None else rows), arrays[0].shape[1]))

    def select(self, rows: Ints) -> Table:
        """Return the given rows as a table, in their order; a row may come twice."""
        parts = tuple(Part(p.name, p.arrays, rows if p.rows is None else p.rows[rows], p.unit) for p in self.parts)
        return Table(parts, (len(rows), self.shape[1]))

    def take(self, start: int, stop: int) -> Floats:
        """Return rows start..stop, float64, as a new array."""
        blocks = [part.take(start, stop) for part in self.parts]
        return np.hstack(blocks) if len(blocks) > 1 else blocks[0]

    def spans(self) -> Iterator[tuple[int, int]]:
        """Yield the blocks (start, stop); they depend on the shape only."""
        step = max(_NUMBERS // max(self.shape[1], 1), _ROWS)
        for start in range(0, self.shape[0], step):
            yield start, min(start + step, self.shape[0])


class Walk:
    """Passes over tables on the threads of a job, with their progress: ``total`` is the rows of all passes."""

    def __init__(self, job: Job, total: int) -> None:
        self.job, self.total, self.done = job, total, 0

    def over(self, table: Table, work: Callable[[int, int], R]) -> Iterator[R]:
        """Yield work(start, stop) for each block of a table, in the order of the rows."""
        spans = [*table.spans()]
        results = self.job.map(lambda span: work(*span), spans)
        for (start, stop), result in zip(spans, results, strict=True):
            self.done += stop - start
            self.job.progress(self.done, self.total, "rows")
            yield result


def chosen(artifact: Vectors, table: str) -> Table:
    """Return the vectors, the contexts (``output``), or their sum; KindError if there are no contexts."""
    name = artifact.path or "vectors"
    if table != "input" and artifact.contexts is None:
        raise KindError(f"{name}: has no contexts, so there is no --table {table}; use --table input")
    return Table.of(name, artifact.addends(table))


def side_by_side(inputs: Sequence[Vectors], table: str) -> tuple[Table, Words, NDArray[np.int64]]:
    """Return the words that all inputs have, in the order of the first: their rows at unit length, side by side.

    Returns the table (n, sum of the dimensions), the n words, and their frequencies in the first input. Raises
    KindError if no word is in all of them, or a table is missing.
    """
    first, *others = inputs
    rows = np.arange(len(first.words), dtype=np.int64)[None, :]
    for other in others:
        found = find(other.words, first.words)
        rows = np.vstack((rows, np.array([found.get(word, -1) for word in first.words], np.int64)))
    rows = rows[:, (rows >= 0).all(axis=0)]
    if not rows.shape[1]:
        names = ", ".join(each.path or "vectors" for each in inputs)
        raise KindError(f"--concat: {names}: there is no word that all of them have; give vectors of one language")
    tables = [chosen(each, table) for each in inputs]
    parts = tuple(Part(t.parts[0].name, t.parts[0].arrays, r, True) for t, r in zip(tables, rows, strict=True))
    whole = Table(parts, (rows.shape[1], sum(t.shape[1] for t in tables)))
    all_kept = rows.shape[1] == len(first.words)
    words = first.words if all_kept else Words.of(words_at(first.words, rows[0]))
    return whole, words, np.asarray(first.unigram)[rows[0]]


def unit_length(rows: Floats) -> Floats:
    """Return the rows at length 1; a zero row stays zero."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    made: Floats = rows / np.where(lengths > 0, lengths, 1)
    return made
