"""``glove`` on a cluster: a group of blocks of rows is visited a stratum at a time, in the order of one machine.

Of a group, block i begins at its own place in the order of the blocks of columns. Cut at these places, the order falls
into as many stretches as there are lanes, each of some blocks of rows; in stage s, lane L visits stretch L + s. So the
tasks of a stage share neither words nor contexts, and each block of columns takes the blocks of rows in the order in
which the kernel of one machine lets them in. A lane visits its own stretch in two parts: from the beginning of each of
its blocks on in the first stage, what is before it in the last one. How many lanes there are does not change a bit.

Cells stay where they were counted: a task packs those of its blocks of rows from the mapped counts, and a worker keeps
them for the group. Rows of both tables lie in files, which a stage reads and writes anew, so that a task that is lost
with its worker is done again from the same files, unless it has left its costs in a file: then it is done.
"""

from __future__ import annotations

import os
import pickle
import uuid
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embcli.artifacts.joined import write_part
from embcli.artifacts.schema import Counts, Vectors
from embcli.cluster.connection import Cluster
from embcli.cluster.glove_tasks import Place, Setup, Span, Work, count_columns, read_rows, visit_cells
from embcli.counts.weighting import spans
from embcli.job import Job
from embcli.models import glove as glove_
from embcli.models.glove_trainer import Tables, offsets_of, rule_of
from embcli.models.strata import Ints, Opened, strata_of
from embcli.spec import GloveParams


def glove(inputs: Sequence[Counts], params: GloveParams, job: Job, cluster: Cluster) -> Vectors:
    """Return what ``models.glove.train`` does, the same bytes. Raises as that does."""
    return glove_.train(inputs, params, job, partial(Workers, cluster))


@dataclass(frozen=True)
class Lane:
    """Some blocks of rows of a group, in the order in which they visit a block of columns.

    members : numbers of the blocks in the group.  start, end : its stretch of the order of the blocks of columns.
    """

    members: list[int]
    start: int
    end: int

    def spans(self, offsets: Ints, to: Lane, stage: int, last: int) -> list[Span]:
        """Return the places of the stretch of a lane that each member visits in a stage."""
        if stage == 0:
            return [(int(offsets[i]), to.end) for i in self.members]
        if stage == last:
            return [(to.start, int(offsets[i])) for i in self.members]
        return [(to.start, to.end) for _ in self.members]


def lanes_of(offsets: Ints, columns: int, most: int) -> list[Lane]:
    """Return the lanes of a group, ``most`` or fewer; blocks that begin at the same place are in one.

    Before a block of columns come the blocks of rows that begin nearest ahead of it, of equals the first one, so a lane
    visits in the order of falling offsets.
    """
    begins = np.flatnonzero(np.diff(offsets, prepend=-1))
    n = min(most, len(begins))
    cuts = [*begins[len(begins) * np.arange(n) // n].tolist(), len(offsets)]
    places = [*offsets[cuts[:-1]].tolist(), columns]
    return [
        Lane(sorted(range(a, b), key=lambda i: (-offsets[i], i)), places[k], places[k + 1])
        for k, (a, b) in enumerate(pairwise(cuts))
    ]


class Shelf:
    """A table with its biases, whose blocks lie in files of a cluster's folder."""

    def __init__(self, cluster: Cluster, name: str, bounds: Ints, table: NDArray[Any], bias: NDArray[Any]) -> None:
        self.cluster, self.sizes = cluster, np.diff(bounds).tolist()
        self.files, self.first = [name] * len(self.sizes), bounds[:-1].tolist()
        self.held = Counter(self.files)
        write_part(cluster.path(name), table)
        write_part(cluster.path(name + ".bias"), bias)

    def places(self, blocks: Iterable[int]) -> list[Place]:
        """Return where blocks lie."""
        return [(self.files[b], self.first[b], self.sizes[b]) for b in blocks]

    def put(self, blocks: Iterable[int], name: str) -> list[str]:
        """Say that blocks are to lie in another file, one after the other; return the files that hold none then."""
        at, empty = 0, list[str]()
        for b in blocks:
            old, self.files[b], self.first[b] = self.files[b], name, at
            at += self.sizes[b]
            self.held[name] += 1
            self.held[old] -= 1
            if not self.held[old]:
                empty += [old, old + ".bias"]
        return empty


class Workers:
    """A crew of the workers of a cluster: see ``glove_trainer.Crew``."""

    def __init__(self, cluster: Cluster, counts: Counts, tables: Tables, params: GloveParams, job: Job) -> None:
        self.cluster, self.tables, self.name, self.stages = cluster, tables, uuid.uuid4().hex, 0
        source, width = (cluster.file_of(counts, "counts"), counts.digest), tables.words.shape[2]
        parts = [*spans(counts.indptr, -(-int(counts.indptr[-1]) // cluster.threads))]
        sizes = [int(counts.indptr[b] - counts.indptr[a]) for a, b in parts]
        found = cluster.map(count_columns, parts, *source, unit="cells", sizes=sizes)
        self.strata = strata_of(counts, width, np.sum(found, axis=0))
        self.setup = cluster.path(f"task-{self.name}")
        with open(self.setup, "wb") as file:
            pickle.dump(Setup(*source, self.strata, rule_of(params), width), file)
        name, cut = f"{{}}-{self.name}".format, self.strata
        self.rows = Shelf(cluster, name("words"), cut.rows, tables.words, tables.word_bias)
        self.contexts = Shelf(cluster, name("contexts"), cut.columns, tables.contexts, tables.context_bias)

    def visit(self, groups: Iterable[Opened], learn: bool) -> Iterator[NDArray[np.float64]]:
        """Visit the cells of groups; see ``glove_trainer.Crew``."""
        if learn:
            slots = self.cluster.slots()
            for group in groups:
                yield self._learned(*group, slots)
            return
        futures = [self._submit(self._look(*group)) for group in groups]
        for future in futures:
            yield self.cluster.gather(future)

    def finish(self) -> None:
        """Bring what lies in the files into the tables."""
        tables = self.tables
        for shelf, table, bias in (
            (self.rows, tables.words, tables.word_bias),
            (self.contexts, tables.contexts, tables.context_bias),
        ):
            at = 0
            for place in shelf.places(range(len(shelf.sizes))):
                end = at + place[2]
                table[at:end], bias[at:end] = read_rows([place], self.cluster.folder, table.shape[2])
                at = end

    def _submit(self, work: Work, *after: Any, near: str | None = None) -> Any:
        return self.cluster.submit(visit_cells, work, self.setup, self.cluster.folder, *after, near=near)

    def _look(self, blocks: Ints, order: Ints, keys: NDArray[np.uint64]) -> Work:
        """Return a task that visits all cells of a group, and changes nothing."""
        columns, rows = np.arange(len(order)), blocks.tolist()
        places = self.rows.places(rows), self.contexts.places(columns.tolist())
        return Work(rows, keys, columns, [(0, len(order))] * len(rows), *places, ())

    def _learned(self, blocks: Ints, order: Ints, keys: NDArray[np.uint64], slots: list[str]) -> NDArray[np.float64]:
        """Learn from the cells of a group, stage by stage; return the costs."""
        offsets, costs = offsets_of(len(blocks), len(order)), np.zeros((len(blocks), len(order), 2))
        lanes = lanes_of(offsets, len(order), self.cluster.threads)
        before, written = dict[tuple[str, int], Any](), list[str]()
        stages = [
            self._stage(stage, lanes, (blocks, order, keys), offsets, before, slots) for stage in range(len(lanes) + 1)
        ]
        for tasks, empty in stages:
            done = self.cluster.gather([future for *_, future in tasks])
            for (lane, to, work, _), found in zip(tasks, done, strict=True):
                costs[np.array(lane.members)[:, None], order[to.start : to.end]] += found
                written += work.out[2:]
            self._forget(empty)
        self._forget(written)
        return costs

    def _forget(self, names: Iterable[str]) -> None:
        for name in names:
            os.unlink(self.cluster.path(name))

    def _stage(
        self,
        stage: int,
        lanes: list[Lane],
        group: Opened,
        offsets: Ints,
        before: dict[tuple[str, int], Any],
        slots: list[str],
    ) -> tuple[list[tuple[Lane, Lane, Work, Any]], list[str]]:
        """Submit the tasks of a stage, each after those of the one ``before`` that it needs.

        Returns the tasks, (lane, stretch of which lane, work, future), and the files that are of no use after them.
        """
        tasks, empty = [], list[str]()
        for k, lane in enumerate(lanes):
            to = lanes[(k + stage) % len(lanes)]
            spans = lane.spans(offsets, to, stage, len(lanes))
            if any(a < b for a, b in spans):
                work = self._work(lane, to, spans, *group)
                after = [before[key] for key in (("rows", lane.start), ("columns", to.start)) if key in before]
                tasks.append(
                    (lane, to, work, self._submit(work, *after, near=slots[k % len(slots)] if slots else None))
                )
        for lane, to, work, future in tasks:
            before["rows", lane.start] = before["columns", to.start] = future
            empty += self.rows.put(work.blocks, work.out[0]) + self.contexts.put(work.columns.tolist(), work.out[1])
        self.stages += 1
        return tasks, empty

    def _work(self, lane: Lane, to: Lane, of: list[Span], blocks: Ints, order: Ints, keys: NDArray[np.uint64]) -> Work:
        """Return the task of a lane which visits the stretch of another one."""
        rows, columns = blocks[lane.members].tolist(), order[to.start : to.end]
        places = self.rows.places(rows), self.contexts.places(columns.tolist())
        out = tuple(f"{what}-{self.name}-{self.stages}-{to.start}" for what in ("words", "contexts", "costs"))
        within = [(a - to.start, b - to.start) for a, b in of]
        return Work(rows, keys[lane.members], columns, within, *places, out)
