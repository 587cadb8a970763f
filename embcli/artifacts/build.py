"""From an opened file to the dataclass of its kind, and back to members; compares names, types and dimensions."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from embcli.artifacts import checks, identify
from embcli.artifacts.mapped import Halves, release
from embcli.artifacts.opened import Opened
from embcli.artifacts.schema import KINDS, Artifact, Words
from embcli.errors import KindError


def artifact_of(opened: Opened, kinds: Sequence[str] | None = None, command: str = "") -> Artifact:
    """Return what an opened file holds, its structure and its small arrays checked. Raises as ``store.read`` does."""
    kind = opened.meta["kind"]
    if kinds is not None and kind not in kinds:
        raise identify.wrong_kind(opened.path, kinds, kind, command)
    if kind not in KINDS:
        raise KindError(f"{opened.shown}: kind {ascii(kind)[:40]} is not known to this version of embcli")
    with opened.clean():
        made = _build(opened, KINDS[kind])
        made.check()
        _check_small(opened, made)
    return made


def _build(opened: Opened, cls: type[Artifact]) -> Artifact:
    """Return the arrays of a file as an artifact of the class, after comparing names, types and dimensions."""
    found = {name: array for name, array in opened.arrays.items() if name != "meta"}
    for name, array in found.items():
        member = cls.due(name)
        if member is None:
            raise ValueError(f"array '{name[:60]}' does not belong to kind '{cls.kind}'")
        if len(array.shape) != member.ndim or array.dtype.str[1:] not in member.dtypes:
            due = f"{member.ndim}-d {' or '.join(member.dtypes)}"
            raise ValueError(f"array '{name}' is {array.dtype.str[1:]} of shape {array.shape} where {due} is due")
    for name, member in cls.members.items():
        partner = name.replace("_bytes", "_offsets") if name.endswith("_bytes") else name.replace("_offsets", "_bytes")
        if name not in found and (member.required or (partner in found and checks.word_field(cls.members, name))):
            raise ValueError(f"array '{name}' is missing")
    values: dict[str, Any] = {"parts": {name: opened.array(name) for name in found if name not in cls.members}}
    for name in [name for name in found if name in cls.members]:
        field = checks.word_field(cls.members, name)
        if field is None:
            whole = opened.array(name)
            values[name] = Halves(whole) if whole.dtype == np.float16 else whole
        elif field not in values:
            values[field] = Words(opened.array(field[:-1] + "_bytes"), opened.array(field[:-1] + "_offsets"))
            checks.check_words(field, values[field])
    meta = opened.meta
    about = {"stats": meta["stats"], "text": meta["text"], "options": meta["options"], "meta": meta}
    return cls(**values, **about, digest=opened.digest(), path=opened.shown)


def _check_small(opened: Opened, artifact: Artifact) -> None:
    """Check what is in the arrays below 16 MB; those that say where something begins come first."""
    small = [name for name, array in opened.arrays.items() if array.nbytes < checks.SMALL and name != "meta"]
    for name in small:
        opened.check_crc(name)
    for name in sorted(small, key=checks.comes_first):
        checks.check(artifact, name, member_of(artifact, name), 0, len(member_of(artifact, name)))
    for name in opened.arrays:
        if name not in small and not checks.comes_first(name):  # loops read where these point: never on trust
            array = member_of(artifact, name)
            for start, stop in checks.blocks(array):
                checks.check(artifact, name, array, start, stop)
                release(array, start, stop)
    for field, words in words_of(artifact):
        if field not in artifact.raw and max(words.data.nbytes, words.offsets.nbytes) < checks.SMALL:
            checks.check_utf8(field, words)


def words_of(artifact: Artifact) -> Iterator[tuple[str, Words]]:
    """Yield the fields of an artifact that are words, with their names."""
    for field in dataclasses.fields(artifact):
        value = getattr(artifact, field.name)
        if isinstance(value, Words):
            yield field.name, value


def member_of(artifact: Artifact, name: str) -> Any:
    """Return what an artifact has for a member: an array, Blocks or Spill; None if it has none."""
    if name in artifact.parts:
        return artifact.parts[name]
    field = checks.word_field(artifact.members, name)
    if field is None:
        return getattr(artifact, name)
    words = getattr(artifact, field)
    if words is None:
        return None
    return words.data if name.endswith("_bytes") else words.offsets
