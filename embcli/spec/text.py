"""Steps between text and tokens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from embcli.errors import UsageError
from embcli.spec.common import Step
from embcli.spec.options import Opt, Params

#: options of ``encode`` that have to do with words only
WORD_OPTIONS = (
    "split",
    "lower",
    "min_count",
    "max_vocab",
    "vocab",
    "unk",
    "gaps",
    "phrases",
    "phrase_threshold",
    "phrase_discount",
)
_SPECIALS = "Text that looks like a special token: plain text, that token, or an error."


@dataclass(frozen=True, kw_only=True)
class BpeTrainParams(Params):
    """Options of ``bpe-train``."""

    vocab_size: Annotated[
        int, Opt("Entries of the vocabulary at most: bytes or characters, specials, merges.", min=1, max=2**31 - 1)
    ] = 8192
    pattern: Annotated[
        str,
        Opt(
            "How text is cut before merging: as gpt2, gpt4 (cl100k), gpt4o (o200k), or by a regular expression.",
            metavar="gpt2|gpt4|gpt4o|whitespace|none|REGEX",
        ),
    ] = "gpt4"
    unit: Annotated[Literal["byte", "char"], Opt("Base symbols: the 256 bytes, or the characters of the text.")] = (
        "byte"
    )
    end_of_word: Annotated[
        bool, Opt("Mark the end of each word by the symbol </w> (Sennrich et al. 2016); with --unit char.")
    ] = False
    min_frequency: Annotated[int, Opt("Merge pairs that occur this often or more.", min=1)] = 2
    special: Annotated[
        tuple[str, ...], Opt("A token that is never split or merged; ids follow the base symbols.", metavar="TOKEN")
    ] = ()
    max_token_bytes: Annotated[
        int | None, Opt("Longest token to learn, in bytes.", min=1, metavar="N", unset="none")
    ] = None
    ties: Annotated[
        Literal["lowest", "first-seen"],
        Opt("Of equally frequent pairs, merge the one with the lowest ids, or the one that stands first in the text."),
    ] = "lowest"
    rows: Annotated[Literal["line", "file"], Opt("Cut text line by line (with the line end), or file by file.")] = (
        "line"
    )
    counts: Annotated[bool, Opt("The input is a table: word, tab, count.")] = False
    init: Annotated[
        str | None, Opt("Append merges to this tokenizer; its ids stay.", metavar="FILE", file=True, unset="none")
    ] = None
    strict: Annotated[bool, Opt("Fail if the text does not give the vocabulary size asked for.", recorded=False)] = (
        False
    )
    explain: Annotated[
        int,
        Opt(
            "Show the first N merges with the counts that led to them, by the slow readable version.",
            min=0,
            metavar="N",
            recorded=False,
        ),
    ] = 0

    def check(self) -> None:
        """Refuse options that do not fit together."""
        if self.end_of_word and self.unit != "char":
            raise UsageError("--end-of-word: marks words made of characters; give --unit char too")
        if len(set(self.special)) < len(self.special):
            raise UsageError("--special: the same token is given twice")
        if "" in self.special:
            raise UsageError("--special: expected a token, found an empty string")
        if self.init is not None and (self.special or self.end_of_word or self.unit != "byte"):
            raise UsageError("--init: keeps the unit and specials of that tokenizer; leave out --unit and --special")
        base = (256 if self.unit == "byte" else 1) + len(self.special)
        if self.init is None and self.vocab_size < base:
            raise UsageError(
                f"--vocab-size: must be at least {base:,} (base symbols and specials), found {self.vocab_size:,}"
            )


@dataclass(frozen=True, kw_only=True)
class EncodeParams(Params):
    """Options of ``encode``."""

    tokenizer: Annotated[
        str | None,
        Opt("BPE tokens: cut and merge as this tokenizer does.", ("-t",), metavar="FILE", file=True, unset="none"),
    ] = None
    specials: Annotated[Literal["text", "token", "error"], Opt(_SPECIALS)] = "text"
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
        if self.words and self.tokenizer is not None:
            raise UsageError("--words and --tokenizer: give one of the two")
        if self.text is not None and self.count:
            raise UsageError("--text and --count: give one of the two")
        if not self.words and self.tokenizer is None:
            raise UsageError("give --words (or --split chars with it), or --tokenizer FILE for BPE")
        if self.tokenizer is not None:
            defaults = EncodeParams()
            for name in WORD_OPTIONS:
                if getattr(self, name) != getattr(defaults, name):
                    raise UsageError(f"--{name.replace('_', '-')}: belongs to --words; leave it out with --tokenizer")
        elif self.specials != "text":
            raise UsageError("--specials: belongs to --tokenizer; words that look like markers are words")
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
        "bpe-train",
        BpeTrainParams,
        "embcli.text.bpe_train:train",
        ("text",),
        "tokenizer",
        "Text",
        "Learn a byte-pair encoding from text.",
        "The most frequent pair of neighboring symbols is merged, again and again (Sennrich, Haddow and Birch 2016). "
        "Merges equal those of the Hugging Face trainer; a smaller vocabulary is a prefix of a larger one.",
        (
            "embcli bpe-train corpus.txt --vocab-size 2000 -o tokenizer.npz",
            "zcat corpus.gz | embcli bpe-train - --vocab-size 1000 --special '<|endoftext|>' -o tokenizer.npz",
        ),
        many=True,
        metavar="TEXT...",
        cluster="embcli.cluster.pieces:train",
    ),
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
            "zcat corpus.gz | embcli encode - --tokenizer tokenizer.npz -o pieces.npz",
        ),
        many=True,
        metavar="TEXT...",
        input_optional=True,
        cluster="embcli.cluster.words:encode",
    ),
    Step(
        "decode",
        DecodeParams,
        "embcli.text.words:decode",
        ("tokens",),
        None,
        "Text",
        "Turn token ids back into text.",
        "BPE tokens give back the bytes of the text. "
        "Words are joined by spaces, one row a line; characters without. What encode dropped or folded is "
        "gone; a dropped word that kept its place (--gaps keep) is shown as _.",
        ("embcli decode tokens.npz | head -3", "embcli decode tokens.npz -o text.txt"),
        metavar="TOKENS",
    ),
)
