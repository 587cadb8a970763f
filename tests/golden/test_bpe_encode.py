"""Oracle: texts and tokenizers so small that ids can be found on paper."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from bpe_twin import encoded, made_of, saved, text_of, trained
from conftest import embcli, failed, ok

from embcli.text.tokenizer import BYTE_ORDER, View

BYTES = [bytes([b]) for b in BYTE_ORDER]
A, B, C, D = (BYTE_ORDER.index(b) for b in b"abcd")


def test_textbook_example(tmp_path: Path) -> None:
    """user-reports B03: aaabdaaabac in 5 tokens, aaab, d, aaab, a, c."""
    tokens = [*BYTES, b"aa", b"aaa", b"aaab"]
    made = made_of(tokens, [(A, A), (256, A), (257, B)], [], "none")
    found = encoded(saved(made, tmp_path), tmp_path, b"aaabdaaabac")
    assert found.ids.tolist() == [258, D, 258, A, C] and text_of(found) == b"aaabdaaabac"


def test_the_first_merge_learned_goes_first(tmp_path: Path) -> None:
    """bc before ab: abc is a, bc; the other way round it is ab, c; and a whole piece is taken whole only if asked."""
    for merges, expected in (([(B, C), (A, B)], [A, 256]), ([(A, B), (B, C)], [256, C])):
        names = [BYTES[a] + BYTES[b] for a, b in merges]
        made = made_of([*BYTES, *names], merges, [], "none")
        assert encoded(saved(made, tmp_path), tmp_path, b"abc").ids.tolist() == expected
    made = made_of([*BYTES, b"ab", b"abc"], [(A, B)], [], "none", whole=True)
    assert encoded(saved(made, tmp_path), tmp_path, b"abc").ids.tolist() == [257]


def test_two_merges_of_one_token_share_its_id(tmp_path: Path) -> None:
    """abc from ab, c and from a, bc."""
    made = made_of([*BYTES, b"ab", b"bc", b"abc"], [(A, B), (B, C), (256, C), (A, 257)], [], "none")
    assert View(made).results.tolist() == [256, 257, 258, 258]


def test_bytes_have_gpt2s_numbers() -> None:
    """As in every published rank file: ! is 0, a is 64, space is 220, LF is 198."""
    assert [BYTE_ORDER.index(b) for b in b"!a \n"] == [0, 64, 220, 198] and sorted(BYTE_ORDER) == list(range(256))


def test_what_the_command_prints(tmp_path: Path) -> None:
    """--text: a line a token with its piece, id, form and bytes; --count: figures; neither needs -o."""
    path = saved(trained(pattern="gpt2"), tmp_path)
    text = ok("encode", "--tokenizer", path, "--text", "I'll  go", "--json").text
    lines = [json.loads(line) for line in text.splitlines()]
    assert b"".join(bytes.fromhex(line["bytes"]) for line in lines) == b"I'll  go"
    assert [line["piece"] for line in lines] == sorted(line["piece"] for line in lines) and lines[-1]["piece"] == 4
    shown = ok("encode", "--tokenizer", path, "--text", "\xe9\n").text
    assert "\\n" in shown and "0a" in shown
    (tmp_path / "t.txt").write_bytes(b"a <s> b\nc\n")
    count = ok("encode", "--tokenizer", path, tmp_path / "t.txt", "--count", "--specials", "token").text
    figures = dict(line.split("\t") for line in count.splitlines())
    assert figures["rows"] == "2" and figures["bytes read"] == "10" and figures["specials found"] == "1"
    ok("encode", "--tokenizer", path, tmp_path / "t.txt", "--specials", "token", "-o", tmp_path / "t.npz")
    with np.load(tmp_path / "t.npz", allow_pickle=False) as z:
        assert figures["tokens"] == str(len(z["ids"]))


def test_the_pattern_belongs_to_the_tokenizer(tmp_path: Path) -> None:
    """user-reports B14: no option of encode overrides it."""
    path = saved(trained(pattern="gpt2"), tmp_path)
    failed(embcli("encode", "--tokenizer", path, "--text", "a", "--pattern", "gpt4"), 2, "--pattern")
    failed(embcli("encode", "--tokenizer", path, "--text", "a", "--lower"), 2, "--lower", "--words")
    for other in ("gpt2", "gpt4"):
        made = trained(pattern=other)
        assert made.text["pattern"] == other and made.text["regex"]
        (tmp_path / "n.txt").write_bytes(b"x 12345")
        ran = ok("encode", "--tokenizer", saved(made, tmp_path), "--text", "12345", "--json").text
        assert json.loads(ran.splitlines()[-1])["piece"] == {"gpt2": 1, "gpt4": 2}[other]
