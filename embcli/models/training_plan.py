"""What word2vec training does, and the two tables that it changes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from embcli.kernels.vectors16 import aligned, padded


@dataclass(frozen=True)
class Plan:
    """What training does; all of it decides the bytes of the result.

    Parameters
    ----------
    arch : "skipgram" or "cbow".  loss : "negative", "hierarchical" or "softmax".
    dim, window, fixed_window, cbow_sum, negative, ns_power, sample, epochs, lr, min_lr, seed : as the options.
    freeze_output : leave the output table as it is.  hogwild : threads write to the tables at the same time.
    lanes : shares of a block that are trained side by side.  block : tokens of a share, at most.
    share : neighbouring centres that have their negatives in common; 0: 1, in CBOW 2.
    """

    arch: str = "skipgram"
    loss: str = "negative"
    dim: int = 100
    window: int = 5
    fixed_window: bool = False
    cbow_sum: bool = False
    negative: int = 5
    ns_power: float = 0.75
    sample: float = 1e-3
    epochs: int = 5
    lr: float = 0.025
    min_lr: float = 1e-4
    seed: int = 0
    freeze_output: bool = False
    hogwild: bool = False
    lanes: int = 8
    block: int = 200
    share: int = 0

    def __post_init__(self) -> None:
        """Choose ``share``: skip-gram's contexts have their negatives in common already."""
        if self.share == 0:
            object.__setattr__(self, "share", 2 if self.arch == "cbow" else 1)


class Tables:
    """The two tables, rows padded with zeros to whole cache lines.

    inputs : float32 (V, padded).  outputs : float32 (V, padded), of the tree (V - 1, padded).
    dim : columns that are used; ``vectors`` and ``contexts`` are views of them.
    """

    def __init__(self, words: int, nodes: int, dim: int) -> None:
        self.dim = dim
        width = padded(dim)
        self.inputs, self.outputs = aligned(words, width), aligned(nodes, width)

    @property
    def vectors(self) -> NDArray[np.float32]:
        """The input table (V, dim), a view."""
        return self.inputs[:, : self.dim]

    @property
    def contexts(self) -> NDArray[np.float32]:
        """The output table (V or V - 1, dim), a view."""
        return self.outputs[:, : self.dim]
