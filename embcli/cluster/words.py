"""``encode --words`` on a cluster: partitions are scanned, shards of types summed, ids renamed; parts stay in files.

Types go to a shard by their first bytes, so that each shard is summed by one task and rare types are left out there:
the client sees what may become the vocabulary and figures of the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embcli.artifacts.joined import Joined, Part, read_part, write_part
from embcli.artifacts.schema import Tokens, Words
from embcli.cluster.census import keep_words, known_names, sum_shard, write_types
from embcli.cluster.connection import Cluster, LoneError
from embcli.cluster.partitions import Digests, Partition, line_before, lines_before, partition
from embcli.job import Job
from embcli.spec import EncodeParams
from embcli.text import words
from embcli.text.corpus import Block, buffer_of
from embcli.text.cutting import Cut, Lane
from embcli.text.phrases import JOINER, run_passes
from embcli.text.rows import Rows
from embcli.text.scan import scan
from embcli.text.typetable import TypeTable
from embcli.text.vocab import DROPPED, Census, Rest, choose, words_of

#: partitions whose types one shard may have
_PER_SHARD = 8
#: the first type of a census with phrases, which is no word, stands for all types that are left out
RARE = "\n"
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
    if rule.phrases and given is not None:
        raise LoneError("--vocab: its phrases are joined on one machine")
    source = partition(inputs, "lines", cluster)
    digests = Digests(source, cluster)
    parts, shards = source.partitions, max(-(-len(source.partitions) // _PER_SHARD), cluster.threads)
    found = cluster.map(scan_part, parts, cluster.folder, rule, params.rows, shards, unit="bytes", sizes=source.sizes)
    census, rest = _types(cluster, len(parts), shards, given, params, rule)
    text, joined = None, dict[str, Any]()
    if rule.phrases:
        from embcli.cluster.phrases import Parted

        text = Parted(cluster, parts, keep_words(words_of(census.table), cluster), census, params.rows == "line")
        joined["phrases"] = run_passes(text, census, rule.phrases, words.scoring(params), rest.tokens)
    chosen = choose(census, params.min_count, params.max_vocab, unk, given, rest)
    top = words.settle(inputs, params, rule, chosen, joined, job)
    dtype, gap = np.min_scalar_type(top), top if params.gaps == "keep" else None
    if text is not None:
        kept = text.renamed(chosen.names, gap, dtype)
    else:
        more = (cluster.folder, keep_words(chosen.words, cluster), _other(chosen.words, unk, gap), dtype.str)
        kept = cluster.map(rename_part, parts, *more, unit="bytes", sizes=source.sizes)
    job.sources += digests.records()
    ids, offsets = joined_rows(cluster, kept, dtype)
    return words.tokens_of(ids, offsets, chosen, total(found, params.rows), params, rule, unk, joined)


def _types(
    cluster: Cluster, parts: int, shards: int, given: Words | None, params: EncodeParams, rule: Cut
) -> tuple[Census, Rest]:
    """Return the types that may become the vocabulary, and figures of those that are left out."""
    known = keep_words(given, cluster) if given is not None else None
    least, mark = 0 if given is not None else params.min_count, JOINER if rule.phrases else None
    sums = cluster.map(sum_shard, range(shards), cluster.folder, parts, least, known, mark, unit="shards")
    census, rest = Census(), Rest()
    if rule.phrases:
        census.add_words(Words.of([RARE]))
    for data, sizes, counts, more in sums:
        census.table.add(data, np.cumsum(sizes) - sizes, sizes, counts)
        rest = Rest(rest.types + more.types, rest.tokens + more.tokens, max(rest.highest, more.highest))
    return census, rest


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


def rename_part(part: Partition, folder: str, known: str, other: int, dtype: str) -> int:
    """Leave the final ids and row ends of a partition in files; return how many ids there are."""
    names, ends = known_names(part.number, folder, known, other), read_part(f"{folder}/ends-{part.number}", np.int64)
    return rename(part.number, folder, pieces_of(f"{folder}/raw-{part.number}", ends), names, dtype)


def pieces_of(path: str, ends: NDArray[np.int64]) -> Iterator[tuple[NDArray[np.uint32], NDArray[np.int64]]]:
    """Yield the provisional ids in a file piece by piece, with how many stand before each end of a row in the piece."""
    at = read = 0
    last = False
    while not last:
        block = read_part(path, np.uint32, read, read + _PIECE)
        last = len(block) < _PIECE
        stop = len(ends) if last else int(np.searchsorted(ends, read + len(block), "right"))
        yield block, ends[at:stop] - read
        at, read = stop, read + len(block)


def rename(
    number: int,
    folder: str,
    pieces: Iterable[tuple[NDArray[np.uint32], NDArray[np.int64]]],
    names: NDArray[np.uint32],
    dtype: str,
) -> int:
    """Leave what pieces of a partition are named in files, and the row ends; return how many ids there are."""
    kept = 0
    with Part(f"{folder}/ids-{number}", dtype) as ids, Part(f"{folder}/rows-{number}", np.int64) as rows:
        for block, ends in pieces:
            found, places = words.renamed(block, ends, names, np.dtype(dtype))
            ids.append(found)
            rows.append(places + kept)
            kept += len(found)
    return kept
