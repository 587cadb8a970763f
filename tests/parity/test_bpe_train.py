"""Oracle: the trainer of Hugging Face tokenizers (ByteLevel), whose merges must be learned, one for one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import DATA, shared

from embcli.job import Job
from embcli.spec import BpeTrainParams
from embcli.text.bpe_train import train
from embcli.text.tokenizer import BYTE_ORDER

SPECIALS = ("<s>", "<|endoftext|>")
#: the expression of cl100k as Hugging Face files have it; the trainer runs it on lines, where both are the same
GPT4 = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*"
    r"|\s*[\r\n]|\s+(?!\S)|\s+"
)
LANGUAGES = ["zhwiki.txt", "kowiki.txt", "handbook-ar.txt", "code-python.txt", "udhr-tha.txt"]

Merges = list[tuple[str, str]]


def theirs(path: Path, size: int, pattern: str, specials: tuple[str, ...], least: int) -> Merges:
    """Return the merges that Hugging Face learns, in characters that stand for bytes."""
    hf: Any = pytest.importorskip("tokenizers")
    cut = hf.pre_tokenizers
    tokenizer = hf.Tokenizer(hf.models.BPE())
    level = cut.ByteLevel(add_prefix_space=False, use_regex=pattern == "gpt2")
    split = [] if pattern == "gpt2" else [cut.Split(hf.Regex(GPT4), "isolated")]
    tokenizer.pre_tokenizer = cut.Sequence([*split, level])
    trainer = hf.trainers.BpeTrainer(
        vocab_size=size, min_frequency=least, special_tokens=list(specials), show_progress=False,
        initial_alphabet=cut.ByteLevel.alphabet(),
    )  # fmt: skip
    tokenizer.train([str(path)], trainer)
    found = json.loads(tokenizer.to_str())["model"]["merges"]
    return [tuple(pair) if isinstance(pair, list) else tuple(pair.split(" ")) for pair in found]


def ours(path: Path, size: int, pattern: str, specials: tuple[str, ...], least: int) -> Merges:
    """Return the merges that embcli learns, in the same characters."""
    hf: Any = pytest.importorskip("tokenizers")
    visible = dict(zip(BYTE_ORDER, sorted(hf.pre_tokenizers.ByteLevel.alphabet()), strict=True))
    params = BpeTrainParams(vocab_size=size, pattern=pattern, special=specials, min_frequency=least)
    made = train([str(path)], params, Job(threads=2))
    assert made.tokens is not None
    spelled = ["".join(visible[b] for b in made.tokens.bytes_at(i)) for i in range(len(made.tokens))]
    return [(spelled[a], spelled[b]) for a, b in made.merges.tolist()]


@pytest.mark.parametrize("pattern", ["gpt2", "gpt4"])
@pytest.mark.parametrize("name", LANGUAGES)
def test_languages_and_code(name: str, pattern: str) -> None:
    path = shared() / "text-awkward" / "lang" / name
    assert ours(path, 2000, pattern, SPECIALS, 2) == theirs(path, 2000, pattern, SPECIALS, 2)


@pytest.mark.parametrize(("least", "specials"), [(2, ()), (5, SPECIALS), (50, ())])
def test_the_bundled_corpus(least: int, specials: tuple[str, ...]) -> None:
    path = DATA / "corpus.txt"
    found = ours(path, 3000, "gpt2", specials, least)
    assert found == theirs(path, 3000, "gpt2", specials, least)
    assert found != theirs(path, 3000, "gpt4", specials, least)


def test_awkward_bytes(tmp_path: Path) -> None:
    """Carriage returns, blank runs and digits; what Hugging Face cannot read (bad UTF-8) is left out."""
    text = "a\r\n\r\n  b\t\tc 12345 67 I'll don't DON'T\n\n\n\u3000x\u00a0y \u0301e 👍👍 z\x00\x00\n" * 20
    (tmp_path / "text").write_bytes(text.encode())
    for pattern in ("gpt2", "gpt4"):
        found = ours(tmp_path / "text", 500, pattern, (), 2)
        assert len(found) > 20 and found == theirs(tmp_path / "text", 500, pattern, (), 2)
