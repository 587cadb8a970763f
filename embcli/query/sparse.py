"""The rows of a table of counts as a space to search: a count row, weighted, is already a vector.

No matrix library: blocks of cells are weighted, multiplied with one dense query after the other, and summed by row.
dense.py is the same for vectors.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from embcli.artifacts.schema import Counts, Words
from embcli.counts import weighting
from embcli.counts.weighting import Cells
from embcli.errors import InputError, KindError
from embcli.job import Job
from embcli.query.lookup import heads
from embcli.query.resolve import Compose
from embcli.query.topk import Floats, Ints, Scored, Sum

#: rows of a block at most: it has a score for each
ROWS = 4096
#: exponent that smooths the context counts of PMI
CDS = 0.75


@dataclass(frozen=True)
class SparseProbe:
    """A query: the columns where it is not zero, and its values there."""

    columns: Ints
    values: Floats


class SparseRows:
    """The rows of a counts artifact, each count weighted (see counts.weighting.weigh).

    Where rows are documents, a word can be asked for: a document of this one word (``idf`` is its weight for TF-IDF).

    Raises KindError for a table that is not that of the rows; InputError if the counts are damaged.
    """

    #: probes that are kept at a time
    group = 256
    #: probes that are scored at a time
    batch = 64

    def __init__(self, artifact: Counts, table: str, weight: str, name: str, job: Job) -> None:
        if table in ("output", "sum"):
            raise KindError(f"{name}: counts have no output table; use --table input")
        if table == "documents" and artifact.rows is None:
            raise KindError(f"{name}: its rows are words; count documents with 'embcli cooc --context document'")
        self.name, self._counts, self._weight = name, artifact, weight
        self.words = self.names = artifact.words
        self.also: Words | None = None
        self.compose: Compose | None = None
        self.counts = artifact.unigram if artifact.rows is None else None
        if artifact.rows is not None:
            self.words, self.names, self.also = artifact.rows, heads(artifact.rows), artifact.words
        self.shape = (int(artifact.shape[0]), int(artifact.shape[1]))
        if (np.diff(artifact.indptr) < 0).any():
            raise InputError(f"{name}: damaged: its rows overlap; make the file again")
        needed = weight in ("pmi", "ppmi", "tfidf")
        idf = "plain" if weight == "tfidf" else None
        self._margins = weighting.marginals(artifact, CDS, job, idf) if needed else None

    def spans(self, limit: int) -> Iterator[tuple[int, int]]:
        """Yield the blocks (start, stop) that cover the first ``limit`` rows; they depend on nothing else."""
        for start, stop in weighting.spans(self._counts.indptr[: limit + 1], weighting.CHUNK):
            for first in range(start, stop, ROWS):
                yield first, min(first + ROWS, stop)

    def probes(self, sums: Sequence[Sum], unit: bool) -> list[SparseProbe]:
        """Return signed sums of weighted rows; with ``unit`` each row at length 1 first (a zero row stays zero)."""
        probes = []
        for signs, rows in sums:
            total = np.zeros(self.shape[1])
            for sign, row in zip(signs, rows, strict=True):
                cells = self.cells(row, row + 1) if row < self.shape[0] else self._folded(row - self.shape[0])
                norm = np.sqrt((cells.values * cells.values).sum()) if unit else 1.0
                total[cells.columns] += sign * cells.values / (norm or 1.0)
            probes.append(_pack(total))
        return probes

    def _folded(self, column: int) -> Cells:
        """Return a document of one word; PMI, which a count alone does not have, is 1."""
        one = Cells(0, np.ones(1, np.int64), np.array([column], np.int32), np.ones(1))
        if self._weight in ("pmi", "ppmi"):
            return one
        return replace(one, values=weighting.weigh(one, self._weight, self._margins))

    def length(self, probe: SparseProbe) -> float:
        """Return the length of a probe."""
        return float(np.sqrt((probe.values * probe.values).sum()))

    def mean(self) -> SparseProbe:
        """Return the mean of all weighted rows."""
        total = np.zeros(self.shape[1])
        for span in self.spans(self.shape[0]):
            cells = self.cells(*span)
            total += np.bincount(cells.columns, cells.values, self.shape[1])
        return _pack(total / max(self.shape[0], 1))

    def stack(self, probes: Sequence[SparseProbe]) -> Sequence[SparseProbe]:
        """Return probes in the form that blocks score against."""
        return probes

    def block(self, start: int, stop: int) -> SparseBlock:
        """Return rows start..stop, weighted."""
        return SparseBlock(self.cells(start, stop), self.shape[1])

    def done(self, start: int, stop: int) -> None:
        """Do nothing: cells are copies, and the arrays are released as they are read."""

    def cells(self, start: int, stop: int) -> Cells:
        """Return the weighted cells of rows start..stop. Raises InputError where a cell is not what it must be."""
        if self._margins is None:  # or they have looked at every cell
            weighting.check_cells(self._counts, start, stop)
        cells = weighting.read_cells(self._counts, start, stop)
        return replace(cells, values=weighting.weigh(cells, self._weight, self._margins))


class SparseBlock:
    """Some weighted rows of a table with ``width`` columns."""

    def __init__(self, cells: Cells, width: int) -> None:
        self.cells, self.width = cells, width
        self.lengths = weighting.row_sums(replace(cells, values=cells.values * cells.values))

    def score(self, probes: Sequence[SparseProbe], metric: str, fine: bool = False) -> Scored:
        """Score the rows: cosine, dot product, or minus the squared distance; always exact.

        The cosine of a zero row is -inf: a row without direction is no neighbor.
        """
        scores = np.empty((len(probes), len(self.cells.sizes)))
        dense = np.zeros(self.width)
        for probe, row in zip(probes, scores, strict=True):
            dense[probe.columns] = probe.values
            row[:] = weighting.row_sums(replace(self.cells, values=self.cells.values * dense[self.cells.columns]))
            dense[probe.columns] = 0
            own = (probe.values * probe.values).sum()
            if metric == "cosine":
                norms = np.sqrt(self.lengths * own)
                np.divide(row, norms, out=row, where=norms > 0)
                row[self.lengths == 0] = -np.inf
            elif metric == "euclidean":
                # what is left of equal rows is rounding
                scale = self.lengths + own
                row[:] = np.where(scale - 2 * row > 1e-13 * scale, 2 * row - scale, 0)
        return Scored(scores, np.zeros((len(probes), 1)), lambda queries, rows: scores[queries, rows])


def _pack(dense: Floats) -> SparseProbe:
    columns = np.flatnonzero(dense)
    return SparseProbe(columns, dense[columns])
