"""Pieces (pre-tokens) of a corpus, numbered and counted: a lane, and the first pass of training over all lanes.

The loops are in ``kernels.pretoken``, the patterns in ``text.patterns``; merging is not done here. Memory depends on
the distinct pieces and the block, not on the corpus (but for patterns that hold a whole line or file as one piece).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from embcli.job import Job
from embcli.kernels import pretoken as k
from embcli.kernels.words import FULL
from embcli.text.corpus import BLOCK, Block, Corpus, Stretch, buffer_of
from embcli.text.cutting import Read
from embcli.text.patterns import Splitter
from embcli.text.scan import batches
from embcli.text.typetable import TypeTable


class PieceLane:
    """A table of pieces, and the blocks that were counted into it. One thread at a time.

    Parameters
    ----------
    splitter : the pattern and the special tokens.
    mode : what a text is: ``line`` (without its LF, which no piece holds), ``line+`` (with it) or ``file`` (a block).
    keep : whether ``read`` returns the numbers of pieces; counts alone need none.
    """

    def __init__(self, splitter: Splitter, mode: str, *, keep: bool = True) -> None:
        self.splitter, self.mode, self.keep, self.table = splitter, mode, keep, TypeTable()

    def read(self, block: Block) -> Read:
        """Return the pieces of a block, which are counted in ``table``.

        ``ids`` : uint32, provisional; special token s is ``SPECIAL + s``.  ``ends`` : how many of them stand before
        each LF, if the mode is ``line``.
        """
        buffer, stop = block.buffer, block.stop
        marks = self.splitter.find_specials(buffer[block.start : stop].data, self.mode)
        marks[:, :2] += np.uint64(block.start)
        if self.splitter.run is None:
            return self._read_custom(buffer, block.start, stop, marks)
        rule = self.splitter.rule(self.mode)
        lined = self.mode == "line"
        lines = np.empty(np.count_nonzero(buffer[block.start : stop] == ord("\n")) if lined else 0, np.int64)
        ids = np.empty(stop - block.start if self.keep else 0, np.uint32)
        state = np.array([block.start, 0, 0, 0], np.uint64)
        while k.scan_pieces(buffer, stop, rule, marks, self.table.types, ids, self.keep, lines, state) == FULL:
            self.table.grow(stop - int(state[k.POS]))
        return _read(ids[: int(state[k.PIECES])] if self.keep else ids, lines)

    def _read_custom(self, buffer: NDArray[np.uint8], start: int, stop: int, marks: NDArray[np.uint64]) -> Read:
        """Return the pieces of a block whose pattern the regex package runs."""
        ids, lines, begun = [np.empty(0, np.uint32)], [], 0
        spans = [(start, start, -1), *marks.astype(np.int64).tolist(), (stop, stop, -1)]
        for (_, begin, _), (end, _, special) in pairwise(spans):
            data = buffer[begin:end].tobytes()
            for text in [data] if self.mode == "file" else _cut_lines(data):
                body = text[:-1] if self.mode == "line" and text[-1:] == b"\n" else text
                numbers = self._number(body)
                ids.append(numbers)
                begun += len(numbers)
                if len(body) < len(text):
                    lines.append(begun)
            if special >= 0:
                ids.append(np.array([k.SPECIAL + special], np.uint32))
                begun += 1
        return _read(np.concatenate(ids) if self.keep else ids[0], np.array(lines, np.int64))

    def _number(self, body: bytes) -> NDArray[np.uint32]:
        """Number the pieces of one text."""
        text = body.decode("utf-8", "surrogateescape")
        places = np.zeros(len(text) + 1, np.uint64)
        np.cumsum(_sizes(text), out=places[1:])
        bounds = places[[0, *self.splitter.spans(text)]]
        numbers, state, buffer = np.empty(len(bounds) - 1, np.uint32), np.zeros(4, np.uint64), buffer_of(body)
        while k.number_pieces(buffer, bounds, self.table.types, numbers, state) == FULL:
            self.table.grow(len(body))
        return numbers


def _read(ids: NDArray[np.uint32], lines: NDArray[np.int64]) -> Read:
    return Read(ids, lines, np.ones(len(lines) + 1, np.bool_))


def _cut_lines(data: bytes) -> list[bytes]:
    """Return lines with their LF; nothing else ends one."""
    *lines, rest = data.split(b"\n")
    return [line + b"\n" for line in lines] + ([rest] if rest else [])


def _sizes(text: str) -> NDArray[np.uint64]:
    """Return the bytes of every character; one that stands for a bad byte is one byte."""
    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    sizes = 1 + (points >= 0x80).astype(np.uint64) + (points >= 0x800) + (points >= 0x10000)
    sizes[(points >= 0xD800) & (points < 0xE000)] = 1
    return sizes.astype(np.uint64)


@dataclass
class PieceCounts:
    """The distinct pieces of a corpus, in order of first appearance, and how often each occurs.

    table : their bytes (``types.data``, cut at ``begins``) and counts.  size : bytes read, special tokens included.
    """

    table: TypeTable = field(default_factory=TypeTable)
    size: int = 0

    def __len__(self) -> int:
        return len(self.table)

    @property
    def total(self) -> int:
        """How many pieces there are."""
        return int(self.table.counts.sum())

    def pieces(self) -> Iterator[tuple[bytes, int]]:
        """Yield every distinct piece and its count."""
        data = self.table.types.data.tobytes()
        for (a, b), n in zip(pairwise(self.table.begins.tolist()), self.table.counts.tolist(), strict=True):
            yield data[a:b], n


def count_pieces(
    inputs: Sequence[str | Stretch], splitter: Splitter, mode: str, job: Job, *, block: int = BLOCK
) -> PieceCounts:
    """Cut a corpus into pieces and count them. The result depends neither on the threads nor on ``block``.

    Parameters
    ----------
    inputs : paths of files and folders; - is stdin.
    splitter : the pattern and the special tokens.
    mode : what a text is, see ``PieceLane``: ``line+`` and ``file`` for training.
    job : gets the digest of each input.
    block : bytes to read at a time.

    Raises InputError for a file that is missing, damaged, or has a line (or is a file) that memory cannot hold.
    """
    corpus = Corpus(inputs, block, splitter.cuts(mode), bytewise=True)
    lanes: list[PieceLane] = []
    free: list[PieceLane] = []  # append and pop are atomic
    made = PieceCounts()

    def work(batch: list[Block]) -> tuple[PieceLane, int, int, int]:
        try:
            lane = free.pop()
        except IndexError:
            lane = PieceLane(splitter, mode, keep=False)
            lanes.append(lane)
        before = len(lane.table)
        for part in batch:
            lane.read(part)
        found = lane, before, len(lane.table), sum(part.stop - part.start for part in batch)
        free.append(lane)
        return found

    parts = []
    for lane, before, after, size in job.map(work, batches(corpus, block)):
        parts.append((lane, before, after))
        made.size += size
        job.progress(corpus.done, corpus.total, "bytes")
    job.sources += [{"kind": "text", "digest": digest} for digest in corpus.digests]
    if len(lanes) == 1:
        made.table = lanes[0].table
        return made
    for lane, before, after in parts:  # what a lane first saw in a batch: so types come in order of first appearance
        begins = lane.table.begins[before : after + 1].copy()
        data = lane.table.types.data[int(begins[0]) : int(begins[-1])]
        made.table.add(data, begins[:-1] - begins[0], np.diff(begins), lane.table.counts[before:after])
    return made


def split(text: bytes, splitter: Splitter, mode: str = "file") -> list[bytes]:
    """Return the pieces of one text (of its lines, if the mode says so), special tokens among them."""
    lane = PieceLane(splitter, mode)
    ids = lane.read(Block(buffer_of(text), 0, len(text), "text", True, True)).ids.tolist()
    begins, data = lane.table.begins.tolist(), lane.table.types.data.tobytes()
    types = [data[a:b] for a, b in pairwise(begins)]
    return [types[i] if i < k.SPECIAL else splitter.specials[i - k.SPECIAL] for i in ids]
