"""Find words in a vocabulary, exactly or by likeness, without an index of the whole vocabulary.

A command asks for a handful of words and ends, so a dictionary of three million entries would cost more than the
search itself. Everything here is a few passes of NumPy over the buffer of the words. No meaning: see neighbors.py.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from embcli.artifacts.schema import Words

#: words looked at in one go, so that temporaries stay small
_SPAN = 1 << 16
#: characters of a word that messages show
_SHOWN = 60
#: how many words are compared letter by letter: those that share most letters, the more frequent first
_COMPARED = 2_000
#: an odd number with a random look: the base of the polynomial that tells words apart
_BASE = np.uint64(0x9E3779B97F4A7C15)
#: byte -> one of 32 bits, the same for a small and a capital letter of ASCII
_LETTER = (np.uint32(1) << (np.arange(256, dtype=np.uint32) & np.uint32(31))).astype(np.uint32)


def shortened(word: str) -> str:
    """Return a word as messages name it: a very long one cut, with its length."""
    return word if len(word) <= _SHOWN else f"{word[:_SHOWN]}... ({len(word):,} characters)"


def find(words: Words, wanted: Iterable[str]) -> dict[str, int]:
    """Return the row of every wanted word that exists; the first row, should a word stand there twice.

    Words are told apart by length and by a polynomial of their bytes modulo 2^64, then compared byte by byte. Time
    and memory: a few passes over the words that are as long as a wanted one.
    """
    by_length: dict[int, dict[bytes, str]] = {}
    for word in wanted:
        key = word.encode("utf-8", "surrogatepass")
        by_length.setdefault(len(key), {})[key] = word
    lengths = np.diff(words.offsets)
    found: dict[str, int] = {}
    for length, keys in by_length.items():
        rows = np.flatnonzero(lengths == length)
        marks = _marks(words.data, words.offsets[rows], length)
        sought = _marks(np.frombuffer(b"".join(keys), np.uint8), np.arange(len(keys)) * length, length)
        sought.sort()
        # not np.isin, whose first call imports numpy.ma
        at = np.minimum(np.searchsorted(sought, marks), len(sought) - 1)
        for row in rows[sought[at] == marks].tolist():
            if (key := words.bytes_at(row)) in keys:
                found.setdefault(keys[key], row)
    return found


def starting_with(words: Words, beginning: str, most: int) -> list[str]:
    """Return up to ``most`` words that begin so, in their order: the more frequent first where they are ordered so.

    Time: a few passes over the offsets, and one over the words left for each further byte.
    """
    key = beginning.encode("utf-8", "surrogatepass")
    rows = np.flatnonzero(np.diff(words.offsets) >= len(key))
    for j, byte in enumerate(key):
        rows = rows[words.data[words.offsets[rows] + j] == byte]
    return words_at(words, rows[:most])


def heads(labels: Words) -> Words:
    """Return what documents are called in queries: "doc17" of the label "doc17: hundreds of people", else all of it."""
    colons = np.flatnonzero(labels.data == ord(":"))
    if not len(colons):
        return labels
    starts, stops = labels.offsets[:-1], labels.offsets[1:]
    first = colons[np.minimum(np.searchsorted(colons, starts), len(colons) - 1)]
    sizes = np.where((first >= starts) & (first < stops), first, stops) - starts
    offsets = np.concatenate(([0], np.cumsum(sizes)))
    kept = np.repeat(starts - offsets[:-1], sizes) + np.arange(offsets[-1])
    return Words(labels.data[kept], offsets)


def words_at(words: Words, rows: NDArray[np.int64]) -> list[str]:
    """Return the words of many rows, in their order."""
    data = np.ascontiguousarray(words.data).data
    starts, stops = words.offsets[rows].tolist(), words.offsets[rows + 1].tolist()
    return [str(data[start:stop], "utf-8", "replace") for start, stop in zip(starts, stops, strict=True)]


def _marks(data: NDArray[np.uint8], starts: NDArray[np.int64], length: int) -> NDArray[np.uint64]:
    """Return a number for each string of ``length`` bytes; equal strings have equal numbers."""
    marks = np.zeros(len(starts), np.uint64)
    for j in range(length):
        marks = marks * _BASE + data[starts + j]
    return marks


def case_variants(word: str) -> list[str]:
    """Return the word in the other cases that people write, most likely first. The locale plays no part."""
    forms = (word.lower(), word.capitalize(), word.title(), word.upper(), word.casefold(), word.swapcase())
    return [form for form in dict.fromkeys(forms) if form != word]


def suggest(words: Words, word: str, most: int = 3) -> list[str]:
    """Return up to ``most`` words of the vocabulary that the asker may have meant.

    Case variants come first; then the words that take the fewest edits (a letter put in, left out, exchanged, or two
    neighbors swapped; capitals count as small letters), at most two, or one where the word has fewer than five letters.
    Of equally distant words the more frequent comes first. Of occurrences (``bank@1:3``) those of the word.
    """
    if len(words) and "@" in words[0] and "@" not in word:
        return [other for other in words if other.rpartition("@")[0] == word][:most]
    variants = case_variants(word)
    present = find(words, variants)
    near = [form for form in variants if form in present]
    if len(near) < most:
        near += [other for other in _close(words, word, most + len(near)) if other not in near]
    return near[:most]


def _close(words: Words, word: str, most: int) -> list[str]:
    """Return the words that take the fewest edits."""
    edits = 2 if len(word) > 4 else 1
    if len(word) < 2:
        return []
    rows = _similar_rows(words, word, edits)
    texts = [words[row] for row in rows.tolist()]
    distances = edit_distances(word.lower(), [text.lower() for text in texts])
    order = np.argsort(distances, kind="stable")
    return [texts[i] for i in order.tolist() if distances[i] <= edits and texts[i] != word][:most]


def _similar_rows(words: Words, word: str, edits: int) -> NDArray[np.int64]:
    """Return the rows of words about as long as ``word`` with nearly its letters, the most frequent first.

    An edit touches the bytes of one character (or swaps two, which leaves the set of bytes alone) and so changes the
    set in two places a byte at most. One byte more is allowed for, since an accent may be what is missing.
    """
    key = np.frombuffer(word.encode("utf-8", "surrogatepass"), np.uint8)
    apart = edits * -(-len(key) // len(word)) + 1
    letters = np.bitwise_or.reduce(_LETTER[key])
    rows, bounds = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for start in range(0, len(words), _SPAN):
        offsets = words.offsets[start : start + _SPAN + 1]
        lengths = np.diff(offsets)
        full = np.flatnonzero(lengths)
        if not len(full):
            continue
        held = np.bitwise_or.reduceat(_LETTER[words.data[offsets[0] : offsets[-1]]], offsets[full] - offsets[0])
        longer, other = np.abs(lengths[full] - len(key)), np.bitwise_count(held ^ letters).astype(np.int64)
        alike = (longer <= apart) & (other <= 2 * apart)
        rows.append(full[alike] + start)
        bounds.append(2 * longer[alike] + other[alike])
    nearest = np.argsort(np.concatenate(bounds), kind="stable")[:_COMPARED]
    return np.sort(np.concatenate(rows)[nearest])


def edit_distances(word: str, others: list[str]) -> NDArray[np.int64]:
    """Return how many edits lead from ``word`` to each of the others.

    An edit is an insertion, a deletion, a substitution, or the exchange of two adjacent characters (optimal string
    alignment: no character is edited twice). One table is filled for all the others at once.
    """
    width = max(map(len, others), default=0)
    letters = np.zeros((len(others), width), np.int64)
    for row, other in zip(letters, others, strict=True):
        row[: len(other)] = [ord(c) for c in other]
    before = np.zeros((width + 1, len(others)), np.int64)
    last = np.repeat(np.arange(width + 1)[:, None], len(others), axis=1)
    for i, char in enumerate(word):
        now = np.empty_like(last)
        now[0] = i + 1
        for j in range(width):
            same = letters[:, j] == ord(char)
            now[j + 1] = np.minimum(np.minimum(last[j + 1], now[j]) + 1, last[j] + (~same).astype(np.int64))
            if i and j:
                swapped = _swapped(letters, j, word, i)
                now[j + 1] = np.where(swapped, np.minimum(now[j + 1], before[j - 1] + 1), now[j + 1])
        before, last = last, now
    return last[[len(other) for other in others], np.arange(len(others))]


def _swapped(letters: NDArray[np.int64], j: int, word: str, i: int) -> NDArray[np.bool_]:
    """Return where the characters j - 1 and j of the others are characters i and i - 1 of the word."""
    swapped: NDArray[np.bool_] = (letters[:, j] == ord(word[i - 1])) & (letters[:, j - 1] == ord(word[i]))
    return swapped
