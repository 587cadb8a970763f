"""FastText beside its peers, as whole processes: skip-gram and CBOW with character n-grams.

    PEER_PYTHON=python FASTTEXT=program python experiments/bench/bench_fasttext.py CORPUS [--only TASK] [--dim 100]

CORPUS is plain text; it is lower-cased and cut into words once, untimed, so that every program reads the same
white-space separated words. One epoch, window 5, 5 negatives, n-grams of 3 to 6 characters, 2,000,000 buckets, sample
1e-4, min-count 10, rate 0.05. Rounds alternate; figures are medians. A peer that is not at hand is left out, and said
so.

- embcli fasttext reads tokens (made once, untimed; the row ``encode, fasttext`` has that time too), its peers the text.
- The original is FASTTEXT; gensim (corpus_file) is in PEER_PYTHON.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from pathlib import Path

from rounds import EMBCLI, Encoded, Run, compare, environment, has

GENSIM = """
import sys
from gensim.models.fasttext import FastText
words, out, dim, threads, sg = sys.argv[1:]
model = FastText(
    vector_size=int(dim), window=5, negative=5, sg=int(sg), min_count=10, workers=int(threads), sample=1e-4, alpha=0.05,
    min_alpha=0.0001, ns_exponent=0.5, min_n=3, max_n=6, bucket=2000000, seed=1,
)
model.build_vocab(corpus_file=words)
model.train(corpus_file=words, total_words=model.corpus_total_words, total_examples=model.corpus_count, epochs=1)
model.wv.save(out)
"""
TASKS = ("skipgram", "cbow")


class Bench(Encoded):
    """The comparisons: which programs run, on which files of one folder."""

    def runs(self, task: str) -> list[Run]:
        """Return the programs of a task that are at hand."""
        train = [*EMBCLI, "fasttext", self.tokens, "--epochs", "1", "--dim", self.dim, "--arch", task, "-q"]
        train += ["--threads", self.threads, "-o", self.at("v.npz")]
        runs = [Run("embcli", train), Run("embcli --hogwild", [*train, "--hogwild"])]
        runs.append(Run("embcli encode, fasttext", self.encode, train))
        peer, original = os.environ.get("PEER_PYTHON", ""), os.environ.get("FASTTEXT", "")
        if original:
            argv = [original, task, "-input", self.words, "-output", self.at("original"), "-dim", self.dim]
            runs.append(Run("fasttext", [*argv, "-epoch", "1", "-minCount", "10", "-thread", self.threads]))
        else:
            print("FASTTEXT is not set: the original is left out")
        if has(peer, "gensim"):
            argv = [peer, "-c", GENSIM, self.words, self.at("g.kv"), self.dim, self.threads, str(int(task != "cbow"))]
            runs.append(Run("gensim", argv))
        return runs


def main() -> None:
    """Run the comparisons whose peers are at hand."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", default="2")
    parser.add_argument("--dim", default="100")
    parser.add_argument("--only", choices=TASKS, action="append")
    a = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder), a.corpus, a.dim, a.threads)
        for task in a.only or TASKS:
            title = f"fasttext, {task}, {a.dim} dimensions, one epoch"
            compare(title, bench.runs(task), a.rounds, environment(a.threads))


if __name__ == "__main__":
    main()
