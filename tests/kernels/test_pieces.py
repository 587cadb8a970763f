"""Oracle: text/bpe_plain.py, which merges one pair after the other, on random rules and symbols."""

from __future__ import annotations

import numpy as np
import pytest
from bpe_twin import made_of, plainly, trained
from hypothesis import given
from hypothesis import strategies as st

from embcli.errors import InputError
from embcli.kernels import pieces as k
from embcli.text import bpe_plain
from embcli.text.bpe_encode import TypeIds, room
from embcli.text.tokenizer import View
from embcli.text.typetable import TypeTable

PAIRS = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), max_size=25, unique=True)


def rules_of(pairs: list[tuple[int, int]], results: list[int]) -> k.Rules:
    rules = View(made_of([bytes([b]) for b in range(256)], [], [])).room_for(len(pairs))
    k.put_merges(rules, np.array(pairs, np.int32).reshape(-1, 2), np.array(results, np.int32))
    return rules


@given(PAIRS, st.lists(st.integers(0, 5), min_size=2, max_size=40), st.sampled_from([0, 250, 1000]), st.data())
def test_both_ways_to_merge_are_the_twin(
    pairs: list[tuple[int, int]], ids: list[int], low: int, data: st.DataObject
) -> None:
    """Ids from 256 on are looked up in another table; results may be any id, so rules may go in circles."""
    results = [data.draw(st.integers(6, 12)) + low for _ in pairs]
    pairs, ids = [(a + low, b + low) for a, b in pairs], [i + low for i in ids]
    expected = bpe_plain.encode(ids, {p: i for i, p in enumerate(pairs)}, dict(zip(pairs, results, strict=True)))
    rules, space = rules_of(pairs, results), room(200)  # rules must live on: kernels know their addresses only
    way = k.way_of(rules)
    for long in (False, True):
        found = np.array([-5, *ids, -7], np.int32)
        n = k.merge_long(way, space, found, 1, len(ids)) if long else k.merge_short(way, space.rule, found, 1, len(ids))
        assert found[1 : 1 + n].tolist() == expected and found[0] == -5 and found[-1] == -7


def test_another_order_of_rules_gives_other_ids() -> None:
    pairs, results = [(0, 1), (1, 0)], [5, 6]
    for order, expected in ((slice(None), [5, 0]), (slice(None, None, -1), [0, 6])):
        ids, rules = np.array([0, 1, 0], np.int32), rules_of(pairs[order], results[order])
        n = k.merge_short(k.way_of(rules), room(9).rule, ids, 0, 3)
        assert ids[:n].tolist() == expected


@given(st.lists(st.text("ab'  é\x00\n", min_size=1, max_size=9).map(str.encode), min_size=1, max_size=30, unique=True))
def test_types_are_encoded_as_the_twin_does(types: list[bytes]) -> None:
    """The room grows: the last type is longer than what is there at first, and goes through the heap."""
    for whole in (False, True):
        made = trained(b"".join(types) + b"abababab aab'ab \n\nab", 300, "none", whole=whole)
        table, found = TypeTable(2), TypeIds(View(made))
        every = [*types, b"ab" * 520]  # room(1 << 10) is too small for it; the twin is quadratic
        sizes = np.array([len(t) for t in every], np.uint64)
        begins = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.uint64)
        table.add(np.frombuffer(b"".join(every), np.uint8), begins, sizes, np.ones(len(every), np.uint64))
        found.add(table)
        assert found.done == len(every)
        for t, each in enumerate(every):
            ids = found.ids[found.starts[t] : found.starts[t + 1]].tolist()
            assert ids == plainly(made, each)
            assert found.only[t] == (ids[0] if len(ids) == 1 else k.SEVERAL)


def test_the_heap_has_room_for_long_pieces_only() -> None:
    assert len(room(k.SHORT).heap) == 0 and len(room(k.SHORT + 1).heap) == 3 * (k.SHORT + 1)


@given(st.text("abc ", min_size=4, max_size=60).map(str.encode), st.integers(257, 290))
def test_merges_are_recovered_from_ranks(text: bytes, size: int) -> None:
    """Of a learned tokenizer; tokens that their own merges would take apart have no merge of their own."""
    made = trained(text * 2, size, "gpt2", specials=())
    view = View(made_of([made.tokens.bytes_at(i) for i in range(len(made.tokens))], [], [], whole=True))
    merges = np.empty((len(made.tokens), 2), np.int32)
    offsets, data = made.tokens.offsets, made.tokens.data
    n = k.recover(view.room_for(len(made.tokens)), room(99), data, offsets, view.base, view.ordinary, merges)
    alone = [plainly(made, made.tokens.bytes_at(i)) == [i] for i in range(256, len(made.tokens))]
    if all(alone):
        assert {tuple(p) for p in merges[:n].tolist()} == {tuple(p) for p in made.merges.tolist()}
    assert n <= len(made.merges)


def test_a_merge_that_spells_no_token_is_named() -> None:
    made = trained()
    made.merges[3] = (0, 1)
    with pytest.raises(InputError, match=r"merge 4 \('!' '\"'\) spells no token"):
        _ = View(made).rules


def test_a_merge_that_is_missing_or_altered_is_named() -> None:
    """user-reports B12: also if what is left is a tokenizer."""
    made = trained()
    whole = made.merges
    made.merges, made.merge_counts = np.delete(whole, 5, 0), made.merge_counts[1:]
    token = View(made).readable(256 + 2 + 5)
    with pytest.raises(InputError, match="no merge makes the token") as e:
        _ = View(made).rules
    assert repr(token) in str(e.value)
    made.merges = whole.copy()
    made.merges[5] = whole[4]
    with pytest.raises(InputError, match="no merge makes the token"):
        _ = View(made).rules
    made.merges = whole
    assert len(View(made).rules.pairs) >= 2 * len(whole)
