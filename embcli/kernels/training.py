"""Word2vec over a text: lanes that each train a share of every block, and the merge between blocks.

A block is ``lanes`` shares of ``share`` tokens. What a lane does depends on the text, the options and its copies of
the rows, never on the other lanes of the block or on threads. A share's windows look beyond its ends, never beyond
their row of text.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from embcli.kernels._jit import inner_kernel
from embcli.kernels.cbow import predict_from_all
from embcli.kernels.copies import AHEAD, ask_for, merge, row_of, rows_of, sum_steps
from embcli.kernels.draws import GOLD, LOW, S32, U, mix
from embcli.kernels.means import PARTS, spread
from embcli.kernels.predict import NEGATIVE, SOFTMAX, choose_outputs, fetch_negatives, list_all
from embcli.kernels.skipgram import list_contexts, predict_from_each, predict_in_turn
from embcli.kernels.teams import fetch_add, wait_for
from embcli.kernels.vectors16 import change_row, scale_row


class Text(NamedTuple):
    """Tokens of one epoch.

    ids, row_offsets : as in a tokens artifact.  held : bool (rows,), rows that are left out.
    limits : uint64 (V + 1,), ``draws.keep_limits``.  key : uint64, ``draws.key_of``.
    """

    ids: Any
    row_offsets: Any
    held: Any
    limits: Any
    key: Any


class Course(NamedTuple):
    """How the text is walked and how fast is learned.

    cbow, mean, fixed : which input, and whether windows are whole.  window : places on each side, >= 1.
    lanes : shares of a block.  share : tokens of a lane's share.
    stride : shares from a lane's share to the next lane's.  pace : shares from a lane's share to its next.
    lr, min_lr : float64, rates at token 0 and at token ``total``.
    done : tokens read before this epoch.
    """

    cbow: bool
    mean: bool
    fixed: bool
    window: int
    lanes: int
    share: int
    stride: int
    pace: int
    lr: float
    min_lr: float
    done: int
    total: int


@inner_kernel
def note(text, course, inputs, room, lane, base, token, place):  # type: ignore[no-untyped-def]
    """Put a token at a place of the window, if it is kept; return whether it was."""
    w = np.int64(text.ids[token])
    x = mix(text.key + U(token) * GOLD)
    if (x >> S32) >= text.limits[w]:
        return False
    gap = w == len(text.limits) - 1
    room.places[0, place] = -1 if gap else w
    room.places[1, place] = 0 if gap else row_of(inputs, lane, base, w)
    room.places[2, place] = course.window
    room.places[3, place] = 0 if gap else rows_of(inputs, w)
    if not course.fixed:
        room.places[2, place] -= np.int64((x & LOW) * U(course.window) >> S32)
    return True


@inner_kernel
def collect(text, course, inputs, room, lane, base, row, first, stop):  # type: ignore[no-untyped-def]
    """Fill the places with tokens [first, stop) of a row and the margins that their windows reach.

    Returns (a, b, end): the margin before starts at place a, centres at ``course.window``, up to b; the margin
    after ends at ``end``.
    """
    a = course.window
    token = first - 1
    while a > 0 and token >= text.row_offsets[row]:
        if note(text, course, inputs, room, lane, base, token, a - 1):
            a -= 1
        token -= 1
    b = course.window
    for token in range(first, stop):
        if token + AHEAD < stop and text.ids[token + AHEAD] < len(text.limits) - 1:
            ask_for(inputs, lane, np.int64(text.ids[token + AHEAD]))
        if note(text, course, inputs, room, lane, base, token, b):
            b += 1
    end, token = b, stop
    while end < b + course.window and token < text.row_offsets[row + 1]:
        if note(text, course, inputs, room, lane, base, token, end):
            end += 1
        token += 1
    return a, b, end


@inner_kernel
def train_share(text, course, goal, inputs, outputs, room, lane, base, read, first, stop, totals):  # type: ignore[no-untyped-def]
    """Train on the centres [first, stop) of the text; add loss and predictions to totals[lane, :2]."""
    n = inputs.table.shape[1] >> 4
    state = mix(text.key ^ (U(first) * GOLD))
    rate = course.lr - (course.lr - course.min_lr) * (course.done + read) / course.total
    lr = np.float32(rate)
    if goal.loss == NEGATIVE:
        state = fetch_negatives(goal, outputs, room, lane, state)
    if goal.loss == SOFTMAX:
        list_all(outputs, room, lane, base)
    loss, predictions, turn = 0.0, 0, 0
    row = np.searchsorted(text.row_offsets, first, side="right") - 1
    while first < stop:
        last = min(stop, text.row_offsets[row + 1])
        if last > first and not text.held[row]:
            a, b, end = collect(text, course, inputs, room, lane, base, row, first, last)
            for i in range(course.window, b):
                word, reach = room.places[0, i], room.places[2, i]
                if goal.loss == NEGATIVE and i + AHEAD < b and room.places[0, i + AHEAD] >= 0:
                    ask_for(outputs, lane, room.places[0, i + AHEAD])
                if word < 0:
                    continue
                q = list_contexts(room, max(a, i - reach), min(end, i + reach + 1), i)
                if q == 0:
                    continue
                state, count = choose_outputs(goal, outputs, room, lane, base, word, turn == 0, state)
                turn = (turn + 1) % goal.share
                if count == 0:
                    continue
                if course.cbow:
                    more, made = predict_from_all(goal, room, course.mean, word, q, count, n, lr)
                elif len(inputs.lists):
                    more, made = predict_in_turn(goal, room, word, q, count, n, lr)
                else:
                    more, made = predict_from_each(goal, room, word, q, count, n, lr)
                loss += more
                predictions += made
        first = last
        row += 1
    totals[lane, 0] += loss
    totals[lane, 1] += predictions


@inner_kernel
def bring_back(inputs, lane):  # type: ignore[no-untyped-def]
    """Add the steps of one lane's words to their rows, whatever others do to them meanwhile."""
    for place in range(inputs.used[lane, 0]):
        n, at = inputs.table.shape[1] >> 4, 4 * inputs.table.shape[1] * (lane * inputs.copies.shape[1] + place)
        step, share = inputs.before.ctypes.data + at, inputs.shares[np.int64(inputs.rows[lane, place])]
        change_row(step, inputs.copies.ctypes.data + at, n)
        scale_row(step, step, n, share)
    spread(inputs, lane, lane + 1, 0, PARTS)


@inner_kernel
def merge_block(inputs, outputs, room, lanes, base, at):  # type: ignore[no-untyped-def]
    """Merge what the lanes did, together with the other threads; ``at`` is the block's place in ``control``."""
    listed = len(inputs.lists) > 0
    parts = 2 * lanes + PARTS * listed
    part = fetch_add(at + 16, 1)
    while part < parts:
        if part >= 2 * lanes:
            wait_for(at + 32, lanes)
            spread(inputs, 0, lanes, part - 2 * lanes, part - 2 * lanes + 1)
        elif part >= lanes:
            merge(outputs, part - lanes, base, room.vectors.ctypes.data)
        elif listed:
            sum_steps(inputs, part, base)
            fetch_add(at + 32, 1)
        else:
            merge(inputs, part, base, room.vectors.ctypes.data)
        fetch_add(at + 24, 1)
        part = fetch_add(at + 16, 1)
    wait_for(at + 24, parts)


@inner_kernel
def train_blocks(text, course, goal, inputs, outputs, room, thread, base, start, stop, totals, control):  # type: ignore[no-untyped-def]
    """Train blocks [start, stop) together with the other threads that are in here; all leave when all is done.

    base : of the first block's marks; each block takes as many numbers as copies there can be, each share where
    threads write to the tables.
    control : int64 (blocks, 8), zeros: lanes claimed and done, merges claimed and done, sums of steps done.
    """
    lanes, size = course.lanes, len(text.ids)
    step, alone = max(inputs.copies.shape[1], outputs.copies.shape[1]), outputs.copies.shape[1] == 0
    for block in range(start, stop):
        at = control.ctypes.data + 64 * (block - start)
        lane = fetch_add(at, 1)
        while lane < lanes:
            own, mark = (thread, base + lane * step) if alone else (lane, base)
            inputs.used[own, 0] = outputs.used[own, 0] = 0
            read = (block * lanes + lane) * course.share
            first = min((block * course.pace + lane * course.stride) * course.share, size)
            last = min(first + course.share, size)
            if first < last:
                train_share(text, course, goal, inputs, outputs, room, own, mark, read, first, last, totals)
            if alone and step:
                bring_back(inputs, own)
            fetch_add(at + 8, 1)
            lane = fetch_add(at, 1)
        if alone:
            base += lanes * step
            continue
        wait_for(at + 8, lanes)
        merge_block(inputs, outputs, room, lanes, base, at)
        base += step
