"""Types of partitions in files, by shard, and sums of shards: which words a text in partitions has, and how often.

A shard is summed by one task, which leaves rare types out: the client sees what may become the vocabulary and figures
of the rest. What a vocabulary does with ids is words.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from embcli.artifacts.joined import read_part, write_part
from embcli.artifacts.schema import Words
from embcli.cluster.connection import Cluster
from embcli.kernels.typetable import gather, prefixes
from embcli.text.typetable import TypeTable
from embcli.text.vocab import DROPPED, Census, Rest

_GOLD = np.uint64(0x9E3779B97F4A7C15)


def keep_words(given: Words, cluster: Cluster) -> str:
    """Write words for the workers; return the path, which is another one for other words."""
    path = cluster.path(f"words-{len(given)}-{int(given.offsets[-1])}")
    write_part(path, np.ascontiguousarray(given.data))
    write_part(path + ".offsets", np.ascontiguousarray(given.offsets))
    return path


def read_words(path: str) -> Words:
    """Return the words that ``keep_words`` wrote."""
    return Words(read_part(path, np.uint8), read_part(path + ".offsets", np.int64))


def write_types(path: str, table: TypeTable, shards: int) -> None:
    """Write types in the order of their shards, and the order: bytes, (size, count, number) of each, shard bounds."""
    begins, sizes = table.begins[:-1], np.diff(table.begins)
    keys = np.empty(len(table), np.uint64)
    prefixes(table.types.data, begins.copy(), sizes, 0, keys)
    shard = ((keys * _GOLD) >> np.uint64(40)) % np.uint64(shards)
    order = np.argsort(shard, kind="stable")
    data = np.empty(int(sizes.sum()), np.uint8)
    gather(table.types.data, begins[order], sizes[order], data)
    write_part(path, data)
    rows = np.stack([sizes[order], table.counts[order], order.astype(np.uint64)], axis=1)
    write_part(path + ".rows", rows.reshape(-1))
    places = np.searchsorted(shard[order], np.arange(shards + 1, dtype=np.uint64))
    ends = np.concatenate([[0], np.cumsum(sizes[order])]).astype(np.int64)
    write_part(path + ".shards", np.concatenate([places, ends[places]]).astype(np.int64))


def read_types(path: str, shard: int) -> tuple[NDArray[np.uint8], NDArray[np.uint64]]:
    """Return the types of a shard: bytes, and (size, count, number) of each."""
    places, ends = read_part(path + ".shards", np.int64).reshape(2, -1)
    rows = read_part(path + ".rows", np.uint64, 3 * int(places[shard]), 3 * int(places[shard + 1]))
    return read_part(path, np.uint8, int(ends[shard]), int(ends[shard + 1])), rows.reshape(-1, 3)


def sum_shard(
    shard: int, folder: str, parts: int, least: int, known: str | None, mark: str | None
) -> tuple[Any, Any, Any, Rest]:
    """Return the types of a shard with their counts in all partitions, and figures of those that are left out.

    Left out are types rarer than ``least``, unless they hold the ``mark``, or such as are not ``known`` words.
    """
    census = Census()
    if known is not None:
        census.add_words(read_words(known))
    given = len(census.table)
    for i in range(parts):
        data, rows = read_types(f"{folder}/types-{i}", shard)
        sizes, counts = np.ascontiguousarray(rows[:, 0]), np.ascontiguousarray(rows[:, 1])
        census.table.add(data, np.cumsum(sizes) - sizes, sizes, counts)
    table, counts = census.table, census.table.counts
    kept = (counts >= least) & (counts > 0)
    if mark is not None and len(table):
        letters = table.types.data[: int(table.begins[-1])] == ord(mark)
        kept |= np.logical_or.reduceat(letters, table.begins[:-1].astype(np.intp))
    if known is not None:
        kept[given:] = False
    rest = counts[~kept & (counts > 0)]
    begins, sizes = table.begins[:-1][kept], np.diff(table.begins)[kept]
    data = np.empty(int(sizes.sum()), np.uint8)
    gather(table.types.data, begins, sizes, data)
    return data, sizes, counts[kept].copy(), Rest(len(rest), int(rest.sum()), int(rest.max(initial=0)))


def known_names(number: int, folder: str, known: str, other: int) -> NDArray[np.uint32]:
    """Return the final id of each provisional one of a partition."""
    census, chosen = Census(), read_words(known)
    fixed = census.add_words(chosen)
    numbers = read_part(f"{folder}/numbers-{number}", np.uint32)
    types = np.empty(len(numbers), np.uint32)
    shards = len(read_part(f"{folder}/types-{number}.shards", np.int64)) // 2 - 1
    for shard in range(shards):
        data, rows = read_types(f"{folder}/types-{number}", shard)
        sizes = np.ascontiguousarray(rows[:, 0])
        found = census.table.add(data, np.cumsum(sizes) - sizes, sizes, np.zeros(len(sizes), np.uint64))
        types[rows[:, 2].astype(np.intp)] = found
    names = np.full(len(census.table), other, np.uint32)
    there = np.flatnonzero(fixed != DROPPED)[::-1]  # of equal words the first one is meant
    names[fixed[there]] = there
    final: NDArray[np.uint32] = names[types[numbers]]
    return final
