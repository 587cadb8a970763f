"""What formats of tokenizers share: from tokens and merges to an artifact, with the checks, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from embcli.artifacts.schema import Tokenizer, Words
from embcli.errors import InputError
from embcli.formats.bytechars import spelled
from embcli.kernels import pieces as k
from embcli.text.bpe_encode import room
from embcli.text.patterns import splitter
from embcli.text.tokenizer import View

#: ids that a file may use at most; beyond, a typing error would take all memory
_MOST = 1 << 26


def assembled(
    name: str, tokens: Mapping[int, bytes], special: Sequence[int], pattern: str, *, whole: bool = False
) -> Tokenizer:
    """Return a byte-level tokenizer without merges from its tokens by id. Raises InputError for impossible ids."""
    if not tokens:
        raise InputError(f"{name}: holds no tokens")
    top = max(tokens)
    if min(tokens) < 0 or top >= _MOST:
        raise InputError(f"{name}: holds the id {min(tokens) if min(tokens) < 0 else top:,}, which is no id of a token")
    cut = splitter(pattern)
    return Tokenizer(
        tokens=Words.of(tokens.get(i, b"") for i in range(top + 1)),
        merges=np.empty((0, 2), np.int32),
        merge_counts=np.empty(0, np.int64),
        special_ids=np.array(sorted(special), np.int64),
        text={
            "unit": "bpe", "base": "byte", "pattern": cut.name, "regex": cut.text, "end_of_word": False, "whole": whole,
        },
        path=name,
    )  # fmt: skip


def with_merges(made: Tokenizer, pairs: Sequence[tuple[str, str]], ids: Mapping[str, int]) -> Tokenizer:
    """Return the tokenizer with merges given as two written tokens each; every one must spell a token."""
    merges = np.empty((len(pairs), 2), np.int32)
    for i, pair in enumerate(pairs):
        for side, part in enumerate(pair):
            if part not in ids:
                raise InputError(f"{made.path}: merge {i + 1:,} has {part[:40]!r}, which is no token of the vocabulary")
            merges[i, side] = ids[part]
    made.merges, made.merge_counts = merges, np.zeros(len(merges), np.int64)
    return counted(made)


def with_recovered(made: Tokenizer) -> Tokenizer:
    """Return the tokenizer with the merges that its ids as ranks stand for."""
    view = View(made)
    merges = np.empty((len(made.tokens), 2), np.int32)
    longest = int(np.diff(made.tokens.offsets).max(initial=1))
    n = int(k.recover(view.room_for(len(made.tokens)), room(longest + 1), view.base, view.ordinary, merges))
    made.merges, made.merge_counts = merges[:n].copy(), np.zeros(n, np.int64)
    return counted(made)


def counted(made: Tokenizer) -> Tokenizer:
    """Return the tokenizer with its figures, after a look whether it is whole."""
    view = View(made)
    missing = int((view.base < 0).sum())
    if missing:
        byte = int(np.argmax(view.base < 0))
        raise InputError(
            f"{made.path}: has no token for {missing} of the 256 bytes (such as 0x{byte:02x}): not a byte-level "
            "vocabulary, so not every text could be encoded"
        )
    assert len(view.results) == len(made.merges)
    made.stats = {"vocab": len(made.tokens), "base": 256, "merges": len(made.merges)}
    return made


def bytes_of(name: str, token: str) -> bytes:
    """Return the bytes of a token written in GPT-2's way. Raises InputError if it is not."""
    found = spelled(token)
    if found is None:
        raise InputError(
            f"{name}: the token {token[:40]!r} is not written in byte-level characters; only byte-level BPE is read"
        )
    return found


def exportable(made: Any, to: str) -> View:
    """Return a view of a tokenizer that is to be written in another format; InputError if it is not byte-level."""
    if made.text.get("base") != "byte":
        raise InputError(
            f"{made.path}: its symbols are characters (--unit char), which {to} cannot hold; train with bytes"
        )
    return View(made)
