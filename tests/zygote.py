"""A process that has loaded what the commands load, and forks a child for each command line: no start-up for each.

The child is as a process of its own: arguments, folder, pipes, the road of ``python -m embcli`` to its exit code. But
modules, compiled kernels and settings read at start-up (environment, seed of hashes) are those of the process it comes
from: whoever tests these must start a process.
"""

from __future__ import annotations

import atexit
import json
import os
import runpy
import signal
import socket
import subprocess
import sys
import tempfile
import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import chdir, suppress
from pathlib import Path

#: a child of a process with loaded system libraries is safe on Linux; macOS has fork, and libraries that forbid it
POSSIBLE = hasattr(os, "fork") and sys.platform.startswith("linux")

#: commands that load modules and kernels before the first child is made; in.txt is in their folder
_WARM = """\
encode in.txt --words --min-count 1 -o t
cooc t -o c
svd c --dim 2 -o v
neighbors v a --format tsv"""


class Zygote:
    """The process that forks, as the tests see it. ``env`` is the environment of all its children."""

    def __init__(self, env: dict[str, str]) -> None:
        self.env = env
        self._ask, theirs = socket.socketpair()
        # pipes, as its children will have: Python chooses buffers by what the streams are when it starts
        self._process = subprocess.Popen(
            [sys.executable, __file__, str(theirs.fileno())], env=env, pass_fds=[theirs.fileno()], cwd="/",
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        theirs.close()
        self._threads = ThreadPoolExecutor(3)
        atexit.register(self.close)

    def run(self, line: list[str], stdin: bytes, cwd: Path | None, timeout: float) -> tuple[int, bytes, bytes]:
        """Run a command line as ``subprocess.run`` would; return exit code (-n: signal n), stdout and stderr."""
        pipes = [os.pipe() for _ in range(3)]
        ours, theirs = [pipes[0][1], pipes[1][0], pipes[2][0]], [pipes[0][0], pipes[1][1], pipes[2][1]]
        request = json.dumps([line, str(cwd or Path.cwd())]).encode("ascii")
        self._ask.settimeout(timeout)
        socket.send_fds(self._ask, [len(request).to_bytes(4, "little")], theirs)
        self._ask.sendall(request)
        _close(theirs)
        writing = self._threads.submit(_write, ours[0], stdin)
        reading = [self._threads.submit(_read, fd) for fd in ours[1:]]
        child = self._number()
        try:
            code = self._number()
        except TimeoutError:
            os.kill(child, signal.SIGKILL)
            self._number()
            raise subprocess.TimeoutExpired(line, timeout) from None
        writing.result()
        return code, reading[0].result(), reading[1].result()

    def close(self) -> None:
        """Let the process end: it does when nobody can ask any more."""
        self._ask.close()
        self._process.communicate()

    def _number(self) -> int:
        """Return the next number of the answer."""
        raw = self._ask.recv(4, socket.MSG_WAITALL)
        if len(raw) < 4:
            raise RuntimeError(f"the process that forks has ended: {self._process.communicate()[1].decode()}")
        return int.from_bytes(raw, "little", signed=True)


class _Forks:
    """Whether command lines are forks in this process. Here, since pytest loads conftest.py twice."""

    wanted = True
    zygote: Zygote | None = None

    def serving(self, env: dict[str, str]) -> Zygote | None:
        """Return the process that forks, if its children are what processes with this environment are."""
        if not self.wanted or not POSSIBLE or env.get("EMBCLI_TESTS") == "processes":
            return None
        env = {k: v for k, v in env.items() if k != "PYTEST_CURRENT_TEST"}
        if self.zygote is None:
            self.zygote = Zygote(env)
        return self.zygote if self.zygote.env == env else None


FORKS = _Forks()


def _write(fd: int, data: bytes) -> None:
    """Write all to a pipe and close it; a reader who has left is no error."""
    with suppress(BrokenPipeError), open(fd, "wb", buffering=0) as f:
        while data:
            data = data[f.write(data) :]


def _close(fds: list[int]) -> None:
    for fd in fds:
        os.close(fd)


def _read(fd: int) -> bytes:
    """Return all that comes out of a pipe."""
    with open(fd, "rb") as f:
        return f.read()


def _warm() -> None:
    """Load modules and kernels by running commands, in the order in which commands load them. No thread is left."""
    from embcli.cli.app import main

    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(), chdir(folder):  # commands leave hooks
        Path("in.txt").write_text("a b c a\nb c d a\n" * 20, encoding="utf-8")
        for line in _WARM.splitlines():
            code = main([*line.split(), *(["-q", "--threads", "1"] if " -o " in line else [])])
            assert code == 0, line


def _serve(asked: socket.socket) -> None:
    """Fork a child for each request and say its number and how it ended. Returns in the children only."""
    while True:
        size, fds, _, _ = socket.recv_fds(asked, 4, 3)
        if not size:
            os._exit(0)
        line, folder = json.loads(asked.recv(int.from_bytes(size, "little"), socket.MSG_WAITALL))
        child = os.fork()
        if child == 0:
            asked.close()
            for i, fd in enumerate(fds):
                os.dup2(fd, i)
            _close(fds)
            os.chdir(folder)
            sys.path[0], sys.argv = folder, ["embcli", *line]
            return
        _close(fds)
        asked.sendall(child.to_bytes(4, "little"))
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        asked.sendall(code.to_bytes(4, "little", signed=True))


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the tests; children set their own
    _warm()
    _serve(socket.socket(fileno=int(sys.argv[1])))
    runpy.run_module("embcli", run_name="__main__", alter_sys=True)
