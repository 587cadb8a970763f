"""The character n-grams of words and their hashes, the same as in the original fastText. No vectors: see subwords.py.

A word is put in angle brackets; its n-grams are all runs of min_n to max_n characters of that, a bracket alone left
out (Bojanowski et al. 2017, section 3.2). A character is a byte and the UTF-8 continuation bytes after it, whether or
not they are valid together. An n-gram's hash is FNV-1a (Fowler, Noll, Vo; 32 bits) of its bytes, where a byte above
127 is first extended by its sign, as a signed char is in the original; its bucket is the hash modulo the buckets.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from embcli.artifacts.schema import Words

#: the end of a line in the original's texts, the only word that it gives no n-grams
END_OF_LINE = b"</s>"
_BASIS, _PRIME = np.uint32(2166136261), np.uint32(16777619)
_SIGNED = np.arange(256, dtype=np.uint8).astype(np.int8).astype(np.uint32)
#: bytes of words looked at in one go
_SPAN = 1 << 20

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Fragment:
    """An n-gram of one word: its bytes, its hash (0 to 2^32 - 1) and its bucket."""

    data: bytes
    hash: int
    bucket: int


def fragments(word: bytes, min_n: int, max_n: int, buckets: int, old: bool = False) -> list[Fragment]:
    """Return the n-grams of one word in the order of the original: by where they begin, then by length.

    ``max_n`` 0 or ``buckets`` 0: there are none. An n-gram that occurs twice is listed twice. ``old`` gives n-grams to
    the end of a line too, as versions before 2017 did.
    """
    if not buckets:
        return []
    held = _Characters(np.frombuffer(word, np.uint8), np.array([0, len(word)]), old)
    hashes, begins, ends = held.hashes(min_n, max_n), *held.spans(min_n, max_n)
    data = held.data.tobytes()
    return [
        Fragment(data[begin:end], value, value % buckets)
        for value, begin, end in zip(hashes.tolist(), begins.tolist(), ends.tolist(), strict=True)
    ]


def vocabulary_ngrams(words: Words, min_n: int, max_n: int, buckets: int) -> tuple[Ints, NDArray[np.int32]]:
    """Return the buckets of all words' n-grams: word i has buckets[offsets[i] : offsets[i + 1]].

    Parameters
    ----------
    min_n, max_n
        Lengths in characters, angle brackets counted; max_n 0: no n-grams at all.
    buckets
        0 (no n-grams) to 2^31 - 1.

    Returns
    -------
    offsets int64 (V + 1,) and buckets int32, each word's in the order of ``fragments``. Memory: 4 bytes an n-gram.
    """
    counts, found = [np.zeros(1, np.int64)], [np.empty(0, np.int32)]
    for n, part in blocks_of_ngrams(words, min_n, max_n, buckets):
        counts.append(n)
        found.append(part)
    return np.cumsum(np.concatenate(counts)), np.concatenate(found)


def blocks_of_ngrams(words: Words, min_n: int, max_n: int, buckets: int) -> Iterator[tuple[Ints, NDArray[np.int32]]]:
    """Yield, for some words at a time, in order: how many n-grams each has, and their buckets."""
    start = 0
    while start < len(words):
        stop = int(np.searchsorted(words.offsets, words.offsets[start] + _SPAN, "right")) - 1
        stop = min(max(stop, start + 1), start + _SPAN // 8, len(words))
        offsets = words.offsets[start : stop + 1]
        held = _Characters(words.data[offsets[0] : offsets[-1]], offsets - offsets[0])
        counts, hashes = held.counts(min_n, max_n), held.hashes(min_n, max_n)
        if not buckets:
            counts, hashes = np.zeros_like(counts), hashes[:0]
        yield counts, (hashes % np.uint32(max(buckets, 1))).astype(np.int32)
        start = stop


class _Characters:
    """Some words in angle brackets, one after another, cut into characters.

    ``data`` the bytes; by character: ``begins`` and ``sizes`` in bytes, ``left`` how many there are from this one to
    the end of its word, ``first`` whether it opens its word; ``words`` where each word's characters begin.
    """

    def __init__(self, data: NDArray[np.uint8], offsets: Ints, old: bool = False) -> None:
        n = len(offsets) - 1
        opens = offsets[:-1] + 2 * np.arange(n)
        shuts = offsets[1:] + 2 * np.arange(n) + 1
        self.data = np.empty(len(data) + 2 * n, np.uint8)
        inside = np.ones(len(self.data), np.bool_)
        inside[opens] = inside[shuts] = False
        self.data[inside] = data
        self.data[opens], self.data[shuts] = ord("<"), ord(">")
        leads = (self.data & 0xC0) != 0x80
        self.begins = np.flatnonzero(leads)
        self.sizes = np.diff(self.begins, append=len(self.data))
        ordinal = np.cumsum(leads) - 1
        self.words, last = ordinal[opens], ordinal[shuts]
        lengths = last - self.words + 1
        self.left = np.repeat(last + 1, lengths) - np.arange(len(self.begins))
        self.first = np.zeros(len(self.begins), np.bool_)
        self.first[self.words] = True
        if not old:
            self._silence(data, offsets)

    def _silence(self, data: NDArray[np.uint8], offsets: Ints) -> None:
        """Leave the end of line without n-grams."""
        for word in np.flatnonzero(np.diff(offsets) == len(END_OF_LINE)).tolist():
            if data[offsets[word] : offsets[word + 1]].tobytes() == END_OF_LINE:
                self.left[self.words[word] : self.words[word] + len(END_OF_LINE) + 2] = 0

    def _lone(self, shortest: int) -> NDArray[np.bool_]:
        """Return which characters lack the n-gram of length 1, being a bracket at an end."""
        return (self.first | (self.left == 1)) if shortest == 1 else np.zeros(len(self.left), np.bool_)

    def _each(self, min_n: int, max_n: int) -> tuple[Ints, NDArray[np.bool_]]:
        """Return how many n-grams begin at each character, and where the length 1 is left out."""
        shortest = max(min_n, 1)
        lone = self._lone(shortest)
        return np.maximum(np.minimum(self.left, max_n) - shortest + 1 - lone, 0), lone

    def counts(self, min_n: int, max_n: int) -> Ints:
        """Return how many n-grams each word has."""
        found: Ints = np.add.reduceat(self._each(min_n, max_n)[0], self.words)
        return found

    def hashes(self, min_n: int, max_n: int) -> NDArray[np.uint32]:
        """Return the hashes of all n-grams, by word, by where they begin, then by length.

        All characters are taken one character further at a time: h = (h XOR byte) * prime.
        """
        each, lone = self._each(min_n, max_n)
        place = np.cumsum(each) - each - lone - max(min_n, 1)
        out = np.empty(int(each.sum()), np.uint32)
        signed = _SIGNED[self.data]
        lead, wide = signed[self.begins], bool((self.sizes > 1).any())
        at = np.flatnonzero(self.left)
        h = np.full(len(at), _BASIS)
        for n in range(1, min(max_n, int(self.left.max(initial=0))) + 1):
            going = self.left[at] >= n
            if not going.all():
                at, h = at[going], h[going]
            h = (h ^ lead[at + (n - 1)]) * _PRIME
            if wide:
                self._continue(h, at + (n - 1), signed)
            if n == 1 and min_n <= 1:
                kept = ~lone[at]
                out[place[at[kept]] + n] = h[kept]
            elif n >= min_n:
                out[place[at] + n] = h
        return out

    def _continue(self, h: NDArray[np.uint32], at: Ints, signed: NDArray[np.uint32]) -> None:
        """Hash the continuation bytes of characters, in place."""
        sizes = self.sizes[at]
        more, byte = np.flatnonzero(sizes > 1), 1
        while len(more):
            h[more] = (h[more] ^ signed[self.begins[at[more]] + byte]) * _PRIME
            byte += 1
            more = more[sizes[more] > byte]

    def spans(self, min_n: int, max_n: int) -> tuple[Ints, Ints]:
        """Return where each n-gram begins and ends in ``data``, in the order of ``hashes``."""
        each, lone = self._each(min_n, max_n)
        owner = np.repeat(np.arange(len(each)), each)
        length = np.arange(len(owner)) - (np.cumsum(each) - each - lone - max(min_n, 1))[owner]
        last = owner + length - 1
        return self.begins[owner], self.begins[last] + self.sizes[last]
