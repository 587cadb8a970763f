"""Oracle: cutting whole texts at once (which tests/parity compares with regex), Counter, and the regex package."""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from embcli.errors import InputError, UsageError
from embcli.job import Job
from embcli.text import corpus as corpus_module
from embcli.text.boundaries import piece_end
from embcli.text.corpus import Block, Corpus, buffer_of
from embcli.text.patterns import PATTERNS, Splitter, splitter
from embcli.text.pretokens import PieceLane, count_pieces, split

CHARACTERS = "aAbz09'' \t\n\n\r\xa0\u2028\u3000.-/中文\u0301éſ👍\x00"
TEXT = st.text(CHARACTERS, max_size=60).map(str.encode)
WORDS = st.lists(
    st.sampled_from([b"the", b" cat", b" I'm", b"\n", b" ", b"  ", b"x\ny", b"<s>", b"\xff", "中\n文".encode()])
)
DATA = st.one_of(TEXT, WORDS.map(b"".join), st.binary(max_size=30))
NAMES = st.sampled_from([*PATTERNS])
MODES = st.sampled_from(["line", "line+", "file"])


def counted(files: list[bytes], rule: Splitter, mode: str, block: int, threads: int) -> list[tuple[bytes, int]]:
    """Count the pieces of some files."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [str(Path(folder) / str(i)) for i in range(len(files))]
        for path, data in zip(paths, files, strict=True):
            Path(path).write_bytes(data)
        job = Job(threads=threads)
        found = count_pieces(paths, rule, mode, job, block=block)
    assert len(job.sources) == len(files) and found.size == sum(map(len, files))
    assert len(found) == len(list(found.pieces())) and found.total == sum(n for _, n in found.pieces())
    return list(found.pieces())


def lines(data: bytes, mode: str) -> list[bytes]:
    if mode == "file":
        return [data]
    *whole, rest = data.split(b"\n")
    return [*[line + b"\n" * (mode == "line+") for line in whole], rest]


@given(DATA, NAMES)
def test_pieces_put_together_are_the_text(data: bytes, name: str) -> None:
    for specials in ((), (b"<s>", b"a", b"\n\n")):
        assert b"".join(split(data, Splitter(name, specials))) == data
        assert b"".join(split(data, Splitter(name, specials), "line+")) == data
        assert b"".join(split(data, Splitter(name, specials), "line")) == data.replace(b"\n", b"")


@given(st.lists(DATA, max_size=4), NAMES, MODES, st.sampled_from([1, 2, 3, 7, 64]), st.sampled_from([1, 2, 5]))
def test_neither_blocks_nor_threads_matter(files: list[bytes], name: str, mode: str, block: int, threads: int) -> None:
    """In order of first appearance, too."""
    rule = Splitter(name, (b"<s>",))
    pieces = [p for data in files for line in lines(data, mode) for p in split(line, rule) if p != b"<s>"]
    assert counted(files, rule, mode, block, threads) == list(Counter(pieces).items())


def test_a_text_cut_anywhere_gives_other_pieces() -> None:
    halves = split(b"the ca", Splitter()) + split(b"t sat", Splitter())
    assert halves != split(b"the cat sat", Splitter())
    assert counted([b"a   b"], Splitter("gpt2"), "file", 1, 1) != counted(
        [b"a ", b"  b"], Splitter("gpt2"), "file", 1, 1
    )


@given(DATA, DATA, NAMES)
def test_a_place_to_cut_is_one_for_every_pattern(one: bytes, two: bytes, name: str) -> None:
    data = one + two
    at = piece_end(buffer_of(data)[: len(data)], len(data))
    assert split(data[:at], Splitter(name)) + split(data[at:], Splitter(name)) == split(data, Splitter(name)) or (
        name == "none"
    )


@pytest.mark.parametrize(
    ("data", "at"),
    [(b"ab cd ef", 5), (b"a\nb", 2), ("中\n文".encode(), 4), (b".\n1", 2), (b"a \nb", 0), (b"a  b", 0), (b"a b.", 1),
     ("\u3000\nb".encode(), 0), (b"a\n/", 0), (b"a 1", 0), (b"a\r\nb", 0), (b"", 0), (b"a", 0), (b"abc", 0)],
)  # fmt: skip
def test_places_to_cut(data: bytes, at: int) -> None:
    data = b"zzz" + data  # the first three places are not looked at
    assert piece_end(buffer_of(data)[: len(data)], len(data)) == (at + 3 if at else 0)


@given(DATA, NAMES, MODES)
def test_the_regex_package_gives_the_same(data: bytes, name: str, mode: str) -> None:
    """A named expression in disguise is a custom one; ``none`` and ``whitespace`` have no ``$``."""
    pytest.importorskip("regex")
    own = Splitter(f"(?:{PATTERNS[name].replace('$', chr(92) + 'Z')})", (b"<s>",))
    assert (own.name, own.run) == ("custom", None)
    assert split(data, own, mode) == split(data, Splitter(name, own.specials), mode)
    block = Block(buffer_of(data), 0, len(data), "text", True, True)
    assert (
        PieceLane(own, mode).read(block).ends.tolist()
        == PieceLane(Splitter(name, own.specials), mode).read(block).ends.tolist()
    )


def test_custom_expressions_lose_nothing() -> None:
    pytest.importorskip("regex")
    assert split(b"ab12cd\xff3", Splitter(r"\d+")) == [b"ab", b"12", b"cd\xff", b"3"]
    assert split(b"ab", Splitter(r"x*")) == [b"ab"]
    assert split("aé中👍".encode(), Splitter(r".")) == [c.encode() for c in "aé中👍"]
    assert counted([b"ab12\n", b"cd12"], Splitter(r"\d+"), "file", 1, 2) == [
        (b"ab", 1),
        (b"12", 2),
        (b"\n", 1),
        (b"cd", 1),
    ]


def test_published_expressions_are_recognised() -> None:
    for name, text in PATTERNS.items():
        assert (Splitter(text).name, Splitter(text).run, Splitter(name).text) == (name, name, text)
    assert Splitter(PATTERNS["gpt2"]) != Splitter(PATTERNS["gpt4"])


def test_specials_are_atoms() -> None:
    """user-reports B09, E02. Text on either side is a text of its own, as in tiktoken; the longest one counts."""
    rule = splitter("gpt2", ["<s>", "<s>>", "中"])
    assert split("a  <s>> b<s>中x".encode(), rule) == [b"a", b"  ", b"<s>>", b" b", b"<s>", "中".encode(), b"x"]
    assert split(b"a  <s>> b", Splitter("gpt2")) != split(b"a  <s>> b", rule)
    assert counted([b"a<s>b"], rule, "line+", 1, 1) == [(b"a", 1), (b"b", 1)]
    ids = PieceLane(rule, "line").read(Block(buffer_of(b"a<s>>"), 0, 5, "text", True, True)).ids.tolist()
    assert ids == [0, (1 << 31) + 1]


def test_a_special_does_not_reach_over_a_line_end_between_texts() -> None:
    rule = Splitter("gpt2", (b"a\nb", b"c\n"))
    assert split(b"xa\nbc\n", rule, "file") == [b"x", b"a\nb", b"c\n"]
    assert split(b"xa\nbc\n", rule, "line+") == [b"xa", b"\n", b"b", b"c\n"]
    assert split(b"xa\nbc\n", rule, "line") == [b"xa", b"bc"]


@given(st.sampled_from([b"the cat", b"t s", b"cat ", b"\nb", b"x\n"]), WORDS, MODES, st.sampled_from([1, 3, 8]))
def test_no_special_is_cut_by_a_block(special: bytes, parts: list[bytes], mode: str, block: int) -> None:
    data, rule = special.join(parts), Splitter("gpt4", (special,))
    expected = Counter(p for p in split(data, rule, mode) if p != special)
    assert dict(counted([data], rule, mode, block, 2)) == expected


def test_errors_name_the_pattern() -> None:
    pytest.importorskip("regex")
    with pytest.raises(UsageError, match=r"\(a.*is no regular expression"):
        Splitter("(a")


def test_without_the_regex_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "regex", None)
    with pytest.raises(UsageError, match="pip install regex"):
        Splitter("a+")
    assert Splitter("gpt4o").run == "gpt4o"


def test_a_file_that_memory_cannot_hold(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"1" * 4096)
    monkeypatch.setattr(corpus_module, "free_memory", lambda: 8000)
    for mode in ("pieces", "whole", "lines", "lines or pieces"):
        with pytest.raises(InputError, match="held in memory"):
            list(Corpus([str(tmp_path / "x")], 512, mode, True).blocks())
    (tmp_path / "x").write_bytes(b"ab " * 1400)
    assert len(list(Corpus([str(tmp_path / "x")], 512, "pieces", True).blocks())) > 4


def test_long_lines_make_long_blocks(tmp_path: Path) -> None:
    """Chinese and DNA have no spaces: a line of any length is read."""
    (tmp_path / "x").write_bytes(b"ACGT" * 250_000 + b"\nACGT")
    found = count_pieces([str(tmp_path / "x")], Splitter("gpt4"), "line+", Job(threads=2), block=4096)
    assert [(len(p), n) for p, n in found.pieces()] == [(1_000_000, 1), (1, 1), (4, 1)]
