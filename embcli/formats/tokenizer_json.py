"""Hugging Face's tokenizer.json with a byte-level BPE model: vocabulary, merges, pre-tokenizer, added tokens.

What the program cannot do is refused by its name in the file, so that no ids are quietly different.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from embcli.artifacts.schema import Tokenizer, readable
from embcli.errors import InputError
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
from embcli.text.patterns import PATTERNS

#: keys of a BPE model that change ids, and the values that change nothing
_HARMLESS = {
    "dropout": (None, 0, 0.0),
    "continuing_subword_prefix": (None, ""),
    "end_of_word_suffix": (None, ""),
    "fuse_unk": (None, False, True),
    "byte_fallback": (None, False),
    "unk_token": None,
    "ignore_merges": None,
    "type": None,
    "vocab": None,
    "merges": None,
}
#: expressions that Hugging Face's engine would read otherwise: there a + behind {1,3} repeats, and is not possessive
_WRITTEN = {"gpt4": PATTERNS["gpt4"].replace("{1,3}+", "{1,3}")}
_READ = {text: name for name, text in _WRITTEN.items()}


def read(name: str, data: bytes, pattern: str | None, special: Sequence[str] = ()) -> tuple[Tokenizer, list[str]]:
    """Return the tokenizer of the file, and what was left behind, for the person who converts.

    ``pattern`` replaces that of the file; ``special`` (``TOKEN=ID``) are special besides its added tokens. Raises
    InputError for a file that is damaged, and for a model, normalizer or pre-tokenizer that this program does not
    have, by name.
    """
    held = loaded(name, data)
    model = held.get("model") if isinstance(held, dict) else None
    if not isinstance(model, dict):
        raise InputError(f"{name}: is JSON, but no tokenizer.json: it has no model")
    _check_model(name, model)
    if held.get("normalizer") not in (None, {"type": "Sequence", "normalizers": []}):
        raise InputError(f"{name}: its normalizer {_kind(held['normalizer'])} changes the text, which is not offered")
    cut = _pattern(name, held.get("pre_tokenizer")) if pattern is None else pattern
    ids = vocabulary(name, model["vocab"])
    by_id = {i: token for token, i in ids.items()}
    added = _added(name, held.get("added_tokens"))
    marked = {encoded(name, content): token["id"] for content, token in added.items()} | named_specials(special)
    specials = {i: content for content, i in marked.items()}
    if len(specials) < len(marked):
        raise InputError(f"{name}: damaged: two special tokens have the same id")
    tokens = {i: specials.get(i) or bytes_of(name, token) for token, i in ids.items()}
    for i, content in specials.items():
        if i in by_id and by_id[i].encode("utf-8", "replace") != content:
            raise InputError(f"{name}: damaged: two tokens have the id {i:,}: {by_id[i][:40]!r}, {readable(content)!r}")
    made = assembled(name, tokens | specials, list(specials), cut, whole=bool(model.get("ignore_merges")))
    return with_merges(made, _pairs(name, model["merges"]), ids), _left_behind(held, added)


def _kind(step: Any) -> str:
    return str(step.get("type") if isinstance(step, dict) else step)[:40]


def _added(name: str, held: Any) -> dict[str, dict[str, Any]]:
    """Return the added tokens by what they spell."""
    some = [] if held is None else held
    if not isinstance(some, list) or not all(isinstance(t, dict) for t in some):
        raise InputError(f"{name}: damaged: added_tokens is no list of tokens")
    for token in some:
        if not isinstance(token.get("content"), str) or type(token.get("id")) is not int:
            raise InputError(f"{name}: damaged: an added token lacks content or id: {str(token)[:60]}")
    return {token["content"]: token for token in some}


def _check_model(name: str, model: dict[str, Any]) -> None:
    kind = model.get("type") or ("BPE" if "merges" in model else None)
    if kind is None:
        raise InputError(f"{name}: damaged: its model has no type and no merges")
    if kind != "BPE":
        raise InputError(f"{name}: holds a {kind} model; only byte-level BPE can be read, {kind} is not supported yet")
    if not isinstance(model.get("vocab"), dict) or not isinstance(model.get("merges"), list):
        raise InputError(f"{name}: damaged: its BPE model lacks vocab or merges")
    if model.get("byte_fallback"):
        raise InputError(f"{name}: is a SentencePiece model (byte_fallback); only byte-level BPE can be read yet")
    for key, value in model.items():
        allowed = _HARMLESS.get(key)
        if allowed is not None and value not in allowed:
            raise InputError(f"{name}: its model has {key} {value!r}, which is not offered")


def _pairs(name: str, merges: list[Any]) -> list[tuple[str, str]]:
    """Return merges written as "a b" or as [a, b]."""
    pairs = []
    for i, each in enumerate(merges, 1):
        parts = each.split(" ") if isinstance(each, str) else each
        if not isinstance(parts, list) or len(parts) != 2 or not all(isinstance(part, str) for part in parts):
            raise InputError(f"{name}: merge {i:,}: expected two tokens, found {str(each)[:40]!r}")
        pairs.append((parts[0], parts[1]))
    return pairs


def _pattern(name: str, pre: Any) -> str:
    """Return how a pre-tokenizer cuts text, if this program can do that."""
    steps = pre.get("pretokenizers") if isinstance(pre, dict) and _kind(pre) == "Sequence" else [pre] if pre else []
    if not isinstance(steps, list) or not all(isinstance(step, dict) for step in steps):
        raise InputError(f"{name}: damaged: its pre-tokenizer is none")
    found, bytewise = None, False
    for step in steps:
        kind = step.get("type")
        if kind == "ByteLevel" and not bytewise:
            if step.get("add_prefix_space"):
                raise InputError(
                    f"{name}: its pre-tokenizer puts a space before each text (add_prefix_space), not offered"
                )
            bytewise = True
            if step.get("use_regex", True):
                if found is not None:
                    raise InputError(
                        f"{name}: its pre-tokenizer cuts twice (Split, then ByteLevel's own pattern), not offered"
                    )
                found = "gpt2"
        elif kind == "Split" and not bytewise and found is None:
            regex = step["pattern"].get("Regex") if isinstance(step.get("pattern"), dict) else None
            if not isinstance(regex, str) or step.get("behavior") != "Isolated" or step.get("invert"):
                raise InputError(
                    f"{name}: its pre-tokenizer Split is no plain Regex with behavior Isolated, not offered"
                )
            found = regex
        else:
            raise InputError(f"{name}: its pre-tokenizer has {kind} here, which is not offered; byte-level BPE only")
    if not bytewise:
        kinds = ", ".join(str(step.get("type")) for step in steps) or "none"
        raise InputError(f"{name}: its pre-tokenizer is {kinds}, not ByteLevel; only byte-level BPE can be read")
    return _READ.get(found, found) if found else "none"


def _left_behind(held: dict[str, Any], added: dict[str, Any]) -> list[str]:
    """Return what is in the file and is not carried over, though ids of plain text do not depend on it."""
    notes = []
    post = held.get("post_processor")
    if post is not None and _kind(post) != "ByteLevel":
        notes.append(f"not carried over: post_processor {_kind(post)} (tokens put around a text)")
    odd = [c for c, token in added.items() if token.get("lstrip") or token.get("rstrip") or token.get("single_word")]
    if odd:
        notes.append(f"not carried over: lstrip, rstrip or single_word of {', '.join(odd[:5])}")
    for key in ("truncation", "padding"):
        if held.get(key):
            notes.append(f"not carried over: {key}")
    return notes


def write(made: Any) -> tuple[bytes, list[str]]:
    """Return the content of a tokenizer.json, and what it cannot hold (nothing).

    Raises InputError for tokenizers of characters, and special tokens that are not UTF-8.
    """
    view = exportable(made, "tokenizer.json")
    forms = written_forms(made, view)
    plain = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    added = [{"id": i, "content": forms[i], **plain} for i in sorted(view.special)]
    model = {
        "type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
        "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False,
        "ignore_merges": bool(view.text.get("whole")),
        "vocab": {forms[i]: i for i in sorted(forms)},
        "merges": [[forms[a], forms[b]] for a, b in made.merges.tolist()],
    }  # fmt: skip
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
    held = {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": added, "normalizer": None,
        "pre_tokenizer": _pre_tokenizer(view.text, byte_level), "post_processor": None,
        "decoder": byte_level | {"use_regex": True}, "model": model,
    }  # fmt: skip
    return json.dumps(held, ensure_ascii=False, indent=1).encode(), []


def _pre_tokenizer(text: dict[str, Any], byte_level: dict[str, Any]) -> dict[str, Any]:
    """Return the pre-tokenizer that cuts as the pattern does."""
    if text["pattern"] == "gpt2":
        return byte_level | {"use_regex": True}
    if text["pattern"] == "none":
        return byte_level
    regex = _WRITTEN.get(text["pattern"]) or PATTERNS.get(text["pattern"], text["regex"])
    split = {"type": "Split", "pattern": {"Regex": regex}, "behavior": "Isolated", "invert": False}
    return {"type": "Sequence", "pretokenizers": [split, byte_level]}
