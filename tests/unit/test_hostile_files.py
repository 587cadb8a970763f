"""Oracle: a file that lies is refused by one clean line, in little memory, before anything it claims is believed."""

from __future__ import annotations

import json
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from samples import MAKE, MEMORY, clean, counts, header, members, meta_of, npy, outcome, same, tokens, vectors, zip_of

from embcli.artifacts import store
from embcli.errors import EmbcliError, InputError, KindError


def test_the_hand_made_zip_is_sound(tmp_path: Path) -> None:
    """Sibling of all the lies below: without a lie the same builder gives an artifact that is read."""
    for name, make in MAKE.items():
        path = tmp_path / f"{name}.npz"
        path.write_bytes(zip_of(members(make())))
        assert same(store.read(str(path)), make())
        assert zipfile.ZipFile(path).testzip() is None


BIG = 1 << 40
WIDE = struct.pack("<2H2Q", 1, 16, BIG, BIG)
LIES: dict[str, dict[str, Any]] = {
    "size in the directory": {"central": {"size": 1 << 30, "packed": 1 << 30}},
    "size in both headers": {key: {"size": 1 << 30, "packed": 1 << 30} for key in ("local", "central")},
    "zip64 size in both headers": {
        key: {"size": 0xFFFFFFFF, "packed": 0xFFFFFFFF, "extra": WIDE} for key in ("local", "central")
    },
    "zip64 size that is missing": {"central": {"size": 0xFFFFFFFF, "packed": 0xFFFFFFFF}},
    "zip64 field cut short": {"central": {"size": 0xFFFFFFFF, "extra": struct.pack("<2HI", 1, 16, 0)}},
    "two zip64 fields": {"local": {"extra": WIDE * 2}},
    "extra field cut short": {"local": {"extra": b"\1"}},
    "packed size alone": {"central": {"packed": 1}, "local": {"packed": 1}},
    "CRC in the directory": {"central": {"crc": 1}},
    "CRC in both headers": {"central": {"crc": 1}, "local": {"crc": 1}},
    "method in one header": {"local": {"method": 8}},
    "flag in one header": {"central": {"flags": 1}},
    "name in one header": {"local": {"name": b"idx.npy"}},
    "name longer than the file": {"local": {"name": b"ids.npy" * 9000}},
    "place beyond the end": {"central": {"at": 1 << 30}},
    "place in another member": {"central": {"at": 5}},
    "folder in the name": {key: {"name": b"../ids.npy"} for key in ("local", "central")},
    "NUL in the name": {key: {"name": b"i\0d.npy"} for key in ("local", "central")},
    "newline in the name": {key: {"name": b"i\nd.npy"} for key in ("local", "central")},
    "name without .npy": {key: {"name": b"ids"} for key in ("local", "central")},
    "name that is not ASCII": {key: {"name": b"\xff\xfe.npy"} for key in ("local", "central")},
    "too many members": {"end": {"count": 60_000, "here": 60_000}},
    "too few members": {"end": {"count": 2, "here": 2}},
    "no members": {"end": {"count": 0, "here": 0}},
    "directory too long": {"end": {"length": 1 << 31}},
    "directory elsewhere": {"end": {"at": 3}},
    "zip64 end that is missing": {"end": {"count": 0xFFFF, "here": 0xFFFF}},
    "comment": {"end": {"comment": b"hello"}},
    "something before the end": {"tail": b"hidden"},
}


@pytest.mark.parametrize("lie", LIES)
def test_a_zip_that_lies_is_refused(lie: str, tmp_path: Path) -> None:
    clean(tmp_path / "x.npz", zip_of(members(tokens()), **LIES[lie]), InputError, "damaged: ")


def test_split_zips_and_foreign_directories(tmp_path: Path) -> None:
    clean(tmp_path / "x.npz", zip_of(members(tokens()), end={"here": 1}), KindError, "split zip")


def test_two_members_of_one_name(tmp_path: Path) -> None:
    parts = list(members(tokens()).items())
    clean(tmp_path / "x.npz", zip_of([parts[0], *parts]), InputError, "array 'ids' is there twice")


def test_gaps_before_between_and_after(tmp_path: Path) -> None:
    raw = zip_of(members(tokens()))
    clean(tmp_path / "x.npz", b"#!/bin/sh\n" + raw, KindError, "not an embcli artifact")
    clean(tmp_path / "x.npz", raw + b"\0", InputError, "follows")
    clean(tmp_path / "x.npz", raw + bytes(70_000), InputError, "cut short")
    clean(tmp_path / "x.npz", raw + raw, InputError)
    clean(tmp_path / "x.npz", raw[:4], InputError, "cut short")
    clean(tmp_path / "x.npz", raw[:4] + raw[-22:], InputError)


def text(descr: str = "'|u1'", order: str = "False", shape: str = "(6,)") -> str:
    return f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}" + " " * 9 + "\n"


SIX = bytes([0, 1, 0, 2, 3, 0])
HEADERS: dict[str, tuple[bytes, str]] = {
    "not an array": (b"hello", "is not a NumPy array"),
    "nothing": (b"", "is not a NumPy array"),
    "array format 2.0": (b"\x93NUMPY\x02\x00" + struct.pack("<I", 100) + text().encode() + SIX, "array format 2.0"),
    "header longer than the file": (b"\x93NUMPY\x01\x00\xff\xff" + text().encode(), "header of 65,535 bytes"),
    "header without end": (b"\x93NUMPY\x01\x00\x40\x00", "header of 64 bytes"),
    "objects": (header(text("'|O'"), SIX), "Python objects, which are never read"),
    "a real pickle": (npy(np.array([{}], object)), "Python objects, which are never read"),
    "records": (header(text("[('a', '<i4')]"), SIX), "a type that is not used"),
    "big-endian": (header(text("'>u2'", shape="(3,)"), SIX), "a type that is not used ('>u2')"),
    "strings": (npy(np.array(["a", "bc"])), "a type that is not used ('<U2')"),
    "complex": (npy(np.zeros(2, complex)), "a type that is not used"),
    "code": (header(text("__import__('os').abort()"), SIX), "a type that is not used"),
    "column order": (header(text(order="True"), SIX), "Fortran order"),
    "negative shape": (header(text(shape="(-6,)"), SIX), "cannot be understood"),
    "shape without numbers": (header(text(shape="(,)"), SIX), "cannot be understood"),
    "shape with leading zeros": (header(text(shape="(06,)"), SIX), "cannot be understood"),
    "shape that is a sum": (header(text(shape="(3+3,)"), SIX), "cannot be understood"),
    "shape with holes": (header(text(shape="(6,,)"), SIX), "cannot be understood"),
    "more items than bytes": (header(text(shape="(7,)"), SIX), "has 6 bytes where |u1 of shape (7,) takes 7"),
    "fewer items than bytes": (header(text(shape="(5,)"), SIX), "takes 5"),
    "a terabyte": (header(text(shape="(1099511627776,)"), SIX), "takes 1,099,511,627,776"),
    "product that wraps to 6": (header(text(shape=f"({2**63}, 2, 6)"), SIX), "impossible shape"),
    "product that wraps to 0": (header(text(shape=f"({2**32}, {2**32})"), b""), "impossible shape"),
    "zero times too much": (header(text(shape=f"(0, {2**63})"), b""), "impossible shape"),
    "a shape of many digits": (header(text(shape="(" + "9" * 300 + ",)"), SIX), "impossible shape"),
    "deep nesting": (header(text(shape="(" * 400 + ")" * 400), SIX), "cannot be understood"),
    "other keys": (header("{'descr': '|u1', 'shape': (6,), 'fortran_order': False, }\n", SIX), "cannot be understood"),
    "text after the header": (header(text()[:-1] + "#\n", SIX), "cannot be understood"),
    "two dimensions": (header(text(shape="(2, 3)"), SIX), "u1 of shape (2, 3) where 1-d u1 or u2 or u4 is due"),
    "no dimension": (npy(np.uint8(3)), "of shape () where 1-d"),
    "another type": (npy(np.zeros(6, np.float32)), "is f4 of shape (6,) where"),
}


@pytest.mark.parametrize("name", HEADERS)
def test_an_array_header_that_lies_is_refused(name: str, tmp_path: Path) -> None:
    data, part = HEADERS[name]
    clean(tmp_path / "x.npz", zip_of(members(tokens()) | {"ids": data}), InputError, "damaged: array 'ids' ", part)


METAS: dict[str, tuple[bytes, type[EmbcliError]]] = {
    "not JSON": (b"hello", InputError),
    "nothing": (b"", InputError),
    "cut short": (json.dumps(meta_of(tokens())).encode()[:-9], InputError),
    "not UTF-8": (b'{"format": "\xff"}', InputError),
    "not a number": (b'{"format": "embcli", "version": NaN}', InputError),
    "a very long number": (b'{"format": "embcli", "version": ' + b"9" * 9000 + b"}", InputError),
    "deep nesting": (b"[" * 200_000, InputError),
    "a list": (b"[1]", KindError),
    "no version": (b'{"format": "embcli"}', InputError),
    "version as text": (b'{"format": "embcli", "version": "1"}', InputError),
    "version true": (b'{"format": "embcli", "version": true}', InputError),
    "nothing more": (b'{"format": "embcli", "version": 1}', InputError),
    "options a list": (json.dumps(meta_of(tokens()) | {"options": []}).encode(), InputError),
    "parents of numbers": (json.dumps(meta_of(tokens()) | {"parents": [1]}).encode(), InputError),
    "kind a list": (json.dumps(meta_of(tokens()) | {"kind": []}).encode(), InputError),
}


@pytest.mark.parametrize("name", METAS)
def test_a_damaged_meta_is_refused(name: str, tmp_path: Path) -> None:
    raw, error = METAS[name]
    parts = members(tokens()) | {"meta": npy(np.frombuffer(raw, np.uint8))}
    clean(tmp_path / "x.npz", zip_of(parts), error, "meta")


def test_a_meta_of_hundreds_of_megabytes_is_not_read(tmp_path: Path) -> None:
    path, size = tmp_path / "x.npz", 300_000_000
    head = header(f"{{'descr': '|u1', 'fortran_order': False, 'shape': ({size},), }}\n")
    lie = {"size": size + len(head), "packed": size + len(head)}
    raw = zip_of({"meta": head}, lie, lie, {"at": 30 + 8 + len(head) + size})
    cut = 30 + 8 + len(head)
    with open(path, "wb") as f:  # a hole in the middle: it takes no disk
        f.write(raw[:cut])
        f.seek(size, 1)
        f.write(raw[cut:])
    _, e, taken = outcome(path)
    assert isinstance(e, InputError) and "its meta takes 300,000,000 bytes" in str(e) and taken < MEMORY


def changed(make: Callable[[], Any], **fields: Any) -> dict[str, bytes]:
    return members(make()) | {name: npy(value) for name, value in fields.items()}


i8 = np.int64
CONTENTS: dict[str, tuple[Callable[[], Any], dict[str, Any], str]] = {
    "ids beyond the words": (tokens, {"ids": np.array([0, 1, 0, 2, 4, 0], np.uint8)}, "holds 4, which is no id of 4"),
    "rows beyond the ids": (tokens, {"row_offsets": np.array([0, 2, 7])}, "row_offsets do not span the ids"),
    "rows from the middle": (tokens, {"row_offsets": np.array([1, 2, 6])}, "row_offsets do not span the ids"),
    "no row offsets": (tokens, {"row_offsets": np.zeros(0, i8)}, "row_offsets do not span the ids"),
    "rows going back": (tokens, {"row_offsets": np.array([0, 4, 2, 6])}, "row_offsets is not ascending"),
    "words beyond the bytes": (tokens, {"word_offsets": np.array([0, 3, 9, 15, 99])}, "offsets of words do not span"),
    "no word offsets": (tokens, {"word_offsets": np.zeros(0, i8)}, "offsets of words do not span"),
    "words going back": (tokens, {"word_offsets": np.array([0, 9, 3, 15, 18])}, "word_offsets is not ascending"),
    "words below zero": (tokens, {"word_offsets": np.array([0, -9, 3, 15, 18])}, "word_offsets is not ascending"),
    "words cut within a character": (tokens, {"word_offsets": np.array([0, 3, 10, 15, 18])}, "cut within a character"),
    "words that are not UTF-8": (tokens, {"word_bytes": np.full(18, 0xFF, np.uint8)}, "words are not UTF-8"),
    "fewer frequencies": (tokens, {"unigram": np.array([3, 1, 1])}, "unigram has 3 entries where 4 are due"),
    "frequency below zero": (tokens, {"unigram": np.array([3, 1, -1, 1])}, "negative frequency"),
    "columns beyond the words": (counts, {"indices": np.array([0, 4, 1, 0, 2], np.int32)}, "column outside 0 to 3"),
    "columns below zero": (counts, {"indices": np.array([-1, 3, 1, 0, 2], np.int32)}, "column outside 0 to 3"),
    "columns out of order": (counts, {"indices": np.array([3, 0, 1, 0, 2], np.int32)}, "not ascending within a row"),
    "a column twice": (counts, {"indices": np.array([0, 3, 1, 2, 2], np.int32)}, "not ascending within a row"),
    "rows of counts going back": (counts, {"indptr": np.array([0, 5, 2, 3, 5])}, "indptr is not ascending"),
    "rows of counts beyond": (counts, {"indptr": np.array([0, 2, 2, 3, 6])}, "indptr does not span the data"),
    "fewer rows": (counts, {"indptr": np.array([0, 2, 3, 5])}, "indptr has 4 entries where 5 are due"),
    "a count of zero": (counts, {"data": np.array([1.5, 0, 1, 1, 1])}, "not positive numbers"),
    "a count of nan": (counts, {"data": np.array([1.5, np.nan, 1, 1, 1])}, "not positive numbers"),
    "an infinite count": (counts, {"data": np.array([1.5, np.inf, 1, 1, 1])}, "not positive numbers"),
    "another shape": (counts, {"shape": np.array([4, 5])}, "words has 4 entries where 5 are due"),
    "a shape below zero": (counts, {"shape": np.array([-1, 4])}, "row labels has 4 entries where -1 are due"),
    "a shape of three": (counts, {"shape": np.array([4, 4, 4])}, "shape has 3 entries where 2 are due"),
    "nan in vectors": (vectors, {"vectors": np.full((4, 3), np.nan, np.float32)}, "vectors holds values that are not"),
    "fewer vectors": (vectors, {"vectors": np.zeros((3, 3), np.float32)}, "words has 4 entries where 3 are due"),
    "other contexts": (vectors, {"contexts": np.zeros((4, 2), np.float32)}, "contexts have shape (4, 2)"),
    "rising singular values": (vectors, {"singular_values": np.array([1, 2, 3.0])}, "not descending"),
    "an array that does not belong": (vectors, {"weights": np.zeros(3)}, "does not belong to kind 'vectors'"),
    "row labels without offsets": (counts, {"row_bytes": np.zeros(3, np.uint8)}, "array 'row_offsets' is missing"),
    "row labels without bytes": (counts, {"row_offsets": np.zeros(5, i8)}, "array 'row_bytes' is missing"),
}


@pytest.mark.parametrize("name", CONTENTS)
def test_arrays_that_do_not_fit_are_refused(name: str, tmp_path: Path) -> None:
    make, fields, part = CONTENTS[name]
    clean(tmp_path / "x.npz", zip_of(changed(make, **fields)), InputError, "damaged: ", part)


@pytest.mark.parametrize("name", ["ids", "row_offsets", "word_bytes", "word_offsets", "unigram"])
def test_missing_arrays_are_named(name: str, tmp_path: Path) -> None:
    parts = members(tokens())
    del parts[name]
    clean(tmp_path / "x.npz", zip_of(parts), InputError, f"array '{name}' is missing")


def test_a_gap_is_an_id_only_where_gaps_are_kept(tmp_path: Path) -> None:
    made = tokens()
    made.ids = np.array([0, 4, 0, 2, 3, 0], np.uint8)
    parts = members(made, options={"gaps": "keep"})
    (tmp_path / "x.npz").write_bytes(zip_of(parts))
    assert same(store.read(str(tmp_path / "x.npz")), made)
    clean(tmp_path / "x.npz", zip_of(members(made, options={"gaps": "close"})), InputError, "ids holds 4")
