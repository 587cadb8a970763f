"""Oracle: GloVe in plain loops and float64 (tests/glove_twin.py), and NumPy's log and power."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from glove import cells_of, chance
from glove_twin import Twin

from embcli.kernels._jit import kernel
from embcli.kernels.glove import CHUNK, SPARE, Group, Model, Rule, pack, visit_group
from embcli.kernels.weights16 import bits_of, weigh
from embcli.models.glove_trainer import Tables

V = 40


@kernel
def weighed(values, x_max, power, cells, logs, weights):  # type: ignore[no-untyped-def]
    """Pack counts and weigh them."""
    for i in range(len(values)):
        cells[i] = np.uint64(7) << np.uint64(48) | bits_of(values[i])
    top = np.float32(np.log(x_max))
    weigh(cells.ctypes.data, logs.ctypes.data, weights.ctypes.data, len(values), np.float32(x_max), top, power)


@pytest.mark.parametrize(("x_max", "power"), [(100.0, 0.75), (1e9, 2.0), (1e-3, 0.75), (10.0, 0.0)])
def test_logs_and_weights(x_max: float, power: float) -> None:
    """Counts over the whole range that an artifact may hold; 21 is no multiple of 16."""
    values = np.exp(np.linspace(np.log(1e-18), np.log(1e18), 2005)).astype(np.float32)
    values[:3] = 1, x_max, np.float32(0.99999994)
    cells = np.zeros(len(values) + 16, np.uint64)
    logs, weights = np.zeros((2, len(values) + 16), np.float32)
    weighed(values, x_max, np.float32(power), cells, logs, weights)
    expected = np.log(values.astype(np.float64))
    assert np.allclose(logs[: len(values)], expected, rtol=3e-7, atol=1e-7) and logs[0] == 0
    shares = np.minimum(1, (values.astype(np.float64) / x_max) ** power)
    seen = shares > 1e-35
    assert np.allclose(weights[: len(values)][seen], shares[seen], rtol=2e-5)
    assert weights[: len(values)].max() == 1 and weights.min() >= 0


def group_of(counts, blocks: int = 3) -> Group:  # type: ignore[no-untyped-def]
    """Return all cells as one group of blocks of rows and of columns, in the order of the matrix."""
    bounds = np.linspace(0, V, blocks + 1).astype(np.int64)
    of = np.repeat(np.arange(blocks), np.diff(bounds)).astype(np.int32)
    cells, ends = np.zeros(len(counts.data) + SPARE, np.uint64), np.zeros((blocks, blocks), np.int64)
    starts = np.asarray(counts.indptr)[bounds[:-1]]
    for i, (a, b) in enumerate(pairwise(bounds)):
        part = cells[counts.indptr[a] : counts.indptr[b]]
        pack(counts.data, counts.indices, counts.indptr, a, b, of, bounds[:-1], ends[i], part)
    keys = np.arange(blocks).astype(np.uint64)
    return Group(cells, starts, ends, bounds[:-1], bounds[:-1], np.arange(blocks)[::-1].copy(), np.arange(blocks), keys)


def unpacked(group: Group) -> list[tuple[int, int, float]]:
    """Return the cells in the order of the visits: step by step, in each the open blocks one after the other."""
    size, found = len(group.order), []
    for s in range(size):
        for i in range(size):
            b = int(group.order[(group.offsets[i] + s) % size])
            start, stop = group.starts[i] + (group.ends[i, b - 1] if b else 0), group.starts[i] + group.ends[i, b]
            for cell in group.cells[start:stop].tolist():
                x = float(np.array([cell & 0xFFFFFFFF], np.uint32).view(np.float32)[0])
                found.append((int(group.rows[i]) + (cell >> 48), int(group.columns[b]) + (cell >> 32 & 0xFFFF), x))
    return found


def visited(tables: Tables, group: Group, lr: float, learn: bool, clip: float = 100.0) -> np.ndarray:
    model = Model(tables.words, tables.contexts, tables.word_bias, tables.context_bias)
    rule = Rule(*(np.float32(x) for x in (lr, 100, np.log(100), 0.75, clip)))
    costs, control = np.zeros((*group.ends.shape, 2)), np.zeros((3, group.ends.size), np.int64)
    visit_group(model, rule, group, learn, np.zeros((2, CHUNK + SPARE), np.float32), control, costs)
    return costs


def twin_of(tables: Tables) -> Twin:
    d = tables.dim
    rows = (tables.words[:, 0, :d], tables.contexts[:, 0, :d], tables.word_bias[:, 0], tables.context_bias[:, 0])
    return Twin(*rows)  # type: ignore[arg-type]


def test_packed_cells_are_the_cells() -> None:
    counts = chance(V, 0.5)
    found = sorted(unpacked(group_of(counts)))
    assert [cell[:2] for cell in found] == [cell[:2] for cell in cells_of(counts)]
    assert np.allclose([x for _, _, x in found], counts.data, rtol=1e-7)


@pytest.mark.parametrize(("dim", "clip"), [(1, 100.0), (16, 0.01), (37, 100.0)])
def test_a_pass_equals_the_twin(dim: int, clip: float) -> None:
    """Values and sums of squares within 1e-5 after some 900 steps, the cost in passing and the cost of zeros too."""
    tables, group = Tables.fresh(V, dim, 3), group_of(chance(V, 0.5))
    tables.word_bias[:, 0] = np.linspace(-1, 1, V)
    twin = twin_of(tables)
    costs = visited(tables, group, 0.05, True, clip)
    expected = 0.0
    for cell in unpacked(group):  # shuffled by the visit
        expected += twin.cost([cell], 100, 0.75)
        twin.step(cell, 0.05, 100, 0.75, clip)
    after = np.column_stack((tables.words[:, 0, :dim], tables.word_bias[:, 0]))
    assert np.allclose(after, twin.words, atol=1e-5)
    assert np.allclose(tables.contexts[:, 1, :dim], twin.sums[1][:, :-1], atol=1e-5)
    assert np.allclose(tables.context_bias[:, 1], twin.sums[1][:, -1], atol=1e-5)
    assert np.isclose(costs[:, :, 0].sum(), expected, rtol=1e-5)
    zeros = Twin(*(np.zeros((V, dim)),) * 2, *(np.zeros(V),) * 2)
    assert np.isclose(costs[:, :, 1].sum(), zeros.cost(unpacked(group), 100, 0.75), rtol=1e-5)
    assert not tables.words[:, 0, dim:].any() and (tables.words[:, 1, dim:] == 1).all()


def test_another_rate_is_not_the_twin() -> None:
    """The comparison above can fail."""
    tables, group = Tables.fresh(V, 16, 3), group_of(chance(V, 0.5))
    twin = twin_of(tables)
    visited(tables, group, 0.06, True)
    for cell in unpacked(group):
        twin.step(cell, 0.05, 100, 0.75)
    assert not np.allclose(tables.words[:, 0, :16], twin.words[:, :-1], atol=1e-5)


def test_looking_changes_nothing() -> None:
    tables, group = Tables.fresh(V, 16, 3), group_of(chance(V, 0.5))
    before, order = tables.words.copy(), group.cells.copy()
    costs = visited(tables, group, 0.05, False)
    assert np.array_equal(before, tables.words) and np.array_equal(order, group.cells)
    assert np.isclose(costs[:, :, 0].sum(), twin_of(tables).cost(unpacked(group), 100, 0.75), rtol=1e-5)
    visited(tables, group, 0.05, True)
    assert not np.array_equal(before, tables.words) and not np.array_equal(order, group.cells)
    assert sorted(order.tolist()) == sorted(group.cells.tolist())
