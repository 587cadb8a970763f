"""Steps of counting and factorising."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from embcli.errors import UsageError
from embcli.spec.common import Step
from embcli.spec.options import Opt, Params, parse_size


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
    context: Annotated[
        Literal["word", "document"],
        Opt("Count words near words, or words in documents (the rows of the tokens; see encode --rows)."),
    ] = "word"
    cross_rows: Annotated[bool, Opt("Let windows cross row (line) ends; by default they stop there.")] = False
    memory: Annotated[
        str | None,
        Opt(
            "Memory to plan with, such as 500MB or 4GB; the result is the same.",
            metavar="SIZE",
            recorded=False,
            unset="half of free",
        ),
    ] = None
    top: Annotated[
        int,
        Opt(
            "Print this many of the heaviest pairs; of symmetric counts each pair once.",
            min=0,
            metavar="N",
            recorded=False,
        ),
    ] = 0

    def check(self) -> None:
        """Refuse a size that cannot be read, and window options where there is no window."""
        if self.memory is not None:
            parse_size(self.memory)
        if self.context == "document":
            for name, default in (("window", 5), ("direction", "symmetric"), ("weighting", "harmonic")):
                if getattr(self, name) != default:
                    raise UsageError(
                        f"--{name}: --context document counts words in rows, without a window; leave it out"
                    )
            if self.cross_rows:
                raise UsageError("--cross-rows: --context document counts within rows; leave it out")


@dataclass(frozen=True, kw_only=True)
class SvdParams(Params):
    """Options of ``svd`` (Levy, Goldberg and Dagan 2015 for the names)."""

    weight: Annotated[
        Literal["none", "log", "tfidf", "pmi", "ppmi"] | None,
        Opt(
            "Weight of a count n: n, ln(1 + n), n idf, PMI, or positive PMI.", unset="ppmi; document-term counts: tfidf"
        ),
    ] = None
    shift: Annotated[float, Opt("k of the shift: ln k is subtracted from (P)PMI; 1 is none.", min=1)] = 1.0
    cds: Annotated[float, Opt("Exponent that smooths the context counts of (P)PMI.", above=0, max=1)] = 0.75
    dim: Annotated[int, Opt("Dimensions to keep.", ("-d",), min=1)] = 100
    eig: Annotated[
        float | None,
        Opt("Exponent of the singular values: vectors = U S^eig.", min=0, max=1, unset="0.5; document-term counts: 1"),
    ] = None
    idf: Annotated[
        Literal["plain", "smooth"], Opt("idf of a word in df of n documents: ln(n/df), or ln((1 + n)/(1 + df)) + 1.")
    ] = "plain"
    solver: Annotated[
        Literal["auto", "krylov", "arpack", "dense"],
        Opt("Block Krylov (large), ARPACK (SciPy's), or dense (small or full rank); auto chooses by size."),
    ] = "auto"

    def check(self) -> None:
        """Refuse options of one weight for another."""
        if self.weight in ("none", "log", "tfidf") and (self.shift, self.cds) != (1.0, 0.75):
            raise UsageError(f"--weight {self.weight}: --shift and --cds belong to pmi and ppmi; leave them out")
        if self.weight not in (None, "tfidf") and self.idf != "plain":
            raise UsageError(f"--weight {self.weight}: --idf belongs to tfidf; leave it out")


ROWS = (
    Step(
        "cooc",
        CoocParams,
        "embcli.counts.cooc:count",
        ("tokens", "counts"),
        "counts",
        "Counts",
        "Count which words stand near each other, or in which documents they stand.",
        "Every ordered pair of a word and a context within the window is counted, a word with itself too. Windows stop "
        "at row (line) ends unless --cross-rows is given. With --context document each row of tokens is a document: "
        "how often each word stands in each is counted. Several inputs, tokens or counts that were made with the "
        "same options, are merged: their vocabularies are joined and equal pairs added.",
        (
            "embcli cooc tokens.npz -o counts.npz",
            "embcli cooc tokens.npz --window 10 --weighting dynamic -o counts.npz --top 20",
        ),
        many=True,
        metavar="TOKENS...",
        cluster="embcli.cluster.counts:count",
    ),
    Step(
        "svd",
        SvdParams,
        "embcli.models.svd:factorize",
        ("counts",),
        "vectors",
        "Counts",
        "Factorise weighted counts into word vectors (of document-term counts: latent semantic analysis).",
        "X = U S V^T, singular values descending; vectors = U S^eig, contexts = V S^eig. In each column of U the entry "
        "of largest size is positive. Of document-term counts, documents = U S^eig and vectors = V S^eig (words).",
        ("embcli svd counts.npz -o vectors.npz", "embcli cooc tokens.npz -o - | embcli svd - --dim 300 -o vectors.npz"),
        metavar="COUNTS",
        cluster="embcli.cluster.svd:factorize",
    ),
)
