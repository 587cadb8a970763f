"""Oracle: the regex package, run on the published expressions; and tiktoken, where it is installed."""

from __future__ import annotations

import itertools
import json
import random
from functools import cache
from typing import Any

import pytest
from conftest import shared
from hypothesis import given
from hypothesis import strategies as st

from embcli.text import patterns
from embcli.text.patterns import PATTERNS, Splitter
from embcli.text.pretokens import split

regex = pytest.importorskip("regex")

#: every expression that the kernel runs, as published
PUBLISHED = [*PATTERNS.values(), *patterns._KNOWN]
#: characters that decide: contractions and what folds to them, cases, marks, numbers, white space, line ends, slash
ALPHABET = (
    "aAbzstdmlvreSTDMLVRE''''ſK  0123456789\t\n\n\r\r\x0b\x1c\x85\xa0\u2028\u3000.,-/!_ǅʰª中А"
    "\u0301\u0300\u093eßéſ²Ⅷ٣\U00010400\U00010428👍\ufeff\x00"
)
BAD = [b"\x80", b"\xff", b"\xe2\x80", b"\xf0\x9f\x91", b"\xed\xa0\x80", b"\xc5", b"\xc2", b"\xc0\x8a"]
TEXT = st.lists(
    st.one_of(st.text(ALPHABET, max_size=12).map(str.encode), st.characters(exclude_categories=["Cs"]).map(str.encode),
              st.sampled_from(BAD), st.sampled_from([b"'ll", b"'VE", b" \n ", b"\r\n", "'ſ".encode(), "中A".encode()])),
    max_size=8,
).map(b"".join)  # fmt: skip
#: a few characters at a time, so that runs come about
RUNS = st.lists(st.sampled_from(ALPHABET), min_size=1, max_size=5).flatmap(
    lambda few: st.text(st.sampled_from(few), max_size=40).map(str.encode)
)


@cache
def compiled(pattern: str) -> Any:
    r"""Return an expression with ``\s`` as White_Space, ``$`` as the end of the text and ``.`` as any character."""
    space = r"\p{White_Space}"
    flat = pattern.replace("$", r"\Z").replace("[^\\s", "[^" + space) if pattern != PATTERNS["none"] else "(?s:.+)"
    return regex.compile(flat.replace(r"\s", space).replace(r"\S", r"\P{White_Space}"))


def pieces(data: bytes, pattern: str) -> list[bytes]:
    """Return what an expression finds; it must find everything."""
    text = data.decode("utf-8", "surrogateescape")
    found = [m.group().encode("utf-8", "surrogateescape") for m in compiled(pattern).finditer(text)]
    assert b"".join(found) == data
    return found


def lines(data: bytes, keep: bool) -> list[bytes]:
    *whole, rest = data.split(b"\n")
    return [*[line + b"\n" * keep for line in whole], rest]


def check(data: bytes, pattern: str) -> None:
    """Compare a text, and its lines with and without their ends."""
    rule = Splitter(pattern)
    assert rule.run is not None
    assert split(data, rule) == pieces(data, pattern)
    for mode, keep in (("line", False), ("line+", True)):
        assert split(data, rule, mode) == [p for line in lines(data, keep) for p in pieces(line, pattern)]


@pytest.mark.parametrize("pattern", PUBLISHED)
@given(st.one_of(TEXT, RUNS))
def test_every_published_expression(pattern: str, data: bytes) -> None:
    check(data, pattern)


@pytest.mark.parametrize("pattern", PATTERNS.values(), ids=PATTERNS)
def test_every_sequence_of_three_classes(pattern: str) -> None:
    for three in itertools.product("aAǅ中\u0301 \t\n\r1'-/\xa0s", repeat=3):
        data = "".join(three).encode()
        assert split(data, Splitter(pattern)) == pieces(data, pattern), three


@pytest.mark.parametrize("pattern", PATTERNS.values(), ids=PATTERNS)
def test_awkward_files(pattern: str) -> None:
    for path in sorted((shared() / "text-awkward").rglob("*")):
        if path.is_file():
            data = path.read_bytes()
            assert split(data, Splitter(pattern)) == pieces(data, pattern), path.name


def test_expected_texts() -> None:
    for path in sorted((shared() / "tokenizers" / "expected").glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            data = json.loads(line)["text"].encode("utf-8", "surrogatepass")
            for pattern in PATTERNS.values():
                assert split(data, Splitter(pattern)) == pieces(data, pattern)


def test_patterns_differ() -> None:
    text = b"I'M 12345 HelloWorld's\n/x \n "
    assert len({tuple(split(text, Splitter(p))) for p in PATTERNS}) == len(PATTERNS)
    assert split(b"'ll", Splitter("gpt2")) != pieces(b"'LL", PATTERNS["gpt2"])


def test_the_older_cl100k_cuts_behind_a_line_end_at_the_end() -> None:
    old = next(text for text, run in patterns._KNOWN.items() if run == "llama3")
    assert split(b"a \n  ", Splitter("gpt4")) == [b"a", b" \n  "]
    assert split(b"a \n  ", Splitter(old)) == [b"a", b" \n", b"  "]
    assert split(b"a \n  b", Splitter(old)) == split(b"a \n  b", Splitter("gpt4"))


def test_tiktoken_cuts_alike() -> None:
    """tiktoken shows its pieces when each one is a token."""
    tiktoken = pytest.importorskip("tiktoken")
    import tiktoken_ext.openai_public as public

    public.load_tiktoken_bpe = lambda *args, **options: {}
    theirs = {"gpt2": public.r50k_pat_str} | {
        name: made()["pat_str"] for name, made in (("gpt4", public.cl100k_base), ("gpt4o", public.o200k_base))
    }
    chance = random.Random(1)
    for name, pattern in theirs.items():
        assert Splitter(pattern).name == name
        for _ in range(60):
            few = chance.sample(ALPHABET, 9)
            text = "".join(chance.choice(few) for _ in range(chance.randint(1, 300)))
            ranks = {bytes([i]): i for i in range(256)}
            found = split(text.encode(), Splitter(name))
            for piece in found:
                ranks.setdefault(piece, len(ranks))
            made = tiktoken.Encoding("one", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
            assert made.encode_ordinary(text) == [ranks[piece] for piece in found], text
