"""Join words that stand together into phrases, pass by pass: word2phrase (Mikolov et al. 2013, section 4).

Between reading and choosing a vocabulary: ids on disk become other ids on disk, and the census gets the joined types.
The phrases of a vocabulary that is given are joined by ``knownphrases``.

The score of a pair is (n(ab) - discount) / (n(a) n(b)) * N, where N is the number of words that the pass reads, as in
word2phrase. (gensim's ``original_scorer`` has the number of distinct words and pairs in place of N, so the same
threshold means less there.) A word rarer than the minimum is in no phrase. Pairs are joined left to right; a joined
pair is a word of the next pass, not of this one, so that N passes find phrases of up to 2^N words. Unlike word2phrase,
whose counts (not its joinings) take the last word of a line and the first of the next for a pair, and which forgets
rare pairs when its hash table fills up, no pair reaches over the end of a row and every count is exact.

Memory: the types, and one group of pairs a thread; what is counted lies on disk, grouped by a hash of the pair.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embcli.artifacts.schema import Words
from embcli.artifacts.spill import Spill
from embcli.job import Job
from embcli.kernels.phrases import NOBODY, WAITING, join, pairs
from embcli.text.scan import Piece, Scan
from embcli.text.vocab import Census

#: what stands between the words of a phrase
JOINER = "_"
#: how many of the highest-scoring phrases of a pass are recorded
TOP = 100
#: pairs that one group should hold, and the most groups there are (as a power of two)
_GROUP, _MOST_BITS = 1 << 18, 8
_HALF, _LOW = np.uint64(32), np.uint64(0xFFFFFFFF)


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


def join_phrases(found: Scan, census: Census, passes: int, how: Scoring, job: Job) -> tuple[Scan, dict[str, Any]]:
    """Return the words of a scan with phrases joined, and the figures of the report.

    Parameters
    ----------
    found : a scan with ids on disk; its ids are used up.
    census : its types; gets the joined ones, and the counts of the joined text. A phrase that is spelled like a word
        of the text, or like another phrase, is one type with it.
    passes : how often the text is gone through; a pass that joins nothing is the last.
    how : which pairs are phrases.
    """
    words, reached = int(census.table.counts.sum()), np.zeros(0, np.uint32)
    record: list[dict[str, Any]] = []
    while words and len(record) < passes:
        read = int(census.table.counts.sum())
        table = _scored(found, census, how, read, job)
        found = _joined(found, census, table, job)
        record.append(_report(census, table, read))
        reached = np.union1d(reached, table.joined[table.times > 0])
        if not table.times.any():
            break
    joins = sum(each["joins"] for each in record)
    return found, {"words_read": words, "phrases": len(reached), "joins": joins, "passes": record}


def _scored(found: Scan, census: Census, how: Scoring, words: int, job: Job) -> Table:
    """Return the pairs of a text of so many ``words`` that are phrases."""
    bits = min(max((words // _GROUP).bit_length(), 1), _MOST_BITS)
    spill, bounds = _grouped(found, census, _able(census.table.counts, how, words), bits, job)
    counts = census.table.counts.astype(np.float64)

    def work(group: int) -> tuple[NDArray[np.uint64], NDArray[np.int64], NDArray[np.float64]]:
        parts = [spill.read(b[group], b[group + 1]) for b in bounds if b[group] < b[group + 1]]
        keys = np.sort(np.concatenate([np.zeros(0, np.uint64), *parts]))
        begins = np.flatnonzero(np.append(True, keys[1:] != keys[:-1])[: len(keys)])
        n = np.diff(np.append(begins, len(keys)))
        keys, n = keys[begins][n >= how.min_count], n[n >= how.min_count]
        scores = (n - how.discount) / (counts[keys >> _HALF] * counts[keys & _LOW]) * words
        some = scores > how.threshold
        return keys[some], n[some], scores[some]

    columns = [np.concatenate(column) for column in zip(*job.map(work, range(1 << bits)), strict=True)]
    order = np.argsort(columns[0])
    keys, n, scores = (column[order] for column in columns)
    first, second = (keys >> _HALF).astype(np.uint32), (keys & _LOW).astype(np.uint32)
    joined = [a + JOINER.encode() + b for a, b in zip(_bytes(census, first), _bytes(census, second), strict=True)]
    return Table(first, second, census.add_words(Words.of(joined)), n, scores)


def _able(counts: NDArray[np.uint64], how: Scoring, words: int) -> NDArray[np.bool_]:
    """Return which types can be in a phrase at all.

    A pair is as frequent as its rarer word at most, so that a word that occurs n times scores (n - discount) N / n^2 at
    best; this leaves out the most frequent words, and with them most pairs.
    """
    n = np.maximum(counts.astype(np.float64), 1)
    best = (n - how.discount) / n / n * words
    able: NDArray[np.bool_] = (counts >= how.min_count) & (counts > 0) & (best * (1 + 1e-9) > how.threshold)
    return able


def _grouped(
    found: Scan, census: Census, able: NDArray[np.bool_], bits: int, job: Job
) -> tuple[Spill, list[list[int]]]:
    """Return the pairs of able words on disk, and for each piece of the text where the groups begin and end there."""
    spill, bounds = Spill(np.uint64, job.scratch), []
    names = census.numbers

    def work(item: tuple[Piece, int]) -> tuple[NDArray[np.uint64], NDArray[np.int64], int]:
        piece, before = item
        keys, begins = np.empty((2, len(piece.ids)), np.uint64), np.zeros((1 << bits) + 1, np.int64)
        n = pairs(piece.ids, names[piece.lane], able, piece.ends, before, bits, keys[0], keys[1], begins)
        return keys[1, : int(n)], begins, len(piece.ids)

    at = 0
    for keys, begins, size in job.map(work, _with_neighbor(found, names)):
        bounds.append((begins + len(spill)).tolist())
        spill.append(keys)
        at += size
        job.progress(at, 0, "words")
    return spill, bounds


def _with_neighbor(found: Scan, names: list[NDArray[np.uint32]]) -> Iterator[tuple[Piece, Any]]:
    """Yield the pieces of a text, each with the type that stands before it in its row, or NOBODY."""
    before = NOBODY
    for piece in found.pieces():
        yield piece, before
        ended = len(piece.ends) and piece.ends[-1] == len(piece.ids)
        before = NOBODY if ended else names[piece.lane][piece.ids[-1]]


def _joined(found: Scan, census: Census, table: Table, job: Job) -> Scan:
    """Return the text with the pairs of the table joined; census and table get the counts."""
    starts = np.searchsorted(table.first, np.arange(len(census.table) + 1)).astype(np.uint32)

    def blocks() -> Iterator[tuple[NDArray[np.uint32], NDArray[np.int64]]]:
        state = np.zeros(2, np.int64)
        state[WAITING] = NOBODY
        for piece in found.pieces():
            out, places = np.empty(len(piece.ids) + 1, np.uint32), np.empty(len(piece.ends), np.int64)
            names = census.numbers[piece.lane]
            n = join(
                piece.ids, names, piece.ends, starts, table.second, table.joined, table.times, state, out, places
            )  # fmt: skip
            yield out[: int(n)], places

    made = rewritten(found, census, blocks(), job)
    counts, times = census.table.counts, table.times.astype(np.uint64)
    np.subtract.at(counts, table.first, times)
    np.subtract.at(counts, table.second, times)
    np.add.at(counts, table.joined, times)
    return made


def rewritten(
    found: Scan, census: Census, blocks: Iterable[tuple[NDArray[np.uint32], NDArray[np.int64]]], job: Job
) -> Scan:
    """Return a scan of other ids in place of one, whose ids are given up; the new ones are types of the census.

    blocks : ids, and for each end of a row how many ids stand before it, in order.
    """
    assert found.ids is not None and found.ends is not None
    ids, ends = Spill(np.uint32, job.scratch), Spill(np.int64, job.scratch)
    for some, places in blocks:
        ids.append(some)
        ends.append(places)
        job.progress(len(ids), 0, "words")
    found.ids.close()
    found.ends.close()
    census.numbers = [np.arange(len(census.table), dtype=np.uint32)]
    return Scan(found.rows, ids, ends, parts=[(0, len(ids))])


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
