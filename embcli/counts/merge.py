"""Add up word-word counts of several inputs, row by row, over the words that any of them has.

Counts were divided by their denominator once; they are multiplied by it and rounded, so that whole numbers are added
and divided again. So the sum has the same bits as counts of all texts together, as long as each count times its
denominator is below 2^51 (2520 for harmonic weights of window 10), where rounding finds the number that was divided.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embcli.artifacts.schema import Counts, Tokens
from embcli.artifacts.spill import Spill
from embcli.artifacts.store import stream
from embcli.counts import windows
from embcli.counts.budget import Task, plan
from embcli.counts.join import Input, join, name_of
from embcli.counts.rows import Counter
from embcli.counts.slices import give_back
from embcli.errors import InputError, NumbersError
from embcli.job import Job
from embcli.kernels.cooc import Cells
from embcli.spec import CoocParams

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Part:
    """One input: a matrix in compressed rows, over words of its own.

    data : whole sums, or counts that are ``denominator`` times as large as whole numbers (None: they are whole).
    names : the joint number of each of its words.  rows : its row for each joint word, -1 where it has none; see
    ``rows_named``.
    """

    data: NDArray[Any]
    indices: NDArray[np.int32]
    indptr: Ints
    denominator: int | None
    names: Ints
    rows: Ints

    def take(self, rows: Ints) -> tuple[NDArray[np.int32], Ints, Ints]:
        """Return the cells of some of its rows, -1 is an empty one: joint columns, whole sums, sizes of the rows."""
        there = np.flatnonzero(rows >= 0)
        own, sizes = rows[there], np.zeros(len(rows), np.int64)
        if not len(own):
            return np.empty(0, np.int32), np.empty(0, np.int64), sizes
        starts, stops = self.indptr[own], self.indptr[own + 1]
        sizes[there] = stops - starts
        low, high = int(starts.min()), int(stops.max())
        at: Any = slice(low, high)
        if len(own) != own[-1] - own[0] + 1 or (np.diff(own) != 1).any():
            ends = np.cumsum(stops - starts)
            at = np.repeat(starts - ends + stops - starts, stops - starts) + np.arange(ends[-1])
        columns, data = self.names[self.indices[at]].astype(np.int32), self.data[at]
        sums = data if self.denominator is None else np.rint(data * float(self.denominator)).astype(np.int64)
        sums = np.array(sums)  # the pages that it may lie in are given back
        for array in (self.indices, self.data):
            give_back(array, low, high)
        return columns, sums, sizes


class Merged:
    """The rows of several inputs over joint words, to be added up: see ``rows.Slices``; ``size`` of them."""

    def __init__(self, parts: Sequence[Part], size: int) -> None:
        self.parts, self.slices, self.filled = parts, len(parts), np.zeros(size, np.int64)
        for part in parts:
            there = part.rows >= 0
            self.filled[there] += np.diff(part.indptr)[part.rows[there]]

    def each(self, row: int) -> Iterator[Cells]:
        """Yield one row of each input."""
        for part in self.parts:
            columns, sums, sizes = part.take(part.rows[row : row + 1])
            yield Cells(columns, sums, np.array([[0, sizes[0]]]))

    def read(self, first: int, last: int) -> Cells:
        """Return rows [first, last) of all inputs."""
        found = [part.take(part.rows[first:last]) for part in self.parts]
        sizes = np.stack([each for *_, each in found])
        bounds = np.zeros((self.slices, last - first + 1), np.int64)
        np.cumsum(sizes, axis=1, out=bounds[:, 1:])
        bounds += np.concatenate(([0], np.cumsum(sizes.sum(1))[:-1]))[:, None]
        return Cells(np.concatenate([c for c, *_ in found]), np.concatenate([s for _, s, _ in found]), bounds)


def merged(inputs: Sequence[Input], params: CoocParams, budget: int, asked: bool, job: Job) -> Counts:
    """Return the sum of the counts of several inputs, which were all made, or are to be made, with these options.

    Parameters
    ----------
    inputs : tokens are counted first, one after the other, into temporary files.
    budget : bytes to plan with; ``asked`` says whether it is the user's choice.

    Raises
    ------
    UsageError, InputError : the budget is too small, an input is damaged, or sums could exceed 64 bits.
    NumbersError : there is nothing to count.
    """
    warn(inputs, job)
    joint = join(inputs)
    size = len(joint.words)
    # a plan for no tokens: what is held are rows of all inputs and of their sum
    whole = plan(Task(size, params.window, 4, 0), budget, job.threads, asked)
    limit = limit_of(inputs)
    parts = []
    for one, names in zip(inputs, joint.names, strict=True):
        if isinstance(one, Counts):
            check_counts(one, limit, windows.divisor(params))
            held: tuple[Any, Any, Any, int | None] = (
                one.data,
                one.indices,
                np.asarray(one.indptr),
                windows.divisor(params),
            )
        else:
            windows.check(one, params)
            held = _counted(one, params, budget, asked, job)
        parts.append(Part(*held, names, rows_named(names, size)))
    counter = Counter(size, windows.rule_of(params)[0], whole.cells, replace(job, threads=whole.threads))
    figures = figures_of(inputs)
    blocks = counter.merge(Merged(parts, size), windows.divisor(params))
    made = windows.filled(blocks, joint.words, joint.unigram, figures, params, job)
    if made is None:
        raise nothing(inputs, params)
    return made


def nothing(inputs: Sequence[Input], params: CoocParams) -> NumbersError:
    """Return the error for inputs without any pair."""
    texts = [one for one in inputs if isinstance(one, Tokens)]
    return windows.nothing(texts, params) if texts else NumbersError(f"{name_of(inputs[0])}: holds no counts")


def limit_of(inputs: Sequence[Input]) -> int:
    """Return what the counts of each input, as whole sums, must stay below, so that all fit in 64 bits together."""
    return (1 << 63) // len(inputs)


def warn(inputs: Sequence[Input], job: Job) -> None:
    """Say what is allowed and seldom meant: an input given twice, vocabularies that were cut at different counts."""
    digests = [one.digest for one in inputs if one.digest]
    if len(set(digests)) < len(digests):
        job.warn("an input is given twice: its counts are doubled")
    records = [record for one in inputs for record in (one.meta, *one.meta.get("parents", ()))]
    least = sorted({record["options"]["min_count"] for record in records if record.get("step") == "encode"})
    if len(least) > 1:
        shown = " and ".join(f"{n:,}" for n in least)
        job.warn(f"the texts were encoded with --min-count {shown}: rare words were counted in some of them only")


def figures_of(inputs: Sequence[Input]) -> dict[str, int]:
    """Return the first of the ``stats`` of several texts: tokens and rows."""
    rows = (len(x.row_offsets) - 1 if isinstance(x, Tokens) else int(x.stats.get("rows", 0)) for x in inputs)
    return {"tokens": sum(int(np.sum(one.unigram)) for one in inputs), "rows": sum(rows)}


def rows_named(names: Ints, size: int) -> Ints:
    """Return the place of each of ``size`` joint words among the names of an input's words, -1 where it is not."""
    rows = np.full(size, -1, np.int64)
    rows[names] = np.arange(len(names))
    return rows


def check_counts(counts: Counts, limit: int, denominator: int | None) -> None:
    """Raise InputError if counts are damaged, or if they, times the denominator, are not below the limit."""
    for _, block in stream(counts, "data"):
        if float(block.max(initial=0)) * (denominator or 1) >= limit:
            raise InputError(f"{name_of(counts)}: its counts are too large to be added: sums could exceed 64 bits")
    for member in ("indptr", "indices"):
        for _ in stream(counts, member):
            pass


def _counted(tokens: Tokens, params: CoocParams, budget: int, asked: bool, job: Job) -> tuple[Any, Any, Any, None]:
    """Count tokens into temporary files; return whole sums, columns and the bounds of rows."""
    sums, columns = Spill(np.int64, job.scratch), Spill(np.int32, job.scratch)
    indptr = np.zeros(len(tokens.words) + 1, np.int64)
    cut = plan(windows.task_of(tokens, params), budget, job.threads, asked)
    for block in windows.rows_of(tokens, params, None, cut, job):
        indptr[block.first + 1 : block.first + 1 + len(block.ends)] = len(columns) + block.ends
        columns.append(block.cols)
        sums.append(block.values)
    return sums.array(), columns.array(), indptr, None
