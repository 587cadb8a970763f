"""Oracle: a twin of ``encode --words`` in plain Python (twin_words.py), and the regex package where it is installed."""

from __future__ import annotations

import gzip
import tempfile
from pathlib import Path

import pytest
import twin_words as twin
from conftest import shared
from hypothesis import given, settings
from hypothesis import strategies as st

from embcli.errors import EmbcliError, InputError, NumbersError
from embcli.job import Job
from embcli.spec import EncodeParams
from embcli.text import unicode
from embcli.text.cutting import Cut, cut
from embcli.text.words import encode

#: characters at which cutting goes wrong: apostrophes, line ends and what looks like them, marks, case, other planes
AWKWARD = (
    "aAbz09'\u2019' \t\n\r\x00\x0b\x0c\x1c\x85\xa0\u2028\u3000_-.İıΣσςß"
    "\u0301\u094d\u0939²Ⅷ中日\uac00👍\U0001f3fd\U0001e900\ufeff\ufffd"
)
BAD = [b"\xed\xa0\x80", b"\xc0\x80", b"\xf4\x90\x80\x80", b"\xe2\x80", b"\xf0\x9f"]
TEXT = st.text(st.one_of(st.sampled_from(AWKWARD), st.characters(exclude_categories=["Cs"])), max_size=60)
BYTES = st.lists(st.one_of(TEXT.map(str.encode), st.binary(max_size=4), st.sampled_from(BAD)), max_size=8).map(b"".join)
SPLITS = st.sampled_from(["words", "whitespace", "chars"])
BLOCKS = st.sampled_from([1, 2, 3, 7, 64, 1 << 20])


def encoded(files: list[bytes], threads: int = 1, block: int = 1 << 20, **options: object) -> object:
    """Encode the contents of some files, or return the NumbersError that says that nothing is left."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [str(Path(folder) / f"{i:03}") for i in range(len(files))]
        for path, data in zip(paths, files, strict=True):
            Path(path).write_bytes(data)
        try:
            params = EncodeParams(words=True, **({"min_count": 1} | options))
            tokens = encode(paths, params, Job(threads=threads), block=block)
            twin.arrays_of(tokens)
        except NumbersError as e:
            return e
    return tokens


def same(tokens: object, expected: twin.Twin) -> None:
    """Require what the twin says."""
    assert list(tokens.words) == expected.words  # type: ignore[attr-defined]
    assert tokens.unigram.tolist() == expected.unigram  # type: ignore[attr-defined]
    assert twin.rows_of(tokens) == expected.rows
    stats = tokens.stats  # type: ignore[attr-defined]
    assert (stats["tokens_read"], stats["types_read"]) == (expected.tokens_read, expected.types_read)
    assert (stats["open_rows"], stats["rows"]) == (expected.open_rows, len(expected.rows))
    assert stats["bad_sequences"] == expected.bad


@given(TEXT, SPLITS, st.booleans())
def test_one_string_is_cut_as_the_twin_cuts_it(text: str, split: str, lower: bool) -> None:
    expected = [piece for line, _ in twin._lines(text.encode(), "strict")[0] for piece in twin.pieces(line, split)]
    if text.startswith("\ufeff"):  # a string has no byte order mark
        expected = cut("\ufeff", Cut(split)) + expected
        if split == "whitespace":
            return
    assert cut(text, Cut(split, lower)) == [unicode.lower(p) if lower else p for p in expected]


@given(TEXT)
def test_words_are_what_the_regular_expression_finds(text: str) -> None:
    regex = pytest.importorskip("regex")
    assert cut(text, Cut()) == regex.findall(r"[\p{L}\p{M}\p{N}]+(?:['\u2019][\p{L}\p{M}\p{N}]+)*", text)
    assert cut(text, Cut("whitespace")) == regex.findall(r"\P{White_Space}+", text)


def test_another_expression_finds_other_words() -> None:
    regex = pytest.importorskip("regex")
    assert cut("don't", Cut()) != regex.findall(r"[\p{L}\p{M}\p{N}]+", "don't")


@settings(max_examples=150)
@given(
    st.lists(TEXT.map(str.encode), min_size=1, max_size=3), BLOCKS, st.sampled_from([1, 2, 5]), SPLITS, st.booleans(),
    st.sampled_from(["line", "blank-line", "file"]), st.integers(1, 3), st.one_of(st.none(), st.integers(1, 3)),
    st.sampled_from([{}, {"gaps": "keep"}, {"unk": "<unk>"}, {"unk": "a"}]),
)  # fmt: skip
def test_encode_is_its_twin(
    files: list[bytes], block: int, threads: int, split: str, lower: bool, rows: str, min_count: int,
    max_vocab: int | None, dropped: dict[str, str],
) -> None:  # fmt: skip
    options = {"split": split, "lower": lower, "rows": rows, "min_count": min_count, "max_vocab": max_vocab} | dropped
    tokens = encoded(files, threads, block, **options)
    expected = twin.encode(files, **options)
    if isinstance(tokens, NumbersError):
        assert not [w for row in twin.encode(files, **options | {"unk": None, "gaps": "close"}).rows for w in row]
    else:
        same(tokens, expected)


@pytest.mark.parametrize("split", ["words", "whitespace", "chars"])
@pytest.mark.parametrize("rows", ["line", "blank-line", "file"])
def test_rows_reach_over_blocks(rows: str, split: str) -> None:
    long = "- - \u3000\n \u3000 \t\n\u2028 \na b \n -  \n\n \nc "
    files = [text.encode() for text in (long, "a\n \n- ", "", "\ufeff", "\n\n", " ", "x \n \ny z\n")]
    for block in (1, 2, 3, 5, 1000):
        same(encoded(files, 2, block, split=split, rows=rows), twin.encode(files, split=split, rows=rows))


def test_spilled_pieces_fit_together(monkeypatch: pytest.MonkeyPatch) -> None:
    files = ["\n".join("ab " * (i % 4) for i in range(50)).encode(), b"\n\n\n"]
    for piece in (4, 8, 16, 40, 1 << 21):
        monkeypatch.setattr("embcli.text.scan._PIECE", piece)
        same(encoded(files, 2, 16), twin.encode(files))


@settings(max_examples=150)
@given(BYTES, BLOCKS, SPLITS, st.sampled_from(["replace", "skip"]))
def test_bad_bytes_are_mended_as_python_mends_them(data: bytes, block: int, split: str, errors: str) -> None:
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return
    tokens = encoded([data], block=block, split=split, errors=errors)
    expected = twin.encode([data], split=split, errors=errors)
    if isinstance(tokens, NumbersError):
        assert expected.tokens_read == 0
    else:
        same(tokens, expected)


@given(BYTES, BLOCKS)
def test_the_first_bad_byte_is_named(data: bytes, block: int) -> None:
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return
    try:
        data.decode()
        bad = None
    except UnicodeDecodeError as e:
        bad = e.start
    try:
        encoded([data], block=block)
        assert bad is None
    except InputError as e:
        assert bad is not None
        line, column = data.count(b"\n", 0, bad) + 1, bad - data.rfind(b"\n", 0, bad)
        assert f"line {line}, byte {column}: 0x{data[bad]:02x} is not UTF-8" in str(e)


@pytest.mark.parametrize("block", [1, 4, 1000])
def test_columns_are_counted_over_blocks(block: int) -> None:
    texts = {b"aa bb cc\xff": "line 1, byte 9", b"\xef\xbb\xbfa b\xff": "line 1, byte 7"}
    texts |= {b"a\nb c \xc3(\n": "line 2, byte 5"}
    for text, place in texts.items():
        with pytest.raises(InputError, match=place):
            encoded([b"fine\n", text], block=block)


@given(st.binary(max_size=5))
def test_the_twin_tells_bad_bytes_apart(data: bytes) -> None:
    """Sibling: the comparison is not empty; what Python refuses, strict encoding refuses."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return
    text = b"ok " + data
    try:
        text.decode()
    except UnicodeDecodeError:
        with pytest.raises(InputError):
            encoded([text])


@given(TEXT.filter(lambda t: "\r" not in t), BLOCKS, SPLITS)
def test_crlf_gives_what_lf_gives(text: str, block: int, split: str) -> None:
    lf = encoded([text.encode()], block=block, split=split)
    crlf = encoded([text.replace("\n", "\r\n").encode()], block=block, split=split)
    if isinstance(lf, NumbersError):
        assert isinstance(crlf, NumbersError)
        return
    assert list(lf.words) == list(crlf.words)  # type: ignore[attr-defined]
    assert twin.rows_of(lf) == twin.rows_of(crlf)


def test_a_lone_cr_is_no_line_end() -> None:
    """Sibling: CR alone must not be taken for CRLF."""
    assert twin.rows_of(encoded([b"a\rb\n"])) == [["a", "b"]]
    assert twin.rows_of(encoded([b"a\r\nb\n"])) == [["a"], ["b"]]
    assert cut("a\rb", Cut("chars")) == ["a", "\r", "b"]


def real_files() -> list[Path]:
    """Return the files of awkward text, where they are."""
    folder = shared() / "text-awkward"
    if not folder.is_dir():
        pytest.skip("no awkward texts here")
    return sorted(p for p in folder.rglob("*") if p.is_file())


@pytest.mark.parametrize("split", ["words", "whitespace", "chars"])
def test_real_texts_are_their_twins(split: str) -> None:
    for path in real_files():
        data = path.read_bytes()[:60_000]
        options = {"split": split, "lower": True, "errors": "replace", "rows": "blank-line", "min_count": 2}
        try:
            tokens = encoded([data], 2, 5000, **options)
        except InputError as e:
            assert "UTF-16" in str(e)
            continue
        if not isinstance(tokens, NumbersError):
            same(tokens, twin.encode([data], **options))


@pytest.mark.parametrize("errors", ["strict", "replace", "skip"])
def test_awkward_bytes_end_well(errors: str) -> None:
    for path in real_files():
        try:
            tokens = encode([str(path)], EncodeParams(words=True, errors=errors), Job(threads=2), block=1 << 16)
            twin.arrays_of(tokens)
        except EmbcliError as e:
            assert "\n" not in str(e) and path.name in str(e)


def test_gzip_and_plain_give_the_same(tmp_path: Path) -> None:
    text = b"To be, or not to be\n" * 500
    (tmp_path / "a.txt").write_bytes(text)
    (tmp_path / "a.gz").write_bytes(gzip.compress(text))
    jobs = [Job(), Job()]
    names = [str(tmp_path / "a.txt"), str(tmp_path / "a.gz")]
    both = [encode([name], EncodeParams(words=True), job) for name, job in zip(names, jobs, strict=True)]
    assert jobs[0].sources == jobs[1].sources
    assert twin.rows_of(both[0]) == twin.rows_of(both[1])
    assert both[0].stats == both[1].stats
