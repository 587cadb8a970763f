"""Oracle: by hand, what a file is that is no artifact, or another one, and what its user is told."""

from __future__ import annotations

import gzip
import io
import os
import pickle
import threading
import zipfile
from pathlib import Path

import numpy as np
import pytest
from samples import MEMORY, clean, members, npy, outcome, same, save, tokens, zip_of

from embcli.artifacts import store
from embcli.errors import InputError, KindError


def test_the_measure_of_memory_sees_a_reader_that_trusts(tmp_path: Path) -> None:
    assert outcome(tmp_path, lambda _: np.zeros(16_000_000, np.uint8).sum())[2] > MEMORY
    assert outcome(tmp_path, lambda _: bytes(16_000_000))[2] > MEMORY


FOREIGN: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "it is an empty file); the command that should have written it failed"),
    "text": ("naïve 東京\n".encode(), "looks like text); make one with 'embcli encode"),
    "text cut within a character": ("東".encode() * 30_000, "looks like text"),
    "html": (b"<html><body>404</body></html>", "it is a web page"),
    "gzip": (gzip.compress(b"a"), "compressed by gzip"),
    "xz": (b"\xfd7zXZ\x00...", "compressed by xz"),
    "npy": (npy(np.zeros(3)), "a single NumPy array (.npy)"),
    "pickle": (pickle.dumps([1]), "a Python pickle, which is never read"),
    "word2vec binary": (b"2 3\nthe " + np.ones(3, np.float32).tobytes() + b"\n", "word2vec's binary format"),
    "word2vec text": (b"2 3\nthe 1 2 3\na 1 2 3\n", "word vectors as text"),
    "zeros": (bytes(1000), "nothing but zero bytes"),
    "binary": (b"\xff\x00\x01\x02" * 10, "binary data"),
    "one byte of a zip": (b"P", "text"),
    "an empty zip": (zip_of({}), "an empty zip"),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_a_file_of_another_make_is_named(name: str, tmp_path: Path) -> None:
    content, part = FOREIGN[name]
    clean(tmp_path / "x", content, KindError, "not an embcli artifact", part)


def test_text_is_offered_the_command_that_makes_tokens(tmp_path: Path) -> None:
    text = clean(tmp_path / "my corpus.txt", b"the cat\n", KindError)
    assert f"make one with 'embcli encode '{tmp_path}/my corpus.txt' --words -o tokens.npz'" in text


def other(kind: str) -> bytes:
    """Return a zip or npz that is no artifact."""
    file = io.BytesIO()
    if kind == "npz":
        np.savez(file, alpha=np.zeros(3), beta=np.ones(2))
    elif kind == "npz with a meta of its own":
        np.savez(file, meta=np.ones(2))
    elif kind == "npz with JSON of its own":
        np.savez(file, meta=np.frombuffer(b'{"format": "mine"}', np.uint8))
    elif kind == "compressed":
        np.savez_compressed(file, **{k: np.load(io.BytesIO(v)) for k, v in members(tokens()).items()})
    else:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as z:
            for i in range(8 if kind == "zip" else 30_000):
                z.writestr(f"word/part\n{i}.xml", "x")
            z.comment = b"made by hand"
    return file.getvalue()


@pytest.mark.parametrize(
    ("kind", "part"),
    [
        ("npz", "an npz of other arrays: alpha, beta"),
        ("npz with a meta of its own", "its meta is not embcli's"),
        ("npz with JSON of its own", "its meta is not embcli's"),
        ("compressed", "is compressed or encrypted; only plainly stored arrays are read"),
        ("zip", r"a zip of other things: word/part\n0.xml"),
        ("large zip", "a zip of 30,000 members"),
    ],
)
def test_another_zip_is_named(kind: str, part: str, tmp_path: Path) -> None:
    clean(tmp_path / "x.npz", other(kind), KindError, part)


def test_what_cannot_be_read_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for path, part in [(tmp_path / "no.npz", "no such file"), (tmp_path, "is a folder"), ("a\0b", "cannot be read")]:
        with pytest.raises(InputError, match=part):
            store.read(str(path))

    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("builtins.open", refuse)
    with pytest.raises(InputError, match="no permission to read it"):
        store.read("x.npz")


def test_endless_input_is_not_copied() -> None:
    with pytest.raises(KindError, match="nothing but zero bytes"):
        store.read("/dev/zero")


def test_a_pipe_is_read_like_a_file(tmp_path: Path) -> None:
    raw, pipe = save(tokens(), tmp_path / "t.npz"), tmp_path / "pipe"
    os.mkfifo(pipe)
    thread = threading.Thread(target=pipe.write_bytes, args=(raw,))
    thread.start()
    assert same(store.read(str(pipe)), tokens())
    thread.join()


def test_wrong_kinds_name_the_command_that_makes_the_right_one(tmp_path: Path) -> None:
    path = tmp_path / "t.npz"
    save(tokens(), path)
    for kinds, expected in [
        (("counts",), f"expected kind 'counts', found 'tokens'; run 'embcli cooc {path} -o counts.npz' first"),
        (("vectors",), "found 'tokens'; svd reads what 'embcli svd counts.npz -o vectors.npz' makes"),
        (("vectors", "counts"), f"'vectors' or 'counts', found 'tokens'; run 'embcli cooc {path} -o counts.npz' first"),
    ]:
        with pytest.raises(KindError) as caught:
            store.read(str(path), kinds, "svd")
        assert expected in str(caught.value)
    assert store.read(str(path), ("tokens", "counts")).kind == "tokens"


def test_later_versions_and_unknown_kinds_are_refused(tmp_path: Path) -> None:
    raw = zip_of(members(tokens(), version=2, embcli="9.1"))
    clean(tmp_path / "x.npz", raw, KindError, "format 2 of embcli 9.1", "update it")
    raw = zip_of(members(tokens(), kind="graph"))
    clean(tmp_path / "x.npz", raw, KindError, "kind 'graph' is not known to this version")
    assert store.peek(str(tmp_path / "x.npz"))["meta"]["kind"] == "graph"
    clean(tmp_path / "x.npz", zip_of(members(tokens(), version=0)), InputError, "its meta says no version")
