"""Word2vec: skip-gram and CBOW by negative sampling, hierarchical or full softmax (Mikolov et al. 2013a, 2013b).

The step ``embcli word2vec``: epochs, what is watched between them, checkpoints, and the artifact. What training starts
from is begin.py and takeover.py, an epoch is trainer.py, single predictions to be read are word2vec_plain.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from embcli.artifacts import provenance, store
from embcli.artifacts.schema import Blocks, Tokens, Vectors
from embcli.errors import NumbersError
from embcli.job import Job
from embcli.models.begin import Beginning, afresh, plan_of
from embcli.models.heldout import HeldOut
from embcli.models.resuming import nothing_left
from embcli.models.shares import Make, Rounds, Task, Threads, rounds_of
from embcli.models.takeover import from_file, resumed
from embcli.models.trainer import Figures, Trainer
from embcli.models.watch import Watch, is_flat
from embcli.models.word2vec_plain import Prediction
from embcli.models.word2vec_plain import explain as predictions_of
from embcli.spec import FastTextParams, Word2vecParams

#: bytes of a table that are put in order at a time
_PIECE = 1 << 22


def train(inputs: Sequence[Tokens], params: Word2vecParams, job: Job, crew: Make = Threads) -> Vectors:
    """Return vectors trained on one text.

    Parameters
    ----------
    inputs
        One tokens artifact; it stays on disk.
    params
        Options; ``resume`` brings its own, ``init`` both tables to start from.
    job
        Its seed decides everything random (of ``resume``: the file's); ``epoch`` hears of each epoch.
    crew
        Trains the shares of ``params.shares``, if there are several.

    Returns
    -------
    Vectors
        ``vectors`` is the input table, ``contexts`` the output table, ``nodes`` those of the Huffman tree instead.
        ``epoch_loss``: mean per prediction in nats (skip-gram: of a pair, CBOW: of a centre; hierarchical: the sum over
        the path), comparable only where ``stats["objective"]`` is the same. ``stats``: objective, epochs, and one
        entry an epoch of words (read), predictions, heldout_loss; intervals (words read in all, mean loss of the
        predictions since the entry before); appended (words that ``init`` did not know); reproducible, false after
        --hogwild.

    Raises
    ------
    UsageError : options conflict with a file's.
    KindError, InputError : a file is of the wrong kind, damaged, or cannot be read or written; memory is short.
    NumbersError : there is nothing to learn, or training diverged.
    """
    (tokens,) = inputs
    return train_from(begin(tokens, params, job), tokens, params, job, crew)


def train_from(begun: Beginning, tokens: Tokens, params: Word2vecParams, job: Job, crew: Make = Threads) -> Vectors:
    """Return what ``train`` does, of word2vec or of a method that differs in how it begins."""
    watch = Watch(params.eval, _live(begun)) if params.eval else None
    held = HeldOut(begun.corpus, begun.params, job.seed) if begun.params.heldout else None
    last, done = begun.params.stop_after or begun.params.epochs, len(begun.history.loss)
    if done < last and not _flat(begun):
        rows = held.rows if held is not None else None
        task = Task(plan_of(begun.params, job.seed), begun.corpus, begun.tables, rows)
        trainer = rounds_of(task, begun.params, job, crew)
        while done < last and not _flat(begun):
            done += 1
            _epoch(trainer, done, begun, watch, held, job)
            if params.checkpoint is not None:
                _save(begun, tokens, params.checkpoint, job)
    else:
        job.note(nothing_left(params.resume, done, done < last))
        last = done
    if done < last:
        job.note(f"the loss fell by less than {begun.params.stop_when_flat:g} of itself: stopped after epoch {done}")
    return _artifact(begun, begun.params.context_vectors is not False, begun.params.state is not False)


def explain(inputs: Sequence[Tokens], params: Word2vecParams, job: Job) -> tuple[Tokens, Iterator[Prediction]]:
    """Return the words (as tokens) and the first ``params.explain`` predictions of training, made slowly in float64."""
    (tokens,) = inputs
    return explain_from(begin(tokens, params, job), params, job)


def explain_from(begun: Beginning, params: Word2vecParams, job: Job) -> tuple[Tokens, Iterator[Prediction]]:
    """Return what ``explain`` does, from any beginning."""
    plan = plan_of(begun.params, job.seed)
    return begun.corpus, predictions_of(begun.corpus, begun.tables, plan, params.explain)


def begin(tokens: Tokens, params: Word2vecParams, job: Job) -> Beginning:
    """Return what training starts from: random rows, or the tables of --init or --resume."""
    if params.checkpoint is not None:
        store.check_target(params.checkpoint)
    if params.resume is not None:
        return resumed(tokens, params, job)
    return from_file(tokens, params, job) if params.init is not None else afresh(tokens, params, job)


def _flat(begun: Beginning) -> bool:
    """Return whether the loss has stopped falling, if that was asked for."""
    return is_flat(begun.history.loss, begun.params.stop_when_flat)


def _live(begun: Beginning) -> Vectors:
    """Return the words' vectors as they are, in the order of the tables."""
    corpus = begun.corpus
    return Vectors(
        vectors=begun.tables.words_at(slice(0, begun.ngrams.words)), words=corpus.words, unigram=corpus.unigram
    )


def _epoch(
    trainer: Trainer | Rounds, number: int, begun: Beginning, watch: Watch | None, held: HeldOut | None, job: Job
) -> None:
    """Train one epoch, measure what is watched, and write both down."""
    planned, words = begun.params.epochs, len(begun.corpus.ids)
    last = begun.params.stop_after or planned
    event: dict[str, Any] = {"epoch": number, "epochs": planned, "last": last, "of": words, "finished": False}

    def tell(read: int, loss: float, rate: float) -> None:
        job.progress((number - 1) * words + read, planned * words, "words")
        job.epoch(event | {"words": read, "loss": loss, "lr": rate})

    job.epoch(event | {"words": 0, "loss": None, "lr": None})
    history = begun.history
    figures = _trained(trainer, number, tell, begun)
    if not figures.predictions:  # a handful of words, most of them left out at random
        job.note(
            f"epoch {number}: no pair was drawn; its loss is that of the epoch before (--sample 0 keeps all words)"
        )
        figures.loss = history.loss[-1]
    tell(words, figures.loss, figures.lr)
    history.loss.append(figures.loss)
    history.lr.append(figures.lr)
    history.predictions.append(figures.predictions)
    history.words.append(words - (held.tokens if held is not None else 0))
    history.interval_words += [(number - 1) * words + read for read, _ in figures.intervals]
    history.interval_loss += [loss for _, loss in figures.intervals]
    event |= {"words": words, "loss": figures.loss, "lr": figures.lr, "finished": True}
    if held is not None:
        history.heldout.append(held.loss(begun.tables, job))
        event["heldout"] = history.heldout[-1]
    if watch is not None:
        event["eval"] = watch(_live(begun), job.threads)
    job.epoch(event)


def _trained(
    trainer: Trainer | Rounds, number: int, tell: Callable[[int, float, float], None], begun: Beginning
) -> Figures:
    """Return the figures of an epoch, or raise NumbersError that names the text and what to do."""
    try:
        figures = trainer.epoch(number - 1, tell)
    except NumbersError as e:
        raise NumbersError(f"{begun.corpus.path or 'tokens'}: {e}") from None
    if not figures.predictions and not begun.history.loss:
        hint = f"; --sample {begun.params.sample:g} leaves frequent words out, --sample 0 keeps all"
        what = f"no word has another one in its window: nothing to predict{hint if begun.params.sample else ''}"
        raise NumbersError(f"{begun.corpus.path or 'tokens'}: {what}")
    return figures


def _save(begun: Beginning, tokens: Tokens, path: str, job: Job) -> None:
    """Write the state to a file, complete or not at all; both tables, whatever the final artifact will hold."""
    made = _artifact(begun, True, True)
    files = {"init": str(begun.options["init"])}
    sources = [(tokens.kind, tokens.digest, tokens.meta)]
    store.write(made, path, provenance.compose(begun.params.command, begun.params, job.seed, sources, made, files))


def _artifact(begun: Beginning, contexts: bool, nodes: bool) -> Vectors:
    """Return what the tables hold now, in the order of the artifact, with or without the output table."""
    params, history, tables = begun.params, begun.history, begun.tables
    assert params.dim is not None
    stats: dict[str, Any] = {"objective": objective(params), "epochs": len(history.loss)}
    stats |= {"words": history.words, "predictions": history.predictions}
    if history.heldout:
        stats["heldout_loss"] = history.heldout
    stats["intervals"] = {"words": history.interval_words, "loss": history.interval_loss}
    if begun.appended is not None:
        stats["appended"] = begun.appended
    if params.hogwild:
        stats["reproducible"] = False
    tree = params.loss == "hierarchical"
    rows = begun.ngrams.words
    raw: dict[str, Any] = {}
    if isinstance(params, FastTextParams):
        raw["word_rows"] = _ordered(lambda at: tables.vectors[at], rows, params.dim, begun.order)
        raw |= {"ngram_buckets": begun.ngrams.buckets, "ngram_rows": tables.vectors[rows:]}
    return Vectors(
        vectors=_ordered(tables.words_at, rows, params.dim, begun.order),
        words=begun.words,
        unigram=begun.unigram,
        contexts=_ordered(lambda at: tables.contexts[at], rows, params.dim, begun.order)
        if contexts and not tree
        else None,
        **raw,
        nodes=tables.outputs[:, : params.dim] if nodes and tree else None,
        epoch_loss=np.array(history.loss, np.float64),
        epoch_lr=np.array(history.lr, np.float64),
        text=dict(begun.corpus.text),
        options=begun.options,
        stats=stats,
    )


def _ordered(rows: Callable[[Any], Any], n: int, dim: int, order: Any) -> Blocks:
    """Return the rows of n words in the order of the artifact; ``rows`` gives those that it is asked for."""
    step = max(_PIECE // (4 * dim), 1)
    spans = (slice(a, min(a + step, n)) for a in range(0, n, step))
    return Blocks(np.float32, (rows(span if order is None else order[span]) for span in spans), (dim,))


def objective(params: Word2vecParams) -> str:
    """Return what the loss is the loss of."""
    arch = "skip-gram" if params.arch == "skipgram" else "CBOW of sums" if params.cbow_sum else "CBOW of means"
    loss = {"negative": f"{params.negative} negative samples", "softmax": "full softmax"}
    return f"{arch}, {loss.get(params.loss, 'hierarchical softmax')}"
