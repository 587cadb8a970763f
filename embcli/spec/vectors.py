"""Steps from vectors to vectors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from embcli.errors import UsageError
from embcli.spec.common import Step
from embcli.spec.options import Opt, Params


@dataclass(frozen=True, kw_only=True)
class TransformParams(Params):
    """Options of ``transform``; they act in the order in which they stand here."""

    table: Annotated[
        Literal["input", "output", "sum"], Opt("Start from the vectors, the contexts, or their sum (w + c).")
    ] = "input"
    concat: Annotated[
        bool, Opt("Join several inputs, each at unit length, side by side over the words they share.")
    ] = False
    center: Annotated[bool, Opt("Subtract the mean of the rows; then --dim is PCA.")] = False
    remove_top: Annotated[
        int,
        Opt(
            "All-but-the-top: subtract the mean, then remove this many principal directions (Mu and Viswanath 2018).",
            min=0,
            metavar="N",
        ),
    ] = 0
    dim: Annotated[int | None, Opt("Keep this many principal dimensions.", ("-d",), min=1, unset="all")] = None
    unit: Annotated[bool, Opt("Scale each row to length 1.")] = False
    align_to: Annotated[
        str | None,
        Opt(
            "Rotate onto the vectors of this artifact: orthogonal Procrustes over shared words (Schoenemann 1966).",
            metavar="FILE",
            file=True,
            unset="none",
        ),
    ] = None
    anchors: Annotated[
        str | None,
        Opt(
            "Words to align by, one a line, or two a line (word here, word there); else all shared words.",
            metavar="FILE",
            file=True,
            unset="shared words",
        ),
    ] = None

    def check(self) -> None:
        """Refuse to do nothing, and anchors without an alignment."""
        for flag, path in (("--align-to", self.align_to), ("--anchors", self.anchors)):
            if path == "-":
                raise UsageError(f"{flag} -: stdin is for the vectors; name a file")
        if self.anchors is not None and self.align_to is None:
            raise UsageError("--anchors belongs to --align-to; give --align-to FILE too")
        if self == TransformParams():
            raise UsageError(
                "nothing to do: give --table, --concat, --center, --remove-top N, --dim N, --unit or --align-to FILE"
            )


ROWS = (
    Step(
        "transform",
        TransformParams,
        "embcli.models.transform:transform",
        ("vectors",),
        "vectors",
        "Vectors",
        "Post-process vectors: all-but-the-top, unit length, w + c, alignment, concatenation.",
        "What is asked for is done in the order of the options below, whatever their order on the command line; run it "
        "twice for another order. Rows that are zero stay zero and count for no mean. The second table is used by "
        "--table only, and not carried over. --align-to rotates and neither moves nor scales: give both spaces "
        "--center --unit.",
        (
            "embcli transform vectors.npz --remove-top 2 --unit -o abtt.npz",
            "embcli transform svd.npz vectors.npz --concat --dim 20 -o both.npz",
        ),
        many=True,
        metavar="VECTORS...",
    ),
)
