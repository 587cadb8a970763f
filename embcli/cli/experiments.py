"""The command ``run``: an experiment in YAML, built step by step, its plan as shell commands, its report as tables."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from embcli.cli.clusters import together
from embcli.cli.console import Console, cores, limit_blas
from embcli.cli.experiment_report import StepTalk, Tally, print_report, tally_table
from embcli.cli.prints import show
from embcli.errors import EmbcliError, UsageError
from embcli.spec import RunParams, Word2vecParams


def experiment(inputs: list[str], params: RunParams, console: Console) -> None:
    """Build what an experiment says and is not up to date, and print its report; or only show the plan.

    Of an experiment that runs others each one is done, whatever became of those before, and the first failure raised.
    """
    limit_blas(1)
    from embcli.pipeline.suite import make_plans

    plans = make_plans(inputs[0], params.set)
    several = len(plans) > 1
    if several and params.only:
        raise UsageError(f"--only: names steps of one experiment, and {inputs[0]} runs several; give the one")
    plans, tallies = [plan.only(params.only) for plan in plans], []
    with _places(params, console) as place:
        for number, plan in enumerate(plans):
            if several and not console.json:
                mark = f"# {plan.experiment.path}" if params.dry_run else f"=== {plan.experiment.path} ==="
                console.data("\n" * (number > 0) + f"{mark}\n" + "\n" * (not params.dry_run))
            tallies.append(_one(plan, params, console, several, place))
    if several and not params.dry_run:
        console.data("\n" * (not console.json))
        show(tally_table(tallies), console)
    failures = [type(e)(f"{tally.path}: {e}") if several else e for tally in tallies for e in tally.failures]
    if failures:
        raise type(failures[0])("; ".join(map(str, failures)))


@contextmanager
def _places(params: RunParams, console: Console) -> Iterator[Any]:
    """Yield where steps run: see ``runner.Place``."""
    from embcli.pipeline.runner import here

    if params.cluster is None or params.dry_run:
        yield here
        return
    with together(params.cluster, console.say) as place:
        yield place


def _shared(plan: Any, params: RunParams) -> None:
    """Raise UsageError if a trainer that is to run on a cluster has no shares, before anything is built."""
    from embcli.pipeline.runner import check, survey

    check(plan)
    for build, fresh in survey(plan, params.force).items():
        if not fresh and isinstance(build.params, Word2vecParams) and not build.params.shared:
            raise UsageError(
                f"step {build.label}: --cluster trains shares of the text side by side; give 'shares:', which decides "
                "the result"
            )


def _one(plan: Any, params: RunParams, console: Console, several: bool, place: Any) -> Tally:
    """Run one experiment, or show its plan; return how its report did."""
    if params.dry_run:
        _dry_run(plan, params, console)
        return Tally(plan.experiment.path)
    from embcli.pipeline.runner import run

    wanted = sys.stderr.isatty() if params.progress is None else params.progress
    meters = wanted and not console.quiet and params.jobs == 1
    threads = params.threads or max(cores() // params.jobs, 1)
    before = f"{plan.experiment.name}: " if several else ""
    try:
        if params.cluster is not None:
            _shared(plan, params)
        run(
            plan, lambda label: StepTalk(console, f"{before}{label}", meters),
            force=params.force, jobs=params.jobs, threads=threads, place=place,
        )  # fmt: skip
    except EmbcliError as e:
        if not several:
            raise
        return Tally(plan.experiment.path, failures=[e])
    return print_report(plan, params, console, before)


def _dry_run(plan: Any, params: RunParams, console: Console) -> None:
    """Print the shell commands of a plan; what is up to date is a comment."""
    from embcli.pipeline.commands import build_command, folder_command, report_command
    from embcli.pipeline.runner import check, survey

    check(plan)
    fresh = survey(plan, params.force)
    lines = [(build.name, build_command(build, params.threads, params.cluster), fresh[build]) for build in plan.builds]
    lines += [("", report_command(report, params.threads), False) for report in plan.reports]
    if console.json:
        for name, command, done in lines:
            console.data_json({"artifact": name or None, "command": command, "up_to_date": done})
        return
    if not all(fresh.values()):
        console.data(folder_command(plan.experiment.out) + "\n")
    for _, command, done in lines:
        console.data(f"# up to date: {command}\n" if done else f"{command}\n")
