"""The neighbors of a word's occurrences before and after context: token row, then level by level. NumPy only.

Before context all occurrences are one row; behind the layers each has a state of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embcli.artifacts.schema import Context, Words

Array = NDArray[Any]


@dataclass(frozen=True)
class Near:
    """What lies near one occurrence at one level, (name, cosine), nearest first.

    rows : token rows of the vocabulary, without the word's own; empty where states are not compared with them.
    items : other tokens of the texts at the same level.
    """

    level: str
    rows: tuple[tuple[str, float], ...]
    items: tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class Moved:
    """An occurrence of a word: its name (word@text:position), a piece of its text, and its neighbors at every level."""

    name: str
    around: str
    levels: tuple[Near, ...]


def occurrences(context: Context, labels: Sequence[str], word: str) -> list[int]:
    """Return the places among all tokens at which a word stands; its lower case where the text was lower-cased.

    labels : the word of each place.
    """
    wanted = {word, word.lower()} if context.text.get("lower") else {word}
    return [at for at, label in enumerate(labels) if label in wanted]


def moved(
    context: Context, labels: Sequence[str], places: Sequence[int], table: Array, words: Words, top: int
) -> list[Moved]:
    """Return the neighbors of some places of a context, with its ``levels`` in memory.

    Parameters
    ----------
    table : (V, d), the token rows.  words : the V words.
    """
    rows = unit(np.asarray(table[: len(words)], np.float64))
    names = [name for name in context.words]
    level_names = names_of_levels(len(context.levels))
    spaces = [unit(np.asarray(context.rows, np.float64)), *(unit(level.astype(np.float64)) for level in context.levels)]
    found = []
    for at in places:
        own = int(context.ids[at])
        levels = []
        for number, (level, states) in enumerate(zip(("token row", *level_names), spaces, strict=True)):
            near = _best(rows @ states[at], top, {own} if number == 0 else set())
            others = _best(states @ states[at], top, {at})
            levels.append(Near(level, tuple((words[i], c) for i, c in near), tuple((names[i], c) for i, c in others)))
        found.append(Moved(names[at], around(context, labels, at), tuple(levels)))
    return found


def names_of_levels(levels: int) -> list[str]:
    """Return what the levels of a context are called: the first input, the layers, the last behind the norm."""
    if levels == 2:
        return ["first input", "final state"]
    return ["first input", *(f"layer {i}" for i in range(1, levels - 1)), "final state"]


def cosines(states: Array, places: Sequence[int]) -> NDArray[np.float64]:
    """Return the cosines between the states at some places, (n, n); a zero state has cosine 0 with all."""
    some = unit(np.asarray(states, np.float64)[list(places)])
    return np.asarray(np.clip(some @ some.T, -1, 1))


def around(context: Context, labels: Sequence[str], at: int, width: int = 3) -> str:
    """Return the words around a place, which itself is in brackets."""
    text = int(np.searchsorted(context.text_offsets, at, "right")) - 1
    start, stop = int(context.text_offsets[text]), int(context.text_offsets[text + 1])
    left, right = max(start, at - width), min(stop, at + width + 1)
    before, behind = " ".join(labels[left:at]), " ".join(labels[at + 1 : right])
    parts = ("... " * (left > start) + before, f"[{labels[at]}]", behind + " ..." * (right < stop))
    return " ".join(part for part in parts if part)


def unit(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return rows at length 1; a zero row stays zero."""
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(norms > 0, norms, 1))


def _best(scores: NDArray[np.float64], top: int, without: set[int]) -> list[tuple[int, float]]:
    """Return the places with the highest scores, rounded to 6 decimals as neighbors are; ties in their order."""
    rounded = np.round(np.clip(scores, -1, 1), 6) + 0.0
    order = [int(i) for i in np.argsort(-rounded, kind="stable")[: top + len(without)] if int(i) not in without]
    return [(i, float(rounded[i])) for i in order[:top]]
