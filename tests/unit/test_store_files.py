"""Oracle: the operating system on what a writer leaves: the complete file under its name, or the old one."""

from __future__ import annotations

import os
import resource
import signal
import stat
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from samples import counts, left, meta_of, python, same, save, tokens, vectors

from embcli.artifacts import store
from embcli.artifacts.schema import Blocks, Tokens, Words
from embcli.errors import InputError, NumbersError


def test_the_name_is_the_one_that_was_asked_for(tmp_path: Path) -> None:
    for name in ("model", "model.tmp", "a b.npz", "東京", "x" * 250):
        save(tokens(), tmp_path / name)
        assert left(tmp_path) == [name]
        os.unlink(tmp_path / name)


@pytest.mark.parametrize("umask", [0o022, 0o077, 0o000])
def test_the_umask_decides_the_mode(umask: int, tmp_path: Path) -> None:
    before = os.umask(umask)
    try:
        save(tokens(), tmp_path / "a.npz")
    finally:
        os.umask(before)
    assert stat.S_IMODE(os.stat(tmp_path / "a.npz").st_mode) == 0o666 & ~umask


def test_links_and_leftovers(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "a.npz").symlink_to(tmp_path / "real" / "b.npz")
    leftover = tmp_path / "real" / f".b.npz.{os.getpid()}.tmp"
    leftover.write_bytes(b"of a killed process")
    save(tokens(), tmp_path / "a.npz")
    assert (tmp_path / "a.npz").is_symlink() and same(store.read(str(tmp_path / "real" / "b.npz")), tokens())
    assert leftover.read_bytes() == b"of a killed process"


def test_an_artifact_may_replace_its_own_input(tmp_path: Path) -> None:
    path = str(tmp_path / "a.npz")
    save(tokens(), path)
    found = store.read(path)
    found.stats["again"] = True
    store.write(found, path, meta_of(found))
    assert same(found, tokens()) and same(store.read(path), tokens())
    assert store.read(path).stats["again"]


@pytest.mark.parametrize(
    ("target", "part"),
    [
        ("no/a.npz", "there is no folder"),
        ("file/a.npz", "there is no folder"),
        ("folder", "is a folder"),
        ("folder/", "is a folder"),
        ("", "is no name for a file"),
        ("a\0b", "is no name for a file"),
        ("y" * 300, "cannot be written: File name too long"),
    ],
)
def test_targets_that_cannot_be(target: str, part: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=part):
        store.write(tokens(), target, meta_of(tokens()))
    if len(target) < 300:
        with pytest.raises(InputError, match=part):
            store.check_target(target)
    assert left(tmp_path) == ["file", "folder"] and not left(tmp_path / "folder")


def test_no_permission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store.check_target(str(tmp_path / "a.npz"))
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(InputError, match="no permission to write in"):
        store.check_target(str(tmp_path / "a.npz"))


def test_a_full_disk_is_said_and_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="/dev/full: disk full; nothing was written"):
        store.write(tokens(), "/dev/full", meta_of(tokens()))
    path = tmp_path / "a.npz"
    old = save(tokens(), path)
    n, one = 3_000_000, np.ones(1, np.int64)
    big = Tokens(ids=np.zeros(n, np.uint8), row_offsets=np.array([0, n]), words=Words.of("a"), unigram=one)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, limits[1]))
    try:
        with pytest.raises(InputError, match=r"a\.npz: cannot be written: File too large"):
            store.write(big, str(path), meta_of(big))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert path.read_bytes() == old and left(tmp_path) == ["a.npz"]


def failing(e: BaseException) -> Iterator[np.ndarray]:
    yield np.zeros(5_000_000, np.uint8)
    raise e


@pytest.mark.parametrize("e", [KeyboardInterrupt(), SystemExit(143), OSError(5, "of the corpus"), FileExistsError(17)])
def test_an_interrupted_writer_leaves_the_old_file(e: BaseException, tmp_path: Path) -> None:
    """The exception itself passes unchanged: what a producer raises is not a fault of the target."""
    path, made = tmp_path / "a.npz", tokens()
    old = save(made, path)
    made.ids = Blocks(np.uint8, failing(e))
    with pytest.raises(type(e)) as caught:
        store.write(made, str(path), meta_of(made))
    assert caught.value is e
    assert path.read_bytes() == old and left(tmp_path) == ["a.npz"]


SLOW_WRITER = """
import signal, sys, time
import numpy as np
from embcli.artifacts import store
from embcli.artifacts.schema import Blocks
from samples import meta_of, tokens

def stop(number, frame):
    raise SystemExit(128 + number)

def slowly():
    yield np.zeros(5_000_000, np.uint8)
    print("started", flush=True)
    time.sleep(60)

signal.signal(signal.SIGTERM, stop)
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell without job control ignores it for what it starts
made = tokens()
made.ids = Blocks(np.uint8, slowly())
store.write(made, sys.argv[1], meta_of(made))
"""


@pytest.mark.parametrize(("number", "code", "leftovers"), [("SIGTERM", 143, 0), ("SIGINT", -2, 0), ("SIGKILL", -9, 1)])
def test_a_writer_that_is_stopped(number: str, code: int, leftovers: int, tmp_path: Path) -> None:
    """Killed for good it cannot clean up, which is the sibling: a temporary file is seen when there is one."""
    path = tmp_path / "a.npz"
    old = save(tokens(), path)
    process = python("-c", SLOW_WRITER, str(path))
    assert process.stdout is not None and process.stdout.readline() == b"started\n"
    process.send_signal(getattr(signal, number))
    process.communicate(timeout=60)
    assert process.returncode == code
    assert path.read_bytes() == old
    assert len(left(tmp_path)) == 1 + leftovers


def test_non_finite_numbers_are_never_written(tmp_path: Path) -> None:
    for value in (np.nan, np.inf, -np.inf):
        made = vectors()
        made.vectors = made.vectors.copy()
        made.vectors[2, 1] = value
        with pytest.raises(NumbersError, match=r"a\.npz: vectors are not all finite"):
            save(made, tmp_path / "a.npz")
        made.vectors = Blocks(np.float32, iter([made.vectors]), (3,))
        with pytest.raises(NumbersError, match="vectors are not all finite"):
            save(made, tmp_path / "a.npz")
        made = vectors()
        made.stats = {"loss": float(value)}
        with pytest.raises(NumbersError, match="not finite"):
            save(made, tmp_path / "a.npz")
    assert left(tmp_path) == []
    save(vectors(), tmp_path / "a.npz")


COPY = "import sys; from embcli.artifacts import store; from samples import meta_of\nmade = store.read(sys.argv[1])\n"


def test_dash_is_a_pipe_with_the_bytes_of_the_file(tmp_path: Path) -> None:
    raw = save(counts(), tmp_path / "a.npz")
    code = COPY + "print('talk', end='', flush=False); store.write(made, '-', made.meta)"
    process = python("-c", code, "-", stdin=subprocess.PIPE)
    out, err = process.communicate(raw, timeout=60)
    assert (process.returncode, err, out) == (0, b"", b"talk" + raw)
    process = python("-c", COPY, "-", stdin=subprocess.PIPE)
    _, err = process.communicate(raw[:-3], timeout=60)
    assert b"InputError: stdin: damaged: the zip directory at its end is missing" in err
    process = python("-c", "import sys; sys.stdin = None\n" + COPY, "-", stdin=subprocess.PIPE)
    assert b"InputError: stdin: is closed" in process.communicate(raw, timeout=60)[1]


def test_a_closed_pipe_is_not_an_input_error(tmp_path: Path) -> None:
    save(counts(), tmp_path / "a.npz")
    code = COPY + "made.stats = {'long': 'x' * 1_000_000}; store.write(made, '-', meta_of(made))"
    process = python("-c", code, str(tmp_path / "a.npz"))
    assert process.stdout is not None and process.stderr is not None
    process.stdout.close()
    assert b"BrokenPipeError" in process.stderr.read()
    process.wait(timeout=60)
    process.stderr.close()


def test_devices_and_pipes_are_written_not_replaced(tmp_path: Path) -> None:
    raw, pipe, got = save(tokens(), tmp_path / "a.npz"), tmp_path / "pipe", []
    os.mkfifo(pipe)
    thread = threading.Thread(target=lambda: got.append(pipe.read_bytes()))
    thread.start()
    store.write(tokens(), str(pipe), meta_of(tokens()))
    thread.join()
    assert got == [raw] and stat.S_ISFIFO(os.stat(pipe).st_mode)
    store.write(tokens(), "/dev/null", meta_of(tokens()))
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
