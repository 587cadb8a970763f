"""The command eval: which artifacts and files, which form. Figures come from query, by way of pipeline/reports.py."""

from __future__ import annotations

from embcli.cli.console import Console, cores, limit_blas
from embcli.cli.prints import show
from embcli.cli.queries import short_names
from embcli.errors import UsageError
from embcli.job import Job
from embcli.spec import EvalParams


def evaluation(inputs: list[str], params: EvalParams, console: Console) -> None:
    """Print how artifacts do on word similarity and analogies, and what their geometry is like."""
    if [*inputs, *params.similarity, *params.analogies].count("-") > 1:
        raise UsageError("- (stdin) can be given only once")
    for option, files in (("--similarity", params.similarity), ("--analogies", params.analogies)):
        if twice := next((file for file in files if files.count(file) > 1), None):
            raise UsageError(f"{option} {twice}: is given twice")
    limit_blas(1)
    from embcli.pipeline.reports import eval_report

    job = Job(
        threads=params.threads or cores(), seed=params.seed, progress=console.progress, note=console.say,
        warn=console.warn,
    )  # fmt: skip
    report = eval_report(inputs, params, job, short_names(inputs))
    form = "jsonl" if console.json else params.format
    for i, table in enumerate(report.tables(form)):
        if i and form != "jsonl":
            console.data("\n")
        show(table, console, form)
