"""The header of one .npy array: written exactly as NumPy writes it, read strictly. Knows nothing of zip or kinds.

Reading evaluates nothing: a header is accepted only if writing the same type and shape gives the same text.
"""

from __future__ import annotations

import math
import re
import struct
from typing import Any

import numpy as np

_MAGIC = b"\x93NUMPY\x01\x00"
_LONGEST = 1024
_SPACE_TO_GROW = 21
_TEXT = re.compile(r"\{'descr': (.{1,400}), 'fortran_order': (True|False), 'shape': \(([0-9, ]*)\), \}")
_DTYPES = {t: np.dtype(t) for t in ("|u1", "<u2", "<u4", "<i4", "<i8", "<f2", "<f4", "<f8")}


def _text(descr: str, shape: tuple[int, ...]) -> str:
    return f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape!r}, }}"


def header(dtype: np.dtype[Any], shape: tuple[int, ...]) -> bytes:
    """Return the header (format 1.0) of a C-ordered array, byte for byte what ``np.save`` writes.

    Its length is a multiple of 64 and does not depend on ``shape[0]``, so it can be patched when that is known.
    """
    text = _text(repr(dtype.newbyteorder("<").str), shape)
    text += " " * (_SPACE_TO_GROW - len(str(shape[0])) if shape else 0)
    length = -(-(len(_MAGIC) + 2 + len(text) + 1) // 64) * 64
    return _MAGIC + struct.pack("<H", length - 10) + text.encode("ascii").ljust(length - 11) + b"\n"


def parse(raw: bytes, size: int) -> tuple[np.dtype[Any], tuple[int, ...], int]:
    """Return the type, the shape and the header's length of the array in a member of ``size`` bytes.

    ``raw`` is the beginning of the member (1,100 bytes are enough). Raises ValueError, one clause, unless the header is
    one that NumPy writes, of a type that embcli uses, and type times shape is exactly the size of the member.
    """
    if len(raw) < 10 or raw[:6] != _MAGIC[:6]:
        raise ValueError("is not a NumPy array")
    if raw[:8] != _MAGIC:
        raise ValueError(f"has array format {raw[6]}.{raw[7]} where 1.0 is due")
    length = int.from_bytes(raw[8:10], "little")
    if length > _LONGEST or 10 + length > min(size, len(raw)):
        raise ValueError(f"has an array header of {length:,} bytes")
    dtype, shape = _parse_text(raw[10 : 10 + length].decode("latin-1"))
    nbytes = dtype.itemsize * math.prod(shape)
    if dtype.itemsize * math.prod(max(n, 1) for n in shape) >= 1 << 63:
        raise ValueError(f"has an impossible shape, {shape}")
    if nbytes != size - 10 - length:
        raise ValueError(f"has {size - 10 - length:,} bytes where {dtype.str} of shape {shape} takes {nbytes:,}")
    return dtype, shape, 10 + length


def _parse_text(text: str) -> tuple[np.dtype[Any], tuple[int, ...]]:
    match = _TEXT.match(text)
    if not match or text[match.end() :].strip(" ") != "\n":
        raise ValueError("has an array header that cannot be understood")
    descr, fortran, inside = match.groups()
    if descr.strip("'") not in _DTYPES:
        what = "Python objects, which are never read" if descr == "'|O'" else "items of a type that is not used"
        raise ValueError(f"holds {what} ({ascii(descr)[1:-1][:40]})")
    if fortran == "True":
        raise ValueError("is stored column by column (Fortran order)")
    sizes = [part.strip() for part in inside.split(",")]
    if any(len(part) > 19 for part in sizes):
        raise ValueError("has an impossible shape")
    shape = tuple(int(part) for part in sizes if part)
    if _text(descr, shape) != match.group():
        raise ValueError("has an array header that cannot be understood")
    return _DTYPES[descr.strip("'")], shape
