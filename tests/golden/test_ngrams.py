"""Oracle: published FNV-1a values, n-grams spelled by hand, and a plain loop over bytes as the definition reads."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ngrams_twin import plain

from embcli.artifacts.schema import Words
from embcli.text.ngrams import blocks_of_ngrams, fragments, vocabulary_ngrams


def test_published_hashes_and_buckets() -> None:
    """user-reports F01; FNV-1a of 'a', 'b' and 'foobar' from the authors' list, where no byte is above 127."""
    known = {"<ab": 1218209508, "ab>": 1699241756, "gło": 1060739402, "łow": 3012722452, "<ж>": 3282177761}
    parts = [p for word in ("ab", "głowa", "ж") for p in fragments(word.encode(), 3, 3, 2_000_000)]
    found = {part.data.decode(): (part.hash, part.bucket) for part in parts}
    assert {gram: found[gram] for gram in known} == {gram: (h, h % 2_000_000) for gram, h in known.items()}
    inner = {part.data: part.hash for part in fragments(b"abfoobar", 1, 6, 7)}
    assert (inner[b"a"], inner[b"b"], inner[b"foobar"]) == (0xE40C292C, 0xE70C2DE5, 0xBF9CF968)


def test_characters_not_bytes() -> None:
    """user-reports F08."""
    assert [p.data.decode() for p in fragments("głowa".encode(), 3, 3, 9)] == ["<gł", "gło", "łow", "owa", "wa>"]
    assert [p.data.decode() for p in fragments("东京".encode(), 1, 2, 9)] == ["<东", "东", "东京", "京", "京>"]


def test_what_has_no_ngrams() -> None:
    for word, lengths in ((b"a", (4, 6)), (b"", (3, 6)), (b"abc", (3, 0)), (b"abc", (5, 4)), (b"</s>", (3, 6))):
        assert fragments(word, *lengths, 10) == []
    assert fragments(b"abc", 3, 6, 0) == []
    assert len(fragments(b"</s>", 3, 6, 10, old=True)) == len(fragments(b"wxyz", 3, 6, 10)) == 10


@given(st.lists(st.binary(max_size=9) | st.text(max_size=9).map(lambda s: s.encode("utf-8", "ignore"))), st.data())
def test_any_bytes_as_a_plain_loop(spelled: list[bytes], data: st.DataObject) -> None:
    min_n, max_n = data.draw(st.integers(0, 5)), data.draw(st.integers(0, 7))
    buckets = data.draw(st.sampled_from([1, 7, 2_000_000, 2**31 - 1]))
    offsets, found = vocabulary_ngrams(Words.of(spelled), min_n, max_n, buckets)
    for word, (a, b) in zip(spelled, pairwise(offsets.tolist()), strict=True):
        due = plain(word, min_n, max_n)
        assert found[a:b].tolist() == [h % buckets for _, h in due]
        assert [(p.data, p.hash, p.bucket) for p in fragments(word, min_n, max_n, buckets)] == [
            (part, h, h % buckets) for part, h in due
        ]


def test_the_sign_matters() -> None:
    """The sibling: without the sign of bytes above 127 the plain loop gives other hashes."""
    assert (
        plain("gło".encode(), 3, 3, sign=False)
        != plain("gło".encode(), 3, 3)
        == [(p.data, p.hash) for p in fragments("gło".encode(), 3, 3, 9)]
    )


def test_blocks_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    words = Words.of(["the", "naïve", "", "</s>", "東京都", "a" * 50] * 40)
    whole = vocabulary_ngrams(words, 2, 5, 1000)
    monkeypatch.setattr("embcli.text.ngrams._SPAN", 16)
    assert len(list(blocks_of_ngrams(words, 2, 5, 1000))) > 50
    assert all((a == b).all() for a, b in zip(whole, vocabulary_ngrams(words, 2, 5, 1000), strict=True))


def test_a_word_of_100_000_characters_does_no_harm() -> None:
    assert len(fragments(b"a" * 100_000, 3, 6, 2_000_000)) == 4 * 100_002 - (2 + 3 + 4 + 5)
