"""Vectors of words as the mean of their own row and the rows of their character n-grams (fastText), seen or unseen.

The n-grams themselves: text/ngrams.py. Nothing here trains.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from embcli.artifacts.schema import Vectors, Words
from embcli.query.lookup import find
from embcli.text.ngrams import Fragment, blocks_of_ngrams, fragments

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Table = NDArray[np.float32]
#: numbers gathered at a time
_NUMBERS = 1 << 22


@dataclass(frozen=True)
class Spelled:
    """A word in n-grams: its row in the vocabulary (-1: unseen), its fragments, and the row of each (-1: zeros)."""

    word: str
    row: int
    parts: tuple[Fragment, ...]
    rows: tuple[int, ...]
    vector: Table


class Subwords:
    """The rows of words and n-grams of an artifact, and the vectors that they make."""

    def __init__(self, made: Vectors) -> None:
        self._made = made
        self.min_n, self.max_n, self.buckets = (int(made.options[name]) for name in ("min_n", "max_n", "buckets"))

    @classmethod
    def of(cls, made: Vectors) -> Subwords | None:
        """Return the n-grams of an artifact, None if it has none."""
        return cls(made) if made.ngram_rows is not None else None

    def rows_of(self, buckets: Ints) -> Ints:
        """Return where the rows of buckets stand in ``ngram_rows``, -1 for a bucket that is not stored."""
        return places(self._made.ngram_buckets, buckets)

    def spell(self, word: str) -> Spelled:
        """Return a word's n-grams, their rows, and its vector float32 (d,): zeros if there is nothing to add up."""
        raw = word.encode("utf-8", "surrogateescape")
        parts = fragments(raw, self.min_n, self.max_n, self.buckets)
        rows = self.rows_of(np.array([part.bucket for part in parts], np.int64))
        row = find(self._made.words, [word]).get(word, -1)
        total: Floats = np.asarray(self._made.ngram_rows[rows[rows >= 0]], np.float64).sum(0)
        if row >= 0:
            total = total + np.asarray(self._made.word_rows[row], np.float64)
        vector = total / max(len(parts) + (row >= 0), 1)
        return Spelled(word, row, tuple(parts), tuple(rows.tolist()), vector.astype(np.float32))

    def unseen(self, word: str) -> tuple[Table | None, str]:
        """Return the vector of a word that the vocabulary lacks and what to say of it; or None and why there is none.

        A word without n-grams, or whose n-grams have no row, would have a vector of zeros, without a direction.
        """
        if not self.max_n:
            return None, "there are no n-grams to compose it of (--max-n 0)"
        spelled = self.spell(word)
        n, known = len(spelled.parts), sum(row >= 0 for row in spelled.rows)
        lengths = f"of {max(self.min_n, 1)} to {self.max_n} characters"
        if not n:
            return None, f"it has no n-grams {lengths} to be composed of"
        if not known or not spelled.vector.any():
            return None, f"none of its n-grams {lengths} ({n:,}) has a row to compose it of"
        less = f" ({n - known:,} of them zeros)" if known < n else ""
        return spelled.vector, f"composed of the rows of its {n:,} n-gram{'' if n == 1 else 's'}{less}"


def places(stored: Ints, wanted: Ints) -> Ints:
    """Return where each number stands in an ascending list, -1 if it does not."""
    if not len(stored):
        return np.full(len(wanted), -1)
    at = np.minimum(np.searchsorted(stored, wanted), len(stored) - 1)
    return np.where(np.asarray(stored)[at] == wanted, at, -1)


def composed(
    words: Words, rows: Callable[[int, int], Table], table: Table, place: Callable[[Ints], Ints],
    lengths: tuple[int, int], buckets: int,
) -> Iterator[Table]:  # fmt: skip
    """Yield the vectors of all words of a vocabulary, block by block: float32 (n, d).

    Parameters
    ----------
    words
        As the n-grams are taken from them; they need not be UTF-8.
    rows
        Called with (start, stop): the words' own rows, float32 (n, d).
    table, place
        Rows of n-grams, float32 (n, d), and from buckets to rows of it, -1 for a row of zeros.
    lengths, buckets
        min_n and max_n, and how many buckets there are.

    Notes
    -----
    v = (own row + sum of the rows of its n-grams) / (1 + number of its n-grams), summed in float64 (Bojanowski et al.
    2017, section 3.2, and the division of the published code).
    """
    start, width = 0, max(table.shape[1], 1)
    for counts, found in blocks_of_ngrams(words, *lengths, buckets):
        ends = np.concatenate([[0], np.cumsum(counts)])
        first = 0
        while first < len(counts):
            last = int(np.searchsorted(ends, ends[first] + _NUMBERS // width, "right")) - 1
            last = min(max(last, first + 1), first + max(_NUMBERS // width, 1), len(counts))
            own = rows(start + first, start + last).astype(np.float64)
            at = place(found[ends[first] : ends[last]].astype(np.int64))
            owner = np.repeat(np.arange(last - first), counts[first:last])
            _add_rows(own, table, at[at >= 0], owner[at >= 0])
            own /= (1 + counts[first:last])[:, None]
            yield own.astype(np.float32)
            first = last
        start += len(counts)


def _add_rows(total: Floats, table: Table, at: Ints, owner: Ints) -> None:
    """Add rows ``at`` of a table to the rows ``owner`` (ascending) of a sum, in place, some rows at a time."""
    step = max(_NUMBERS // max(table.shape[1], 1), 1)
    for begin in range(0, len(at), step):
        part = owner[begin : begin + step]
        starts = np.flatnonzero(np.diff(part, prepend=-1))
        total[part[starts]] += np.add.reduceat(table[at[begin : begin + step]], starts, axis=0, dtype=np.float64)
