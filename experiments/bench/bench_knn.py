"""The graph of all rows' neighbors beside what it cannot do without, a matrix product, and beside faiss.

    PEER_PYTHON=python python experiments/bench/bench_knn.py [--rows 60000] [--dim 100] [--threads 2] [--rounds 3]

Rows are random, or those of ``--vectors FILE`` (an artifact). In one process, in alternating rounds: the plain product
of all rows with all rows, float32, in blocks whose results are thrown away, on one BLAS thread a block and as many
blocks at a time as there are threads; and the graph (top 10, cosine), from opened vectors to arrays. Wall seconds and
seconds of the processor are shown: on a busy machine the latter tell more. Then faiss as a whole process
(IndexFlatIP, PEER_PYTHON with faiss) beside embcli as a whole process, and whether both find the same neighbors.
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

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"
ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402

from embcli.artifacts import provenance, store  # noqa: E402
from embcli.artifacts.schema import Vectors, Words  # noqa: E402
from embcli.job import Job  # noqa: E402
from embcli.query.graph import graph  # noqa: E402
from embcli.spec import STEPS, NeighborsParams  # noqa: E402

FAISS = """
import sys, numpy as np, faiss
faiss.omp_set_num_threads(int(sys.argv[3]))
z = np.load(sys.argv[1])
u = z["vectors"] / np.maximum(np.linalg.norm(z["vectors"], axis=1, keepdims=True), 1e-30)
index = faiss.IndexFlatIP(u.shape[1])
index.add(u)
scores, rows = index.search(u, 11)
np.savez(sys.argv[2], scores=scores, rows=rows)
"""


def product(units: np.ndarray, threads: int) -> None:
    """Multiply all rows with all rows, in blocks of 512 x 2,048 that stay in the cache."""

    def work(start: int) -> None:
        room, some = np.empty((512, 2048), np.float32), units[start : start + 512]
        for at in range(0, len(units), 2048):
            part = units[at : at + 2048]
            np.matmul(some, part.T, out=room.reshape(-1)[: len(some) * len(part)].reshape(len(some), len(part)))

    for _ in Job(threads=threads).map(work, range(0, len(units), 512)):
        pass


def timed(work: Callable[[], object]) -> tuple[float, float]:
    """Return wall seconds and seconds of all processors."""
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - wall, time.process_time() - cpu


def whole(argv: list[str]) -> tuple[float, float]:
    """Run a program as a whole process and return wall seconds and seconds of all processors."""
    before, start = os.times(), time.perf_counter()
    subprocess.run(argv, check=True, cwd=ROOT)
    after = os.times()
    used = after.children_user + after.children_system - before.children_user - before.children_system
    return time.perf_counter() - start, used


def ratios(title: str, one: list[tuple[float, float]], other: list[tuple[float, float]]) -> None:
    """Print the median of the round-by-round ratios of two programs, and their median times."""
    for i, what in enumerate(("wall", "processor")):
        a, b = ([each[i] for each in times] for times in (one, other))
        ratio = statistics.median(x / y for x, y in zip(a, b, strict=True))
        print(f"{title}: {what} {statistics.median(a):.2f} s / {statistics.median(b):.2f} s, ratio {ratio:.2f}")


def compare(path: str, folder: str, threads: int, rounds: int) -> None:
    """Compare with faiss, if it is at hand."""
    peer = os.environ.get("PEER_PYTHON")
    if not peer or subprocess.run([peer, "-c", "import faiss"], capture_output=True, check=False).returncode:
        print("faiss: not at hand (PEER_PYTHON with faiss), left out")
        return
    graph_file, faiss_file = str(Path(folder) / "knn.npz"), str(Path(folder) / "faiss.npz")
    ours = [sys.executable, "-m", "embcli", "neighbors", path, "--all", "-q", "-o", graph_file]
    theirs = [peer, "-c", FAISS, path, faiss_file, str(threads)]
    times = [(whole([*ours, "--threads", str(threads)]), whole(theirs)) for _ in range(rounds)]
    ratios("embcli / faiss, whole processes", [a for a, _ in times], [b for _, b in times])
    with np.load(graph_file) as a, np.load(faiss_file) as b:
        same = wrong = 0
        for i, (near, scores) in enumerate(zip(a["neighbors"], a["scores"], strict=True)):
            kept = b["rows"][i] != i
            rows, values = b["rows"][i][kept][:10], b["scores"][i][kept][:10]
            edge = values[-1] + 1e-5
            same += set(near.tolist()) == set(rows.tolist())
            ours, theirs = set(near[scores > edge].tolist()), set(rows[values > edge].tolist())
            wrong += not (ours <= set(rows.tolist()) and theirs <= set(near.tolist()))
        print(
            f"the same set of neighbors: {same:,} of {len(a['neighbors']):,} rows; {wrong:,} differ by more than a tie"
        )


def main() -> None:
    """Run both comparisons."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("rows", 60_000), ("dim", 100), ("threads", 2), ("rounds", 3)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--vectors", help="an artifact of vectors, instead of random rows")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = args.vectors or str(Path(folder) / "vectors.npz")
        if not args.vectors:
            table = np.random.default_rng(0).standard_normal((args.rows, args.dim), np.float32)
            words = Words.of(f"w{i}" for i in range(args.rows))
            made = Vectors(vectors=table, words=words, unigram=np.arange(args.rows, 0, -1))
            store.write(made, path, provenance.compose("svd", STEPS["svd"].params(), 0, [], made))
        artifact = store.read(path, ("vectors",))
        assert isinstance(artifact, Vectors)
        units = np.array(artifact.vectors)
        units /= np.maximum(np.linalg.norm(units, axis=1, keepdims=True), 1e-30)
        job = Job(threads=args.threads)
        small = Vectors(vectors=units[:100], words=Words.of(artifact.words[:100]), unigram=artifact.unigram[:100])
        list(graph([small], NeighborsParams(), job).neighbors.blocks)  # compiles
        times = []
        for _ in range(args.rounds):
            ours = timed(lambda: list(graph([artifact], NeighborsParams(), job).neighbors.blocks))
            times.append((ours, timed(lambda: product(units, args.threads))))
        ratios(
            f"graph / plain product, {units.shape[0]:,} x {units.shape[1]}",
            [a for a, _ in times],
            [b for _, b in times],
        )
        compare(path, folder, args.threads, args.rounds)


if __name__ == "__main__":
    main()
