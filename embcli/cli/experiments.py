"""The command ``run``: an experiment in YAML, built step by step, its plan as shell commands, its report as tables."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Any

from embcli import stop
from embcli.cli.console import Console, Meter, cores, limit_blas
from embcli.cli.prints import show
from embcli.errors import EmbcliError
from embcli.job import Job
from embcli.report.tables import Table, render
from embcli.spec import RunParams


def experiment(inputs: list[str], params: RunParams, console: Console) -> None:
    """Build what an experiment says and is not up to date, and print its report; or only show the plan."""
    limit_blas(1)
    from embcli.pipeline.config import load
    from embcli.pipeline.plan import make_plan
    from embcli.pipeline.runner import run

    plan = make_plan(load(inputs[0], params.set)).only(params.only)
    if params.dry_run:
        _dry_run(plan, params, console)
        return
    wanted = sys.stderr.isatty() if params.progress is None else params.progress
    meters = wanted and not console.quiet and params.jobs == 1
    threads = params.threads or max(cores() // params.jobs, 1)
    run(
        plan, lambda label: _StepTalk(console, label, meters),
        force=params.force, jobs=params.jobs, threads=threads,
    )  # fmt: skip
    _report(plan, params, console)


class _StepTalk:
    """The lines and the progress of one step, each with its name."""

    def __init__(self, console: Console, label: str, meters: bool) -> None:
        self._console, self._label = console, label
        self._meter = Meter(f"{console.command}: {label}") if meters else None
        self._epochs: Any = None

    def say(self, text: str) -> None:
        """Print one line of talk, unless quiet."""
        if self._meter:
            self._meter.clear()
        self._console.say(f"{self._label}: {text}")

    def detail(self, text: str) -> None:
        """Print a line that only --verbose shows."""
        if self._console.verbose:
            self.say(text)

    def warn(self, text: str) -> None:
        """Print a warning, unless quiet."""
        self.say(f"warning: {text}")

    def progress(self, done: float, total: float, unit: str) -> None:
        """Show how far the step is."""
        stop.check()
        if self._meter:
            self._meter.show(done, total, unit)

    def epoch(self, event: dict[str, Any]) -> None:
        """Print a line for each finished epoch."""
        if self._epochs is None:
            from embcli.cli.epochs import Epochs

            self._epochs = Epochs(self.say, live=False)
        self._epochs.hear(event)


def _dry_run(plan: Any, params: RunParams, console: Console) -> None:
    """Print the shell commands of a plan; what is up to date is a comment."""
    from embcli.pipeline.commands import build_command, folder_command, report_command
    from embcli.pipeline.runner import check, survey

    check(plan)
    fresh = survey(plan, params.force)
    lines = [(build.name, build_command(build, params.threads), fresh[build]) for build in plan.builds]
    lines += [("", report_command(report, params.threads), False) for report in plan.reports]
    if console.json:
        for name, command, done in lines:
            console.data_json({"artifact": name or None, "command": command, "up_to_date": done})
        return
    if not all(fresh.values()):
        console.data(folder_command(plan.experiment.out) + "\n")
    for _, command, done in lines:
        console.data(f"# up to date: {command}\n" if done else f"{command}\n")


def _report(plan: Any, params: RunParams, console: Console) -> None:
    """Print the tables of the report in the order of the file, and keep them beside the artifacts, with a page of all.

    An entry that cannot be answered has its error instead of tables; the others are answered, and it is raised at last.
    """
    from embcli.artifacts import store
    from embcli.pipeline.document import Entry, document

    entries: list[Entry] = []
    failures: list[EmbcliError] = []
    printed = False
    for i, report in enumerate(plan.reports, 1):
        name = report.title or f"{report.step.name} {i}"
        try:
            entries.append(_entry(report, name, params, console, printed))
            printed = printed or bool(entries[-1].tables)
        except EmbcliError as e:
            entries.append(Entry(name, report, error=f"error: {e}"))
            failures.append(type(e)(f"report {name}: {e}"))
    kept = [text for entry in entries for text in _kept(entry)]
    if not params.only:
        out = plan.experiment.out
        if kept:
            with store.open_target(os.path.join(out, "report.txt")) as file:
                file.write("\n".join(kept).encode())
        page = document(plan, entries, Job(threads=params.threads or cores()))
        with store.open_target(os.path.join(out, "report.html")) as file:
            file.write(page)
        console.say(f"report: {os.path.join(out, 'report.html')}")
    if failures:
        raise type(failures[0])("; ".join(map(str, failures)))


def _kept(entry: Any) -> list[str]:
    """Return what report.txt has of an entry."""
    title = [f"== {entry.report.title} ==\n"] if entry.report.title else []
    if entry.pictures is not None:
        return [*title, f"picture: {os.path.basename(entry.report.params.out)}\n"]
    return [*title, *([f"{entry.error}\n"] if entry.error else []), *(render(table) for table in entry.tables)]


def _entry(report: Any, name: str, params: RunParams, console: Console, more: bool) -> Any:
    """Print one entry of the report, ``more`` after others, or write its picture; return it as answered."""
    from embcli.artifacts import store
    from embcli.pipeline.document import Entry
    from embcli.pipeline.reports import answer, labelled

    talk = _StepTalk(console, name, False)
    seed, threads = getattr(report.params, "seed", 0), params.threads or cores()
    shown = answer(report, Job(seed, threads, progress=talk.progress, note=talk.say, warn=talk.warn))
    tables = shown.tables("table")
    if shown.pictures is not None:
        with store.open_target(report.params.out) as file:
            file.write(shown.pictures[0])
        talk.say(report.params.out)
    elif console.json:
        for table in shown.tables("jsonl"):
            show(labelled(table, report=name, use=report.step.name), console)
    else:
        _print(report.title, tables, console, not more)
    for line in shown.lost:
        talk.say(line)
    return Entry(name, report, tables, shown.lost, "", shown.pictures)


def _print(title: str, tables: Sequence[Table], console: Console, first: bool) -> None:
    """Print a title and tables, blank lines between them."""
    for j, table in enumerate([*([Table(f"== {title} ==", [], [])] if title else []), *tables]):
        if j or not first:
            console.data("\n")
        show(table, console)
