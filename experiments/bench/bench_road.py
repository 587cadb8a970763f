"""The main road beside its peers: encode, cooc and svd against the programs users have today, as whole processes.

    GLOVE_BIN=folder PEER_PYTHON=python python experiments/bench/bench_road.py CORPUS [--rounds 3] [--threads 2]

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
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
EMBCLI = [sys.executable, "-m", "embcli"]

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


class Run:
    """One program of a comparison: how it is started, and what its rounds took."""

    def __init__(self, name: str, argv: list[str], stdin: str | None = None, stdout: str | None = None) -> None:
        self.name, self.argv, self.stdin, self.stdout = name, argv, stdin, stdout
        self.wall: list[float] = []
        self.peak = 0.0

    def once(self, env: dict[str, str]) -> None:
        """Run the program once as a whole process, counting wall time and peak memory."""
        source = open(self.stdin, "rb") if self.stdin else subprocess.DEVNULL  # noqa: SIM115
        target = open(self.stdout, "wb") if self.stdout else subprocess.DEVNULL  # noqa: SIM115
        start = time.monotonic()
        child = subprocess.Popen(self.argv, stdin=source, stdout=target, stderr=subprocess.PIPE, env=env)
        assert child.stderr is not None
        said = child.stderr.read()
        _, status, usage = os.wait4(child.pid, 0)
        self.wall.append(time.monotonic() - start)
        child.returncode = os.waitstatus_to_exitcode(status)
        self.peak = max(self.peak, usage.ru_maxrss / 1024)
        for f in (source, target):
            if not isinstance(f, int):
                f.close()
        if child.returncode:
            raise SystemExit(f"{self.name} failed: {said.decode(errors='replace')[-500:]}")


def compare(title: str, runs: list[Run], rounds: int, env: dict[str, str]) -> None:
    """Run all programs in alternating rounds and print their table; the first is the one ratios are against."""
    for _ in range(rounds):
        for run in runs:
            run.once(env)
    print(f"\n{title}\n{'program':24s} {'wall s':>8s} {'times embcli':>13s} {'peak MB':>8s}")
    for run in runs:
        ratio = statistics.median(a / b for a, b in zip(run.wall, runs[0].wall, strict=True))
        print(f"{run.name:24s} {statistics.median(run.wall):8.2f} {ratio:13.2f} {run.peak:8.0f}", flush=True)


def cut(corpus: str, target: Path) -> None:
    """Write the corpus as lower-cased words, one row a line: what every program reads."""
    tokens = target.with_suffix(".all.npz")
    step = [*EMBCLI, "encode", corpus, "--words", "--lower", "--min-count", "1", "-q", "-o", str(tokens)]
    subprocess.run(step, check=True)
    subprocess.run([*EMBCLI, "decode", str(tokens), "-o", str(target)], check=True)


def main() -> None:
    """Run the comparisons whose peers are at hand."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", default="2")
    parser.add_argument("--only", choices=("encode", "cooc", "svd"), action="append")
    a = parser.parse_args()
    glove, peer = os.environ.get("GLOVE_BIN", ""), os.environ.get("PEER_PYTHON", "")
    threads = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    env = {**os.environ, "PYTHONPATH": str(ROOT), **dict.fromkeys(threads, a.threads)}
    wanted: Callable[[str], bool] = lambda name: not a.only or name in a.only  # noqa: E731
    with tempfile.TemporaryDirectory() as folder:
        at = lambda name: str(Path(folder, name))  # noqa: E731
        cut(a.corpus, Path(at("words.txt")))
        common = ["-q", "--threads", a.threads]
        encode = [*EMBCLI, "encode", at("words.txt"), "--words", "--split", "whitespace", "--min-count", "10", *common]
        subprocess.run([*encode, "-o", at("tokens.npz")], check=True, env=env)
        if not glove:
            print("GLOVE_BIN is not set: no GloVe in these tables")
        if wanted("encode"):
            runs = [Run("embcli encode", [*encode, "-o", at("t.npz")])]
            if glove:
                runs.append(Run("GloVe vocab_count", [f"{glove}/vocab_count", "-min-count", "10", "-verbose", "0"],
                                at("words.txt"), at("vocab")))  # fmt: skip
            if peer:
                runs.append(Run("gensim vocabulary scan", [peer, "-c", GENSIM_SCAN, at("words.txt")]))
            compare("encode, min-count 10", runs, a.rounds, env)
        if wanted("cooc"):
            runs = [
                Run("embcli cooc", [*EMBCLI, "cooc", at("tokens.npz"), "--window", "10", *common, "-o", at("c.npz")])
            ]
            if glove:
                with open(at("words.txt"), "rb") as f, open(at("vocab"), "wb") as g:
                    subprocess.run(
                        [f"{glove}/vocab_count", "-min-count", "10", "-verbose", "0"], stdin=f, stdout=g, check=True
                    )
                runs.append(Run("GloVe cooccur", [f"{glove}/cooccur", "-memory", "4", "-vocab-file", at("vocab"), "-window-size", "10",
                                                  "-verbose", "0", "-overflow-file", at("overflow")], at("words.txt"), at("cooc.bin")))  # fmt: skip
            compare("cooc, window 10, harmonic", runs, a.rounds, env)
        if wanted("svd"):
            count = [
                *EMBCLI,
                "cooc",
                at("tokens.npz"),
                "--window",
                "5",
                "--weighting",
                "dynamic",
                *common,
                "-o",
                at("c5.npz"),
            ]
            subprocess.run(count, check=True, env=env)
            runs = [Run("embcli svd", [*EMBCLI, "svd", at("c5.npz"), "--dim", "100", *common, "-o", at("v.npz")]),
                    Run("SciPy svds (ARPACK)", [sys.executable, "-c", SVDS, at("c5.npz"), "100", at("s.npy")])]  # fmt: skip
            compare("svd, PPMI of window 5 dynamic, k = 100", runs, a.rounds, env)
            import numpy as np

            ours, theirs = np.load(at("v.npz"))["singular_values"], np.load(at("s.npy"))
            print(f"largest relative difference of a singular value: {np.max(np.abs(ours / theirs - 1)):.2e}")


if __name__ == "__main__":
    main()
