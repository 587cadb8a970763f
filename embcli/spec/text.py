"""Steps between text and tokens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from embcli.errors import UsageError
from embcli.spec.common import Step
from embcli.spec.options import Opt, Params


@dataclass(frozen=True, kw_only=True)
class EncodeParams(Params):
    """Options of ``encode``."""

    words: Annotated[bool, Opt("Word-level tokens: one id a word.")] = False
    split: Annotated[
        Literal["words", "whitespace", "chars"],
        Opt("Cut into words (letters, marks, numbers, inner apostrophes), at whitespace, or into characters."),
    ] = "words"
    lower: Annotated[bool, Opt("Fold words to lower case.")] = False
    min_count: Annotated[int, Opt("Drop words rarer than this (without --vocab).", min=1)] = 5
    max_vocab: Annotated[int | None, Opt("Keep only this many of the most frequent words.", min=1, unset="all")] = None
    vocab: Annotated[
        str | None,
        Opt(
            "Use the vocabulary of this artifact, and cut text as it was cut; other words are dropped words.",
            metavar="FILE",
            file=True,
        ),
    ] = None
    unk: Annotated[str | None, Opt("Keep dropped words as this one word.", metavar="TOKEN")] = None
    phrases: Annotated[
        int,
        Opt(
            "Join words that stand together into phrases, in this many passes (word2phrase).", min=0, max=8, metavar="N"
        ),
    ] = 0
    phrase_threshold: Annotated[
        float, Opt("Join a pair that scores above this: (n(ab) - discount) N / (n(a) n(b)).", above=0)
    ] = 100.0
    phrase_discount: Annotated[
        float | None, Opt("Taken off a pair's count, against phrases of rare words.", min=0, unset="--min-count")
    ] = None
    phrases_top: Annotated[
        int,
        Opt(
            "Print the N highest-scoring phrases of the last pass.",
            min=0,
            max=100,
            metavar="N",
            recorded=False,
            unset="none",
        ),
    ] = 0
    gaps: Annotated[
        Literal["close", "keep"], Opt("Dropped words close the gap, or keep their place in windows (as id V).")
    ] = "close"
    errors: Annotated[
        Literal["strict", "replace", "skip"],
        Opt("Bytes that are not UTF-8: stop, replace by U+FFFD (which is no letter), or leave out."),
    ] = "strict"
    rows: Annotated[
        Literal["line", "blank-line", "file"], Opt("What one row is: a line, a block between blank lines, or a file.")
    ] = "line"
    text: Annotated[str | None, Opt("Show how this string is cut, instead of reading files.", recorded=False)] = None
    count: Annotated[bool, Opt("Only print how many tokens and types there are.", recorded=False)] = False

    def check(self) -> None:
        """Refuse options that exclude each other."""
        if not self.words:
            raise UsageError("missing option --words: tokens are words, or with --split chars characters")
        if self.vocab and self.max_vocab:
            raise UsageError("--max-vocab: cannot be combined with --vocab, which fixes the vocabulary")
        if self.unk is not None and self.gaps == "keep":
            raise UsageError("--unk: cannot be combined with --gaps keep: a dropped word is either a word or a gap")
        if self.phrases and self.split == "chars":
            raise UsageError("--phrases: joins words, not characters; leave out --split chars")
        if self.phrases and self.vocab:
            raise UsageError("--phrases: cannot be combined with --vocab, which brings its own phrases")
        if not self.phrases and (self.phrase_threshold, self.phrase_discount) != (100.0, None):
            raise UsageError("--phrase-threshold and --phrase-discount belong to --phrases; give --phrases N too")
        if not self.phrases and self.phrases_top:
            raise UsageError("--phrases-top belongs to --phrases; give --phrases N too")
        if self.phrases and self.text is not None:
            raise UsageError(
                "--phrases: counts pairs in files, not in --text; to cut a string with the phrases of an artifact, "
                "give it as --vocab"
            )
        if self.unk is not None and (not self.unk or "\n" in self.unk):
            raise UsageError("--unk: expected a word without line ends")


@dataclass(frozen=True, kw_only=True)
class DecodeParams(Params):
    """Options of ``decode``."""

    out: Annotated[str, Opt("File to write; - is stdout.", ("-o",), metavar="FILE", recorded=False)] = "-"


ROWS = (
    Step(
        "encode",
        EncodeParams,
        "embcli.text.words:encode",
        ("text",),
        "tokens",
        "Text",
        "Turn text into token ids.",
        "Reads files, folders (every file below, sorted), or - for stdin; gzip, bz2 and xz are recognised by content. "
        "Text is UTF-8. Each line is a row; windows of later steps stop at its end.",
        (
            "embcli encode corpus.txt --words --lower -o tokens.npz",
            "zcat corpus.gz | embcli encode - --words -o tokens.npz",
        ),
        many=True,
        metavar="TEXT...",
        input_optional=True,
    ),
    Step(
        "decode",
        DecodeParams,
        "embcli.text.words:decode",
        ("tokens",),
        None,
        "Text",
        "Turn token ids back into text.",
        "Words are joined by spaces, one row a line; characters without. What encode dropped or folded is "
        "gone; a dropped word that kept its place (--gaps keep) is shown as _.",
        ("embcli decode tokens.npz | head -3", "embcli decode tokens.npz -o text.txt"),
        metavar="TOKENS",
    ),
)
