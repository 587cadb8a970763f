"""The option --explain of word2vec and fasttext: the first predictions, number by number."""

from __future__ import annotations

from typing import Any

from embcli.cli.console import Console
from embcli.cli.prints import show
from embcli.job import Job
from embcli.spec import FastTextParams


def training_explain(inputs: list[str], params: Any, job: Job, console: Console) -> None:
    """Print the first predictions of training, as tables or, with --json, an object a line."""
    from embcli.artifacts import store
    from embcli.models import fasttext, word2vec
    from embcli.report.training import prediction_record, prediction_table

    explain: Any = fasttext.explain if isinstance(params, FastTextParams) else word2vec.explain
    tokens, predictions = explain([store.read(inputs[0], ("tokens",), command=params.command)], params, job)
    tree = params.loss == "hierarchical"
    for number, made in enumerate(predictions, 1):
        if console.json:
            console.data_json(prediction_record(number, made, tokens.words, tree))
            continue
        console.data("\n" if number > 1 else "")
        show(prediction_table(number, made, tokens.words, tree), console)
