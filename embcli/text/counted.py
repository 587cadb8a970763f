"""Read tables of words and counts (``bpe-train --counts``): a line a word, a tab before its count."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from embcli.errors import InputError
from embcli.job import Job
from embcli.kernels.pretoken import SPECIAL
from embcli.text.corpus import Block, Corpus, buffer_of
from embcli.text.patterns import Splitter
from embcli.text.pretokens import PieceCounts, PieceLane

#: the highest count of a word, so that the sum over all words can be told to be too high
_MOST = 1 << 48


def read_counts(inputs: Sequence[str], splitter: Splitter, job: Job) -> PieceCounts:
    """Return the pieces of the words, each as often as its word.

    A word is cut as a text of its own. It may hold blanks but no line end; empty lines say nothing. Raises InputError
    for a line without a count, with file and line.
    """
    lane, corpus, made = PieceLane(splitter, "line"), Corpus(inputs, split="lines", bytewise=True), PieceCounts()
    weights = np.zeros(0, np.int64)
    name, number = "", 0
    for block in corpus.blocks():
        if block.first:
            name, number = block.name, 0
        words, counts = _columns(block.buffer[block.start : block.stop].tobytes(), name, number)
        number += int(np.count_nonzero(block.buffer[block.start : block.stop] == ord("\n")))
        made.size += block.stop - block.start
        read = lane.read(Block(buffer_of(words), 0, len(words), name, True, True))
        per_word = np.diff(read.ends, prepend=0)
        weights = _added(weights, read.ids, np.repeat(counts, per_word), len(lane.table))
        job.progress(corpus.done, corpus.total, "bytes")
    job.sources += [{"kind": "text", "digest": digest} for digest in corpus.digests]
    lane.table.counts[:] = weights.astype(np.uint64)
    made.table = lane.table
    return made


def _columns(data: bytes, name: str, before: int) -> tuple[bytes, NDArray[np.int64]]:
    """Return the words of a block, each with an LF, and their counts."""
    words, counts = [], []
    for i, line in enumerate(data.split(b"\n"), 1):
        line = line.removesuffix(b"\r")
        if not line:
            continue
        word, tab, count = line.rpartition(b"\t")
        if not tab or not word or not count.isdigit() or not 0 < int(count[:99]) <= _MOST:
            shown = line[:40].decode("utf-8", "replace")
            raise InputError(f"{name}: line {before + i:,}: expected a word, a tab and a count, found {shown!r}")
        words.append(word + b"\n")
        counts.append(int(count))
    return b"".join(words), np.array(counts, np.int64)


def _added(
    weights: NDArray[np.int64], ids: NDArray[np.uint32], more: NDArray[np.int64], types: int
) -> NDArray[np.int64]:
    """Return the weights of all types with those of some pieces added."""
    grown = np.zeros(types, np.int64)
    grown[: len(weights)] = weights
    pieces = ids < SPECIAL  # special tokens are not learned from
    np.add.at(grown, ids[pieces], more[pieces])
    return grown
