"""From the types that the lanes counted to a vocabulary: fold, merge, choose, order. Costs nothing per token."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embcli.artifacts.schema import Words
from embcli.kernels.typetable import gather, prefixes
from embcli.text.cutting import Lane
from embcli.text.typetable import TypeTable
from embcli.text.unicode import lower

#: name of a type that closes its gap
DROPPED = np.uint32(0xFFFFFFFF)


@dataclass
class Census:
    """All types of a corpus with their counts, and for each lane the number of each of its types here."""

    table: TypeTable = field(default_factory=TypeTable)
    numbers: list[NDArray[np.uint32]] = field(default_factory=list)

    def add_words(self, words: Words) -> NDArray[np.uint32]:
        """Add words with count 0 and return their numbers; an empty one, which no text holds, gets ``DROPPED``."""
        begins, sizes = words.offsets[:-1].astype(np.uint64), np.diff(words.offsets).astype(np.uint64)
        numbers, some = np.full(len(words), DROPPED), sizes > 0
        numbers[some] = self.table.add(words.data, begins[some], sizes[some], np.zeros(int(some.sum()), np.uint64))
        return numbers

    def add_lane(self, lane: TypeTable, fold: bool) -> None:
        """Add a lane's types, in lower case if ``fold``. The lane is used up."""
        n, begins = len(lane), lane.begins.copy()
        data = lane.types.data[: int(begins[n])]
        sizes, counts = np.diff(begins), lane.counts.copy()
        if not fold or n == 0:
            self.numbers.append(self.table.add(data, begins[:-1], sizes, counts))
            return
        plain = np.bitwise_or.reduceat(data, begins[:-1].astype(np.intp)) < 0x80
        capital = (data >= ord("A")) & (data <= ord("Z"))
        folded, starts, folded_sizes = _fold(data, begins, ~plain)
        data[capital] += ord("a") - ord("A")
        numbers = np.empty(n, np.uint32)
        numbers[plain] = self.table.add(data, begins[:-1][plain], sizes[plain], counts[plain])
        numbers[~plain] = self.table.add(folded, starts, folded_sizes, counts[~plain])
        self.numbers.append(numbers)


def _fold(
    data: NDArray[np.uint8], begins: NDArray[np.uint64], some: NDArray[np.bool_]
) -> tuple[NDArray[np.uint8], NDArray[np.uint64], NDArray[np.uint64]]:
    """Return some of the types in lower case: bytes, begins and sizes.

    One call for all of them: they are joined by line ends, which end the context of a letter as a word's end does.
    """
    raw = data.tobytes()
    spans = zip(begins[:-1][some].tolist(), begins[1:][some].tolist(), strict=True)
    low = np.frombuffer(lower(b"".join([raw[a:b] + b"\n" for a, b in spans]).decode()).encode(), np.uint8)
    ends = np.flatnonzero(low == ord("\n")).astype(np.uint64)
    starts = np.zeros(len(ends), np.uint64)
    starts[1:] = ends[:-1] + np.uint64(1)
    return low, starts, ends - starts


@dataclass
class Vocabulary:
    """What was chosen.

    words, unigram : the types in their final order, and how often each one occurs.
    names : uint32, for each type of the census its final id, ``DROPPED`` or the id of ``--unk``.
    stats : the figures of the report that concern types.
    """

    words: Words
    unigram: NDArray[np.int64]
    names: NDArray[np.uint32]
    stats: dict[str, Any]


@dataclass(frozen=True)
class Rest:
    """Dropped types that are in no census, because they were left out where they were counted."""

    types: int = 0
    tokens: int = 0
    highest: int = 0


def choose(
    census: Census, min_count: int, most: int | None, unk: str | None, given: Words | None, rest: Rest = Rest()
) -> Vocabulary:
    """Return the vocabulary: the words ``given``, or the ``most`` frequent ones that occur ``min_count`` times or more.

    Ordered by count, descending, ties by UTF-8 bytes; ``given`` words keep their order. Dropped words become the word
    ``unk``, if there is one. It exists if anything was dropped, or if words were given (then behind them, unless it is
    one of them); its count is that of the dropped words and its own; ``most`` does not count it. ``rest`` are dropped
    words besides those of the census.
    """
    fixed = census.add_words(given) if given is not None else None
    token = int(census.add_words(Words.of([unk]))[0]) if unk is not None else -1
    table, counts = census.table, census.table.counts.astype(np.int64)
    if fixed is None:
        best = np.flatnonzero(counts >= min_count)
        best = best if most is None else _by_count(table, counts, best)[:most]
    else:
        best = fixed[fixed != DROPPED].astype(np.intp)
    kept = np.zeros(len(counts), np.bool_)
    kept[best] = True
    stats, dropped = _figures(counts, kept, rest), ~kept
    if token >= 0 and (fixed is not None or stats["tokens_kept"] < stats["tokens_read"]):
        counts[token] = counts[dropped].sum() + rest.tokens + (counts[token] if kept[token] else 0)
        kept[token] = True
    else:
        token = -1
    names = np.full(len(counts), DROPPED)
    if given is None or fixed is None:
        order = _by_count(table, counts, np.flatnonzero(kept))
        words, unigram = words_of(table, order), counts[order]
        names[order] = np.arange(len(order), dtype=np.uint32)
    else:
        if token >= 0 and token not in fixed:
            given = Words.of([*map(given.bytes_at, range(len(given))), str(unk)])
            fixed = np.append(fixed, np.uint32(token))
        words, unigram = given, np.zeros(len(given), np.int64)
        found = np.flatnonzero(fixed != DROPPED)[::-1]  # of equal words the first one is meant
        names[fixed[found]] = found
        unigram[names[kept]] = counts[kept]
    if token >= 0:
        names[dropped] = names[token]
    return Vocabulary(words, unigram, names, stats)


def _figures(counts: NDArray[np.int64], kept: NDArray[np.bool_], rest: Rest) -> dict[str, Any]:
    """Return how many tokens and types were read and kept, and the highest counts."""
    read = int(np.count_nonzero(counts)) + rest.types
    left = int(np.count_nonzero(counts[kept]))
    return {
        "tokens_read": int(counts.sum()) + rest.tokens,
        "tokens_kept": int(counts[kept].sum()),
        "types_read": read,
        "types_kept": left,
        "types_dropped": read - left,
        "highest_count": max(int(counts.max(initial=0)), rest.highest),
        "highest_dropped": max(int(counts[~kept].max(initial=0)), rest.highest),
    }


def _by_count(table: TypeTable, counts: NDArray[np.int64], some: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the numbers ``some``, ordered by count, descending; ties by bytes."""
    begins, sizes = _places(table, some)
    keys = np.empty((2, len(some)), np.uint64)
    for i, row in enumerate(keys):
        prefixes(table.types.data, begins, sizes, 8 * i, row)
    by = np.lexsort((keys[1], keys[0], -counts[some]))
    tied = np.zeros(len(some), np.bool_)  # with the one before, as far as 16 bytes tell
    same = (keys[:, by[1:]] == keys[:, by[:-1]]).all(axis=0)
    tied[1:] = same & (counts[some][by[1:]] == counts[some][by[:-1]])
    edges = np.flatnonzero(np.diff(np.append(tied, False).astype(np.int8)))
    for first, last in edges.reshape(-1, 2).tolist():
        run = by[first : last + 1]
        run[:] = sorted(run.tolist(), key=lambda i: _bytes(table, int(begins[i]), int(sizes[i])))
    return some[by]


def _places(table: TypeTable, some: NDArray[np.intp]) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Return where the bytes of types begin and how many they are."""
    begins = table.begins
    return begins[some], begins[some + 1] - begins[some]


def _bytes(table: TypeTable, begin: int, size: int) -> bytes:
    return table.types.data[begin : begin + size].tobytes()


def words_of(table: TypeTable, order: NDArray[np.intp] | None = None) -> Words:
    """Return types, all of them if no ``order`` is given, as words of their own."""
    order = np.arange(len(table)) if order is None else order
    begins, sizes = _places(table, order)
    offsets = np.zeros(len(order) + 1, np.int64)
    np.cumsum(sizes, out=offsets[1:])
    data = np.empty(int(offsets[-1]), np.uint8)
    gather(table.types.data, begins, sizes, data)
    return Words(data, offsets)


def merge(lanes: list[Lane], fold: bool) -> Census:
    """Return the types of all lanes together. The lanes are used up, and the list is empty then."""
    census = Census()
    while lanes:
        census.add_lane(lanes.pop(0).table, fold)
    return census
