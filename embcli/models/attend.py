"""The step ``embcli attend``: it sends each kind of input to what is done with it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from embcli.artifacts.schema import Artifact, Model, Tokens, Vectors
from embcli.errors import KindError, UsageError
from embcli.job import Job
from embcli.spec import AttendParams, fields

#: options that mean nothing in training, and those that plain steps have no use for
_APPLIED, _ADAM = ("top", "temperature", "top_k", "weights"), ("beta1", "beta2", "weight_decay")


def _only_training(params: AttendParams) -> None:
    """Raise UsageError for options that were given and would do nothing."""
    for f in fields(AttendParams):
        if f.name in params.given and f.name in _APPLIED:
            raise UsageError(f"{f.flag}: is for looking at texts; training has no use for it, leave it out")
        if f.name in params.given and f.name in _ADAM and params.optimizer == "sgd":
            raise UsageError(f"{f.flag}: belongs to --optimizer adamw; plain steps (sgd) have no use for it")


def attend(inputs: Sequence[Any], params: AttendParams, job: Job) -> Artifact:
    """Return a model trained on tokens, or what a model or static vectors make of texts: states, or text vectors.

    Raises UsageError or KindError if input and options do not fit together, and what the parts raise.
    """
    (given,) = inputs
    if isinstance(given, Tokens):
        if params.applies:
            name = given.path or "tokens"
            raise KindError(f"{name}: --text is for a model; train it: embcli attend {name} -o model.npz")
        _only_training(params)
        from embcli.models.transformer_training import train

        return train(given, params, job)
    assert isinstance(given, Model | Vectors)
    if not params.applies:
        name, what = given.path or given.kind, "a model" if isinstance(given, Model) else "vectors"
        raise UsageError(f"{name}: is {what}: give --text or --text-file to look at texts, or tokens to train on")
    if params.pool:
        from embcli.models.pooling import text_vectors

        return text_vectors(given, params, job)
    from embcli.models.contextual import contextual

    return contextual(given, params, job)
