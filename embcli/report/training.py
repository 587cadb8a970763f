"""Epochs of training as a line or a table, and single predictions as tables. Nothing is printed or timed here."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from embcli.artifacts.schema import Words
from embcli.job import human_count, human_time
from embcli.report.tables import Column, Table

#: outputs of a prediction that are shown, the right one and the most probable; numbers of a row
_OUTPUTS, _NUMBERS = 12, 8


def epoch_line(row: Mapping[str, Any]) -> str:
    """Return a finished epoch as one line. ``row`` is a record of ``cli.epochs.Epochs``."""
    unit, measure = _names(row)
    speed = f"{human_count(row[f'{unit}_per_second'])} {unit}/s"
    parts = [_loss(measure, row[measure], row), f"rate {row['lr']:.4g}", speed]
    if "heldout" in row:
        parts.insert(1, _loss("held out", row["heldout"], row))
    parts += [f"{name} {_figure(value)}" for name, value in row["eval"].items()]
    parts += [f"{human_time(row['seconds'])} so far", f"{human_time(row['left'] or 0)} left"]
    label = row.get("label") or f"epoch {row['epoch']} of {row['epochs']}"
    return f"{label}: {', '.join(parts)}"


def _loss(name: str, loss: float, row: Mapping[str, Any]) -> str:
    """Return a loss, and the perplexity that it means where that is asked for."""
    return f"{name} {loss:.{_digits(row)}f}" + (f" (perplexity {_perplexity(loss)})" if row.get("perplexity") else "")


def _perplexity(loss: float) -> str:
    return f"{math.exp(loss):,.4g}" if loss <= 700 else "over 1e304"


def epoch_table(rows: Sequence[Mapping[str, Any]]) -> Table:
    """Return epochs as a table, with a column for each file of --eval; the last one may still be running.

    A perplexity is that of held-out text where there is any. Narrow enough for a terminal of 80 columns.
    """
    files = list(dict.fromkeys(name for row in rows for name in row["eval"]))
    held = any("heldout" in row for row in rows)
    first = rows[0] if rows else {}
    unit, measure = _names(first)
    names = ["step"] if "label" in first else ["epoch", "done"]
    names += [f"{unit}/s", "rate", measure]
    names += [*(["held out"] if held else []), *(["perplexity"] if first.get("perplexity") else [])]
    names += [*files, "elapsed", "left"]
    return Table("", [Column(name, "right") for name in names], [_cells(row, files, held) for row in rows])


def _names(row: Mapping[str, Any]) -> tuple[str, str]:
    """Return what is counted and what is measured: words and loss, if the trainer does not say otherwise."""
    return row.get("unit", "words"), row.get("measure", "loss")


def _digits(row: Mapping[str, Any]) -> int:
    """Return the decimals of the measure: costs, means over many light cells, are small."""
    return 4 if row.get("measure", "loss") == "loss" else 5


def _cells(row: Mapping[str, Any], files: Sequence[str], held: bool) -> list[Any]:
    unit, measure = _names(row)
    loss, rate, speed, left = (row[key] for key in (measure, "lr", f"{unit}_per_second", "left"))
    place = str(row["label"]).removeprefix("step ") if "label" in row else f"{row['epoch']}/{row['epochs']}"
    cells: list[Any] = [place.replace(" of ", "/").replace(",", "")]
    cells += [] if "label" in row else [f"{100 * row['share']:.0f} %"]
    cells += [human_count(speed) if speed else None, f"{rate:.4g}" if rate is not None else None]
    losses = [loss, *([row.get("heldout")] if held else [])]
    cells += [f"{value:.{_digits(row)}f}" if value is not None else None for value in losses]
    if row.get("perplexity"):
        cells.append(_perplexity(losses[-1]) if losses[-1] is not None else None)
    cells += [_figure(row["eval"][name]) if name in row["eval"] else None for name in files]
    return [*cells, human_time(row["seconds"]), human_time(left) if left is not None else None]


def _figure(value: float | None) -> str:
    return "none" if value is None else f"{value:.4f}"


def prediction_table(number: int, made: Any, words: Words, tree: bool) -> Table:
    """Return one prediction (``models.word2vec_plain.Prediction``) as a table with its arithmetic as notes."""
    shown = list(range(len(made.outputs)))
    if not tree and len(shown) > _OUTPUTS:
        first = np.argsort(-made.probabilities, kind="stable")[: _OUTPUTS - 1]
        shown = sorted({*first.tolist(), *np.flatnonzero(made.labels).tolist()})
    columns = [Column("node" if tree else "word"), Column("score", "right"), Column("probability", "right")]
    columns += [Column("label", "right"), Column("error", "right"), Column("probability after", "right")]
    rows = []
    for i in shown:
        name = f"node {made.outputs[i]}" if tree else words[made.outputs[i]]
        p, label = float(made.probabilities[i]), float(made.labels[i])
        rows.append([name, float(made.scores[i]) + 0.0, p, int(label), p - label, float(made.probabilities_after[i])])
    notes = [f"... {len(made.outputs) - len(shown):,} more"] if len(shown) < len(made.outputs) else []
    notes.append(f"loss {made.loss:.6f}, after the step {made.loss_after:.6f}")
    notes.append(f"gradient {numbers(made.gradient)}, rate {made.rate:.6g}")
    inputs = _inputs(made, words)
    for name, before, after in zip(inputs, made.rows, made.rows_after, strict=True):
        notes.append(f"row of {name}: {numbers(before)} becomes {numbers(after)}")
    return Table(f"{number}. {', '.join(inputs)} -> {words[made.target]}", columns, rows, notes)


def prediction_record(number: int, made: Any, words: Words, tree: bool) -> dict[str, Any]:
    """Return one prediction as plain data that is ready for JSON, with all its numbers."""
    outputs = list(made.outputs) if tree else [words[i] for i in made.outputs]
    record = {"number": number, "inputs": _inputs(made, words), "target": words[made.target]}
    record |= {"nodes" if tree else "outputs": outputs, "loss": made.loss, "loss_after": made.loss_after}
    record["rate"] = made.rate
    names = ("labels", "scores", "probabilities", "probabilities_after", "gradient", "rows", "rows_after")
    return record | {name: (getattr(made, name) + 0.0).tolist() for name in names}


def _inputs(made: Any, words: Words) -> list[str]:
    """Return what to call the input rows: words, and rows of n-grams by their place in ``ngram_rows``."""
    return [words[i] if i < len(words) else f"n-gram row {i - len(words)}" for i in made.inputs]


def numbers(values: Iterable[float]) -> str:
    """Return the first numbers of a vector: (0.5, 0)."""
    listed = [f"{float(f'{value:.6g}') + 0.0:.6g}" for value in values]
    return f"({', '.join(listed[:_NUMBERS])}{', ...' if len(listed) > _NUMBERS else ''})"
