"""Oracle: files spelled here byte by byte; user-reports N10, V02, V04, V07, V08, V10 for formats other than text."""

from __future__ import annotations

import gzip
import json
import os
import pickle
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import embcli, failed, ok
from hypothesis import given
from hypothesis import strategies as st
from samples import equal

from embcli.artifacts import provenance, store
from embcli.artifacts.mapped import Halves
from embcli.artifacts.schema import Vectors, Words
from embcli.formats.projector import _plain, escaped, labels_beside
from embcli.spec import ConvertParams, make

ROWS = np.array([[1, -2.5, 3e-8], [0.1, 0, 65000], [7, 8, -0.0]], np.float32)
WORDS = ["the", "naïve", "東京"]
#: what may stand in text but in hardly any other format
AWKWARD = ["a b", "\t", "a\tb", "x\ry", '"', " ", "\u2028", "\\u0041", "\\theta", "\u00a0", "é\u0301", "a\\", "👍🏽"]


def saved(folder: Path, words: list[str], rows: np.ndarray, counts: list[int] | None = None, name: str = "a") -> Path:
    """Write an artifact of vectors."""
    unigram = np.array(counts or [0] * len(words), np.int64)
    made = Vectors(vectors=rows, words=Words.of(words), unigram=unigram, stats={"dim": 3}, options={"dim": 3})
    path = folder / f"{name}.npz"
    store.write(made, str(path), provenance.compose("convert", make(ConvertParams, {}), 0, [], made))
    return path


def read(path: Path) -> Any:
    return store.read(str(path), ("vectors",))


def same(path: Path, words: list[str], rows: np.ndarray) -> bool:
    made = read(path)
    return list(made.words) == words and equal(np.asarray(made.vectors), rows)


def binary(end: bytes, header: bytes = b"3 3\n") -> bytes:
    lines = [word.encode() + b" " + row.tobytes() + end for word, row in zip(WORDS, ROWS, strict=True)]
    return header + b"".join(lines)


@pytest.mark.parametrize("end", [b"\n", b""])
def test_word2vec_binary_in_both_dialects(end: bytes, tmp_path: Path) -> None:
    """Recognised by content, packed or not, from a pipe; what is written has a line end after each row."""
    (tmp_path / "v.bin").write_bytes(binary(end))
    said = ok("convert", tmp_path / "v.bin", "-o", tmp_path / "v.npz").talk
    assert f"{'with' if end else 'without'} a line end after each row" in said and "3 words" in said
    assert same(tmp_path / "v.npz", WORDS, ROWS)
    (tmp_path / "v.txt").write_bytes(gzip.compress(binary(end)))
    ok("convert", tmp_path / "v.txt", "-o", tmp_path / "w.npz")
    ok("convert", "-", "--from", "word2vec-binary", "-o", tmp_path / "x.npz", stdin=binary(end))
    assert same(tmp_path / "w.npz", WORDS, ROWS) and same(tmp_path / "x.npz", WORDS, ROWS)
    ok("convert", tmp_path / "v.npz", "--to", "word2vec-binary", "-o", tmp_path / "again.bin")
    assert (tmp_path / "again.bin").read_bytes() == binary(b"\n")


def test_one_word_of_one_dimension_is_said_so(tmp_path: Path) -> None:
    """In what is read and in what is written, and on a page; both files of a projector are named."""
    (tmp_path / "v.txt").write_bytes(b"1 1\na 4\n")
    said = ok("convert", tmp_path / "v.txt", "--from", "word2vec", "-o", tmp_path / "v.npz").talk
    assert "a header of 1 word, 1 dimension\n" in said and "v.npz: 1 word, 1 dimension," in said
    assert "w.bin: 1 word, 1 dimension as word2vec-binary" in ok(
        "convert", tmp_path / "v.npz", "--to", "word2vec-binary", "-o", tmp_path / "w.bin").talk  # fmt: skip
    assert "a header of 1 word, 1 dimension\n" in ok("convert", tmp_path / "w.bin", "-o", tmp_path / "w.npz").talk
    said = ok("convert", tmp_path / "v.npz", "--to", "projector", "-o", tmp_path / "p").talk
    assert f"{tmp_path / 'p' / 'vectors.tsv'} and {tmp_path / 'p' / 'metadata.tsv'}: 1 word, 1 dimension as" in said
    said = ok("convert", tmp_path / "v.npz", "-o", tmp_path / "q_vectors.tsv").talk
    assert f"{tmp_path / 'q_vectors.tsv'} and {tmp_path / 'q_metadata.tsv'}: 1 word" in said
    ok("plot", tmp_path / "v.npz", "-o", tmp_path / "v.html")
    page = (tmp_path / "v.html").read_text(encoding="utf-8")
    assert "<title>1 word of v.npz</title>" in page and "all 1 word;" in page


@pytest.mark.parametrize("claimed", [2, 5])
def test_binary_header_and_rows_that_disagree(claimed: int, tmp_path: Path) -> None:
    """user-reports V04: all rows are kept, and it is said; strict stops."""
    (tmp_path / "v.bin").write_bytes(binary(b"\n", b"%d 3\n" % claimed))
    said = ok("convert", tmp_path / "v.bin", "-o", tmp_path / "v.npz").talk
    assert f"warning: its header claims {claimed} words, 3 are there; all of them are kept" in said
    assert same(tmp_path / "v.npz", WORDS, ROWS)
    strict = embcli("convert", tmp_path / "v.bin", "--errors", "strict", "-o", tmp_path / "w.npz")
    failed(strict, 1, "its header claims")


def test_damaged_binaries(tmp_path: Path) -> None:
    path = tmp_path / "v.bin"

    def fails(data: bytes, *said: str, more: tuple[str, ...] = ()) -> None:
        path.write_bytes(data)
        failed(embcli("convert", path, *more, "-o", tmp_path / "x.npz"), 1, str(path), *said)

    path.write_bytes(binary(b"\n")[:-5])
    said = ok("convert", path, "-o", tmp_path / "v.npz").talk
    assert "warning: its header claims 3 words, 2 are there" in said
    assert "the file ends within row 3, which is left out" in said
    assert same(tmp_path / "v.npz", WORDS[:2], ROWS[:2])
    nan = np.array([1, np.nan, 2], np.float32).tobytes()
    fails(b"1 3\nw " + nan, "row 1, 'w': its numbers are not all finite")
    fails(b"1 3\n " + ROWS[0].tobytes(), "row 1: no word stands there")
    fails(b"1 3\ncaf\xe9 " + ROWS[0].tobytes(), "row 1: the word b'caf\\xe9' is not UTF-8")
    fails(
        b"1 3\n" + b"\0" * 70_000 + b"x" * 70_000, "row 1 has a word of more than", more=("--from", "word2vec-binary")
    )
    fails(b"x 3\nw " + nan, "expected the number of words", more=("--from", "word2vec-binary"))
    path.write_bytes(b"2 3\ncaf\xe9 " + ROWS[0].tobytes() + b"b " + ROWS[1].tobytes())
    ok("convert", path, "--errors", "skip", "-o", tmp_path / "v.npz")
    assert same(tmp_path / "v.npz", ["b"], ROWS[1:2])


def test_words_that_binaries_cannot_hold_are_not_written(tmp_path: Path) -> None:
    """user-reports V10: a blank ends a word there."""
    for word in ("a b", "a\nb", ""):
        path = saved(tmp_path, ["x", word], ROWS[:2])
        ran = embcli("convert", path, "--to", "word2vec-binary", "-o", tmp_path / "v.bin")
        failed(ran, 1, "cannot be written in word2vec's binary format", "--to word2vec writes text")
    assert not (tmp_path / "v.bin").exists()


def test_projector_pairs(tmp_path: Path) -> None:
    """user-reports N10, V10: as many labels as rows whatever the words; a header with two columns only."""
    words = [*WORDS, *AWKWARD]
    rows = np.arange(3 * len(words), dtype=np.float32).reshape(-1, 3) / 7
    counts = list(range(len(words), 0, -1))
    for name, known, header in (("plain", None, 0), ("counted", counts, 1)):
        path = saved(tmp_path, words, rows, known)
        said = ok("convert", path, "--to", "projector", "-o", tmp_path / name).talk
        assert "vectors.tsv" not in said or "metadata.tsv" in said
        labels = (tmp_path / name / "metadata.tsv").read_bytes()
        assert labels.count(b"\n") == len(words) + header and b"\r" not in labels
        assert (tmp_path / name / "vectors.tsv").read_bytes().count(b"\n") == len(words)
        assert labels.startswith(b"word\tcount\n") == bool(header)
        assert all(line.count(b"\t") == header for line in labels.split(b"\n")[:-1])
        ok("convert", tmp_path / name, "-o", tmp_path / "b.npz")
        assert same(tmp_path / "b.npz", words, rows)
        assert read(tmp_path / "b.npz").unigram.tolist() == (known or [0] * len(words))
    inputs = read(tmp_path / "b.npz").meta["inputs"]
    assert len(inputs) == 2 and inputs[0]["digest"] != inputs[1]["digest"]
    ok("convert", saved(tmp_path, words, rows), "-o", tmp_path / "my_vectors.tsv")
    assert (tmp_path / "my_metadata.tsv").exists()
    ok("convert", tmp_path / "my_vectors.tsv", "--limit", "2", "-o", tmp_path / "c.npz")
    assert same(tmp_path / "c.npz", words[:2], rows[:2])


@given(st.text(min_size=1).filter(lambda word: "\n" not in word or True))
def test_labels_are_one_visible_field_and_are_read_back(word: str) -> None:
    word = word.encode("utf-8", "replace").decode()
    label = escaped(word)
    assert label.strip() and not set(label) & set("\t\n\r\v\f\u2028\u2029\x85") and not label.startswith('"')
    assert _plain(label.encode()).decode() == word


def test_labels_and_rows_that_disagree(tmp_path: Path) -> None:
    """user-reports N10: one line that says how many there are of each."""
    (tmp_path / "vectors.tsv").write_bytes(b"0.5\t1\n2\t3\n4\t5\n")
    at = tmp_path / "metadata.tsv"
    for labels, said in (
        (b"a\nb\n", "has 2 labels, and"),
        (b"a\nb\nc\nd\n", "has 4 labels, and"),
        (b"word\tn\na\t1\nb\t2\n", "has 2 labels, and"),
        (b"", "looks like an empty file"),
        (b"a\n\nc\n", "label 2: no word stands there"),
    ):
        at.write_bytes(labels)
        failed(embcli("convert", tmp_path / "vectors.tsv", "-o", tmp_path / "x.npz"), 1, said)
    at.write_bytes(b"n\tWord\r\n1\ta\r\n2\tb\r\n3\tc\r\n")
    said = ok("convert", tmp_path, "-o", tmp_path / "x.npz").talk
    assert same(tmp_path / "x.npz", ["a", "b", "c"], np.array([[0.5, 1], [2, 3], [4, 5]], np.float32))
    assert "a header (n, Word)" in said
    (tmp_path / "vectors.tsv").write_bytes(b"0.5\t1\n2\n4\t5\n")
    failed(embcli("convert", tmp_path, "-o", tmp_path / "x.npz"), 1, "line 2: expected 2 numbers")
    (tmp_path / "vectors.tsv").write_bytes(b"0.5\t1\n2\tx\n4\t5\n")
    failed(embcli("convert", tmp_path, "-o", tmp_path / "x.npz"), 1, "line 2: expected 2 numbers, and 'x' is no number")
    at.unlink()
    (tmp_path / "vectors.tsv").write_bytes(b"0.5\t1\n2\t3\n")
    failed(
        embcli("convert", tmp_path / "vectors.tsv", "-o", tmp_path / "x.npz"), 1, "no labels are beside", "--from glove"
    )
    assert labels_beside("d/x.tsv") == "d/x_metadata.tsv" and labels_beside("tensors.tsv") == "metadata.tsv"


def test_safetensors(tmp_path: Path) -> None:
    """user-reports V10; read back by the library and by us, words and counts included."""
    numpy = pytest.importorskip("safetensors.numpy")
    words = [*WORDS, *AWKWARD]
    rows = np.random.default_rng(0).standard_normal((len(words), 3)).astype(np.float32)
    path = saved(tmp_path, words, rows, list(range(len(words), 0, -1)))
    ok("convert", path, "-o", tmp_path / "v.safetensors")
    theirs = numpy.load_file(tmp_path / "v.safetensors")
    assert equal(theirs["vectors"], rows) and theirs["word_offsets"][-1] == len(theirs["word_bytes"])
    said = ok("convert", tmp_path / "v.safetensors", "-o", tmp_path / "b.npz").talk
    assert "tensor 'vectors'" in said and same(tmp_path / "b.npz", words, rows)
    assert read(tmp_path / "b.npz").unigram.tolist() == read(path).unigram.tolist()
    ok("convert", path, "--dtype", "float16", "-o", tmp_path / "h.safetensors")
    assert numpy.load_file(tmp_path / "h.safetensors")["vectors"].dtype == np.float16
    numpy.save_file({"a.embed": rows, "other": rows[:2], "lm_head": rows}, tmp_path / "m.safetensors")
    failed(embcli("convert", tmp_path / "m.safetensors", "-o", tmp_path / "x.npz"), 1, "has no words", "tokenizer.json")
    vocab = {"model": {"type": "WordPiece", "vocab": {w: i for i, w in enumerate(words[:-1])}}}
    vocab["added_tokens"] = [{"content": words[-1], "id": len(words) - 1}]  # type: ignore[assignment]
    (tmp_path / "tokenizer.json").write_text(json.dumps(vocab), encoding="utf-8")
    ok("convert", tmp_path / "m.safetensors", "-o", tmp_path / "x.npz")
    assert same(tmp_path / "x.npz", words, rows)
    ok("convert", tmp_path / "m.safetensors", "--tensor", "lm_head", "--limit", "2", "-o", tmp_path / "x.npz")
    assert same(tmp_path / "x.npz", words[:2], rows[:2])
    failed(embcli("convert", tmp_path / "m.safetensors", "--tensor", "z", "-o", tmp_path / "x.npz"), 2, "--tensor z")
    numpy.save_file({"a": rows, "b": rows}, tmp_path / "m.safetensors")
    failed(
        embcli("convert", tmp_path / "m.safetensors", "-o", tmp_path / "x.npz"), 2, "several tables", "--tensor NAME"
    )
    (tmp_path / "m.safetensors").write_bytes((tmp_path / "v.safetensors").read_bytes()[:-9])
    failed(embcli("convert", tmp_path / "m.safetensors", "-o", tmp_path / "x.npz"), 1, "is no sound safetensors file")


def test_without_the_package_one_line_says_so(tmp_path: Path) -> None:
    ok("convert", saved(tmp_path, WORDS, ROWS), "-o", tmp_path / "v.safetensors")
    (tmp_path / "hidden").mkdir()
    (tmp_path / "hidden" / "safetensors.py").write_text("raise ImportError\n", encoding="utf-8")
    path = os.pathsep.join([str(tmp_path / "hidden"), *sys.path])
    ran = embcli("convert", tmp_path / "v.safetensors", "-o", tmp_path / "x.npz", PYTHONPATH=path)
    failed(ran, 1, "pip install safetensors")


def test_half_precision_is_recorded_and_read_as_float32(tmp_path: Path) -> None:
    """user-reports V08; other commands read halves as float32."""
    (tmp_path / "v.txt").write_text("a 1 0.1 2\nb -0.3 5 1e-7\nc 3 4 5\n", encoding="utf-8")
    ok("convert", tmp_path / "v.txt", "--dtype", "float16", "-o", tmp_path / "h.npz")
    ok("convert", tmp_path / "v.txt", "-o", tmp_path / "v.npz")
    half, full = read(tmp_path / "h.npz"), read(tmp_path / "v.npz")
    assert isinstance(half.vectors, Halves) and half.meta["options"]["dtype"] == "float16"
    assert full.meta["options"]["dtype"] == "float32" and np.asarray(full.vectors).dtype == np.float32
    assert equal(np.asarray(half.vectors), np.asarray(full.vectors).astype(np.float16).astype(np.float32))
    assert not equal(np.asarray(half.vectors), np.asarray(full.vectors))
    assert "float16" in ok("info", tmp_path / "h.npz").text
    ok("info", "--verify", tmp_path / "h.npz")
    assert "c " in ok("neighbors", tmp_path / "h.npz", "a").text
    for more in (["--all", "-o", tmp_path / "knn.npz"], ["--metric", "dot", "a"], ["--metric", "euclidean", "b - a"]):
        ok("neighbors", tmp_path / "h.npz", *more)
    ok("transform", tmp_path / "h.npz", "--unit", "-o", tmp_path / "u.npz")
    assert np.allclose(np.linalg.norm(read(tmp_path / "u.npz").vectors, axis=1), 1)
    ok("eval", tmp_path / "h.npz", "--geometry", "--top", "1")
    for to in ("word2vec", "word2vec-binary", "fasttext-binary", "projector", "safetensors"):
        ok("convert", tmp_path / "h.npz", "--to", to, "-o", tmp_path / f"again-{to}")
    ok("convert", tmp_path / "again-word2vec", "-o", tmp_path / "b.npz")
    assert same(tmp_path / "b.npz", ["a", "b", "c"], np.asarray(half.vectors))
    (tmp_path / "v.txt").write_text("a 1 0.1 2\nb -0.3 70000 1e-7\n", encoding="utf-8")
    ran = embcli("convert", tmp_path / "v.txt", "--dtype", "float16", "-o", tmp_path / "x.npz")
    failed(ran, 1, "holds 70000, and float16 ends at 65,504")


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"<!DOCTYPE html>\n<html><body>404</body></html>\n", "looks like a web page"),
        (b"\n  <html lang='en'>", "looks like a web page"),
        (b"", "looks like an empty file"),
        (gzip.compress(b"<html>", mtime=0), "looks like a web page, compressed by gzip"),
        (gzip.compress(b"", mtime=0), "looks like an empty file, compressed by gzip"),
        (bytes(range(256)) * 40, "looks like binary data"),
        (pickle.dumps({"vectors": 1}), "looks like a Python pickle, which is never read; gensim's own files are saved"),
        (b"%PDF-1.4 x", "looks like a PDF"),
        (b"the 1061396\nof 593677\n", "say --from glove"),
    ],
)
def test_no_vector_file_at_all(data: bytes, said: str, tmp_path: Path) -> None:
    """user-reports V07: each says what it looks like, with a format asked for or without one."""
    (tmp_path / "v.kv").write_bytes(data)
    ran = embcli("convert", tmp_path / "v.kv", "-o", tmp_path / "x.npz")
    assert ran.code in (1, 2)
    failed(ran, ran.code, str(tmp_path / "v.kv"), said)
    if "--from" not in said:
        for form in ("word2vec", "glove"):
            ran = embcli("convert", tmp_path / "v.kv", "--from", form, "-o", tmp_path / "x.npz")
            failed(ran, 1, said.split(";")[0].split(",")[0])


def test_names_do_not_say_what_is_packed(tmp_path: Path) -> None:
    """user-reports V07: gzip named .txt and text named .gz are read all the same."""
    text = b"a 1 2 3\nb 4 5 6\n"
    for name, data in (("v.txt", gzip.compress(text)), ("v.gz", text), ("v.bin", text)):
        (tmp_path / name).write_bytes(data)
        ok("convert", tmp_path / name, "-o", tmp_path / "x.npz")
        assert same(tmp_path / "x.npz", ["a", "b"], np.array([[1, 2, 3], [4, 5, 6]], np.float32))
    (tmp_path / "v.gz").write_bytes(gzip.compress(text * 1000)[:-9])
    failed(embcli("convert", tmp_path / "v.gz", "-o", tmp_path / "x.npz"), 1, "gzip data are damaged or cut short")


def test_a_first_word_with_blanks_or_of_blanks_is_no_tokenizer(tmp_path: Path) -> None:
    """user-reports V02: the majority of lines says what a file is."""
    for first, word in ((b". . . 1 2 3\n", ". . ."), (b"  1 2 3\n", " ")):
        (tmp_path / "v.txt").write_bytes(first + b"b 4 5 6\nc 7 8 9\n")
        ok("convert", tmp_path / "v.txt", "-o", tmp_path / "x.npz")
        assert list(read(tmp_path / "x.npz").words) == [word, "b", "c"]


def test_threads_do_not_matter(tmp_path: Path) -> None:
    """With a limit too, where other threads are ahead of what is read."""
    lines = [b"w%d %.7g %.9g\n" % (i * 7, i / 7, -i * 1e-3) for i in range(150_000)]
    (tmp_path / "v.txt").write_bytes(b"".join(lines))
    for more in ((), ("--limit", "70000")):
        made = set()
        for threads in ("1", "2", "5"):
            ok("convert", tmp_path / "v.txt", *more, "--threads", threads, "-o", tmp_path / "x.npz")
            made.add((tmp_path / "x.npz").read_bytes())
        assert len(made) == 1
    texts = set()
    for threads in ("1", "5"):
        ok("convert", tmp_path / "x.npz", "--threads", threads, "-o", tmp_path / "y.vec")
        texts.add((tmp_path / "y.vec").read_bytes())
    assert len(texts) == 1


def test_bits_whatever_the_format(tmp_path: Path) -> None:
    """user-reports V10: every kind of float32, subnormal ones too, there and back."""
    bits = np.random.default_rng(3).integers(0, 2**32, (400, 3), np.uint32).view(np.float32)
    rows = np.where(np.isfinite(bits), bits, np.float32(1e-45)).astype(np.float32)
    words = [f"w{i}" for i in range(400)]
    path = saved(tmp_path, words, rows)
    for to in ("word2vec", "glove", "word2vec-binary", "fasttext", "projector"):
        out = tmp_path / f"v-{to}"
        ok("convert", path, "--to", to, "-o", out)
        ok("convert", out, "-o", tmp_path / "b.npz")
        assert same(tmp_path / "b.npz", words, rows), to


def test_options_that_do_not_belong(tmp_path: Path) -> None:
    path = saved(tmp_path, WORDS, ROWS)
    failed(embcli("convert", path, "--dtype", "float16", "-o", tmp_path / "v.vec"), 2, "--dtype: belongs to reading")
    failed(embcli("convert", path, "--tensor", "x", "-o", tmp_path / "v.vec"), 2, "--tensor: belongs to reading")
    (tmp_path / "v.txt").write_bytes(b"a 1 2\nb 3 4\n")
    failed(embcli("convert", tmp_path / "v.txt", "--tensor", "x", "-o", tmp_path / "x.npz"), 2, "--tensor: belongs to")
    failed(embcli("convert", path, "--to", "projector", "-o", "-"), 2, "writes a folder")
