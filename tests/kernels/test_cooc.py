"""Oracle: a few lines of NumPy for each kernel of ``cooc``. Everything is whole numbers, so equality is exact."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from cooc_twin import cells_of, counted, tokens_of
from numpy.typing import NDArray

from embcli.kernels import cooc as k

RNG = np.random.default_rng(5)
GAP, WALL = 50, 51
SIZES = [0, 3, 0, 0, 12, 1, 30, 2, 0]


def text(seed: int = 1) -> tuple[NDArray[Any], NDArray[np.int64], k.Text]:
    """Return ids, row offsets and the text laid out by NumPy."""
    rng = np.random.default_rng(seed)
    offsets = np.concatenate(([0], np.cumsum(SIZES)))
    ids = rng.integers(0, GAP + 1, offsets[-1]).astype(np.uint8)
    rows = np.split(ids, offsets[1:-1])
    padded = np.concatenate([[WALL]] + [[*row, WALL] for row in rows if len(row)] + [[WALL]]).astype(np.uint16)
    order = np.argsort(padded, kind="stable")
    order = order[padded[order] < GAP].astype(np.uint32)
    starts = np.concatenate(([0], np.cumsum(np.bincount(ids[ids < GAP], minlength=GAP))))
    return ids, offsets, k.Text(padded, order, starts)


def empty_row(size: int) -> k.Sums:
    spans = 8 * (size // 64 + 1)
    return k.Sums(np.zeros(8 * spans, np.int64), np.zeros(spans, np.uint8), np.zeros(spans + 1, np.int32))


def room(cells: int, rows: int) -> k.Rows:
    return k.Rows(
        *(np.full(n, -7, t) for n, t in ((cells, np.int32), (cells, np.int64), (rows, np.int64), (rows, np.int64)))
    )


def matrix(laid: k.Text, rule: k.Rule) -> NDArray[np.int64]:
    """Return X[w, c] of a padded text, looking from every place to every other."""
    x = np.zeros((GAP, GAP), np.int64)
    for i, word in enumerate(laid.padded):
        for step, wanted in ((-1, rule.before), (1, rule.after)):
            for d in range(1, len(rule.weights) if wanted and word < GAP else 0):
                context = laid.padded[i + step * d]
                if context == WALL:
                    break
                if context < GAP:
                    x[word, context] += rule.weights[d]
    return x


@pytest.mark.parametrize("cuts", [[], [5], [3, 4, 15, 16, 17]])
def test_pad_copies_rows_and_puts_walls_between_them(cuts: list[int]) -> None:
    ids, offsets, laid = text()
    padded = np.full(len(laid.padded), WALL, np.uint16)
    row, n = 0, 1
    for start, stop in zip([0, *cuts], [*cuts, len(ids)], strict=True):
        row, n = k.pad(ids, offsets, row, start, stop, padded, n, WALL)
    assert n == len(padded) - 1 and row == np.flatnonzero(SIZES)[-1]
    assert padded.tolist() == laid.padded.tolist()


def test_tally_and_place_are_a_stable_sort() -> None:
    _, _, laid = text()
    counts = np.zeros(GAP + 2, np.int64)
    positions, cursor = np.empty_like(laid.positions), laid.starts[:-1].copy()
    for start, stop in ((0, 9), (9, len(laid.padded))):
        k.tally(laid.padded, start, stop, counts)
        k.place(laid.padded, start, stop, cursor, positions)
    assert counts.tolist() == np.bincount(laid.padded, minlength=GAP + 2).tolist()
    assert positions.tolist() == laid.positions.tolist()
    assert cursor.tolist() == laid.starts[1:].tolist()


@pytest.mark.parametrize("window", [1, 4, 40])
@pytest.mark.parametrize(("before", "after"), [(True, True), (True, False), (False, True)])
def test_count_rows_adds_the_weights_of_all_windows(window: int, before: bool, after: bool) -> None:
    _, _, laid = text()
    rule = k.Rule(np.concatenate(([0], RNG.integers(1, 10**12, window))), before, after)
    x, into = matrix(laid, rule), empty_row(GAP)
    for first, last in ((0, GAP), (7, 8), (20, 50)):
        out = room(GAP * GAP + 1, last - first)
        n, _ = k.count_rows(laid, rule, first, last, GAP, into, out)
        rows, cols = np.nonzero(x[first:last])
        assert out.cols[:n].tolist() == cols.tolist()
        assert out.sums[:n].tolist() == x[first:last][rows, cols].tolist()
        assert out.ends.tolist() == np.cumsum(np.bincount(rows, minlength=last - first)).tolist()
        assert out.totals.tolist() == x[first:last].sum(1).tolist()
        assert not into.acc.any() and not into.marks.any()


@pytest.mark.parametrize("size", [1, 7, 8, 63, 64, 65, 1000])
@pytest.mark.parametrize("density", [0.02, 0.5, 1.0])
def test_take_row_finds_every_column_and_leaves_nothing(size: int, density: float) -> None:
    into, sums = empty_row(size), RNG.integers(1, 2**52, size) * (RNG.random(size) < density)
    cols = np.flatnonzero(sums).astype(np.int32)
    k.add_cells(cols, sums[cols], 0, len(cols), into)
    into.acc[size], into.marks[size // 8] = 99, 1  # a gap
    out = room(3 + len(cols) + 1, 0)
    n, total = k.take_row(into, size, out, 3)
    assert out.cols[3:n].tolist() == cols.tolist() and out.sums[3:n].tolist() == sums[cols].tolist()
    assert total == sums.sum()
    assert out.cols[:3].tolist() == [-7] * 3
    assert not into.acc.any() and not into.marks.any()


def test_merge_rows_adds_slices() -> None:
    parts = RNG.integers(1, 2**40, (4, 6, 30)) * (RNG.random((4, 6, 30)) < 0.3)
    part, row, cols = np.nonzero(parts)
    ends = np.cumsum(np.bincount(part * 6 + row, minlength=24)).reshape(4, 6)
    bounds = np.concatenate((np.concatenate(([0], ends[:-1, -1]))[:, None], ends), axis=1)
    out = room(len(cols) + 1, 6)
    n = k.merge_rows(k.Cells(cols.astype(np.int32), parts[part, row, cols], bounds), 30, empty_row(30), out)
    x = parts.sum(0)
    assert out.cols[:n].tolist() == np.nonzero(x)[1].tolist()
    assert out.sums[:n].tolist() == x[x > 0].tolist()
    assert out.totals.tolist() == x.sum(1).tolist() and out.ends[-1] == n


def test_divide_rounds_once_and_may_work_in_place() -> None:
    sums = RNG.integers(1, 2**53, 1000)
    quotients = sums.copy()
    k.divide(quotients, 2520, quotients.view(np.float64))
    assert quotients.view(np.float64).tolist() == [n / 2520 for n in sums.tolist()]


@pytest.mark.parametrize("size", [254, 255, 256, 65534, 65535, 65536])
def test_ids_at_the_edge_of_their_type(size: int) -> None:
    counts = counted(tokens_of([[size - 1, size, size - 2], [size - 1, size - 1]], size), window=2, weighting="flat")
    a, b = size - 2, size - 1
    assert cells_of(counts) == {(a, b): 1, (b, a): 1, (b, b): 2}
