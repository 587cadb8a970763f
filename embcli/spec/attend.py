"""The options of ``attend``: what a Transformer is like, how it is trained, and what is shown of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from embcli.errors import UsageError
from embcli.spec.applying import ApplyParams
from embcli.spec.common import Step
from embcli.spec.options import Opt

_TRAINING, _SAVING = "Training", "Saving"


@dataclass(frozen=True, kw_only=True)
class AttendParams(ApplyParams):
    """Options of ``attend``."""

    layers: Annotated[int, Opt("Layers.", ("-l",), min=0, max=1000)] = 2
    heads: Annotated[int, Opt("Heads of each layer; --dim is a multiple of it.", min=1, max=1024)] = 4
    dim: Annotated[
        int | None, Opt("Width of token rows and states.", ("-d",), min=1, max=100_000, unset="128; that of --vectors")
    ] = None
    ffn: Annotated[
        int | None, Opt("Width of the feed-forward network.", min=1, max=1_000_000, unset="4 times --dim")
    ] = None
    context: Annotated[int, Opt("Tokens that a state can see, at most.", ("-c",), min=1, max=65_536)] = 128
    position: Annotated[
        Literal["sinusoidal", "learned", "rope", "alibi", "none"],
        Opt("Added to token rows, turning queries and keys (rope), subtracted from scores (alibi), or none."),
    ] = "sinusoidal"
    objective: Annotated[
        Literal["causal", "masked"],
        Opt("Predict the next token, or masked ones (15 %, one at least of a row; 80/10/10, Devlin et al. 2019)."),
    ] = "causal"
    tie: Annotated[bool | None, Opt("Score with the token rows, not with a table of their own.", unset="tie")] = None
    output_bias: Annotated[bool, Opt("A bias for each word's score.")] = False
    scale_embeddings: Annotated[
        bool | None, Opt("Multiply token rows by the root of --dim.", unset="on for sinusoidal and learned positions")
    ] = None
    vectors: Annotated[
        str | None, Opt("Token rows to start from, by word.", metavar="FILE", file=True, unset="none")
    ] = None
    freeze: Annotated[bool, Opt("Leave the token rows as they are.", panel=_TRAINING)] = False
    steps: Annotated[int, Opt("Steps of training.", ("-s",), min=1, max=10**9, panel=_TRAINING)] = 1000
    batch: Annotated[int, Opt("Windows of --context tokens in a step.", min=1, max=65_536, panel=_TRAINING)] = 32
    optimizer: Annotated[
        Literal["adamw", "sgd"], Opt("AdamW (Loshchilov and Hutter 2019), or plain steps.", panel=_TRAINING)
    ] = "adamw"
    lr: Annotated[float, Opt("Learning rate after the warm-up.", above=0, panel=_TRAINING)] = 1e-3
    min_lr: Annotated[
        float | None, Opt("Learning rate at the end.", min=0, unset="a tenth of --lr", panel=_TRAINING)
    ] = None
    decay: Annotated[
        Literal["cosine", "linear", "none"], Opt("How the rate falls after the warm-up.", panel=_TRAINING)
    ] = "cosine"
    warmup: Annotated[
        int | None, Opt("Steps in which the rate rises.", min=0, unset="100, or a tenth of --steps", panel=_TRAINING)
    ] = None
    weight_decay: Annotated[
        float, Opt("AdamW: of the matrices; not of tables, biases and norms.", min=0, max=100, panel=_TRAINING)
    ] = 0.1
    beta1: Annotated[float, Opt("AdamW: memory of the mean gradient.", min=0, max=0.9999999, panel=_TRAINING)] = 0.9
    beta2: Annotated[float, Opt("AdamW: memory of its square.", min=0, max=0.9999999, panel=_TRAINING)] = 0.95
    clip: Annotated[
        float | None, Opt("Largest norm of a gradient; 0 is any.", min=0, unset="1; sgd 0", panel=_TRAINING)
    ] = None
    dropout: Annotated[
        float,
        Opt("Share of the numbers left out, of the input and behind each sublayer.", min=0, max=0.99, panel=_TRAINING),
    ] = 0.0
    heldout: Annotated[float, Opt("Share of the rows kept from training.", min=0, max=0.5, panel=_TRAINING)] = 0.05
    heldout_context: Annotated[
        int | None,
        Opt(
            "After the last step measure held-out rows in windows of N tokens too.",
            min=1,
            max=65_536,
            metavar="N",
            unset="none",
            panel=_TRAINING,
        ),
    ] = None
    report: Annotated[
        int | None,
        Opt(
            "Report, and measure held-out rows, every N steps.",
            min=1,
            metavar="N",
            unset="ten times in all",
            panel=_TRAINING,
        ),
    ] = None
    stop_after: Annotated[
        int | None, Opt("Stop after this step of the schedule.", min=1, recorded=False, unset="the last", panel=_SAVING)
    ] = None
    resume: Annotated[
        str | None,
        Opt("Go on from this model, with its options.", metavar="FILE", file=True, recorded=False, panel=_SAVING),
    ] = None
    checkpoint: Annotated[
        str | None, Opt("Write the state to this file at each report.", metavar="FILE", recorded=False, panel=_SAVING)
    ] = None
    state: Annotated[
        bool | None, Opt("Keep the optimizer's state, which only --resume needs.", unset="yes", panel=_SAVING)
    ] = None

    def check(self) -> None:
        """Refuse options that do not fit together, or with which nothing is learned."""
        self.check_applying()
        if self.applies or self.given_ is not None:
            return
        if self.checkpoint == "-":
            raise UsageError("--checkpoint -: it is written again and again; give a file")
        if self.resume is not None:
            return  # the other options come from the file
        check_shape(self.dim or 0, self)
        self._check_heldout()
        if self.min_lr is not None and self.min_lr > self.lr:
            raise UsageError(f"--min-lr {self.min_lr:g} is above --lr {self.lr:g}")
        if self.warmup is not None and self.warmup > self.steps:
            raise UsageError(f"--warmup {self.warmup}: there are {self.steps} steps (--steps)")
        if self.stop_after is not None and self.stop_after > self.steps:
            raise UsageError(f"--stop-after {self.stop_after}: there are {self.steps} steps (--steps)")

    def _check_heldout(self) -> None:
        """Refuse windows that cannot be measured."""
        if self.heldout_context is None:
            return
        name = f"--heldout-context {self.heldout_context}"
        if self.heldout == 0:
            raise UsageError(f"{name}: no rows are held out (--heldout 0)")
        if self.position == "learned" and self.heldout_context > self.context:
            raise UsageError(f"{name}: learned positions end with --context, {self.context}")


def check_shape(dim: int, params: AttendParams) -> None:
    """Raise UsageError unless a width goes with heads and positions. 0 is the default, or that of --vectors."""
    if dim == 0 and params.vectors is not None:
        return
    dim = dim or 128
    if dim % params.heads:
        raise UsageError(f"--heads {params.heads}: {dim} dimensions (--dim) cannot be shared out evenly among them")
    if params.position == "rope" and dim // params.heads % 2:
        raise UsageError(
            f"--position rope: turns pairs of numbers, and a head has {dim // params.heads} (--dim, --heads)"
        )
    if params.position == "sinusoidal" and dim % 2:
        raise UsageError(f"--position sinusoidal: its columns are pairs, and --dim is {dim}")


ROWS = (
    Step(
        "attend",
        AttendParams,
        "embcli.models.attend:attend",
        ("tokens", "model", "vectors"),
        "model",
        "Trained",
        "Train a Transformer, look at texts with it: heads, contextual states, predictions.",
        "Pre-norm blocks (Vaswani et al. 2017; Xiong et al. 2020): A = H + MHA(LN H), H' = A + FFN(LN A), and a norm "
        "behind the last. Rows of the text are packed into windows of --context tokens and never see each other; a row "
        "of T tokens has T - 1 next tokens to predict. The same bytes at any number of threads.\n\n"
        "A model and --text give attention weights, contextual states (-o) and predictions; vectors and --text one "
        "head without parameters, Q = K = V = H. A token row is the same wherever its token stands, a contextual state "
        "is not. Weights say where a head looked, not why a model predicts what it does; a text vector (--pool) is "
        "a sum or mean that no training made good for search.",
        (
            "embcli attend tokens.npz --layers 1 --dim 32 --steps 20 -o model.npz",
            "embcli attend model.npz --text 'the dog barked' --text 'the king' --word the -o states.npz",
        ),
        metavar="ARTIFACT",
        input_optional=True,
    ),
)
