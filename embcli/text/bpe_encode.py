"""Text to ids by a tokenizer (``encode --tokenizer``), and back: each distinct piece is merged once in a lane.

Cutting is pretokens.py, the loops are ``kernels.pieces``. Ids are written while the text is read. The result does not
depend on the threads: what a piece becomes depends on the piece alone.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from embcli.artifacts import identify, store
from embcli.artifacts.schema import Blocks, Tokens
from embcli.artifacts.spill import Spill
from embcli.errors import InputError, KindError, NumbersError, UsageError
from embcli.job import Job, human_bytes
from embcli.kernels import pieces as k
from embcli.kernels.pretoken import SPECIAL
from embcli.spec import WORD_OPTIONS, EncodeParams
from embcli.text.corpus import BLOCK, Block, Corpus, Stretch, buffer_of
from embcli.text.cutting import Fault, Read, mend
from embcli.text.patterns import Splitter
from embcli.text.pretokens import PieceLane, split
from embcli.text.rows import Rows
from embcli.text.scan import batches
from embcli.text.tokenizer import View
from embcli.text.typetable import TypeTable

#: a lane whose pieces take more than this many ids starts afresh, so that memory stays bounded
_MOST_IDS = 1 << 25


class TypeIds:
    """The ids of the types of a table, and room to merge in.

    ids : int32, of all types; type t has ``ids[starts[t]:starts[t + 1]]``.  only : uint32, the only one of these, or
    SEVERAL.  unseen : int64 (types, 2), where symbols are characters: how many have no id, and the first of them.
    """

    def __init__(self, view: View, errors: str = "strict") -> None:
        self.view, self.done = view, 0
        self.other = int(view.base[0xFFFD]) if view.chars and errors == "replace" else -1
        self.ids, self.starts = np.empty(1 << 16, np.int32), np.zeros(1 << 14, np.int64)
        self.only, self.unseen = np.empty(1 << 14, np.uint32), np.zeros(((1 << 14) * view.chars, 2), np.int64)
        self._room = room(1 << 10)

    def add(self, table: TypeTable) -> None:
        """Encode the types of a table that are not encoded yet."""
        view, total = self.view, len(table)
        if total + 1 > len(self.starts):
            more = max(total, len(self.starts))
            self.starts = np.concatenate([self.starts, np.zeros(more, np.int64)])
            self.only = np.concatenate([self.only, np.empty(more, np.uint32)])
            self.unseen = np.concatenate([self.unseen, np.zeros((more * view.chars, 2), np.int64)])
        while self.done < total:
            self.done = int(
                k.encode_types(
                    view.rules, self._room, view.base, self.other, view.tail, table.types, self.done, total,
                    self.ids, self.starts, self.only, self.unseen,
                )
            )  # fmt: skip
            if self.done < total:
                self._grow(int(np.diff(table.begins[self.done : self.done + 2])[0]) + 1)

    def unknown(self, start: int = 0) -> int | None:
        """Return the code point of the first character without an id in the types from ``start`` on."""
        found = np.flatnonzero(self.unseen[start : self.done, 0])
        return int(self.unseen[start + found[0], 1]) if len(found) else None

    def _grow(self, size: int) -> None:
        if size > len(self._room.rule):
            self._room = room(size)
        if self.starts[self.done] + size > len(self.ids):
            self.ids = np.concatenate([self.ids, np.empty(max(size, len(self.ids)), np.int32)])


def room(size: int) -> k.Room:
    """Return room to merge pieces of ``size`` symbols; long ones take 28 bytes a symbol."""
    long = size if size > k.SHORT else 0
    return k.Room(
        np.empty(max(size, k.SHORT), np.uint64), np.empty(long, np.int32), np.empty(long, np.int32),
        np.empty(3 * long, np.uint64),
    )  # fmt: skip


class Encoder:
    """A lane: encodes blocks of text, one thread at a time.

    Parameters
    ----------
    view : the tokenizer.
    splitter : its pattern, and the special tokens to look for.
    rows : ``line``, ``blank-line`` or ``file``, see ``Rows``.
    errors : characters without an id, and bytes that are not UTF-8 where symbols are characters: ``strict``,
        ``replace`` (by U+FFFD if it has an id) or ``skip``. Where symbols are bytes nothing can be wrong.
    """

    def __init__(self, view: View, splitter: Splitter, rows: str, errors: str) -> None:
        self.view, self.splitter, self.errors = view, splitter, errors
        self.rows, self.mode = rows, "file" if rows == "file" else "line"
        self.dtype = np.min_scalar_type(max(len(view.tokens) - 1, 0))
        self.special = np.array([view.special_id(token) for token in splitter.specials], np.int64)
        self.unigram, self.unseen = np.zeros(len(view.tokens), np.int64), 0
        self._fresh()

    def _fresh(self) -> None:
        self.lane, self.types = PieceLane(self.splitter, self.mode), TypeIds(self.view, self.errors)

    def read(self, block: Block) -> Read:
        """Return the ids of a block in the smallest type, and how many stand before each line end."""
        bad, fault = 0, None
        if self.view.chars:
            block, bad, fault = _characters(block, self.errors)
        found = self.lane.read(block)
        before = self.types.done
        self.types.add(self.lane.table)
        if self.errors == "strict" and (point := self.types.unknown(before)) is not None:
            raise InputError(
                f"{block.name}: the character {chr(point)!r} is not in the tokenizer; use --errors skip or replace, or "
                + ("--specials token if it is part of one" if self.view.special else "train a tokenizer on such text")
            )
        ids, ends = self._expanded(found, block.stop - block.start)
        inked = found.inked
        if self.rows == "blank-line":
            inked = _inked(block)
            ids, ends = self._inked_only(ids, ends, inked)
        if self.types.starts[self.types.done] > _MOST_IDS:
            self.close()
            self._fresh()
        return Read(ids, ends, inked, bad, fault)

    def _expanded(self, found: Read, size: int) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """Return the ids and the places of line ends of ``size`` bytes of text."""
        types, numbers = self.types, found.ids
        out = np.empty(size + len(numbers) * (self.view.tail >= 0), self.dtype)  # an id a byte, and ends of words
        ends = np.empty(len(found.ends), np.int64)
        n = k.expand(numbers, types.only, types.ids, types.starts, SPECIAL, self.special, found.ends, out, ends)
        special = numbers[numbers >= SPECIAL] if len(self.special) else numbers[:0]
        np.add.at(self.unigram, self.special[special - SPECIAL], 1)
        return out[: int(n)], ends

    def _inked_only(
        self, ids: NDArray[Any], ends: NDArray[np.int64], inked: NDArray[np.bool_]
    ) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """Return ids and line ends without the ids of blank lines, which are in no row."""
        sizes = np.diff(ends, prepend=0, append=len(ids))
        kept = np.repeat(inked, sizes)
        np.subtract.at(self.unigram, ids[~kept], 1)
        return ids[kept], np.cumsum(sizes * inked)[:-1]

    def close(self) -> None:
        """Add what the pieces' counts say to ``unigram``."""
        table = self.lane.table
        k.tally(self.types.ids, self.types.starts, table.counts, len(table), self.unigram)
        if self.view.chars:
            self.unseen += int(self.types.unseen[: len(table), 0] @ table.counts.astype(np.int64))


def _characters(block: Block, errors: str) -> tuple[Block, int, Fault | None]:
    """Return a block of UTF-8, how many bad sequences were mended, and the first one where they are an error.

    The block then ends before it: kernels read characters without asking whether they are any.
    """
    data = block.buffer[block.start : block.stop].tobytes()
    try:
        data.decode()
        return block, 0, None
    except UnicodeDecodeError as e:
        if errors == "strict":
            at = block.start + e.start
            return replace(block, stop=at), 0, Fault(at, data[e.start])
    text, bad = mend(data, errors)
    return Block(buffer_of(text), 0, len(text), block.name, block.first, block.last), bad, None


def has_ink(view: View, errors: str) -> Callable[[Block], bool]:
    """Return what tells whether the first line of a block has anything but white space, as ``Encoder.read`` sees it."""
    return lambda block: bool(_inked(_characters(block, errors)[0] if view.chars else block)[0])


def _inked(block: Block) -> NDArray[np.bool_]:
    """Return whether each line, and at last the one without an end, has anything but white space."""
    lines = block.buffer[block.start : block.stop].tobytes().split(b"\n")
    return np.array([bool(line.decode("utf-8", "replace").strip()) for line in lines])


def encode_pieces(inputs: Sequence[str], params: EncodeParams, job: Job, *, block: int = BLOCK) -> Tokens:
    """Return the BPE tokens of a text; the ids are produced while they are written.

    Parameters
    ----------
    inputs : paths of files and folders; - is stdin.
    params : the options of ``encode``, with ``tokenizer``.
    job : gets the digest of each input in ``sources``.
    block : bytes to read at a time; the result depends neither on it nor on the threads.

    Raises InputError for a file that is missing or damaged, a character without an id, or a special token where
    ``--specials error`` forbids it; KindError if ``--tokenizer`` is none.
    """
    view = read_tokenizer(params.tokenizer or "")
    check_errors(view, params.errors)
    run = Run(view, inputs, params, job, block)
    unigram = cast(Any, Blocks(np.int64, run.unigram()))
    return pieces_of(Blocks(run.dtype, run.blocks()), run.offsets, unigram, view, params, run.stats)


def pieces_of(ids: Any, offsets: Any, unigram: Any, view: View, params: EncodeParams, stats: dict[str, Any]) -> Tokens:
    """Return the artifact; ids, offsets, unigram and stats may be produced while it is written."""
    made = view.made
    return Tokens(
        ids=ids,
        row_offsets=offsets,
        words=view.words,
        unigram=unigram,
        tokens=view.tokens,
        merges=np.asarray(made.merges),
        merge_counts=np.asarray(made.merge_counts),
        special_ids=np.asarray(made.special_ids),
        stats=stats,
        text=view.text | {"rows": params.rows, "specials": params.specials},
        options=dict.fromkeys(("words", *WORD_OPTIONS)),
    )


def count_pieces_only(inputs: Sequence[str], params: EncodeParams, job: Job) -> dict[str, Any]:
    """Return the ``stats`` that ``encode --tokenizer`` would store."""
    run = Run(read_tokenizer(params.tokenizer or ""), inputs, params, job, BLOCK)
    for _ in run.blocks():
        pass
    for _ in run.unigram():
        pass
    return run.stats


def checked_name(path: str) -> str:
    """Return the path of a tokenizer artifact; KindError if another program made the file."""
    if os.path.isfile(path) and not identify.is_zip(path):
        raise KindError(
            f"{path}: is no tokenizer artifact; of another program's, make one: embcli convert {path} -o tokenizer.npz"
        )
    return path


def read_tokenizer(path: str) -> View:
    """Return the tokenizer of an artifact: a tokenizer, or tokens that were made with one."""
    found: Any = store.read(checked_name(path), ("tokenizer", "tokens"), command="encode")
    if found.tokens is None:
        raise KindError(
            f"{path}: its tokens are words; expected a tokenizer: embcli bpe-train corpus.txt -o tokenizer.npz"
        )
    return View(found)


def splitter_of(view: View, specials: str) -> Splitter:
    """Return how a tokenizer cuts text, looking for special tokens unless they are plain text."""
    tokens = [view.tokens.bytes_at(i) for i in sorted(view.special)] if specials != "text" else []
    try:
        return Splitter(view.expression, tuple(token for token in tokens if token))
    except UsageError as e:
        raise InputError(f"{view.name}: {e}") from None


class Run:
    """One pass over a corpus: lanes, rows and figures.

    rows : of a part of a text, which may begin in the middle of a file, and hold no token.
    """

    def __init__(
        self,
        view: View,
        inputs: Sequence[str | Stretch],
        params: EncodeParams,
        job: Job,
        block: int = BLOCK,
        rows: Rows | None = None,
    ) -> None:
        self.view, self.params, self.job, self.block = view, params, job, block
        self.splitter = splitter_of(view, params.specials)
        self.corpus = Corpus(inputs, block, self.splitter.cuts("file" if params.rows == "file" else "line"), True)
        self.offsets, self.rows, self.whole = Spill(np.int64, job.scratch), rows or Rows(params.rows), rows is None
        self.lanes: list[Encoder] = []
        self.dtype = np.min_scalar_type(max(len(view.tokens) - 1, 0))
        self.stats: dict[str, Any] = {}

    def blocks(self) -> Iterator[NDArray[Any]]:
        """Yield the ids in order. ``offsets`` and ``stats`` are complete behind the last."""
        free: list[Encoder] = []  # append and pop are atomic
        self.view.prepare()

        def work(batch: list[Block]) -> list[tuple[Block, Read]]:
            try:
                lane = free.pop()
            except IndexError:
                lane = Encoder(self.view, self.splitter, self.params.rows, self.params.errors)
                self.lanes.append(lane)
            found = [(part, lane.read(part)) for part in batch]
            free.append(lane)
            return found

        self.offsets.append(np.zeros(1, np.int64))
        for found in self.job.map(work, batches(self.corpus, self.block)):
            for part, read in found:
                self._no_specials(part, read)
                self.offsets.append(self.rows.add(part, read))
                yield read.ids
            self.job.progress(self.corpus.done, self.corpus.total, "bytes")
        self.job.sources += [{"kind": "text", "digest": digest} for digest in self.corpus.digests]
        if self.whole:
            self.stats |= text_figures(self.rows)

    def _no_specials(self, part: Block, read: Read) -> None:
        """Raise InputError if there is a special token where there must be none."""
        if self.params.specials != "error" or not len(self.view.special):
            return
        marked = np.flatnonzero(np.isin(read.ids, list(self.view.special)))
        if len(marked):
            token = self.view.readable(int(read.ids[marked[0]]))
            raise InputError(f"{part.name}: the text holds the special token {token!r}; use --specials text or token")

    def unigram(self) -> Iterator[NDArray[np.int64]]:
        """Yield how often each id occurs."""
        total, unseen = self.counted()
        self.stats |= id_figures(self.view, total, unseen, self.params, self.job)
        yield total

    def counted(self) -> tuple[NDArray[np.int64], int]:
        """Return how often each id occurs, and how many characters have none. Once, after the last block."""
        total = np.zeros(len(self.view.tokens), np.int64)
        for lane in self.lanes:
            lane.close()
            total += lane.unigram
        return total, sum(lane.unseen for lane in self.lanes)


def text_figures(rows: Rows) -> dict[str, Any]:
    """Return the figures of the report that concern the text. NumbersError: it has no token."""
    if not rows.tokens:
        raise NumbersError(f"nothing to encode: {human_bytes(rows.size)} of text, {rows.rows:,} rows, no token")
    return {
        "tokens": rows.tokens, "bytes_read": rows.size, "rows": rows.rows, "bad_sequences": rows.bad,
        "open_rows": rows.open_rows, "bytes_per_token": round(rows.size / rows.tokens, 4),
    }  # fmt: skip


def id_figures(view: View, total: NDArray[np.int64], unseen: int, params: EncodeParams, job: Job) -> dict[str, Any]:
    """Return the figures of the report that concern ids, of which ``total`` says how often each occurs."""
    special = int(total[sorted(view.special)].sum())
    stats: dict[str, Any] = {"types_used": int(np.count_nonzero(total)), "specials_found": special}
    if unseen:
        stats["unknown_characters"] = unseen
        known = params.errors == "replace" and int(view.base[0xFFFD]) >= 0
        how = "replaced by U+FFFD" if known else "left out"
        if params.errors == "replace" and not known:
            how += " (it has no U+FFFD either)"
        job.warn(f"{unseen:,} characters have no id in the tokenizer and were {how}")
    return stats


def check_errors(view: View, errors: str) -> None:
    """Raise UsageError for ``--errors`` where nothing can be wrong."""
    if errors != "strict" and not view.chars:
        raise UsageError(f"--errors {errors}: a byte-level tokenizer keeps every byte as it is; leave it out")


def encode_text(text: bytes, view: View, specials: str, errors: str) -> list[tuple[bytes, list[int]]]:
    """Return the pieces of one string with their ids, in order."""
    splitter = splitter_of(view, specials)
    check_errors(view, errors)
    lane = Encoder(view, splitter, "file", errors)
    block = Block(buffer_of(text), 0, len(text), "text", True, True)
    if (read := lane.read(block)).fault:
        raise InputError(f"text: byte {read.fault.at + 1}: 0x{read.fault.byte:02x} is not UTF-8")
    pieces = split(text, splitter)
    if specials == "error" and any(piece in splitter.specials for piece in pieces):
        token = next(piece for piece in pieces if piece in splitter.specials).decode("utf-8", "replace")
        raise InputError(f"text: holds the special token {token!r}; use --specials text or token")
    table = {view_bytes: ids for view_bytes, ids in _by_piece(lane)}
    table |= {token: [int(i)] for token, i in zip(splitter.specials, lane.special, strict=True)}
    return [(piece, table[piece]) for piece in pieces]


def _by_piece(lane: Encoder) -> Iterator[tuple[bytes, list[int]]]:
    begins, data = lane.lane.table.begins.tolist(), lane.lane.table.types.data.tobytes()
    starts = lane.types.starts.tolist()
    for t, (a, b) in enumerate(pairwise(begins)):
        yield data[a:b], lane.types.ids[starts[t] : starts[t + 1]].tolist()
