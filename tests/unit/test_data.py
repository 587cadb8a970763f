"""Oracle: the facts and the rules stated in data/README.md; the generator, run again, for the committed files."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from conftest import DATA

GENERATED = ("corpus.txt", "questions.txt", "similarity.tsv", "senses.txt", "senses.tsv")
PROGRAM = DATA / "make_corpus.py"


def run(*args: str | Path, hash_seed: str = "0") -> subprocess.CompletedProcess[str]:
    """Run the generator in a process of its own."""
    env = os.environ | {"PYTHONHASHSEED": hash_seed}
    return subprocess.run(
        [sys.executable, PROGRAM, *map(str, args)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env=env,
        check=False,
    )


def load(name: str):  # the data folder is no package: its modules are read as the program reads them
    sys.path.insert(0, str(DATA))
    try:
        return __import__(name)
    finally:
        sys.path.remove(str(DATA))


@pytest.fixture(scope="module")
def counts() -> Counter[str]:
    """How often each word of the corpus occurs, counted here without the program's own pattern."""
    text = (DATA / "corpus.txt").read_text(encoding="utf-8").lower()
    return Counter("".join(c if c.isalnum() or c in "'’" else " " for c in text).split())


def sections() -> dict[str, list[list[str]]]:
    """Return the questions by section."""
    found: dict[str, list[list[str]]] = {}
    for line in (DATA / "questions.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith(": "):
            found[line[2:]] = questions = []
        else:
            questions.append(line.split())
    return found


@pytest.mark.parametrize("hash_seed", ["0", "4711"])
def test_committed_files_are_what_the_program_makes(tmp_path: Path, hash_seed: str) -> None:
    assert run("--out", tmp_path, hash_seed=hash_seed).returncode == 0
    for name in GENERATED:
        assert (tmp_path / name).read_bytes() == (DATA / name).read_bytes(), name


def test_check_fails_on_one_changed_byte_and_on_another_seed(tmp_path: Path) -> None:
    assert run("--check").returncode == 0
    for name in GENERATED:
        (tmp_path / name).write_bytes((DATA / name).read_bytes())
    assert run("--check", "--out", tmp_path, "--seed", "2").returncode == 1
    changed = bytearray((tmp_path / "corpus.txt").read_bytes())
    changed[1000] ^= 1
    (tmp_path / "corpus.txt").write_bytes(changed)
    ran = run("--check", "--out", tmp_path)
    assert ran.returncode == 1 and "corpus.txt" in ran.stderr and "questions.txt" not in ran.stderr


def test_corpus_has_the_stated_size_and_shape(counts: Counter[str]) -> None:
    data = (DATA / "corpus.txt").read_bytes()
    text = data.decode("utf-8")
    assert 1_000_000 <= len(data) <= 2_000_000
    assert 2_500 <= len(counts) <= 5_000
    assert sum(n < 5 for n in counts.values()) >= 300
    assert text.endswith("\n") and "\n\n\n" not in text and not set("{}[]|\t\r") & set(text)
    assert not text.isascii() and not text.islower()
    readme = (DATA / "README.md").read_text(encoding="utf-8")
    assert f"{len(data):,} bytes" in readme and f"{len(counts):,} types" in readme


def test_no_pattern_makes_more_than_one_sentence_in_a_hundred() -> None:
    _, used = load("make_corpus").corpus(1)
    assert len(used) > 300
    assert max(used.values()) < sum(used.values()) / 100


def test_questions_are_well_formed_and_their_words_frequent(counts: Counter[str]) -> None:
    found = sections()
    assert len(found) >= 10 and 300 <= sum(map(len, found.values())) <= 800
    for name, questions in found.items():
        assert len(questions) >= 20, name
        for q in questions:
            assert len(q) == 4 and len(set(q)) >= 3 and q[0] != q[2], (name, q)
            assert all(w == w.lower() and counts[w] >= 20 for w in q), (name, q)


def test_a_rare_word_would_be_noticed(counts: Counter[str]) -> None:
    rare = load("facts").RARE
    assert all(0 < counts[w] < 20 for w in rare)
    assert not set(rare) & {w for questions in sections().values() for q in questions for w in q}


def test_rows_that_share_a_word_are_not_asked() -> None:
    asked = {w for q in sections()["country-currency"] for w in q}
    assert {"yen", "forint"} <= asked
    assert not asked & {"euro", "pound", "france", "egypt"}


def test_similarity_has_eighty_pairs_of_known_words(counts: Counter[str]) -> None:
    rows = [line.split("\t") for line in (DATA / "similarity.tsv").read_text(encoding="utf-8").splitlines()]
    assert Counter(score for _, _, score in rows) == {"9": 16, "7": 16, "6": 16, "3": 16, "0": 16}
    assert len({frozenset(row[:2]) for row in rows}) == 80
    assert all(counts[w] >= 20 for a, b, _ in rows for w in (a, b))


def test_facts_refuse_a_row_that_does_not_fit_its_columns() -> None:
    table = load("facts").table
    assert table("a b", "x y | of: 1; 2\n  at: 3\n= in: 4\nz w") == [
        {"a": "x", "b": "y", "of": ["1", "2"], "at": ["3"]},
        {"a": "z", "b": "w", "in": ["4"]},
    ]
    with pytest.raises(ValueError):
        table("a b", "x y z")


TINY = {
    "five-sentences.txt": "I like cats\nI like dogs\nI like cats\nI like pizza\nI like cats\n",
    "the-cat-sat.txt": "the cat sat\nthe sat cat\n",
    "dog-bites-man.txt": "dog bites man\nman bites dog\n",
    "they-like.txt": "I like\nThey like\n",
    "aaabdaaabac.txt": "aaabdaaabac",
}


@pytest.mark.parametrize("name", TINY)
def test_tiny_text(name: str) -> None:
    assert (DATA / "tiny" / name).read_bytes() == TINY[name].encode()


def test_tiny_counts() -> None:
    words = (DATA / "tiny" / "cat-dog.txt").read_text(encoding="utf-8").split()
    assert list(Counter(words).items()) == [("cat", 5), ("cats", 3), ("dog", 4), ("dogs", 2)]
    documents = (DATA / "tiny" / "document-terms.txt").read_text(encoding="utf-8").splitlines()
    assert [Counter(d.split()) for d in documents] == [{"cat": 3, "pet": 2}, {"dog": 2, "pet": 1, "car": 3, "drive": 3}]


@pytest.mark.parametrize(("name", "words"), [("moles.txt", {"mole": 12}), ("banks.txt", {"bank": 8, "tower": 6})])
def test_tiny_senses(name: str, words: dict[str, int]) -> None:
    lines = (DATA / "tiny" / name).read_text(encoding="utf-8").splitlines()
    assert len(lines) == sum(words.values())
    for word, n in words.items():
        assert sum(word in line.lower().rstrip(".?").split() for line in lines) == n


def test_labelled_sentences_are_none_that_were_there_to_learn_from() -> None:
    text = "".join((DATA / name).read_text(encoding="utf-8") for name in ("corpus.txt", "senses.txt"))
    rows = [line.split("\t") for line in (DATA / "senses.tsv").read_text(encoding="utf-8").splitlines()]
    assert len(rows) == 128 == len({sentence for *_, sentence in rows})
    senses = Counter((word, sense) for word, sense, _ in rows)
    assert {word for word, _ in senses} == {"bank", "mole", "tower"} and min(senses.values()) >= 12
    for word, _, sentence in rows:
        assert word in sentence.lower() and sentence not in text
    assert (DATA / "senses.txt").read_text(encoding="utf-8").splitlines()[0] in text  # what is there is found
