"""The report of an experiment as one page: artifacts with options, sizes and timings, losses, answers, maps.

``cli/experiments.py`` has the answers, which it prints too; this puts them together with what the artifacts tell. The
page is no artifact: it has timings in it, and nothing is ever built from it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from embcli import __version__
from embcli.artifacts import store
from embcli.artifacts.identify import show
from embcli.errors import EmbcliError
from embcli.job import Job, human_bytes
from embcli.pipeline.cells import Build
from embcli.pipeline.commands import build_command, report_command
from embcli.pipeline.freshness import times
from embcli.pipeline.plan import Plan, Report
from embcli.report.description import phrase
from embcli.report.markup import framed, page_html, picture_html, table_html
from embcli.report.summary import sentence
from embcli.report.tables import Column, Table
from embcli.spec import PlotParams

#: artifacts of which there is a map, and words in it
_MAPS, _WORDS = 6, 1500
#: kinds that have a map, and kinds that have losses
_MAPPED, _TRAINED = ("vectors", "model"), ("vectors", "model")


@dataclass(frozen=True)
class Entry:
    """One entry of the report as it was answered: its tables, or the error instead; of a plot SVG, light and dark."""

    name: str
    report: Report
    tables: Sequence[Table] = ()
    notes: Sequence[str] = ()
    error: str = ""
    pictures: tuple[bytes, bytes] | None = None


def document(plan: Plan, entries: Sequence[Entry], job: Job) -> bytes:
    """Return the page of an experiment whose artifacts are all there."""
    return "".join(page_html(plan.experiment.name, _parts(plan, entries, job))).encode("utf-8", "backslashreplace")


def _parts(plan: Plan, entries: Sequence[Entry], job: Job) -> Iterator[str]:
    experiment = plan.experiment
    sections = [("artifacts", list(_artifacts(plan))), ("losses", list(_losses(plan.builds)))]
    sections += [("report", [part for entry in entries for part in _entry(entry)])]
    sections += [("maps", list(_maps(plan, job)))]
    sections = [(name, parts) for name, parts in sections if parts]
    yield f"<h1>{escape(experiment.name)}</h1>\n"
    yield f'<p class="lead">{escape(show(experiment.path))}, seed {experiment.seed}, embcli {__version__}</p>\n'
    links = "".join(f'<a href="#{name}">{name}</a>' for name, _ in sections)
    yield f"<nav>{links}</nav>\n"
    for name, parts in sections:
        yield f'<h2 id="{name}">{name.capitalize()}</h2>\n'
        yield from parts


def _artifacts(plan: Plan) -> Iterator[str]:
    """Yield a table of all artifacts, and how each was made."""
    known = times(plan.experiment.out)
    rows: list[list[Any]] = []
    details, total = [], 0
    for build in plan.builds:
        facts = store.peek(build.out)
        meta, size = facts["meta"], facts["size"]
        total += size
        seconds = known.get((build.name, facts["digest"]))
        rows.append([build.label, build.step.name, human_bytes(size), seconds, sentence(meta["kind"], meta)])
        details.append(
            f"<h3>{escape(build.label)}</h3><p>{escape(phrase(meta['options']))}, seed {meta['seed']}</p>"
            f"<pre>{escape(build_command(build))}</pre>\n"
        )
    columns = [Column("artifact"), Column("command"), Column("size", "right")]
    columns += [Column("seconds", "right", digits=".1f"), Column("what was made")]
    spent = sum(row[3] or 0 for row in rows)
    notes = [f"{human_bytes(total)} and {spent:.1f} s in all; seconds are those of the run that made the artifact"]
    yield from table_html(Table("", columns, rows, notes))
    yield f"<details><summary>Options and commands</summary>\n{''.join(details)}</details>\n"


def _losses(builds: Sequence[Build]) -> Iterator[str]:
    """Yield the losses of all artifacts that have any."""
    from embcli.query.curves import loss_of
    from embcli.report.linechart import loss_charts

    trained = [build for build in builds if build.kind in _TRAINED]
    found = [curve for build in trained for curve in loss_of(store.read(build.out), build.label)]
    if found:
        yield f'<div class="charts">\n{"".join(loss_charts(found))}</div>\n'
        if len({curve.measure for curve in found}) > 1:
            yield '<p class="note">losses of different objectives cannot be compared</p>\n'


def _entry(entry: Entry) -> Iterator[str]:
    """Yield what one entry of the report answers, and the command that answers it."""
    yield f"<section><h3>{escape(entry.name)}</h3>\n"
    if entry.error:
        yield f'<p class="error">{escape(entry.error)}</p>\n'
    if entry.pictures is not None:
        yield picture_html(*entry.pictures, entry.name)
    for table in entry.tables:
        yield from table_html(table)
    yield from (f'<p class="note">{escape(note)}</p>\n' for note in entry.notes)
    yield f"<details><summary>Command</summary><pre>{escape(report_command(entry.report))}</pre></details></section>\n"


def _maps(plan: Plan, job: Job) -> Iterator[str]:
    """Yield maps to explore: of the tables of rows that a report reads or that no other step takes."""
    used = {each for build in plan.builds for each in build.needs}
    read = {each for report in plan.reports for each in report.inputs}
    wanted = [b for b in plan.builds if b.kind in _MAPPED and (b in read or b not in used)]
    for i, build in enumerate(wanted[:_MAPS]):
        yield f"<details{' open' if not i else ''}><summary>{escape(build.label)}</summary>\n"
        try:
            yield framed(_map(build, job), f"map of {build.label}")
        except EmbcliError as e:
            yield f'<p class="error">{escape(str(e))}</p>\n'
        yield "</details>\n"
    if len(wanted) > _MAPS:
        rest = ", ".join(build.label for build in wanted[_MAPS:])
        yield f'<p class="note">no map of {escape(rest)}; make one with embcli plot ARTIFACT --html FILE</p>\n'


def _map(build: Build, job: Job) -> bytes:
    """Return the page of the most frequent words of an artifact; of a grid's cell the title names it."""
    from embcli.pipeline.pictures import page

    params = PlotParams(html="-", frequent=_WORDS)
    return page([build.out], [], params, job, [build.label]).data
