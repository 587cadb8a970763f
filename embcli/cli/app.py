"""The command line: one Typer command per row of spec.STEPS, and errors turned into one line and an exit code.

Nothing but Typer and the standard library is imported here; a command loads what it needs when it runs.
"""

from __future__ import annotations

import gc
import inspect
import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Annotated, Any, Optional

import typer

from embcli import __version__, stop
from embcli.errors import EmbcliError, InputError
from embcli.spec import STEPS, Common, Field, OnCluster, Params, Step, StepCommon, fields, make

#: Typer's own class of all errors that it reports, reached without naming a private module
_ClickError = typer.BadParameter.__mro__[2]

_DAMAGED_CACHE = "compiled kernels are damaged; remove the folder EMBCLI_CACHE, or embcli in the user's cache"
_INTERRUPTED = "interrupted"
#: the functions behind the commands that print
_PRINTING = {
    "decode": "embcli.cli.queries:decode",
    "neighbors": "embcli.cli.queries:neighbors",
    "info": "embcli.cli.queries:info",
    "convert": "embcli.cli.outside:convert",
    "eval": "embcli.cli.evaluation:evaluation",
    "plot": "embcli.cli.pictures:plot",
    "run": "embcli.cli.experiments:experiment",
}


def _annotation(f: Field) -> Any:
    """Return the annotated type that makes Typer offer a field as an option."""
    flag = f"{f.flag}/--no-{f.flag[2:]}" if f.kind is bool and f.optional else f.flag
    shown: Any = f.opt.unset if f.opt.unset else f.kind is not bool
    extra: dict[str, Any] = {"metavar": f.opt.metavar} if f.opt.metavar else {}
    if f.choices:
        extra = {
            "metavar": "|".join(f.choices),
            "autocompletion": lambda incomplete: [c for c in f.choices if c.startswith(incomplete)],
        }
    option = typer.Option(flag, *f.opt.flags, help=f.opt.help, show_default=shown, rich_help_panel=f.opt.panel, **extra)
    kind: Any = list[str] if f.repeatable else Optional[f.kind] if f.optional else f.kind  # noqa: UP045 (built at run time)
    return Annotated[kind, option]


def _option_sets(step: Step) -> tuple[type[Params], ...]:
    """Return the params classes whose fields are a command's options."""
    if not step.writes:
        return (step.params, Common)
    return (step.params, StepCommon, *([OnCluster] if step.cluster else []), Common)


def _command(step: Step) -> Callable[..., None]:
    """Return a function with the signature that Typer needs for a step."""
    sets = _option_sets(step)
    seen = [f for s in sets for f in fields(s)]
    optional = step.input_optional
    wanted: Any = list[str] if step.many else str
    argument = typer.Argument(metavar=step.metavar, show_default=False, help=_reads(step))
    parameters = [
        inspect.Parameter("line", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context),
        inspect.Parameter(
            "inputs",
            inspect.Parameter.POSITIONAL_OR_KEYWORD,
            annotation=Annotated[Optional[wanted] if optional else wanted, argument],  # noqa: UP045
            default=None if optional else inspect.Parameter.empty,
        ),
    ]
    parameters += [
        inspect.Parameter(
            f.name,
            inspect.Parameter.KEYWORD_ONLY,
            annotation=_annotation(f),
            default=list(f.default) if f.repeatable else f.default,
        )
        for f in seen
    ]

    def run(line: typer.Context, inputs: Any = None, **values: Any) -> None:
        found = list(inputs) if isinstance(inputs, (list, tuple)) else [inputs] if inputs else []
        given = {name: value for name, value in values.items() if _is_given(line, name)}
        made = [make(s, {f.name: given[f.name] for f in fields(s) if f.name in given}) for s in sets]
        try:
            _dispatch(step, found, made)
        except EOFError as e:  # Typer would take it for a question without an answer
            raise InputError(f"{_DAMAGED_CACHE} ({e})") from e

    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {p.name: p.annotation for p in parameters}
    run.__name__ = step.name
    run.__doc__ = f"{step.summary}\n\n{step.details}"
    return run


def _is_given(line: typer.Context, name: str) -> bool:
    """Return whether an option stands on the command line, be it with the value of its default."""
    source = line.get_parameter_source(name)
    return source is None or source.name != "DEFAULT"


def _reads(step: Step) -> str:
    """Return the help text of a command's inputs."""
    if step.reads == ("text",):
        return "Files or folders of text; - is stdin."
    if step.name in ("run", "convert"):
        return "An experiment." if step.name == "run" else "An artifact, or a file or folder of another program."
    if step.name in ("neighbors", "plot"):
        queries = "queries" if step.name == "neighbors" else "words or expressions"
        return f"An artifact and {queries}, or artifacts, --, and {queries}."
    return (
        f"Artifact of kind {', '.join(step.reads[:-1])}{' or ' * (len(step.reads) > 1)}{step.reads[-1]}; - is stdin."
        if len(step.reads) < 5
        else "Any artifact; - is stdin."
    )


def _dispatch(step: Step, inputs: list[str], made: list[Any]) -> None:
    """Run a step or a report; heavy modules are imported below this point."""
    from embcli.cli.console import Console

    console = Console(step.name, made[-1], made[1].progress if step.writes else None)
    if step.writes:
        from embcli.cli.steps import run_step

        run_step(step, inputs, made[0], made[1], console, made[2].cluster if step.cluster else None)
    else:
        module, name = _PRINTING[step.name].split(":")
        getattr(import_module(module), name)(inputs, made[0], console)


def _version(value: bool) -> None:
    if value:
        typer.echo(f"embcli {__version__}")
        raise typer.Exit


def build() -> typer.Typer:
    """Return the Typer app with every command of the spec."""
    app = typer.Typer(
        name="embcli",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode="rich",
        context_settings={"help_option_names": ["-h", "--help"]},
        help="From raw text to nearest neighbors and analogies: tokens, counts, vectors, tables. "
        "Every step reads and writes .npz artifacts.",
        epilog="Documentation: README.md. Steps chain in shells and Makefiles; - is stdin or stdout.",
    )

    @app.callback()
    def _root(
        version: Annotated[
            bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
        ] = False,
    ) -> None: ...

    for step in STEPS.values():
        examples = "Examples:\n" + "\n".join(f"  {e}" for e in step.examples)
        app.command(step.name, rich_help_panel=step.panel, epilog=examples, no_args_is_help=False)(_command(step))
    return app


def _split_queries(argv: list[str]) -> list[str]:
    """Mark the first -- of a command that takes queries with a second one, since the parser swallows the first."""
    if argv[:1] in (["neighbors"], ["plot"]) and "--" in argv:
        at = argv.index("--")
        return [*argv[:at], "--", *argv[at:]]
    return argv


def _fail(command: str, text: str, code: int) -> int:
    """Print the one error line, whatever the terminal can show, and return the exit code."""
    from embcli.cli.console import line

    line(f"embcli {command}: error: {text}" if command else f"embcli: error: {text}")
    return code


def _prepare_streams() -> None:
    """Give closed standard streams something to be, and keep colors out of what is not a terminal."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 - open until the end
    if not sys.stdout.isatty():  # Typer takes FORCE_COLOR and GITHUB_ACTIONS for a terminal
        os.environ["_TYPER_FORCE_DISABLE_TERMINAL"] = "1"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code (see errors.py; 130 interrupted, 143 terminated)."""
    _prepare_streams()
    gc.disable()  # what a run allocates is arrays, freed by counting; looking for cycles only slows the imports
    args = _split_queries(list(sys.argv[1:] if argv is None else argv))
    command = args[0] if args and args[0] in STEPS else ""
    traceback = os.environ.get("EMBCLI_TRACEBACK", "0") not in ("", "0")
    try:
        code = typer.main.get_command(build()).main(args, prog_name="embcli", standalone_mode=False)
        sys.stdout.flush()
        stop.check()
        return _fail(command, _INTERRUPTED, 130) if code == 130 else code if isinstance(code, int) else 0
    except EmbcliError as e:
        if traceback:
            raise
        return _fail(command, str(e), e.exit_code)
    except _ClickError as e:  # type: ignore[misc]
        text = e.format_message().rstrip(".")  # type: ignore[attr-defined]
        text = text[:1].lower() + text[1:] + (" See" if text.endswith("?") else "; see")
        return _fail(command, f"{text} '{' '.join(filter(None, ('embcli', command, '--help')))}'", 2)
    except KeyboardInterrupt:
        return _fail(command, _INTERRUPTED, 130)
    except BrokenPipeError:
        # the reader of our pipe has left; keep Python from complaining once more at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception as e:
        if type(e).__name__ == "UnpicklingError":
            return _fail(command, f"{_DAMAGED_CACHE} ({e})", 1)
        if traceback or not isinstance(e, (OSError, MemoryError)):
            raise
        return _fail(command, _system_error(e), 1)


def _system_error(e: OSError | MemoryError) -> str:
    """Return what the system refused, in one clause."""
    if isinstance(e, MemoryError):
        return f"out of memory{': ' + str(e) if str(e) else ''}; a smaller input or --memory may help"
    name = f"{e.filename}: " if e.filename else ""
    return f"{name}{e.strerror or e}"
