"""Oracle: resident memory as the system counts it, and arrays too large to be read when a file is opened."""

from __future__ import annotations

import io
import os
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from samples import meta_of, python, save, starts, tokens

from embcli.artifacts import checks, store
from embcli.artifacts.schema import Blocks, Vectors, Words
from embcli.errors import InputError
from embcli.job import Job
from embcli.query.space import open_space
from embcli.spec import NeighborsParams, make


def resident() -> int:
    """Return resident bytes of this process that belong to mapped files."""
    with open("/proc/self/statm", encoding="ascii") as f:
        return int(f.read().split()[2]) * os.sysconf("SC_PAGE_SIZE")


class Sparse(io.FileIO):
    """A file in which large writes leave a hole, so that a gigabyte takes no disk and no time."""

    def write(self, data: Any) -> int:
        if len(data) > 1_000_000:
            self.seek(len(data), os.SEEK_CUR)
            return len(data)
        return super().write(data) or 0


def huge(folder: Path, n: int) -> Path:
    """Write an artifact of n blocks of 4 MiB of id 0, as a hole in the file."""
    block = np.zeros(1 << 22, np.uint8)
    made = tokens()
    made.ids = Blocks(np.uint8, (block for _ in range(n)))
    made.row_offsets, made.unigram = np.array([0, n << 22]), np.array([n << 22, 0, 0, 0])
    path = folder / "huge.npz"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("builtins.open", lambda name, mode: Sparse(name, mode))
        store.write(made, str(path), meta_of(made))
    assert os.stat(path).st_blocks * 512 < 1_000_000 < n << 22 < os.stat(path).st_size
    return path


def test_a_gigabyte_is_opened_without_reading_it_and_given_back(tmp_path: Path) -> None:
    path = huge(tmp_path, 256)
    before = resident()
    found = store.read(str(path))
    assert len(found.ids) == 1 << 30
    assert resident() - before < 5_000_000
    total = int(found.ids[: 64 << 20].sum())  # sibling: what is touched is seen by this measure
    assert total == 0 and resident() - before > 60_000_000
    store.release(found.ids, 0, 32 << 20)
    assert 30_000_000 < resident() - before < 40_000_000
    store.release(found.ids)
    assert resident() - before < 5_000_000
    assert not found.ids[: 1 << 20].any()  # the data is still there
    highest = 0
    for at, block in store.stream(found, "ids"):
        assert not block[::4096].any()
        if at > 200 << 20:
            break
        highest = max(highest, resident() - before)
    assert highest < 20_000_000


def test_verifying_a_large_file_takes_little_memory(tmp_path: Path) -> None:
    path, peaks, done = huge(tmp_path, 64), [], threading.Event()

    def watch() -> None:
        while not done.is_set():
            peaks.append(resident())
            time.sleep(0.005)

    before, thread = resident(), threading.Thread(target=watch)
    thread.start()
    try:
        listed = store.verify(str(path))
    finally:
        done.set()
        thread.join()
    assert [a["name"] for a in listed] == ["ids", "row_offsets", "word_bytes", "word_offsets", "unigram", "meta"]
    assert max(peaks) - before < 40_000_000


def test_release_of_what_is_not_mapped_does_nothing() -> None:
    array = np.ones(10)
    store.release(array, 0, 10)
    store.release(array[::2])
    store.release(np.float32(1).reshape(()))
    assert array.sum() == 10


def test_large_arrays_are_checked_by_verify_and_stream(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a limit of 0 every array counts as large: opening looks into none, verify and stream into all."""
    path = str(tmp_path / "a.npz")
    raw = save(tokens(), path)
    bad = bytearray(raw)
    bad[starts(raw)["ids.npy"] + 2] = 77
    Path(path).write_bytes(bad)
    with pytest.raises(InputError, match="array 'ids' has changed since it was written"):
        store.read(path)
    monkeypatch.setattr(checks, "SMALL", 0)
    found = store.read(path)
    assert found.ids[2] == 77
    with pytest.raises(InputError, match="array 'ids' has changed since it was written"):
        store.verify(path)
    with pytest.raises(InputError, match=r"a\.npz: damaged: ids holds 77, which is no id of 4 words"):
        list(store.stream(found, "ids", 1))
    Path(path).write_bytes(raw)
    store.verify(path)
    blocks = list(store.stream(store.read(path), "ids", 4))
    assert [at for at, _ in blocks] == [0, 4] and np.array_equal(np.concatenate([b for _, b in blocks]), tokens().ids)


def test_verify_finds_a_word_that_is_there_twice(tmp_path: Path) -> None:
    made = tokens()
    made.words = Words.of(["the", "naïve", "the", "a\0b"])
    save(made, tmp_path / "a.npz")
    with pytest.raises(InputError, match="the word 'the' is there twice"):
        store.verify(str(tmp_path / "a.npz"))


def test_reading_loads_no_heavy_module(tmp_path: Path) -> None:
    save(tokens(), tmp_path / "a.npz")
    heavy = "('scipy', 'numba', 'zipfile', 'tempfile', 'concurrent.futures', 'typer', 'rich')"
    code = "import sys; from embcli.artifacts import store; store.read(sys.argv[1])\n"
    code += f"print([m for m in {heavy} if m in sys.modules])"
    process = python("-c", code, str(tmp_path / "a.npz"))
    out, err = process.communicate(timeout=60)
    assert (out, err) == (b"[]\n", b"")
    process = python("-c", "import zipfile\n" + code, str(tmp_path / "a.npz"))
    assert b"'zipfile'" in process.communicate(timeout=60)[0]


def test_a_search_holds_blocks_of_a_large_table_only(tmp_path: Path) -> None:
    """240 MB in a hole of a file, and as many pages given back; another test here sees what is touched."""
    block, n = np.zeros((1 << 9, 3000), np.float32), 40 << 9
    made = Vectors(
        vectors=Blocks(np.float32, (block for _ in range(40)), (3000,)),
        words=Words.of(f"w{i}" for i in range(n)),
        unigram=np.zeros(n, np.int64),
    )
    path = tmp_path / "v.npz"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("builtins.open", lambda name, mode: Sparse(name, mode))
        store.write(made, str(path), meta_of(made))
    assert os.stat(path).st_size > 240_000_000
    space = open_space(store.read(str(path)), make(NeighborsParams, {}), "v", Job())
    before, highest = resident(), 0
    for span in space.spans(n):
        space.block(*span).score(np.ones((1, 3000)), "cosine")
        space.done(*span)
        highest = max(highest, resident() - before)
    assert highest < 40_000_000
