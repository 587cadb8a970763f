"""Oracle: processes. What the tests take for a run of the command line is the same by a fork and by a process."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from conftest import DATA, Ran, embcli, environment, ok
from zygote import FORKS, POSSIBLE, Zygote

TEXT = (DATA / "corpus.txt").read_bytes()[:300_000]
LINES = [
    ["--version"], ["--help"], ["svd", "--help"], ["nonsense"], ["cooc", "no.npz", "-o", "c.npz"],
    ["encode", "-", "--words", "-o", "-"], ["encode", "-", "--words", "-q", "-o", "x/t.npz"],
    ["encode", "-", "--text", "naïve 東京", "--words"],
]  # fmt: skip

pytestmark = pytest.mark.skipif(not POSSIBLE, reason="forks are not safe here")


def both(line: list[str], folder: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Ran, Ran]:
    """Run a command line by a fork (unless the suite is asked for processes only) and by a process."""
    forked = embcli(*line, stdin=TEXT, cwd=folder)
    monkeypatch.setattr(FORKS, "wanted", False)
    return forked, embcli(*line, stdin=TEXT, cwd=folder)


@pytest.mark.parametrize("line", LINES, ids=" ".join)
def test_a_fork_leaves_what_a_process_leaves(line: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = both(line, tmp_path, monkeypatch)
    assert (a.code, a.out) == (b.code, b.out)
    # a summary ends with the seconds of the run
    assert a.talk.rsplit(", ", 1)[0] == b.talk.rsplit(", ", 1)[0] or "compiling" in b.talk


def test_an_environment_is_for_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the call, by the test, by the suite; and a fork would not have seen it."""
    assert FORKS.serving(environment(PYTHONHASHSEED="1")) is None
    FORKS.serving(environment())
    monkeypatch.setenv("EMBCLI_OTHER", "x")
    assert FORKS.serving(environment()) is None
    monkeypatch.setenv("EMBCLI_TESTS", "processes")
    assert FORKS.serving(environment()) is None


@pytest.mark.processes
def test_a_mark_asks_for_processes() -> None:
    assert not FORKS.wanted and FORKS.serving(environment()) is None


def test_a_child_that_takes_too_long_is_ended_and_the_next_runs(tmp_path: Path) -> None:
    forks = Zygote(environment())
    assert forks.run(["--version"], b"", None, 60)[0] == 0
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(subprocess.TimeoutExpired):
        forks.run(["encode", str(tmp_path / "fifo"), "--words", "-o", str(tmp_path / "t")], b"", None, 2)
    assert forks.run(["--version"], b"", None, 60)[1] == ok("--version").out
    forks.close()
