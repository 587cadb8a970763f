"""``encode --phrases`` on a cluster: pairs are counted by partition and summed by groups; partitions are joined.

Ids of a partition are numbers of the client's census, in files that each pass writes anew. Types that are too rare for
a phrase are not in the census; all of them have one number. Where a row reaches from a partition into the next
one, pairs do too, and the next one is joined when it is known how this one ended.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embcli.artifacts.joined import Part, read_part, write_part
from embcli.cluster.census import known_names
from embcli.cluster.connection import Cluster
from embcli.cluster.partitions import Partition
from embcli.cluster.words import pieces_of, rename
from embcli.kernels.phrases import NOBODY, WAITING, WRITTEN, join, pairs
from embcli.text.joining import beginning
from embcli.text.phrases import Pairs, Scoring, Table, counted, scored
from embcli.text.vocab import DROPPED, Census

#: number of all types that are not in the census: see words.RARE
_RARE = 0
#: partitions whose pairs one group may have
_PER_GROUP = 4
#: pairs that wait to be counted
_HELD = 1 << 22
_GOLD = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True)
class Edge:
    """How the text of a partition ends: how many ids it has, the last one, and whether a row ends behind it.

    times : how often each pair was joined.  state : of ``kernels.phrases.join``.
    """

    size: int
    last: int
    ended: bool
    times: NDArray[np.int64] | None = None
    state: NDArray[np.int64] | None = None


class Parted:
    """A text in partitions: see ``phrases.Text``.

    known : the words of the census, for the workers.  whole : whether all partitions end where a row does.
    """

    def __init__(self, cluster: Cluster, parts: Sequence[Partition], known: str, census: Census, whole: bool) -> None:
        self.cluster, self.census, self.whole, self.passes = cluster, census, whole, 0
        self.parts, self.sizes = range(len(parts)), [part.size for part in parts]
        self.groups = -(-len(parts) // _PER_GROUP)
        self.edges = self._map(number_part, self.parts, known)
        self._forget("raw-{}", "ends-{}")

    def _map(self, work: Any, items: Sequence[Any], *more: Any) -> list[Any]:
        return self.cluster.map(work, items, self.cluster.folder, *more, unit="bytes", sizes=self.sizes)

    def pairs(self, able: NDArray[np.bool_], how: Scoring, words: int) -> list[Pairs]:
        """Return the pairs that are phrases, group by group; see ``phrases.Text``."""
        cluster, at = self.cluster, self.passes
        write_part(cluster.path(f"able-{at}"), able)
        write_part(cluster.path(f"counts-{at}"), np.ascontiguousarray(self.census.table.counts))
        self._map(count_pairs, [*zip(self.parts, self._before(), strict=True)], at, self.groups)
        more = (cluster.folder, at, len(self.parts), how, words)
        found = cluster.map(sum_pairs, range(self.groups), *more, unit="groups")
        self._forget("pairs-{}", "pairs-{}.n", "pairs-{}.groups")
        return found

    def _before(self) -> Iterator[int]:
        """Yield for each partition the type in front of it in its row, or NOBODY."""
        before = int(NOBODY)
        for edge in self.edges:
            yield before
            if edge.size or edge.ended:
                before = int(NOBODY) if edge.ended else edge.last

    def join(self, table: Table) -> None:
        """Join the pairs of a table; see ``phrases.Text``."""
        cluster, at = self.cluster, self.passes
        path = cluster.path(f"joins-{at}")
        for name, array in (
            ("starts", table.starts(len(self.census.table))), ("second", table.second), ("joined", table.joined)
        ):  # fmt: skip
            write_part(f"{path}.{name}", array)
        futures: list[Any] = []
        for i in self.parts:
            earlier = futures[-1] if futures and not self.whole else None
            futures.append(cluster.submit(join_part, i, cluster.folder, at, earlier))
        self.edges = [*cluster.watch(futures, self.sizes, "bytes")]
        for edge in self.edges:
            assert edge.times is not None
            table.times += edge.times
        self._forget(f"text-{at}-{{}}", f"text-{at}-{{}}.ends")
        self.passes += 1

    def _forget(self, *names: str) -> None:
        for name in names:
            for i in self.parts:
                os.unlink(self.cluster.path(name.format(i)))

    def renamed(self, names: NDArray[np.uint32], gap: int | None, dtype: np.dtype[Any]) -> list[int]:
        """Leave the final ids and row ends of all partitions in files; return how many ids each has.

        names : final id of each type.  gap : that of dropped ones, if these keep their place.
        """
        if gap is not None:
            names = np.where(names == DROPPED, np.uint32(gap), names)
        write_part(self.cluster.path("names"), names)
        return self._map(final_part, self.parts, self.passes, dtype.str)


def number_part(number: int, folder: str, known: str) -> Edge:
    """Leave the census's numbers of the types of a partition in files, and its row ends."""
    names = known_names(number, folder, known, _RARE)
    ends, last, size = read_part(f"{folder}/ends-{number}", np.int64), int(NOBODY), 0
    with Part(f"{folder}/text-0-{number}", np.uint32) as out:
        for ids, _ in pieces_of(f"{folder}/raw-{number}", ends):
            out.append(names[ids])
            size += len(ids)
            last = int(names[ids[-1]]) if len(ids) else last
    write_part(f"{folder}/text-0-{number}.ends", ends)
    return Edge(size, last, bool(len(ends)) and int(ends[-1]) == size)


def count_pairs(item: tuple[int, int], folder: str, at: int, groups: int) -> None:
    """Leave the pairs of a partition, and how often each occurs, in files, grouped by a hash of the pair."""
    number, before = item
    path, able = f"{folder}/text-{at}-{number}", read_part(f"{folder}/able-{at}", np.bool_)
    same = np.arange(len(able), dtype=np.uint32)
    waiting, held, keys, n = [np.empty(0, np.uint64)], 0, np.empty(0, np.uint64), np.empty(0, np.int64)
    for ids, ends in pieces_of(path, read_part(path + ".ends", np.int64)):
        room, begins = np.empty((2, len(ids)), np.uint64), np.zeros(3, np.int64)
        found = int(pairs(ids, same, able, ends, np.uint32(before), 1, room[0], room[1], begins))
        waiting.append(room[1, :found].copy())
        held += found
        if held > _HELD:
            keys, n = _added(keys, n, waiting)
            waiting, held = [], 0
        if len(ids):
            before = int(NOBODY) if len(ends) and ends[-1] == len(ids) else int(ids[-1])
    keys, n = _added(keys, n, waiting)
    group = ((keys * _GOLD) >> np.uint64(40)) % np.uint64(groups)
    order = np.argsort(group, kind="stable")
    path = f"{folder}/pairs-{number}"
    write_part(path, keys[order])
    write_part(path + ".n", n[order])
    write_part(path + ".groups", np.searchsorted(group[order], np.arange(groups + 1, dtype=np.uint64)))


def _added(keys: NDArray[np.uint64], n: NDArray[np.int64], more: list[NDArray[np.uint64]]) -> tuple[Any, Any]:
    return _summed([keys, *more], [n, np.ones(sum(map(len, more)), np.int64)])


def _summed(keys: list[NDArray[np.uint64]], n: list[NDArray[np.int64]]) -> tuple[Any, Any]:
    """Return different keys, ascending, and the sum of the numbers of each."""
    joined, numbers = np.concatenate(keys), np.concatenate(n)
    order = np.argsort(joined, kind="stable")
    found, sizes = counted(joined)
    if not len(found):
        return found, sizes
    return found, np.add.reduceat(numbers[order], np.cumsum(sizes) - sizes)


def sum_pairs(group: int, folder: str, at: int, parts: int, how: Scoring, words: int) -> Pairs:
    """Return the pairs of a group that are phrases, from what all partitions have of them."""
    keys, n = [np.empty(0, np.uint64)], [np.empty(0, np.int64)]
    for i in range(parts):
        path = f"{folder}/pairs-{i}"
        a, b = read_part(path + ".groups", np.int64, group, group + 2).tolist()
        keys.append(read_part(path, np.uint64, a, b))
        n.append(read_part(path + ".n", np.int64, a, b))
    return scored(*_summed(keys, n), read_part(f"{folder}/counts-{at}", np.uint64), how, words)


def join_part(number: int, folder: str, at: int, earlier: Edge | None) -> Edge:
    """Leave the text of a partition with pairs joined in files."""
    path, to = f"{folder}/text-{at}-{number}", f"{folder}/text-{at + 1}-{number}"
    starts, second, joined = (
        read_part(f"{folder}/joins-{at}.{name}", np.uint32) for name in ("starts", "second", "joined")
    )
    times, state = np.zeros(len(second), np.int64), beginning()
    if earlier is not None and earlier.state is not None:
        state[WAITING] = earlier.state[WAITING]
    same, last, ended = np.arange(len(starts) - 1, dtype=np.uint32), int(NOBODY), False
    with Part(to, np.uint32) as text, Part(to + ".ends", np.int64) as rows:
        for ids, ends in pieces_of(path, read_part(path + ".ends", np.int64)):
            out, places = np.empty(len(ids) + 1, np.uint32), np.empty(len(ends), np.int64)
            n = int(join(ids, same, ends, starts, second, joined, times, state, out, places))
            text.append(out[:n])
            rows.append(places)
            last = int(out[n - 1]) if n else last
            if n or len(places):
                ended = bool(len(places)) and int(places[-1]) == int(state[WRITTEN])
    return Edge(int(state[WRITTEN]), last, ended, times, state)


def final_part(number: int, folder: str, at: int, dtype: str) -> int:
    """Leave the final ids and row ends of a partition in files; return how many ids there are."""
    names, path = read_part(f"{folder}/names", np.uint32), f"{folder}/text-{at}-{number}"
    return rename(number, folder, pieces_of(path, read_part(path + ".ends", np.int64)), names, dtype)
