"""Oracle: dense NumPy in float64. Products are float32: an error may be 1e-6 of the product of absolute values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from svd_twin import counts_of, zipf

from embcli.counts.weighting import read_cells, spans
from embcli.job import Job
from embcli.kernels.lanes import CHAINS
from embcli.kernels.sparse import multiply
from embcli.kernels.vectors16 import WIDTH, aligned
from embcli.models import sparse
from embcli.models.sparse import SparseMatrix, bands, packed, padded_cells


def matrix_of(dense: Any, cells: int = 50) -> SparseMatrix:
    """Return a matrix in blocks of about so many cells; weights are the entries, negative ones too."""
    counts = counts_of(np.abs(dense))
    signs = np.sign(dense)[np.nonzero(dense)]
    blocks = []
    for a, b in spans(counts.indptr, cells):
        part = read_cells(counts, a, b)
        weights = part.values * signs[counts.indptr[a] : counts.indptr[b]]
        blocks.append(packed(part, weights, dense.shape[1]))
    return SparseMatrix(dense.shape, blocks)


def dense_of(matrix: SparseMatrix) -> Any:
    """Return a matrix read back cell by cell; a pad would add 0."""
    out = np.zeros(matrix.shape, np.float32)
    for block in matrix.blocks:
        for tile in block.tiles:
            rows = np.repeat(np.arange(block.first, block.end), np.diff(tile.starts))
            np.add.at(out, (rows, tile.columns), tile.values)
    return out


def block_of(columns: int, seed: int = 0) -> Any:
    X = aligned(columns, WIDTH)
    X[:] = np.random.default_rng(seed).standard_normal(X.shape)
    return X


SHAPES = [(1, 1), (3, 50), (50, 3), (64, 64), (200, 130)]


@pytest.mark.parametrize("shape", SHAPES)
def test_product_and_transposed_product(shape: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sparse, "BAND", 16)
    rng = np.random.default_rng(1)
    dense = zipf(*shape) * rng.choice([-1, 1], shape)
    matrix, job = matrix_of(dense), Job(threads=2)
    transposed = matrix.transposed(job)
    assert dense_of(matrix).tolist() == dense.tolist()
    assert dense_of(transposed).tolist() == dense.T.tolist()
    for A, n in ((matrix, dense), (transposed, dense.T)):
        X = block_of(n.shape[1])
        exact, size = n @ X.astype(np.float64), np.abs(n) @ np.abs(X)
        assert (np.abs(A.times(X, job) - exact) <= 1e-6 * size + 1e-30).all()


def test_a_wrong_cell_is_seen() -> None:
    dense = zipf(30, 30)
    matrix = matrix_of(dense)
    matrix.blocks[0].tiles[0].values[0] += 1
    X = block_of(30)
    size = dense @ np.abs(X)
    assert not (np.abs(matrix.times(X, Job()) - dense @ X.astype(np.float64)) <= 1e-6 * size).all()


@given(st.lists(st.integers(0, 3 * CHAINS + 1), min_size=1, max_size=8), st.integers(0, 99))
def test_rows_of_any_length_including_none(sizes: list[int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    dense = np.zeros((len(sizes), 3 * CHAINS + 2))
    for row, size in zip(dense, sizes, strict=True):
        row[rng.choice(dense.shape[1], size, replace=False)] = rng.integers(1, 9, size)
    matrix = matrix_of(dense, cells=5)
    assert dense_of(matrix).tolist() == dense.tolist()
    assert dense_of(matrix.transposed(Job())).tolist() == dense.T.tolist()
    assert matrix.live().tolist() == [size > 0 for size in sizes]
    for block in matrix.blocks:
        for tile in block.tiles:
            assert not (tile.starts % CHAINS).any()
            for a, b in zip(tile.starts[:-1], tile.starts[1:], strict=True):
                assert (np.diff(tile.columns[a:b].astype(int)) >= 0).all()


def test_zero_weights_are_no_cells() -> None:
    counts = counts_of(np.ones((3, 9)))
    weights = np.where(np.arange(27) % 2, 1.0, 0.0)
    block = packed(read_cells(counts, 0, 3), weights, 9)
    assert dense_of(SparseMatrix((3, 9), [block])).tolist() == weights.reshape(3, 9).tolist()
    assert sum(int((tile.values != 0).sum()) for tile in block.tiles) == 13


def test_a_long_row_is_summed_in_segments() -> None:
    # 60,000 equal terms: one running sum in float32 is off by more than 1e-5, sums of 256 by 1.4e-6
    n = 60_000
    dense = np.full((1, n), 0.1)
    X = aligned(n, WIDTH)
    X[:] = 1.1
    found = matrix_of(dense).times(X, Job())
    exact = float(np.float32(0.1)) * float(np.float32(1.1)) * n
    assert np.abs(found / exact - 1).max() < 3e-6
    one = np.zeros((1, WIDTH), np.float32)
    for _ in range(n):
        one += np.float32(0.1) * np.float32(1.1)
    assert np.abs(one / exact - 1).max() > 1e-5


def test_multiply_adds_to_what_is_there() -> None:
    starts, columns = np.array([0, 4]), np.array([0, 1, 1, 1], np.uint32)
    values = np.array([2, 3, 0, 0], np.float32)
    X, Y = block_of(2), aligned(1, WIDTH)
    Y[:] = 10
    multiply(starts, values, columns, X, Y)
    assert pytest.approx(10 + 2 * X[0] + 3 * X[1], rel=1e-6) == Y[0]


def test_a_block_of_another_shape_is_refused() -> None:
    # the product reads by address: anything else would read beyond the table
    matrix = matrix_of(zipf(20, 20))
    for X in (block_of(19), block_of(20)[:, :8], block_of(20).astype(np.float64), np.asfortranarray(block_of(20))):
        with pytest.raises(ValueError, match="expected float32"):
            matrix.times(X, Job())


@pytest.mark.parametrize("columns", [1, 8192, 8193, 65_000, 1_000_000])
def test_bands_double_and_cover_all_columns(columns: int) -> None:
    bounds = bands(columns)
    assert bounds[0] == 0 and bounds[-1] == columns
    assert (np.diff(bounds) > 0).all() and len(bounds) < 10


def test_memory_is_never_underestimated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sparse, "BAND", 4)
    for shape in SHAPES:
        counts = counts_of(zipf(*shape))
        cells = read_cells(counts, 0, shape[0])
        block = packed(cells, cells.values, shape[1])
        assert sum(len(tile.values) for tile in block.tiles) <= padded_cells(counts.indptr, shape[1])


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_products_have_the_same_bits_at_any_number_of_threads(threads: int) -> None:
    dense = zipf(150, 150)
    matrix, X = matrix_of(dense), block_of(150)
    one, many = Job(threads=1), Job(threads=threads)
    assert matrix.times(X, one).tobytes() == matrix.times(X, many).tobytes()
    a, b = matrix.transposed(one), matrix.transposed(many)
    assert a.times(X, one).tobytes() == b.times(X, many).tobytes()
