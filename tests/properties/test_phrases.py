"""Oracle: a twin of ``encode --phrases`` in plain Python (twin_phrases.py), for joining, scores and vocabulary."""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import twin_phrases
import twin_words
from conftest import shared
from hypothesis import given, settings
from hypothesis import strategies as st

from embcli.artifacts.schema import Words
from embcli.errors import NumbersError
from embcli.job import Job
from embcli.spec import EncodeParams
from embcli.text import knownphrases, phrases
from embcli.text.words import encode

#: few words, so that pairs come again, and words that hold the joiner
ROWS = st.lists(st.lists(st.sampled_from(["a", "b", "c", "d", "A", "a_b", "b_c", "_", "é"]), max_size=14), max_size=8)
BLOCKS = st.sampled_from([1, 7, 64, 1 << 20])


def text_of(rows: list[list[str]]) -> bytes:
    return "".join(" ".join(row) + "\n" for row in rows).encode()


def encoded(rows: list[list[str]], threads: int = 1, block: int = 1 << 20, **options: Any) -> Any:
    """Encode rows of words, or return the NumbersError that says that nothing is left."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "text"
        path.write_bytes(text_of(rows))
        try:
            params = EncodeParams(words=True, split="whitespace", **options)
            tokens = encode([str(path)], params, Job(threads=threads, scratch=folder), block=block)
            twin_words.arrays_of(tokens)
        except NumbersError as e:
            return e
    return tokens


def same(tokens: Any, rows: list[list[str]], min_count: int, **options: Any) -> None:
    """Require the vocabulary and the rows of an already joined text."""
    expected = twin_words.encode([text_of(rows)], split="whitespace", min_count=min_count, **options)
    if isinstance(tokens, NumbersError):
        assert not [word for row in expected.rows for word in row if word not in (None, options.get("unk"))]
        return
    assert (list(tokens.words), tokens.unigram.tolist()) == (expected.words, expected.unigram)
    assert twin_words.rows_of(tokens) == expected.rows
    assert tokens.stats["tokens_read"] == expected.tokens_read and tokens.stats["types_read"] == expected.types_read


def reported(tokens: Any, done: list[twin_phrases.Pass]) -> None:
    """Require the figures of each pass."""
    record = tokens.stats["phrases"]
    assert len(record["passes"]) == max(1, sum(1 for one in done if one.joined) + (not all(one.joined for one in done)))
    for one, found in zip(record["passes"], done, strict=False):
        assert one["joins"] == found.joined.total()
        assert one["phrases"] == len({"_".join(pair) for pair in found.joined})
        best = sorted((-found.scores[pair], "_".join(pair).encode(), n) for pair, n in found.joined.items())
        assert [(-s, word.encode(), n) for word, s, _, n in one["top"]] == best[: phrases.TOP]
    assert record["joins"] == sum(one.joined.total() for one in done)
    assert record["phrases"] == len({"_".join(pair) for one in done for pair in one.joined})


@settings(max_examples=200)
@given(
    ROWS, st.sampled_from([1, 2, 5]), BLOCKS, st.integers(1, 3), st.integers(1, 3),
    st.sampled_from([0.01, 0.5, 1.0, 2.0]), st.sampled_from([None, 0.0, 0.5]),
    st.sampled_from([{}, {"gaps": "keep"}, {"unk": "<unk>"}, {"unk": "a_b"}, {"max_vocab": 2}, {"lower": True}]),
)  # fmt: skip
def test_phrases_are_those_of_the_twin(
    rows: list[list[str]], threads: int, block: int, passes: int, min_count: int, threshold: float,
    discount: float | None, more: dict[str, Any],
) -> None:  # fmt: skip
    tokens = encoded(
        rows, threads, block, phrases=passes, min_count=min_count, phrase_threshold=threshold,
        phrase_discount=discount, **more,
    )  # fmt: skip
    if more.get("lower"):
        rows = [[word.lower() for word in row] for row in rows]
    joined, done = twin_phrases.join(rows, passes, min_count=min_count, threshold=threshold, discount=discount)
    same(tokens, joined, min_count, **{k: v for k, v in more.items() if k != "lower"})
    if not isinstance(tokens, NumbersError):
        reported(tokens, done)


def test_another_threshold_joins_other_phrases() -> None:
    """Sibling: the comparison is not empty."""
    rows = [["a", "b", "c"], ["a", "b", "d"], ["c", "d"]]
    joined, _ = twin_phrases.join(rows, 1, min_count=1, threshold=1.0)
    assert joined != twin_phrases.join(rows, 1, min_count=1, threshold=3.0)[0]
    with pytest.raises(AssertionError):
        same(encoded(rows, phrases=1, min_count=1, phrase_threshold=3.0), joined, 1)


@settings(max_examples=150)
@given(
    ROWS, st.integers(1, 3), BLOCKS, st.sets(st.sampled_from(["a", "b", "c", "a_b", "b_c", "a_b_c", "c_", "__", "_"]))
)
def test_phrases_of_a_vocabulary_are_those_of_the_twin(
    rows: list[list[str]], passes: int, block: int, known: set[str]
) -> None:
    vocabulary = Words.of(sorted(known))
    expected = twin_phrases.join_known(rows, passes, known)
    assert [knownphrases.join_known(row, vocabulary, passes) for row in rows] == expected
    found, census = scanned(rows, block)
    found, record = knownphrases.join_given(found, census, passes, vocabulary, Job())
    counts = Counter(word for row in expected for word in row)
    table = census.table
    texts = phrases._bytes(census, np.arange(len(table), dtype=np.uint32))
    assert {text.decode(): n for text, n in zip(texts, table.counts.tolist(), strict=True) if n} == counts
    assert record["joins"] == sum(map(len, rows)) - counts.total()


def scanned(rows: list[list[str]], block: int) -> tuple[Any, Any]:
    """Return the scan of rows of words, and its census."""
    from embcli.text.cutting import Cut
    from embcli.text.scan import scan
    from embcli.text.vocab import merge

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "text"
        path.write_bytes(text_of(rows))
        found = scan([str(path)], Cut("whitespace"), "line", Job(), spill=True, block=block)
    return found, merge(found.lanes, False)


@pytest.mark.parametrize("rows", [[["a"] * 41], [["a", "b"] * 20, ["b"], [], ["b"] * 9], [[]] * 9 + [["a", "b"]]])
def test_pieces_and_groups_fit_together(rows: list[list[str]], monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs of phrases over the borders of pieces, rows that end there, and more groups than pairs."""
    joined, done = twin_phrases.join(rows, 3, min_count=1, threshold=0.1, discount=0)
    assert done[0].joined
    monkeypatch.setattr("embcli.text.joining._GROUP", 1)
    for piece in (4, 8, 20, 1 << 21):
        monkeypatch.setattr("embcli.text.scan._PIECE", piece)
        tokens = encoded(rows, 2, 8, phrases=3, min_count=1, phrase_threshold=0.1, phrase_discount=0.0)
        same(tokens, joined, 1)
        reported(tokens, done)


@pytest.mark.parametrize("threshold", [10.0, 100.0])
def test_real_text_is_its_twin(threshold: float) -> None:
    path = shared() / "corpora" / "enwiki-100k.txt"
    if not path.is_file():
        pytest.skip("no corpus here")
    data = path.read_bytes()
    rows = [[word or "" for word in row] for row in twin_words.encode([data], lower=True).rows]
    joined, done = twin_phrases.join(rows, 2, min_count=3, threshold=threshold)
    assert done[1].joined, "phrases of three words or more"
    for threads in (1, 2, 5):
        params = EncodeParams(words=True, lower=True, min_count=3, phrases=2, phrase_threshold=threshold)
        tokens = encode([str(path)], params, Job(threads=threads), block=1 << 16)
        same(tokens, joined, 3)
        reported(tokens, done)
