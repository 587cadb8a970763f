"""The prompt of ``neighbors`` on a terminal: words and expressions, settings behind a colon, completion, history.

Answers are those of the command, by the same road. Line editing is Python's readline, where it is there.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from embcli import stop
from embcli.cli.console import Console, line
from embcli.cli.prints import show
from embcli.errors import EmbcliError, UsageError
from embcli.job import Job
from embcli.spec import Field, NeighborsParams, as_utf8, fields

if TYPE_CHECKING:
    from embcli.artifacts.schema import Words

SIGN = "neighbors> "
#: options that can be set at the prompt
_SETTINGS = {
    f.flag[2:]: f
    for f in fields(NeighborsParams)
    if f.name in ("top", "metric", "method", "restrict", "min_score", "include_inputs")
}
#: a word such as :) is no command
_COMMAND = re.compile(r":([a-z?][a-z-]*)(?:\s+(.*))?")
_COMPLETED, _KEPT = 60, 1000
_LEAVE = ("quit", "q", "exit")


def wanted(paths: Sequence[str]) -> bool:
    """Return whether there is a person at a terminal to ask."""
    return "-" not in paths and sys.stdin.isatty() and sys.stdout.isatty()


def prompt(paths: Sequence[str], params: NeighborsParams, job: Job, names: Sequence[str], console: Console) -> None:
    """Answer what is typed, until the end of input or :quit. An answer that fails is one line, and goes on."""
    from embcli.artifacts import store
    from embcli.pipeline.reports import SEARCHED, answered, check_weight

    artifacts = [store.read(path, SEARCHED, command="neighbors") for path in paths]
    check_weight([artifact.kind for artifact in artifacts], params)
    for artifact, name in zip(artifacts, names, strict=True):
        console.say(f"{name}: {len(_names(artifact, params)):,} names to ask for")
    console.say(
        "type a word, or an expression such as 'king - man + woman'; Tab completes, :help says more, :quit leaves"
    )

    def answer(query: str, how: NeighborsParams) -> None:
        shown = answered(artifacts, [query], how, job, names)
        form = "jsonl" if console.json else how.format
        for table in shown.tables(form):
            show(table, console, form)
        for lost in shown.lost:
            console.say(lost)

    with _Editor([_names(artifact, params) for artifact in artifacts], params):
        _loop(params, answer)


def _names(artifact: Any, params: NeighborsParams) -> Words:
    """Return what can be asked for."""
    from embcli.query.lookup import heads

    labels = getattr(artifact, "labels", None) or getattr(artifact, "rows", None)
    names: Words = heads(labels) if params.table == "documents" and labels is not None else artifact.words
    return names


def _loop(params: NeighborsParams, answer: Callable[[str, NeighborsParams], None]) -> None:
    """Read and answer lines."""
    while True:
        try:
            typed = as_utf8(input(SIGN)).strip()
            if not typed:
                continue
            found = _COMMAND.fullmatch(typed)
            if found and found[1] in _LEAVE:
                return
            if found:
                params = command(found[1], (found[2] or "").strip(), params, print)
            else:
                answer(typed, params)
        except EOFError:
            print()
            return
        except KeyboardInterrupt:  # the line, or the search, is given up; the prompt stays
            stop.forget()
            print()
        except EmbcliError as e:
            line(f"embcli neighbors: {e}")
        sys.stdout.flush()


def command(name: str, value: str, params: NeighborsParams, say: Callable[[str], object]) -> NeighborsParams:
    """Obey what stands behind a colon, and return the options that hold from now on.

    Raises UsageError for an unknown command, or a value that its option does not take.
    """
    if name in ("help", "h", "?"):
        for text in _help(params):
            say(text)
        return params
    field = _SETTINGS.get(name)
    if field is None:
        from difflib import get_close_matches

        near = get_close_matches(name, [*_SETTINGS, "help", "quit"], 1)
        hint = f"did you mean :{near[0]}?" if near else ":help lists the commands"
        raise UsageError(f"unknown command :{name}; {hint}")
    if not value and field.kind is not bool:
        say(_setting(field, params))
        return params
    changed = replace(params, **{field.name: _value(field, value, params)})
    changed.check()
    say(_setting(field, changed))
    return changed


def _value(field: Field, value: str, params: NeighborsParams) -> Any:
    """Return what was typed as a value; of a switch, nothing turns it."""
    if field.kind is bool:
        if not value:
            return not getattr(params, field.name)
        return field.convert({"on": True, "yes": True, "off": False, "no": False}.get(value, value))
    return None if field.optional and value in ("none", "all", "off") else field.convert(value)


def _setting(field: Field, params: NeighborsParams) -> str:
    value = getattr(params, field.name)
    text = field.opt.unset if value is None else ("on" if value else "off") if field.kind is bool else value
    return f"{field.flag[2:]}: {text}"


def _help(params: NeighborsParams) -> list[str]:
    """Return what can be typed."""
    lines = [
        "  king                           the nearest neighbors of a word",
        "  king - man + woman             of a sum of words, blanks around + and -",
        "  man : king :: woman : ?        the same, written as an analogy",
    ]
    for flag, field in _SETTINGS.items():
        values = "|".join(field.choices) or ("on|off" if field.kind is bool else "N")
        lines.append(f"  {f':{flag} {values}':<30} {field.opt.help} Now {_setting(field, params).partition(': ')[2]}.")
    return [*lines, "  :quit                          leave, as does the end of input (Ctrl-D)"]


class _Editor:
    """Editing of the line with Tab and arrows, and a history that the next session finds; nothing without readline."""

    def __init__(self, words: Sequence[Words], params: NeighborsParams) -> None:
        self._words, self._found = words, list[str]()
        self._file = history_file()

    def __enter__(self) -> None:
        try:
            import readline
        except ImportError:
            return
        self._readline = readline
        readline.set_completer_delims(" \t\n")
        readline.set_completer(self.complete)
        other = "libedit" in (readline.__doc__ or "")
        readline.parse_and_bind("bind ^I rl_complete" if other else "tab: complete")
        readline.set_history_length(_KEPT)
        if self._file is not None:
            with suppress(OSError):
                readline.read_history_file(self._file)

    def __exit__(self, *failure: object) -> None:
        if self._file is None or not hasattr(self, "_readline"):
            return
        with suppress(OSError):
            self._file.parent.mkdir(parents=True, exist_ok=True)
            self._readline.write_history_file(self._file)

    def complete(self, text: str, state: int) -> str | None:
        """Return one completion after the other, as readline asks for them."""
        if state == 0:
            self._found = self._candidates(text, self._readline.get_line_buffer().lstrip())
        return self._found[state] if state < len(self._found) else None

    def _candidates(self, text: str, typed: str) -> list[str]:
        if typed.startswith(":"):
            return _completed(text, typed)
        from embcli.query.lookup import starting_with

        found = [word for words in self._words for word in starting_with(words, text, _COMPLETED)]
        return [f"{word} " for word in dict.fromkeys(found) if word.split() == [word]]


def _completed(text: str, typed: str) -> list[str]:
    """Return the commands, or the values of an option, that begin with ``text``."""
    name, blank, _ = typed[1:].partition(" ")
    if not blank:
        return [f":{flag} " for flag in (*_SETTINGS, "help", "quit") if f":{flag}".startswith(text)]
    field = _SETTINGS.get(name)
    choices = () if field is None else field.choices or (("on", "off") if field.kind is bool else ())
    return [choice for choice in choices if choice.startswith(text)]


def history_file() -> Path | None:
    """Return where the history is kept: EMBCLI_HISTORY (empty: nowhere), or the user's folder for such things."""
    named = os.environ.get("EMBCLI_HISTORY")
    if named is not None:
        return Path(named) if named else None
    with suppress(RuntimeError):
        state = os.environ.get("XDG_STATE_HOME") or Path("~/.local/state").expanduser()
        return Path(state) / "embcli" / "neighbors_history"
    return None
