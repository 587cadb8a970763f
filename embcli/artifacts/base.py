"""What every kind of artifact is made of: words over one buffer, arrays and members, and the base class. No files here.

The kinds themselves: schema.py, vectors.py and networks.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray


class Words(Sequence[str]):
    """A sequence of strings over one UTF-8 buffer.

    Parameters
    ----------
    data : uint8, the words' bytes one after another.
    offsets : int64, shape (n + 1,), ascending from 0 to ``len(data)``; word i is ``data[offsets[i]:offsets[i + 1]]``.
    """

    def __init__(self, data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> None:
        self.data, self.offsets = data, offsets

    @classmethod
    def of(cls, words: Iterable[str | bytes]) -> Words:
        """Return the words as one buffer; str is encoded as UTF-8."""
        parts = [w.encode() if isinstance(w, str) else w for w in words]
        offsets = np.zeros(len(parts) + 1, np.int64)
        np.cumsum([len(p) for p in parts], out=offsets[1:])
        return cls(np.frombuffer(b"".join(parts), np.uint8), offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def bytes_at(self, i: int) -> bytes:
        """Return word i as its bytes."""
        return self.data[self.offsets[i] : self.offsets[i + 1]].tobytes()

    def __getitem__(self, i: Any) -> Any:
        if isinstance(i, slice):
            return [self[j] for j in range(*i.indices(len(self)))]
        if not -len(self) <= i < len(self):
            raise IndexError(i)
        return self.bytes_at(int(i) % len(self)).decode("utf-8", "replace")

    def __iter__(self) -> Iterator[str]:
        raw = self.data.tobytes()
        ends = self.offsets.tolist()
        return (raw[a:b].decode("utf-8", "replace") for a, b in pairwise(ends))


def readable(spelled: bytes) -> str:
    r"""Return the bytes of a token as text: UTF-8 as it is, other bytes and control characters as ``\x1b``, ``\n``."""
    text = spelled.replace(b"\\x", b"\\\\x").decode("utf-8", "backslashreplace")
    return "".join(c if c.isprintable() or c == " " else c.encode("unicode_escape").decode() for c in text)


class Blocks:
    """An array that is produced while it is written: its dtype, the shape of one item, and an iterator of blocks."""

    def __init__(self, dtype: Any, blocks: Iterable[NDArray[Any]], item_shape: tuple[int, ...] = ()) -> None:
        self.dtype, self.blocks, self.item_shape = np.dtype(dtype), blocks, item_shape


@dataclass(frozen=True)
class Member:
    """One array of a kind: allowed dtypes (``np.dtype.str`` without byte order), dimensions, whether it must exist."""

    dtypes: tuple[str, ...]
    ndim: int = 1
    required: bool = True


INT, FLOAT = ("i8",), ("f8",)
WORD = {"word_bytes": Member(("u1",)), "word_offsets": Member(INT)}


@dataclass(kw_only=True)
class Artifact:
    """What all kinds share.

    ``stats`` (figures of the report), ``text`` (how the text was cut: split, lower, tokenizer) and ``options`` (what
    an automatic option became) go into meta when it is written; ``meta`` is what was read, empty before. ``digest``
    and ``path`` say what was read and from where (as messages show it), and are empty before.
    """

    kind: ClassVar[str] = ""
    #: members of which there may be several, NAME_0, NAME_1 and so on; they lie in ``parts``
    series: ClassVar[dict[str, Member]] = {}
    #: fields of words that are bytes of any kind, not UTF-8
    raw: ClassVar[tuple[str, ...]] = ("tokens",)
    members: ClassVar[dict[str, Member]] = {}
    stats: dict[str, Any] = field(default_factory=dict)
    text: dict[str, Any] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    meta: dict[str, Any] = field(default_factory=dict)
    digest: str = ""
    path: str = ""
    parts: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def due(cls, name: str) -> Member | None:
        """Return what a member of this name has to be, None if this kind has none."""
        stem, _, number = name.rpartition("_")
        if stem in cls.series and number.isdecimal() and str(int(number)) == number:
            return cls.series[stem]
        return cls.members.get(name)

    def names(self) -> Iterator[str]:
        """Yield the names of the members that this artifact may have, in their order in the file."""
        yield from self.members
        yield from self.parts

    def check(self) -> None:
        """Raise ValueError, one clause without the file's name, if sizes do not fit together. Reads little."""


def same_size(what: str, found: int, expected: int) -> None:
    """Raise ValueError unless there are as many entries as are due."""
    if found != expected:
        raise ValueError(f"{what} has {found:,} entries where {expected:,} are due")


#: the members of a byte-pair encoding, here because other kinds carry them along
TOKENIZER = {
    "token_bytes": Member(("u1",)),
    "token_offsets": Member(INT),
    "merges": Member(("i4",), 2),
    "merge_counts": Member(INT),
    "special_ids": Member(INT),
}


def check_tokenizer(made: Any) -> None:
    """Raise ValueError if the arrays of a tokenizer do not fit together."""
    if made.merges.shape[1] != 2:
        raise ValueError(f"merges have shape {made.merges.shape} where two columns are due")
    same_size("merge_counts", len(made.merge_counts), len(made.merges))
    for name in ("merges", "special_ids"):
        ids = getattr(made, name)
        if ids.size and not (int(ids.min()) >= 0 and int(ids.max()) < len(made.tokens)):
            raise ValueError(f"{name} hold an id outside 0 to {len(made.tokens) - 1:,}")
