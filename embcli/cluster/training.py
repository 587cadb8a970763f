"""``word2vec`` and ``fasttext`` on a cluster: turns of shares are tasks, and so are the merges of ranges of rows.

Tables between two merges lie in files, one a range of rows, and so do the rows that a turn changed. A turn or a merge
that is lost with its worker is done again from the same files, with the same result.
"""

from __future__ import annotations

import os
import pickle
import uuid
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embcli.artifacts.joined import read_part, write_part
from embcli.artifacts.schema import Tokens, Vectors
from embcli.cluster.connection import Cluster
from embcli.cluster.opened import checked, opened
from embcli.errors import UsageError
from embcli.job import Job
from embcli.models import fasttext as fasttext_
from embcli.models import word2vec as word2vec_
from embcli.models.pace import paces
from embcli.models.shares import Change, Task, Turn, mean_tokens, merge, take_turn
from embcli.models.trainer import Trainer
from embcli.models.training_plan import Tables
from embcli.spec import FastTextParams, Word2vecParams

_SIDES = ("inputs", "outputs")
#: trainers of a worker's threads, by the path of what they train
_trainers: dict[str, list[Trainer]] = {}


def word2vec(inputs: Sequence[Tokens], params: Word2vecParams, job: Job, cluster: Cluster) -> Vectors:
    """Return what ``models.word2vec.train`` does with the same ``--shares``, the same bytes. Raises as that does."""
    return word2vec_.train(inputs, _shared(params, job, cluster), job, partial(Workers, cluster, inputs[0]))


def fasttext(inputs: Sequence[Tokens], params: FastTextParams, job: Job, cluster: Cluster) -> Vectors:
    """Return what ``models.fasttext.train`` does with the same ``--shares``, the same bytes. Raises as that does."""
    return fasttext_.train(inputs, _shared(params, job, cluster), job, partial(Workers, cluster, inputs[0]))


def _shared(params: Any, job: Job, cluster: Cluster) -> Any:
    """Return the options if they say how many shares there are, which decides the result and so is not guessed."""
    if not params.shared:
        raise UsageError(
            f"--cluster: trains shares of the text side by side; give --shares N of 2 or more (it decides the "
            f"result, and {cluster.threads} tasks can run at a time here)"
        )
    if params.resume is None and params.shares < cluster.threads:
        job.warn(f"--shares {params.shares}: {cluster.threads - params.shares} tasks at a time have nothing to do")
    return params


class Workers:
    """A crew of the workers of a cluster: see ``shares.Crew``."""

    def __init__(self, cluster: Cluster, tokens: Tokens, task: Task, job: Job) -> None:
        self.cluster, self.task, self.rounds = cluster, task, 0
        self.name, n = uuid.uuid4().hex, cluster.threads
        self.ranges = [
            {side: (rows * i // n, rows * (i + 1) // n) for side, rows in self._rows().items()} for i in range(n)
        ]
        self.setup = cluster.path(f"task-{self.name}")
        source = (cluster.file_of(tokens, "tokens"), tokens.digest, np.asarray(task.tokens.unigram))
        with open(self.setup, "wb") as file:
            pickle.dump((task.plan, source, self._rows(), task.tables.lists, task.held), file)
        for i, span in enumerate(self.ranges):
            for side, (a, b) in span.items():
                write_part(self._state(side, i), getattr(task.tables, side)[a:b])
        for side, steps in zip(_SIDES, paces(task.trainer(Job())), strict=True):
            write_part(cluster.path(f"{side}-{self.name}-steps"), steps)

    def _rows(self) -> dict[str, int]:
        return {side: len(getattr(self.task.tables, side)) for side in _SIDES}

    def _state(self, side: str, i: int) -> str:
        return self.cluster.path(state_name(self.name, side, self.rounds, i))

    def round(self, turns: Sequence[Turn]) -> NDArray[np.float64]:
        """Train and merge; see ``Crew``."""
        cluster, where = self.cluster, (self.cluster.folder, self.name, self.rounds)
        futures = [cluster.submit(train_turn, turn, self.setup, *where, len(self.ranges)) for turn in turns]
        sums = cluster.gather(futures)
        merges = [
            cluster.submit(merge_range, i, span, *where, mean_tokens(turns), [turn.share for turn in turns])
            for i, span in enumerate(self.ranges)
        ]
        cluster.gather(merges)
        for side in _SIDES:
            for i in range(len(self.ranges)):
                os.unlink(self._state(side, i))
            for turn in turns:
                for part in ("rows", "values"):
                    os.unlink(cluster.path(change_name(self.name, side, self.rounds, turn.share, part)))
        self.rounds += 1
        total: NDArray[np.float64] = np.sum(sums, axis=0)
        return total

    def finish(self) -> None:
        """Bring the merged rows into the tables."""
        for i, span in enumerate(self.ranges):
            for side, (a, b) in span.items():
                table = getattr(self.task.tables, side)
                table[a:b] = read_part(self._state(side, i), np.float32).reshape(b - a, table.shape[1])


def state_name(name: str, side: str, number: int, part: int) -> str:
    """Return the file of a range of rows of a table, before round ``number``."""
    return f"{side}-{name}-{number}-{part}"


def change_name(name: str, side: str, number: int, share: int, part: str) -> str:
    """Return the file of what a share changed in a table in round ``number``."""
    return f"{side}-{name}-{number}-{part}-of-{share}"


def _trainer(setup: str) -> Trainer:
    """Return a trainer with tables of its own, of which this process makes as many as train at a time."""
    if setup not in _trainers:
        _trainers.clear()  # those of another run
        _trainers[setup] = []
    free = _trainers[setup]
    try:
        return free.pop()
    except IndexError:
        pass
    with open(setup, "rb") as file:
        plan, (path, digest, unigram), rows, lists, held = pickle.load(file)
    tokens = opened(path, digest)
    checked(tokens, 0, len(tokens.ids))
    corpus = Tokens(ids=tokens.ids, row_offsets=tokens.row_offsets, words=tokens.words, unigram=unigram)
    return Task(plan, corpus, Tables(rows["inputs"], rows["outputs"], plan.dim, lists), held).trainer(Job())


def train_turn(turn: Turn, setup: str, folder: str, name: str, number: int, parts: int) -> NDArray[np.float64]:
    """Train a turn and leave the rows that it changed in files; return the sums of loss and of predictions."""
    trainer = _trainer(setup)
    for side in _SIDES:
        table = getattr(trainer.tables, side)
        at = 0
        for i in range(parts):
            part = read_part(os.path.join(folder, state_name(name, side, number, i)), np.float32)
            rows = part.reshape(-1, table.shape[1])
            table[at : at + len(rows)] = rows
            at += len(rows)
    before = trainer.tables.inputs.copy(), trainer.tables.outputs.copy()
    sums, changes = take_turn(trainer, turn, before)
    _trainers[setup].append(trainer)
    for side, change in zip(_SIDES, changes, strict=True):
        for kind, array in (("rows", change.rows), ("values", change.values)):
            write_part(os.path.join(folder, change_name(name, side, number, turn.share, kind)), array)
    return sums


def merge_range(
    part: int,
    spans: dict[str, tuple[int, int]],
    folder: str,
    name: str,
    number: int,
    tokens: float,
    shares: Sequence[int],
) -> None:
    """Leave a range of rows of both tables, with what the shares changed in a round merged, in files."""
    for side, (start, end) in spans.items():
        old = read_part(os.path.join(folder, state_name(name, side, number, part)), np.float32)
        old = old.reshape(end - start, -1)
        changes = [_change(folder, name, side, number, share, old.shape[1]).within(start, end) for share in shares]
        steps = read_part(os.path.join(folder, f"{side}-{name}-steps"), np.float64, start, end) * tokens
        merged = merge(old, changes, steps)
        old[merged.rows] = merged.values
        write_part(os.path.join(folder, state_name(name, side, number + 1, part)), old)


def _change(folder: str, name: str, side: str, number: int, share: int, width: int) -> Change:
    rows, values = (os.path.join(folder, change_name(name, side, number, share, kind)) for kind in ("rows", "values"))
    return Change(read_part(rows, np.int64), read_part(values, np.float32).reshape(-1, width))
