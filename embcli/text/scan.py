"""The first pass over a corpus: blocks of text go to lanes, and provisional ids and row ends to disk.

There is one lane a thread, with a table of types of its own, so which ids a word gets depends on the threads; what the
second pass makes of them does not. Memory depends on the vocabulary and the block, not on the corpus.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embcli.artifacts.spill import Spill
from embcli.job import Job
from embcli.text.corpus import BLOCK, Block, Corpus, Stretch
from embcli.text.cutting import Cut, Lane, Read
from embcli.text.rows import Rows

#: bytes that are read back at a time
_PIECE = 1 << 21


@dataclass(frozen=True)
class Piece:
    """Provisional ids of one lane, uint32, and how many of them stand before each end of a row, int64."""

    lane: int
    ids: NDArray[np.uint32]
    ends: NDArray[np.int64]


@dataclass
class Scan:
    """What the first pass leaves: lanes, rows, and on disk (if wanted) ids and the ends of rows among all of them."""

    rows: Rows
    ids: Spill | None = None
    ends: Spill | None = None
    lanes: list[Lane] = field(default_factory=list)
    parts: list[tuple[int, int]] = field(default_factory=list)  # lane and number of ids, in order

    def pieces(self) -> Iterator[Piece]:
        """Yield what is on disk, in order. The last piece has the ends behind the last token too."""
        assert self.ids is not None and self.ends is not None
        blocks, parts, at = self.ids.blocks(_PIECE), iter(self.parts), 0
        waiting, more = np.empty(0, np.int64), self.ends.blocks(_PIECE)
        lane = left = 0
        for block in blocks:
            while len(block):
                while not left:
                    lane, left = next(parts)
                ids, block = block[:left], block[left:]
                left, stop = left - len(ids), at + len(ids)
                while (not len(waiting) or waiting[-1] <= stop) and (new := next(more, None)) is not None:
                    waiting = np.append(waiting, new)
                n = int(np.searchsorted(waiting, stop, "right"))
                yield Piece(lane, ids, waiting[:n] - at)
                waiting, at = waiting[n:], stop


def scan(
    inputs: Sequence[str | Stretch],
    cut: Cut,
    mode: str,
    job: Job,
    *,
    spill: bool,
    block: int = BLOCK,
    rows: Rows | None = None,
    into: tuple[Any, Any] | None = None,
) -> Scan:
    """Cut and count a corpus.

    Parameters
    ----------
    inputs : paths of files and folders; - is stdin.
    mode : what a row is, see ``Rows``.
    job : gets the digest of each input.
    spill : whether ids are kept; counts alone need none.
    block : bytes to read at a time; the result does not depend on it.
    rows : of the text so far, where it begins in the middle of a file.
    into : what ids and ends are appended to instead of files without a name.

    Raises InputError for a file that is missing, damaged or not UTF-8.
    """
    made, corpus = Scan(rows or Rows(mode)), Corpus(inputs, block, cut.split)
    if into is not None:
        made.ids, made.ends = into
    elif spill:
        made.ids, made.ends = Spill(np.uint32, job.scratch), Spill(np.int64, job.scratch)
    free: list[int] = []  # lanes without work; append and pop are atomic

    def work(batch: list[Block]) -> tuple[int, list[tuple[Block, Read]]]:
        try:
            lane = free.pop()
        except IndexError:
            lane = _new_lane(made.lanes, cut)
        found = [(block, made.lanes[lane].read(block)) for block in batch]
        free.append(lane)
        return lane, found

    for lane, found in job.map(work, batches(corpus, block)):
        before = made.rows.tokens
        for part, read in found:
            ends = made.rows.add(part, read)
            if made.ids is not None and made.ends is not None:
                made.ids.append(read.ids)
                made.ends.append(ends)
        made.parts.append((lane, made.rows.tokens - before))
        job.progress(corpus.done, corpus.total, "bytes")
    job.sources += [{"kind": "text", "digest": digest} for digest in corpus.digests]
    return made


def _new_lane(lanes: list[Lane], cut: Cut) -> int:
    """Add a lane and return its number: its place, whatever other threads add meanwhile."""
    lane = Lane(cut)
    lanes.append(lane)
    return lanes.index(lane)


def batches(corpus: Corpus, block: int) -> Iterator[list[Block]]:
    """Yield blocks as pieces of work: alone, or many small files together."""
    batch: list[Block] = []
    size = 0
    for part in corpus.blocks():
        batch.append(part)
        size += part.stop
        if 2 * size > block or len(batch) == 1000:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
