"""Programs run in turns as whole processes, and the table of what they took. The benches here compare with it."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
EMBCLI = [sys.executable, "-m", "embcli"]


def environment(threads: str) -> dict[str, str]:
    """Return the environment of all programs: this checkout, and so many threads for BLAS and OpenMP."""
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    return {**os.environ, "PYTHONPATH": str(ROOT), **dict.fromkeys(names, threads)}


def cut(corpus: str, words: Path) -> None:
    """Write a corpus as lower-cased words, one row a line: what every program of a comparison reads."""
    tokens = words.with_suffix(".all.npz")
    step = [*EMBCLI, "encode", corpus, "--words", "--lower", "--min-count", "1", "-q", "-o", str(tokens)]
    subprocess.run(step, check=True)
    subprocess.run([*EMBCLI, "decode", str(tokens), "-o", str(words)], check=True)


class Encoded:
    """The files of a comparison of trainers: a corpus as ``words`` for programs that read text, and as ``tokens``.

    ``encode`` is the command that made the tokens of the words, for runs that count it in.
    """

    def __init__(self, folder: Path, corpus: str, dim: str, threads: str) -> None:
        self.folder, self.dim, self.threads = folder, dim, threads
        self.words, self.tokens = self.at("words.txt"), self.at("tokens.npz")
        cut(corpus, Path(self.words))
        self.encode = [*EMBCLI, "encode", self.words, "--words", "--split", "whitespace", "--min-count", "10", "-q"]
        self.encode += ["-o", self.tokens, "--threads", threads]
        subprocess.run(self.encode, check=True)

    def at(self, name: str) -> str:
        """Return the path of a file in the folder."""
        return str(self.folder / name)


def has(python: str, module: str) -> bool:
    """Return whether an interpreter has a module; say so if not."""
    if not python:
        return False
    done = subprocess.run([python, "-c", f"import {module}"], capture_output=True, check=False)
    if done.returncode:
        print(f"PEER_PYTHON has no {module}")
    return done.returncode == 0


class Run:
    """One program of a comparison: how it is started, and what its rounds took.

    argv : the program; several are run one after the other and count as one.
    stdin, stdout : files, or nothing.
    """

    def __init__(self, name: str, *argv: list[str], stdin: str | None = None, stdout: str | None = None) -> None:
        self.name, self.argv, self.stdin, self.stdout = name, argv, stdin, stdout
        self.wall: list[float] = []
        self.cpu: list[float] = []
        self.peak = 0.0
        self.said = ""

    def once(self, env: dict[str, str]) -> None:
        """Run everything once, counting wall and processor time and peak memory."""
        start, cpu = time.monotonic(), 0.0
        for argv in self.argv:
            cpu += self._process(argv, env)
        self.wall.append(time.monotonic() - start)
        self.cpu.append(cpu)

    def warm(self, env: dict[str, str]) -> None:
        """Run what is embcli's once, uncounted, so that its kernels are compiled."""
        for argv in self.argv:
            if argv[: len(EMBCLI)] == EMBCLI:
                self._process(argv, env)
        self.peak = 0.0

    def _process(self, argv: list[str], env: dict[str, str]) -> float:
        source = open(self.stdin, "rb") if self.stdin else subprocess.DEVNULL  # noqa: SIM115
        target = open(self.stdout, "wb") if self.stdout else subprocess.DEVNULL  # noqa: SIM115
        child = subprocess.Popen(argv, stdin=source, stdout=target, stderr=subprocess.PIPE, env=env)
        assert child.stderr is not None
        self.said = child.stderr.read().decode(errors="replace")
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        self.peak = max(self.peak, usage.ru_maxrss / 1024)
        for f in (source, target):
            if not isinstance(f, int):
                f.close()
        if child.returncode:
            raise SystemExit(f"{self.name} failed: {self.said[-500:]}")
        return usage.ru_utime + usage.ru_stime


def compare(title: str, runs: list[Run], rounds: int, env: dict[str, str]) -> None:
    """Run all programs in alternating rounds and print their table: medians, and the largest peak memory.

    embcli runs once before, uncounted: only its first run on a machine compiles its kernels. Ratios are medians of the
    round-by-round ratios of wall time to the first program, and the lowest and highest.
    """
    for run in runs:
        run.warm(env)
    for _ in range(rounds):
        for run in runs:
            run.once(env)
    print(f"\n{title}\n{'program':24s} {'wall s':>8s} {'cpu s':>8s} {'times the first':>20s} {'peak MB':>8s}")
    for run in runs:
        each = [a / b for a, b in zip(run.wall, runs[0].wall, strict=True)]
        spread = f" ({min(each):.2f}-{max(each):.2f})" if rounds > 1 and run is not runs[0] else ""
        ratio = f"{statistics.median(each):.2f}{spread}"
        wall, cpu = statistics.median(run.wall), statistics.median(run.cpu)
        print(f"{run.name:24s} {wall:8.2f} {cpu:8.2f} {ratio:>20s} {run.peak:8.0f}", flush=True)
