"""Oracle: GloVe itself under another number of threads, in two parts, and the theory of its minimum."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from glove import array, chance, cost_of, counts_of, errors_of, fit, saved

from embcli.artifacts import provenance, store
from embcli.artifacts.schema import Counts, Vectors
from embcli.errors import InputError, NumbersError, UsageError
from embcli.job import Job
from embcli.models import strata
from embcli.models.glove_trainer import Tables, Threads
from embcli.spec import STEPS, GloveParams, make

MEMBERS = [name for name in Vectors.members if not name.endswith(("_bytes", "_offsets"))]


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of few cells, so that a small matrix has many of them."""
    monkeypatch.setattr(strata, "FEW", 200)


def cut_of(counts: Counts) -> strata.Strata:
    return Threads(counts, Tables(len(counts.words), 16), GloveParams(dim=16), Job()).strata


def same(a: Vectors, b: Vectors) -> bool:
    kept = [name for name in MEMBERS if getattr(a, name) is not None]
    return all(np.array_equal(array(a, name), array(b, name)) for name in kept)


def test_any_number_of_threads_gives_the_same_bits() -> None:
    counts = chance(300, 0.2)
    assert len(cut_of(counts).rows) > 20
    one = fit(counts, dim=20, epochs=3)
    for threads in (2, 3, 5):
        assert same(one, fit(counts, threads, dim=20, epochs=3))
    assert not same(one, fit(counts, seed=1, dim=20, epochs=3))  # what it would look like


def test_every_cell_is_visited_once_an_epoch_in_another_order() -> None:
    cut = cut_of(chance(300, 0.2))
    orders = [np.concatenate([blocks for blocks, _, _ in cut.groups(0, epoch)]) for epoch in (0, 1)]
    assert all(sorted(order.tolist()) == [*range(len(cut.rows) - 1)] for order in orders)
    assert orders[0].tolist() != orders[1].tolist()
    keys = [{int(key) for _, _, group in cut.groups(0, epoch) for key in group} for epoch in (0, 1)]
    assert not keys[0] & keys[1] and len(keys[0]) == len(cut.rows) - 1
    assert cut.rows[0] == cut.columns[0] == 0 and cut.rows[-1] == cut.columns[-1] == 300


def written(made: Vectors, counts, path: Path, **options: object) -> Path:  # type: ignore[no-untyped-def]
    """Write what training left as the command does."""
    source = [(counts.kind, counts.digest, counts.meta)]
    store.write(made, str(path), provenance.compose("glove", make(STEPS["glove"].params, options), 0, source, made, {}))
    return path


@pytest.mark.parametrize("output", ["sum", "words", "concat"])
def test_five_epochs_and_five_are_ten(output: str, tmp_path: Path) -> None:
    """user-reports G02: also if the ten were not planned; the cost goes on without a jump."""
    counts = saved(chance(100, 0.3), tmp_path / "c.npz")
    options = {"dim": 10, "output": output}
    ten = fit(counts, epochs=10, **options)
    planned = written(fit(counts, epochs=10, stop_after=5, **options), counts, tmp_path / "a.npz", epochs=10, **options)
    five = written(fit(counts, epochs=5, **options), counts, tmp_path / "b.npz", epochs=5, **options)
    assert same(ten, fit(counts, resume=str(planned), threads=2))
    later = fit(counts, resume=str(five), epochs=10)
    assert same(ten, later) and later.options == ten.options and later.stats == ten.stats
    assert (np.diff(ten.epoch_loss) < 0).all()
    for wrong in ({"dim": 11}, {"lr": 0.1}, {"epochs": 4}, {"stop_after": 3}):
        with pytest.raises(UsageError, match=next(iter(wrong)).replace("_", "-")):
            fit(counts, resume=str(five), **wrong)


def test_without_the_sums_of_squares_it_is_not_the_same(tmp_path: Path) -> None:
    """What G02 reports: the test above can fail."""
    counts = saved(chance(100, 0.3), tmp_path / "c.npz")
    half = fit(counts, epochs=10, stop_after=5, dim=10)
    half.word_squares = np.ones_like(half.word_squares)
    path = written(half, counts, tmp_path / "a.npz", epochs=10, dim=10)
    assert not same(fit(counts, epochs=10, dim=10), fit(counts, resume=str(path)))


def test_the_cost_is_that_of_all_cells() -> None:
    counts = chance(200, 0.3)
    made = fit(counts, dim=30, epochs=4)
    assert made.epoch_loss[-1] == pytest.approx(cost_of(counts, made), rel=1e-5)
    assert made.epoch_loss[-2] != pytest.approx(cost_of(counts, made), rel=1e-3)
    assert (np.diff(made.epoch_loss) < 0).all()


def test_with_enough_dimensions_products_approach_the_logarithms() -> None:
    """Pennington et al. 2014, equation 7: w.c + b + b' = ln X where the model can be exact; not with 1."""
    counts = chance(60, 0.5)
    left = {}
    for dim in (60, 1):
        made = fit(counts, dim=dim, epochs=400, x_max=1e-3)  # every weight 1
        e = errors_of(counts, made.word_rows, made.contexts, made.bias, made.context_bias)
        left[dim] = float(np.abs(e).max())
    assert left[60] < 0.02 < 1 < left[1]


def test_absurd_rates_end_with_a_lower_one() -> None:
    """user-reports G01: the epoch is named."""
    for lr in (1e4, 1e9, 1e30, 1e300):
        with pytest.raises(NumbersError, match=re.escape("epoch 1: ") + ".*try --lr 0.05"):
            fit(chance(100, 0.3), dim=10, lr=lr)


def test_damaged_cells_are_refused() -> None:
    for name, wrong in (("data", -1.0), ("data", 0.0), ("data", np.nan), ("indices", 100), ("indices", -1)):
        counts = chance(100, 0.3)
        getattr(counts, name)[7] = wrong
        with pytest.raises(InputError, match=f"damaged: {name}"):
            fit(counts, dim=4)


def test_a_matrix_of_integers_and_one_of_floats_give_the_same() -> None:
    cells = [(i, j, float(1 + (i * j) % 9)) for i in range(20) for j in range(20) if (i + j) % 3]
    floats, whole = counts_of(cells, 20), counts_of(cells, 20)
    whole.data = whole.data.astype(np.int64)
    assert same(fit(floats, dim=5, epochs=2), fit(whole, dim=5, epochs=2))
