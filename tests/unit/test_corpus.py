"""Oracle: the bytes of the files themselves, and Python's own compressors."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import lzma
import os
import sys
from pathlib import Path

import pytest

from embcli.errors import InputError, KindError, UsageError
from embcli.text.corpus import Block, Corpus

TEXT = ("Ein Satz mit Wörtern, und noch einer.\r\nkurz\n\n" * 40 + "x" * 300 + " end").encode()
PACKERS = {"gzip": gzip.compress, "bzip2": bz2.compress, "xz": lzma.compress}


def blocks(*inputs: Path | str, block: int = 1 << 20) -> tuple[list[Block], Corpus]:
    """Return all blocks of a corpus."""
    corpus = Corpus([str(i) for i in inputs], block)
    return list(corpus.blocks()), corpus


def content(some: list[Block]) -> bytes:
    """Return the text of blocks."""
    return b"".join(b.buffer[b.start : b.stop].tobytes() for b in some)


@pytest.mark.parametrize("block", [1, 2, 3, 10, 64, 1000, 1 << 20])
def test_blocks_are_the_text_whatever_their_size(tmp_path: Path, block: int) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(TEXT)
    found, corpus = blocks(path, block=block)
    assert content(found) == TEXT
    assert corpus.digests == [hashlib.sha256(TEXT).hexdigest()]
    assert (corpus.done, corpus.total) == (len(TEXT), len(TEXT))
    assert [b.first for b in found] == [True] + [False] * (len(found) - 1)
    assert [b.last for b in found] == [False] * (len(found) - 1) + [True]
    for b in found:
        assert len(b.buffer) % 8 == 0 and (b.buffer[b.stop : b.stop + 16] == 10).all() and len(b.buffer) >= b.stop + 16
        ending = chr(b.buffer[b.stop - 1])
        assert b.last or (ending < "\x80" and not ending.isalnum() and ending != "'"), "no word can be cut there"


def test_small_blocks_make_more_blocks(tmp_path: Path) -> None:
    """Sibling: the sizes above do make a difference inside."""
    (tmp_path / "a.txt").write_bytes(TEXT)
    assert len(blocks(tmp_path / "a.txt", block=10)[0]) > 20 > len(blocks(tmp_path / "a.txt")[0]) == 1


@pytest.mark.parametrize("kind", PACKERS)
def test_compressed_files_are_recognised_by_content(tmp_path: Path, kind: str) -> None:
    packed = PACKERS[kind]
    (tmp_path / "a.txt").write_bytes(packed(TEXT[:500]) + packed(TEXT[500:]))
    found, corpus = blocks(tmp_path / "a.txt", block=100)
    assert content(found) == TEXT
    assert corpus.digests == [hashlib.sha256(TEXT).hexdigest()]


@pytest.mark.parametrize("kind", PACKERS)
def test_damaged_compressed_files_are_named(tmp_path: Path, kind: str) -> None:
    packed = PACKERS[kind](os.urandom(3000).hex().encode())
    path = tmp_path / "a.txt"
    for at in (12, len(packed) // 2, len(packed) - 3):
        path.write_bytes(packed[:at])
        with pytest.raises(InputError, match=f"a.txt: the {kind} data are damaged or cut short"):
            blocks(path)
    path.write_bytes(packed[:500] + b"\x00\x01\x02\x03" + packed[504:])
    with pytest.raises(InputError, match=f"a.txt: the {kind} data are damaged"):
        blocks(path)


def test_zstd_names_the_package_where_it_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "zstandard", None)
    (tmp_path / "a.zst").write_bytes(b"\x28\xb5\x2f\xfd\x04\x00")
    with pytest.raises(InputError, match="pip install zstandard"):
        blocks(tmp_path / "a.zst")


def test_zstd(tmp_path: Path) -> None:
    zstandard = pytest.importorskip("zstandard")
    packed = b"".join(zstandard.ZstdCompressor(write_checksum=True).compress(part) for part in (TEXT[:700], TEXT[700:]))
    (tmp_path / "a").write_bytes(packed)
    assert content(blocks(tmp_path / "a", block=50)[0]) == TEXT
    for damaged in (packed[:-3], packed[:20], packed[:40] + b"\xff\xff\xff" + packed[43:]):
        (tmp_path / "a").write_bytes(damaged)
        with pytest.raises(InputError, match="a: the zstd data are damaged or cut short"):
            blocks(tmp_path / "a")


def test_text_that_begins_like_a_magic_number_is_text(tmp_path: Path) -> None:
    for text in (b"BZh9 is how bzip2 begins", b"\x1f\x8b", b"BZh", b"\xfd7z"):
        (tmp_path / "a").write_bytes(text)
        assert content(blocks(tmp_path / "a")[0]) == text


def test_folders_are_read_whole_and_sorted(tmp_path: Path) -> None:
    for name in ("b.txt", "a/z.txt", ".hidden", "a/y/1", "ä.txt", "a.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name, encoding="utf-8")
    found, corpus = blocks(tmp_path)
    names = [".hidden", "a.txt", "a/y/1", "a/z.txt", "b.txt", "ä.txt"]
    assert [os.path.relpath(b.name, tmp_path) for b in found] == names
    assert corpus.digests == [hashlib.sha256("".join(names).encode()).hexdigest()], "one input, one digest"


def test_inputs_keep_their_order_and_have_digests(tmp_path: Path) -> None:
    (tmp_path / "b").write_bytes(b"1")
    (tmp_path / "a").write_bytes(b"2")
    found, corpus = blocks(tmp_path / "b", tmp_path / "a")
    assert content(found) == b"12"
    assert corpus.digests == [hashlib.sha256(t).hexdigest() for t in (b"1", b"2")]


@pytest.mark.parametrize("packed", [False, True])
def test_stdin_is_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, packed: bool) -> None:
    (tmp_path / "a.txt").write_bytes(TEXT)
    stdin = io.TextIOWrapper(io.BytesIO(gzip.compress(TEXT) if packed else TEXT))
    monkeypatch.setattr("sys.stdin", stdin)
    found, corpus = blocks("-", block=64)
    assert content(found) == TEXT and found[0].name == "stdin"
    assert corpus.digests == blocks(tmp_path / "a.txt")[1].digests
    assert not stdin.buffer.closed


def test_stdin_that_comes_in_drops(monkeypatch: pytest.MonkeyPatch) -> None:
    read, write = os.pipe()
    monkeypatch.setattr("sys.stdin", open(read, encoding="utf-8"))  # noqa: SIM115
    packed = gzip.compress(TEXT)
    import threading

    def drip() -> None:
        for i in range(0, len(packed), 7):
            os.write(write, packed[i : i + 7])
        os.close(write)

    thread = threading.Thread(target=drip)
    thread.start()
    assert content(blocks("-", block=64)[0]) == TEXT
    thread.join()


def test_stdin_only_once() -> None:
    with pytest.raises(UsageError, match="only once"):
        Corpus(["-", "-"])


@pytest.mark.parametrize("size", [0, 3, 5, 100])
@pytest.mark.parametrize("block", [1, 1 << 20])
def test_a_bom_is_no_text(tmp_path: Path, size: int, block: int) -> None:
    (tmp_path / "a").write_bytes(b"\xef\xbb\xbf" + TEXT[:size])
    found, corpus = blocks(tmp_path / "a", block=block)
    assert content(found) == TEXT[:size]
    assert corpus.digests == [hashlib.sha256(b"\xef\xbb\xbf" + TEXT[:size]).hexdigest()]
    assert content(list(Corpus([str(tmp_path / "a")], bytewise=True).blocks())) == b"\xef\xbb\xbf" + TEXT[:size]


def test_a_bom_elsewhere_is_text(tmp_path: Path) -> None:
    """Sibling: only the first bytes of a file are looked at."""
    (tmp_path / "a").write_bytes(b"x \xef\xbb\xbfy")
    assert content(blocks(tmp_path / "a", block=1)[0]) == b"x \xef\xbb\xbfy"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be"])
def test_utf16_is_recognised(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "a").write_bytes(("\ufeff" * encoding.endswith("be") + "Wort\nWort\n").encode(encoding))
    with pytest.raises(InputError, match="a: looks like UTF-16; convert it"):
        blocks(tmp_path / "a", block=1)


def test_an_empty_file_is_one_block(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"")
    (only,), _ = blocks(tmp_path / "a")
    assert (only.start, only.stop, only.first, only.last) == (0, 0, True, True)


def test_missing_and_odd_inputs(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="none: there is no such file or folder"):
        Corpus([str(tmp_path / "none")])
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="empty: the folder holds no files"):
        Corpus([str(tmp_path / "empty")])
    (tmp_path / "empty" / "gone").symlink_to(tmp_path / "nowhere")
    with pytest.raises(InputError, match="gone: there is no such file"):
        Corpus([str(tmp_path / "empty")])
    with pytest.raises(InputError, match="cannot be read"):
        Corpus([str(tmp_path / "a\0b")])


def test_links_are_followed_but_not_in_circles(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "a").write_bytes(b"text")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "link").symlink_to(tmp_path / "real")
    assert content(blocks(tmp_path / "folder")[0]) == b"text"
    (tmp_path / "real" / "up").symlink_to(tmp_path / "folder")
    with pytest.raises(InputError, match="is a link to a folder that it is in"):
        blocks(tmp_path / "folder")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_in_a_folder_is_not_skipped_silently(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="pipe: is neither a file nor a folder"):
        Corpus([str(tmp_path)])


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_an_unreadable_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x")
    (tmp_path / "a").chmod(0)
    with pytest.raises(InputError, match="a: cannot be read: Permission denied"):
        blocks(tmp_path / "a")


@pytest.mark.parametrize("split", ["words", "whitespace", "chars"])
def test_texts_without_spaces_are_cut_where_no_token_is(tmp_path: Path, split: str) -> None:
    """A long line of letters, commas and Chinese has ends of words for ``words``, of characters for ``chars`` only."""
    text = ("ab,cd" + "\u4e2d\u6587,") * 200
    (tmp_path / "a").write_text(text + "\r\n", encoding="utf-8")
    blocks = list(Corpus([str(tmp_path / "a")], 64, split).blocks())
    assert b"".join(b.buffer[b.start : b.stop].tobytes() for b in blocks) == (text + "\r\n").encode()
    for b in blocks[:-1]:
        piece = b.buffer[b.start : b.stop].tobytes()
        piece.decode()
        assert not piece.endswith(b"\r") and (split == "chars" or piece.endswith(b","))
    assert (len(blocks) > 10) == (split != "whitespace")


def test_a_word_without_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("embcli.text.corpus.LONGEST", 1000)
    (tmp_path / "a").write_bytes(b"a" * 5000 + b" b")
    with pytest.raises(InputError, match="--split chars"):
        list(Corpus([str(tmp_path / "a")], 64).blocks())
    assert len(list(Corpus([str(tmp_path / "a")], 64, "chars").blocks())) > 10


def test_an_artifact_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "a.npz").write_bytes(b"PK\x03\x04" + bytes(100))
    with pytest.raises(KindError, match="not text"):
        list(Corpus([str(tmp_path / "a.npz")]).blocks())
