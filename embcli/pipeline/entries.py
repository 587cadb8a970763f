"""The steps of an experiment file, and what they have in common with the entries of its report: options, inputs.

Keys are the long options of the same step of ``spec``, so that YAML and command line cannot drift apart. Entries of the
report stand in report_entries.py, the file around both in config.py.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from embcli.errors import UsageError
from embcli.pipeline.yamlfile import unknown, within
from embcli.spec import STEPS, Common, Field, Step, StepCommon, fields

#: commands that may stand in a report because printing is all they do
REPORTS = ("neighbors", "eval", "info", "plot")
#: commands that print instead of building if one of these options is given: then they may stand in a report too
PRINTING = {
    "encode": ("text", "count"), "bpe-train": ("explain",), "word2vec": ("explain",), "fasttext": ("explain",),
    "attend": ("given_",),
}  # fmt: skip
STEP_NAME = re.compile(r"\w[\w.+-]*")
#: options that a whole run has, not one of its steps
_OF_THE_RUN = {
    "out": "artifacts go to OUT/STEP.npz; 'out' stands at the top of the file",
    "threads": "results do not depend on it; give it to the command: embcli run FILE --threads N",
    "progress": "give it to the command: embcli run FILE --progress",
    "json": "give it to the command: embcli run FILE --json",
    "quiet": "give it to the command: embcli run FILE -q",
    "verbose": "give it to the command: embcli run FILE -v",
    "html": "OUT/report.html has maps to explore; of heads there is 'embcli attend MODEL --text TEXT --html FILE'",
    "theme": "OUT/report.html has pictures in light and dark",
    "format": "a run prints tables, or JSON lines: embcli run FILE --json",
}
#: options that print instead of building, or build instead of printing; of PRINTING some may stand in reports
_MISPLACED = {
    "bpe-train": ("explain",), "encode": ("text", "count"), "cooc": ("top",), "word2vec": ("explain",),
    "fasttext": ("explain",), "attend": ("given_", "sample", "candidates", "word", "html", "svg", "tsv"),
    "neighbors": ("all",), "info": ("words",),
}  # fmt: skip
#: options by which a run on the command line stops and goes on
_BY_HAND = ("stop_after", "resume", "checkpoint")
_BOOLEANS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}


@dataclass(frozen=True)
class StepEntry:
    """A step as the YAML declares it: options by field name, unconverted but checked to be plain; ``grid`` converted.

    ``seed`` None means the experiment's.
    """

    name: str
    step: Step
    inputs: tuple[str, ...]
    options: Mapping[str, Any]
    seed: int | None
    grid: Mapping[str, tuple[Any, ...]]


def step_entry(name: Any, given: Any) -> StepEntry:
    """Return a step. Raises UsageError that names it, and the option at fault."""
    with within(f"step {name}"):
        return _checked_step(name, given)


def _checked_step(name: Any, given: Any) -> StepEntry:
    if not isinstance(name, str):
        raise UsageError(f"expected text as a step's name, found {name!r}; put it in quotes")
    if not STEP_NAME.fullmatch(name):
        raise UsageError("a step's name holds letters, digits and . _ + - only, since its file is named so")
    builders = [s.name for s in STEPS.values() if s.writes]
    step, options = entry_of(given, builders, "a step builds an artifact; tables stand under 'report:'")
    given_inputs, grid, seed = (options.pop(key, None) for key in ("inputs", "grid", "seed"))
    known = {f.name: f for f in (*fields(step.params), _SEED)}
    checked = options_of(step, options, (*known, "use", "inputs", "grid"))
    inputs = texts("inputs", given_inputs)
    return StepEntry(name, step, inputs, checked, None if seed is None else seed_of(seed), _grid(grid, known, checked))


_SEED = next(f for f in fields(StepCommon) if f.name == "seed")


def seed_of(value: Any) -> int:
    """Return a value as a seed."""
    return int(_SEED.convert(value))


def entry_of(given: Any, allowed: Sequence[str], why: str) -> tuple[Step, dict[str, Any]]:
    """Return the step that an entry uses, and its other keys, as field names."""
    if not isinstance(given, dict):
        raise UsageError(f"expected a mapping such as {{use: {allowed[0]}, inputs: ...}}, found {given!r:.60}")
    options: dict[str, Any] = {}
    for key, value in given.items():
        name = str(key).replace("-", "_")
        if name in options:
            raise UsageError(f"{key}: is there twice, once with - and once with _")
        options[name] = value
    use = options.pop("use", None)
    if use is None:
        raise UsageError(f"missing key 'use': one of {', '.join(allowed)}")
    if use not in allowed:
        known = isinstance(use, str) and use in STEPS
        raise UsageError(
            f"use: {use}: {why} ({', '.join(allowed)})" if known else f"use: {unknown('step', use, allowed)}"
        )
    declared = {f.name for f in fields(STEPS[use].params)}
    return STEPS[use], {f"{n}_" if f"{n}_" in declared else n: value for n, value in options.items()}


def texts(key: str, value: Any) -> tuple[str, ...]:
    """Return one text or a list of texts as a tuple."""
    values = value if isinstance(value, list) else [] if value is None else [value]
    if not values:
        raise UsageError(f"{key}: expected text or a list of texts, found nothing")
    for each in values:
        if not isinstance(each, str):
            hint = "YAML reads no, yes, on and off as false and true; " if isinstance(each, bool) else ""
            raise UsageError(f"{key}: expected text, found {each!r:.60}; {hint}put it in quotes")
        if not each.strip():
            raise UsageError(f"{key}: expected text, found an empty one")
    return tuple(values)


def options_of(
    step: Step, options: Mapping[str, Any], known: Sequence[str], printing: Sequence[str] = ()
) -> dict[str, Any]:
    """Return the options of an entry, each known, allowed here and of a plain shape; ``printing`` ones are wanted."""
    declared = {f.name: f for f in fields(step.params)}
    for name in options:
        if name in _OF_THE_RUN and (name not in declared or step.name in REPORTS):
            raise UsageError(f"{name}: {_OF_THE_RUN[name]}")
        if name in _MISPLACED.get(step.name, ()) and name not in printing:
            how = "builds; it does not belong into a report" if step.name == "neighbors" else "only prints"
            there = "it belongs under 'report:'" if name in PRINTING.get(step.name, ()) else "leave it out"
            raise UsageError(f"{name.rstrip('_')}: this option of {step.name} {how}; {there}")
        if name in declared and name in _BY_HAND:
            raise UsageError(f"{name}: a step builds its whole artifact; give it on the command line")
        if name not in declared and name not in {f.name for f in fields(Common)}:
            near = [n.replace("_", "-") for n in known if n not in _OF_THE_RUN]
            raise UsageError(unknown("option", name.replace("_", "-"), near))
    return {name: _plain(declared[name], value) for name, value in options.items()}


def _plain(field: Field, value: Any) -> Any:
    """Return a value that is a scalar, or a list of scalars where that may be; text of a boolean as one."""
    values = value if isinstance(value, list) else [value]
    if isinstance(value, dict) or any(isinstance(v, (list, dict)) for v in values):
        raise UsageError(f"{field.flag}: expected one value, found a {type(value).__name__}")
    if isinstance(value, list) and not field.repeatable:
        raise UsageError(f"{field.flag}: expected one value, found a list; several values are tried by 'grid:'")
    if field.kind is bool and isinstance(value, str):
        return _BOOLEANS.get(value.lower(), value)
    return value


def _grid(grid: Any, known: Mapping[str, Field], options: Mapping[str, Any]) -> dict[str, tuple[Any, ...]]:
    """Return the axes of a grid with their values converted."""
    if grid is None:
        return {}
    if not isinstance(grid, dict) or not grid:
        raise UsageError("grid: expected a mapping of options and lists, such as {dim: [50, 100]}")
    axes: dict[str, tuple[Any, ...]] = {}
    for key, values in grid.items():
        name = str(key).replace("-", "_")
        if name not in known or name in (*_OF_THE_RUN, *_BY_HAND):
            raise UsageError(f"grid: {unknown('option', str(key), [n.replace('_', '-') for n in known])}")
        if name in options or name in axes:
            raise UsageError(f"grid: {key}: is given twice; leave one out")
        if not isinstance(values, list) or not values:
            raise UsageError(f"grid: {key}: expected a list of values, found {values!r:.60}")
        axes[name] = tuple(known[name].convert(_plain(known[name], v)) for v in values)
        if len(set(axes[name])) < len(axes[name]):
            raise UsageError(f"grid: {key}: the same value is there twice")
    return axes
