"""Oracle: what users of other tokenizers reported, as properties of encode, decode and convert through the commands."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import DATA, embcli, failed, ok

from embcli.artifacts import store


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with t.npz, a tokenizer, and e.npz, the tokens of the bundled corpus."""
    made = tmp_path_factory.mktemp("bpe")
    special = ["--special", "<|endoftext|>"]
    ok("bpe-train", DATA / "corpus.txt", "--vocab-size", "3000", *special, "-o", made / "t.npz")
    ok("encode", DATA / "corpus.txt", "--tokenizer", made / "t.npz", "-o", made / "e.npz")
    return made


def test_the_corpus_comes_back(folder: Path) -> None:
    assert ok("decode", folder / "e.npz").out == (DATA / "corpus.txt").read_bytes()


def test_stdin_threads_and_seeds_do_not_matter(folder: Path) -> None:
    """user-reports X05, X17: the same bytes."""
    text, expected = (DATA / "corpus.txt").read_bytes(), (folder / "e.npz").read_bytes()
    ok("encode", "-", "--tokenizer", folder / "t.npz", "-o", folder / "a.npz", stdin=text, PYTHONHASHSEED="1")
    assert (folder / "a.npz").read_bytes() == expected
    threads = ["--threads", "5"]
    ok(
        "encode",
        DATA / "corpus.txt",
        "--tokenizer",
        folder / "t.npz",
        *threads,
        "-o",
        folder / "a.npz",
        PYTHONHASHSEED="2",
    )
    assert (folder / "a.npz").read_bytes() == expected
    ok("encode", DATA / "corpus.txt", "--tokenizer", folder / "t.npz", "--rows", "file", "-o", folder / "f.npz")
    assert (folder / "f.npz").read_bytes() != expected


def test_arrays_load_without_pickle(folder: Path) -> None:
    """user-reports X08."""
    with np.load(folder / "e.npz", allow_pickle=False) as z:
        assert {"ids", "row_offsets", "merges", "token_bytes", "unigram"} <= set(z.files)
        assert all(z[name] is not None for name in z.files) and z["unigram"].sum() == len(z["ids"])


@pytest.mark.parametrize("text", [b"a\r\nb\r\n", b"ok\ncaf\xe9 ok\n", b"\xef\xbb\xbfa\n", b"\xff\xfea\x00\n\x00"])
def test_no_byte_is_lost(folder: Path, text: bytes) -> None:
    """user-reports X12, X15: CR, bad UTF-8, a BOM, UTF-16; bytes are never an error."""
    (folder / "x.txt").write_bytes(text)
    ok("encode", folder / "x.txt", "--tokenizer", folder / "t.npz", "-o", folder / "x.npz", LC_ALL="C")
    assert ok("decode", folder / "x.npz").out == text


@pytest.mark.parametrize("text", [b"", b"\n\n\n"])
def test_nothing_to_encode(folder: Path, text: bytes) -> None:
    """user-reports X13."""
    ran = embcli("encode", "-", "--tokenizer", folder / "t.npz", "-o", folder / "none.npz", stdin=text)
    failed(ran, 4, "nothing to encode", f"{len(text)} bytes", "no token")
    assert not (folder / "none.npz").exists()


def test_wrong_kinds(folder: Path, chain: Path) -> None:
    """user-reports X20."""
    (folder / "x.txt").write_bytes(b"a b\n")
    here = folder / "x.txt"
    for path, code, parts in (
        (chain / "vectors.npz", 3, ["expected kind 'tokenizer' or 'tokens', found 'vectors'"]),
        (chain / "tokens.npz", 3, ["its tokens are words"]),
        (here, 3, ["is no tokenizer artifact", "embcli convert"]),
        (folder / "no.npz", 1, ["no.npz"]),
    ):
        failed(embcli("encode", here, "--tokenizer", path, "-o", folder / "y.npz"), code, *parts)
    failed(
        embcli("encode", here, "--words", "--vocab", folder / "e.npz", "-o", folder / "y.npz"), 3, "vocabulary of words"
    )
    failed(embcli("decode", folder / "t.npz"), 3, "expected kind 'tokens'")
    failed(embcli("cooc", folder / "t.npz", "-o", folder / "y.npz"), 3, "expected kind 'tokens'")
    failed(embcli("convert", chain / "vectors.npz", "-o", folder / "y.json"), 3, "expected kind 'tokenizer'")


def test_tokens_serve_as_their_tokenizer(folder: Path) -> None:
    (folder / "x.txt").write_bytes(b"the king\n")
    ids = []
    for path in ("t.npz", "e.npz"):
        ok("encode", folder / "x.txt", "--tokenizer", folder / path, "-o", folder / "x.npz")
        found: Any = store.read(str(folder / "x.npz"))
        ids.append(found.ids.tolist())
    assert ids[0] == ids[1]


def test_subwords_have_neighbors(folder: Path) -> None:
    """encode, cooc, svd, neighbors on tokens: readable forms; a word is found with the space before it."""
    ok("cooc", folder / "e.npz", "--window", "5", "-o", folder / "c.npz")
    ok("svd", folder / "c.npz", "--dim", "50", "--weight", "ppmi", "--eig", "0.5", "-o", folder / "v.npz")
    made: Any = store.read(str(folder / "v.npz"))
    assert made.meta["text"]["unit"] == "bpe" and made.meta["text"]["pattern"] == "gpt4"
    words = list(made.words)
    word = next(w[1:] for w in words if w.startswith(" ") and len(w) > 5 and w[1:] not in words)
    ran = ok("neighbors", folder / "v.npz", word, "--format", "jsonl")
    assert f"{word!r} was looked up as {' ' + word!r}" in ran.talk
    spaced = ok("neighbors", folder / "v.npz", " " + word, "--format", "jsonl").text
    lists = [[json.loads(line)["word"] for line in text.splitlines()] for text in (ran.text, spaced)]
    assert lists[0] == lists[1] and len(lists[0]) == 10
    assert all(json.loads(line)["word"].isprintable() for line in ran.text.splitlines())
    failed(embcli("neighbors", folder / "v.npz", "zzyzx"), 1, "zzyzx")


def test_special_tokens_in_a_string_may_be_an_error(folder: Path) -> None:
    ok("bpe-train", DATA / "corpus.txt", "--vocab-size", "300", "--special", "king", "-o", folder / "p.npz")
    shown = ("encode", "-t", folder / "p.npz", "--text", "The king kings", "--specials")
    failed(embcli(*shown, "error"), 1, "special token 'king'")
    assert "256" in ok(*shown, "token").text and "256" not in ok(*shown, "text").text


def test_what_does_nothing_is_refused(folder: Path) -> None:
    (folder / "x.txt").write_bytes(b"the king\n")
    tokenizer = ("encode", "-t", folder / "t.npz")
    failed(
        embcli(*tokenizer, folder / "x.txt", "--errors", "skip", "-o", folder / "y.npz"), 2, "--errors", "every byte"
    )
    failed(embcli(*tokenizer, "--text", "a", "--count"), 2, "--text and --count")
    failed(embcli(*tokenizer, "--text", "a", folder / "x.txt"), 2, "leave the files out")
    failed(embcli(*tokenizer, "--words", folder / "x.txt", "-o", folder / "y.npz"), 2, "one of the two")
    failed(embcli(*tokenizer, "--text", "a", "-o", folder / "y.npz"), 2, "only print")


@pytest.mark.parametrize("key", ["base", "pattern", "end_of_word", "whole", "regex"])
@pytest.mark.parametrize("value", [None, {"a": 1}])
def test_a_damaged_record_of_how_text_is_cut_is_one_line(folder: Path, key: str, value: object) -> None:
    with np.load(folder / "t.npz") as z:
        arrays = dict(z)
    meta = json.loads(arrays["meta"].tobytes())
    meta["text"][key] = value
    arrays["meta"] = np.frombuffer(json.dumps(meta).encode(), np.uint8)
    with open(folder / "d.npz", "wb") as f:
        np.savez(f, **arrays)
    failed(embcli("encode", "-t", folder / "d.npz", "--text", "a"), 1, "d.npz", "damaged")
