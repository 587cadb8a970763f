"""GloVe: weighted least squares on the logarithms of counts (Pennington, Socher and Manning 2014).

The step ``embcli glove``: what training starts from, epochs, what is watched between them, checkpoints, the artifact.
An epoch is glove_trainer.py, the order of the cells strata.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from embcli.artifacts import provenance, store
from embcli.artifacts.schema import Blocks, Counts, Vectors
from embcli.errors import InputError, KindError, NumbersError, UsageError
from embcli.job import Job
from embcli.kernels.vectors16 import padded
from embcli.models.glove_trainer import Make, Tables, Threads, Trainer
from embcli.models.resuming import check_done, inherit_seed, inherited, interrupted, nothing_left
from embcli.models.watch import Watch, is_flat
from embcli.spec import GloveParams, recorded

#: what the loss is the loss of; before the colon in short
OBJECTIVE = "GloVe: mean of f(X) (w.c + b + b' - ln X)^2 / 2 over all cells"
#: bytes that training takes besides the tables: cells of the open blocks, buffers, compiled code
_BESIDES = 300_000_000
#: bytes of a table that are put together at a time
_PIECE = 1 << 22
#: members, by the table and the layer that they hold: rows or sums of squares
_MEMBERS = {
    "bias": ("word_bias", 0), "context_bias": ("context_bias", 0), "word_squares": ("words", 1),
    "context_squares": ("contexts", 1), "bias_squares": ("word_bias", 1), "context_bias_squares": ("context_bias", 1),
}  # fmt: skip


@dataclass
class Fit:
    """A state of training, and what led to it: cost after each epoch, and in passing (before each step)."""

    params: GloveParams
    options: dict[str, Any]
    counts: Counts
    tables: Tables
    cost: list[float] = field(default_factory=list)
    passing: list[float] = field(default_factory=list)

    @property
    def flat(self) -> bool:
        """Whether the cost has stopped falling, if that was asked for."""
        return is_flat(self.cost, self.params.stop_when_flat)


def train(inputs: Sequence[Counts], params: GloveParams, job: Job, crew: Make = Threads) -> Vectors:
    """Return vectors fitted to counts of words near words.

    Parameters
    ----------
    inputs
        One counts artifact, V x V; it stays on disk.
    params
        Options; ``resume`` brings its own.
    job
        Its seed decides everything random (of ``resume``: the file's); ``epoch`` hears of each epoch.
    crew
        Who visits the cells.

    Returns
    -------
    Vectors
        ``vectors`` is what ``params.output`` says: word plus context rows, word rows, or both side by side;
        ``contexts`` the context rows (but with concat, which holds them); ``bias`` and ``context_bias``. Unless
        ``params.state`` is false also what resuming needs: sums of squared gradients, and with sum ``word_rows``.
        ``epoch_loss`` is the cost over all cells after each epoch. ``stats``: objective, epochs, cells, cost, and of
        each epoch cost_in_passing, each cell's taken before its step (what Stanford's program prints).

    Raises
    ------
    UsageError : options conflict with a file's.
    KindError, InputError : a file is of the wrong kind, damaged, or cannot be read or written; memory is short.
    NumbersError : there are no counts, or training diverged.
    """
    (counts,) = inputs
    if params.checkpoint is not None:
        store.check_target(params.checkpoint)
    fit = _resumed(counts, params, job) if params.resume is not None else _fresh(counts, params, job)
    watch = Watch(fit.params.eval, _live(fit)) if fit.params.eval else None
    last, done = fit.params.stop_after or fit.params.epochs, len(fit.cost)
    if done < last and not fit.flat:
        trainer = Trainer(counts, fit.tables, fit.params, job, crew)
        while done < last and not fit.flat:
            done += 1
            _epoch(trainer, done, fit, watch, job)
            if params.checkpoint is not None:
                _save(fit, params.checkpoint, job)
    else:
        job.note(nothing_left(params.resume, done, done < last))
        last = done
    if done < last:
        job.note(f"the cost fell by less than {fit.params.stop_when_flat:g} of itself: stopped after epoch {done}")
    return _artifact(fit, fit.params.state is not False)


def _fresh(counts: Counts, params: GloveParams, job: Job) -> Fit:
    _fitting(counts, params, job)
    params = replace(params, state=params.state is not False)
    tables = Tables.fresh(len(counts.words), params.dim, job.seed)
    return Fit(params, {f.name: value for f, value in recorded(params)}, counts, tables)


def _fitting(counts: Counts, params: GloveParams, job: Job) -> None:
    """Raise an error unless there is something to fit, and memory for it."""
    name, V = counts.path or "counts", len(counts.words)
    if counts.rows is not None or counts.shape[0] != V:
        what = f"{int(counts.shape[0]):,} documents x {V:,} words"
        raise KindError(f"{name}: counts {what}; GloVe needs words near words: run 'embcli cooc' without --context")
    if not len(counts.data):
        seen = np.asarray(counts.unigram)
        raise NumbersError(f"{name}: holds no counts of {V:,} words ({int(seen.sum()):,} tokens): nothing to learn; "
                           "make them with a larger window or from more text")  # fmt: skip
    row = 4 * padded(params.dim)
    what = f"glove with two tables of {V:,} x {params.dim:,} and their squared gradients"
    job.need(4 * V * row + _BESIDES, what)


def _resumed(counts: Counts, params: GloveParams, job: Job) -> Fit:
    """Return where ``params.resume`` stopped; ``job.seed`` becomes its seed. More epochs may be asked for."""
    assert params.resume is not None
    old = interrupted(params.resume, "glove", counts)
    name, meta = old.path or params.resume, old.meta
    found = inherited(params, meta, name, but=("epochs",))
    found["epochs"] = params.epochs if "epochs" in params.given else meta["options"]["epochs"]
    inherit_seed(job, meta, name)
    if old.word_squares is None or old.epoch_loss is None:
        raise KindError(f"{name}: has no sums of squared gradients (made with --no-state), so it cannot be resumed; a "
                        "--checkpoint can")  # fmt: skip
    done = len(old.epoch_loss)
    if not done == len(np.asarray(old.epoch_lr)) == len(meta["stats"]["cost_in_passing"]) or not done:
        raise InputError(f"{name}: damaged: its epochs do not fit together; make the file again")
    check_done(params.stop_after, done, name)
    if found["epochs"] < done:
        raise UsageError(f"--epochs {found['epochs']}: {name} has {done} epochs already")
    params = replace(params, **found)
    params.check()
    _fitting(counts, params, job)
    fit = Fit(
        params,
        dict(meta["options"]) | {name: getattr(params, name) for name in ("epochs", "stop_when_flat")},
        counts,
        Tables(len(counts.words), params.dim),
    )
    _take(fit, old, name)
    fit.cost, fit.passing = np.asarray(old.epoch_loss).tolist(), list(meta["stats"]["cost_in_passing"])
    return fit


def _take(fit: Fit, old: Vectors, name: str) -> None:
    """Fill the tables from a file; InputError if a part of them is missing or of another size."""
    tables, dim, output = fit.tables, fit.params.dim, fit.params.output
    parts = [(member, getattr(tables, table)[:, layer], 0) for member, (table, layer) in _MEMBERS.items()]
    parts.append(("word_rows" if output == "sum" else "vectors", tables.words[:, 0], 0))
    parts.append(
        ("vectors", tables.contexts[:, 0], dim) if output == "concat" else ("contexts", tables.contexts[:, 0], 0)
    )
    for member, target, skip in parts:
        array = getattr(old, member)
        width = (2 * dim if member == "vectors" and output == "concat" else dim,) if target.ndim == 2 else ()
        if array is None or array.shape != (len(target), *width):
            raise InputError(f"{name}: damaged: {member} does not fit the options; make the file again")
        for start, block in store.stream(old, member):
            if target.ndim == 2:
                target[start : start + len(block), :dim] = block[:, skip : skip + dim]
            else:
                target[start : start + len(block)] = block
            if member.endswith("squares") and not (block >= 1).all():  # they begin at 1 and grow
                raise InputError(f"{name}: damaged: {member} below 1; make the file again")


def _epoch(trainer: Trainer, number: int, fit: Fit, watch: Watch | None, job: Job) -> None:
    """Train one epoch, measure what is watched, and write both down."""
    params, cells = fit.params, trainer.size
    event: dict[str, Any] = {"epoch": number, "epochs": params.epochs, "last": params.stop_after or params.epochs}
    event |= {"of": cells, "finished": False, "unit": "cells", "measure": "cost", "lr": params.lr}

    def tell(seen: int, cost: float) -> None:
        job.progress((number - 1) * cells + seen, params.epochs * cells, "cells")
        job.epoch(event | {"words": seen, "loss": cost})

    job.epoch(event | {"words": 0, "loss": None})
    try:
        cost, passing = trainer.epoch(number - 1, tell)
    except NumbersError as e:
        raise NumbersError(f"{fit.counts.path or 'counts'}: {e}") from None
    fit.cost.append(cost)
    fit.passing.append(passing)
    event |= {"words": cells, "loss": cost, "finished": True}
    if watch is not None:
        event["eval"] = watch(_live(fit), job.threads)
    job.epoch(event)


def _live(fit: Fit) -> Vectors:
    """Return the vectors as they are, in memory."""
    table = _output(fit, 0, len(fit.counts.words))
    return Vectors(vectors=table, words=fit.counts.words, unigram=np.asarray(fit.counts.unigram))


def _output(fit: Fit, start: int, stop: int) -> Any:
    """Return rows start..stop of what the artifact calls vectors."""
    dim = fit.params.dim
    words, contexts = (table[start:stop, 0, :dim] for table in (fit.tables.words, fit.tables.contexts))
    return words if fit.params.output == "words" else words + contexts if fit.params.output == "sum" else (
        np.hstack((words, contexts)))  # fmt: skip


def _save(fit: Fit, path: str, job: Job) -> None:
    """Write the state to a file, complete or not at all."""
    made, counts = _artifact(fit, True), fit.counts
    sources = [(counts.kind, counts.digest, counts.meta)]
    store.write(made, path, provenance.compose("glove", fit.params, job.seed, sources, made, {}))


def _artifact(fit: Fit, state: bool) -> Vectors:
    """Return what the tables hold now."""
    counts, tables, params = fit.counts, fit.tables, fit.params
    V, dim, step = len(counts.words), params.dim, max(_PIECE // (4 * params.dim), 1)
    wide = dim * (1 + (params.output == "concat"))
    kept = _MEMBERS if state else ("bias", "context_bias")
    parts = {member: getattr(tables, _MEMBERS[member][0])[:, _MEMBERS[member][1]] for member in kept}
    parts |= {"contexts": tables.contexts[:, 0]} if params.output != "concat" else {}
    parts |= {"word_rows": tables.words[:, 0]} if params.output == "sum" and state else {}
    stats = {"objective": OBJECTIVE, "epochs": len(fit.cost), "cells": len(counts.data)}
    return Vectors(
        vectors=Blocks(np.float32, (_output(fit, a, min(a + step, V)) for a in range(0, V, step)), (wide,)),
        words=counts.words,
        unigram=np.asarray(counts.unigram),
        epoch_loss=np.array(fit.cost, np.float64),
        epoch_lr=np.full(len(fit.cost), params.lr),
        text=dict(counts.text),
        options=fit.options,
        stats=stats | {"cost": fit.cost[-1], "cost_in_passing": fit.passing},
        **{member: part[:, :dim] if part.ndim == 2 else part for member, part in parts.items()},
    )
