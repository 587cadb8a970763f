"""Turn tokens back into text: bytes of BPE, or words joined by spaces. Streams; the loop is in ``kernels.spell``."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from embcli.artifacts import store
from embcli.artifacts.schema import Tokens, Words
from embcli.errors import InputError, KindError
from embcli.kernels.spell import FIRST, ROW, spell
from embcli.text.tokenizer import END

#: what stands in the text where ``--gaps keep`` marked a dropped word
GAP = b"_"
_PIECE = 1 << 20


def decode(tokens: Tokens) -> Iterator[bytes]:
    """Yield the text of tokens in blocks of bytes.

    BPE tokens give the bytes back as they were; symbols that end words (``</w>``) become spaces. Words are joined by
    one space, characters (``--split chars``) by none, a marked gap is ``_``, and each row ends with LF; with ``--rows
    file`` that makes a file one line. An open row, whose last LF the text did not have, gets none if it is the last;
    characters get none in any open row, so that their bytes come back as they were, while words of two files must not
    run together.

    Raises KindError if the rows are blocks between blank lines, or tokens are no words; InputError if it is damaged.
    """
    how = tokens.text
    if how.get("unit", "words") not in ("words", "bpe"):
        raise KindError(f"tokens of unit '{how['unit']}' cannot be decoded by this version of embcli")
    if how.get("rows") == "blank-line":
        raise InputError(
            "the rows are blocks between blank lines (--rows blank-line), and where lines ended in them was not kept; "
            "encode with --rows line to decode"
        )
    if tokens.tokens is not None and how.get("end_of_word"):
        return _spaced(_decode(tokens))
    return _decode(tokens)


def _spaced(blocks: Iterator[bytes]) -> Iterator[bytes]:
    """Yield text whose words end in ``</w>`` with a space between words instead; a mark is never cut by a block."""
    held = b""
    for block in blocks:
        text = held + block.replace(END, b" ")
        held = b" " if text.endswith(b" ") else b""
        yield text.removesuffix(b" ").replace(b" \n", b"\n")


def _decode(tokens: Tokens) -> Iterator[bytes]:
    pieces = tokens.tokens is not None
    exact = pieces or tokens.text.get("split") == "chars"
    words: Words = tokens.tokens if tokens.tokens is not None else tokens.words
    data = np.concatenate([words.data, np.frombuffer(GAP, np.uint8)])
    offsets = np.append(words.offsets, len(data)).astype(np.uint64)
    sizes = np.diff(offsets)
    rows = _Ends(tokens, exact)
    state = np.zeros(2, np.uint64)
    state[FIRST] = 1
    for start, part in store.stream(tokens, "ids", _PIECE):
        ids = part.astype(np.uint32)
        ends, closed = rows.before(start + len(ids))
        state[ROW] = 0
        out = np.empty(int(sizes[ids].sum()) + len(ids) + len(ends), np.uint8)
        n = spell(ids, data, offsets, (ends - start).astype(np.uint64), closed, not exact, state, out)
        yield out[: int(n)].tobytes()
    while len(closed := rows.before(None)[1]):
        yield b"\n" * int(np.count_nonzero(closed))


class _Ends:
    """The ends of rows, handed out in order."""

    def __init__(self, tokens: Tokens, exact: bool) -> None:
        self._blocks = store.stream(tokens, "row_offsets", _PIECE)
        self._waiting, self._row = np.empty(0, np.int64), 0
        opened = np.array(tokens.stats.get("open_rows", []), np.int64)
        last = len(tokens.row_offsets) - 2
        self._open = opened if exact else opened[opened == last]
        self._none = tokens.tokens is not None and tokens.text.get("rows") == "file"  # its line ends are tokens

    def before(self, stop: int | None) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Return the next ends before token ``stop`` (None: all that are at hand), and whether a line end is due."""
        while not len(self._waiting) or (stop is not None and self._waiting[-1] < stop):
            start, block = next(self._blocks, (0, None))
            if block is None:
                break
            self._waiting = np.append(self._waiting, block[1:] if start == 0 else block)
        n = len(self._waiting) if stop is None else int(np.searchsorted(self._waiting, stop, "left"))
        ends, self._waiting = self._waiting[:n], self._waiting[n:]
        first, self._row = self._row, self._row + n
        return ends, ~np.isin(np.arange(first, first + n), self._open) & (not self._none)
