"""Experiments that run other experiments: the files that one names under ``runs:``, each with a plan of its own.

Every file is an experiment that can be run alone; together they share nothing but the variables that are set.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from embcli.artifacts.identify import show
from embcli.errors import UsageError
from embcli.pipeline.config import load
from embcli.pipeline.plan import Plan, make_plan
from embcli.pipeline.yamlfile import unknown, variable_names, within


def make_plans(path: str, settings: Sequence[str] = ()) -> list[Plan]:
    """Return the plans of an experiment and of those that it runs, these first, each file once.

    A setting goes to every file that has the variable.

    Raises
    ------
    UsageError : files run each other in a circle, two have the same folder, no file has a variable that is set; and
        what ``load`` and ``make_plan`` raise.
    """
    plans: dict[str, Plan] = {}
    known: dict[str, None] = {}
    _collect(path, settings, [], plans, known)
    for name in (setting.partition("=")[0] for setting in settings):
        if name not in known:
            raise UsageError(f"{show(path)}: --set: {unknown('variable', name, known)}")
    _own_folders(list(plans.values()))
    return [plan for plan in plans.values() if plan.builds or plan.reports]


def _collect(
    path: str, settings: Sequence[str], above: list[str], plans: dict[str, Plan], known: dict[str, None]
) -> None:
    """Add the plans of a file, after those of the files that it runs; ``above`` are the files that run it."""
    real = os.path.realpath(path)
    if real in above:
        circle = " -> ".join(show(each) for each in (*above[above.index(real) :], real))
        raise UsageError(f"runs: experiments run each other in a circle: {circle}")
    if real in plans:
        return
    names = variable_names(path)
    known.update(dict.fromkeys(names))
    experiment = load(path, [text for text in settings if text.partition("=")[0] in names or "=" not in text])
    with within(show(path)):
        for other in experiment.runs:
            _collect(other, settings, [*above, real], plans, known)
    plans[real] = make_plan(experiment)


def _own_folders(plans: Sequence[Plan]) -> None:
    """Raise UsageError if two experiments would write to one folder."""
    owners: dict[str, Plan] = {}
    for plan in plans:
        first = owners.setdefault(os.path.realpath(plan.experiment.out), plan)
        if first is not plan:
            files = f"{show(first.experiment.path)} and {show(plan.experiment.path)}"
            raise UsageError(f"{files} write to one folder, {show(plan.experiment.out)}; give one another 'out:'")
