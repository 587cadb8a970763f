"""From the YAML of an experiment to what it says, checked: steps, reports, other experiments to run. No plan yet.

Steps are checked in entries.py, reports in report_entries.py.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from embcli.artifacts.identify import show
from embcli.errors import UsageError
from embcli.pipeline.entries import STEP_NAME, StepEntry, seed_of, step_entry, texts
from embcli.pipeline.report_entries import ReportEntry, report_entry
from embcli.pipeline.yamlfile import ShellText, read, unknown, within

_TOP = ("name", "out", "seed", "vars", "runs", "steps", "report")


@dataclass(frozen=True)
class Experiment:
    """A checked experiment file.

    ``out`` is the folder of its artifacts, ``runs`` are the files of experiments that are run before it, both as the
    caller may name them.
    """

    path: str
    name: str
    out: str
    seed: int
    runs: tuple[str, ...]
    steps: Mapping[str, StepEntry]
    reports: tuple[ReportEntry, ...]

    def place(self, text: str) -> str:
        """Return a path of the YAML so that it is valid in the caller's working directory."""
        return _place(self.path, text)


def load(path: str, settings: Sequence[str] = ()) -> Experiment:
    """Return the experiment of a YAML file; ``settings`` are NAME=VALUE texts for its ``vars``.

    Raises UsageError that names the file and the step, option or line at fault, InputError if it cannot be read.
    """
    found = read(path, settings)
    with within(show(path)):
        return _experiment(path, found)


def _experiment(path: str, found: Mapping[Any, Any]) -> Experiment:
    for key in found:
        if key not in _TOP and not str(key).startswith("x-"):
            raise UsageError(unknown("key", key, _TOP))
    name = found.get("name", os.path.splitext(os.path.basename(path))[0])
    if not isinstance(name, str) or not STEP_NAME.fullmatch(name):
        raise UsageError(f"name: expected letters, digits and . _ + -, found {name!r}")
    out = found.get("out", f"build/{name}")
    if not isinstance(out, str) or not out:
        raise UsageError(f"out: expected a folder, found {out!r}")
    steps, reports, runs = found.get("steps", {}), found.get("report") or [], found.get("runs")
    if not isinstance(steps, dict) or not (steps or ("steps" not in found and (reports or runs))):
        raise UsageError("steps: expected a mapping of names and steps, such as 'tokens: {use: encode, inputs: c.txt}'")
    if not isinstance(reports, list):
        raise UsageError("report: expected a list of entries, each with '- use: neighbors', eval, info or plot")
    return Experiment(
        path, name, _place(path, out), seed_of(found.get("seed", 0)),
        () if runs is None else tuple(_place(path, text) for text in texts("runs", runs)),
        {key: step_entry(key, value) for key, value in steps.items()},
        tuple(report_entry(i, value) for i, value in enumerate(reports, 1)),
    )  # fmt: skip


def _place(yaml: str, text: str) -> str:
    """Return a path relative to the YAML's folder as the caller names it, without '..' where that is the same."""
    if text.startswith("~/"):
        return os.path.expanduser(text)
    joined = text if isinstance(text, ShellText) else os.path.join(os.path.dirname(yaml), text)
    short = os.path.normpath(joined)
    # 'link/..' is not the folder of the link
    return short if os.path.realpath(short) == os.path.realpath(joined) else joined
