"""The step ``embcli attend``: it sends each kind of input to what is done with it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from embcli.artifacts.schema import Artifact, Tokens
from embcli.job import Job
from embcli.spec import AttendParams


def attend(inputs: Sequence[Any], params: AttendParams, job: Job) -> Artifact:
    """Return a model trained on tokens. Raises what ``training.train`` raises."""
    (given,) = inputs
    assert isinstance(given, Tokens)
    from embcli.models.transformer_training import train

    return train(given, params, job)
