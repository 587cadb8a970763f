"""The step between artifacts and the files of other programs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from embcli.spec.common import Step
from embcli.spec.options import Opt, Params

Format = Literal[
    "word2vec", "word2vec-binary", "glove", "fasttext", "fasttext-binary", "projector", "safetensors",
    "tokenizer-json", "gpt2", "tiktoken",
]  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class ConvertParams(Params):
    """Options of ``convert``."""

    out: Annotated[
        str | None,
        Opt(
            "File to write (gpt2, projector: a folder); - is stdout.",
            ("-o",),
            metavar="FILE",
            recorded=False,
            unset="required",
        ),
    ] = None
    from_: Annotated[Format | None, Opt("Format of the input.", unset="by its content")] = None
    to: Annotated[
        Format | None, Opt("Format to write an artifact as.", unset="by the name of the output", recorded=False)
    ] = None
    pattern: Annotated[
        str | None,
        Opt(
            "How text is cut, for formats that do not say it (tiktoken, gpt2): a name or expression as in bpe-train.",
            unset="gpt2 for gpt2",
        ),
    ] = None
    special: Annotated[
        tuple[str, ...],
        Opt("A special token that the file does not name, as TOKEN=ID (repeatable).", metavar="TOKEN=ID"),
    ] = ()
    limit: Annotated[
        int | None, Opt("Read only the first N words of a file of vectors.", min=1, metavar="N", unset="all")
    ] = None
    errors: Annotated[
        Literal["strict", "replace", "skip"] | None,
        Opt(
            "Words of vectors that are not UTF-8: stop, put U+FFFD, or leave the word out. strict also stops at wrong "
            "headers and double words.",
            unset="stop; of the rest only warn",
        ),
    ] = None
    dtype: Annotated[
        Literal["float32", "float16"] | None,
        Opt(
            "Keep vectors that are read as these numbers, or write them so to safetensors; what reads them computes in "
            "float32.",
            unset="float32; safetensors: as they are",
        ),
    ] = None
    tensor: Annotated[
        str | None, Opt("The table to read of a safetensors file.", metavar="NAME", unset="the one of words")
    ] = None
    vectors_for: Annotated[
        str | None,
        Opt(
            "Write only the vectors of the words in FILE, one a line (- is stdin), unseen ones composed of n-grams.",
            metavar="FILE",
            recorded=False,
        ),
    ] = None
    threads: Annotated[
        int | None,
        Opt("Worker threads; results do not depend on it.", min=1, max=1024, recorded=False, unset="all cores"),
    ] = None


ROWS = (
    Step(
        "convert",
        ConvertParams,
        "embcli.formats.tokenizers:read",
        ("file", "tokenizer", "vectors"),
        None,
        "Outside",
        "Read tokenizers and vectors of other programs, and write artifacts in their formats.",
        "An artifact (.npz) is written as --to says; any other file becomes an artifact. tokenizer-json: Hugging Face, "
        "byte-level BPE. gpt2: a folder with vocab.json and merges.txt. tiktoken: a file of ranks. word2vec, fasttext: "
        "text with a header, .vec; glove: without. word2vec-binary: .bin. fasttext-binary: models with n-grams, .bin. "
        "projector: vectors.tsv with metadata.tsv. safetensors: a table with its words, or a vocabulary beside.",
        ("embcli convert tokenizer.npz -o tokenizer.json", "embcli convert tokenizer.json -o same.npz"),
        metavar="FILE",
    ),
)
