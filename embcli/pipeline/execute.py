"""Run one step of the spec: open its inputs, call its function, write its artifact with provenance.

The command line and the YAML runner both come here, so that a step means the same in both.
"""

from __future__ import annotations

import hashlib
import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from embcli.artifacts import provenance, store
from embcli.errors import InputError, KindError
from embcli.job import Job
from embcli.spec import Step, recorded


@dataclass(frozen=True)
class Outcome:
    """What a step made: the kind and digest of its artifact, and the meta that stands in it.

    ``artifact`` is what the step returned, whose blocks are consumed, and ``given`` what it read.
    """

    kind: str
    digest: str
    meta: dict[str, Any]
    artifact: Any
    given: list[Any]


def load(step: Step) -> Any:
    """Return the function of a step, importing its module."""
    module, name = step.run.split(":")
    return getattr(importlib.import_module(module), name)


def execute(
    step: Step,
    inputs: list[str],
    params: Any,
    job: Job,
    out: str,
    function: Callable[..., Any] | None = None,
    write: Callable[..., str] = store.write,
) -> Outcome:
    """Run a step on files and write the artifact to ``out`` (- is stdout), complete or not at all.

    ``function`` and ``write`` do it elsewhere, if they are given, with the same result.
    """
    function = function or load(step)
    files = _file_digests(params)
    if step.reads == ("text",):
        given: list[Any] = list(inputs)
    else:
        given = [store.read(path, step.reads, command=step.name) for path in inputs]
    artifact = function(given, params, job)
    sources = (
        [(s["kind"], s["digest"], None) for s in job.sources]
        if step.reads == ("text",)
        else [(a.kind, a.digest, a.meta) for a in given]
    )
    meta = provenance.compose(step.name, params, job.seed, sources, artifact, files)
    if step.reads == ("text",):
        meta["inputs"] = job.sources  # of which there may be more when the artifact has been written
    digest = write(artifact, out, meta)
    return Outcome(artifact.kind, digest, meta, artifact, given)


def _file_digests(params: Any) -> dict[str, str]:
    """Return the content digest of each file that an option names."""
    return {f.name: file_digest(value) for f, value in recorded(params) if f.opt.file and value is not None}


def file_digest(path: str) -> str:
    """Return an artifact's own digest, of any other file sha256 of its bytes."""
    try:
        return store.digest(path)
    except (KindError, InputError):
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
