"""Character n-grams and their hashes, one byte after the other, as the definition reads."""

from __future__ import annotations


def plain(word: bytes, min_n: int, max_n: int, sign: bool = True, old: bool = False) -> list[tuple[bytes, int]]:
    """Return n-grams and hashes, one byte after the other."""
    if word == b"</s>" and not old:
        return []
    text, found = b"<" + word + b">", []
    starts = [i for i, byte in enumerate(text) if byte & 0xC0 != 0x80]
    ends = [*starts[1:], len(text)]
    for first in range(len(starts)):
        for n in range(max(min_n, 1), max_n + 1):
            last = first + n - 1
            if last >= len(starts) or (n == 1 and (first == 0 or last == len(starts) - 1)):
                continue
            part, h = text[starts[first] : ends[last]], 2166136261
            for byte in part:
                h = ((h ^ (byte | 0xFFFFFF00 if sign and byte > 127 else byte)) * 16777619) & 0xFFFFFFFF
            found.append((part, h))
    return found
