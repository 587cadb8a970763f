"""Oracle: what must hold of any Transformer, on random parameters; each beside a case in which it does not hold."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from transformers import batch, config, parameters

from embcli.job import Job
from embcli.models import attention, positions, transformer
from embcli.models.lanes import Lanes
from embcli.models.optimizer import Optimizer, Rule, Schedule
from embcli.models.transformer import Config
from embcli.models.workroom import Layout


def equal(a: np.ndarray, b: np.ndarray) -> bool:
    return bool(np.allclose(a, b, rtol=0, atol=1e-12))


def final(c: Config, P: dict[str, np.ndarray], ids: list[int], mask: attention.Mask | None = None) -> np.ndarray:
    found = transformer.forward(c, P, np.array(ids, np.int64), mask).final
    assert found is not None
    return found


@pytest.mark.parametrize(("position", "holds"), [("none", True), ("sinusoidal", False), ("alibi", False)])
def test_without_positions_and_mask_order_only_orders_the_output(position: str, holds: bool) -> None:
    c = config(position)
    _, P = parameters(c)
    ids, order = np.array([1, 4, 2, 6]), np.array([2, 0, 3, 1])
    everywhere = attention.unmasked(4)
    found = equal(final(c, P, ids[order].tolist(), everywhere), final(c, P, ids.tolist(), everywhere)[order])
    assert found is holds
    assert not equal(final(c, P, ids[order].tolist()), final(c, P, ids.tolist())[order])  # the causal mask is an order


def test_the_same_token_in_two_contexts() -> None:
    """I like, They like: one row, one first input, two states."""
    c = config("sinusoidal")
    _, P = parameters(c)
    mine, theirs = (transformer.forward(c, P, np.array([first, 3])) for first in (0, 1))
    assert np.array_equal(mine.inputs[1], theirs.inputs[1])
    assert not equal(mine.states[0][1], theirs.states[0][1])
    alone = attention.unmasked(2) & np.eye(2, dtype=bool)  # a token that sees nobody else knows no context
    mine, theirs = (transformer.forward(c, P, np.array([first, 3]), alone) for first in (0, 1))
    assert equal(mine.states[0][1], theirs.states[0][1])


def test_permuting_ids_and_rows_together_permutes_logits_only() -> None:
    c = config("learned", bias=True)
    _, P = parameters(c)
    order = np.random.default_rng(0).permutation(c.vocabulary)  # new id i is old id order[i]
    renamed = P | {"token_rows": P["token_rows"][order], "output_bias": P["output_bias"][order]}
    ids = np.array([1, 4, 2])
    seen, again = transformer.forward(c, P, ids), transformer.forward(c, renamed, np.argsort(order)[ids])
    assert seen.final is not None and again.final is not None
    assert equal(seen.final, again.final)
    assert equal(transformer.scores(c, renamed, again.final), transformer.scores(c, P, seen.final)[:, order])
    assert not equal(transformer.forward(c, renamed, ids).inputs, seen.inputs)  # rows alone


def test_sums_ignore_order_and_sequences_do_not() -> None:
    """Dog bites man, man bites dog."""
    E, P = np.random.default_rng(0).standard_normal((3, 8)), positions.sinusoidal(np.arange(3), 8)
    one, other = E[[0, 1, 2]] + P, E[[2, 1, 0]] + P
    assert equal(one.sum(0), other.sum(0)) and not equal(one, other)


def test_scores_of_rope_depend_on_the_distance_alone() -> None:
    q, k = np.random.default_rng(0).standard_normal((2, 1, 8))

    def score(i: int, j: int) -> float:
        return float((positions.rotate(q, np.array([i])) @ positions.rotate(k, np.array([j])).T).item())

    assert score(5, 2) == pytest.approx(score(103, 100), abs=1e-10)
    assert score(5, 2) != pytest.approx(score(2, 5), abs=1e-3)
    there = positions.rotate(q, np.array([7]))
    assert equal(positions.rotate(there, np.array([7]), back=True), q)
    with pytest.raises(ValueError, match="pairs"):
        positions.rotate(np.zeros((1, 3)), np.array([0]))


def test_the_causal_mask_is_the_right_way_round() -> None:
    """user-reports A03, A05."""
    c = config("rope")
    _, P = parameters(c)
    seen = transformer.forward(c, P, np.array([1, 2, 3, 4]))
    A = seen.weights[0]
    assert A.shape == (2, 4, 4)
    assert (A[:, ~attention.causal(4)] == 0).all() and np.array_equal(A[:, 0], [[1, 0, 0, 0]] * 2)
    np.testing.assert_allclose(A.sum(-1), 1, atol=1e-12)
    changed = transformer.forward(c, P, np.array([1, 2, 3, 6])).states[-1]
    assert np.array_equal(changed[:3], seen.states[-1][:3]) and not equal(changed[3], seen.states[-1][3])
    both = attention.causal(4) & attention.padding(3, 4)
    padded = transformer.forward(c, P, np.array([1, 2, 3, 4]), both)
    assert equal(padded.states[-1][:3], seen.states[-1][:3]) and (padded.weights[0][:, 3] == 0).all()
    assert np.isfinite(padded.states[-1]).all()


@pytest.mark.parametrize("T", [0, 1])
def test_texts_of_no_and_of_one_token(T: int) -> None:
    for position in ("sinusoidal", "learned", "rope", "alibi", "none"):
        c = config(position)
        seen = transformer.forward(c, parameters(c)[1], np.zeros(T, np.int64))
        assert seen.final is not None and seen.final.shape == (T, 8) and seen.weights[0].shape == (2, T, T)


@pytest.mark.parametrize(
    ("tie", "optimizer", "moved"), [(False, "sgd", False), (True, "sgd", True), (False, "adamw", False)]
)
def test_rows_of_absent_tokens(tie: bool, optimizer: str, moved: bool) -> None:
    """With tied tables every row gets a gradient from the output side; untied, a row that is absent is left alone."""
    c = config("none", tie=tie)
    theta, _P = parameters(c)
    theta32 = theta.astype(np.float32)
    lanes = Lanes(c, theta32, 3, Rule(optimizer == "adamw", clip=0))
    rows = batch(c)
    rows.ids[rows.ids == 5] = 4
    before = lanes.network.parameters["token_rows"].copy()
    lanes.step(rows, 1, 0.1)
    after = lanes.network.parameters["token_rows"]
    assert np.array_equal(before[5], after[5]) is not moved
    assert not np.array_equal(before[4], after[4])


def test_weight_decay_takes_the_matrices_alone() -> None:
    """Not token tables, positions, biases, norms; without a gradient a step is the decay and nothing else."""
    c = config("learned", tie=False, bias=True)
    layout = Layout(c)
    before = np.ones(layout.size, np.float32)
    after = before.copy()
    optimizer = Optimizer(layout, after, 1, Rule(True, weight_decay=0.5), frozenset())
    optimizer.step(1, 0.1, map)
    decayed = {name for name, view in layout.views(after).items() if (view != 1).any()}
    assert decayed == {"query", "key", "value", "merge", "widen", "narrow"}
    np.testing.assert_allclose(layout.views(after)["query"], 0.95, rtol=1e-6)
    optimizer.rule = Rule(True, weight_decay=0)
    optimizer.step(2, 0.1, map)
    np.testing.assert_allclose(layout.views(after)["query"], 0.95, rtol=1e-6)


def test_the_rate_rises_and_falls_and_long_gradients_are_cut() -> None:
    schedule = Schedule(1.0, 0.1, 4, 12)
    rates = [schedule.rate(step) for step in range(1, 13)]
    assert rates[:4] == [0.25, 0.5, 0.75, 1.0] and rates[-1] == pytest.approx(0.1)
    assert rates[7] == pytest.approx(0.55) and sorted(rates[3:], reverse=True) == rates[3:]
    assert replace(schedule, decay="linear").rate(8) == pytest.approx(0.55)
    assert replace(schedule, decay="none", warmup=0).rate(1) == 1.0
    c = config("none")
    layout = Layout(c)
    for clip, length in ((1.0, 1.0), (0.0, 2.0 * np.sqrt(layout.size))):
        theta = np.zeros(layout.size, np.float32)
        optimizer = Optimizer(layout, theta, 2, Rule(False, clip=clip), frozenset())
        optimizer.gradients.fill(1)  # two lanes: a gradient of twos
        assert optimizer.step(1, 1.0, map) == pytest.approx(2 * np.sqrt(layout.size))
        assert np.linalg.norm(theta) == pytest.approx(length, rel=1e-5)


def test_lanes_add_up_to_one_pass() -> None:
    """However a batch is shared out, the gradient is the same up to rounding, and the bytes the same at any threads."""
    c = config("alibi", tie=False, T=131)
    theta, _ = parameters(c)
    found = []
    for threads, batch_size in ((1, 6), (3, 6)):
        values = theta.astype(np.float32)
        crew = Job(threads=threads).crew()
        lanes = Lanes(c, values, batch_size, Rule(True), run=crew.__enter__())
        assert lanes.count == 1 + (6 * 131 // 512 > 1)
        loss, norm = lanes.step(batch(c, 6), 1, 0.01)
        crew.__exit__(None, None, None)
        found.append((loss, norm, values.tobytes()))
    assert found[0] == found[1]
    other = theta.astype(np.float32)
    Lanes(replace(c), other, 6, Rule(True)).step(batch(c, 6, seed=1), 1, 0.01)
    assert other.tobytes() != found[0][2]
