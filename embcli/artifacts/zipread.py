"""Reads the directory of a zip whose members are stored one after another, and trusts none of it.

Python's zipfile is not used: it costs more to import than to open an artifact, and it accepts what must not be mapped
(overlapping members, gaps, names with folders, sizes that only one of two headers claims).

The layout is PKWARE's APPNOTE.TXT 6.3, sections 4.3.7 (local header), 4.3.12 (directory), 4.3.14 to 4.3.16 (its end)
and 4.5.3 (zip64).
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

LOCAL = struct.Struct("<4s5H3I2H")
CENTRAL = struct.Struct("<4s6H3I5H2I")
END = struct.Struct("<4s4H2IH")
END64 = struct.Struct("<4sQ2H2I4Q")
LOCATOR = struct.Struct("<4sIQI")
LOCAL_MARK, CENTRAL_MARK, END_MARK = b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06"
END64_MARK, LOCATOR_MARK = b"PK\x06\x06", b"PK\x06\x07"
FULL, FULL16 = 0xFFFFFFFF, 0xFFFF

_LARGEST_DIRECTORY = 1 << 20
_UTF8_NAME = 0x800


class ForeignError(ValueError):
    """The file is a zip of another make, rather than a damaged artifact."""


@dataclass
class Entry:
    """One member: where its local header and its bytes begin, how many bytes (on disk, unpacked), and their CRC-32."""

    name: str
    flags: int
    method: int
    crc: int
    packed: int
    size: int
    at: int
    start: int = 0


def directory(file: memoryview) -> tuple[list[Entry], int]:
    """Return the members that the directory of the zip lists, in its order, and where the directory begins.

    Only the directory is read. Raises ValueError, one clause, if it is missing or does not fit the file, and
    ForeignError if no artifact is like that.
    """
    end = _find_end(file)
    _, disk, first_disk, here, count, size, at, _ = END.unpack_from(file, end)
    if (disk, first_disk) != (0, 0) or here != count:
        raise ForeignError("it is one part of a split zip")
    stop = end
    if FULL in (size, at) or count == FULL16:
        count, size, at, stop = _end64(file, end)
    if at + size != stop:
        raise ValueError("the zip directory is not where the file says")
    if count * CENTRAL.size > size:
        raise ValueError(f"the zip directory claims {count:,} members in {size:,} bytes")
    if size > _LARGEST_DIRECTORY:
        raise ForeignError(f"it is a zip of {count:,} members")
    entries, offset = [], at
    for _ in range(count):
        entry, offset = _central(file, offset, stop)
        entries.append(entry)
    if offset != stop:
        raise ValueError("the zip directory is longer than its members")
    return entries, at


def _find_end(file: memoryview) -> int:
    """Return where the end record begins; a comment after it makes another zip, not a damaged one."""
    tail = bytes(file[max(len(file) - END.size - FULL16, 0) :])
    at = tail.rfind(END_MARK, 0, max(len(tail) - END.size + len(END_MARK), 0))
    if at < 0:
        raise ValueError("the zip directory at its end is missing, so the file is cut short")
    return len(file) - len(tail) + at


def _end64(file: memoryview, end: int) -> tuple[int, int, int, int]:
    """Return count, size and place of the directory from the zip64 records before the end, and where they begin."""
    at = end - LOCATOR.size - END64.size
    if at < 0:
        raise ValueError("the zip64 record is missing")
    mark, _, where, _ = LOCATOR.unpack_from(file, end - LOCATOR.size)
    mark64, length, _, _, disk, first_disk, here, count, size, offset = END64.unpack_from(file, at)
    if (mark, mark64, where, length) != (LOCATOR_MARK, END64_MARK, at, END64.size - 12):
        raise ValueError("the zip64 record is missing")
    if (disk, first_disk) != (0, 0) or here != count:
        raise ForeignError("it is one part of a split zip")
    return count, size, offset, at


def _central(file: memoryview, at: int, stop: int) -> tuple[Entry, int]:
    """Return the member whose directory entry is at ``at``, and where the next entry begins."""
    if at + CENTRAL.size > stop:
        raise ValueError("the zip directory is cut short")
    head = CENTRAL.unpack_from(file, at)
    mark, _, _, flags, method, _, _, crc, packed, size, n_name, n_extra, n_comment, _, _, _, local = head
    after = at + CENTRAL.size + n_name + n_extra + n_comment
    if mark != CENTRAL_MARK or after > stop:
        raise ValueError("the zip directory is damaged")
    raw = bytes(file[at + CENTRAL.size : after])
    name = raw[:n_name].decode("utf-8" if flags & _UTF8_NAME else "ascii", "replace")
    size, packed, local = _zip64(raw[n_name : n_name + n_extra], [size, packed, local])
    return Entry(name, flags, method, crc, packed, size, local), after


def _zip64(extra: bytes, fields: list[int]) -> list[int]:
    """Return the fields with those that are full (0xFFFFFFFF) taken from the zip64 part of the extra field."""
    at, wide = 0, b""
    while at < len(extra):
        if at + 4 > len(extra):
            raise ValueError("an extra field of the zip is damaged")
        tag, length = struct.unpack_from("<2H", extra, at)
        if at + 4 + length > len(extra) or (tag == 1 and wide):
            raise ValueError("an extra field of the zip is damaged")
        if tag == 1:
            wide = extra[at + 4 : at + 4 + length]
        at += 4 + length
    full = [i for i, value in enumerate(fields) if value == FULL]
    if len(wide) < 8 * len(full):
        raise ValueError("a zip64 size is missing")
    for i, value in zip(full, struct.unpack_from(f"<{len(full)}Q", wide), strict=True):
        fields[i] = value
    return fields


def stored(file: memoryview, entries: list[Entry], end: int) -> None:
    """Check that the members are stored arrays which fill the file from 0 to ``end``; set ``start`` of each.

    Raises ValueError, one clause that names the member, if a local header says otherwise than the directory, a member
    is named twice or not NAME.npy, or members overlap or leave gaps; ForeignError if one is compressed or encrypted.
    """
    if bytes(file[-END.size :][:4]) != END_MARK or bytes(file[-2:]) != b"\0\0":
        raise ValueError("something follows the zip directory")
    seen: set[str] = set()
    at = 0
    for entry in sorted(entries, key=lambda e: e.at):
        plain = entry.name.removesuffix(".npy")
        shown = ascii(plain)[:60]
        if not plain.isidentifier() or plain == entry.name:
            raise ValueError(f"member {ascii(entry.name)[:60]} is no array of an artifact")
        if plain in seen:
            raise ValueError(f"array {shown} is there twice")
        seen.add(plain)
        if entry.at != at:
            raise ValueError(f"array {shown} is not where the zip directory says, or overlaps another")
        _local(file, entry, end, shown)
        at = entry.start + entry.size
    if at != end:
        raise ValueError("the members do not fill the file up to the zip directory")


def _local(file: memoryview, entry: Entry, end: int, shown: str) -> None:
    """Set where the member's bytes begin, if its local header agrees with the directory and its bytes are there."""
    if entry.at + LOCAL.size > end:
        raise ValueError(f"array {shown} is not there")
    mark, _, flags, method, _, _, crc, packed, size, n_name, n_extra = LOCAL.unpack_from(file, entry.at)
    names = entry.at + LOCAL.size
    raw = bytes(file[names : min(names + n_name + n_extra, end)])
    if (mark, flags, method, raw[:n_name]) != (LOCAL_MARK, entry.flags, entry.method, entry.name.encode()):
        raise ValueError(f"the two zip headers of array {shown} differ")
    if flags & ~_UTF8_NAME or method != 0:
        raise ForeignError(f"array {shown} is compressed or encrypted; only plainly stored arrays are read")
    size, packed = _zip64(raw[n_name:], [size, packed])
    if (crc, packed, size) != (entry.crc, entry.packed, entry.size) or packed != size:
        raise ValueError(f"the two zip headers of array {shown} differ")
    entry.start = names + n_name + n_extra
    if entry.start + entry.size > end:
        raise ValueError(f"array {shown} claims {entry.size:,} bytes, more than the file has")
