"""From paths and options to tables: what ``neighbors``, ``eval`` and ``info`` answer. Prints nothing.

The commands and the report of an experiment both come here, so that they answer the same.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from embcli.artifacts import store
from embcli.errors import InputError, UsageError
from embcli.job import Job
from embcli.pipeline.shown import Shown
from embcli.report.tables import Column, Table

if TYPE_CHECKING:  # the commands that print need no plan
    from embcli.pipeline.plan import Report

#: the kinds whose rows are searched and measured
SEARCHED = ("vectors", "counts", "model", "context")


def neighbors_report(
    paths: Sequence[str], queries: Sequence[str], params: Any, job: Job, names: Sequence[str]
) -> Shown:
    """Return the neighbors of queries in artifacts.

    Raises InputError if no artifact knows any of the queries, and what ``store.read`` and ``search`` raise.
    """
    artifacts = [store.read(path, SEARCHED, command="neighbors") for path in paths]
    check_weight([artifact.kind for artifact in artifacts], params)
    return answered(artifacts, queries, params, job, names)


def answered(artifacts: Sequence[Any], queries: Sequence[str], params: Any, job: Job, names: Sequence[str]) -> Shown:
    """Return the neighbors of queries in opened artifacts; see ``neighbors_report``."""
    from embcli.query.neighbors import exit_code, search
    from embcli.report.answers import answer_tables, unanswered

    answers = search(artifacts, queries, params, job, names)
    lost = unanswered(answers, names)
    if exit_code(answers):
        raise InputError("; ".join(lost))
    notes = tuple(dict.fromkeys(note for answer in answers for note in answer.notes))
    return Shown(lambda form: answer_tables(answers, names, form, params.metric), tuple(lost), notes)


def check_weight(kinds: Sequence[str], params: Any) -> None:
    """Raise UsageError if a weight of counts is given and there are none."""
    if params.weight is not None and "counts" not in kinds:
        raise UsageError(f"--weight {params.weight}: weighs counts, and there are none; leave it out")


def eval_report(paths: Sequence[str], params: Any, job: Job, names: Sequence[str]) -> Shown:
    """Return how artifacts do on similarity and analogy files, and what their geometry is like."""
    artifacts = [store.read(path, SEARCHED, command="eval") for path in paths]
    parts: list[Callable[[str], Sequence[Table]]] = []
    if params.similarity or params.analogies:
        from embcli.query.evaluate import evaluate
        from embcli.report.evaluation import evaluation_tables

        evaluation = evaluate(artifacts, params, job, names)
        parts.append(lambda form: evaluation_tables(evaluation, params, form))
    if params.geometry or params.clusters:
        from embcli.query.geometry import geometry
        from embcli.report.geometry import geometry_tables

        found = geometry(artifacts, params, job, names)
        parts.append(lambda form: geometry_tables(found, params, form))
    return Shown(lambda form: [table for part in parts for table in part(form)])


def info_report(paths: Sequence[str], params: Any, names: Sequence[str]) -> Shown:
    """Return what artifacts hold and how they were made, or counts of pairs."""
    from embcli.report.description import description_tables

    tables, records = list[Table](), list[Mapping[str, Any]]()
    for path, name in zip(paths, names, strict=True):
        members = store.verify(path) if params.verify else None
        artifact = store.read(path, command="info")
        if params.ngrams:
            tables += [ngram_table(artifact, word, name) for word in params.ngrams]
        elif params.pair or params.top:
            tables.append(pair_table(artifact, params, name, name if len(paths) > 1 else ""))
        else:
            found = description(path, artifact, members, params)
            tables += description_tables(found, name)
            records.append({"artifact": name, "verified": params.verify, **found})
    return Shown(lambda form: tables, record=(lambda: records) if records else None)


def description(path: str, artifact: Any, members: Any, params: Any) -> dict[str, Any]:
    """Return what ``info`` says about an artifact; ``members`` are what ``store.verify`` returned, if it was called."""
    from embcli.query.info import describe, facts_of

    facts = facts_of(artifact) if path == "-" else store.peek(path)
    if members:
        facts["members"] = members
    return describe(facts, artifact, params)


def pair_table(artifact: Any, params: Any, name: str, title: str = "") -> Table:
    """Return the counts of the pairs asked for, then the heaviest ones."""
    from embcli.query.info import heaviest_pairs, pair_count, pair_weights

    pairs = [pair_count(artifact, pair, name) for pair in params.pair]
    columns = [Column("word"), Column("context"), Column("count", "right", digits=".10g")]
    if params.weight:
        columns.append(Column(params.weight, "right", key="weight"))
    rows: list[list[Any]] = [list(row) for row in pairs]
    for row, weight in zip(rows, pair_weights(artifact, pairs, params), strict=False):
        row.append(weight)
    if params.top:
        rows += [[*row, *([None] if params.weight else [])] for row in heaviest_pairs(artifact, params.top, name)]
    return Table(title, columns, rows)


def ngram_table(artifact: Any, word: str, name: str) -> Table:
    """Return the rows that a word is the mean of: itself, if it is in the vocabulary, and its n-grams."""
    from embcli.query.info import ngrams

    found = ngrams(artifact, word, name)
    columns = [Column("fragment"), *(Column(key, "right") for key in ("hash", "bucket", "row", "norm"))]
    rows = [list(part.values()) for part in found["parts"]]
    zeros = sum(part["row"] is None for part in found["parts"])
    what = "the word's own row and those of its n-grams" if found["known"] else "the rows of its n-grams: it is unseen"
    notes = [f"the mean of {found['terms']:,} rows, {what}" + (f"; {zeros:,} of them are zeros" if zeros else "")]
    return Table(word, columns, rows, notes)


def lines_of(path: str) -> list[str]:
    """Return the non-empty lines of a UTF-8 file of queries; - is stdin. Raises InputError if it cannot be read."""
    try:
        if path == "-":
            raw = sys.stdin.buffer.read()
        else:
            with open(path, "rb") as f:
                raw = f.read()
        text = raw.decode("utf-8-sig")
    except OSError as e:
        raise InputError(f"{path}: cannot be read: {e.strerror}") from None
    except UnicodeDecodeError as e:
        raise InputError(f"{path}: byte {e.start + 1} is not UTF-8; a file of queries is UTF-8 text") from None
    return [line.strip() for line in text.split("\n") if line.strip()]


def answer(report: Report, job: Job) -> Shown:
    """Return what one entry of an experiment's report answers, beside what it is expected to say."""
    shown = _answer(report, job)
    if not report.expect:
        return shown
    from embcli.report.expected import compare, comparison

    compared = compare(list(shown.records()), report.expect, report.tolerance)
    return replace(
        shown,
        tables=lambda form: [*shown.tables(form), comparison(compared)],
        record=shown.records,
        expected=(*shown.expected, *compared),
    )


def _answer(report: Report, job: Job) -> Shown:
    if report.step.name == "neighbors":
        return neighbors_report(report.paths, _queries(report), report.params, job, report.names)
    if report.step.name == "eval":
        return eval_report(report.paths, report.params, job, report.names)
    if report.step.name == "plot":
        return _plotted(report, job)
    if report.step.name == "info":
        return info_report(report.paths, report.params, report.names)
    from embcli.pipeline.printing import printed

    return printed(report.step, report.paths, report.params, job)


def _plotted(report: Report, job: Job) -> Shown:
    """Return the picture of an entry in light and dark."""
    from embcli.pipeline.pictures import picture

    queries = _queries(report)
    made = []
    for theme in ("light", "dark"):
        params = replace(report.params, theme=theme)
        object.__setattr__(params, "given", report.params.given)
        made.append(picture(report.paths, queries, params, job, report.names))
    return Shown(lambda form: [], made[0].notes, pictures=(made[0].data, made[1].data))


def _queries(report: Report) -> list[str]:
    return [*report.queries, *(lines_of(report.params.words_from) if report.params.words_from else ())]


def labelled(table: Table, /, **labels: Any) -> Table:
    """Return a table with further columns before its own, the same in every row: for JSON lines of several reports."""
    columns = [*(Column(name) for name in labels), *table.columns]
    return Table(table.title, columns, [[*labels.values(), *row] for row in table.rows], table.notes)
