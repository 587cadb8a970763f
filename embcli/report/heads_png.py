"""The weights of every head as pixels, by matplotlib: a row of panels a layer. heads_svg.py needs no library.

All panels stand in one set of axes that is measured in inches: a set for each would take minutes for many heads.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from embcli.artifacts.schema import Context
from embcli.report.display import shown
from embcli.report.heads_svg import NOTE, tokens
from embcli.report.looks import THEMES, Theme, drawing, figure, saved
from embcli.report.plots import Picture
from embcli.report.png import opacities
from embcli.spec import PlotParams

#: tokens that get labels, and inches: of such a token, of a panel without labels, between panels, of a letter
_LABELLED, _CELL, _SIDE, _GAP, _LETTER = 40, 0.17, 2.2, 0.22, 0.078
#: inches above the panels and at the edges, and of the line that names a panel
_TOP, _EDGE, _LINE = 0.62, 0.16, 0.2
#: inches of a letter of a panel's name
_BOLD = 0.08
#: characters of a label
_LONGEST = 14
#: panels of a picture; more would be no picture any more
_PANELS = 400


def heads_png(context: Context, labels: Sequence[str], params: PlotParams, title: str) -> Picture:
    """Return a picture of the weights of all texts, each head a panel. ``labels`` is the word of each token."""
    theme = THEMES[params.theme]
    blocks, notes = _blocks(context, labels)
    spans = [_size(weights, words) for weights, words in blocks]
    line = _LINE * (len(blocks) > 1)  # which text it is, once for all its panels
    width = max((weights.shape[1] * (size + _GAP) for (weights, _), size in zip(blocks, spans, strict=True)), default=3)
    height = sum(line + len(weights) * (_high(weights, words) + _GAP + _LINE) for weights, words in blocks)
    width, height = max(width + 2 * _EDGE, 6.4), height + _TOP + _EDGE
    with drawing(theme, params.form) as matplotlib:
        made = figure(matplotlib, params.width or width, params.height or height)
        made.set_layout_engine("none")
        ax = made.add_axes((0, 0, 1, 1))
        ax.set_axis_off()
        heading = title if params.title is None else params.title
        ax.text(_EDGE, 0.28, heading, fontsize=12.5, fontweight="bold", color=theme.ink)
        ax.text(_EDGE, 0.47, NOTE, fontsize=8, color=theme.muted)
        y = _TOP
        for text, ((weights, words), size) in enumerate(zip(blocks, spans, strict=True), 1):
            if line:
                each = f"text {text}, {tokens(weights.shape[-1])}"
                ax.text(_EDGE, y + 0.1, each, fontsize=9.5, fontweight="bold", color=theme.ink)
                y += line
            for layer in range(len(weights)):
                for head in range(weights.shape[1]):
                    corner = (_EDGE + head * (size + _GAP), y)
                    _panel(ax, weights[layer, head], words, _name(layer, head), corner, theme)
                y += _high(weights, words) + _GAP + _LINE
        ax.set(xlim=(0, width), ylim=(height, 0))  # pictures inside have moved them
        return Picture(saved(made, params.form), params.form, notes)


def _blocks(context: Context, labels: Sequence[str]) -> tuple[list[tuple[Any, list[str]]], tuple[str, ...]]:
    """Return the weights (layers, heads, T, T) and tokens of each text that has any, and a remark on what is left out.

    The labels of texts that are too long for any are empty.
    """
    blocks: list[tuple[Any, list[str]]] = []
    panels = 0
    for text in range(context.texts):
        start, stop = (int(context.text_offsets[text + i]) for i in (0, 1))
        named = labels[start:stop]
        weights = context.text_at(text)[1]
        if not weights.size:
            continue
        panels += weights.shape[0] * weights.shape[1]
        if panels > _PANELS and blocks:
            return blocks, (f"the first {text:,} of {context.texts:,} texts; an .svg or --html shows all",)
        words = [shown(each if len(each) <= _LONGEST else f"{each[: _LONGEST - 1]}\u2026") for each in named]
        blocks.append((weights, words if len(words) <= _LABELLED else []))
    return blocks, ()


def _margin(words: Sequence[str]) -> float:
    return max((len(word) for word in words), default=0) * _LETTER + 0.06 * bool(words)


def _name(layer: int, head: int) -> str:
    return f"layer {layer + 1}, head {head + 1}"


def _side(weights: Any, words: Sequence[str]) -> float:
    """Return how wide the square of a head is."""
    return weights.shape[-1] * _CELL if words else _SIDE


def _high(weights: Any, words: Sequence[str]) -> float:
    """Return how high a panel is with its labels."""
    return _margin(words) + _side(weights, words)


def _size(weights: Any, words: Sequence[str]) -> float:
    """Return how wide a panel is with its labels, and its name, which stands over the square."""
    longest = len(_name(len(weights) - 1, weights.shape[1] - 1)) * _BOLD
    return _margin(words) + max(_side(weights, words), longest)


def _panel(ax: Any, weights: Any, words: Sequence[str], name: str, corner: tuple[float, float], theme: Theme) -> None:
    """Draw one head, with its tokens on the left and above where they can be read."""
    from matplotlib.colors import LinearSegmentedColormap

    colors = LinearSegmentedColormap.from_list("weights", (theme.paper, theme.lines[0]))
    margin, side = _margin(words), _side(weights, words)
    left, top = corner[0] + margin, corner[1] + _LINE + margin
    ax.imshow(opacities(weights), cmap=colors, vmin=0, vmax=255, interpolation="nearest", aspect="auto",
              extent=(left, left + side, top + side, top))  # fmt: skip
    frame = ([left, left + side, left + side, left, left], [top, top, top + side, top + side, top])
    ax.plot(*frame, color=theme.muted, linewidth=0.5, scalex=False, scaley=False)
    ax.text(left, corner[1] + 0.12, name, fontsize=8.5, fontweight="bold", color=theme.ink)
    for t, word in enumerate(words):
        at = (t + 0.5) * _CELL
        ax.text(left - 0.04, top + at, word, fontsize=7.5, ha="right", va="center_baseline", color=theme.ink)
        ax.text(left + at, top - 0.04, word, fontsize=7.5, ha="center", va="bottom", rotation=90, color=theme.ink)
