"""Oracle: counts of all texts together: the sum of counts has the same bytes, whatever is counted when, and by whom."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from cooc_twin import added, cells_of, counted, dense, encoded, halves, same_bytes, tokens_of, with_options
from hypothesis import assume, given
from hypothesis import strategies as st

from embcli.artifacts.schema import Counts, Tokens, Words
from embcli.counts.documents import Maker
from embcli.errors import InputError, KindError, NumbersError, UsageError

words = st.sampled_from(["a", "b", "c", "dd", "é", "zz"])
lines = st.lists(st.lists(words, max_size=10).map(" ".join), min_size=2, max_size=8)
options = st.fixed_dictionaries(
    {
        "window": st.sampled_from([1, 2, 10, 20, 21]),
        "direction": st.sampled_from(["symmetric", "left", "right"]),
        "weighting": st.sampled_from(["flat", "harmonic", "dynamic"]),
    }
)
DOCUMENTS = {"context": "document"}


def made(tokens: Tokens, opts: dict[str, Any]) -> Counts:
    """Return counts as the store would read them; texts without any pair are another test's business."""
    try:
        return with_options(counted(tokens, **opts), **opts)
    except NumbersError:
        assume(False)
        raise


def same(a: Counts, b: Counts) -> bool:
    return same_bytes(a, b) and list(a.words) == list(b.words) and a.unigram.tolist() == b.unigram.tolist()


@given(lines, st.data(), options)
def test_a_sum_of_counts_is_the_counts_of_all(text: list[str], data: Any, opts: dict[str, Any]) -> None:
    first, second, whole = halves(text, data.draw(st.integers(1, len(text) - 1)))
    wanted = made(whole, opts)
    a, b = made(first, opts), made(second, opts)
    assert same(added([a, b]), wanted)
    assert same(added([b, a], threads=3), wanted)
    for inputs in ([first, second], [a, second], [first, b]):
        assert same(added(inputs, threads=2, **opts), wanted)


def test_counts_of_another_text_are_not() -> None:
    first, _, whole = halves(["a b", "b c a", "a a"], 1)
    assert not same(added([first, first]), counted(whole))


def test_added_as_floats_they_would_differ() -> None:
    # the sibling: rounded sums of thirds, fifths and sevenths do not add up to the rounded sum
    rng = np.random.default_rng(0)
    rows = [rng.integers(0, 4, 30).tolist() for _ in range(8)]
    a, b, there = (counted(tokens_of(part, 4), window=10) for part in (rows[:3], rows[3:], rows))
    assert not np.array_equal(dense(a) + dense(b), dense(there))
    parts = [with_options(each, window=10) for each in (a, b)]
    assert np.array_equal(dense(added(parts)), dense(there))


@given(lines, st.data())
def test_documents_follow_one_another(text: list[str], data: Any) -> None:
    first, second, whole = halves(text, data.draw(st.integers(1, len(text) - 1)))
    assume(len(first.words) and len(second.words))
    wanted, a, b = made(whole, DOCUMENTS), made(first, DOCUMENTS), made(second, DOCUMENTS)
    for inputs in ([a, b], [first, second], [a, second], [first, b]):
        found = added(inputs, threads=2, **DOCUMENTS)
        assert same(found, wanted)
        assert list(found.rows or ()) == list(wanted.rows or ())


def test_documents_in_another_order_are_not_the_same() -> None:
    first, second, whole = halves(["a b", "b c"], 1)
    assert not same(added([second, first], **DOCUMENTS), counted(whole, **DOCUMENTS))


@given(lines, st.sampled_from([1, 2, 5]), st.integers(1, 30))
def test_document_counts_are_the_definition_however_blocks_are_cut(text: list[str], threads: int, cells: int) -> None:
    tokens = encoded(text)
    assume(len(tokens.words))
    with pytest.MonkeyPatch.context() as patch:
        start = Maker.__init__

        def smaller(self: Maker, *args: Any) -> None:
            start(self, *args)
            self.cells = cells

        patch.setattr(Maker, "__init__", smaller)
        patch.setattr("embcli.counts.documents._STEP", 3)
        found = counted(tokens, threads=threads, **DOCUMENTS)
    wanted = {}
    for row, line in enumerate(text):
        for word in set(line.split()):
            wanted[row, list(tokens.words).index(word)] = line.split().count(word)
    assert cells_of(found) == wanted and list(cells_of(found)) == sorted(wanted)
    assert same(found, counted(tokens, **DOCUMENTS))


def test_a_count_of_another_row_is_not_the_definition() -> None:
    assert cells_of(counted(encoded(["a", "a a"]), **DOCUMENTS)) != cells_of(
        counted(encoded(["a a", "a"]), **DOCUMENTS)
    )


def test_a_vocabulary_that_was_given_keeps_its_order() -> None:
    one, two = tokens_of([[0, 1, 1], [1, 2]], 3), tokens_of([[2, 2, 1]], 3)
    found = added([one, two])
    assert list(found.words) == ["w0", "w1", "w2"]
    assert same(found, counted(tokens_of([[0, 1, 1], [1, 2], [2, 2, 1]], 3)))


def parts(**second: Any) -> list[Counts]:
    """Return two counts, named, the second made with other options."""
    found = []
    for name, opts in (("a.npz", {}), ("b.npz", second)):
        found.append(with_options(counted(encoded(["a b c", "b a"]), **opts), **opts))
        found[-1].path = name
    return found


@pytest.mark.parametrize(
    ("second", "said"),
    [
        ({"window": 3}, "--window 5, b.npz with --window 3"),
        ({"weighting": "flat"}, "--weighting harmonic, b.npz with --weighting flat"),
        ({"direction": "left"}, "--direction symmetric, b.npz with --direction left"),
        ({"cross_rows": True}, "--no-cross-rows, b.npz with --cross-rows"),
        (DOCUMENTS, "--context word, b.npz with --context document"),
    ],
)
def test_conflicts_name_both_files_and_the_option(second: dict[str, Any], said: str) -> None:
    with pytest.raises(KindError, match=f"a.npz was made with {said}: they cannot be added"):
        added(parts(**second))


def test_options_that_counts_were_not_made_with() -> None:
    a, b = parts()
    with pytest.raises(UsageError, match=r"--window 7: a.npz was made with --window 5; give the same here"):
        added([a, b], window=7)
    other = parts(window=3)[1]
    with pytest.raises(UsageError, match=r"--window 5: b.npz was made with --window 3; give the same here"):
        added([other, encoded(["a b"])])
    assert added([other, other]).options["window"] == 3


def test_texts_that_were_cut_differently() -> None:
    a, b = parts()
    a.text, b.text = {"split": "words", "lower": True}, {"split": "words", "lower": False}
    with pytest.raises(KindError, match=r"a.npz and b.npz were cut differently: lower is True and False"):
        added([a, b])


def test_one_input_of_counts_is_nothing_to_add() -> None:
    with pytest.raises(UsageError, match=r"a.npz: is counted already; give tokens to count, or at least two inputs"):
        added(parts()[:1])


def test_what_cannot_be_added_exactly_is_refused() -> None:
    a, b = parts()
    b.words, b.unigram = Words.of(["a", "b", "a"]), np.array([1, 1, 1])
    with pytest.raises(InputError, match=r"b.npz: damaged: a word is there twice"):
        added([a, b])
    a, b = parts()
    b.data = b.data * 1e17
    with pytest.raises(InputError, match=r"b.npz: its counts are too large"):
        added([a, b])
    a, b = parts()
    b.options = {}
    with pytest.raises(KindError, match=r"b.npz: does not say with which --window it was made"):
        added([a, b])


def test_a_budget_for_sums_and_documents() -> None:
    """user-reports C05: an impossible budget is a clean error that names the smallest that works."""
    first, second, whole = halves(["a b c a", "b c d", "d d"], 2)
    for inputs, opts in (([first, second], {}), ([whole], DOCUMENTS), ([first, second], DOCUMENTS)):
        with pytest.raises(UsageError, match=r"--memory: 100 bytes is too little for 4 words; give ") as e:
            added(inputs, memory="100", **opts)
        least = str(e.value).split("give ")[1].split(" ")[0]
        assert same(added(inputs, memory=least, **opts), counted(whole, **opts))
