"""From a checked experiment to the artifacts it makes and the tables it prints: everything settled, nothing opened.

What is up to date is a question for ``freshness``; how grids unroll stands in ``cells``.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any

from embcli.artifacts.identify import show
from embcli.errors import UsageError
from embcli.pipeline.cells import Build, builds_of, file_names, find, kinds_fit, owner, path_of
from embcli.pipeline.config import Experiment
from embcli.pipeline.report_entries import ReportEntry
from embcli.pipeline.yamlfile import unknown, within
from embcli.spec import Step, fields, make

#: options that name files which are read for a report, and leave no trace in artifacts
_READ = ("words_from", "given_")


@dataclass(frozen=True, eq=False)
class Report:
    """One entry of the report: of a gridded step all cells are inputs. ``files`` are artifacts that options name.

    ``expect`` are records that it must hold, numbers within ``tolerance`` (see report/expected.py).
    """

    title: str
    step: Step
    params: Any
    seed: int
    inputs: tuple[Build | str, ...]
    queries: tuple[str, ...]
    files: tuple[Build, ...]
    expect: tuple[Mapping[str, Any], ...] = ()
    tolerance: float = 0.0

    def within(self, wanted: set[Build]) -> Report | None:
        """Return the report on those of its artifacts that are wanted, None if there are none.

        One on some of its artifacts is expected to say nothing: it may lack what belongs to the others.
        """
        inputs = tuple(each for each in self.inputs if isinstance(each, str) or each in wanted)
        artifacts = [each for each in (*inputs, *self.files) if isinstance(each, Build)]
        if not wanted.issuperset(self.files) or not artifacts:
            return None
        return replace(self, inputs=inputs, expect=self.expect if len(inputs) == len(self.inputs) else ())

    @property
    def paths(self) -> list[str]:
        """The paths of the inputs."""
        return [path_of(each) for each in self.inputs]

    @property
    def names(self) -> list[str]:
        """What tables call the inputs: a step and its cell, else the file's name where that tells them apart."""
        short = [each.label if isinstance(each, Build) else os.path.basename(each) for each in self.inputs]
        return short if len(set(short)) == len(short) else self.paths


@dataclass(frozen=True)
class Plan:
    """Everything an experiment makes: each artifact after those it needs."""

    experiment: Experiment
    builds: tuple[Build, ...]
    reports: tuple[Report, ...]

    def only(self, names: Sequence[str]) -> Plan:
        """Return the plan of the named steps or cells, what they need, and reports on these alone; all, if none is."""
        if not names:
            return self
        wanted: set[Build] = set()
        for name in names:
            found = [build for build in self.builds if name == build.of or fnmatchcase(build.name, name)]
            if not found:
                raise UsageError(f"--only: {unknown('step', name, self.experiment.steps)}")
            wanted.update(found)
        for build in reversed(self.builds):
            if build in wanted:
                wanted.update(build.needs)
        reports = tuple(cut for report in self.reports if (cut := report.within(wanted)))
        return Plan(self.experiment, tuple(build for build in self.builds if build in wanted), reports)


def make_plan(experiment: Experiment) -> Plan:
    """Return what an experiment makes.

    Raises
    ------
    UsageError : an option does not fit, steps need each other in a circle, a step gets too many inputs, an artifact
        would lie where the experiment reads.
    InputError : an input is neither a step nor a file.
    KindError : a step's input is of a kind that it does not read.
    """
    made: dict[str, list[Build]] = {}
    with within(show(experiment.path)):
        for name in _order(experiment):
            with within(f"step {name}"):
                made[name] = builds_of(experiment, name, made)
        reports = []
        for i, entry in enumerate(experiment.reports, 1):
            with within(f"report {i}"):
                reports.append(_report(experiment, entry, made, i))
        builds = tuple(build for name in made for build in made[name])
        _keep_inputs(builds)
        _keep_out(experiment.out, builds)
    return Plan(experiment, builds, tuple(reports))


def _order(experiment: Experiment) -> list[str]:
    """Return the steps' names, each after those it needs, else in the order of the file."""
    done: list[str] = []
    begun: list[str] = []

    def visit(name: str) -> None:
        if name in done:
            return
        if name in begun:
            circle = " -> ".join([*begun[begun.index(name) :], name])
            raise UsageError(f"steps need each other in a circle: {circle}")
        begun.append(name)
        entry = experiment.steps[name]
        for text in (*entry.inputs, *file_names(entry)):
            other = owner(experiment, text)
            if other is not None:
                visit(other)
        done.append(begun.pop())

    for name in experiment.steps:
        visit(name)
    return done


def _report(experiment: Experiment, entry: ReportEntry, made: dict[str, list[Build]], place: int) -> Report:
    """Return a report entry, the ``place``-th, with its inputs and files found and its options checked."""
    inputs = [each for text in entry.inputs for each in find(experiment, made, text).items]
    for each in inputs:
        kinds_fit(entry.step, each)
    options, files = dict(entry.options), list[Build]()
    for f in fields(entry.step.params):
        if f.name in options and (f.opt.file or f.name in _READ) and options[f.name] is not None:
            value = options[f.name]
            texts = value if isinstance(value, (list, tuple)) else [value]
            found = [each for text in texts for each in find(experiment, made, text, f.flag).items]
            files += [each for each in found if isinstance(each, Build)]
            paths = [path_of(each) for each in found]
            options[f.name] = paths if f.repeatable or len(paths) != 1 else paths[0]
    seed = experiment.seed if entry.seed is None else entry.seed
    if entry.step.name in ("eval", "plot"):
        seed = options.setdefault("seed", seed)
    if entry.step.name == "plot":
        options["out"] = os.path.join(experiment.out, f"plot-{place}.svg")
    params = make(entry.step.params, options)
    if entry.step.name == "neighbors" and not (entry.queries or params.words_from or params.centroid):
        raise UsageError("no query: give 'queries:', 'words-from:' or 'centroid: true'")
    return Report(
        entry.title, entry.step, params, int(seed), tuple(inputs), entry.queries, tuple(files), entry.expect,
        entry.tolerance,
    )  # fmt: skip


def _keep_inputs(builds: Sequence[Build]) -> None:
    """Raise UsageError if an artifact would replace a file that the experiment reads."""
    outs = {os.path.realpath(build.out): build.of for build in builds}
    for build in builds:
        read = [each for each in build.inputs if isinstance(each, str)]
        read += [path for path in build.named if path not in {file.out for file in build.files}]
        for path in read:
            if os.path.realpath(path) in outs:
                of = outs[os.path.realpath(path)]
                raise UsageError(f"step {build.of}: {show(path)} is what step {of} writes; name the step as the input")


def _keep_out(out: str, builds: Sequence[Build]) -> None:
    """Raise UsageError if artifacts would lie in a folder that is read as text: they would be text the next time."""
    real = os.path.realpath(out)
    for build in builds:
        for path in build.inputs if build.step.reads == ("text",) else ():
            if isinstance(path, str) and os.path.isdir(path):
                folder = os.path.realpath(path)
                if os.path.commonpath([real, folder]) == folder:
                    where = f"the folder {show(path)} is read as text, and out, {show(out)}, is in it"
                    raise UsageError(f"step {build.of}: {where}; give another 'out:', or name the files")
