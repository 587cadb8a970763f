"""``cooc --context document`` on a cluster: ranges of documents become rows and labels in files, which need no sum."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from embcli.artifacts.joined import Joined, append_all, read_part, write_part
from embcli.artifacts.schema import Counts, Tokens, Words
from embcli.cluster.connection import Cluster
from embcli.cluster.count_tasks import ROWS
from embcli.cluster.counts import LARGEST, RANGES, joined_rows
from embcli.cluster.opened import checked, opened
from embcli.counts import documents as documents_
from embcli.counts.budget import Plan, Task, plan
from embcli.counts.join import Joint
from embcli.job import Job

_PARTS = ROWS | {"data": np.int64, "labels": np.uint8, "label_ends": np.int64}
#: number, input, first row and end, path and digest, number of the input's first document, and its words' names
Item = tuple[int, int, int, str, str, int, str | None]


def documents(
    inputs: Sequence[Any], files: Sequence[tuple[str, str]], joint: Joint, budget: int, asked: bool, cluster: Cluster
) -> Counts:
    """Return document-term counts of inputs that lie in ``files``, as ``counts.documents.count`` does."""
    size = len(joint.words)
    rows = documents_.some_words(inputs, joint)
    how = plan(Task(size, 0, 8, 0), budget, 1, asked)
    given = [file for one, file in zip(inputs, files, strict=True) if not isinstance(one, Tokens)]
    cluster.map(check_documents, given, unit="inputs")
    items = [*_items(inputs, files, joint, cluster)]
    found = cluster.map(count_documents, items, cluster.folder, size, how, unit="documents", sizes=_sizes(items))
    cells, letters = [n for n, *_ in found], [n for _, n, _ in found]
    parts, bases = range(len(items)), (np.cumsum(letters) - letters).tolist()
    ends: Any = Joined(np.int64, [cluster.path(f"label_ends-{i}") for i in parts], bases, [0])
    labels: Any = Joined(np.uint8, [cluster.path(f"labels-{i}") for i in parts])
    stats = {"documents": rows, "words": size, "tokens": int(joint.unigram.sum()), "cells": sum(cells)}
    return Counts(
        **joined_rows(cluster, cells, np.int64),
        shape=np.array([rows, size]),
        words=joint.words,
        rows=Words(labels, ends),
        unigram=joint.unigram,
        stats=stats | {"total": sum(whole for *_, whole in found)},
    )


def _sizes(items: Sequence[Item]) -> list[int]:
    return [end - first for _, first, end, *_ in items]


def _items(inputs: Sequence[Any], files: Sequence[tuple[str, str]], joint: Joint, cluster: Cluster) -> Iterator[Item]:
    """Yield ranges of documents of all inputs, in order."""
    number = 0
    for i, (one, at, own) in enumerate(documents_.numbered(inputs, joint.names)):
        names = None
        if own is not None:
            names = cluster.path(f"names-{i}")
            write_part(names, own)
        bounds = one.row_offsets if isinstance(one, Tokens) else one.indptr
        rows, cells = len(bounds) - 1, int(bounds[-1])
        step = max(min(-(-cells // (RANGES * cluster.threads)), LARGEST), 1)
        edges = np.unique([0, *np.searchsorted(bounds, range(step, cells, step)).tolist(), rows]).tolist()
        for a, b in pairwise(edges):
            yield number, a, b, *files[i], at, names
            number += 1


def check_documents(file: tuple[str, str]) -> None:
    """Look at all of an input that holds counts, as ``counts.documents.check``."""
    documents_.check(opened(*file))


def count_documents(item: Item, folder: str, size: int, how: Plan) -> tuple[int, int, int]:
    """Leave the documents of a range of rows in files; return cells, bytes of labels, and the sum of all cells."""
    number, first, end, path, digest, at, named = item
    given = opened(path, digest)
    if isinstance(given, Tokens):
        checked(given, int(given.row_offsets[first]), int(given.row_offsets[end]))
    names = read_part(named, np.int64) if named is not None else None
    maker, sums = documents_.Maker(size, how, Job()), np.zeros(3, np.int64)

    def blocks() -> Iterator[Mapping[str, Any]]:
        for block in maker.blocks(given, at, names, (first, end)):
            rows = {"data": block.cells.sums, "cols": block.cells.cols, "ends": sums[0] + block.cells.ends}
            yield rows | {"labels": block.labels, "label_ends": sums[1] + block.label_ends}
            sums[:] += (len(block.cells.cols), len(block.labels), int(block.cells.sums.sum()))

    append_all(f"{folder}/{{}}-{number}", _PARTS, blocks())
    cells, letters, total = sums.tolist()
    return cells, letters, total
