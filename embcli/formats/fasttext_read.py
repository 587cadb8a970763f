"""fastText's models as artifacts of vectors: words, composed vectors, the rows of words and n-grams, output table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embcli.artifacts.checks import check_distinct, check_utf8
from embcli.artifacts.mapped import release
from embcli.artifacts.schema import Blocks, Vectors, Words
from embcli.errors import InputError
from embcli.formats.fasttext_bin import ARCHS, LOSSES, Layout, parse
from embcli.formats.opened import Mapped
from embcli.query.lookup import find
from embcli.query.subwords import composed
from embcli.text.ngrams import END_OF_LINE, fragments

Table = NDArray[np.float32]
#: bytes of a table looked at in one go
_PIECE = 1 << 24


def read(source: Mapped, errors: str, limit: int | None) -> tuple[Vectors, list[str]]:
    """Return a model as an artifact and notes for the person who converts.

    Parameters
    ----------
    source
        The mapped file.
    errors
        What to do with words that are not UTF-8: ``strict`` (stop), ``replace`` (by U+FFFD, which the n-grams of such a
        word then hold too) or ``skip`` (leave the word out). Their vectors are composed of the bytes in the file.
    limit
        Only so many of the first words are read; the rows of n-grams are read all the same.

    Every row of an n-gram that is not zero is kept: words that the model has not seen need them too. Arrays are read
    from the mapped file while the artifact is written, so memory stays small. Raises InputError as ``parse`` does, and
    where words or numbers are not sound.
    """
    held, name = parse(source.map, source.name), source.name
    n = len(held.counts) if limit is None else min(limit, len(held.counts))
    raw = Words(held.words[: held.offsets[n]], held.offsets[: n + 1])
    kept, words, notes = _readable(raw, name, errors)
    inputs = held.inputs[: len(held.counts)]
    grams = held.inputs[len(held.counts) :]
    buckets = _used(held.inputs, len(held.counts), name)
    whole = len(kept) == len(held.counts)
    with_ngrams = held.header["max_n"] > 0
    if not with_ngrams and len(buckets):
        notes.append(f"{len(buckets):,} rows of n-grams are left out, since the model has none (max-n 0)")
    own = inputs if whole else inputs[kept]
    if held.version == 0:
        own = _with_end_of_line(held, own, grams, words)
    made = Vectors(
        vectors=Blocks(np.float32, _vectors(held, own, grams, kept), (held.header["dim"],)) if with_ngrams else own,
        words=words,
        unigram=held.counts[kept],
        stats={"words": len(kept), "tokens": held.tokens, "dim": held.header["dim"]},
        options=_options(held),
    )
    if held.header["loss"] != 1:
        made.contexts = held.outputs if whole else held.outputs[kept]
    elif whole:
        made.nodes = held.outputs[: max(len(kept) - 1, 0)]
    if with_ngrams:
        made.word_rows, made.ngram_buckets = own, buckets
        made.ngram_rows = Blocks(np.float32, _pieces(grams, buckets), (held.header["dim"],))
        made.stats["ngram_rows"] = len(buckets)
        notes.append(
            f"{len(buckets):,} of {held.header['buckets']:,} rows of n-grams are kept: those that are not all zeros"
        )
    return made, notes


def _options(held: Layout) -> dict[str, Any]:
    """Return the options of the model's training by embcli's names, so that it can be written again."""
    options = {key: value for key, value in held.header.items() if key not in ("word_ngrams", "lr_update_rate")}
    options |= {"loss": LOSSES[held.header["loss"]], "arch": ARCHS[held.header["arch"]]}
    return options | {"layout": held.version}


def _readable(raw: Words, name: str, errors: str) -> tuple[NDArray[np.int64], Words, list[str]]:
    """Return the rows that are kept and their words as UTF-8."""
    rows = np.arange(len(raw))
    try:
        check_utf8("words", raw)
    except ValueError:
        return _repaired(raw, name, errors)
    try:
        check_distinct(raw)
    except ValueError as e:
        raise InputError(f"{name}: damaged: {e}; get the file again") from None
    return rows, raw, []


def _repaired(raw: Words, name: str, errors: str) -> tuple[NDArray[np.int64], Words, list[str]]:
    """Return the rows that are kept and their words, where some are not UTF-8."""
    spelled = [raw.bytes_at(i) for i in range(len(raw))]
    bad = [i for i, word in enumerate(spelled) if not _is_utf8(word)]
    if errors == "strict":
        raise InputError(
            f"{name}: word {bad[0] + 1:,} {spelled[bad[0]][:40]!r} is not UTF-8 ({len(bad):,} such words); "
            "--errors replace or skip reads the others, and with replace these too, with U+FFFD in them"
        )
    if errors == "skip":
        gone = set(bad)
        kept = [i for i in range(len(raw)) if i not in gone]
        notes = [f"{len(bad):,} words are left out: they are not UTF-8"]
    else:
        first: dict[bytes, int] = {}
        for i in bad:
            spelled[i] = spelled[i].decode("utf-8", "replace").encode()
        for i, word in enumerate(spelled):
            first.setdefault(word, i)
        kept = list(first.values())
        notes = [f"{len(bad):,} words are not UTF-8: U+FFFD stands for their bad bytes, also in their n-grams"]
        if twice := len(raw) - len(kept):
            notes.append(f"{twice:,} words that came out equal to an earlier one are left out")
    return np.array(kept, np.int64), Words.of(spelled[i] for i in kept), notes


def _is_utf8(word: bytes) -> bool:
    try:
        word.decode()
    except UnicodeDecodeError:
        return False
    return True


def _used(inputs: Table, first: int, name: str) -> NDArray[np.int64]:
    """Return which rows from ``first`` on are not all zeros, counted from there. Raises InputError if not finite."""
    found, step = [np.zeros(0, np.int64)], max(_PIECE // max(4 * inputs.shape[1], 1), 1)
    for start in range(0, len(inputs), step):
        part = inputs[start : start + step]
        if not np.isfinite(part).all():
            raise InputError(f"{name}: damaged: its table of words and n-grams is not finite; get the file again")
        rows = np.flatnonzero(part.any(1)) + start
        found.append(rows[rows >= first] - first)
        release(inputs, start, start + step)
    return np.concatenate(found)


def _with_end_of_line(held: Layout, own: Table, grams: Table, words: Words) -> Table:
    """Return the words' rows, where that of the end of line is its whole vector: old models gave it n-grams."""
    row = find(words, [END_OF_LINE.decode()]).get(END_OF_LINE.decode())
    if row is None:
        return own
    min_n, max_n, buckets = (held.header[name] for name in ("min_n", "max_n", "buckets"))
    parts = np.array([part.bucket for part in fragments(END_OF_LINE, min_n, max_n, buckets, old=True)], np.int64)
    changed = np.array(own)
    changed[row] = (own[row] + grams[parts].sum(0, dtype=np.float64)) / (1 + len(parts))
    return changed


def _vectors(held: Layout, own: Table, grams: Table, kept: NDArray[np.int64]) -> Iterator[Table]:
    """Yield the composed vectors of the kept words, from the words' bytes as they are in the file."""
    raw = Words(held.words, held.offsets)
    if len(kept) < len(raw):
        raw = Words.of(raw.bytes_at(i) for i in kept.tolist())
    lengths = (held.header["min_n"], held.header["max_n"])
    buckets = held.header["buckets"]
    for block in composed(raw, lambda start, stop: own[start:stop], grams, lambda at: at, lengths, buckets):
        yield block
        release(held.inputs)


def _pieces(table: Table, rows: NDArray[np.int64]) -> Iterator[Table]:
    """Yield some rows of a table, in pieces."""
    step = max(_PIECE // max(4 * table.shape[1], 1), 1)
    for start in range(0, len(rows), step):
        yield table[rows[start : start + step]]
        release(table)
