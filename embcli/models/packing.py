"""Rows of text as training sees them: cut into pieces, packed into windows, held-out rows set aside, batch after batch.

A piece never sees another one and its positions count from 0. Causal: a row of T tokens has T - 1 inputs, each with the
next token as its target; longer rows than the context become several pieces, and no target is lost. Masked: a row is
its own target. Everything follows from the tokens, the options and the seed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embcli.artifacts.schema import Tokens
from embcli.kernels import packing
from embcli.kernels.draws import key_of
from embcli.models.transformer import Config
from embcli.models.workroom import Rows

Ints = NDArray[np.int64]
#: tells the order of the text and the held-out rows from other numbers of the same seed
_ORDER, _HELD = 0x4F52_4445, 0x4845_4C44
#: tokens of held-out rows that are measured, at most
MEASURED = 1 << 17


@dataclass(frozen=True)
class Pieces:
    """Runs of tokens: where each starts in ``ids``, and how many inputs it has, 1 to the context."""

    starts: Ints
    lengths: NDArray[np.int32]


@dataclass(frozen=True)
class Windows:
    """Which pieces stand in each window: ``pieces[offsets[w]:offsets[w + 1]]``."""

    pieces: Ints
    offsets: Ints

    def __len__(self) -> int:
        return len(self.offsets) - 1


def inputs_of(tokens: Tokens, config: Config) -> Ints:
    """Return how many inputs each row of the text gives; rows that give no target have 0."""
    lengths = np.diff(np.asarray(tokens.row_offsets, np.int64))
    return np.where(lengths < 2, 0, lengths - (not config.masked))


def pieces_of(tokens: Tokens, config: Config, rows: Ints) -> Pieces:
    """Return the pieces of some rows, in order; masked: without what is left of a long row if it is one token."""
    inputs, T = inputs_of(tokens, config)[rows], config.context
    count = -(-inputs // T)
    number = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
    starts = np.repeat(np.asarray(tokens.row_offsets, np.int64)[rows], count) + number * T
    lengths = np.minimum(np.repeat(inputs, count) - number * T, T).astype(np.int32)
    kept = lengths >= 1 + config.masked
    return Pieces(starts[kept], lengths[kept])


def packed(pieces: Pieces, order: Ints, T: int) -> Windows:
    """Return windows of T places that hold the pieces, taken in this order, each where it leaves the least room."""
    window = np.zeros(len(order), np.int64)
    n = packing.pack(pieces.lengths, order, T, window)
    lined, offsets = np.zeros(len(order), np.int64), np.zeros(n + 1, np.int64)
    packing.line_up(window, order, n, lined, offsets)
    return Windows(lined, offsets)


def split(tokens: Tokens, config: Config, share: float, seed: int) -> tuple[Ints, Ints]:
    """Return the rows to train on and those held out: ``share`` of the rows that have targets, rounded down."""
    rows = np.flatnonzero(inputs_of(tokens, config))
    order = np.random.default_rng([_HELD, seed]).permutation(len(rows))
    held = np.zeros(len(rows), np.bool_)
    held[order[: int(share * len(rows))]] = True
    return rows[~held], rows[held]


class Batches:
    """The text, batch after batch: every piece once an epoch, in an order of that epoch's own.

    Parameters
    ----------
    tokens, config : the text, and what it is for.  rows : those that are read.  size : windows of a batch.
    cursor : (epoch, window), where the next batch begins.

    ``rows`` must have a target.
    """

    def __init__(self, tokens: Tokens, config: Config, rows: Ints, size: int, seed: int) -> None:
        self.tokens, self.config, self.size, self.seed = tokens, config, size, seed
        self.pieces = pieces_of(tokens, config, rows)
        self.cursor = (0, 0)
        self._epoch, self._windows = -1, Windows(np.zeros(0, np.int64), np.zeros(1, np.int64))
        self.rows = Rows.empty(size * config.context)

    def begin(self, cursor: tuple[int, int]) -> bool:
        """Go to a window of an epoch; return whether there is one."""
        self.cursor = cursor
        return cursor[1] < len(self._of(cursor[0]))

    def next(self, step: int) -> Rows:
        """Return the batch of a step (from 0), in arrays that the next one uses again, and move on."""
        key, T = key_of(self.seed, step), self.config.context
        for number in range(self.size):
            epoch, window = self.cursor
            windows = self._of(epoch)
            fill(
                self.tokens,
                self.config,
                self.pieces,
                windows,
                window,
                self.rows.part(number * T, (number + 1) * T),
                key,
            )
            key = key_of(int(key), number)
            self.cursor = (epoch, window + 1) if window + 1 < len(windows) else (epoch + 1, 0)
        return self.rows

    def _of(self, epoch: int) -> Windows:
        if self._epoch != epoch:
            order = np.random.default_rng([_ORDER, self.seed, epoch]).permutation(len(self.pieces.starts))
            self._epoch, self._windows = epoch, packed(self.pieces, order, self.config.context)
        return self._windows


def fill(
    tokens: Tokens, config: Config, pieces: Pieces, windows: Windows, window: int, rows: Rows, key: np.uint64
) -> None:
    """Put one window into rows (T,); masked: the key chooses the tokens to predict."""
    chosen = windows.pieces[windows.offsets[window] : windows.offsets[window + 1]]
    into = (rows.ids, rows.targets, rows.at, rows.first, rows.last)
    if config.masked:
        packing.fill_masked(tokens.ids, pieces.starts, pieces.lengths, chosen, *into, config.vocabulary, key)
    else:
        packing.fill(tokens.ids, pieces.starts, pieces.lengths, chosen, *into)


class HeldOut:
    """The rows that training does not see, in windows of their own, always the same; at most ``MEASURED`` tokens."""

    def __init__(self, tokens: Tokens, config: Config, rows: Ints, seed: int) -> None:
        pieces = pieces_of(tokens, config, rows)
        some = int(np.searchsorted(np.cumsum(pieces.lengths), MEASURED)) + 1
        pieces = Pieces(pieces.starts[:some], pieces.lengths[:some])
        windows = packed(pieces, np.arange(len(pieces.starts)), config.context)
        T, n = config.context, len(windows)
        self.rows = Rows.empty(n * T)
        key: Any = key_of(seed, _HELD)
        for window in range(n):
            fill(tokens, config, pieces, windows, window, self.rows.part(window * T, (window + 1) * T), key)
            key = key_of(int(key), window)
        self.targets = int((self.rows.targets >= 0).sum())
