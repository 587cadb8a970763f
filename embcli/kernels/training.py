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
from embcli.kernels.copies import AHEAD, ask_for, merge, row_of
from embcli.kernels.draws import GOLD, LOW, S32, U, mix
from embcli.kernels.predict import NEGATIVE, SOFTMAX, choose_outputs, fetch_negatives, list_all
from embcli.kernels.skipgram import list_contexts, predict_from_each, predict_in_turn
from embcli.kernels.teams import fetch_add, wait_for


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

    cbow, mean, fixed : which input, and whether windows are whole.  turn : whether a centre's contexts (skip-gram) see
    each other's steps.  window : places on each side, >= 1.
    share : tokens of a lane's share.
    stride : shares from a lane's share to the next lane's.  pace : shares from a lane's share to its next.
    lr, min_lr : float64, rates at token 0 and at token ``total``.
    done : tokens read before this epoch.
    """

    cbow: bool
    mean: bool
    fixed: bool
    turn: bool
    window: int
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
        if token + AHEAD < stop and text.ids[token + AHEAD] < len(inputs.table):
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
    """Train on the centres [first, stop), ``read`` tokens into the epoch; add to loss, predictions in totals[lane]."""
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
                q = list_contexts(room, inputs, max(a, i - reach), min(end, i + reach + 1), i)
                if q == 0:
                    continue
                state, count = choose_outputs(goal, outputs, room, lane, base, word, turn == 0, state)
                turn = (turn + 1) % goal.share
                if count == 0:
                    continue
                if course.cbow:
                    more, made = predict_from_all(goal, room, course.mean, word, q, count, n, lr)
                elif course.turn:
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
def train_blocks(text, course, goal, inputs, outputs, room, thread, base, start, stop, totals, control):  # type: ignore[no-untyped-def]
    """Train blocks [start, stop) together with the other threads that are in here; all leave when all is done.

    base : of the first block's marks; each block takes as many numbers as copies there can be.
    control : int64 (blocks, 8), zeros: lanes claimed and done, merges claimed and done.
    """
    lanes, size = inputs.marks.shape[1], len(text.ids)
    step = max(inputs.copies.shape[1], outputs.copies.shape[1])
    for block in range(start, stop):
        at = control.ctypes.data + 64 * (block - start)
        lane = fetch_add(at, 1)
        while lane < lanes:
            inputs.used[lane, 0] = outputs.used[lane, 0] = 0
            read = (block * lanes + lane) * course.share
            first = min((block * course.pace + lane * course.stride) * course.share, size)
            last = min(first + course.share, size)
            account = lane if step else thread
            if first < last:
                train_share(text, course, goal, inputs, outputs, room, account, base, read, first, last, totals)
            fetch_add(at + 8, 1)
            lane = fetch_add(at, 1)
        if step == 0:
            continue
        wait_for(at + 8, lanes)
        part = fetch_add(at + 16, 1)
        while part < 2 * lanes:
            merge(inputs if part < lanes else outputs, part % lanes, base, room.vectors.ctypes.data)
            fetch_add(at + 24, 1)
            part = fetch_add(at + 16, 1)
        wait_for(at + 24, 2 * lanes)
        base += step
