"""What a person sees while a command runs: notes, progress and the summary on stderr, data on stdout.

stdout is data, stderr is talk. Nothing here decides a result.
"""

from __future__ import annotations

import json
import os
import sys
import time
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from embcli import stop
from embcli.errors import UsageError
from embcli.job import human_count
from embcli.spec import Common, fields

if TYPE_CHECKING:
    from embcli.cli.epochs import Epochs


class Console:
    """The streams of one command.

    ``progress`` None means: on a terminal. Quiet leaves only errors.
    """

    def __init__(self, command: str, common: Common, progress: bool | None = None) -> None:
        self.command, self.quiet, self.verbose, self.json = command, common.quiet, common.verbose, common.json
        self.started = time.monotonic()
        wanted = sys.stderr.isatty() if progress is None else progress
        self._meter = Meter(command) if wanted and not self.quiet else None
        self.epochs: Epochs | None = None
        self._others = warnings.showwarning
        warnings.showwarning = self._warned

    @property
    def seconds(self) -> float:
        """Seconds since the command started."""
        return time.monotonic() - self.started

    def say(self, text: str) -> None:
        """Print one line of talk, unless quiet."""
        if not self.quiet:
            self._line(text)

    def warn(self, text: str) -> None:
        """Print a warning, unless quiet."""
        self.say(f"warning: {text}")

    def _warned(self, message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
        """Say that kernels are compiled, which they report as a warning; leave other warnings to Python."""
        if category.__name__ == "Compiling":
            self.say(str(message))
        else:
            self._others(message, category, *place, **more)

    def detail(self, text: str) -> None:
        """Print a line that only --verbose shows."""
        if self.verbose:
            self.say(text)

    def progress(self, done: float, total: float, unit: str) -> None:
        """Show how far the work is."""
        stop.check()
        if self._meter and not (self.epochs and self.epochs.live):
            self._meter.show(done, total, unit)

    def epoch(self, event: dict[str, Any]) -> None:
        """Show how an epoch goes: a live table on a terminal, else a line when it is finished."""
        if self.epochs is None:
            from embcli.cli.epochs import Epochs

            if self._meter:
                self._meter.clear()
            self.epochs = Epochs(self.say, live=self._meter is not None and self._meter.live)
        self.epochs.hear(event)

    def close(self) -> None:
        """Leave the live table as it is: what comes now is printed below it."""
        if self.epochs:
            self.epochs.close()

    def data(self, text: str) -> None:
        """Write text to stdout; what its encoding cannot hold becomes an escape."""
        if self._meter:
            self._meter.clear()
        encoding = sys.stdout.encoding or "utf-8"
        sys.stdout.write(text.encode(encoding, "backslashreplace").decode(encoding))

    def data_json(self, value: dict[str, Any]) -> None:
        """Write one JSON object as a line on stdout."""
        self.data(
            json.dumps(value, ensure_ascii=(sys.stdout.encoding or "ascii").lower() not in ("utf-8", "utf8")) + "\n"
        )

    def _line(self, text: str) -> None:
        if self._meter:
            self._meter.clear()
        line(f"embcli {self.command}: {text}")


class Meter:
    """One line on a terminal: share done, speed, time left. Never goes back, never exceeds 100 %."""

    def __init__(self, command: str) -> None:
        self.command, self.started, self.last, self.share, self.width = command, time.monotonic(), 0.0, 0.0, 0
        # off a terminal (--progress given) each report is a line of its own, so that logs hold no control characters
        self.live = sys.stderr.isatty()

    def show(self, done: float, total: float, unit: str) -> None:
        """Draw the line anew, at most ten times a second (off a terminal: a line every ten seconds)."""
        now = time.monotonic()
        if now - self.last < (0.1 if self.live else 10):
            return
        self.last = now
        spent = max(now - self.started, 1e-9)
        text = f"embcli {self.command}: "
        if total > 0:
            self.share = min(max(self.share, done / total), 1.0)
            left = spent / self.share - spent if self.share > 0 else 0.0
            text += f"{100 * self.share:3.0f} %, {human_count(done / spent)} {unit}/s, {left:.0f} s left"
        else:
            text += f"{human_count(done)} {unit}, {human_count(done / spent)} {unit}/s"
        if self.live:
            self.clear()
            self.width = len(text)
            sys.stderr.write("\r" + text)
            sys.stderr.flush()
        else:
            print(text, file=sys.stderr, flush=True)

    def clear(self) -> None:
        """Wipe the line before something else is printed."""
        if self.width:
            sys.stderr.write("\r" + " " * self.width + "\r")
            self.width = 0


def refuse_terminal(out: str | None) -> None:
    """Raise UsageError if binary data is about to go to a terminal."""
    if out == "-" and sys.stdout.isatty():
        raise UsageError("-o -: refusing to write an artifact to a terminal; give a file name or a pipe")


#: what a name of a file may hold that a terminal would obey
_CONTROLS = {i: f"\\x{i:02x}" for i in (*range(32), *range(127, 160))}


def line(text: str) -> None:
    """Print one line on stderr, with escapes for what breaks lines or what the stream's encoding cannot hold."""
    encoding = sys.stderr.encoding or getattr(sys.__stderr__, "encoding", None) or "ascii"  # a live table has none
    print(text.translate(_CONTROLS).encode(encoding, "backslashreplace").decode(encoding), file=sys.stderr, flush=True)


def keep_inputs(inputs: Sequence[str], out: str | None, params: Any = None, option: str = "-o") -> None:
    """Raise UsageError if the output would replace an input, or a file that an option of ``params`` names."""
    named = [(f, getattr(params, f.name)) for f in fields(type(params)) if f.opt.file] if params is not None else []
    inputs = [*inputs, *(path for f, value in named if value for path in (value if f.repeatable else [value]))]
    if out is None or out == "-" or not os.path.isfile(out):
        return
    if any(path != "-" and os.path.exists(path) and os.path.samefile(path, out) for path in inputs):
        raise UsageError(f"{option} {out}: is an input too, and would be replaced; give another name")


def limit_blas(threads: int) -> None:
    """Fix the number of BLAS threads. Works only before numpy is loaded."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"):
        os.environ[name] = str(threads)


def cores() -> int:
    """Return the number of cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
