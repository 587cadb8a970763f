"""What a report is expected to say beside what it says: records that it must hold, compared place by place.

A record is one object of the report's JSON. A place in it is a key (``score``), a key within a mapping (``stats.cost``)
or an entry of a list (``loss[-1]``, ``A[0, 1]``). What is expected there is text, a number, a list, or about a number a
bound: ``"> 0.5"``, ``"<= 3"``, ``"0.7 +- 0.02"``.
"""

from __future__ import annotations

import difflib
import math
import operator
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from embcli.errors import UsageError
from embcli.report.tables import Column, Table

_INDEX = re.compile(r"(.+?)\s*\[(-?[0-9]+(?:\s*,\s*-?[0-9]+)*)\]")
_BOUND = re.compile(r"(<=|>=|<|>)\s*(\S+)")
_ABOUT = re.compile(r"(\S+)\s*\+-\s*(\S+)")
_SIGNS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
#: characters of a value that a table shows
_LONGEST = 60
#: what stands in no place
MISSING: Any = object()


@dataclass(frozen=True)
class Compared:
    """One expected record, and the values found at its places; None if the report holds no record at all."""

    due: Mapping[str, Any]
    found: Mapping[str, Any] | None
    same: bool


def compare(
    records: Sequence[Mapping[str, Any]], expected: Iterable[Mapping[str, Any]], tolerance: float
) -> list[Compared]:
    """Return each expected record beside the record that agrees with it in the most places (the first of several).

    Parameters
    ----------
    records
        Objects of JSON.
    expected
        Mappings of places and values that one record must hold together.
    tolerance
        How far a number may lie from the expected one.

    Raises
    ------
    UsageError : no record has such a place, or text that is no bound is expected where a number stands.
    """
    return [_compared(records, due, tolerance) for due in expected]


def _compared(records: Sequence[Mapping[str, Any]], due: Mapping[str, Any], tolerance: float) -> Compared:
    best: tuple[tuple[int, int, float], dict[str, Any]] | None = None
    for record in records:
        found = {place: value_at(record, place) for place in due}
        agree = [place for place, value in found.items() if value is not MISSING and fits(value, due[place], tolerance)]
        if len(agree) == len(due):
            return Compared(due, found, True)
        texts = sum(isinstance(due[place], str) and isinstance(found[place], str) for place in agree)
        rank = (len(agree), texts, -_apart(found, due))
        if best is None or rank > best[0]:
            best = rank, found
    for place in due:
        if records and all(value_at(record, place) is MISSING for record in records):
            raise UsageError(_unknown(place, records[0]))
    return Compared(due, {k: v for k, v in best[1].items() if v is not MISSING} if best else None, False)


def _unknown(place: str, record: Mapping[str, Any]) -> str:
    names = list(record)
    near = difflib.get_close_matches(place, names, 1)
    hint = f"; did you mean {near[0]!r}?" if near else f"; there are {', '.join(names[:20])}"
    return f"expect: there is no {place!r}{hint}"


def value_at(record: Any, place: str) -> Any:
    """Return what stands at a place of a record, MISSING if nothing does; a key that is spelled so comes first."""
    if isinstance(record, Mapping) and place in record:
        return record[place]
    indexed = _INDEX.fullmatch(place)
    if indexed:
        value = value_at(record, indexed[1])
        for i in indexed[2].split(","):
            if not isinstance(value, (list, tuple)) or not -len(value) <= int(i) < len(value):
                return MISSING
            value = value[int(i)]
        return value
    for at in (i for i, c in enumerate(place) if c == "."):
        inner = value_at(record, place[:at])
        if isinstance(inner, Mapping):
            return value_at(inner, place[at + 1 :])
    return MISSING


def fits(found: Any, due: Any, tolerance: float) -> bool:
    """Say whether a value is the expected one. Raises UsageError for text that says nothing about a number."""
    if isinstance(due, (list, tuple)):
        same_size = isinstance(found, (list, tuple)) and len(found) == len(due)
        return same_size and all(fits(a, b, tolerance) for a, b in zip(found, due, strict=True))
    if found is None or due is None or isinstance(found, bool) or isinstance(due, bool):
        return found is due
    if isinstance(found, (int, float)):
        return _number_fits(found, due, tolerance)
    return isinstance(found, str) and found == str(due)


def _number_fits(found: float, due: Any, tolerance: float) -> bool:
    if isinstance(due, (int, float)):
        return abs(found - due) <= tolerance
    bound, about = _BOUND.fullmatch(due.strip()), _ABOUT.fullmatch(due.strip())
    try:
        if bound:
            return bool(_SIGNS[bound[1]](found, float(bound[2])))
        if about:
            return abs(found - float(about[1])) <= float(about[2])
        return abs(found - float(due)) <= tolerance
    except ValueError:
        what = f"expected {due!r}, where the number {_short(found)} stands"
        raise UsageError(f"expect: {what}; give a number, or a bound such as '> 0.5' or '0.7 +- 0.02'") from None


def _apart(found: Mapping[str, Any], due: Mapping[str, Any]) -> float:
    """Return how far the numbers of a record lie from the expected ones, to prefer the nearest of several."""
    pairs = [(found[place], due[place]) for place in due]
    numbers = [(a, b) for a, b in pairs if all(isinstance(x, (int, float)) and math.isfinite(x) for x in (a, b))]
    return float(sum(abs(a - b) for a, b in numbers))


def comparison(compared: Sequence[Compared]) -> Table:
    """Return the table of what was expected beside what was found."""
    rows = [[_phrase(one.due), _phrase(one.found), "yes" if one.same else "NO"] for one in compared]
    title = "as expected" if all(one.same for one in compared) else "NOT as expected"
    return Table(title, [Column("expected"), Column("found"), Column("equal")], rows)


def mismatch(compared: Sequence[Compared]) -> str:
    """Return a line about the first record that is not as expected, and how many more there are; empty if all are."""
    wrong = [one for one in compared if not one.same]
    if not wrong:
        return ""
    more = f" (and {len(wrong) - 1:,} more)" if len(wrong) > 1 else ""
    if len(wrong[0].due) == 1 and wrong[0].found:
        ((place, due),) = wrong[0].due.items()
        return f"{place} is {_short(wrong[0].found[place])}, expected {_short(due)}{more}"
    return f"expected {_phrase(wrong[0].due)}; found {_phrase(wrong[0].found)}{more}"


def _phrase(record: Mapping[str, Any] | None) -> str:
    if not record:
        return "nothing"
    return ", ".join(f"{place} {_short(value)}" for place, value in record.items())


def _short(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        text = f"[{', '.join(_short(each) for each in value)}]"
        return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 4]} ...]"
    if isinstance(value, float):
        return f"{value + 0.0:.7g}"
    if value is None or isinstance(value, bool):
        return "none" if value is None else "yes" if value else "no"
    return str(value)
