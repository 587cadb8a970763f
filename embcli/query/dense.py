"""The rows of a table of vectors as a space to search: blocks of rows, probes, and scores between them.

Nothing of the table's size is made: a block of rows is scaled, multiplied and dropped. See sparse.py for counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embcli.artifacts.mapped import ahead, release
from embcli.artifacts.schema import Vectors, Words
from embcli.errors import InputError, KindError
from embcli.query.lookup import heads
from embcli.query.resolve import Compose
from embcli.query.subwords import Subwords
from embcli.query.topk import Floats, Ints, Scored, Sum

#: a block has this many rows, fewer where they are long
ROWS = 8192
#: numbers of a block, and of the pairs whose exact score is computed at a time
NUMBERS = 1 << 20
#: numbers looked at in one go by a few probes, and how many these are
_NEAR, _FEW = 1 << 17, 16
#: bytes before a block that are given back with it
_AROUND = 1 << 19
#: bytes of a table whose rows are given back after each look, and how many blocks are asked for ahead
_LARGE, _AHEAD = 1 << 26, 4


class DenseRows:
    """The vectors of an artifact: its input table, its output table, or their sum; or those of its documents.

    Words and documents that were factorised together, X = U S V^T, can ask for each other. With W = V S^e of words and
    D = U S^e of documents, a document with the row x of X stands at x W S^-1, whatever e is, since U = X V S^-1; so a
    word is folded in as a document of this one word at w S^-1, up to its idf (Deerwester et al. 1990, section 4.3).
    Likewise a document is folded in among words, as a word of this one document, at d S^-1.

    Where words have character n-grams, ``compose`` makes a row behind all others for a word that is not among them.

    Raises KindError if the artifact has not the table that is asked for.
    """

    #: probes that are kept at a time
    group = 4096
    #: probes that are scored at a time: the scores of one product stay in the cache
    batch = 128

    def __init__(self, artifact: Vectors, table: str, name: str) -> None:
        if table == "documents" and artifact.documents is None:
            raise KindError(f"{name}: has no documents; make them from counts with 'embcli cooc --context document'")
        if table in ("output", "sum") and artifact.contexts is None:
            tied = "its output rows are its token rows (--tie)" if artifact.options.get("tie") else "has no contexts"
            raise KindError(f"{name}: {tied}, so there is no --table {table}; use --table input")
        self.name = name
        self.counts: Any = None if table == "documents" else artifact.unigram
        self._tables = [artifact.documents] if table == "documents" else artifact.addends(table)
        self.shape: tuple[int, int] = self._tables[0].shape
        self.words = self.names = artifact.words
        if artifact.text.get("unit") == "texts":  # text17: the first words
            self.names = heads(artifact.words)
        self.also: Words | None = None
        self.compose: Compose | None = None
        self._composed: dict[str, tuple[int, str]] = {}
        self._subwords = Subwords.of(artifact) if table == "input" else None
        if self._subwords is not None:
            self.compose, self._others = self._compose, np.empty((0, self.shape[1]), np.float32)
            self._shrink = np.ones(self.shape[1])
        if artifact.documents is not None and artifact.labels is not None:
            self._folding(artifact, artifact.labels, table == "documents")

    def _folding(self, artifact: Vectors, labels: Words, of_documents: bool) -> None:
        """Name documents by their labels, and let words and documents ask for each other.

        Without singular values (after ``transform``) nothing can be folded in: documents know documents only.
        """
        called = heads(labels)
        if of_documents:
            self.words, self.names = labels, called
        if artifact.singular_values is None:
            return
        s = np.asarray(artifact.singular_values)
        self._shrink = np.divide(1, s, out=np.zeros(len(s)), where=s > 0)
        if of_documents:
            self.also, self._others = artifact.words, artifact.vectors
        else:
            self.also, self._others = called, artifact.documents

    def _compose(self, word: str) -> tuple[int, str]:
        """Return the new row of a word composed of its n-grams and what to say of it; -1 and why if there is none."""
        if word not in self._composed and self._subwords is not None:
            vector, note = self._subwords.unseen(word)
            row = -1
            if vector is not None:
                row = self.shape[0] + len(self._others)
                self._others = np.concatenate([self._others, self._sound([vector[None]])])
            self._composed[word] = row, note
        return self._composed[word]

    def take(self, rows: Ints | slice) -> NDArray[np.float32]:
        """Return the given rows; a float32 array, mapped or copied.

        Raises InputError if they hold a number that is not finite.
        """
        return self._sound([table[rows] for table in self._tables])

    def _folded(self, rows: Ints) -> Floats:
        """Return the given rows in float64; those of ``also`` are folded in."""
        folded = rows >= self.shape[0]
        if not folded.any():
            return self.take(rows).astype(np.float64)
        points = np.empty((len(rows), self.shape[1]))
        points[~folded] = self.take(rows[~folded])
        points[folded] = self._sound([self._others[rows[folded] - self.shape[0]]]) * self._shrink
        return points

    def _sound(self, parts: Sequence[NDArray[np.float32]]) -> NDArray[np.float32]:
        """Return the sum of rows of one or two tables. Raises InputError if it is not finite."""
        block = _added(parts)
        self._check(block)
        return block

    def _check(self, block: NDArray[np.float32]) -> None:
        """Raise InputError if a block holds a number that is not finite."""
        if not np.isfinite(block.sum(dtype=np.float64)) and not np.isfinite(block).all():
            raise InputError(f"{self.name}: damaged: it holds numbers that are not finite; make the file again")

    def spans(self, limit: int) -> Iterator[tuple[int, int]]:
        """Yield the blocks (start, stop) that cover the first ``limit`` rows; they depend on nothing else."""
        rows = min(ROWS, max(NUMBERS // max(self.shape[1], 1), 64))
        for start in range(0, limit, rows):
            yield start, min(start + rows, limit)

    def probes(self, sums: Sequence[Sum], unit: bool) -> list[Floats]:
        """Return signed sums of rows, each (d,); with ``unit`` each row at length 1 first (a zero row stays zero)."""
        if not sums:
            return []
        vectors = self._folded(np.concatenate([rows for _, rows in sums]))
        if unit:
            norms = np.linalg.norm(vectors, axis=1, keepdims=True)
            vectors /= np.where(norms > 0, norms, 1)
        vectors *= np.concatenate([signs for signs, _ in sums])[:, None]
        starts = np.cumsum([0, *(len(rows) for _, rows in sums[:-1])])
        return list(np.add.reduceat(vectors, starts, axis=0))

    def length(self, probe: Floats) -> float:
        """Return the length of a probe."""
        return float(np.sqrt((probe * probe).sum()))

    def mean(self) -> Floats:
        """Return the mean of all rows as they stand, (d,)."""
        total = np.zeros(self.shape[1])
        for start, stop in self.spans(self.shape[0]):
            total += self.take(slice(start, stop)).sum(0, dtype=np.float64)
        return total / max(self.shape[0], 1)

    def stack(self, probes: Sequence[Floats]) -> Floats:
        """Return probes in the form that blocks score against: (probes, d)."""
        return np.stack(probes)

    def block(self, start: int, stop: int) -> DenseBlock:
        """Return rows start..stop, ready to be scored; composed ones too, apart from the others."""
        if start >= self.shape[0]:
            return DenseBlock(self._others[start - self.shape[0] : stop - self.shape[0]])
        for table in self._tables:
            ahead(table, start + _AHEAD * (stop - start), stop + _AHEAD * (stop - start))
        return DenseBlock(_added([table[start:stop] for table in self._tables]), self._check)

    def done(self, start: int, stop: int) -> None:
        """Give the pages of rows start..stop back to the system, if the table is a large one."""
        for table in self._tables:
            if start < len(table) and table.nbytes >= _LARGE:
                # the system maps pages around those that are touched, so some of the block before came back
                release(table, max(start - _AROUND * len(table) // table.nbytes, 0), stop)


def _added(parts: Sequence[NDArray[np.float32]]) -> NDArray[np.float32]:
    """Return the sum of rows of one or two tables."""
    first, *more = parts
    return first + more[0] if more else first


class DenseBlock:
    """Some rows of a table: as they stand, (n, d), and once they are asked for at unit length."""

    def __init__(self, raw: NDArray[np.float32], check: Callable[[NDArray[np.float32]], None] = lambda _: None) -> None:
        self.raw, self._check = raw, check
        self._units: dict[bool, tuple[NDArray[np.floating], Ints]] = {}

    def score(self, probes: Floats, metric: str, fine: bool = False) -> Scored:
        """Score the rows for probes (p, d): cosine, dot product, or minus the squared distance.

        The cosine of a zero row is -inf: a row without direction is no neighbor. ``fine`` asks for float64 throughout.
        """
        near, slack = {"cosine": self._cosine, "dot": self._dot, "euclidean": self._distance}[metric](probes, fine)

        def exact(queries: Ints, rows: Ints) -> Floats:
            scores = np.empty(len(rows))
            step = max(NUMBERS // max(self.raw.shape[1], 1), 64)
            for at in range(0, len(rows), step):
                part = slice(at, at + step)
                scores[part] = exact_scores(self.raw[rows[part]].astype(np.float64), probes[queries[part]], metric)
            return scores

        return Scored(near, slack, exact)

    def _cosine(self, probes: Floats, fine: bool) -> tuple[NDArray[np.floating], Floats]:
        """Return the cosines and their possible error: a sum of d float32 products is off by d times 6e-8 at most."""
        slack = np.full((len(probes), 1), 1e-12 if fine else 1e-6 + 6e-8 * probes.shape[1])
        norms = np.linalg.norm(probes, axis=1, keepdims=True)
        units = probes / np.where(norms > 0, norms, 1)
        if not fine and not self._units and len(probes) <= _FEW:
            near = self._few(units.astype(np.float32))
            if near is not None:
                return near, slack
        if fine not in self._units:
            self._check(self.raw)
            self._units[fine] = unit_rows(self.raw, np.float64 if fine else np.float32)
        rows, zero = self._units[fine]
        near = units.astype(rows.dtype) @ rows.T
        near[:, zero] = -np.inf
        return near, slack

    def _few(self, units: NDArray[np.float32]) -> NDArray[np.float32] | None:
        """Return the cosines of a few probes of unit length: one look at each row, while it is in the cache.

        None if a square leaves the range of float32, a number is not finite, or the rows are float64.
        """
        n, dim = self.raw.shape
        if self.raw.dtype != np.float32:
            return None
        squares, dots = np.empty(n, np.float32), np.empty((len(units), n), np.float32)
        step = max(_NEAR // max(dim, 1), 1)
        for at in range(0, n, step):
            part = self.raw[at : at + step]
            np.einsum("ij,ij->i", part, part, out=squares[at : at + step])
            with np.errstate(over="ignore", invalid="ignore"):  # then a square is out of range, and none of it is used
                np.matmul(units, part.T, out=dots[:, at : at + step])
        if not _in_range(squares):
            return None
        dots /= np.sqrt(squares)
        return dots

    def _dot(self, probes: Floats, fine: bool) -> tuple[NDArray[np.floating], Floats]:
        self._check(self.raw)
        raw = self.raw.astype(np.float64)
        most = np.sqrt((raw * raw).sum(1).max())
        return probes @ raw.T, 4e-16 * (raw.shape[1] + 4) * most * np.linalg.norm(probes, axis=1, keepdims=True)

    def _distance(self, probes: Floats, fine: bool) -> tuple[NDArray[np.floating], Floats]:
        self._check(self.raw)
        raw = self.raw.astype(np.float64)
        lengths, own = (raw * raw).sum(1), (probes * probes).sum(1)[:, None]
        near = 2 * (probes @ raw.T) - lengths - own
        return near, 2e-15 * (raw.shape[1] + 8) * (lengths.max() + own)


def unit_rows(raw: NDArray[np.float32], dtype: type = np.float32) -> tuple[NDArray[np.floating], Ints]:
    """Return the rows at length 1 and the numbers of the zero rows, which stay zero.

    Squares of very long or short rows leave the range of float32; such blocks are scaled in float64.
    """
    squares = np.einsum("ij,ij->i", raw, raw)
    if dtype is np.float32 and _in_range(squares):
        return raw / np.sqrt(squares)[:, None], np.zeros(0, np.int64)
    wide = raw.astype(np.float64)
    norms = np.linalg.norm(wide, axis=1, keepdims=True)
    wide /= np.where(norms > 0, norms, 1)
    return wide.astype(dtype), np.flatnonzero(norms[:, 0] == 0)


def _in_range(squares: NDArray[np.floating]) -> bool:
    """Return whether sums of squares, there is one at least, are as exact as float32 can be; none is NaN then."""
    return bool(len(squares) and squares.min() > 1e-28 and squares.max() < 1e28)


def exact_scores(rows: Floats, probes: Floats, metric: str) -> Floats:
    """Return the scores of pairs, row by row, so that equal rows have equal scores wherever they stand."""
    if metric == "euclidean":
        distances: Floats = ((rows - probes) ** 2).sum(1)
        return -distances
    dots: Floats = (rows * probes).sum(1)
    if metric == "cosine":
        dots /= np.sqrt((rows * rows).sum(1) * (probes * probes).sum(1))
    return dots
