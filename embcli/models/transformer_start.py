"""What a Transformer's training starts from: options completed, parameters fresh, from vectors, or where a run stopped.

No step is made: see transformer_training.py.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embcli.artifacts import store
from embcli.artifacts.build import member_of
from embcli.artifacts.schema import Model, Tokens, Vectors
from embcli.errors import InputError, KindError, NumbersError, UsageError
from embcli.job import Job
from embcli.models import sound
from embcli.models.lanes import lanes_of, windows_at_once
from embcli.models.transformer import Config
from embcli.models.workroom import Layout, Room
from embcli.query.lookup import find
from embcli.spec import AttendParams, recorded
from embcli.spec.attend import check_shape

Array = NDArray[Any]
#: tells these random numbers from others of the same seed
_STREAM = 0x4154_5446
#: standard deviation of fresh weights (Radford et al. 2019)
_SPREAD = 0.02


@dataclass
class Progress:
    """What the steps so far came to; all of it goes into the model.

    loss, lr : of each step.  tokens, targets : read in all.  held_steps, held_loss : when held-out rows were measured.
    cursor : where the text goes on, (epoch, window).  longer : loss in windows of --heldout-context, once all is done.
    """

    loss: list[float] = field(default_factory=list)
    lr: list[float] = field(default_factory=list)
    tokens: int = 0
    targets: int = 0
    held_steps: list[int] = field(default_factory=list)
    held_loss: list[float] = field(default_factory=list)
    cursor: tuple[int, int] = (0, 0)
    longer: float | None = None


@dataclass
class Start:
    """Everything that the steps need; ``mean`` and ``square`` are AdamW's state, None before the first step."""

    params: AttendParams
    config: Config
    options: dict[str, Any]
    theta: Array
    mean: Array | None = None
    square: Array | None = None
    progress: Progress = field(default_factory=Progress)


def completed(params: AttendParams, dim: int) -> AttendParams:
    """Return options with everything automatic decided. UsageError if they do not go together."""
    check_shape(dim, params)
    scale = params.scale_embeddings
    warmup = params.warmup if params.warmup is not None else min(100, params.steps // 10)
    return replace(
        params,
        dim=dim,
        ffn=params.ffn or 4 * dim,
        tie=params.tie is not False,
        scale_embeddings=params.position in ("sinusoidal", "learned") if scale is None else scale,
        min_lr=params.lr / 10 if params.min_lr is None else params.min_lr,
        warmup=warmup,
        clip=(1.0 if params.optimizer == "adamw" else 0.0) if params.clip is None else params.clip,
        report=params.report or -(-params.steps // 10),
        state=params.state is not False,
    )


def config_of(params: AttendParams, vocabulary: int) -> Config:
    """Return the configuration of completed options."""
    return Config(vocabulary, **{name: getattr(params, name) for name in sound.SHAPE})


def afresh(tokens: Tokens, params: AttendParams, job: Job) -> Start:
    """Return a start from random parameters, token rows from ``params.vectors`` where it has the word.

    Raises
    ------
    UsageError : options do not fit the vectors.
    KindError : the tokens keep gaps, or the vectors are something else.
    InputError : a file is damaged, or memory is short.
    NumbersError : there is only one word.
    """
    _check_text(tokens)
    vectors = _vectors(params)
    dim = params.dim or (vectors.vectors.shape[1] if vectors is not None else 128)
    if vectors is not None and vectors.vectors.shape[1] != dim:
        found = f"{vectors.path or params.vectors} has {vectors.vectors.shape[1]:,} dimensions"
        raise UsageError(f"--dim {dim:,}: {found}; leave --dim out")
    params = completed(params, dim)
    config = config_of(params, len(tokens.words))
    need_memory(config, params, job)
    layout = Layout(config)
    theta = np.empty(layout.size, np.float32)
    fill_fresh(config, layout, theta, job.seed)
    if vectors is not None:
        _take_rows(tokens, vectors, layout.views(theta)["token_rows"], job)
    digest = vectors.digest if vectors is not None else None
    options = {f.name: digest if f.name == "vectors" else value for f, value in recorded(params)}
    return Start(params, config, options, theta)


def _check_text(tokens: Tokens) -> None:
    name = tokens.path or "tokens"
    if tokens.options.get("gaps") == "keep":
        raise KindError(f"{name}: keeps gaps, which are no words; encode it with --gaps close, or --unk TOKEN")
    if len(tokens.words) < 2:
        raise NumbersError(
            f"{name}: {len(tokens.words)} words: nothing to tell apart (lower --min-count, or more text)"
        )
    for _ in store.stream(tokens, "ids"):
        pass  # kernels go where ids point: they are checked before


def _vectors(params: AttendParams) -> Vectors | None:
    if params.vectors is None:
        return None
    found = store.read(params.vectors, ("vectors",), command="attend")
    assert isinstance(found, Vectors)
    return found


def _take_rows(tokens: Tokens, vectors: Vectors, rows: Array, job: Job) -> None:
    """Copy the vectors of the words that the text has; the other rows stay fresh."""
    known = find(vectors.words, iter(tokens.words))
    pairs = [(i, known[word]) for i, word in enumerate(tokens.words) if word in known]
    for i, row in pairs:
        rows[i] = vectors.vectors[row]
    if not np.isfinite(rows).all():
        raise InputError(f"{vectors.path}: damaged: vectors holds values that are not finite; make the file again")
    job.note(f"{vectors.path}: rows of {len(pairs):,} of {len(tokens.words):,} words; the others start at random")


def need_memory(config: Config, params: AttendParams, job: Job) -> None:
    """Raise InputError if training does not fit into memory."""
    size, lanes = Layout(config).size, lanes_of(config, params.batch)
    state = 2 if params.optimizer == "adamw" else 0
    room = Room.size(config, windows_at_once(config, params.batch))
    if params.heldout_context is not None:
        longer = replace(config, context=params.heldout_context)
        room += Room.size(longer, windows_at_once(longer, params.batch))
    what = f"a Transformer with {size:,} parameters"
    job.need(4 * (size * (1 + state + lanes) + room * min(job.threads, lanes)) + 150_000_000, what)


def fill_fresh(config: Config, layout: Layout, theta: Array, seed: int) -> None:
    """Put the parameters that training starts with into ``theta``.

    Weights are normal with deviation 0.02, those that end a sublayer less by sqrt(2 layers) (Radford et al. 2019, 2.3);
    where token rows are scaled by sqrt(d) they and the learned positions have entries of 1 and 0.02 sqrt(d) after it.
    Gains are 1, biases 0.
    """
    small = _SPREAD / math.sqrt(max(2 * config.layers, 1))
    spread = {"merge": small, "narrow": small}
    if config.scale_embeddings:
        spread |= {"token_rows": 1 / math.sqrt(config.dim), "position_rows": _SPREAD * math.sqrt(config.dim)}
    for number, (name, view) in enumerate(layout.views(theta).items()):
        if name.endswith("_gain") or name.endswith("_bias"):
            view.fill(name.endswith("_gain"))
            continue
        np.random.default_rng([_STREAM, seed, number]).standard_normal(out=view.reshape(-1), dtype=np.float32)
        view *= np.float32(spread.get(name, _SPREAD))


def resumed(tokens: Tokens, params: AttendParams, job: Job) -> Start:
    """Return where ``params.resume`` stopped: its options, parameters and history; ``job.seed`` becomes its seed.

    Raises
    ------
    UsageError : an option, or the seed, is given and differs; --stop-after lies behind.
    KindError : the file is no model, was trained on other tokens, or has no state.
    InputError : it is damaged, or memory is short.
    """
    assert params.resume is not None
    old = store.read(params.resume, ("model",), command="attend")
    assert isinstance(old, Model)
    name, meta = old.path or params.resume, old.meta
    if [each["digest"] for each in meta["inputs"]] != [tokens.digest]:
        raise KindError(f"{name}: was trained on other tokens than {tokens.path or 'these'}")
    sound.config_of(old)
    params, seed = inherited(params, sound.options_of(old), name), int(meta["seed"])
    if (job.seed_given or job.seed) and job.seed != seed:
        raise UsageError(f"--seed {job.seed}: {name} was trained with {seed}; --resume goes on with that")
    job.seed = seed
    if params.optimizer == "adamw" and old.adam_mean is None:
        raise KindError(f"{name}: has no state of the optimizer (made with --no-state), so it cannot be resumed")
    done = len(old.step_loss)
    if params.stop_after is not None and params.stop_after < done:
        raise UsageError(f"--stop-after {params.stop_after}: {name} has made {done} steps already")
    _check_text(tokens)
    config = config_of(params, len(tokens.words))
    need_memory(config, params, job)
    theta = np.concatenate([np.asarray(_checked(old, part)).reshape(-1) for part in old.parameters])
    stats = sound.progress_of(old)
    held = stats["heldout"]
    progress = Progress(
        np.asarray(old.step_loss).tolist(), np.asarray(old.step_lr).tolist(), stats["tokens"], stats["targets"],
        list(held["steps"]), list(held["loss"]), stats["cursor"], held.get("longer"),
    )  # fmt: skip
    mean, square = (
        _checked(old, part) if params.optimizer == "adamw" else None for part in ("adam_mean", "adam_square")
    )
    if square is not None and (square < 0).any():
        raise sound.damaged(old, "adam_square holds negative numbers")
    return Start(params, config, dict(meta["options"]), theta, mean, square, progress)


def _checked(old: Model, name: str) -> Array:
    """Return a member in memory; every block of it was checked."""
    for _ in store.stream(old, name):
        pass
    return np.array(member_of(old, name))


def inherited(params: AttendParams, options: dict[str, Any], name: str) -> AttendParams:
    """Return the options of a file; those given besides must be the same. UsageError names the one that is not."""
    found = {}
    for f, value in recorded(params):
        if f.name == "vectors":
            if f.name in params.given:
                raise UsageError("--vectors: --resume goes on from its own rows; leave one of the two out")
            continue
        there = options[f.name]
        if f.name in params.given and value != there:
            if f.name == "steps" and value > there:
                raise UsageError(f"--steps {value}: {name} was planned for {there}, by which its rate falls")
            raise UsageError(f"{f.flag} {value}: {name} was trained with {there}; --resume goes on with its options")
        found[f.name] = there
    made = replace(params, resume=None, vectors=None, **found)
    made.check()
    return replace(made, resume=params.resume)
