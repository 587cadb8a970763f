"""Where rows end, while the blocks of a corpus go by in order: a line, a run of lines, or a file is one row."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from embcli.errors import InputError
from embcli.text.corpus import Block
from embcli.text.cutting import Read


class Rows:
    """Follows a corpus and tells which places among its tokens are the ends of rows.

    mode : ``line``: every LF ends a row, and so does a file whose last line has none (that row is open).
    ``blank-line``: a row is a run of lines that are not blank. Blank is a line of nothing but white space; cut into
    ``chars``, where white space is text, one of nothing at all. ``file``: each file is a row, an empty one too.
    No row reaches from one file into the next.

    inside : whether the text goes on in a row that has lines (``blank-line``), where it begins in the middle of a file.
    before : asked for the lines before that place, when a fault is to be shown.
    tokens, rows, bad, size : tokens, rows, bad sequences and bytes so far.  open_rows : the numbers of open rows.
    """

    def __init__(self, mode: str, inside: bool = False, before: Callable[[], int] = lambda: 0) -> None:
        self._ends = {"line": self._lines, "blank-line": self._runs, "file": self._files}[mode]
        self.tokens = self.rows = self.bad = self.size = 0
        self.open_rows: list[int] = []
        self._number, self._column = 1, 0  # of the line that goes on: its number in the file, bytes of it so far
        self._begun = self._inked = False  # it has text; other text than white space
        self._inside, self._before = inside, before  # the row has lines

    def add(self, block: Block, read: Read) -> NDArray[np.int64]:
        """Return the ends of rows that a block brings: how many tokens of the corpus stand before each; int64.

        Raises InputError, with file, line and byte, if the block has a fault.
        """
        if block.first:
            self._number, self._column = 1, 0
            self._begun = self._inked = self._inside = False
            self._before = lambda: 0
        if read.fault:
            raise self._refuse(block, read.fault.at, read.fault.byte)
        line = _line_begin(block, block.stop)
        self._number += len(read.ends)
        self._column = block.stop - line if line else self._column + block.stop
        self._begun = block.stop > max(line, block.start) or (self._begun and not line)
        ends = self._ends(block, read) + self.tokens
        self.tokens += len(read.ids)
        self.rows += len(ends)
        self.bad += read.bad
        self.size += block.stop
        return ends

    def _lines(self, block: Block, read: Read) -> NDArray[np.int64]:
        if not (block.last and self._begun):
            return read.ends
        self.open_rows.append(self.rows + len(read.ends))
        return np.append(read.ends, len(read.ids))

    def _runs(self, block: Block, read: Read) -> NDArray[np.int64]:
        inked = read.inked.copy()
        inked[0] |= self._inked
        before = np.append(self._inside, inked[:-1])
        self._inked, self._inside = bool(inked[-1]), bool(before[-1])
        ends = read.ends[before[:-1] & ~inked[:-1]]
        return np.append(ends, len(read.ids)) if block.last and (self._inked or self._inside) else ends

    def _files(self, block: Block, read: Read) -> NDArray[np.int64]:
        return np.array([len(read.ids)] if block.last else [], np.int64)

    def _refuse(self, block: Block, at: int, byte: int) -> InputError:
        begin = _line_begin(block, at)
        number = self._before() + self._number + int(np.count_nonzero(block.buffer[:at] == ord("\n")))
        column = at - begin + 1 if begin else self._column + at + 1
        return InputError(
            f"{block.name}: line {number:,}, byte {column:,}: 0x{byte:02x} is not UTF-8; "
            "use --errors replace or skip, or convert the file"
        )


def _line_begin(block: Block, stop: int) -> int:
    """Return where the line begins that goes on at ``stop``; 0 if it began in an earlier block, or the file's first."""
    for tail in (block.buffer[max(0, stop - 4096) : stop], block.buffer[:stop]):
        at = tail.tobytes().rfind(b"\n")
        if at >= 0:
            return stop - len(tail) + at + 1
    return 0
