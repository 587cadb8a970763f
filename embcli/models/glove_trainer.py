"""Epochs of GloVe on mapped counts: tables, threads, the cost, and Ctrl-C between groups of blocks.

Kernels do the work (``embcli.kernels.glove``); what options, files and reports make of it is not decided here. Here it
is done by threads. A cluster does the same with another crew (``embcli.cluster.glove``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from embcli.artifacts.schema import Counts
from embcli.counts.weighting import give_back
from embcli.errors import NumbersError
from embcli.job import Job
from embcli.kernels.glove import CHUNK, SPARE, Group, Model, Rule, pack, visit_group
from embcli.kernels.vectors16 import aligned, padded
from embcli.models.starts import SECOND, fresh_rows
from embcli.models.strata import Opened, Strata, columns_of, strata_of
from embcli.spec import GloveParams

#: each number of a gradient counts so much at most (the rate comes after), as in the published program
CLIP = 100.0
#: a cost that is so many times that of a model of zeros, and 1, is divergence
RUIN = 1000.0
_ROWS = 1 << 14

#: called with (cells visited, mean cost so far) a few times a second
Tell = Callable[[int, float], None]


class Tables:
    """Words, contexts, both biases, and the sums of squared gradients of all four, 1 at the start.

    words, contexts : float32 (V, 2, padded): a row, and its sums behind it.  word_bias, context_bias : float32 (V, 2).
    """

    def __init__(self, words: int, dim: int) -> None:
        self.dim, width = dim, padded(dim)
        self.words, self.contexts = aligned(words, 2, width), aligned(words, 2, width)
        self.word_bias, self.context_bias = np.zeros((words, 2), np.float32), np.zeros((words, 2), np.float32)
        for table in (self.words, self.contexts, self.word_bias, self.context_bias):
            table[:, 1] = 1  # of padding too: its steps are 0 / sqrt(1)

    @classmethod
    def fresh(cls, words: int, dim: int, seed: int) -> Tables:
        """Return random rows, uniform in [-0.5, 0.5) / dim, and biases of zero."""
        tables = cls(words, dim)
        for a in range(0, words, _ROWS):
            b = min(a + _ROWS, words)
            tables.words[a:b, 0, :dim] = fresh_rows(seed, dim, a, b)
            tables.contexts[a:b, 0, :dim] = fresh_rows(seed, dim, SECOND + a, SECOND + b)
        return tables


@dataclass(frozen=True)
class Sums:
    """Sums over all cells: the cost, and that of a model of zeros."""

    cost: float
    idle: float


def rule_of(params: GloveParams) -> Rule:
    """Return how the kernels train, as the options say."""
    with np.errstate(over="ignore"):
        numbers = (params.lr, params.x_max, np.log(params.x_max), params.weight_power, CLIP)
        return Rule(*(np.float32(x) for x in numbers))


def pack_block(
    counts: Counts, strata: Strata, block: int, ends: NDArray[np.int64], cells: NDArray[np.uint64]
) -> tuple[int, int]:
    """Pack the cells of a block of rows, see ``kernels.glove.pack``; return its rows."""
    first, stop = (int(row) for row in strata.rows[block : block + 2])
    indptr, columns = np.asarray(counts.indptr), strata.columns[:-1]
    pack(counts.data, counts.indices, indptr, first, stop, strata.column_block, columns, ends, cells)
    give_back(counts, first, stop)
    return first, stop


def offsets_of(blocks: int, columns: int) -> NDArray[np.int64]:
    """Return where in the order of the blocks of columns each open block of rows begins."""
    return np.arange(blocks) * columns // blocks


def room() -> NDArray[np.float32]:
    """Return the buffers that one thread needs in the kernels."""
    return np.zeros((2, CHUNK + SPARE), np.float32)


class Crew(Protocol):
    """Who visits the cells. ``strata`` is how they are cut."""

    strata: Strata

    def visit(self, groups: Iterable[Opened], learn: bool) -> Iterator[NDArray[np.float64]]:
        """Visit the cells of groups, one group after the other; yield the costs of each.

        learn : whether to change the tables. Costs have the shape (blocks of rows, blocks of columns, 2), see
        ``kernels.glove.visit``.
        """

    def finish(self) -> None:
        """Bring what was learned so far into the tables."""


Make = Callable[[Counts, Tables, GloveParams, Job], Crew]


class Threads:
    """A crew of the job's threads, which share the tables."""

    def __init__(self, counts: Counts, tables: Tables, params: GloveParams, job: Job) -> None:
        self.counts, self.tables, self.job = counts, tables, job
        columns = columns_of(counts, (0, int(counts.shape[0])), job)
        self.strata = strata_of(counts, tables.words.shape[2], columns)
        self._cells = np.zeros(self.strata.room + SPARE, np.uint64)
        self._rule, self._rooms = rule_of(params), [room() for _ in range(job.threads)]

    def visit(self, groups: Iterable[Opened], learn: bool) -> Iterator[NDArray[np.float64]]:
        """Visit the cells of groups; see ``Crew``."""
        for blocks, order, keys in groups:
            yield self._group(self._open(blocks, order, keys), learn)

    def finish(self) -> None:
        """Do nothing: the tables are up to date."""

    def _open(self, blocks: NDArray[np.int64], order: NDArray[np.int64], keys: NDArray[np.uint64]) -> Group:
        """Pack the cells of some blocks of rows."""
        strata = self.strata
        starts = np.concatenate([[0], np.cumsum(strata.cells[blocks])])
        columns = strata.columns[:-1]
        ends = np.zeros((len(blocks), len(columns)), np.int64)

        def work(i: int) -> None:
            pack_block(self.counts, strata, int(blocks[i]), ends[i], self._cells[starts[i] : starts[i + 1]])

        for _ in self.job.map(work, range(len(blocks))):
            pass
        offsets = offsets_of(len(blocks), len(columns))
        return Group(self._cells, starts[:-1], ends, strata.rows[blocks], columns, order, offsets, keys)

    def _group(self, group: Group, learn: bool) -> NDArray[np.float64]:
        """Visit the cells of open blocks on all threads; return the costs of each block."""
        tables = self.tables
        model = Model(tables.words, tables.contexts, tables.word_bias, tables.context_bias)
        control = np.zeros((3, group.ends.size), np.int64)
        costs = np.zeros((*group.ends.shape, 2))

        def work(thread: int) -> None:
            visit_group(model, self._rule, group, learn, self._rooms[thread], control, costs)

        for _ in self.job.map(work, range(self.job.threads)):
            pass
        return costs


class Trainer:
    """Trains tables in place, epoch after epoch.

    Parameters
    ----------
    counts : of V x V words; every cell is checked.  tables : changed in place.  job : its seed, threads and Ctrl-C.
    crew : makes who does it.
    """

    def __init__(self, counts: Counts, tables: Tables, params: GloveParams, job: Job, crew: Make = Threads) -> None:
        self.tables, self.params, self.job = tables, params, job
        self.size = int(counts.indptr[-1])
        self.crew = crew(counts, tables, params, job)

    def epoch(self, number: int, tell: Tell) -> tuple[float, float]:
        """Train epoch ``number``, from 0. Return the cost over all cells after it, and in passing: before each step.

        Both are means over the cells of f(X) (w.c + b + b' - ln X)^2 / 2. Raises NumbersError, which names epoch and
        a lower rate, when the cost or a table is not finite, or the cost is beyond all measure.
        """
        passing = self._pass(number, True, tell)
        after = self._pass(number, False, lambda cells, cost: None)
        self.crew.finish()
        if not after.cost <= RUIN * (after.idle + self.size) or not self._finite():
            self._diverged(number)
        return after.cost / self.size, passing.cost / self.size

    def _pass(self, number: int, learn: bool, tell: Tell) -> Sums:
        """Visit all cells, in random order if they are learned from."""
        seen, cost, idle, strata = 0, 0.0, 0.0, self.crew.strata
        groups = [*strata.groups(self.job.seed if learn else None, number)]
        for (blocks, *_), costs in zip(groups, self.crew.visit(groups, learn), strict=True):
            seen += int(strata.cells[blocks].sum())
            cost += float(costs[:, :, 0].sum())
            idle += float(costs[:, :, 1].sum())
            if not np.isfinite(cost):
                self._diverged(number)
            tell(seen, cost / max(seen, 1))
        return Sums(cost, idle)

    def _finite(self) -> bool:
        tables = (self.tables.words, self.tables.contexts, self.tables.word_bias, self.tables.context_bias)
        return all(np.isfinite(t[a : a + _ROWS]).all() for t in tables for a in range(0, len(t), _ROWS))

    def _diverged(self, number: int) -> None:
        lower = min(self.params.lr / 4, 0.05)
        raise NumbersError(f"epoch {number + 1}: the cost is beyond all measure (divergence); try --lr {lower:g}")
