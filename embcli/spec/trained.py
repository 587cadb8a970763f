"""Steps that train vectors on tokens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from embcli.errors import UsageError
from embcli.spec.common import Step
from embcli.spec.options import Field, Opt, Params

_TRAINING, _SAVING, _SHARES = "Training", "Saving", "Shares"
#: options that every trainer has
_Eval = Annotated[
    tuple[str, ...],
    Opt(
        "Score on this similarity or analogy file after each epoch.",
        metavar="FILE",
        file=True,
        recorded=False,
        panel=_TRAINING,
    ),
]
_StopWhenFlat = Annotated[
    float | None,
    Opt(
        "Stop when the loss falls by less than this share in an epoch.", above=0, max=1, unset="never", panel=_TRAINING
    ),
]
_StopAfter = Annotated[
    int | None, Opt("Stop after this epoch of the schedule.", min=1, recorded=False, unset="the last", panel=_SAVING)
]
_Resume = Annotated[
    str | None,
    Opt("Go on from this artifact, with its options.", metavar="FILE", file=True, recorded=False, panel=_SAVING),
]
_Checkpoint = Annotated[
    str | None, Opt("Write the state to this file after each epoch.", metavar="FILE", recorded=False, panel=_SAVING)
]


@dataclass(frozen=True, kw_only=True)
class Word2vecParams(Params):
    """Options of ``word2vec`` (names as in the README's table).

    ``command`` takes them, ``rates`` are its learning rates where none is given, by arch.
    """

    command: ClassVar[str] = "word2vec"
    rates: ClassVar[dict[str, float]] = {"skipgram": 0.025, "cbow": 0.05}

    arch: Annotated[
        Literal["skipgram", "cbow"], Opt("Predict each context word from the word, or the word from its contexts.")
    ] = "skipgram"
    loss: Annotated[
        Literal["negative", "hierarchical", "softmax"],
        Opt("Negative sampling, hierarchical softmax (a Huffman tree), or the full softmax (small vocabularies)."),
    ] = "negative"
    dim: Annotated[
        int | None, Opt("Dimensions of the vectors.", ("-d",), min=1, max=100_000, unset="100; those of --init")
    ] = None
    window: Annotated[int, Opt("Words on each side that count as context.", ("-w",), min=1, max=1000)] = 5
    fixed_window: Annotated[bool, Opt("Always the whole window, not a random part of it.")] = False
    cbow_sum: Annotated[bool, Opt("CBOW: the sum of the contexts, not their mean.")] = False
    negative: Annotated[int, Opt("Negative samples for each pair.", ("-n",), min=0, max=200)] = 5
    ns_power: Annotated[float, Opt("Exponent of the noise distribution.", min=0, max=2)] = 0.75
    sample: Annotated[
        float, Opt("Subsampling threshold of frequent words (Mikolov et al. 2013); 0 keeps all.", min=0, max=1)
    ] = 1e-3
    epochs: Annotated[int, Opt("Passes over the text.", ("-e",), min=1, max=100_000)] = 5
    lr: Annotated[float | None, Opt("Learning rate at the start.", above=0, unset="0.025; cbow 0.05")] = None
    min_lr: Annotated[
        float | None,
        Opt("Learning rate at the end; it falls linearly.", min=0, unset="0.0001, or --lr if that is less"),
    ] = None
    init: Annotated[
        str | None,
        Opt("Start from these vectors (both tables); new words are appended.", metavar="FILE", file=True, unset="none"),
    ] = None
    freeze_output: Annotated[bool, Opt("Leave the output table as it is.", panel=_TRAINING)] = False
    context_vectors: Annotated[bool | None, Opt("Keep the output table in the artifact.", unset="yes")] = None
    eval: _Eval = ()
    heldout: Annotated[
        float,
        Opt("Share of the rows kept for the full-softmax loss of held-out text.", min=0, max=0.5, panel=_TRAINING),
    ] = 0.0
    stop_when_flat: _StopWhenFlat = None
    stop_after: _StopAfter = None
    resume: _Resume = None
    checkpoint: _Checkpoint = None
    state: Annotated[
        bool | None, Opt("Keep what only --resume needs: inner nodes of the Huffman tree.", unset="yes", panel=_SAVING)
    ] = None
    explain: Annotated[
        int,
        Opt(
            "Train and show only the first N predictions, number by number.",
            min=0,
            max=10_000,
            metavar="N",
            recorded=False,
            panel=_TRAINING,
        ),
    ] = 0
    hogwild: Annotated[
        bool, Opt("Let threads write to the tables at the same time: faster, and never the same twice.")
    ] = False
    shares: Annotated[
        int, Opt("Shares of the text that are trained side by side, as on a cluster.", min=1, max=4096, panel=_SHARES)
    ] = 1
    merge_every: Annotated[
        int, Opt("Tokens that each share trains on between two merges.", min=1, max=2**40, panel=_SHARES)
    ] = 50_000

    @property
    def shared(self) -> bool:
        """Whether the text is trained in shares, or as the file of ``--resume`` says."""
        return self.shares > 1 or self.resume is not None

    def relevant(self, field: Field) -> bool:
        """Say whether results depend on an option: how shares are merged, where there are several."""
        return self.shares > 1 or field.name not in ("shares", "merge_every")

    def check(self) -> None:
        """Refuse options that do not fit together, or with which nothing is learned."""
        if self.hogwild and self.shares > 1:
            raise UsageError("--hogwild: is never the same twice, which --shares is made for; leave one of the two out")
        if self.loss == "negative" and self.negative == 0:
            raise UsageError("--negative 0: learns nothing; give at least 1, or --loss hierarchical or softmax")
        if self.lr is not None and self.min_lr is not None and self.min_lr > self.lr:
            raise UsageError(f"--min-lr {self.min_lr:g} is above --lr {self.lr:g}")
        if self.explain and (self.resume or self.checkpoint or self.stop_after):
            raise UsageError("--explain: trains a few predictions and writes nothing; leave --resume and the like out")
        _check_saving(self)
        if self.resume is not None:
            if self.init is not None:
                raise UsageError("--init: --resume goes on from its own tables; leave one of the two out")
            return  # the other options come from the file
        if self.cbow_sum and self.arch != "cbow":
            raise UsageError("--cbow-sum: belongs to --arch cbow")


@dataclass(frozen=True, kw_only=True)
class GloveParams(Params):
    """Options of ``glove`` (names as in the README's table)."""

    dim: Annotated[int, Opt("Dimensions of each of the two tables.", ("-d",), min=1, max=100_000)] = 100
    epochs: Annotated[int, Opt("Passes over the cells.", ("-e",), min=1, max=100_000)] = 15
    lr: Annotated[float, Opt("Rate on the gradient; AdaGrad makes the steps smaller as gradients add up.", above=0)] = (
        0.05
    )
    x_max: Annotated[float, Opt("Counts from this one on have weight 1.", above=0, max=1e18)] = 100.0
    weight_power: Annotated[
        float, Opt("A count X below x-max has weight (X / x-max) to this power.", min=0, max=10)
    ] = 0.75
    output: Annotated[
        Literal["sum", "words", "concat"],
        Opt("What becomes vectors: word plus context table, the word table, or both side by side."),
    ] = "sum"
    eval: _Eval = ()
    stop_when_flat: _StopWhenFlat = None
    stop_after: _StopAfter = None
    resume: _Resume = None
    checkpoint: _Checkpoint = None
    state: Annotated[
        bool | None,
        Opt(
            "Keep what only --resume needs: sums of squared gradients, with sum the word table.",
            unset="yes",
            panel=_SAVING,
        ),
    ] = None

    def check(self) -> None:
        """Refuse options that do not fit together."""
        _check_saving(self)


def _check_saving(params: Word2vecParams | GloveParams) -> None:
    """Refuse a checkpoint on stdout, and to stop after the last epoch."""
    if params.checkpoint == "-":
        raise UsageError("--checkpoint -: it is written again and again; give a file")
    if params.resume is None and params.stop_after is not None and params.stop_after > params.epochs:
        raise UsageError(f"--stop-after {params.stop_after}: there are {params.epochs} epochs (--epochs)")


@dataclass(frozen=True, kw_only=True)
class FastTextParams(Word2vecParams):
    """Options of ``fasttext``: those of ``word2vec``, some with the original's defaults, and its n-grams."""

    command: ClassVar[str] = "fasttext"
    rates: ClassVar[dict[str, float]] = {"skipgram": 0.05, "cbow": 0.05}

    ns_power: Annotated[float, Opt("Exponent of the noise distribution.", min=0, max=2)] = 0.5
    sample: Annotated[
        float, Opt("Subsampling threshold of frequent words (Mikolov et al. 2013); 0 keeps all.", min=0, max=1)
    ] = 1e-4
    lr: Annotated[float | None, Opt("Learning rate at the start.", above=0, unset="0.05")] = None
    min_n: Annotated[
        int, Opt("Characters of the shortest n-grams, the brackets of <word> counted.", min=1, max=1000)
    ] = 3
    max_n: Annotated[int, Opt("Characters of the longest n-grams; 0: none, only whole words.", min=0, max=1000)] = 6
    buckets: Annotated[
        int, Opt("Rows that n-grams share by their hash; only those in use are stored.", min=1, max=2**31 - 1)
    ] = 2_000_000

    def check(self) -> None:
        """Refuse what word2vec refuses, and n-grams whose lengths cannot be."""
        super().check()
        if self.resume is None and 0 < self.max_n < self.min_n:
            raise UsageError(f"--min-n {self.min_n} is above --max-n {self.max_n}")


ROWS = (
    Step(
        "word2vec",
        Word2vecParams,
        "embcli.models.word2vec:train",
        ("tokens",),
        "vectors",
        "Trained",
        "Train word vectors: skip-gram or CBOW, by negative sampling, hierarchical or full softmax.",
        "Mikolov et al. 2013. The same bytes at any number of threads; --hogwild trades that for speed. vectors is the "
        "input table, contexts the output table.",
        (
            "embcli word2vec tokens.npz --dim 100 --epochs 5 -o w2v.npz",
            "embcli word2vec tokens.npz --arch cbow --loss hierarchical --epochs 2 -o cbow.npz",
        ),
        metavar="TOKENS",
        cluster="embcli.cluster.training:word2vec",
    ),
    Step(
        "glove",
        GloveParams,
        "embcli.models.glove:train",
        ("counts",),
        "vectors",
        "Trained",
        "Fit GloVe vectors to co-occurrence counts: weighted least squares by AdaGrad.",
        "Pennington, Socher and Manning 2014. The cost is the mean of f(X) (w.c + b + b' - ln X)^2 / 2 over all cells. "
        "The same bytes at any number of threads. vectors is what --output says, contexts the context table.",
        (
            "embcli glove counts.npz --dim 50 --epochs 5 -o glove.npz",
            "embcli cooc tokens.npz --window 10 -o - | embcli glove - --dim 50 --x-max 10 -o glove.npz",
        ),
        metavar="COUNTS",
        cluster="embcli.cluster.glove:glove",
    ),
    Step(
        "fasttext",
        FastTextParams,
        "embcli.models.fasttext:train",
        ("tokens",),
        "vectors",
        "Trained",
        "Train vectors of words and of their character n-grams; unseen words have vectors too.",
        "Bojanowski et al. 2017. A word's vector is the mean of its own row and the rows of its n-grams, whose hashes "
        "are the original's. vectors are the means, word_rows and ngram_rows what they are made of.",
        (
            "embcli fasttext tokens.npz --dim 100 --epochs 5 -o ft.npz",
            "embcli fasttext tokens.npz --arch cbow --min-n 2 --max-n 4 --epochs 2 -o ft-cbow.npz",
        ),
        metavar="TOKENS",
        cluster="embcli.cluster.training:fasttext",
    ),
)
