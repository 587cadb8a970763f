"""Commands that print tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from embcli.errors import UsageError
from embcli.spec.common import Step
from embcli.spec.options import Opt, Params


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
        Literal["input", "output", "sum"], Opt("Which vectors: of the words, of the contexts, or their sum.")
    ] = "input"
    weight: Annotated[
        Literal["none", "log", "pmi", "ppmi"], Opt("Weight of count rows (counts artifacts only); PMI with --cds 0.75.")
    ] = "ppmi"
    format: Annotated[Literal["table", "tsv", "jsonl"], Opt("How to print the result.")] = "table"

    def check(self) -> None:
        """Refuse options that do not fit together."""
        if self.method == "mul" and self.metric != "cosine":
            raise UsageError(f"--method mul: multiplies cosines; it cannot be combined with --metric {self.metric}")
        if self.min_score is not None and self.metric == "euclidean":
            raise UsageError("--min-score: cannot be combined with --metric euclidean, where a lower number is nearer")


@dataclass(frozen=True, kw_only=True)
class InfoParams(Params):
    """Options of ``info``."""

    verify: Annotated[bool, Opt("Check everything: every byte's checksum, ranges, finiteness.")] = False
    rows: Annotated[int, Opt("First rows to show.", min=0, metavar="N")] = 5
    words: Annotated[bool, Opt("Print the whole vocabulary with counts, as TSV.")] = False
    pair: Annotated[tuple[str, ...], Opt("Print the count of a pair 'word word' (counts).", metavar="PAIR")] = ()
    top: Annotated[int, Opt("Print this many of the heaviest pairs (counts).", min=0, metavar="N")] = 0


ROWS = (
    Step(
        "neighbors",
        NeighborsParams,
        "embcli.query.neighbors:search",
        ("vectors", "counts"),
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
