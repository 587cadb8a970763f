"""Reading and writing vectors as text beside gensim, as whole processes.

    PEER_PYTHON=python python experiments/bench/bench_convert.py [--rows 400000] [--dim 50] [--threads 2] [--rounds 5]

A file of random rows, six digits a number as trainers print them, is read and saved: by embcli as an artifact, by
gensim (PEER_PYTHON) as its own file. Then both write what they saved as text again, and read and write the same rows
in word2vec's binary format. The vectors are compared, and ``--limit 1000`` is timed beside the whole file.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from rounds import EMBCLI, Run, compare, environment, has

LOAD = """
import sys
from gensim.models import KeyedVectors
KeyedVectors.load_word2vec_format(sys.argv[1], binary=sys.argv[3] == "1").save(sys.argv[2])
"""
SAVE = """
import sys
from gensim.models import KeyedVectors
KeyedVectors.load(sys.argv[1]).save_word2vec_format(sys.argv[2], binary=sys.argv[3] == "1")
"""
SAME = """
import sys, numpy as np
from gensim.models import KeyedVectors
z, kv = np.load(sys.argv[1]), KeyedVectors.load(sys.argv[2])
print("the same vectors:", z["vectors"].tobytes() == kv.vectors.tobytes(), "and words:",
      z["word_bytes"].tobytes() == "".join(kv.index_to_key).encode())
"""


def text_of(path: Path, rows: int, dim: int) -> None:
    """Write a file of words and random numbers."""
    rng = np.random.default_rng(0)
    line = "w%d " + " ".join(["%.6g"] * dim) + "\n"
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"{rows} {dim}\n")
        for start in range(0, rows, 10_000):
            table = 0.4 * rng.standard_normal((min(10_000, rows - start), dim), np.float32)
            file.writelines(line % (7919 * (start + i), *row) for i, row in enumerate(table.tolist()))


def main() -> None:
    """Run all comparisons."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("rows", 400_000), ("dim", 50), ("threads", 2), ("rounds", 5)):
        parser.add_argument(f"--{name}", type=int, default=default)
    args = parser.parse_args()
    threads, env = str(args.threads), environment(str(args.threads))
    peer = os.environ.get("PEER_PYTHON", "")
    with_gensim = has(peer, "gensim")
    with tempfile.TemporaryDirectory() as folder:
        at = {name: str(Path(folder) / name) for name in ("t.txt", "a.npz", "l.npz", "a.vec", "a.bin", "g", "g.vec")}
        text_of(Path(at["t.txt"]), args.rows, args.dim)
        ours = [*EMBCLI, "convert", "--threads", threads, "-q"]
        subprocess.run([*ours, at["t.txt"], "-o", at["a.npz"]], check=True, env=env)
        subprocess.run([*ours, at["a.npz"], "--to", "word2vec-binary", "-o", at["a.bin"]], check=True, env=env)
        size = f"{args.rows:,} x {args.dim}, {os.path.getsize(at['t.txt']) / 1e6:.0f} MB"

        def runs(name: str, code: str, source: str, kept: str, target: str, binary: str, *more: str) -> list[Run]:
            found = [Run("embcli", [*ours, at[name], *more, "-o", at[target]])]
            if with_gensim:
                found.append(Run("gensim", [peer, "-c", code, at[source], at[kept], binary]))
            return found

        compare(f"text in: {size}", runs("t.txt", LOAD, "t.txt", "g", "a.npz", "0"), args.rounds, env)
        if with_gensim:
            subprocess.run([peer, "-c", SAME, at["a.npz"], at["g"]], check=True)
        compare("text out", runs("a.npz", SAVE, "g", "g.vec", "a.vec", "0"), args.rounds, env)
        compare("binary in", runs("a.bin", LOAD, "a.bin", "g", "a.npz", "1"), args.rounds, env)
        compare(
            "binary out", runs("a.npz", SAVE, "g", "g.vec", "a.bin", "1", "--to", "word2vec-binary"), args.rounds, env
        )
        compare("the first 1,000", [Run("embcli", [*ours, at["t.txt"], "--limit", "1000", "-o", at["l.npz"]])], 3, env)


if __name__ == "__main__":
    main()
