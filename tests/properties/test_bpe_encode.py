"""Oracle: the readable twin on each text, the bytes that went in, and the same run in one block on one thread."""

from __future__ import annotations

import random
import tempfile
import tracemalloc
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from bpe_twin import TEXT, characters, encoded, plainly, saved, text_of, trained
from hypothesis import given
from hypothesis import strategies as st

from embcli.artifacts.schema import Tokenizer, Words, readable
from embcli.errors import InputError
from embcli.text.bpe_encode import Encoder, encode_text, read_tokenizer, splitter_of
from embcli.text.corpus import Block, buffer_of
from embcli.text.cutting import Fault
from embcli.text.tokenizer import View

WORDS = st.lists(
    st.sampled_from([b"the", b" thing", b"I'll", b"\n", b"\r\n", b" ", b"  ", b"\n\n", b"<s>", b"\xff", "京".encode()])
)
DATA = st.one_of(WORDS.map(b"".join), st.binary(max_size=60), st.text(max_size=30).map(str.encode)).filter(
    lambda data: not data.startswith((b"\x28\xb5\x2f\xfd", b"\x1f\x8b", b"BZh", b"\xfd7zXZ"))  # is unpacked
)
ROWS = st.sampled_from(["line", "file", "blank-line"])


@cache
def tokenizer(pattern: str = "gpt4", whole: bool = False) -> tuple[Tokenizer, str]:
    """Return a small tokenizer and its file, which outlives the test."""
    made = trained(pattern=pattern, whole=whole)
    return made, saved(made, Path(tempfile.mkdtemp()))


def rows_of(data: bytes) -> list[bytes]:
    """Return lines without their LF; a last LF begins no row."""
    rows = data.split(b"\n")
    return rows if rows[-1] else rows[:-1]


@given(st.lists(DATA, min_size=1, max_size=3), st.sampled_from(["gpt2", "gpt4", "gpt4o", "whitespace"]), st.booleans())
def test_ids_and_rows_are_the_twins(texts: list[bytes], pattern: str, whole: bool) -> None:
    made, path = tokenizer(pattern, whole)
    if any(texts):
        _check_rows(made, path, texts)


def _check_rows(made: Tokenizer, path: str, texts: list[bytes]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        rows = [plainly(made, row) for text in texts for row in rows_of(text)]
        flat = [i for row in rows for i in row]
        if flat:
            found = encoded(path, Path(folder), *texts)
            assert found.ids.tolist() == flat
            assert np.diff(found.row_offsets).tolist() == list(map(len, rows))
            assert found.unigram.tolist() == np.bincount(flat, minlength=len(made.tokens)).tolist()
        whole = encoded(path, Path(folder), *texts, rows="file")
        files = [plainly(made, text) for text in texts if text]
        assert whole.ids.tolist() == [i for file in files for i in file]
        assert [n for n in np.diff(whole.row_offsets).tolist() if n] == list(map(len, files))


@given(
    st.lists(DATA, min_size=1, max_size=3), ROWS, st.sampled_from(["text", "token"]), st.sampled_from([1, 3, 16, 64])
)
def test_neither_blocks_nor_threads_matter(texts: list[bytes], rows: str, specials: str, block: int) -> None:
    _, path = tokenizer()
    if not any(text.decode("utf-8", "replace").strip() for text in texts):
        return
    with tempfile.TemporaryDirectory() as folder:
        for threads in (1, 2, 5):
            encoded(path, Path(folder), *texts, threads=threads, block=block, rows=rows, specials=specials)
        encoded(path, Path(folder), *texts, rows=rows, specials=specials)
        files = {
            Path(folder, f"tokens{t}-{b}.npz").read_bytes() for t, b in ((1, block), (2, block), (5, block), (1, None))
        }
        assert len(files) == 1


def test_a_line_and_a_file_differ() -> None:
    """The sibling: line ends are tokens of a file and end the rows of lines."""
    _, path = tokenizer()
    with tempfile.TemporaryDirectory() as folder:
        lines = encoded(path, Path(folder), b"a\n\nb\n")
        assert len(lines.row_offsets) == 4 and len(lines.ids) == 2
        whole = encoded(path, Path(folder), b"a\n\nb\n", rows="file")
        assert len(whole.row_offsets) == 2 and len(whole.ids) > 2
        blocks = encoded(path, Path(folder), b"a\nc\n\n\nb\n", rows="blank-line")
        assert np.diff(blocks.row_offsets).tolist() == [2, 1]
        inked = encoded(path, Path(folder), b"\n \r\na\n \t\nb\n", rows="blank-line")
        assert np.diff(inked.row_offsets).tolist() == [1, 1] and inked.unigram.sum() == 2
        with pytest.raises(InputError, match="encode with --rows line to decode"):
            text_of(blocks)


@given(DATA, st.sampled_from(["gpt2", "gpt4", "gpt4o", "whitespace", "none"]), st.sampled_from(["line", "file"]))
def test_bytes_come_back(data: bytes, pattern: str, rows: str) -> None:
    """user-reports E01, on any bytes; special tokens in the text included."""
    _, path = tokenizer(pattern)
    if data.strip(b"\n") or (data and rows == "file"):
        with tempfile.TemporaryDirectory() as folder:
            for specials in ("text", "token"):
                assert text_of(encoded(path, Path(folder), data, rows=rows, specials=specials)) == data


CASES = [
    b" ", b"a  b   c", b"\ta\t\tb", b"a\r\nb\r\n", b"a\n", b"a", "\u2026".encode(), "\ufe30".encode(),
    "\u0140".encode(), "e\u0301\u0323 e\u0323\u0301".encode(), "\U0001f468\u200d\U0001f469\u200d\U0001f467".encode(),
    "שלום عليكم".encode(), bytes(range(256)), b"\xef\xbb\xbfBOM", b"a\x00b",
]  # fmt: skip


@pytest.mark.parametrize("case", range(len(CASES) + 1))
def test_awkward_texts_come_back(case: int, tmp_path: Path) -> None:
    """user-reports E01 and X12: the cases by name, and 1 MB of random Unicode."""
    chars = random.Random(1).choices([chr(i) for i in range(0x110000) if not 0xD800 <= i < 0xE000], k=280_000)
    data = CASES[case] if case < len(CASES) else "".join(chars).encode()
    _, path = tokenizer()
    for rows in ("line", "file"):
        assert text_of(encoded(path, tmp_path, data, rows=rows)) == data


def test_several_files_come_back_one_after_the_other(tmp_path: Path) -> None:
    """A file without a last LF runs into the next one, as cat would have it."""
    _, path = tokenizer()
    assert text_of(encoded(path, tmp_path, b"a b", b"c\n", b"", b"d")) == b"a bc\nd"


def test_special_tokens_are_text_tokens_or_errors(tmp_path: Path) -> None:
    """user-reports E02."""
    made, path = tokenizer()
    special = made.special_ids.tolist()
    as_text = encoded(path, tmp_path, b"a <s> b\n")
    assert not set(as_text.ids.tolist()) & set(special) and text_of(as_text) == b"a <s> b\n"
    as_token = encoded(path, tmp_path, b"a <s> b\n", specials="token")
    assert as_token.ids.tolist().count(special[0]) == 1 and text_of(as_token) == b"a <s> b\n"
    assert as_text.stats["specials_found"] == 0 and as_token.stats["specials_found"] == 1
    assert as_token.unigram[special[0]] == 1
    with pytest.raises(InputError, match=r"text0.txt: the text holds the special token '<s>'"):
        encoded(path, tmp_path, b"a <s> b\n", specials="error")
    assert len(encoded(path, tmp_path, b"a <s b\n", specials="error").ids)


@pytest.mark.parametrize("pattern", ["gpt4", "none"])
def test_long_and_repetitive_texts(tmp_path: Path, pattern: str) -> None:
    """user-reports E03: one token of 200,000 letters, a million of ^; steps grow as n log n, so this ends at all."""
    made, path = tokenizer(pattern)
    for data in (b"a" * 200_000, b"^" * 1_000_000, b"ab" * 100_000 + b"\n"):
        found = encoded(path, tmp_path, data)
        assert text_of(found) == data
        a = found.ids[: len(plainly(made, data[:200])) - 8]
        assert a.tolist() == plainly(made, data[:200])[: len(a)]


def test_ids_are_flat_and_small(tmp_path: Path) -> None:
    """user-reports E06: two bytes a token and eight a row, and memory that the text does not fill."""
    _, path = tokenizer()
    data = TEXT * 4000
    tracemalloc.start()
    found = encoded(path, tmp_path, data, rows="line")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.ids.dtype == np.uint16 and peak < 30e6 + 3 * found.ids.nbytes
    size = (tmp_path / "tokens1-None.npz").stat().st_size
    assert size < 2.2 * len(found.ids) + 8 * len(found.row_offsets) + 40_000


def test_one_row_holds_all_tokens_of_a_small_vocabulary(tmp_path: Path) -> None:
    """The sibling: 256 tokens and no more take one byte each."""
    path = saved(trained(size=256, specials=()), tmp_path, "bytes.npz")
    assert encoded(path, tmp_path, TEXT).ids.dtype == np.uint8


def test_text_is_shown_by_pieces() -> None:
    view = read_tokenizer(tokenizer("gpt2")[1])
    pieces = [piece for piece, _ in encode_text(b"I'll  go <s>", view, "token", "strict")]
    assert pieces == [b"I", b"'ll", b" ", b" go", b" ", b"<s>"]
    assert [ids for piece, ids in encode_text(b"<s>", view, "token", "strict")] == [[256]]
    assert b"".join(piece for piece, _ in encode_text(b"a\n\xff b", view, "text", "strict")) == b"a\n\xff b"


ROOTS = ["low", "lower", "newest", "widest", "lowest"]


@pytest.mark.parametrize("tail", [False, True])
def test_characters(tail: bool, tmp_path: Path) -> None:
    """Tokens of characters; words come back with one space between them if their ends are marked."""
    made = characters(ROOTS, 24, tail, extra="" if tail else " ")
    path = saved(made, tmp_path)
    found = encoded(path, tmp_path, b"low lowest newest\nwidest\n")
    assert text_of(found) == b"low lowest newest\nwidest\n"
    assert any(len(word) > 2 for word in found.words) and len(found.ids) < 18


def test_characters_without_an_id(tmp_path: Path) -> None:
    path = saved(characters(ROOTS, 24, False, extra=" "), tmp_path)
    with pytest.raises(InputError, match=r"text0.txt: the character 'é' is not in the tokenizer"):
        encoded(path, tmp_path, "low né東 low\n".encode())
    left = encoded(path, tmp_path, "low né東\nné\n".encode(), errors="skip")
    assert text_of(left) == b"low n\nn\n" and left.stats["unknown_characters"] == 3
    other = saved(characters(ROOTS, 24, False, extra=" \ufffd"), tmp_path, "other.npz")
    replaced = encoded(other, tmp_path, "low né東\n".encode(), errors="replace")
    assert text_of(replaced) == "low n\ufffd\ufffd\n".encode() and replaced.stats["unknown_characters"] == 2


def test_unknown_characters_are_counted_alike_on_any_threads(tmp_path: Path) -> None:
    path = saved(characters(ROOTS, 24, False, extra=" "), tmp_path)
    data = "né lé\nné low\n".encode() * 50
    found = [encoded(path, tmp_path, data, threads=t, block=16, errors="skip").stats for t in (1, 2, 5)]
    assert found[0] == found[1] == found[2] and found[0]["unknown_characters"] == 150


def test_bytes_that_are_no_text_in_characters(tmp_path: Path) -> None:
    path = saved(characters(ROOTS, 24, False, extra=" "), tmp_path)
    with pytest.raises(InputError, match="line 2"):
        encoded(path, tmp_path, b"low\nl\xffw\n")
    assert text_of(encoded(path, tmp_path, b"low\nl\xffw\n", errors="skip")) == b"low\nlw\n"


@pytest.mark.parametrize("bad", [b"\xff", b"\xf7\xbf\xbf\xbf", b"\xe4\xba"])
def test_bytes_that_are_no_text_do_not_reach_the_kernels(bad: bytes, tmp_path: Path) -> None:
    """They would be looked up far behind the table of characters: at times a segmentation fault."""
    view = read_tokenizer(saved(characters(ROOTS, 24, False, extra=" "), tmp_path))
    data = b"low\nwest " + bad + b" newest\n"
    lane = Encoder(view, splitter_of(view, "text"), "line", "strict")
    read = lane.read(Block(buffer_of(data), 0, len(data), "text", True, True))
    assert read.fault == Fault(9, bad[0])
    assert b"".join(view.tokens.bytes_at(i) for i in read.ids.tolist()) == b"lowwest "
    lane = Encoder(view, splitter_of(view, "text"), "line", "skip")  # the sibling: what follows is seen
    read = lane.read(Block(buffer_of(data), 0, len(data), "text", True, True))
    assert b"".join(view.tokens.bytes_at(i) for i in read.ids.tolist()) == b"lowwest  newest"


def test_readable_forms_differ_and_say_their_bytes() -> None:
    made = trained()
    made.tokens = Words.of(
        [*(made.tokens.bytes_at(i) for i in range(len(made.tokens))), b"\\n", b"\\xff", b"", b"\\x41"]
    )
    forms = list(View(made).words)
    assert len(set(forms)) == len(forms)
    for i, form in enumerate(forms):
        plain = readable(made.tokens.bytes_at(i)) or f"<{i}>"
        assert form == plain or form == f"{plain}<{i}>"
    assert sum(form.endswith(">") for form in forms) < 12
