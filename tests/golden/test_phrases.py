"""Oracle: word2phrase's formula, worked out by hand on a dozen words (Mikolov et al. 2013, section 4)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from embcli.artifacts import provenance, store
from embcli.errors import NumbersError, UsageError
from embcli.job import Job
from embcli.spec import EncodeParams, make
from embcli.text.knownphrases import join_known
from embcli.text.words import count_only, cut_rule, decode, encode

#: 14 words: new 4, york 4, the 2, times 2, city 1, of 1; new york 4 times, york times twice
TEXT = b"new york city\nnew york times of the\nthe new york new york times\n"


def encoded(folder: Path, text: bytes, **options: Any) -> Any:
    """Encode a text, write the artifact to tokens.npz and read it back."""
    (folder / "text.txt").write_bytes(text)
    params = make(EncodeParams, {"words": True, "min_count": 1} | options)
    job = Job(scratch=str(folder))
    tokens = encode([str(folder / "text.txt")], params, job)
    meta = provenance.compose("encode", params, 0, [], tokens, {"vocab": "0" * 64})
    store.write(tokens, str(folder / "tokens.npz"), meta)
    return store.read(str(folder / "tokens.npz"))


def text_of(tokens: Any) -> bytes:
    return b"".join(decode(tokens))


def shown(tokens: Any) -> dict[str, int]:
    """Return the vocabulary with counts, in order."""
    return dict(zip(tokens.words, tokens.unigram.tolist(), strict=True))


def test_the_score_worked_out_by_hand(tmp_path: Path) -> None:
    """(4 - 1) / (4 * 4) * 14 = 2.625 for new york, (2 - 1) / (4 * 2) * 14 = 1.75 for york times."""
    tokens = encoded(tmp_path, TEXT, phrases=1, phrase_threshold=1.0)
    assert text_of(tokens) == b"new_york city\nnew_york times of the\nthe new_york new_york times\n"
    assert shown(tokens) == {"new_york": 4, "the": 2, "times": 2, "city": 1, "of": 1}, "the joined words are counted"
    assert tokens.stats["phrases"] == {
        "words_read": 14, "phrases": 1, "joins": 4,
        "passes": [{"words": 14, "phrases": 1, "joins": 4, "top": [["new_york", 2.625, 4, 4]]}],
    }  # fmt: skip
    assert (tokens.stats["tokens_read"], tokens.stats["types_read"]) == (10, 5)
    assert encoded(tmp_path, TEXT, phrases=1, phrase_threshold=2.624).stats["phrases"]["joins"] == 4
    with_equal = encoded(tmp_path, TEXT, phrases=1, phrase_threshold=2.625)
    assert with_equal.stats["phrases"]["joins"] == 0, "the score must be above the threshold"


def test_a_joined_pair_is_a_word_of_the_next_pass(tmp_path: Path) -> None:
    """Second pass: 10 words, new_york 4, times 2, together twice: (2 - 1) / (4 * 2) * 10 = 1.25."""
    tokens = encoded(tmp_path, TEXT, phrases=2, phrase_threshold=1.2)
    assert text_of(tokens) == b"new_york city\nnew_york_times of the\nthe new_york new_york_times\n"
    assert [one["top"] for one in tokens.stats["phrases"]["passes"]] == [
        [["new_york", 2.625, 4, 4]], [["new_york_times", 1.25, 2, 2]]
    ]  # fmt: skip
    assert (tokens.text["phrases"], tokens.text["joiner"]) == (2, "_")
    assert tokens.meta["options"]["phrase_discount"] == 1.0


def test_phrases_do_not_chain_within_a_pass(tmp_path: Path) -> None:
    text = b"a b c\n" * 3
    tokens = encoded(tmp_path, text, phrases=1, phrase_threshold=0.5)
    assert text_of(tokens) == b"a_b c\n" * 3, "b c scores as high, but b is taken"
    assert tokens.stats["phrases"]["phrases"] == 1
    assert text_of(encoded(tmp_path, text, phrases=2, phrase_threshold=0.5)) == b"a_b_c\n" * 3


def test_no_phrase_reaches_over_a_row(tmp_path: Path) -> None:
    text = b"a\nb\n" * 5 + b"a\n\nb\n"
    assert encoded(tmp_path, text, phrases=1, phrase_threshold=0.1).stats["phrases"]["joins"] == 0
    one = encoded(tmp_path, text, phrases=1, phrase_threshold=0.1, rows="file")
    assert text_of(one) == b" ".join([b"a_b"] * 6) + b"\n"


def test_rare_words_are_in_no_phrase_and_between_them(tmp_path: Path) -> None:
    """x and y are rare; a x b has no pair a b, though x is dropped from the rows."""
    text = b"a x b\na x b\nx y\n" + b"a b\n" * 3
    tokens = encoded(tmp_path, text, phrases=1, phrase_threshold=0.01, min_count=4, phrase_discount=0.0)
    assert text_of(tokens) == b"a b\na b\n\n" + b"a b\n" * 3, "a b is together three times only"
    tokens = encoded(tmp_path, text, phrases=1, phrase_threshold=0.01, min_count=3, phrase_discount=0.0, gaps="keep")
    assert text_of(tokens) == b"_ x _\n_ x _\nx _\n" + b"a_b\n" * 3, "and what is left of a and b is rare"


def test_a_word_spelled_like_a_phrase_is_one_word_with_it(tmp_path: Path) -> None:
    text = b"a b\n" * 3 + b"a_b c\n"
    tokens = encoded(tmp_path, text, phrases=1, phrase_threshold=0.5, split="whitespace")
    assert shown(tokens) == {"a_b": 4, "c": 1}


def test_dropped_words_unk_and_the_largest_vocabulary(tmp_path: Path) -> None:
    text = b"a b\n" * 3 + b"c\n" * 2 + b"d\n"
    options: dict[str, Any] = {"phrases": 1, "phrase_threshold": 0.5}
    assert shown(encoded(tmp_path, text, min_count=2, unk="u", **options)) == {"a_b": 3, "c": 2, "u": 1}
    assert shown(encoded(tmp_path, text, max_vocab=1, **options)) == {"a_b": 3}
    with pytest.raises(NumbersError, match="9 tokens read, 4 distinct words, highest count 3"):
        encoded(tmp_path, text, min_count=4, **options)


def test_lower_case_is_folded_before_pairs_are_counted(tmp_path: Path) -> None:
    tokens = encoded(tmp_path, b"New York\nnew york\nNEW york\n", phrases=1, phrase_threshold=1.0, lower=True)
    assert shown(tokens) == {"new_york": 3}


def test_the_phrases_of_a_vocabulary(tmp_path: Path) -> None:
    """The longest phrase of it is joined, of as many words as its passes can make."""
    encoded(tmp_path, TEXT, phrases=2, phrase_threshold=1.2)
    vocab = str(tmp_path / "vocab.npz")
    (tmp_path / "tokens.npz").rename(vocab)
    tokens = encoded(tmp_path, b"the new york times of york\nnew\ncity york\n", vocab=vocab)
    assert text_of(tokens) == b"the new_york_times of\n\ncity\n", "york alone was always joined, so it is no word"
    assert (tokens.text["phrases"], tokens.text["joiner"]) == (2, "_"), "and so it goes on to the next artifact"
    assert tokens.stats["phrases"] == {
        "words_read": 9, "phrases": 1, "joins": 2, "passes": [{"words": 9, "phrases": 1, "joins": 2}],
    }  # fmt: skip
    rule, words = cut_rule(EncodeParams(words=True, vocab=vocab))
    assert words is not None and rule.phrases == 2
    assert join_known(["a", "new", "york", "times"], words, rule.phrases) == ["a", "new_york_times"]
    assert join_known(["new", "york", "times"], words, 1) == ["new_york", "times"]
    assert join_known([], words, 1) == []
    same = encoded(tmp_path, TEXT, vocab=vocab)
    assert text_of(same) == b"new_york city\nnew_york_times of the\nthe new_york new_york_times\n"


def test_count_only_counts_phrases(tmp_path: Path) -> None:
    tokens = encoded(tmp_path, TEXT, phrases=2, phrase_threshold=1.2)
    params = EncodeParams(words=True, min_count=1, phrases=2, phrase_threshold=1.2)
    assert count_only([str(tmp_path / "text.txt")], params, Job(threads=2)) == tokens.stats


def test_nothing_to_join_is_a_note(tmp_path: Path) -> None:
    said: list[str] = []
    (tmp_path / "t").write_bytes(TEXT)
    params = EncodeParams(words=True, min_count=1, phrases=3, phrase_threshold=1e9)
    stats = encode([str(tmp_path / "t")], params, Job(note=said.append)).stats
    assert said == ["no two neighbors make a phrase above --phrase-threshold 1e+09; nothing was joined"]
    assert stats["phrases"]["passes"] == [{"words": 14, "phrases": 0, "joins": 0, "top": []}], "one pass is enough"
    (tmp_path / "t").write_bytes(b"\n\n")
    assert count_only([str(tmp_path / "t")], params, Job())["phrases"]["passes"] == []


@pytest.mark.parametrize(
    "options",
    [
        {"phrases": 1, "split": "chars"}, {"phrases": 1, "vocab": "v.npz"}, {"phrase_threshold": 5.0},
        {"phrase_discount": 1.0}, {"phrases_top": 3}, {"phrases": 1, "text": "a b"}, {"phrases": 9},
        {"phrases": 1, "phrase_threshold": 0.0}, {"phrases": 1, "phrase_discount": -1.0},
        {"phrases": 1, "phrases_top": 101},
    ],
)  # fmt: skip
def test_options_that_make_no_sense(options: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="--phrase"):
        make(EncodeParams, {"words": True} | options)
