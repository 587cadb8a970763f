"""Lines of a word and its numbers, parsed by compiled code, and plainly where there are few: to the same bits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from embcli.formats.decimal import nearest
from embcli.formats.vector_shape import BOM, NUMBER

Table = NDArray[np.float32]
Ints = NDArray[np.int64]
#: fields that a piece hands back at a time, at least
_ODD = 1 << 12
#: blanks are made alike, and what Python takes for blanks besides is none
_ALIKE = bytes.maketrans(b"\t\r", b"  ")
#: float64 has 29 more bits of fraction than float32; their middle, and where float32 begins and ends to be itself
_LOW, _MIDDLE, _LEAST, _MOST = np.uint64((1 << 29) - 1), 1 << 28, 1.2e-38, 3.4e38


@dataclass(frozen=True)
class Part:
    """Some lines: their text, the place and number of each that is not blank, their rows, where their words end.

    ``bad`` is the first line that is no word and its numbers, and ``odd`` the field that is none, if it is one;
    ``bare`` lines have no word.
    """

    text: bytes
    starts: Ints
    stops: Ints
    numbers: Ints
    rows: Table
    ends: Ints
    bad: int | None
    odd: bytes
    bare: bool


def _lines(piece: bytes, line: int, header: bool) -> tuple[Ints, Ints, Ints]:
    """Return where each line that is not blank begins and stops, and its number; ``line`` is the first one's."""
    text = np.frombuffer(piece, np.uint8)
    stops = np.flatnonzero(text == 10)
    stops = stops if len(stops) and stops[-1] == len(text) - 1 else np.append(stops, len(text))
    starts = np.concatenate([[0], stops[:-1] + 1])
    if line == 1 and piece.startswith(BOM):
        starts[0] = len(BOM)
    full = stops - starts > (text[np.minimum(stops - 1, len(text) - 1)] == 13)
    full[:header] = False
    rows = np.flatnonzero(full)
    return starts[rows], stops[rows], rows + line


def compiled(piece: bytes, line: int, dim: int, header: bool, bare: bool) -> Part:
    """Return a piece's lines: a word (none if ``bare``), ``dim`` numbers; ``line`` is the first one's number."""
    from embcli.kernels import decimals as k  # compiled code, which other formats do without

    starts, stops, numbers = _lines(piece, line, header)
    text = np.frombuffer(piece, np.uint8)
    out, ends = np.empty((len(starts), dim), np.float32), np.empty(len(starts), np.int64)
    odd, at, bad, found = np.empty((max(_ODD, dim), 4), np.int64), 0, len(starts), b""
    while at < len(starts):
        at, n = k.read_rows(text, starts, stops, at, k.POWERS, bare, out, ends, odd)
        for row, column, start, stop in odd[:n].tolist():
            value = nearest(piece[start:stop])
            if value is None or not np.isfinite(value):
                if row < bad:
                    bad, found = row, piece[start:stop]
            else:
                out[row, column] = value
    if (ends < 0).any() and (row := int(np.argmax(ends < 0))) <= bad:
        bad, found = row, b""  # how many fields a line has comes before what they are
    return Part(piece, starts, stops, numbers, out, ends, bad if bad < len(starts) else None, found, bare)


def plain(piece: bytes, line: int, dim: int, header: bool, bare: bool) -> Part:
    """Return what ``compiled`` returns, up to the first bad line, by Python's own numbers and without compiled code."""
    starts, stops, numbers = _lines(piece, line, header)
    alike, ends, fields = piece.translate(_ALIKE), np.full(len(starts), -1), list[bytes]()
    bad, odd = None, b""
    for row, (start, stop) in enumerate(zip(starts.tolist(), stops.tolist(), strict=True)):
        some, end = _fields(alike, start, stop, dim, bare)
        if end >= 0:
            odd = next((field for field in reversed(some) if not NUMBER.fullmatch(field)), b"")
        if end < 0 or odd:
            bad = row
            break
        ends[row] = end
        fields += some
    n = len(fields) // dim
    wide = np.array([float(field) for field in fields])
    with np.errstate(over="ignore"):
        out = wide.astype(np.float32)
    size = np.abs(wide)
    near = ((wide.view(np.uint64) & _LOW) == _MIDDLE) | (size > _MOST) | ((size < _LEAST) & (size > 0))
    for i in np.flatnonzero(near | (size == 0)).tolist():
        value = nearest(fields[i])
        out[i] = np.nan if value is None else value
    if not np.isfinite(out).all():
        first = int(np.argmin(np.isfinite(out).reshape(n, dim).all(1)))
        row_of = out[first * dim : (first + 1) * dim]
        bad, odd = first, fields[first * dim + int(np.flatnonzero(~np.isfinite(row_of))[-1])]
    rows = np.zeros((len(starts), dim), np.float32)
    rows[:n] = out.reshape(n, dim)
    return Part(piece, starts, stops, numbers, rows, ends, bad, odd, bare)


def _fields(text: bytes, start: int, stop: int, dim: int, bare: bool) -> tuple[list[bytes], int]:
    """Return the last ``dim`` fields of a line and where what stands before them ends, -1 if there are too few."""
    found, at = list[bytes](), stop
    for i in range(dim):
        while at > start and text[at - 1] == 32:
            at -= 1
        begin = max(text.rfind(b" ", start, at) + 1, start)
        if at <= start or (begin == start and not (bare and i == dim - 1)):
            return [], -1
        found.append(text[begin:at])
        at = begin
    if bare:
        return found[::-1], -1 if text[start:at].strip(b" ") else start
    return found[::-1], at - 1
