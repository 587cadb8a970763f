"""How options are declared, converted and checked. The options themselves stand in the files beside this one.

Standard library only.
"""

from __future__ import annotations

import dataclasses
import difflib
import math
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, Literal, cast, get_args, get_origin, get_type_hints

from embcli.errors import UsageError


@dataclass(frozen=True)
class Opt:
    """How one option presents itself and what it accepts.

    ``min`` and ``max`` are inclusive, ``above`` is exclusive. ``file`` names an input file: provenance records the
    digest of its content. ``recorded=False`` keeps an option out of artifacts because results cannot depend on it.
    """

    help: str
    flags: tuple[str, ...] = ()
    min: float | None = None
    max: float | None = None
    above: float | None = None
    metavar: str | None = None
    file: bool = False
    recorded: bool = True
    unset: str | None = None
    panel: str = "Options"


@dataclass(frozen=True)
class Field:
    """One option as read from a dataclass: ``kind`` is int, float, str or bool; ``choices`` is empty if free."""

    name: str
    kind: type
    default: Any
    opt: Opt
    choices: tuple[str, ...] = ()
    optional: bool = False
    repeatable: bool = False

    @property
    def flag(self) -> str:
        """The long option: ``min_count`` is ``--min-count``, ``from_`` is ``--from``."""
        return "--" + self.name.rstrip("_").replace("_", "-")

    def convert(self, value: Any) -> Any:
        """Return the value as its declared type, or raise UsageError that says what was found and what is allowed.

        Text is converted, so YAML's ``1e-5`` (a string to PyYAML) is a number where a number is due.
        """
        if self.repeatable:
            items = value if isinstance(value, (list, tuple)) else [value]
            return tuple(self._one(v) for v in items)
        if value is None and self.optional:
            return None
        return self._one(value)

    def _one(self, value: Any) -> Any:
        if self.kind is bool:
            if isinstance(value, bool):
                return value
            raise UsageError(f"{self.flag}: expected true or false, found {value!r}")
        if isinstance(value, bool) and not (self.choices or self.kind is str):
            raise UsageError(f"{self.flag}: expected a number, found {value!r}")
        if self.kind is str:
            return self._text(value)
        try:
            number = self.kind(value)
            if self.kind is int and isinstance(value, float) and value != number:
                raise ValueError
        except (TypeError, ValueError, OverflowError):
            what = "a whole number" if self.kind is int else "a number"
            raise UsageError(f"{self.flag}: expected {what}, found {value!r}") from None
        return self._in_range(number)

    def _text(self, value: Any) -> str:
        if self.choices and value not in self.choices:
            near = difflib.get_close_matches(str(value), self.choices, 1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise UsageError(f"{self.flag}: expected one of {', '.join(self.choices)}, found {value!r}{hint}")
        if not isinstance(value, str):
            raise UsageError(f"{self.flag}: expected text, found {value!r} (in YAML, put it in quotes)")
        return value if self.opt.file or self.opt.metavar == "FILE" else as_utf8(value)

    def _in_range(self, number: float) -> float:
        o = self.opt
        if isinstance(number, int) and abs(number) >= 1 << 62:
            raise UsageError(f"{self.flag}: {number:,} is too large")
        if isinstance(number, float) and not math.isfinite(number):
            raise UsageError(f"{self.flag}: expected a finite number, found {number}")
        if o.above is not None and not number > o.above:
            raise UsageError(f"{self.flag}: must be above {o.above:g}, found {number:g}")
        if o.min is not None and number < o.min:
            raise UsageError(f"{self.flag}: must be at least {o.min:g}, found {number:g}")
        if o.max is not None and number > o.max:
            raise UsageError(f"{self.flag}: must be at most {o.max:,}, found {number!r}")
        return number


def as_utf8(text: str) -> str:
    """Return an argument as the UTF-8 that was typed, whatever the locale made of its bytes; not for names of files."""
    if not any("\ud800" <= c <= "\udfff" for c in text):
        return text
    return os.fsencode(text).decode("utf-8", "surrogateescape")


@dataclass(frozen=True, kw_only=True)
class Params:
    """Base of every step's options. ``given`` are the names of those that were set, be it to their defaults."""

    given: ClassVar[frozenset[str]] = frozenset()

    def check(self) -> None:
        """Raise UsageError if options that are fine alone do not fit together."""

    def makes(self) -> str | None:
        """Return the kind of artifact that these options make, None for the one that the step says."""
        return None

    def relevant(self, field: Field) -> bool:
        """Say whether results depend on an option, where not all belong to one task."""
        return True


def fields(params: type[Params]) -> tuple[Field, ...]:
    """Return the options declared by a params dataclass, in order."""
    return _fields(cast(Any, params))


@cache
def _fields(params: Any) -> tuple[Field, ...]:
    hints = get_type_hints(params, include_extras=True)
    found = []
    for f in dataclasses.fields(params):
        kind, opt = get_args(hints[f.name])
        args = get_args(kind)
        optional = type(None) in args
        if optional:
            kind = next(a for a in args if a is not type(None))
        repeatable = get_origin(kind) is tuple
        if repeatable:
            kind = get_args(kind)[0]
        choices: tuple[str, ...] = ()
        if get_origin(kind) is Literal:
            kind, choices = str, get_args(kind)
        found.append(Field(f.name, kind, f.default, opt, choices, optional, repeatable))
    return tuple(found)


def make(params: type[Params], values: Mapping[str, Any]) -> Any:
    """Return a params object from option values by name (hyphens or underscores), converted and checked.

    Raises UsageError on an unknown name, with the nearest one, and on a value out of its range.
    """
    known = {f.name: f for f in fields(params)}
    done = {}
    for key, value in values.items():
        name = key.replace("-", "_")
        name = name + "_" if name + "_" in known else name
        if name not in known:
            near = difflib.get_close_matches(name, known, 1)
            hint = f"; did you mean {near[0].replace('_', '-')!r}?" if near else ""
            raise UsageError(f"unknown option {key!r}{hint}")
        done[name] = known[name].convert(value)
    made = params(**done)
    object.__setattr__(made, "given", frozenset(done))
    made.check()
    return made


def recorded(params: Any) -> Iterator[tuple[Field, Any]]:
    """Yield the options that belong into an artifact, with their values."""
    for f in fields(type(params)):
        if f.opt.recorded and params.relevant(f):
            yield f, getattr(params, f.name)


def parse_size(text: str) -> int:
    """Return bytes from a size such as 800MB, 4GB, 1.5G or 300000 (powers of 1000), or raise UsageError."""
    found = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]*)?)\s*([kmgt]?)b?\s*", text.lower())
    if not found or not 0 < float(found[1]) < 1e15:
        raise UsageError(f"--memory: expected a size such as 500MB or 4GB, found {text!r}")
    return int(float(found[1]) * 1000 ** " kmgt".index(found[2] or " "))
