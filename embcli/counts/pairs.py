"""Look counts up: the heaviest pairs, and the count of one pair. NumPy only, on mapped arrays, block by block.

Not for nearest neighbors of rows: see query/neighbors.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from embcli.artifacts.mapped import release
from embcli.artifacts.schema import Counts
from embcli.artifacts.store import stream
from embcli.query.lookup import words_at

#: cells looked at in one go
_CELLS = 1 << 19


def heaviest(counts: Counts, n: int) -> list[tuple[str, str, int | float]]:
    """Return the n heaviest pairs as (word, context, count), heaviest first; equals in the order of the matrix.

    Symmetric counts hold each pair twice, as (a, b) and as (b, a); such a pair is listed once, the more frequent word
    first. Fewer than n pairs are returned if there are no more. Memory: a block, and n pairs.

    Raises
    ------
    InputError : the counts are damaged.
    """
    if n < 1:
        return []
    once = counts.options.get("direction") == "symmetric" and counts.rows is None
    places, values = np.empty(0, np.int64), np.empty(0, counts.data.dtype)
    cells = zip(stream(counts, "data", 8 * _CELLS), stream(counts, "indices", 4 * _CELLS), strict=True)
    for (start, block), (_, columns) in cells:
        better = np.flatnonzero(block > (values.min() if len(values) == n else 0))
        if once:
            better = better[_rows(counts, better + start) <= columns[better]]
        if len(better):
            places, values = np.concatenate((places, better + start)), np.concatenate((values, block[better]))
            kept = _largest(values, n)
            places, values = places[kept], values[kept]
    order = np.argsort(-values, kind="stable")
    places, values = places[order], values[order]
    labels = counts.words if counts.rows is None else counts.rows
    words = words_at(labels, _rows(counts, places))
    contexts = words_at(counts.words, counts.indices[places].astype(np.int64))
    return list(zip(words, contexts, values.tolist(), strict=True))


def count_of(counts: Counts, row: int, column: int) -> int | float:
    """Return X[row, column]: whole for flat weights; 0 if the two never met."""
    start, stop = int(counts.indptr[row]), int(counts.indptr[row + 1])
    at = start + int(np.searchsorted(counts.indices[start:stop], column))
    found: Any = counts.data[at].item() if at < stop and counts.indices[at] == column else 0
    release(counts.indices, start, stop)
    return found  # type: ignore[no-any-return]


def _largest(values: NDArray[Any], n: int) -> NDArray[np.int64]:
    """Return the places of the n largest values, ascending; of equal ones the first."""
    if len(values) <= n:
        return np.arange(len(values))
    least = np.partition(values, len(values) - n)[len(values) - n]
    equal = np.flatnonzero(values == least)
    above = np.flatnonzero(values > least)
    return np.sort(np.concatenate((above, equal[: n - len(above)])))


def _rows(counts: Counts, places: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the rows of cells."""
    return np.searchsorted(counts.indptr, places, "right") - 1
