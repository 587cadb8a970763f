"""Cut the inputs of a command into partitions: lists of stretches of text that workers read on their own.

Plain files are cut behind line ends (or where no piece can be cut) near multiples of a size; compressed files are read
whole, small files together. Where the cuts are never changes a result.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from embcli.cluster.connection import Cluster
from embcli.errors import InputError
from embcli.text.compressed import Plain
from embcli.text.corpus import Stretch, boundary, digest_of, files_of, open_file, size_of
from embcli.text.remote import is_remote

#: bytes of a partition, unless there would be fewer of them than PER_TASK for each task that runs at a time
LARGEST, SMALLEST = 1 << 26, 1 << 18
PER_TASK = 2
#: partitions at most: each shard of types is read from all of them
MOST = 4096
#: bytes that are read to find a place to cut
_WINDOW = 1 << 16


@dataclass(frozen=True)
class Partition:
    """Consecutive stretches of the text; only the first may begin in the middle of a file.

    number : its place among all.  size : bytes on disk.
    """

    number: int
    parts: tuple[Stretch, ...]
    size: int


@dataclass(frozen=True)
class Source:
    """The inputs of a command: the partitions of all, and the files of each input."""

    partitions: list[Partition]
    files: list[list[str]]

    @property
    def sizes(self) -> list[int]:
        """Bytes of the partitions."""
        return [part.size for part in self.partitions]


def partition(inputs: Sequence[str], split: str, cluster: Cluster, size: int | None = None) -> Source:
    """Return the partitions of some inputs, after checking that all workers see them.

    split : where a file may be cut: ``lines``, ``pieces`` or ``whole`` (nowhere), as ``text.corpus`` has it.
    size : bytes of a partition; by default what keeps all workers busy, within limits.
    """
    files = [{_file(path, cluster): _name(path) for path in files_of(one)} for one in inputs]
    total = sum(size_of(path) or 0 for paths in files for path in paths)
    if size is None:
        size = max(min(max(total // (PER_TASK * cluster.threads) + 1, SMALLEST), LARGEST), total // MOST)
    cluster.check_paths([path for paths in files for path in paths])
    stretches = [part for paths in files for path, name in paths.items() for part in _cut(path, name, split, size)]
    return Source([*_batches(stretches, size)], [list(paths) for paths in files])


class Digests:
    """sha256 of the bytes of each input, which one task reads from beginning to end while others do other work."""

    def __init__(self, source: Source, cluster: Cluster) -> None:
        self._cluster = cluster
        self._sizes = [sum(size_of(path) or 0 for path in paths) for paths in source.files]
        self._futures = [cluster.submit(digest_of, paths) for paths in source.files]

    def records(self) -> list[dict[str, Any]]:
        """Return the records of the inputs, when all are known."""
        found = self._cluster.watch(self._futures, self._sizes, "bytes")
        return [{"kind": "text", "digest": digest} for digest in found]


def _file(path: Any, cluster: Cluster) -> str:
    """Return the absolute path of a file; stdin is copied to where workers see it."""
    if path != "-":
        return str(path) if is_remote(path) else os.path.abspath(path)
    if sys.stdin is None:
        raise InputError("stdin: is closed; give a file, or a pipe")
    copy = cluster.path("stdin")
    with open(copy, "wb") as file:
        shutil.copyfileobj(sys.stdin.buffer, file, 1 << 20)
    return copy


def _name(path: Any) -> str:
    """Return what messages call a file."""
    return "stdin" if path == "-" else str(path)


def _cut(path: str, name: str, split: str, size: int) -> Iterator[Stretch]:
    whole, start = size_of(path), 0
    if whole is None:
        raise InputError(f"{name}: is no file that workers could read by parts; copy it to one, or leave --cluster out")
    with open_file(path, name) as raw:
        if whole > size and split != "whole" and not Plain(raw, name).kind:
            for at in range(size, whole, size):
                stop = _before(raw, at, start, split)
                if stop > start:
                    yield Stretch(path, name, start, stop, whole)
                    start = stop
    yield Stretch(path, name, start, whole, whole)


def _before(raw: Any, at: int, start: int, split: str) -> int:
    """Return the last place in (start, at] where the file can be cut, or ``start``."""
    window = _WINDOW
    while True:
        begin = max(at - window, start)
        raw.seek(begin)
        buffer = np.frombuffer(raw.read(at - begin), np.uint8)
        found = boundary(buffer, 0, len(buffer), split)
        if found or begin == start:
            return begin + found
        window *= 8


def _batches(stretches: Sequence[Stretch], size: int) -> Iterator[Partition]:
    batch: list[Stretch] = []
    held = number = 0
    for part in stretches:
        weight = part.stop - part.start
        if batch and (part.start or held + weight > size):
            yield Partition(number, tuple(batch), held)
            batch, held, number = [], 0, number + 1
        batch.append(part)
        held += weight
    yield Partition(number, tuple(batch), held)


def lines_before(part: Partition) -> int:
    """Return how many line ends stand in the file before a partition begins: for messages."""
    first = part.parts[0]
    found, left = 0, first.start
    with open_file(first.path, first.name) as raw:
        while left and (block := raw.read(min(left, 1 << 20))):
            found += block.count(b"\n")
            left -= len(block)
    return found


def line_before(part: Partition) -> bytes:
    """Return the line that ends where a partition begins, with its line end; nothing at the beginning of a file."""
    first, window = part.parts[0], _WINDOW
    with open_file(first.path, first.name) as raw:
        while True:
            begin = max(first.start - window, 0)
            raw.seek(begin)
            data = raw.read(first.start - begin)
            at = data.rfind(b"\n", 0, -1)
            if at >= 0 or begin == 0:
                return bytes(data[at + 1 :])
            window *= 8
