"""What the printing options of steps answer: encode --text and --count, --explain, attend --given. Prints nothing.

The commands and the report of an experiment both come here, so that they answer the same. Commands that do nothing but
print have theirs in reports.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from embcli.artifacts import store
from embcli.artifacts.schema import readable
from embcli.job import Job
from embcli.pipeline.shown import Shown
from embcli.report.tables import Column, Table
from embcli.spec import FastTextParams, Step


def printed(step: Step, paths: Sequence[str], params: Any, job: Job) -> Shown:
    """Return what a step answers that prints instead of building."""
    if step.name == "encode":
        return pieces(params) if params.text is not None else counted(paths, params, job)
    if step.name == "bpe-train":
        return merges(paths, params, job)
    return by_hand(params.given_) if step.name == "attend" else predictions(paths[0], params, job)


def pieces(params: Any) -> Shown:
    """Return how one string is cut: a row a piece, with its bytes and, where they are known, its id."""
    table = _token_table(params) if params.tokenizer else _word_table(params)
    return Shown(lambda form: [table])


def _word_table(params: Any) -> Table:
    """Return the words of one string; with --vocab their ids."""
    from embcli.text.words import cut, cut_rule, join_known

    rule, words = cut_rule(params)
    found = cut(params.text, rule)
    if words and rule.phrases:
        lines = params.text.split("\n")
        found = [piece for line in lines for piece in join_known(cut(line, rule), words, rule.phrases)]
    columns = [Column("piece"), Column("bytes")]
    rows: list[list[Any]] = [[piece, piece.encode().hex(" ")] for piece in found]
    if words:
        from embcli.query.lookup import find

        ids = find(words, set(found))
        columns.append(Column("id", "right"))
        rows = [[*row, ids.get(piece)] for piece, row in zip(found, rows, strict=True)]
    return Table("", columns, rows)


def _token_table(params: Any) -> Table:
    """Return the tokens of one string: which piece each belongs to, its id, and the bytes that it spells."""
    from embcli.text.bpe_encode import encode_text, read_tokenizer

    view = read_tokenizer(params.tokenizer)
    columns = [Column("piece", "right"), Column("id", "right"), Column("token"), Column("bytes")]
    rows: list[list[Any]] = []
    text = params.text.encode("utf-8", "surrogateescape")
    for i, (_, ids) in enumerate(encode_text(text, view, params.specials, params.errors), 1):
        rows += [[i, at, view.readable(at), view.tokens.bytes_at(at).hex(" ")] for at in ids]
    return Table("", columns, rows)


def counted(paths: Sequence[str], params: Any, job: Job) -> Shown:
    """Return how many tokens and types texts have, without ids being written."""
    from embcli.text.words import count_only

    stats = count_only(list(paths), params, job)
    names = ("tokens", "types_used", "bytes_read", "bytes_per_token", "rows", "specials_found")
    if not params.tokenizer:
        names = ("tokens_read", "types_read", "highest_count", "tokens_kept", "types_kept", "rows")
    rows = [[name.replace("_", " "), stats[name]] for name in names]
    if joined := stats.get("phrases"):
        rows += [["phrases", joined["phrases"]], ["phrases joined", joined["joins"]]]
    return Shown(lambda form: [Table("", [Column(""), Column("", "right")], rows)], record=lambda: [stats])


def merges(paths: Sequence[str], params: Any, job: Job) -> Shown:
    """Return the first merges of the slow readable version, each with the pairs that came closest."""
    from embcli.text.bpe_train import explain

    columns = [Column("step", "right"), Column("left"), Column("right"), Column("token"), Column("id", "right")]
    columns += [Column("count", "right"), Column("next best pairs")]
    rows: list[list[Any]] = []
    for i, (step, tokens) in enumerate(explain(list(paths), params, job), 1):
        a, b = (readable(tokens[at]) for at in step.pair)
        others = sorted((pair for pair in step.counts if pair != step.pair), key=lambda p: (-step.counts[p], p))[:3]
        near = ", ".join(f"{_edged(tokens[x])}+{_edged(tokens[y])} {step.counts[x, y]:,}" for x, y in others)
        rows.append([i, a, b, readable(tokens[step.id]), step.id, step.count, near or None])
    return Shown(lambda form: [Table("", columns, rows)])


def _edged(token: bytes) -> str:
    """Return a token in readable form, in quotes if white space stands at an end of it."""
    shown = readable(token)
    return shown if shown == shown.strip() else f"'{shown}'"


def predictions(path: str, params: Any, job: Job) -> Shown:
    """Return the first predictions of training, number by number; they are made anew each time they are asked for."""
    from embcli.models import fasttext, word2vec
    from embcli.report.training import prediction_record, prediction_table

    explain: Any = fasttext.explain if isinstance(params, FastTextParams) else word2vec.explain
    given, tree = [store.read(path, ("tokens",), command=params.command)], params.loss == "hierarchical"

    def each(make: Any) -> Iterator[Any]:
        tokens, made = explain(given, params, job)
        return (make(number, one, tokens.words, tree) for number, one in enumerate(made, 1))

    return Shown(lambda form: each(prediction_table), record=lambda: each(prediction_record))


def by_hand(path: str) -> Shown:
    """Return what follows from tables written by hand, and whether it is what the file expects."""
    from embcli.pipeline.given import work_out
    from embcli.report.expected import Compared
    from embcli.report.given import compared, given_json, given_tables

    sheet = work_out(path)
    expected = tuple(
        Compared({name: due.tolist()}, {name: found.tolist()}, same) for name, found, due, same in compared(sheet)
    )
    return Shown(lambda form: given_tables(sheet), record=lambda: [given_json(sheet)], expected=expected)
