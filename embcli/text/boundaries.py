"""Places where a text can be cut for threads without cutting a piece, whatever the pattern. Not for words."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def piece_end(buffer: NDArray[np.uint8], stop: int) -> int:
    """Return the last place before ``stop`` where every pattern of byte-pair encoding ends a piece, or 0.

    Before a space between two ASCII letters; or behind a LF that stands between a visible ASCII character (or one of
    U+4000 to U+DFFF, which are no white space) and an ASCII letter or digit, or such a character.
    """
    for tail in (buffer[max(stop - 4096, 0) : stop], buffer[:stop]):
        kinds = _KINDS[tail]
        before, middle, after = kinds[2:-2], tail[3:-1], kinds[4:]
        wide = (kinds[:-4] & 8 != 0) & (kinds[1:-3] & 16 != 0) & (before & 16 != 0)
        spaced = (middle == ord(" ")) & (before & after & 1 != 0)
        lined = (middle == ord("\n")) & ((before & 2 != 0) | wide) & (after & 12 != 0)
        found = np.flatnonzero(spaced | lined)
        if len(found):
            at = int(found[-1])
            return stop - len(tail) + 3 + at + int(lined[at])
    return 0


def _kinds() -> NDArray[np.uint8]:
    """Return for each byte, added up: 1 letter, 2 visible, 4 letter or digit, 8 first, 16 later byte from U+4000 on."""
    table = np.zeros(256, np.uint8)
    for mark, some in (
        (1, b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"), (2, bytes(range(0x21, 0x7F))),
        (4, b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"),
        (8, bytes(range(0xE4, 0xEE))), (16, bytes(range(0x80, 0xC0))),
    ):  # fmt: skip
        table[np.frombuffer(some, np.uint8)] += np.uint8(mark)
    return table


_KINDS = _kinds()
