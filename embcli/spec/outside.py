"""The step between artifacts and the files of other programs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from embcli.spec.common import Step
from embcli.spec.options import Opt, Params

Format = Literal["tokenizer-json", "gpt2", "tiktoken"]


@dataclass(frozen=True, kw_only=True)
class ConvertParams(Params):
    """Options of ``convert``."""

    out: Annotated[
        str | None,
        Opt("File to write (gpt2: a folder); - is stdout.", ("-o",), metavar="FILE", recorded=False, unset="required"),
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


ROWS = (
    Step(
        "convert",
        ConvertParams,
        "embcli.formats.tokenizers:read",
        ("file", "tokenizer", "tokens"),
        None,
        "Outside",
        "Read tokenizers of other programs, and write artifacts in their formats.",
        "An artifact (.npz) is written as --to says; any other file becomes an artifact. tokenizer-json: Hugging Face, "
        "byte-level BPE. gpt2: a folder with vocab.json and merges.txt. tiktoken: a file of ranks.",
        ("embcli convert tokenizer.npz -o tokenizer.json", "embcli convert tokenizer.json -o same.npz"),
        metavar="FILE",
    ),
)
