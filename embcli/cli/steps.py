"""Run a step from the command line: threads, memory, notes, the summary line, and the options that only print."""

from __future__ import annotations

import os
import sys
import tempfile
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from embcli.cli.clusters import alone
from embcli.cli.console import Console, cores, keep_inputs, limit_blas, refuse_terminal
from embcli.errors import UsageError
from embcli.job import Job
from embcli.spec import Step, StepCommon


def run_step(
    step: Step, inputs: list[str], params: Any, common: StepCommon, console: Console, cluster: str | None = None
) -> None:
    """Run a step that writes an artifact, or one of its printing options, on this machine or on a cluster."""
    printing = _printer(step, params, common.out)
    if cluster is not None and _early(step, params):
        raise UsageError("--cluster: only prints here; leave one of the two out")
    _check(step, inputs, params, common, printing is not None, console)
    limit_blas(1)
    for path in (common.out, *(getattr(params, name, None) for name in ("html", "svg", "tsv"))):
        if path is not None:
            from embcli.artifacts import store

            store.check_target(path)
    job = Job(
        seed=common.seed,
        threads=common.threads or cores(),
        scratch=_scratch(common.out),
        progress=console.progress,
        note=console.say,
        warn=console.warn,
        epoch=console.epoch,
        seed_given="seed" in common.given,
    )
    if printing is not None and _early(step, params):
        with tempfile.TemporaryDirectory(prefix="embcli-") as folder:
            printing(inputs, _stdin_kept(params, folder), job, console)
        return
    with tempfile.TemporaryDirectory(prefix="embcli-") as folder:
        out = common.out if common.out is not None else str(Path(folder) / "out.npz")
        params = _stdin_kept(params, folder)
        from embcli.pipeline.execute import execute

        try:
            with ExitStack() as stack:
                how = {} if cluster is None else stack.enter_context(alone(cluster, step, job))
                outcome = execute(step, inputs, params, job, out, **how)
        finally:
            console.close()
        if common.out is not None:
            say_outcome(step, outcome, out, console)
        if printing is not None:
            printing(outcome if step.name == "attend" else out, params, console)


def _check(step: Step, inputs: list[str], params: Any, common: StepCommon, printing: bool, console: Console) -> None:
    """Find usage errors before any input is read."""
    if common.out is None and not printing:
        other = ""
        if step.name == "attend" and not params.applies:
            other = "; or give a model and --text TEXT to look at texts"
        raise UsageError(f"missing option -o FILE (- is stdout){other}")
    if step.name == "encode" and params.text is not None and inputs:
        raise UsageError("--text: shows one string; leave the files out")
    if common.out is not None and _early(step, params):
        which = "--sample and --given" if step.name == "attend" else "--text, --count and --explain"
        raise UsageError(f"-o: {which} only print; leave one of the two out")
    if common.out == "-" and (printing or console.json):
        raise UsageError("-o -: stdout carries the artifact; print to it by a run of its own, or write to a file")
    if inputs.count("-") + (getattr(params, "text_file", None) == "-") > 1:
        raise UsageError("- (stdin) can be given only once")
    given = getattr(params, "given_", None)
    if given is not None and inputs:
        raise UsageError(f"--given: works out {given} alone; leave {inputs[0]} out")
    if not inputs and given is None and (step.name != "encode" or params.text is None):
        raise UsageError(f"missing argument '{step.metavar}'")
    keep_inputs(inputs, common.out, params)
    for name in ("html", "svg", "tsv"):
        if path := getattr(params, name, None):
            if path == "-":
                raise UsageError(f"--{name} -: give a file; stdout is for tables")
            keep_inputs(inputs, path, params, option=f"--{name}")
            if common.out is not None and os.path.realpath(path) == os.path.realpath(common.out):
                raise UsageError(f"--{name} {path}: -o writes the artifact there; give it a name of its own")
    if checkpoint := getattr(params, "checkpoint", None):
        keep_inputs(inputs, checkpoint, option="--checkpoint")  # it may replace what is resumed
    refuse_terminal(common.out)


def _early(step: Step, params: Any) -> bool:
    """Return whether an option prints instead of making an artifact."""
    if step.name == "encode":
        return params.text is not None or params.count
    if step.name == "attend":
        return params.sample > 0 or params.given_ is not None
    return step.name in ("bpe-train", "word2vec", "fasttext") and params.explain > 0


def _stdin_kept(params: Any, folder: str) -> Any:
    """Return options whose texts come from stdin with a file that holds them, since a step may read files only."""
    if getattr(params, "text_file", None) != "-":
        return params
    path = Path(folder) / "stdin"
    path.write_bytes(sys.stdin.buffer.read())
    kept = replace(params, text_file=str(path))
    object.__setattr__(kept, "given", params.given)
    return kept


def _printer(step: Step, params: Any, out: str | None) -> Any:
    """Return the function behind an option that prints, or None."""
    from embcli.cli import prints

    if step.name == "attend":
        from embcli.cli import attending

        return attending.printer(params, out)

    if step.name == "encode" and params.text is not None:
        return prints.encode_text
    if step.name == "encode" and params.count:
        return prints.encode_count
    if step.name == "bpe-train" and params.explain:
        return prints.train_explain
    if step.name in ("word2vec", "fasttext") and params.explain:
        return prints.training_explain
    if step.name == "encode" and params.phrases_top:
        return prints.encode_phrases
    if step.name == "cooc" and params.top:
        return prints.cooc_top
    return None


def say_outcome(step: Step, outcome: Any, out: str, console: Console) -> None:
    """Print the one line of a finished step, or its JSON object."""
    from embcli.report.description import phrase
    from embcli.report.summary import sentence

    name = "stdout" if out == "-" else out
    console.say(f"{name}: {sentence(outcome.kind, outcome.meta)}, {console.seconds:.1f} s")
    console.detail(f"options: {phrase(outcome.meta['options'])}, seed {outcome.meta['seed']}")
    console.detail(f"figures: {phrase(outcome.meta['stats'])}")
    console.detail(f"digest: {outcome.digest}")
    if console.json:
        console.data_json(
            {
                "step": step.name,
                "out": out,
                "kind": outcome.kind,
                "digest": outcome.digest,
                "options": outcome.meta["options"],
                "stats": outcome.meta["stats"],
                "seconds": round(console.seconds, 3),
            }
            | ({"epochs": console.epochs.rows} if console.epochs else {})
        )


def _scratch(out: str | None) -> str | None:
    """Return the folder for temporary files: beside the output, where room for it must be anyway."""
    return str(Path(out).parent) if out not in (None, "-") else None  # type: ignore[arg-type]
