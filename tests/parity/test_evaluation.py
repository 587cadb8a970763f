"""Oracle: gensim's evaluate_word_pairs and evaluate_word_analogies on the same vectors; sizes of published files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import shared

from embcli.artifacts.schema import Vectors, Words
from embcli.job import Job
from embcli.query.evalfiles import read_pairs, read_questions
from embcli.query.evaluate import Evaluation, evaluate
from embcli.spec import EvalParams

PAIRS = {
    "DE-WS-353-SIM.txt": 201, "EN-MC-30.txt": 30, "EN-MTurk-287.txt": 287, "EN-MTurk-771.txt": 771,
    "EN-RG-65.txt": 65, "EN-SIMLEX-999.txt": 999, "EN-WS-353-ALL.txt": 353, "EN-WS-353-REL.txt": 252,
    "EN-WS-353-SIM.txt": 203, "simlex999.txt": 999, "wordsim353.tsv": 353,
}  # fmt: skip
QUESTIONS = {"DE-google.txt": (18552, 1), "google-lowercase.txt": (19544, 1), "questions-words.txt": (19544, 14)}
SIZE = 400


def artifact(seed: int) -> Vectors:
    """Return random vectors: rows i and i + 200 are alike, and some words stand there in two cases, w7 and W7."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(SIZE // 2, 12))
    table = (np.concatenate([centres, centres]) + 0.7 * rng.normal(size=(SIZE, 12))).astype(np.float32)
    words = [f"W{i}" if i < 60 else f"w{i % 340}" for i in range(SIZE)]
    return Vectors(vectors=table, words=Words.of(words), unigram=np.arange(SIZE, 0, -1))


def files(folder: Path, seed: int) -> tuple[Path, Path]:
    """Write a file of pairs and one of questions about words that are alike, in any case, some unknown."""
    rng = np.random.default_rng(seed)
    pairs, questions = folder / "pairs.tsv", folder / "questions.txt"
    some = [(i, (i + SIZE // 2) % SIZE) for i in rng.integers(0, SIZE, 2000).tolist()]
    words = [(f"{rng.choice(['w', 'W'])}{a}", f"{rng.choice(['w', 'W', 'w'])}{b}") for a, b in some]
    pairs.write_text("".join(f"{a}\t{b}\t{rng.integers(0, 9)}\n" for a, b in words), encoding="utf-8")
    lines = [f"{a} {b} {c} {d}\n" for (a, b), (c, d) in zip(words[::2], words[1::2], strict=True)]
    questions.write_text(": one\n" + "".join(lines[:400]) + ": gram\n" + "".join(lines[400:]), encoding="utf-8")
    return pairs, questions


def ours(found: Vectors, pairs: Path, questions: Path, **options: Any) -> Evaluation:
    params = EvalParams(similarity=(str(pairs),), analogies=(str(questions),), **options)
    return evaluate([found], params, Job(threads=2), ["v"])


@pytest.mark.parametrize("fold", [True, False])
@pytest.mark.parametrize("restrict", [None, 300])
def test_as_gensim(tmp_path: Path, fold: bool, restrict: int | None) -> None:
    """Of what gensim solves: a candidate that folds to a word of the question is none; w5 for W5 is right."""
    models = pytest.importorskip("gensim.models")
    found = artifact(3)
    pairs, questions = files(tmp_path, 4)
    theirs = models.KeyedVectors(12)
    theirs.add_vectors(list(found.words), found.vectors)
    cut = restrict or SIZE
    pearson, spearman, lost = theirs.evaluate_word_pairs(str(pairs), restrict_vocab=cut, case_insensitive=fold)
    share, sections = theirs.evaluate_word_analogies(str(questions), restrict_vocab=cut, case_insensitive=fold)
    said = ours(found, pairs, questions, case="fold" if fold else "exact", restrict=restrict)
    (similarity,) = said.similarity
    assert similarity.spearman == pytest.approx(spearman[0], abs=5e-5)
    assert similarity.pearson == pytest.approx(pearson[0], abs=5e-5)
    assert 100 * (1 - similarity.scored / similarity.total) == pytest.approx(lost)
    whole = next(r for r in said.analogies if r.part == "all")
    assert whole.accuracy == pytest.approx(share, abs=5e-5) and 0 < share < 1
    named = {r.section: r for r in said.analogies if r.part == "section"}
    for section in sections[:-1]:
        right, wrong = len(section["correct"]), len(section["incorrect"])
        assert (named[section["section"]].correct, named[section["section"]].scored) == (right, right + wrong)


def test_another_case_rule_would_give_other_figures(tmp_path: Path) -> None:
    pairs, questions = files(tmp_path, 4)
    fold, exact = (ours(artifact(3), pairs, questions, case=case) for case in ("fold", "exact"))
    assert fold.similarity[0].scored > exact.similarity[0].scored
    assert fold.analogies[0].scored > exact.analogies[0].scored


def test_published_files_have_their_size() -> None:
    folder = shared() / "eval"
    assert {name: len(read_pairs(str(folder / name)).scores) for name in PAIRS} == PAIRS
    found = {name: read_questions(str(folder / name)) for name in QUESTIONS}
    assert {name: (len(f.quads), len(f.names)) for name, f in found.items()} == QUESTIONS
    assert {path.name for path in folder.iterdir()} == {*PAIRS, *QUESTIONS}
    cased, lower = (found[name].quads for name in ("questions-words.txt", "google-lowercase.txt"))
    assert [tuple(word.casefold() for word in quad) for quad in cased] == list(lower)
