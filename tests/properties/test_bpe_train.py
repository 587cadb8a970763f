"""Oracle: other ways to the same tokenizer: threads, shuffled lines, counted words, fewer or more steps; arithmetic."""

from __future__ import annotations

import random
from collections import Counter
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import DATA

from embcli.artifacts.schema import Tokenizer
from embcli.errors import InputError, NumbersError, UsageError
from embcli.job import Job
from embcli.spec import BpeTrainParams
from embcli.text.bpe_encode import encode_text
from embcli.text.bpe_train import train
from embcli.text.patterns import PATTERNS, Splitter
from embcli.text.pretokens import split
from embcli.text.tokenizer import View

TEXT = (DATA / "corpus.txt").read_bytes()[:60_000]


def made(
    folder: Path, text: bytes | list[bytes], threads: int = 1, job: Job | None = None, **options: Any
) -> Tokenizer:
    """Train on a text, or on several files."""
    parts = text if isinstance(text, list) else [text]
    paths = [str(folder / f"part{i}") for i in range(len(parts))]
    for path, part in zip(paths, parts, strict=True):
        Path(path).write_bytes(part)
    return train(paths, BpeTrainParams(**options), job or Job(threads=threads))


def merges(tokenizer: Tokenizer) -> list[tuple[bytes, bytes, int]]:
    spelled = tokenizer.tokens.bytes_at  # type: ignore[union-attr]
    pairs = zip(tokenizer.merges.tolist(), tokenizer.merge_counts.tolist(), strict=True)
    return [(spelled(a), spelled(b), n) for (a, b), n in pairs]


def tokens(tokenizer: Tokenizer) -> list[bytes]:
    assert tokenizer.tokens is not None
    return [tokenizer.tokens.bytes_at(i) for i in range(len(tokenizer.tokens))]


def test_the_order_of_lines_does_not_matter(tmp_path: Path) -> None:
    """user-reports B01: all 24 orders of four lines, and shuffles of a thousand, give one merge list."""
    lines = [b"bbb\n", b"aaa\n", b"dddd\n", b"cccc\n"]
    found = {tuple(merges(made(tmp_path, b"".join(some), vocab_size=270))) for some in permutations(lines)}
    assert len(found) == 1
    lines = TEXT.splitlines(keepends=True)[:1000]
    shuffled = random.Random(0).sample(lines, len(lines))
    assert merges(made(tmp_path, b"".join(lines))) == merges(made(tmp_path, b"".join(shuffled)))
    first = [made(tmp_path, b"".join(some), ties="first-seen") for some in (lines, shuffled)]
    assert merges(first[0]) != merges(first[1])  # that rule asks what stands first


def test_threads_do_not_matter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import embcli.text.pretokens as pretokens

    for ties in ("lowest", "first-seen"):
        found = []
        for threads, block in ((1, 1 << 20), (2, 1 << 20), (5, 1 << 12), (1, 1 << 10)):
            monkeypatch.setitem(pretokens.count_pieces.__kwdefaults__, "block", block)
            one = made(tmp_path, TEXT, threads, vocab_size=900, ties=ties)
            found.append((tokens(one), merges(one), one.stats))
        assert all(one == found[0] for one in found)


@pytest.mark.parametrize("options", [{}, {"unit": "char"}, {"ties": "first-seen"}, {"max_token_bytes": 4}])
def test_a_smaller_vocabulary_is_a_prefix(tmp_path: Path, options: dict[str, Any]) -> None:
    small, large = (made(tmp_path, TEXT, vocab_size=size, **options) for size in (400, 1000))
    assert len(tokens(small)) == 400 and len(tokens(large)) == 1000
    assert tokens(large)[:400] == tokens(small)
    assert merges(large)[: len(merges(small))] == merges(small)
    assert merges(made(tmp_path, TEXT[:30_000], vocab_size=400, **options)) != merges(small)


def test_counted_words_equal_the_text_they_count(tmp_path: Path) -> None:
    words = Counter(piece for piece in split(TEXT, Splitter("gpt4"), "line+") if b"\n" not in piece)
    table = [word + b"\t%d\n" % n for word, n in words.items()]
    listed = made(tmp_path, b"".join(table), vocab_size=600, counts=True)
    again = [word + b"\t1\n" for word, n in words.items() for _ in range(n)]
    assert merges(listed) == merges(made(tmp_path, b"".join(again), vocab_size=600, counts=True))
    assert listed.stats["pieces"] == sum(words.values()) and listed.stats["types"] == len(words)
    text = TEXT.replace(b"\n", b" . ")  # without line ends, so that the text has these pieces and no others
    pieces = Counter(split(text, Splitter("gpt4"), "line+"))
    table = [word + b"\t%d\n" % n for word, n in pieces.items()]
    whole = made(tmp_path, text, vocab_size=600)
    assert merges(made(tmp_path, b"".join(table), vocab_size=600, counts=True)) == merges(whole)
    once = [word + b"\t1\n" for word in pieces]
    assert merges(made(tmp_path, b"".join(once), vocab_size=600, counts=True)) != merges(whole)


def test_a_counted_word_is_cut_like_text(tmp_path: Path) -> None:
    """A word that holds blanks is several pieces, each as often as the word."""
    one = made(tmp_path, b"the cat\t3\nthe\t2\n", counts=True, vocab_size=300)
    two = made(tmp_path, b"the cat\n" * 3 + b"the\n" * 2, vocab_size=300)
    assert merges(one) == merges(two) and merges(one)[0] == (b"h", b"e", 5)


@pytest.mark.parametrize("line", ["cat", "cat\t", "cat\t-1", "cat\t0", "cat\t1.5", "\t3", "cat\t" + "9" * 5000])
def test_bad_counts_name_their_line(tmp_path: Path, line: str) -> None:
    with pytest.raises(InputError, match="part0: line 3: expected a word, a tab and a count"):
        made(tmp_path, f"dog\t1\n\n{line}\ncow\t2\n".encode(), counts=True)
    assert len(merges(made(tmp_path, b"dog\t2\n\r\n\ncow\t2\r\n", counts=True))) == 4


def test_init_goes_on_where_a_run_ended(tmp_path: Path) -> None:
    """500 merges and 300 more on the same text are the 800 of one run, but for counts of what is merged already."""
    from embcli.artifacts import store

    whole = made(tmp_path, TEXT, vocab_size=1056)
    first = made(tmp_path, TEXT, vocab_size=756)
    path = str(tmp_path / "first.npz")
    _save(store, first, path)
    grown = made(tmp_path, TEXT, vocab_size=1056, init=path)
    assert tokens(grown) == tokens(whole) and merges(grown) == merges(whole)
    other = made(tmp_path, TEXT[::-1].replace(b"\xff", b""), vocab_size=1056, init=path)
    assert tokens(other)[:756] == tokens(first) and merges(other)[:500] == merges(first)
    assert merges(other) != merges(whole)


def _save(store: Any, tokenizer: Tokenizer, path: str) -> None:
    """Write a tokenizer as the command does."""
    from conftest import ok

    text = Path(path).with_suffix(".txt")
    text.write_bytes(TEXT)
    ok("bpe-train", text, "--vocab-size", len(tokens(tokenizer)), "-o", path)
    assert tokens(store.read(path, ("tokenizer",))) == tokens(tokenizer)


def test_init_keeps_what_it_cannot_change(tmp_path: Path) -> None:
    from conftest import ok

    (tmp_path / "t.txt").write_bytes("ab ab né".encode())
    ok("bpe-train", tmp_path / "t.txt", "--unit", "char", "--vocab-size", "9", "-o", tmp_path / "char.npz")
    with pytest.raises(InputError, match="no id for the character 'x'"):
        made(tmp_path, b"ab x", init=str(tmp_path / "char.npz"), vocab_size=20)
    grown = made(tmp_path, "né né ab".encode(), init=str(tmp_path / "char.npz"), vocab_size=20)
    assert tokens(grown)[:6] == [b" ", b"a", b"b", b"n", "é".encode(), b"ab"]
    assert merges(grown)[1][:2] == (b"n", "é".encode())
    with pytest.raises(UsageError, match="--pattern whitespace"):
        made(tmp_path, b"ab", init=str(tmp_path / "char.npz"), vocab_size=20, pattern="whitespace")
    with pytest.raises(UsageError, match="--vocab-size"):
        made(tmp_path, b"ab", init=str(tmp_path / "char.npz"), vocab_size=5)


@pytest.mark.parametrize("longest", [1, 2, 3, 7])
def test_no_token_is_longer_than_asked(tmp_path: Path, longest: int) -> None:
    if longest == 1:
        with pytest.raises(NumbersError, match="nothing to learn"):
            made(tmp_path, TEXT, vocab_size=900, max_token_bytes=1)
        return
    found = made(tmp_path, TEXT, vocab_size=900, max_token_bytes=longest)
    assert max(map(len, tokens(found))) == longest
    assert max(map(len, tokens(made(tmp_path, TEXT, vocab_size=900)))) > 7


def test_vocabulary_arithmetic(tmp_path: Path) -> None:
    """user-reports B04: 300 entries are 256 bytes, 2 specials, and 42 merges."""
    found = made(tmp_path, TEXT, vocab_size=300, special=("<s>", "</s>"))
    assert len(tokens(found)) == 300 == len(set(tokens(found)))
    assert found.special_ids.tolist() == [256, 257] and tokens(found)[256:258] == [b"<s>", b"</s>"]
    assert len(merges(found)) == 300 - 256 - 2
    with pytest.raises(UsageError, match="at least 258"):
        BpeTrainParams(vocab_size=257, special=("<s>", "</s>")).check()
    assert len(merges(made(tmp_path, TEXT, vocab_size=259, special=("<s>", "</s>")))) == 1


def test_specials_are_atoms(tmp_path: Path) -> None:
    """user-reports B09: nothing is learned from a special token or across it; its id does not move."""
    text = b"ABCD<sep>EFGH\n" * 100
    found = made(tmp_path, text, vocab_size=300, special=("<sep>",), pattern="none")
    learned = tokens(found)[257:]
    assert learned and not any(b"<" in t or b">" in t or b"DE" in t for t in learned)
    view = View(found)
    ids = [i for _, piece in encode_text(b"ABCD<sep>EFGH", view, "token", "strict") for i in piece]
    assert ids.count(256) == 1 and [tokens(found)[i] for i in ids] == [b"ABCD", b"<sep>", b"EFGH"]
    assert made(tmp_path, TEXT, vocab_size=300, special=("<sep>",)).special_ids.tolist() == [256]
    torn = tokens(made(tmp_path, text, vocab_size=300, pattern="none"))
    assert any(b"<sep>" in t for t in torn)
    with pytest.raises(UsageError, match="is a base symbol already"):
        made(tmp_path, TEXT, special=("a",))


def test_fewer_than_asked_for(tmp_path: Path) -> None:
    """user-reports B05: a warning with both sizes and no invented merges; --strict makes it an error."""
    said: list[str] = []
    found = made(tmp_path, b"ab ab", job=Job(warn=said.append), vocab_size=1000)
    assert len(said) == 1 and "asked for 1,000 entries, reached 257" in said[0]
    assert len(tokens(found)) == found.stats["vocab"] == 257 and min(found.merge_counts) >= 2
    with pytest.raises(NumbersError, match="reached 257"):
        made(tmp_path, b"ab ab", vocab_size=1000, strict=True)
    said.clear()
    made(tmp_path, b"ab ab", job=Job(warn=said.append), vocab_size=257, strict=True)
    assert not said


@pytest.mark.parametrize("text", [b"", b"\n\n\n", b"a b c"])
def test_nothing_to_learn(tmp_path: Path, text: bytes) -> None:
    """user-reports X13: pieces read, how many differ, the highest count and the threshold are told."""
    with pytest.raises(
        NumbersError, match=r"pieces \(\d different\).*--min-frequency 5.*highest count of one is [01];"
    ):
        made(tmp_path, text, min_frequency=5)


@pytest.mark.parametrize("pattern", [*PATTERNS, r"(?P<word>\w+)|\W+"])
@pytest.mark.parametrize("unit", ["byte", "char"])
def test_no_token_spans_pieces(tmp_path: Path, pattern: str, unit: Any) -> None:
    """user-reports B14: every token is part of a piece, and the tokenizer holds the pattern's text."""
    if pattern not in PATTERNS:
        pytest.importorskip("regex")
    found = made(tmp_path, TEXT, vocab_size=700, pattern=pattern, unit=unit)
    assert found.text["regex"] == PATTERNS.get(pattern, pattern)
    pieces = set(split(TEXT, Splitter(pattern), "line+"))
    text = b"\xff".join(pieces)
    learned = tokens(found)[-len(merges(found)) :]
    assert all(token in text for token in learned)
    assert pattern == "none" or not any(b"the cat" in token for token in learned)


def test_rows_file_joins_lines(tmp_path: Path) -> None:
    """Line by line nothing goes on behind a line end; file by file it does."""
    text = b"ab\ncd" * 50
    by_line, by_file = (tokens(made(tmp_path, text, pattern="none", rows=rows)) for rows in ("line", "file"))
    assert any(b"\nc" in token for token in by_file) and not any(b"\nc" in token for token in by_line)


def test_characters_need_text(tmp_path: Path) -> None:
    """user-reports X15: file, line and byte are named; bytes take anything."""
    with pytest.raises(InputError, match=r"part1: line 2, byte 4: 0xe9 is not UTF-8"):
        made(tmp_path, [b"ok ok\n", b"ok\ncaf\xe9 ok\n"], unit="char")
    assert merges(made(tmp_path, [b"ok ok\n", b"ok\ncaf\xe9 ok caf\xe9\n"], unit="byte"))


def test_end_of_word(tmp_path: Path) -> None:
    """Words end by a symbol of their own, white space is none; with it, low and lower differ in their end."""
    found = made(tmp_path, b"low low lower\n", unit="char", end_of_word=True, vocab_size=11)
    assert tokens(found)[:6] == [b"e", b"l", b"o", b"r", b"w", b"</w>"]
    assert (b"low", b"</w>", 2) in merges(found) and b" " not in b"".join(tokens(found))
    without = made(tmp_path, b"low low lower\n", unit="char", vocab_size=11)
    assert b" " in tokens(without) and not any(b"</w>" in token for token in tokens(without))
    with pytest.raises(InputError, match="holds </w>"):
        made(tmp_path, b"a</w> a</w>", unit="char", end_of_word=True, pattern="whitespace")


def test_all_bytes_can_be_learned(tmp_path: Path) -> None:
    """Bytes that are no text are symbols like any other."""
    data = bytes(range(256)) * 3
    found = made(tmp_path, data, vocab_size=400, pattern="none", rows="file")
    assert len(merges(found)) > 100
    assert set(np.diff(np.asarray(found.merge_counts)) <= 0) == {True}
