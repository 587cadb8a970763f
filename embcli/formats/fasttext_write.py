"""Artifacts of vectors as fastText's .bin files, for the original program and others. The layout: fasttext_bin.py."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

import numpy as np

from embcli.artifacts import store
from embcli.artifacts.schema import Vectors
from embcli.errors import InputError
from embcli.formats.fasttext_bin import ARCHS, FIELDS, LOSSES, MARK, VERSION
from embcli.job import human_bytes

#: numbers written in one go
_NUMBERS = 1 << 20
#: what options are called that nothing recorded: the values of the original
_UNKNOWN = {
    "window": 5,
    "epochs": 5,
    "min_count": 1,
    "negative": 5,
    "word_ngrams": 1,
    "lr_update_rate": 100,
    "sample": 1e-4,
}


def write(made: Vectors) -> tuple[Iterator[bytes], int, list[str]]:
    """Return a model's file in blocks, its size in bytes, and notes of what it holds.

    All buckets are written, as the format wants: a row of zeros for those that are not stored. Vectors without n-grams
    become a model without them (max-n 0, no buckets), whose words are found and whose unseen words are zeros. Without
    an output table that is written as zeros, from which no training can go on. Memory: blocks.

    Raises InputError for a word with a NUL, which ends a word in this format.
    """
    if (made.words.data == 0).any():
        at = int(np.searchsorted(made.words.offsets, np.flatnonzero(made.words.data == 0)[0], "right")) - 1
        raise InputError(
            f"{made.path}: the word {ascii(made.words[at])[:60]} holds a NUL, which ends a word in .bin files"
        )
    header, (rows, dim) = _header(made), made.vectors.shape
    n_buckets = header["buckets"]
    size = 4 * 2 + struct.calcsize("<12id3iqq") + len(made.words.data) + 10 * rows + 2 * 17
    size += 4 * dim * (2 * rows + n_buckets)
    notes = []
    if _with_ngrams(made):
        assert made.ngram_rows is not None
        notes.append(
            f"{human_bytes(size)}, of which {human_bytes(4 * dim * n_buckets)} are {n_buckets:,} rows of n-grams, "
            f"{n_buckets - len(made.ngram_rows):,} of them zeros"
        )
    else:
        notes.append(f"{human_bytes(size)}; without n-grams, so unseen words have no vectors")
    if made.contexts is None and made.nodes is None:
        notes.append("there is no output table: zeros are written, from which no training can go on")
    return _blocks(made, header), size, notes


def _with_ngrams(made: Vectors) -> bool:
    """Return whether words are made of n-grams; of lengths up to 0 there are none, and the file has no buckets."""
    return made.ngram_rows is not None and made.options.get("max_n") != 0


def _header(made: Vectors) -> dict[str, Any]:
    """Return the numbers of the header: from the options of the vectors, and of what they were trained on."""
    options = dict(made.meta.get("options", made.options))
    for parent in made.meta.get("parents", ()):
        if parent.get("kind") == "tokens" and "min_count" in parent.get("options", {}):
            options.setdefault("min_count", parent["options"]["min_count"])
    with_ngrams = _with_ngrams(made)
    found: dict[str, Any] = {
        name: _whole(options.get(name), default) for name, default in _UNKNOWN.items() if name != "sample"
    }
    sample = options.get("sample")
    found["sample"] = float(sample) if isinstance(sample, (int, float)) else _UNKNOWN["sample"]
    for name in ("buckets", "min_n", "max_n"):
        found[name] = int(options[name]) if with_ngrams else 0
    loss = options.get("loss") if made.nodes is None else "hierarchical"
    found["loss"] = next((code for code, name in LOSSES.items() if name == loss), 2)
    found["arch"] = next((code for code, name in ARCHS.items() if name == options.get("arch")), 2)
    return found | {"dim": int(made.vectors.shape[1])}


def _whole(value: Any, default: float) -> int:
    return value if type(value) is int and 0 <= value < 1 << 31 else int(default)


def _blocks(made: Vectors, header: dict[str, Any]) -> Iterator[bytes]:
    """Yield the file from its beginning to its end."""
    rows, dim = made.vectors.shape
    yield struct.pack("<2i12id", MARK, VERSION, *(header[name] for name in FIELDS))
    tokens = made.stats.get("tokens")
    tokens = tokens if type(tokens) is int and 0 <= tokens < 1 << 63 else int(np.sum(made.unigram))
    yield struct.pack("<3iqq", rows, rows, 0, tokens, -1)
    yield from _dictionary(made)
    yield struct.pack("<B2q", 0, rows + header["buckets"], dim)
    yield from _table(made, "word_rows" if made.ngram_rows is not None else "vectors")
    if header["buckets"]:
        yield from _bucket_rows(made, header["buckets"])
    yield struct.pack("<B2q", 0, rows, dim)
    written = 0
    for name in ("contexts", "nodes"):
        if not written and getattr(made, name) is not None:
            yield from _table(made, name)
            written = len(getattr(made, name))
    for _ in range(written, rows):
        yield bytes(4 * dim)


def _dictionary(made: Vectors) -> Iterator[bytes]:
    """Yield the entries: word, NUL, count, type 0. Where no count is known each word counts once."""
    pack, step = struct.Struct("<xqb").pack, 1 << 16
    counts = np.asarray(made.unigram)
    counts = counts if counts.any() else np.ones_like(counts)
    for start in range(0, len(counts), step):
        some = counts[start : start + step].tolist()
        yield b"".join(made.words.bytes_at(start + i) + pack(count, 0) for i, count in enumerate(some))


def _table(made: Vectors, name: str) -> Iterator[bytes]:
    for _, block in store.stream(made, name):
        yield np.ascontiguousarray(block, "<f4").tobytes()


def _bucket_rows(made: Vectors, n: int) -> Iterator[bytes]:
    """Yield the rows of all buckets."""
    dim = made.vectors.shape[1]
    step = max(_NUMBERS // max(dim, 1), 1)
    for start in range(0, n, step):
        stop = min(start + step, n)
        block = np.zeros((stop - start, dim), "<f4")
        first, last = np.searchsorted(made.ngram_buckets, [start, stop])
        block[np.asarray(made.ngram_buckets[first:last]) - start] = made.ngram_rows[first:last]
        if not np.isfinite(block).all():
            raise InputError(f"{made.path}: damaged: ngram_rows holds values that are not finite; make the file again")
        store.release(made.ngram_rows, first, last)
        yield block.tobytes()
