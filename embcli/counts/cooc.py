"""Count which words stand near each other: tokens -> counts.

Each word's positions are walked and the weights of their windows are added into one dense row, so a row is complete
at once. Weights are whole numbers over one denominator, so sums do not depend on any order, and counts are the same
bits at any number of threads and within any memory budget. If the budget is too small for all tokens, they are cut
into slices; their rows go to temporary files and are merged row by row.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from embcli.artifacts.schema import Blocks, Counts, Tokens
from embcli.artifacts.spill import Spill
from embcli.artifacts.store import stream
from embcli.counts.budget import Plan, Task, plan
from embcli.counts.rows import Block, Counter, Parts
from embcli.counts.slices import Source, cut, lay_out
from embcli.errors import InputError, NumbersError
from embcli.job import Job
from embcli.kernels.cooc import Rule
from embcli.spec import CoocParams, parse_size

#: harmonic weights are exact up to this window; beyond, lcm(1..window) soon outgrows sums of 64 bits
EXACT_WINDOW = 20
#: denominator of harmonic weights in larger windows
ROUNDED = 1 << 30


def count(inputs: list[Tokens], params: CoocParams, job: Job) -> Counts:
    """Return the co-occurrence counts of words in one tokens artifact.

    X[w, c] is the sum, over all places of w and the places of c at most ``window`` away (in the same row, unless
    ``cross_rows``), of a weight that depends on the distance d: flat 1, harmonic 1/d, dynamic (window - d + 1)/window,
    the expectation of word2vec's random windows (Levy, Goldberg and Dagan 2015, section 3.1). Symmetric counts look at
    both sides, so X equals its transpose and a word counts with itself from both ends; ``left`` looks before w,
    ``right`` after it.

    Parameters
    ----------
    inputs : one tokens artifact.
    params : ``memory`` is what to plan with, besides about 200 MB for the program itself; None is the job's.
    job : whose threads and temporary folder are used.

    Returns
    -------
    Counts whose ``data`` and ``indices`` are produced while they are written. ``stats``: words, tokens, rows, cells,
    total (sum of all counts), denominator (of the weights).

    Raises
    ------
    UsageError : ``memory`` is too little; InputError : so is what the machine has, or the tokens are damaged.
    NumbersError : no two words stand near enough to be counted.
    """
    (tokens,) = inputs
    source = Source.of(tokens, params.cross_rows)
    _check(tokens, rule_of(params)[0])
    budget = parse_size(params.memory) if params.memory else job.budget
    task = Task(source.size, params.window, source.dtype.itemsize, source.places)
    return count_by(plan(task, budget, job.threads, params.memory is not None), tokens, params, job)


def count_by(plan: Plan, tokens: Tokens, params: CoocParams, job: Job) -> Counts:
    """Return the counts, cutting the work as the plan says, which changes nothing in them."""
    source = Source.of(tokens, params.cross_rows)
    rule, denominator = rule_of(params)
    blocks = _rows(source, rule, denominator if params.weighting != "flat" else None, plan, job)
    first = next((block for block in blocks if len(block.cols)), None)
    if first is None:
        raise _nothing(tokens, params)
    indices = Spill(np.int32, job.scratch)
    made = Counts(
        data=None,
        indices=indices,
        indptr=np.zeros(source.size + 1, np.int64),
        shape=np.array([source.size, source.size]),
        words=tokens.words,
        unigram=tokens.unigram,
        text=tokens.text,
        stats={"words": source.size, "tokens": int(np.sum(tokens.unigram)), "rows": len(tokens.row_offsets) - 1}
        | {"cells": 0, "total": 0, "denominator": denominator},
    )
    made.data = Blocks(first.values.dtype, _fill(itertools.chain([first], blocks), made, indices, params))
    return made


def _nothing(tokens: Tokens, params: CoocParams) -> NumbersError:
    """Return the error for tokens without any pair."""
    found = f"{len(tokens.ids):,} tokens of {len(tokens.words):,} words in {len(tokens.row_offsets) - 1:,} rows"
    near = f"no two of them within {params.window} places in a row"
    hint = "encode with a lower --min-count, or give --cross-rows"
    return NumbersError(f"{tokens.path or 'tokens'}: nothing to count: {found}, {near}; {hint}")


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


def _check(tokens: Tokens, rule: Rule) -> None:
    """Raise InputError if a row's sum might exceed 64 bits, or if the tokens are damaged."""
    widest = int(rule.weights.sum()) * (rule.before + rule.after)
    if len(tokens.ids) * widest >= 1 << 63 and int(np.max(tokens.unigram, initial=0)) * widest >= 1 << 63:
        name = tokens.path or "tokens"
        raise InputError(f"{name}: sums over this many tokens could exceed 64 bits; take a smaller --window")
    for member in ("row_offsets", "ids"):
        for _ in stream(tokens, member):
            pass


def _rows(source: Source, rule: Rule, denominator: int | None, plan: Plan, job: Job) -> Iterator[Block]:
    """Yield the matrix in blocks of rows, in order."""
    counter = Counter(source.size, rule, plan.cells, replace(job, threads=plan.threads))
    window, total = len(rule.weights) - 1, len(source.ids)
    bounds = list(cut(source, plan.places))
    if len(bounds) < 2:
        text = lay_out(source, 0, total, window)
        for block in counter.count(text, denominator):
            job.progress(int(text.starts[block.first + len(block.ends)]), total, "tokens")
            yield block
        return
    job.note(f"counting in {len(bounds)} slices of about {bounds[0][1]:,} tokens, to keep within the memory budget")
    parts = Parts(source.size, job.scratch)
    for start, stop in bounds:
        for block in counter.count(lay_out(source, start, stop, window), None):
            parts.add(block)
        job.progress(stop, total, "tokens")
    for block in counter.merge(parts, denominator):
        job.progress(block.first + len(block.ends), source.size, "rows merged")
        yield block


def _fill(blocks: Iterator[Block], made: Counts, indices: Spill, params: CoocParams) -> Iterator[NDArray[np.generic]]:
    """Yield the data of blocks while indices, indptr and stats fill up beside it."""
    cells = total = 0
    for block in blocks:
        made.indptr[block.first + 1 : block.first + 1 + len(block.ends)] = cells + block.ends
        indices.append(block.cols)
        cells += len(block.cols)
        total += sum(block.totals.tolist())
        yield block.values
    denominator = made.stats["denominator"]
    made.stats |= {"cells": cells, "total": total if params.weighting == "flat" else total / denominator}
