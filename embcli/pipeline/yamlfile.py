"""Read the YAML of an experiment into plain mappings, strictly, and put its variables in. Knows nothing of steps.

What PyYAML passes over in silence is an error here: a key that is there twice, and whole numbers that YAML reads in
another base (012 is 10 to it, 1:30 is 90).
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from embcli.artifacts.identify import show
from embcli.errors import EmbcliError, InputError, UsageError

_NAME = re.compile(r"[A-Za-z_]\w*")
_VARIABLE = re.compile(r"\$\$|\$\{([^}]*)\}")
_WHOLE = re.compile(r"[-+]?(0|[1-9][0-9]*)")


class ShellText(str):
    """Text that begins with a value of --set: as a path it is relative to the caller's folder, not to the YAML's."""


def read(path: str, settings: Sequence[str] = ()) -> dict[Any, Any]:
    """Return the mapping of an experiment file with its variables put in; ``vars`` itself is left out.

    Parameters
    ----------
    path
        Of the YAML file, UTF-8.
    settings
        Texts ``NAME=VALUE`` that replace the values of ``vars``.

    Raises
    ------
    InputError : the file cannot be read.
    UsageError : it is not sound YAML (file and line are named), or a variable is unknown or has no value.
    """
    loaded = _load(_text(path), path)
    if not isinstance(loaded, dict):
        raise UsageError(f"{show(path)}: expected a mapping with 'steps:', found {type(loaded).__name__}")
    with within(show(path)):
        values = _variables(loaded.pop("vars", None), settings)
        return dict(_Substitution(values).of(loaded))


def variable_names(path: str) -> list[str]:
    """Return the names of an experiment file's variables; none where ``read`` will find a fault."""
    loaded = _load(_text(path), path)
    declared = loaded.get("vars") if isinstance(loaded, dict) else None
    return list(declared) if isinstance(declared, dict) else []


def mapping(path: str, what: str) -> dict[Any, Any]:
    """Return the mapping that a YAML file holds, without variables; ``what`` says what should be in it.

    Raises as ``read`` does.
    """
    loaded = _load(_text(path), path)
    if not isinstance(loaded, dict):
        raise UsageError(f"{show(path)}: expected a mapping of {what}, found {type(loaded).__name__}")
    return loaded


@contextmanager
def within(where: str) -> Iterator[None]:
    """Let an expected failure say where in the file it arose."""
    try:
        yield
    except EmbcliError as e:
        raise type(e)(f"{where}: {e}" if where else str(e)) from None


def unknown(what: str, name: object, known: Iterable[str]) -> str:
    """Return the message for a name that is none of the known ones, with the nearest one or all of them."""
    names = list(known)
    near = difflib.get_close_matches(str(name), names, 1)
    if near:
        return f"unknown {what} {name!r}; did you mean {near[0]!r}?"
    listed = ", ".join(names[:20]) + (", ..." if len(names) > 20 else "")
    return f"unknown {what} {name!r}; there {'are' if len(names) != 1 else 'is'} {listed or 'none'}"


def _text(path: str) -> str:
    if path == "-":
        raise UsageError("-: an experiment is read from a file, since its paths are relative to that file's folder")
    try:
        with open(path, "rb") as file:
            raw = file.read()
    except FileNotFoundError:
        raise InputError(f"{show(path)}: there is no such file") from None
    except IsADirectoryError:
        raise InputError(f"{show(path)}: is a folder; give an experiment's YAML file") from None
    except (OSError, ValueError) as e:
        raise InputError(f"{show(path)}: cannot be read: {getattr(e, 'strerror', None) or e}") from None
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as e:
        raise UsageError(f"{show(path)}:{raw[: e.start].count(10) + 1}: not UTF-8 text") from None


def _load(text: str, path: str) -> Any:
    """Return what the YAML says; every fault becomes one line with the file and the line."""
    import yaml

    try:
        return yaml.load(text, Loader=_loader())  # a SafeLoader
    except yaml.MarkedYAMLError as e:
        mark = e.problem_mark or e.context_mark
        line = mark.line + 1 if mark else 1
        problem = " ".join((e.problem or e.context or "").split())
        if problem.startswith("but "):  # the rest of a sentence
            problem = f"{e.context}, {problem}"
        lines = text.splitlines()
        if "\\t" in problem:
            problem = "a tab; indent with blanks"
        elif mark and mark.line < len(lines) and "${" in lines[mark.line]:
            problem += "; inside { } and [ ] put ${...} in quotes"
        raise UsageError(f"{show(path)}:{line}: not valid YAML: {problem}") from None
    except (yaml.YAMLError, ValueError) as e:  # ValueError: a date that does not exist
        raise UsageError(f"{show(path)}: not valid YAML: {' '.join(str(e).split())}") from None
    except RecursionError:
        raise UsageError(f"{show(path)}: nested too deep") from None


def _loader() -> Any:
    """Return a SafeLoader that refuses repeated keys and numbers that are not what they look like."""
    import yaml

    class Loader(yaml.SafeLoader):
        def compose_mapping_node(self, anchor: Any) -> Any:
            node = super().compose_mapping_node(anchor)
            seen = set()
            for key, _ in node.value:
                mark = (key.tag, str(key.value))
                if mark in seen:
                    problem = f"the key {key.value!r} is there twice"
                    raise yaml.MarkedYAMLError(problem=problem, problem_mark=key.start_mark)
                seen.add(mark)
            return node

    def whole(loader: Any, node: Any) -> int:
        if not _WHOLE.fullmatch(node.value.replace("_", "")):
            problem = f"{node.value!r} is {loader.construct_yaml_int(node)} to YAML; write that, or put it in quotes"
            raise yaml.MarkedYAMLError(problem=problem, problem_mark=node.start_mark)
        return int(node.value)

    Loader.add_constructor("tag:yaml.org,2002:int", whole)
    return Loader


def _variables(declared: Any, settings: Sequence[str]) -> dict[str, Any]:
    """Return the values of the variables: the declared ones, each of which may use those before it, and --set."""
    given: dict[str, str] = {}
    for text in settings:
        name, sign, value = text.partition("=")
        if not sign or not _NAME.fullmatch(name):
            raise UsageError(f"--set: expected NAME=VALUE, found {text!r}")
        given[name] = value
    if declared is not None and not isinstance(declared, dict):
        raise UsageError("vars: expected a mapping of names and values")
    values: dict[str, Any] = {}
    for name, default in (declared or {}).items():
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise UsageError(f"vars: expected a name of letters, digits and _, found {name!r}")
        if isinstance(default, (list, dict)):
            raise UsageError(f"vars: {name}: expected one value, found a {type(default).__name__}")
        values[name] = ShellText(given[name]) if name in given else _Substitution(values).of(default)
    for name in given:
        if name not in values:
            raise UsageError(f"--set: {unknown('variable', name, values)}")
    return values


class _Substitution:
    """Puts variables into every text of a YAML document; what an anchor shares is done once."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.values, self.done = values, dict[int, Any]()

    def of(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._text(value)
        if not isinstance(value, (list, dict)):
            return value
        if id(value) not in self.done:
            self.done[id(value)] = self  # until it is done
            items = value.items() if isinstance(value, dict) else enumerate(value)
            made = {key: self.of(item) for key, item in items}
            self.done[id(value)] = made if isinstance(value, dict) else list(made.values())
        if self.done[id(value)] is self:
            raise UsageError("an anchor contains itself")
        return self.done[id(value)]

    def _text(self, text: str) -> Any:
        whole = _VARIABLE.fullmatch(text)
        if whole and whole[1] is not None:
            return self._value(whole[1])
        first = _VARIABLE.match(text)
        shell = first and first[1] is not None and isinstance(self._value(first[1]), ShellText)
        made = _VARIABLE.sub(lambda m: "$" if m[1] is None else _spelled(self._value(m[1])), text)
        return ShellText(made) if shell else made

    def _value(self, name: str) -> Any:
        if name not in self.values:
            raise UsageError(f"${{{name}}}: {unknown('variable', name, self.values)} (a $ itself is written $$)")
        if self.values[name] is None:
            raise UsageError(f"the variable {name!r} has no value; give --set {name}=VALUE")
        return self.values[name]


def _spelled(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
