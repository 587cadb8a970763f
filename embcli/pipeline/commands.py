"""The shell commands that do what an experiment does, valid in the caller's folder. Only texts."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from typing import Any

from embcli.pipeline.cells import Build
from embcli.pipeline.plan import Report
from embcli.spec import Params, fields


def folder_command(out: str) -> str:
    """Return the command that makes the folder of the artifacts."""
    return shlex.join(["mkdir", "-p", _path(out)])


def build_command(build: Build, threads: int | None = None, cluster: str | None = None) -> str:
    """Return the command that makes one artifact, with the same bytes, on a cluster if the step can work there."""
    end = ["--seed", str(build.seed)] if build.seed else []
    end += ["--threads", str(threads)] if threads else []
    end += ["--cluster", cluster] if cluster and build.step.cluster else []
    end += ["-o", _path(build.out)]
    return shlex.join(["embcli", build.step.name, *map(_path, build.paths), *_options(build.params), *end])


def report_command(report: Report, threads: int | None = None) -> str:
    """Return the command that prints one entry of the report."""
    options = [*_options(report.params), *(["--threads", str(threads)] if threads and _has_threads(report) else [])]
    paths = [_path(path) for path in report.paths]
    if report.step.writes and report.seed:
        options += ["--seed", str(report.seed)]
    if report.step.name in ("neighbors", "plot"):
        return shlex.join(["embcli", report.step.name, *options, *paths, "--", *report.queries])
    return shlex.join(["embcli", report.step.name, *paths, *options])


def _has_threads(report: Report) -> bool:
    return any(f.name == "threads" for f in fields(report.step.params))


def _path(path: str) -> str:
    """Return a path that is not taken for an option."""
    return f"./{path}" if path.startswith("-") else path


def _options(params: Params) -> list[str]:
    """Return the options that are not at their defaults, as the command line takes them."""
    return [word for f in fields(type(params)) for word in _words(f, getattr(params, f.name))]


def _words(field: Any, value: Any) -> Iterator[str]:
    if value == field.default or value is None:
        return
    if field.kind is bool:
        yield field.flag if value else f"--no-{field.flag[2:]}"
        return
    values: Sequence[Any] = value if field.repeatable else (value,)
    for each in values:
        text = repr(each).removesuffix(".0") if isinstance(each, float) else str(each)
        if text.startswith("-") or not text:
            yield f"{field.flag}={text}"
        else:
            yield from (field.flag, text)
