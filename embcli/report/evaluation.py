"""Figures of an evaluation as tables: leaderboards, sections and misses, or one long table. See query/evaluate.py."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from embcli.query.evaluate import AnalogyResult, Evaluation
from embcli.report.display import shown
from embcli.report.tables import Column, Table
from embcli.spec import EvalParams

METHODS = {"add": "3CosAdd", "mul": "3CosMul"}
_LONG = ("artifact", "file", "section", "measure", "method", "value", "scored", "total", "restrict")
_MISSES = ("question", "expected", "found", "score", "expected_score", "expected_rank")


def evaluation_tables(found: Evaluation, params: EvalParams, form: str) -> list[Table]:
    """Return figures as tables.

    Parameters
    ----------
    found
        As ``evaluate`` returns it.
    params
        The options it was found with: ``sections`` and ``misses`` ask for tables of their own.
    form
        ``table``: for people, artifacts as rows and files as columns, in the order given, the best of a column
        marked. ``tsv`` and ``jsonl``: one table, a figure a row.
    """
    if form != "table":
        return [_long(found, params)]
    tables = []
    if found.similarity:
        tables.append(_similarity(found, params))
    if found.analogies:
        tables.append(_analogies(found, params))
    if params.sections:
        tables += [_sections(found, params, file) for file in files_of(found.analogies)]
    if params.misses:
        tables += list(_missed(found, params))
    return tables


def files_of(results: Sequence[Any]) -> list[str]:
    """Return the files of results, in their order."""
    return list(dict.fromkeys(result.file for result in results))


def short_names(files: Sequence[str]) -> dict[str, str]:
    """Return short names of files: the last part of the path where that tells them apart."""
    names = [os.path.basename(file) for file in files]
    return dict(zip(files, names if len(set(names)) == len(names) else files, strict=True))


def rules(found: Evaluation, params: EvalParams) -> list[str]:
    """Return the rules without which figures cannot be compared: vocabulary, case."""
    sizes = sorted(set(found.words))
    words = f"{sizes[0]:,}" if len(sizes) == 1 else f"{sizes[0]:,} to {sizes[-1]:,}"
    cut = (
        f"the {words} most frequent words (--restrict)"
        if params.restrict
        else f"all {words} word{'' if sizes == [1] else 's'}"
    )
    case = "folded, the most frequent form counts" if params.case == "fold" else "exact"
    table = "" if params.table == "input" else f"; table: {params.table}"
    zeros = [f"{name}: {n:,}" for name, n in zip(found.names, found.zeros, strict=True) if n]
    notes = [f"words whose row is all zeros count as unknown ({', '.join(zeros)})"] if zeros else []
    return [f"vocabulary: {cut}; case: {case}{table}", *notes]


def rarity(params: EvalParams) -> list[str]:
    """Return what the pairs are that are scored on their own."""
    if params.rare is None:
        return []
    return [f"rare: pairs with a word that the text has fewer than {params.rare:,} times"]


def _marked(
    rows: Sequence[Sequence[float | None]], digits: Sequence[Callable[[float], str]], fair: Sequence[bool]
) -> list[list[str | None]]:
    """Return numbers as text, the best of each column with an asterisk if there are several rows.

    ``digits`` has the format of each column; ``fair`` says whether all numbers of a column are of the same pairs or
    questions: else, or if all are equal, none is best.
    """
    columns = [[v for v in column if v is not None] for column in zip(*rows, strict=True)]
    tops = [max(c) if ok and len(set(c)) > 1 else None for c, ok in zip(columns, fair, strict=True)]
    several = len(rows) > 1
    found: list[list[str | None]] = []
    for row in rows:
        cells: list[str | None] = []
        for value, top, form in zip(row, tops, digits, strict=True):
            mark = "" if not several else "*" if value == top else " "
            cells.append(None if value is None else form(value) + mark)
        found.append(cells)
    return found


def _four(value: float) -> str:
    return f"{value:.4f}"


def percent(value: float) -> str:
    """Return a share as a percentage with two decimals."""
    return f"{100 * value:.2f}"


def _similarity(found: Evaluation, params: EvalParams) -> Table:
    """Return the leaderboard of word similarity: Spearman's correlation and how many pairs it is of."""
    files = list(dict.fromkeys(result.label for result in found.similarity))
    short = short_names(files)
    columns = [Column("artifact")]
    numbers: list[list[float | None]] = [[] for _ in found.names]
    pairs: list[list[str]] = [[] for _ in found.names]
    for file in files:
        columns += [Column("Spearman", "right", short[file]), Column("pairs", "right", short[file])]
    for result in found.similarity:
        numbers[result.artifact].append(result.spearman)
        pairs[result.artifact].append(f"{result.scored:,} of {result.total:,}")
    fair = [_fair([r.scored for r in found.similarity if r.label == file]) for file in files]
    texts = _marked(numbers, [_four] * len(files), fair)
    rows = [
        [name, *(cell for both in zip(values, counts, strict=True) for cell in both)]
        for name, values, counts in zip(found.names, texts, pairs, strict=True)
    ]
    notes = [*rules(found, params), "pairs with an unknown word are skipped", *_best(len(rows), fair)]
    notes += rarity(params)
    if any(result.composed for result in found.similarity):
        parts = [
            f"{r.composed:,} of {short[r.label]} in {found.names[r.artifact]}" for r in found.similarity if r.composed
        ]
        notes.append(f"pairs with a word that is not in the vocabulary, composed of its n-grams: {', '.join(parts)}")
    return Table("Word similarity", columns, rows, notes)


def _fair(scored: Sequence[int]) -> bool:
    return len(set(scored)) == 1


def _best(rows: int, fair: Sequence[bool]) -> list[str]:
    """Return what an asterisk means, and where there is none."""
    if rows < 2:
        return []
    notes = ["* the best of its column"] if any(fair) else []
    return notes if all(fair) else [*notes, "no best is marked where the numbers scored differ"]


def _analogies(found: Evaluation, params: EvalParams) -> Table:
    """Return the leaderboard of analogies: accuracy over the questions with known words, and over all."""
    files = files_of(found.analogies)
    short = short_names(files)
    totals = [result for result in found.analogies if result.part != "section"]
    parts = {file: list(dict.fromkeys(r.part for r in totals if r.file == file)) for file in files}
    columns, fair = [Column("artifact"), Column("method")], []
    for file in files:
        heads = ["% of scored", "% of all", *(f"{part[:3]} %" for part in parts[file][1:]), "scored"]
        columns += [Column(head, "right", short[file]) for head in heads]
        even = _fair([r.scored for r in totals if r.file == file and r.part == "all"])
        fair += [even] * (len(heads) - 1)
    by = {(r.artifact, r.method, r.file, r.part): r for r in totals}
    lines = [(at, method) for at in range(len(found.names)) for method in _methods(found)]
    numbers = []
    for at, method in lines:
        row: list[float | None] = []
        for file in files:
            whole = by[at, method, file, "all"]
            row += [whole.accuracy, whole.accuracy_all]
            row += [by[at, method, file, part].accuracy for part in parts[file][1:]]
        numbers.append(row)
    rows = []
    for (at, method), texts in zip(lines, _marked(numbers, [percent] * len(fair), fair), strict=True):
        cells, left = [found.names[at], METHODS[method]], list(texts)
        for file in files:
            width = 1 + len(parts[file])
            whole = by[at, method, file, "all"]
            cells += [*left[:width], f"{whole.scored:,} of {whole.total:,}"]  # type: ignore[list-item]
            left = left[width:]
        rows.append(cells)
    notes = [
        *rules(found, params),
        "questions with an unknown word are skipped: left out of '% of scored', wrong in '% of all'; "
        "words of the question are no answers",
    ]
    notes += _best(len(lines), fair)
    return Table("Analogies", columns, rows, notes)


def _methods(found: Evaluation) -> list[str]:
    return list(dict.fromkeys(result.method for result in found.analogies))


def _sections(found: Evaluation, params: EvalParams, file: str) -> Table:
    """Return one file section by section, the artifacts and methods side by side."""
    results = [r for r in found.analogies if r.file == file]
    names = list(dict.fromkeys(r.section for r in results if r.part == "section"))
    lines = [(name, [r for r in results if r.part == "section" and r.section == name]) for name in names]
    lines += [
        (f"({part})", [r for r in results if r.part == part])
        for part in ("semantic", "syntactic", "all")
        if any(r.part == part for r in results)
    ]
    columns = [Column("section"), Column("questions", "right")]
    for result in lines[-1][1]:
        group = f"{found.names[result.artifact]}, {METHODS[result.method]}"
        heads = ("scored", "right", "% of scored", "% of all")
        columns += [Column(head, "right", group) for head in heads]
    rows = [[name, f"{part[0].total:,}", *(cell for r in part for cell in _figures(r))] for name, part in lines]
    return Table(f"Analogies of {shown(short_names([file])[file])} by section", columns, rows, rules(found, params))


def _figures(result: AnalogyResult) -> list[str | None]:
    shares = (result.accuracy, result.accuracy_all)
    return [
        f"{result.scored:,}", f"{result.correct:,}", *(None if s is None else percent(s) for s in shares),
    ]  # fmt: skip


def _missed(found: Evaluation, params: EvalParams) -> Iterator[Table]:
    """Yield the first failed questions of each file, artifact and method."""
    for whole in (r for r in found.analogies if r.part == "all"):
        misses = [
            m for m in found.misses if (m.artifact, m.file, m.method) == (whole.artifact, whole.file, whole.method)
        ]
        wrong = whole.scored - whole.correct
        columns = [
            Column("section"), Column("question"), Column("expected"), Column("rank", "right"),
            Column("score", "right", digits=".4f"), Column("found", group="instead"),
            Column("score", "right", "instead", digits=".4f"),
        ]  # fmt: skip
        rows = [
            (m.section, _question(m.question), m.expected, m.rank, m.expected_score, m.found, m.score) for m in misses
        ]
        title = f"{found.names[whole.artifact]}: the first {len(misses):,} of {wrong:,} failed questions of "
        title += f"{short_names([whole.file])[whole.file]}, {METHODS[whole.method]}"
        yield Table(title, columns, rows, ["an expected word without a rank is a word of its question"][: _odd(misses)])


def _odd(misses: Sequence[Any]) -> int:
    """Return 1 if an expected word can never be an answer, else 0."""
    return int(any(miss.rank is None for miss in misses))


def _question(words: Sequence[str]) -> str:
    return "{} : {} :: {} : ?".format(*words)


def _long(found: Evaluation, params: EvalParams) -> Table:
    """Return one table with a figure a row; with misses it has columns of theirs at its end."""
    rows = [[*row, *[None] * len(_MISSES if params.misses else ())] for row in _figure_rows(found, params)]
    for m in found.misses:
        rows.append([
            found.names[m.artifact], m.file, m.section, "miss", m.method, None, None, None, params.restrict,
            _question(m.question), m.expected, m.found, m.score, m.expected_score, m.rank,
        ])  # fmt: skip
    return Table("", [Column(name) for name in (*_LONG, *(_MISSES if params.misses else ()))], rows)


def _figure_rows(found: Evaluation, params: EvalParams) -> Iterator[list[Any]]:
    for s in found.similarity:
        for measure, value in (("spearman", s.spearman), ("pearson", s.pearson)):
            name = found.names[s.artifact]
            yield [name, s.file, s.section, measure, "cosine", value, s.scored, s.total, params.restrict]
        if s.composed:
            yield [name, s.file, s.section, "composed", "cosine", s.composed, s.scored, s.total, params.restrict]
    for a in found.analogies:
        if a.part == "section" and not params.sections:
            continue
        section = {"section": a.section, "all": ""}.get(a.part, f"({a.part})")
        for measure, value in (("accuracy", a.accuracy), ("accuracy_all", a.accuracy_all)):
            name = found.names[a.artifact]
            yield [name, a.file, section, measure, a.method, value, a.scored, a.total, params.restrict]
