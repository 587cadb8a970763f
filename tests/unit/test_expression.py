"""Oracle: the rules of a query as the help states them, written out case by case."""

from __future__ import annotations

import doctest

import pytest
from hypothesis import given
from hypothesis import strategies as st

from embcli.artifacts.schema import Words
from embcli.query import expression
from embcli.query.expression import Term, parse, spell
from embcli.query.lookup import case_variants, find, suggest, words_at
from embcli.query.resolve import resolve


def terms(query: str, *known: str) -> list[tuple[int, str]]:
    return [(term.sign, term.word) for term in parse(query, set(known).__contains__)]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("king", [(1, "king")]),
        (" king ", [(1, "king")]),
        ("king - man + woman", [(1, "king"), (-1, "man"), (1, "woman")]),
        ("king  -  man", [(1, "king"), (-1, "man")]),
        ("king − man", [(1, "king"), (-1, "man")]),  # the minus of typography
        ("- man + king", [(-1, "man"), (1, "king")]),
        ("- man", [(-1, "man")]),
        ("+ man", [(1, "man")]),
        ("king + king", [(1, "king"), (1, "king")]),
        ("well-known", [(1, "well-known")]),
        ("-man", [(1, "-man")]),
        ("c++", [(1, "c++")]),
        ("new york + river", [(1, "new york"), (1, "river")]),
        ("king -", [(1, "king -")]),
        ("king + - man", [(1, "king"), (1, "- man")]),
        ("+", [(1, "+")]),
        ("", [(1, "")]),
        ("man : king :: woman : ?", [(1, "king"), (-1, "man"), (1, "woman")]),
        ("man : king :: woman", [(1, "king"), (-1, "man"), (1, "woman")]),
        ("man : ? :: woman : queen", [(1, "man"), (-1, "woman"), (1, "queen")]),
        ("man : king :: ? : queen", [(1, "queen"), (-1, "king"), (1, "man")]),
        ("? : king :: woman : queen", [(1, "woman"), (-1, "queen"), (1, "king")]),
        ("man : king :: woman : queen", [(1, "man : king :: woman : queen")]),
        ("man : king", [(1, "man : king")]),
        ("12:30", [(1, "12:30")]),
    ],
)
def test_what_a_query_means(query: str, expected: list[tuple[int, str]]) -> None:
    assert terms(query) == expected


@pytest.mark.parametrize("word", ["rock - paper", "a + b", "- man", "a : b :: c : ?", " x ", "+"])
def test_an_exact_word_wins(word: str) -> None:
    assert terms(word, word) == [(1, word)]


def test_the_same_text_is_an_expression_where_it_is_no_word() -> None:
    assert terms("rock - paper", "rock", "paper") == [(1, "rock"), (-1, "paper")]


@given(st.lists(st.tuples(st.sampled_from([1, -1]), st.text("abc:", min_size=1)), min_size=1, max_size=5))
def test_spelling_is_the_inverse_of_parsing(pairs: list[tuple[int, str]]) -> None:
    made = tuple(Term(sign, word) for sign, word in pairs)
    assert parse(spell(made), lambda word: False) == made


def test_examples_of_the_docstrings() -> None:
    assert doctest.testmod(expression) == doctest.TestResults(0, 2)


WORDS = Words.of(["the", "King", "queen", "quern", "queens", "", "東京", "naïve", "a\0", "a", "a - b"])


def test_words_are_resolved_together() -> None:
    found = resolve(WORDS, ["queen", "a - b", "a - queen", "king - a", "quen"], lower=False)
    assert [(one.label, one.rows) for one in found] == [
        ("queen", (2,)), ("a - b", (10,)), ("a - queen", (9, 2)), ("king - a", (-1, 9)), ("quen", (-1,)),
    ]  # fmt: skip
    assert [[(u.word, u.suggestions) for u in one.unknown] for one in found] == [
        [], [], [], [("king", ("King",))], [("quen", ("queen", "quern"))],
    ]  # fmt: skip


def test_lower_case_is_tried_only_where_the_text_was_lower_cased() -> None:
    for lower, rows in ((True, (2,)), (False, (-1,))):
        (one,) = resolve(WORDS, ["QUEEN"], lower)
        assert one.rows == rows and bool(one.notes) == lower and bool(one.unknown) != lower


def test_words_with_odd_bytes_are_told_apart() -> None:
    assert find(WORDS, ["a", "a\0", "", "東京", "a\0\0", "\ud800"]) == {"a": 9, "a\0": 8, "": 5, "東京": 6}
    assert words_at(WORDS, __import__("numpy").array([6, 5, 8])) == ["東京", "", "a\0"]


def test_case_variants_come_first() -> None:
    assert case_variants("iOS")[0] == "ios" and "iOS" not in case_variants("iOS")
    assert suggest(Words.of(["kings", "KING", "king"]), "King") == ["king", "KING", "kings"]


def test_suggestions_are_near_and_frequent_first() -> None:
    assert suggest(WORDS, "qeen") == ["queen"]
    assert suggest(WORDS, "naive") == ["naïve"]
    assert suggest(WORDS, "東亰") == ["東京"]
    assert suggest(Words.of(["kinds", "kings", "rings"]), "kingz") == ["kings", "kinds", "rings"]
    assert suggest(WORDS, "") == [] and suggest(Words.of([]), "word") == []
