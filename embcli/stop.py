"""Remember that a signal asked the program to end. Standard library only; set up before anything else is imported.

An exception from a signal handler is lost where C code calls back into Python (the compiler does, when it loads
kernels), so long work asks ``check`` now and then.
"""

from __future__ import annotations

import signal
from typing import Any, NoReturn

#: the number of the signal that arrived, 0 if none did
requested = 0


def _raise(number: int) -> NoReturn:
    if number == signal.SIGINT:
        raise KeyboardInterrupt
    raise SystemExit(128 + number)


def _request(number: int, frame: Any) -> NoReturn:
    global requested
    requested = number
    _raise(number)


def install() -> None:
    """Let Ctrl-C and SIGTERM leave by the same road as any failure, so that temporary files are removed."""
    signal.signal(signal.SIGINT, _request)
    signal.signal(signal.SIGTERM, _request)


def forget() -> None:
    """Take a Ctrl-C for answered: a prompt goes on after it."""
    global requested
    requested = 0


def check() -> None:
    """Raise once more what a signal raised and somebody lost."""
    if requested:
        _raise(requested)
