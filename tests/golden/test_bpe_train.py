"""Oracle: the worked numbers of the sources, written out by hand, and the commands that print them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from conftest import embcli, ok

from embcli.artifacts import store
from embcli.job import Job
from embcli.spec import BpeTrainParams
from embcli.text.bpe_encode import encode_text
from embcli.text.bpe_train import train
from embcli.text.tokenizer import BYTE_ORDER, View

CATS = b"cat\t5\ncats\t3\ndog\t4\ndogs\t2\n"
WORKED = [(b"c", b"a", 8), (b"ca", b"t", 8), (b"d", b"o", 6), (b"do", b"g", 6), (b"cat", b"s", 3), (b"dog", b"s", 2)]


def learned(folder: Path, text: bytes, **options: object) -> list[tuple[bytes, bytes, int]]:
    """Return the merges that a text teaches, as bytes, with their counts."""
    (folder / "text").write_bytes(text)
    made = train([str(folder / "text")], BpeTrainParams(**options), Job())  # type: ignore[arg-type]
    spelled = made.tokens.bytes_at
    pairs = zip(made.merges.tolist(), made.merge_counts.tolist(), strict=True)
    return [(spelled(a), spelled(b), n) for (a, b), n in pairs]


def test_cats_and_dogs(tmp_path: Path) -> None:
    """how-does-text-become-a-vector: c+a 8, ca+t 8, d+o 6, do+g 6; then cats = [cat, s], dogs = [dog, s]."""
    options = {"counts": True, "unit": "char", "ties": "first-seen"}
    assert learned(tmp_path, CATS, vocab_size=13, **options) == WORKED
    assert learned(tmp_path, CATS, vocab_size=11, **options) == WORKED[:4]
    made = train([str(tmp_path / "text")], BpeTrainParams(vocab_size=11, **options), Job())
    view = View(made)
    words = {word: encode_text(word, view, "text", "strict") for word in (b"cats", b"dogs")}
    spelled = {word: [view.tokens.bytes_at(i) for _, ids in cut for i in ids] for word, cut in words.items()}
    assert spelled == {b"cats": [b"cat", b"s"], b"dogs": [b"dog", b"s"]}


def test_ties_change_the_worked_example(tmp_path: Path) -> None:
    """The other rule takes the pair with the lowest ids: a+t (a, t = 0, 6) before c+a (c, a = 1, 0)."""
    found = learned(tmp_path, CATS, counts=True, unit="char", vocab_size=11)
    assert found == [(b"a", b"t", 8), (b"c", b"at", 8), (b"d", b"o", 6), (b"do", b"g", 6)]


def test_cats_and_dogs_by_the_command(tmp_path: Path) -> None:
    (tmp_path / "cats.tsv").write_bytes(CATS)
    options = ["--counts", "--unit", "char", "--ties", "first-seen", "--vocab-size", "100"]
    said = ok("bpe-train", tmp_path / "cats.tsv", *options, "--explain", "4", "--json").text
    rows = [json.loads(line) for line in said.splitlines()]
    assert [(r["left"], r["right"], r["count"]) for r in rows] == [
        (a.decode(), b.decode(), n) for a, b, n in WORKED[:4]
    ]
    assert rows[0]["next best pairs"] == "a+t 8, d+o 6, o+g 6"
    ran = ok("bpe-train", tmp_path / "cats.tsv", *options, "-o", tmp_path / "cats.npz")
    assert "asked for 100 entries, reached 13" in ran.talk


def test_the_textbook_example(tmp_path: Path) -> None:
    """user-reports B03: aaabdaaabac, no pattern, three merges: the text is aaab d aaab a c, under every tie rule."""
    for ties in ("lowest", "first-seen"):
        (tmp_path / "text").write_bytes(b"aaabdaaabac")
        options = ["--pattern", "none", "--vocab-size", "259", "--ties", ties]
        ok("bpe-train", tmp_path / "text", *options, "-o", tmp_path / "t.npz")
        made = store.read(str(tmp_path / "t.npz"), ("tokenizer",))
        ids = [i for _, piece in encode_text(b"aaabdaaabac", View(made), "text", "strict") for i in piece]
        assert [made.tokens.bytes_at(i) for i in ids] == [b"aaab", b"d", b"aaab", b"a", b"c"]
        assert np.asarray(made.merge_counts).tolist() == [4, 2, 2]


def test_bytes_have_the_numbers_of_gpt2(tmp_path: Path) -> None:
    """Ids of published rank files: ! is 0, A is 32, the space 220, the line end 198."""
    (tmp_path / "text").write_bytes(b"ab ab")
    made = train([str(tmp_path / "text")], BpeTrainParams(vocab_size=257), Job())
    assert [made.tokens.bytes_at(i) for i in (0, 32, 220, 198)] == [b"!", b"A", b" ", b"\n"]
    assert sorted(BYTE_ORDER) == list(range(256))
    assert made.tokens.bytes_at(256) == b"ab"


def test_characters_are_numbered_by_code_point(tmp_path: Path) -> None:
    """Characters in code-point order, then the end of a word, then specials, then merges."""
    options = {"unit": "char", "end_of_word": True, "special": ("<s>",), "pattern": "whitespace"}
    (tmp_path / "text").write_bytes("né né\nnez".encode())
    made = train([str(tmp_path / "text")], BpeTrainParams(vocab_size=9, **options), Job())  # type: ignore[arg-type]
    spelled = [made.tokens.bytes_at(i).decode() for i in range(len(made.tokens))]
    assert spelled == ["e", "n", "z", "é", "</w>", "<s>", "né", "né</w>"]


def test_info_shows_merges(tmp_path: Path) -> None:
    (tmp_path / "text").write_bytes(b"aaabdaaabac")
    ok("bpe-train", tmp_path / "text", "--pattern", "none", "--vocab-size", "259", "-o", tmp_path / "t.npz")
    said = embcli("info", tmp_path / "t.npz").text
    assert "tokenizer" in said and "vocab 259" in said
    rows = [line.split() for line in said.splitlines()][-3:]
    assert rows == [["1", "a", "a", "4"], ["2", "a", "b", "2"], ["3", "aa", "ab", "2"]]
