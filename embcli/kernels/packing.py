"""Pieces of text into windows of T places, and windows into the arrays of a batch; the choice of [MASK]s.

A piece is a run of tokens of one row. Kernels of ``embcli.models.packing``; chance is a hash of (key, place).
"""

from __future__ import annotations

import numpy as np

from embcli.kernels._jit import kernel
from embcli.kernels.draws import GOLD, S32, mix

#: of 2^32 hashes, those that choose a token to predict (15 %); of the chosen, those that become [MASK], or any word
CHOSEN = round(0.15 * 2**32)
_MASKED, _OTHER = round(0.8 * 2**32), round(0.9 * 2**32)
_U = np.uint64


@kernel
def pack(lengths, order, T, window):  # type: ignore[no-untyped-def]
    """Give each piece, in this order, the window with the least room that it fits in; return the number of windows.

    lengths : int32, 1 to T.  window : int64, filled. A window whose room is as small takes precedence if it is newer.
    """
    head = np.full(T + 1, -1, np.int64)  # by room left, the last window that has it
    before = np.full(len(lengths), -1, np.int64)
    windows = 0
    for piece in order:
        n = lengths[piece]
        room = n
        while room <= T and head[room] < 0:
            room += 1
        if room > T:
            found, room = windows, T
            windows += 1
        else:
            found = head[room]
            head[room] = before[found]
        window[piece] = found
        before[found] = head[room - n]
        head[room - n] = found
    return windows


@kernel
def line_up(window, order, windows, pieces, offsets):  # type: ignore[no-untyped-def]
    """Fill ``pieces`` with the pieces window by window, in their order, and offsets (windows + 1)."""
    offsets[:] = 0
    for piece in order:
        offsets[window[piece] + 1] += 1
    for w in range(windows):
        offsets[w + 1] += offsets[w]
    at = offsets[:windows].copy()
    for piece in order:
        pieces[at[window[piece]]] = piece
        at[window[piece]] += 1


@kernel
def _leave(place, ids, targets, at, first, last):  # type: ignore[no-untyped-def]
    """Mark the places from here to the end as empty."""
    ids[place:] = -1
    targets[place:] = -1
    at[place:] = 0
    first[place:] = 0
    last[place:] = 0


@kernel
def fill(text, starts, lengths, pieces, ids, targets, at, first, last):  # type: ignore[no-untyped-def]
    """Fill one window of a causal batch: token i of a piece sees those before it and predicts the next one."""
    place = 0
    for piece in pieces:
        start, begin = starts[piece], place
        for i in range(lengths[piece]):
            ids[place], targets[place] = text[start + i], text[start + i + 1]
            at[place], first[place], last[place] = i, begin, place + 1
            place += 1
    _leave(place, ids, targets, at, first, last)


@kernel
def fill_masked(text, starts, lengths, pieces, ids, targets, at, first, last, V, key):  # type: ignore[no-untyped-def]
    """Fill one window of a masked batch: all tokens of a piece see each other, and some are predicted.

    15 % of the tokens, and at least one of a piece, are chosen; of these 80 % become V ([MASK]), 10 % any word, 10 %
    stay (Devlin et al. 2019, 3.1).
    """
    place = 0
    for piece in pieces:
        start, begin, n = starts[piece], place, lengths[piece]
        surest, least = 0, mix(key + _U(begin) * GOLD)
        for i in range(1, n):
            chance = mix(key + _U(begin + i) * GOLD)
            if chance < least:
                surest, least = i, chance
        for i in range(n):
            word = np.int64(text[start + i])
            ids[place], targets[place] = word, -1
            at[place], first[place], last[place] = i, begin, begin + n
            if i == surest or np.int64(mix(key + _U(place) * GOLD) >> S32) < CHOSEN:
                targets[place] = word
                chance = mix(mix(key + _U(place) * GOLD) + GOLD)
                kind = np.int64(chance >> S32)
                if kind < _MASKED:
                    ids[place] = V
                elif kind < _OTHER:
                    ids[place] = np.int64(mix(chance + GOLD) % _U(V))
            place += 1
    _leave(place, ids, targets, at, first, last)
