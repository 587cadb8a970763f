"""``cooc`` on a cluster: ranges of tokens become rows of whole sums in files, which are added up by ranges of rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embcli.artifacts import checks, store
from embcli.artifacts.joined import Joined, append_all, read_part
from embcli.artifacts.schema import Counts, Tokens, Words
from embcli.cluster.connection import Cluster
from embcli.cluster.partitions import MOST
from embcli.counts import documents, windows
from embcli.counts.budget import Plan, Task, plan
from embcli.counts.rows import Block, Counter, Stacked
from embcli.counts.slices import Source, cut, lay_out
from embcli.errors import InputError, NumbersError, UsageError
from embcli.job import Job
from embcli.spec import CoocParams, parse_size

#: tokens of a partition at most, unless memory asks for fewer
LARGEST = 1 << 26
#: ranges of rows for each task that runs at a time
_RANGES = 2
#: rows whose cells are counted together to find the ranges, as a share of all
_BUCKETS = 4096
_ROWS = {"data": np.float64, "cols": np.int32, "ends": np.int64}
_DOCUMENTS = _ROWS | {"data": np.int64, "labels": np.uint8, "label_ends": np.int64}


def count(inputs: list[Any], params: CoocParams, job: Job, cluster: Cluster) -> Counts:
    """Return what ``counts.cooc.count`` does of one text, the same bytes. Raises as that does."""
    if len(inputs) > 1 or not isinstance(inputs[0], Tokens):
        raise UsageError("--cluster: counts one text; count each, then add the counts up without --cluster")
    (tokens,) = inputs
    path = cluster.file_of(tokens, "tokens")
    budget, asked = parse_size(params.memory) if params.memory else cluster.budget, params.memory is not None
    if params.context == "document":
        return _documents(tokens, path, plan(Task(len(tokens.words), 0, 8, 0), budget, 1, asked), cluster)
    windows.check_sums(tokens, params)
    task = windows.task_of(tokens, params)
    how = plan(task, budget, 1, asked)
    source = Source.of(tokens, params.cross_rows)
    places = min(how.places, max(-(-task.places // cluster.threads), 1), max(LARGEST, task.places // MOST))
    bounds = [(i, *span) for i, span in enumerate(cut(source, places))]
    more = (cluster.folder, path, tokens.digest, params, how)
    sizes = [stop - start for _, start, stop in bounds]
    held = cluster.map(count_part, bounds, *more, unit="tokens", sizes=sizes)
    total = np.sum([np.zeros(_buckets(source.size)[0], np.int64), *held], axis=0)
    ranges = [*_ranges(total, source.size, cluster.threads)]
    sums = (cluster.folder, len(bounds), source.size, params, how)
    weights = [
        int(total[a // _buckets(source.size)[1] : -(-b // _buckets(source.size)[1])].sum()) for _, a, b in ranges
    ]
    found = cluster.map(sum_rows, ranges, *sums, unit="cells", sizes=weights)
    cells, whole = [n for n, _ in found], sum(total for _, total in found)
    if not sum(cells):
        raise windows.nothing([tokens], params)
    figures = windows.figures_of(tokens)
    stats = {"words": source.size, **figures, **windows.sums_of(sum(cells), whole, params)}
    stats["denominator"] = windows.rule_of(params)[1]
    return Counts(
        **_joined(cluster, cells, np.int64 if windows.divisor(params) is None else np.float64),
        shape=np.array([source.size, source.size]),
        words=tokens.words,
        unigram=tokens.unigram,
        stats=stats,
        text=dict(tokens.text),
    )


def _joined(cluster: Cluster, cells: Sequence[int], dtype: Any) -> dict[str, Any]:
    """Return the matrix that parts of rows with so many cells make."""
    n, bases = range(len(cells)), (np.cumsum(cells) - cells).tolist()
    return {
        "data": Joined(dtype, [cluster.path(f"data-{i}") for i in n]),
        "indices": Joined(np.int32, [cluster.path(f"cols-{i}") for i in n]),
        "indptr": Joined(np.int64, [cluster.path(f"ends-{i}") for i in n], bases, [0]),
    }


def _buckets(size: int) -> tuple[int, int]:
    """Return how many buckets of rows there are, and the rows of one."""
    rows = -(-size // _BUCKETS)
    return -(-size // rows), rows


def _ranges(held: NDArray[np.int64], size: int, threads: int) -> Iterator[tuple[int, int, int]]:
    """Yield ranges of rows (number, first, end) of about the same number of cells, whole buckets each."""
    rows, ends = _buckets(size)[1], np.cumsum(held)
    goals = int(ends[-1]) * np.arange(1, _RANGES * threads) // (_RANGES * threads)
    edges = np.unique([0, *(np.searchsorted(ends, goals) + 1).tolist(), len(held)])
    for i, (a, b) in enumerate(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)):
        yield i, a * rows, min(b * rows, size)


@lru_cache(4)
def opened(path: str, digest: str) -> Any:
    """Return an artifact; a worker opens it once."""
    return store.read(path)


def checked(tokens: Tokens, start: int, stop: int) -> None:
    """Raise InputError if an id of tokens [start, stop) is none."""
    step = 1 << 20
    try:
        for a in range(start, stop, step):
            checks.check(tokens, "ids", tokens.ids, a, min(a + step, stop))
            store.release(tokens.ids, a, min(a + step, stop))
    except ValueError as e:
        raise InputError(f"{tokens.path}: damaged: {e}; make the file again") from None


def count_part(
    bounds: tuple[int, int, int], folder: str, path: str, digest: str, params: CoocParams, how: Plan
) -> NDArray[np.int64]:
    """Leave the rows of whole sums of a range of tokens in files; return the cells of each bucket of rows."""
    number, start, stop = bounds
    tokens = opened(path, digest)
    source = Source.of(tokens, params.cross_rows)
    checked(tokens, max(start - params.window, 0), min(stop + params.window, len(tokens.ids)))
    counter = Counter(source.size, windows.rule_of(params)[0], how.cells, Job())
    filled = np.zeros(source.size, np.int64)

    def blocks() -> Iterator[Mapping[str, Any]]:
        at = 0
        yield {"bounds": [0]}
        for block in counter.count(lay_out(source, start, stop, params.window), None):
            yield {"part_cols": block.cols, "sums": block.values, "bounds": at + block.ends}
            filled[block.first : block.first + len(block.ends)] = np.diff(block.ends, prepend=0)
            at += len(block.cols)

    append_all(f"{folder}/{{}}-{number}", {"part_cols": np.int32, "sums": np.int64, "bounds": np.int64}, blocks())
    return np.add.reduceat(filled, np.arange(0, source.size, _buckets(source.size)[1]))


class Range(Stacked):
    """Rows [first, end) of all parts, from their files."""

    def __init__(self, folder: str, parts: int, first: int, end: int) -> None:
        self._path, self.slices = f"{folder}/{{}}-{{}}".format, parts
        self._bounds = [read_part(self._path("bounds", i), np.int64, first, end + 1) for i in range(parts)]
        self.filled = np.sum([np.diff(bounds) for bounds in self._bounds], axis=0)

    def span(self, part: int, first: int, last: int) -> NDArray[np.int64]:
        """Return where rows [first, last) of a slice begin, and where the last one ends."""
        return self._bounds[part][first : last + 1]

    def cells(self, part: int, start: int, stop: int) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Return cells [start, stop) of a part."""
        columns = read_part(self._path("part_cols", part), np.int32, start, stop)
        return columns, read_part(self._path("sums", part), np.int64, start, stop)


def sum_rows(
    rows: tuple[int, int, int], folder: str, parts: int, size: int, params: CoocParams, how: Plan
) -> tuple[int, int]:
    """Leave finished rows in files; return how many cells they have, and their whole sum."""
    number, first, end = rows
    counter = Counter(size, windows.rule_of(params)[0], how.cells, Job())
    cells = total = 0

    def blocks(found: Iterator[Block]) -> Iterator[Mapping[str, Any]]:
        nonlocal cells, total
        for block in found:
            yield {"data": block.values, "cols": block.cols, "ends": cells + block.ends}
            cells += len(block.cols)
            total += sum(block.totals.tolist())

    divisor = windows.divisor(params)
    dtypes = _ROWS | {"data": np.int64 if divisor is None else np.float64}
    append_all(f"{folder}/{{}}-{number}", dtypes, blocks(counter.merge(Range(folder, parts, first, end), divisor)))
    return cells, total


def _documents(tokens: Tokens, path: str, how: Plan, cluster: Cluster) -> Counts:
    """Return document-term counts: rows of the text are counted by ranges, which need no sum."""
    total, rows, size = int(np.sum(tokens.unigram)), len(tokens.row_offsets) - 1, len(tokens.words)
    if not total:
        name = tokens.path or "tokens"
        raise NumbersError(f"{name}: nothing to count: no word in {rows:,} rows; encode with a lower --min-count")
    step = max(min(-(-len(tokens.ids) // (_RANGES * cluster.threads)), LARGEST), 1)
    edges = np.unique([0, *np.searchsorted(tokens.row_offsets, range(step, len(tokens.ids), step)).tolist(), rows])
    spans = [(i, a, b) for i, (a, b) in enumerate(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True))]
    more = (cluster.folder, path, tokens.digest, how)
    found = cluster.map(count_documents, spans, *more, unit="documents", sizes=[b - a for _, a, b in spans])
    cells, letters = [n for n, *_ in found], [n for _, n, _ in found]
    ends = Joined(
        np.int64, [cluster.path(f"label_ends-{i}") for i, *_ in spans], (np.cumsum(letters) - letters).tolist(), [0]
    )
    labels: Any = Joined(np.uint8, [cluster.path(f"labels-{i}") for i, *_ in spans])
    stats = {"documents": rows, "words": size, "tokens": total, "cells": sum(cells)}
    return Counts(
        **_joined(cluster, cells, np.int64),
        shape=np.array([rows, size]),
        words=tokens.words,
        rows=Words(labels, ends),  # type: ignore[arg-type]
        unigram=tokens.unigram,
        stats=stats | {"total": sum(whole for *_, whole in found)},
        text=dict(tokens.text),
    )


def count_documents(rows: tuple[int, int, int], folder: str, path: str, digest: str, how: Plan) -> tuple[int, int, int]:
    """Leave the documents of a range of rows in files; return cells, bytes of labels, and the sum of all cells."""
    number, first, end = rows
    tokens = opened(path, digest)
    checked(tokens, int(tokens.row_offsets[first]), int(tokens.row_offsets[end]))
    maker, sums = documents.Maker(len(tokens.words), how, Job()), np.zeros(3, np.int64)

    def blocks() -> Iterator[Mapping[str, Any]]:
        for block in maker.blocks(tokens, 1, None, (first, end)):
            rows = {"data": block.cells.sums, "cols": block.cells.cols, "ends": sums[0] + block.cells.ends}
            yield rows | {"labels": block.labels, "label_ends": sums[1] + block.label_ends}
            sums[:] += (len(block.cells.cols), len(block.labels), int(block.cells.sums.sum()))

    append_all(f"{folder}/{{}}-{number}", _DOCUMENTS, blocks())
    cells, letters, total = sums.tolist()
    return cells, letters, total
