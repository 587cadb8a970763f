"""Epochs of word2vec on mapped tokens: tables, the schedule, the threads, the loss, and Ctrl-C between chunks.

Kernels do the work (``embcli.kernels.training``); what options, files and reports make of it is not decided here.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from embcli.artifacts import mapped
from embcli.artifacts.schema import Tokens
from embcli.errors import NumbersError
from embcli.job import Job
from embcli.kernels.draws import keep_limits, key_of
from embcli.kernels.spans import train_spans
from embcli.kernels.training import Course, Text, train_blocks
from embcli.models.training_plan import Plan, Tables
from embcli.models.workspace import goal_of, means_of, outputs_of_share, room_of, share_of, side_of, span_of

#: loss of an epoch is reported for so many parts of it
INTERVALS = 20
#: seconds that one call of the kernel should take
CHUNK = 0.2
#: marks are 32-bit numbers
LAST_MARK = (1 << 31) - 1


@dataclass
class Figures:
    """What an epoch came to.

    loss : mean per prediction in nats, scores from before each step.  predictions : how many.
    words : tokens read.  lr : rate at the end.
    intervals : (tokens read, mean loss of the predictions since the entry before), ``INTERVALS`` of them or fewer.
    """

    loss: float
    predictions: int
    words: int
    lr: float
    intervals: list[tuple[int, float]] = field(default_factory=list)


#: called with (tokens read, mean loss so far, rate) a few times a second
Tell = Callable[[int, float, float], None]


def silent(words: int, loss: float, rate: float) -> None:
    """Tell nobody."""


class Trainer:
    """Trains tables in place, epoch after epoch.

    Parameters
    ----------
    plan : what to do.  tokens : the text.  tables : changed in place.  job : threads and Ctrl-C.
    held : bool (rows,), True for rows of text that are left out; None for none.

    Raises NumbersError if there is nothing to predict.
    """

    def __init__(
        self, plan: Plan, tokens: Tokens, tables: Tables, job: Job, held: NDArray[np.bool_] | None = None
    ) -> None:
        self.plan, self.tokens, self.tables, self.job = plan, tokens, tables, job
        unigram = np.asarray(tokens.unigram)
        if len(unigram) < 2 or len(tokens.ids) < 2:
            raise NumbersError("fewer than two words: nothing to predict (lower --min-count, or give more text)")
        self.share = share_of(plan, tokens)
        self.goal = goal_of(plan, unigram)
        self.limits = keep_limits(unigram, plan.sample)
        self.held = np.zeros(len(tokens.row_offsets) - 1, np.bool_) if held is None else held
        lists = tables.lists
        self.span = span_of(plan, tokens, lists, self.share) if lists else 1
        self.means = means_of(tables, plan, self.share, self.span) if lists else None
        self.inputs = side_of(tables.means, plan, self.share + 2 * plan.window, lists.sizes.astype(np.float32))
        self.outputs = side_of(tables.outputs, plan, outputs_of_share(self.goal, self.share))
        self.rooms = [room_of(self.goal, plan, self.share, tables.inputs.shape[1]) for _ in range(job.threads)]
        self.mark = 1

    @property
    def blocks(self) -> int:
        """Blocks of an epoch."""
        return -(-len(self.tokens.ids) // (self.plan.lanes * self.share))

    @property
    def spans(self) -> int:
        """Spans of an epoch, each of ``span`` blocks, the last one perhaps of fewer."""
        return -(-self.blocks // self.span)

    def rate(self, epoch: int, words: int) -> float:
        """Return the learning rate of epoch (from 0) after so many of its tokens."""
        done = (epoch * len(self.tokens.ids) + words) / (self.plan.epochs * len(self.tokens.ids))
        return self.plan.lr - (self.plan.lr - self.plan.min_lr) * done

    def epoch(self, number: int, tell: Tell = silent) -> Figures:
        """Train epoch ``number``, from 0 to plan.epochs - 1, and return its figures.

        Raises NumbersError, which names epoch and a lower rate, when the loss or a table is not finite.
        """
        size, per_span = len(self.tokens.ids), self.plan.lanes * self.share * self.span
        course, text = self._course(number), self._text(number)
        whole = np.zeros(2)
        figures = Figures(0.0, 0, size, self.rate(number, size))
        chunk, start = max(1, 20_000 // per_span), 0
        for part in range(1, INTERVALS + 1):
            stop = self.spans * part // INTERVALS
            totals = np.zeros((max(self.plan.lanes, self.job.threads), 8))
            while start < stop:
                end = min(start + chunk, stop)
                seconds = self._chunk(text, course, start, end, totals)
                self._release(start, end)
                now = whole + totals[:, :2].sum(axis=0)
                check_finite(self.plan, number, now[0])
                tell(min(end * per_span, size), now[0] / max(now[1], 1), self.rate(number, min(end * per_span, size)))
                chunk = max(1, min(int((end - start) * CHUNK / max(seconds, 1e-9)), 4 * chunk))
                start = end
            sums = totals[:, :2].sum(axis=0)
            if sums[1]:
                figures.intervals.append((min(stop * per_span, size), float(sums[0] / sums[1])))
            whole += sums
        check_finite(self.plan, number, whole[0], self.tables)
        figures.loss, figures.predictions = float(whole[0] / max(whole[1], 1)), int(whole[1])
        return figures

    def part(self, number: int, share: int, shares: int, start: int, end: int) -> NDArray[np.float64]:
        """Train spans [start, end) of a share of the text; return the sums of loss and of predictions.

        Of ``shares`` shares, number ``share`` has spans ``spans * share // shares`` to before those of the next one.
        The rate falls as if the share were the whole text.
        """
        size, per_span = len(self.tokens.ids), self.plan.lanes * self.share * self.span
        first = self.spans * share // shares * per_span
        total = max(self.plan.epochs * size // shares, 1)
        course = self._course(number)._replace(done=number * size // shares - first, total=total)
        text, step = self._text(number), max(1, 100_000 // per_span)
        totals = np.zeros((max(self.plan.lanes, self.job.threads), 8))
        for a in range(start, end, step):
            self._chunk(text, course, a, min(a + step, end), totals)
            self._release(a, min(a + step, end))
        sums: NDArray[np.float64] = totals[:, :2].sum(axis=0)
        return sums

    def _text(self, number: int) -> Text:
        tokens = self.tokens
        key = key_of(self.plan.seed, number)
        return Text(tokens.ids, np.asarray(tokens.row_offsets), self.held, self.limits, key)

    def _course(self, number: int) -> Course:
        plan, size = self.plan, len(self.tokens.ids)
        kind = (plan.arch == "cbow", not plan.cbow_sum, plan.fixed_window, plan.turn)
        walk = (self.blocks, 1) if plan.apart else (1, plan.lanes)
        return Course(*kind, plan.window, self.share, *walk, plan.lr, plan.min_lr, number * size, plan.epochs * size)

    def _release(self, start: int, end: int) -> None:
        """Give back the memory of the tokens of spans [start, end), which are mapped."""
        length = self.share * self.span
        if not self.plan.apart:
            start, end, length = start * self.plan.lanes, end * self.plan.lanes, length
        for lane in range(self.plan.lanes if self.plan.apart else 1):
            first = lane * self.blocks * self.share
            mapped.release(self.tokens.ids, first + start * length, first + end * length)

    def _chunk(self, text: Text, course: Course, start: int, end: int, totals: NDArray[np.float64]) -> float:
        """Train spans [start, end) on all threads; return the seconds it took."""
        step = max(self.inputs.copies.shape[1], self.outputs.copies.shape[1])
        spans, first, last = end - start, start * self.span, min(end * self.span, self.blocks)
        if self.mark + (last - first + 1) * step > LAST_MARK:
            self.inputs.marks.fill(0)
            self.outputs.marks.fill(0)
            self.mark = 1
        control = np.zeros((last - first + (2 * spans if self.means else 0), 8), np.int64)

        def work(thread: int) -> None:
            sides, where = (self.inputs, self.outputs, self.rooms[thread], thread, self.mark), (first, last)
            if self.means:
                train_spans(text, course, self.goal, self.means, *sides, *where, self.span, totals, control)
            else:
                train_blocks(text, course, self.goal, *sides, *where, totals, control)

        began = time.perf_counter()
        for _ in self.job.map(work, range(self.job.threads)):
            pass
        self.mark += (last - first) * step
        return time.perf_counter() - began


def check_finite(plan: Plan, number: int, loss: float, tables: Tables | None = None) -> None:
    """Raise NumbersError if the loss of epoch ``number`` (from 0), or a number of the tables, is not finite."""
    finite = np.isfinite(loss)
    if tables is not None and finite:
        rows = (t[i : i + 4096] for t in (tables.inputs, tables.outputs) for i in range(0, len(t), 4096))
        finite = all(np.isfinite(block).all() for block in rows)
    if not finite:
        lower = min(plan.lr / 4, 0.025)
        raise NumbersError(
            f"epoch {number + 1}: the loss is no longer a finite number (divergence); try --lr {lower:g}"
        )
