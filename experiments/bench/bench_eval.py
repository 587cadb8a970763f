"""Analogies of a corpus's vectors beside gensim, as whole processes.

    PEER_PYTHON=python python experiments/bench/bench_eval.py CORPUS [--rounds 3] [--threads 2] [--questions FILE]

Vectors are made once, untimed: words of at least ten, PPMI of window 5, 100 dimensions. Questions are those of FILE, in
the format of the Google questions (the file named by QUESTIONS, else the bundled ones). Each program opens the vectors
in its own format and answers all questions among all words; how many it gets right is printed.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
from pathlib import Path

from rounds import EMBCLI, ROOT, Run, compare, environment, has

KEEP = """
import sys
from gensim.models import KeyedVectors
KeyedVectors.load_word2vec_format(sys.argv[1]).save(sys.argv[2])
"""
ANSWER = """
import sys
from gensim.models import KeyedVectors
vectors = KeyedVectors.load(sys.argv[1], mmap="r")
_, sections = vectors.evaluate_word_analogies(sys.argv[2], restrict_vocab=len(vectors), case_insensitive=False)
print(len(sections[-1]["correct"]), file=sys.stderr)
"""


def main() -> None:
    """Run the comparison."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", default="2")
    parser.add_argument("--questions", default=os.environ.get("QUESTIONS") or str(ROOT / "data" / "questions.txt"))
    args = parser.parse_args()
    env, peer = environment(args.threads), os.environ.get("PEER_PYTHON", "")
    with tempfile.TemporaryDirectory() as folder:
        at = {name: str(Path(folder) / name) for name in ("t.npz", "c.npz", "v.npz", "v.txt", "g")}
        for line in (
            ["encode", args.corpus, "--words", "--lower", "--min-count", "10", "-o", at["t.npz"]],
            ["cooc", at["t.npz"], "--weighting", "dynamic", "-o", at["c.npz"]],
            ["svd", at["c.npz"], "-o", at["v.npz"]],
            ["convert", at["v.npz"], "--to", "word2vec", "-o", at["v.txt"]],
        ):
            subprocess.run([*EMBCLI, *line, "-q"], check=True, env=env)
        ask = [*EMBCLI, "eval", at["v.npz"], "-a", args.questions, "--case", "exact", "--threads", args.threads]
        told = subprocess.run([*ask, "--json"], check=True, env=env, capture_output=True, text=True).stdout
        rows = [json.loads(line) for line in told.splitlines()]
        whole = next(row for row in rows if row["measure"] == "accuracy" and row["section"] == "")
        runs = [Run("embcli eval", ask)]
        if has(peer, "gensim"):
            subprocess.run([peer, "-c", KEEP, at["v.txt"], at["g"]], check=True, env=env)
            runs.append(Run("gensim", [peer, "-c", ANSWER, at["g"], args.questions]))
        compare(f"analogies: {whole['total']:,} questions", runs, args.rounds, env)
        right = round(whole["value"] * whole["scored"])
        theirs = f", gensim {runs[1].said.split()[-1]}" if len(runs) > 1 else ""
        print(f"right: embcli {right}{theirs}, of {whole['scored']} whose words are all known")


if __name__ == "__main__":
    main()
