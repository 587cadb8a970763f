"""Oracle: the same in plain Python: slicing, dict, and the slow way through the kernel for what the fast way takes."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from embcli.kernels import pretoken as k
from embcli.kernels._jit import kernel
from embcli.kernels.memory import byte_at, word_at, zeros
from embcli.kernels.pieceends import Way, piece_end
from embcli.text.corpus import Block, buffer_of
from embcli.text.patterns import PATTERNS, Splitter
from embcli.text.pretokens import PieceLane, split
from embcli.text.typetable import TypeTable

U = np.uint64


@kernel
def load(data, at):  # type: ignore[no-untyped-def]
    """Return what the loads give at a place of an array."""
    address = U(data.ctypes.data) + at
    return U(byte_at(address)), word_at(address), zeros(word_at(address))


@given(st.binary(min_size=8, max_size=24).filter(any), st.integers(0, 16))
def test_loads_are_those_of_python(data: bytes, at: int) -> None:
    data = data.ljust(24, b"\1")
    word = int.from_bytes(data[at : at + 8], "little")
    got = [int(x) for x in load(np.frombuffer(data, np.uint8), U(at))]
    assert got == [data[at], word, (word & -word).bit_length() - 1 if word else 64]


@kernel
def both(data, end, way, prefixes):  # type: ignore[no-untyped-def]
    """Return the bytes of the first piece the fast way (0: it does not take it) and the slow way."""
    base = U(data.ctypes.data)
    _, _, fast = k._plain(base, base + end, prefixes, way.family)
    return fast, piece_end(base, base + end, way) - base


@pytest.mark.parametrize("name", PATTERNS)
def test_the_fast_way_is_the_slow_way(name: str) -> None:
    rule = Splitter(name).rule("file")
    way = Way(U(rule.classes.ctypes.data), rule.family, rule.digits, rule.tail)
    taken = 0
    for head, stem, tail in itertools.product(
        ["", " ", "'", "-", "\t", "\n", "1", "é", "  "],
        ["", "a", "A", "Ab", "aB", "abcdefg", "abcdefgh", "ABCDEFGHi", "abcdefgI", "abcdefghI",
         "a" * 14, "Z" * 15, "b" * 16],
        ["", " ", "x", "X", "'s", "'", "é", "É", "\u0301", "\n", "/", "1", ". "],
    ):  # fmt: skip
        data = (head + stem + tail).encode()
        for end in range(1, len(data) + 1):  # text goes on behind the end
            fast, slow = both(buffer_of(data), U(end), way, U(rule.prefixes.ctypes.data))
            assert fast in (0, slow), (data, end)
            taken += fast > 0
    assert taken > (300 if name != "none" else -1), "else this test shows nothing"


@given(st.lists(st.text("ab \n'1-é", max_size=9), max_size=80), st.sampled_from(["line", "line+", "file"]))
def test_a_table_that_grows_again_and_again_changes_nothing(parts: list[str], mode: str) -> None:
    data = "".join(parts).encode()
    block = Block(buffer_of(data), 0, len(data), "text", True, True)
    large, small = PieceLane(Splitter("gpt4"), mode), PieceLane(Splitter("gpt4"), mode)
    small.table = TypeTable(1)
    one, two = large.read(block), small.read(block)
    assert one.ids.tolist() == two.ids.tolist()
    assert one.ends.tolist() == two.ends.tolist()
    assert large.table.counts.tolist() == small.table.counts.tolist()
    assert Counter(one.ids.tolist()) == dict(enumerate(large.table.counts.tolist()))


@given(st.lists(st.text("ab '1.", max_size=9), max_size=20))
def test_line_ends_are_counted_in_pieces(lines: list[str]) -> None:
    data = "\n".join(lines).encode()
    found = PieceLane(Splitter("gpt2"), "line").read(Block(buffer_of(data), 0, len(data), "text", True, True))
    counts = [len(split(line.encode(), Splitter("gpt2"))) for line in lines]
    assert found.ends.tolist() == list(itertools.accumulate(counts))[:-1]
    assert len(found.ids) == sum(counts)


@pytest.mark.parametrize("name", PATTERNS)
@pytest.mark.parametrize("data", [b"^" * 10**6, b"a" * 200_000, b"A" * 200_000, b" " * 10**6, b"\x80" * 10**5])
def test_long_pieces_stay_whole(name: str, data: bytes) -> None:
    """user-reports E03: a million '^' and a token of 200,000 letters."""
    assert split(data, Splitter(name)) == [data]


def test_a_byte_behind_the_end_is_not_text() -> None:
    buffer = buffer_of("ab\u0301é".encode())
    lane = PieceLane(Splitter("gpt4o"), "file")
    for stop, expected in ((1, 1), (3, 2), (4, 1), (5, 2), (6, 1)):  # inside of characters: symbols of one byte
        assert len(lane.read(Block(buffer, 0, stop, "text", True, True)).ids) == expected, stop
