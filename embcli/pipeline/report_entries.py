"""The entries of an experiment's report: which command prints, with which options, and what it is expected to say."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from embcli.errors import UsageError
from embcli.pipeline.entries import PRINTING, REPORTS, entry_of, options_of, seed_of, texts
from embcli.pipeline.yamlfile import within
from embcli.spec import Step, fields

#: printing options that take the place of inputs
_WITHOUT_INPUTS = ("text", "given_")
#: commands that take queries
_ASKED = ("neighbors", "plot")
#: how far numbers may lie from expected ones, if the report does not say
TOLERANCE = 1e-6


@dataclass(frozen=True)
class ReportEntry:
    """A report as the YAML declares it.

    ``expect`` are records that it must hold, each a mapping of places and values (see report/expected.py).
    """

    title: str
    step: Step
    inputs: tuple[str, ...]
    queries: tuple[str, ...]
    options: Mapping[str, Any]
    seed: int | None
    expect: tuple[Mapping[str, Any], ...]
    tolerance: float


def report_entry(place: int, given: Any) -> ReportEntry:
    """Return the entry of a report. Raises UsageError that names its place, counted from 1, and the option at fault."""
    with within(f"report {place}"):
        return _checked_report(given)


def _checked_report(given: Any) -> ReportEntry:
    allowed = (*REPORTS, *PRINTING)
    step, options = entry_of(given, allowed, "a report is one of them; what builds an artifact stands under 'steps:'")
    printing = PRINTING.get(step.name, ())
    if printing and not any(options.get(name) for name in printing):
        flags = " or ".join(name.rstrip("_") for name in printing)
        raise UsageError(f"use: {step.name}: builds an artifact, and stands under 'steps:'; with {flags} it prints")
    own = ["inputs", "title", "expect", "tolerance", *(["queries"] if step.name in _ASKED else [])]
    own += ["seed"] if printing else []
    if "expect" in options and options["expect"] is None:
        raise UsageError("expect: expected places and values, found nothing")
    taken = {key: options.pop(key, None) for key in ("inputs", "title", "queries", "expect", "tolerance")}
    seed = options.pop("seed", None) if printing else None
    if taken["queries"] is not None and step.name not in _ASKED:
        raise UsageError(f"queries: belong to {' and '.join(_ASKED)}, not to {step.name}")
    checked = options_of(step, options, (*(f.name for f in fields(step.params)), "use", *own), printing)
    if step.name == "plot" and taken["expect"] is not None:
        raise UsageError("expect: a plot has no records; expect something of neighbors, eval or info")
    title, alone = taken["title"], any(options.get(name) for name in printing if name in _WITHOUT_INPUTS)
    if not isinstance(title, str | None):
        raise UsageError(f"title: expected text, found {title!r}; put it in quotes")
    if alone and taken["inputs"] is not None:
        raise UsageError(f"inputs: {step.name} needs none here; leave them out")
    return ReportEntry(
        title or "", step, () if alone else texts("inputs", taken["inputs"]),
        () if taken["queries"] is None else texts("queries", taken["queries"]), checked,
        None if seed is None else seed_of(seed), _expected(taken["expect"]), _tolerance(taken["tolerance"]),
    )  # fmt: skip


def _expected(value: Any) -> tuple[Mapping[str, Any], ...]:
    """Return the records that a report must hold: one mapping of places and values, or a list of such."""
    records = value if isinstance(value, list) else [] if value is None else [value]
    if value is not None and not records:
        raise UsageError("expect: expected places and values, found an empty list")
    for record in records:
        if not isinstance(record, dict) or not record:
            raise UsageError(
                f"expect: expected places and values, such as {{word: queen, rank: 1}}, found {record!r:.60}"
            )
        for place, due in record.items():
            if not isinstance(place, str):
                raise UsageError(f"expect: expected text as a place, found {place!r}; put it in quotes")
            if isinstance(due, dict):
                raise UsageError(f"expect: {place}: expected a value or a list, found a mapping; write {place}.KEY")
    return tuple(records)


def _tolerance(value: Any) -> float:
    """Return how far a number may lie from the one that is expected."""
    if value is None:
        return TOLERANCE
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = -1.0
    if isinstance(value, bool) or not 0 <= number < math.inf:
        raise UsageError(f"tolerance: expected a number from 0, found {value!r}")
    return number
