"""Oracle: numbers a reader can do by hand: the five sentences of the sources, user reports C02, S03 and S07."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from svd_twin import counts_of, solved

from embcli.artifacts.schema import Counts, Vectors
from embcli.counts.weighting import marginals, read_cells, weigh
from embcli.errors import InputError, NumbersError

#: "I like cats / I like dogs / I like cats / I like pizza / I like cats", window 1, flat; like, I, cats, dogs, pizza
FIVE = np.array([[0, 5, 3, 1, 1], [5, 0, 0, 0, 0], [3, 0, 0, 0, 0], [1, 0, 0, 0, 0], [1, 0, 0, 0, 0]])
LIKE, ME, CATS, DOGS, PIZZA = range(5)
#: user report C02, "a b c b a": a, b, c
ABC = np.array([[0, 2, 0], [2, 0, 2], [0, 2, 0]])
LN2 = math.log(2)


def weights(dense: np.ndarray, weight: str = "ppmi", cds: float = 1.0, shift: float = 1.0) -> np.ndarray:
    """Return the weights of all cells, as the step makes them, as a dense matrix."""
    counts = counts_of(dense)
    cells = read_cells(counts, 0, len(dense))
    out = np.zeros(dense.shape)
    rows = np.repeat(np.arange(len(dense)), cells.sizes)
    out[rows, cells.columns] = weigh(cells, weight, marginals(counts, cds), shift)
    return out


def cosine(a: np.ndarray, b: np.ndarray) -> float:
    return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))


def test_ppmi_of_the_five_sentences() -> None:
    # N = 20, n(like) = 10, n(cats) = 3: ln(3 * 20 / (3 * 10)) = ln 2
    ppmi = weights(FIVE)
    assert ppmi[CATS, LIKE] == pytest.approx(LN2, abs=1e-15)
    assert ppmi[LIKE, [ME, CATS, DOGS, PIZZA]] == pytest.approx([LN2] * 4, abs=1e-15)
    assert ppmi[CATS, ME] == 0


@pytest.mark.parametrize("solver", ["auto", "dense", "krylov", "arpack"])
def test_cats_dogs_and_pizza_have_the_same_direction_after_svd(solver: str) -> None:
    made = solved(counts_of(FIVE, ["like", "I", "cats", "dogs", "pizza"]), cds=1.0, dim=2, solver=solver)
    cats, dogs, pizza = made.vectors[[CATS, DOGS, PIZZA]]
    assert cosine(cats, dogs) == pytest.approx(1, abs=1e-6)
    assert cosine(cats, pizza) == pytest.approx(1, abs=1e-6)
    # X = ln 2 (e u^T + u e^T) with |u| = 2: two values of 2 ln 2
    assert made.singular_values == pytest.approx([2 * LN2, 2 * LN2], rel=1e-6)
    assert cosine(made.vectors[CATS], made.vectors[LIKE]) == pytest.approx(0, abs=1e-6)
    assert list(made.words) == ["like", "I", "cats", "dogs", "pizza"]


def test_ppmi_of_a_b_c_b_a() -> None:
    assert weights(ABC) == pytest.approx(np.array([[0, LN2, 0], [LN2, 0, LN2], [0, LN2, 0]]), abs=1e-15)


def test_shift_lowers_and_clips() -> None:
    # PMI(a, b) = ln(2 * 8 / (2 * 4)) = ln 2
    assert weights(ABC, shift=1.5)[0, 1] == pytest.approx(LN2 - math.log(1.5), abs=1e-15)
    assert not weights(ABC, shift=2.0).any()
    assert not weights(ABC, shift=3.0).any()
    assert weights(ABC, "pmi", shift=3.0)[0, 1] == pytest.approx(LN2 - math.log(3), abs=1e-15)


def test_smoothed_contexts_by_hand() -> None:
    # n(c) = 2, 4, 2: N_c = 4 ** .75 + 2 * 2 ** .75; PMI(a, b) = ln(2 N_c / (2 * 4 ** .75))
    total = 4**0.75 + 2 * 2**0.75
    pmi = weights(ABC, "pmi", cds=0.75)
    assert pmi[0, 1] == pytest.approx(math.log(total / 4**0.75), abs=1e-15)
    assert pmi[1, 0] == pytest.approx(math.log(2 * total / (4 * 2**0.75)), abs=1e-15)


def test_log_and_none() -> None:
    assert weights(FIVE, "none").tolist() == FIVE.tolist()
    assert weights(FIVE, "log")[LIKE, ME] == pytest.approx(math.log(6), abs=1e-15)


def test_pmi_keeps_negative_values_of_seen_cells_and_unseen_cells_stay_zero() -> None:
    dense = np.array([[8, 1, 0], [1, 8, 1], [0, 1, 8]])
    pmi, ppmi = weights(dense, "pmi"), weights(dense)
    assert pmi[0, 1] < 0 and ppmi[0, 1] == 0
    assert pmi[0, 2] == ppmi[0, 2] == 0
    assert (ppmi == np.maximum(pmi, 0)).all()


@pytest.mark.parametrize("solver", ["dense", "krylov", "arpack"])
def test_a_word_without_counts_stays_zero(solver: str) -> None:
    dense = np.zeros((6, 6))
    dense[:5, :5] = FIVE
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made = solved(dense, dim=3, solver=solver, weight="log")
    assert not made.vectors[5].any() and not made.contexts[5].any()
    assert np.isfinite(made.vectors).all()


@pytest.mark.parametrize("solver", ["dense", "krylov", "arpack"])
def test_more_dimensions_than_rows_with_counts(solver: str) -> None:
    dense = np.zeros((30, 30))
    dense[2:7, 3:9] = np.random.default_rng(0).integers(1, 9, (5, 6))
    dim = 29 if solver == "arpack" else 30
    made = solved(dense, dim=dim, solver=solver, weight="none", eig=0.0)
    assert made.stats["rank"] == 5 and made.vectors.shape == (30, dim)
    assert made.singular_values[:5] == pytest.approx(np.linalg.svd(dense, compute_uv=False)[:5], rel=1e-6)
    assert not made.vectors[dense.sum(1) == 0].any() and not made.contexts[dense.sum(0) == 0].any()


@pytest.mark.parametrize("weight", ["ppmi", "pmi"])
@pytest.mark.parametrize("n", [3, 7, 49])
def test_independent_words_leave_nothing_to_factorise(weight: str, n: int) -> None:
    # the sums are not exact, and what rounding leaves must not become vectors
    dense = np.outer(np.arange(1, n + 1), np.arange(1, n + 1)) / 5
    with pytest.raises(NumbersError, match=rf"all {n * n:,} cells have {weight} weight 0"):
        solved(dense, weight=weight, cds=1.0, dim=2)
    dense[0, 0] *= 1.5
    assert solved(dense, weight=weight, cds=1.0, dim=2).stats["rank"] >= 1


def test_no_counts_at_all() -> None:
    with pytest.raises(NumbersError, match="holds no counts"):
        solved(np.zeros((4, 4)), dim=2)


@pytest.mark.parametrize("solver", ["dense", "krylov"])
@pytest.mark.parametrize("dim", [1, 2, 3])
def test_any_number_of_dimensions_up_to_the_words(solver: str, dim: int) -> None:
    dense = np.array([[4, 2, 1], [2, 9, 3], [1, 3, 1]])
    made = solved(dense, weight="none", dim=dim, solver=solver)
    assert made.vectors.shape == made.contexts.shape == (3, dim)
    assert made.singular_values == pytest.approx(np.linalg.svd(dense, compute_uv=False)[:dim], rel=1e-5)


def test_more_dimensions_than_words_are_lowered_and_said() -> None:
    said: list[str] = []
    made = solved(ABC, warnings=said, weight="none", dim=100)
    assert made.options["dim"] == 3 and made.vectors.shape == (3, 3)
    assert any("--dim 100" in text and "3" in text for text in said)
    assert any("rank 2" in text for text in said)
    assert not made.vectors[:, 2].any() and made.singular_values[2] == 0
    assert made.stats["rank"] == 2 and made.stats["explained"] == pytest.approx(1)


def test_arpack_gives_way_where_it_cannot_work() -> None:
    said: list[str] = []
    assert solved(ABC, warnings=said, weight="none", dim=3, solver="arpack").options["solver"] == "dense"
    assert any("arpack finds at most 2" in text for text in said)


@pytest.mark.parametrize("solver", ["dense", "krylov", "arpack"])
def test_dimensions_beyond_the_rank_are_zeros_and_said(solver: str) -> None:
    left, right = np.arange(1, 41) % 7 + 1.0, np.arange(1, 41) % 5 + 1.0
    said: list[str] = []
    made = solved(np.outer(left, right), warnings=said, weight="none", dim=5, solver=solver)
    assert made.stats["rank"] == 1 and any("rank 1" in text for text in said)
    assert made.singular_values[0] == pytest.approx(np.linalg.norm(left) * np.linalg.norm(right), rel=1e-6)
    assert not made.singular_values[1:].any() and not made.vectors[:, 1:].any() and not made.contexts[:, 1:].any()


def test_a_zero_exponent_leaves_orthonormal_vectors_and_one_moves_all_to_them() -> None:
    dense = np.array([[4, 2, 1], [2, 9, 3], [1, 3, 1]])
    plain, half, full = (solved(dense, weight="none", dim=2, eig=eig) for eig in (0.0, 0.5, 1.0))
    s = plain.singular_values
    assert plain.vectors.T @ plain.vectors == pytest.approx(np.eye(2), abs=1e-6)
    assert half.vectors == pytest.approx(plain.vectors * np.sqrt(s), abs=1e-6)
    assert full.vectors == pytest.approx(plain.vectors * s, abs=1e-5)


def test_what_the_report_says() -> None:
    made = solved(FIVE, cds=1.0, dim=2)
    assert made.stats["cells"] == 8 and made.stats["solver"] == made.options["solver"] == "dense"
    assert made.stats["explained"] == pytest.approx(1) and made.stats["residual"] < 1e-14
    one = solved(FIVE, cds=1.0, dim=1)
    assert one.stats["explained"] == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("member", "place", "value", "what"),
    [
        ("data", 1, -1.0, "not positive"),
        ("data", 1, math.nan, "not positive"),
        ("data", 1, math.inf, "not positive"),
        ("indices", 2, 3, "outside 0 to 2"),
        ("indices", 2, -1, "outside 0 to 2"),
        ("indptr", 1, 9, "not ascending"),
    ],
)
@pytest.mark.parametrize("solver", ["dense", "krylov", "arpack"])
def test_damaged_counts_are_one_clean_error(member: str, place: int, value: float, what: str, solver: str) -> None:
    counts: Counts = counts_of(ABC)
    counts.path = "counts.npz"
    getattr(counts, member)[place] = value
    with pytest.raises(InputError, match=f"counts.npz: damaged: .*{what}"):
        solved(counts, solver=solver, dim=1)


def test_weights_beyond_float32_are_one_clean_error() -> None:
    for size in (1e200, 1e35, 1e-40):
        with pytest.raises((NumbersError, InputError), match=r"too large or too small|from 1e-18 to 1e.18"):
            solved(ABC * size, weight="none", dim=1)


def test_the_artifact_checks_itself() -> None:
    made = solved(ABC, weight="none", dim=2)
    made.check()
    assert isinstance(made, Vectors) and made.vectors.dtype == np.float32
    assert made.singular_values.dtype == np.float64 and made.unigram.tolist() == [3, 2, 1]
