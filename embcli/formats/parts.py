"""What formats of tokenizers share: from tokens and merges to an artifact, with the checks, and back."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embcli.artifacts.schema import Tokenizer, Words, readable
from embcli.errors import InputError, UsageError
from embcli.formats.bytechars import spelled, written
from embcli.kernels import pieces as k
from embcli.text.bpe_encode import TypeIds, room
from embcli.text.patterns import splitter
from embcli.text.tokenizer import View
from embcli.text.typetable import TypeTable

#: ids that a file may use at most; beyond, a typing error would take all memory
_MOST = 1 << 22


def assembled(
    name: str, tokens: Mapping[int, bytes], special: Sequence[int], pattern: str, *, whole: bool = False
) -> Tokenizer:
    """Return a byte-level tokenizer without merges from its tokens by id. Raises InputError for impossible ids."""
    if not tokens:
        raise InputError(f"{name}: holds no tokens")
    top = max(tokens)
    if min(tokens) < 0 or top >= _MOST:
        raise InputError(f"{name}: holds the id {min(tokens) if min(tokens) < 0 else top:,}, which is no id of a token")
    try:
        cut = splitter(pattern)
    except UsageError as e:
        raise InputError(f"{name}: {e}") from None
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
    if len(set(pairs)) < len(pairs):
        again = next(pair for pair, n in Counter(pairs).items() if n > 1)
        raise InputError(f"{made.path}: damaged: the merge {' '.join(again)[:40]!r} is there twice")
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
    rules, tokens = view.room_for(len(made.tokens)), made.tokens
    found = k.recover(rules, room(longest + 1), tokens.data, tokens.offsets, view.base, view.ordinary, merges)
    n = int(found)
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
    if len(unmade := [] if made.text["whole"] else view.unmade().tolist()):
        raise InputError(
            f"{made.path}: no merge makes the token {view.readable(unmade[0])!r} (id {unmade[0]:,}; {len(unmade):,} "
            "such tokens): a merge is missing or altered; name a special token by --special TOKEN=ID"
        )
    made.stats = {"vocab": len(made.tokens), "base": 256, "merges": len(made.merges)}
    return made


def loaded(name: str, data: bytes) -> Any:
    """Return what JSON says. Raises InputError, also where a name stands twice in one object."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            again = next(key for key, n in Counter(key for key, _ in pairs).items() if n > 1)
            raise InputError(f"{name}: damaged: {again[:40]!r} is there twice")
        return found

    try:
        return json.loads(data, object_pairs_hook=once)
    except (ValueError, RecursionError) as e:
        raise InputError(f"{name}: is not JSON: {e}") from None


def vocabulary(name: str, held: Any) -> dict[str, int]:
    """Return tokens and their ids as JSON has them. Raises InputError if they are none, or an id is there twice."""
    if not isinstance(held, dict) or not all(type(i) is int for i in held.values()):
        raise InputError(f"{name}: damaged: expected tokens and their ids")
    if len(set(held.values())) < len(held):
        again = next(i for i, n in Counter(held.values()).items() if n > 1)
        raise InputError(f"{name}: damaged: two tokens have the id {again:,}")
    return held


def encoded(name: str, content: str) -> bytes:
    """Return the bytes of a special token. Raises InputError if it is no text."""
    try:
        return content.encode()
    except UnicodeEncodeError:
        raise InputError(f"{name}: the special token {content[:40]!r} is not Unicode text") from None


def named_specials(special: Sequence[str]) -> dict[bytes, int]:
    """Return special tokens given as ``TOKEN=ID``. Raises UsageError."""
    found = {}
    for each in special:
        token, _, at = each.rpartition("=")
        if not token or not (at.isascii() and at.isdigit() and len(at) < 12):
            raise UsageError(f"--special: expected TOKEN=ID, such as '<|endoftext|>=100257', found {each!r}")
        found[token.encode("utf-8", "surrogateescape")] = int(at)
    return found


def bytes_of(name: str, token: str) -> bytes:
    """Return the bytes of a token written in GPT-2's way. Raises InputError if it is not."""
    found = spelled(token)
    if found is None:
        raise InputError(
            f"{name}: the token {token[:40]!r} is not written in byte-level characters; only byte-level BPE is read"
        )
    return found


def split_tokens(view: View) -> NDArray[np.intp]:
    """Return the ids of ordinary tokens that merges do not make of their own bytes, which matters if none is whole."""
    if view.text.get("whole"):
        return np.empty(0, np.intp)
    chosen = np.flatnonzero(view.ordinary)
    table, encoded_as = TypeTable(), TypeIds(view)
    begins, sizes = view.tokens.offsets[chosen], np.diff(view.tokens.offsets)[chosen]
    table.add(view.tokens.data, begins.astype(np.uint64), sizes.astype(np.uint64), np.zeros(len(chosen), np.uint64))
    encoded_as.add(table)
    split: NDArray[np.intp] = chosen[encoded_as.only[: len(table)] != chosen]
    return split


def special_form(made: Any, at: int) -> str:
    """Return a special token as text. Raises InputError if it is none."""
    try:
        return str(made.tokens.bytes_at(at), "utf-8")
    except UnicodeDecodeError:
        raise InputError(
            f"{made.path}: the special token {readable(made.tokens.bytes_at(at))!r} is not UTF-8 and cannot be written"
        ) from None


def written_forms(made: Any, view: View) -> dict[int, str]:
    """Return every token in visible characters, special ones as they are. Raises InputError if two look alike."""
    forms = {i: written(made.tokens.bytes_at(i)) for i in np.flatnonzero(view.ordinary).tolist()}
    forms |= {i: special_form(made, i) for i in sorted(view.special)}
    if len(set(forms.values())) < len(forms):
        again = next(form for form, n in Counter(forms.values()).items() if n > 1)
        raise InputError(
            f"{made.path}: two tokens would be written {again!r}, so one would be lost; rename the special one"
        )
    return forms


def exportable(made: Any, to: str) -> View:
    """Return a view of a tokenizer that is to be written in another format; InputError if it is not byte-level."""
    if made.text.get("base") != "byte":
        raise InputError(
            f"{made.path}: its symbols are characters (--unit char), which {to} cannot hold; train with bytes"
        )
    return View(made)
