"""Oracle: gensim reads what is written, to the same bits, and writes what is read; the original's own files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import ok, shared
from samples import equal

from embcli.artifacts import provenance, store
from embcli.artifacts.schema import Vectors, Words
from embcli.spec import ConvertParams, make

WORDS = ["the", "naïve", "東京", "e\u0301", "👍🏽", "0.5", "-", '"', "\u00a0x", "a_b", "\\n"]


def rows_of(n: int, dim: int) -> np.ndarray:
    """Return rows of every size that a float32 can have."""
    rng = np.random.default_rng(8)
    bits = rng.integers(0, 2**32, (n, dim), np.uint32).view(np.float32)
    return np.where(np.isfinite(bits), bits, rng.standard_normal((n, dim))).astype(np.float32)


def saved(path: Path, words: list[str], rows: np.ndarray) -> Path:
    made = Vectors(vectors=rows, words=Words.of(words), unigram=np.zeros(len(words), np.int64))
    made.stats, made.options = {"dim": rows.shape[1]}, {"dim": rows.shape[1]}
    store.write(made, str(path), provenance.compose("convert", make(ConvertParams, {}), 0, [], made))
    return path


def read(path: Path) -> Any:
    return store.read(str(path), ("vectors",))


#: the format, how gensim reads it, and how gensim writes it
FORMATS = {
    "word2vec": ({}, {}),
    "fasttext": ({}, {}),
    "glove": ({"no_header": True}, {"write_header": False}),
    "word2vec-binary": ({"binary": True}, {"binary": True}),
}


@pytest.mark.parametrize("form", FORMATS)
def test_gensim_reads_and_writes_the_same_vectors(form: str, tmp_path: Path) -> None:
    """user-reports V10: words, order and bits, both ways."""
    models = pytest.importorskip("gensim.models")
    reads, writes = FORMATS[form]
    words = [*WORDS, *(f"w{i}" for i in range(2000))]
    rows = rows_of(len(words), 7)
    ok("convert", saved(tmp_path / "a.npz", words, rows), "--to", form, "-o", tmp_path / "v")
    theirs = models.KeyedVectors.load_word2vec_format(str(tmp_path / "v"), **reads)
    assert theirs.index_to_key == words and equal(theirs.vectors, rows)
    assert not equal(theirs.vectors[::-1], rows)
    theirs.save_word2vec_format(str(tmp_path / "w"), **writes)
    ok("convert", tmp_path / "w", "-o", tmp_path / "b.npz")
    back = read(tmp_path / "b.npz")
    assert list(back.words) == words and equal(np.asarray(back.vectors), rows)


@pytest.mark.parametrize("name", ["euclidean_vectors.bin", "high_precision.kv.bin", "glove.6B.50d.top20k.w2v.bin"])
def test_binaries_of_others_as_gensim_reads_them(name: str, tmp_path: Path) -> None:
    """One of them has no line end after a row; what we write of them, gensim reads again."""
    models = pytest.importorskip("gensim.models")
    path = shared() / "vectors" / name
    theirs = models.KeyedVectors.load_word2vec_format(str(path), binary=True)
    ok("convert", path, "-o", tmp_path / "v.npz")
    made = read(tmp_path / "v.npz")
    assert list(made.words) == theirs.index_to_key and equal(np.asarray(made.vectors), theirs.vectors)
    ok("convert", tmp_path / "v.npz", "--to", "word2vec-binary", "-o", tmp_path / "w.bin")
    again = models.KeyedVectors.load_word2vec_format(str(tmp_path / "w.bin"), binary=True)
    assert again.index_to_key == theirs.index_to_key and equal(again.vectors, theirs.vectors)


def test_text_and_binary_of_the_same_vectors_agree(tmp_path: Path) -> None:
    """The data set's 20,000 words of GloVe as text, packed, without a header, and as word2vec's binary."""
    folder = shared() / "vectors"
    for name, file in (("t", "glove.6B.50d.top20k.txt.gz"), ("b", "glove.6B.50d.top20k.w2v.bin")):
        ok("convert", folder / file, "-o", tmp_path / f"{name}.npz")
    text, binary = read(tmp_path / "t.npz"), read(tmp_path / "b.npz")
    assert list(text.words) == list(binary.words) and len(text.words) == 20_000
    assert equal(np.asarray(text.vectors), np.asarray(binary.vectors))


def test_gensims_own_files_are_named(tmp_path: Path) -> None:
    models = pytest.importorskip("gensim.models")
    from conftest import embcli, failed

    kept = models.KeyedVectors(2)
    kept.add_vectors(["a", "b"], np.ones((2, 2), np.float32))
    kept.save(str(tmp_path / "v.kv"))
    failed(embcli("convert", tmp_path / "v.kv", "-o", tmp_path / "x.npz"), 1, "a Python pickle", "save_word2vec_format")
