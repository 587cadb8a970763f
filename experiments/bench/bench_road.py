"""The main road beside its peers: encode, cooc and svd against the programs users have today, as whole processes.

    GLOVE=folder PEER_PYTHON=python python experiments/bench/bench_road.py CORPUS [--rounds 3] [--threads 2]

CORPUS is plain text; it is lower-cased and cut into words once, untimed, so that every program reads the same
white-space separated words. Rounds alternate (A B C, A B C); figures are medians of wall seconds and the largest peak
memory, ratios are medians of the round-by-round ratios to embcli. A peer that is not at hand is left out, and said so.

- encode: GloVe's vocab_count; gensim's vocabulary scan (PEER_PYTHON with gensim).
- cooc: GloVe's cooccur, window 10, harmonic, 4 GB.
- svd: SciPy's svds (ARPACK) on the same PPMI matrix, counts of window 5 dynamic, k = 100; singular values compared.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from rounds import EMBCLI, Run, compare, cut, environment

GENSIM_SCAN = """
import sys
from gensim.models.word2vec import LineSentence, Word2Vec
model = Word2Vec(min_count=10)
model.build_vocab(LineSentence(sys.argv[1]))
print(len(model.wv))
"""

SVDS = """
import sys, numpy as np, scipy.sparse as sp, scipy.sparse.linalg as sl
z = np.load(sys.argv[1])
n = sp.csr_matrix((z["data"], z["indices"], z["indptr"]), shape=z["shape"])
row, col = np.asarray(n.sum(1)).ravel(), np.asarray(n.sum(0)).ravel() ** 0.75
m = n.tocoo()
v = np.log(m.data * col.sum() / (row[m.row] * col[m.col]))
keep = v > 0
p = sp.csr_matrix((v[keep].astype(np.float32), (m.row[keep], m.col[keep])), shape=n.shape)
s = sl.svds(p, k=int(sys.argv[2]), return_singular_vectors=True, random_state=0)[1]
np.save(sys.argv[3], np.sort(s)[::-1])
"""


class Bench:
    """The comparisons: which programs run, on which files of one folder."""

    def __init__(self, folder: Path, words: Path, threads: str, env: dict[str, str]) -> None:
        self.folder, self.words, self.env = folder, str(words), env
        self.glove, self.peer = os.environ.get("GLOVE", ""), os.environ.get("PEER_PYTHON", "")
        self.common = ["-q", "--threads", threads]
        cutting = ["--words", "--split", "whitespace", "--min-count", "10"]
        self.encode_words = [*EMBCLI, "encode", self.words, *cutting, *self.common]
        if not self.glove:
            print("GLOVE is not set: no GloVe in these tables")

    def at(self, name: str) -> str:
        """Return the path of a file in the folder."""
        return str(self.folder / name)

    def _vocab_count(self) -> Run:
        argv = [f"{self.glove}/vocab_count", "-min-count", "10", "-verbose", "0"]
        return Run("GloVe vocab_count", argv, stdin=self.words, stdout=self.at("vocab"))

    def encode(self) -> tuple[str, list[Run]]:
        """Counting and numbering words."""
        runs = [Run("embcli encode", [*self.encode_words, "-o", self.at("t.npz")])]
        if self.glove:
            runs.append(self._vocab_count())
        if self.peer:
            runs.append(Run("gensim vocabulary scan", [self.peer, "-c", GENSIM_SCAN, self.words]))
        return "encode, min-count 10", runs

    def cooc(self) -> tuple[str, list[Run]]:
        """Counting pairs."""
        ours = [*EMBCLI, "cooc", self.at("tokens.npz"), "--window", "10", *self.common, "-o", self.at("c.npz")]
        runs = [Run("embcli cooc", ours)]
        if self.glove:
            self._vocab_count().once(self.env)
            argv = [f"{self.glove}/cooccur", "-memory", "4", "-vocab-file", self.at("vocab"), "-window-size", "10"]
            argv += ["-verbose", "0", "-overflow-file", self.at("overflow")]
            runs.append(Run("GloVe cooccur", argv, stdin=self.words, stdout=self.at("cooc.bin")))
        return "cooc, window 10, harmonic", runs

    def svd(self) -> tuple[str, list[Run]]:
        """Factorising PPMI."""
        count = [*EMBCLI, "cooc", self.at("tokens.npz"), "--window", "5", "--weighting", "dynamic", *self.common]
        subprocess.run([*count, "-o", self.at("c5.npz")], check=True, env=self.env)
        ours = [*EMBCLI, "svd", self.at("c5.npz"), "--dim", "100", *self.common, "-o", self.at("v.npz")]
        theirs = [sys.executable, "-c", SVDS, self.at("c5.npz"), "100", self.at("s.npy")]
        return "svd, PPMI of window 5 dynamic, k = 100", [Run("embcli svd", ours), Run("SciPy svds (ARPACK)", theirs)]


def main() -> None:
    """Run the comparisons whose peers are at hand."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", default="2")
    parser.add_argument("--only", choices=("encode", "cooc", "svd"), action="append")
    a = parser.parse_args()
    env = environment(a.threads)
    with tempfile.TemporaryDirectory() as folder:
        words = Path(folder, "words.txt")
        cut(a.corpus, words)
        bench = Bench(Path(folder), words, a.threads, env)
        subprocess.run([*bench.encode_words, "-o", bench.at("tokens.npz")], check=True, env=env)
        for name in a.only or ("encode", "cooc", "svd"):
            title, runs = getattr(bench, name)()
            compare(title, runs, a.rounds, env)
        if Path(bench.at("s.npy")).exists():
            import numpy as np

            ours, theirs = np.load(bench.at("v.npz"))["singular_values"], np.load(bench.at("s.npy"))
            print(f"largest relative difference of a singular value: {np.max(np.abs(ours / theirs - 1)):.2e}")


if __name__ == "__main__":
    main()
