"""Which positions, tied or not: one table of held-out perplexities, also at twice the context, and the PyTorch twin's.

    PEER_PYTHON=python python experiments/attend.py CORPUS --out build/attend [--steps 2000] [--threads 2]

CORPUS is plain text, cut by a byte-pair encoding of 8,000 entries, rows are lines; or tokens (.npz). Models that are in
the folder already are not trained again, one that was interrupted goes on. What came out is in experiments/LOG.md.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).with_name("bench")))
from rounds import EMBCLI, environment, has

from embcli.artifacts import store

TWIN = Path(__file__).with_name("bench") / "attend_twin.py"
#: the small model of bench_attend.py
SHAPE = "--layers 2 --dim 128 --heads 4 --context 128 --batch 16 --lr 0.002"
#: name -> options
VARIANTS = {
    "sinusoidal": "",
    "learned": "--position learned",
    "rope": "--position rope",
    "alibi": "--position alibi",
    "none": "--position none",
    "sinusoidal, untied": "--no-tie",
}


def tokens_of(corpus: str, folder: Path) -> str:
    """Return the corpus as tokens, a row for each line."""
    if corpus.endswith(".npz"):
        return corpus
    tokenizer, tokens = str(folder / "bpe.npz"), str(folder / "tokens.npz")
    if not Path(tokens).exists():
        subprocess.run([*EMBCLI, "bpe-train", corpus, "--vocab-size", "8000", "-o", tokenizer], check=True)
        subprocess.run([*EMBCLI, "encode", corpus, "--tokenizer", tokenizer, "-o", tokens], check=True)
    return tokens


def trained(tokens: str, name: str, args: argparse.Namespace) -> Any:
    """Return the model of a variant."""
    out = args.out / f"{name.replace(', ', '-')}-{args.steps}.npz"
    if not out.exists():
        half = out.with_suffix(".part.npz")
        how = ["--resume", str(half)]
        if not half.exists():
            how = [*SHAPE.split(), *VARIANTS[name].split(), "--steps", str(args.steps), "--no-state"]
            how += [] if name == "learned" else ["--heldout-context", "256"]
        step = [*EMBCLI, "attend", tokens, *how, "--threads", args.threads, "--checkpoint", str(half), "-o", str(out)]
        subprocess.run(step, check=True, env=environment(args.threads))
        half.unlink(missing_ok=True)
    return store.read(str(out), ("model",))


def twin(tokens: str, args: argparse.Namespace) -> dict[str, Any] | None:
    """Return what the twin of the first variant came to, None without PyTorch."""
    peer, out = os.environ.get("PEER_PYTHON", ""), args.out / f"twin-{args.steps}.json"
    if not out.exists():
        if not has(peer, "torch"):
            return None
        step = [peer, str(TWIN), tokens, *SHAPE.split(), "--steps", str(args.steps), "--threads", args.threads]
        made = subprocess.run(step, check=True, env=environment(args.threads), capture_output=True)
        out.write_bytes(made.stdout)
    found: dict[str, Any] = json.loads(out.read_text(encoding="utf-8"))
    return found


def main() -> None:
    """Train what is missing, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--threads", default="2")
    parser.add_argument("--only", nargs="+", choices=[*VARIANTS, "twin"], default=[*VARIANTS, "twin"])
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    tokens = tokens_of(args.corpus, args.out)
    lines = [
        "| positions, table | parameters | tokens read | held out | perplexity | of 256 tokens |",
        "|---" * 6 + "|",
    ]
    for name in [name for name in VARIANTS if name in args.only]:
        stats = trained(tokens, name, args).stats
        held = stats["heldout"]
        longer = f"{math.exp(held['longer']):.2f}" if "longer" in held else ""
        figures = f"{held['loss'][-1]:.4f} | {math.exp(held['loss'][-1]):.2f} | {longer}"
        lines.append(f"| {name} | {stats['parameters']:,} | {stats['tokens']:,} | {figures} |")
    other = twin(tokens, args) if "twin" in args.only else None
    if other is not None:
        figures = f"{other['heldout']:.4f} | {other['perplexity']:.2f}"
        lines.append(f"| PyTorch, sinusoidal | | {other['tokens']:,} | {figures} | |")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
