"""Cut text into words or characters: the rules, and a lane that numbers and counts what a block holds.

The loops are in ``kernels.words``; here is what they need (class tables, room) and what becomes of bad bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embcli.errors import InputError
from embcli.kernels import words as k
from embcli.text import unicode
from embcli.text.corpus import Block, buffer_of
from embcli.text.typetable import TypeTable


@dataclass(frozen=True)
class Cut:
    r"""How text is cut. The values are those of the options ``--split``, ``--lower`` and ``--errors``.

    ``words`` : what the regular expression ``[\p{L}\p{M}\p{N}]+(?:['\u2019][\p{L}\p{M}\p{N}]+)*`` finds.
    ``whitespace`` : runs of anything but White_Space.  ``chars`` : every code point but LF, and CR before LF.
    ``phrases`` : passes in which words that stand together are joined afterwards; see ``text.phrases``, not here.
    """

    split: str = "words"
    lower: bool = False
    errors: str = "strict"
    phrases: int = 0


@dataclass(frozen=True)
class Fault:
    """Bytes that are not UTF-8: where they begin in the buffer of their block, and the first of them."""

    at: int
    byte: int


@dataclass(frozen=True)
class Read:
    """What a lane found in one block.

    ids : uint32, provisional, valid in that lane.  ends : int64, how many of them stand before each line end.
    inked : bool, whether each line, and at last the one without an end, has anything but white space (for ``chars``:
    anything at all).  bad : bad sequences mended.  fault : the first bad sequence, where they are an error.
    """

    ids: NDArray[np.uint32]
    ends: NDArray[np.int64]
    inked: NDArray[np.bool_]
    bad: int = 0
    fault: Fault | None = None


@cache
def classes(split: str) -> NDArray[np.uint8]:
    """Return the class (see ``kernels.words``) of every byte, every code point, and what is none.

    uint8, shape (256 + 0x110001,).
    """
    table = np.full(int(k.POINTS) + unicode.SIZE + 1, k.BAD, np.uint8)
    points = table[int(k.POINTS) : -1]
    points[:] = k.GAP if split == "words" else k.TOKEN
    if split == "words":
        points[unicode.among("LMN")] = k.TOKEN
        points[[ord("'"), 0x2019]] = k.APOSTROPHE
    if split != "chars":
        points[unicode.white_space()] = k.SPACE
    points[ord("\n")] = k.LF
    table[:128] = points[:128]
    table[128 : int(k.POINTS)] = k.WIDE
    return table


class Lane:
    """A table of types, and the blocks that were counted into it. One thread at a time."""

    def __init__(self, cut: Cut) -> None:
        self.cut, self.table = cut, TypeTable()

    def read(self, block: Block) -> Read:
        """Return the provisional ids of a block, whose types are counted in ``table``."""
        buffer, size = block.buffer, block.stop - block.start
        lines = np.empty(int(np.count_nonzero(buffer[block.start : block.stop] == ord("\n"))), np.int64)
        ids = np.empty(size if self.cut.split == "chars" else size // 2 + 1, np.uint32)
        state = np.array([block.start, 0, 0, 0], np.uint64)
        stop, bad, fault = block.stop, 0, None
        while (status := self._scan(buffer, stop, ids, lines, state)) != k.DONE:
            at = int(state[k.POS])
            if status == k.FULL:
                self.table.grow(stop - at)
            elif self.cut.errors == "strict":
                fault = _fault(buffer, at, stop)
                break
            else:
                text, n = mend(buffer[at:stop].tobytes(), self.cut.errors)
                buffer, stop, bad = buffer_of(text), len(text), bad + n
                state[k.POS] = 0
        lines = lines[: int(state[k.LINES])]
        inked = np.append(lines & 1, state[k.INK]).astype(np.bool_)
        return Read(ids[: int(state[k.IDS])], lines >> 1, inked, bad, fault)

    def _scan(self, *args: Any) -> int:
        buffer, stop, ids, lines, state = args
        table, types, split = classes(self.cut.split), self.table.types, self.cut.split
        if split == "chars":
            return int(k.scan_chars(buffer, stop, table, types, ids, lines, state))
        return int(k.scan_words(buffer, stop, table, split == "whitespace", types, ids, lines, state))


def _fault(buffer: NDArray[np.uint8], at: int, stop: int) -> Fault:
    """Return the first bad sequence behind ``at``, found by Python's own decoder."""
    try:
        buffer[at:stop].tobytes().decode("utf-8")
    except UnicodeDecodeError as e:
        return Fault(at + e.start, int(buffer[at + e.start]))
    raise AssertionError("Python and the kernel disagree about UTF-8")


def mend(data: bytes, errors: str) -> tuple[bytes, int]:
    """Return the text with bad sequences replaced by U+FFFD or left out, and how many there were (maximal subparts)."""
    text = data.decode("utf-8", "replace")
    bad = text.count("\ufffd") - data.count("\ufffd".encode())
    return (text if errors == "replace" else data.decode("utf-8", "ignore")).encode(), bad


def cut(text: str, how: Cut | Mapping[str, Any] | Any) -> list[str]:
    """Return the pieces of one string, cut as a corpus is.

    how : a Cut, the options of ``encode``, or the ``text`` record of an artifact. Raises InputError if the string holds
    what is no character (bytes of an argument that are not UTF-8), unless ``errors`` says otherwise.
    """
    get = how.get if isinstance(how, Mapping) else lambda name, default: getattr(how, name, default)
    rule = Cut(get("split", "words"), get("lower", False), get("errors", "strict"))
    try:
        data = text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        data = text.encode("utf-8", "surrogatepass")
    lane = Lane(rule)
    found = lane.read(Block(buffer_of(data), 0, len(data), "text", True, True))
    if found.fault:
        raise InputError(f"text: byte {found.fault.at + 1}: 0x{found.fault.byte:02x} is not UTF-8")
    begins, raw = lane.table.begins.tolist(), lane.table.types.data.tobytes()
    words = [raw[a:b].decode() for a, b in pairwise(begins)]
    if rule.lower:
        words = [unicode.lower(word) for word in words]
    return [words[i] for i in found.ids.tolist()]
