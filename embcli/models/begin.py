"""What word2vec and fastText need before the first epoch: options completed, inputs checked, tables.

Tables that come from another artifact (--init, --resume): takeover.py. The epochs: word2vec.py.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embcli.artifacts import store
from embcli.artifacts.schema import Tokens, Words
from embcli.errors import NumbersError, UsageError
from embcli.job import Job
from embcli.kernels.vectors16 import padded
from embcli.models.ngram_rows import NgramRows
from embcli.models.starts import REACH, fresh_rows
from embcli.models.training_plan import Plan, Tables
from embcli.spec import Word2vecParams, recorded

#: bytes that training takes besides the tables: lanes, buffers, compiled code
_BESIDES = 200_000_000
#: bytes for each word besides its rows
_MARKS = 100
#: how each method walks the text
WALK: dict[str, dict[str, Any]] = {"word2vec": {}, "fasttext": {"block": 20, "apart": True, "turn": True}}
#: rows of a table that are filled in one go
_ROWS = 1 << 14


@dataclass
class History:
    """What the epochs so far were like, one entry an epoch; all of it goes into the artifact.

    ``loss`` (mean per prediction, nats), ``lr`` at the end, ``predictions`` made and ``words`` read, ``heldout`` loss
    (empty without held-out rows). In epochs: ``interval_words`` read in all, ``interval_loss`` since the entry before.
    """

    loss: list[float] = field(default_factory=list)
    lr: list[float] = field(default_factory=list)
    predictions: list[int] = field(default_factory=list)
    words: list[int] = field(default_factory=list)
    heldout: list[float] = field(default_factory=list)
    interval_words: list[int] = field(default_factory=list)
    interval_loss: list[float] = field(default_factory=list)


@dataclass
class Beginning:
    """Everything that the epochs need.

    params : completed, nothing automatic left.  options : what the artifact records of them.
    corpus : the tokens; its ``words`` and ``unigram`` are those of the tables' rows, of which there may be more than
    the text has (--init).  ngrams : rows of the input table behind those of the words.
    words, unigram : in the order of the artifact, whose row i is row ``order[i]`` of the tables; None: the same order.
    appended : how many words --init did not know.
    """

    params: Word2vecParams
    options: dict[str, Any]
    corpus: Tokens
    tables: Tables
    ngrams: NgramRows
    words: Words
    unigram: NDArray[np.int64]
    order: NDArray[np.int64] | None = None
    appended: int | None = None
    history: History = field(default_factory=History)


def plan_of(params: Word2vecParams, seed: int) -> Plan:
    """Return completed options in the form that the trainer takes."""
    assert params.dim is not None and params.lr is not None and params.min_lr is not None
    same = ("arch", "loss", "window", "fixed_window", "cbow_sum", "negative", "ns_power", "sample", "epochs")
    rest = {name: getattr(params, name) for name in (*same, "freeze_output", "hogwild")}
    return Plan(dim=params.dim, lr=params.lr, min_lr=params.min_lr, seed=seed, **WALK[params.command], **rest)


def afresh(tokens: Tokens, params: Word2vecParams, job: Job) -> Beginning:
    """Return a beginning from random rows and an output table of zeros. Raises as ``tables_for`` does."""
    params = completed(params, params.dim or 100)
    ngrams = NgramRows.of(tokens.words, params)
    tables = tables_for(tokens, params, ngrams, job)
    fill_fresh(tables, params, job.seed, 0, len(ngrams))
    unigram = np.asarray(tokens.unigram)
    return Beginning(params, options_of(params, None), tokens, tables, ngrams, tokens.words, unigram)


def completed(params: Word2vecParams, dim: int) -> Word2vecParams:
    """Return options with everything automatic decided. UsageError if the rate would rise."""
    lr = params.lr if params.lr is not None else params.rates[params.arch]
    min_lr = params.min_lr if params.min_lr is not None else min(1e-4, lr)
    if min_lr > lr:
        raise UsageError(f"--min-lr {min_lr:g} is above the rate at the start, {lr:g}")
    keep = params.context_vectors is not False
    state = params.state is not False and keep
    return replace(params, dim=dim, lr=lr, min_lr=min_lr, context_vectors=keep, state=state)


def options_of(params: Word2vecParams, init: str | None) -> dict[str, Any]:
    """Return the options as the artifact records them; ``init`` is the digest of its file."""
    return {f.name: init if f.name == "init" else value for f, value in recorded(params)}


def tables_for(tokens: Tokens, params: Word2vecParams, ngrams: NgramRows, job: Job) -> Tables:
    """Return tables for words and n-grams, of zeros.

    Raises
    ------
    InputError : an id is damaged, or memory is short.
    NumbersError : there are not two words to tell apart.
    """
    _two_words(tokens)
    for _ in store.stream(tokens, "ids"):
        pass  # kernels go where ids point: they are checked before
    dim, V, n = params.dim or 0, ngrams.words, len(ngrams.buckets)
    tables = 2 + (plan_of(params, 0).lanes if params.loss == "softmax" else 0)  # whose lanes copy every output row
    what = f"{params.command} with two tables of {V:,} x {dim:,}" + (f" and {n:,} rows of n-grams" if n else "")
    job.need((V * (tables + bool(n)) + n) * 4 * padded(dim) + V * _MARKS + _BESIDES, what)
    return Tables(len(ngrams), V - (params.loss == "hierarchical"), dim, ngrams.lists)


def _two_words(tokens: Tokens) -> None:
    seen = np.asarray(tokens.unigram)
    if int((seen > 0).sum()) >= 2:
        return
    found = f"{int(seen.sum()):,} tokens of {int((seen > 0).sum()):,} words in {len(tokens.row_offsets) - 1:,} rows"
    stats = tokens.stats
    if "types_read" in stats:
        low = tokens.meta.get("options", {}).get("min_count")
        found += f", of {stats['tokens_read']:,} tokens and {stats['types_read']:,} words that were read"
        found += f" (highest count {stats['highest_count']:,}, --min-count {low})"
    raise NumbersError(f"{tokens.path or 'tokens'}: nothing to learn: {found}; two words are needed")


def fill_fresh(tables: Tables, params: Word2vecParams, seed: int, start: int, stop: int) -> None:
    """Put fresh rows start..stop into the input table."""
    for a in range(start, stop, _ROWS):
        b = min(a + _ROWS, stop)
        tables.vectors[a:b] = fresh_rows(seed, tables.dim, a, b, REACH[params.command])
