"""``encode --words`` on a cluster: partitions are scanned, shards of types summed, ids renamed; parts stay in files.

Types go to a shard by their first bytes, so that each shard is summed by one task and rare types are left out there:
the client sees what may become the vocabulary and figures of the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embcli.artifacts.joined import Joined, Part, read_part, write_part
from embcli.artifacts.schema import Tokens, Words
from embcli.cluster.connection import Cluster
from embcli.cluster.partitions import Digests, Partition, line_before, lines_before, partition
from embcli.errors import UsageError
from embcli.job import Job
from embcli.kernels.typetable import gather, prefixes
from embcli.spec import EncodeParams
from embcli.text import words
from embcli.text.corpus import Block, buffer_of
from embcli.text.cutting import Cut, Lane
from embcli.text.rows import Rows
from embcli.text.scan import scan
from embcli.text.typetable import TypeTable
from embcli.text.vocab import DROPPED, Census, Rest, choose

#: partitions whose types one shard may have
_PER_SHARD = 8
_GOLD = np.uint64(0x9E3779B97F4A7C15)
#: provisional ids that are renamed at a time
_PIECE = 1 << 19


@dataclass
class Figures:
    """What a partition came to: as ``Rows`` counts, and the ids that were kept."""

    tokens: int
    rows: int
    open_rows: list[int]
    bad: int
    size: int


def encode(inputs: Sequence[str], params: EncodeParams, job: Job, cluster: Cluster) -> Tokens:
    """Return what ``text.words.encode`` does, the same bytes; ids and row ends lie in files. Raises as that does."""
    if params.tokenizer is not None:
        from embcli.cluster.pieces import encode_pieces

        return encode_pieces(inputs, params, job, cluster)
    rule, given, unk = words.resolve(params)
    if rule.phrases:
        raise UsageError("--phrases: counts pairs over the whole text on one machine; leave --cluster out")
    source = partition(inputs, "lines", cluster)
    digests = Digests(source, cluster)
    parts, shards = source.partitions, max(-(-len(source.partitions) // _PER_SHARD), cluster.threads)
    found = cluster.map(scan_part, parts, cluster.folder, rule, params.rows, shards, unit="bytes", sizes=source.sizes)
    known = _known(given, cluster)
    least = 0 if given is not None else params.min_count
    sums = cluster.map(sum_shard, range(shards), cluster.folder, len(parts), least, known, unit="shards")
    census, rest = Census(), Rest()
    for data, sizes, counts, more in sums:
        census.table.add(data, np.cumsum(sizes) - sizes, sizes, counts)
        rest = Rest(rest.types + more.types, rest.tokens + more.tokens, max(rest.highest, more.highest))
    chosen = choose(census, params.min_count, params.max_vocab, unk, given, rest)
    top = words.settle(inputs, params, rule, chosen, {}, job)
    dtype, other = np.min_scalar_type(top), _other(chosen.words, unk, top if params.gaps == "keep" else None)
    known = _known(chosen.words, cluster)
    kept = cluster.map(rename_part, parts, cluster.folder, known, other, dtype.str, unit="bytes", sizes=source.sizes)
    job.sources += digests.records()
    ids, offsets = joined_rows(cluster, kept, dtype)
    return words.tokens_of(ids, offsets, chosen, total(found, params.rows), params, rule, unk, {})


def joined_rows(cluster: Cluster, kept: Sequence[int], dtype: Any) -> tuple[Joined, Joined]:
    """Return ids and row ends of all partitions, of which each has ``kept`` ids."""
    bases = (np.cumsum(kept) - kept).tolist()
    ids = Joined(dtype, [cluster.path(f"ids-{i}") for i in range(len(kept))])
    return ids, Joined(np.int64, [cluster.path(f"rows-{i}") for i in range(len(kept))], bases, [0])


def total(found: Sequence[Figures], mode: str) -> Rows:
    """Return the rows of a text from those of its partitions."""
    rows = Rows(mode)
    for one in found:
        rows.open_rows += [rows.rows + i for i in one.open_rows]
        rows.tokens, rows.rows = rows.tokens + one.tokens, rows.rows + one.rows
        rows.bad, rows.size = rows.bad + one.bad, rows.size + one.size
    return rows


def figures(rows: Rows) -> Figures:
    """Return what the rows of a partition came to."""
    return Figures(rows.tokens, rows.rows, rows.open_rows, rows.bad, rows.size)


def _known(given: Words | None, cluster: Cluster) -> str | None:
    """Write words for the workers; return the path, which is another one for other words."""
    if given is None:
        return None
    path = cluster.path(f"words-{len(given)}-{int(given.offsets[-1])}")
    write_part(path, np.ascontiguousarray(given.data))
    write_part(path + ".offsets", np.ascontiguousarray(given.offsets))
    return path


def _words(path: str) -> Words:
    return Words(read_part(path, np.uint8), read_part(path + ".offsets", np.int64))


def _other(chosen: Words, unk: str | None, gap: int | None) -> int:
    """Return the id of dropped words: that of ``unk`` or of a gap, or ``DROPPED``."""
    if gap is not None:
        return gap
    token = unk.encode() if unk is not None else None
    return next((i for i in range(len(chosen)) if token is not None and chosen.bytes_at(i) == token), int(DROPPED))


def rows_of(part: Partition, mode: str, inked: Any) -> Rows:
    """Return where rows end in a partition, which may begin within one; ``inked`` tells whether a line has text."""
    before = line_before(part) if mode == "blank-line" else b""
    inside = bool(before) and bool(inked(Block(buffer_of(before), 0, len(before), "text", False, False)))
    return Rows(mode, inside, lambda: lines_before(part))


def scan_part(part: Partition, folder: str, rule: Cut, mode: str, shards: int) -> Figures:
    """Leave the provisional ids, row ends and types of a partition in files."""
    rows = rows_of(part, mode, lambda block: Lane(rule).read(block).inked[0])
    path = f"{folder}/{{}}-{part.number}".format
    with Part(path("raw"), np.uint32) as ids, Part(path("ends"), np.int64) as ends:
        made = scan(part.parts, rule, mode, Job(), spill=True, rows=rows, into=(ids, ends))
    census = Census()
    census.add_lane(made.lanes[0].table if made.lanes else TypeTable(), rule.lower)
    write_part(path("numbers"), census.numbers[0])
    write_types(path("types"), census.table, shards)
    return figures(made.rows)


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


def sum_shard(shard: int, folder: str, parts: int, least: int, known: str | None) -> tuple[Any, Any, Any, Rest]:
    """Return the types of a shard with their counts in all partitions, and figures of those that are left out.

    Left out are types rarer than ``least``, or such as are not among the ``known`` words.
    """
    census = Census()
    if known is not None:
        census.add_words(_words(known))
    given = len(census.table)
    for i in range(parts):
        data, rows = read_types(f"{folder}/types-{i}", shard)
        sizes, counts = np.ascontiguousarray(rows[:, 0]), np.ascontiguousarray(rows[:, 1])
        census.table.add(data, np.cumsum(sizes) - sizes, sizes, counts)
    table, counts = census.table, census.table.counts
    kept = (counts >= least) & (counts > 0)
    if known is not None:
        kept[given:] = False
    rest = counts[~kept & (counts > 0)]
    begins, sizes = table.begins[:-1][kept], np.diff(table.begins)[kept]
    data = np.empty(int(sizes.sum()), np.uint8)
    gather(table.types.data, begins, sizes, data)
    return data, sizes, counts[kept].copy(), Rest(len(rest), int(rest.sum()), int(rest.max(initial=0)))


def rename_part(part: Partition, folder: str, known: str, other: int, dtype: str) -> int:
    """Leave the final ids and row ends of a partition in files; return how many ids there are."""
    names = _names(part.number, folder, known, other)
    ends, at, kept = read_part(f"{folder}/ends-{part.number}", np.int64), 0, 0
    path, read = f"{folder}/raw-{part.number}", 0
    with Part(f"{folder}/ids-{part.number}", dtype) as ids, Part(f"{folder}/rows-{part.number}", np.int64) as rows:
        while True:
            block = read_part(path, np.uint32, read, read + _PIECE)
            last = len(block) < _PIECE
            stop = len(ends) if last else int(np.searchsorted(ends, read + len(block), "right"))
            found, places = words.renamed(block, ends[at:stop] - read, names, np.dtype(dtype))
            ids.append(found)
            rows.append(places + kept)
            at, read, kept = stop, read + len(block), kept + len(found)
            if last:
                return kept


def _names(number: int, folder: str, known: str, other: int) -> NDArray[np.uint32]:
    """Return the final id of each provisional one of a partition."""
    census, chosen = Census(), _words(known)
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
