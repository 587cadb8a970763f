"""Oracle: counts that a reader can do by hand; user reports C01, C02, C03, C08; the five sentences of the sources."""

from __future__ import annotations

import random
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from cooc_twin import cells_of, counted, dense, sentences, tokens_of

from embcli.artifacts.schema import Counts, Tokens
from embcli.counts.pairs import count_of, heaviest
from embcli.errors import InputError, NumbersError, UsageError

FIVE = ("I like cats", "I like dogs", "I like cats", "I like pizza", "I like cats")


def of(counts: Counts, word: str, context: str) -> float:
    return count_of(counts, counts.words.index(word), counts.words.index(context))


def test_the_five_sentences_of_the_sources() -> None:
    counts = counted(sentences(*FIVE), window=1, weighting="flat")
    assert of(counts, "cats", "like") == 3
    assert of(counts, "dogs", "like") == 1
    assert of(counts, "pizza", "like") == 1
    assert of(counts, "like", "I") == 5
    assert of(counts, "cats", "I") == of(counts, "cats", "dogs") == 0
    rows = dense(counts) / np.linalg.norm(dense(counts), axis=1, keepdims=True)
    cats, dogs, pizza = (rows[counts.words.index(word)] for word in ("cats", "dogs", "pizza"))
    assert cats.tolist() == dogs.tolist() == pizza.tolist()


def test_windows_stop_at_row_ends_unless_told_otherwise() -> None:
    tokens = sentences("a b", "c d")
    assert of(counted(tokens, window=5), "b", "c") == 0
    assert of(counted(tokens, window=5, cross_rows=True), "b", "c") == 1
    assert of(counted(tokens, window=5, cross_rows=True), "a", "d") == pytest.approx(1 / 3, abs=0)


def test_symmetric_counts_hold_both_triangles() -> None:
    counts = counted(sentences("a b c b a"), window=1, weighting="flat")
    x = dense(counts)
    assert np.array_equal(x, x.T)
    assert (of(counts, "a", "b"), of(counts, "b", "c"), of(counts, "a", "c")) == (2, 2, 0)
    assert np.diagonal(x).tolist() == [0, 0, 0]
    assert x.sum() == counts.stats["total"] == 8


def test_a_word_counts_with_itself_from_both_ends() -> None:
    assert dense(counted(sentences("a a"), window=1, weighting="flat")).tolist() == [[2]]
    assert dense(counted(sentences("a a a"), window=2, weighting="flat")).tolist() == [[6]]


@pytest.mark.parametrize("direction", ["left", "right"])
def test_one_sided_counts_sum_to_half(direction: str) -> None:
    counts = counted(sentences("a b c b a"), window=1, weighting="flat", direction=direction)
    assert counts.stats["total"] == 4
    assert counted(sentences("a a"), window=1, weighting="flat", direction=direction).stats["total"] == 1


def test_left_looks_before_the_word_and_right_after_it() -> None:
    left, right = (counted(sentences("a b"), window=1, direction=side) for side in ("left", "right"))
    assert (of(left, "b", "a"), of(left, "a", "b")) == (1, 0)
    assert (of(right, "b", "a"), of(right, "a", "b")) == (0, 1)


@pytest.mark.parametrize(
    ("weighting", "two_apart", "denominator"), [("flat", 1, 1), ("harmonic", 0.5, 2), ("dynamic", 0.5, 2)]
)
def test_distance_weights(weighting: str, two_apart: float, denominator: int) -> None:
    counts = counted(sentences("a b c"), window=2, weighting=weighting)
    assert of(counts, "a", "c") == two_apart
    assert of(counts, "a", "b") == 1
    assert counts.stats["denominator"] == denominator
    assert counts.data.dtype == (np.int64 if weighting == "flat" else np.float64)


def test_dynamic_weights_are_the_mean_over_windows_of_every_length() -> None:
    tokens = sentences("a b c d e f")
    means = sum(dense(counted(tokens, window=w, weighting="flat")) for w in (1, 2, 3, 4)) / 4
    assert np.array_equal(dense(counted(tokens, window=4, weighting="dynamic")), means)


def test_harmonic_sums_are_exact_fractions_rounded_once() -> None:
    row = "a x x b x a b x x x a x x b"  # a and b stand 3, 6, 13, 2, 1, 8, 7, 4 and 3 apart
    counts = counted(sentences(row), window=10)
    assert of(counts, "a", "b") == (840 + 420 + 1260 + 2520 + 315 + 360 + 630 + 840) / 2520


def test_harmonic_weights_of_wide_windows_are_rounded_to_thirty_bits() -> None:
    exact, rounded = (counted(tokens_of([[0, 1, 1, 2]], 3), window=w) for w in (20, 21))
    assert dense(exact)[0, 2] == 1 / 3
    assert dense(rounded)[0, 2] == round(2**30 / 3) / 2**30
    assert rounded.stats["denominator"] == 2**30


def test_a_gap_takes_a_place_but_is_no_word() -> None:
    counts = counted(tokens_of([[0, 2, 1], [2, 2, 0]], 2), window=2)
    assert dense(counts).tolist() == [[0, 0.5], [0.5, 0]]
    assert counts.stats["tokens"] == 3


def test_a_vocabulary_of_one_word_and_empty_rows() -> None:
    counts = counted(tokens_of([[], [0, 0], [], [], [0]], 1), window=9, weighting="flat")
    assert cells_of(counts) == {(0, 0): 2}
    assert counts.stats == {"words": 1, "tokens": 3, "rows": 5, "cells": 1, "total": 2, "denominator": 1}


def test_what_the_tokens_know_is_carried_over() -> None:
    tokens = sentences(*FIVE)
    tokens.text = {"split": "words", "lower": True}
    counts = counted(tokens)
    assert list(counts.words) == ["I", "like", "cats", "dogs", "pizza"]
    assert counts.unigram.tolist() == [5, 5, 3, 1, 1]
    assert counts.text == tokens.text
    assert counts.shape.tolist() == [5, 5]


@pytest.mark.parametrize("rows", [[], [[]], [[0], [1], []], [[0, 2], [2, 1]]])
def test_nothing_to_count_says_what_there_was(rows: list[list[int]]) -> None:
    words = sum(map(len, rows))
    with pytest.raises(NumbersError, match=f"nothing to count: {words} tokens of 2 words in {len(rows)} rows"):
        counted(tokens_of(rows, 2))


def test_damaged_tokens_are_refused() -> None:
    beyond = tokens_of([[0, 1, 2]], 3)
    beyond.ids = np.array([0, 4, 2], np.uint8)
    with pytest.raises(InputError, match="damaged: ids holds 4, which is no id of 3 words"):
        counted(beyond)
    descending = tokens_of([[0, 1]] * 40, 3)
    descending.row_offsets = np.concatenate((np.arange(0, 41), np.full(3, 0), [80]))
    with pytest.raises(InputError, match="damaged: row_offsets is not ascending"):
        counted(descending)


def test_sums_that_could_exceed_64_bits_are_refused() -> None:
    tokens = tokens_of([[0, 0]], 1)
    huge = Tokens(
        ids=np.broadcast_to(np.uint8(0), 10**9),
        row_offsets=np.array([0, 10**9]),
        words=tokens.words,
        unigram=np.array([10**9]),
    )
    with pytest.raises(InputError, match="64 bits; take a smaller --window"):
        counted(huge, window=10_000)


def test_an_impossible_budget_names_the_smallest_that_works() -> None:
    tokens = tokens_of([[0, 1, 2, 3] * 50], 4)
    with pytest.raises(UsageError, match=r"--memory: 1\.0 kB is too little for 4 words; give ") as e:
        counted(tokens, memory="1KB")
    least = str(e.value).split("give ")[1].split(" ")[0]
    assert counted(tokens, memory=least).stats["cells"] == 16


def corpus(rows: int) -> list[list[str]]:
    rng = random.Random(8)
    return [rng.choices([f"word{i}" for i in range(40)], range(40, 0, -1), k=rng.randrange(12)) for _ in range(rows)]


def test_top_pairs_and_single_pairs_equal_a_naive_count() -> None:
    lines = corpus(200)
    naive = Counter(frozenset((a, b)) for row in lines for a, b in pairwise(row))
    tokens = sentences(*map(" ".join, lines))
    counts = counted(tokens, window=1, weighting="flat")
    counts.options = {"direction": "symmetric"}
    top = heaviest(counts, 25)
    twice = {pair: n * (1 + (len(pair) == 1)) for pair, n in naive.items()}
    assert [n for *_, n in top] == sorted(twice.values(), reverse=True)[:25]
    assert all(twice[frozenset((a, b))] == n == of(counts, a, b) == of(counts, b, a) for a, b, n in top)
    assert len({frozenset((a, b)) for a, b, _ in top}) == 25
    assert len(heaviest(counts, 10**6)) == len(naive)
    assert heaviest(counts, 0) == []


def test_top_pairs_of_one_sided_counts_are_ordered_pairs() -> None:
    counts = counted(sentences("a b a b a"), window=1, weighting="flat", direction="right")
    assert heaviest(counts, 5) == [("a", "b", 2), ("b", "a", 2)]


def test_equal_pairs_come_in_the_order_of_the_matrix() -> None:
    counts = counted(sentences("a b", "c d", "e f", "a f"), window=1, weighting="flat", direction="right")
    assert [pair[:2] for pair in heaviest(counts, 3)] == [("a", "b"), ("a", "f"), ("c", "d")]
