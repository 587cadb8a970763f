"""Shared helpers: where outside data lies, and how the command line is run.

A command line is run by a fork of a process that has loaded everything (zygote.py), unless the call gives an
environment, the test is marked ``processes``, or EMBCLI_TESTS=processes asks for processes everywhere.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from browser import Browser
from hypothesis import HealthCheck, settings
from zygote import FORKS

settings.register_profile(  # half of the usual examples: all tests together have ten minutes
    "embcli", max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)
settings.load_profile("embcli")

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "data"


def shared() -> Path:
    """Return the folder of real corpora beside the project, or skip the test: the project does not need it."""
    folder = Path(os.environ.get("EMBCLI_SHARED", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip("no folder of real corpora here (EMBCLI_SHARED)")
    return folder


@dataclass(frozen=True)
class Ran:
    """What a finished command left: exit code, stdout and stderr as bytes."""

    code: int
    out: bytes
    err: bytes

    @property
    def text(self) -> str:
        return self.out.decode("utf-8")

    @property
    def talk(self) -> str:
        return self.err.decode("utf-8")


def environment(**extra: str) -> dict[str, str]:
    """Return an environment in which no setting of the machine reaches the command."""
    gone = ("FORCE_COLOR", "GITHUB_ACTIONS", "PY_COLORS", "EMBCLI_TRACEBACK", "TTY_COMPATIBLE")
    kept = {k: v for k, v in os.environ.items() if k not in gone}
    return kept | {"NO_COLOR": "1", "TERMINAL_WIDTH": "100", "COLUMNS": "100", "PYTHONPATH": str(ROOT)} | extra


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Let a marked test, and what it is the first to need, use processes."""
    FORKS.wanted = item.get_closest_marker("processes") is None


def embcli(
    *args: str | Path, stdin: bytes | None = None, cwd: Path | None = None, timeout: float = 300, **env: str
) -> Ran:
    """Run the command line, as a process of its own would (see the top of this file)."""
    line, given, settings = [*map(str, args)], stdin if stdin is not None else b"", environment(**env)
    if not env and (zygote := FORKS.serving(settings)):
        return Ran(*zygote.run(line, given, cwd, timeout))
    done = subprocess.run(
        [sys.executable, "-m", "embcli", *line],
        input=given,
        capture_output=True,
        cwd=cwd,
        env=settings,
        timeout=timeout,
        check=False,
    )
    return Ran(done.returncode, done.stdout, done.stderr)


def ok(*args: str | Path, **kw: object) -> Ran:
    """Run the command line and require exit code 0."""
    ran = embcli(*args, **kw)  # type: ignore[arg-type]
    assert ran.code == 0, f"{args}: exit {ran.code}: {ran.talk}"
    return ran


def failed(ran: Ran, code: int, *parts: str) -> None:
    """Require a clean failure: the exit code, one line on stderr that holds the parts, no traceback, no data."""
    lines = [line for line in ran.talk.splitlines() if "compiling kernels" not in line]
    assert ran.code == code, f"exit {ran.code}: {ran.talk}"
    assert "Traceback" not in ran.talk
    assert len(lines) == 1 and "error: " in lines[0], ran.talk
    for part in parts:
        assert part in lines[0], f"{part!r} not in {lines[0]!r}"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """Yield a browser with a profile of its own, or skip the tests where there is none."""
    made = Browser(tmp_path_factory.mktemp("profile"))
    yield made
    made.close()


@pytest.fixture(scope="session")
def chain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with tokens.npz, counts.npz and vectors.npz of the bundled corpus, made by the commands."""
    folder = tmp_path_factory.mktemp("chain")
    ok("encode", DATA / "corpus.txt", "--words", "--lower", "-o", folder / "tokens.npz")
    ok("cooc", folder / "tokens.npz", "--weighting", "dynamic", "-o", folder / "counts.npz")
    ok("svd", folder / "counts.npz", "--dim", "150", "-o", folder / "vectors.npz")
    return folder
