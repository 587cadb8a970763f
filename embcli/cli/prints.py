"""Options of steps that print instead of, or besides, writing an artifact: encode --text, --count, cooc --top."""

from __future__ import annotations

import os
import shutil
import sys
from typing import Any

from embcli.cli.console import Console
from embcli.job import Job
from embcli.report.tables import Column, Table, render


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


def encode_text(inputs: list[str], params: Any, job: Job, console: Console) -> None:
    """Print how one string is cut: a line a piece, with its bytes and, where --vocab is given, its id."""
    if params.tokenizer:
        _pieces(params, console)
        return
    from embcli.text.words import cut, cut_rule, join_known

    rule, words = cut_rule(params)
    pieces = cut(params.text, rule)
    if words and rule.phrases:
        lines = params.text.split("\n")
        pieces = [piece for line in lines for piece in join_known(cut(line, rule), words, rule.phrases)]
    columns = [Column("piece"), Column("bytes")]
    rows: list[list[Any]] = [[piece, piece.encode().hex(" ")] for piece in pieces]
    if words:
        from embcli.query.lookup import find

        ids = find(words, set(pieces))
        columns.append(Column("id", "right"))
        rows = [[*row, ids.get(piece)] for piece, row in zip(pieces, rows, strict=True)]
    show(Table("", columns, rows), console)


def _pieces(params: Any, console: Console) -> None:
    """Print the ids of one string: a line a token, with the bytes it spells and a mark where a piece begins."""
    from embcli.text.bpe_encode import encode_text as encoded
    from embcli.text.bpe_encode import read_tokenizer

    view = read_tokenizer(params.tokenizer)
    columns = [Column("piece", "right"), Column("id", "right"), Column("token"), Column("bytes")]
    rows: list[list[Any]] = []
    text = params.text.encode("utf-8", "surrogateescape")
    for i, (_, ids) in enumerate(encoded(text, view, params.specials, params.errors), 1):
        rows += [[i, at, view.readable(at), view.tokens.bytes_at(at).hex(" ")] for at in ids]
    show(Table("", columns, rows), console)


def train_explain(inputs: list[str], params: Any, job: Job, console: Console) -> None:
    """Print the first merges of the slow readable version, each with the pairs that came closest."""
    from embcli.artifacts.schema import readable
    from embcli.text.bpe_train import explain

    columns = [Column("step", "right"), Column("left"), Column("right"), Column("token"), Column("id", "right")]
    columns += [Column("count", "right"), Column("next best pairs")]
    rows: list[list[Any]] = []
    for i, (step, tokens) in enumerate(explain(inputs, params, job), 1):
        a, b = (readable(tokens[at]) for at in step.pair)
        others = sorted((pair for pair in step.counts if pair != step.pair), key=lambda p: (-step.counts[p], p))[:3]
        near = ", ".join(f"{_edged(tokens[x])}+{_edged(tokens[y])} {step.counts[x, y]:,}" for x, y in others)
        rows.append([i, a, b, readable(tokens[step.id]), step.id, step.count, near or None])
    show(Table("", columns, rows), console)


def _edged(token: bytes) -> str:
    """Return a token in readable form, in quotes if white space stands at an end of it."""
    from embcli.artifacts.schema import readable

    shown = readable(token)
    return shown if shown == shown.strip() else f"'{shown}'"


def encode_count(inputs: list[str], params: Any, job: Job, console: Console) -> None:
    """Print how many tokens and types the text has, without writing ids."""
    from embcli.text.words import count_only

    stats = count_only(inputs, params, job)
    if console.json:
        console.data_json(stats)
        return
    if params.tokenizer:
        for key in ("tokens", "types_used", "bytes_read", "bytes_per_token", "rows", "specials_found"):
            console.data(f"{key.replace('_', ' ')}\t{stats[key]}\n")
        return
    for key in ("tokens_read", "types_read", "highest_count", "tokens_kept", "types_kept", "rows"):
        console.data(f"{key.replace('_', ' ')}\t{stats[key]}\n")
    if joined := stats.get("phrases"):
        console.data(f"phrases\t{joined['phrases']}\nphrases joined\t{joined['joins']}\n")
    if params.phrases_top:
        show(_phrases(stats, params.phrases_top), console)


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
