"""What a count becomes before it is factorised or compared: itself, its logarithm, TF-IDF, PMI or positive PMI.

NumPy only, so that queries can use it; models/svd.py runs it block by block on all threads. It reads the mapped
counts, checks them and gives their pages back. It is not for solving: see models/svd.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from embcli.artifacts import checks
from embcli.artifacts.mapped import release
from embcli.artifacts.schema import Counts
from embcli.errors import InputError
from embcli.job import Job

Floats = NDArray[np.float64]
R = TypeVar("R")

#: cells that are read and weighed at a time: few enough to stay in cache
CHUNK = 1 << 17
#: blocks that a large matrix is cut into, and the least cells of a block
BLOCKS, LEAST = 32, 1 << 16
#: PMI this near to 0 is rounding of the sums: the words are independent
ROUNDING = 1e-12


@dataclass(frozen=True)
class Marginals:
    """What a weight needs besides the count.

    For PMI: n(w) of each row, n(c)^cds of each column, and N_c, the sum of the latter. For TF-IDF: idf of each column.
    """

    rows: Floats
    columns: Floats
    total: float
    idf: Floats


@dataclass(frozen=True)
class Cells:
    """Some rows of a sparse matrix: ``sizes[i]`` cells of row ``first + i``, columns ascending within a row."""

    first: int
    sizes: NDArray[np.int64]
    columns: NDArray[np.int32]
    values: Floats


def coarse(indptr: Any) -> int:
    """Return how many cells a block of the matrix should have."""
    return max(int(indptr[-1]) // BLOCKS, LEAST)


def spans(indptr: Any, cells: int) -> Iterator[tuple[int, int]]:
    """Yield bounds (first row, end row) of blocks of about ``cells`` cells; they depend on the row lengths only."""
    start, rows = 0, len(indptr) - 1
    while start < rows:
        stop = int(np.searchsorted(indptr, indptr[start] + cells, "right")) - 1
        stop = min(max(stop, start + 1), start + cells, rows)
        yield start, stop
        start = stop


def read_cells(counts: Counts, start: int, stop: int) -> Cells:
    """Return the counts of rows [start, stop) as float64; not a copy where that is their type: see ``give_back``."""
    ends = np.asarray(counts.indptr[start : stop + 1])
    a, b = int(ends[0]), int(ends[-1])
    return Cells(start, np.diff(ends), counts.indices[a:b], np.asarray(counts.data[a:b], np.float64))


def give_back(counts: Counts, start: int, stop: int) -> None:
    """Give the mapped pages of rows [start, stop) back to the system."""
    a, b = int(counts.indptr[start]), int(counts.indptr[stop])
    release(counts.indices, a, b)
    release(counts.data, a, b)


def check_cells(counts: Counts, start: int, stop: int) -> None:
    """Raise InputError where rows [start, stop) hold a count that is not positive or a column that does not exist."""
    a, b = int(counts.indptr[start]), int(counts.indptr[stop])
    _check(counts, "indices", a, b)
    _check(counts, "data", a, b)


def _check(counts: Counts, name: str, start: int, stop: int) -> None:
    try:
        checks.check(counts, name, getattr(counts, name), start, stop)
    except ValueError as e:
        raise InputError(f"{counts.path or 'counts'}: damaged: {e}; make the file again") from None


def automatic(counts: Counts) -> str:
    """Return the weight that is taken where none is asked for: TF-IDF of documents, PPMI of words."""
    return "ppmi" if counts.rows is None else "tfidf"


def marginals(counts: Counts, cds: float, job: Job | None = None, idf: str | None = None) -> Marginals:
    """Return row sums n(w), smoothed column sums n(c)^cds, their total, of all pairs, and idf; float64.

    Of n rows (documents, those without words too) df hold the word of a column: idf is ln(n/df), or if ``smooth``
    ln((1 + n)/(1 + df)) + 1 (Salton and Buckley 1988; the smooth form is scikit-learn's). A column without cells has 0.
    Every cell is checked on the way. Sums run in blocks whose bounds depend on the row lengths only, so the bits do
    not depend on the job.

    Parameters
    ----------
    counts
        Shape (rows, columns).
    cds
        Exponent that smooths the column side, in (0, 1].
    idf
        ``plain`` or ``smooth``; None leaves idf out (zeros).

    Raises
    ------
    InputError : a count is not a positive number, or a cell lies outside the matrix.
    """
    _check(counts, "indptr", 0, len(counts.indptr))
    return completed(*sums(counts, (0, int(counts.shape[0])), job), cds, idf)


def sums(counts: Counts, rows: tuple[int, int], job: Job | None = None) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """Return the sum of each of some rows, of each column in them, and the cells of each column in them."""
    low, high = rows
    by_row, columns = np.zeros(high - low), np.zeros(int(counts.shape[1]))
    df = np.zeros(len(columns), np.int64)

    def work(span: tuple[int, int]) -> tuple[int, Floats, Floats, NDArray[np.int64]]:
        start, stop = low + span[0], low + span[1]
        check_cells(counts, start, stop)
        cells = read_cells(counts, start, stop)
        sums = row_sums(cells), np.asarray(np.bincount(cells.columns, cells.values, len(columns)), np.float64)
        cells_with = np.bincount(cells.columns, minlength=len(columns))
        give_back(counts, start, stop)
        return span[0], *sums, cells_with

    for first, found, by_column, rows_with in (job or Job()).map(work, spans(counts.indptr[low : high + 1], CHUNK)):
        by_row[first : first + len(found)] = found
        columns += by_column
        df += rows_with
    return by_row, columns, df


def completed(rows: Floats, columns: Floats, df: NDArray[np.int64], cds: float, idf: str | None) -> Marginals:
    """Return the marginals from the ``sums`` of all rows."""
    smooth = columns**cds
    return Marginals(rows, smooth, float(smooth.sum()), _idf(df, len(rows), idf) if idf else np.zeros(len(columns)))


def _idf(df: NDArray[np.int64], n: int, how: str) -> Floats:
    """Return idf of words that stand in df of n documents; 0 where df is 0."""
    found = np.log((1 + n) / (1 + df)) + 1 if how == "smooth" else np.log(n / np.maximum(df, 1))
    return np.where(df > 0, found, 0.0)


def row_sums(cells: Cells) -> Floats:
    """Return the sum of the values of each row; an empty row has 0."""
    sums = np.zeros(len(cells.sizes))
    full = np.flatnonzero(cells.sizes)
    if len(full):
        sums[full] = np.add.reduceat(cells.values, (np.cumsum(cells.sizes) - cells.sizes)[full])
    return sums


def weigh(
    cells: Cells, weight: str, margins: Marginals | None = None, shift: float = 1.0, out: Floats | None = None
) -> Floats:
    """Return the weight of each cell, in nats for PMI; 0 where the cell is to be left out. ``out`` is filled if given.

    With q = n(w,c) N_c / (n(w) n(c)^cds) / shift: ``none`` n, ``log`` ln(1 + n), ``tfidf`` n idf(c), ``pmi`` ln q,
    ``ppmi`` max(ln q, 0) (Levy, Goldberg and Dagan 2015, sections 2.1 and 3.2). |ln q| up to 1e-12 is rounding and
    becomes 0.

    Parameters
    ----------
    cells
        Counts of some rows, all > 0.
    margins
        Of the whole matrix; needed for TF-IDF and PMI.
    shift
        k of shifted PMI, >= 1.
    """
    if weight == "none":
        return np.multiply(cells.values, 1.0, out=out)
    if weight == "log":
        return np.asarray(np.log1p(cells.values, out=out))
    if margins is None:
        raise ValueError(f"{weight} needs marginals")
    if weight == "tfidf":
        return np.multiply(cells.values, margins.idf[cells.columns], out=out)
    ratio = np.multiply(cells.values, margins.total / shift, out=out)
    expected = np.repeat(margins.rows[cells.first : cells.first + len(cells.sizes)], cells.sizes)
    expected *= margins.columns[cells.columns]
    ratio /= expected
    if weight == "ppmi":
        np.maximum(ratio, 1.0, out=ratio)
    np.log(ratio, out=ratio)
    ratio[np.abs(ratio) <= ROUNDING] = 0
    return ratio


class Weighted:
    """The weighted matrix of a counts artifact, handed out in blocks of rows; it is never there as a whole.

    ``cells`` and ``squares`` are, once all blocks were seen, how many weights are not 0, and the sum of their squares.

    Parameters
    ----------
    counts
        Every cell of it is checked before it is weighed.
    weight, cds, shift, idf
        As in ``weigh`` and ``marginals``.
    margins
        The marginals, if they are there already.

    Raises
    ------
    InputError : a count is not a positive number, or a cell lies outside the matrix.
    """

    def __init__(
        self,
        counts: Counts,
        weight: str,
        cds: float,
        shift: float,
        job: Job,
        idf: str = "plain",
        margins: Marginals | None = None,
    ) -> None:
        self.counts, self.weight, self.shift, self.job = counts, weight, shift, job
        self.shape = (int(counts.shape[0]), int(counts.shape[1]))
        self.margins = margins or marginals(counts, cds, job, idf if weight == "tfidf" else None)
        self.cells, self.squares = 0, 0.0

    def blocks(self, use: Callable[[Cells, Floats], R], bounds: Iterable[tuple[int, int]] | None = None) -> Iterator[R]:
        """Yield use(cells, weights) of each block of rows (or of those given), computed on the job's threads."""
        counts, done = self.counts, 0
        self.cells, self.squares = 0, 0.0

        def work(span: tuple[int, int]) -> tuple[R, int, int, float]:
            whole = read_cells(counts, *span)
            weights, cells, squares = np.empty(len(whole.columns)), 0, 0.0
            start, base = span[0], int(counts.indptr[span[0]])
            for a, b in spans(counts.indptr[start : span[1] + 1], CHUNK):
                part = weights[counts.indptr[start + a] - base : counts.indptr[start + b] - base]
                weigh(read_cells(counts, start + a, start + b), self.weight, self.margins, self.shift, out=part)
                cells += int(np.count_nonzero(part))
                squares += float(np.einsum("i,i", part, part))
            made = use(whole, weights)
            give_back(counts, *span)
            return made, len(weights), cells, squares

        for made, read, cells, squares in self.job.map(work, bounds or spans(counts.indptr, coarse(counts.indptr))):
            done, self.cells, self.squares = done + read, self.cells + cells, self.squares + squares
            self.job.progress(done, int(counts.indptr[-1]), "cell")
            yield made
