"""Rank files of tiktoken: a line a token, its bytes in base64 and its rank, which is its id."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from embcli.artifacts.schema import Tokenizer
from embcli.errors import InputError, UsageError
from embcli.formats.parts import assembled, exportable, named_specials, split_tokens, with_recovered


def looks_like(head: bytes) -> bool:
    """Return whether a file begins like a rank file."""
    parts = head.split(b"\n", 1)[0].split()
    return len(parts) == 2 and parts[1].isdigit() and _decoded(parts[0]) is not None


def _decoded(text: bytes) -> bytes | None:
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error:
        return None


def read(name: str, data: bytes, pattern: str | None, special: Sequence[str]) -> Tokenizer:
    """Return the tokenizer of a rank file; its merges are recovered.

    Parameters
    ----------
    pattern
        How text is cut, which the file does not say.
    special
        Special tokens as ``TOKEN=ID``.

    Raises InputError for a line that is no rank, UsageError without a pattern.
    """
    if pattern is None:
        raise UsageError(f"{name}: a rank file does not say how text is cut; give --pattern gpt2, gpt4 or gpt4o")
    tokens: dict[int, bytes] = {}
    for number, line in enumerate(data.split(b"\n"), 1):
        if not line.strip():
            continue
        parts = line.split()
        spelled = _decoded(parts[0]) if len(parts) == 2 and parts[1].isdigit() and len(parts[1]) < 12 else None
        if not spelled:
            raise InputError(f"{name}: line {number:,}: expected a token in base64 and its rank, found {line[:40]!r}")
        if (rank := int(parts[1])) in tokens:
            raise InputError(f"{name}: line {number:,}: the rank {rank:,} is there twice")
        tokens[rank] = spelled
    if len(set(tokens.values())) < len(tokens):
        raise InputError(f"{name}: damaged: a token is there twice")
    extra = named_specials(special)
    for token, at in extra.items():
        if at in tokens:
            raise UsageError(f"--special {token.decode('utf-8', 'replace')}={at}: the file has a token of this id")
        tokens[at] = token
    return with_recovered(assembled(name, tokens, list(extra.values()), pattern, whole=True))


def missing(made: Tokenizer) -> list[str]:
    """Return a warning on ids below the highest that no token has, which are those of special tokens, if any."""
    holes = np.flatnonzero(np.diff(made.tokens.offsets) == 0).tolist()
    if not holes:
        return []
    named = ", ".join(f"{i:,}" for i in holes[:5]) + (", ..." if len(holes) > 5 else "")
    one = len(holes) == 1
    what = f"the id {named}" if one else f"{len(holes):,} ids ({named})"
    return [
        f"warning: no line has {what}, as a rank file lacks special tokens: {'it stays' if one else 'they stay'} "
        f"empty; name {'it' if one else 'them'}, such as --special '<|endoftext|>={holes[0]}'"
    ]


def write(made: Any) -> tuple[Iterator[bytes], list[str]]:
    """Return a rank file in blocks, and what it cannot hold, for the person who converts.

    Raises InputError if ranks would merge otherwise than this tokenizer does.
    """
    view = exportable(made, "a rank file")
    results = view.results
    if len(set(made.tokens.bytes_at(i) for i in np.flatnonzero(view.ordinary).tolist())) < view.ordinary.sum():
        raise InputError(f"{made.path}: two tokens spell the same, so one would be lost")
    if len(taken := split_tokens(view)):
        raise InputError(
            f"{made.path}: the token {view.readable(int(taken[0]))!r} alone would be encoded as several, which "
            "ranks would not do; convert to tokenizer-json"
        )
    if (np.diff(results) <= 0).any():
        at = int(np.argmax(np.diff(results) <= 0)) + 1
        raise InputError(
            f"{made.path}: merge {at + 1:,} ({view.readable(int(results[at]))!r}) comes after one with a higher id, so "
            "ranks would merge in another order; convert to tokenizer-json"
        )
    lost = [f"the pattern {view.text['pattern']}"]
    if view.special:
        names = [f"{view.readable(i)}={i}" for i in sorted(view.special)]
        lost.append(f"the special tokens {', '.join(names[:5])}{' ...' * (len(names) > 5)}")
    lines = (base64.b64encode(made.tokens.bytes_at(i)) + b" %d\n" % i for i in np.flatnonzero(view.ordinary).tolist())
    return lines, [f"a rank file does not hold {' and '.join(lost)}; tiktoken.Encoding takes that beside it"]
