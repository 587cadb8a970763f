"""Oracle: zipfile and NumPy on the layout of what the store writes: sound, aligned, readable by anyone."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from samples import MAKE, NETWORKS, arrays, counts, left, meta_of, same, save, starts, tokens, vectors

from embcli.artifacts import npy, store, zipwrite
from embcli.artifacts.schema import Blocks
from embcli.errors import EmbcliError, InputError

ALL = MAKE | NETWORKS


@pytest.mark.parametrize("name", ALL)
def test_data_starts_at_multiples_of_64(name: str, tmp_path: Path) -> None:
    raw = save(ALL[name](), tmp_path / "a.npz")
    assert all(at % 64 == 0 for at in starts(raw).values())
    found = store.read(str(tmp_path / "a.npz"))
    assert all(a.ctypes.data % 64 == 0 and not a.flags.writeable for a in arrays(found).values())


def test_numpys_own_files_are_not_aligned_but_read(tmp_path: Path) -> None:
    """Sibling: the measure of alignment sees a file without it. Such a copy is the same artifact."""
    save(tokens(), tmp_path / "a.npz")
    with np.load(tmp_path / "a.npz") as z:
        np.savez(tmp_path / "b.npz", **z)
    assert any(at % 64 for at in starts((tmp_path / "b.npz").read_bytes()).values())
    assert same(store.read(str(tmp_path / "b.npz")), tokens())
    assert store.digest(str(tmp_path / "b.npz")) == store.digest(str(tmp_path / "a.npz"))
    store.verify(str(tmp_path / "b.npz"))


@pytest.mark.parametrize("name", ALL)
def test_the_zip_is_sound_and_says_no_time(name: str, tmp_path: Path) -> None:
    made = ALL[name]()
    save(made, tmp_path / "a.npz")
    with zipfile.ZipFile(tmp_path / "a.npz") as z:
        assert z.testzip() is None
        assert z.namelist() == [f"{name}.npy" for name in [*arrays(made), "meta"]]
        assert {(i.date_time, i.compress_type, i.external_attr >> 16) for i in z.infolist()} == {
            ((1980, 1, 1, 0, 0, 0), zipfile.ZIP_STORED, 0o100644)
        }


def test_extra_fields_are_well_formed(tmp_path: Path) -> None:
    raw = save(vectors(), tmp_path / "a.npz")
    with zipfile.ZipFile(tmp_path / "a.npz") as z:
        for info in z.infolist():
            n_name, n_extra = np.frombuffer(raw, "<u2", 2, info.header_offset + 26).tolist()
            extra = raw[info.header_offset + 30 + n_name :][:n_extra]
            tags = []
            while extra:
                tag, length = np.frombuffer(extra, "<u2", 2).tolist()
                assert 4 + length <= len(extra)
                tags.append(tag)
                extra = extra[4 + length :]
            assert tags == [1, 0xD935]


@pytest.mark.parametrize("shape", [(0,), (6,), (10**9,), (0, 5), (4, 3), (1, 1)])
@pytest.mark.parametrize("dtype", ["u1", "u2", "u4", "i4", "i8", "f4", "f8"])
def test_headers_are_numpys_own(shape: tuple[int, ...], dtype: str) -> None:
    file = io.BytesIO()
    array = np.lib.stride_tricks.as_strided(np.zeros(1, dtype), shape, [0] * len(shape))
    np.lib.format.write_array_header_1_0(
        file, np.lib.format.header_data_from_array_1_0(array) | {"fortran_order": False}
    )
    made = npy.header(np.dtype(dtype), shape)
    assert made == file.getvalue() and len(made) % 64 == 0
    assert npy.parse(made, len(made) + array.nbytes) == (np.dtype(dtype), shape, len(made))
    with pytest.raises(ValueError, match="bytes where"):
        npy.parse(made, len(made) + array.nbytes + 1)


@pytest.mark.parametrize("threshold", [0, 300, 600, 1000])
def test_zip64(threshold: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = save(counts(), tmp_path / "a.npz")
    monkeypatch.setattr(zipwrite, "ZIP64_FROM", threshold)
    wide = save(counts(), tmp_path / "b.npz")
    assert b"PK\6\6" in wide and b"PK\6\6" not in plain
    assert same(store.read(str(tmp_path / "b.npz")), counts())
    assert store.verify(str(tmp_path / "b.npz")) == store.verify(str(tmp_path / "a.npz"))
    with zipfile.ZipFile(tmp_path / "b.npz") as z:
        assert z.testzip() is None
    with np.load(tmp_path / "b.npz", allow_pickle=False) as z:
        assert np.array_equal(z["data"], counts().data)


def test_zip64_records_are_needed_for_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sibling: without its record, the file with full fields is refused."""
    monkeypatch.setattr(zipwrite, "ZIP64_FROM", 0)
    raw = save(counts(), tmp_path / "a.npz")
    (tmp_path / "a.npz").write_bytes(raw.replace(b"PK\6\6", b"PK\6\5"))
    with pytest.raises(InputError, match="zip64 record is missing"):
        store.read(str(tmp_path / "a.npz"))


@pytest.mark.parametrize(
    "fields",
    [
        {"ids": np.zeros(6, np.int64)},
        {"ids": np.zeros((6, 1), np.uint8)},
        {"ids": None},
        {"ids": np.full(6, 9, np.uint8)},
        {"row_offsets": np.array([0, 7])},
        {"unigram": np.array([3])},
        {"ids": Blocks(np.uint8, iter([np.zeros(6, np.uint16)]))},
    ],
)
def test_a_step_that_returns_nonsense_is_a_bug(fields: dict[str, Any], tmp_path: Path) -> None:
    made = tokens()
    for name, value in fields.items():
        setattr(made, name, value)
    with pytest.raises(ValueError) as caught:
        save(made, tmp_path / "a.npz")
    assert not isinstance(caught.value, EmbcliError)
    assert left(tmp_path) == []


def test_layouts_in_memory_do_not_matter(tmp_path: Path) -> None:
    made, raw = vectors(), save(vectors(), tmp_path / "a.npz")
    made.vectors = np.asfortranarray(made.vectors)
    made.contexts = np.repeat(made.contexts, 2, axis=1)[:, ::2]
    made.unigram = made.unigram.astype(">i8")
    assert save(made, tmp_path / "b.npz") == raw


def test_peek_reads_what_any_file_says(tmp_path: Path) -> None:
    raw = save(vectors(), tmp_path / "a.npz")
    found = store.peek(str(tmp_path / "a.npz"))
    assert found["size"] == len(raw) and found["meta"] == meta_of(vectors())
    assert found["members"][0] == {"name": "vectors", "dtype": "float32", "shape": [4, 3], "bytes": 48}
    assert [m["name"] for m in found["members"]] == [*arrays(vectors())]
    assert found["digest"] == store.digest(str(tmp_path / "a.npz"))
