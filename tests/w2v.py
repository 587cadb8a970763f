"""Texts, tokens and tables for the tests of word2vec, and its command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from conftest import Ran, ok
from road import load

from embcli.artifacts import provenance, store
from embcli.artifacts.schema import Vectors, Words
from embcli.spec import STEPS


def tokens_of(folder: Path, text: str, *options: str) -> Path:
    """Return the tokens of a text, every word kept."""
    (folder / "text.txt").write_text(text, encoding="utf-8")
    ok("encode", folder / "text.txt", "--words", "--min-count", "1", "-o", folder / "tokens.npz", *options)
    return folder / "tokens.npz"


def tables(path: Path, words: list[str], inputs: Any, outputs: Any = None, counts: Any = None) -> Path:
    """Write hand-made tables as vectors."""
    made = Vectors(
        vectors=np.asarray(inputs, np.float32),
        contexts=None if outputs is None else np.asarray(outputs, np.float32),
        words=Words.of(words),
        unigram=np.asarray(counts if counts is not None else [0] * len(words), np.int64),
    )
    store.write(made, str(path), provenance.compose("svd", STEPS["svd"].params(), 0, [], made))
    return path


def word2vec(*args: str | Path, **kw: Any) -> Ran:
    return ok("word2vec", *args, **kw)


def explained(*args: str | Path) -> list[dict[str, Any]]:
    """Return what --explain prints, as records."""
    return [json.loads(line) for line in word2vec(*args, "--json").text.splitlines()]


def read(path: Path) -> tuple[dict[str, np.ndarray], list[str], dict[str, Any]]:
    """Return the arrays, words and meta of an artifact by plain NumPy."""
    arrays, words = load(path)
    return arrays, words, json.loads(arrays["meta"].tobytes())


def topics(seed: int = 0, rows: int = 400) -> str:
    """Return a text of two repeated topics: the words of one never meet those of the other."""
    rng = np.random.default_rng(seed)
    names = [[f"{topic}{i}" for i in range(6)] for topic in "ab"]
    return "\n".join(" ".join(rng.choice(names[row % 2], 8)) for row in range(rows)) + "\n"
