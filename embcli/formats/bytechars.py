"""GPT-2's way to write any bytes as visible characters, which Hugging Face's byte-level files share.

Visible bytes of Latin-1 stand for themselves; the others are U+0100, U+0101 and so on in their order.
"""

from __future__ import annotations

from functools import cache

from embcli.text.tokenizer import BYTE_ORDER

#: how many bytes stand for themselves
_VISIBLE = 188


@cache
def _characters() -> dict[int, str]:
    shown = {byte: chr(byte) for byte in BYTE_ORDER[:_VISIBLE]}
    return shown | {byte: chr(256 + i) for i, byte in enumerate(BYTE_ORDER[_VISIBLE:])}


@cache
def _bytes() -> dict[int, int]:
    return {ord(char): byte for byte, char in _characters().items()}


def written(spelled: bytes) -> str:
    """Return bytes as visible characters."""
    return "".join(map(_characters().__getitem__, spelled))


def spelled(text: str) -> bytes | None:
    """Return the bytes that visible characters stand for; None if a character stands for none."""
    try:
        return bytes(map(_bytes().__getitem__, map(ord, text)))
    except KeyError:
        return None
