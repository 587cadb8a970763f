"""The layout of fastText's .bin files: header, dictionary, two tables. What they mean: fasttext_read.py, _write.py.

All numbers are little-endian. Files from before 2017 lack the mark and the version and the flags before the tables,
and begin with the dimensions. A size that is claimed is compared with the file before anything is taken.
"""

from __future__ import annotations

import mmap
import struct
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embcli.errors import InputError

MARK, VERSION = 793712314, 12
#: the header's numbers, in order
FIELDS = (
    "dim", "window", "epochs", "min_count", "negative", "word_ngrams", "loss", "arch", "buckets", "min_n", "max_n",
    "lr_update_rate", "sample",
)  # fmt: skip
LOSSES = {1: "hierarchical", 2: "negative", 3: "softmax", 4: "one-vs-all"}
ARCHS = {1: "cbow", 2: "skipgram", 3: "supervised"}
_HEADER = struct.Struct("<12id")
_SIZES = struct.Struct("<3iq")


@dataclass(frozen=True)
class Layout:
    """Where things stand in a model's file.

    ``version`` 0 is the old layout. ``header`` by FIELDS, ``tokens`` how many the text had; the dictionary's ``words``
    as bytes one after another with ``offsets`` (V + 1,), and ``counts`` int64 (V,); ``inputs`` and ``outputs`` are
    mapped float32 (V + buckets, d) and (V, d).
    """

    version: int
    header: dict[str, Any]
    tokens: int
    words: NDArray[np.uint8]
    offsets: NDArray[np.int64]
    counts: NDArray[np.int64]
    inputs: NDArray[np.float32]
    outputs: NDArray[np.float32]


def looks_like(head: bytes) -> bool:
    """Return whether a file begins like a model, be it of the old layout, which has no mark."""
    if len(head) >= 4 and struct.unpack_from("<i", head)[0] == MARK:
        return True
    if len(head) < _HEADER.size + _SIZES.size:
        return False
    found = dict(zip(FIELDS, _HEADER.unpack_from(head), strict=True))
    size, words, labels, tokens = _SIZES.unpack_from(head, _HEADER.size)
    small = all(0 <= found[name] < 1 << 20 for name in ("dim", "window", "epochs", "min_n", "max_n", "negative"))
    sound = found["loss"] in LOSSES and found["arch"] in ARCHS and found["dim"] > 0 and 0 <= found["sample"] <= 1
    return bool(small and sound and size == words + labels and min(words, labels, tokens) >= 0)


class _Reader:
    """A mapped file that is read from its beginning; running over its end is an InputError with the file's name."""

    def __init__(self, file: mmap.mmap, name: str) -> None:
        self.file, self.name, self.at = file, name, 0

    def fail(self, what: str) -> InputError:
        return InputError(f"{self.name}: damaged: {what}; get the file again")

    def need(self, size: int, what: str) -> int:
        """Return where the next ``size`` bytes begin, and go on behind them."""
        at, self.at = self.at, self.at + size
        if size < 0 or self.at > len(self.file):
            raise self.fail(f"it ends after {len(self.file):,} bytes, within {what}")
        return at

    def unpack(self, form: struct.Struct, what: str) -> tuple[Any, ...]:
        return form.unpack_from(self.file, self.need(form.size, what))

    def table(self, rows: int, columns: int, flag: bool, what: str) -> NDArray[np.float32]:
        """Return a table of float32 of a known shape. Raises InputError if it is quantized or has another shape."""
        if flag and self.unpack(struct.Struct("<B"), what)[0]:
            raise InputError(
                f"{self.name}: is a quantized fastText model (.ftz), whose vectors are only approximate; convert the "
                ".bin that it was made from"
            )
        found = self.unpack(struct.Struct("<2q"), what)
        if found != (rows, columns):
            raise self.fail(f"{what} has {found[0]:,} x {found[1]:,} numbers where {rows:,} x {columns:,} are due")
        at = self.need(4 * rows * columns, what)
        return np.frombuffer(self.file, "<f4", rows * columns, at).reshape(rows, columns)


def parse(file: mmap.mmap, name: str) -> Layout:
    """Return what stands in a model's file.

    Raises InputError, with what the file is: damaged or cut off, a classifier, quantized, pruned, or of a later
    version. Memory: the dictionary.
    """
    reader = _Reader(file, name)
    version = 0
    if reader.unpack(struct.Struct("<i"), "its header")[0] == MARK:
        (version,) = reader.unpack(struct.Struct("<i"), "its header")
        if not 0 < version <= VERSION:
            raise InputError(f"{name}: is a fastText model of layout version {version}; up to {VERSION} can be read")
    else:
        reader.at = 0
    header = dict(zip(FIELDS, reader.unpack(_HEADER, "its header"), strict=True))
    size, n_words, n_labels, tokens = reader.unpack(_SIZES, "the head of its dictionary")
    if header["arch"] == 3 or n_labels > 0:
        raise InputError(
            f"{name}: is a supervised fastText model (a classifier with {max(n_labels, 0):,} labels), not word vectors"
        )
    _check_header(reader, header, size, n_words, n_labels)
    if tokens < 0:
        raise reader.fail(f"its text had {tokens:,} words")
    if version and (pruned := reader.unpack(struct.Struct("<q"), "the head of its dictionary")[0]) >= 0:
        raise InputError(f"{name}: is a pruned fastText model ({pruned:,} n-grams kept), which loses unseen words")
    words, offsets, counts = _dictionary(reader, n_words)
    inputs = reader.table(n_words + header["buckets"], header["dim"], version > 0, "its table of words and n-grams")
    outputs = reader.table(n_words, header["dim"], version > 0, "its output table")
    if reader.at != len(file):
        raise reader.fail(f"{len(file) - reader.at:,} bytes stand behind its end")
    return Layout(version, header, tokens, words, offsets, counts, inputs, outputs)


def _check_header(reader: _Reader, header: dict[str, Any], size: int, n_words: int, n_labels: int) -> None:
    """Raise InputError unless the header's numbers can be those of a model of word vectors."""
    for name, names in (("loss", LOSSES), ("arch", ARCHS)):
        if header[name] not in names:
            raise reader.fail(f"its header has the {name} {header[name]}")
    least = {"dim": 1, "buckets": 0, "min_n": 0, "max_n": 0}
    for name, low in least.items():
        if header[name] < low:
            raise reader.fail(f"its header has {name.replace('_', '-')} {header[name]:,}")
    if max(header["min_n"], header["max_n"]) > 1000 or 0 < header["max_n"] < header["min_n"]:
        raise reader.fail(f"its header has n-grams of {header['min_n']:,} to {header['max_n']:,} characters")
    if n_labels or n_words < 0 or size != n_words:
        raise reader.fail(f"its dictionary has {size:,} entries, {n_words:,} words and {n_labels:,} labels")
    if not header["buckets"] and header["max_n"]:
        raise reader.fail(f"it has n-grams of up to {header['max_n']:,} characters and no buckets for them")


def _dictionary(reader: _Reader, n: int) -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.int64]]:
    """Return the words' bytes, their offsets and counts. An entry is a word, NUL, its count, and its type."""
    file, start = reader.file, reader.at
    if 10 * n > len(file) - start:
        raise reader.fail(f"it ends after {len(file):,} bytes, within its dictionary of {n:,} words")
    nuls = np.empty(n, np.int64)
    for i in range(n):
        nul = file.find(b"\0", reader.at)
        if nul < 0:
            raise reader.fail(f"word {i + 1:,} of its dictionary has no end")
        nuls[i] = nul - start
        reader.at = nul
        reader.need(10, f"its dictionary, word {i + 1:,} of {n:,}")
    region = np.frombuffer(file, np.uint8, reader.at - start, start)
    raw = np.empty((n, 8), np.uint8)
    for k in range(8):
        raw[:, k] = region[nuls + 1 + k]
    counts = raw.reshape(-1).view("<i8").astype(np.int64, copy=False)
    if n and (region[nuls + 9].any() or counts.min() < 0):
        bad = int(np.argmax((region[nuls + 9] != 0) | (counts < 0)))
        raise reader.fail(f"entry {bad + 1:,} of its dictionary is no word with a count")
    inside = np.ones(len(region), np.bool_)
    for k in range(10):
        inside[nuls + k] = False
    ends = nuls - 10 * np.arange(n)
    return region[inside], np.concatenate([[0], ends]), counts
