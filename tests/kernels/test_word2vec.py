"""Oracle: word2vec's kernels against the same predictions and steps in float64, with NumPy, one after the other.

Also golden alias tables and Huffman trees, plain counts of windows, and chances against their formulas.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from embcli.artifacts.schema import Tokens, Words
from embcli.errors import NumbersError
from embcli.job import Job
from embcli.kernels import draws
from embcli.kernels.rows16 import TILE
from embcli.kernels.sigmoids import logistic
from embcli.kernels.tree import huffman
from embcli.kernels.vectors16 import aligned
from embcli.models.trainer import Trainer
from embcli.models.training_plan import Plan, Tables
from embcli.models.workspace import busiest, goal_of, share_of

ALL = (1 << 64) - 1
GOLD = int(draws.GOLD)
BASE = Plan(dim=20, window=3, negative=3, sample=0.0, epochs=1, lr=0.1, min_lr=0.01, seed=5)
VARIANTS = [
    replace(BASE, arch=arch, loss=loss, cbow_sum=summed)
    for arch, summed in (("skipgram", False), ("cbow", False), ("cbow", True))
    for loss in ("negative", "hierarchical", "softmax")
]
NAMES = [f"{p.arch}{'-sum' * p.cbow_sum}-{p.loss}" for p in VARIANTS]


def text(words: int, rows: list[int], seed: int = 0, gaps: bool = False) -> Tokens:
    """Return random tokens in rows of these lengths; more frequent words first; with gaps, about a tenth is none."""
    rng = np.random.default_rng(seed)
    ids = np.minimum(rng.integers(0, words, sum(rows)), rng.integers(0, words, sum(rows))).astype(np.uint16)
    if gaps:
        ids[rng.random(len(ids)) < 0.1] = words
    unigram = np.bincount(ids, minlength=words + 1)[:words].astype(np.int64)
    offsets = np.concatenate(([0], np.cumsum(rows))).astype(np.int64)
    return Tokens(ids=ids, row_offsets=offsets, words=Words.of([f"w{i}" for i in range(words)]), unigram=unigram)


def start(plan: Plan, words: int, scale: float = 1.0) -> Tables:
    """Return tables of random rows, outputs too, so that every step is seen."""
    rng = np.random.default_rng(1)
    nodes = words - (plan.loss == "hierarchical")
    tables = Tables(words, nodes, plan.dim)
    for view in (tables.vectors, tables.contexts):
        view[:] = scale * (rng.random(view.shape) - 0.5)
    return tables


def mixed(x: int) -> int:
    """splitmix64's finaliser, in Python's numbers."""
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 & ALL
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB & ALL
    return x ^ (x >> 31)


class Chance:
    """The draws of one share: word by word of the noise, with the next ones drawn ahead."""

    def __init__(self, plan: Plan, tokens: Tokens, epoch: int, first: int) -> None:
        goal = goal_of(plan, tokens.unigram)
        self.cells, self.plan = [int(c) for c in goal.cells], plan
        self.state = mixed(key(plan, epoch) ^ (first * GOLD & ALL))
        self.turn, self.now, self.ahead = 0, [0] * plan.negative, self.some()

    def one(self) -> int:
        self.state = (self.state + GOLD) & ALL
        x = mixed(self.state)
        j = (x >> 32) * len(self.cells) >> 32
        return j if (x & 0xFFFFFFFF) < self.cells[j] >> 32 else self.cells[j] & 0xFFFFFFFF

    def some(self) -> list[int]:
        return [self.one() for _ in range(self.plan.negative)]

    def negatives(self, target: int) -> list[int]:
        fresh, self.turn = self.turn == 0, (self.turn + 1) % self.plan.share
        for k in range(self.plan.negative):
            if fresh or self.now[k] == target:
                other = self.ahead[k] if fresh else target
                while other == target:
                    other = self.one()
                self.now[k] = other
        if fresh:
            self.ahead = self.some()
        return self.now


def key(plan: Plan, epoch: int) -> int:
    return mixed((mixed(plan.seed) + GOLD * (epoch + 1)) & ALL)


def places(plan: Plan, tokens: Tokens, epoch: int, row: int) -> Iterator[tuple[int, int, int]]:
    """Yield (token, word or -1, reach) of the row's tokens that subsampling keeps."""
    limits = draws.keep_limits(tokens.unigram, plan.sample)
    for t in range(tokens.row_offsets[row], tokens.row_offsets[row + 1]):
        x, w = mixed((key(plan, epoch) + t * GOLD) & ALL), int(tokens.ids[t])
        if x >> 32 < int(limits[w]):
            less = 0 if plan.fixed_window else (x & 0xFFFFFFFF) * plan.window >> 32
            yield t, (w if w < len(tokens.words) else -1), plan.window - less


def centres(plan: Plan, tokens: Tokens, epoch: int = 0) -> Iterator[tuple[int, int, list[int]]]:
    """Yield (token, word, contexts) over the whole text, for centres with a context."""
    for row in range(len(tokens.row_offsets) - 1):
        kept = list(places(plan, tokens, epoch, row))
        for i, (t, w, reach) in enumerate(kept):
            near = kept[max(i - reach, 0) : i] + kept[i + 1 : i + 1 + reach]
            contexts = [c for _, c, _ in near if c >= 0]
            if w >= 0 and contexts:
                yield t, w, contexts


def judged(plan: Plan, scores: np.ndarray, labels: np.ndarray) -> tuple[float, np.ndarray]:
    """Return the loss and -dL/dscores."""
    if plan.loss == "softmax":
        top = scores.max()
        p = np.exp(scores - top)
        return float(math.log(p.sum()) + top - scores @ labels), labels - p / p.sum()
    signs = 2 * labels - 1
    return float(np.logaddexp(0, -signs * scores).sum()), labels - 1 / (1 + np.exp(-scores))


def plain_epoch(plan: Plan, tokens: Tokens, X: np.ndarray, Y: np.ndarray) -> tuple[float, int]:
    """Train float64 tables with one lane that holds the whole text; return (sum of losses, predictions)."""
    goal, chance = goal_of(plan, tokens.unigram), Chance(plan, tokens, 0, 0)
    total, made = 0.0, 0
    for _, word, contexts in centres(plan, tokens):
        outputs, labels = listed(plan, goal, chance, word)
        inputs = [contexts] if plan.arch == "cbow" else [[c] for c in contexts]
        scale = [1 / len(rows) if plan.arch == "cbow" and not plan.cbow_sum else 1.0 for rows in inputs]
        h = [s * X[rows].sum(axis=0) for s, rows in zip(scale, inputs, strict=True)]
        results = [judged(plan, Y[outputs] @ x, labels) for x in h]
        moves = [np.zeros_like(x) for x in h]
        for first in range(0, len(outputs), TILE):  # by tiles of outputs, as rows that come twice can tell
            for c, (rows, x) in enumerate(zip(inputs, h, strict=True)):
                if plan.arch == "skipgram" and len(outputs) <= TILE:
                    x = X[rows[0]].copy()  # a word that stands twice in the window has moved by now
                move = np.zeros_like(x)
                for k, g in list(zip(outputs, results[c][1], strict=True))[first : first + TILE]:
                    move += plan.lr * g * Y[k]
                    Y[k] += plan.lr * g * x * (not plan.freeze_output)
                moves[c] += move
                if len(outputs) <= TILE and plan.arch == "skipgram":
                    X[rows[0]] += move
        if plan.arch == "cbow" or len(outputs) > TILE:
            for rows, move in zip(inputs, moves, strict=True):
                for row in rows:
                    X[row] += move
        total, made = total + sum(loss for loss, _ in results), made + len(results)
    return total, made


def listed(plan: Plan, goal: Any, chance: Chance, word: int) -> tuple[list[int], np.ndarray]:
    """Return the output rows that predict a word, and their labels."""
    if plan.loss == "negative":
        return [word, *chance.negatives(word)], np.eye(1, 1 + plan.negative)[0]
    if plan.loss == "softmax":
        return list(range(len(goal.cells))), np.eye(1, len(goal.cells), word)[0]
    span = slice(goal.path_offsets[word], goal.path_offsets[word + 1])
    return goal.path[span].tolist(), (goal.path_signs[span] > 0).astype(float)


def one_lane(plan: Plan, tokens: Tokens) -> Plan:
    """Return the plan with a constant rate and, by hogwild in one thread, tables that are written to directly."""
    return replace(plan, lanes=1, block=len(tokens.ids), min_lr=plan.lr, hogwild=True)


def run(plan: Plan, tokens: Tokens, threads: int = 1, scale: float = 1.0, epochs: int = 1) -> tuple[Any, Tables]:
    tables = start(plan, len(tokens.words), scale)
    trainer = Trainer(plan, tokens, tables, Job(threads=threads))
    return [trainer.epoch(e) for e in range(epochs)][-1], tables


@pytest.mark.parametrize("plan", VARIANTS, ids=NAMES)
@pytest.mark.parametrize("gaps", [False, True])
def test_an_epoch_is_the_plain_one(plan: Plan, gaps: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables within 2e-6 and loss within 1e-6 of float64 after 60 tokens at rate 0.1."""
    monkeypatch.setattr("embcli.models.workspace.BLOCKS", 0.01)
    tokens = text(23, [40, 1, 0, 19], gaps=gaps)
    plan = one_lane(plan, tokens)
    figures, tables = run(plan, tokens)
    before = start(plan, len(tokens.words))
    X, Y = before.vectors.astype(float), before.contexts.astype(float)
    total, made = plain_epoch(plan, tokens, X, Y)
    assert figures.predictions == made
    assert figures.loss == pytest.approx(total / made, rel=1e-6)
    np.testing.assert_allclose(tables.vectors, X, atol=2e-6)
    np.testing.assert_allclose(tables.contexts, Y, atol=2e-6)
    assert np.abs(tables.vectors - before.vectors).max() > 1e-3


@pytest.mark.parametrize("change", [{"negative": 1}, {"negative": 9}, {"share": 3}, {"sample": 0.05}, {"dim": 48}])
def test_other_settings_are_the_plain_ones(change: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("embcli.models.workspace.BLOCKS", 0.01)
    tokens = text(40, [60])
    plan = one_lane(replace(BASE, window=2, lr=0.01, **change), tokens)
    figures, tables = run(plan, tokens)
    before = start(plan, len(tokens.words))
    X, Y = before.vectors.astype(float), before.contexts.astype(float)
    total, made = plain_epoch(plan, tokens, X, Y)
    assert (figures.predictions, figures.loss) == (made, pytest.approx(total / made, rel=1e-6))
    np.testing.assert_allclose(tables.vectors, X, atol=3e-6)
    np.testing.assert_allclose(tables.contexts, Y, atol=3e-6)


@pytest.mark.parametrize("plan", VARIANTS, ids=NAMES)
def test_the_step_is_the_gradient(plan: Plan) -> None:
    """A row's change at a tiny rate is -rate dL/drow by central differences; of CBOW's means, q times that."""
    tokens = text(3, [2])
    plan = replace(one_lane(plan, tokens), lr=1e-3, min_lr=1e-3, fixed_window=True)
    tokens = replace_ids(tokens, [0, 1])
    figures, tables = run(plan, tokens)
    before = start(plan, 3)
    X, Y = before.vectors.astype(float), before.contexts.astype(float)
    assert figures.predictions == 2
    moved = (tables.vectors.astype(float) - X) / plan.lr
    for row, word in ((1, 0), (0, 1)):  # context 1 predicts word 0, context 0 word 1
        goal, chance = goal_of(plan, tokens.unigram), Chance(plan, tokens, 0, 0)
        outputs, labels = listed(plan, goal, chance, 0)
        if word == 1:
            outputs, labels = listed(plan, goal, chance, 1)
        for j in (0, 7, 19):
            losses = []
            for sign in (1, -1):
                x = X[row].copy()
                x[j] += sign * 1e-5
                losses.append(judged(plan, Y[outputs] @ x, labels)[0])
            assert moved[row, j] == pytest.approx(-(losses[0] - losses[1]) / 2e-5, abs=2e-3)


def replace_ids(tokens: Tokens, ids: list[int]) -> Tokens:
    V = len(tokens.words)
    return Tokens(
        ids=np.array(ids, np.uint16), row_offsets=np.array([0, len(ids)]), words=tokens.words,
        unigram=np.bincount(ids, minlength=V).astype(np.int64),
    )  # fmt: skip


@pytest.mark.parametrize("plan", VARIANTS, ids=NAMES)
def test_the_same_bytes_at_any_number_of_threads(plan: Plan) -> None:
    tokens = text(50, [700, 3, 900, 0, 1, 396], gaps=True)
    plan = replace(plan, block=40, share=2, epochs=2, sample=0.01)
    made = {t: run(plan, tokens, t, epochs=2) for t in (1, 2, 3, 5, 8)}
    assert len({tables.inputs.tobytes() + tables.outputs.tobytes() for _, tables in made.values()}) == 1
    assert len({(f.loss, *f.intervals) for f, _ in made.values()}) == 1


def test_lanes_see_the_table_of_before_the_block() -> None:
    """The sibling: two lanes are not one, and a longer share is not a shorter one."""
    tokens = text(50, [2000])
    bytes_of = {
        (lanes, block): run(replace(BASE, lanes=lanes, block=block, sample=0.01), tokens)[1].inputs.tobytes()
        for lanes, block in ((1, 4), (2, 2), (8, 1))
    }
    assert len(set(bytes_of.values())) == 3


@pytest.mark.parametrize(("lanes", "block"), [(1, 500), (8, 7), (3, 1), (8, 500)])
@pytest.mark.parametrize("fixed", [False, True])
def test_no_pair_is_lost_between_shares(lanes: int, block: int, fixed: bool) -> None:
    """Pairs of an epoch, however it is cut, are those of a plain count; so are CBOW's centres."""
    tokens = text(30, [333, 2, 1, 0, 90], gaps=True)
    for sample in (0.0, 0.02):
        plan = replace(BASE, lanes=lanes, block=block, fixed_window=fixed, sample=sample, epochs=2)
        found = list(centres(plan, tokens, 1))
        for arch, many in (("skipgram", sum(len(c) for *_, c in found)), ("cbow", len(found))):
            trainer = Trainer(replace(plan, arch=arch), tokens, start(plan, 30), Job())
            assert trainer.epoch(1).predictions == many


def test_held_rows_are_left_out_and_a_frozen_table_stays() -> None:
    tokens = text(30, [50, 50])
    part = Tokens(ids=tokens.ids[:50], row_offsets=tokens.row_offsets[:2], words=tokens.words, unigram=tokens.unigram)
    held = Trainer(BASE, tokens, start(BASE, 30), Job(), np.array([False, True])).epoch(0)
    assert held.predictions == Trainer(BASE, part, start(BASE, 30), Job()).epoch(0).predictions
    _, tables = run(replace(BASE, freeze_output=True), tokens)
    assert np.array_equal(tables.contexts, start(BASE, 30).contexts)
    assert not np.array_equal(tables.vectors, start(BASE, 30).vectors)


def test_an_untrained_loss_is_k_plus_1_times_log_2() -> None:
    """user-reports W: the loss of zeros is (k + 1) log 2; of the tree the path's length times log 2; log V."""
    tokens = text(30, [500])
    for loss, expected in (("negative", 4 * math.log(2)), ("softmax", math.log(30))):
        plan = replace(BASE, loss=loss, lr=1e-9, min_lr=0.0)
        figures = Trainer(plan, tokens, Tables(30, 30, plan.dim), Job()).epoch(0)
        assert figures.loss == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("lr", [1e6, 1e30])
def test_divergence_names_the_epoch_and_a_lower_rate(lr: float) -> None:
    """user-reports X: a loss or a table that is not finite is noticed within the epoch."""
    plan = replace(BASE, lr=lr, arch="cbow", cbow_sum=True)
    with pytest.raises(NumbersError, match=r"epoch 1: .*try --lr"):
        run(plan, text(30, [500]))


def test_nothing_to_predict_is_said() -> None:
    with pytest.raises(NumbersError, match="nothing to predict"):
        run(BASE, text(1, [50]))


def test_logistic_losses_are_exact_to_a_millionth() -> None:
    """exp and log of the kernel against NumPy's in float64, margins from -100 to 100; what is behind stays."""
    scores, signs = aligned(100_016), aligned(100_016)
    scores[:] = np.linspace(-100, 100, len(scores))
    signs[:] = np.where(np.arange(len(signs)) % 3 == 0, 1, -1)
    x, n = scores.astype(float), 100_003
    expected = signs * 0.5 / (1 + np.exp(signs * x))
    loss = logistic_sum(scores, signs, n)
    np.testing.assert_allclose(scores[:n], expected[:n], rtol=1e-6, atol=1e-37)
    assert np.array_equal(scores[n:], x[n:].astype(np.float32))
    assert loss == pytest.approx(np.logaddexp(0, -signs * x)[:n].sum(), rel=1e-5)
    for margin in np.linspace(-30, 30, 1001).astype(np.float32):
        scores[0], signs[0] = margin, 1
        assert logistic_sum(scores, signs, 1) == pytest.approx(np.logaddexp(0, -float(margin)), rel=1e-6)


def logistic_sum(scores: Any, signs: Any, count: int) -> float:
    from embcli.kernels._jit import kernel

    @kernel
    def call(scores, signs, count):  # type: ignore[no-untyped-def]
        return logistic(scores.ctypes.data, signs.ctypes.data, count, np.float32(0.5))

    f = _CALLS.setdefault("logistic", call)
    return float(f(scores, signs, count))


_CALLS: dict[str, Any] = {}


def test_the_alias_table_is_golden_and_draws_by_weight() -> None:
    """Weights 1, 3: cell 0 is half its own and half word 1's; cell 1 its own. Draws follow the weights."""
    cells = draws.alias_cells(np.array([1.0, 3.0]))
    assert [(int(c) >> 32, int(c) & 0xFFFFFFFF) for c in cells] == [(1 << 31, 1), ((1 << 32) - 1, 1)]
    weights = np.array([5.0, 0.0, 1.0, 2.0, 8.0])
    cells = draws.alias_cells(weights)
    own = (cells >> np.uint64(32)).astype(float) / 2**32
    share = own.copy()
    np.add.at(share, (cells & np.uint64(0xFFFFFFFF)).astype(int), 1 - own)
    np.testing.assert_allclose(share / 5, weights / 16, atol=1e-9)
    drawn = [draws.draw(np.uint64(mixed(i * GOLD & ALL)), cells) for i in range(4000)]
    np.testing.assert_allclose(np.bincount(drawn, minlength=5) / 4000, weights / 16, atol=0.03)


def test_a_negative_is_never_the_target() -> None:
    """The target is drawn again, though the noise has hardly another word; the sibling draws it."""
    cells = draws.alias_cells(np.array([1e6, 1.0, 1.0]))
    assert all(draws.draw_other(np.uint64(i), cells, 0)[1] in (1, 2) for i in range(200))
    assert any(draws.draw(np.uint64(mixed(i)), cells) == 0 for i in range(200))


def test_words_are_kept_by_the_formula() -> None:
    """Chance min(1, sqrt(t/f) + t/f); the gap always takes its place; 0 keeps all."""
    unigram = np.array([900, 90, 10], np.int64)
    limits = draws.keep_limits(unigram, 0.01)
    f = unigram / 1000
    np.testing.assert_allclose(limits[:3] / 2**32, np.minimum(1, np.sqrt(0.01 / f) + 0.01 / f), rtol=1e-9)
    assert int(limits[3]) == 1 << 32
    assert set(draws.keep_limits(unigram, 0.0).tolist()) == {1 << 32}
    kept = sum(mixed((key(BASE, 0) + t * GOLD) & ALL) >> 32 < int(limits[0]) for t in range(20_000))
    assert kept / 20_000 == pytest.approx(float(limits[0]) / 2**32, abs=0.01)


def test_the_tree_is_golden() -> None:
    """Counts 10, 4, 3, 2, 2: (e d) 4 before b of equal count, then ... ; weighted length is the least there is."""
    tree = huffman(np.array([10, 4, 3, 2, 2], np.int64))
    paths = [tree.path[a:b].tolist() for a, b in zip(tree.offsets[:-1], tree.offsets[1:], strict=True)]
    signs = [tree.signs[a:b].tolist() for a, b in zip(tree.offsets[:-1], tree.offsets[1:], strict=True)]
    # e + d = node 0 (4); c + node 0 = node 1 (7), for c is rarer; b + node 1 = node 2 (11); a + node 2 = node 3
    assert paths == [[3], [3, 2], [3, 2, 1], [3, 2, 1, 0], [3, 2, 1, 0]]
    assert signs == [[1], [-1, 1], [-1, -1, 1], [-1, -1, -1, -1], [-1, -1, -1, 1]]
    tie = huffman(np.array([2, 2, 1, 1], np.int64))  # the inner node of weight 2 goes before leaves of weight 2
    assert np.diff(tie.offsets).tolist() == [1, 2, 3, 3]


def test_a_tree_of_words_that_are_nowhere_is_shallow() -> None:
    assert np.diff(huffman(np.array([5] + [0] * 1023, np.int64)).offsets).max() <= 11


def test_small_texts_and_busy_rows_have_short_shares() -> None:
    """A share shrinks with the text, and with the steps of the busiest row: a tree's root, a tiny vocabulary."""
    long = text(500, [0])
    long.ids = np.broadcast_to(np.uint16(1), (10**8,))
    long.unigram = np.full(500, 10**8 // 500)
    assert share_of(replace(BASE, lr=0.025), long) == BASE.block
    assert share_of(replace(BASE, lr=0.025, loss="hierarchical"), long) == 31
    assert share_of(replace(BASE, lr=0.05), text(500, [10])) == 1
    long.unigram = np.append(10**8 - 499, np.ones(499, np.int64))
    assert share_of(replace(BASE, lr=0.025), long) < 10


def test_a_word_that_is_everywhere_makes_a_tree_busy() -> None:
    """26 M words of Wikipedia diverged by the tree without subsampling: shares were cut for the root alone."""
    tree = replace(BASE, lr=0.025, loss="hierarchical", sample=0.0)
    counts = np.full(500, 10**8 // 500)
    even = busiest(tree, counts, 10**8)
    counts[0] *= 50
    assert busiest(tree, counts, int(counts.sum())) > 2 * even
    thinned = replace(tree, sample=1e-4)
    assert busiest(thinned, counts, int(counts.sum())) < even  # the word is as rare as the others then
