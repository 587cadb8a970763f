"""Tables of arithmetic on tables written by hand, step by step, and what was expected beside what was found."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from embcli.errors import UsageError
from embcli.report.tables import Column, Table

_INDEX = re.compile(r"(.+?)\s*\[([0-9, ]+)\]")


def given_tables(sheet: Any) -> Iterator[Table]:
    """Yield a table a step, single numbers first, and the comparison last. ``sheet`` is a pipeline.given.Sheet."""
    single = [[r.name, r.formula or None, float(r.value)] for r in sheet.results if r.value.ndim == 0]
    if single:
        columns = [Column("number"), Column("formula"), Column("value", "right")]
        yield Table(sheet.title, columns, single)
    for result in sheet.results:
        if result.value.ndim:
            yield from _table(result, sheet.words)
    if sheet.expected:
        rows = [[name, _short(found), _short(due), "yes" if ok else "NO"] for name, found, due, ok in compared(sheet)]
        names = [Column("expected"), Column("found"), Column("due"), Column("equal")]
        yield Table("as expected" if all(row[-1] == "yes" for row in rows) else "NOT as expected", names, rows)


def _table(result: Any, words: tuple[str, ...]) -> Iterator[Table]:
    value = result.value
    size = " x ".join(map(str, value.shape))
    title = f"{result.name}: {result.formula} ({size})" if result.formula else f"{result.name} ({size})"
    if value.ndim == 1:
        value = value[None]
    flat = value.reshape(-1, *value.shape[-2:])
    for i, part in enumerate(flat):
        labels = list(words) if len(words) == len(part) and result.name in _BY_WORD else list(range(len(part)))
        columns = [Column("", "right", key="row")] + [Column(str(j), "right") for j in range(part.shape[1])]
        rows = [[label, *row] for label, row in zip(labels, part.tolist(), strict=True)]
        yield Table(title if len(flat) == 1 else f"{title}, {i}", columns, rows)


#: what has a row for each word
_BY_WORD = ("distances", "cosines", "S^T G", "dL/dE", "dL/dU", "E after", "U after")


def given_json(sheet: Any) -> dict[str, Any]:
    """Return every step by name, and whether each expected value was found."""
    found = {result.name: result.value.tolist() for result in sheet.results}
    return found | ({"expected": {name: ok for name, _, _, ok in compared(sheet)}} if sheet.expected else {})


def compared(sheet: Any) -> Iterator[tuple[str, Any, Any, bool]]:
    """Yield name, value found, value due, and whether they are equal within the tolerance.

    A name may pick an entry: ``E after[2]``. Raises UsageError if there is no such step.
    """
    steps = {result.name: result.value for result in sheet.results}
    for name, due in sheet.expected.items():
        indexed = _INDEX.fullmatch(name)
        base = indexed[1] if indexed and name not in steps else name
        if base not in steps:
            raise UsageError(f"expect: there is no {base!r}; there are {', '.join(steps)}")
        found = steps[base]
        if base != name and indexed:
            try:
                found = found[tuple(int(i) for i in indexed[2].split(","))]
            except (IndexError, ValueError):
                raise UsageError(f"expect: {name}: {base} is {' x '.join(map(str, found.shape))}") from None
        same = found.shape == np.shape(due) and bool(np.allclose(found, due, rtol=0, atol=sheet.tolerance))
        yield name, found, due, same


def _short(value: Any) -> str:
    text = np.array2string(np.asarray(value), precision=6, separator=", ", suppress_small=True, threshold=24)
    return re.sub(r"\s*\n\s*", " ", text)
