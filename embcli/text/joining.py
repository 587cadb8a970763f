"""Join phrases in the text that a scan left on disk: ids become other ids. Which pairs are phrases: phrases.py.

Memory: the types, and one group of pairs a thread; what is counted lies on disk, grouped by a hash of the pair.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embcli.artifacts.spill import Spill
from embcli.job import Job
from embcli.kernels.phrases import NOBODY, WAITING, join, pairs
from embcli.text.phrases import Pairs, Scoring, Table, counted, run_passes, scored
from embcli.text.scan import Piece, Scan
from embcli.text.vocab import Census

#: pairs that one group should hold, and the most groups there are (as a power of two)
_GROUP, _MOST_BITS = 1 << 18, 8


def join_phrases(found: Scan, census: Census, passes: int, how: Scoring, job: Job) -> tuple[Scan, dict[str, Any]]:
    """Return the words of a scan with phrases joined, and the figures of the report: see ``run_passes``.

    found : a scan with ids on disk; its ids are used up.
    """
    text = OnDisk(found, census, job)
    figures = run_passes(text, census, passes, how)
    return text.found, figures


class OnDisk:
    """The text of a scan: see ``Text``. ``found`` is the scan as it is now."""

    def __init__(self, found: Scan, census: Census, job: Job) -> None:
        self.found, self.census, self.job = found, census, job

    def pairs(self, able: NDArray[np.bool_], how: Scoring, words: int) -> Iterator[Pairs]:
        """Yield the pairs that are phrases, group by group; see ``Text``."""
        bits = min(max((words // _GROUP).bit_length(), 1), _MOST_BITS)
        spill, bounds = self._grouped(able, bits)

        def work(group: int) -> Pairs:
            parts = [spill.read(b[group], b[group + 1]) for b in bounds if b[group] < b[group + 1]]
            keys, n = counted(np.concatenate([np.zeros(0, np.uint64), *parts]))
            return scored(keys, n, self.census.table.counts, how, words)

        yield from self.job.map(work, range(1 << bits))

    def _grouped(self, able: NDArray[np.bool_], bits: int) -> tuple[Spill, list[list[int]]]:
        """Return the pairs of able words on disk, and for each piece where the groups begin and end there."""
        spill, bounds = Spill(np.uint64, self.job.scratch), []
        names = self.census.numbers

        def work(item: tuple[Piece, int]) -> tuple[NDArray[np.uint64], NDArray[np.int64], int]:
            piece, before = item
            keys, begins = np.empty((2, len(piece.ids)), np.uint64), np.zeros((1 << bits) + 1, np.int64)
            n = pairs(piece.ids, names[piece.lane], able, piece.ends, before, bits, keys[0], keys[1], begins)
            return keys[1, : int(n)], begins, len(piece.ids)

        at = 0
        for keys, begins, size in self.job.map(work, _with_neighbor(self.found, names)):
            bounds.append((begins + len(spill)).tolist())
            spill.append(keys)
            at += size
            self.job.progress(at, 0, "words")
        return spill, bounds

    def join(self, table: Table) -> None:
        """Join the pairs of a table; see ``Text``."""
        starts, census, state = table.starts(len(self.census.table)), self.census, beginning()

        def blocks() -> Iterator[tuple[NDArray[np.uint32], NDArray[np.int64]]]:
            for piece in self.found.pieces():
                out, places = np.empty(len(piece.ids) + 1, np.uint32), np.empty(len(piece.ends), np.int64)
                names = census.numbers[piece.lane]
                n = join(
                    piece.ids, names, piece.ends, starts, table.second, table.joined, table.times, state, out, places
                )  # fmt: skip
                yield out[: int(n)], places

        self.found = rewritten(self.found, census, blocks(), self.job)


def beginning() -> NDArray[np.int64]:
    """Return the state of ``kernels.phrases.join`` where a row begins."""
    state = np.zeros(2, np.int64)
    state[WAITING] = NOBODY
    return state


def _with_neighbor(found: Scan, names: list[NDArray[np.uint32]]) -> Iterator[tuple[Piece, Any]]:
    """Yield the pieces of a text, each with the type that stands before it in its row, or NOBODY."""
    before = NOBODY
    for piece in found.pieces():
        yield piece, before
        ended = len(piece.ends) and piece.ends[-1] == len(piece.ids)
        before = NOBODY if ended else names[piece.lane][piece.ids[-1]]


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
