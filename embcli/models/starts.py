"""The random rows that training starts from, block by block, so that queries can make them again (query/starts.py).

NumPy alone, no kernels: reports import this.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: rows that one generator makes: any part of the table can be had without the rest
_ROWS = 1024
#: tells these numbers from others that are drawn by the same seed
_STREAM = 0x57415254
#: number of the first row that a second table takes: beyond every vocabulary
SECOND = 1 << 40


#: rows of a fresh input table are uniform in [-reach, reach) / dim: word2vec's and fastText's own ranges
REACH = {"word2vec": 0.5, "fasttext": 1.0}


def fresh_rows(seed: int, dim: int, start: int, stop: int, reach: float = REACH["word2vec"]) -> NDArray[np.float32]:
    """Return rows start..stop of a fresh input table, float32 (stop - start, dim), uniform in [-reach, reach) / dim.

    A row depends on seed, dim and its number, not on the size of the table.
    """
    rows = np.empty((max(stop - start, 0), dim), np.float32)
    for block in range(start // _ROWS, -(-stop // _ROWS) if stop > start else 0):
        made = np.random.default_rng([_STREAM, seed, block]).random((_ROWS, dim), np.float32)
        low, high = max(start, block * _ROWS), min(stop, (block + 1) * _ROWS)
        rows[low - start : high - start] = made[low - block * _ROWS : high - block * _ROWS]
    rows -= np.float32(0.5)
    rows /= np.float32(dim / (2 * reach))
    return rows


def start(meta: Mapping[str, Any], first: int, last: int) -> NDArray[np.float32] | None:
    """Return rows first..last of the input table as training began; None if it began from another file (--init)."""
    options = meta.get("options", {})
    if options.get("init") is not None:
        return None
    return fresh_rows(int(meta["seed"]), int(options["dim"]), first, last)


def glove_start(meta: Mapping[str, Any], first: int, last: int) -> NDArray[np.float32]:
    """Return rows first..last of GloVe's vectors as training began: of the words, plus or beside the contexts."""
    seed, dim, output = int(meta["seed"]), int(meta["options"]["dim"]), meta["options"]["output"]
    words, contexts = fresh_rows(seed, dim, first, last), fresh_rows(seed, dim, SECOND + first, SECOND + last)
    return words if output == "words" else words + contexts if output == "sum" else np.hstack((words, contexts))
