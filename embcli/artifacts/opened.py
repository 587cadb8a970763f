"""An artifact's file, opened and mapped: its members, their places and types, and its meta. Knows no kinds.

Nothing is believed before it was compared with the file: a size that is claimed costs no memory.
"""

from __future__ import annotations

import mmap
import os
import stat
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from embcli.artifacts import identify, npy, provenance
from embcli.artifacts.checks import BLOCK, SMALL
from embcli.artifacts.zipread import LOCAL_MARK, Entry, ForeignError, directory, stored
from embcli.errors import InputError, KindError

#: the header of an array is at the beginning of its member, within this many bytes
_HEADER = 1100


class Array:
    """One member: name, type, shape, the CRC that the zip claims, and where its header and its data begin."""

    def __init__(self, entry: Entry, file: memoryview) -> None:
        self.name = entry.name.removesuffix(".npy")
        self.entry, self.crc = entry, entry.crc
        head = bytes(file[entry.start : entry.start + min(_HEADER, entry.size)])
        try:
            self.dtype, self.shape, length = npy.parse(head, entry.size)
        except ValueError as e:
            raise ValueError(f"array '{self.name}' {e}") from None
        self.at, self.nbytes = entry.start + length, entry.size - length


class Opened:
    """A file that is a sound npz of embcli's.

    Parameters
    ----------
    path : of the file; - is stdin.

    Raises KindError if the file is something else or of a later version, InputError if it is damaged or cannot be
    read. Only the directory, the headers and meta are read.
    """

    def __init__(self, path: str) -> None:
        self.path, self.shown = path, identify.show(path)
        with _file(path) as file:
            self._open(file)

    @classmethod
    def of(cls, file: IO[bytes], path: str) -> Opened:
        """Return a file that is open for reading as an opened artifact."""
        self = cls.__new__(cls)
        self.path, self.shown = path, identify.show(path)
        self._open(file)
        return self

    def _open(self, file: IO[bytes]) -> None:
        file.seek(0)
        head = file.read(len(LOCAL_MARK))
        if head != LOCAL_MARK:
            raise identify.foreign(self.path, head + file.read(identify.HEAD))
        try:
            self.map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except (OSError, ValueError) as e:
            raise InputError(f"{self.shown}: cannot be mapped into memory: {e}") from None
        self._view = memoryview(self.map)
        with self.clean():
            entries, end = directory(self._view)
            names = [entry.name for entry in entries]
            if "meta.npy" not in names:
                raise identify.other_zip(self.path, names)
            stored(self._view, entries, end)
            self.arrays = {a.name: a for a in (Array(entry, self._view) for entry in entries)}
            self.meta = self._meta()
        self.size = len(self.map)

    @contextmanager
    def clean(self) -> Iterator[None]:
        """Turn ValueError, one clause about this file, into the error that names the file."""
        try:
            yield
        except ForeignError as e:
            raise KindError(f"{self.shown}: not an embcli artifact: {e}") from None
        except ValueError as e:
            raise InputError(f"{self.shown}: damaged: {e}; make the file again") from None

    def _meta(self) -> dict[str, Any]:
        array = self.arrays["meta"]
        if array.dtype.str != "|u1" or len(array.shape) != 1:
            raise ForeignError("its meta is not embcli's")
        if array.nbytes >= SMALL:
            raise ValueError(f"its meta takes {array.nbytes:,} bytes")
        self.check_crc("meta")
        try:
            return provenance.loads(self.raw_meta())
        except KindError as e:
            raise KindError(f"{self.shown}: {e}") from None

    def raw_meta(self) -> bytes:
        """Return the bytes of meta."""
        array = self.arrays["meta"]
        return bytes(self._view[array.at : array.at + array.nbytes])

    def array(self, name: str) -> NDArray[Any]:
        """Return a member as a read-only view of the map.

        A copy, if it does not start at a multiple of its item's size, as in a file that NumPy wrote.
        """
        a = self.arrays[name]
        if not a.nbytes:
            made: NDArray[Any] = np.empty(a.shape, a.dtype)
        else:
            made = np.frombuffer(self._view, a.dtype, a.nbytes // a.dtype.itemsize, a.at).reshape(a.shape)
            if a.at % a.dtype.itemsize:
                made = made.copy()
        made.flags.writeable = False
        return made

    def check_crc(self, name: str) -> None:
        """Raise ValueError unless the bytes of a member have the CRC that the zip claims. Memory stays small."""
        entry, crc = self.arrays[name].entry, 0
        for at in range(entry.start, entry.start + entry.size, BLOCK):
            crc = zlib.crc32(self._view[at : min(at + BLOCK, entry.start + entry.size)], crc)
            if entry.size >= SMALL:
                self.give_back()
        if crc != entry.crc:
            raise ValueError(f"array '{name}' has changed since it was written (its checksum is wrong)")

    def give_back(self) -> None:
        """Give all mapped pages back to the system; they are read again when they are needed."""
        if hasattr(self.map, "madvise"):
            self.map.madvise(mmap.MADV_DONTNEED)

    def digest(self) -> str:
        """Return sha256 over meta and each member's name, type, shape and CRC, in the order of the names."""
        import hashlib  # costs 3 ms, and `info` and the like do without

        made = hashlib.sha256(self.raw_meta())
        for name in sorted(self.arrays):
            a = self.arrays[name]
            made.update(f"\n{name} {a.dtype.str} {a.shape} {a.crc:08x}".encode())
        return made.hexdigest()


@contextmanager
def _file(path: str) -> Iterator[IO[bytes]]:
    """Open a path for reading at any place; what cannot do that (stdin, a pipe) is copied to an unlinked file first."""
    shown = identify.show(path)
    if path == "-":
        if sys.stdin is None:
            raise InputError("stdin: is closed")
        with _spooled(sys.stdin.buffer, path) as copy:
            yield copy
        return
    try:
        with open(path, "rb") as file:
            if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                yield file
                return
            with _spooled(file, path) as copy:
                yield copy
    except FileNotFoundError:
        raise InputError(f"{shown}: no such file") from None
    except IsADirectoryError:
        raise InputError(f"{shown}: is a folder; an artifact is one .npz file") from None
    except PermissionError:
        raise InputError(f"{shown}: no permission to read it") from None
    except (OSError, ValueError) as e:  # ValueError: a NUL in the path
        raise InputError(f"{shown}: cannot be read: {getattr(e, 'strerror', None) or e}") from None


@contextmanager
def _spooled(source: IO[bytes], path: str) -> Iterator[IO[bytes]]:
    import tempfile  # here, because it costs as much as the rest of reading an artifact

    head = source.read(identify.HEAD)
    if not head.startswith(LOCAL_MARK):  # or an endless stream would fill the disk
        raise identify.foreign(path, head)
    with tempfile.TemporaryFile() as copy:
        try:
            while head:
                copy.write(head)
                head = source.read(1 << 20)
            copy.flush()
        except OSError as e:
            shown, folder = identify.show(path), tempfile.gettempdir()
            raise InputError(f"{shown}: cannot be copied to {folder}: {e.strerror}") from None
        yield copy
