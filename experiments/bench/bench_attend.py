"""A Transformer in embcli beside the same one in PyTorch (attend_twin.py), as whole processes.

    PEER_PYTHON=python python experiments/bench/bench_attend.py CORPUS [--only small|large] [--rounds 3] [--threads 2]

CORPUS is plain text, cut once and untimed by a byte-pair encoding of 8,000 entries into one row, so that every window
is full and PyTorch takes its fused causal attention; or tokens (.npz) made like that. Rounds alternate; figures are
medians. Start-up and writing are timed too; the rate of the steps alone is what each program says of itself.

- small: 2 layers, width 128, 4 heads, context 128, batch 16; large: 6 layers, width 384, 6 heads, context 256, batch 4.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
from pathlib import Path

from rounds import EMBCLI, Run, compare, environment, has

TWIN = Path(__file__).with_name("attend_twin.py")
#: options of the model, and steps
TASKS = {
    "small": ("--layers 2 --dim 128 --heads 4 --context 128 --batch 16", 100),
    "large": ("--layers 6 --dim 384 --heads 6 --context 256 --batch 4", 40),
}


def tokens_of(corpus: str, folder: Path) -> str:
    """Return the corpus as tokens of one row."""
    tokenizer, tokens = str(folder / "bpe.npz"), str(folder / "tokens.npz")
    subprocess.run([*EMBCLI, "bpe-train", corpus, "--vocab-size", "8000", "-q", "-o", tokenizer], check=True)
    encode = [*EMBCLI, "encode", corpus, "--tokenizer", tokenizer, "--rows", "file", "-q", "-o", tokens]
    subprocess.run(encode, check=True)
    return tokens


def main() -> None:
    """Run the comparisons that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus")
    parser.add_argument("--only", choices=TASKS)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", default="2")
    parser.add_argument("--steps", type=int, help="of each run; few, when the machine is not quiet")
    args = parser.parse_args()
    peer, env = os.environ.get("PEER_PYTHON", ""), environment(args.threads)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tokens = args.corpus if args.corpus.endswith(".npz") else tokens_of(args.corpus, folder)
        for task in [args.only] if args.only else TASKS:
            options, steps = TASKS[task][0], args.steps or TASKS[task][1]
            asked = [*options.split(), "--steps", str(steps), "--heldout", "0"]
            common = [tokens, *asked, "--threads", args.threads]
            runs = [Run("embcli", [*EMBCLI, "attend", *common, "--report", str(steps), "-o", str(folder / "m.npz")])]
            if has(peer, "torch"):
                runs.append(Run("PyTorch", [peer, str(TWIN), *common], stdout=str(folder / "said.json")))
            subprocess.run([*EMBCLI, "attend", tokens, "--steps", "1", "-q", "-o", str(folder / "m.npz")], check=True)
            compare(f"{task}: {' '.join(asked)}", runs, args.rounds, env)
            print(f"embcli says: {runs[0].said.splitlines()[0]}")
            if len(runs) > 1:
                print(f"PyTorch says: {json.loads((folder / 'said.json').read_text(encoding='utf-8'))}")


if __name__ == "__main__":
    main()
