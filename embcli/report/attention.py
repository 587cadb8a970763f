"""Tables of what a model makes of texts: predictions, weights of heads, neighbors before and after context."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from embcli.artifacts.schema import Context, Words
from embcli.query.contexts import Moved, cosines
from embcli.report.tables import Column, Table

#: tokens of a text whose weights are shown as tables, heads shown, tokens listed, texts shown
SHORT, HEADS, LISTED, TEXTS = 12, 16, 64, 8
#: occurrences whose cosines are shown
_SQUARE = 12
_WEIGHTS = (
    "weights: where a head looked, from the row's token to the column's; rows sum to 1. They explain no prediction"
)
_STATES = "a token row is the same wherever its token stands; a contextual state is not"


@dataclass(frozen=True)
class Piece:
    """A table and what it is about: ``kind`` and further labels tell the lines of JSON apart."""

    kind: str
    labels: dict[str, Any]
    table: Table


@dataclass(frozen=True)
class Glossary:
    """What the tables need besides the context: the word of each token, the vocabulary, and whether it is masked."""

    labels: Sequence[str]
    words: Words
    masked: bool
    trained: bool


def text_pieces(context: Context, glossary: Glossary, top: int, json: bool) -> Iterator[Piece]:
    """Yield the tables of the first texts: tokens with predictions, and weights where they fit a page.

    For ``json`` predictions are lists, and a record has the log P of each text.
    """
    for text in range(min(context.texts, TEXTS)):
        if glossary.trained and glossary.masked:
            yield from _masks(context, glossary, text, top)
        elif context.log_prob is not None:
            yield _tokens(context, glossary, text, top, json)
            if json:
                yield _text(context, text)
        if context.texts == 1:
            yield from _weights(context, glossary, text)


def remarks(context: Context, glossary: Glossary, written: bool, ranked: bool) -> list[str]:
    """Return what the tables leave out; ``written`` says that a file has it, ``ranked`` that candidates were given."""
    found = []
    if glossary.masked and int(np.max(context.ids, initial=0)) < len(glossary.words):
        found.append(f"no [MASK] in the texts: nothing to {'rank' if ranked else 'predict'}")
    if glossary.trained and context.log_prob is None:
        found.append("--mask none: states see the tokens that they would predict, so there are no predictions")
    if context.texts > TEXTS:
        found.append(f"{context.texts:,} texts, tables of the first {TEXTS}; -o writes all")
    T = max(int(n) for n in np.diff(context.text_offsets[: TEXTS + 1]))
    layers, heads = context.text_at(0)[1].shape[:2]
    if layers and not written and (context.texts > 1 or T > SHORT or layers * heads > HEADS):
        found.append(
            f"weights are shown of a single text of up to {SHORT} tokens and {HEADS} heads; "
            "more go to --html, --svg, --tsv or -o"
        )
    return found


def _span(context: Context, text: int) -> tuple[int, int]:
    return int(context.text_offsets[text]), int(context.text_offsets[text + 1])


def _title(context: Context, text: int, what: str) -> str:
    return what if context.texts == 1 else f"text {text + 1}: {what}"


def _text(context: Context, text: int) -> Piece:
    """Return the log P of a text given its first token, as a record."""
    start, stop = _span(context, text)
    total, places = float(np.asarray(context.log_prob[start:stop]).sum()), stop - start - 1
    row = [stop - start, total if places > 0 else None, math.exp(min(-total / places, 700)) if places > 0 else None]
    columns = [Column("tokens"), Column("log P", key="log_prob"), Column("perplexity")]
    return Piece("text", {"text": text + 1}, Table("", columns, [row]))


def _tokens(context: Context, glossary: Glossary, text: int, top: int, json: bool) -> Piece:
    """Return the tokens of a text, log P of each, and what the model expects behind it."""
    start, stop = _span(context, text)
    rows: list[list[Any]] = []
    for at in range(start, min(stop, start + LISTED)):
        logs = None if at == start else float(context.log_prob[at])
        near = _expected(context, glossary, at, top)
        told: Any = [{"word": word, "probability": p} for word, p in near]
        if not json:
            told = ", ".join(f"{_quoted(word)} {p:.3f}" for word, p in near)
        rows.append([at - start + 1, glossary.labels[at], logs, told])
    total = float(np.asarray(context.log_prob[start:stop]).sum())
    notes = ["log P: of the token, given those before it, natural logarithm; next: what the model expects behind it"]
    if stop - start > 1:
        each = math.exp(min(-total / (stop - start - 1), 700))
        notes.insert(0, f"log P of the text given its first token: {total:.4f}, perplexity {each:,.4g}")
    if stop - start > LISTED:
        notes.append(f"the first {LISTED} of {stop - start:,} tokens")
    columns = [
        Column("", "right", key="position"),
        Column("token"),
        Column("log P", "right", key="log_prob", digits=".4f"),
    ]
    return Piece(
        "tokens", {"text": text + 1}, Table(_title(context, text, "tokens"), [*columns, Column("next")], rows, notes)
    )


def _expected(context: Context, glossary: Glossary, at: int, top: int) -> list[tuple[str, float]]:
    ids, shares = context.predicted[at, :top].tolist(), context.probabilities[at, :top].tolist()
    return [(glossary.words[i].strip() or glossary.words[i], p) for i, p in zip(ids, shares, strict=True)]


def _quoted(word: str) -> str:
    """Return a token as it stands in a list: between quotes if it could be taken for a part of the list."""
    return word if word.replace("'", "").replace("-", "").isalnum() else repr(word)


def _masks(context: Context, glossary: Glossary, text: int, top: int) -> Iterator[Piece]:
    """Yield the predictions of a masked model at each [MASK]."""
    start, stop = _span(context, text)
    places = [at for at in range(start, stop) if int(context.ids[at]) >= len(glossary.words)]
    for at in places:
        ids, shares = context.predicted[at, :top].tolist(), context.probabilities[at, :top].tolist()
        rows = [[r, glossary.words[i].strip(), p] for r, (i, p) in enumerate(zip(ids, shares, strict=True), 1)]
        columns = [Column("rank", "right"), Column("word"), Column("probability", "right", digits=".4f")]
        title = _title(context, text, f"[MASK] at {at - start + 1}")
        yield Piece("predictions", {"text": text + 1, "position": at - start + 1}, Table(title, columns, rows))


def _weights(context: Context, glossary: Glossary, text: int) -> Iterator[Piece]:
    """Yield the weights of each head of a short text."""
    start, stop = _span(context, text)
    weights = context.text_at(text)[1]
    layers, heads, T = weights.shape[:3]
    if not 0 < T <= SHORT or not 0 < layers * heads <= HEADS:
        return
    labels = glossary.labels[start:stop]
    for layer in range(layers):
        for head in range(heads):
            A = np.asarray(weights[layer, head], np.float64)
            columns = [Column("", "right", key="position"), Column("from")]
            columns += [Column(label, "right", key=f"{t}:{label}", digits=".2f") for t, label in enumerate(labels, 1)]
            rows = [[t, label, *row] for t, (label, row) in enumerate(zip(labels, A.tolist(), strict=True), 1)]
            what = f"weights of layer {layer + 1}, head {head + 1}" if glossary.trained else "weights, Q = K = V = H"
            last = layer == layers - 1 and head == heads - 1
            table = Table(_title(context, text, what), columns, rows, [_WEIGHTS] if last else [])
            yield Piece("weights", {"text": text + 1, "layer": layer + 1, "head": head + 1}, table)


def word_pieces(context: Context, word: str, places: Sequence[int], found: Sequence[Moved]) -> Iterator[Piece]:
    """Yield the neighbors of each occurrence of a word at every level, and the cosines between its occurrences."""
    for one in found:
        rows = [[near.level, _listed(near.rows), _listed(near.items)] for near in one.levels]
        columns = [
            Column("level"),
            Column("nearest token rows", key="rows"),
            Column("nearest in the texts", key="items"),
        ]
        table = Table(f"{one.name}: {one.around}", columns, rows, [f"cosines; {_STATES}"])
        yield Piece("neighbors", {"word": word, "name": one.name}, table)
    if 1 < len(places) <= _SQUARE:
        yield _square(context, word, places, found)


def _listed(near: Sequence[tuple[str, float]]) -> str:
    return ", ".join(f"{name.strip()} {score:.3f}" for name, score in near)


def _square(context: Context, word: str, places: Sequence[int], found: Sequence[Moved]) -> Piece:
    """Return the cosines between a word's contextual states."""
    names = [one.name for one in found]
    values = cosines(context.levels[-1], places).tolist()
    rows = [[name, *row, one.around] for name, row, one in zip(names, values, found, strict=True)]
    columns = [Column("occurrence"), *(Column(n.rpartition("@")[2], "right", key=n, digits=".3f") for n in names)]
    notes = ["as token rows all of them are one row: every cosine is 1"]
    table = Table(f"{word}: cosines of its final contextual states", [*columns, Column("text")], rows, notes)
    return Piece("occurrences", {"word": word}, table)


def candidate_pieces(text: int, texts: int, ranked: Any) -> Iterator[Piece]:
    """Yield the table of candidates at each place of a text; ``share`` is among the candidates."""
    for place, candidates in ranked:
        known = [each.log_prob for each in candidates if each.log_prob is not None]
        total = sum(math.exp(value - known[0]) for value in known) if known else 0.0
        rows = [
            [r, each.word, each.log_prob, math.exp(each.log_prob), math.exp(each.log_prob - known[0]) / total]
            if each.log_prob is not None
            else [None, each.word, None, None, None]
            for r, each in enumerate(candidates, 1)
        ]
        columns = [Column("rank", "right"), Column("candidate"), Column("log P", "right", key="log_prob", digits=".4f")]
        columns += [Column("probability", "right", digits=".3g"), Column("share", "right", digits=".3f")]
        lost = [each for each in candidates if each.log_prob is None]
        notes = ["share: of the probability of all candidates"]
        if lost:
            why = "no token, or several behind a [MASK]" if place.startswith("[") else "no token"
            notes.append(f"without a rank: {', '.join(each.word for each in lost)} ({why})")
        title = f"candidates, {place}" if texts == 1 else f"text {text}: candidates, {place}"
        yield Piece("candidates", {"text": text, "place": place}, Table(title, columns, rows, notes))


def weight_rows(context: Context, labels: Sequence[str]) -> Iterator[Table]:
    """Yield the weights of every text and head in full, a table for each layer of each text, for TSV."""
    names = ("text", "layer", "head", "from_position", "from", "to_position", "to", "weight")
    columns = [Column(name) for name in names]
    for text in range(context.texts):
        start, stop = _span(context, text)
        words, weights = labels[start:stop], context.text_at(text)[1]
        for layer in range(weights.shape[0]):
            rows = [
                (text + 1, layer + 1, head + 1, i + 1, words[i], j + 1, words[j], float(w))
                for head in range(weights.shape[1])
                for i, row in enumerate(weights[layer, head].tolist())
                for j, w in enumerate(row)
            ]
            yield Table("", columns, rows)
