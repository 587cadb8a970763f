"""A table of types (distinct words) with counts that grows; the hashing is in ``kernels.typetable``."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from embcli.kernels.typetable import BEGIN, COUNT, Types, absorb, rehash


class TypeTable:
    """Types numbered in the order in which they were added.

    ``types`` are the arrays for kernels; whoever finds them full calls ``grow`` and goes on.
    """

    def __init__(self, capacity: int = 1 << 15) -> None:
        self.types = Types(
            np.zeros(2 * capacity, np.uint64),
            np.zeros((capacity + 1, 4), np.uint64),
            np.empty(16 * capacity, np.uint8),
            np.zeros(2, np.uint64),
        )

    def __len__(self) -> int:
        return int(self.types.used[0])

    @property
    def begins(self) -> NDArray[np.uint64]:
        """Where the types' bytes begin in ``types.data``; one more, where they end."""
        return self.types.entries[: len(self) + 1, int(BEGIN)]

    @property
    def counts(self) -> NDArray[np.uint64]:
        """How often each type was counted."""
        return self.types.entries[: len(self), int(COUNT)]

    def grow(self, size: int) -> None:
        """Make room for at least one more type, of up to ``size`` bytes."""
        slots, entries, data, used = self.types
        if int(used[0]) + 2 > len(entries):
            entries = np.concatenate([entries, np.zeros((len(entries) - 1, 4), np.uint64)])
            slots = np.zeros(2 * len(slots), np.uint64)
            rehash(Types(slots, entries, data, used))
        else:
            data = np.concatenate([data, np.empty(max(size, len(data)), np.uint8)])
        self.types = Types(slots, entries, data, used)

    def add(
        self, data: NDArray[np.uint8], begins: NDArray[np.uint64], sizes: NDArray[np.uint64], counts: NDArray[np.uint64]
    ) -> NDArray[np.uint32]:
        """Add types of at least one byte with their counts; return their numbers here.

        data : uint8; type i is ``data[begins[i]:begins[i] + sizes[i]]``.
        """
        text = np.zeros(-(-(len(data) + 16) // 8) * 8, np.uint8)
        text[: len(data)] = data
        numbers = np.empty(len(begins), np.uint32)
        done = 0
        while (done := int(absorb(self.types, text, begins, sizes, counts, numbers, done))) < len(begins):
            self.grow(int(sizes[done]))
        return numbers


def power_of_two(n: int) -> int:
    """Return the power of two that is at least ``n``."""
    return 1 << max(n - 1, 1).bit_length()
