"""Input vectors that are the mean of several rows of a table, as words of fastText are: of themselves and n-grams.

A word's rows all take the whole step of their mean (Bojanowski et al. 2017, as in their code), so the mean takes it.
Where a word holds a row m times, the mean of its n rows would take sum m^2 / n steps, and its rows take less (of
"aaaaaaaaaa", spelled of 8 times the same three letters and so on, five steps would diverge).

Rows of a word are listed by their number modulo PARTS, so that threads can share the way back by rows. When means are
composed and their steps brought back: spans.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.extending import intrinsic

from embcli.kernels._jit import inner_kernel, kernel
from embcli.kernels.vectors16 import INT, INT32, VECTOR, add_row, copy_row, fetch_row, load, loop, scale_row

#: classes of rows, each of which one thread at a time brings back
PARTS = 4


def _gain_rows(count: int) -> Any:
    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        target, table, listed, n = arguments
        into, start = (builder.inttoptr(a, VECTOR.as_pointer()) for a in (target, table))
        numbers = builder.inttoptr(listed, INT32.as_pointer())
        places = [builder.zext(builder.load(builder.gep(numbers, [INT(i)])), INT) for i in range(count)]
        rows = [builder.gep(start, [builder.mul(place, n)]) for place in places]

        def body(at: Any, values: list[Any]) -> list[Any]:
            parts = [load(builder, row, at) for row in rows]
            while len(parts) > 1:
                parts = [builder.fadd(a, b) for a, b in zip(parts[::2], parts[1::2], strict=True)]
            builder.store(builder.fadd(load(builder, into, at), parts[0]), builder.gep(into, [at]), align=4)
            return []

        loop(builder, n, [], body)
        return context.get_dummy_value()

    def gain_rows(typing: Any, target: Any, table: Any, listed: Any, n: Any) -> Any:
        """Target += sum of table[listed[k]]; addresses of a row, of a table and of int32, and vectors a row."""
        return types.void(types.uintp, types.uintp, types.uintp, types.intp), emit

    return intrinsic(gain_rows)


gain8, gain4 = _gain_rows(8), _gain_rows(4)


@inner_kernel
def mean_row(table, n, starts, lists, word, target):  # type: ignore[no-untyped-def]
    """Put the mean of a word's rows at an address; ``table`` is one too, n vectors a row."""
    first, stop = starts[word * PARTS], starts[(word + 1) * PARTS]
    stride = 64 * n
    copy_row(target, table + np.int64(lists[first]) * stride, n)
    at, count = lists.ctypes.data + 4 * (first + 1), stop - first - 1
    while count >= 8:
        gain8(target, table, at, n)
        at += 32
        count -= 8
    if count >= 4:
        gain4(target, table, at, n)
        count -= 4
    for i in range(stop - count, stop):
        add_row(target, table + np.int64(lists[i]) * stride, n, np.float32(1))
    scale_row(target, target, n, np.float32(1) / np.float32(stop - first))


@kernel
def mean_rows(table, starts, lists, words, out):  # type: ignore[no-untyped-def]
    """Put the means of some words, int64, into ``out``, float32 (words, padded) like the table."""
    n = table.shape[1] >> 4
    for i in range(len(out)):
        mean_row(table.ctypes.data, n, starts, lists, words[i], out.ctypes.data + 64 * n * i)


@kernel
def by_part(offsets, rows, starts, lists):  # type: ignore[no-untyped-def]
    """List each word's rows[offsets[w]:offsets[w + 1]] by part, in order within one.

    Fills ``starts``, int64 (words * PARTS + 1,), where each word's parts begin, and ``lists``, int32 like ``rows``.
    """
    at = 0
    for w in range(len(offsets) - 1):
        for part in range(PARTS):
            starts[w * PARTS + part] = at
            for i in range(offsets[w], offsets[w + 1]):
                if rows[i] % PARTS == part:
                    lists[at] = rows[i]
                    at += 1
    starts[len(starts) - 1] = at


@inner_kernel
def ask_for_rows(table, n, starts, lists, word, part, parts):  # type: ignore[no-untyped-def]
    """Ask for a word's rows of parts [part, part + parts), soon to be used."""
    for i in range(starts[word * PARTS + part], starts[word * PARTS + part + parts]):
        fetch_row(table + 64 * n * np.int64(lists[i]), n)


@inner_kernel
def step_rows(table, n, starts, lists, word, part, step):  # type: ignore[no-untyped-def]
    """Add a row by address to a word's rows of one part."""
    for i in range(starts[word * PARTS + part], starts[word * PARTS + part + 1]):
        add_row(table + 64 * n * np.int64(lists[i]), step, n, np.float32(1))
