"""Count the words of documents: the rows of tokens become rows of a document-term matrix, with a label each.

Blocks of rows are counted on a job's threads; columns, bounds and labels go to temporary files while the counts are
written, so that memory does not grow with the number of documents. Documents of several inputs follow one another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from queue import SimpleQueue
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embcli.artifacts.schema import Blocks, Counts, Tokens, Words
from embcli.artifacts.spill import Spill
from embcli.artifacts.store import stream
from embcli.counts.budget import Plan, Task, plan
from embcli.counts.join import Input, Joint, join, name_of
from embcli.counts.rows import room
from embcli.counts.slices import give_back
from embcli.counts.weighting import spans
from embcli.counts.windows import check_tokens
from embcli.errors import NumbersError
from embcli.job import Job
from embcli.kernels import documents as kernels
from embcli.kernels.cooc import Rows
from embcli.kernels.documents import LABEL, Tally

#: rows of a block at most: each has a label
_ROWS = 1 << 14
#: tokens of one long document that are counted in one go
_STEP = 1 << 20
#: words, or characters, that a label shows
_WORDS, _CHARACTERS = 6, 30


@dataclass(frozen=True)
class Documents:
    """Consecutive finished rows: cells, where each row ends, the sum of each, and where each label ends."""

    cells: Rows
    labels: NDArray[np.uint8]
    label_ends: NDArray[np.int64]


def count(inputs: Sequence[Input], budget: int, asked: bool, job: Job) -> Counts:
    """Return how often each word stands in each document: X[d, w], int64.

    A row without words stays, as a row without cells. Gaps are left out. Labels are "docN" with the number of the row,
    from 1 on, and its first words.

    Parameters
    ----------
    inputs : tokens, whose rows are documents, and document-term counts, whose documents are numbered anew.
    budget : bytes to plan with; ``asked`` says whether it is the user's choice.

    Raises
    ------
    UsageError, InputError : the budget is too small, or an input is damaged.
    NumbersError : there is no word in any document.
    """
    joint = join(inputs)
    size, total = len(joint.words), int(joint.unigram.sum())
    documents = some_words(inputs, joint)
    maker = Maker(size, plan(Task(size, 0, 8, 0), budget, job.threads, asked), job)
    for one in inputs:
        check_tokens(one) if isinstance(one, Tokens) else check(one)
    spills = {name: Spill(np.int64, job.scratch) for name in ("indptr", "ends")}
    spills |= {"indices": Spill(np.int32, job.scratch), "labels": Spill(np.uint8, job.scratch)}
    ends: Any = spills["ends"]
    labels: Any = spills["labels"]
    made = Counts(
        data=None,
        indices=spills["indices"],
        indptr=spills["indptr"],
        shape=np.array([documents, size]),
        words=joint.words,
        rows=Words(labels, ends),
        unigram=joint.unigram,
        stats={"documents": documents, "words": size, "tokens": total, "cells": 0, "total": 0},
    )
    blocks = (block for one, first, names in numbered(inputs, joint.names) for block in maker.blocks(one, first, names))
    made.data = Blocks(np.int64, _fill(blocks, made, spills))
    return made


def some_words(inputs: Sequence[Input], joint: Joint) -> int:
    """Return how many documents inputs have. Raises NumbersError if there is no word in them."""
    documents = sum(_rows(one) for one in inputs)
    if not joint.unigram.any():
        names = ", ".join(map(name_of, inputs))
        raise NumbersError(f"{names}: nothing to count: no word in {documents:,} rows; encode with a lower --min-count")
    return documents


def _rows(one: Input) -> int:
    """Return how many documents an input has."""
    return len(one.row_offsets) - 1 if isinstance(one, Tokens) else int(one.shape[0])


def check(counts: Counts) -> None:
    """Raise InputError if counts are damaged."""
    for member in ("indptr", "indices", "data", "row_offsets"):
        for _ in stream(counts, member):
            pass


def numbered(inputs: Sequence[Input], names: Sequence[NDArray[np.int64]]) -> Iterator[tuple[Input, int, Any]]:
    """Yield the inputs with the number of their first document and the names of their words, None if they keep them."""
    first = 1
    for one, own in zip(inputs, names, strict=True):
        same = np.array_equal(own, np.arange(len(own)))
        yield one, first, None if same else own
        first += _rows(one)


class Maker:
    """Makes blocks of documents over ``size`` words, as a plan says."""

    def __init__(self, size: int, how: Plan, job: Job) -> None:
        self.size, self.cells, self.job = size, how.cells, replace(job, threads=how.threads)
        self._free: SimpleQueue[Tally] = SimpleQueue()
        for _ in range(how.threads):
            self._free.put(Tally(np.zeros(size, np.int64), np.empty(size + 1, np.int32)))

    @contextmanager
    def _tally(self) -> Iterator[Tally]:
        """Lend a dense row to one thread."""
        tally = self._free.get()
        try:
            yield tally
        finally:
            self._free.put(tally)

    def blocks(
        self, one: Input, first: int, names: NDArray[np.int64] | None, rows: tuple[int, int] | None = None
    ) -> Iterator[Documents]:
        """Yield the documents of an input, in order; ``first`` is the number of the first one, ``rows`` are some."""
        bounds = one.row_offsets if isinstance(one, Tokens) else one.indptr
        low, high = rows or (0, len(bounds) - 1)
        work = self._of_tokens(one, first, names) if isinstance(one, Tokens) else self._of_counts(one, first, names)
        cut = (
            (low + a, low + min(a + _ROWS, stop))
            for start, stop in spans(bounds[low : high + 1], self.cells)
            for a in range(start, stop, _ROWS)
        )
        done, total = 0, high - low
        for block in self.job.map(work, cut):
            done += len(block.label_ends)
            self.job.progress(done, total, "documents")
            yield block

    def _of_tokens(self, tokens: Tokens, first: int, names: Any) -> Callable[[tuple[int, int]], Documents]:
        """Return what counts rows [start, stop) of tokens."""
        words = (tokens.words.data, tokens.words.offsets)
        spaced = tokens.text.get("split") != "chars"
        size = len(tokens.words)

        def work(span: tuple[int, int]) -> Documents:
            start, stop = span
            a, b = int(tokens.row_offsets[start]), int(tokens.row_offsets[stop])
            out = room(min(b - a, (stop - start) * size), stop - start)
            with self._tally() as tally:
                own = Tally(tally.counts[:size], tally.seen)
                if stop - start > 1:
                    n = kernels.count_documents(tokens.ids, tokens.row_offsets, start, stop, own, out)
                else:
                    n = _count_one(tokens.ids, a, b, own, out)
            text, ends = np.empty((stop - start) * LABEL, np.uint8), np.empty(stop - start, np.int64)
            most = _WORDS if spaced else _CHARACTERS
            rows = (tokens.ids, tokens.row_offsets)
            end = kernels.write_labels(*rows, start, words, most, spaced, first + start, text, ends)
            give_back(tokens.ids, a, b)
            give_back(tokens.row_offsets, start, stop + 1)
            return Documents(self._renamed(out, n, names), text[:end], ends)

        return work

    def _of_counts(self, counts: Counts, first: int, names: Any) -> Callable[[tuple[int, int]], Documents]:
        """Return what copies rows [start, stop) of counts."""
        labels: Any = counts.rows

        def work(span: tuple[int, int]) -> Documents:
            start, stop = span
            a, b = int(counts.indptr[start]), int(counts.indptr[stop])
            ends = np.asarray(counts.indptr[start + 1 : stop + 1]) - a
            cells = Rows(np.array(counts.indices[a:b]), np.array(counts.data[a:b]), ends, np.empty(0, np.int64))
            low, high = int(labels.offsets[start]), int(labels.offsets[stop])
            text, label_ends = np.empty(high - low + (stop - start) * LABEL, np.uint8), np.empty(len(ends), np.int64)
            whole = (labels.data, labels.offsets)
            end = kernels.renumber_labels(whole, start, first + start, text, label_ends)
            for array in (counts.indices, counts.data):
                give_back(array, a, b)
            give_back(labels.data, low, high)
            give_back(labels.offsets, start, stop + 1)
            return Documents(self._renamed(cells, b - a, names), text[:end], label_ends)

        return work

    def _renamed(self, cells: Rows, n: int, names: Any) -> Rows:
        """Return cells with joint columns, ascending within a row."""
        cells = Rows(cells.cols[:n], cells.sums[:n], cells.ends, cells.totals)
        if names is None:
            return cells
        out = room(n, len(cells.ends))
        with self._tally() as tally:
            kernels.rename_documents(cells.cols, cells.sums, cells.ends, names, tally, out)
        return Rows(out.cols[:n], out.sums[:n], out.ends, out.totals)


def _count_one(ids: Any, start: int, stop: int, tally: Tally, out: Rows) -> int:
    """Count a single row, which may be long, a limited number of tokens at a time."""
    n = 0
    for a in range(start, stop, _STEP):
        n = kernels.add_words(ids, a, min(a + _STEP, stop), tally, n)
    end, out.totals[0] = kernels.take(tally, n, out.cols, out.sums, 0)
    out.ends[0] = end
    return int(end)


def _fill(blocks: Iterator[Documents], made: Counts, spills: dict[str, Spill]) -> Iterator[NDArray[np.int64]]:
    """Yield the data of blocks while the other members and stats fill up beside it."""
    total = 0
    for name in ("indptr", "ends"):
        spills[name].append(np.zeros(1, np.int64))
    for block in blocks:
        spills["indptr"].append(block.cells.ends + len(spills["indices"]))
        spills["indices"].append(block.cells.cols)
        spills["ends"].append(block.label_ends + len(spills["labels"]))
        spills["labels"].append(block.labels)
        total += int(block.cells.sums.sum())
        yield block.cells.sums
    made.stats |= {"cells": len(spills["indices"]), "total": total}
