"""``python -m embcli``, and what the installed ``embcli`` calls: signals are caught before anything is imported."""

from __future__ import annotations

import os
import sys
from typing import NoReturn

from embcli import stop


def entry() -> NoReturn:
    """Run the command line and leave at once: taking compiled code apart in good order would cost 0.2 s a run.

    Everything that must not be lost is done by then: artifacts are renamed, threads joined, streams flushed here.
    """
    stop.install()
    try:
        from embcli.cli.app import main

        code = main()
        sys.stdout.flush()
        sys.stderr.flush()
    except KeyboardInterrupt:
        sys.stderr.write("embcli: error: interrupted\n")
        code = 130
    except BrokenPipeError:
        code = 1
    os._exit(code)


if __name__ == "__main__":
    entry()
