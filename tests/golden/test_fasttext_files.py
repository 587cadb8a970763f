"""Oracle: a small model whose bytes are put together here, number by number, and means worked out in float64."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import embcli, failed, ok
from ngrams_twin import plain
from samples import arrays, equal

from embcli.artifacts import provenance, store
from embcli.errors import InputError
from embcli.formats import fasttext_bin
from embcli.formats.vectors import reading, write
from embcli.job import Job
from embcli.spec import ConvertParams, make

WORDS, COUNTS, BUCKETS, DIM = ["the", "naïve", "</s>", "東京"], [9, 5, 4, 1], 50, 3
RNG = np.random.default_rng(3)
INPUTS = RNG.standard_normal((len(WORDS) + BUCKETS, DIM)).astype("<f4")
INPUTS[len(WORDS) + 10 : len(WORDS) + 40] = 0
OUTPUTS = RNG.standard_normal((len(WORDS), DIM)).astype("<f4")


def model(
    *, mark: bool = True, version: int = 12, loss: int = 2, arch: int = 2, labels: int = 0, pruned: int = -1,
    quantized: int = 0, words: list[bytes] | None = None, inputs: np.ndarray = INPUTS,
) -> bytes:  # fmt: skip
    """Return the bytes of a model."""
    spelled = [w.encode() for w in WORDS] if words is None else words
    head = struct.pack("<2i", 793712314, version) if mark else b""
    head += struct.pack("<12id", DIM, 5, 7, 1, 4, 1, loss, arch, BUCKETS, 2, 3, 100, 1e-3)
    head += struct.pack("<3iq", len(spelled) + labels, len(spelled), labels, sum(COUNTS))
    head += struct.pack("<q", pruned) if mark else b""
    for word, count in zip(spelled, COUNTS, strict=True):
        head += word + b"\0" + struct.pack("<qb", count, 0)
    flag = bytes([quantized]) if mark else b""
    head += flag + struct.pack("<2q", *inputs.shape) + inputs.tobytes()
    return head + (b"\0" if mark else b"") + struct.pack("<2q", *OUTPUTS.shape) + OUTPUTS.tobytes()


def vector(word: bytes, row: int | None = None) -> np.ndarray:
    """Return the mean of a word's rows."""
    rows = [] if row is None else [row]
    rows += [len(WORDS) + h % BUCKETS for _, h in plain(word, 2, 3)]
    return INPUTS[rows].astype(np.float64).mean(0)


def imported(folder: Path, data: bytes, **options: Any) -> tuple[Path, Any, str]:
    """Write a model and convert it as the command does: the artifact's file, the artifact, and the notes."""
    path, params = folder / "m.bin", make(ConvertParams, options)
    path.write_bytes(data)
    with reading(str(path), "fasttext-binary", params, Job()) as found:
        meta = provenance.compose("convert", params, 0, [], found.made) | {"inputs": found.sources}
        store.write(found.made, str(folder / "m.npz"), meta)
    return folder / "m.npz", store.read(str(folder / "m.npz")), "; ".join(found.notes)


def exported(made: Any) -> bytes:
    files, size, _ = write(made, "fasttext-binary", "m.bin", None, Job())
    data = b"".join(files[""])
    assert len(data) == size
    return data


@pytest.fixture
def npz(tmp_path: Path) -> Path:
    return imported(tmp_path, model())[0]


def test_words_rows_and_vectors(npz: Path) -> None:
    made: Any = store.read(str(npz))
    store.verify(str(npz))
    assert list(made.words) == WORDS and made.unigram.tolist() == COUNTS
    for row, word in enumerate(WORDS):
        assert np.abs(made.vectors[row] - vector(word.encode(), row)).max() < 1e-6
    assert equal(np.asarray(made.word_rows), INPUTS[:4]) and equal(np.asarray(made.contexts), OUTPUTS)
    assert made.ngram_buckets.tolist() == [*range(10), *range(40, 50)]
    assert equal(np.asarray(made.ngram_rows), INPUTS[4 + made.ngram_buckets])
    options = made.meta["options"]
    assert (options["min_n"], options["max_n"], options["buckets"]) == (2, 3, BUCKETS)
    assert (options["arch"], options["loss"], options["window"]) == ("skipgram", "negative", 5)
    assert (options["epochs"], options["negative"], options["sample"]) == (7, 4, 1e-3)


def test_there_and_back_is_the_same_file(npz: Path) -> None:
    """Even the rows of zeros, the counts and the options of the training; through stdin and stdout too."""
    ran = ok("convert", npz, "--to", "fasttext-binary", "-o", npz.with_suffix(".2.bin"))
    assert npz.with_suffix(".2.bin").read_bytes() == model()
    assert "50 rows of n-grams, 30 of them zeros" in ran.talk
    assert ok("convert", npz, "--to", "fasttext-binary", "-o", "-").out == model()
    assert ok("convert", "-", "-o", "-", stdin=model()).out == npz.read_bytes()


def test_hierarchical_softmax_has_nodes(tmp_path: Path) -> None:
    _, made, _ = imported(tmp_path, model(loss=1))
    assert made.contexts is None and equal(np.asarray(made.nodes), OUTPUTS[:3])
    assert exported(made)[: -4 * DIM] == model(loss=1)[: -4 * DIM]


def test_the_old_layout_gives_ngrams_to_the_end_of_line(tmp_path: Path) -> None:
    _, made, _ = imported(tmp_path, model(mark=False))
    rows = [2, *(len(WORDS) + h % BUCKETS for _, h in plain(b"</s>", 2, 3, old=True))]
    assert len(rows) == 10 and np.abs(made.vectors[2] - INPUTS[rows].mean(0)).max() < 1e-6
    for row in (0, 1, 3):
        assert np.abs(made.vectors[row] - vector(WORDS[row].encode(), row)).max() < 1e-6
    (tmp_path / "new").mkdir()
    _, again, _ = imported(tmp_path / "new", exported(made))
    assert np.abs(again.vectors - made.vectors).max() < 1e-6


REFUSED = {
    "is a supervised fastText model (a classifier with 3 labels)": model(arch=3, labels=3),
    "is a quantized fastText model (.ftz)": model(quantized=1),
    "is a pruned fastText model (7 n-grams kept)": model(pruned=7),
    "layout version 13; up to 12": model(version=13),
    "its header has the loss 9": model(loss=9),
    "has 53 x 3 numbers where 54 x 3 are due": model(inputs=INPUTS[1:]),
    "is not finite": model(inputs=np.where(INPUTS[50, 1] == INPUTS, np.float32(np.nan), INPUTS)),
    "2 bytes stand behind its end": model() + b"\0\0",
    "word 2 b'na\\xefve' is not UTF-8 (1 such words)": model(words=[b"the", b"na\xefve", b"x", b"y"]),
    "the word 'the' is there twice": model(words=[b"the", b"x", b"the", b"y"]),
    "is no word with a count": model().replace(struct.pack("<qb", 5, 0), struct.pack("<qb", 5, 1)),
}


@pytest.mark.parametrize("said", REFUSED)
def test_refused_by_name(said: str, tmp_path: Path) -> None:
    path = tmp_path / "m.bin"
    path.write_bytes(REFUSED[said])
    params = make(ConvertParams, {})
    with pytest.raises(InputError) as e, reading(str(path), "fasttext-binary", params, Job()):
        pass
    assert said in str(e.value) and str(e.value).startswith(f"{path}: ") and str(e.value).isprintable()


@pytest.mark.parametrize("mark", [True, False])
def test_cut_off_anywhere(mark: bool, tmp_path: Path) -> None:
    """Every byte of header and dictionary, and steps through the tables: one clean error, never a shorter model."""
    whole, path = model(mark=mark), tmp_path / "m.bin"
    for size in [*range(1, 200), *range(200, len(whole), 23), len(whole) - 1]:
        path.write_bytes(whole[:size])
        with (
            pytest.raises(InputError, match=r"m\.bin: damaged: "),
            reading(str(path), "fasttext-binary", make(ConvertParams, {}), Job()),
        ):
            pass


def test_sizes_that_lie_take_no_memory(tmp_path: Path) -> None:
    whole, path = bytearray(model()), tmp_path / "m.bin"
    for at in (64, 68):
        whole[at : at + 4] = struct.pack("<i", 2**31 - 1)
    path.write_bytes(whole)
    failed(embcli("convert", path, "-o", tmp_path / "x.npz"), 1, "within its dictionary of 2,147,483,647 words")
    assert not (tmp_path / "x.npz").exists() and fasttext_bin.looks_like(bytes(whole))


def test_words_that_are_not_utf8(tmp_path: Path) -> None:
    data = model(words=[b"the", b"na\xefve", b"na\xeeve", b"y"])
    _, made, notes = imported(tmp_path, data, errors="replace")
    assert list(made.words) == ["the", "na\ufffdve", "y"] and "1 words that came out equal" in notes
    assert np.abs(made.vectors[1] - vector(b"na\xefve", 1)).max() < 1e-6
    _, made, _ = imported(tmp_path, data, errors="skip")
    assert list(made.words) == ["the", "y"] and equal(np.asarray(made.contexts), OUTPUTS[[0, 3]])
    _, made, _ = imported(tmp_path, data, limit=1)
    assert list(made.words) == ["the"] and len(made.ngram_rows) == 20


def test_unseen_words_are_composed_and_it_is_said(npz: Path, tmp_path: Path) -> None:
    """neighbors, eval, info --ngrams and convert --vectors-for; user-reports F02 for words without n-grams or rows."""
    lines = ok("neighbors", npz, "nave", "--format", "jsonl", "--metric", "euclidean", "-k", "4").text.splitlines()
    made: Any = store.read(str(npz))
    far = np.linalg.norm(made.vectors - vector(b"nave"), axis=1)
    assert {r["word"]: pytest.approx(r["score"], rel=1e-5) for r in map(json.loads, lines)} == dict(
        zip(WORDS, far.tolist(), strict=True)
    )
    ran = ok("neighbors", npz, "nave - the")
    assert "'nave' is not in the vocabulary: composed of the rows of its" in ran.text
    found = json.loads(ok("info", npz, "--ngrams", "nave", "--json").text)
    assert not found["known"] and found["terms"] == len(found["parts"]) == len(plain(b"nave", 2, 3))
    assert np.abs(np.array(found["vector"]) - vector(b"nave")).max() < 1e-6
    assert [(p["fragment"].encode(), p["hash"]) for p in found["parts"]] == plain(b"nave", 2, 3)
    assert "the word's own row" in ok("info", npz, "--ngrams", "naïve").text
    (tmp_path / "pairs").write_text("the naïve 1\nthe nave 2\nnave 東京 3\nzzzzq nave 4\n", encoding="utf-8")
    ran = ok("eval", npz, "-s", tmp_path / "pairs")
    assert "4 of 4" in ran.text and "composed of its n-grams: 3 of pairs" in ran.text
    (tmp_path / "words").write_text("the\nnave\n", encoding="utf-8")
    two = ok("convert", npz, "--vectors-for", tmp_path / "words", "-o", "-").text.splitlines()
    (tmp_path / "words").write_text("the\nq" + "q" * 200 + " x\n", encoding="utf-8")
    ran = ok("convert", npz, "--vectors-for", tmp_path / "words", "-o", "-")
    assert "one word holds a blank" in ran.talk and ran.text.startswith("2 3\nthe ")
    assert two[0] == "2 3" and np.abs(np.array(two[2].split()[1:], float) - vector(b"nave")).max() < 1e-6


def test_words_that_nothing_can_be_composed_of(npz: Path, tmp_path: Path) -> None:
    """user-reports F02."""
    made: Any = store.read(str(npz))
    made.options = dict(made.meta["options"]) | {"min_n": 4, "max_n": 4}
    meta = dict(made.meta) | {"options": made.options}
    store.write(made, str(tmp_path / "four.npz"), meta)
    ran = embcli("neighbors", tmp_path / "four.npz", "q")
    failed(ran, 1, "unknown word 'q', and it has no n-grams of 4 to 4 characters")
    failed(embcli("info", tmp_path / "four.npz", "--ngrams", "q"), 1, "it has no n-grams of 4 to 4 characters")
    made.ngram_buckets, made.ngram_rows = made.ngram_buckets[:0], made.ngram_rows[:0]
    store.write(made, str(tmp_path / "none.npz"), meta)
    failed(
        embcli("neighbors", tmp_path / "none.npz", "quite"), 1, "none of its n-grams of 4 to 4 characters (4) has a row"
    )
    assert "nan" not in ok("neighbors", tmp_path / "four.npz", "q", "the").text.lower()


def test_zeros_for_words_of_a_list_that_have_nothing(npz: Path, chain: Path, tmp_path: Path) -> None:
    """As the original prints them; a list of such words only is an error. Long words are named by their beginning."""
    (tmp_path / "words").write_text("king\nnosuch\n" + "x" * 5000 + "\n", encoding="utf-8")
    ran = ok("convert", chain / "vectors.npz", "--vectors-for", tmp_path / "words", "-o", "-")
    rows = [line.split() for line in ran.text.splitlines()[1:]]
    assert [set(row[1:]) == {"0"} for row in rows] == [False, True, True] and "2 of 3 words have no vector" in ran.talk
    (tmp_path / "words").write_text("x" * 5000 + "\n", encoding="utf-8")
    ran = embcli("convert", chain / "vectors.npz", "--vectors-for", tmp_path / "words", "-o", tmp_path / "o.vec")
    failed(ran, 1, "none of 1 words", "(5,000 characters)")
    assert len(ran.talk) < 400


def test_lists_of_words_are_folded_as_the_text_was(chain: Path, tmp_path: Path) -> None:
    """As queries of neighbors are; the words keep the spelling of the list."""
    (tmp_path / "words").write_text("king\nKing\nQUEEN\n", encoding="utf-8")
    ran = ok("convert", chain / "vectors.npz", "--vectors-for", tmp_path / "words", "-o", "-")
    rows = [line.split(" ", 1) for line in ran.text.splitlines()[1:]]
    assert [row[0] for row in rows] == ["king", "King", "QUEEN"] and rows[0][1] == rows[1][1] != rows[2][1]
    assert "2 of 3 words are looked up in lower case" in ran.talk


def test_no_ngrams_means_no_buckets(tmp_path: Path) -> None:
    """gensim and the original expect no bucket rows where --max-n is 0."""
    (tmp_path / "c.txt").write_text("a b c d\n" * 20, encoding="utf-8")
    ok("encode", tmp_path / "c.txt", "--words", "--min-count", "1", "-o", tmp_path / "t.npz")
    ok(
        "fasttext",
        tmp_path / "t.npz",
        "--dim",
        "4",
        "--max-n",
        "0",
        "--epochs",
        "1",
        "--sample",
        "0",
        "-o",
        tmp_path / "v.npz",
    )
    ok("convert", tmp_path / "v.npz", "--to", "fasttext-binary", "-o", tmp_path / "v.bin")
    assert (tmp_path / "v.bin").stat().st_size < 1000
    ok("convert", tmp_path / "v.bin", "-o", tmp_path / "b.npz")
    a, b = (arrays(store.read(str(tmp_path / name))) for name in ("v.npz", "b.npz"))
    assert equal(a["vectors"], b["vectors"])
    failed(embcli("neighbors", tmp_path / "v.npz", "zz"), 1, "--max-n 0")


def test_vectors_without_ngrams_become_a_model_without_them(chain: Path, tmp_path: Path) -> None:
    ran = ok("convert", chain / "vectors.npz", "--to", "fasttext-binary", "-o", tmp_path / "v.bin")
    assert "without n-grams" in ran.talk
    a, (path, b, _) = store.read(str(chain / "vectors.npz")), imported(tmp_path, (tmp_path / "v.bin").read_bytes())
    for name in ("vectors", "word_bytes", "unigram", "contexts"):
        assert equal(arrays(a)[name], arrays(b)[name]), name
    failed(embcli("info", path, "--ngrams", "the"), 3, "has no character n-grams")
