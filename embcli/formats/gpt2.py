"""GPT-2's pair of files: vocab.json (token to id) and merges.txt (a line a merge, in order)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from embcli.artifacts.schema import Tokenizer
from embcli.errors import InputError, UsageError
from embcli.formats.parts import (
    assembled,
    bytes_of,
    encoded,
    exportable,
    loaded,
    named_specials,
    vocabulary,
    with_merges,
    written_forms,
)

VOCAB, MERGES = "vocab.json", "merges.txt"


def read(name: str, vocab: bytes, merges: bytes, pattern: str | None, special: Sequence[str] = ()) -> Tokenizer:
    """Return the tokenizer of the two files.

    The files do not say which tokens are special: those of ``special`` (``TOKEN=ID``), and others that no merge makes
    if they look so: ``<...>``, ``[...]``. Raises InputError where the files do not fit together.
    """
    ids = vocabulary(f"{name}: {VOCAB}", loaded(f"{name}: {VOCAB}", vocab))
    pairs = _pairs(name, merges)
    made_of, given = {a + b for a, b in pairs}, named_specials(special)
    tokens, marked = {}, []
    for token, i in ids.items():
        if given.get(encoded(name, token)) == i or (token not in made_of and _looks_special(token)):
            marked.append(i)
            tokens[i] = encoded(name, token)
        else:
            tokens[i] = bytes_of(name, token)
    for content, i in given.items():
        if tokens.get(i, content) != content:
            raise UsageError(
                f"--special {content.decode('utf-8', 'replace')}={i}: the file has another token of this id"
            )
        if i not in tokens:
            marked.append(i)
            tokens[i] = content
    return with_merges(assembled(name, tokens, marked, pattern or "gpt2"), pairs, ids)


def _looks_special(token: str) -> bool:
    return len(token) > 2 and (token[0], token[-1]) in (("<", ">"), ("[", "]"))


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
    forms = written_forms(made, view)
    lines = ["#version: 0.2", *(f"{forms[a]} {forms[b]}" for a, b in made.merges.tolist()), ""]
    vocab = json.dumps({forms[i]: i for i in sorted(forms)}, ensure_ascii=False)
    lost = [] if view.text["pattern"] == "gpt2" else [f"the pattern {view.text['pattern']} (readers assume gpt2)"]
    if view.text.get("whole"):
        lost.append("that a piece which is a token stays whole")
    notes = [f"these files do not hold {' and '.join(lost)}; convert to tokenizer-json to keep it"] if lost else []
    return {VOCAB: vocab.encode(), MERGES: "\n".join(lines).encode()}, notes
