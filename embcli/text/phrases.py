"""Which words that stand together are phrases, pass by pass: word2phrase (Mikolov et al. 2013, section 4).

Between reading and choosing a vocabulary: the ids of the text become other ids, and the census gets the joined types.
How a text on disk is counted and joined is joining.py; the phrases of a vocabulary that is given are joined by
``knownphrases``.

The score of a pair is (n(ab) - discount) / (n(a) n(b)) * N, where N is the number of words that the pass reads, as in
word2phrase. (gensim's ``original_scorer`` has the number of distinct words and pairs in place of N, so the same
threshold means less there.) A word rarer than the minimum is in no phrase. Pairs are joined left to right; a joined
pair is a word of the next pass, not of this one, so that N passes find phrases of up to 2^N words. Unlike word2phrase,
whose counts (not its joinings) take the last word of a line and the first of the next for a pair, and which forgets
rare pairs when its hash table fills up, no pair reaches over the end of a row and every count is exact.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from embcli.artifacts.schema import Words
from embcli.text.vocab import Census

#: what stands between the words of a phrase
JOINER = "_"
#: how many of the highest-scoring phrases of a pass are recorded
TOP = 100
_HALF, _LOW = np.uint64(32), np.uint64(0xFFFFFFFF)


#: pairs as first type * 2^32 + second, how often each occurs, and its score
Pairs = tuple[NDArray[np.uint64], NDArray[np.int64], NDArray[np.float64]]


@dataclass(frozen=True)
class Scoring:
    """Which pairs are phrases: those of words that occur ``min_count`` times, with a score above ``threshold``."""

    min_count: int
    threshold: float
    discount: float


@dataclass
class Table:
    """Pairs to join, sorted: numbers of the first, the second and the joined type, uint32.

    counts, scores : how often the pair occurs, int64, and its score, float64.
    times : int64, how often each pair was joined in the pass so far.
    """

    first: NDArray[np.uint32]
    second: NDArray[np.uint32]
    joined: NDArray[np.uint32]
    counts: NDArray[np.int64]
    scores: NDArray[np.float64]
    times: NDArray[np.int64] = field(init=False)

    def __post_init__(self) -> None:
        self.times = np.zeros(len(self.first), np.int64)

    def starts(self, types: int) -> NDArray[np.uint32]:
        """Return where the pairs that begin with each of so many types begin, and the end."""
        return np.searchsorted(self.first, np.arange(types + 1)).astype(np.uint32)


class Text(Protocol):
    """A text whose ids are numbers of types of a census, wherever it lies."""

    def pairs(self, able: NDArray[np.bool_], how: Scoring, words: int) -> Iterable[Pairs]:
        """Return the pairs of ``able`` types that are phrases in a text of so many words, each pair once."""

    def join(self, table: Table) -> None:
        """Join the pairs of a table in the text, and fill ``times``."""


def run_passes(text: Text, census: Census, passes: int, how: Scoring, besides: int = 0) -> dict[str, Any]:
    """Join phrases in a text; return the figures of the report.

    Parameters
    ----------
    census : its types; gets the joined ones, and the counts of the joined text. A phrase that is spelled like a word
        of the text, or like another phrase, is one type with it.
    passes : how often the text is gone through; a pass that joins nothing is the last.
    how : which pairs are phrases.
    besides : words of types that are not in the census, since they are too rare.
    """
    words, reached = int(census.table.counts.sum()) + besides, np.zeros(0, np.uint32)
    record: list[dict[str, Any]] = []
    while words and len(record) < passes:
        read = int(census.table.counts.sum()) + besides
        table = _table(census, [*text.pairs(_able(census.table.counts, how, read), how, read)])
        text.join(table)
        _count_joined(census, table)
        record.append(_report(census, table, read))
        reached = np.union1d(reached, table.joined[table.times > 0])
        if not table.times.any():
            break
    joins = sum(each["joins"] for each in record)
    return {"words_read": words, "phrases": len(reached), "joins": joins, "passes": record}


def counted(keys: NDArray[np.uint64]) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Return the different keys, ascending, and how often each of them occurs."""
    keys = np.sort(keys)
    begins = np.flatnonzero(np.append(True, keys[1:] != keys[:-1])[: len(keys)])
    return keys[begins], np.diff(np.append(begins, len(keys)))


def scored(
    keys: NDArray[np.uint64], n: NDArray[np.int64], counts: NDArray[np.uint64], how: Scoring, words: int
) -> Pairs:
    """Return which pairs are phrases: first type * 2^32 + second, of which each occurs n times; counts are by type."""
    keys, n = keys[n >= how.min_count], n[n >= how.min_count]
    first, second = (counts[part].astype(np.float64) for part in (keys >> _HALF, keys & _LOW))
    scores = (n - how.discount) / (first * second) * words
    some = scores > how.threshold
    return keys[some], n[some], scores[some]


def _table(census: Census, found: Sequence[Pairs]) -> Table:
    """Return the table of some pairs; the census gets their types."""
    columns = [np.concatenate(column) for column in zip(*found, strict=True)]
    order = np.argsort(columns[0])
    keys, n, scores = (column[order] for column in columns)
    first, second = (keys >> _HALF).astype(np.uint32), (keys & _LOW).astype(np.uint32)
    joined = [a + JOINER.encode() + b for a, b in zip(_bytes(census, first), _bytes(census, second), strict=True)]
    return Table(first, second, census.add_words(Words.of(joined)), n, scores)


def _count_joined(census: Census, table: Table) -> None:
    """Bring the counts of the census up to date after pairs were joined."""
    counts, times = census.table.counts, table.times.astype(np.uint64)
    np.subtract.at(counts, table.first, times)
    np.subtract.at(counts, table.second, times)
    np.add.at(counts, table.joined, times)


def _able(counts: NDArray[np.uint64], how: Scoring, words: int) -> NDArray[np.bool_]:
    """Return which types can be in a phrase at all.

    A pair is as frequent as its rarer word at most, so that a word that occurs n times scores (n - discount) N / n^2 at
    best; this leaves out the most frequent words, and with them most pairs.
    """
    n = np.maximum(counts.astype(np.float64), 1)
    best = (n - how.discount) / n / n * words
    able: NDArray[np.bool_] = (counts >= how.min_count) & (counts > 0) & (best * (1 + 1e-9) > how.threshold)
    return able


def _bytes(census: Census, numbers: NDArray[Any]) -> list[bytes]:
    """Return types as bytes."""
    data, begins = census.table.types.data.data, census.table.begins
    spans = zip(begins[numbers].tolist(), begins[numbers + np.uint32(1)].tolist(), strict=True)
    return [bytes(data[a:b]) for a, b in spans]


def _report(census: Census, table: Table, words: int) -> dict[str, Any]:
    """Return the figures of one pass. ``top``: phrase, score, how often the pair occurs, how often it was joined."""
    some = np.flatnonzero(table.times)
    figures = {"words": words, "phrases": len(np.unique(table.joined[some])), "joins": int(table.times.sum())}
    least = np.sort(table.scores[some])[-TOP:][:1]
    best = some[table.scores[some] >= least] if len(some) else some
    texts = [text.decode() for text in _bytes(census, table.joined[best])]
    rows = zip(texts, table.scores[best].tolist(), table.counts[best].tolist(), table.times[best].tolist(), strict=True)
    return figures | {
        "top": [list(row) for row in sorted(rows, key=lambda row: (-row[1], row[0].encode(), row[2:]))[:TOP]]
    }
