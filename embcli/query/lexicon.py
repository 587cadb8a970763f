"""Which rows of a space the words of evaluation files mean: letter case, and a vocabulary cut to its frequent words.

See lookup.py and resolve.py for the words that a person asks for.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from embcli.artifacts.schema import Words
from embcli.query.lookup import find
from embcli.query.topk import Ints


class Lexicon:
    """The words that may be asked for and found.

    Parameters
    ----------
    words : the vocabulary.
    counts : int (V,), frequencies, or None where there are none: then the order of the rows counts.
    wanted : every word that will be asked for.
    fold : words match whatever their case, by Unicode's full case folding (ß is ss; the dotless ı is no i; the locale
        plays no part). Of several words with one folded form the most frequent one counts.
    restrict : only so many of the most frequent words exist, ties by row; None: all.

    ``limit`` is how many rows have to be looked at, ``allowed`` bool (limit,) says which of them, None for all.
    ``size`` is how many words exist.
    """

    def __init__(
        self, words: Words, counts: Ints | None, wanted: Iterable[str], fold: bool, restrict: int | None
    ) -> None:
        self.size = min(restrict or len(words), len(words))
        self.limit, self.allowed = self.size, None
        self.fold = fold
        self._places: NDArray[np.int64] | None = None
        if counts is not None and len(counts) and (np.diff(counts) > 0).any():
            order = np.argsort(-np.asarray(counts), kind="stable")
            self._places = np.empty(len(order), np.int64)
            self._places[order] = np.arange(len(order))
            if self.size < len(words):
                self.limit, self.allowed = len(words), self._places < self.size
        self._rows = self._folded(words, wanted) if fold else self._exact(words, wanted)

    def form(self, word: str) -> str:
        """Return what is compared of a word."""
        return word.casefold() if self.fold else word

    def rows(self, word: str) -> list[int]:
        """Return the rows that a word may mean, the most frequent first; empty if it is unknown."""
        return self._rows.get(self.form(word), [])

    def row(self, word: str) -> int:
        """Return the row of a word, -1 if it is unknown."""
        return next(iter(self.rows(word)), -1)

    def forget(self, row: int) -> None:
        """Make every word unknown that means this row first."""
        self._rows = {form: rows for form, rows in self._rows.items() if rows[0] != row}

    def _exact(self, words: Words, wanted: Iterable[str]) -> dict[str, list[int]]:
        found = find(words, set(wanted))
        return {word: [row] for word, row in found.items() if self._exists(row)}

    def _folded(self, words: Words, wanted: Iterable[str]) -> dict[str, list[int]]:
        forms = {word.casefold() for word in wanted}
        found: dict[str, list[int]] = {}
        for row, word in enumerate(islice(words, self.limit)):
            if (form := word.casefold()) in forms and self._exists(row):
                found.setdefault(form, []).append(row)
        if self._places is not None:
            for rows in found.values():
                rows.sort(key=self._places.__getitem__)
        return found

    def _exists(self, row: int) -> bool:
        return row < self.limit and (self.allowed is None or bool(self.allowed[row]))
