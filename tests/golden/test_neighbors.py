"""Oracle: arithmetic that a reader can do, and the numbers of the reports N01 to N06 (five three-dimensional words)."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from embcli.artifacts.schema import Artifact, Counts, Tokens, Vectors, Words
from embcli.errors import InputError, KindError, UsageError
from embcli.job import Job
from embcli.query.neighbors import Answer, exit_code, search
from embcli.spec import NeighborsParams

ROYAL = {"man": (1, 0, 0), "woman": (0.9, 0.1, 0), "king": (1, 0, 1), "queen": (0.8, 0.4, 0.8), "apple": (0, 1, 0)}
ANALOGY = "king - man + woman"


def vectors(rows: dict[str, tuple[float, ...]], **more: object) -> Vectors:
    """Return an artifact of hand-made vectors; the first word is the most frequent."""
    table = np.array(list(rows.values()), np.float32)
    return Vectors(vectors=table, words=Words.of(rows), unigram=np.arange(len(rows), 0, -1), **more)  # type: ignore[arg-type]


def counts(cells: dict[tuple[str, str], float], words: str, **more: object) -> Counts:
    """Return a square artifact of counts from its cells."""
    names = words.split()
    table = np.array([[cells.get((a, b), 0) for b in names] for a in names], np.float64)
    indptr = np.concatenate([[0], (table > 0).sum(1).cumsum()])
    return Counts(
        data=table[table > 0], indices=np.nonzero(table)[1].astype(np.int32), indptr=indptr,
        shape=np.array(table.shape), words=Words.of(names), unigram=np.arange(len(names), 0, -1), **more,
    )  # type: ignore[arg-type] # fmt: skip


#: "I like cats / I like dogs / I like cats / I like pizza / I like cats", window 1, flat
LIKES = {("I", "like"): 5, ("like", "cats"): 3, ("like", "dogs"): 1, ("like", "pizza"): 1}
FIVE = counts(LIKES | {(b, a): n for (a, b), n in LIKES.items()}, "I like cats dogs pizza")


def ask(artifact: Artifact, *queries: str, **options: object) -> list[Answer]:
    return search([artifact], queries, NeighborsParams(**options), Job())  # type: ignore[arg-type]


def listed(answer: Answer) -> dict[str, float]:
    return {line.word: line.score for line in answer.results}


def test_king_minus_man_plus_woman_is_queen() -> None:
    (answer,) = ask(vectors(ROYAL), ANALOGY)
    assert [line.word for line in answer.results] == ["queen", "apple"]
    assert answer.results[0].score == 0.973799
    assert "unit length first" in answer.rule


def test_with_the_inputs_king_leads() -> None:
    (answer,) = ask(vectors(ROYAL), ANALOGY, include_inputs=True)
    assert (answer.results[0].word, answer.results[0].score, answer.results[0].given) == ("king", 0.993896, True)
    assert [line.word for line in answer.other] == ["queen", "apple"]
    (answer,) = ask(vectors(ROYAL), ANALOGY)
    assert (answer.other[0].word, answer.other[0].score) == ("king", 0.993896)


def test_without_unit_length_it_would_be_another_number() -> None:
    """What the sum of rows as they stand gives: so the first test can tell the two apart."""
    target = np.array([1, 0, 1]) - [1, 0, 0] + [0.9, 0.1, 0]
    queen = np.array(ROYAL["queen"])
    assert round(target @ queen / np.linalg.norm(target) / np.linalg.norm(queen), 6) == 0.963624


def test_the_analogy_can_be_asked_as_a_proportion() -> None:
    for query in ("man : king :: woman : ?", "man : king :: woman"):
        (answer,) = ask(vectors(ROYAL), query)
        assert (answer.label, answer.results[0].word) == (ANALOGY, "queen")


def test_a_word_is_not_its_own_neighbor() -> None:
    (answer,) = ask(vectors(ROYAL), "king")
    assert "king" not in listed(answer)
    assert listed(answer)["man"] == round(math.sqrt(0.5), 6)
    (answer,) = ask(vectors(ROYAL), "king", include_inputs=True)
    assert answer.results[0].word == "king" and answer.results[0].score == 1


def test_cosines_of_the_source() -> None:
    table = {"a": (1, 0.9, 0.2), "b": (0.9, 1, 0.1), "c": (0.2, 0.1, 1)}
    (answer,) = ask(vectors(table), "a")
    assert [(line.word, round(line.score, 4)) for line in answer.results] == [("b", 0.9919), ("c", 0.3516)]


def test_3cosmul_by_hand() -> None:
    """Cosines of queen with king, man, woman shifted to [0, 1], multiplied and divided."""
    (answer,) = ask(vectors(ROYAL), ANALOGY, method="mul")
    queen, unit = np.array((0.8, 0.4, 0.8)) / 1.2, {w: np.array(v) / np.linalg.norm(v) for w, v in ROYAL.items()}
    king, man, woman = ((1 + queen @ unit[w]) / 2 for w in ("king", "man", "woman"))
    assert answer.results[0].word == "queen" and answer.rule == "3CosMul"
    assert answer.results[0].score == pytest.approx(king * woman / (man + 0.001), abs=1e-6)


def test_dot_and_distance_by_hand() -> None:
    assert listed(ask(vectors(ROYAL), "king", metric="dot")[0]) == {"queen": 1.6, "man": 1, "woman": 0.9, "apple": 0}
    distances = listed(ask(vectors(ROYAL), "king", metric="euclidean")[0])
    assert list(distances) == ["queen", "man", "woman", "apple"]
    assert distances["man"] == 1 and distances["apple"] == pytest.approx(math.sqrt(3), abs=1e-6)


def test_centroid_is_the_mean_of_the_rows_as_they_stand() -> None:
    mean = np.mean(list(ROYAL.values()), axis=0)
    first, king = ask(vectors(ROYAL), "king", centroid=True)
    assert king.label == "king" and len(first.results) == 5
    for word, score in listed(first).items():
        row = np.array(ROYAL[word])
        assert score == pytest.approx(row @ mean / np.linalg.norm(row) / np.linalg.norm(mean), abs=1e-6)


def test_output_table_and_sum() -> None:
    both = vectors(ROYAL, contexts=np.array([[0, 1, 0], [0, 0, 1], [0, 1, 0], [1, 0, 0], [0, 0, 1]], np.float32))
    assert listed(ask(both, "man", table="output", top=1)[0]) == {"king": 1}
    assert listed(ask(both, "man", table="sum", top=1)[0]) == {"king": round(2 / math.sqrt(2) / math.sqrt(3), 6)}
    with pytest.raises(KindError, match=r"v.npz: has no contexts"):
        search([vectors(ROYAL)], ["king"], NeighborsParams(table="output"), Job(), ["v.npz"])


def test_one_unknown_among_three() -> None:
    answers = ask(vectors(ROYAL), "king", "qeen", "apple")
    assert [bool(answer.results) for answer in answers] == [True, False, True]
    assert [(u.word, u.suggestions) for u in answers[1].unknown] == [("qeen", ("queen",))]
    assert exit_code(answers) == 0


def test_all_unknown_is_exit_1() -> None:
    answers = ask(vectors(ROYAL), "xyzzy", "king - plugh")
    assert exit_code(answers) == 1 and not any(answer.results for answer in answers)
    assert [u.word for u in answers[1].unknown] == ["plugh"]
    assert exit_code([]) == 0


def test_case_follows_the_text_that_was_lower_cased() -> None:
    (answer,) = ask(vectors(ROYAL, text={"lower": True}), "KING")
    assert answer.results and "'KING' was looked up as 'king'" in answer.notes[0]
    (answer,) = ask(vectors(ROYAL), "KING")
    assert not answer.results and answer.unknown[0].suggestions[0] == "king"


def test_case_is_that_of_unicode_not_of_the_locale() -> None:
    words = {"straße": (1.0, 0), "strasse": (1.0, 0.1), "i": (0, 1.0), "ı": (0.1, 1.0)}
    lowered = vectors(words, text={"lower": True})
    labels = [answer.label for answer in ask(lowered, "Straße", "STRASSE", "I", "ı")]
    assert labels == ["straße", "strasse", "i", "ı"]


def test_an_exact_word_wins() -> None:
    words = {"a": (1.0, 0), "b": (0, 1.0), "a + b": (1.0, 0.1), "c": (1.0, 0.9)}
    exact, plain = vectors(words), vectors({w: v for w, v in words.items() if w != "a + b"})
    assert [line.word for line in ask(exact, "a + b")[0].results] == ["a", "c", "b"]
    assert [line.word for line in ask(plain, "a + b")[0].results] == ["c"]


def test_restrict_limits_what_is_listed_not_what_is_asked() -> None:
    (answer,) = ask(vectors(ROYAL), "apple", restrict=2)
    assert list(listed(answer)) == ["woman", "man"]


def test_min_score_leaves_the_rest_out() -> None:
    assert list(listed(ask(vectors(ROYAL), "king", min_score=0.705)[0])) == ["queen", "man"]


def test_options_that_do_not_fit() -> None:
    with pytest.raises(UsageError, match="--method mul"):
        ask(vectors(ROYAL), "king", method="mul", metric="dot")
    with pytest.raises(UsageError, match="--min-score"):
        ask(vectors(ROYAL), "king", min_score=0.5, metric="euclidean")


def test_rows_without_direction() -> None:
    words = vectors(ROYAL | {"void": (0, 0, 0)})
    void, cancelled, apple = ask(words, "void", "king - king", "apple")
    (multiplied,) = ask(words, "king - void", method="mul")
    assert not multiplied.results and "all zeros" in multiplied.notes[0]
    assert not void.results and "all zeros" in void.notes[0]
    assert not cancelled.results and "nothing is left" in cancelled.notes[0]
    assert "void" not in listed(apple)
    assert "void" in listed(ask(words, "apple", metric="euclidean")[0])


def test_rows_of_counts_are_vectors() -> None:
    """After PPMI the rows of cats, dogs and pizza are alike: each has one cell, "like"."""
    (answer,) = ask(FIVE, "cats", weight="ppmi")
    assert [(line.word, line.score) for line in answer.results] == [("I", 1), ("dogs", 1), ("pizza", 1), ("like", 0)]


@pytest.mark.parametrize(("weight", "value"), [("none", 3), ("log", math.log(4))])
def test_weights_of_counts(weight: str, value: float) -> None:
    """Rows I and cats have one cell each, 5 and 3, in the same column: their dot product is that of the weights."""
    found = listed(ask(FIVE, "I", weight=weight, metric="dot", top=2)[0])
    assert found["cats"] == pytest.approx(value * (5 if weight == "none" else math.log(6)), abs=1e-5)


def test_pmi_of_counts_by_hand() -> None:
    """N = 20 with cds 1; with cds 0.75 the context sums 5, 10, 3, 1, 1 are raised to it."""
    smooth = sum(n**0.75 for n in (5, 10, 3, 1, 1))
    pmi = [math.log(n * smooth / (row * 10**0.75)) for n, row in ((5, 5), (3, 3))]
    found = listed(ask(FIVE, "I", weight="pmi", metric="dot")[0])
    assert found["cats"] == pytest.approx(pmi[0] * pmi[1], abs=1e-6)


def test_counts_have_no_output_table() -> None:
    with pytest.raises(KindError, match="no output table"):
        ask(FIVE, "cats", table="output")


def test_tokens_have_no_rows_to_search() -> None:
    tokens = Tokens(ids=np.zeros(1, np.uint8), row_offsets=np.array([0, 1]), words=Words.of(["a"]), unigram=np.ones(1))
    with pytest.raises(KindError, match="found 'tokens'"):
        ask(tokens, "a")


def test_damaged_counts_are_refused() -> None:
    for change in ({"indices": FIVE.indices + 4}, {"data": -FIVE.data}, {"indptr": FIVE.indptr[[0, 2, 1, 3, 4, 5]]}):
        for weight in ("none", "ppmi"):
            with pytest.raises(InputError, match="damaged"):
                ask(replace(FIVE, **change), "cats", weight=weight)  # type: ignore[arg-type]


def test_damaged_words_are_refused() -> None:
    words = vectors(ROYAL)
    words.words.offsets[1] = 9
    with pytest.raises(InputError, match="offsets of its words"):
        ask(words, "king")


def test_no_rows_at_all() -> None:
    empty = Vectors(vectors=np.zeros((0, 3), np.float32), words=Words.of([]), unigram=np.zeros(0, np.int64))
    centroid, word = ask(empty, "king", centroid=True)
    assert not centroid.results and [u.word for u in word.unknown] == ["king"]


def test_several_artifacts_answer_side_by_side() -> None:
    answers = search([vectors(ROYAL), FIVE], ["king", "cats"], NeighborsParams(), Job(), ["a", "b"])
    assert [(a.query, a.artifact, bool(a.results)) for a in answers] == [
        ("king", 0, True), ("king", 1, False), ("cats", 0, False), ("cats", 1, True),
    ]  # fmt: skip


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("metric", ["cosine", "dot", "euclidean"])
def test_rows_at_the_end_of_float32_are_searched_without_a_warning(metric: str) -> None:
    """As the same rows at a size that squares fit in; the sums of the first look leave float32."""
    rows = {"a": (3e38, 3e38), "b": (3e38, -3e38), "c": (1, 2), "d": (2e38, 3e38)}
    (answer,) = ask(vectors(rows), "a", metric=metric)
    small = {word: tuple(x / 1e38 for x in row) for word, row in rows.items()}
    (expected,) = ask(vectors(small), "a", metric=metric)
    assert [line.word for line in answer.results] == [line.word for line in expected.results] == ["d", "c", "b"]
    if metric == "cosine":
        assert listed(answer) == listed(expected) == {"d": 0.980581, "c": 0.948683, "b": 0.0}
