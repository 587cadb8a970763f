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

    def see(self, ids: Array) -> transformer.Seen:
        """Return inputs, states, weights and final states of one text."""
        if self.trained:
            return transformer.forward(self.config, self.parameters, ids, self.mask_of(len(ids)))
        H = transformer.first_inputs(self.config, {"token_rows": self.rows}, ids)
        bias, Q = None, H
        at = np.arange(len(ids))
        if self.config.position == "rope":
            Q = positions.rotate(H, at)
        if self.config.position == "alibi":
            bias = positions.alibi(at, 1)[0]
        mixed, weights = attention.attention(Q, Q, H, self.mask_of(len(ids)), bias)
        return transformer.Seen(H, [mixed], [weights[None]], mixed)


def reader(artifact: Model | Vectors, params: AttendParams) -> Reader:
    """Return what reads texts with a model, or one head without parameters over static vectors.

    Raises
    ------
    UsageError : an option belongs to training, or does not fit the width.
    InputError : the artifact is damaged.
    """
    _check_options(artifact, params)
    if isinstance(artifact, Model):
        config = Config.of(artifact.options or artifact.meta["options"], len(artifact.words))
        parameters = {name: _sound(artifact, name) for name in artifact.parameters}
        return Reader(artifact, config, parameters, parameters["token_rows"], params.mask)
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


def check_length(use: Reader, longest: int, job: Job) -> None:
    """Refuse texts longer than a learned table of positions; warn of those longer than the texts of training.

    Raises InputError.
    """
    context = use.config.context
    if not use.trained or longest <= context:
        return
    long = f"a text of {longest:,} tokens, and the model was trained with --context {context:,}"
    if use.config.position == "learned":
        raise InputError(f"{long}, of which its learned positions are a table; give shorter texts")
    job.warn(f"{long}; what lies beyond was never trained")


def check_layer(use: Reader, params: AttendParams) -> None:
    """Raise UsageError if there is no such layer."""
    most = use.config.layers if use.trained else 1
    if params.layer is not None and params.layer > most:
        raise UsageError(f"--layer {params.layer}: there are layers 0 to {most}, 0 being what enters the first")


def need_memory(use: Reader, cuts: Sequence[Cut], job: Job) -> None:
    """Raise InputError if weights and states of all texts do not fit into memory."""
    c = use.config
    sizes = [len(each.ids) for each in cuts]
    longest = max(sizes)
    kept = sum(4 * T * (c.layers * c.heads * T + (c.layers + 3) * c.dim) for T in sizes)
    work = 4 * longest * (6 * c.heads * longest + 2 * c.ffn + 12 * c.dim + 4 * c.vocabulary * use.trained)
    job.need(kept + work * min(job.threads, len(cuts)), f"weights and states of {sum(sizes):,} tokens")


def applied(use: Reader, params: AttendParams) -> dict[str, Any]:
    """Return what the options became: the mask, the layer, and how positions and rows were added."""
    mask = use.mask or ("none" if use.config.masked else "causal")
    scaled, position = use.config.scale_embeddings, use.config.position
    found: dict[str, Any] = {"mask": mask, "position": position, "scale_embeddings": scaled}
    return found | ({} if params.layer is not None else {"layer": None})
