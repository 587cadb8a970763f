"""Arrays over memory-mapped files: giving their pages back after use, and halves that are read as float32."""

from __future__ import annotations

import mmap
from typing import Any

import numpy as np
from numpy.typing import NDArray


class Halves:
    """A float16 array that is read as float32: whatever is taken out of it is a wider copy, exact.

    ``halves`` is the array as it is stored.
    """

    dtype = np.dtype(np.float32)

    def __init__(self, halves: NDArray[np.float16]) -> None:
        self.halves = halves
        self.shape, self.ndim, self.nbytes = halves.shape, halves.ndim, 2 * halves.nbytes

    def __len__(self) -> int:
        return len(self.halves)

    def __getitem__(self, key: Any) -> Any:
        return self.halves[key].astype(np.float32)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return self.halves.astype(dtype or np.float32)


def ahead(array: NDArray[Any] | Halves, start: int, stop: int) -> None:
    """Ask the system to read items [start, stop) of a mapped array soon, and do not wait; nothing for other arrays."""
    array = array.halves if isinstance(array, Halves) else array
    found = _map_of(array)
    if found is not None and start < len(array) and array.flags.c_contiguous:
        _advise(found, *_place(array, found, start, min(stop, len(array))), "MADV_WILLNEED")


def release(array: NDArray[Any] | Halves | mmap.mmap, start: int = 0, stop: int | None = None) -> None:
    """Give the pages of items [start, stop) of a mapped array back to the system; of bytes [start, stop) of a map.

    Items are counted along the first axis. The data stays readable: it is read from the file again if it is needed
    again. Mapped pages that were touched count as resident memory until then. Does nothing for arrays in memory.
    """
    if isinstance(array, mmap.mmap):
        _advise(array, start, len(array) if stop is None else stop)
        return
    array = array.halves if isinstance(array, Halves) else array
    found = _map_of(array)
    if found is None or array.ndim == 0 or not array.flags.c_contiguous:
        return
    _advise(found, *_place(array, found, start, len(array) if stop is None else min(stop, len(array))))


def _place(array: NDArray[Any], map_: mmap.mmap, start: int, stop: int) -> tuple[int, int]:
    """Return which bytes of a map items [start, stop) of an array are."""
    first = _address(array) - _address(np.frombuffer(map_, np.uint8))
    return first + start * array.strides[0], first + stop * array.strides[0]


def _address(array: NDArray[Any]) -> int:
    return int(array.__array_interface__["data"][0])


def _map_of(array: NDArray[Any]) -> mmap.mmap | None:
    base: Any = array
    while isinstance(base, np.ndarray):
        base = base.base
    if isinstance(base, memoryview):
        base = base.obj
    return base if isinstance(base, mmap.mmap) else None


def _advise(map_: mmap.mmap, start: int, stop: int, advice: str = "MADV_DONTNEED") -> None:
    """Say what becomes of all pages that hold a byte of the range.

    Dropped pages at its ends are read again if a neighbour needs them.
    """
    start -= start % mmap.PAGESIZE
    stop = min(stop, len(map_))
    if stop > start and hasattr(mmap, advice):
        map_.madvise(getattr(mmap, advice), start, stop - start)
