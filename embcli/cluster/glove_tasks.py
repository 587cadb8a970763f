"""The tasks of ``glove`` on a cluster: some blocks of rows visit some blocks of columns. What and when: glove.py."""

from __future__ import annotations

import os
import pickle
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embcli.artifacts.joined import Part, fill_part, read_part, write_part
from embcli.cluster.opened import opened
from embcli.job import Job
from embcli.kernels.glove import SPARE, Group, Model, Rule, visit_group
from embcli.kernels.vectors16 import aligned
from embcli.models.glove_trainer import pack_block, room
from embcli.models.strata import OPEN, Ints, Strata, columns_of

Span = tuple[int, int]
#: where some rows lie: file, first row there, how many
Place = tuple[str, int, int]
#: numbers of contexts that a task holds at a time
_PIECE = 1 << 21


@dataclass(frozen=True)
class Setup:
    """What all tasks of a training read: the counts, how they are cut, and the rule of the steps."""

    path: str
    digest: str
    strata: Strata
    rule: Rule
    width: int


@dataclass(frozen=True)
class Work:
    """What a task visits: blocks of rows, and blocks of columns in order; where they lie; and where they go.

    spans : which of the columns each block of rows visits.  keys : of the cells' order.  out : files of the rows, of
    the contexts, and of the costs; none if nothing is to be learned.
    """

    blocks: list[int]
    keys: NDArray[np.uint64]
    columns: Ints
    spans: list[Span]
    rows: list[Place]
    contexts: list[Place]
    out: tuple[str, ...]


def count_columns(rows: Span, path: str, digest: str) -> Ints:
    """Return the cells of each column in some rows, as ``strata.columns_of``."""
    return columns_of(opened(path, digest), rows, Job())


@lru_cache(2)
def _setup(path: str) -> Setup:
    with open(path, "rb") as file:
        made: Setup = pickle.load(file)
    return made


@lru_cache(OPEN)
def _packed(setup: str, block: int) -> tuple[Ints, NDArray[np.uint64]]:
    """Return the ends of the cells of a block of rows in each block of columns, and the cells; not to be changed."""
    made = _setup(setup)
    strata, ends = made.strata, np.zeros(len(made.strata.columns) - 1, np.int64)
    cells = np.zeros(int(strata.cells[block]), np.uint64)
    pack_block(opened(made.path, made.digest), strata, block, ends, cells)
    return ends, cells


def read_rows(places: Sequence[Place], folder: str, width: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return rows and biases from where they lie, float32 (rows, 2, width) and (rows, 2)."""
    total = sum(rows for *_, rows in places)
    table, bias = aligned(total, 2, width), np.empty((total, 2), np.float32)
    at = 0
    for name, first, rows in places:
        path = os.path.join(folder, name)
        for into, where in ((table, path), (bias, path + ".bias")):
            fill_part(where, first * into[:1].nbytes, into[at : at + rows])
        at += rows
    return table, bias


def visit_cells(work: Work, setup: str, folder: str, *after: Any) -> NDArray[np.float64]:
    """Visit cells, and leave the rows and contexts in files if they are learned from; return the costs.

    Costs have the shape (blocks of rows, columns of the task, 2). ``after`` is what had to be done before.
    """
    shape = (len(work.blocks), len(work.columns), 2)
    rows, contexts, done = (os.path.join(folder, name) for name in work.out or ("",) * 3)
    if work.out and os.path.exists(done):
        return read_part(done, np.float64).reshape(shape)
    made, costs = _setup(setup), np.zeros(shape)
    words, word_bias = read_rows(work.rows, folder, made.width)
    with ExitStack() as stack:
        paths = [path + end for path in (rows, contexts) for end in ("", ".bias")] if work.out else []
        out = [stack.enter_context(Part(path, np.float32)) for path in paths]
        for a, b in _pieces(work.contexts, made.width):
            piece = read_rows(work.contexts[a:b], folder, made.width)
            _visit(work, setup, (a, b), Model(words, piece[0], word_bias, piece[1]), costs)
            for part, array in zip(out[2:], piece, strict=bool(out)):
                part.append(array)
        for part, array in zip(out[:2], (words, word_bias), strict=bool(out)):
            part.append(array)
    if work.out:
        write_part(done, costs)
    return costs


def _visit(work: Work, setup: str, piece: Span, model: Model, costs: NDArray[np.float64]) -> None:
    """Visit the cells of a piece of the columns, whose contexts are in the model, and fill in the costs."""
    made, (a, b), buffers = _setup(setup), piece, room()
    starts = np.cumsum([0, *(rows for *_, rows in work.rows)])
    columns = np.zeros(len(made.strata.columns) - 1, np.int64)
    columns[work.columns[a:b]] = np.cumsum([0, *(rows for *_, rows in work.contexts[a : b - 1])])
    for i, span in enumerate(work.spans):
        start, stop = max(span[0], a), min(span[1], b)
        if start < stop:
            order = work.columns[start:stop]
            group = _group(work, setup, i, starts[i : i + 1], columns, order)
            found, control = np.zeros((1, len(columns), 2)), np.zeros((3, len(columns)), np.int64)
            visit_group(model, made.rule, group, bool(work.out), buffers, control, found)
            costs[i, start:stop] = found[0, order]


def _pieces(places: Sequence[Place], width: int) -> Iterator[Span]:
    """Yield ranges of blocks of columns whose contexts are held together."""
    ends = np.cumsum([2 * width * rows for *_, rows in places])
    start = 0
    while start < len(places):
        stop = int(np.searchsorted(ends, (ends[start - 1] if start else 0) + _PIECE, "right"))
        stop = max(stop, start + 1)
        yield start, stop
        start = stop


def _group(work: Work, setup: str, i: int, row: Ints, columns: Ints, order: Ints) -> Group:
    """Return one block of rows with a copy of its cells in some blocks of columns, which the kernel will shuffle."""
    ends, cells = _packed(setup, work.blocks[i])
    sizes = np.zeros_like(ends)
    sizes[order] = np.diff(ends, prepend=0)[order]
    copy = np.zeros(int(sizes.sum()) + SPARE, np.uint64)
    at = 0
    for b in np.sort(order).tolist():
        size = int(sizes[b])
        copy[at : at + size] = cells[ends[b] - size : ends[b]]
        at += size
    keys, none = work.keys[i : i + 1], np.zeros(1, np.int64)
    return Group(copy, none, np.cumsum(sizes)[None], row, columns, np.ascontiguousarray(order), none, keys)
