"""The options of ``attend`` that print or draw: texts looked at, texts continued, tables written by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from embcli.cli.console import Console
from embcli.cli.prints import show, show_answer
from embcli.errors import InputError, NumbersError
from embcli.job import Job


def printer(params: Any, out: str | None) -> Callable[..., None] | None:
    """Return what prints for these options, None if nothing is printed.

    Contextual states that go to a pipe are not shown too, unless an option asks for more than states.
    """
    if params.given_ is not None:
        return print_given
    if params.sample and params.applies:
        return print_samples
    asked = params.candidates or params.word or params.html or params.svg or params.tsv
    if not params.shows or (out == "-" and not asked):
        return None
    return partial(print_texts, written=any(path is not None for path in (out, params.html, params.svg, params.tsv)))


def print_texts(outcome: Any, params: Any, console: Console, written: bool) -> None:
    """Print what was found about texts, and write the pages and pictures; ``written`` says that a file has it all."""
    from embcli.models.texts import spelled
    from embcli.report import attention as report

    context, (given,) = outcome.artifact, outcome.given
    labels = spelled(given, context.ids)
    masked = given.kind == "model" and (given.options or given.meta["options"])["objective"] == "masked"
    glossary = report.Glossary(labels, given.words, masked, given.kind == "model")
    _write_files(context, labels, params, console)
    pieces: list[Any] = list(report.text_pieces(context, glossary, params.top, console.json))
    for word in params.word:
        pieces += _word(context, given, labels, word, params)
    if params.candidates:
        pieces += _candidates(context, given, params)
    _print(pieces, console)
    for remark in report.remarks(context, glossary, written, bool(params.candidates)):
        console.say(remark)


def _print(pieces: Iterable[Any], console: Console) -> None:
    """Print tables with an empty line between; as JSON every line says which table it is of."""
    from embcli.pipeline.reports import labelled

    for i, piece in enumerate(pieces):
        if i and not console.json:
            console.data("\n")
        show(labelled(piece.table, table=piece.kind, **piece.labels) if console.json else piece.table, console)


def _word(context: Any, given: Any, labels: list[str], word: str, params: Any) -> list[Any]:
    from embcli.query.contexts import moved, occurrences
    from embcli.report.attention import word_pieces

    places = occurrences(context, labels, word)
    if not places:
        raise InputError(f"--word {word}: is not among the tokens of the texts")
    table = given.token_rows if given.kind == "model" else given.vectors
    found = moved(context, labels, places, table, given.words, params.top)
    return list(word_pieces(context, word, places, found))


def _candidates(context: Any, given: Any, params: Any) -> list[Any]:
    from embcli.models.continuing import ranked
    from embcli.models.readers import reader
    from embcli.report.attention import candidate_pieces

    words = list(dict.fromkeys(word.strip() for word in params.candidates.split(",") if word.strip()))
    use, pieces = reader(given, params), list[Any]()
    for text in range(context.texts):
        ids = context.ids[context.text_offsets[text] : context.text_offsets[text + 1]]
        pieces += candidate_pieces(text + 1, context.texts, ranked(use, ids, words, params))
    return pieces


def _write_files(context: Any, labels: list[str], params: Any, console: Console) -> None:
    """Write the page, the picture and the table of weights that are asked for."""
    from embcli.artifacts import store

    for path, pieces in (
        (params.html, _html(context, labels)), (params.svg, _svg(context, labels)), (params.tsv, _tsv(context, labels)),
    ):  # fmt: skip
        if path is None:
            continue
        with store.open_target(path) as file:
            for piece in pieces:
                file.write(piece.encode("utf-8", "backslashreplace"))
        console.say(f"{path}: weights of {context.texts:,} text{'' if context.texts == 1 else 's'}")


def _html(context: Any, labels: list[str]) -> Iterable[str]:
    from embcli.report.heads_html import heads_html

    return heads_html(context, labels)


def _svg(context: Any, labels: list[str]) -> Iterable[str]:
    from embcli.report.heads_svg import heads_svg

    return heads_svg(context, labels)


def _tsv(context: Any, labels: list[str]) -> Iterable[str]:
    from embcli.report.attention import weight_rows
    from embcli.report.tables import render

    for i, table in enumerate(weight_rows(context, labels)):
        text = render(table, "tsv")
        yield text if i == 0 else text.split("\n", 1)[1]


def print_samples(inputs: list[str], params: Any, job: Job, console: Console) -> None:
    """Print texts with what a model continues them by, a line each."""
    from embcli.artifacts import store
    from embcli.models.continuing import continued

    model: Any = store.read(inputs[0], ("model",), command="attend")
    for text, more in continued(model, params, job):
        if console.json:
            console.data_json({"text": text, "more": more})
        else:
            console.data(f"{text}{more}".replace("\n", "\\n") + "\n")


def print_given(inputs: list[str], params: Any, job: Job, console: Console) -> None:
    """Print what follows from tables written by hand, and fail if it is not what the file expects."""
    from embcli.pipeline.printing import by_hand
    from embcli.report.expected import mismatch

    shown = by_hand(params.given_)
    show_answer(shown, console)
    if wrong := mismatch(shown.expected):
        raise NumbersError(f"{params.given_}: {wrong}")
