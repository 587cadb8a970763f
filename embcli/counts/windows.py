"""Count the words near each word of one text: rows of the matrix in blocks, and the artifact that they fill.

Each word's positions are walked and the weights of their windows are added into one dense row, so a row is complete
at once. Weights are whole numbers over one denominator, so sums do not depend on any order, and counts are the same
bits at any number of threads and within any memory budget. If the budget is too small for all tokens, they are cut
into slices; their rows go to temporary files and are merged row by row. The step itself is in cooc.py.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from embcli.artifacts.schema import Blocks, Counts, Tokens, Words
from embcli.artifacts.spill import Spill
from embcli.artifacts.store import stream
from embcli.counts.budget import Plan, Task
from embcli.counts.rows import Block, Counter, Parts
from embcli.counts.slices import Source, cut, lay_out
from embcli.errors import InputError, NumbersError
from embcli.job import Job
from embcli.kernels.cooc import Rule
from embcli.spec import CoocParams

#: harmonic weights are exact up to this window; beyond, lcm(1..window) soon outgrows sums of 64 bits
EXACT_WINDOW = 20
#: denominator of harmonic weights in larger windows
ROUNDED = 1 << 30


def rule_of(params: CoocParams) -> tuple[Rule, int]:
    """Return what counts as context, with whole weights, and the denominator that they are to be divided by."""
    window, d = params.window, np.arange(1, params.window + 1)
    if params.weighting == "flat":
        denominator, weights = 1, np.ones(window, np.int64)
    elif params.weighting == "dynamic":
        denominator, weights = window, window - d + 1
    else:
        denominator = math.lcm(*range(1, window + 1)) if window <= EXACT_WINDOW else ROUNDED
        weights = (2 * denominator + d) // (2 * d)  # rounded to the nearest; exact up to EXACT_WINDOW
    all_weights: NDArray[np.int64] = np.concatenate(([0], weights)).astype(np.int64)
    return Rule(all_weights, params.direction != "right", params.direction != "left"), denominator


def divisor(params: CoocParams) -> int | None:
    """Return what whole sums are to be divided by; None for flat weights, which stay whole."""
    return None if params.weighting == "flat" else rule_of(params)[1]


def task_of(tokens: Tokens, params: CoocParams) -> Task:
    """Return what decides the memory that counting these tokens takes."""
    source = Source.of(tokens, params.cross_rows)
    return Task(source.size, params.window, source.dtype.itemsize, source.places)


def check(tokens: Tokens, params: CoocParams) -> None:
    """Raise InputError if a row's sum might exceed 64 bits, or if the tokens are damaged."""
    check_sums(tokens, params)
    check_tokens(tokens)


def check_sums(tokens: Tokens, params: CoocParams) -> None:
    """Raise InputError if a row's sum might exceed 64 bits."""
    rule = rule_of(params)[0]
    widest = int(rule.weights.sum()) * (rule.before + rule.after)
    if len(tokens.ids) * widest >= 1 << 63 and int(np.max(tokens.unigram, initial=0)) * widest >= 1 << 63:
        name = tokens.path or "tokens"
        raise InputError(f"{name}: sums over this many tokens could exceed 64 bits; take a smaller --window")


def check_tokens(tokens: Tokens) -> None:
    """Raise InputError if the tokens are damaged."""
    for member in ("row_offsets", "ids"):
        for _ in stream(tokens, member):
            pass


def count_by(plan: Plan, tokens: Tokens, params: CoocParams, job: Job) -> Counts:
    """Return the counts of one text, cutting the work as the plan says, which changes nothing in them."""
    blocks = rows_of(tokens, params, divisor(params), plan, job)
    made = filled(blocks, tokens.words, tokens.unigram, figures_of(tokens), params, job)
    if made is None:
        raise nothing([tokens], params)
    made.text = tokens.text
    return made


def figures_of(tokens: Tokens) -> dict[str, int]:
    """Return the first of the ``stats`` of a text: tokens and rows."""
    return {"tokens": int(np.sum(tokens.unigram)), "rows": len(tokens.row_offsets) - 1}


def nothing(inputs: list[Tokens], params: CoocParams) -> NumbersError:
    """Return the error for tokens without any pair."""
    name = ", ".join(tokens.path or "tokens" for tokens in inputs)
    ids, rows = sum(len(t.ids) for t in inputs), sum(len(t.row_offsets) - 1 for t in inputs)
    found = f"{ids:,} tokens of {len(inputs[0].words):,} words in {rows:,} rows"
    near = f"no two of them within {params.window} places in a row"
    hint = "encode with a lower --min-count, or give --cross-rows"
    return NumbersError(f"{name}: nothing to count: {found}, {near}; {hint}")


def rows_of(tokens: Tokens, params: CoocParams, denominator: int | None, plan: Plan, job: Job) -> Iterator[Block]:
    """Yield the matrix in blocks of rows, in order; sums are divided by the denominator, None leaves them whole."""
    source, rule = Source.of(tokens, params.cross_rows), rule_of(params)[0]
    counter = Counter(source.size, rule, plan.cells, replace(job, threads=plan.threads))
    total = len(source.ids)
    bounds = list(cut(source, plan.places))
    if len(bounds) < 2:
        text = lay_out(source, 0, total, params.window)
        for block in counter.count(text, denominator):
            job.progress(int(text.starts[block.first + len(block.ends)]), total, "tokens")
            yield block
        return
    job.note(f"counting in {len(bounds)} slices of about {bounds[0][1]:,} tokens, to keep within the memory budget")
    parts = Parts(source.size, job.scratch)
    for start, stop in bounds:
        for block in counter.count(lay_out(source, start, stop, params.window), None):
            parts.add(block)
        job.progress(stop, total, "tokens")
    for block in counter.merge(parts, denominator):
        job.progress(block.first + len(block.ends), source.size, "rows merged")
        yield block


def filled(
    blocks: Iterator[Block],
    words: Words,
    unigram: NDArray[np.int64],
    figures: dict[str, int],
    params: CoocParams,
    job: Job,
) -> Counts | None:
    """Return counts that are produced while they are written, None if no block holds a cell.

    ``figures`` are the first of the ``stats``: tokens and rows of the text.
    """
    first = next((block for block in blocks if len(block.cols)), None)
    if first is None:
        return None
    size, indices = len(words), Spill(np.int32, job.scratch)
    made = Counts(
        data=None,
        indices=indices,
        indptr=np.zeros(size + 1, np.int64),
        shape=np.array([size, size]),
        words=words,
        unigram=unigram,
        stats={"words": size, **figures, "cells": 0, "total": 0, "denominator": rule_of(params)[1]},
    )
    made.data = Blocks(first.values.dtype, _fill(itertools.chain([first], blocks), made, indices, params))
    return made


def _fill(blocks: Iterator[Block], made: Counts, indices: Spill, params: CoocParams) -> Iterator[NDArray[np.generic]]:
    """Yield the data of blocks while indices, indptr and stats fill up beside it."""
    cells = total = 0
    for block in blocks:
        made.indptr[block.first + 1 : block.first + 1 + len(block.ends)] = cells + block.ends
        indices.append(block.cols)
        cells += len(block.cols)
        total += sum(block.totals.tolist())
        yield block.values
    made.stats |= sums_of(cells, total, params)


def sums_of(cells: int, total: int, params: CoocParams) -> dict[str, float]:
    """Return the ``stats`` of all cells, of which there are so many; ``total`` is their whole sum."""
    return {"cells": cells, "total": total if params.weighting == "flat" else total / rule_of(params)[1]}
