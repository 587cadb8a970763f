"""Word2vec beside its peers, as whole processes: skip-gram, CBOW, hierarchical softmax.

    PEER_PYTHON=python PWORD2VEC=program python experiments/bench/bench_word2vec.py CORPUS [--only TASK] [--dim 100]

CORPUS is plain text; it is lower-cased and cut into words once, untimed, so that every program reads the same
white-space separated words. One epoch, window 5, 5 negatives, sample 1e-4, min-count 10. Rounds alternate; figures are
medians. A peer that is not at hand is left out, and said so.

- embcli word2vec reads tokens (made once, untimed; the row ``encode, word2vec`` has that time too), its peers the text.
- word2vec.c is the program ``word2vec`` beside PEER_PYTHON, gensim (corpus_file) is in it; pWord2Vec is PWORD2VEC.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from pathlib import Path

from rounds import EMBCLI, Encoded, Run, compare, environment, has

GENSIM = """
import sys
from gensim.models.word2vec import Word2Vec
words, out, dim, threads, sg, hs = sys.argv[1:]
model = Word2Vec(
    corpus_file=words, vector_size=int(dim), window=5, negative=0 if int(hs) else 5, hs=int(hs), sg=int(sg), epochs=1,
    min_count=10, workers=int(threads), sample=1e-4, alpha=0.025 if int(sg) else 0.05, min_alpha=0.0001, seed=1,
)
model.wv.save(out)
"""

#: options of embcli, flags of gensim (sg, hs), options of word2vec.c
TASKS = {
    "skipgram": ([], ("1", "0"), ["-cbow", "0", "-hs", "0", "-negative", "5"]),
    "cbow": (["--arch", "cbow"], ("0", "0"), ["-cbow", "1", "-hs", "0", "-negative", "5"]),
    "hierarchical": (["--loss", "hierarchical"], ("1", "1"), ["-cbow", "0", "-hs", "1", "-negative", "0"]),
}


class Bench(Encoded):
    """The comparisons: which programs run, on which files of one folder."""

    def runs(self, task: str) -> list[Run]:
        """Return the programs of a task that are at hand."""
        ours, (sg, hs), theirs = TASKS[task]
        train = [*EMBCLI, "word2vec", self.tokens, "--epochs", "1", "--sample", "1e-4", "--dim", self.dim, *ours, "-q"]
        train += ["--threads", self.threads, "-o", self.at("v.npz")]
        runs = [Run("embcli", train), Run("embcli --hogwild", [*train, "--hogwild"])]
        runs.append(Run("embcli encode, word2vec", self.encode, train))
        peer, pword2vec = os.environ.get("PEER_PYTHON", ""), os.environ.get("PWORD2VEC", "")
        if has(peer, "gensim"):
            argv = [peer, "-c", GENSIM, self.words, self.at("g.kv"), self.dim, self.threads, sg, hs]
            runs.append(Run("gensim", argv))
        common = ["-train", self.words, "-output", self.at("w.bin"), "-size", self.dim, "-window", "5"]
        common += ["-sample", "1e-4", "-iter", "1", "-min-count", "10", "-threads", self.threads, "-binary", "1"]
        if peer and Path(peer).with_name("word2vec").exists():
            rate = ["-alpha", "0.05" if task == "cbow" else "0.025"]
            runs.append(Run("word2vec.c", [str(Path(peer).with_name("word2vec")), *common, *theirs, *rate]))
        if pword2vec and task == "skipgram":
            runs.append(Run("pWord2Vec", [pword2vec, *common, "-negative", "5", "-batch-size", "11"]))
        return runs


def main() -> None:
    """Run the comparisons whose peers are at hand."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", default="2")
    parser.add_argument("--dim", default="100")
    parser.add_argument("--only", choices=tuple(TASKS), action="append")
    a = parser.parse_args()
    env = {**environment(a.threads), "OPENBLAS_NUM_THREADS": "1"}  # pWord2Vec's threads are its own
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder), a.corpus, a.dim, a.threads)
        for task in a.only or TASKS:
            compare(f"word2vec, {task}, {a.dim} dimensions, one epoch", bench.runs(task), a.rounds, env)


if __name__ == "__main__":
    main()
