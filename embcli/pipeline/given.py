"""Read tables written by hand for ``attend --given``: YAML (or JSON) into arrays, each fault one line."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from embcli.artifacts.identify import show
from embcli.errors import UsageError
from embcli.models.given import Result, work
from embcli.models.given_tables import Tables
from embcli.pipeline.yamlfile import mapping, unknown, within

_TABLES = ("E", "P", "W_Q", "W_K", "W_V", "scores", "V", "U", "b", "h", "R", "G")
_POSITIONS = ("none", "sinusoidal", "rope", "alibi")


@dataclass(frozen=True)
class Sheet:
    """What was worked out of a file, what it expects by name, how far both may lie apart, and the rows' names."""

    results: list[Result]
    expected: Mapping[str, Any]
    tolerance: float
    words: tuple[str, ...]
    title: str


def work_out(path: str) -> Sheet:
    """Return what follows from a file of tables.

    Raises InputError if it cannot be read, UsageError that names file and key if it makes no sense.
    """
    found = mapping(path, "tables such as E and ids")
    with within(show(path)):
        expected, tolerance = found.pop("expect", None) or {}, _number(found.pop("tolerance", 1e-6), "tolerance")
        title = found.pop("title", "")
        if not isinstance(expected, dict) or not isinstance(title, str):
            raise UsageError("expect: expected a mapping of names and values; title: text")
        tables = _tables(found)
        expected = {str(name): _array(value, f"expect: {name}") for name, value in expected.items()}
        return Sheet(work(tables), expected, float(tolerance), tables.words, title)


def _tables(found: Mapping[Any, Any]) -> Tables:
    values: dict[str, Any] = {}
    if isinstance(found.get("words"), list) and "ids" in found:
        found = {**found, "ids": _numbered(found["ids"], [str(word) for word in found["words"]])}
    for key, value in found.items():
        if key not in _READ:
            raise UsageError(unknown("table", key, (*_READ, "expect", "tolerance", "title")))
        values[key] = _READ[key](value, key)
    for name in ("E", "U", "P", "W_Q", "W_K", "W_V", "V", "R"):
        if name in values and values[name].ndim != 2:
            raise UsageError(f"{name}: expected rows of numbers, such as [[1, 0], [0, 1]]")
    E, ids, words = values.get("E"), values.get("ids"), values.get("words", ())
    if E is not None and ids is not None and ids.size and not (ids.min() >= 0 and ids.max() < len(E)):
        raise UsageError(
            f"ids: rows of E are 0 to {len(E) - 1}, found {int(ids.min() if ids.min() < 0 else ids.max())}"
        )
    if E is not None and words and len(words) != len(E):
        raise UsageError(f"words: {len(words)}, and E has {len(E)} rows")
    return Tables(**values)


def _numbered(ids: Any, words: list[str]) -> Any:
    """Return ids with the number of each word that stands there by its name."""
    if isinstance(ids, list):
        return [_numbered(each, words) for each in ids]
    if isinstance(ids, str) and ids not in words:
        raise UsageError(f"ids: {ids!r} is none of the words: {', '.join(words[:8])}")
    return words.index(ids) if isinstance(ids, str) else ids


def _number(value: Any, key: str) -> float:
    try:
        number = float(value)
        if isinstance(value, bool) or not math.isfinite(number):
            raise ValueError
    except (TypeError, ValueError):
        raise UsageError(f"{key}: expected a number, found {value!r}") from None
    return number


def _whole(value: Any, key: str) -> int:
    number = _number(value, key)
    if number < 1 or number != int(number) or number > 1e6:
        raise UsageError(f"{key}: expected a whole number from 1, found {value!r}")
    return int(number)


def _array(value: Any, key: str, dtype: Any = np.float64) -> Any:
    """Return numbers nested to any depth; texts such as 1e-5, which YAML reads as text, are numbers too."""
    try:
        array = np.array(value, dtype)
    except (TypeError, ValueError, OverflowError):
        raise UsageError(f"{key}: expected numbers, in rows of equal length") from None
    if not np.isfinite(np.asarray(array, np.float64)).all():
        raise UsageError(f"{key}: holds a number that is not finite")
    return array


def _ids(value: Any, key: str) -> Any:
    array = _array(value, key)
    if array.ndim not in (1, 2) or (array != np.rint(array)).any():
        raise UsageError(f"{key}: expected ids, such as [2, 0], or several rows of them")
    return array.astype(np.int64)


def _targets(value: Any, key: str) -> Any:
    if value == "next":
        return value
    array = _ids(value if isinstance(value, list) else [value], key)
    return array.reshape(-1)


def _mask(value: Any, key: str) -> Any:
    """Return causal, none, or where one may look: 1 or true; or 0 where one may, if there is a -inf."""
    if isinstance(value, str):
        if value in ("causal", "none"):
            return value
        raise UsageError(f"mask: expected causal, none, or a table, found {value!r}")
    try:
        table = np.array(value, np.float64)
    except (TypeError, ValueError):
        raise UsageError("mask: expected causal, none, or rows of 1 (may look) and 0") from None
    if np.isneginf(table).any():
        if not ((table == 0) | np.isneginf(table)).all():
            raise UsageError("mask: a table with -.inf holds 0 where one may look, and nothing else")
        return table == 0
    if not np.isin(table, (0, 1)).all():
        raise UsageError("mask: expected 1 (may look) and 0, or 0 (may look) and -.inf")
    return table == 1


def _flag(value: Any, key: str) -> bool:
    if not isinstance(value, bool):
        raise UsageError(f"{key}: expected true or false, found {value!r}")
    return value


def _position(value: Any, key: str) -> str:
    if value not in _POSITIONS:
        raise UsageError(f"position: expected one of {', '.join(_POSITIONS)}, found {value!r}; learned ones are P")
    return str(value)


def _words(value: Any, key: str) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise UsageError("words: expected a list with a name for each row of E")
    return tuple(str(word) for word in value)


_READ: dict[str, Callable[[Any, str], Any]] = {
    **dict.fromkeys(_TABLES, _array), "ids": _ids, "targets": _targets, "mask": _mask, "words": _words,
    "position": _position, "scale": _flag, "tie": _flag, "heads": _whole, "length": _whole, "dim": _whole,
    "lr": _number,
}  # fmt: skip
