"""The command line of ``neighbors --all``: finds usage errors, writes the artifact, says one line about it."""

from __future__ import annotations

from dataclasses import replace

from embcli.cli.console import Console, cores, keep_inputs, refuse_terminal
from embcli.errors import UsageError
from embcli.job import Job
from embcli.spec import STEPS, NeighborsParams


def write_graph(paths: list[str], queries: list[str], params: NeighborsParams, console: Console) -> None:
    """Write the neighbors of every row of an artifact to ``params.out``, like any step that writes."""
    out = params.out or "-"
    if queries:
        raise UsageError(f"--all: takes no queries, and there is {queries[0]!r}; leave out either")
    if len(paths) > 1:
        raise UsageError(f"--all: reads one artifact, found {len(paths)}; run it for each")
    if out == "-" and console.json:
        raise UsageError("-o -: stdout carries the artifact; leave out --json, or write to a file")
    keep_inputs(paths, out)
    refuse_terminal(out)
    from embcli.artifacts import store
    from embcli.cli.steps import say_outcome
    from embcli.pipeline.execute import execute
    from embcli.pipeline.reports import check_weight

    store.check_target(out)
    if paths[0] != "-":  # stdin can be read only once
        check_weight([store.peek(paths[0])["meta"]["kind"]], params)
    step = replace(STEPS["neighbors"], run="embcli.query.graph:graph")
    job = Job(threads=params.threads or cores(), progress=console.progress, note=console.say, warn=console.warn)
    say_outcome(step, execute(step, paths, params, job, out), out, console)
