"""Arrays in plain files, for results of which several processes make the parts. Not artifacts: they name nothing.

A part appears under its name when it is complete, so that a process may die while it writes one, or two may write the
same one. Whoever asked for the parts removes their folder.
"""

from __future__ import annotations

import mmap
import os
import uuid
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from embcli.errors import NumbersError


class Part:
    """A one-dimensional array that grows in a file, which has its name from the end of the ``with`` block on."""

    def __init__(self, path: str, dtype: Any) -> None:
        self.path, self.dtype, self.items = path, np.dtype(dtype), 0
        self._own = f"{path}.{uuid.uuid4().hex}"
        self._file = open(self._own, "xb")  # noqa: SIM115 - closed by __exit__

    def append(self, array: ArrayLike) -> None:
        """Add the items of an array at the end."""
        block = np.ascontiguousarray(np.asarray(array).astype(self.dtype, casting="safe", copy=False))
        self._file.write(block.reshape(-1).view(np.uint8).data)
        self.items += block.size

    def __enter__(self) -> Part:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: Any, where: TracebackType | None) -> None:
        self._file.close()
        if kind is None:
            os.replace(self._own, self.path)
        else:
            with suppress(OSError):
                os.unlink(self._own)


def append_all(path: str, dtypes: Mapping[str, Any], blocks: Iterable[Mapping[str, ArrayLike]]) -> None:
    """Write several parts, ``path`` with each name in it, from blocks that have some items of each."""
    with ExitStack() as stack:
        parts = {name: stack.enter_context(Part(path.format(name), dtype)) for name, dtype in dtypes.items()}
        for block in blocks:
            for name, items in block.items():
                parts[name].append(items)


def write_part(path: str, array: NDArray[Any]) -> None:
    """Write an array to a file of its own."""
    with Part(path, array.dtype) as part:
        part.append(array)


def read_part(path: str, dtype: Any, start: int = 0, stop: int | None = None) -> NDArray[Any]:
    """Return items [start, stop) of a part, by a plain read."""
    size = np.dtype(dtype).itemsize
    return np.fromfile(path, dtype, -1 if stop is None else stop - start, offset=start * size)


def fill_part(path: str, start: int, into: NDArray[Any]) -> None:
    """Fill an array from a part, byte ``start`` on, without a copy. Raises EOFError if the part is too short."""
    with open(path, "rb", buffering=0) as file:
        file.seek(start)
        left = into.reshape(-1).view(np.uint8).data
        while len(left):
            n = file.readinto(left)
            if not n:
                raise EOFError(path)
            left = left[n:]


def map_part(path: str, dtype: Any) -> NDArray[Any]:
    """Return a part as a read-only memory map."""
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        return np.frombuffer(mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ) if size else b"", dtype)


class Joined:
    """The items of several files one after another, as a member of an artifact that is to be written.

    dtype : of all of them.  paths : the files.  bases : what is added to the items of each; None: nothing.
    ahead : items before those of the first file.
    """

    def __init__(
        self, dtype: Any, paths: Sequence[str], bases: Sequence[int] | None = None, ahead: Sequence[int] = ()
    ) -> None:
        self.dtype, self.paths, self.bases, self.ahead = np.dtype(dtype), list(paths), bases, list(ahead)

    @property
    def shape(self) -> tuple[int]:
        """Shape of the whole."""
        size = sum(os.stat(path).st_size for path in self.paths)
        return (len(self.ahead) + size // self.dtype.itemsize,)

    def __len__(self) -> int:
        return self.shape[0]

    def pieces(self) -> Iterator[tuple[int, Joined]]:
        """Yield the items before the first file, then each file, with the byte at which it begins."""
        if self.ahead:
            yield 0, Joined(self.dtype, [], ahead=self.ahead)
        at = len(self.ahead) * self.dtype.itemsize
        for path, base in zip(self.paths, self.bases or [0] * len(self.paths), strict=True):
            yield at, Joined(self.dtype, [path], [base])
            at += os.stat(path).st_size

    def copy_to(self, path: str, at: int) -> tuple[int, int]:
        """Write all items into a file that is there, from byte ``at`` on; return their CRC-32 and how many bytes.

        Raises NumbersError if one is not finite.
        """
        crc = size = 0
        with open(path, "r+b", buffering=0) as file:
            file.seek(at)
            for block in self.blocks(1 << 22):
                if self.dtype.kind == "f" and not np.isfinite(block).all():
                    raise NumbersError(f"{path}: not all numbers are finite; nothing was written")
                data = block.astype(self.dtype.newbyteorder("<"), copy=False).view(np.uint8).data
                crc, size = zlib.crc32(data, crc), size + len(data)
                while data:
                    data = data[file.write(data) :]
        return crc, size

    def blocks(self, n_bytes: int) -> Iterator[NDArray[Any]]:
        """Yield the whole as arrays of about ``n_bytes`` bytes, by plain reads."""
        if self.ahead:
            yield np.array(self.ahead, self.dtype)
        for path, base in zip(self.paths, self.bases or [0] * len(self.paths), strict=True):
            with open(path, "rb", buffering=0) as file:
                while len(block := np.fromfile(file, self.dtype, n_bytes // self.dtype.itemsize)):
                    yield block + self.dtype.type(base) if base else block
