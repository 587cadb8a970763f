"""Artifacts that were made alike but for the seed: what a method does by chance, and what it does for a reason."""

from __future__ import annotations

import json
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any


@dataclass(frozen=True)
class Group:
    """Artifacts of the same step, options and inputs: ``members`` are their places, ``name`` is what names share."""

    name: str
    members: tuple[int, ...]


@dataclass(frozen=True)
class Spread:
    """Mean of ``n`` numbers and their standard deviation (n - 1 in the denominator), None of a single one."""

    mean: float
    deviation: float | None
    n: int


def groups(metas: Sequence[Mapping[str, Any]], names: Sequence[str]) -> list[Group]:
    """Return the groups of artifacts by their meta, in the order of their first members; no seed counts twice.

    An artifact whose meta tells nothing of how it was made, as one that was converted may, is a group of its own.
    """
    found: dict[str, list[int]] = {}
    seen: set[str] = set()
    for i, meta in enumerate(metas):
        key = json.dumps([meta.get(part) for part in ("kind", "step", "options", "inputs", "embcli")], sort_keys=True)
        if not meta.get("inputs"):
            key = f"{key} {i}"
        mark = f"{key} {meta.get('seed')}"
        if mark not in seen:
            found.setdefault(key, []).append(i)
        seen.add(mark)
    return [Group(_shared([names[i] for i in members]), tuple(members)) for members in found.values()]


def _shared(names: Sequence[str]) -> str:
    """Return the beginning that names share, without what is left of the word 'seed'; the first name if it is empty."""
    if len(names) == 1:
        return names[0]
    alike = takewhile(lambda letters: len(set(letters)) == 1, zip(*names, strict=False))
    stem = "".join(letters[0] for letters in alike).rstrip(" =-_.0123456789")
    return stem.removesuffix("seed").rstrip(" =-_.") or names[0]


def spread(values: Sequence[float | None]) -> Spread | None:
    """Return the spread of the numbers that there are, None if there is none."""
    known = [value for value in values if value is not None]
    if not known:
        return None
    return Spread(statistics.fmean(known), statistics.stdev(known) if len(known) > 1 else None, len(known))
