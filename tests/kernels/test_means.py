"""Oracle: input vectors that are means of rows, their training and its way back to the rows, in float64 with NumPy."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from embcli.artifacts.schema import Tokens, Words
from embcli.job import Job
from embcli.models.trainer import Trainer
from embcli.models.training_plan import Lists, Plan, Tables
from embcli.models.workspace import most_shared, span_of

BASE = Plan(loss="softmax", dim=20, window=2, sample=0.0, epochs=1, lr=0.1, min_lr=0.1, fixed_window=True, seed=5)
#: rows of seven words: the own one, some in common, one twice, one alone
ROWS = [[0, 7, 8, 9], [1, 7], [2], [3, 8, 8, 10], [4, *range(10, 30)], [5, 9, 11], [6, 12, 13, 14, 15]]


def lists(rows: list[list[int]]) -> Lists:
    return Lists.of(np.cumsum([0, *map(len, rows)]), np.concatenate(rows).astype(np.int32))


def text(ids: list[int], words: int) -> Tokens:
    unigram = np.bincount(ids, minlength=words).astype(np.int64)
    names = Words.of([f"w{i}" for i in range(words)])
    return Tokens(ids=np.array(ids, np.uint16), row_offsets=np.array([0, len(ids)]), words=names, unigram=unigram)


def tables(n: int, words: int, nodes: int, listed: Lists) -> Tables:
    rng = np.random.default_rng(1)
    made = Tables(n, nodes, 20, listed)
    made.vectors[:], made.contexts[:] = rng.random((n, 20)) - 0.5, rng.random((nodes, 20)) - 0.5
    return made


def plain(plan: Plan, ids: list[int], X: Any, Y: Any) -> None:
    """Train float64 rows on one share by the full softmax; words see each other's steps when it is over."""
    H = np.array([X[rows].mean(axis=0) for rows in ROWS])
    before, weights = H.copy(), np.array([len(rows) for rows in ROWS], float)
    for i, word in enumerate(ids):
        near = [ids[j] for j in range(max(i - 2, 0), min(i + 3, len(ids))) if j != i]
        inputs = [near] if plan.arch == "cbow" else [[c] for c in near]
        shares = [weights[c] / (1 if plan.cbow_sum else weights[c].sum()) for c in inputs]
        if plan.arch == "skipgram":
            shares = [np.ones(1)] * len(inputs)
        groups = [[k] for k in range(len(inputs))] if plan.turn else [range(len(inputs))]
        for group in groups:  # all of one are scored before any step
            hs = [shares[k] @ H[inputs[k]] for k in group]
            errors = []
            for h in hs:
                p = np.exp(Y @ h)
                errors.append(np.eye(len(Y))[word] - p / p.sum())
            for k, h, error in zip(group, hs, errors, strict=True):
                move = plan.lr * error @ Y
                Y += plan.lr * np.outer(error, h)
                H[inputs[k]] += move
    for rows, step in zip(ROWS, H - before, strict=True):
        squares = sum(rows.count(row) for row in rows)
        for row in rows:
            X[row] += step * len(rows) / squares


@pytest.mark.parametrize("arch", ["skipgram", "skipgram turn", "cbow", "cbow sum"])
def test_a_share_is_the_plain_one(arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every row of a word takes the whole step of the mean; with a row in it twice, as much less that the mean does."""
    monkeypatch.setattr("embcli.models.workspace.BLOCKS", 0.01)
    monkeypatch.setattr("embcli.models.workspace.PUSH", 1e9)
    ids = [0, 1, 2, 3, 4, 5, 6, 2, 1, 0]  # no word twice in a window
    plan = replace(BASE, arch=arch.split()[0], cbow_sum="sum" in arch, turn="turn" in arch, lanes=1, block=100)
    made = tables(30, 7, 7, lists(ROWS))
    X, Y = made.vectors.astype(float), made.contexts.astype(float)
    before = X.copy()
    Trainer(plan, text(ids, 7), made, Job()).epoch(0)
    plain(plan, ids, X, Y)
    np.testing.assert_allclose(made.vectors, X, atol=3e-6)
    np.testing.assert_allclose(made.contexts, Y, atol=3e-6)
    assert np.abs(X - before).max() > 0.01


def test_one_row_a_word_is_word2vec() -> None:
    """The sibling: with more rows it is not."""
    rng = np.random.default_rng(0)
    tokens = text(rng.integers(0, 40, 2000).tolist(), 40)
    plan = replace(BASE, loss="negative", lanes=4, block=20)
    found = []
    for listed in (Lists(), lists([[i] for i in range(40)]), lists([[i, (i + 1) % 40] for i in range(40)])):
        made = tables(40, 40, 40, listed)
        Trainer(plan, tokens, made, Job()).epoch(0)
        found.append(made)
    np.testing.assert_allclose(found[1].vectors, found[0].vectors, atol=1e-5)
    assert np.abs(found[2].vectors - found[0].vectors).max() > 1e-3


@pytest.mark.parametrize("change", [{}, {"arch": "cbow"}, {"loss": "hierarchical"}], ids=str)
def test_the_same_bytes_at_any_number_of_threads(change: dict[str, Any]) -> None:
    rng = np.random.default_rng(0)
    tokens = text(rng.integers(0, 60, 3000).tolist(), 60)
    rows = [[w, *(60 + rng.integers(0, 50, rng.integers(0, 12))).tolist()] for w in range(60)]
    plan = replace(replace(BASE, loss="negative", lanes=8, block=40, sample=0.01), **change)
    found = set()
    for threads in (1, 2, 3, 5, 8):
        made = tables(110, 60, 60 - (plan.loss == "hierarchical"), lists(rows))
        loss = Trainer(plan, tokens, made, Job(threads=threads)).epoch(0).loss
        found.add((loss, made.inputs.tobytes(), made.outputs.tobytes()))
    assert len(found) == 1
    other = tables(110, 60, 60 - (plan.loss == "hierarchical"), lists(rows))
    Trainer(replace(plan, lanes=4), tokens, other, Job()).epoch(0)
    assert other.inputs.tobytes() not in next(iter(found))


def test_threads_that_come_late_find_nothing_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """Spans of a block or two with more threads than processors: one may do one and list the next alone."""
    monkeypatch.setattr("embcli.models.workspace.SPAN", 1)
    rng = np.random.default_rng(0)
    tokens = text(np.minimum(rng.zipf(1.3, 60_000) - 1, 399).tolist(), 400)
    plan = replace(BASE, loss="negative", lanes=4, block=12, apart=True, lr=0.002, min_lr=1e-4)
    listed = lists([[w, *(400 + rng.integers(0, 100, 9)).tolist()] for w in range(400)])
    found = set()
    for threads in (1, 8, 8, 8):
        made = tables(500, 400, 400, listed)
        Trainer(plan, tokens, made, Job(threads=threads)).epoch(0)
        found.add(made.inputs.tobytes())
    assert len(found) == 1


def test_lanes_apart_lose_no_pair() -> None:
    """Wherever the lanes are, every pair of the text is predicted once; in another order, so the tables differ."""
    rng = np.random.default_rng(0)
    tokens = text(rng.integers(0, 60, 3001).tolist(), 60)
    found = []
    for apart in (False, True):
        made = tables(60, 60, 60, lists([[w, (w + 1) % 60] for w in range(60)]))
        plan = replace(BASE, loss="negative", lanes=8, block=40, apart=apart)
        found.append((Trainer(plan, tokens, made, Job()).epoch(0).predictions, made.inputs.tobytes()))
    assert found[0][0] == found[1][0] == 2 * (3000 + 2999) and found[0][1] != found[1][1]


def test_threads_that_write_at_the_same_time_train_too() -> None:
    rng = np.random.default_rng(0)
    tokens = text(rng.integers(0, 60, 3000).tolist(), 60)
    plan = replace(BASE, loss="negative", hogwild=True)
    made = tables(110, 60, 60, lists([[w, 60 + w % 50, 60] for w in range(60)]))
    before = made.vectors.copy()
    Trainer(plan, tokens, made, Job(threads=3)).epoch(0)
    moved = np.abs(made.vectors - before).max(axis=1)
    assert np.isfinite(made.vectors).all() and (moved > 1e-4).all() and moved[60] > 2 * np.median(moved)


def test_means_and_lists_are_plain() -> None:
    made = tables(30, 7, 7, lists(ROWS))
    expected = [made.vectors[rows].astype(float).mean(axis=0) for rows in ROWS]
    np.testing.assert_allclose(made.words_at(slice(0, 7)), expected, atol=1e-7)
    np.testing.assert_allclose(made.words_at(np.array([4, 0])), [expected[4], expected[0]], atol=1e-7)
    assert [made.rows_of(w) for w in range(7)] == [sorted(rows) for rows in ROWS]
    assert made.lists.sizes.tolist() == [len(rows) for rows in ROWS]
    bare = tables(7, 7, 7, Lists())
    assert np.array_equal(bare.words_at(slice(2, 4)), bare.vectors[2:4]) and bare.rows_of(3) == [3]


def test_the_busiest_word_is_found_by_its_rows() -> None:
    """Words that share rows are pushed by each other's steps."""
    kept = np.array([0.5, 0.3, 0.2])
    assert most_shared(kept, lists([[0], [1], [2]])) == pytest.approx(0.5)
    assert most_shared(kept, lists([[0, 3], [1, 3], [2, 3]])) == pytest.approx((0.5 + 1) / 2)
    tokens = text([0] * 500 + [1] * 300 + [2] * 200, 3)
    apart, shared = lists([[0, 3], [1, 4], [2, 5]]), lists([[0, 3], [1, 3], [2, 3]])
    plan = replace(BASE, loss="negative", lanes=1)
    long = span_of(plan, tokens, shared, 1)
    assert span_of(plan, tokens, apart, 1) > long > span_of(replace(plan, lr=1.0), tokens, shared, 1)
    assert span_of(plan, tokens, shared, 10) == long // 10
