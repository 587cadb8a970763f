"""Small artifacts of every kind and their meta, zips built by hand, and measures, for the tests of the store."""

from __future__ import annotations

import io
import os
import struct
import subprocess
import sys
import tracemalloc
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from conftest import ROOT

from embcli.artifacts import provenance, store
from embcli.artifacts.networks import shapes_of
from embcli.artifacts.schema import Artifact, Context, Counts, Knn, Model, Tokens, Vectors, Words
from embcli.errors import EmbcliError
from embcli.spec import STEPS

STEP_OF = {"tokens": "encode", "counts": "cooc", "vectors": "svd", "knn": "neighbors"}
STEP_OF |= {"model": "attend", "context": "attend"}
WORDS = ["the", "naïve", "東京", "a\0b"]


def tokens() -> Tokens:
    return Tokens(
        ids=np.array([0, 1, 0, 2, 3, 0], np.uint8),
        row_offsets=np.array([0, 2, 2, 6]),
        words=Words.of(WORDS),
        unigram=np.array([3, 1, 1, 1]),
        stats={"tokens": 6, "open_rows": [2]},
        text={"split": "words", "lower": False},
    )


def counts() -> Counts:
    return Counts(
        data=np.array([1.5, 2, 0.25, 4, 1]),
        indices=np.array([0, 3, 1, 0, 2], np.int32),
        indptr=np.array([0, 2, 2, 3, 5]),
        shape=np.array([4, 4]),
        words=Words.of(WORDS),
        unigram=np.array([3, 1, 1, 1]),
    )


def documents() -> Counts:
    made = counts()
    made.indptr, made.shape, made.rows = np.array([0, 2, 5]), np.array([2, 4]), Words.of(["first", ""])
    made.indices = np.array([0, 3, 0, 1, 2], np.int32)
    return made


def vectors() -> Vectors:
    table = np.arange(12, dtype=np.float32).reshape(4, 3) / 7
    return Vectors(
        vectors=table,
        words=Words.of(WORDS),
        unigram=np.array([3, 1, 1, 1]),
        contexts=-table,
        singular_values=np.array([3, 2, 0.5]),
    )


def lsa() -> Vectors:
    made = vectors()
    made.contexts = None
    made.documents = np.array([[1, 0, -1], [0.5, 2, 0]], np.float32)
    made.labels = Words.of(["doc1: the naïve", "doc2"])
    return made


def subwords() -> Vectors:
    """Vectors with n-grams of 1 and 2 characters in 5 buckets, of which two have rows."""
    made = vectors()
    made.singular_values, made.word_rows = None, np.asarray(made.vectors + 1, np.float32)
    made.ngram_buckets, made.ngram_rows = np.array([1, 4]), np.array([[1, 2, 3], [-1, 0.5, 0]], np.float32)
    made.options = {"min_n": 1, "max_n": 2, "buckets": 5}
    return made


def knn() -> Knn:
    return Knn(
        neighbors=np.array([[1, 2], [0, -1], [0, 3], [-1, -1]], np.int32),
        scores=np.array([[0.5, 0.25], [0.5, 0], [0.25, -0.125], [0, 0]], np.float32),
        words=Words.of(WORDS),
        stats={"rows": 4, "row": "word", "top": 2, "searched": 4, "listed": 5, "empty": 1},
    )


def model() -> Model:
    shapes = {"token_rows": (4, 6), **shapes_of(4, 6, 2, 8)}
    del shapes["output_rows"]
    rng = np.random.default_rng(0)
    parts = {name: rng.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()}
    size = sum(part.size for part in parts.values())
    return Model(
        **parts,
        words=Words.of(WORDS),
        unigram=np.array([3, 1, 1, 1]),
        adam_mean=np.zeros(size, np.float32),
        adam_square=np.ones(size, np.float32),
        step_loss=np.array([2.5, 1.5]),
        step_lr=np.array([0.1, 0.05]),
        stats={"steps": 2},
    )


def context() -> Context:
    """Two texts, of three tokens and of one."""
    parts = {}
    for i, T in enumerate((3, 1)):
        parts |= {f"states_{i}": np.ones((T, 6), np.float32), f"weights_{i}": np.ones((2, 3, T, T), np.float32) / T}
    return Context(
        parts=parts,
        ids=np.array([0, 1, 2, 0]),
        text_offsets=np.array([0, 3, 4]),
        words=Words.of(["the@1:1", "naïve@1:2", "東京@1:3", "the@2:1"]),
        rows=np.zeros((4, 6), np.float32),
        log_prob=np.array([0, -1.5, -2, 0]),
    )


MAKE = {
    "tokens": tokens,
    "counts": counts,
    "documents": documents,
    "vectors": vectors,
    "lsa": lsa,
    "knn": knn,
    "subwords": subwords,
}
#: those of many members: too large for tests that damage every byte
NETWORKS = {"model": model, "context": context}


def meta_of(artifact: Artifact, **options: Any) -> dict[str, Any]:
    """Return the meta of a step that made this artifact with its default options."""
    step = STEP_OF[artifact.kind]
    inputs = [("text", "0" * 64, None)] if artifact.kind == "tokens" else [("tokens", "1" * 64, {"kind": "tokens"})]
    meta = provenance.compose(step, STEPS[step].params(), 7, inputs, artifact)
    meta["options"] = meta["options"] | options
    return meta


def save(artifact: Artifact, path: Path | str) -> bytes:
    """Write an artifact with its meta and return the file's bytes."""
    store.write(artifact, str(path), meta_of(artifact))
    return Path(path).read_bytes()


def arrays(artifact: Artifact) -> dict[str, np.ndarray]:
    """Return the members that an artifact has, as arrays."""
    found = {name: store.member_of(artifact, name) for name in artifact.names()}
    return {name: np.asarray(array) for name, array in found.items() if array is not None}


def same(a: Artifact, b: Artifact) -> bool:
    """Say whether two artifacts have the same arrays: names, types, shapes and values."""
    x, y = arrays(a), arrays(b)
    return a.kind == b.kind and x.keys() == y.keys() and all(equal(x[name], y[name]) for name in x)


def equal(a: np.ndarray, b: np.ndarray) -> bool:
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def npy(array: Any) -> bytes:
    """Return an array as NumPy saves it, objects too."""
    file = io.BytesIO()
    np.save(file, np.asarray(array))
    return file.getvalue()


def header(text: str, data: bytes = b"") -> bytes:
    """Return an array whose header says any text."""
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode("latin-1") + data


def members(artifact: Artifact, **meta: Any) -> dict[str, bytes]:
    """Return the members of an artifact's file by name, as bytes, to be changed and put into ``zip_of``."""
    found = {name: npy(array) for name, array in arrays(artifact).items()}
    found["meta"] = npy(np.frombuffer(provenance.dumps(meta_of(artifact) | meta), np.uint8))
    return found


def zip_of(
    parts: dict[str, bytes] | list[tuple[str, bytes]],
    local: dict[str, Any] | None = None,
    central: dict[str, Any] | None = None,
    end: dict[str, Any] | None = None,
    suffix: str = ".npy",
    tail: bytes = b"",
) -> bytes:
    """Return a stored zip of the parts; ``local`` and ``central`` lie in the headers of the first one, ``end`` at last.

    Fields: flags, method, crc, packed, size, name, extra; at, comment (central); count, length, at, comment (end).
    """
    out, directory = b"", b""
    for i, (name, data) in enumerate(parts.items() if isinstance(parts, dict) else parts):
        true = {"flags": 0, "method": 0, "crc": zlib.crc32(data), "packed": len(data), "size": len(data)}
        true |= {"name": (name + suffix).encode(), "extra": b"", "at": len(out), "comment": b""}
        a, b = (true | (local or {}), true | (central or {})) if i == 0 else (true, true)
        directory += struct.pack(
            "<4s6H3I5H2I", b"PK\1\2", 20, 20, b["flags"], b["method"], 0, 33, b["crc"], b["packed"], b["size"],
            len(b["name"]), len(b["extra"]), len(b["comment"]), 0, 0, 0, b["at"],
        ) + b["name"] + b["extra"] + b["comment"]  # fmt: skip
        out += struct.pack(
            "<4s5H3I2H", b"PK\3\4", 20, a["flags"], a["method"], 0, 33, a["crc"], a["packed"], a["size"],
            len(a["name"]), len(a["extra"]),
        ) + a["name"] + a["extra"] + data  # fmt: skip
    n = len(parts)
    last = {"count": n, "here": n, "length": len(directory), "at": len(out), "comment": b""} | (end or {})
    return out + directory + tail + struct.pack(
        "<4s4H2IH", b"PK\5\6", 0, 0, last["here"], last["count"], last["length"], last["at"], len(last["comment"])
    ) + last["comment"]  # fmt: skip


def left(folder: Path) -> list[str]:
    return sorted(os.listdir(folder))


def starts(raw: bytes) -> dict[str, int]:
    """Return where the data of each array begins in the file, by zipfile and the length that NumPy's header says."""
    found = {}
    with zipfile.ZipFile(io.BytesIO(raw)) as z:
        for info in z.infolist():
            at = info.header_offset
            at += 30 + sum(np.frombuffer(raw, "<u2", 2, at + 26).tolist())
            found[info.filename] = at + 10 + int.from_bytes(raw[at + 8 : at + 10], "little")
    return found


def python(*args: str, **kw: Any) -> subprocess.Popen[bytes]:
    env = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "tests")])}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen([sys.executable, *args], env=env, **pipes, **kw)


#: no hostile file may make the reader take more
MEMORY = 4_000_000


def outcome(path: Path, read: Callable[[str], Any] = store.read) -> tuple[Any, BaseException | None, int]:
    """Return what reading gave, what it raised, and the most memory that was taken."""
    tracemalloc.start()
    tracemalloc.reset_peak()
    before = tracemalloc.get_traced_memory()[0]
    try:
        return read(str(path)), None, tracemalloc.get_traced_memory()[1] - before
    except Exception as e:
        return None, e, tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()


def clean(path: Path, content: bytes, error: type[EmbcliError], *parts: str) -> str:
    """Require one clean line of the given kind of error that holds the parts."""
    path.write_bytes(content)
    _, e, taken = outcome(path)
    assert type(e) is error, repr(e)
    text = str(e)
    assert text.isprintable() and text.startswith(f"{path}: ") and len(text) < 500 + len(str(path)), text
    for part in parts:
        assert part in text, text
    assert taken < MEMORY
    return text
