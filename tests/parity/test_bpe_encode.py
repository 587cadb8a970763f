"""Oracle: tiktoken and Hugging Face tokenizers, and the ids that these made of a set of texts."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bpe_twin import TEXT, encoded, saved, text_of, trained
from conftest import ok, shared
from hypothesis import given, settings
from hypothesis import strategies as st

from embcli.artifacts import store
from embcli.formats import gpt2, tiktoken, tokenizer_json
from embcli.text.bpe_encode import encode_text, read_tokenizer
from embcli.text.patterns import PATTERNS
from embcli.text.tokenizer import View

ALPHABET = "aAbztsLl'''ſ  0123456789\t\n\r\x85\xa0\u2028.,-/!ǅʰª中東А\u0301\u093eß²Ⅷ٣\U00010400\U0001f44d"
WORDS = st.sampled_from(
    ["the", " thing", "I'll", "THEY'RE", " ", "  ", "\n\n", "\r\n", "1234567", "naïve", "東京", "a/b"]
)
TEXTS = st.lists(st.one_of(WORDS, st.text(ALPHABET, max_size=8), st.text(max_size=5)), max_size=12).map("".join)


def ids_of(view: View, text: str) -> list[int]:
    return [i for _, ids in encode_text(text.encode(), view, "text", "strict") for i in ids]


def encoding(view: View, pattern: str) -> Any:
    """Return tiktoken's encoding of the same tokens as ranks."""
    tiktoken_ = pytest.importorskip("tiktoken")
    ranks = {view.tokens.bytes_at(i): i for i in np.flatnonzero(view.ordinary).tolist()}
    return tiktoken_.Encoding("x", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})


def ranks(name: str, folder: Path) -> str:
    """Convert a published rank file and return the artifact's path."""
    pattern = {"cl100k_base": "gpt4", "r50k_base": "gpt2"}[name]
    source = shared() / "tokenizers" / f"{name}.tiktoken"
    ok("convert", source, "--pattern", pattern, "--special", "<|endoftext|>=200000", "-q", "-o", folder / f"{name}.npz")
    return str(folder / f"{name}.npz")


@pytest.mark.parametrize(("name", "expected"), [("cl100k_base", "cl100k_base"), ("r50k_base", "gpt2")])
def test_expected_ids(name: str, expected: str, tmp_path: Path) -> None:
    """What tiktoken made of the texts of the data set; a run of commands and one text at a time."""
    view = read_tokenizer(ranks(name, tmp_path))
    lines = (shared() / "tokenizers" / "expected" / f"{expected}.jsonl").read_text(encoding="utf-8").splitlines()
    assert lines
    for line in map(json.loads, lines):
        assert ids_of(view, line["text"]) == line["ids"], line["text"][:60]


@pytest.mark.parametrize(("name", "pattern"), [("cl100k_base", "gpt4"), ("r50k_base", "gpt2")])
def test_awkward_files_as_tiktoken_has_them(name: str, pattern: str, tmp_path: Path) -> None:
    """Whole files, and bytes in equal bytes out."""
    path = ranks(name, tmp_path)
    theirs = encoding(read_tokenizer(path), PATTERNS[pattern])
    for file in sorted(p for p in (shared() / "text-awkward").rglob("*") if p.is_file()):
        data = file.read_bytes()
        if data and len(data) < 2_000_000:
            found = encoded(path, tmp_path, data, rows="file")
            assert text_of(found) == data
            try:
                text = data.decode()
            except UnicodeDecodeError:
                continue
            assert found.ids.tolist() == theirs.encode_ordinary(text), file.name


@pytest.mark.parametrize("pattern", ["gpt2", "gpt4", "gpt4o"])
@settings(max_examples=300)
@given(TEXTS)
def test_tiktoken_with_our_tokens(pattern: str, text: str) -> None:
    view, theirs = _pair(pattern)
    assert ids_of(view, text) == theirs.encode_ordinary(text)


_PAIRS: dict[str, Any] = {}


def _pair(pattern: str) -> Any:
    if pattern not in _PAIRS:
        made = trained(TEXT * 2, 420, pattern)
        path = saved(made, Path(tempfile.mkdtemp()))
        view = read_tokenizer(path)
        _PAIRS[pattern] = view, encoding(view, PATTERNS[pattern])
    return _PAIRS[pattern]


def test_a_pattern_that_is_not_the_tokenizers_gives_other_ids() -> None:
    """The sibling."""
    made = trained(b"a b a b a b", 258, "none", specials=())
    view = View(made)
    assert ids_of(view, "a b") == encoding(view, PATTERNS["none"]).encode_ordinary("a b")
    assert ids_of(view, "a b") != encoding(view, PATTERNS["gpt2"]).encode_ordinary("a b")


@pytest.mark.parametrize("pattern", ["gpt2", "gpt4", "gpt4o", "whitespace", "none"])
def test_hugging_face_reads_what_we_write(pattern: str) -> None:
    """tokenizer.json: ids identical, special tokens in the text too, and read back unchanged."""
    tokenizers = pytest.importorskip("tokenizers")
    made = trained(TEXT * 2, 420, pattern)
    view = read_tokenizer(saved(made, Path(tempfile.mkdtemp())))
    data, notes = tokenizer_json.write(view.made)
    assert notes == []
    theirs = tokenizers.Tokenizer.from_str(data.decode())
    back, _ = tokenizer_json.read("back", data, None)
    assert _same(made, back)

    @settings(max_examples=200)
    @given(TEXTS)
    def check(text: str) -> None:
        assert ids_of(view, text) == theirs.encode(text).ids

    check()
    found = [i for _, ids in encode_text(b"a <s> b", view, "token", "strict") for i in ids]
    assert found == theirs.encode("a <s> b").ids and 256 in found


def test_hugging_face_reads_the_pair_of_files(tmp_path: Path) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    made = trained(TEXT * 2, 420, "gpt2", specials=(b"<|endoftext|>",))
    view = read_tokenizer(saved(made, tmp_path))
    files, _ = gpt2.write(view.made)
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    model = tokenizers.models.BPE.from_file(str(tmp_path / gpt2.VOCAB), str(tmp_path / gpt2.MERGES))
    theirs = tokenizers.Tokenizer(model)
    theirs.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    text = TEXT[:-6].decode()
    assert theirs.encode(text).ids == ids_of(view, text)
    assert _same(made, gpt2.read("back", files[gpt2.VOCAB], files[gpt2.MERGES], None))


def test_tiktoken_reads_what_we_write() -> None:
    """A rank file, by tiktoken's own loader; the merges are recovered from it."""
    load = pytest.importorskip("tiktoken.load")
    made = trained(TEXT * 2, 420, "gpt4")
    view = read_tokenizer(saved(made, Path(tempfile.mkdtemp())))
    lines, notes = tiktoken.write(view.made)
    data = b"".join(lines)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "ranks.tiktoken")
        path.write_bytes(data)
        theirs = load.load_tiktoken_bpe(str(path))
    assert theirs == {view.tokens.bytes_at(i): i for i in np.flatnonzero(view.ordinary).tolist()}
    assert "the pattern gpt4" in notes[0] and "<s>=256" in notes[0]
    back = tiktoken.read("back", data, "gpt4", ["<s>=256", "</s>=257"])
    assert back.tokens.data.tobytes() == made.tokens.data.tobytes()
    assert {tuple(p) for p in back.merges.tolist()} == {tuple(p) for p in made.merges.tolist()}


def _same(a: Any, b: Any) -> bool:
    """Whether two tokenizers have the same tokens, merges, special tokens and pattern."""
    arrays = ((a.tokens.data, b.tokens.data), (a.tokens.offsets, b.tokens.offsets), (a.merges, b.merges))
    equal = all(np.array_equal(x, y) for x, y in (*arrays, (a.special_ids, b.special_ids)))
    return equal and a.text["regex"] == b.text["regex"]


def test_all_exports_read_again_give_the_same_ids(tmp_path: Path) -> None:
    """user-reports B12: npz, json, npz, gpt2, npz, tiktoken, npz; text rich in line ends, tabs and double spaces."""
    at = saved(trained(TEXT * 2, 420, "gpt4"), tmp_path)
    text = TEXT + b"\n\n\n\t\t  x\n\n  \t"
    expected = encoded(at, tmp_path, text).ids.tolist()
    special = ["--special", "<s>=256", "--special", "</s>=257"]
    for form, more in (
        ("a.json", []),
        ("folder/", ["--pattern", "gpt4"]),
        ("b.tiktoken", ["--pattern", "gpt4", *special]),
    ):
        ok("convert", at, "-o", tmp_path / form if form != "folder/" else f"{tmp_path}/folder/")
        source = tmp_path / form.rstrip("/")
        at = str(tmp_path / f"{source.name}.npz")
        ok("convert", source, *more, "-o", at)
        assert encoded(at, tmp_path, text).ids.tolist() == expected
        made: Any = store.read(at, ("tokenizer",))
        assert made.special_ids.tolist() == [256, 257]


def test_a_line_of_merges_that_is_lost_is_noticed(tmp_path: Path) -> None:
    """The sibling; user-reports B12: whichever line it is."""
    files, _ = gpt2.write(read_tokenizer(saved(trained(TEXT, 300, "gpt2"), tmp_path)).made)
    lines = files[gpt2.MERGES].split(b"\n")
    for gone in (1, len(lines) // 2, len(lines) - 2):
        rest = b"\n".join(lines[:gone] + lines[gone + 1 :])
        with pytest.raises(Exception, match=r"no merge makes the token|spells no token|no token of the vocabulary"):
            gpt2.read("x", files[gpt2.VOCAB], rest, None)
