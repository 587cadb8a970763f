"""Oracle: the same in plain Python and NumPy: str.decode, dict, slicing."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from embcli.kernels import spell, typetable
from embcli.kernels import words as k
from embcli.text import unicode
from embcli.text.cutting import classes
from embcli.text.typetable import TypeTable

U = np.uint64


def places(words: list[bytes]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return words as data, begins and sizes."""
    sizes = np.array([len(w) for w in words], U)
    return np.frombuffer(b"".join(words), np.uint8), np.cumsum(sizes, dtype=U) - sizes, sizes


def low8(data: bytes) -> np.uint64:
    """Return up to 8 bytes as a number, the first lowest."""
    return U(int.from_bytes(data[:8].ljust(8, b"\n"), "little"))


def test_every_code_point_is_decoded() -> None:
    for point in [*range(0x80), *range(0x80, 0x110000, 7), 0x7FF, 0x800, 0xD7FF, 0xE000, 0xFFFF, 0x10000, 0x10FFFF]:
        if not 0xD800 <= point < 0xE000:
            data = chr(point).encode()
            assert int(k.decode(low8(data))) == 8 * point + len(data)


@given(st.binary(min_size=1, max_size=4), st.sampled_from([b"", b"\n", b"\x80", b"\xbf\x80"]))
def test_what_python_refuses_is_bad(data: bytes, tail: bytes) -> None:
    got = int(k.decode(low8(data + tail)))
    fits = [n for n in (1, 2, 3, 4) if _is_one(((data + tail).ljust(8, b"\n"))[:n])]
    assert got % 8 == (fits[0] if fits else 0)
    assert fits or got >> 3 == k.BAD_POINT


def _is_one(data: bytes) -> bool:
    try:
        return len(data.decode("utf-8")) == 1
    except UnicodeDecodeError:
        return False


TOO_LONG = [b"\xc0\x80", b"\xc1\xbf", b"\xe0\x9f\xbf", b"\xf0\x8f\xbf\xbf"]
TOO_HIGH = [b"\xf4\x90\x80\x80", b"\xf5\x80\x80\x80", b"\xf8\x88\x80\x80", b"\xff"]
OTHERS = [b"\xed\xa0\x80", b"\xed\xbf\xbf", b"\x80", b"\xe2\x80", b"\xf0\x9f\x91"]


@pytest.mark.parametrize("data", TOO_LONG + TOO_HIGH + OTHERS)
def test_ill_formed_sequences_are_bad(data: bytes) -> None:
    assert int(k.decode(low8(data))) & 7 == 0


@pytest.mark.parametrize("spaces", [False, True])
def test_bytes_outside_are_the_bytes_outside(spaces: bool) -> None:
    kinds = classes("whitespace" if spaces else "words")
    for i in range(256):
        for at in (0, 3, 7):
            data = bytearray(b"abcdefgh")
            data[at] = i
            stop = int(k._outside(low8(bytes(data)), spaces))
            expected = [b for b in range(8) if kinds[data[b]] != k.TOKEN]
            assert [b for b in range(8) if stop >> (8 * b + 7) & 1] == expected
            assert stop & 0x7F7F7F7F7F7F7F7F == 0


def test_classes_are_what_unicode_says() -> None:
    words, points = classes("words"), classes("words")[k.POINTS :]
    assert points[-1] == k.BAD and len(points) == unicode.SIZE + 1
    assert ((points[:-1] == k.TOKEN) == unicode.among("LMN")).all()
    assert np.flatnonzero(points == k.APOSTROPHE).tolist() == [0x27, 0x2019]
    assert (words[128:256] == k.WIDE).all() and words[10] == k.LF
    assert ((classes("whitespace")[k.POINTS : -1] == k.TOKEN) == ~unicode.white_space()).all()


EDGES = [b"a", b"a\0", b"a" * 7, b"a" * 8, b"a" * 15, b"a" * 16, b"a" * 17]
KEYS = st.lists(st.one_of(st.binary(min_size=1, max_size=40), st.sampled_from(EDGES)))


@given(KEYS, st.integers(0, 7))
def test_the_table_is_a_dict(words: list[bytes], shift: int) -> None:
    table = TypeTable(capacity=2)
    data, begins, sizes = places([b"x" * shift, *words])
    numbers = table.add(data, begins[1:], sizes[1:], np.full(len(words), 3, U))
    expected = {word: i for i, word in enumerate(dict.fromkeys(words))}
    assert numbers.tolist() == [expected[word] for word in words]
    assert len(table) == len(expected)
    raw, at = table.types.data.tobytes(), table.begins.tolist()
    assert [raw[a:b] for a, b in itertools.pairwise(at)] == list(expected)
    assert table.counts.tolist() == [3 * words.count(word) for word in expected]


def test_long_types_with_one_key_are_told_apart() -> None:
    """Three types of 24 bytes are made to have the same first bytes and the same 56 bits of hash."""
    odd, half, low = 0x9E3779B97F4A7C15, 32, (1 << 64) - 1

    def step(h: int, word: bytes) -> int:
        h = (h ^ int.from_bytes(word, "little")) * odd & low
        return h ^ h >> half

    first = b"the same"
    start = step(24 * odd & low, first)
    base = step(start, b"middle 0") ^ int.from_bytes(b"the end!", "little")
    words = [first + m + (step(start, m) ^ base).to_bytes(8, "little") for m in (b"middle 0", b"middle 1", b"middle 2")]
    data, begins, sizes = places(words)
    wide = np.concatenate([data, np.zeros(16, np.uint8)]).view(U)
    keys = {tuple(map(int, typetable.key_of(wide, U(b), U(24)))) for b in begins}
    assert len(keys) == 1 and len(set(words)) == 3, "the test is worth nothing if the keys differ"
    table = TypeTable()
    data, begins, sizes = places([*words, *words[::-1]])
    assert table.add(data, begins, sizes, np.ones(6, U)).tolist() == [0, 1, 2, 2, 1, 0]
    assert table.counts.tolist() == [2, 2, 2]


def test_a_full_table_grows_and_a_fuller_one_too() -> None:
    words = [f"{i}-".encode() * (1 + i % 9) for i in range(5000)]
    table = TypeTable(capacity=2)
    assert table.add(*places(words), np.ones(5000, U)).tolist() == list(range(5000))
    assert table.add(*places(words[::-1]), np.ones(5000, U)).tolist() == list(range(5000))[::-1]


@given(st.lists(st.binary(max_size=30), max_size=20))
def test_gather_and_prefixes(words: list[bytes]) -> None:
    data, begins, sizes = places(words)
    order = np.arange(len(words))[::-1]
    out = np.empty(int(sizes.sum()), np.uint8)
    typetable.gather(data, begins[order], sizes[order], out)
    assert out.tobytes() == b"".join(words[::-1])
    for skip in (0, 8):
        found = np.empty(len(words), U)
        typetable.prefixes(data, begins, sizes, skip, found)
        assert found.tolist() == [int.from_bytes(w[skip : skip + 8].ljust(8, b"\0"), "big") for w in words]


@given(st.lists(st.integers(0, 4), max_size=30), st.data())
def test_rename(ids: list[int], data: st.DataObject) -> None:
    dropped = np.uint32(0xFFFFFFFF)
    names = np.array([7, dropped, 9, dropped, 7], np.uint32)
    ends = sorted(data.draw(st.lists(st.integers(0, len(ids)), max_size=5)))
    out, starts = np.empty(len(ids), np.uint32), np.empty(len(ends), np.int64)
    n = int(k.rename(np.array(ids, np.uint32), names, dropped, np.array(ends, np.int64), out, starts))
    final = [int(names[i]) for i in ids if names[i] != dropped]
    assert out[:n].tolist() == final
    assert starts.tolist() == [sum(names[i] != dropped for i in ids[:e]) for e in ends]


@given(st.lists(st.lists(st.integers(0, 2), max_size=4), max_size=6), st.integers(1, 9), st.booleans(), st.data())
def test_spell(rows: list[list[int]], piece: int, spaced: bool, data: st.DataObject) -> None:
    words, offsets = [b"a", "ö".encode(), b"abc"], np.array([0, 1, 3, 6], U)
    closed = data.draw(st.lists(st.booleans(), min_size=len(rows), max_size=len(rows)))
    ids, ends = np.array([i for row in rows for i in row], np.uint32), np.cumsum([len(r) for r in rows], dtype=np.int64)
    text, state, done = b"", np.array([0, 1], U), 0
    for at in range(0, len(ids), piece):
        part = ids[at : at + piece]
        n_ends = int(np.searchsorted(ends, at + len(part), "left"))
        here, shut = (ends[done:n_ends] - at).astype(U), np.array(closed[done:n_ends], np.bool_)
        state[spell.ROW] = 0
        out = np.empty(100, np.uint8)
        n = int(spell.spell(part, np.frombuffer(b"".join(words), np.uint8), offsets, here, shut, spaced, state, out))
        text, done = text + out[:n].tobytes(), n_ends
    text += b"".join(b"\n" for c in closed[done:] if c)
    space = b" " if spaced else b""
    assert text == b"".join(space.join(words[i] for i in row) + b"\n" * c for row, c in zip(rows, closed, strict=True))
