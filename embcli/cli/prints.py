"""Options of steps that print instead of, or besides, writing an artifact: encode --text, --count, cooc --top."""

from __future__ import annotations

import os
import shutil
import sys
from typing import TYPE_CHECKING, Any

from embcli.cli.console import Console
from embcli.job import Job
from embcli.report.tables import Column, Table, render

if TYPE_CHECKING:
    from embcli.pipeline.shown import Shown


def rendered(table: Table, console: Console, form: str = "table") -> str:
    """Return a report table as text for stdout: JSON lines with --json, else as ``form`` says."""
    terminal = sys.stdout.isatty()
    width = shutil.get_terminal_size().columns
    encoding = sys.stdout.encoding or "utf-8"
    form = "jsonl" if console.json else form
    color = terminal and not os.environ.get("NO_COLOR")
    return render(table, form, terminal=terminal, width=width, color=color, encoding=encoding)


def show(table: Table, console: Console, form: str = "table") -> None:
    """Print a report table on stdout."""
    console.data(rendered(table, console, form))


def show_answer(shown: Shown, console: Console) -> None:
    """Print an answer: its tables with blank lines between them, or as JSON its objects, a line each."""
    if console.json and shown.record is not None:
        for record in shown.record():
            console.data_json(dict(record))
        return
    for i, table in enumerate(shown.tables("jsonl" if console.json else "table")):
        console.data("\n" if i and not console.json else "")
        show(table, console)


def encode_text(inputs: list[str], params: Any, job: Job, console: Console) -> None:
    """Print how one string is cut: a line a piece, with its bytes and, where --vocab is given, its id."""
    from embcli.pipeline.printing import pieces

    show_answer(pieces(params), console)


def train_explain(inputs: list[str], params: Any, job: Job, console: Console) -> None:
    """Print the first merges of the slow readable version, each with the pairs that came closest."""
    from embcli.pipeline.printing import merges

    show_answer(merges(inputs, params, job), console)


def training_explain(inputs: list[str], params: Any, job: Job, console: Console) -> None:
    """Print the first predictions of training, as tables or, with --json, an object a line."""
    from embcli.pipeline.printing import predictions

    show_answer(predictions(inputs[0], params, job), console)


def encode_count(inputs: list[str], params: Any, job: Job, console: Console) -> None:
    """Print how many tokens and types the text has, without writing ids."""
    from embcli.pipeline.printing import counted

    shown = counted(inputs, params, job)
    if console.json:
        show_answer(shown, console)
        return
    for table in shown.tables("tsv"):
        console.data("".join(f"{name}\t{n}\n" for name, n in table.rows))
    if params.phrases_top:
        (stats,) = shown.records()
        show(_phrases(dict(stats), params.phrases_top), console)


def encode_phrases(path: str, params: Any, console: Console) -> None:
    """Print the highest-scoring phrases of tokens that were just written."""
    from embcli.artifacts import store

    show(_phrases(store.read(path, ("tokens",)).meta["stats"], params.phrases_top), console)


def _phrases(stats: dict[str, Any], most: int) -> Table:
    """Return the table of the highest-scoring phrases of the last pass that joined any."""
    tops: list[list[Any]] = [one["top"] for one in stats["phrases"]["passes"] if one["top"]]
    columns = [Column("rank", "right"), Column("phrase"), Column("score", "right", digits=".1f")]
    columns += [Column("count", "right"), Column("joined", "right")]
    return Table("", columns, [[i, *row] for i, row in enumerate(tops[-1][:most] if tops else [], 1)])


def cooc_top(path: str, params: Any, console: Console) -> None:
    """Print the heaviest pairs of counts that were just written."""
    from embcli.artifacts import store
    from embcli.counts.pairs import heaviest

    counts: Any = store.read(path, ("counts",))
    columns = [Column("rank", "right"), Column("word"), Column("context"), Column("count", "right", digits=".10g")]
    rows = [[i, word, context, n] for i, (word, context, n) in enumerate(heaviest(counts, params.top), 1)]
    show(Table("", columns, rows), console)
