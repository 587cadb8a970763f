"""How much CPU time a command takes to start, as a ratio to bare Python, printed beside its budget.

    python experiments/bench/bench_startup.py [--runs 11]

Fresh processes in random order; each figure is the median over the runs of user + system time, divided by the median
of ``python -c pass``. Budgets are those of the project's documentation for typer below 0.29.
"""

from __future__ import annotations

import argparse
import os
import platform
import random
import statistics
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
EMBCLI = [sys.executable, "-m", "embcli"]


def cpu(argv: list[str], env: dict[str, str], cwd: str) -> float:
    """Return user + system seconds of one process."""
    child = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=env, cwd=cwd)
    _, _, usage = os.wait4(child.pid, 0)
    child.returncode = 0
    return usage.ru_utime + usage.ru_stime


def commands() -> dict[str, tuple[list[str], dict[str, str], float | None]]:
    """Return what is timed: name -> (arguments, extra environment, budget)."""
    complete = {"_EMBCLI_COMPLETE": "complete_bash", "COMP_WORDS": "embcli sv", "COMP_CWORD": "1"}
    return {
        "python -c pass": ([sys.executable, "-c", "pass"], {}, None),
        "TAB completion": (EMBCLI, complete, 10),
        "--version": ([*EMBCLI, "--version"], {}, 10),
        "--help": ([*EMBCLI, "--help"], {}, 18),
        "svd --help": ([*EMBCLI, "svd", "--help"], {}, 18),
        "usage error": ([*EMBCLI, "svd"], {}, 18),
        "info": ([*EMBCLI, "info", "vectors.npz"], {}, 20),
        "neighbors": ([*EMBCLI, "neighbors", "vectors.npz", "king"], {}, 20),
        "svd": ([*EMBCLI, "svd", "counts.npz", "--dim", "5", "-o", "v.npz"], {}, 85),
        "cooc": ([*EMBCLI, "cooc", "tokens.npz", "-o", "c.npz"], {}, 85),
        "encode": ([*EMBCLI, "encode", "text.txt", "--words", "-o", "t.npz"], {}, 85),
    }


def main() -> None:
    """Make a small chain of artifacts, time everything, print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=11)
    runs = parser.parse_args().runs
    env = {**os.environ, "PYTHONPATH": str(ROOT), "NO_COLOR": "1"}
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "text.txt").write_text(
            "the king saw the queen and the queen saw the king\n" * 20, encoding="utf-8"
        )
        for step in (
            "encode text.txt --words -o tokens.npz",
            "cooc tokens.npz -o counts.npz",
            "svd counts.npz --dim 5 -o vectors.npz",
        ):
            subprocess.run([*EMBCLI, *step.split()], env=env, cwd=folder, check=True, stderr=subprocess.DEVNULL)
        todo = commands()
        times: dict[str, list[float]] = {name: [] for name in todo}
        order = [name for name in todo for _ in range(runs)]
        random.Random(0).shuffle(order)
        for name in order:
            argv, extra, _ = todo[name]
            times[name].append(cpu(argv, env | extra, folder))
    bare = statistics.median(times["python -c pass"])
    names = ("typer", "rich", "numpy", "scipy", "numba")
    print(f"Python {platform.python_version()}, " + ", ".join(f"{n} {version(n)}" for n in names) + f"; {runs} runs")
    print(f"bare Python {1000 * bare:.0f} ms CPU\n\n{'command':16s} {'ratio':>6s} {'budget':>7s}")
    for name, (_, _, budget) in todo.items():
        print(f"{name:16s} {statistics.median(times[name]) / bare:6.1f} {f'{budget:.0f}' if budget else '':>7s}")


if __name__ == "__main__":
    main()
