"""A slow, readable twin of ``encode --phrases``: dictionaries of words and pairs, one row after another, no kernels."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise


@dataclass
class Pass:
    """What one pass found: the phrases above the threshold with their scores, and how often each pair was joined."""

    scores: dict[tuple[str, str], float] = field(default_factory=dict)
    joined: Counter[tuple[str, str]] = field(default_factory=Counter)


def greedy(row: list[str], phrases: object) -> tuple[list[str], list[tuple[str, str]]]:
    """Return a row with its phrases joined from the left, and the pairs in the order in which they were joined."""
    out, found, i = [], [], 0
    while i < len(row):
        pair = tuple(row[i : i + 2])
        if len(pair) == 2 and pair in phrases:  # type: ignore[operator]
            out.append("_".join(pair))
            found.append(pair)
            i += 2
        else:
            out.append(row[i])
            i += 1
    return out, found


def join(
    rows: list[list[str]], passes: int, *, min_count: int, threshold: float, discount: float | None = None
) -> tuple[list[list[str]], list[Pass]]:
    """Return rows with phrases joined, and what each pass found."""
    discount = min_count if discount is None else discount
    done = []
    for _ in range(passes):
        words = Counter(word for row in rows for word in row)
        pairs = Counter(pair for row in rows for pair in pairwise(row))
        one = Pass()
        for (a, b), n in pairs.items():
            score = (n - discount) / (float(words[a]) * float(words[b])) * words.total()
            if min(n, words[a], words[b]) >= min_count and score > threshold:
                one.scores[a, b] = score
        made = [greedy(row, one.scores) for row in rows]
        rows = [row for row, _ in made]
        one.joined.update(pair for _, found in made for pair in found)
        done.append(one)
    return rows, done


def join_known(rows: list[list[str]], passes: int, words: set[str]) -> list[list[str]]:
    """Return rows in which, from the left, the longest run that makes one of the words is joined."""
    return [_longest(row, 2**passes, words) for row in rows]


def _longest(row: list[str], most: int, words: set[str]) -> list[str]:
    for n in range(min(most, len(row)), 1, -1):
        if "_".join(row[:n]) in words:
            return ["_".join(row[:n]), *_longest(row[n:], most, words)]
    return row[:1] + _longest(row[1:], most, words) if row else []
