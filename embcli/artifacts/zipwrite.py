"""Writes a zip of stored members whose bytes may be produced while they are written. Knows nothing of kinds.

The file is the same whatever the blocks in which the bytes arrive. Layout: see zipread.py.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import IO

from embcli.artifacts.zipread import (
    CENTRAL,
    CENTRAL_MARK,
    END,
    END64,
    END64_MARK,
    END_MARK,
    FULL,
    FULL16,
    LOCAL,
    LOCAL_MARK,
    LOCATOR,
    LOCATOR_MARK,
)

#: sizes and places from here on are written as zip64
ZIP64_FROM = FULL
ALIGN = 64

_MADE_BY = (3 << 8) | 45  # Unix, so that the mode below counts; 45 is zip64
_MODE = 0o100644 << 16
_TIME, _DATE = 0, (1 << 5) | 1  # 1980-01-01, the first day a zip can say
_ALIGNMENT = 0xD935  # the extra field that pads for alignment: multiple (2 bytes), then zeros
_POLYNOMIAL = 0xEDB88320  # CRC-32, lowest bit first: bit 31 is x^0


class ZipWriter:
    """A zip being written to an open binary file, from its beginning.

    Parameters
    ----------
    file : seekable, empty.
    failing : makes a context in which the file is written, which may turn OSError into what the caller wants; what
        the blocks' producer raises passes unchanged.
    """

    def __init__(self, file: IO[bytes], failing: Callable[[], AbstractContextManager[None]] = nullcontext) -> None:
        from concurrent.futures import ThreadPoolExecutor  # not for those who only read

        self._file, self._failing = file, failing
        self._at = 0
        self._directory: list[bytes] = []
        self._pool = ThreadPoolExecutor(1)

    def __enter__(self) -> ZipWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown()

    def _write(self, data: bytes | memoryview) -> None:
        with self._failing():
            self._file.write(data)
        self._at += len(data)

    def _patch(self, at: int, data: bytes) -> None:
        with self._failing():
            self._file.seek(at)
            self._file.write(data)
            self._file.seek(self._at)

    def add(self, name: str, head: Callable[[], bytes], blocks: Iterable[memoryview]) -> None:
        """Write a member: its head, then the blocks.

        The head is asked for again after the last block and overwritten, so it may depend on the blocks; its length
        may not. The blocks start at a multiple of 64 bytes if that length is one. Their CRC is computed by a second
        thread while they are written.
        """
        begin = self._at
        raw_name = name.encode()
        self._write(_local(raw_name, 0, 0, begin) + head())
        start, crc = self._at, 0
        for block in blocks:
            coming = self._pool.submit(zlib.crc32, block, crc)
            self._write(block)
            crc = coming.result()
        data = self._at - start
        known = head()
        crc = combine(zlib.crc32(known), crc, data)
        self._patch(begin, _local(raw_name, crc, len(known) + data, begin) + known)
        self._directory.append(_central(raw_name, crc, len(known) + data, begin))

    def reserve(self, name: str, head: bytes, size: int) -> tuple[int, Callable[[int], None]]:
        """Write the head of a member and leave room for its ``size`` other bytes, which somebody else writes.

        Returns where these begin, and what is to be called with their CRC before the directory is written.
        """
        begin, raw_name, place = self._at, name.encode(), len(self._directory)
        self._write(_local(raw_name, 0, 0, begin) + head)
        start = self._at
        self._at += size
        with self._failing():
            self._file.seek(self._at)
        self._directory.append(b"")

        def known(crc: int) -> None:
            whole = combine(zlib.crc32(head), crc, size)
            self._patch(begin, _local(raw_name, whole, len(head) + size, begin) + head)
            self._directory[place] = _central(raw_name, whole, len(head) + size, begin)

        return start, known

    def finish(self) -> None:
        """Write the directory and flush. The file itself stays open."""
        at, count = self._at, len(self._directory)
        size = sum(map(len, self._directory))
        end64 = b""
        if max(at, size) >= ZIP64_FROM or count >= FULL16:
            where = at + size
            end64 = END64.pack(END64_MARK, END64.size - 12, _MADE_BY, 45, 0, 0, count, count, size, at)
            end64 += LOCATOR.pack(LOCATOR_MARK, 0, where, 1)
        end = END.pack(END_MARK, 0, 0, _small(count, FULL16), _small(count, FULL16), _small(size), _small(at), 0)
        self._write(b"".join(self._directory) + end64 + end)
        with self._failing():
            self._file.flush()


def _small(value: int, full: int = FULL) -> int:
    return full if value >= min(full, ZIP64_FROM) else value


def _local(name: bytes, crc: int, size: int, begin: int) -> bytes:
    """Return a local header whose sizes stand in a zip64 field, so that its length does not depend on them."""
    wide = struct.pack("<2H2Q", 1, 16, size, size)
    pad = -(begin + LOCAL.size + len(name) + len(wide) + 6) % ALIGN
    extra = wide + struct.pack("<3H", _ALIGNMENT, 2 + pad, ALIGN) + bytes(pad)
    head = LOCAL.pack(LOCAL_MARK, 45, 0, 0, _TIME, _DATE, crc, FULL, FULL, len(name), len(extra))
    return head + name + extra


def _central(name: bytes, crc: int, size: int, at: int) -> bytes:
    wide = [value for value in (size, size, at) if value >= ZIP64_FROM]
    extra = struct.pack(f"<2H{len(wide)}Q", 1, 8 * len(wide), *wide) if wide else b""
    short, place, needed = _small(size), _small(at), 45 if wide else 20
    lengths = len(name), len(extra), 0
    when = _TIME, _DATE
    head = CENTRAL.pack(CENTRAL_MARK, _MADE_BY, needed, 0, 0, *when, crc, short, short, *lengths, 0, 0, _MODE, place)
    return head + name + extra


def _times(a: int, b: int) -> int:
    """Return a times b modulo the CRC's polynomial, over GF(2)."""
    product = 0
    for shift in range(31, -1, -1):
        if b >> shift & 1:
            product ^= a
        a = a >> 1 ^ (_POLYNOMIAL if a & 1 else 0)
    return product


@cache
def _byte_power(k: int) -> int:
    """Return x^(8 * 2^k) modulo the polynomial."""
    if k == 0:
        return 1 << 23
    half = _byte_power(k - 1)
    return _times(half, half)


def combine(first: int, second: int, length: int) -> int:
    """Return the CRC-32 of two byte strings one after another from the CRC of each; ``length`` is the second's.

    Appending n bytes multiplies what came before by x^(8n) (Williams 1993, A painless guide to CRC error detection
    algorithms); initial and final complements cancel out.
    """
    shifted, k = first, 0
    while length >> k:
        if length >> k & 1:
            shifted = _times(shifted, _byte_power(k))
        k += 1
    return shifted ^ second
