"""Files of other programs on their way in: their first bytes, whatever packs them, and whole files as a memory map."""

from __future__ import annotations

import hashlib
import io
import mmap
import os
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

from embcli.artifacts import identify
from embcli.errors import EmbcliError, InputError
from embcli.text.compressed import Plain

#: bytes of a file's beginning that say what it is
HEAD = 1 << 16


class Mapped:
    """A file of which every byte can be had: ``map``, what messages call it, and sha256 of its bytes.

    stdin and pipes are copied to an unlinked temporary file first. Raises InputError if it cannot be read or is empty.
    """

    def __init__(self, path: str) -> None:
        self.name = identify.show(path)
        with opened(path) as file:
            if path == "-" or not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                with tempfile.TemporaryFile() as copy:
                    while block := file.read(1 << 20):
                        copy.write(block)
                    copy.flush()
                    self.map = self._of(copy)
            else:
                self.map = self._of(file)
        self.digest = hashlib.sha256(self.map).hexdigest()

    def _of(self, file: IO[bytes]) -> mmap.mmap:
        if not os.fstat(file.fileno()).st_size:
            raise InputError(f"{self.name}: looks like an empty file")
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def digest_of(path: str) -> str:
    """Return sha256 of a file as it is."""
    with opened(path) as file:
        made = hashlib.sha256()
        while block := file.read(1 << 20):
            made.update(block)
        return made.hexdigest()


class Stream:
    """The unpacked bytes of a file or of stdin from the beginning; ``digest`` is sha256 of those that were ``used``.

    Raises InputError, as ``read`` does, where it cannot be read or what packs it is damaged.
    """

    def __init__(self, file: IO[bytes], path: str) -> None:
        self._plain = Plain(file, identify.show(path))
        self._hash = hashlib.sha256()

    def read(self, n: int) -> bytes:
        """Return the next n bytes, fewer only at the end."""
        room = bytearray(n)
        got = self._plain.fill(memoryview(room))
        del room[got:]
        return bytes(room)

    def used(self, data: bytes | memoryview) -> None:
        """Count the next bytes in, in the order in which they were read; more may have been read ahead."""
        self._hash.update(data)

    @property
    def digest(self) -> str:
        """Digest of what was used so far."""
        return self._hash.hexdigest()


def head_of(path: str) -> tuple[bytes, bytes]:
    """Return the first bytes of a file as they are, and unpacked (the same, if nothing can be unpacked).

    Of stdin no byte is lost: it can still be read from its beginning.
    """
    if path == "-":
        raw = sys.stdin.buffer.peek(HEAD)[:HEAD]  # type: ignore[attr-defined,union-attr,unused-ignore]
    else:
        with opened(path) as file:
            raw = file.read(HEAD)
    try:
        return raw, Stream(io.BytesIO(raw), path).read(HEAD)
    except EmbcliError:  # the beginning of something packed ends too early; its own reader says what is wrong with it
        return raw, _first_of(path, raw)


def _first_of(path: str, raw: bytes) -> bytes:
    """Return the first unpacked bytes of a packed file, those of ``raw`` if they cannot be had."""
    if path == "-":
        return raw
    try:
        with opened(path) as file:
            return Stream(file, path).read(1 << 12)
    except EmbcliError:
        return raw


@contextmanager
def opened(path: str) -> Iterator[IO[bytes]]:
    """Open a file for reading, or stdin. Raises InputError, with the file's name."""
    if path == "-":
        yield sys.stdin.buffer
        return
    shown = identify.show(path)
    try:
        with open(path, "rb") as file:
            yield file
    except FileNotFoundError:
        raise InputError(f"{shown}: there is no such file") from None
    except IsADirectoryError:
        raise InputError(f"{shown}: is a folder") from None
    except OSError as e:
        raise InputError(f"{shown}: cannot be read: {e.strerror or e}") from None
