"""Join the phrases that a given vocabulary has (``--vocab``): the longest one that begins at a word, left to right.

The scores that made the vocabulary are not asked again. Joining pair by pair, as they were made, would miss phrases
whose parts are no words of the vocabulary, since they occur in the phrase only (united_arab_emirates): of the rows of
enwiki-2600k, encoded with their own vocabulary of two passes, 94.2 % came out equal; with the longest match 98.3 %.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embcli.artifacts.schema import Words
from embcli.job import Job
from embcli.kernels.phrases import longest
from embcli.query.lookup import find
from embcli.text.joining import rewritten
from embcli.text.phrases import JOINER
from embcli.text.scan import Scan
from embcli.text.vocab import Census

#: a word with more joiners than this is no phrase but a line of dots
_MOST_JOINERS = 32
_HALF, _LOW = np.uint64(32), np.uint64(0xFFFFFFFF)


def join_given(found: Scan, census: Census, passes: int, words: Words, job: Job) -> tuple[Scan, dict[str, Any]]:
    """Return the words of a scan with the phrases among ``words`` joined, and the figures of the report.

    Parameters
    ----------
    found : a scan with ids on disk; its ids are used up.
    census : its types; gets the joined ones, and the counts of the joined text.
    passes : those that made the vocabulary: a phrase has 2^passes words at most.
    """
    read = int(census.table.counts.sum())
    starts, seconds, joined, known = _paths(census, words)
    counts, times = np.zeros((2, len(census.table)), np.int64)

    def blocks() -> Iterator[tuple[NDArray[np.uint32], NDArray[np.int64]]]:
        state, rest = np.zeros(2, np.int64), np.zeros(0, np.uint32)
        for piece in found.pieces():
            types = np.concatenate([rest, census.numbers[piece.lane][piece.ids]])
            ends, out, places = piece.ends + len(rest), np.empty_like(types), np.empty_like(piece.ends)
            n, done = longest(
                types, ends, 1 << passes, starts, seconds, joined, known, counts, times, state, out, places
            )  # fmt: skip
            rest = types[int(done) :]
            yield out[: int(n)], places

    found = rewritten(found, census, blocks(), job)
    census.table.counts[:] = counts.astype(np.uint64)
    figures = {"phrases": int(np.count_nonzero(times)), "joins": read - int(counts.sum())}
    return found, {"words_read": read, **figures, "passes": [{"words": read, **figures}]}


def join_known(pieces: Sequence[str], words: Words, passes: int) -> list[str]:
    """Return the words of one row with phrases of a vocabulary joined, as ``join_given`` joins them."""
    row, most = list(pieces), 1 << passes
    spans = {JOINER.join(row[i:j]) for i in range(len(row)) for j in range(i + 2, min(i + most, len(row)) + 1)}
    known = find(words, {span for span in spans if span.count(JOINER) <= _MOST_JOINERS})
    out, i = [], 0
    while i < len(row):
        ends = [j for j in range(min(i + most, len(row)), i + 1, -1) if JOINER.join(row[i:j]) in known]
        stop = ends[0] if ends else i + 1
        out.append(JOINER.join(row[i:stop]))
        i = stop
    return out


def _paths(census: Census, words: Words) -> tuple[NDArray[Any], ...]:
    """Return the pairs that lead to phrases, as kernels take them: starts, seconds, joined, and which are words."""
    wanted = _phrases(words)
    steps = [step for word in wanted for step in _steps(word)]
    first, second, joined = (census.add_words(Words.of(step[i] for step in steps)) for i in range(3))
    phrases = census.add_words(Words.of(wanted))
    keys, some = np.unique(first.astype(np.uint64) << _HALF | second, return_index=True)
    starts = np.searchsorted((keys >> _HALF).astype(np.uint32), np.arange(len(census.table) + 1)).astype(np.uint32)
    is_word = np.zeros(len(census.table), np.bool_)
    is_word[phrases] = True
    return starts, (keys & _LOW).astype(np.uint32), joined[some], is_word[joined[some]]


def _phrases(words: Words) -> list[bytes]:
    """Return the words that hold a joiner, but not too many."""
    places = np.flatnonzero(words.data == ord(JOINER))
    rows, joiners = np.unique(np.searchsorted(words.offsets, places, "right") - 1, return_counts=True)
    return [words.bytes_at(row) for row in rows[joiners <= _MOST_JOINERS].tolist()]


def _steps(word: bytes) -> list[tuple[bytes, bytes, bytes]]:
    """Return how a phrase can be read, word by word: what was read, the next word, both. A word may hold joiners."""
    ends = [i for i, byte in enumerate(word) if byte == ord(JOINER)] + [len(word)]
    starts = [i for i in ends if i]
    return [(word[:i], word[i + 1 : j], word[:j]) for i in starts for j in ends if j > i + 1]
