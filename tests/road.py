"""The count road by its commands, and its artifacts as plain arrays and words, for the tests of the command line."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
from conftest import ok

SMALL = ["--words", "--min-count", "1"]


def load(path: Path) -> tuple[dict[str, np.ndarray], list[str]]:
    """Return an artifact's arrays and words by plain NumPy, without pickles."""
    with np.load(path, allow_pickle=False) as z:
        arrays = {name: z[name] for name in z.files}
    raw, at = arrays["word_bytes"].tobytes(), arrays["word_offsets"]
    return arrays, [raw[a:b].decode() for a, b in pairwise(at)]


def dense(path: Path) -> dict[tuple[str, str], float]:
    """Return the cells of a counts artifact by their words."""
    a, words = load(path)
    rows = np.repeat(np.arange(len(words)), np.diff(a["indptr"]))
    cells = zip(rows, a["indices"], a["data"], strict=True)
    return {(words[r], words[c]): float(x) for r, c, x in cells}


def counted(folder: Path, text: str, *options: str) -> dict[tuple[str, str], float]:
    """Return the counts that the commands make of a text."""
    (folder / "c.txt").write_text(text, encoding="utf-8")
    ok("encode", folder / "c.txt", *SMALL, "-o", folder / "t.npz")
    ok("cooc", folder / "t.npz", "-o", folder / "c.npz", *options)
    return dense(folder / "c.npz")
