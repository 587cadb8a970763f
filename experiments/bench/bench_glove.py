"""GloVe beside Stanford's programs, as whole processes: an epoch, and the road from words to vectors.

    GLOVE=folder-of-its-programs python experiments/bench/bench_glove.py CORPUS [--only epoch|chain] [--rounds 3]

CORPUS is plain text; it is lower-cased and cut into words once, untimed, so that both read the same white-space
separated words. Window 10, harmonic weights, symmetric, min-count 10, 100 dimensions, x-max 100.

- epoch: ``glove`` for four epochs and for one; the difference, divided by three, is what an epoch takes without start
  and output. Stanford's reads cells shuffled before, untimed; ours goes through the cells again for the cost.
- chain: embcli encode, cooc, glove; vocab_count, cooccur, shuffle, glove. 15 epochs: a quarter of an hour a round.
"""

from __future__ import annotations

import argparse
import os
import shlex
import statistics
import subprocess
import tempfile
from pathlib import Path

from rounds import EMBCLI, Run, compare, cut, environment


class Bench:
    """The two comparisons, on files of one folder."""

    def __init__(self, folder: Path, corpus: str, glove: str, threads: str) -> None:
        self.folder, self.glove, self.threads, self.words = folder, glove, threads, str(folder / "words.txt")
        cut(corpus, Path(self.words))

    def at(self, name: str) -> str:
        """Return the path of a file in the folder."""
        return str(self.folder / name)

    def ours(self, epochs: int) -> list[list[str]]:
        """Return encode, cooc and glove."""
        encode = [*EMBCLI, "encode", self.words, "--words", "--split", "whitespace", "--min-count", "10"]
        cooc = [*EMBCLI, "cooc", self.at("t.npz"), "--window", "10"]
        glove = [*EMBCLI, "glove", self.at("c.npz"), "--epochs", str(epochs)]
        rest = ["--threads", self.threads, "-q", "-o"]
        outs = ("t.npz", "c.npz", "v.npz")
        return [[*step, *rest, self.at(out)] for step, out in zip((encode, cooc, glove), outs, strict=True)]

    def theirs(self, epochs: int) -> list[list[str]]:
        """Return vocab_count, cooccur, shuffle and glove."""
        vocab, cooc, shuffled = self.at("vocab"), self.at("cooc"), self.at("shuffled")
        count = f"vocab_count -min-count 10 -verbose 0 < {self.words} > {vocab}"
        cooccur = f"cooccur -memory 4 -vocab-file {vocab} -window-size 10 -verbose 0"
        cooccur += f" -overflow-file {self.at('overflow')} < {self.words} > {cooc}"
        shuffle = f"shuffle -memory 4 -verbose 0 -temp-file {self.at('temp')} < {cooc} > {shuffled}"
        glove = f"glove -input-file {shuffled} -vocab-file {vocab} -save-file {self.at('vectors')} -vector-size 100"
        glove += f" -x-max 100 -binary 0 -seed 1 -verbose 0 -iter {epochs} -threads {self.threads}"
        lines = [f"{shlex.quote(self.glove)}/{line}" for line in (count, cooccur, shuffle, glove)]
        return [["sh", "-c", line] for line in lines]

    def epoch(self, rounds: int, env: dict[str, str]) -> None:
        """Print what four epochs, one, and the difference a third of it take."""
        for step in (*self.ours(1)[:2], *self.theirs(1)[:3]):
            subprocess.run(step, check=True, env=env, stderr=subprocess.DEVNULL)
        names = [("embcli glove", self.ours), ("Stanford glove", self.theirs)]
        runs = [Run(f"{name}, {n}", make(n)[-1]) for name, make in names for n in (4, 1)]
        compare("glove: four epochs, and one", runs, rounds, env)
        ours, theirs = (
            statistics.median((a - b) / 3 for a, b in zip(runs[i].wall, runs[i + 1].wall, strict=True)) for i in (0, 2)
        )
        print(f"an epoch: embcli {ours:.2f} s, Stanford {theirs:.2f} s, {theirs / ours:.1f} times as long")

    def chain(self, rounds: int, env: dict[str, str]) -> None:
        """Print what the roads from words to vectors take."""
        runs = [Run("embcli", *self.ours(15)), Run("Stanford GloVe", *self.theirs(15))]
        compare("words to vectors, 15 epochs", runs, rounds, env)


def main() -> None:
    """Run the comparisons."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", default="2")
    parser.add_argument("--only", choices=("epoch", "chain"))
    a = parser.parse_args()
    if "GLOVE" not in os.environ:
        raise SystemExit("GLOVE: the folder with vocab_count, cooccur, shuffle and glove")
    env = environment(a.threads)
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder), a.corpus, os.environ["GLOVE"], a.threads)
        for name in [a.only] if a.only else ["epoch", "chain"]:
            getattr(bench, name)(a.rounds, env)


if __name__ == "__main__":
    main()
