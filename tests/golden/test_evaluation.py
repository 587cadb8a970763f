"""Oracle: arithmetic that a reader can do: ranks with ties, the five words of N01, accuracies, forms of files."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from embcli.artifacts.schema import Counts, Vectors, Words
from embcli.errors import EmbcliError, InputError, KindError, UsageError
from embcli.job import Job
from embcli.query.evalfiles import read_pairs, read_questions
from embcli.query.evaluate import AnalogyResult, Evaluation, evaluate
from embcli.query.lexicon import Lexicon
from embcli.query.similarity import pearson, ranks
from embcli.report.evaluation import evaluation_tables
from embcli.report.tables import render
from embcli.spec import EvalParams

ROYAL = {"man": (1, 0, 0), "woman": (0.9, 0.1, 0), "king": (1, 0, 1), "queen": (0.8, 0.4, 0.8), "apple": (0, 1, 0)}


def vectors(rows: dict[str, Any], **more: Any) -> Vectors:
    """Return an artifact of hand-made vectors; the first word is the most frequent."""
    unigram = more.pop("unigram", np.arange(len(rows), 0, -1))
    table = np.array(list(rows.values()), np.float32)
    return Vectors(vectors=table, words=Words.of(rows), unigram=np.asarray(unigram), **more)


def ask(
    tmp_path: Path, artifacts: Any, questions: str = "", pairs: str = "", **options: Any
) -> tuple[Evaluation, EvalParams]:
    """Score artifacts on files with these texts."""
    for name, text in (("q.txt", questions), ("p.txt", pairs)):
        (tmp_path / name).write_text(text, encoding="utf-8")
    files = {"analogies": (str(tmp_path / "q.txt"),) if questions else ()}
    files["similarity"] = (str(tmp_path / "p.txt"),) if pairs else ()
    params = EvalParams(**files, **options)
    artifacts = artifacts if isinstance(artifacts, list) else [artifacts]
    return evaluate(artifacts, params, Job(), ["a.npz", "b.npz"][: len(artifacts)]), params


def parts(found: Evaluation) -> list[tuple[str, str, str, int, int, int]]:
    return [(r.part, r.section, r.method, r.total, r.scored, r.correct) for r in found.analogies]


def test_spearman_with_ties_by_hand() -> None:
    """Ranks 1, 2.5, 2.5, 4 and 2, 1, 3, 4: products of deviations sum to 3, squares sum to 4.5 and 5."""
    assert ranks(np.array([3.0, 5, 5, 9])).tolist() == [1, 2.5, 2.5, 4]
    assert ranks(np.array([7.0, 7, 7])).tolist() == [2, 2, 2]
    left, right = ranks(np.array([3.0, 5, 5, 9])), ranks(np.array([0.2, 0.1, 0.3, 0.4]))
    assert pearson(left, right) == pytest.approx(3 / (4.5 * 5) ** 0.5)
    assert pearson(np.array([1.0]), np.array([2.0])) is None
    assert pearson(np.array([1.0, 1]), np.array([2.0, 3])) is None


def test_breaking_ties_by_place_would_be_another_number() -> None:
    order = np.argsort(np.argsort([3.0, 5, 5, 9], kind="stable"), kind="stable") + 1.0
    right = ranks(np.array([0.2, 0.1, 0.3, 0.4]))
    assert pearson(order, right) != pytest.approx(3 / (4.5 * 5) ** 0.5)


def test_similarity_of_the_royal_words(tmp_path: Path) -> None:
    """Cosines man-king .7071, man-woman .9939, man-apple 0: the same order as people's, one pair unknown."""
    found, _ = ask(tmp_path, vectors(ROYAL), pairs="man king 5\nman woman 9\nman apple 0.5\nman xyzzy 3\n")
    (result,) = found.similarity
    assert (result.total, result.scored, result.spearman) == (4, 3, pytest.approx(1))
    cosines, people = [0.5**0.5, 0.9 / 0.82**0.5, 0], [5, 9, 0.5]
    assert result.pearson == pytest.approx(np.corrcoef(cosines, people)[0, 1], abs=1e-5)
    found, _ = ask(tmp_path, vectors(ROYAL), pairs="man king 5\nman woman 1\nman apple 9\n")
    assert found.similarity[0].spearman == pytest.approx(-1)


def test_a_pair_of_one_word_and_a_double_pair_count(tmp_path: Path) -> None:
    found, _ = ask(tmp_path, vectors(ROYAL), pairs="man man 10\nman apple 1\nman apple 2\n")
    assert (found.similarity[0].total, found.similarity[0].scored) == (3, 3)
    assert found.similarity[0].spearman == pytest.approx(3**0.5 / 2)


@pytest.mark.parametrize("method", ["add", "mul"])
def test_the_five_words_of_n01(tmp_path: Path, method: str) -> None:
    """user-reports N01: queen is the answer, with 0.973799 (3CosAdd on unit rows); never king."""
    found, _ = ask(tmp_path, vectors(ROYAL), "man king woman apple\nman king woman queen\n", method=method, misses=9)
    assert parts(found) == [("all", "", method, 2, 2, 1)]
    (miss,) = found.misses
    assert (miss.question, miss.expected, miss.found, miss.rank) == (("man", "king", "woman"), "apple", "queen", 2)
    if method == "add":
        assert miss.score == 0.973799


def test_with_the_inputs_king_would_be_the_answer() -> None:
    unit = {w: np.array(v) / np.linalg.norm(v) for w, v in ROYAL.items()}
    target = unit["king"] - unit["man"] + unit["woman"]
    assert max(ROYAL, key=lambda word: float(unit[word] @ target)) == "king"


def test_accuracies_and_coverage(tmp_path: Path) -> None:
    """user-reports N11: of 4 questions 3 are known and 2 are right: 2/3 of scored, 1/2 of all; by section too."""
    text = ": royal\nman king woman queen\nman king woman xyzzy\n: gram1\nwoman queen man king\nking queen man apple\n"
    found, params = ask(tmp_path, vectors(ROYAL), text, sections=True)
    assert parts(found) == [
        ("all", "", "add", 4, 3, 2), ("semantic", "", "add", 2, 1, 1), ("syntactic", "", "add", 2, 2, 1),
        ("section", "royal", "add", 2, 1, 1), ("section", "gram1", "add", 2, 2, 1),
    ]  # fmt: skip
    whole = found.analogies[0]
    assert (whole.accuracy, whole.accuracy_all) == (2 / 3, 0.5)
    text = "".join(render(table) for table in evaluation_tables(found, params, "table"))
    for said in ("66.67", "50.00", "3 of 4", "3CosAdd", "all 5 words", "case: folded", "gram1"):
        assert said in text
    tsv = render(evaluation_tables(found, params, "tsv")[0], "tsv").splitlines()
    assert tsv[0].split("\t") == [
        "artifact", "file", "section", "measure", "method", "value", "scored", "total", "restrict",
    ]  # fmt: skip
    assert tsv[2].split("\t")[2:] == ["", "accuracy_all", "add", "0.5", "3", "4", ""]


def test_nothing_scored_has_no_number() -> None:
    result = AnalogyResult(0, "q", "all", "", "add", 7, 0, 0)
    assert (result.accuracy, result.accuracy_all) == (None, None)


def test_one_artifact_knows_nothing_the_other_does(tmp_path: Path) -> None:
    other = vectors({"ein": (1, 0), "zwei": (0, 1)})
    found, params = ask(tmp_path, [vectors(ROYAL), other], "man king woman queen\n", "man king 1\nman woman 2\n")
    assert [r.scored for r in found.analogies] == [1, 0] and found.similarity[1].spearman is None
    text = render(evaluation_tables(found, params, "table")[1])
    assert "100.00" in text and "0 of 1" in text and "no best is marked" in text
    with pytest.raises(InputError, match=r"coverage 0 of 1.*b.npz|coverage 0 of 1.*a.npz \(2 words\)"):
        ask(tmp_path, other, "man king woman queen\n")


def test_case(tmp_path: Path) -> None:
    """user-reports N03: folded by default, exact on request, and the error says so."""
    question = "MAN King Woman QUEEN\n"
    assert ask(tmp_path, vectors(ROYAL), question)[0].analogies[0].correct == 1
    with pytest.raises(InputError, match="--case fold"):
        ask(tmp_path, vectors(ROYAL), question, case="exact")


def test_fold_is_that_of_unicode() -> None:
    """user-reports N03: sharp s is ss, the dotless i is no i, whatever the locale."""
    words = Words.of(["STRASSE", "straße", "I", "ı", "ΣΑΣ"])
    asked = ["Straße", "strasse", "i", "I", "ı", "σας"]
    fold = Lexicon(words, None, asked, True, None)
    assert [fold.row(word) for word in asked] == [0, 0, 2, 2, 3, 4]
    assert fold.rows("Straße") == [0, 1]
    exact = Lexicon(words, None, asked, False, None)
    assert [exact.row(word) for word in asked] == [-1, -1, -1, 2, 3, -1]


def test_the_most_frequent_form_counts_and_all_forms_are_answers(tmp_path: Path) -> None:
    """Of King and king the first is asked for; neither is an answer; both forms of queen are right."""
    rows = {"king": (0, 0, 1), "King": (1, 0, 1), "man": (1, 0, 0), "woman": (0.9, 0.1, 0), "Queen": (0.8, 0.4, 0.8),
            "queen": (0, 1, 0)}  # fmt: skip
    places = vectors(rows, unigram=[1, 9, 9, 9, 5, 6])
    assert Lexicon(places.words, places.unigram, ["KING", "queen"], True, None).rows("king") == [1, 0]
    assert ask(tmp_path, places, "man king woman QUEEN\n")[0].analogies[0].correct == 1
    assert ask(tmp_path, places, "man King woman queen\n", case="exact")[0].analogies[0].correct == 0


def test_restrict_is_by_frequency_not_by_place(tmp_path: Path) -> None:
    counts = [9, 8, 7, 1, 6]  # queen is the rarest
    found, _ = ask(tmp_path, vectors(ROYAL, unigram=counts), "man king woman apple\n", restrict=4)
    assert parts(found) == [("all", "", "add", 1, 1, 1)] and found.words == [4]
    found, _ = ask(tmp_path, vectors(ROYAL, unigram=counts), "man king woman apple\n")
    assert parts(found) == [("all", "", "add", 1, 1, 0)]
    words = vectors(ROYAL).words
    lexicon = Lexicon(words, np.array([1, 2, 3, 3, 0]), list(ROYAL), True, 3)
    assert [lexicon.row(word) for word in ROYAL] == [-1, 1, 2, 3, -1]


def test_a_row_of_zeros_is_unknown_and_no_answer(tmp_path: Path) -> None:
    rows = {"void": (0, 0, 0), **ROYAL}
    found, _ = ask(tmp_path, vectors(rows), "man king woman queen\nman king void queen\n", "man void 1\nman king 2\n")
    assert parts(found) == [("all", "", "add", 2, 1, 1)] and found.similarity[0].scored == 1


def test_an_answer_out_of_the_question_is_never_right(tmp_path: Path) -> None:
    found, params = ask(tmp_path, vectors(ROYAL), "man king woman king\n", misses=1)
    assert (found.analogies[0].correct, found.misses[0].rank) == (0, None)
    assert "is a word of its question" in render(evaluation_tables(found, params, "table")[1])


def test_counts_are_scored_too(tmp_path: Path) -> None:
    """Rows cats and dogs have one cell, in the same column: cosine 1; I and cats too; like and cats 0."""
    table = np.array([[0, 5, 0, 0], [5, 0, 3, 1], [0, 3, 0, 0], [0, 1, 0, 0]], np.float64)
    counts = Counts(
        data=table[table > 0], indices=np.nonzero(table)[1].astype(np.int32),
        indptr=np.concatenate([[0], (table > 0).sum(1).cumsum()]), shape=np.array([4, 4]),
        words=Words.of(["I", "like", "cats", "dogs"]), unigram=np.array([5, 4, 3, 1]),
    )  # fmt: skip
    for method in ("add", "mul"):
        found, _ = ask(tmp_path, counts, "cats dogs dogs I\ncats like dogs I\n", "cats dogs 9\ncats like 1\n",
                       method=method)  # fmt: skip
        assert found.similarity[0].spearman == pytest.approx(1)
        assert parts(found) == [("all", "", method, 2, 2, 2)]
    with pytest.raises(UsageError, match="--weight log"):
        ask(tmp_path, vectors(ROYAL), "man king woman queen\n", weight="log")
    with pytest.raises(KindError, match="has no contexts"):
        ask(tmp_path, vectors(ROYAL), "man king woman queen\n", table="output")


FORMS = {
    "tabs": "Tiger\tCat\t7.35\nbook\tpaper\t7.46\n",
    "one blank": "Tiger Cat 7.35\nbook paper 7.46\n",
    "two blanks": "Tiger  Cat  7.35\nbook  paper  7.46\n",
    "commas": "Tiger,Cat,7.35\nbook,paper,7.46\n",
    "semicolons, decimal commas": "Tiger;Cat;7,35\nbook;paper;7,46\n",
    "headings": "Word 1,Word 2,Human (mean)\nTiger,Cat,7.35\nbook,paper,7.46\n",
    "comments, blank lines": "# about\n# Word 1\tWord 2\n\nTiger\tCat\t7.35\n\nbook\tpaper\t7.46\n",
    "CRLF and BOM": "\ufeffTiger\tCat\t7.35\r\nbook\tpaper\t7.46\r\n",
    "CR": "Tiger\tCat\t7.35\rbook\tpaper\t7.46",
    "quotes": '"Tiger","Cat","7.35"\n"book","paper","7.46"\n',
    "SimLex": "word1\tword2\tPOS\tSimLex999\tconc(w1)\nTiger\tCat\tN\t7.35\t1\nbook\tpaper\tN\t7.46\t4\n",
    "SimVerb": "Tiger\tCat\tV\t7.35\tSYNONYMS\nbook\tpaper\tV\t7.46\tNONE\n",
    "RW": "Tiger\tCat\t7.35\t1\t2\t3\nbook\tpaper\t7.46\t0\t0\t9\n",
    "number first": "id,word1,word2,score\n1,Tiger,Cat,7.35\n2,book,paper,7.46\n",
}


@pytest.mark.parametrize("text", FORMS.values(), ids=FORMS)
def test_forms_of_similarity_files(tmp_path: Path, text: str) -> None:
    path = tmp_path / "p.txt"
    for raw in (text.encode(), gzip.compress(text.encode())):
        path.write_bytes(raw)
        found = read_pairs(str(path))
        assert (found.lefts, found.rights) == (("Tiger", "book"), ("Cat", "paper"))
        assert found.scores == (7.35, 7.46)


@pytest.mark.parametrize(
    "text",
    ["A b c d\ne f g h\n", "A\tb\tc\td\r\ne\tf\tg\th\r\n", "\ufeff# about\n\nA b  c d\n\ne f g h", "A,b,c,d\ne,f,g,h"],
)
def test_forms_of_analogy_files(tmp_path: Path, text: str) -> None:
    path = tmp_path / "q.txt"
    path.write_bytes(text.encode())
    found = read_questions(str(path))
    assert found.quads == (("A", "b", "c", "d"), ("e", "f", "g", "h")) and found.names == ("",)


def test_sections_of_analogy_files(tmp_path: Path) -> None:
    path = tmp_path / "q.txt"
    path.write_text("a b c d\n: one two\ne f g h\n:three\ni j k l\n: one two\nm n o p\n", encoding="utf-8")
    found = read_questions(str(path))
    assert (found.names, found.sections) == (("", "one two", "three"), (0, 1, 2, 1))


@pytest.mark.parametrize(
    ("read", "raw", "said"),
    [
        (read_pairs, b"a b 1\na c x\n", "line 2: expected two words and a score"),
        (read_pairs, b"a b 1\nc d 2 e\n", "line 2: expected 3 fields as before, found 'c d 2 e'"),
        (read_pairs, b"a\tb\t1\nc\td\n", "line 2"),
        (read_pairs, b"a\tb\tnan\n", "line 1"),
        (read_pairs, b"a\tb\t1\n\t\tc\t2\n", "line 2"),
        (read_pairs, b"", "holds no word pairs"),
        (read_pairs, b"# only\n\n", "holds no word pairs"),
        (read_pairs, b"word1,word2,score\n", "line 1"),
        (read_pairs, b": family\nboy girl man woman\n", "give it to --analogies"),
        (read_pairs, b"boy girl man woman\n", "give it to --analogies"),
        (read_pairs, b"a b 1\nc\xe9 d 2\n", "line 2: byte 0xe9 is not UTF-8"),
        (read_questions, b"a b c d\na b c\n", "line 2: expected four words 'a b c d', found 'a b c'"),
        (read_questions, b"# Word 1\nlove\tsex\t6.77\n", "line 2: holds word pairs with scores; give it to --sim"),
        (read_questions, b": empty\n", "holds no analogies"),
        (read_questions, b"a b c d " + b"e" * 999, "found 'a b c d eee"),
        (read_questions, b"PK\x03\x04" + b"\0" * 20, "not text"),
    ],
)  # fmt: skip
def test_wrong_files_are_one_clear_line(tmp_path: Path, read: Any, raw: bytes, said: str) -> None:
    path = tmp_path / "file.txt"
    path.write_bytes(raw)
    with pytest.raises(EmbcliError) as e:
        read(str(path))
    assert said in str(e.value) and "file.txt" in str(e.value) and "\n" not in str(e.value) and len(str(e.value)) < 300
