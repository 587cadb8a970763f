"""Tokenizers of other programs, whichever format they are in: recognise, read, write."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from embcli.artifacts import identify
from embcli.artifacts.schema import Tokenizer
from embcli.errors import InputError, UsageError
from embcli.formats import gpt2, tiktoken, tokenizer_json
from embcli.formats.unknown import foreign
from embcli.spec import ConvertParams

#: how files begin that gzip, bzip2, xz, zstd and zip made
_PACKED = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"\x28\xb5\x2f\xfd", b"PK\x03\x04")


@dataclass(frozen=True)
class Found:
    """What a file holds: the tokenizer, its format, digests of what was read, and notes for the person who converts."""

    made: Tokenizer
    format: str
    digests: tuple[str, ...]
    notes: list[str] = field(default_factory=list)


def read(path: str, params: ConvertParams) -> Found:
    """Return the tokenizer in a file or a folder of another program.

    Raises InputError for what cannot be read, by name; UsageError where an option is missing.
    """
    if os.path.isdir(path):
        return _folder(path, params)
    data = _content(path)
    name = "stdin" if path == "-" else path
    form = params.from_ or _guess(name, data)
    digests = (hashlib.sha256(data).hexdigest(),)
    if form == "gpt2":
        return _folder(os.path.dirname(path) or ".", params)
    if form == "tiktoken":
        made = tiktoken.read(name, data, params.pattern, params.special)
        return Found(made, form, digests, tiktoken.missing(made))
    made, notes = tokenizer_json.read(name, data, params.pattern, params.special)
    return Found(made, form, digests, notes)


def _content(path: str) -> bytes:
    try:
        return sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file") from None
    except OSError as e:
        raise InputError(f"{path}: cannot be read: {e.strerror}") from None


def _folder(path: str, params: ConvertParams) -> Found:
    """Read a folder with vocab.json and merges.txt, or with a tokenizer.json."""
    parts = [Path(path) / name for name in (gpt2.VOCAB, gpt2.MERGES)]
    whole = Path(path) / "tokenizer.json"
    if whole.is_file() and params.from_ in (None, "tokenizer-json"):
        return read(str(whole), params)
    for part in parts:
        if not part.is_file():
            raise InputError(f"{path}: has no {part.name}; expected a folder with {gpt2.VOCAB} and {gpt2.MERGES}")
    vocab, merges = (_content(str(part)) for part in parts)
    digests = tuple(hashlib.sha256(data).hexdigest() for data in (vocab, merges))
    return Found(gpt2.read(path, vocab, merges, params.pattern, params.special), "gpt2", digests)


def _guess(path: str, data: bytes) -> str:
    """Return the format of a file by its content. Raises InputError, saying what it looks like."""
    if tiktoken.looks_like(data[:4096]):
        return "tiktoken"
    head = data[:4096].lstrip()
    if head.startswith(b"#version") or (os.path.basename(path) in (gpt2.VOCAB, gpt2.MERGES)):
        return "gpt2"
    if head.startswith(b"{"):
        return "tokenizer-json"
    if b"\x0a\x09" in data[:64] or b"<unk>" in data[:64]:
        raise InputError(f"{path}: looks like a SentencePiece model; only byte-level BPE can be read yet")
    if data.startswith(_PACKED):
        raise InputError(f"{path}: is compressed; unpack it first (gunzip, bunzip2, xz -d, unzstd, unzip)")
    raise foreign(path, data[: identify.HEAD], data[: identify.HEAD])


def write(made: Any, form: str) -> tuple[dict[str, Iterable[bytes]], list[str]]:
    """Return files by name with their content in blocks ("" is the output itself), and notes of what was lost."""
    if form == "gpt2":
        files, notes = gpt2.write(made)
        return {name: [data] for name, data in files.items()}, notes
    if form == "tiktoken":
        lines, notes = tiktoken.write(made)
        return {"": lines}, notes
    data, notes = tokenizer_json.write(made)
    return {"": [data]}, notes


def named(out: str, to: str | None) -> str:
    """Return the format to write, by the option or by the name of the output. Raises UsageError."""
    if to is not None:
        return to
    if out.endswith(".json"):
        return "tokenizer-json"
    if out.endswith((".tiktoken", ".ranks")):
        return "tiktoken"
    if out.endswith("/"):
        return "gpt2"
    raise UsageError(f"-o {out}: the name does not say the format; give --to tokenizer-json, gpt2 or tiktoken")
