"""Byte-pair encoding beside its peers, as whole processes: training and encoding.

    PEER_PYTHON=python python experiments/bench/bench_bpe.py CORPUS [--rounds 5] [--threads 2] [--vocab 32000]

CORPUS is plain text. Rounds alternate (A B C, A B C); figures are medians of wall and processor seconds and the largest
peak memory, ratios are medians of the round-by-round ratios of wall time to embcli. A peer that is not at hand is left
out, and said so. embcli runs once before, untimed, since its kernels are compiled in the first run after an update.

- train: gigabpe and Hugging Face tokenizers (PEER_PYTHON with both), GPT-2's pattern, minimum frequency 2, all bytes in
  the vocabulary; their merges are compared with embcli's.
- encode (CL100K_RANKS=cl100k_base.tiktoken): gigatoken and tiktoken (PEER_PYTHON with both), the file as texts of a
  million characters cut at line ends, saved as uint32; the number of tokens is compared with that of --rows file.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

from rounds import EMBCLI, Run, compare, environment, has

GIGABPE = """
import sys, gigabpe
corpus, size, out, threads = sys.argv[1:]
gigabpe.train_tokenizer([corpus], vocab_size=int(size), output=out, pretokenizer="bytelevel", threads=int(threads))
"""

HUGGING_FACE = """
import sys
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
corpus, size, out, _ = sys.argv[1:]
t = Tokenizer(models.BPE())
t.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
alphabet = pre_tokenizers.ByteLevel.alphabet()
trainer = trainers.BpeTrainer(vocab_size=int(size), min_frequency=2, show_progress=False, initial_alphabet=alphabet)
t.train([corpus], trainer)
t.save(out)
"""

#: both cut the corpus into texts behind line ends, which moves a few tokens at the cuts
_DOCUMENTS = """
import os, sys, numpy as np
corpus, out, threads = sys.argv[1:]
with open(corpus, encoding="utf-8", newline="") as f:
    texts = list(iter(lambda: "".join(f.readlines(1_000_000)), ""))
"""
GIGATOKEN = (
    _DOCUMENTS
    + """
import awkward as ak, gigatoken
t = gigatoken.Tokenizer.from_tiktoken(os.environ["CL100K_RANKS"], "cl100k")
found = t.encode_batch([text.encode() for text in texts], parallel=int(threads) > 1)
np.save(out, ak.to_numpy(ak.flatten(found)).astype(np.uint32))
"""
)
TIKTOKEN = (
    _DOCUMENTS
    + """
import base64, itertools, tiktoken, tiktoken_ext.openai_public as public
with open(os.environ["CL100K_RANKS"], "rb") as f:
    ranks = {base64.b64decode(token): int(rank) for token, rank in map(bytes.split, f)}
public.load_tiktoken_bpe = lambda *a, **k: ranks
t = tiktoken.Encoding(**public.cl100k_base())
found = t.encode_ordinary_batch(texts, num_threads=int(threads))
np.save(out, np.fromiter(itertools.chain.from_iterable(found), np.uint32))
"""
)


class Bench:
    """The comparisons: which programs run, on which files of one folder."""

    def __init__(self, folder: Path, corpus: str, vocab: str, threads: str) -> None:
        self.folder, self.corpus, self.vocab, self.threads = folder, corpus, vocab, threads
        self.peer = os.environ.get("PEER_PYTHON", "")
        if not self.peer:
            print("PEER_PYTHON is not set: no peers in these tables")

    def at(self, name: str) -> str:
        """Return the path of a file in the folder."""
        return str(self.folder / name)

    def train(self) -> tuple[str, list[Run], Callable[[], None]]:
        """Learning merges."""
        ours = [*EMBCLI, "bpe-train", self.corpus, "--vocab-size", self.vocab, "--pattern", "gpt2", "-q"]
        runs = [Run("embcli bpe-train", [*ours, "--threads", self.threads, "-o", self.at("train.npz")])]
        for name, module, code in (
            ("gigabpe", "gigabpe", GIGABPE),
            ("Hugging Face tokenizers", "tokenizers", HUGGING_FACE),
        ):
            if has(self.peer, module):
                argv = [self.peer, "-c", code, self.corpus, self.vocab, self.at(f"{module}.json"), self.threads]
                runs.append(Run(name, argv))
        return f"bpe-train, {self.vocab} entries, gpt2", runs, self._same_merges

    def encode(self) -> tuple[str, list[Run], Callable[[], None]]:
        """Encoding with cl100k."""
        ranks = os.environ.get("CL100K_RANKS", "")
        if not ranks:
            raise SystemExit("encode needs CL100K_RANKS=cl100k_base.tiktoken")
        tokenizer, runs = self.at("cl100k.npz"), []
        subprocess.run([*EMBCLI, "convert", ranks, "--pattern", "gpt4", "-q", "-o", tokenizer], check=True)
        ours = [*EMBCLI, "encode", self.corpus, "--tokenizer", tokenizer, "--threads", self.threads, "-q"]
        for rows in ("file", "line"):
            runs.append(Run(f"embcli encode, {rows}", [*ours, "--rows", rows, "-o", self.at(f"{rows}.npz")]))
        for name, code in (("gigatoken", GIGATOKEN), ("tiktoken", TIKTOKEN)):
            if has(self.peer, name):
                argv = [self.peer, "-c", code, self.corpus, self.at(f"{name}.npy"), self.threads]
                runs.append(Run(name, argv))
        return "encode, cl100k", runs, self._same_ids

    def _same_ids(self) -> None:
        """Print how many tokens each program made."""
        import numpy as np

        print(f"embcli: {len(np.load(self.at('file.npz'))['ids']):,} tokens")
        for name in ("gigatoken", "tiktoken"):
            if Path(self.at(f"{name}.npy")).exists():
                print(f"{name}: {len(np.load(self.at(f'{name}.npy'), mmap_mode='r')):,} tokens")

    def _same_merges(self) -> None:
        """Print how many merges each peer learned like embcli."""
        subprocess.run([*EMBCLI, "convert", self.at("train.npz"), "-q", "-o", self.at("train.json")], check=True)
        ours = merges_of(self.at("train.json"))
        for module in ("gigabpe", "tokenizers"):
            if Path(self.at(f"{module}.json")).exists():
                theirs = merges_of(self.at(f"{module}.json"))
                same = next((i for i, (a, b) in enumerate(zip(ours, theirs, strict=False)) if a != b), len(ours))
                print(f"{module}: the first {same:,} of {len(ours):,} merges are those of embcli")


def merges_of(path: str) -> list[tuple[str, ...]]:
    """Return the merges of a tokenizer.json."""
    found = json.loads(Path(path).read_text(encoding="utf-8"))["model"]["merges"]
    return [tuple(pair.split(" ")) if isinstance(pair, str) else tuple(pair) for pair in found]


def main() -> None:
    """Run the comparisons whose peers are at hand."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", default="2")
    parser.add_argument("--vocab", default="32000")
    parser.add_argument("--only", choices=("train", "encode"), action="append")
    a = parser.parse_args()
    env = {**environment(a.threads), "RAYON_NUM_THREADS": a.threads}
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder), a.corpus, a.vocab, a.threads)
        for name in a.only or ("train", "encode"):
            title, runs, check = getattr(bench, name)()
            runs[0].once(env)
            runs[0].wall, runs[0].cpu = [], []
            compare(title, runs, a.rounds, env)
            check()


if __name__ == "__main__":
    main()
