"""Rows of character n-grams in the input table of fastText: which buckets have one, and of which a word is the mean.

The table holds the rows of V words and then one row for each bucket that a word of the vocabulary uses, by bucket. What
n-grams and buckets are: text/ngrams.py. Without n-grams (word2vec) every word is its own row.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from embcli.artifacts.schema import Words
from embcli.models.training_plan import Lists
from embcli.spec import FastTextParams, Word2vecParams
from embcli.text.ngrams import vocabulary_ngrams

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class NgramRows:
    """The rows behind those of the words.

    words : V.  buckets : int64 (n,), ascending; bucket i has row V + i.  lists : rows of each word, its own the first.
    """

    words: int
    buckets: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    lists: Lists = Lists()  # noqa: RUF009

    def __len__(self) -> int:
        return self.words + len(self.buckets)

    @classmethod
    def of(cls, words: Words, params: Word2vecParams, known: Ints | None = None) -> NgramRows:
        """Return the rows for a vocabulary; buckets of ``known`` have one too, whether a word uses them or not."""
        V = len(words)
        if not isinstance(params, FastTextParams):
            return cls(V)
        offsets, found = vocabulary_ngrams(words, params.min_n, params.max_n, params.buckets)
        used, place = np.unique(found, return_inverse=True)
        buckets: Ints = used.astype(np.int64)
        if known is not None:
            every = np.union1d(buckets, known)
            place, buckets = np.searchsorted(every, buckets)[place], every
        if not len(found):
            return cls(V, buckets)
        rows = np.empty(V + len(found), np.int32)
        inside = np.ones(len(rows), np.bool_)
        starts = offsets + np.arange(V + 1)
        inside[starts[:-1]] = False
        rows[starts[:-1]], rows[inside] = np.arange(V), V + place
        return cls(V, buckets, Lists.of(starts, rows))
