"""Oracle: rows of text by hand: every target once, no piece sees another one, held-out rows are never read."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from transformers import config

from embcli.artifacts.schema import Tokens, Words
from embcli.models.packing import Batches, HeldOut, Windows, packed, pieces_of, split

V = 7


def text(rows: list[list[int]]) -> Tokens:
    ids = np.array([i for row in rows for i in row], np.uint8)
    offsets = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
    return Tokens(ids=ids, row_offsets=offsets, words=Words.of("abcdefg"), unigram=np.bincount(ids, minlength=V))


LINES = st.lists(st.lists(st.integers(0, V - 1), max_size=12), min_size=1, max_size=12)


@given(LINES, st.integers(1, 6))
def test_each_row_gives_its_next_tokens_once(lines: list[list[int]], T: int) -> None:
    """A row of T tokens has exactly T - 1 next-token targets, whatever the windows; positions restart."""
    tokens, c = text(lines), config(T=T)
    train, _ = split(tokens, c, 0.0, 0)
    if not len(train):
        assert all(len(line) < 2 for line in lines)
        return
    batches, found = Batches(tokens, c, train, 1, 0), Counter[tuple[int, ...]]()
    wanted = Counter(pair for line in lines for pair in itertools.pairwise(line))
    while batches.cursor[0] == 0:
        rows = batches.next(0)
        for i in np.flatnonzero(rows.ids >= 0).tolist():
            found[int(rows.ids[i]), int(rows.targets[i])] += 1
            assert rows.at[i] == i - rows.first[i] and rows.last[i] == i + 1
            if rows.at[i]:
                assert rows.ids[i] == rows.targets[i - 1]
        empty = rows.ids < 0
        assert (rows.targets[empty] == -1).all() and (rows.first[empty] == rows.last[empty]).all()
    assert found == wanted


@given(LINES, st.integers(2, 6))
def test_masked_rows_predict_some_of_what_is_there(lines: list[list[int]], T: int) -> None:
    tokens, c = text(lines), config(objective="masked", T=T)
    pieces = pieces_of(tokens, c, np.arange(len(lines)))
    if not len(pieces.starts):
        return
    batches = Batches(tokens, c, np.arange(len(lines)), 2, 0)
    rows = batches.next(0)
    chosen = rows.targets >= 0
    begins = (rows.ids >= 0) & (rows.at == 0)
    assert chosen.sum() >= begins.sum()
    assert ((rows.ids[chosen] <= V) & (rows.targets[chosen] < V)).all()
    assert (rows.ids[~chosen] < V).all()  # [MASK] stands only where something is to be predicted


def test_masks_are_80_10_10_of_15_percent() -> None:
    rng = np.random.default_rng(0)
    tokens, c = text(rng.integers(0, V, (40, 500)).tolist()), config(objective="masked", T=500)
    rows = Batches(tokens, c, np.arange(40), 40, 0).next(0)
    chosen = rows.targets >= 0
    assert abs(chosen.mean() - 0.15) < 0.01
    kinds = [(rows.ids[chosen] == V).mean(), (rows.ids[chosen] == rows.targets[chosen]).mean()]
    np.testing.assert_allclose(kinds, [0.8, 0.1 + 0.1 / V], atol=0.02)
    other = Batches(tokens, c, np.arange(40), 40, 0).next(1)  # another step, other places
    assert not np.array_equal(chosen, other.targets >= 0)


def test_windows_are_full_where_they_can_be() -> None:
    pieces = pieces_of(text([[0] * 5, [0] * 4, [0] * 3, [0] * 2, [0] * 3]), config(T=5), np.arange(5))
    windows: Windows = packed(pieces, np.arange(5), 5)
    held = [
        pieces.lengths[windows.pieces[a:b]].tolist() for a, b in zip(windows.offsets, windows.offsets[1:], strict=False)
    ]
    assert held == [[4, 1], [3, 2], [2]]


def test_held_out_rows_are_never_read() -> None:
    lines = [[i % V, (i + 1) % V, (i + 2) % V] for i in range(40)]
    tokens, c = text(lines), config(T=6)
    train, held = split(tokens, c, 0.25, 3)
    assert len(held) == 10 and not set(train.tolist()) & set(held.tolist())
    assert len(split(tokens, c, 0.01, 3)[1]) == 0
    kept = HeldOut(tokens, c, held, 3)
    assert kept.targets == 20
    assert not np.array_equal(split(tokens, c, 0.25, 4)[1], held)
    batches, n = Batches(tokens, c, train, 1, 0), 0
    while batches.cursor[0] == 0:
        n += int((batches.next(0).targets >= 0).sum())
    assert n == 60
