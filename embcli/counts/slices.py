"""Cut tokens into slices and lay each out for counting: padded ids, and the positions of each word.

A slice is a range of tokens whose windows are counted. Its padded ids also hold the surroundings that these windows
reach, so that slices add up to the whole, whatever their bounds.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embcli.artifacts.mapped import release
from embcli.artifacts.schema import Tokens
from embcli.kernels.cooc import Text, pad, place, tally

#: tokens handled between two chances to stop and to give mapped pages back
_STEP = 1 << 20


#: items on both sides that are given back too: the system maps up to 64 kB around a page that is read, and what a
#: block's neighbour mapped of it at the same time would stay
_AROUND = 1 << 14


def give_back(array: NDArray[Any], start: int, stop: int) -> None:
    """Give the pages of items [start, stop) of a mapped array back, with their surroundings: blocks run in parallel."""
    release(array, max(start - _AROUND, 0), stop + _AROUND)


@dataclass(frozen=True)
class Source:
    """Tokens to be counted: ids, where rows begin and end, and the number of words."""

    ids: NDArray[Any]
    offsets: NDArray[np.int64]
    size: int

    @classmethod
    def of(cls, tokens: Tokens, cross_rows: bool) -> Source:
        """Return the tokens of an artifact; if windows cross rows, all of them are one row."""
        offsets = np.array([0, len(tokens.ids)]) if cross_rows else tokens.row_offsets
        return cls(tokens.ids, offsets, len(tokens.words))

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of padded ids: V + 1 must fit."""
        return np.dtype(np.uint16 if self.size + 1 < 1 << 16 else np.uint32)

    @property
    def places(self) -> int:
        """Tokens plus rows: what cutting counts."""
        return len(self.ids) + len(self.offsets) - 1


def cut(source: Source, places: int) -> Iterator[tuple[int, int]]:
    """Yield the bounds of consecutive slices of at most ``places`` tokens and row ends, but of one token at least."""
    offsets, total = source.offsets, len(source.ids)
    start = 0
    while start < total:
        first = int(np.searchsorted(offsets, start, "right")) - 1
        whole = range(first + 1, len(offsets))
        # row r - 1 is the first that does not fit: its end would be one place too many
        r = first + 1 + bisect_right(whole, places, key=lambda i: int(offsets[i]) - start + i - first)
        end = int(offsets[r]) - 1 if r < len(offsets) else total
        stop = max(min(end, max(start + places - (r - 1 - first), int(offsets[r - 1]))), start + 1)
        release(offsets)
        yield start, stop
        start = stop


def lay_out(source: Source, start: int, stop: int, window: int) -> Text:
    """Return tokens [start, stop), with ``window`` tokens on both sides, padded and sorted by word.

    Only the positions of tokens [start, stop) are listed.
    """
    low, high = max(start - window, 0), min(stop + window, len(source.ids))
    row = int(np.searchsorted(source.offsets, low, "right")) - 1
    rows = int(np.searchsorted(source.offsets, high, "right")) - row
    padded = np.empty(high - low + min(rows, high - low) + 2, source.dtype)
    padded[0] = source.size + 1
    ends = [1]
    for a, b in ((low, start), (start, stop), (stop, high)):
        row, n = _copy(source, row, a, b, padded, ends[-1])
        ends.append(n)
    padded[ends[-1]] = source.size + 1
    return _sort(padded[: ends[-1] + 1], ends[1], ends[2], source.size)


def _copy(source: Source, row: int, start: int, stop: int, padded: NDArray[Any], n: int) -> tuple[int, int]:
    """Pad tokens [start, stop) from place n on; return the row of the last one and the place after it."""
    for a in range(start, stop, _STEP):
        b, begin = min(a + _STEP, stop), row
        row, n = pad(source.ids, source.offsets, row, a, b, padded, n, source.size + 1)
        release(source.ids, a, b)
        release(source.offsets, begin, row + 2)
    return row, n


def _sort(padded: NDArray[Any], first: int, last: int, size: int) -> Text:
    """Return a padded text with the positions of the words in padded[first:last]."""
    counts = np.zeros(size + 2, np.int64)
    for a in range(first, last, _STEP):
        tally(padded, a, min(a + _STEP, last), counts)
    starts = np.zeros(size + 1, np.int64)
    np.cumsum(counts[:size], out=starts[1:])
    positions = np.empty(int(starts[-1]), np.uint32)
    cursor = starts[:-1].copy()
    for a in range(first, last, _STEP):
        place(padded, a, min(a + _STEP, last), cursor, positions)
    return Text(padded, positions, starts)
