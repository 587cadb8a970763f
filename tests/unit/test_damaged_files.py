"""Oracle: a damaged file gives what was written or one clean line, wherever the damage is, in little memory."""

from __future__ import annotations

import random
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from samples import MAKE, MEMORY, outcome, same, save, tokens

from embcli.artifacts import store
from embcli.errors import EmbcliError


def boundaries(raw: bytes) -> list[int]:
    """Return where the parts of a file begin: headers, names, data, directory entries, the end record."""
    found = {0, len(raw) - 22}
    for mark in (b"PK\1\2", b"PK\3\4", b"PK\5\6", b"\x93NUMPY", b".npy", b"{'descr'"):
        at = raw.find(mark)
        while at >= 0:
            found |= {at, at + len(mark)}
            at = raw.find(mark, at + 1)
    return sorted({min(max(b + d, 0), len(raw) - 1) for b in found for d in (-1, 0, 1)})


def damaged(raw: bytes, seed: int) -> list[bytes]:
    """Return the file cut short, with bytes changed, put in, taken out, and blocks of zeros."""
    rng = random.Random(seed)
    cut = [raw[:n] for n in boundaries(raw) + [rng.randrange(len(raw)) for _ in range(200)]]
    flipped = []
    for at in [rng.randrange(len(raw)) for _ in range(600)] + boundaries(raw):
        flipped.append(raw[:at] + bytes([raw[at] ^ 1 << rng.randrange(8)]) + raw[at + 1 :])
    moved = []
    for _ in range(80):
        a, b = sorted(rng.choices(range(len(raw)), k=2))
        n = rng.choice((1, 4, 64, 512))
        moved += [raw[:a] + rng.randbytes(n) + raw[a:], raw[:a] + raw[a + n :], raw[:a] + bytes(n) + raw[a + n :]]
        moved += [raw[:a] + rng.randbytes(n) + raw[a + n :], raw[:a] + raw[b:]]
    return cut + flipped + moved


def violations(path: Path, wanted: Any, files: list[bytes], read: Callable[[str], Any]) -> list[str]:
    """Return in what way reading damaged files went wrong: another exception, other content, several lines."""
    wrong = []
    for i, raw in enumerate(files):
        path.write_bytes(raw)
        try:
            found = read(str(path))
            if not (found.kind == wanted.kind and same(found, wanted)):
                wrong.append(f"{i}: other content")
        except EmbcliError as e:
            if not str(e).isprintable():
                wrong.append(f"{i}: {e}")
        except Exception as e:
            wrong.append(f"{i}: {e!r}")
    return wrong


@pytest.mark.parametrize("name", MAKE)
def test_damage_anywhere_is_noticed_or_harmless(name: str, tmp_path: Path) -> None:
    path, wanted = tmp_path / "x.npz", MAKE[name]()
    files = damaged(save(wanted, path), seed=len(name))
    wrong, e, taken = outcome(path, lambda _: violations(path, wanted, files, store.read))
    assert e is None and not wrong
    assert taken < MEMORY


def test_the_fuzz_finds_a_reader_that_trusts(tmp_path: Path) -> None:
    """Sibling: the same damage makes np.load raise other things, or give other content."""

    def trusting(path: str) -> Any:
        with np.load(path) as z:
            made = tokens()
            made.ids, made.row_offsets, made.unigram = z["ids"], z["row_offsets"], z["unigram"]
            return made

    path = tmp_path / "x.npz"
    wrong = violations(path, tokens(), damaged(save(tokens(), path), seed=1)[::5], trusting)
    assert len(wrong) > 20


@pytest.mark.parametrize("name", MAKE)
def test_verify_notices_every_change_of_an_array(name: str, tmp_path: Path) -> None:
    """Bytes from an array's header to the end of its data are under a CRC: each change must be found."""
    path, wanted = tmp_path / "x.npz", MAKE[name]()
    raw = save(wanted, path)
    store.verify(str(path))
    with zipfile.ZipFile(path) as z:
        spans = [(i.header_offset, i.file_size) for i in z.infolist()]
    rng = random.Random(3)
    for at, size in spans:
        start = at + 30 + sum(struct.unpack_from("<2H", raw, at + 26))
        for where in [start, start + size - 1, *(rng.randrange(start, start + size) for _ in range(20))]:
            path.write_bytes(raw[:where] + bytes([raw[where] ^ 0x10]) + raw[where + 1 :])
            with pytest.raises(EmbcliError):
                store.verify(str(path))
