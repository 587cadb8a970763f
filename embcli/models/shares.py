"""Train a text in shares side by side and merge what they learned, round after round (``--shares``).

Each share is a stretch of the text that is trained by the lanes scheme (trainer.py) from the tables of the last merge.
After ``merge_every`` tokens of each share, rows that shares changed are merged: rare rows by about the sum of what the
shares add, frequent rows, which all shares push the same way, so that they do not overshoot; what one share alone knows
is kept whole (``merge``). The result depends on the shares and the period, not on who trained what.

Here it is done by threads. A cluster does the same with another crew (``embcli.cluster.training``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from embcli.artifacts.schema import Tokens
from embcli.errors import UsageError
from embcli.job import Job
from embcli.kernels.adaptive import add_longer, add_steps, changed_rows
from embcli.models.pace import Floats, paces
from embcli.models.trainer import INTERVALS, Figures, Tell, Trainer, check_finite, silent
from embcli.models.training_plan import Plan, Tables
from embcli.spec import Word2vecParams

Table = NDArray[np.float32]

#: steps after which a row is 1 - 1/e of its way; 30 to 300 make little difference, with 1,000 training may diverge
REACH = 100.0


@dataclass(frozen=True)
class Task:
    """What is trained: see ``Trainer``."""

    plan: Plan
    tokens: Tokens
    tables: Tables
    held: NDArray[np.bool_] | None

    def trainer(self, job: Job) -> Trainer:
        """Return a trainer of these tables."""
        return Trainer(self.plan, self.tokens, self.tables, job, self.held)

    def copy(self) -> Task:
        """Return the task with tables of its own."""
        tables = self.tables
        own = Tables(len(tables.inputs), len(tables.outputs), tables.dim, tables.lists)
        return Task(self.plan, self.tokens, own, self.held)


@dataclass(frozen=True)
class Turn:
    """Spans [start, end) of epoch ``number``, of share ``share`` of ``shares``, about so many ``tokens``."""

    number: int
    share: int
    shares: int
    start: int
    end: int
    tokens: int


@dataclass(frozen=True)
class Change:
    """The rows of a table that a turn changed, ascending, and what they are now."""

    rows: NDArray[np.int64]
    values: Table

    @classmethod
    def between(cls, old: Table, new: Table) -> Change:
        """Return what is different in ``new``."""
        rows = np.empty(len(old), np.int64)
        rows = rows[: changed_rows(old, new, rows)].copy()
        return cls(rows, new[rows])

    def within(self, start: int, end: int) -> Change:
        """Return the changes of rows [start, end)."""
        a, b = np.searchsorted(self.rows, (start, end)).tolist()
        return Change(self.rows[a:b] - start, self.values[a:b])


def merge(old: Table, changes: Sequence[Change], steps: Floats) -> Change:
    """Return the rows that shares changed, each as old + what they add to it.

    That is the adaptive sum of (changed - old), two by two in their order, or the mean times how much farther all
    steps one after another would have gone, if this is longer. ``steps`` has the expected steps of each row in a share.
    """
    rows = np.unique(np.concatenate([change.rows for change in changes]))
    before, places = old[rows], [np.searchsorted(rows, change.rows) for change in changes]
    times, total = np.zeros(len(rows), np.int64), np.zeros_like(before)
    differences = []
    for change, at in zip(changes, places, strict=True):
        difference = change.values - before[at]
        times[at] += 1
        total[at] += difference
        differences.append(Change(at, difference))
    while len(differences) > 1:
        differences = [_both(*differences[i : i + 2]) for i in range(0, len(differences), 2)]
    (adaptive,) = differences
    add_longer(adaptive.rows, adaptive.values, total, _farther(steps[rows], times), before)
    for change, at in zip(changes, places, strict=True):  # exactly what the share has, without a difference's rounding
        alone = times[at] == 1
        before[at[alone]] = change.values[alone]
    return Change(rows, before)


def _farther(steps: Floats, times: NDArray[np.int64]) -> Floats:
    """Return what the sum of the shares' differences is multiplied by, 1 for few steps to 1 / times for many.

    ``steps`` steps leave exp(-steps / REACH) of the way to where the row is heading.
    """
    done, several = steps / REACH, np.maximum(times, 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        found: Floats = np.where(done > 1e-9, np.expm1(-done * several) / np.expm1(-done) / several, 1)
    return found


def _both(a: Change, b: Change | None = None) -> Change:
    """Return the adaptive sums of the steps of two shares."""
    if b is None:
        return a
    rows = np.empty(len(a.rows) + len(b.rows), np.int64)
    values = np.empty((len(rows), a.values.shape[1]), np.float32)
    size = add_steps(a.rows, a.values, b.rows, b.values, rows, values)
    return Change(rows[:size], values[:size])


def take_turn(trainer: Trainer, turn: Turn, before: Sequence[Table]) -> tuple[NDArray[np.float64], list[Change]]:
    """Train a turn on the trainer's tables; return the sums of loss and predictions, and what is not as ``before``."""
    tables = trainer.tables
    sums = trainer.part(turn.number, turn.share, turn.shares, turn.start, turn.end)
    pairs = zip(before, (tables.inputs, tables.outputs), strict=True)
    return sums, [Change.between(old, new) for old, new in pairs]


def mean_tokens(turns: Sequence[Turn]) -> float:
    """Return how many tokens a turn of a round has."""
    return sum(turn.tokens for turn in turns) / len(turns)


class Crew(Protocol):
    """Who trains the turns of a round, all from the same tables, and merges them."""

    def round(self, turns: Sequence[Turn]) -> NDArray[np.float64]:
        """Train and merge; return the sums of loss and of predictions of all turns."""

    def finish(self) -> None:
        """Bring what was merged so far into the tables of the task."""


Make = Callable[[Task, Job], Crew]


class Threads:
    """A crew of the job's threads, each with tables of its own, which are as the task's are between two rounds."""

    def __init__(self, task: Task, job: Job) -> None:
        self.task, self.job = task, job
        self._free: list[Trainer] = []  # append and pop are atomic
        self._steps = paces(task.trainer(Job()))

    def round(self, turns: Sequence[Turn]) -> NDArray[np.float64]:
        """Train and merge; see ``Crew``."""
        sides = (self.task.tables.inputs, self.task.tables.outputs)
        found = [*self.job.map(lambda turn: self._turn(turn, sides), turns)]
        tokens = mean_tokens(turns)
        for i, side in enumerate(sides):
            merged = merge(side, [changes[i] for _, changes in found], self._steps[i] * tokens)
            for table in (side, *((t.tables.inputs, t.tables.outputs)[i] for t in self._free)):
                table[merged.rows] = merged.values
        total: NDArray[np.float64] = np.sum([sums for sums, _ in found], axis=0)
        return total

    def _turn(self, turn: Turn, sides: Sequence[Table]) -> tuple[NDArray[np.float64], list[Change]]:
        try:
            trainer = self._free.pop()
        except IndexError:
            trainer = self.task.copy().trainer(Job())
            trainer.tables.inputs[:], trainer.tables.outputs[:] = sides
        sums, changes = take_turn(trainer, turn, sides)
        for table, side, change in zip((trainer.tables.inputs, trainer.tables.outputs), sides, changes, strict=True):
            table[change.rows] = side[change.rows]  # the next turn begins where this one did
        self._free.append(trainer)
        return sums, changes

    def finish(self) -> None:
        """Do nothing: the tables are up to date after each round."""


class Rounds:
    """Epochs of shares: what ``Trainer`` is for a text as a whole.

    Parameters
    ----------
    task : whose tables change.  shares : how many.  period : tokens of a share between two merges.  crew : trains them.

    Raises NumbersError if there is nothing to predict, UsageError if the text is too short for so many shares.
    """

    def __init__(self, task: Task, shares: int, period: int, crew: Crew) -> None:
        self.task, self.shares, self.crew = task, shares, crew
        self.shape = task.trainer(Job())  # which trains nothing: it knows how the text is cut
        self.per_span = task.plan.lanes * self.shape.share * self.shape.span
        self.step = max(1, period // self.per_span)
        if self.shape.spans < shares:
            raise UsageError(f"--shares {shares}: the text can be cut into {self.shape.spans:,} shares at most")

    def rounds(self, number: int) -> Iterator[list[Turn]]:
        """Yield the turns of each round of an epoch."""
        bounds = [self.shape.spans * share // self.shares for share in range(self.shares + 1)]
        for at in range(0, max(np.diff(bounds)), self.step):
            cut = [(bounds[i] + at, min(bounds[i] + at + self.step, bounds[i + 1])) for i in range(self.shares)]
            yield [Turn(number, i, self.shares, a, b, (b - a) * self.per_span) for i, (a, b) in enumerate(cut) if a < b]

    def epoch(self, number: int, tell: Tell = silent) -> Figures:
        """Train epoch ``number``, from 0; return its figures. Raises NumbersError as ``Trainer.epoch``."""
        plan, size = self.task.plan, len(self.task.tokens.ids)
        rounds, done = [*self.rounds(number)], 0
        figures = Figures(0.0, 0, size, self.shape.rate(number, size))
        whole, part = np.zeros(2), np.zeros(2)
        for i, turns in enumerate(rounds):
            part += self.crew.round(turns)
            done = min(done + sum(turn.end - turn.start for turn in turns) * self.per_span, size)
            now = whole + part
            check_finite(plan, number, now[0])
            tell(done, now[0] / max(now[1], 1), self.shape.rate(number, done))
            if (i + 1) * INTERVALS // len(rounds) > i * INTERVALS // len(rounds):
                if part[1]:
                    figures.intervals.append((done, float(part[0] / part[1])))
                whole, part = now, np.zeros(2)
        self.crew.finish()
        check_finite(plan, number, whole[0], self.task.tables)
        figures.loss, figures.predictions = float(whole[0] / max(whole[1], 1)), int(whole[1])
        return figures


def rounds_of(task: Task, params: Word2vecParams, job: Job, crew: Make = Threads) -> Trainer | Rounds:
    """Return what trains a task as the options say: as a whole, or in shares."""
    if params.shares == 1:
        return task.trainer(job)
    return Rounds(task, params.shares, params.merge_every, crew(task, job))
