"""Write vectors as text, a word and its numbers a line: every float32 with as few digits as bring it back."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from embcli.artifacts import store
from embcli.artifacts.schema import Vectors
from embcli.errors import InputError


def write(made: Vectors, header: bool) -> Iterator[bytes]:
    """Yield vectors as text, with a header of the numbers of words and dimensions if asked for.

    Raises InputError for words that could not be read back: the empty one, and those with a line end.
    """
    lengths = np.diff(made.words.offsets)
    bad = np.flatnonzero(lengths == 0)[:1]
    if not len(bad) and len(ends := np.flatnonzero(made.words.data == 10)):
        bad = np.searchsorted(made.words.offsets, ends[:1], "right") - 1
    if len(bad):
        word = made.words[int(bad[0])]
        raise InputError(
            f"{made.path}: the word {ascii(word)[:60]} cannot be written as text: it is empty or has a line end"
        )
    return _written(made, header)


def _written(made: Vectors, header: bool) -> Iterator[bytes]:
    from embcli.kernels import decimals as k

    n, dim = made.vectors.shape
    if header:
        yield f"{n} {dim}\n".encode()
    data, offsets = np.ascontiguousarray(made.words.data), np.asarray(made.words.offsets)
    for start, block in store.stream(made, "vectors"):
        rows = np.ascontiguousarray(block, np.float32)
        room = int(offsets[start + len(rows)] - offsets[start]) + len(rows) * (17 * dim + 1)
        out = np.empty(room, np.uint8)
        yield out[: k.write_rows(data, offsets, start, rows, k.POWERS, out)].tobytes()
