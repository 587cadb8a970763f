"""How the steps of an experiment become artifacts: inputs found, grids unrolled, names given. Opens no file."""

from __future__ import annotations

import hashlib
import itertools
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from embcli.artifacts.identify import show
from embcli.errors import InputError, KindError, UsageError
from embcli.pipeline.config import Experiment
from embcli.pipeline.entries import StepEntry
from embcli.pipeline.yamlfile import unknown, within
from embcli.spec import Step, fields, make

#: artifacts that one step may make
_MOST = 10_000
#: bytes that an artifact's name may have; file systems allow 255, and temporary names are longer
_LONGEST = 160
#: an axis of a grid: the step it stands in, and the option
Axis = tuple[str, str]


@dataclass(frozen=True, eq=False)
class Build:
    """One artifact to make: of a step, or of a cell of its grid.

    ``name`` is its file's without .npz, ``label`` what tables call it, ``of`` the step in the YAML; ``files`` are
    artifacts that options name (their paths stand in ``params``); ``axes`` are the values of grids, inherited ones
    included, as they are shown.
    """

    name: str
    label: str
    of: str
    step: Step
    params: Any
    seed: int
    inputs: tuple[Build | str, ...]
    files: tuple[Build, ...]
    out: str
    axes: Mapping[Axis, str]

    @property
    def kind(self) -> str:
        """The kind of the artifact."""
        return self.params.makes() or self.step.writes or ""

    @property
    def needs(self) -> tuple[Build, ...]:
        """The artifacts that must be there before."""
        return (*(each for each in self.inputs if isinstance(each, Build)), *self.files)

    @property
    def paths(self) -> list[str]:
        """The paths of the inputs."""
        return [path_of(each) for each in self.inputs]

    @property
    def named(self) -> list[str]:
        """The paths of files that options name."""
        values = [getattr(self.params, f.name) for f in fields(type(self.params)) if f.opt.file]
        return [v for value in values for v in (value if isinstance(value, tuple) else [value]) if v is not None]


def path_of(source: Build | str) -> str:
    """Return the path of an input."""
    return source if isinstance(source, str) else source.out


#: axes, and the artifacts or files taken from each of several sources
Way = tuple[Mapping[Axis, str], tuple[tuple["Build | str", ...], ...]]


@dataclass(frozen=True)
class Source:
    """What a text of the YAML names: a file, a step's artifacts (``each`` in turn), or chosen cells (all together)."""

    items: tuple[Build | str, ...]
    each: bool = False


def owner(experiment: Experiment, text: str) -> str | None:
    """Return the step that a text names, itself (tokens) or cells of its grid (sweep-cds=1-*), None if it does not."""
    if text in experiment.steps:
        return text
    for name in sorted(experiment.steps, key=len, reverse=True):
        if text.startswith(f"{name}-") and re.search(r"[=*?]", text[len(name) :]):
            return name
    return None


def file_names(entry: StepEntry) -> Iterator[str]:
    """Yield every text that stands where an option of a step names a file."""
    for f in fields(entry.step.params):
        if f.opt.file:
            for value in (*entry.grid.get(f.name, ()), entry.options.get(f.name)):
                yield from (v for v in (value if isinstance(value, (list, tuple)) else [value]) if isinstance(v, str))


def find(experiment: Experiment, made: Mapping[str, Sequence[Build]], text: Any, what: str = "inputs") -> Source:
    """Return what a text names: a step comes first, then cells, then a path relative to the YAML's folder.

    ``made`` holds the artifacts of the steps before. Raises InputError if there is nothing of that name.
    """
    if not isinstance(text, str):
        raise UsageError(f"{what}: expected a step or a file, found {text!r}; put it in quotes")
    name = owner(experiment, text)
    if name == text:
        return Source(tuple(made[name]), each=True)
    if name is not None:
        cells = [build for build in made[name] if fnmatchcase(build.name, text)]
        if not cells:
            raise UsageError(f"{what}: {unknown('cell', text, [build.name for build in made[name]])}")
        return Source(tuple(cells))
    if text == "-":
        raise UsageError(f"{what}: - (stdin) cannot be read again; give a file")
    path = experiment.place(text)
    if not os.path.exists(path):
        raise InputError(f"{what}: {unknown('step or file', text, experiment.steps)} (looked for {show(path)})")
    return Source((path,))


def kinds_fit(step: Step, source: Build | str) -> None:
    """Raise KindError if a step does not read what another one writes."""
    if isinstance(source, Build) and source.kind not in step.reads:
        due = f"{', '.join(step.reads[:-1])} or {step.reads[-1]}" if len(step.reads) > 1 else step.reads[0]
        raise KindError(f"inputs: {step.name} reads {due}, and step {source.of} makes {source.kind}")


def enough(step: Step, kinds: Sequence[str], what: str = "inputs") -> None:
    """Raise UsageError if a step that adds up counts has only one input, and that is counted already."""
    if step.name == "cooc" and list(kinds) == ["counts"]:
        raise UsageError(f"{what}: counted already; give tokens to count, or at least two inputs to add up")


def builds_of(experiment: Experiment, name: str, made: Mapping[str, Sequence[Build]]) -> list[Build]:
    """Return the artifacts of a step: one, or one for each cell of its grid and of the grids of what it reads."""
    entry = experiment.steps[name]
    declared = {f.name: f for f in fields(entry.step.params)}
    builds = []
    for axes, inputs in _joined({}, [find(experiment, made, text) for text in entry.inputs]):
        for more, options in _grid_cells(entry):
            named = [(key, text) for key, f in declared.items() if f.opt.file for text in _as_list(options.get(key))]
            sources = [find(experiment, made, text, declared[key].flag) for key, text in named]
            for all_axes, groups in _joined({**axes, **more}, sources):
                files = [(key, each) for (key, _), group in zip(named, groups, strict=True) for each in group]
                flat = tuple(each for group in inputs for each in group)
                builds.append(_build(experiment, entry, flat, options, files, all_axes))
                if len(builds) > _MOST:
                    raise UsageError(f"its grids have more than {_MOST:,} cells")
    return builds


def _as_list(value: Any) -> Sequence[Any]:
    return value if isinstance(value, (list, tuple)) else () if value is None else (value,)


def _joined(start: Mapping[Axis, str], sources: Sequence[Source]) -> list[Way]:
    """Return every way to take one artifact from each gridded source that agrees on the axes which they share.

    Each way is its axes and, for each source, the artifacts or files taken from it.
    """
    ways: list[Way] = [(start, ())]
    for source in sources:
        takes = [(_axes(item), (item,)) for item in source.items] if source.each else [(_axes(""), source.items)]
        ways = [
            ({**axes, **more}, (*taken, items))
            for axes, taken in ways
            for more, items in takes
            if all(axes.get(axis, value) == value for axis, value in more.items())
        ]
    return ways


def _axes(item: Build | str) -> Mapping[Axis, str]:
    return {} if isinstance(item, str) else item.axes


def _grid_cells(entry: StepEntry) -> Iterator[tuple[dict[Axis, str], dict[str, Any]]]:
    """Yield the axes and the options of each cell of a step's own grid, in the order of the file."""
    shown = [_labels(values) for values in entry.grid.values()]
    for places in itertools.product(*(range(len(values)) for values in entry.grid.values())):
        axes = {(entry.name, key): shown[i][at] for i, (key, at) in enumerate(zip(entry.grid, places, strict=True))}
        cell = {key: entry.grid[key][at] for key, at in zip(entry.grid, places, strict=True)}
        yield axes, {**entry.options, **cell}


def _labels(values: Sequence[Any]) -> list[str]:
    """Return short, distinct names for the values of an axis that may stand in file names."""
    labels: list[str] = []
    for value in values:
        label = "+".join(_label(each) for each in value) if isinstance(value, tuple) else _label(value)
        label = re.sub(r"[^\w.+-]+", "_", label)[:32] or "none"
        labels.append(label if label not in labels else f"{label}.{len(labels) + 1}")
    return labels


def _label(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return format(value, ".10g")
    return os.path.basename(value).removesuffix(".npz") if isinstance(value, str) else str(value)


def _build(
    experiment: Experiment,
    entry: StepEntry,
    inputs: tuple[Build | str, ...],
    options: Mapping[str, Any],
    files: Sequence[tuple[str, Build | str]],
    axes: Mapping[Axis, str],
) -> Build:
    """Return one artifact, its options converted and checked."""
    parts = [f"{key}={value}" for key, value in _axis_names(axes)]
    if len(inputs) != 1 and not entry.step.many:
        raise UsageError(f"inputs: {entry.step.name} takes one, found {len(inputs)}")
    for each in inputs:
        kinds_fit(entry.step, each)
    enough(entry.step, [each.kind if isinstance(each, Build) else "" for each in inputs])
    values = dict(options)
    seed = values.pop("seed", experiment.seed if entry.seed is None else entry.seed)
    for key in dict.fromkeys(key for key, _ in files):
        paths = [path_of(each) for other, each in files if other == key]
        values[key] = paths if len(paths) > 1 else paths[0]
    with within(" ".join(parts)):
        params = make(entry.step.params, values)
    name = "-".join([entry.name, *parts])
    if len(name.encode()) > _LONGEST:
        name = f"{entry.name}-{hashlib.sha256(name.encode()).hexdigest()[:16]}"
    return Build(
        name, " ".join([entry.name, *parts]), entry.name, entry.step, params, seed, inputs,
        tuple(each for _, each in files if isinstance(each, Build)), os.path.join(experiment.out, f"{name}.npz"), axes,
    )  # fmt: skip


def _axis_names(axes: Mapping[Axis, str]) -> list[tuple[str, str]]:
    """Return the axes with their options' names, preceded by the step where two axes have the same option."""
    options = [option for _, option in axes]
    return [
        ((option if options.count(option) == 1 else f"{step}.{option}").replace("_", "-"), value)
        for (step, option), value in axes.items()
    ]
