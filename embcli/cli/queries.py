"""The commands that print: neighbors, info and decode. They find files and streams; the answers come from query."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Any

from embcli.cli.console import Console, cores, keep_inputs, limit_blas
from embcli.cli.prints import rendered, show
from embcli.errors import UsageError
from embcli.job import Job
from embcli.report.tables import Column, Table
from embcli.spec import InfoParams, NeighborsParams, as_utf8


def neighbors(inputs: list[str], params: NeighborsParams, console: Console) -> None:
    """Print the nearest neighbors of each query, or the results of analogies."""
    paths, queries = split_queries(inputs)
    limit_blas(1)  # before anything loads numpy
    if params.all:
        from embcli.cli.graph import write_graph

        write_graph(paths, queries, params, console)
        return
    if paths.count("-") + (params.words_from == "-") > 1:
        raise UsageError("- (stdin) can be given only once")
    if params.words_from:
        from embcli.pipeline.reports import lines_of

        queries += lines_of(params.words_from)
    job = Job(threads=params.threads or cores(), note=console.say, warn=console.warn)
    if not queries and not params.centroid and not params.words_from:
        from embcli.cli.prompt import prompt, wanted

        if wanted(paths):
            prompt(paths, params, job, short_names(paths), console)
            return
    if not queries and not params.centroid:
        raise UsageError("no query: give a word or an expression such as 'king - man + woman', or --words-from FILE")
    from embcli.pipeline.reports import neighbors_report

    shown = neighbors_report(paths, queries, params, job, short_names(paths))
    form = "jsonl" if console.json else params.format
    if form != "table":
        for note in shown.notes:
            console.say(note)
    for i, table in enumerate(shown.tables(form)):
        if i and form == "table":
            console.data("\n")
        show(table, console, form)
    for line in shown.lost:
        console.say(line)


def split_queries(inputs: list[str], what: str = "queries") -> tuple[list[str], list[str]]:
    """Return artifacts and queries: around --, else the first argument and the rest. ``what`` queries are called."""
    if "--" in inputs:
        at = inputs.index("--")
        paths, queries = inputs[:at], inputs[at + 1 :]
    else:
        paths, queries = inputs[:1], inputs[1:]
    if not paths:
        raise UsageError("missing argument 'ARTIFACT'")
    if "--" not in inputs:
        for query in queries:
            if query.endswith(".npz") and os.path.isfile(query):
                raise UsageError(f"{query} is a file: put -- between artifacts and {what}, options before it")
    return paths, [as_utf8(query) for query in queries]


def short_names(paths: list[str]) -> list[str]:
    """Return short names for artifacts: the file's name where that tells them apart, else the path."""
    short = [os.path.basename(path) for path in paths]
    return short if len(set(short)) == len(short) else paths


def info(inputs: list[str], params: InfoParams, console: Console) -> None:
    """Print what each artifact holds and how it was made, or its vocabulary, or counts of pairs."""
    from embcli.artifacts import store
    from embcli.pipeline.reports import pair_table
    from embcli.query import info as about

    if inputs.count("-") > 1:
        raise UsageError("- (stdin) can be given only once")
    if params.verify and "-" in inputs:
        raise UsageError("--verify: needs a file, not stdin")
    for i, path in enumerate(inputs):
        if i:
            console.data("\n")
        members = store.verify(path) if params.verify else None
        artifact = store.read(path, command="info")
        name = "stdin" if path == "-" else path
        if params.words:
            _vocabulary(about.vocabulary(artifact, name), console)
        elif params.ngrams:
            _ngrams(artifact, params, name, console)
        elif params.pair or params.top:
            show(pair_table(artifact, params, name), console)
        else:
            _description(path, artifact, members, params, console)
        if members:
            console.say(f"{path}: every byte was checked and is sound")


def _description(path: str, artifact: Any, members: Any, params: InfoParams, console: Console) -> None:
    """Print the tables of one artifact; with --verify every byte was checked first."""
    from embcli.pipeline.reports import description
    from embcli.report.description import description_tables

    found = description(path, artifact, members, params)
    if console.json:
        console.data_json({"file": path, "verified": params.verify, **found})
        return
    for j, table in enumerate(description_tables(found, path)):
        if j:
            console.data("\n")
        show(table, console)


def _ngrams(artifact: Any, params: InfoParams, name: str, console: Console) -> None:
    """Print how words are composed of n-grams: a table each, or with --json an object each."""
    from embcli.pipeline.reports import ngram_table
    from embcli.query.info import ngrams

    for i, word in enumerate(params.ngrams):
        if console.json:
            console.data_json(ngrams(artifact, word, name))
            continue
        if i:
            console.data("\n")
        show(ngram_table(artifact, word, name), console)


def _vocabulary(words: Iterable[tuple[str, int]], console: Console) -> None:
    """Print words and counts as TSV (or JSON lines), in pieces, since there may be millions."""
    from itertools import islice

    columns, pairs = [Column("word"), Column("count", "right")], iter(words)
    while rows := list(islice(pairs, 100_000)):
        text = rendered(Table("", columns, rows), console, "tsv")
        console.data(text if console.json else text.split("\n", 1)[1])


def decode(inputs: list[str], params: Any, console: Console) -> None:
    """Write the text of a tokens artifact."""
    from embcli.artifacts import store
    from embcli.text.words import decode as blocks

    keep_inputs(inputs, params.out)
    tokens: Any = store.read(inputs[0], ("tokens",), command="decode")
    with store.open_target(params.out) as out:
        for block in _json_rows(blocks(tokens)) if console.json else blocks(tokens):
            out.write(block)
    if params.out != "-":
        console.say(f"{params.out}: {len(tokens.ids):,} tokens, {console.seconds:.1f} s")


def _json_rows(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield rows of text as JSON lines."""
    import json

    row, rest = 1, b""
    for block in blocks:
        *lines, rest = (rest + block).split(b"\n")
        for line in lines:
            yield json.dumps({"row": row, "text": line.decode()}).encode() + b"\n"
            row += 1
    if rest:
        yield json.dumps({"row": row, "text": rest.decode()}).encode() + b"\n"
