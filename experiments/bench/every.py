"""All benches one after the other, into one dated page: what stands behind the figures of the README.

    make bench CORPUS=enwiki.txt [ROUNDS=3] [ONLY='road bpe']

CORPUS is plain text. Peers come from PEER_PYTHON (``make bench`` makes an environment with those that install as
packages); programs that have none are named by GLOVE (a folder), FASTTEXT, PWORD2VEC, and cl100k's ranks by
CL100K_RANKS. What is not at hand is left out, and said so. Use a machine that does nothing else: programs run as whole
processes in alternating rounds, and the page says machine, date and versions. A bench that fails is said on it, and the
exit code is 1.
"""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

HERE = Path(__file__).resolve().parent
#: name -> whether it reads the corpus
BENCHES = {
    "startup": False, "road": True, "bpe": True, "word2vec": True, "fasttext": True, "glove": True, "attend": True,
    "convert": False, "knn": False,
}  # fmt: skip
PEERS = ("gensim", "tokenizers", "tiktoken", "gigatoken", "gigabpe", "faiss-cpu", "torch", "word2vec")


def machine() -> list[str]:
    """Return lines about this machine and the versions of everything."""
    names = [line.partition(":")[2].strip() for line in _lines("/proc/cpuinfo") if line.startswith("model name")]
    own = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", "numba"))
    lines = [
        f"- date: {datetime.date.today().isoformat()}",
        f"- machine: {os.cpu_count()} x {names[0] if names else platform.machine()}, {platform.system()}",
        f"- Python {platform.python_version()}, {own}",
    ]
    peer = os.environ.get("PEER_PYTHON")
    if peer:
        ask = "import importlib.metadata as m\nfor n in %r:\n try: print(n, m.version(n))\n except Exception: pass"
        told = subprocess.run([peer, "-c", ask % (PEERS,)], capture_output=True, text=True, check=False).stdout
        lines.append(f"- peers: {', '.join(told.splitlines()) or 'none'}")
    return lines


def _lines(path: str) -> list[str]:
    return Path(path).read_text(encoding="utf-8").splitlines() if os.path.exists(path) else []


def command(name: str, args: argparse.Namespace) -> list[str]:
    """Return how a bench is started."""
    own = ["--runs", str(2 * args.rounds + 1)] if name == "startup" else ["--rounds", str(args.rounds)]
    return [sys.executable, str(HERE / f"bench_{name}.py"), *([args.corpus] if BENCHES[name] else []), *own]


def main() -> int:
    """Run the benches and write the page as they come."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", nargs="+", choices=BENCHES, default=list(BENCHES))
    parser.add_argument("--out", type=Path, default=Path("build/bench.md"))
    args = parser.parse_args()
    args.out.parent.mkdir(parents=True, exist_ok=True)
    size = f"- corpus: {os.path.basename(args.corpus)}, {os.path.getsize(args.corpus):,} bytes; rounds: {args.rounds}"
    failed = False
    with args.out.open("w", encoding="utf-8") as page:
        print("# Whole processes beside their peers", "", *machine(), size, sep="\n", file=page, flush=True)
        for name in args.only:
            done = subprocess.run(command(name, args), capture_output=True, text=True, check=False)
            told = done.stdout.strip() + (f"\nfailed: {done.stderr.strip()[-300:]}" if done.returncode else "")
            print(f"\n## {name}\n\n```\n{told.strip()}\n```", file=page, flush=True)
            print(f"{name}: {'failed' if done.returncode else 'done'}", file=sys.stderr)
            failed |= done.returncode != 0
    print(f"wrote {args.out}")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
