"""Are tokens that training hardly saw found by their rows? Planted in a vocabulary, kept out of the text, asked for.

    python experiments/undertrained.py CORPUS --out build/undertrained [--planted 50] [--times 1] [--steps 2000]

After Land and Bartolo (2024, "Fishing for Magikarp: Automatically Detecting Under-trained Tokens in Large Language
Models", EMNLP): a tokenizer is trained on one text, the model on another, and entries that the second one lacks keep
rows that training hardly moved. Here invented words are in the tokenizer's text often enough to become entries, and in
the model's text --times times each. ``eval --geometry --undertrained`` ranks all rows, and so does ``neighbors
--centroid``; recall is the share of planted words among the first N, N being how many entries the text has at most
--times times. The paper finds its scores ahead of chance by far. What came out is in experiments/LOG.md.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).with_name("bench")))
from rounds import EMBCLI, environment

MODEL = "--layers 2 --dim 128 --heads 4 --context 128 --batch 16 --lr 0.002 --no-state"


def planted(number: int) -> list[str]:
    """Return invented words, each with a blank before it, of letters that hardly stand together."""
    rng, found = random.Random(7), dict[str, None]()
    while len(found) < number:
        found[" " + "".join(rng.choice("qxzjvkw") + rng.choice("qxzjvkw") for _ in range(3))] = None
    return list(found)


def texts(corpus: Path, words: list[str], times: int, folder: Path) -> tuple[Path, Path]:
    """Write the tokenizer's text (the corpus, and every word a thousand times) and the model's; return their paths."""
    lines, rng = corpus.read_text(encoding="utf-8").splitlines(), random.Random(8)
    wide, narrow = folder / "tokenizer.txt", folder / "model.txt"
    wide.write_text("\n".join([*lines, *("".join(words) for _ in range(1000))]), encoding="utf-8")
    for word in words:
        for _ in range(times):
            at = rng.randrange(len(lines))
            lines[at] += word
    narrow.write_text("\n".join(lines), encoding="utf-8")
    return wide, narrow


def made(out: Path, *step: str | Path) -> Path:
    """Make an artifact that is not there yet."""
    if not out.exists():
        subprocess.run([*EMBCLI, *map(str, step), "-o", str(out)], check=True, env=environment("2"))
    return out


def told(*step: str | Path) -> list[dict[str, object]]:
    """Return the records that a command prints."""
    run = [*EMBCLI, *map(str, step), "--json"]
    text = subprocess.run(run, check=True, capture_output=True, env=environment("2")).stdout.decode()
    return [json.loads(line) for line in text.splitlines()]


def lowest(model: Path, score: str, number: int) -> list[dict[str, object]]:
    """Return the rows that look least trained."""
    rows = told("eval", model, "--geometry", "--undertrained", score, "--top", str(number))
    return [row for row in rows if row["report"] == "undertrained" and row["group"] == "lowest"]


def central(model: Path, number: int) -> list[dict[str, object]]:
    """Return the rows nearest to the mean of all rows: where the tokens lay that were found in a GPT vocabulary."""
    return told("neighbors", model, "--centroid", "--top", str(number))


def main() -> None:
    """Train both models, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--planted", type=int, default=50)
    parser.add_argument("--times", type=int, default=1)
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--vocab-size", type=int, default=8000)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    words = planted(args.planted)
    wide, narrow = texts(args.corpus, words, args.times, args.out)
    tokenizer = made(args.out / "tokenizer.npz", "bpe-train", wide, "--vocab-size", str(args.vocab_size))
    tokens = made(args.out / "tokens.npz", "encode", narrow, "--tokenizer", tokenizer)
    rare = int((np.load(tokens)["unigram"] <= args.times).sum())
    print(f"{len(words)} planted words; {rare:,} of {args.vocab_size:,} entries seen {args.times} times or less\n")
    print("| model | score | planted among the first | share | by chance |\n|---|---|---|---|---|")
    for name, tie, scores in (("tied", "--tie", ["tied"]), ("untied", "--no-tie", ["untied", "tied"])):
        options = [*MODEL.split(), "--steps", str(args.steps), tie]
        model = made(args.out / f"{name}.npz", "attend", tokens, *options)
        for score in [*scores, "centroid"]:
            rows = central(model, rare) if score == "centroid" else lowest(model, score, rare)
            found = {str(row["word"]) for row in rows}
            hits = sum(word in found for word in words)
            share, chance = f"{hits / len(words):.0%}", f"{rare / args.vocab_size:.1%}"
            print(f"| {name} | {score} | {hits} of {len(words)} in {rare:,} | {share} | {chance} |")


if __name__ == "__main__":
    main()
