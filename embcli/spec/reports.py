"""Commands that print tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from embcli.errors import UsageError
from embcli.spec.common import Step
from embcli.spec.options import Opt, Params

_Weight = Annotated[
    Literal["none", "log", "tfidf", "pmi", "ppmi"] | None,
    Opt(
        "Weight of count rows (counts artifacts only); PMI with --cds 0.75.", unset="ppmi; document-term counts: tfidf"
    ),
]
_Threads = Annotated[
    int | None, Opt("Worker threads; results do not depend on it.", min=1, max=1024, recorded=False, unset="all cores")
]


@dataclass(frozen=True, kw_only=True)
class NeighborsParams(Params):
    """Options of ``neighbors``."""

    words_from: Annotated[
        str | None, Opt("Read queries from a file, one a line; - is stdin.", metavar="FILE", recorded=False)
    ] = None
    top: Annotated[int, Opt("Neighbors to show for a query.", ("-k",), min=1)] = 10
    metric: Annotated[Literal["cosine", "dot", "euclidean"], Opt("How closeness is measured.")] = "cosine"
    method: Annotated[Literal["add", "mul"], Opt("Analogies by 3CosAdd or 3CosMul (Levy and Goldberg 2014).")] = "add"
    include_inputs: Annotated[bool, Opt("List the query's own words too.")] = False
    restrict: Annotated[int | None, Opt("Search only the N most frequent words.", min=1, metavar="N", unset="all")] = (
        None
    )
    min_score: Annotated[float | None, Opt("Leave out neighbors scoring below this.", unset="none")] = None
    centroid: Annotated[bool, Opt("List the rows nearest to the mean of all rows.")] = False
    table: Annotated[
        Literal["input", "output", "sum", "documents"],
        Opt("Which vectors: of the words, of the contexts, their sum, or of the documents (words are folded in)."),
    ] = "input"
    weight: _Weight = None
    all: Annotated[bool, Opt("Find the neighbors of every row: an artifact of kind knn, written to -o.")] = False
    out: Annotated[
        str | None,
        Opt(
            "File for the neighbors of every row (--all); - is stdout.",
            ("-o",),
            metavar="FILE",
            recorded=False,
            unset="none",
        ),
    ] = None
    index: Annotated[
        str | None,
        Opt(
            "Search approximately, through an index in FILE and FILE.json (usearch), which is made if it is not there.",
            metavar="FILE",
            recorded=False,
            unset="exact search",
        ),
    ] = None
    threads: _Threads = None
    format: Annotated[Literal["table", "tsv", "jsonl"], Opt("How to print the result.", recorded=False)] = "table"

    def check(self) -> None:
        """Refuse options that do not fit together."""
        if self.method == "mul" and self.metric != "cosine":
            raise UsageError(f"--method mul: multiplies cosines; it cannot be combined with --metric {self.metric}")
        if self.min_score is not None and self.metric == "euclidean":
            raise UsageError("--min-score: cannot be combined with --metric euclidean, where a lower number is nearer")
        if self.all != (self.out is not None):
            raise UsageError("--all writes an artifact: give --all and -o FILE together")
        if self.all and (self.words_from or self.centroid or self.method == "mul" or self.index):
            raise UsageError("--all: takes no queries; leave out --words-from, --centroid, --method mul and --index")


@dataclass(frozen=True, kw_only=True)
class EvalParams(Params):
    """Options of ``eval``."""

    similarity: Annotated[
        tuple[str, ...],
        Opt(
            "Word pairs and scores by people, one pair a line; Spearman's correlation with cosines.",
            ("-s",),
            metavar="FILE",
            file=True,
        ),
    ] = ()
    analogies: Annotated[
        tuple[str, ...],
        Opt(
            "Questions 'a b c d' with sections ': name'; right if d is nearest to b - a + c.",
            ("-a",),
            metavar="FILE",
            file=True,
        ),
    ] = ()
    method: Annotated[
        Literal["add", "mul", "both"], Opt("Analogies by 3CosAdd, 3CosMul (Levy and Goldberg 2014), or both.")
    ] = "add"
    table: Annotated[
        Literal["input", "output", "sum"], Opt("Which vectors: of the words, of the contexts, or their sum.")
    ] = "input"
    weight: _Weight = None
    restrict: Annotated[
        int | None,
        Opt("Evaluate the N most frequent words only; other words are unknown.", min=1, metavar="N", unset="all"),
    ] = None
    rare: Annotated[
        int | None,
        Opt(
            "Score pairs with a word that the text has fewer than N times on their own, too.",
            min=1,
            metavar="N",
            unset="none",
        ),
    ] = None
    case: Annotated[
        Literal["fold", "exact"],
        Opt("Words of the files match whatever their case (the most frequent form), or exactly."),
    ] = "fold"
    sections: Annotated[bool, Opt("Show each section of the analogy files.")] = False
    spread: Annotated[
        bool, Opt("Artifacts that differ by their seed alone are one row: mean and standard deviation over the seeds.")
    ] = False
    misses: Annotated[int, Opt("List this many failed analogies a file, with what was found.", min=0, metavar="N")] = 0
    geometry: Annotated[
        bool, Opt("Report norms, mean cosine, distances, and the spectrum, by frequency band; under-trained rows.")
    ] = False
    undertrained: Annotated[
        Literal["auto", "tied", "untied"],
        Opt("Score of under-trained rows (Land and Bartolo 2024): by the input table, or by the output table."),
    ] = "auto"
    clusters: Annotated[
        int,
        Opt(
            "Cluster the rows by k-means, into fewer clusters than there are rows; nearest to the centroid first.",
            min=0,
            metavar="K",
        ),
    ] = 0
    top: Annotated[
        int, Opt("Rows to list: at each end of the under-trained scores, and of each cluster.", ("-k",), min=1)
    ] = 10
    seed: Annotated[
        int, Opt("Seed of k-means, and of the sample of rare rows of equal count.", min=0, max=2**63 - 1)
    ] = 0
    threads: _Threads = None
    format: Annotated[Literal["table", "tsv", "jsonl"], Opt("How to print the result.", recorded=False)] = "table"

    def check(self) -> None:
        """Refuse to do nothing, and options without what they belong to."""
        if not (self.similarity or self.analogies or self.geometry or self.clusters):
            raise UsageError(
                "nothing to evaluate: give --similarity FILE, --analogies FILE, --geometry or --clusters K"
            )
        if (self.misses or self.sections or self.method != "add") and not self.analogies:
            raise UsageError("--misses, --sections and --method belong to --analogies; give --analogies FILE too")
        if self.rare is not None and not self.similarity:
            raise UsageError("--rare belongs to --similarity; give --similarity FILE too")
        if self.spread and (self.misses or not (self.similarity or self.analogies)):
            raise UsageError("--spread: is that of --similarity and --analogies, not of --misses or --geometry alone")
        if self.clusters == 1:
            raise UsageError("--clusters: expected at least 2, found 1")


@dataclass(frozen=True, kw_only=True)
class InfoParams(Params):
    """Options of ``info``."""

    verify: Annotated[bool, Opt("Check everything: every byte's checksum, ranges, finiteness.")] = False
    rows: Annotated[int, Opt("First rows to show.", min=0, metavar="N")] = 5
    words: Annotated[bool, Opt("Print the whole vocabulary with counts (of a tokenizer: ids), as TSV.")] = False
    pair: Annotated[tuple[str, ...], Opt("Print the count of a pair 'word word' (counts).", metavar="PAIR")] = ()
    weight: Annotated[
        Literal["log", "tfidf", "pmi", "ppmi"] | None,
        Opt("Print this weight of each --pair too.", unset="only the count"),
    ] = None
    cds: Annotated[float, Opt("Of PMI: exponent that smooths the context counts.", above=0, max=1)] = 0.75
    top: Annotated[int, Opt("Print this many of the heaviest pairs (counts).", min=0, metavar="N")] = 0
    ngrams: Annotated[
        tuple[str, ...],
        Opt("Print the character n-grams of a word, their hashes, rows and lengths (fastText).", metavar="WORD"),
    ] = ()

    def check(self) -> None:
        """Refuse weights of no pair."""
        if self.weight and not self.pair:
            raise UsageError(f"--weight {self.weight}: weighs pairs; give --pair too")


ROWS = (
    Step(
        "neighbors",
        NeighborsParams,
        "embcli.query.neighbors:search",
        ("vectors", "counts", "model", "context"),
        None,
        "Reports",
        "List the nearest neighbors of words, and solve analogies.",
        "embcli neighbors ARTIFACT QUERY..., or, for several side by side, embcli neighbors ARTIFACT... -- QUERY...\n\n"
        "A query is a word or an expression such as 'king - man + woman'; an exact word wins.",
        (
            "embcli neighbors vectors.npz king paris",
            "embcli neighbors --top 5 svd.npz counts.npz -- 'king - man + woman'",
        ),
        many=True,
        metavar="ARTIFACT QUERY...",
    ),
    Step(
        "eval",
        EvalParams,
        "embcli.query.evaluate:evaluate",
        ("vectors", "counts", "model", "context"),
        None,
        "Reports",
        "Score vectors on word similarities and analogies, and look at their geometry.",
        "Several artifacts make a leaderboard. Similarity files: two words and a score a line, between tabs, blanks "
        "or commas, with or without a header. Analogy files: four words a line, sections ': name'. Coverage is always "
        "shown, and analogies are scored over the known questions and over all.",
        (
            "embcli eval vectors.npz --similarity data/similarity.tsv --analogies data/questions.txt",
            "embcli eval svd.npz vectors.npz -a data/questions.txt --restrict 30000 --misses 5",
        ),
        many=True,
        metavar="ARTIFACT...",
    ),
    Step(
        "info",
        InfoParams,
        "embcli.query.info:describe",
        ("tokenizer", "tokens", "counts", "vectors", "model", "context", "knn"),
        None,
        "Reports",
        "Show what an artifact holds and how it was made.",
        "Kind, arrays, options, seed, inputs and their ancestors, first rows, pair counts. --verify checks every byte.",
        ("embcli info vectors.npz", "embcli info counts.npz --pair 'ice cold' --top 10"),
        many=True,
        metavar="ARTIFACT...",
    ),
)
