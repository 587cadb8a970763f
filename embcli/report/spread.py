"""Figures of an evaluation over seeds: mean and standard deviation of artifacts that differ by their seed alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from embcli.query.evaluate import AnalogyResult, Evaluation
from embcli.query.seeds import Group, Spread, spread
from embcli.report.evaluation import METHODS, files_of, percent, rarity, rules, short_names
from embcli.report.tables import Column, Table
from embcli.spec import EvalParams

_LONG = ("artifact", "seeds", "file", "section", "measure", "method", "mean", "deviation", "scored", "total")
_SKIPPED = "pairs and questions with an unknown word are skipped; how many are left, in the seed with fewest"
_NOTE = "mean +- standard deviation over seeds (n - 1), of artifacts that differ by their seed alone"


def spread_tables(found: Evaluation, groups: Sequence[Group], params: EvalParams, form: str) -> list[Table]:
    """Return the figures of groups of artifacts as tables.

    Parameters
    ----------
    found : as ``evaluate`` returns it.
    groups : as ``query.seeds.groups`` returns them for the same artifacts.
    params : the options it was found with; ``sections`` asks for a table of the sections of each analogy file.
    form : ``table``: for people, groups as rows and files as columns; else one table, a figure a row.
    """
    if form != "table":
        return [Table("", [Column(name) for name in _LONG], [*_rows(found, groups)])]
    tables = []
    if found.similarity:
        tables.append(_similarity(found, groups, params))
    if found.analogies:
        tables.append(_analogies(found, groups, params))
    if params.sections:
        tables += [_sections(found, groups, params, file) for file in files_of(found.analogies)]
    return tables


def _shown(value: Spread | None, form: Callable[[float], str]) -> str | None:
    if value is None:
        return None
    return form(value.mean) if value.deviation is None else f"{form(value.mean)} +- {form(value.deviation)}"


def _least(results: Sequence[Any]) -> tuple[int, int]:
    """Return how many pairs or questions were scored at least, and how many there are."""
    return min(result.scored for result in results), results[0].total


def _coverage(results: Sequence[Any]) -> str:
    return "{:,} of {:,}".format(*_least(results))


def _four(value: float) -> str:
    return f"{value:.4f}"


def _similarity(found: Evaluation, groups: Sequence[Group], params: EvalParams) -> Table:
    labels = list(dict.fromkeys(result.label for result in found.similarity))
    short = short_names(labels)
    by = {(result.artifact, result.label): result for result in found.similarity}
    columns, rows = [Column("artifact"), Column("seeds", "right")], []
    for label in labels:
        columns += [Column("Spearman", "right", short[label]), Column("pairs", "right", short[label])]
    for group in groups:
        row: list[Any] = [group.name, len(group.members)]
        for label in labels:
            results = [by[at, label] for at in group.members]
            row += [_shown(spread([result.spearman for result in results]), _four), _coverage(results)]
        rows.append(row)
    return Table("Word similarity over seeds", columns, rows, [*rules(found, params), *rarity(params), _SKIPPED, _NOTE])


def _accuracies(
    found: Evaluation, group: Group, file: str, method: str, part: str, section: str | None = None
) -> list[AnalogyResult]:
    """Return the results of a group's artifacts for one part of a file."""
    return [
        r for r in found.analogies
        if r.artifact in group.members and (r.file, r.method, r.part) == (file, method, part)
        and section in (None, r.section)
    ]  # fmt: skip


def _parts(found: Evaluation, file: str) -> list[str]:
    return list(dict.fromkeys(r.part for r in found.analogies if r.file == file and r.part != "section"))


def _methods(found: Evaluation) -> list[str]:
    return list(dict.fromkeys(r.method for r in found.analogies))


def _analogies(found: Evaluation, groups: Sequence[Group], params: EvalParams) -> Table:
    files = files_of(found.analogies)
    short = short_names(files)
    columns, rows = [Column("artifact"), Column("method"), Column("seeds", "right")], []
    for file in files:
        heads = ["% of scored", *(f"{part[:3]} %" for part in _parts(found, file)[1:]), "scored"]
        columns += [Column(head, "right", short[file]) for head in heads]
    for group in groups:
        for method in _methods(found):
            row: list[Any] = [group.name, METHODS[method], len(group.members)]
            for file in files:
                for part in _parts(found, file):
                    results = _accuracies(found, group, file, method, part)
                    row.append(_shown(spread([result.accuracy for result in results]), percent))
                row.append(_coverage(_accuracies(found, group, file, method, "all")))
            rows.append(row)
    return Table("Analogies over seeds", columns, rows, [*rules(found, params), _SKIPPED, _NOTE])


def _sections(found: Evaluation, groups: Sequence[Group], params: EvalParams, file: str) -> Table:
    """Return one file section by section, groups and methods side by side, in percent of the questions scored."""
    names = list(dict.fromkeys(r.section for r in found.analogies if r.file == file and r.part == "section"))
    sides = [(group, method) for group in groups for method in _methods(found)]
    several = len(_methods(found)) > 1
    columns = [Column("section"), Column("scored", "right")]
    columns += [
        Column(f"{group.name}, {METHODS[method]}" if several else group.name, "right") for group, method in sides
    ]
    rows = []
    for name in names:
        of = [_accuracies(found, group, file, method, "section", name) for group, method in sides]
        cells = [_shown(spread([result.accuracy for result in results]), percent) for results in of]
        rows.append([name, f"{of[0][0].scored:,}", *cells])
    title = f"Analogies of {short_names([file])[file]} by section, % of scored, over seeds"
    return Table(title, columns, rows, [*rules(found, params), _NOTE])


def _rows(found: Evaluation, groups: Sequence[Group]) -> Iterator[list[Any]]:
    """Yield a row a figure and group."""
    for group in groups:
        head = [group.name, len(group.members)]
        for label in dict.fromkeys(result.label for result in found.similarity):
            results = [r for r in found.similarity if r.label == label and r.artifact in group.members]
            for measure in ("spearman", "pearson"):
                value = spread([getattr(result, measure) for result in results])
                yield [
                    *head,
                    results[0].file,
                    results[0].section,
                    measure,
                    "cosine",
                    *_numbers(value),
                    *_least(results),
                ]
        for key in dict.fromkeys((r.file, r.method, r.part, r.section) for r in found.analogies):
            file, method, part, section = key
            tried = _accuracies(found, group, file, method, part, section)
            what = {"section": section, "all": ""}.get(part, f"({part})")
            for measure in ("accuracy", "accuracy_all"):
                value = spread([getattr(result, measure) for result in tried])
                yield [*head, file, what, measure, method, *_numbers(value), *_least(tried)]


def _numbers(value: Spread | None) -> tuple[float | None, float | None]:
    return (None, None) if value is None else (value.mean, value.deviation)
