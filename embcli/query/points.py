"""The rows of a table as float32 points whose products are scores, up to a known error: for a search of all rows.

Scores of a metric are turned into plain products of the right points, so that one matrix product serves all of them.
Blocks only: nothing of the table's size is made. What is found is settled exactly elsewhere: see graph.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from embcli.query.dense import DenseRows, unit_rows
from embcli.query.topk import Floats

Singles = NDArray[np.float32]
#: half a unit in the last place of float32, relative, rounded up
_UNIT = 6e-8


class Points:
    """The rows of a space as points: ``block`` gives them, ``slack`` bounds the error of their products.

    - cosine: rows at unit length.
    - dot product: rows divided by a power of two, so that none is longer than 1.
    - euclidean: minus half the squared distance, r q - r r / 2 - q q / 2, as a product of (q, 1, -q q / 2) and
      (r, -r r / 2, 1). Rows are moved so that their mean is 0, which changes no distance and shortens them, and divided
      like those of dot products.
    """

    def __init__(self, space: DenseRows, metric: str) -> None:
        self.space, self.metric = space, metric
        self.dim = space.shape[1] + 2 * (metric == "euclidean")
        self._centre = space.mean() if metric == "euclidean" else np.zeros(space.shape[1])
        self._scale = 1.0 if metric == "cosine" else self._fit()

    def _fit(self) -> float:
        """Return the power of two that brings the longest row to a length between 1/2 and 1."""
        longest = 0.0
        for start, stop in self.space.spans(self.space.shape[0]):
            rows = self.space.take(slice(start, stop)) - self._centre
            longest = max(longest, float((rows * rows).sum(1).max(initial=0)))
        return 2.0 ** -int(np.frexp(np.sqrt(longest))[1])

    def block(self, start: int, stop: int) -> tuple[Singles, Singles, Any]:
        """Return rows start..stop as queries, as rows, (n, dim) each, and the numbers of rows that no list may hold."""
        raw, none = self.space.take(slice(start, stop)), np.zeros(0, np.int64)
        if self.metric == "cosine":
            units, zero = unit_rows(raw)
            return units, units, zero  # type: ignore[return-value]
        moved = (raw - self._centre) * self._scale
        if self.metric == "dot":
            scaled = moved.astype(np.float32)
            return scaled, scaled, none
        half, one = -(moved * moved).sum(1, keepdims=True) / 2, np.ones((len(moved), 1))
        queries, rows = (np.hstack([moved, *more]).astype(np.float32) for more in ((one, half), (half, one)))
        return queries, rows, none

    def slack(self, probes: Floats) -> Floats:
        """Return (queries,): more than the error of any score of these queries, as scored by their points.

        A sum of d float32 products is off by d units of the sum of their sizes at most, and the points themselves
        were rounded. Cosines are rounded to 6 decimals at last, which may lift or lower each by 5e-7 more.
        """
        if self.metric == "cosine":  # the squares that a norm is made of are d products too
            return np.full(len(probes), 3e-6 + 2 * _UNIT * self.dim)
        moved = (probes - self._centre) * self._scale
        squares = (moved * moved).sum(1)
        sizes = np.sqrt(squares) + (0.5 + squares / 2 if self.metric == "euclidean" else 0)
        slack: Floats = _UNIT * (self.dim + 8) * sizes + 1e-36
        return slack
