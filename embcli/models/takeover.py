"""Tables that come from another artifact: --init takes them as a start, --resume goes on where a run stopped.

The rows of the tables follow the ids of the text, so that ids need no translation; the artifact that is written keeps
the order of the file that was taken over, new words behind (``Beginning.order``).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embcli.artifacts import store
from embcli.artifacts.schema import Tokens, Vectors, Words
from embcli.errors import KindError, UsageError
from embcli.job import Job
from embcli.models.begin import Beginning, History, completed, fill_fresh, options_of, tables_for
from embcli.models.ngram_rows import NgramRows
from embcli.models.resuming import check_done, inherit_seed, inherited, interrupted, stored
from embcli.models.starts import REACH, fresh_rows
from embcli.models.training_plan import Tables
from embcli.query.lookup import find
from embcli.spec import FastTextParams, Word2vecParams

Ints = NDArray[np.int64]
#: options that --init takes from a file, unless they are given
_NGRAMS = ("min_n", "max_n", "buckets")


@dataclass(frozen=True)
class Rows:
    """How the rows of a file, with new words behind, lie in the tables.

    place : of each word of the text, its row in the artifact.  order : of each row of the artifact, its row in the
    tables.  fresh : the words of the text that the file lacks, by id.
    """

    place: Ints
    order: Ints
    fresh: Ints

    @property
    def moved(self) -> Ints | None:
        """The order, None if rows lie in the tables as in the artifact."""
        return None if bool((self.order == np.arange(len(self.order))).all()) else self.order


def _rows(old: Words, text: Words) -> Rows:
    known = find(old, iter(text))
    place = np.array([known.get(word, -1) for word in text], np.int64)
    fresh = np.flatnonzero(place < 0)
    place[fresh] = np.arange(len(old), len(old) + len(fresh))
    order = np.full(len(old) + len(fresh), -1, np.int64)
    order[place] = np.arange(len(place))
    rest = np.flatnonzero(order < 0)
    order[rest] = np.arange(len(place), len(order))
    return Rows(place, order, fresh)


def _corpus(tokens: Tokens, words: Words, unigram: Ints, rows: Rows) -> Tokens:
    """Return the tokens with the words and frequencies of the tables' rows."""
    if rows.moved is None:
        return replace(tokens, words=words, unigram=unigram)
    back = np.argsort(rows.order)
    return replace(tokens, words=Words.of([words.bytes_at(i) for i in back.tolist()]), unigram=unigram[back])


def from_file(tokens: Tokens, params: Word2vecParams, job: Job) -> Beginning:
    """Return a beginning from both tables of ``params.init``: its words keep their places, new words follow.

    Counts add up, and the noise and subsampling go by the sums. New words get fresh rows and zeros in the output table.
    Inner nodes are taken over if the Huffman tree is the same.

    Raises
    ------
    UsageError : another --dim than the file's.
    KindError : the file is no vectors, or has more words than a text with --gaps keep.
    InputError : the file is damaged, or memory is short.
    NumbersError : there are not two words in the text.
    """
    assert params.init is not None
    old = stored(params.init, params.command)
    name, dim = old.path or params.init, old.vectors.shape[1]
    if params.dim not in (None, dim):
        raise UsageError(f"--dim {params.dim:,}: {name} has {dim:,} dimensions; leave --dim out")
    if isinstance(params, FastTextParams) and old.ngram_rows is not None:
        params = replace(params, **{name: old.options[name] for name in _NGRAMS if name not in params.given})
    params = completed(params, dim)
    rows, n = _rows(old.words, tokens.words), len(old.words)
    if tokens.options.get("gaps") == "keep" and len(rows.order) > len(tokens.words):
        raise KindError(
            f"{tokens.path or 'tokens'}: keeps gaps, whose id is that of the first word it lacks in {name}; encode it "
            "with --gaps close"
        )
    unigram = np.zeros(len(rows.order), np.int64)
    unigram[:n] = old.unigram
    unigram[rows.place] += np.asarray(tokens.unigram)
    words = old.words
    if len(rows.fresh):
        both = [old.words.bytes_at(i) for i in range(n)] + [tokens.words.bytes_at(i) for i in rows.fresh.tolist()]
        words = Words.of(both)
    corpus = _corpus(tokens, words, unigram, rows)
    ngrams = _ngrams(old, corpus.words, params, name, job)
    tables = tables_for(tokens, params, ngrams, job)
    if old.summed and old.word_rows is None:
        job.note(f"{name}: holds sums of both tables only (--no-state); the input table starts from these")
    _take_inputs(tables, old, ngrams, rows, params, job.seed)
    _take_outputs(tables, old, unigram, rows, params, name, job)
    job.note(f"{name}: {n:,} words, {len(tokens.words) - len(rows.fresh):,} of them in the text; "
             f"{len(rows.fresh):,} words appended")  # fmt: skip
    return Beginning(
        params, options_of(params, old.digest), corpus, tables, ngrams, words, unigram, rows.moved, len(rows.fresh),
    )  # fmt: skip


def _ngrams(old: Vectors, words: Words, params: Word2vecParams, name: str, job: Job) -> NgramRows:
    """Return the n-gram rows for these words, with all that the file has. UsageError if its n-grams are others."""
    if old.ngram_rows is None or not isinstance(params, FastTextParams):
        if isinstance(params, FastTextParams):
            job.note(f"{name}: has no n-grams; its vectors are the words' own rows, rows of n-grams start at random")
        return NgramRows.of(words, params)
    for option in _NGRAMS:
        if getattr(params, option) != old.options[option]:
            flag = "--" + option.replace("_", "-")
            raise UsageError(f"{flag} {getattr(params, option)}: {name} has {old.options[option]}; give {flag} "
                             f"{old.options[option]}")  # fmt: skip
    return NgramRows.of(words, params, np.asarray(old.ngram_buckets))


def _take_inputs(
    tables: Tables, old: Vectors, ngrams: NgramRows, rows: Rows, params: Word2vecParams, seed: int
) -> None:
    """Take over the input table: rows of words, and of n-grams where both have them; the others are fresh."""
    n, V, reach = len(old.words), ngrams.words, REACH[params.command]
    grams = isinstance(params, FastTextParams) and old.ngram_rows is not None
    own = old.word_rows is not None and (grams or old.summed)
    _copy(old, "word_rows" if own else "vectors", tables.inputs, rows.order)
    tables.vectors[rows.order[n:]] = fresh_rows(seed, tables.dim, n, V, reach)
    fill_fresh(tables, params, seed, V, len(ngrams))
    if grams:
        _copy(old, "ngram_rows", tables.inputs, V + np.searchsorted(ngrams.buckets, old.ngram_buckets))


def _copy(old: Vectors, member: str, table: Any, order: Ints) -> None:
    """Copy a table of an artifact to the given rows; it is checked on the way."""
    for start, block in store.stream(old, member):
        table[order[start : start + len(block)], : block.shape[1]] = block


def _take_outputs(
    tables: Tables, old: Vectors, unigram: Ints, rows: Rows, params: Word2vecParams, name: str, job: Job
) -> None:
    """Take over the output table, or the inner nodes; say so if that cannot be."""
    if params.loss != "hierarchical":
        if old.contexts is None:
            job.note(f"{name}: has no contexts; the output table starts at zero")
        else:
            _copy(old, "contexts", tables.outputs, rows.order)
    elif old.nodes is None:
        job.note(f"{name}: has no inner nodes; they start at zero")
    elif rows.moved is not None or not _in_proportion(np.asarray(old.unigram), unigram):
        job.note(f"{name}: has another Huffman tree, since counts or words differ; its inner nodes start at zero")
    else:
        _copy(old, "nodes", tables.outputs, np.arange(len(old.nodes)))


def _in_proportion(before: Ints, after: Ints) -> bool:
    """Return whether all counts grew by one factor: then the Huffman tree stays as it was."""
    if len(before) != len(after):
        return False
    a, b = int(before.sum()), int(after.sum())
    return all(x * b == y * a for x, y in zip(before.tolist(), after.tolist(), strict=True))


def resumed(tokens: Tokens, params: Word2vecParams, job: Job) -> Beginning:
    """Return where ``params.resume`` stopped: its options, tables and history; ``job.seed`` becomes its seed.

    Raises
    ------
    UsageError : an option, or the seed, is given and differs; --stop-after lies behind.
    KindError : the file is of another method, was trained on other tokens, or does not hold both tables.
    InputError : it is damaged, or memory is short.
    """
    assert params.resume is not None
    old = interrupted(params.resume, params.command, tokens, "; start from it with --init")
    name, meta = old.path or params.resume, old.meta
    params = _inherited(params, meta, name)
    inherit_seed(job, meta, name)
    outputs = "nodes" if params.loss == "hierarchical" else "contexts"
    if getattr(old, outputs) is None or old.epoch_loss is None or old.epoch_lr is None:
        why = "--no-state" if meta["options"].get("context_vectors") else "--no-context-vectors"
        raise KindError(f"{name}: has no {outputs} (made with {why}), so it cannot be resumed; a --checkpoint can")
    check_done(params.stop_after, len(old.epoch_loss), name)
    rows = _rows(old.words, tokens.words)
    unigram = np.asarray(old.unigram)
    corpus = _corpus(tokens, old.words, unigram, rows)
    ngrams = _ngrams(old, corpus.words, params, name, job)
    tables = tables_for(tokens, params, ngrams, job)
    _take_inputs(tables, old, ngrams, rows, params, job.seed)
    _copy(old, outputs, tables.outputs, rows.order if outputs == "contexts" else np.arange(len(tables.outputs)))
    stats = meta["stats"]
    history = History(
        np.asarray(old.epoch_loss).tolist(), np.asarray(old.epoch_lr).tolist(), list(stats["predictions"]),
        list(stats["words"]), list(stats.get("heldout_loss", [])), list(stats["intervals"]["words"]),
        list(stats["intervals"]["loss"]),
    )  # fmt: skip
    options = dict(meta["options"]) | {"stop_when_flat": params.stop_when_flat}
    return Beginning(
        params, options, corpus, tables, ngrams, old.words, unigram, rows.moved, stats.get("appended"), history,
    )  # fmt: skip


def _inherited(params: Word2vecParams, meta: dict[str, Any], name: str) -> Word2vecParams:
    """Return the options of a file; those given besides must be the same. UsageError names the one that is not."""
    planned = meta["options"]["epochs"]
    if "epochs" in params.given and params.epochs > planned:
        raise UsageError(
            f"--epochs {params.epochs}: {name} was planned for {planned}, by which its rate falls; to train longer "
            "start from it with --init"
        )
    made = replace(params, resume=None, **inherited(params, meta, name, but=("init",)))
    made.check()
    return replace(made, resume=params.resume)
