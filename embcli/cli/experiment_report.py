"""The report of an experiment on stdout and in its folder, what was expected beside what was found."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from embcli import stop
from embcli.cli.console import Console, Meter, cores
from embcli.cli.prints import show
from embcli.errors import EmbcliError, NumbersError
from embcli.job import Job
from embcli.report.tables import Column, Table, render
from embcli.spec import RunParams


@dataclass
class Tally:
    """How the report of one experiment went: its entries, what they were expected to say, how much of that they did."""

    path: str
    reports: int = 0
    expected: int = 0
    met: int = 0
    failures: list[EmbcliError] = field(default_factory=list)


class StepTalk:
    """The lines and the progress of one step or report, each with its name."""

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


def print_report(plan: Any, params: RunParams, console: Console, before: str = "") -> Tally:
    """Print the tables of the report in the order of the file, and keep them beside the artifacts, with a page of all.

    An entry that cannot be answered has its error instead of tables; the others are answered. It is a failure, as is an
    entry that does not say what is expected of it. ``before`` stands before what is said about entries.
    """
    from embcli.pipeline.document import Entry

    tally, entries, printed = Tally(plan.experiment.path), list[Entry](), False
    for i, report in enumerate(plan.reports, 1):
        name = report.title or f"{report.step.name} {i}"
        try:
            entry, wrong = _entry(report, name, params, console, printed, tally, before)
        except EmbcliError as e:
            entry, wrong = Entry(name, report, error=f"error: {e}"), ""
            tally.failures.append(type(e)(f"report {name}: {e}"))
        entries.append(entry)
        printed = printed or bool(entry.tables)
        if wrong:
            tally.failures.append(NumbersError(f"report {name}: {wrong}"))
    extra = _costs(plan, console, printed, before) if plan.experiment.costs else ""
    if not params.only:
        _keep(plan, entries, params, console, before, extra)
    return tally


def _costs(plan: Any, console: Console, more: bool, before: str) -> str:
    """Print what the artifacts cost, ``more`` after others; return it as text."""
    from embcli.pipeline.costs import cost_table
    from embcli.pipeline.reports import labelled

    table = cost_table(plan.builds, plan.experiment.out)
    if console.json:
        numbers = cost_table(plan.builds, plan.experiment.out, "jsonl")
        show(labelled(numbers, report=f"{before}costs"), console)
    else:
        console.data("\n" * more)
        show(table, console)
    return render(table)


def _keep(plan: Any, entries: Sequence[Any], params: RunParams, console: Console, before: str, extra: str) -> None:
    """Write report.txt and report.html beside the artifacts."""
    from embcli.artifacts import store
    from embcli.pipeline.document import document

    out = plan.experiment.out
    kept = [*(text for entry in entries for text in _kept(entry)), *([extra] if extra else [])]
    if kept:
        with store.open_target(os.path.join(out, "report.txt")) as file:
            file.write("\n".join(kept).encode())
    page = document(plan, entries, Job(threads=params.threads or cores()))
    with store.open_target(os.path.join(out, "report.html")) as file:
        file.write(page)
    console.say(f"{before}report: {os.path.join(out, 'report.html')}")


def _kept(entry: Any) -> list[str]:
    """Return what report.txt has of an entry."""
    title = [f"== {entry.report.title} ==\n"] if entry.report.title else []
    lost = ["".join(f"{note}\n" for note in entry.notes)] if entry.notes else []
    if entry.pictures is not None:
        return [*title, f"picture: {os.path.basename(entry.report.params.out)}\n", *lost]
    tables = [*([f"{entry.error}\n"] if entry.error else []), *(render(table) for table in entry.tables)]
    return [*title, *tables, *lost]


def _entry(
    report: Any, name: str, params: RunParams, console: Console, more: bool, tally: Tally, before: str
) -> tuple[Any, str]:
    """Print one entry of the report, ``more`` after others, or write its picture.

    Returns it as answered, and what is not as expected.
    """
    from embcli.artifacts import store
    from embcli.pipeline.document import Entry
    from embcli.pipeline.reports import answer, labelled

    talk = StepTalk(console, f"{before}{name}", False)
    job = Job(report.seed, params.threads or cores(), progress=talk.progress, note=talk.say, warn=talk.warn)
    shown = answer(report, job)
    tables = list(shown.tables("table"))
    if shown.pictures is not None:
        with store.open_target(report.params.out) as file:
            file.write(shown.pictures[0])
        talk.say(report.params.out)
    elif not console.json:
        _print(report.title, tables, console, not more)
    elif shown.record is not None:
        for record in shown.record():
            console.data_json({"report": f"{before}{name}", "use": report.step.name, **record})
    else:
        for table in shown.tables("jsonl"):
            show(labelled(table, report=f"{before}{name}", use=report.step.name), console)
    for line in shown.lost:
        talk.say(line)
    wrong = _judged(shown, f"{before}{name}", report.step.name, console, tally)
    return Entry(name, report, tables, shown.lost, "", shown.pictures), wrong


def _judged(shown: Any, name: str, use: str, console: Console, tally: Tally) -> str:
    """Count what was expected and found; return a line about what was not, empty if there is nothing."""
    tally.reports += 1
    if not shown.expected:
        return ""
    from embcli.report.expected import mismatch

    tally.expected += len(shown.expected)
    tally.met += sum(one.same for one in shown.expected)
    if console.json:
        for one in shown.expected:
            found = dict(one.found) if one.found is not None else None
            console.data_json(
                {"report": name, "use": use, "expected": dict(one.due), "found": found, "equal": one.same}
            )
    return mismatch(shown.expected)


def _print(title: str, tables: Sequence[Table], console: Console, first: bool) -> None:
    """Print a title and tables, blank lines between them."""
    for j, table in enumerate([*([Table(f"== {title} ==", [], [])] if title else []), *tables]):
        if j or not first:
            console.data("\n")
        show(table, console)


def tally_table(tallies: Sequence[Tally]) -> Table:
    """Return the table of several experiments: how many reports, what they were expected to say and did."""
    columns = [Column("experiment"), *(Column(name, "right") for name in ("reports", "expected", "found", "failed"))]
    rows = [[one.path, one.reports, one.expected, one.met, len(one.failures)] for one in tallies]
    return Table("", columns, rows)
