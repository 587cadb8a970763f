"""What a search needs to know of an artifact, whatever its rows are made of: see dense.py and sparse.py."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

import numpy as np

from embcli.artifacts.schema import Artifact, Counts, Vectors, Words
from embcli.counts.weighting import automatic
from embcli.errors import InputError, KindError
from embcli.job import Job
from embcli.query.dense import DenseRows
from embcli.query.resolve import Compose
from embcli.query.sparse import SparseRows
from embcli.query.topk import Scored, Sum
from embcli.spec import NeighborsParams


class Block(Protocol):
    """Some rows of a space."""

    def score(self, probes: Any, metric: str, fine: bool = False) -> Scored:
        """Score the rows for stacked probes, in float64 throughout if ``fine``."""


class Space(Protocol):
    """Rows with a word each. A probe is a point of the space in whatever form the space likes.

    ``names`` are what queries call the rows, ``words`` what lists call them (of documents more than the name). Rows
    from shape[0] on are points that can be asked for and are never listed: those of ``also``, in their order, such as
    words among documents, or those that ``compose`` made of words that are not here. ``shape`` is (rows, dimensions),
    ``counts`` the words' frequencies (None where rows are no words), ``group`` how many probes may be kept at a time,
    ``batch`` how many are scored at a time.
    """

    name: str
    words: Words
    names: Words
    also: Words | None
    compose: Compose | None
    counts: Any
    shape: tuple[int, int]
    group: int
    batch: int

    def spans(self, limit: int) -> Iterator[tuple[int, int]]:
        """Yield the blocks (start, stop) that cover the first ``limit`` rows."""

    def probes(self, sums: Sequence[Sum], unit: bool) -> Sequence[Any]:
        """Return signed sums of rows, each row at unit length first if asked."""

    def length(self, probe: Any) -> float:
        """Return the length of a probe."""

    def mean(self) -> Any:
        """Return the mean of all rows."""

    def stack(self, probes: Sequence[Any]) -> Any:
        """Return probes in the form that blocks score against."""

    def block(self, start: int, stop: int) -> Block:
        """Return rows start..stop, ready to be scored."""

    def done(self, start: int, stop: int) -> None:
        """Give memory back that rows start..stop took, since they were scored."""


def open_space(artifact: Artifact, params: NeighborsParams, name: str, job: Job) -> Space:
    """Return the rows of an artifact as a space to search.

    Raises KindError if it has none, or not the table that is asked for; InputError if its words are damaged.
    """
    space: Space
    if isinstance(artifact, Vectors):
        space = DenseRows(artifact, params.table, name)
    elif isinstance(artifact, Counts):
        space = SparseRows(artifact, params.table, params.weight or automatic(artifact), name, job)
    else:
        raise KindError(f"{name}: expected kind 'vectors', 'counts', 'model' or 'context', found {artifact.kind!r}")
    if any((np.diff(words.offsets) < 0).any() for words in (space.words, space.also) if words is not None):
        raise InputError(f"{name}: damaged: the offsets of its words go backwards; make the file again")
    return space
