"""Oracle: the files, spelled here, and the bits of float32; user-reports V01, V02, V04, V07, V08, V10."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import embcli, failed, ok
from samples import equal

from embcli.artifacts import provenance, store
from embcli.artifacts.schema import Vectors, Words
from embcli.errors import EmbcliError, InputError
from embcli.formats import vector_text, vector_text_write
from embcli.formats.vectors import format_of, reading
from embcli.job import Job
from embcli.spec import ConvertParams, make

BODY = b"the 0.1 -2 3e-2 0.25\nna\xc3\xafve 1 2 3 4\n. . . 1 2 3 4.5\n"


def imported(folder: Path, data: bytes, **options: Any) -> tuple[Any, str]:
    """Return the artifact that a file of vectors becomes, and the notes, as the command makes them."""
    path, params = folder / "v.txt", make(ConvertParams, options)
    path.write_bytes(data)
    form = format_of(str(path), params.from_)
    assert form is not None
    with reading(str(path), form, params, Job()) as found:
        store.write(found.made, str(folder / "v.npz"), provenance.compose("convert", params, 0, [], found.made))
    return store.read(str(folder / "v.npz")), "; ".join(found.notes)


def table(made: Any) -> np.ndarray:
    return np.asarray(made.vectors)


def test_with_a_header_and_without(tmp_path: Path) -> None:
    """user-reports V01, V02: the same artifact, and the decision is said; blanks and numbers may be words."""
    with_header, said = imported(tmp_path, b"3 4\n" + BODY)
    assert "a header of 3 words, 4 dimensions" in said
    without, said = imported(tmp_path, BODY)
    assert "one word holds a blank, such as '. . .'" in said
    assert "no header, 4 dimensions" in said and equal(table(without), table(with_header))
    assert list(with_header.words) == list(without.words) == ["the", "naïve", ". . ."]
    assert equal(table(without)[0], np.array([0.1, -2, 3e-2, 0.25], np.float32))
    odd = b"at name@domain.com 1 2 3 4\n  1 2 3 4\n0.20785 1 2 3 4\r\nlast\t1\t2\t3\t4 "
    made, _ = imported(tmp_path, b"\xef\xbb\xbf4 4\n" + odd)
    assert list(made.words) == ["at name@domain.com", " ", "0.20785", "last"]
    packed, _ = imported(tmp_path, gzip.compress(BODY))
    assert equal(table(packed), table(without))


@pytest.mark.parametrize("form", ["glove", None])
def test_a_word_may_look_like_the_beginning_of_something_else(form: str | None, tmp_path: Path) -> None:
    """What is written is read back, though the first word is a tag; a page is a page, whatever was asked for."""
    options = {"from_": form} if form else {}
    for word in ("<script>alert(1)</script>", "<html>", "<!DOCTYPE", "%PDF"):
        data = f"{word} 0.5 1\nb 2 3\n".encode()
        assert list(imported(tmp_path, data, **options)[0].words) == [word, "b"]
    with pytest.raises(InputError, match="looks like a web page"):
        imported(tmp_path, b"<script>alert(1)</script>\n<p>b 2 3\n", from_="glove")


def test_a_number_too_many_is_no_word_with_a_blank(tmp_path: Path) -> None:
    """The line is read, as it may be meant so, with a warning; strict stops. A blank alone is only noted."""
    for piece, word in ((b"b 3 4 5 6\n", "b 3"), (b"b\t-3e2\t4\t5\t6\n", "b\\t-3e2"), (b"b 1,5 4 5 6\n", "b 1,5")):
        made, said = imported(tmp_path, b"a 1 2 3\n" + piece + b"c 5 6 7\n")
        assert f"warning: 1 line has a number too many (more than 3), such as line 2, whose word is '{word}'" in said
        assert len(made.words) == 3
        with pytest.raises(InputError, match="1 line has a number too many"):
            imported(tmp_path, b"a 1 2 3\n" + piece + b"c 5 6 7\n", errors="strict")
    assert "too many" not in imported(tmp_path, b"a 1 2 3\nb4 4 5 6\n. . 5 6 7\n9 1 2 3\n", errors="strict")[1]


def test_one_dimension_is_not_guessed(tmp_path: Path) -> None:
    """user-reports V01: the trap."""
    for data in (b"7 3\n8 4\n", b"2 1\na 4\nb 5\n"):
        with pytest.raises(EmbcliError, match="say --from word2vec or --from glove"):
            imported(tmp_path, data)
    assert table(imported(tmp_path, b"7 3\n8 4\n", from_="glove")[0]).tolist() == [[3], [4]]
    assert list(imported(tmp_path, b"2 1\na 4\nb 5\n", from_="word2vec")[0].words) == ["a", "b"]


def test_header_and_rows_that_disagree(tmp_path: Path) -> None:
    """user-reports V04."""
    for claimed in (b"5", b"2"):
        made, said = imported(tmp_path, claimed + b" 4\n" + BODY)
        assert len(made.words) == 3 and f"claims {claimed.decode()} words, 3 are there; all of them are kept" in said
        with pytest.raises(InputError, match="its header claims"):
            imported(tmp_path, claimed + b" 4\n" + BODY, errors="strict")
    made, said = imported(tmp_path, BODY + b"the 9 9 9 9\n")
    assert len(made.words) == 3 and made.vectors[0, 1] == -2 and "1 word is there twice, such as 'the'" in said


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (BODY + b"x 1 2 3\n", "line 4: expected a word and 4 numbers, and 3 fields stand behind it"),
        (BODY + b"x 1\n", "line 4: expected a word and 4 numbers, and 1 field stands behind it"),
        (BODY + b"x y 2\n", "line 4: expected a word and 4 numbers, and 2 fields stand behind it"),
        (BODY + b"x 1 2 y 4\n", "line 4: expected a word and 4 numbers, and 'y' is no number"),
        (BODY + b"x 1 2 nan 4\n", "'nan' is no finite number"),
        (BODY + b"x 1 2 1e99 4\n", "'1e99' is no finite number"),
        (b"3 4\n" + BODY + b"caf\xe9 1 2 3 4\n", "line 5: the word b'caf\\xe9' is not UTF-8"),
        (BODY + b" 1 2 3 4\n", "line 4: no word stands there, only numbers"),
    ],
)
def test_bad_lines(data: bytes, said: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as e:
        imported(tmp_path, data)
    assert said in str(e.value) and not (tmp_path / "v.npz").exists()


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"2 2\na 1 x\nb 3 4\n", "line 2: expected a word and 2 numbers, as the header says, and 'x' is no number"),
        (b"2 2\na 1,5 2\nb 3 4\n", "line 2: expected a word and 2 numbers, as the header says, and '1,5' is no number"),
        (b"2 2\na 1_0 2\nb 0x10 4\n", "and '1_0' is no number"),
        (b"2 2\n 1 2\nb 3 4\n", "line 2: no word stands there, only numbers"),
        (b"2 5\na 1 2\nb 3 4\n", "line 2: expected a word and 5 numbers, as the header says, and 2 fields stand"),
        (b"2 0\na\nb\n", "its header says 0 dimensions"),
        (b"3 0\na \nb \nc \n", "its header says 0 dimensions"),
        (b"99999999999999999999 300\na 1 2\n", "its header cannot be: it says 99999999999999999999 words"),
        (b"1000000000000 2\na 1 2\nb 3 4\n", "its header cannot be: it says 1000000000000 words"),
        (b"2 2000000000\na 1 2\nb 3 4\n", "its header cannot be: it says 2000000000 dimensions"),
        (b"3 -2\na 1 2\nb 3 4\n", "its header cannot be: it says -2 dimensions"),
        (b"\n\n\n", "holds only blank lines"),
        (b"   \n", "holds only blank lines"),
    ],
)
@pytest.mark.parametrize("form", [None, "word2vec"])
def test_what_is_wrong_is_named(data: bytes, said: str, form: str | None, tmp_path: Path) -> None:
    """The bad line where a line is bad, the header where it cannot be; not the format, nor what to say of it."""
    (tmp_path / "v").write_bytes(data)
    asked = ["--from", form] if form else []
    failed(embcli("convert", tmp_path / "v", "-o", tmp_path / "v.npz", *asked), 1, said)


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("v.txt.gz", gzip.compress(BODY)[:-12], "the gzip data are damaged or cut short"),
        ("v.txt.gz", gzip.compress(BODY) + b"junk", "the gzip data are damaged or cut short"),
        ("v.bin", b"3 999999999\na \0\0\x80?\n", "its header cannot be: it says 999999999 dimensions"),
        ("v.bin", b"3 -2\na \0\0\x80?\0\0\0@\n", "its header cannot be: it says -2 dimensions"),
        ("v.bin", b"-3 2\na \0\0\x80?\0\0\0@\n", "its header cannot be: it says -3 words"),
        ("v.safetensors", b"\0\x80\xc6\xa4~\x8d\3\0{}", "its header is to have 1,000,000,000,000,000 bytes, and 2"),
        ("v.safetensors", b"\1\0", "2 bytes, and the size of its header has 8"),
    ],
)
def test_what_is_damaged_is_named(name: str, data: bytes, said: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(data)
    failed(embcli("convert", tmp_path / name, "-o", tmp_path / "a.npz"), 1, said)


def test_a_damaged_artifact_is_no_question_of_formats(chain: Path, tmp_path: Path) -> None:
    """The sibling: of a sound one the formats of its kind are asked for."""
    (tmp_path / "v.npz").write_bytes((chain / "vectors.npz").read_bytes()[:-40])
    failed(embcli("convert", tmp_path / "v.npz", "-o", tmp_path / "x.npz"), 1, "v.npz: damaged")
    failed(
        embcli("convert", chain / "vectors.npz", "-o", tmp_path / "x.npz"),
        2,
        "does not say the format; give --to word2vec,",
    )


def test_decimal_commas_are_named(tmp_path: Path) -> None:
    """The sibling: a text may begin with a number that has a comma."""
    (tmp_path / "v").write_bytes(b"a 1,5 2\nb 3 4,5\n")
    failed(embcli("convert", tmp_path / "v", "-o", tmp_path / "v.npz"), 1, "line 1: '1,5' is no number; vectors have")
    (tmp_path / "v").write_bytes(b"Some 1,000 words\n")
    failed(embcli("convert", tmp_path / "v", "-o", tmp_path / "v.npz"), 1, "looks like text")


def test_whole_numbers_alone_are_no_header(tmp_path: Path) -> None:
    """The sibling: ranks and merges of other files, a text that begins with two numbers, and words that are numbers."""
    (tmp_path / "v").write_bytes(b"12345 12\n\nIt was a bright cold day in April.\n")
    failed(embcli("convert", tmp_path / "v", "-o", tmp_path / "v.npz"), 1, "; expected vectors (text")
    assert format_of(str(tmp_path / "v"), None) is None
    (tmp_path / "v").write_bytes(b"12341234123412341234 0\nIQ== 1\n")
    assert format_of(str(tmp_path / "v"), None) is None
    assert list(imported(tmp_path, b"1999 1 2\n-3 -2 4\n7 3 2\n")[0].words) == ["1999", "-3", "7"]


def test_bad_utf8_is_mended_when_asked(tmp_path: Path) -> None:
    data = BODY + b"caf\xe9 1 2 3 4\n"
    assert list(imported(tmp_path, data, errors="replace")[0].words)[3] == "caf\ufffd"
    made, said = imported(tmp_path, data, errors="skip")
    assert len(made.words) == 3 and "1 was left out" in said


@pytest.mark.parametrize(
    ("data", "said"),
    [(b"", "an empty file"), (b"<!DOCTYPE html><html>", "a web page"),
     (gzip.compress(b"hello", mtime=0), "looks like text, compressed by gzip"),
     (b"hello there\n", "looks like text; expected vectors")],
)  # fmt: skip
def test_no_vectors_at_all(data: bytes, said: str, tmp_path: Path) -> None:
    """user-reports V07."""
    (tmp_path / "x").write_bytes(data)
    failed(embcli("convert", tmp_path / "x", "-o", tmp_path / "x.npz"), 1, said)


def test_a_limit_reads_only_the_beginning(tmp_path: Path) -> None:
    """user-reports V08: what stands far behind is not looked at."""
    data = BODY * 1 + b"".join(b"w%d 1 2 3 4\n" % i for i in range(800_000)) + b"broken\n"
    made, _ = imported(tmp_path, data, limit=5)
    assert list(made.words) == ["the", "naïve", ". . .", "w0", "w1"]
    with pytest.raises(InputError, match=r"line 800,004"):
        imported(tmp_path, data)


def test_blocks_do_not_matter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, _ = imported(tmp_path, b"3 4\n" + BODY)
    monkeypatch.setattr(vector_text, "_PIECE", 30)
    again, _ = imported(tmp_path, b"3 4\n" + BODY)
    assert equal(table(whole), table(again)) and list(whole.words) == list(again.words)


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    """user-reports V10: words, order and bits, by the command; what could not be read back is not written."""
    rng = np.random.default_rng(2)
    rows = rng.integers(0, 2**32, (4, 50), np.uint32).view(np.float32)
    words = ["naïve", ". . .", " ", "0.5"]
    made = Vectors(
        vectors=np.where(np.isfinite(rows), rows, 0), words=Words.of(words), unigram=np.zeros(4, np.int64),
        stats={"dim": 50}, options={"dim": 50},
    )  # fmt: skip
    meta = provenance.compose("convert", make(ConvertParams, {}), 0, [], made)
    store.write(made, str(tmp_path / "a.npz"), meta)
    ok("convert", tmp_path / "a.npz", "-o", tmp_path / "a.vec")
    ok("convert", tmp_path / "a.vec", "-o", tmp_path / "b.npz")
    back: Any = store.read(str(tmp_path / "b.npz"))
    assert equal(table(back), np.asarray(made.vectors)) and list(back.words) == words
    assert len(back.meta["inputs"][0]["digest"]) == 64
    for word in ("", "a\nb"):
        made.words = Words.of(["x", word, "y", "z"])
        with pytest.raises(InputError, match="cannot be written as text"):
            vector_text_write.write(made, True)


def test_the_command_refuses_what_does_not_fit(chain: Path, tmp_path: Path) -> None:
    v = chain / "vectors.npz"
    failed(embcli("convert", v, "-o", tmp_path / "v.bin"), 2, "give --to word2vec-binary or fasttext-binary")
    failed(embcli("convert", v, "-o", tmp_path / "v.vec", "--limit", "3"), 2, "--limit: belongs to reading")
    failed(embcli("convert", v, "--to", "gpt2", "-o", tmp_path / "x"), 3, "expected kind 'tokenizer'")
    failed(embcli("convert", chain / "tokens.npz", "-o", tmp_path / "v.vec"), 3, "expected kind 'vectors'")
