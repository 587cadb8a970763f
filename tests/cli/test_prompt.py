"""Oracle: what a person sees on a terminal (a pseudo-terminal here), and the same query on the command line."""

from __future__ import annotations

import os
import select
import signal
import sys
import time
from pathlib import Path

import pytest
from conftest import embcli, environment, failed, ok

from embcli.artifacts.schema import Words
from embcli.cli.prompt import command, history_file
from embcli.errors import UsageError
from embcli.query.lookup import starting_with
from embcli.spec import NeighborsParams

pty = pytest.importorskip("pty", reason="no pseudo-terminals here")
SIGN = "neighbors> "


class Terminal:
    """A command at a terminal."""

    def __init__(self, *args: str | Path, **env: str) -> None:
        settings = environment(TERM="xterm", **env)
        self.pid, self.fd = pty.fork()
        if not self.pid:
            signal.signal(signal.SIGINT, signal.SIG_DFL)  # a shell without job control ignores it for its children
            os.execve(sys.executable, [sys.executable, "-m", "embcli", *map(str, args)], settings)

    def read(self, until: str, seconds: float = 120) -> str:
        """Return what is written until a text appears, or the command ends."""
        seen, end = b"", time.monotonic() + seconds
        while until.encode() not in seen:
            assert time.monotonic() < end, seen.decode()
            if select.select([self.fd], [], [], 0.2)[0]:
                try:
                    part = os.read(self.fd, 65536)
                except OSError:  # the command has ended
                    break
                if not part:
                    break
                seen += part
        return seen.decode("utf-8", "replace").replace("\r\n", "\n")

    def type(self, text: str, until: str = SIGN) -> str:
        """Type something and return what comes then."""
        os.write(self.fd, text.encode())
        return self.read(until)

    def end(self) -> int:
        """Wait for the end of the command and return its exit code."""
        self.read("\0")
        code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        os.close(self.fd)
        return code


def test_a_person_at_a_terminal_is_asked(chain: Path, tmp_path: Path) -> None:
    history = tmp_path / "state" / "history"
    terminal = Terminal("neighbors", chain / "vectors.npz", EMBCLI_HISTORY=str(history))
    assert "3,013 names to ask for" in terminal.read(SIGN)
    found = terminal.type("king\n")
    for line in ok("neighbors", chain / "vectors.npz", "king", "--format", "tsv").text.splitlines()[1:]:
        assert line.split("\t")[3] in found
    assert "top: 2" in terminal.type(":top 2\n")
    found = terminal.type("king - man + woman\n")
    assert "queen" in found and "without king, man, woman" in found and "\n    3 " not in found
    assert "unknown word 'Hospitl'; did you mean hospital?" in terminal.type("Hospitl\n")
    assert "did you mean :top?" in terminal.type(":tpo 3\n")
    assert "--top: must be at least 1" in terminal.type(":top 0\n")
    assert ":metric cosine|dot|euclidean" in terminal.type(":help\n")
    terminal.type("quee\t", "queen ")  # Tab completes
    time.sleep(0.5)  # an interrupt within the completion itself would be lost
    assert SIGN in terminal.type("\x03")  # Ctrl-C gives the line up, and no more
    assert "prince" in terminal.type("queen\n")
    os.write(terminal.fd, b":quit\n")
    assert terminal.end() == 0
    assert history.read_text(encoding="utf-8").split("\n")[:2] == ["king", ":top 2"]


def test_the_history_is_there_the_next_time(chain: Path, tmp_path: Path) -> None:
    history = tmp_path / "history"
    history.write_text("bread\n", encoding="utf-8")
    terminal = Terminal("neighbors", chain / "vectors.npz", EMBCLI_HISTORY=str(history))
    terminal.read(SIGN)
    assert "butter" in terminal.type("\x1b[A\n")  # arrow up
    os.write(terminal.fd, b"\x04")  # Ctrl-D
    assert terminal.end() == 0


def test_without_a_terminal_a_query_is_missing(chain: Path) -> None:
    failed(embcli("neighbors", chain / "vectors.npz"), 2, "no query")
    failed(embcli("neighbors", chain / "vectors.npz", stdin=b"king\n"), 2, "no query")


def test_a_wrong_file_ends_the_command_before_it_asks(chain: Path) -> None:
    terminal = Terminal("neighbors", chain / "tokens.npz", EMBCLI_HISTORY="")
    assert "found 'tokens'" in terminal.read("\0")
    assert terminal.end() == 3


def test_settings_are_the_options_of_the_command() -> None:
    said: list[str] = []
    start = NeighborsParams()
    assert command("top", "20", start, said.append).top == 20
    assert command("restrict", "all", command("restrict", "9", start, said.append), said.append).restrict is None
    assert command("include-inputs", "", start, said.append).include_inputs
    assert not command("include-inputs", "off", start, said.append).include_inputs
    assert command("top", "", start, said.append) == start
    assert said == ["top: 20", "restrict: 9", "restrict: all", "include-inputs: on", "include-inputs: off", "top: 10"]
    for name, value in (("top", "x"), ("metric", "cosin"), ("tpo", "1")):
        with pytest.raises(UsageError):
            command(name, value, start, said.append)
    with pytest.raises(UsageError, match="--method mul"):
        command("metric", "dot", command("method", "mul", start, said.append), said.append)


def test_words_by_their_beginning_are_those_of_str_startswith() -> None:
    words = ["the", "then", "théâtre", "", "東京", "東", "th", "a"]
    for beginning in ("", "th", "thé", "東", "x", "them"):
        found = starting_with(Words.of(words), beginning, 99)
        assert found == [word for word in words if word.startswith(beginning)]
    assert starting_with(Words.of(words), "th", 2) == ["the", "then"]


def test_the_history_may_be_kept_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EMBCLI_HISTORY", "")
    assert history_file() is None
    monkeypatch.setenv("EMBCLI_HISTORY", "/x/y")
    assert history_file() == Path("/x/y")
