"""Oracle: the document-term numbers of the sources, and counts of the whole text, through the commands."""

from __future__ import annotations

import json
import math
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import DATA, embcli, failed, ok

SMALL = ["--words", "--min-count", "1"]


@pytest.fixture(scope="module")
def lsa(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with tokens, document-term counts and LSA of the two documents of the sources."""
    folder = tmp_path_factory.mktemp("lsa")
    ok("encode", DATA / "tiny" / "document-terms.txt", *SMALL, "-o", folder / "t.npz")
    ok("cooc", folder / "t.npz", "--context", "document", "-o", folder / "d.npz")
    ok("svd", folder / "d.npz", "-d", "2", "-o", folder / "v.npz")
    return folder


def arrays(path: Path) -> dict[str, Any]:
    with np.load(path, allow_pickle=False) as z:
        return {name: z[name] for name in z.files}


def test_tfidf_by_svd_of_full_rank(lsa: Path) -> None:
    a = arrays(lsa / "v.npz")
    at = a["word_offsets"].tolist()
    words = [a["word_bytes"].tobytes()[i:j].decode() for i, j in pairwise(at)]
    x = a["documents"].astype(float) @ (a["vectors"] / a["singular_values"]).T
    found = dict(zip(words, x.T.tolist(), strict=True))
    assert found["cat"] == pytest.approx([2.0794, 0], abs=1e-4)
    assert found["dog"] == pytest.approx([0, 1.3863], abs=1e-4)
    assert found["car"] == found["drive"] == pytest.approx([0, 3 * math.log(2)], abs=1e-6)
    assert found["pet"] == [0, 0]


def test_pairs_and_lines_name_documents(lsa: Path) -> None:
    assert ok("info", lsa / "d.npz", "--pair", "doc1 cat").text.split() == [
        "word",
        "context",
        "count",
        "doc1",
        "cat",
        "3",
    ]
    top = ok("cooc", lsa / "t.npz", "--context", "document", "--top", "1").text.splitlines()
    assert top[1].split() == ["1", "doc1:", "cat", "cat", "cat", "pet", "pet", "cat", "3"]
    assert "2 documents x 5 words, 6 cells, sum 14" in ok("cooc", lsa / "t.npz", "--context", "document", "-o",
                                                            lsa / "again.npz").talk  # fmt: skip
    assert "2 documents x 5 words" in ok("svd", lsa / "d.npz", "-o", lsa / "w.npz").talk
    assert ", 2 documents x 5 words\n" in ok("info", lsa / "d.npz").text
    assert ok("info", lsa / "v.npz", "--verify").text.count("2 documents x 5 words") == 1
    assert (lsa / "again.npz").read_bytes() == (lsa / "d.npz").read_bytes()


def lines(*args: object) -> list[dict[str, Any]]:
    return [json.loads(line) for line in ok(*args, "--format", "jsonl").text.splitlines()]  # type: ignore[arg-type]


def test_neighbors_of_documents_and_words(lsa: Path) -> None:
    (found,) = lines("neighbors", "--table", "documents", lsa / "v.npz", "doc1")
    assert found["word"] == "doc2: dog dog pet car car car" and found["score"] == 0 and found["count"] is None
    first = lines("neighbors", "--table", "documents", lsa / "v.npz", "drive")[0]
    assert first["word"].startswith("doc2") and first["score"] == 1
    assert [line["word"] for line in lines("neighbors", lsa / "v.npz", "doc2")][:3] == ["car", "drive", "dog"]
    assert lines("neighbors", lsa / "d.npz", "drive")[0]["word"].startswith("doc2")
    table = ok("neighbors", "--table", "documents", lsa / "v.npz", "drive").text
    assert "rank  document" in table and "'drive' is a word: taken as a document of this one word" in table
    failed(embcli("neighbors", "--table", "documents", lsa / "v.npz", "doc3"), 1, "unknown word 'doc3'; did you mean")
    failed(embcli("neighbors", lsa / "v.npz", "cat", "--weight", "tfidf"), 2, "--weight tfidf: weighs counts")


def test_a_corpus_in_two_files_is_the_corpus(lsa: Path, tmp_path: Path) -> None:
    text = (DATA / "tiny" / "moles.txt").read_text(encoding="utf-8").splitlines(keepends=True)
    for name, part in (("a", text[:2]), ("b", text[2:]), ("all", text)):
        (tmp_path / f"{name}.txt").write_text("".join(part), encoding="utf-8")
        ok("encode", tmp_path / f"{name}.txt", *SMALL, "-o", tmp_path / f"{name}.t.npz")
    for more in (["--window", "10"], ["--context", "document"]):
        for name in ("a", "b", "all"):
            ok("cooc", tmp_path / f"{name}.t.npz", *more, "-o", tmp_path / f"{name}.npz")
        ok("cooc", tmp_path / "a.npz", tmp_path / "b.npz", "-o", tmp_path / "sum.npz")
        one, whole = arrays(tmp_path / "sum.npz"), arrays(tmp_path / "all.npz")
        assert one.keys() == whole.keys()
        assert all(np.array_equal(one[name], whole[name]) for name in one if name != "meta")
        meta = json.loads(one["meta"].tobytes())
        assert [each["kind"] for each in meta["inputs"]] == ["counts", "counts"]
        assert [each["kind"] for each in meta["parents"]].count("tokens") == 2
        ok("cooc", tmp_path / "a.t.npz", tmp_path / "b.npz", *more, "-o", tmp_path / "mixed.npz")
        mixed = arrays(tmp_path / "mixed.npz")
        assert all(np.array_equal(mixed[name], whole[name]) for name in mixed if name != "meta")
    failed(embcli("cooc", tmp_path / "a.npz", "-o", tmp_path / "x.npz"), 2, "is counted already")
    ok("cooc", tmp_path / "a.t.npz", "-o", tmp_path / "five.npz")
    failed(embcli("cooc", tmp_path / "a.npz", tmp_path / "five.npz", "-o", tmp_path / "x.npz"), 3, "cannot be added")
    assert not (tmp_path / "x.npz").exists()


def test_blocks_between_blank_lines_are_documents(tmp_path: Path) -> None:
    (tmp_path / "c.txt").write_text("a b\na\n\nb c\n", encoding="utf-8")
    ok("encode", tmp_path / "c.txt", *SMALL, "--rows", "blank-line", "-o", tmp_path / "t.npz")
    ok("cooc", tmp_path / "t.npz", "--context", "document", "-o", tmp_path / "d.npz")
    assert ok("info", tmp_path / "d.npz", "--pair", "doc1 a").text.split()[-1] == "2"
    assert arrays(tmp_path / "d.npz")["shape"].tolist() == [2, 3]


def test_an_impossible_budget_is_a_clean_error(lsa: Path, tmp_path: Path) -> None:
    """user-reports C05."""
    for more in ([], ["--context", "document"]):
        ran = embcli("cooc", lsa / "t.npz", *more, "--memory", "100", "-o", tmp_path / "x.npz")
        failed(ran, 2, "--memory: 100 bytes is too little for 5 words; give ")
    assert not (tmp_path / "x.npz").exists()


def test_documents_are_found_by_name_after_a_transform(tmp_path: Path) -> None:
    """Without singular values words cannot be folded in: documents know documents, and words words."""
    (tmp_path / "c.txt").write_bytes(b"\n".join((DATA / "corpus.txt").read_bytes().split(b"\n")[:300]))
    ok("encode", "c.txt", *SMALL, "-o", "t.npz", cwd=tmp_path)
    ok("cooc", "t.npz", "--context", "document", "-o", "d.npz", cwd=tmp_path)
    ok("svd", "d.npz", "-d", "8", "-o", "v.npz", cwd=tmp_path)
    ok("transform", "v.npz", "--unit", "-o", "x.npz", cwd=tmp_path)
    asked = ("neighbors", "--table", "documents", "--top", "3", "--format", "tsv")
    lists = [ok(*asked, name, "doc1", cwd=tmp_path).text.splitlines() for name in ("v.npz", "x.npz")]
    words = [[line.split("\t")[3] for line in lines] for lines in lists]
    assert words[0] == words[1] and words[1][1].startswith("doc")
    failed(embcli(*asked, "x.npz", "the", cwd=tmp_path), 1, "unknown")
    ok("neighbors", "x.npz", "--table", "documents", "--all", "--top", "2", "-o", "k.npz", cwd=tmp_path)
    assert "doc2" in ok("info", "k.npz", cwd=tmp_path).text
