"""Answers of a search as tables, and as lines of talk about what was not answered."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Any

from embcli.query.lookup import shortened
from embcli.query.neighbors import Answer, Neighbor
from embcli.report.display import shown
from embcli.report.tables import Column, Table

#: how many of the other list an analogy shows
_OTHERS = 3


def answer_tables(answers: Sequence[Answer], names: Sequence[str], form: str, metric: str = "cosine") -> list[Table]:
    """Return answers as tables: one a query with the artifacts side by side, or for tsv and jsonl one of all lines.

    Parameters
    ----------
    answers
        As ``search`` returns them.
    names
        What to call the artifacts.
    form
        ``table``, ``tsv`` or ``jsonl``.
    metric
        The metric of the search, for the heading of the scores.
    """
    if form != "table":
        return [_long(answers, names)]
    blocks = [answers[at : at + len(names)] for at in range(0, len(answers), len(names))]
    heading = "distance" if metric == "euclidean" else "score"
    return [_side_by_side(block, names, heading) for block in blocks if not all(answer.unknown for answer in block)]


def _long(answers: Sequence[Answer], names: Sequence[str]) -> Table:
    """Return all lines of all answers, one a row."""
    columns = [Column(name) for name in ("query", "artifact", "rank", "word", "score", "count")]
    rows = [
        (answer.query, names[answer.artifact], line.rank, line.word, line.score, line.count)
        for answer in answers
        for line in answer.results
    ]
    return Table("", columns, rows)


def _side_by_side(answers: Sequence[Answer], names: Sequence[str], heading: str) -> Table:
    """Return the answers to one query next to each other."""
    several = len(answers) > 1
    columns = [Column("rank", "right")]
    for answer in answers:
        group = names[answer.artifact] if several else ""
        score = Column(heading, "right", group, digits=_digits(answer))
        columns += [Column(answer.rows, group=group), score]
        if answer.rows == "word":  # documents have no frequency
            columns.append(Column("count", "right", group))
    lists = zip_longest(*(answer.results for answer in answers))
    rows = [
        [i, *(cell for answer, line in zip(answers, lines, strict=True) for cell in _cells(line, answer.rows))]
        for i, lines in enumerate(lists, 1)
    ]
    known = next(answer for answer in answers if not answer.unknown)
    notes = [
        f"{shown(names[answer.artifact])}: {note}" if several else note for answer in answers for note in _notes(answer)
    ]
    return Table(known.label, columns, rows, notes)


def _digits(answer: Answer) -> str:
    """Return the format of an answer's scores: four decimals, unless they are too large or small for that."""
    most = max((abs(line.score) for line in answer.results), default=0)
    return ".4f" if not most or 0.01 <= most < 1e5 else ".4g"


def _cells(line: Neighbor | None, rows: str) -> tuple[Any, ...]:
    cells = (line.word, line.score, line.count) if line else (None, None, None)
    return cells if rows == "word" else cells[:2]


def _notes(answer: Answer) -> Iterator[str]:
    """Yield what has to be said below an answer."""
    for unknown in answer.unknown:
        yield f"'{shown(unknown.word)}' is unknown"
    yield from answer.notes
    if not answer.results and not answer.unknown and not answer.notes:
        yield "nothing to list: no other row is left, or none scores enough"
    if not answer.rule:
        return
    inputs = ", ".join(dict.fromkeys(shown(term.word) for term in answer.terms))
    digits = _digits(answer)
    others = ", ".join(f"{shown(line.word)} {line.score:{digits}}" for line in answer.other[:_OTHERS]) or "nothing"
    first, second = ("with", "without") if answer.included else ("without", "with")
    yield f"{first} {inputs} ({answer.rule}); {second} them: {others}"


def unanswered(answers: Sequence[Answer], names: Sequence[str]) -> list[str]:
    """Return a line for each unknown word and artifact, with words that may have been meant."""
    lines = []
    for answer in answers:
        for unknown in answer.unknown:
            line = f"{names[answer.artifact]}: unknown word '{shown(shortened(unknown.word))}'"
            line += f", and {unknown.why}" if unknown.why else ""
            if unknown.suggestions:
                line += f"; did you mean {', '.join(shown(word) for word in unknown.suggestions)}?"
            elif unknown.word.startswith("--"):
                line += "; options come before --"
            elif any(sign in unknown.word for sign in "+-*"):
                line += "; an expression has blanks around + and -: 'king - man + woman'"
            lines.append(line)
    return list(dict.fromkeys(lines))
