"""What every trainer asks of a file that it goes on from (--resume): step, inputs, options, seed. No tables."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from embcli.artifacts import store
from embcli.artifacts.schema import MAKERS, Artifact, Vectors
from embcli.errors import KindError, UsageError
from embcli.job import Job
from embcli.spec import Params, fields

#: options that may change when training goes on, since they only say when it ends
_FREE = ("stop_when_flat",)


def stored(path: str, command: str) -> Vectors:
    """Return vectors from a file. Raises KindError, InputError as ``store.read`` does."""
    try:
        found = store.read(path, ("vectors",), command=command)
    except KindError as e:
        raise KindError(str(e).replace(MAKERS["vectors"], f"embcli {command}")) from None
    assert isinstance(found, Vectors)
    return found


def interrupted(path: str, step: str, source: Artifact, instead: str = "") -> Vectors:
    """Return what a step left in a file. KindError if another step made it, or from another input than ``source``.

    instead : what else could be done with the file, for messages.
    """
    old = stored(path, step)
    name, meta = old.path or path, old.meta
    if meta["step"] != step:
        raise KindError(f"{name}: was made by '{meta['step']}', which {step} cannot resume{instead}")
    if [each["digest"] for each in meta["inputs"]] != [source.digest]:
        raise KindError(f"{name}: was trained on other {source.kind} than {source.path or 'these'}{instead}")
    return old


def inherited(params: Params, meta: dict[str, Any], name: str, but: Collection[str] = ()) -> dict[str, Any]:
    """Return the recorded options of a file. UsageError names one that is given and differs.

    but : options that are left out, for the caller to decide.
    """
    found = {}
    for f in fields(type(params)):
        value, options = getattr(params, f.name), meta["options"]
        if not f.opt.recorded or f.name in but or not (params.relevant(f) or f.name in options):
            continue
        there = options.get(f.name, f.default)  # what is at its default need not be recorded
        if f.name in params.given and f.name in _FREE:
            there = value
        elif f.name in params.given and value != there:
            raise UsageError(f"{f.flag} {value}: {name} was trained with {there}; --resume goes on with its options")
        found[f.name] = there
    return found


def inherit_seed(job: Job, meta: dict[str, Any], name: str) -> None:
    """Make the seed of a file the job's; UsageError if another one was asked for."""
    seed = int(meta["seed"])
    if (job.seed_given or job.seed) and job.seed != seed:
        raise UsageError(f"--seed {job.seed}: {name} was trained with {seed}; --resume goes on with that")
    job.seed = seed


def nothing_left(path: str | None, done: int, flat: bool) -> str:
    """Return why a file that was to be gone on from is left as it is, for a note."""
    if flat:
        return (
            f"{path}: the last of {done} epochs fell below --stop-when-flat; nothing is trained: give a smaller share"
        )
    return f"{path}: all {done} epochs were done; nothing is trained"


def check_done(stop_after: int | None, done: int, name: str) -> None:
    """Raise UsageError if training is to stop before where a file has come already."""
    if stop_after is not None and stop_after < done:
        raise UsageError(f"--stop-after {stop_after}: {name} has {done} epochs already")
