"""The step ``embcli attend``: it sends each kind of input to what is done with it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from embcli.artifacts.schema import Artifact, Model, Tokens, Vectors
from embcli.errors import KindError, UsageError
from embcli.job import Job
from embcli.spec import AttendParams


def attend(inputs: Sequence[Any], params: AttendParams, job: Job) -> Artifact:
    """Return a model trained on tokens, or what a model or static vectors make of texts: states, or text vectors.

    Raises UsageError or KindError if input and options do not fit together, and what the parts raise.
    """
    (given,) = inputs
    if isinstance(given, Tokens):
        if params.applies:
            name = given.path or "tokens"
            raise KindError(f"{name}: --text is for a model; train it: embcli attend {name} -o model.npz")
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
