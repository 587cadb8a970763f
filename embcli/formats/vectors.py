"""Vectors of other programs, whichever format they are in: recognise, read, write. Tokenizers: tokenizers.py."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from embcli.artifacts import identify
from embcli.artifacts.schema import Blocks, Vectors, Words
from embcli.errors import InputError, UsageError
from embcli.formats import fasttext_bin, projector, tensors, vector_shape, vector_text, vector_text_write, word2vec_bin
from embcli.formats.opened import Mapped, Stream, digest_of, head_of, opened
from embcli.formats.unknown import foreign, refuse
from embcli.formats.vector_words import blanks
from embcli.job import Job
from embcli.query.lookup import find, shortened
from embcli.query.resolve import lowered
from embcli.query.subwords import Subwords
from embcli.spec import ConvertParams

#: the formats of vectors
FORMATS = ("word2vec", "word2vec-binary", "glove", "fasttext", "fasttext-binary", "projector", "safetensors")
#: endings of names that say a format; .bin has several
_ENDINGS = {".vec": "fasttext", ".tsv": "projector", ".safetensors": "safetensors"}


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
    if os.path.isdir(path):
        return "projector" if projector.parts_of(path) else None
    raw, head = head_of(path)
    packed = raw[:4] != head[:4]
    if not packed and path != "-" and identify.what_is(raw).startswith("compressed"):
        with opened(path) as file:
            Stream(file, path).read(1 << 12)  # raises, with what is wrong with it
    if fasttext_bin.looks_like(head) or tensors.looks_like(head):
        found = "fasttext-binary" if fasttext_bin.looks_like(head) else "safetensors"
        if packed:
            raise InputError(
                f"{identify.show(path)}: is a packed {found} file; unpack it first (gunzip, bunzip2, xz -d)"
            )
        return found
    if word2vec_bin.looks_like(head):
        return "word2vec-binary"
    if projector.looks_like(head):
        if projector.parts_of(path) is None:
            beside = identify.show(projector.labels_beside(path))
            raise InputError(
                f"{identify.show(path)}: looks like numbers without words, and no labels are beside ({beside}); if "
                "the first number of a line is its word, say --from glove"
            )
        return "projector"
    if vector_shape.looks_like(head):
        return "word2vec"
    if path.endswith(".safetensors") and not identify.is_text(head):
        return "safetensors"  # a damaged one
    if packed and not head.lstrip().startswith((b"{", b"#version")):
        from embcli.formats import tiktoken  # with it comes all that cuts text into tokens

        if not tiktoken.looks_like(head[:4096]):
            raise foreign(path, raw, head)
    return None


@contextmanager
def reading(path: str, form: str, params: ConvertParams, job: Job) -> Iterator[Found]:
    """Open a file of vectors in a format of ``format_of``; it stays open while the artifact is being written.

    Raises InputError for what cannot be read, by name, UsageError where an option is missing.
    """
    if form == "fasttext-binary":
        from embcli.formats.fasttext_read import read

        if params.dtype == "float16":
            raise UsageError("--dtype float16: models with n-grams stay float32, as their rows are; leave it out")
        file_map = Mapped(path)
        made, notes = read(file_map, params.errors or "strict", params.limit)
        made.options |= {"from_": form, "dtype": "float32"}
        yield Found(made, form, notes, [{"kind": "file", "digest": file_map.digest}])
        return
    with _opened(path, form, params, job) as (made, notes, sources, name):
        made.options |= {"from_": params.from_ or name, "dtype": params.dtype or "float32"}
        if params.dtype == "float16":
            _narrowed(made, identify.show(path))
        yield Found(made, name, notes, sources)


@contextmanager
def _opened(
    path: str, form: str, params: ConvertParams, job: Job
) -> Iterator[tuple[Vectors, list[str], list[dict[str, str]], str]]:
    """Yield the artifact that a file becomes, notes, sources (complete when it was written), and the format's name."""
    asked = (params.errors, params.limit)
    if form == "safetensors":
        made, notes, sources = tensors.read(path, params.tensor, *asked)
        sources.append({"kind": "file", "digest": digest_of(path)})
        yield made, notes, sources, form
        return
    labels = ""
    if form == "projector":
        found = projector.parts_of(path)
        if found is None:
            raise InputError(f"{identify.show(path)}: there are no labels beside, as vectors.tsv has metadata.tsv")
        path, labels = found
    raw, head = head_of(path)
    with opened(path) as file:
        stream, name = Stream(file, path), identify.show(path)
        if form == "projector":
            made, notes, sources = projector.read(stream, labels, name, *asked, job)
        elif form == "word2vec-binary":
            made, notes = word2vec_bin.read(stream, name, *asked)
            sources = []
        else:
            refuse(path, raw, head, "a word and its numbers a line")
            made, notes = vector_text.read(stream, name, params.from_, *asked, job)
            form, sources = "text", []
        source_of, blocks = {"kind": "file", "digest": ""}, made.vectors.blocks

        def read_whole() -> Iterator[NDArray[np.float32]]:
            yield from blocks
            source_of["digest"] = stream.digest  # with --limit, of what was read

        made.vectors = Blocks(np.float32, read_whole(), made.vectors.item_shape)
        sources.insert(0, source_of)
        yield made, notes, sources, form


def _narrowed(made: Vectors, name: str) -> None:
    """Let an artifact's rows become float16 while they are written."""
    wide = made.vectors
    made.vectors = Blocks(np.float16, (tensors.halved(block, name) for block in wide.blocks), wide.item_shape)


def write(
    made: Vectors, form: str, out: str, dtype: str | None, job: Job
) -> tuple[dict[str, Iterator[bytes]], int | None, list[str]]:
    """Return files by name ("" is the output itself) in blocks, their size if it is known, and notes."""
    if form == "fasttext-binary":
        from embcli.formats.fasttext_write import write as model

        blocks, size, notes = model(made)
        return {"": blocks}, size, notes
    if form == "projector":
        return projector.write(made, out, job)
    if form == "safetensors":
        blocks, size = tensors.write(made, dtype)
        return {"": blocks}, size, []
    if form == "word2vec-binary":
        blocks, size = word2vec_bin.write(made)
        return {"": blocks}, size, []
    return (
        {"": vector_text_write.write(made, header=form != "glove", job=job)},
        None,
        [f"{note}: programs that cut lines at blanks cannot read this" for note in blanks(made.words)],
    )


def chosen(made: Vectors, wanted: Sequence[str]) -> tuple[Vectors, list[str]]:
    """Return the vectors of some words, in their order, and notes; unseen words are composed of their n-grams.

    Where the text was folded to lower case, words that are not there as they are written are looked up so.

    Words that cannot be composed have zeros, as from the original. Raises InputError if no word has anything else.
    """
    subwords, fold = Subwords.of(made), lowered(made)
    rows = find(made.words, [*wanted, *(word.lower() for word in wanted)] if fold else wanted)
    table = np.empty((len(wanted), made.vectors.shape[1]), np.float32)
    composed, folded, missing = 0, 0, []
    for i, word in enumerate(wanted):
        if fold and word not in rows and word != word.lower():
            word, folded = word.lower(), folded + 1
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
    if folded:
        notes.insert(0, f"{folded:,} of {len(wanted):,} words are looked up in lower case, as their text was folded")
    if missing:
        notes.append(f"{len(missing):,} of {len(wanted):,} words have no vector but zeros: unknown word {missing[0]}")
    return Vectors(
        vectors=table, words=Words.of(wanted), unigram=np.zeros(len(wanted), np.int64), path=made.path
    ), notes


def named(out: str) -> str | None:
    """Return the format that the name of an output means. Raises UsageError for one that several have."""
    if out.endswith(".bin"):
        raise UsageError(f"-o {out}: several formats are called .bin; give --to word2vec-binary or fasttext-binary")
    return _ENDINGS.get(os.path.splitext(out)[1])
