"""Vectors of other programs, whichever format they are in: recognise, read, write. Tokenizers: tokenizers.py."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from embcli.artifacts import identify
from embcli.artifacts.schema import Blocks, Vectors, Words
from embcli.errors import InputError, UsageError
from embcli.formats import fasttext_bin, vector_shape, vector_text, vector_text_write
from embcli.formats.opened import Mapped, Stream, head_of, opened
from embcli.query.lookup import find, shortened
from embcli.query.subwords import Subwords
from embcli.spec import ConvertParams

#: the formats of vectors
FORMATS = ("word2vec", "glove", "fasttext", "fasttext-binary")


@dataclass(frozen=True)
class Found:
    """A file of vectors: the artifact and its format.

    ``notes`` for the person who converts and ``sources`` (kind and digest of what was read) are complete when the
    artifact was written.
    """

    made: Vectors
    format: str
    notes: list[str] = field(default_factory=list)
    sources: list[dict[str, str]] = field(default_factory=list)


def format_of(path: str, form: str | None) -> str | None:
    """Return ``form`` if it is one of vectors, else the format that a file looks to be in; None if it is not vectors.

    Text is called ``word2vec`` here, header or not. Raises InputError if the file cannot be read.
    """
    if form is not None:
        return form if form in FORMATS else None
    raw, head = head_of(path)
    if fasttext_bin.looks_like(head):
        if raw[:4] != head[:4]:
            raise InputError(
                f"{identify.show(path)}: is a packed fastText model; unpack it first (gunzip, bunzip2, xz -d)"
            )
        return "fasttext-binary"
    return "word2vec" if vector_shape.looks_like(head) else None


@contextmanager
def reading(path: str, form: str, params: ConvertParams) -> Iterator[Found]:
    """Open a file of vectors in a format of ``format_of``; it stays open while the artifact is being written.

    Raises InputError for what cannot be read, by name, UsageError where an option is missing.
    """
    if form == "fasttext-binary":
        from embcli.formats.fasttext_read import read

        file_map = Mapped(path)
        made, notes = read(file_map, params.errors or "strict", params.limit)
        made.options["from_"] = form
        yield Found(made, form, notes, [{"kind": "file", "digest": file_map.digest}])
        return
    with opened(path) as file:
        stream = Stream(file, path)
        made, notes = vector_text.read(stream, identify.show(path), params.from_, params.errors, params.limit)
        made.options["from_"] = params.from_ or "text"
        source, blocks = {"kind": "file", "digest": ""}, made.vectors.blocks

        def read_whole() -> Iterator[NDArray[np.float32]]:
            yield from blocks
            source["digest"] = stream.digest  # with --limit, of what was read

        made.vectors = Blocks(np.float32, read_whole(), made.vectors.item_shape)
        yield Found(made, "text", notes, [source])


def write(made: Vectors, form: str) -> tuple[Iterator[bytes], int | None, list[str]]:
    """Return a file in blocks, its size where it is known, and notes of what it holds."""
    if form == "fasttext-binary":
        from embcli.formats.fasttext_write import write as model

        return model(made)
    return vector_text_write.write(made, header=form != "glove"), None, _blanks(made.words)


def _blanks(words: Words) -> list[str]:
    """Return a note on words that hold a blank, if there are any."""
    at = np.unique(np.searchsorted(words.offsets, np.flatnonzero(np.asarray(words.data) == 32), "right") - 1)
    if not len(at):
        return []
    what = f"{len(at):,} words hold" if len(at) > 1 else "one word holds"
    return [
        f"{what} a blank, such as {ascii(words[int(at[0])])[:60]}: programs that cut lines at blanks cannot read this"
    ]


def chosen(made: Vectors, wanted: Sequence[str]) -> tuple[Vectors, list[str]]:
    """Return the vectors of some words, in their order, and notes; unseen words are composed of their n-grams.

    Words that cannot be composed have zeros, as from the original. Raises InputError if no word has anything else.
    """
    rows, subwords = find(made.words, wanted), Subwords.of(made)
    table = np.empty((len(wanted), made.vectors.shape[1]), np.float32)
    composed, missing = 0, []
    for i, word in enumerate(wanted):
        if word in rows:
            table[i] = made.vectors[rows[word]]
            continue
        vector, why = subwords.unseen(word) if subwords else (None, "there are no n-grams to compose it of")
        if vector is None:
            missing.append(f"{shortened(word)!r}, and {why}")
            table[i] = 0
        else:
            table[i], composed = vector, composed + 1
    if len(missing) == len(wanted):
        raise InputError(f"{made.path}: none of {len(wanted):,} words has a vector" + "".join(
            f"; unknown word {each}" for each in missing[:1]))  # fmt: skip
    notes = [f"{composed:,} of {len(wanted):,} words are not in the vocabulary: composed of their n-grams"]
    notes = notes[: bool(composed)]
    if missing:
        notes.append(f"{len(missing):,} of {len(wanted):,} words have no vector but zeros: unknown word {missing[0]}")
    return Vectors(
        vectors=table, words=Words.of(wanted), unigram=np.zeros(len(wanted), np.int64), path=made.path
    ), notes


def named(out: str) -> str | None:
    """Return the format that the name of an output means. Raises UsageError for one that several have."""
    if out.endswith(".vec"):
        return "fasttext"
    if out.endswith(".bin"):
        raise UsageError(f"-o {out}: several formats are called .bin; give --to fasttext-binary")
    return None
