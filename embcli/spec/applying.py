"""The options of ``attend`` that look at texts with a model or with static vectors, or work out tables written by hand.

Those of training stand in attend.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from embcli.errors import UsageError
from embcli.spec.options import Field, Opt, Params

PANEL = "Applying"
#: what is also asked of static vectors, whose single head has no parameters
_SHAPE = ("position", "scale_embeddings")


@dataclass(frozen=True, kw_only=True)
class ApplyParams(Params):
    """Options that apply a model, or one parameter-free head, to texts."""

    text: Annotated[
        tuple[str, ...],
        Opt("Text to look at, cut as the training text was; [MASK] is a masked model's mask row.", panel=PANEL),
    ] = ()
    text_file: Annotated[
        str | None,
        Opt("Texts to look at, one a line; - is stdin.", metavar="FILE", file=True, unset="none", panel=PANEL),
    ] = None
    tokenizer: Annotated[
        str | None,
        Opt("What cuts the texts for vectors of BPE tokens.", metavar="FILE", file=True, unset="none", panel=PANEL),
    ] = None
    mask: Annotated[
        Literal["causal", "none"] | None,
        Opt("Whom a token may look at: those before it, or all.", unset="as trained; vectors: none", panel=PANEL),
    ] = None
    layer: Annotated[
        int | None,
        Opt(
            "Take the states behind this layer; 0 is what enters the first.",
            min=0,
            metavar="N",
            unset="the last, behind the final norm",
            panel=PANEL,
        ),
    ] = None
    pool: Annotated[
        Literal["sum", "mean", "last", "first"] | None,
        Opt("Write one text vector for each text: of its states, or of the rows of static vectors.", panel=PANEL),
    ] = None
    top: Annotated[int, Opt("Predictions and neighbors to show.", ("-k",), min=1, max=1000, panel=PANEL)] = 5
    weights: Annotated[
        bool | None,
        Opt("Keep the weights of all heads: layers x heads x T^2 numbers of T tokens.", unset="yes", panel=PANEL),
    ] = None
    candidates: Annotated[
        str | None,
        Opt("Rank these words, between commas, at each [MASK] or behind the text.", recorded=False, panel=PANEL),
    ] = None
    word: Annotated[
        tuple[str, ...], Opt("Show a word's neighbors before context and layer by layer.", recorded=False, panel=PANEL)
    ] = ()
    sample: Annotated[
        int,
        Opt("Continue each text by this many tokens.", min=0, max=100_000, metavar="N", recorded=False, panel=PANEL),
    ] = 0
    temperature: Annotated[
        float, Opt("Of --sample: logits are divided by it; 0 takes the best.", min=0, recorded=False, panel=PANEL)
    ] = 1.0
    top_k: Annotated[
        int, Opt("Of --sample: draw among this many of the best; 0 is all.", min=0, recorded=False, panel=PANEL)
    ] = 0
    html: Annotated[
        str | None, Opt("Write the weights of every head as a page.", metavar="FILE", recorded=False, panel=PANEL)
    ] = None
    svg: Annotated[
        str | None, Opt("Write the weights of every head as a picture.", metavar="FILE", recorded=False, panel=PANEL)
    ] = None
    tsv: Annotated[
        str | None, Opt("Write the weights of every head as a table.", metavar="FILE", recorded=False, panel=PANEL)
    ] = None
    given_: Annotated[
        str | None,
        Opt("Work out tables written by hand (YAML), number by number.", metavar="FILE", recorded=False, panel=PANEL),
    ] = None

    @property
    def applies(self) -> bool:
        """Whether texts are looked at, and nothing is trained."""
        return bool(self.text or self.text_file)

    @property
    def shows(self) -> bool:
        """Whether contextual states are made, shown and perhaps written: not text vectors, not continued texts."""
        return self.applies and not self.pool and not self.sample

    def makes(self) -> str | None:
        """Return the kind of artifact, None for that of training."""
        return ("vectors" if self.pool else "context") if self.applies else None

    def relevant(self, field: Field) -> bool:
        """Say whether results depend on an option: those of training and of applying are different ones."""
        applying = field.opt.panel == PANEL
        return applying or field.name in _SHAPE if self.applies else not applying

    def check_applying(self) -> None:
        """Refuse options for texts where there are none, and those that do different things."""
        asked = {
            "--mask": self.mask, "--layer": self.layer is not None, "--pool": self.pool,
            "--candidates": self.candidates, "--word": self.word, "--sample": self.sample,
            "--html": self.html, "--svg": self.svg, "--tsv": self.tsv, "--tokenizer": self.tokenizer,
        }  # fmt: skip
        found = [flag for flag, value in asked.items() if value or (flag == "--candidates" and value is not None)]
        if self.given_ is not None and (found or self.applies):
            raise UsageError(f"--given: works out one file and nothing else; leave {(found or ['--text'])[0]} out")
        if found and not self.applies:
            raise UsageError(f"{found[0]}: looks at texts; give --text or --text-file too")
        if self.candidates is not None and not self.candidates.replace(",", "").strip():
            raise UsageError(f"--candidates {self.candidates!r}: names no word")
        if self.weights is False and (self.html or self.svg or self.tsv):
            raise UsageError("--no-weights: --html, --svg and --tsv show weights; leave one of the two out")
        if self.pool and self.sample:
            raise UsageError("--pool and --sample are two different things; leave one out")
        shown = [flag for flag in ("--candidates", "--word", "--html", "--svg", "--tsv") if asked[flag]]
        if shown and not self.shows:
            raise UsageError(f"{shown[0]}: shows contextual states; leave out {'--pool' if self.pool else '--sample'}")
        files = [path for path in (self.html, self.svg, self.tsv) if path is not None]
        if len(set(files)) < len(files):
            raise UsageError(f"{files[0]}: is given for two files; give each a name of its own")
