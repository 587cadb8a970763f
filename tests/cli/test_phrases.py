"""Oracle: what ``encode --phrases`` promises on the command line: same bytes, tables, notes, usage errors."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import DATA, embcli, failed, ok

CORPUS = DATA / "corpus.txt"
JOIN = ["--words", "--lower", "--phrases", "2", "--phrase-threshold", "20"]
TEXT = b"new york city\nnew york times of the\nthe new york new york times\n"
SMALL = ["--words", "--min-count", "1", "--phrases", "2", "--phrase-threshold", "1.2"]


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return tokens with phrases made by one thread."""
    out = tmp_path_factory.mktemp("phrases") / "tokens.npz"
    ok("encode", CORPUS, *JOIN, "--threads", "1", "-o", out)
    return out


@pytest.mark.parametrize(("threads", "seed"), [("2", "1"), ("5", "2")])
def test_same_bytes_at_any_number_of_threads_and_hash_seed(
    plain: Path, tmp_path: Path, threads: str, seed: str
) -> None:
    """user-reports X17."""
    ok("encode", CORPUS, *JOIN, "--threads", threads, "-o", tmp_path / "t.npz", PYTHONHASHSEED=seed)
    assert (tmp_path / "t.npz").read_bytes() == plain.read_bytes()


def test_stdin_is_the_file_and_stdout_too(plain: Path, tmp_path: Path) -> None:
    """user-reports X05."""
    assert ok("encode", "-", *JOIN, "-o", "-", stdin=CORPUS.read_bytes()).out == plain.read_bytes()


def test_other_options_give_other_bytes(plain: Path, tmp_path: Path) -> None:
    for more in (["--phrases", "1"], ["--phrase-threshold", "21"], ["--phrase-discount", "6"]):
        ok("encode", CORPUS, *JOIN, *more, "-o", tmp_path / "t.npz")
        assert (tmp_path / "t.npz").read_bytes() != plain.read_bytes(), more


def test_the_summary_says_what_was_joined(tmp_path: Path) -> None:
    ran = ok("encode", "-", *SMALL, "-o", tmp_path / "t.npz", "-v", stdin=TEXT)
    assert "kept 5 of 5 types and 8 of 8 tokens" in ran.talk
    assert "; joined 2 phrases, 6 times in 2 passes" in ran.talk and "top new_york 2.625 4 4" in ran.talk
    assert ok("decode", tmp_path / "t.npz").out == TEXT.replace(b"york t", b"york_t").replace(b"w y", b"w_y")
    ran = ok("encode", "-", *SMALL[:-1], "2", "-o", tmp_path / "t.npz", stdin=TEXT)
    assert "; joined 1 phrase, 4 times in 2 passes" in ran.talk


def test_the_table_of_the_last_pass(tmp_path: Path) -> None:
    words = ["--words", "--min-count", "1", "--phrases", "1", "--phrase-threshold", "1", "--phrases-top", "5"]
    for more in (["-o", tmp_path / "t.npz"], [], ["--count"]):
        text = ok("encode", "-", *words, *more, stdin=TEXT).text
        assert text.split("\n")[-3].split() == ["rank", "phrase", "score", "count", "joined"]
        assert text.split("\n")[-2].split() == ["1", "new_york", "2.6", "4", "4"]
    rows = ok("encode", "-", *words, "--json", stdin=TEXT).text.splitlines()
    assert json.loads(rows[-1]) == {"rank": 1, "phrase": "new_york", "score": 2.625, "count": 4, "joined": 4}
    assert len(ok("encode", CORPUS, *JOIN, "--phrases-top", "3").text.splitlines()) == 4
    failed(embcli("encode", "-", *words, "-o", "-", stdin=TEXT), 2, "stdout")


def test_count_shows_phrases() -> None:
    text = ok("encode", "-", *SMALL, "--count", stdin=TEXT).text
    assert "phrases\t2\nphrases joined\t6\n" in text
    assert json.loads(ok("encode", "-", *SMALL, "--count", "--json", stdin=TEXT).text)["phrases"]["joins"] == 6


def test_text_is_joined_with_the_phrases_of_a_vocabulary(tmp_path: Path) -> None:
    ok("encode", "-", *SMALL, "-o", tmp_path / "t.npz", stdin=TEXT)
    text = "the new york times\nnew\nyork city"
    shown = ok("encode", "--words", "--text", text, "--vocab", tmp_path / "t.npz", "--json").text
    pieces = [json.loads(line)["piece"] for line in shown.splitlines()]
    assert pieces == ["the", "new_york_times", "new", "york", "city"], "a line is a row"


def test_nothing_joined_is_a_note(tmp_path: Path) -> None:
    ran = ok("encode", CORPUS, "--words", "--phrases", "2", "--phrase-threshold", "1e12", "-o", tmp_path / "t.npz")
    assert "no two neighbors make a phrase above --phrase-threshold 1e+12; nothing was joined" in ran.talk
    assert "joined 0 phrases, 0 times in 1 pass" in ran.talk
    ran = ok("encode", CORPUS, "--words", "--phrases", "2", "--phrase-threshold", "1e12", "--phrases-top", "3")
    assert ran.text.split() == ["rank", "phrase", "score", "count", "joined"]


@pytest.mark.parametrize("text", [b"", b"\n\n", b" \t\n", b"a b c\n"])
def test_a_text_without_words_fails_as_ever(tmp_path: Path, text: bytes) -> None:
    """user-reports X13."""
    failed(embcli("encode", "-", "--words", "--phrases", "2", "-o", tmp_path / "t.npz", stdin=text), 4, "nothing left")
    assert not (tmp_path / "t.npz").exists()


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (["--phrases", "-1"], "--phrases"), (["--phrases", "9"], "--phrases"),
        (["--phrases", "1", "--phrase-threshold", "0"], "--phrase-threshold"),
        (["--phrases", "1", "--phrase-threshold", "nan"], "--phrase-threshold"),
        (["--phrases", "1", "--phrase-discount", "-1"], "--phrase-discount"), (["--phrases-top", "3"], "--phrases N"),
        (["--phrase-threshold", "5"], "--phrases N"), (["--phrases", "1", "--split", "chars"], "--split chars"),
        (["--phrases", "1", "--vocab", "no.npz"], "--vocab"), (["--phrases", "1", "--text", "a"], "--vocab"),
        (["--phrases", "1", "--phrases-top", "101"], "--phrases-top"),
    ],
)  # fmt: skip
def test_usage_errors_come_before_the_text(tmp_path: Path, options: list[str], named: str) -> None:
    failed(embcli("encode", tmp_path / "none", "--words", *options, "-o", tmp_path / "t.npz"), 2, named)
