"""Byte-pair encoding on a cluster: ``encode --tokenizer`` and ``bpe-train``, partition by partition."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embcli.artifacts import store
from embcli.artifacts.joined import Part
from embcli.artifacts.schema import Tokenizer, Tokens
from embcli.cluster.connection import Cluster, LoneError
from embcli.cluster.partitions import Digests, Partition, partition
from embcli.cluster.words import Figures, figures, joined_rows, rows_of, total
from embcli.job import Job
from embcli.spec import BpeTrainParams, EncodeParams
from embcli.text import bpe_encode, bpe_train
from embcli.text.patterns import Splitter
from embcli.text.pretokens import PieceCounts, count_pieces
from embcli.text.tokenizer import View
from embcli.text.typetable import TypeTable

#: partitions whose pieces are summed by one task
_PER_SUM = 4


def encode_pieces(inputs: Sequence[str], params: EncodeParams, job: Job, cluster: Cluster) -> Tokens:
    """Return what ``text.bpe_encode.encode_pieces`` does, the same bytes. Raises as that does."""
    view = bpe_encode.read_tokenizer(params.tokenizer or "")
    bpe_encode.check_errors(view, params.errors)
    splitter = bpe_encode.splitter_of(view, params.specials)
    source = partition(inputs, _cuts(splitter, "file" if params.rows == "file" else "line"), cluster)
    digests = Digests(source, cluster)
    more = (cluster.folder, _kept(view, cluster), view.name, params)
    found = cluster.map(encode_part, source.partitions, *more, unit="bytes", sizes=source.sizes)
    rows = total([one for one, *_ in found], params.rows)
    stats = bpe_encode.text_figures(rows)
    unigram: NDArray[np.int64] = np.sum([counts for _, counts, _ in found], axis=0)
    stats |= bpe_encode.id_figures(view, unigram, sum(unseen for *_, unseen in found), params, job)
    job.sources += digests.records()
    dtype = np.min_scalar_type(max(len(view.tokens) - 1, 0))
    ids, offsets = joined_rows(cluster, [one.tokens for one, *_ in found], dtype)
    return bpe_encode.pieces_of(ids, offsets, unigram, view, params, stats)


def _kept(view: View, cluster: Cluster) -> str:
    """Write a tokenizer for the workers; return the path."""
    made, path = view.made, cluster.path("tokenizer.npz")
    parts = {name: getattr(made, name) for name in ("tokens", "merges", "merge_counts", "special_ids")}
    store.write(Tokenizer(**parts, text=made.text, options=made.options), path, made.meta | {"kind": "tokenizer"})
    return path


def encode_part(
    part: Partition, folder: str, tokenizer: str, name: str, params: EncodeParams
) -> tuple[Figures, NDArray[np.int64], int]:
    """Leave the ids and row ends of a partition in files; return how often each id occurs, and unknown characters."""
    view = bpe_encode.read_tokenizer(tokenizer)
    view.name = name
    inked = bpe_encode.has_ink(view, params.errors)
    run = bpe_encode.Run(view, part.parts, params, Job(), rows=rows_of(part, params.rows, inked))
    with Part(f"{folder}/ids-{part.number}", run.dtype) as ids, Part(f"{folder}/rows-{part.number}", np.int64) as rows:
        for block in run.blocks():
            ids.append(block)
        for i, block in enumerate(run.offsets.blocks()):
            rows.append(block if i else block[1:])  # the first is 0, which the joined ones have once
    return figures(run.rows), *run.counted()


def train(inputs: Sequence[str], params: BpeTrainParams, job: Job, cluster: Cluster) -> Tokenizer:
    """Return what ``text.bpe_train.train`` does, the same bytes: pieces are counted by partition. Raises as that."""
    if params.counts:
        raise LoneError("--counts: the words are counted already")

    def count(inputs: Sequence[str], splitter: Splitter, mode: str, job: Job) -> PieceCounts:
        source = partition(inputs, _cuts(splitter, mode), cluster)
        digests = Digests(source, cluster)
        how = (splitter.pattern, splitter.specials, mode)
        counted = [cluster.submit(count_part, part, *how) for part in source.partitions]
        sums = [cluster.submit(sum_parts, counted[i : i + _PER_SUM]) for i in range(0, len(counted), _PER_SUM)]
        sizes = [sum(source.sizes[i : i + _PER_SUM]) for i in range(0, len(counted), _PER_SUM)]
        del counted  # so that workers may forget what was summed
        made = PieceCounts()
        for one in cluster.watch(sums, sizes, "bytes"):
            _add(made, one)
        job.sources += digests.records()
        return made

    return bpe_train.train(inputs, params, job, count)


def _cuts(splitter: Splitter, mode: str) -> str:
    """Return where a text may be cut: at line ends where these end pieces."""
    cuts = splitter.cuts(mode)
    return "lines" if cuts == "lines or pieces" else cuts


def count_part(part: Partition, pattern: str, specials: tuple[bytes, ...], mode: str) -> Any:
    """Return the pieces of a partition: bytes, begins, counts, and the bytes read."""
    return _packed(count_pieces(part.parts, Splitter(pattern, specials), mode, Job()))


def sum_parts(parts: Sequence[Any]) -> Any:
    """Return the pieces of several partitions, in order of first appearance."""
    made = PieceCounts()
    for one in parts:
        _add(made, one)
    return _packed(made)


def _packed(found: PieceCounts) -> Any:
    table: TypeTable = found.table
    begins = table.begins.copy()
    return table.types.data[: int(begins[-1])].copy(), begins, table.counts.copy(), found.size


def _add(made: PieceCounts, one: Any) -> None:
    data, begins, counts, size = one
    made.table.add(data, begins[:-1].copy(), np.diff(begins), counts)
    made.size += size
