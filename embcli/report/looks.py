"""How pictures look: colors, figures without a screen, and files that are the same for the same input.

matplotlib is loaded here, inside functions, and nowhere before a picture is asked for.
"""

from __future__ import annotations

import io
import logging
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from embcli.errors import InputError
from embcli.report.display import shown

#: resolution of pictures made of pixels
DPI = 160
#: characters of a name in a legend or over a panel
_LONGEST = 34
#: fonts that may know what the first one does not, for pixels: in an .svg the browser chooses
_FONTS = ("DejaVu Sans", "Noto Sans CJK JP", "Noto Sans CJK SC", "WenQuanYi Zen Hei", "Droid Sans Fallback",
          "Noto Sans", "Arial Unicode MS", "PingFang SC", "Microsoft YaHei", "Unifont")  # fmt: skip
#: in an .svg text stays text; these are as wide as the one that labels are measured by, or stand in for it
_FAMILIES = ("DejaVu Sans", "Verdana", "sans-serif")


@dataclass(frozen=True)
class Theme:
    """Colors: of the paper, of what stands on it from strong to weak, of lines, and of numbers from low to high."""

    paper: str
    ink: str
    muted: str
    faint: str
    lines: tuple[str, ...]
    scale: tuple[str, ...]


THEMES = {
    "light": Theme(
        "#ffffff", "#1b1f24", "#656d76", "#e4e7eb",
        ("#2563eb", "#d9610a", "#0a8f5b", "#b3259e", "#c81e3a", "#0e8fa8", "#7a5c00", "#5b5fc7"),
        ("#b4c2d4", "#6ea5d6", "#3a73c4", "#5a3ea6", "#8c1d66"),
    ),
    "dark": Theme(
        "#14171c", "#e7e9ec", "#98a1ab", "#2b313a",
        ("#6ea8fe", "#ffa657", "#56d39b", "#f08fe2", "#ff8090", "#5fd3e8", "#e3c567", "#aab0ff"),
        ("#46566c", "#4f86c6", "#4fbcb6", "#a9d66a", "#fbe45c"),
    ),
}  # fmt: skip


@contextmanager
def drawing(theme: Theme, form: str) -> Iterator[Any]:
    """Let matplotlib draw with our settings and nobody else's; yields the module.

    Raises InputError that says what to install if it is missing.
    """
    try:
        import matplotlib
        import matplotlib.figure
    except ImportError:
        what = "pictures need matplotlib, which is not installed: pip install 'embcli[plot]'; --html needs nothing"
        raise InputError(what) from None
    for name in ("matplotlib", "matplotlib.font_manager"):  # a font that is not there is no news
        logging.getLogger(name).setLevel(logging.ERROR)
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_settings(theme, form))
        yield matplotlib


@contextmanager
def missing_glyphs() -> Iterator[set[str]]:
    """Collect the characters that no font has while pictures are drawn, which matplotlib says in a warning for each."""
    found, others = set[str](), warnings.showwarning

    def hear(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
        glyph = re.match(r"Glyph (\d+) ", str(message))
        if glyph:
            found.add(chr(int(glyph[1])))
        elif not str(message).startswith("Matplotlib currently does not support"):  # it says so after a glyph
            others(message, category, *place, **more)

    with warnings.catch_warnings():
        warnings.filterwarnings("always", message="Glyph .* missing from")
        warnings.showwarning = hear
        yield found


def _settings(theme: Theme, form: str) -> Any:
    """Return matplotlib's settings."""
    families = _FAMILIES if form == "svg" else _installed()
    return {
        "svg.hashsalt": "embcli", "svg.fonttype": "none", "figure.dpi": DPI,
        "font.family": list(families), "font.size": 9.5, "text.parse_math": False, "axes.unicode_minus": True,
        "figure.facecolor": theme.paper, "axes.facecolor": theme.paper, "savefig.facecolor": theme.paper,
        "text.color": theme.ink, "axes.labelcolor": theme.muted, "axes.edgecolor": theme.faint,
        "xtick.color": theme.muted, "ytick.color": theme.muted, "xtick.labelsize": 8.5, "ytick.labelsize": 8.5,
        "axes.labelsize": 9, "axes.titlesize": 10, "axes.titlelocation": "left", "axes.titlecolor": theme.ink,
        "axes.grid": True, "grid.color": theme.faint, "grid.linewidth": 0.7, "axes.axisbelow": True,
        "axes.spines.top": False, "axes.spines.right": False, "legend.frameon": False, "legend.fontsize": 8.5,
        "lines.solid_capstyle": "round", "path.simplify": False,
    }  # fmt: skip


def _installed() -> list[str]:
    """Return those of our fonts that are on this machine; the first comes with matplotlib."""
    from matplotlib import font_manager

    there = {entry.name for entry in font_manager.fontManager.ttflist}
    return [name for name in _FONTS if name in there or name == _FONTS[0]]


def figure(matplotlib: Any, width: float, height: float) -> Any:
    """Return an empty figure, in inches, that can be measured without a screen."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    made = matplotlib.figure.Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(made)
    made.get_layout_engine().set(w_pad=0.08, h_pad=0.08, wspace=0.05, hspace=0.05)
    return made


def settle(made: Any) -> None:
    """Fix where the axes are, so that what is measured from now on stays true."""
    made.draw_without_rendering()
    made.set_layout_engine("none")


def heading(made: Any, title: str, theme: Theme) -> None:
    """Write the title at the upper left."""
    if title:
        made.suptitle(title, x=0.012, ha="left", fontsize=12.5, fontweight="bold", color=theme.ink)


def below(made: Any, text: str, theme: Theme) -> None:
    """Write a remark under the picture."""
    if text:
        made.supxlabel(text, x=0.012, ha="left", fontsize=8, color=theme.muted)


def called(name: str) -> str:
    """Return what a panel or a line is called: of a long path the end, which tells more."""
    text = shown(name)
    return text if len(text) <= _LONGEST else f"\u2026{text[1 - _LONGEST :]}"


def saved(made: Any, form: str) -> bytes:
    """Return the picture as the bytes of a file: no date, no version, the same names inside each time."""
    out = io.BytesIO()
    if form == "svg":
        made.savefig(out, format="svg", metadata={"Date": None, "Creator": "embcli"})
    else:
        made.savefig(out, format="png", dpi=DPI, metadata={"Software": "embcli"})
    return out.getvalue()


def scale(theme: Theme) -> Any:
    """Return the colors of numbers from low to high as matplotlib wants them."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("embcli", theme.scale)
