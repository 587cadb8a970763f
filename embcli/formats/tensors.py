"""Vectors in .safetensors files: ours carry their words; tables of other programs have a vocabulary beside them.

Files are read through the safetensors package. They are written without it, in blocks: its own writer takes a copy of
the whole table.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embcli.artifacts import identify, store
from embcli.artifacts.schema import Vectors, Words
from embcli.errors import InputError, UsageError
from embcli.formats.opened import opened
from embcli.formats.vector_text import finish, unread
from embcli.formats.vector_words import Taken, nth

#: where words may stand, beside a table that carries none
_VOCABULARIES = ("tokenizer.json", "vocab.json", "vocab.txt")
_FLOATS = ("F32", "F16", "F64")
#: numbers of a block
_NUMBERS = 1 << 20
_ROW_NAMES = ("embed", "wte", "vectors")


def looks_like(head: bytes) -> bool:
    """Return whether a file begins with the size of a JSON header and that header."""
    return (
        len(head) > 9 and int.from_bytes(head[:8], "little") < 1 << 27 and head[8:10] in (b'{"', b"{ ", b"{\n", b"{}")
    )


def _library() -> Any:
    try:
        import safetensors
    except ImportError:
        raise InputError(
            "safetensors files need a package that is not installed: run 'pip install safetensors'"
        ) from None
    return safetensors


def read(
    path: str, tensor: str | None, errors: str | None, limit: int | None
) -> tuple[Vectors, list[str], list[dict[str, str]]]:
    """Return an artifact whose rows are read while it is written, a list for notes, and sources.

    ``tensor`` names the table; None: the only one, or the one that is called like one of words. Words are those of the
    file, or of tokenizer.json, vocab.json or vocab.txt beside it. ``errors`` and ``limit`` as for ``Taken``.

    Raises InputError for what cannot be read or has no words, UsageError if several tables may be meant.
    """
    library, name = _library(), identify.show(path)
    if path == "-":
        raise InputError("stdin: a safetensors file is read by its name; give one")
    _check_size(path, name)
    try:
        held = library.safe_open(path, framework="numpy")
        tables = {key: held.get_slice(key) for key in held.keys()}  # noqa: SIM118 - no dict
    except (OSError, library.SafetensorError) as e:
        raise InputError(
            f"{name}: is no sound safetensors file: {' '.join(str(e).split())[:80]}; get it again"
        ) from None
    called = _chosen(tables, tensor, name)
    words, source, counts = _words(held, tables, path, name)
    rows, dim = tables[called].get_shape()
    taken, notes = Taken(name, errors, limit, few=len(words) < 1 << 15), list[str]()
    faults = [] if len(words) >= rows else [f"{rows:,} rows and {len(words):,} words; the rows behind are left out"]
    if len(words) > rows:
        raise InputError(f"{name}: tensor {called!r} has {rows:,} rows, and {source} has {len(words):,} words")
    kept = list[NDArray[np.bool_]]()

    def produced() -> Iterator[NDArray[np.float32]]:
        step = max(_NUMBERS // max(dim, 1), 1)
        start = 0
        while start < len(words) and taken.room > 0:
            stop = min(start + step, len(words), start + taken.room)
            block = np.ascontiguousarray(tables[called][start:stop]).astype(np.float32, copy=False)
            if not np.isfinite(block).all():
                raise InputError(f"{name}: tensor {called!r} holds numbers that are not finite")
            here = words.offsets[start : stop + 1]
            mask = taken.take(np.asarray(words.data), here[:-1], here[1:], nth("row", start))
            kept.append(mask)
            yield block[mask]
            start = stop
        finish(made, taken)
        if counts is not None:
            made.unigram = counts[: sum(map(len, kept))][np.concatenate(kept)]
        notes.append(f"tensor {called!r} ({rows:,} x {dim:,}, {tables[called].get_dtype()}), words of {source}")
        notes.extend(taken.notes(faults))

    made = unread(produced(), dim)
    return made, notes, []


def _check_size(path: str, name: str) -> None:
    """Raise InputError if a file does not hold the header whose size is its first number."""
    with opened(path) as file:
        size, first = os.fstat(file.fileno()).st_size, file.read(8)
    if len(first) < 8:
        raise InputError(
            f"{name}: is no sound safetensors file: {size} bytes, and the size of its header has 8; get it again"
        )
    if (claimed := int.from_bytes(first, "little")) > size - 8:
        raise InputError(
            f"{name}: is no sound safetensors file: its header is to have {claimed:,} bytes, and {size - 8:,} are "
            "there; get it again"
        )


def _chosen(tables: dict[str, Any], tensor: str | None, name: str) -> str:
    """Return the name of the table of vectors."""
    flat = {key: table for key, table in tables.items() if len(table.get_shape()) == 2}
    if tensor is not None:
        if tensor not in flat:
            raise UsageError(f"--tensor {tensor}: {name} has no such table; it has {_few(list(flat))}")
        found = [tensor]
    else:
        found = [key for key, table in flat.items() if table.get_dtype() in _FLOATS or table.get_dtype() == "BF16"]
        for part in _ROW_NAMES if len(found) > 1 else ():
            if len(like := [key for key in found if part in key.lower()]) == 1:
                found = like
                break
    if len(found) != 1:
        what = (
            f"several tables, such as {_few(found)}; say which one: --tensor NAME" if found else "no table of numbers"
        )
        raise (UsageError if found else InputError)(f"{name}: has {what}")
    if (kind := flat[found[0]].get_dtype()) not in _FLOATS:
        raise InputError(f"{name}: tensor {found[0]!r} is {kind}; only float16, float32 and float64 can be read")
    return found[0]


def _few(names: list[str]) -> str:
    return (
        ", ".join(ascii(each)[1:-1][:60] for each in names[:5]) + (", ..." if len(names) > 5 else "")
        if names
        else "none"
    )


def _words(held: Any, tables: dict[str, Any], path: str, name: str) -> tuple[Words, str, NDArray[np.int64] | None]:
    """Return the words, what they are called in messages, and how often each stood in the text if that is known."""
    if {"word_bytes", "word_offsets"} <= tables.keys():
        data, offsets = (held.get_tensor(key) for key in ("word_bytes", "word_offsets"))
        sound = data.dtype == np.uint8 and offsets.dtype == np.int64 and offsets.ndim == data.ndim == 1 and len(offsets)
        if not sound or offsets[0] != 0 or offsets[-1] != len(data) or (np.diff(offsets) < 0).any():
            raise InputError(f"{name}: damaged: word_bytes and word_offsets do not fit together")
        counts = held.get_tensor("unigram") if "unigram" in tables else None
        if counts is not None and (
            counts.dtype != np.int64 or counts.shape != (len(offsets) - 1,) or counts.min(initial=0) < 0
        ):
            raise InputError(f"{name}: damaged: unigram is no count of each word")
        return Words(data, offsets), "the file", counts
    for each in _VOCABULARIES:
        beside = os.path.join(os.path.dirname(path), each)
        if os.path.isfile(beside):
            return Words.of(_vocabulary(beside)), identify.show(beside), None
    raise InputError(
        f"{name}: has no words (word_bytes and word_offsets), and there is no {' or '.join(_VOCABULARIES)} beside"
    )


def _vocabulary(path: str) -> list[str]:
    """Return the words of a vocabulary by their ids, which have no gaps."""
    try:
        with open(path, encoding="utf-8") as file:
            if path.endswith(".txt"):
                return file.read().rstrip("\n").split("\n")
            held = json.load(file)
        model = held.get("model", held) if isinstance(held, dict) else {}
        vocab = model.get("vocab", model)
        pairs = dict(vocab) if isinstance(vocab, dict) else {each[0]: i for i, each in enumerate(vocab or ())}
        pairs |= {each["content"]: each["id"] for each in held.get("added_tokens") or ()}
        words = sorted(pairs, key=pairs.__getitem__)
        if [pairs[word] for word in words] != list(range(len(words))):
            raise ValueError("its ids have gaps")
        return words
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as e:
        raise InputError(f"{identify.show(path)}: is no vocabulary with an id a word: {str(e)[:60]}") from None


def write(made: Vectors, dtype: str | None) -> tuple[Iterator[bytes], int]:
    """Return a file in blocks, and its size: ``vectors``, ``word_bytes``, ``word_offsets``, ``unigram`` if any.

    dtype : float16 or float32, None: as the artifact has it. Raises InputError where a number is too large for float16.
    """
    halves = dtype == "float16" or (dtype is None and hasattr(made.vectors, "halves"))
    n, dim = made.vectors.shape
    parts: dict[str, tuple[str, tuple[int, ...], int]] = {
        "vectors": ("F16" if halves else "F32", (n, dim), n * dim * (2 if halves else 4)),
        "word_offsets": ("I64", (n + 1,), 8 * (n + 1)),
    }
    if np.any(made.unigram):
        parts["unigram"] = ("I64", (n,), 8 * n)
    parts["word_bytes"] = ("U8", (len(made.words.data),), len(made.words.data))
    header: dict[str, Any] = {"__metadata__": {"format": "embcli"}}
    at = 0
    for name, (kind, shape, size) in parts.items():
        header[name] = {"dtype": kind, "shape": list(shape), "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return _written(made, list(parts), len(text).to_bytes(8, "little") + text, halves), 8 + len(text) + at


def _written(made: Vectors, names: list[str], head: bytes, halves: bool) -> Iterator[bytes]:
    yield head
    for name in names:
        for _, block in store.stream(made, name):
            if name == "vectors":
                block = halved(block, made.path) if halves else block
            yield np.ascontiguousarray(block, block.dtype.newbyteorder("<")).tobytes()


def halved(block: NDArray[np.float32], name: str) -> NDArray[np.float16]:
    """Return numbers as float16. Raises InputError if one is too large for it."""
    with np.errstate(over="ignore"):
        narrow = block.astype(np.float16)
    if not np.isfinite(narrow).all():
        most = float(np.abs(block).max())
        raise InputError(f"{name}: holds {most:.6g}, and float16 ends at 65,504; take --dtype float32")
    return narrow
