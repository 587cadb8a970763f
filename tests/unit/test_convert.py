"""Oracle: the errors by name; what can be read is compared with other programs in tests/parity."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from bpe_twin import characters, made_of, saved, trained
from conftest import embcli, failed, ok

from embcli.artifacts import store
from embcli.artifacts.schema import Words
from embcli.errors import EmbcliError
from embcli.formats import gpt2, tiktoken, tokenizer_json
from embcli.formats.bytechars import spelled, written
from embcli.formats.tokenizers import read
from embcli.spec import ConvertParams, make
from embcli.text.patterns import PATTERNS
from embcli.text.tokenizer import BYTE_ORDER

MADE = trained(b"the thing that thinks, the thin thing" * 2, 290, "gpt2")
HELD: dict[str, Any] = json.loads(tokenizer_json.write(MADE)[0])
BYTEWISE = {"type": "ByteLevel", "add_prefix_space": False, "use_regex": False}


def changed(*path: str | int, value: Any) -> bytes:
    """Return the tokenizer.json with one value replaced."""
    held = json.loads(json.dumps(HELD))
    at = held
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = value
    return json.dumps(held).encode()


def step(kind: str, **more: Any) -> dict[str, Any]:
    return {"type": "Sequence", "pretokenizers": [{"type": kind, **more}, BYTEWISE]}


SPLIT = {"pattern": {"Regex": "a"}, "behavior": "Isolated", "invert": False}
REFUSED = {
    "WordPiece": changed("model", "type", value="WordPiece"),
    "Unigram": changed("model", "type", value="Unigram"),
    "byte_fallback": changed("model", "byte_fallback", value=True),
    "dropout 0.1": changed("model", "dropout", value=0.1),
    "continuing_subword_prefix '##'": changed("model", "continuing_subword_prefix", value="##"),
    "end_of_word_suffix '</w>'": changed("model", "end_of_word_suffix", value="</w>"),
    "normalizer NFC": changed("normalizer", value={"type": "NFC"}),
    "normalizer Sequence": changed("normalizer", value={"type": "Sequence", "normalizers": [{"type": "NFC"}]}),
    "normalizer x": changed("normalizer", value="x"),
    "add_prefix_space": changed("pre_tokenizer", value=BYTEWISE | {"add_prefix_space": True}),
    "Digits": changed("pre_tokenizer", value=step("Digits", individual_digits=True)),
    "has Whitespace here": changed("pre_tokenizer", value={"type": "Whitespace"}),
    "Metaspace": changed("pre_tokenizer", value={"type": "Metaspace"}),
    "is none, not ByteLevel": changed("pre_tokenizer", value=None),
    "Split is no plain Regex": changed("pre_tokenizer", value=step("Split", **SPLIT | {"behavior": "Removed"})),
    "with behavior Isolated": changed("pre_tokenizer", value=step("Split", **SPLIT | {"pattern": {"String": "a"}})),
    "its pre-tokenizer is none": changed("pre_tokenizer", value={"type": "Sequence", "pretokenizers": 3}),
    "lacks vocab or merges": changed("model", "merges", value=None),
    "expected tokens and their ids": changed("model", "vocab", "!", value="0"),
    "two tokens have the id 5": changed("model", "vocab", "!", value=5),
    "holds the id -4": changed("model", "vocab", "!", value=-4),
    "holds the id 99,999,999,999": changed("model", "vocab", "!", value=99999999999),
    "'no such token', which is no token": changed("model", "merges", 0, value=["no such token", "a"]),
    "expected two tokens": changed("model", "merges", 0, value=["a", "b", "c"]),
    "expected two tokens, found '7'": changed("model", "merges", 0, value=7),
    "is there twice": changed("model", "merges", 1, value=HELD["model"]["merges"][0]),
    "no merge makes the token": changed("model", "merges", value=HELD["model"]["merges"][:-1]),
    "spells no token": changed("model", "merges", 0, value=["!", "!"]),
    "not written in byte-level characters": changed("model", "vocab", "東", value=290),
    "added_tokens is no list": changed("added_tokens", value={"a": 1}),
    "an added token lacks content or id": changed("added_tokens", 0, "id", value="256"),
    "two special tokens have the same id": changed("added_tokens", 0, "id", value=257),
    "two tokens have the id 3": changed("added_tokens", 0, "id", value=3),
    "is not Unicode text": changed("added_tokens", 0, "content", value="\ud800"),
    "is not JSON": json.dumps(HELD).encode()[:-9],
    "is not JSON: maximum": b'{"model": ' + b"[" * 200_000,
    "'a' is there twice": b'{"model": {"type": "BPE", "vocab": {"a": 1, "a": 2}, "merges": []}}',
    "it has no model": b'{"version": "1.0"}',
    "looks like a web page": b"\n<!DOCTYPE html><html>",
    "is compressed; unpack it first": gzip.compress(b"x"),
    "an empty file": b"",
    "looks like a SentencePiece model": b"\n\x0e\n\x05<unk>\x15\x00",
    "looks like text; expected vectors": b"hello there",
}


@pytest.mark.parametrize("said", REFUSED)
def test_refused_by_name(said: str, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(REFUSED[said])
    with pytest.raises(EmbcliError) as e:
        read(str(path), make(ConvertParams, {}))
    assert said in str(e.value) and str(e.value).startswith(f"{path}: ") and str(e.value).isprintable()


def test_the_file_that_was_changed_can_be_read(tmp_path: Path) -> None:
    """The sibling; harmless differences too: merges as text, no type, an empty normalizer, a known expression."""
    merges = [" ".join(pair) for pair in HELD["model"]["merges"]]
    for data in (
        json.dumps(HELD).encode(),
        changed("model", "merges", value=merges),
        changed("model", "type", value="BPE"),
        changed("normalizer", value={"type": "Sequence", "normalizers": []}),
        changed("pre_tokenizer", value=step("Split", **SPLIT | {"pattern": {"Regex": PATTERNS["gpt2"]}})),
    ):
        (tmp_path / "file").write_bytes(data)
        found = read(str(tmp_path / "file"), make(ConvertParams, {}))
        assert found.made.merges.tolist() == MADE.merges.tolist() and found.made.text["pattern"] == "gpt2"
        assert found.made.special_ids.tolist() == [256, 257]


def test_what_is_left_behind_is_said() -> None:
    data = changed("post_processor", value={"type": "TemplateProcessing"})
    assert "post_processor TemplateProcessing" in tokenizer_json.read("x", data, None)[1][0]
    data = changed("added_tokens", 0, "lstrip", value=True)
    assert "lstrip, rstrip or single_word of <s>" in tokenizer_json.read("x", data, None)[1][0]
    assert "truncation" in tokenizer_json.read("x", changed("truncation", value={"max_length": 3}), None)[1][0]


RANKS = b"".join(tiktoken.write(MADE)[0])


@pytest.mark.parametrize(
    ("data", "special", "said"),
    [
        (RANKS + b"YQ== 999\n", (), "a token is there twice"),
        (RANKS + b"YWFhYWFh 99\n", (), "the rank 99 is there twice"),
        (RANKS.replace(b"IQ== 0\n", b""), (), r"no token for 1 of the 256 bytes \(such as 0x21\)"),
        (RANKS + b"YQ=\n", (), "line 263: expected a token in base64 and its rank"),
        (RANKS, ("x",), "expected TOKEN=ID"),
        (RANKS, ("x=5",), "the file has a token of this id"),
        (RANKS, ("x=99999999",), "holds the id 99,999,999"),
    ],
)
def test_damaged_ranks(data: bytes, special: tuple[str, ...], said: str) -> None:
    with pytest.raises(EmbcliError, match=said):
        tiktoken.read("x", data, "gpt2", special)
    assert len(tiktoken.read("x", RANKS, "gpt2", ()).merges) == len(MADE.merges)


def test_ranks_need_a_pattern_and_an_order(tmp_path: Path) -> None:
    with pytest.raises(EmbcliError, match="does not say how text is cut; give --pattern"):
        tiktoken.read("x", RANKS, None, ())
    turned = trained(b"the thing that thinks, the thin thing" * 2, 262, "gpt2", specials=())
    turned.merges = turned.merges[::-1].copy()
    with pytest.raises(EmbcliError, match="comes after one with a higher id"):
        tiktoken.write(turned)


def test_special_tokens_that_cannot_be_written() -> None:
    for special, said in ((b"\xff", "is not UTF-8"), (b"th", "two tokens would be written 'th'")):
        alphabet = [bytes([b]) for b in BYTE_ORDER]
        made = made_of([*alphabet, b"th", special], [(83, 71)], [257], "gpt2")
        for write in (tokenizer_json.write, gpt2.write):
            with pytest.raises(EmbcliError, match=said):
                write(made)


def test_gpt2_files_name_special_tokens_by_their_looks_or_by_option() -> None:
    made = trained(b"the the the", 262, "gpt2", specials=(b"<s>", b"stop"))
    files, _ = gpt2.write(made)
    vocab, merges = files[gpt2.VOCAB], files[gpt2.MERGES]
    with pytest.raises(EmbcliError, match="no merge makes the token 'stop'"):
        gpt2.read("x", vocab, merges, None)
    assert gpt2.read("x", vocab, merges, None, ("stop=257",)).special_ids.tolist() == [256, 257]
    with pytest.raises(EmbcliError, match="another token of this id"):
        gpt2.read("x", vocab, merges, None, ("stop=258",))


def test_bytes_as_characters() -> None:
    """GPT-2's: a space is Ġ, LF is Ċ, visible Latin-1 stands for itself."""
    assert written(b" the\n!\xe9") == "ĠtheĊ!é" and spelled("ĠtheĊ!é") == b" the\n!\xe9" and spelled("東") is None
    assert all(spelled(written(bytes([b]))) == bytes([b]) for b in range(256))


def test_the_command(tmp_path: Path) -> None:
    """Usage errors name the option; a character tokenizer and tokens cannot be exported; stdin is read."""
    at = saved(MADE, tmp_path)
    ok("convert", at, "-o", tmp_path / "t.json")
    data = (tmp_path / "t.json").read_bytes()
    ok("convert", "-", "-o", tmp_path / "again.npz", stdin=data)
    again: Any = store.read(str(tmp_path / "again.npz"))
    assert again.merges.tolist() == MADE.merges.tolist() and again.meta["options"]["from_"] == "tokenizer-json"
    failed(embcli("convert", at, "-o", tmp_path / "x"), 2, "give --to tokenizer-json, gpt2 or tiktoken")
    failed(embcli("convert", at), 2, "missing option -o")
    failed(embcli("convert", at, "-o", at), 2, "is an input too")
    failed(embcli("convert", tmp_path / "t.json", "-o", tmp_path / "u.json"), 2, "becomes an artifact first")
    failed(embcli("convert", tmp_path / "t.json", "--to", "gpt2", "-o", tmp_path / "u"), 2, "--to gpt2", "no artifact")
    failed(embcli("convert", at, "--to", "gpt2", "-o", tmp_path / "t.json"), 2, "gpt2 writes a folder")
    failed(embcli("convert", tmp_path / "none", "-o", tmp_path / "u"), 1, "there is no such file")
    chars = saved(characters(["low", "lower"], 9, True), tmp_path, "c.npz")
    failed(embcli("convert", chars, "-o", tmp_path / "c.json"), 1, "--unit char", "tokenizer.json")
    (tmp_path / "t.txt").write_bytes(b"the thing\n")
    ok("encode", tmp_path / "t.txt", "--tokenizer", at, "-o", tmp_path / "tokens.npz")
    failed(embcli("convert", tmp_path / "tokens.npz", "-o", tmp_path / "y.json"), 3, "expected kind 'tokenizer'")


def test_an_id_without_a_token_survives(tmp_path: Path) -> None:
    """Published vocabularies have holes."""
    made = tiktoken.read("x", RANKS, "gpt2", ("<end>=300",))
    assert len(made.tokens) == 301 and made.tokens.bytes_at(295) == b"" and isinstance(made.tokens, Words)
    ok("convert", saved(made, tmp_path), "-o", tmp_path / "t.json")
    back = tokenizer_json.read("x", (tmp_path / "t.json").read_bytes(), None)[0]
    assert back.tokens.offsets.tolist() == made.tokens.offsets.tolist()


def test_ids_that_a_rank_file_leaves_out_are_said(tmp_path: Path) -> None:
    """The special tokens 256 and 257 lie among the others; when they are named there is nothing to say."""
    (tmp_path / "t.tiktoken").write_bytes(RANKS)
    said = ok("convert", tmp_path / "t.tiktoken", "--pattern", "gpt2", "-o", tmp_path / "a.npz").talk
    assert "warning: no line has 2 ids (256, 257), as a" in said and "such as --special '<|endoftext|>=256'" in said
    special = ["--special", "<s>=256"]
    said = ok("convert", tmp_path / "t.tiktoken", "--pattern", "gpt2", *special, "-o", tmp_path / "b.npz").talk
    assert "warning: no line has the id 257, as a" in said
    special += ["--special", "<pad>=257"]
    said = ok("convert", tmp_path / "t.tiktoken", "--pattern", "gpt2", *special, "-o", tmp_path / "c.npz").talk
    assert "warning" not in said
