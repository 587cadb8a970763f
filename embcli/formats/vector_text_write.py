"""Write vectors as text, a word and its numbers a line: every float32 with as few digits as bring it back."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from embcli.artifacts import store
from embcli.artifacts.checks import blocks
from embcli.artifacts.schema import Vectors
from embcli.errors import InputError
from embcli.job import Job

#: bytes of a table that become text in one go
_PIECE = 1 << 20


def write(made: Vectors, header: bool, bare: bool = False, job: Job | None = None) -> Iterator[bytes]:
    """Yield vectors as text, with a header of the numbers of words and dimensions if asked for.

    ``bare`` is without the words, numbers between tabs. The job's threads share the rows; the text does not depend on
    how many there are. Raises InputError for words that could not be read back: the empty one, and those with a line
    end.
    """
    lengths = np.diff(made.words.offsets)
    bad = np.flatnonzero(lengths == 0)[:1]
    if not len(bad) and len(ends := np.flatnonzero(np.asarray(made.words.data) == 10)):
        bad = np.searchsorted(made.words.offsets, ends[:1], "right") - 1
    if len(bad) and not bare:
        word = made.words[int(bad[0])]
        raise InputError(
            f"{made.path}: the word {ascii(word)[:60]} cannot be written as text: it is empty or has a line end"
        )
    return _written(made, header, bare, job or Job())


def _written(made: Vectors, header: bool, bare: bool, job: Job) -> Iterator[bytes]:
    from embcli.kernels import decimals as k

    n, dim = made.vectors.shape
    if header:
        yield f"{n} {dim}\n".encode()
    data, offsets = np.ascontiguousarray(made.words.data), np.asarray(made.words.offsets)
    if bare:
        data, offsets = np.zeros(0, np.uint8), np.zeros(n + 1, np.int64)

    def work(span: tuple[int, int]) -> bytes:
        start, stop = span
        rows = np.ascontiguousarray(store.checked(made, "vectors", start, stop), np.float32)
        room = int(offsets[stop] - offsets[start]) + len(rows) * (17 * dim + 1)
        out = np.empty(room, np.uint8)
        size = k.write_rows(data, offsets, start, rows, k.POWERS, 9 if bare else 32, bare, out)
        store.release(made.vectors, start, stop)
        return out[:size].tobytes()

    yield from job.map(work, list(blocks(made.vectors, _PIECE)))
