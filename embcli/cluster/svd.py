"""``svd`` on a cluster: groups of rows of the weighted matrix, and of its transpose, stay on the workers.

A product with 16 columns is a task for each group; the columns lie in a file, and so do the products. What a lost
worker held is read and weighed again, as Dask knows where it came from. Small matrices, and LAPACK and ARPACK, are the
client's.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import cycle, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embcli.artifacts.joined import read_part, write_part
from embcli.artifacts.schema import Counts, Vectors
from embcli.cluster.connection import Cluster
from embcli.cluster.opened import opened
from embcli.counts.weighting import Cells, Floats, Marginals, completed, spans, sums
from embcli.job import Job
from embcli.kernels.vectors16 import WIDTH, aligned
from embcli.models import krylov, svd
from embcli.models.sparse import RowBlock, SparseMatrix, Table, packed
from embcli.spec import SvdParams

Span = tuple[int, int]
#: cells of a block of rows
_BLOCK = 1 << 20


def factorize(inputs: list[Counts], params: SvdParams, job: Job, cluster: Cluster) -> Vectors:
    """Return what ``models.svd.factorize`` does, the same values to 1e-6. Raises as that does."""
    return svd.factorize(inputs, params, job, partial(Remote, cluster))


@dataclass
class Group:
    """Rows from ``first`` on, in memory: the matrix of them, and how many cells it has, and their squares."""

    first: int
    matrix: SparseMatrix
    cells: int
    squares: float


class Remote(svd.Matrix):
    """The weighted counts on the workers, cut into groups of rows, one for each task that runs at a time."""

    def __init__(
        self, cluster: Cluster, counts: Counts, weight: str, cds: float, shift: float, job: Job, idf: str
    ) -> None:
        self.cluster, self.counts, self.weight, self.shift, self.job = cluster, counts, weight, shift, job
        self.shape = (int(counts.shape[0]), int(counts.shape[1]))
        self.source = (cluster.file_of(counts, "counts"), counts.digest)
        self.groups = even(counts.indptr, cluster.threads)
        found = cluster.map(part_sums, self.groups, *self.source, unit="cells", sizes=self._sizes())
        rows = np.concatenate([rows for rows, *_ in found])
        columns, self.df = np.sum([c for _, c, _ in found], axis=0), np.sum([df for *_, df in found], axis=0)
        self.margins = completed(rows, columns, self.df, cds, idf if weight == "tfidf" else None)
        self.cells, self.squares = 0, 0.0

    def _sizes(self) -> list[int]:
        return [int(self.counts.indptr[b] - self.counts.indptr[a]) for a, b in self.groups]

    def pair(self, k: int) -> tuple[Any, Any]:
        """Return the matrix and its transpose, which multiply on the workers."""
        cluster, how = self.cluster, (self.weight, self.shift)
        need = 4 * (krylov.limit(k) + 3 * k + 4 * krylov.BLOCK) * sum(self.shape)
        self.job.need(need, f"svd of {self.shape[0]:,} x {self.shape[1]:,} counts to {k:,} dimensions, without counts,")
        margins = cluster.submit(_same, self.margins)
        rows = self._loaded(how, margins)
        direct = self.counts.rows is None and self.counts.options.get("direction") == "symmetric"
        if direct:  # column c is row c, with the two marginals exchanged
            swapped = Marginals(self.margins.columns, self.margins.rows, self.margins.total, self.margins.idf)
            across = cluster.submit(_same, swapped)
            columns = self._loaded(how, across)
        else:
            columns = self._shuffled(margins, how)
        A = Grouped(cluster, self.shape, rows)
        At = Grouped(cluster, self.shape[::-1], columns)
        self.cells, self.squares = A.cells, A.squares
        return A, At

    def _loaded(self, how: tuple[str, float], margins: Any) -> list[Any]:
        """Return the groups of rows, each on a worker of its own as long as there is one."""
        places = zip(self.groups, cycle(self.cluster.slots() or [None]), strict=False)
        return [self.cluster.submit(load_rows, span, *self.source, *how, margins, near=slot) for span, slot in places]

    def _shuffled(self, margins: Any, how: tuple[str, float]) -> list[Any]:
        """Return groups of columns, made of the pieces that groups of rows are cut into."""
        submit, ends = self.cluster.submit, np.concatenate([[0], np.cumsum(self.df)])
        bounds = even(ends, self.cluster.threads)
        cut = [submit(cut_rows, span, *self.source, *how, margins, bounds) for span in self.groups]
        pieces = [[submit(_item, one, i) for one in cut] for i in range(len(bounds))]
        places = zip(bounds, pieces, cycle(self.cluster.slots() or [None]), strict=False)
        return [submit(turn, span, self.shape[0], part, near=slot) for span, part, slot in places]


class Grouped:
    """A matrix whose groups of rows are futures: what ``krylov`` asks of ``sparse.SparseMatrix``."""

    def __init__(self, cluster: Cluster, shape: tuple[int, int], groups: Sequence[Any]) -> None:
        self.cluster, self.shape, self.groups, self.products = cluster, shape, groups, 0
        futures = [cluster.submit(about, group) for group in groups]
        found = [*cluster.watch(futures, [1] * len(groups), "groups of rows")]
        self._live = np.concatenate([live for live, *_ in found])
        self.cells, self.squares = sum(n for _, n, _ in found), float(sum(s for *_, s in found))

    def live(self) -> NDArray[np.bool_]:
        """Return which rows hold a cell."""
        return self._live

    def times(self, X: Table, job: Job, out: Table | None = None) -> Table:
        """Return the product with X, float32, shape (rows, 16); in ``out`` if given."""
        Y = aligned(self.shape[0], WIDTH) if out is None else out
        path = self.cluster.path(f"columns-{id(self)}-{self.products}")
        self.products += 1
        write_part(path, X)
        parts = [f"{path}-{i}" for i in range(len(self.groups))]
        pairs = zip(self.groups, parts, strict=True)
        self.cluster.gather([self.cluster.submit(multiply, group, path, part) for group, part in pairs])
        at = 0
        for part in parts:
            rows = read_part(part, np.float32).reshape(-1, WIDTH)
            Y[at : at + len(rows)] = rows
            at += len(rows)
            os.unlink(part)
        os.unlink(path)
        return Y


def even(ends: Any, parts: int) -> list[Span]:
    """Return bounds of so many ranges of rows, or fewer, that have about as many cells each."""
    goals = int(ends[-1]) * np.arange(1, parts) // parts
    edges = np.unique([0, *np.searchsorted(ends, goals).tolist(), len(ends) - 1]).tolist()
    return [*pairwise(edges)]


def _same(value: Any) -> Any:
    return value


def _item(values: Sequence[Any], i: int) -> Any:
    return values[i]


def part_sums(rows: Span, path: str, digest: str) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """Return the sums of some rows, as ``weighting.sums``."""
    return sums(opened(path, digest), rows)


def _weighted(rows: Span, path: str, digest: str, weight: str, shift: float, margins: Marginals, use: Any) -> Any:
    """Return use(cells, weights) of the blocks of some rows, and the matrix that they are of."""
    counts = opened(path, digest)
    matrix = svd.Matrix(counts, weight, 1.0, shift, Job(), margins=margins)
    first, stop = rows
    bounds = [(first + a, first + b) for a, b in spans(counts.indptr[first : stop + 1], _BLOCK)]
    return [*matrix.blocks(use, bounds)], matrix


def load_rows(rows: Span, path: str, digest: str, weight: str, shift: float, margins: Marginals) -> Group:
    """Return some rows of the weighted matrix, to stay where they are."""
    width = int(opened(path, digest).shape[1])
    use = lambda cells, weights: packed(cells, weights, width)
    blocks, matrix = _weighted(rows, path, digest, weight, shift, margins, use)
    return _group(rows, width, blocks, matrix.cells, matrix.squares)


def _group(rows: Span, width: int, blocks: Sequence[RowBlock], cells: int, squares: float) -> Group:
    first, stop = rows
    own = [replace(block, first=block.first - first, end=block.end - first) for block in blocks]
    return Group(first, SparseMatrix((stop - first, width), own), cells, squares)


def cut_rows(
    rows: Span, path: str, digest: str, weight: str, shift: float, margins: Marginals, bounds: Sequence[Span]
) -> list[Any]:
    """Return some rows of the weighted matrix, transposed and cut into ranges of columns: weights, rows, bounds."""
    from scipy.sparse import csr_array

    use = lambda cells, weights: (cells.sizes, np.array(cells.columns), weights)
    blocks, _ = _weighted(rows, path, digest, weight, shift, margins, use)
    indptr = np.concatenate([[0], *[sizes for sizes, *_ in blocks]]).cumsum()
    parts = [np.concatenate([block[i] for block in blocks]) for i in (2, 1)]
    whole = csr_array((*parts, indptr), shape=(rows[1] - rows[0], len(margins.columns)))
    whole.eliminate_zeros()
    turned = whole.tocsc()
    found = []
    for a, b in bounds:
        ends = turned.indptr[a : b + 1].astype(np.int64)
        cells = slice(ends[0], ends[-1])
        found.append((turned.data[cells].copy(), turned.indices[cells] + np.int32(rows[0]), ends - ends[0]))
    return found


def turn(columns: Span, height: int, pieces: Sequence[Any]) -> Group:
    """Return some columns, as rows of the transpose, from what groups of rows hold of them, in order."""
    first = columns[0]
    sizes = np.stack([np.diff(ends) for *_, ends in pieces])
    before = np.cumsum(sizes, axis=0) - sizes
    ends = np.concatenate([[0], np.cumsum(sizes.sum(axis=0))])
    weights, rows = np.empty(int(ends[-1])), np.empty(int(ends[-1]), np.int32)
    for (values, numbers, bounds), size, at in zip(pieces, sizes, before, strict=True):
        to = np.repeat(ends[:-1] + at - bounds[:-1], size) + np.arange(len(values))
        weights[to], rows[to] = values, numbers
    blocks = []
    for a, b in spans(ends, _BLOCK):
        part = slice(ends[a], ends[b])
        cells = Cells(first + a, np.diff(ends[a : b + 1]), rows[part], weights[part])
        blocks.append(packed(cells, weights[part], height))
    return _group(columns, height, blocks, len(weights), float(weights @ weights))


def about(group: Group) -> tuple[NDArray[np.bool_], int, float]:
    """Return which rows of a group hold a cell, how many cells it has, and their squares."""
    return group.matrix.live(), group.cells, group.squares


def multiply(group: Group, path: str, out: str) -> None:
    """Leave the product of a group with the columns in a file in another one: no detour by way of the scheduler."""
    X = aligned(group.matrix.shape[1], WIDTH)
    X[:] = read_part(path, np.float32).reshape(X.shape)
    write_part(out, group.matrix.times(X, Job()))
