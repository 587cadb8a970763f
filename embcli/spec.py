"""What steps exist and which options they take: the one declaration behind commands, help, YAML and provenance.

A step is a row of STEPS; its options are the fields of a frozen dataclass, annotated with ``Opt``. To add a method, add
a dataclass and a row here and a file in ``models``. Standard library only, so that reading it costs nothing.
"""

from __future__ import annotations

import dataclasses
import difflib
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

from embcli.errors import UsageError


@dataclass(frozen=True)
class Opt:
    """How one option presents itself and what it accepts.

    ``min`` and ``max`` are inclusive, ``above`` is exclusive. ``file`` names an input file: provenance records the
    digest of its content. ``recorded=False`` keeps an option out of artifacts because results cannot depend on it.
    """

    help: str
    flags: tuple[str, ...] = ()
    min: float | None = None
    max: float | None = None
    above: float | None = None
    metavar: str | None = None
    file: bool = False
    recorded: bool = True
    unset: str | None = None
    panel: str = "Options"


@dataclass(frozen=True)
class Field:
    """One option as read from a dataclass: ``kind`` is int, float, str or bool; ``choices`` is empty if free."""

    name: str
    kind: type
    default: Any
    opt: Opt
    choices: tuple[str, ...] = ()
    optional: bool = False
    repeatable: bool = False

    @property
    def flag(self) -> str:
        """The long option: ``min_count`` is ``--min-count``."""
        return "--" + self.name.replace("_", "-")

    def convert(self, value: Any) -> Any:
        """Return the value as its declared type, or raise UsageError that says what was found and what is allowed.

        Text is converted, so YAML's ``1e-5`` (a string to PyYAML) is a number where a number is due.
        """
        if self.repeatable:
            items = value if isinstance(value, (list, tuple)) else [value]
            return tuple(self._one(v) for v in items)
        if value is None and self.optional:
            return None
        return self._one(value)

    def _one(self, value: Any) -> Any:
        if self.kind is bool:
            if isinstance(value, bool):
                return value
            raise UsageError(f"{self.flag}: expected true or false, found {value!r}")
        if isinstance(value, bool) and not (self.choices or self.kind is str):
            raise UsageError(f"{self.flag}: expected a number, found {value!r}")
        if self.kind is str:
            return self._text(value)
        try:
            number = self.kind(value)
            if self.kind is int and isinstance(value, float) and value != number:
                raise ValueError
        except (TypeError, ValueError, OverflowError):
            what = "a whole number" if self.kind is int else "a number"
            raise UsageError(f"{self.flag}: expected {what}, found {value!r}") from None
        return self._in_range(number)

    def _text(self, value: Any) -> str:
        if self.choices and value not in self.choices:
            near = difflib.get_close_matches(str(value), self.choices, 1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise UsageError(f"{self.flag}: expected one of {', '.join(self.choices)}, found {value!r}{hint}")
        if not isinstance(value, str):
            raise UsageError(f"{self.flag}: expected text, found {value!r} (in YAML, put it in quotes)")
        return value

    def _in_range(self, number: float) -> float:
        o = self.opt
        if isinstance(number, float) and not math.isfinite(number):
            raise UsageError(f"{self.flag}: expected a finite number, found {number}")
        if o.above is not None and not number > o.above:
            raise UsageError(f"{self.flag}: must be above {o.above:g}, found {number:g}")
        if o.min is not None and number < o.min:
            raise UsageError(f"{self.flag}: must be at least {o.min:g}, found {number:g}")
        if o.max is not None and number > o.max:
            raise UsageError(f"{self.flag}: must be at most {o.max:g}, found {number:g}")
        return number


class Params:
    """Base of every step's options."""

    def check(self) -> None:
        """Raise UsageError if options that are fine alone do not fit together."""


@cache
def fields(params: type) -> tuple[Field, ...]:
    """Return the options declared by a params dataclass, in order."""
    hints = get_type_hints(params, include_extras=True)
    found = []
    for f in dataclasses.fields(params):
        kind, opt = get_args(hints[f.name])
        args = get_args(kind)
        optional = type(None) in args
        if optional:
            kind = next(a for a in args if a is not type(None))
        repeatable = get_origin(kind) is tuple
        if repeatable:
            kind = get_args(kind)[0]
        choices: tuple[str, ...] = ()
        if get_origin(kind) is Literal:
            kind, choices = str, get_args(kind)
        found.append(Field(f.name, kind, f.default, opt, choices, optional, repeatable))
    return tuple(found)


def make(params: type, values: Mapping[str, Any]) -> Any:
    """Return a params object from option values by name (hyphens or underscores), converted and checked.

    Raises UsageError on an unknown name, with the nearest one, and on a value out of its range.
    """
    known = {f.name: f for f in fields(params)}
    done = {}
    for key, value in values.items():
        name = key.replace("-", "_")
        if name not in known:
            near = difflib.get_close_matches(name, known, 1)
            hint = f"; did you mean {near[0].replace('_', '-')!r}?" if near else ""
            raise UsageError(f"unknown option {key!r}{hint}")
        done[name] = known[name].convert(value)
    made = params(**done)
    made.check()
    return made


def recorded(params: Any) -> Iterator[tuple[Field, Any]]:
    """Yield the options that belong into an artifact, with their values."""
    for f in fields(type(params)):
        if f.opt.recorded:
            yield f, getattr(params, f.name)


_RUN = "Run"


@dataclass(frozen=True, kw_only=True)
class Common(Params):
    """Options that every command takes."""

    json: Annotated[bool, Opt("Print JSON on stdout.", recorded=False, panel=_RUN)] = False
    quiet: Annotated[bool, Opt("Say nothing but errors.", ("-q",), recorded=False, panel=_RUN)] = False
    verbose: Annotated[bool, Opt("Say more.", ("-v",), recorded=False, panel=_RUN)] = False


@dataclass(frozen=True, kw_only=True)
class StepCommon(Params):
    """Options that every step takes which writes an artifact."""

    out: Annotated[
        str | None, Opt("File to write; - is stdout.", ("-o",), metavar="FILE", recorded=False, unset="required", panel=_RUN)
    ] = None
    seed: Annotated[int, Opt("Seed of everything random.", min=0, max=2**63 - 1, panel=_RUN)] = 0
    threads: Annotated[
        int | None,
        Opt("Worker threads; results do not depend on it.", min=1, max=1024, recorded=False, unset="all cores", panel=_RUN),
    ] = None
    progress: Annotated[bool | None, Opt("Show progress on stderr.", recorded=False, unset="on a terminal", panel=_RUN)] = None


@dataclass(frozen=True, kw_only=True)
class EncodeParams(Params):
    """Options of ``encode``."""

    words: Annotated[bool, Opt("Word-level tokens: one id a word.")] = False
    split: Annotated[
        Literal["words", "whitespace", "chars"],
        Opt("Cut at: words (runs of letters, marks and numbers with inner apostrophes), whitespace, or single characters."),
    ] = "words"
    lower: Annotated[bool, Opt("Fold words to lower case.")] = False
    min_count: Annotated[int, Opt("Drop words rarer than this.", min=1)] = 5
    max_vocab: Annotated[int | None, Opt("Keep only this many of the most frequent words.", min=1, unset="all")] = None
    vocab: Annotated[
        str | None, Opt("Use the vocabulary of this artifact; other words are dropped words.", metavar="FILE", file=True)
    ] = None
    unk: Annotated[str | None, Opt("Keep dropped words as this one word.", metavar="TOKEN")] = None
    gaps: Annotated[
        Literal["close", "keep"], Opt("Dropped words close the gap, or keep their place in windows (as id V).")
    ] = "close"
    errors: Annotated[
        Literal["strict", "replace", "skip"], Opt("Bytes that are not UTF-8: stop, replace by U+FFFD, or leave out.")
    ] = "strict"
    rows: Annotated[
        Literal["line", "blank-line", "file"], Opt("What one row is: a line, a block between blank lines, or a file.")
    ] = "line"
    text: Annotated[str | None, Opt("Show how this string is cut, instead of reading files.", recorded=False)] = None
    count: Annotated[bool, Opt("Only print how many tokens and types there are.", recorded=False)] = False

    def check(self) -> None:
        """Refuse options that exclude each other."""
        if not self.words:
            raise UsageError("encode: give --words (word-level tokens)")
        if self.vocab and self.max_vocab:
            raise UsageError("--max-vocab: cannot be combined with --vocab, which fixes the vocabulary")
        if self.unk is not None and self.gaps == "keep":
            raise UsageError("--unk: cannot be combined with --gaps keep: a dropped word is either a word or a gap")
        if self.unk is not None and (not self.unk or "\n" in self.unk):
            raise UsageError("--unk: expected a word without line ends")


@dataclass(frozen=True, kw_only=True)
class DecodeParams(Params):
    """Options of ``decode``."""

    out: Annotated[str, Opt("File to write; - is stdout.", ("-o",), metavar="FILE", recorded=False)] = "-"


@dataclass(frozen=True, kw_only=True)
class CoocParams(Params):
    """Options of ``cooc``."""

    window: Annotated[int, Opt("Words on each side that count as context.", ("-w",), min=1, max=10_000)] = 5
    direction: Annotated[
        Literal["symmetric", "left", "right"], Opt("Contexts on both sides, before the word only, or after it only.")
    ] = "symmetric"
    weighting: Annotated[
        Literal["flat", "harmonic", "dynamic"],
        Opt("Weight of a pair at distance d: 1, 1/d, or (window - d + 1)/window."),
    ] = "harmonic"
    cross_rows: Annotated[bool, Opt("Let windows cross row (line) ends; by default they stop there.")] = False
    memory: Annotated[
        str | None,
        Opt("Memory to plan with, such as 500MB or 4GB; the result is the same.", metavar="SIZE", recorded=False, unset="half of free"),
    ] = None
    top: Annotated[int, Opt("Print this many of the heaviest pairs.", min=0, metavar="N", recorded=False)] = 0


@dataclass(frozen=True, kw_only=True)
class SvdParams(Params):
    """Options of ``svd`` (Levy, Goldberg and Dagan 2015 for the names)."""

    weight: Annotated[
        Literal["none", "log", "pmi", "ppmi"], Opt("Weight of a count n: n, ln(1 + n), PMI, or positive PMI.")
    ] = "ppmi"
    shift: Annotated[float, Opt("k of the shift: ln k is subtracted from (P)PMI; 1 is none.", min=1)] = 1.0
    cds: Annotated[float, Opt("Exponent that smooths the context counts of (P)PMI.", above=0, max=1)] = 0.75
    dim: Annotated[int, Opt("Dimensions to keep.", ("-d",), min=1)] = 100
    eig: Annotated[float, Opt("Exponent of the singular values: vectors = U S^eig.", min=0, max=1)] = 0.5
    solver: Annotated[
        Literal["auto", "krylov", "arpack", "dense"],
        Opt("Block Krylov (large), ARPACK (SciPy's), or dense (small or full rank); auto chooses by size."),
    ] = "auto"


@dataclass(frozen=True, kw_only=True)
class NeighborsParams(Params):
    """Options of ``neighbors``."""

    words_from: Annotated[
        str | None, Opt("Read queries from a file, one a line; - is stdin.", metavar="FILE", recorded=False)
    ] = None
    top: Annotated[int, Opt("Neighbors to show for a query.", ("-k",), min=1)] = 10
    metric: Annotated[Literal["cosine", "dot", "euclidean"], Opt("How closeness is measured.")] = "cosine"
    method: Annotated[
        Literal["add", "mul"], Opt("Analogies by 3CosAdd or 3CosMul (Levy and Goldberg 2014).")
    ] = "add"
    include_inputs: Annotated[bool, Opt("List the query's own words too.")] = False
    restrict: Annotated[int | None, Opt("Search only the N most frequent words.", min=1, metavar="N", unset="all")] = None
    min_score: Annotated[float | None, Opt("Leave out neighbors scoring below this.", unset="none")] = None
    centroid: Annotated[bool, Opt("List the rows nearest to the mean of all rows.")] = False
    table: Annotated[
        Literal["input", "output", "sum"], Opt("Which vectors: of the words, of the contexts, or their sum.")
    ] = "input"
    weight: Annotated[
        Literal["none", "log", "pmi", "ppmi"], Opt("Weight of count rows (counts artifacts only); PMI with --cds 0.75.")
    ] = "ppmi"
    format: Annotated[Literal["table", "tsv", "jsonl"], Opt("How to print the result.")] = "table"


@dataclass(frozen=True, kw_only=True)
class InfoParams(Params):
    """Options of ``info``."""

    verify: Annotated[bool, Opt("Check everything: every byte's checksum, ranges, finiteness.")] = False
    rows: Annotated[int, Opt("First rows to show.", min=0, metavar="N")] = 5
    words: Annotated[bool, Opt("Print the whole vocabulary with counts, as TSV.")] = False
    pair: Annotated[tuple[str, ...], Opt("Print the count of a pair 'word word' (counts).", metavar="PAIR")] = ()
    top: Annotated[int, Opt("Print this many of the heaviest pairs (counts).", min=0, metavar="N")] = 0


@dataclass(frozen=True)
class Step:
    """A command.

    ``run`` is "module:function", so that this table can be read without importing a method. ``reads`` are the kinds
    of its inputs ("text" is a corpus); ``many`` says whether several may be given; ``writes`` is the kind of its
    artifact, None for a command that only prints.
    """

    name: str
    params: type
    run: str
    reads: tuple[str, ...]
    writes: str | None
    panel: str
    summary: str
    details: str
    examples: tuple[str, ...]
    many: bool = False
    metavar: str = "INPUT"


STEPS: dict[str, Step] = {
    s.name: s
    for s in (
        Step(
            "encode", EncodeParams, "embcli.text.words:encode", ("text",), "tokens", "Text",
            "Turn text into token ids.",
            "Reads files, folders (every file below, sorted), or - for stdin; gzip, bz2 and xz are recognised by content. "
            "Text is UTF-8. Each line is a row; windows of later steps stop at its end.",
            ("embcli encode corpus.txt --words --lower -o tokens.npz", "zcat corpus.gz | embcli encode - --words -o tokens.npz"),
            many=True, metavar="TEXT...",
        ),
        Step(
            "decode", DecodeParams, "embcli.text.words:decode", ("tokens",), None, "Text",
            "Turn token ids back into text.",
            "Words are joined by spaces, one row a line; single characters are joined without. The inverse of encode.",
            ("embcli decode tokens.npz | head -3", "embcli decode tokens.npz -o text.txt"), metavar="TOKENS",
        ),
        Step(
            "cooc", CoocParams, "embcli.counts.cooc:count", ("tokens",), "counts", "Counts",
            "Count which words stand near each other.",
            "Every ordered pair of a word and a context within the window is counted, a word with itself too. Windows stop "
            "at row (line) ends unless --cross-rows is given.",
            ("embcli cooc tokens.npz -o counts.npz", "embcli cooc tokens.npz --window 10 --weighting dynamic -o counts.npz --top 20"),
            metavar="TOKENS",
        ),
        Step(
            "svd", SvdParams, "embcli.models.svd:factorize", ("counts",), "vectors", "Counts",
            "Factorise weighted counts into word vectors.",
            "X = U S V^T, singular values descending; vectors = U S^eig, contexts = V S^eig. In each column of U the entry "
            "of largest size is positive.",
            ("embcli svd counts.npz -o vectors.npz", "embcli cooc tokens.npz -o - | embcli svd - --dim 300 -o vectors.npz"),
            metavar="COUNTS",
        ),
        Step(
            "neighbors", NeighborsParams, "embcli.query.neighbors:search", ("vectors", "counts"), None, "Reports",
            "List the nearest neighbors of words, and solve analogies.",
            "embcli neighbors ARTIFACT QUERY..., or embcli neighbors ARTIFACT... -- QUERY... for several artifacts side by side. "
            "A query is a word or an expression such as 'king - man + woman'; an exact word wins.",
            ("embcli neighbors vectors.npz king paris", "embcli neighbors --top 5 svd.npz counts.npz -- 'king - man + woman'"),
            many=True, metavar="ARTIFACT QUERY...",
        ),
        Step(
            "info", InfoParams, "embcli.query.info:describe",
            ("tokenizer", "tokens", "counts", "vectors", "model", "context", "knn"), None, "Reports",
            "Show what an artifact holds and how it was made.",
            "Kind, arrays, options, seed, inputs and their ancestors, first rows, pair counts. --verify checks every byte.",
            ("embcli info vectors.npz", "embcli info counts.npz --pair 'ice cold' --top 10"), many=True, metavar="ARTIFACT...",
        ),
    )
}
