"""The command that draws."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from embcli.errors import UsageError
from embcli.spec.common import Step
from embcli.spec.options import Opt, Params

_MAP, _LOOKS = "Words and maps", "Looks"
#: pictures that take no words
WORDLESS = ("loss", "spectrum", "attention")
#: endings of names and the formats they mean
ENDINGS = {".svg": "svg", ".png": "png", ".html": "html", ".htm": "html"}


@dataclass(frozen=True, kw_only=True)
class PlotParams(Params):
    """Options of ``plot``."""

    show: Annotated[
        Literal["map", "analogies", "loss", "spectrum", "frequency", "attention"],
        Opt(
            "A map of words, arrows of analogies, loss by epoch or step, singular values, norm and distance by "
            "frequency, or the weights of attention heads.",
            ("-s",),
        ),
    ] = "map"
    out: Annotated[
        str | None,
        Opt(
            "Picture to write, .svg, .png or .html; - is stdout.", ("-o",), metavar="FILE", recorded=False, unset="none"
        ),
    ] = None
    html: Annotated[
        str | None,
        Opt("Write a map as one page to explore in a browser, without network.", metavar="FILE", recorded=False,
            unset="none"),
    ] = None  # fmt: skip
    format: Annotated[
        Literal["svg", "png", "html"] | None, Opt("Format of -o.", recorded=False, unset="by the name; - is svg")
    ] = None
    words_from: Annotated[
        str | None, Opt("Read words from a file, one a line; - is stdin.", metavar="FILE", recorded=False, panel=_MAP)
    ] = None
    frequent: Annotated[
        int | None,
        Opt("Show the N most frequent words.", min=1, max=1_000_000, metavar="N", panel=_MAP,
            unset="200 if no words are given; on a page 50,000"),
    ] = None  # fmt: skip
    around: Annotated[
        int, Opt("Show the N nearest neighbors of each given word too.", min=0, max=1000, metavar="N", panel=_MAP)
    ] = 0
    tsne: Annotated[
        bool, Opt("Lay the map out by t-SNE (needs scikit-learn), not by principal components.", panel=_MAP)
    ] = False
    perplexity: Annotated[
        float | None, Opt("Perplexity of t-SNE.", min=1, max=1000, unset="30, less for few words", panel=_MAP)
    ] = None
    top: Annotated[int, Opt("Neighbors of each word on a page.", ("-k",), min=1, max=100, panel=_MAP)] = 10
    table: Annotated[
        Literal["input", "output", "sum"], Opt("Which vectors: of the words, of the contexts, or their sum.")
    ] = "input"
    title: Annotated[str | None, Opt("Title of the picture.", unset="made of the names", panel=_LOOKS)] = None
    labels: Annotated[
        int | None, Opt("Label at most N words.", min=0, metavar="N", unset="as many as have room", panel=_LOOKS)
    ] = None
    theme: Annotated[Literal["light", "dark"], Opt("Colors; a page follows the browser.", panel=_LOOKS)] = "light"
    width: Annotated[float | None, Opt("Width in inches.", min=2, max=60, unset="8, more for panels", panel=_LOOKS)] = (
        None
    )
    height: Annotated[float | None, Opt("Height in inches.", min=2, max=60, unset="by the picture", panel=_LOOKS)] = (
        None
    )
    seed: Annotated[int, Opt("Seed of t-SNE.", min=0, max=2**32 - 1)] = 0
    threads: Annotated[
        int | None,
        Opt("Worker threads; results do not depend on it.", min=1, max=1024, recorded=False, unset="all cores"),
    ] = None

    def check(self) -> None:
        """Refuse options that do not fit together, and a name that does not say what to write."""
        if self.out is None and self.html is None:
            raise UsageError("missing option -o FILE (.svg, .png or .html), or --html FILE")
        if self.format is not None and self.out is None:
            raise UsageError("--format belongs to -o FILE; a page is written by --html FILE alone")
        if self.out not in (None, "-") and self.format is None and ending(self.out) is None:
            raise UsageError(f"-o {self.out}: expected a name that ends in .svg, .png or .html, or --format")
        if self.out == self.html:
            raise UsageError("-o and --html name the same file; give one of them")
        if self.page and self.show not in ("map", "attention"):
            raise UsageError(f"--show {self.show}: a page shows a map or attention; write this to an .svg or .png")
        if self.tsne and self.show != "map":
            raise UsageError(f"--tsne: lays out maps, not --show {self.show}")
        if self.perplexity is not None and not self.tsne:
            raise UsageError("--perplexity belongs to --tsne; give both")
        if self.show in WORDLESS and (self.words_from or self.frequent or self.around):
            raise UsageError(f"--show {self.show}: shows no words; leave --words-from, --frequent and --around out")

    @property
    def form(self) -> str:
        """The format of -o: svg, png or html."""
        return self.format or ending(self.out) or "svg"

    @property
    def page(self) -> bool:
        """Whether a page is asked for, by --html or by -o."""
        return self.html is not None or (self.out is not None and self.form == "html")

    @property
    def picture(self) -> bool:
        """Whether a picture is asked for."""
        return self.out is not None and self.form != "html"


def ending(name: str | None) -> str | None:
    """Return the format that the end of a name means, None if it means none."""
    return next((form for end, form in ENDINGS.items() if name and name.lower().endswith(end)), None)


ROWS = (
    Step(
        "plot",
        PlotParams,
        "embcli.pipeline.pictures:picture",
        ("vectors", "model", "context"),
        None,
        "Reports",
        "Draw maps of words, analogies, loss curves, spectra: SVG, PNG, or a page to explore.",
        "embcli plot ARTIFACT WORD... -o FILE, or, for several side by side, embcli plot -o FILE ARTIFACT... -- "
        "WORD...\n\nMaps are principal components of the rows at unit length, or t-SNE; of contextual states a word "
        "means all places where it stands. Loss, spectrum and frequency read several artifacts. The same input gives "
        "the same bytes. Needs matplotlib; --html and attention as SVG need nothing.",
        (
            "embcli plot vectors.npz --frequent 100 -o map.svg",
            "embcli plot vectors.npz --frequent 2000 --html map.html",
        ),
        many=True,
        metavar="ARTIFACT WORD...",
    ),
)
