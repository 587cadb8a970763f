"""An array that grows in an unlinked temporary file, for results that appear beside other results. Not a cache."""

from __future__ import annotations

import errno
import mmap
import os
from collections.abc import Iterator
from contextlib import suppress
from typing import IO, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from embcli.errors import InputError


class Spill:
    """A one-dimensional array on disk that grows at its end.

    Appending is a plain ``write()``: nothing is mapped, so resident memory does not grow with the array. The file has
    no name, so nothing is left behind whatever happens to the process. As a field of an artifact it is copied once by
    ``store.write``, by plain reads.

    Parameters
    ----------
    dtype : the items' type; what is appended must convert to it safely (a wider type is a TypeError).
    folder : where the file lives; None means the system's folder for temporary files.

    Raises InputError if the folder cannot be written or its disk is full.
    """

    def __init__(self, dtype: Any, folder: str | None = None) -> None:
        import tempfile  # here, because it costs as much as the rest of reading an artifact

        self.dtype = np.dtype(dtype)
        self._folder, self._nbytes = folder or tempfile.gettempdir(), 0
        try:
            self._file: IO[bytes] = tempfile.TemporaryFile(dir=self._folder)  # noqa: SIM115 - closed with the object
        except OSError as e:
            raise self._failed(e) from None

    def _failed(self, e: OSError) -> InputError:
        elsewhere = "or work elsewhere (-o, TMPDIR)"
        if e.errno in (errno.ENOSPC, errno.EDQUOT):
            return InputError(f"{self._folder}: disk full while spilling; make room there, {elsewhere}")
        return InputError(f"{self._folder}: cannot hold a temporary file: {e.strerror}; allow it, {elsewhere}")

    def __del__(self) -> None:
        with suppress(BaseException):  # a signal that arrives just here: stop.check raises it once more
            self.close()

    def __len__(self) -> int:
        return int(self._nbytes // self.dtype.itemsize)

    @property
    def shape(self) -> tuple[int]:
        """Shape of the array so far."""
        return (len(self),)

    @property
    def nbytes(self) -> int:
        """Bytes appended so far."""
        return self._nbytes

    def append(self, array: ArrayLike) -> None:
        """Add the items of an array (any shape, in C order) at the end."""
        part = np.asarray(array)
        if part.size == 0:
            return
        block = np.ascontiguousarray(part.astype(self.dtype, casting="safe", copy=False))
        try:
            self._file.write(block.reshape(-1).view(np.uint8).data)
        except OSError as e:
            raise self._failed(e) from None
        self._nbytes += block.nbytes

    def _flush(self) -> int:
        try:
            self._file.flush()
        except OSError as e:
            raise self._failed(e) from None
        return self._file.fileno()

    def array(self) -> NDArray[Any]:
        """Return a read-only memory map of what was appended so far; it stays valid after this object is gone."""
        if not self._nbytes:
            return np.frombuffer(b"", self.dtype)
        return np.frombuffer(mmap.mmap(self._flush(), self._nbytes, access=mmap.ACCESS_READ), self.dtype)

    def blocks(self, n_bytes: int = 1 << 23) -> Iterator[NDArray[Any]]:
        """Yield what was appended so far as read-only arrays of about ``n_bytes`` bytes, by plain reads."""
        step = max(min(n_bytes, 1 << 30) // self.dtype.itemsize, 1) * self.dtype.itemsize
        fd, end = self._flush(), self._nbytes
        for at in range(0, end, step):
            yield np.frombuffer(os.pread(fd, min(step, end - at), at), self.dtype)

    def read(self, start: int, stop: int) -> NDArray[Any]:
        """Return items [start, stop), at most 1 GB of them, by a plain read."""
        size = self.dtype.itemsize
        return np.frombuffer(os.pread(self._flush(), (stop - start) * size, start * size), self.dtype)

    def close(self) -> None:
        """Give the file back; maps made before stay valid. Closing twice is fine."""
        file = getattr(self, "_file", None)
        if file is not None:
            file.close()
