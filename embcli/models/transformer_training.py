"""Training of a Transformer on tokens: steps, reports, held-out loss, checkpoints, and the model that comes of it.

What it starts from is transformer_start.py, what a step does lanes.py, how text becomes batches packing.py.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from embcli.artifacts import provenance, store
from embcli.artifacts.schema import Model, Tokens
from embcli.errors import InputError, NumbersError
from embcli.job import Job
from embcli.kernels.draws import key_of
from embcli.models.lanes import Lanes, Rooms, mean_loss, windows_at_once
from embcli.models.network import Network
from embcli.models.optimizer import Map, Rule, Schedule
from embcli.models.packing import Batches, HeldOut, split
from embcli.models.passes import Dropout
from embcli.models.transformer_start import Start, afresh, resumed
from embcli.models.workroom import Layout
from embcli.spec import AttendParams


def train(tokens: Tokens, params: AttendParams, job: Job) -> Model:
    """Return a model trained on one text, which stays on disk.

    ``job``'s seed decides everything random (of ``resume``: the file's); ``job.epoch`` hears of each report.

    Raises
    ------
    UsageError : options conflict with a file's.
    KindError, InputError : a file is of the wrong kind, damaged, or cannot be read or written; memory is short.
    NumbersError : there is nothing to learn, or training diverged.
    """
    if params.checkpoint is not None:
        store.check_target(params.checkpoint)
    start = resumed(tokens, params, job) if params.resume is not None else afresh(tokens, params, job)
    with job.crew() as crew:
        run = Run(tokens, start, job, crew)
        run.all()
    return model_of(tokens, start, run.lanes, start.params.state is not False)


class Run:
    """The steps of one process: ``all`` makes them."""

    def __init__(self, tokens: Tokens, start: Start, job: Job, crew: Map) -> None:
        params, config = start.params, start.config
        assert params.min_lr is not None and params.warmup is not None and params.clip is not None
        self.tokens, self.start, self.job, self.params = tokens, start, job, params
        rows, held = split(tokens, config, params.heldout, job.seed)
        name = tokens.path or "tokens"
        if not len(rows):
            raise NumbersError(
                f"{name}: no row of the text has two tokens: nothing to predict (--rows file joins lines)"
            )
        if params.heldout and not len(held):
            some = "1 row" if len(rows) == 1 else f"{len(rows):,} rows"
            job.note(f"{name}: has {some}, of which {params.heldout:g} is none: nothing is held out")
        self.batches = Batches(tokens, config, rows, params.batch, job.seed)
        if not self.batches.begin(start.progress.cursor):
            raise InputError(f"{params.resume}: damaged: its stats put the cursor behind the text; make the file again")
        self.held_rows = held
        self.held = HeldOut(tokens, config, held, job.seed) if len(held) else None
        rule = Rule(params.optimizer == "adamw", params.beta1, params.beta2, params.weight_decay, params.clip)
        self.lanes = Lanes(config, start.theta, params.batch, rule, params.freeze, crew)
        if start.mean is not None and start.square is not None:
            self.lanes.optimizer.mean, self.lanes.optimizer.square = start.mean, start.square
        self.schedule = Schedule(params.lr, params.min_lr, params.warmup, params.steps, params.decay)
        self.planned = params.steps
        self.last = params.stop_after or params.steps

    def all(self) -> None:
        """Make the steps that are due, report by report."""
        done, every = len(self.start.progress.loss), self.params.report
        assert every is not None
        if done >= self.last:
            self.job.note(f"{self.params.resume}: all {done} steps were made; nothing is trained")
        while done < self.last:
            goal = min((done // every + 1) * every, self.last)
            self._until(done, goal)
            done = goal

    def _until(self, done: int, goal: int) -> None:
        """Make steps done + 1 to goal, report them, measure held-out rows at the end of a report, and save."""
        progress, every, per_step = (
            self.start.progress,
            self.params.report or 1,
            self.params.batch * self.start.config.context,
        )
        event: dict[str, Any] = {
            "epoch": -(-goal // every), "epochs": -(-self.planned // every), "last": -(-self.last // every),
            "of": (goal - done) * per_step, "finished": False, "label": f"step {goal:,} of {self.planned:,}",
            "unit": "tokens", "perplexity": True,
        }  # fmt: skip
        self.job.epoch(event | {"words": 0, "loss": None, "lr": None})
        before, total = progress.tokens, 0.0
        for step in range(done + 1, goal + 1):
            total += self._step(step)
            self.job.progress(step, self.planned, "steps")
            heard: dict[str, Any] = {"words": progress.tokens - before, "loss": total / (step - done)}
            heard |= {"lr": progress.lr[-1], "label": f"step {step:,} of {self.planned:,}"}
            self.job.epoch(event | heard)
        event |= {**heard, "finished": True}
        if self.held is not None and (goal % every == 0 or goal == self.planned):
            progress.held_steps.append(goal)
            progress.held_loss.append(self.lanes.loss(self.held.rows))
            self._check(goal, progress.held_loss[-1])
            event["heldout"] = progress.held_loss[-1]
            if goal == self.planned and self.params.heldout_context is not None:
                progress.longer = self._longer(self.params.heldout_context)
        if not np.isfinite(self.start.theta).all():
            self._check(goal, float("nan"))
        self.job.epoch(event)
        if self.params.checkpoint is not None:
            self._save(self.params.checkpoint)

    def _longer(self, context: int) -> float:
        """Return the loss of the held-out rows in windows of another length."""
        config = replace(self.start.config, context=context)
        network = Network(config, self.lanes.network.parameters)
        rooms = Rooms(config, windows_at_once(config, self.params.batch), self.start.theta.dtype)
        held = HeldOut(self.tokens, config, self.held_rows, self.job.seed)
        return mean_loss(network, held.rows, rooms, self.lanes.run)

    def _step(self, step: int) -> float:
        """Make one step and return its mean loss."""
        progress, params = self.start.progress, self.params
        rows = self.batches.next(step - 1)
        dropout = Dropout(params.dropout, key_of(self.job.seed ^ 0x44524F50, step)) if params.dropout else None
        lr = self.schedule.rate(step)
        loss, norm = self.lanes.step(rows, step, lr, dropout)
        self._check(step, loss)
        self._check(step, norm)
        progress.loss.append(loss)
        progress.lr.append(lr)
        progress.tokens += int((rows.ids >= 0).sum())
        progress.targets += int((rows.targets >= 0).sum())
        progress.cursor = self.batches.cursor
        return loss

    def _check(self, step: int, figure: float) -> None:
        """Raise NumbersError, which names the step and a lower rate, if a figure is not finite."""
        if not np.isfinite(figure):
            name, lower = self.tokens.path or "tokens", self.params.lr / 4
            raise NumbersError(
                f"{name}: step {step}: the loss is no longer a finite number (divergence); try --lr {lower:g}"
            )

    def _save(self, path: str) -> None:
        """Write the state to a file, complete or not at all."""
        made = model_of(self.tokens, self.start, self.lanes, True)
        sources = [(self.tokens.kind, self.tokens.digest, self.tokens.meta)]
        files = {"vectors": str(self.start.options["vectors"])}
        store.write(made, path, provenance.compose("attend", self.params, self.job.seed, sources, made, files))


def model_of(tokens: Tokens, start: Start, lanes: Lanes, state: bool) -> Model:
    """Return the model as it is now, with the optimizer's state or without."""
    progress, config, optimizer = start.progress, start.config, lanes.optimizer
    stats: dict[str, Any] = {
        "objective": "next token" if config.objective == "causal" else "masked tokens",
        "parameters": len(start.theta), "steps": len(progress.loss), "tokens": progress.tokens,
        "targets": progress.targets, "cursor": list(progress.cursor),
    }  # fmt: skip
    if progress.held_steps:
        stats["heldout"] = {"steps": progress.held_steps, "loss": progress.held_loss}
        if progress.longer is not None:
            stats["heldout"]["longer"] = progress.longer
    adam = state and len(optimizer.mean) > 0
    parameters: dict[str, Any] = {**Layout(config).views(start.theta)}
    return Model(
        **parameters,
        words=tokens.words,
        unigram=np.asarray(tokens.unigram),
        tokens=tokens.tokens,
        merges=tokens.merges,
        merge_counts=tokens.merge_counts,
        special_ids=tokens.special_ids,
        adam_mean=optimizer.mean if adam else None,
        adam_square=optimizer.square if adam else None,
        step_loss=np.array(progress.loss, np.float64),
        step_lr=np.array(progress.lr, np.float64),
        text=dict(tokens.text),
        options=start.options,
        stats=stats,
    )
