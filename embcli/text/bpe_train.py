"""The step ``bpe-train``: from raw text (or counted words) to a tokenizer.

Text is cut into pieces and these are counted (pretokens.py); what is merged is decided by learning.py. Memory depends
on the distinct pieces, not on the text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embcli.artifacts.schema import Tokenizer, Words
from embcli.errors import InputError, NumbersError, UsageError
from embcli.job import Job
from embcli.spec import BpeTrainParams
from embcli.text import bpe_plain
from embcli.text.corpus import Corpus
from embcli.text.counted import read_counts
from embcli.text.learning import Learned, Rules, learn
from embcli.text.patterns import Splitter, splitter
from embcli.text.pretokens import PieceCounts, count_pieces
from embcli.text.tokenizer import BYTE_ORDER, END, View

#: what a text is while pieces are counted: with its line end, as Hugging Face's trainer reads files
_MODES = {"line": "line+", "file": "file"}


Count = Callable[[Sequence[str], Splitter, str, Job], PieceCounts]


@dataclass(frozen=True)
class Start:
    """What learning starts from.

    symbols : int32, base ids of all types, one type after another.  begins : int64 (types + 1,), where each one begins.
    weights : int64, how often it occurs.  tokens : what the ids spell that are there already.  special : ids.
    """

    symbols: NDArray[np.int32]
    begins: NDArray[np.int64]
    weights: NDArray[np.int64]
    tokens: Words
    special: NDArray[np.int64]
    text: dict[str, Any]
    merges: NDArray[np.int32]
    counts: NDArray[np.int64]
    stats: dict[str, Any]


def train(inputs: Sequence[str], params: BpeTrainParams, job: Job, count: Count = count_pieces) -> Tokenizer:
    """Return the tokenizer that a text teaches (Sennrich, Haddow and Birch 2016, section 3.2).

    Parameters
    ----------
    inputs
        Paths of files and folders; - is stdin. With ``params.counts``, tables of words and counts.
    params
        The options of ``bpe-train``.
    job
        Gets the digest of each input in ``sources``.
    count
        Counts the pieces, as ``count_pieces`` does.

    Raises
    ------
    InputError : a file is missing or damaged, or no table of counts.
    UsageError : the vocabulary is smaller than its base symbols, or an option conflicts with ``--init``.
    NumbersError : nothing can be merged, or with ``--strict`` fewer merges than asked for.
    """
    start = prepare(inputs, params, job, count)
    rules = Rules(params.vocab_size, params.min_frequency, params.max_token_bytes, params.ties == "first-seen")
    base = len(start.tokens)

    def tell(tokens: int) -> None:
        if tokens > base:
            job.progress(tokens - base, params.vocab_size - base, "merges")

    learned = learn(start.symbols, start.begins, start.weights, start.tokens, rules, tell)
    reached = len(learned.tokens)
    if reached < params.vocab_size:
        _too_few(inputs, start, learned, params, job)
    return Tokenizer(
        tokens=learned.tokens,
        merges=np.concatenate([start.merges, learned.merges]),
        merge_counts=np.concatenate([start.counts, learned.counts]),
        special_ids=start.special,
        text=start.text,
        options={"pattern": start.text["pattern"]},
        stats=start.stats | {"vocab": reached, "base": base, "merges": len(learned.merges)},
    )


def explain(inputs: Sequence[str], params: BpeTrainParams, job: Job) -> list[tuple[bpe_plain.Merge, list[bytes]]]:
    """Return the first ``params.explain`` merges of the slow readable version, each with the tokens so far."""
    start = prepare(inputs, params, job)
    types = [part.tolist() for part in np.split(start.symbols, start.begins[1:-1])]
    tokens = [start.tokens.bytes_at(i) for i in range(len(start.tokens))]
    size = min(params.vocab_size, len(tokens) + params.explain)
    steps = bpe_plain.train(
        types, start.weights.tolist(), tokens, size, params.min_frequency, params.max_token_bytes,
        params.ties == "first-seen",
    )  # fmt: skip
    return [(step, list(tokens)) for step in steps]


def prepare(inputs: Sequence[str], params: BpeTrainParams, job: Job, count: Count = count_pieces) -> Start:
    """Return the types of a text in base symbols, and the tokens that are there before anything is learned."""
    if params.init is not None:
        view = _read(params)
        specials = tuple(view.tokens.bytes_at(i) for i in np.asarray(view.made.special_ids).tolist())
        cut = Splitter(view.expression, specials)
        return _grown(view, _counted(inputs, cut, params, job, count), params)
    cut = splitter(params.pattern, params.special)
    found = _counted(inputs, cut, params, job, count)
    text = {
        "unit": "bpe", "base": params.unit, "pattern": cut.name, "regex": cut.text,
        "end_of_word": params.end_of_word, "whole": False,
    }  # fmt: skip
    base = [bytes([b]) for b in BYTE_ORDER] if params.unit == "byte" else _characters(found, inputs, params)
    tokens = Words.of([*base, *cut.specials])
    if len(set(base) | set(cut.specials)) < len(tokens):
        clash = next(s for s in cut.specials if s in base)
        raise UsageError(f"--special {clash.decode(errors='replace')!r}: is a base symbol already")
    if params.vocab_size < len(tokens):
        raise UsageError(
            f"--vocab-size: the text has {len(base):,} base symbols; with specials {len(tokens):,} entries are needed, "
            f"found {params.vocab_size:,}"
        )
    special = np.arange(len(base), len(tokens))
    bare = Tokenizer(
        tokens=tokens, merges=np.empty((0, 2), np.int32), merge_counts=np.empty(0, np.int64), special_ids=special,
        text=text,
    )  # fmt: skip
    return _grown(View(bare), found, params)


def _read(params: BpeTrainParams) -> View:
    """Return the tokenizer of ``--init``."""
    from embcli.artifacts import store
    from embcli.text.bpe_encode import checked_name

    found: Any = store.read(checked_name(params.init or ""), ("tokenizer",), command="bpe-train")
    name, asked = found.text.get("pattern"), params.pattern
    if asked not in (BpeTrainParams().pattern, name, found.text.get("regex")):
        raise UsageError(f"--pattern {asked}: {params.init} cuts text by its own pattern, {name}; leave the option out")
    if params.vocab_size < len(found.tokens):
        raise UsageError(f"--vocab-size: {params.init} has {len(found.tokens):,} tokens, found {params.vocab_size:,}")
    return View(found)


def _counted(inputs: Sequence[str], cut: Splitter, params: BpeTrainParams, job: Job, count: Count) -> PieceCounts:
    """Return the distinct pieces of the inputs with their counts."""
    if params.counts:
        return read_counts(inputs, cut, job)
    return count(inputs, cut, _MODES[params.rows], job)


def _grown(view: View, found: PieceCounts, params: BpeTrainParams) -> Start:
    """Return the types as the tokenizer encodes them so far."""
    table = trimmed(found) if view.tail >= 0 else found.table
    begins, made = table.begins.astype(np.int64), view.made
    if view.chars or len(np.asarray(made.merges)) or (view.base < 0).any():
        from embcli.text.bpe_encode import TypeIds

        encoded = TypeIds(view)
        encoded.add(table)
        if (point := encoded.unknown()) is not None:
            raise InputError(
                f"{view.name}: has no id for the character {chr(point)!r} of the text; --init adds merges only"
            )
        begins = encoded.starts[: len(table) + 1]
        symbols = encoded.ids[: begins[-1]]
    else:
        symbols = view.base[table.types.data[: begins[-1]]]
    return Start(
        symbols,
        begins,
        table.counts.astype(np.int64),
        view.tokens,
        np.asarray(made.special_ids, np.int64),
        dict(view.text),
        np.asarray(getattr(made, "merges", np.empty((0, 2))), np.int32),
        np.asarray(made.merge_counts, np.int64),
        {"bytes_read": found.size, "pieces": found.total, "types": len(found)},
    )


def trimmed(found: PieceCounts) -> Any:
    """Return the types without white space around them, for which the end of a word stands. Raises InputError."""
    from embcli.text.typetable import TypeTable

    words: dict[bytes, int] = {}
    for piece, n in found.pieces():
        bare = piece.decode("utf-8", "surrogateescape").strip().encode("utf-8", "surrogateescape")
        if END in bare:
            raise InputError(f"{piece!r} holds {END.decode()}, which is the end of a word; leave out --end-of-word")
        if bare:
            words[bare] = words.get(bare, 0) + n
    table, listed = TypeTable(), Words.of(words)
    begins, sizes = listed.offsets[:-1].astype(np.uint64), np.diff(listed.offsets).astype(np.uint64)
    table.add(listed.data, begins, sizes, np.array(list(words.values()), np.uint64))
    return table


def _characters(found: PieceCounts, inputs: Sequence[str], params: BpeTrainParams) -> list[bytes]:
    """Return the characters of all pieces in the order of their code points, and the end of a word behind them."""
    seen: set[str] = set()
    for piece, _ in found.pieces():
        try:
            seen.update(piece.decode())
        except UnicodeDecodeError as e:
            raise _not_text(inputs, piece[e.start]) from None
    if params.end_of_word:
        seen = {c for c in seen if not c.isspace()}
    return [c.encode() for c in sorted(seen)] + [END] * params.end_of_word


def _not_text(inputs: Sequence[str], byte: int) -> InputError:
    """Return the error for text that is not UTF-8, with the place of the first such byte if it can be read again."""
    place, number = "stdin", 1
    for block in Corpus([path for path in inputs if path != "-"], split="lines", bytewise=True).blocks():
        number = 1 if block.first else number
        data = block.buffer[block.start : block.stop].tobytes()
        try:
            data.decode()
        except UnicodeDecodeError as e:
            line, column = number + data.count(b"\n", 0, e.start), e.start - data.rfind(b"\n", 0, e.start)
            place, byte = f"{block.name}: line {line:,}, byte {column}", data[e.start]
            break
        number += data.count(b"\n")
    return InputError(f"{place}: 0x{byte:02x} is not UTF-8: --unit char needs text, --unit byte takes any bytes")


def _too_few(inputs: Sequence[str], start: Start, learned: Learned, params: BpeTrainParams, job: Job) -> None:
    """Say that there are fewer tokens than asked for; raise NumbersError if that is none, or must not be."""
    name = ", ".join("stdin" if path == "-" else path for path in inputs)
    pieces = start.stats["pieces"]
    read = f"{pieces:,} piece{'' if pieces == 1 else 's'} ({start.stats['types']:,} different)"
    why = f"reaches --min-frequency {params.min_frequency:,}"
    if params.max_token_bytes is not None:
        why += f" within --max-token-bytes {params.max_token_bytes:,}"
    if not len(learned.merges):
        raise NumbersError(
            f"{name}: nothing to learn from {read}: no pair of neighbors that may be merged {why}, the highest count "
            f"of one is {learned.highest:,}; give more text, or a lower --min-frequency"
        )
    line = f"asked for {params.vocab_size:,} entries, reached {len(learned.tokens):,}: no other pair {why} in {read}"
    if params.strict:
        raise NumbersError(f"{name}: {line}; nothing was written (--strict)")
    job.warn(line)
