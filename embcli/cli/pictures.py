"""The command plot: which artifacts, words and files. What is drawn comes by way of pipeline/pictures.py."""

from __future__ import annotations

import os

from embcli.cli.console import Console, cores, keep_inputs, limit_blas, refuse_terminal
from embcli.cli.queries import short_names, split_queries
from embcli.errors import UsageError
from embcli.job import Job, human_bytes
from embcli.spec import PlotParams
from embcli.spec.pictures import WORDLESS


def plot(inputs: list[str], params: PlotParams, console: Console) -> None:
    """Write a picture, a page, or both."""
    paths, queries = split(inputs, params)
    if paths.count("-") + (params.words_from == "-") > 1:
        raise UsageError("- (stdin) can be given only once")
    files = [name for name in (params.out, params.html) if name is not None]
    if len(files) > 1 and "-" in files and console.json:
        raise UsageError("-o -: stdout carries the picture; leave out --json, or write to a file")
    for name, option in zip((params.out, params.html), ("-o", "--html"), strict=True):
        keep_inputs([*paths, *([params.words_from] if params.words_from else [])], name, option=option)
        refuse_terminal(name)
    limit_blas(1)  # before anything loads numpy
    from embcli.artifacts import store
    from embcli.pipeline import pictures

    for name in files:
        store.check_target(name)
    if params.words_from:
        from embcli.pipeline.reports import lines_of

        queries += lines_of(params.words_from)
    pictures.check(paths, queries, params)
    job = Job(threads=params.threads or cores(), seed=params.seed, progress=console.progress, note=console.say,
              warn=console.warn)  # fmt: skip
    names = short_names(paths)
    made = {}
    if params.picture:
        made[params.out] = pictures.picture(paths, queries, params, job, names)
    if params.page:
        made |= dict.fromkeys(
            [name for name in files if name not in made], pictures.page(paths, queries, params, job, names)
        )
    for note in dict.fromkeys(note for one in made.values() for note in one.notes):
        console.say(note)
    for name, one in made.items():
        with store.open_target(str(name)) as out:
            out.write(one.data)
        console.say(f"{'stdout' if name == '-' else name}: {one.form}, {human_bytes(len(one.data))}, "
                    f"{console.seconds:.1f} s")  # fmt: skip
        if console.json:
            console.data_json({"out": name, "show": params.show, "format": one.form, "bytes": len(one.data)})


def split(inputs: list[str], params: PlotParams) -> tuple[list[str], list[str]]:
    """Return artifacts and words: around --, else the first argument and the rest; all, if all are artifacts."""
    if "--" not in inputs:
        artifacts = all(each.endswith(".npz") and os.path.isfile(each) for each in inputs[1:])
        if artifacts or params.show in WORDLESS:
            return inputs, []
    return split_queries(inputs, "words")
