"""The tasks of ``cooc`` on a cluster: count ranges of tokens, and add up ranges of rows. Which ranges: counts.py."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embcli.artifacts.joined import append_all, map_part, read_part
from embcli.cluster.opened import checked, opened
from embcli.counts import merge, windows
from embcli.counts.budget import Plan
from embcli.counts.rows import Block, Counter, Slices, Stacked
from embcli.counts.slices import Source, lay_out
from embcli.job import Job
from embcli.spec import CoocParams

#: parts of finished rows
ROWS = {"data": np.float64, "cols": np.int32, "ends": np.int64}
#: rows whose cells are counted together to find the ranges, as a share of all
_BUCKETS = 4096


@dataclass(frozen=True)
class Given:
    """An input as tasks find it.

    names : the part with the joint number of each of its words.  how : how it is counted; None: it holds counts.
    """

    path: str
    digest: str
    names: str
    how: Plan | None


def buckets_of(size: int) -> tuple[int, int]:
    """Return how many buckets of rows there are, and the rows of one."""
    rows = -(-size // _BUCKETS)
    return -(-size // rows), rows


def bucketed(filled: NDArray[np.int64], names: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """Return the cells of each bucket of joint rows, from those of the rows of an input with such names."""
    buckets, rows = buckets_of(size)
    return np.bincount(names // rows, filled, buckets).astype(np.int64)


def check_counts(given: Given, limit: int, denominator: int | None) -> None:
    """Look at all counts of an input, as ``merge.check_counts``."""
    merge.check_counts(opened(given.path, given.digest), limit, denominator)


def count_part(
    item: tuple[int, int, int, int], folder: str, given: Sequence[Given], params: CoocParams, size: int
) -> NDArray[np.int64]:
    """Leave the rows of whole sums of a range of tokens in files; return the cells of each bucket of joint rows."""
    number, i, start, stop = item
    how = given[i].how
    assert how is not None
    tokens = opened(given[i].path, given[i].digest)
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
    return bucketed(filled, read_part(given[i].names, np.int64), size)


class Range(Stacked):
    """Rows [first, end) of all parts, from their files."""

    def __init__(self, folder: str, parts: int, first: int, end: int) -> None:
        self._path, self.slices = f"{folder}/{{}}-{{}}".format, parts
        self._bounds = [read_part(self._path("bounds", i), np.int64, first, end + 1) for i in range(parts)]
        self.filled = np.zeros(end - first, np.int64)
        for bounds in self._bounds:
            self.filled += np.diff(bounds)

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
    """Leave finished rows of one text in files; return how many cells they have, and their whole sum."""
    number, first, end = rows
    return _summed(Range(folder, parts, first, end), number, folder, size, params, how)


def sum_joint(
    rows: tuple[int, int, int],
    folder: str,
    given: Sequence[Given],
    pieces: Sequence[tuple[int, int]],
    size: int,
    params: CoocParams,
    how: Plan,
) -> tuple[int, int]:
    """Do what ``sum_rows`` does for several inputs, whose pieces and counts have rows and columns of their own."""
    number, first, end = rows
    names = [read_part(one.names, np.int64) for one in given]
    some = [merge.rows_named(own, size)[first:end] for own in names]
    parts = []
    for piece, i in pieces:
        sums, columns = map_part(f"{folder}/sums-{piece}", np.int64), map_part(f"{folder}/part_cols-{piece}", np.int32)
        bounds = map_part(f"{folder}/bounds-{piece}", np.int64)
        parts.append(merge.Part(sums, columns, bounds, None, names[i], some[i]))
    for i, one in enumerate(given):
        if one.how is None:
            held = opened(one.path, one.digest)
            arrays = held.data, held.indices, np.asarray(held.indptr)
            parts.append(merge.Part(*arrays, windows.divisor(params), names[i], some[i]))
    return _summed(merge.Merged(parts, end - first), number, folder, size, params, how)


def _summed(slices: Slices, number: int, folder: str, size: int, params: CoocParams, how: Plan) -> tuple[int, int]:
    """Leave the rows that slices add up to in files; return how many cells they have, and their whole sum."""
    counter = Counter(size, windows.rule_of(params)[0], how.cells, Job())
    cells = total = 0

    def blocks(found: Iterator[Block]) -> Iterator[Mapping[str, Any]]:
        nonlocal cells, total
        for block in found:
            yield {"data": block.values, "cols": block.cols, "ends": cells + block.ends}
            cells += len(block.cols)
            total += sum(block.totals.tolist())

    divisor = windows.divisor(params)
    dtypes = ROWS | {"data": np.int64 if divisor is None else np.float64}
    append_all(f"{folder}/{{}}-{number}", dtypes, blocks(counter.merge(slices, divisor)))
    return cells, total
