"""What reads texts: a model with its parameters in memory, or one head without parameters over static vectors.

It refuses options and texts that do not fit; what is made of texts is contextual.py, pooling.py and continuing.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embcli.artifacts import store
from embcli.artifacts.schema import Model, Vectors
from embcli.errors import InputError, UsageError
from embcli.job import Job
from embcli.models import attention, positions, transformer
from embcli.models.sound import config_of
from embcli.models.texts import Cut
from embcli.models.transformer import Config
from embcli.spec import AttendParams, fields
from embcli.spec.applying import PANEL

Array = NDArray[Any]


@dataclass(frozen=True)
class Reader:
    """What reads texts: a model's configuration and parameters, or static vectors.

    rows : (V, d), the token rows ((V + 1, d) with [MASK]).  config : of the model; of static vectors one that only says
    how rows and positions are added.  parameters : of the model, in memory and checked; empty for static vectors.
    mask : causal, none, or None for the model's own.
    """

    artifact: Model | Vectors
    config: Config
    parameters: dict[str, Array]
    rows: Array
    mask: str | None

    @property
    def trained(self) -> bool:
        """Whether it is a model."""
        return isinstance(self.artifact, Model)

    def mask_of(self, T: int) -> attention.Mask | None:
        """Return whom each of T tokens may look at."""
        if self.mask is None:
            return transformer.mask_of(self.config, T)
        return attention.causal(T) if self.mask == "causal" else attention.unmasked(T)

    @property
    def predicts(self) -> bool:
        """Whether its probabilities mean something: a model of next tokens must not see them."""
        return self.trained and (self.config.masked or self.mask != "none")

    def see(self, ids: Array, keep: bool = True) -> transformer.Seen:
        """Return inputs, states, weights (if they are to be kept) and final states of one text."""
        if self.trained:
            return transformer.forward(self.config, self.parameters, ids, self.mask_of(len(ids)), keep)
        H = transformer.first_inputs(self.config, {"token_rows": self.rows}, ids)
        bias, Q = None, H
        at = np.arange(len(ids))
        if self.config.position == "rope":
            Q = positions.rotate(H, at)
        if self.config.position == "alibi":
            bias = positions.alibi(at, 1)[0]
        mixed, weights = attention.attention(Q, Q, H, self.mask_of(len(ids)), bias)
        return transformer.Seen(H, [mixed], [weights[None]] if keep else [], mixed)


def reader(artifact: Model | Vectors, params: AttendParams) -> Reader:
    """Return what reads texts with a model, or one head without parameters over static vectors.

    Raises
    ------
    UsageError : an option belongs to training, or does not fit the width.
    InputError : the artifact is damaged.
    """
    _check_options(artifact, params)
    if isinstance(artifact, Model):
        config = config_of(artifact)
        parameters = {name: _sound(artifact, name) for name in artifact.parameters}
        use = Reader(artifact, config, parameters, parameters["token_rows"], params.mask)
        if not use.predicts and (params.candidates or params.sample):
            flag = "--candidates" if params.candidates else "--sample"
            raise UsageError(f"--mask none: a state would see the token that it predicts; leave it or {flag} out")
        return use
    rows = _sound(artifact, "vectors")
    position = params.position if "position" in params.given else "none"
    V, d = rows.shape
    if position in ("sinusoidal", "rope") and d % 2:
        raise UsageError(f"--position {position}: its columns are pairs, and the vectors have {d}")
    scale = params.scale_embeddings
    scaled = position == "sinusoidal" if scale is None else scale
    config = Config(V, 1, 1, d, 0, 0, position, "masked", scale_embeddings=scaled)
    return Reader(artifact, config, {}, rows, params.mask)


def _check_options(artifact: Model | Vectors, params: AttendParams) -> None:
    """Raise UsageError for options that belong to training, or that static vectors have no use for."""
    model = isinstance(artifact, Model)
    for f in fields(type(params)):
        shape = not model and f.name in ("position", "scale_embeddings")
        if f.name in params.given and f.opt.panel != PANEL and not shape:
            raise UsageError(f"{f.flag}: is settled when a model is trained; with --text leave it out")
    if not model and params.position == "learned" and "position" in params.given:
        raise UsageError("--position learned: static vectors have no learned positions; train a model")
    if not model and (params.candidates or params.sample):
        flag = "--candidates" if params.candidates else "--sample"
        raise UsageError(f"{flag}: static vectors predict nothing; give a model")


def _sound(artifact: Model | Vectors, name: str) -> Array:
    """Return an array, every block of which was checked."""
    for _ in store.stream(artifact, name):
        pass
    return np.asarray(store.member_of(artifact, name))


def check_length(use: Reader, sizes: Sequence[int], job: Job, more: int = 0) -> None:
    """Refuse texts longer than a learned table of positions; warn of those longer than the texts of training.

    ``sizes`` are the tokens of each text, ``more`` how many are to be added. Raises UsageError or InputError.
    """
    context = use.config.context
    long = [i for i, size in enumerate(sizes, 1) if size + more > context]
    if not use.trained or not long:
        return
    first, size = long[0], sizes[long[0] - 1]
    trained = f"the model was trained with --context {context:,}"
    what = f"text {first} has {size:,} tokens"
    if use.config.position == "learned":
        if more and size <= context:
            raise UsageError(f"--sample {more + 1:,}: {what}, and learned positions end with {context:,} (--context)")
        raise InputError(f"{what}, and {trained}, of which its learned positions are a table; cut or leave it out")
    others = f" (and {len(long) - 1:,} more texts are longer)" if len(long) > 1 else ""
    job.warn(f"{what}{f', {more:,} are added' if more else ''}, and {trained}{others}; beyond that it is untrained")


def check_layer(use: Reader, params: AttendParams) -> None:
    """Raise UsageError if there is no such layer."""
    most = use.config.layers if use.trained else 1
    if params.layer is not None and params.layer > most:
        raise UsageError(f"--layer {params.layer}: there are layers 0 to {most}, 0 being what enters the first")


def need_memory(use: Reader, cuts: Sequence[Cut], job: Job, weights: bool = True) -> None:
    """Raise InputError if states, and weights if they are kept, of all texts do not fit into memory."""
    c = use.config
    sizes = [len(each.ids) for each in cuts]
    longest = max(sizes)
    kept = sum(4 * T * (c.layers * c.heads * T * weights + (c.layers + 3) * c.dim) for T in sizes)
    work = 4 * longest * (6 * c.heads * longest + 2 * c.ffn + 12 * c.dim + 4 * c.vocabulary * use.trained)
    job.need(kept + work * min(job.threads, len(cuts)), f"weights and states of {sum(sizes):,} tokens")


def applied(use: Reader, params: AttendParams) -> dict[str, Any]:
    """Return what the options became: the mask, the layer, and how positions and rows were added."""
    mask = use.mask or ("none" if use.config.masked else "causal")
    scaled, position = use.config.scale_embeddings, use.config.position
    found: dict[str, Any] = {"mask": mask, "position": position, "scale_embeddings": scaled}
    return found | ({} if params.layer is not None else {"layer": None})
