"""Byte-pair encoding as a person would do it on paper: slow, short, and what the kernels must equal.

Training counts every pair anew before each merge; encoding applies one merge after the other. ``bpe-train --explain``
shows its steps. The fast versions are learning.py and bpe_encode.py.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

Pair = tuple[int, int]


@dataclass(frozen=True)
class Merge:
    """One step of training: the pair, the id of what it spells, how often it stood, and all counts that led to it."""

    pair: Pair
    id: int
    count: int
    counts: dict[Pair, int]


def count_pairs(types: Sequence[Sequence[int]], weights: Sequence[int]) -> dict[Pair, int]:
    """Return how often each pair of neighbors stands in the text, in the order in which they are met."""
    counts: Counter[Pair] = Counter()
    for symbols, weight in zip(types, weights, strict=True):
        for pair in pairwise(symbols):
            counts[pair] += weight
    return dict(counts)


def merge(symbols: Sequence[int], pair: Pair, new: int) -> list[int]:
    """Return the symbols with each occurrence of the pair, from left to right, replaced by ``new``."""
    made, i = [], 0
    while i < len(symbols):
        if tuple(symbols[i : i + 2]) == pair:
            made.append(new)
            i += 2
        else:
            made.append(symbols[i])
            i += 1
    return made


def train(
    types: Sequence[Sequence[int]],
    weights: Sequence[int],
    tokens: list[bytes],
    size: int,
    least: int = 2,
    longest: int | None = None,
    first_seen: bool = False,
) -> Iterator[Merge]:
    """Yield merges until there are ``size`` tokens or no pair is frequent enough (Sennrich et al. 2016, section 3.2).

    Parameters
    ----------
    types
        Distinct pieces of text as base ids.
    weights
        How often each type occurs.
    tokens
        What the ids spell; new tokens are appended. Two merges that spell one token share its id.
    longest
        Bytes of a token at most.
    first_seen
        Of equally frequent pairs, take the one that stands first in the types, not the one with the lowest ids.
    """
    split = [list(symbols) for symbols in types]
    while len(tokens) < size:
        counts = count_pairs(split, weights)
        fit = {
            pair: n
            for pair, n in counts.items()
            if n >= least and (longest is None or len(tokens[pair[0]] + tokens[pair[1]]) <= longest)
        }
        if not fit:
            return
        most = max(fit.values())
        tied = [pair for pair, n in fit.items() if n == most]  # in the order in which they stand in the text
        pair = tied[0] if first_seen else min(tied)
        spelled = tokens[pair[0]] + tokens[pair[1]]
        if spelled not in tokens:
            tokens.append(spelled)
        new = tokens.index(spelled)
        split = [merge(symbols, pair, new) for symbols in split]
        yield Merge(pair, new, most, counts)


def encode(symbols: Sequence[int], ranks: Mapping[Pair, int], ids: Mapping[Pair, int]) -> list[int]:
    """Return the ids of one piece: the neighbors whose merge was learned first are merged, until none is left.

    Of equal ranks the leftmost goes first, one place at a time.
    """
    made = list(symbols)
    while True:
        found = [(ranks[pair], i) for i, pair in enumerate(pairwise(made)) if pair in ranks]
        if not found:
            return made
        at = min(found)[1]
        made[at : at + 2] = [ids[made[at], made[at + 1]]]
