"""Run the commands that README.md shows and compare, or with --write replace, what they print.

    python experiments/readme.py [--write]

Blocks marked ``console`` hold lines that begin with $ and the output that follows them, stdout and stderr as a terminal
would mix them. They run in one temporary folder that sees ``data/``. Times, speeds and residuals are not compared,
and scores may differ in the last digit shown, since another kind of processor may round otherwise.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"```console\n(.*?)```", re.S)
VARIES = re.compile(
    r", [0-9.]+ s$|residual [0-9.e+-]+|, [0-9.]+ ?[kMG]? words/s|, [0-9:.]+( s)? so far, [0-9:.]+( s)? left", re.M
)
SCORE = re.compile(r"-?[0-9]\.[0-9]{4}\b")


def run(text: str, folder: Path, env: dict[str, str]) -> str:
    """Return a console block with the output that its commands give now."""
    lines = []
    for command in (line[2:] for line in text.splitlines() if line.startswith("$ ")):
        done = subprocess.run(
            ["bash", "-c", command], cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
        )
        said = [line for line in done.stdout.decode().splitlines() if "compiling kernels" not in line]
        lines += [f"$ {command}", *said]
    return "\n".join(lines) + "\n"


def refreshed(readme: str) -> str:
    """Return the README with every console block as its commands print it now."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "data").symlink_to(ROOT / "data")
        (folder / "bin").mkdir()
        shim = folder / "bin" / "embcli"
        shim.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m embcli "$@"\n', encoding="utf-8")
        shim.chmod(0o755)
        path = f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
        env = {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT), "NO_COLOR": "1", "COLUMNS": "100"}

        def now(m: re.Match[str]) -> str:
            block = f"```console\n{run(m[1], folder, env)}```"
            return m[0] if same(m[0], block) else block  # times alone are no news

        return BLOCK.sub(now, readme)


def same(before: str, after: str) -> bool:
    """Return whether two texts are the same but for what varies."""
    texts = [VARIES.sub("", text) for text in (before, after)]
    if SCORE.sub("#", texts[0]) != SCORE.sub("#", texts[1]):
        return False
    scores = [[float(score) for score in SCORE.findall(text)] for text in texts]
    return all(abs(a - b) < 1.5e-4 for a, b in zip(*scores, strict=True))


def main() -> int:
    """Compare or write; return 1 if the README is not what the commands print."""
    target = ROOT / "README.md"
    before = target.read_text(encoding="utf-8")
    after = refreshed(before)
    if "--write" in sys.argv[1:]:
        target.write_text(after, encoding="utf-8")
        return 0
    if same(before, after):
        return 0
    import difflib

    print("\n".join(difflib.unified_diff(before.splitlines(), after.splitlines(), "README.md", "now", lineterm="")))
    return 1


if __name__ == "__main__":
    sys.exit(main())
