"""Oracle: texts so short that words, counts, ids and rows can be counted by the reader."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import shared
from twin_words import rows_of

from embcli.artifacts import provenance, store
from embcli.artifacts.schema import Tokens, Vectors, Words
from embcli.errors import InputError, KindError, NumbersError, UsageError
from embcli.job import Job
from embcli.spec import EncodeParams, make
from embcli.text.cutting import Cut
from embcli.text.words import count_only, cut, cut_rule, decode, encode


def encoded(folder: Path, *texts: bytes, threads: int = 1, **options: Any) -> Tokens:
    """Encode texts, each a file of its own, write the artifact and read it back."""
    paths = []
    for i, text in enumerate(texts):
        paths.append(str(folder / f"text{i}.txt"))
        Path(paths[-1]).write_bytes(text)
    params = make(EncodeParams, {"words": True, "min_count": 1} | options)
    job = Job(threads=threads, scratch=str(folder))
    tokens = encode(paths, params, job)
    sources = [("text", s["digest"], None) for s in job.sources]
    meta = provenance.compose("encode", params, 0, sources, tokens, {"vocab": "0" * 64})
    store.write(tokens, str(folder / "tokens.npz"), meta)
    back = store.read(str(folder / "tokens.npz"), ("tokens",))
    assert isinstance(back, Tokens)
    return back


def text_of(tokens: Tokens) -> bytes:
    """Return the decoded text."""
    return b"".join(decode(tokens))


def shown(tokens: Tokens) -> dict[str, int]:
    """Return the vocabulary with counts, in order."""
    return dict(zip(tokens.words, tokens.unigram.tolist(), strict=True))


def test_five_sentences(tmp_path: Path) -> None:
    text = b"I like cats\nI like dogs\nI like cats\nI like pizza\nI like cats\n"
    tokens = encoded(tmp_path, text)
    assert shown(tokens) == {"I": 5, "like": 5, "cats": 3, "dogs": 1, "pizza": 1}
    assert tokens.ids.tolist() == [0, 1, 2, 0, 1, 3, 0, 1, 2, 0, 1, 4, 0, 1, 2]
    assert tokens.ids.dtype == np.uint8 and tokens.row_offsets.tolist() == [0, 3, 6, 9, 12, 15]
    assert text_of(tokens) == text
    how = {"unit": "words", "split": "words", "lower": False, "rows": "line", "gaps": "close", "unk": None}
    assert tokens.text == how


def test_min_count_and_what_it_drops(tmp_path: Path) -> None:
    tokens = encoded(tmp_path, b"a a b", min_count=2)
    assert shown(tokens) == {"a": 2} and tokens.ids.tolist() == [0, 0]
    expected = {
        "tokens_read": 3, "tokens_kept": 2, "types_read": 2, "types_kept": 1, "types_dropped": 1, "highest_count": 2,
        "highest_dropped": 1, "rows": 1, "open_rows": [0], "bad_sequences": 0, "bytes_read": 5,
    }  # fmt: skip
    assert {name: tokens.stats[name] for name in expected} == expected


def test_order_is_by_count_then_by_bytes(tmp_path: Path) -> None:
    long = "the same sixteen bytes and then "
    words = ["z", "é", "a", "aa", "b", "a\u0301"] + [long.replace(" ", "") + c for c in "cab"]
    tokens = encoded(tmp_path, " ".join([*words, "z"]).encode())
    assert list(tokens.words) == ["z", *sorted(set(words) - {"z"}, key=str.encode)]


def test_max_vocab(tmp_path: Path) -> None:
    assert shown(encoded(tmp_path, b"c c c b b a a d", max_vocab=2)) == {"c": 3, "a": 2}


def test_gaps_close_or_keep_their_place(tmp_path: Path) -> None:
    text = b"a x a\ny\na\n"
    closed = encoded(tmp_path, text, min_count=2)
    assert (closed.ids.tolist(), closed.row_offsets.tolist()) == ([0, 0, 0], [0, 2, 2, 3])
    assert text_of(closed) == b"a a\n\na\n"
    kept = encoded(tmp_path, text, min_count=2, gaps="keep")
    assert (kept.ids.tolist(), kept.row_offsets.tolist()) == ([0, 1, 0, 1, 0], [0, 3, 4, 5])
    assert shown(kept) == {"a": 3} and kept.stats["tokens_kept"] == 3
    assert text_of(kept) == b"a _ a\n_\na\n"


def test_ids_have_the_smallest_type_that_fits(tmp_path: Path) -> None:
    text = " ".join(f"w{i} w{i}" for i in range(256)).encode() + b" rare"
    assert encoded(tmp_path, text, min_count=2).ids.dtype == np.uint8
    assert encoded(tmp_path, text, min_count=2, gaps="keep").ids.dtype == np.uint16
    assert encoded(tmp_path, text).ids.dtype == np.uint16


def test_unk_is_an_ordinary_word(tmp_path: Path) -> None:
    tokens = encoded(tmp_path, b"a a a b b x y", min_count=2, unk="<unk>")
    assert shown(tokens) == {"a": 3, "<unk>": 2, "b": 2} and tokens.ids.tolist() == [0, 0, 0, 2, 2, 1, 1]
    assert text_of(tokens) == b"a a a b b <unk> <unk>"
    assert tokens.stats["types_kept"] == 2 and tokens.stats["tokens_kept"] == 5
    assert shown(encoded(tmp_path, b"a a b b", min_count=2, unk="<unk>")) == {"a": 2, "b": 2}, "nothing was dropped"
    assert shown(encoded(tmp_path, b"a a b b x", min_count=2, unk="b")) == {"b": 3, "a": 2}, "it is a word of the text"
    assert shown(encoded(tmp_path, b"a a a u x", min_count=2, unk="u")) == {"a": 3, "u": 2}, "it was dropped itself"
    assert shown(encoded(tmp_path, b"c c c b b a", max_vocab=1, unk="u")) == {"c": 3, "u": 3}, "beside --max-vocab"


def test_words_that_look_like_markers_are_words(tmp_path: Path) -> None:
    tokens = encoded(tmp_path, b"<unk> </s> __label__x <unk>\n", split="whitespace")
    assert shown(tokens) == {"<unk>": 2, "</s>": 1, "__label__x": 1}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("don't 'quoted' rock'n'roll dogs' o''clock", ["don't", "quoted", "rock'n'roll", "dogs", "o", "clock"]),
        ("isn’t l’été ’tis ‘a’", ["isn’t", "l’été", "tis", "a"]),
        ("a'’b a' b", ["a", "b", "a", "b"]),
        ("naïve re-read x_y 3.14 2nd R2-D2", ["naïve", "re", "read", "x", "y", "3", "14", "2nd", "R2", "D2"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("العَرَبِيَّة ، كتاب", ["العَرَبِيَّة", "كتاب"]),
        ("日本語のテスト、中文。", ["日本語のテスト", "中文"]),
        ("한국어를 배우다", ["한국어를", "배우다"]),
        ("👍🏽 ok👩‍👩‍👧go ①②", ["ok", "go", "①②"]),
        ("x² Ⅷ ½ e\u0301te\u0301", ["x²", "Ⅷ", "½", "e\u0301te\u0301"]),
        ("a\0b\ufeffc\u200dd", ["a", "b", "c", "d"]),
        ("", []),
    ],
)
def test_words(text: str, words: list[str]) -> None:
    assert cut(text, Cut()) == words


def test_whitespace_and_chars() -> None:
    text = "a,b  c\u00a0d\u2028e\u0085f\u3000g\x1ch\u200bi"
    assert cut(text, Cut("whitespace")) == ["a,b", "c", "d", "e", "f", "g\x1ch\u200bi"]
    assert cut("né 👍\r\n\n", Cut("chars")) == ["n", "é", " ", "👍"]
    assert cut("a\rb\r", Cut("chars")) == ["a", "\r", "b", "\r"]


def test_lower_case_is_folded_by_type(tmp_path: Path) -> None:
    text = "The the THE ΟΔΟΣ οδος Straße STRASSE İI ıi".encode()
    assert shown(encoded(tmp_path, text, lower=True)) == {
        "the": 3, "οδος": 2, "i\u0307i": 1, "strasse": 1, "straße": 1, "ıi": 1
    }  # fmt: skip
    assert cut("THE Οδός", Cut(lower=True)) == ["the", "οδός"]


def test_only_lf_ends_a_line(tmp_path: Path) -> None:
    text = "a\x0bb\x0cc\u0085d\u2028e\u2029f\rg\x1eh\n\ni".encode()
    tokens = encoded(tmp_path, text)
    assert rows_of_read(tokens) == [list("abcdefgh"), [], ["i"]]
    assert tokens.stats["open_rows"] == [2]


def rows_of_read(tokens: Tokens) -> list[list[str | None]]:
    """Return rows of tokens that were read back."""
    tokens.produced = (tokens.ids, tokens.row_offsets)  # type: ignore[attr-defined]
    return rows_of(tokens)


def test_crlf_and_bom(tmp_path: Path) -> None:
    lf, crlf = encoded(tmp_path, b"a b\nc\n"), encoded(tmp_path, b"\xef\xbb\xbfa b\r\nc\r\n")
    assert list(lf.words) == list(crlf.words) and lf.ids.tolist() == crlf.ids.tolist()
    assert list(encoded(tmp_path, b"\xef\xbb\xbfx\r\n", split="chars").words) == ["x"]


def test_files_follow_one_another_in_rows_of_their_own(tmp_path: Path) -> None:
    tokens = encoded(tmp_path, b"a b", b"c\nd", b"", b"\n", b"e\n")
    assert rows_of_read(tokens) == [["a", "b"], ["c"], ["d"], [], ["e"]]
    assert tokens.stats["open_rows"] == [0, 2]
    assert text_of(tokens) == b"a b\nc\nd\n\ne\n", "words of two files do not run together"
    chars = encoded(tmp_path, b"a b", b"c\nd", b"", b"\n", b"e", split="chars")
    assert text_of(chars) == b"a bc\nd\ne", "characters come back as they were"


def test_rows_are_blocks_between_blank_lines(tmp_path: Path) -> None:
    text = b"\n \na b\nc\n\n\t\r\n-\n\nd"
    tokens = encoded(tmp_path, text, b"e\n", rows="blank-line")
    assert rows_of_read(tokens) == [["a", "b", "c"], [], ["d"], ["e"]], "a row may hold no words, if it is not blank"
    assert tokens.stats["open_rows"] == []
    with pytest.raises(InputError, match="--rows line"):
        text_of(tokens)
    chars = encoded(tmp_path, text, rows="blank-line", split="chars")
    assert [len(row) for row in rows_of_read(chars)] == [5, 2, 1], "white space is text here"


def test_rows_are_files(tmp_path: Path) -> None:
    tokens = encoded(tmp_path, b"a b\n\nc\n", b"", b"d", rows="file")
    assert rows_of_read(tokens) == [["a", "b", "c"], [], ["d"]]
    assert text_of(tokens) == b"a b c\n\nd\n", "one line a file"


def test_bad_bytes_are_named_or_mended(tmp_path: Path) -> None:
    text = b"ok ok\ncaf\xe9 ok\n"
    with pytest.raises(InputError, match=r"text0.txt: line 2, byte 4: 0xe9 is not UTF-8; use --errors replace"):
        encoded(tmp_path, text)
    replaced = encoded(tmp_path, text, errors="replace", split="whitespace")
    assert shown(replaced) == {"ok": 3, "caf\ufffd": 1} and replaced.stats["bad_sequences"] == 1
    skipped = encoded(tmp_path, b"ca\xe9f\xff\xfe ok", errors="skip")
    assert shown(skipped) == {"caf": 1, "ok": 1} and skipped.stats["bad_sequences"] == 3
    assert encoded(tmp_path, "fine \ufffd".encode()).stats["bad_sequences"] == 0


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (b"", ["0 tokens read, 0 distinct words, highest count 0, threshold --min-count 5", "give a text with words"]),
        (b"\n\n\n", ["0 tokens read"]),
        (b"a b c", ["3 tokens read, 3 distinct words, highest count 1, threshold --min-count 5", "give --min-count 1"]),
    ],
)
def test_nothing_left(tmp_path: Path, text: bytes, parts: list[str]) -> None:
    for dropped in ({}, {"unk": "u"}, {"gaps": "keep"}):
        with pytest.raises(NumbersError) as caught:
            encoded(tmp_path, text, min_count=5, **dropped)
        assert all(part in str(caught.value) for part in ["text0.txt: nothing left", *parts])
    assert count_only([str(tmp_path / "text0.txt")], EncodeParams(words=True), Job())["tokens_kept"] == 0


def test_count_only_says_what_encode_stores(tmp_path: Path) -> None:
    tokens = encoded(tmp_path, b"A a b c c\n", min_count=2, lower=True)
    params = EncodeParams(words=True, min_count=2, lower=True)
    assert count_only([str(tmp_path / "text0.txt")], params, Job(threads=2)) == tokens.stats


def given(folder: Path, *words: str, **text: Any) -> str:
    """Write a vocabulary in an order of its own and return its path."""
    n = len(words)
    made = Vectors(vectors=np.zeros((n, 1), np.float32), words=Words.of(words), unigram=np.ones(n, np.int64), text=text)
    path = str(folder / "vocab.npz")
    store.write(made, path, provenance.compose("svd", make_params(), 0, [], made))
    return path


def make_params() -> Any:
    """Return any recorded options; the vocabulary does not depend on them."""
    from embcli.spec import SvdParams

    return SvdParams()


def test_words_of_another_artifact(tmp_path: Path) -> None:
    vocab = given(tmp_path, "b", "absent", "A", "a")
    tokens = encoded(tmp_path, b"a b x b A\n", vocab=vocab, min_count=5)
    assert shown(tokens) == {"b": 2, "absent": 0, "A": 1, "a": 1} and tokens.ids.tolist() == [3, 0, 0, 2]
    assert (tokens.stats["types_kept"], tokens.stats["types_dropped"], tokens.stats["tokens_kept"]) == (3, 1, 4)
    marked = encoded(tmp_path, b"a b x b A\n", vocab=vocab, gaps="keep")
    assert marked.ids.tolist() == [3, 0, 4, 0, 2] and marked.unigram.tolist() == [2, 0, 1, 1]
    with_unk = encoded(tmp_path, b"a x\n", vocab=vocab, unk="<unk>")
    assert shown(with_unk) == {"b": 0, "absent": 0, "A": 0, "a": 1, "<unk>": 1} and with_unk.ids.tolist() == [3, 4]
    assert shown(encoded(tmp_path, b"a\n", vocab=vocab, unk="<unk>"))["<unk>"] == 0, "it exists, as words were given"
    assert shown(encoded(tmp_path, b"a x\n", vocab=vocab, unk="b"))["b"] == 1
    with pytest.raises(NumbersError, match=r"2 tokens read, 2 distinct words.*none of them is in"):
        encoded(tmp_path, b"x y\n", vocab=vocab)


def test_the_cut_of_the_vocabulary_is_adopted(tmp_path: Path) -> None:
    vocab = given(tmp_path, "b,", "a", split="whitespace", lower=True, unit="words")
    tokens = encoded(tmp_path, b"A b, A\n", vocab=vocab)
    assert shown(tokens) == {"b,": 1, "a": 2}
    assert (tokens.options["split"], tokens.options["lower"]) == ("whitespace", True)
    assert (tokens.text["split"], tokens.text["lower"]) == ("whitespace", True)
    rule, words = cut_rule(EncodeParams(words=True, vocab=vocab))
    assert cut("A b,", rule) == ["a", "b,"] and words is not None and words.index("a") == 1
    with pytest.raises(UsageError, match="--split chars"):
        encoded(tmp_path, b"a\n", vocab=vocab, split="chars")
    with pytest.raises(UsageError, match="--lower"):
        encoded(tmp_path, b"a\n", vocab=given(tmp_path, "a", split="words", lower=False, unit="words"), lower=True)
    with pytest.raises(KindError, match="a vocabulary of words"):
        encoded(tmp_path, b"a\n", vocab=given(tmp_path, "a", unit="bpe"))
    unk = given(tmp_path, "<unk>", "a", split="words", lower=False, unit="words", unk="<unk>")
    assert encoded(tmp_path, b"a x\n", vocab=unk).ids.tolist() == [1, 0]


def test_equal_words_of_a_vocabulary_mean_the_first(tmp_path: Path) -> None:
    tokens = encoded(tmp_path, b"a b\n", vocab=given(tmp_path, "x", "", "b", "a", "b"))
    assert tokens.ids.tolist() == [3, 2] and tokens.unigram.tolist() == [0, 0, 1, 1, 0]


def test_decode_of_many_rows_in_small_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = b"".join(b" ".join([b"w"] * (i % 4)) + b"\n" for i in range(1000)) + b"\n\n"
    tokens = encoded(tmp_path, text)
    for piece in (7, 8, 24, 1000, 1 << 20):
        monkeypatch.setattr("embcli.text.decode._PIECE", piece)
        assert text_of(tokens) == text


def test_the_same_at_any_number_of_threads_and_any_block(tmp_path: Path) -> None:
    path = shared() / "corpora" / "enwiki-100k.txt"
    if not path.is_file():
        pytest.skip("no corpus here")
    found = set()
    for threads in (1, 2, 5):
        encoded(tmp_path, path.read_bytes(), threads=threads, lower=True, min_count=2)
        found.add((tmp_path / "tokens.npz").read_bytes())
        tokens = encode([str(path)], EncodeParams(words=True, lower=True, min_count=2), Job(threads=threads), block=997)
        back = store.read(str(tmp_path / "tokens.npz"))
        assert list(tokens.words) == list(back.words) and rows_of(tokens) == rows_of_read(back)
    assert len(found) == 1
    encoded(tmp_path, path.read_bytes(), lower=True, min_count=3)
    assert (tmp_path / "tokens.npz").read_bytes() not in found, "another option gives other bytes"
