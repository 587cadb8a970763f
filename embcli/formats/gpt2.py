"""GPT-2's pair of files: vocab.json (token to id) and merges.txt (a line a merge, in order)."""

from __future__ import annotations

import json
from typing import Any

from embcli.artifacts.schema import Tokenizer
from embcli.errors import InputError
from embcli.formats.bytechars import spelled, written
from embcli.formats.parts import assembled, bytes_of, exportable, with_merges

VOCAB, MERGES = "vocab.json", "merges.txt"


def read(name: str, vocab: bytes, merges: bytes, pattern: str | None) -> Tokenizer:
    """Return the tokenizer of the two files. Tokens that no byte-level characters spell are special.

    A token that takes no part in a merge and is longer than a byte, at the end of the vocabulary, is special too, as
    ``<|endoftext|>`` is. Raises InputError where the files do not fit together.
    """
    try:
        ids = json.loads(vocab)
    except ValueError:
        raise InputError(f"{name}: {VOCAB} is not JSON") from None
    if not isinstance(ids, dict) or not all(isinstance(i, int) for i in ids.values()):
        raise InputError(f"{name}: {VOCAB}: expected tokens and their ids")
    pairs = _pairs(name, merges)
    made_of = {a + b for a, b in pairs}
    special = [i for token, i in ids.items() if token not in made_of and len(spelled(token) or b"??") > 1]
    lost = {i for i in special if spelled(_token(ids, i)) is None}
    tokens = {i: _token(ids, i).encode() if i in lost else bytes_of(name, token) for token, i in ids.items()}
    return with_merges(assembled(name, tokens, special, pattern or "gpt2"), pairs, ids)


def _token(ids: dict[str, int], at: int) -> str:
    return next(token for token, i in ids.items() if i == at)


def _pairs(name: str, merges: bytes) -> list[tuple[str, str]]:
    """Return the merges of merges.txt."""
    pairs = []
    for number, line in enumerate(merges.decode("utf-8", "replace").split("\n"), 1):
        line = line.rstrip("\r")
        if not line or (number == 1 and line.startswith("#version")):
            continue
        left, blank, right = line.partition(" ")
        if not blank or not left or not right or " " in right:
            raise InputError(f"{name}: {MERGES}: line {number:,}: expected two tokens, found {line[:40]!r}")
        pairs.append((left, right))
    return pairs


def write(made: Any) -> tuple[dict[str, bytes], list[str]]:
    """Return the content of the two files by name, and what they cannot hold."""
    view = exportable(made, "vocab.json and merges.txt")
    forms = {i: written(made.tokens.bytes_at(i)) for i in range(len(made.tokens)) if view.ordinary[i]}
    forms |= {i: made.tokens.bytes_at(i).decode("utf-8", "replace") for i in sorted(view.special)}
    lines = ["#version: 0.2", *(f"{forms[a]} {forms[b]}" for a, b in made.merges.tolist()), ""]
    vocab = json.dumps({forms[i]: i for i in sorted(forms)}, ensure_ascii=False)
    lost = [] if view.text["pattern"] == "gpt2" else [f"the pattern {view.text['pattern']} (readers assume gpt2)"]
    if view.text.get("whole"):
        lost.append("that a piece which is a token stays whole")
    notes = [f"these files do not hold {' and '.join(lost)}; convert to tokenizer-json to keep it"] if lost else []
    return {VOCAB: vocab.encode(), MERGES: "\n".join(lines).encode()}, notes
