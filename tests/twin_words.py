"""A slow, readable twin of ``encode --words``: whole texts in memory, one character at a time, no kernels.

It shares with the program only Unicode's categories, which are tested against the regex package.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from embcli.text import unicode

_WORDLY = unicode.among("LMN")
_SPACES = set(map(chr, unicode.WHITE_SPACE))


@dataclass
class Twin:
    """What encode should give: words and counts, rows of words (None is a gap that is kept), open rows, totals."""

    words: list[str] = field(default_factory=list)
    unigram: list[int] = field(default_factory=list)
    rows: list[list[str | None]] = field(default_factory=list)
    open_rows: list[int] = field(default_factory=list)
    tokens_read: int = 0
    types_read: int = 0
    bad: int = 0


def pieces(line: str, split: str) -> list[str]:
    """Return the tokens of one line without its LF."""
    if split == "chars":
        return list(line)
    if split == "whitespace":
        return _runs(line)
    found, i = [], 0
    while i < len(line):
        j = i
        while j < len(line) and _WORDLY[ord(line[j])]:
            j += 1
            if j + 1 < len(line) and line[j] in "'\u2019" and _WORDLY[ord(line[j + 1])]:
                j += 1
        if j > i:
            found.append(line[i:j])
        i = max(j, i + 1)
    return found


def _runs(line: str) -> list[str]:
    found, run = [], ""
    for c in line + " ":
        if c not in _SPACES:
            run += c
        elif run:
            found.append(run)
            run = ""
    return found


def _lines(data: bytes, errors: str) -> tuple[list[tuple[str, bool]], int]:
    """Return the lines of a file, each with whether an LF ended it, and the number of bad sequences."""
    data = data.removeprefix(b"\xef\xbb\xbf")
    text = data.decode("utf-8", {"strict": "strict", "replace": "replace", "skip": "ignore"}[errors])
    bad = data.decode("utf-8", "replace").count("\ufffd") - data.count("\ufffd".encode())
    parts = text.split("\n")
    lines = [(part.removesuffix("\r"), True) for part in parts[:-1]]
    if data and not data.endswith(b"\n"):
        lines.append((parts[-1], False))
    return lines, bad


def _blank(line: str, split: str) -> bool:
    return not line if split == "chars" else all(c in _SPACES for c in line)


def _file_rows(lines: Sequence[tuple[str, bool]], split: str, mode: str) -> list[list[str]]:
    cut = [(pieces(line, split), _blank(line, split)) for line, _ in lines]
    if mode == "line":
        return [words for words, _ in cut]
    if mode == "file":
        return [[word for words, _ in cut for word in words]]
    rows: list[list[str]] = []
    before = True
    for words, blank in cut:
        if not blank:
            if before:
                rows.append([])
            rows[-1] += words
        before = blank
    return rows


def encode(
    files: Sequence[bytes], *, split: str = "words", lower: bool = False, rows: str = "line", errors: str = "strict",
    min_count: int = 1, max_vocab: int | None = None, unk: str | None = None, gaps: str = "close",
) -> Twin:  # fmt: skip
    """Return what ``encode`` should give for the contents of some files."""
    twin, found = Twin(), []
    for data in files:
        lines, bad = _lines(data, errors)
        twin.bad += bad
        found += _file_rows(lines, split, rows)
        if rows == "line" and lines and not lines[-1][1]:
            twin.open_rows.append(len(found) - 1)
    if lower:
        found = [[unicode.lower(word) for word in row] for row in found]
    counts = Counter(word for row in found for word in row)
    twin.tokens_read, twin.types_read = counts.total(), len(counts)
    order = sorted(counts, key=lambda w: (-counts[w], w.encode()))
    kept = [w for w in order if counts[w] >= min_count][:max_vocab]
    final = {w: counts[w] for w in kept}
    lost = counts.total() - sum(final.values())
    if unk is not None and lost:
        final[unk] = final.get(unk, 0) + lost
    twin.words = sorted(final, key=lambda w: (-final[w], w.encode()))
    twin.unigram = [final[w] for w in twin.words]
    known = set(kept)
    named = [[w if w in known else unk for w in row] for row in found]
    twin.rows = [row if gaps == "keep" else [w for w in row if w is not None] for row in named]
    return twin


def rows_of(tokens: object) -> list[list[str | None]]:
    """Return the rows of an encoded text as words, a kept gap as None."""
    ids, offsets = arrays_of(tokens)
    names: list[str | None] = [*tokens.words, None]  # type: ignore[attr-defined]
    return [[names[i] for i in ids[a:b].tolist()] for a, b in itertools.pairwise(offsets)]


def arrays_of(tokens: object) -> tuple[np.ndarray, np.ndarray]:
    """Return ids and row offsets of what ``encode`` returned, producing them as writing it would."""
    if not hasattr(tokens, "produced"):
        ids = [*tokens.ids.blocks]  # type: ignore[attr-defined]
        tokens.produced = (np.concatenate(ids), tokens.row_offsets.array())  # type: ignore[attr-defined]
    return tokens.produced  # type: ignore[attr-defined,no-any-return]
