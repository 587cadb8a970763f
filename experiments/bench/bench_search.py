"""One query against a table that is large beside the memory of a process, and reading the same bytes once.

    python experiments/bench/bench_search.py [--rows 3000000] [--dim 300] [--threads 2] [--rounds 5] [--vectors FILE]

Rows are random in bunches, written to a temporary folder (3.6 GB at the defaults), or those of an artifact. In
alternating rounds, as whole processes: ``embcli neighbors`` for one word; and a program that reads the array's bytes
once, in blocks of 4 MB into one buffer. Both find the file in the page cache after the first round; ``--cold`` drops it
before each run (posix_fadvise). Then, with --index, how long the index takes and what it finds.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from rounds import EMBCLI, ROOT, Run, compare, environment

sys.path.insert(0, str(ROOT))

import numpy as np

from embcli.artifacts import provenance, store
from embcli.artifacts.schema import Blocks, Vectors, Words
from embcli.spec import STEPS

READ = """
import sys
room = bytearray(1 << 22)
with open(sys.argv[1], "rb", buffering=0) as file:
    while file.readinto(room):
        pass
"""
DROP = """
import os, sys
fd = os.open(sys.argv[1], os.O_RDONLY)
os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
"""


def made(path: Path, n: int, dim: int) -> None:
    """Write an artifact of random vectors in 2,000 bunches."""

    def rows() -> Iterator[np.ndarray]:
        rng = np.random.default_rng(0)
        centres = rng.standard_normal((2000, dim), np.float32)
        for start in range(0, n, 50_000):
            some = min(50_000, n - start)
            yield centres[rng.integers(0, 2000, some)] + rng.standard_normal((some, dim), np.float32)

    words = Words.of(f"word{i}" for i in range(n))
    vectors = Vectors(vectors=Blocks(np.float32, rows(), (dim,)), words=words, unigram=np.arange(n, 0, -1))
    store.write(vectors, str(path), provenance.compose("svd", STEPS["svd"].params(), 0, [], vectors))


def main() -> None:
    """Run both programs in turns."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("rows", 3_000_000), ("dim", 300), ("threads", 2), ("rounds", 5)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--vectors", help="an artifact of vectors, instead of random rows")
    parser.add_argument("--word", default="word7", help="the word to ask for")
    parser.add_argument("--cold", action="store_true", help="drop the file from the page cache before each run")
    parser.add_argument("--index", action="store_true", help="make an index too, and ask it")
    args = parser.parse_args()
    env = environment(str(args.threads))
    with tempfile.TemporaryDirectory() as folder:
        path = args.vectors or str(Path(folder) / "vectors.npz")
        if not args.vectors:
            # in a process of its own: the memory of a program counts from what its parent had
            maker = multiprocessing.get_context("spawn").Process(target=made, args=(Path(path), args.rows, args.dim))
            maker.start()
            maker.join()
        ask = [*EMBCLI, "neighbors", path, args.word, "--threads", str(args.threads)]
        drop = [[sys.executable, "-c", DROP, path]] if args.cold else []
        title = f"one query, {os.path.getsize(path) / 1e9:.1f} GB, {'cold' if args.cold else 'warm'}"
        runs = [Run("read once", *drop, [sys.executable, "-c", READ, path]), Run("neighbors", *drop, ask)]
        compare(title, runs, args.rounds, env)
        if args.index:
            index = str(Path(folder) / "index")
            for what in ("index made", "index asked"):
                run = Run(what, [*ask, "--index", index])
                compare(what, [run], 1, env)
                print(run.said.strip())


if __name__ == "__main__":
    main()
