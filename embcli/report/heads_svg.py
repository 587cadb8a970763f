"""The weights of every head as one self-contained SVG: a row of panels a layer, labels where they can be read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import Any

from embcli.artifacts.schema import Context
from embcli.report.png import data_uri

#: pixels of a token with labels; tokens that get labels; side of a panel without
_CELL, _LABELLED, _SIDE = 14, 40, 256
_GAP, _CHAR = 18, 6.2
#: characters of a label
_LONGEST = 14
_STYLE = """
.page{fill:#ffffff}text{font-family:ui-monospace,monospace;font-size:10px;fill:#1f2328}
.head{font-size:11px;font-weight:600}.note{fill:#59636e}rect.frame{fill:none;stroke:#8c959f;stroke-width:.5}
image{image-rendering:pixelated}
@media (prefers-color-scheme:dark){.page{fill:#0d1117}text{fill:#e6edf3}.note{fill:#9198a1}}
"""
NOTE = "weights, from a row's token to a column's; opacity is their square root. Where a head looked, not why."


def heads_svg(context: Context, labels: Sequence[str]) -> Iterator[str]:
    """Yield the SVG piece by piece. ``labels`` is the word of each token; markup in them is escaped."""
    blocks, y, width = [], 34.0, 320.0
    for text in range(context.texts):
        start, stop = (int(context.text_offsets[text + i]) for i in (0, 1))
        block, w, h = _block(context.text_at(text)[1], labels[start:stop], text + 1, y)
        blocks.append(block)
        y, width = y + h, max(width, w)
    yield f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{y:.0f}" '
    yield f'viewBox="0 0 {width:.0f} {y:.0f}" role="img"><title>Attention weights</title><style>{_STYLE}</style>'
    yield f'<rect class="page" width="{width:.0f}" height="{y:.0f}"/><text class="note" x="10" y="18">{NOTE}</text>\n'
    for block in blocks:
        yield from block
    yield "</svg>\n"


def tokens(n: int) -> str:
    """Return how many tokens a text has, in words."""
    return f"{n:,} token" if n == 1 else f"{n:,} tokens"


def _block(weights: Any, labels: Sequence[str], number: int, top: float) -> tuple[Iterator[str], float, float]:
    """Return the panels of one text, and the width and height they take."""
    layers, heads, T = weights.shape[:3]
    shown = [label if len(label) <= _LONGEST else label[: _LONGEST - 1] + "\u2026" for label in labels]
    named = 0 < T <= _LABELLED
    margin = max((len(label) for label in shown), default=0) * _CHAR + 8 if named else 8.0
    side = float(T * _CELL if named else min(_SIDE, max(T, 1) * _CELL))
    named_by = 6.8 * len(f"layer {layers}, head {heads}")  # the name of a panel, bold
    wide, high = margin + max(side, named_by) + _GAP, margin + side + _GAP + 14

    def draw() -> Iterator[str]:
        yield f'<text class="head" x="10" y="{top + 12:.0f}">text {number}, {tokens(T)}</text>\n'
        for layer in range(layers):
            for head in range(heads):
                x, y = 10 + head * wide, top + 20 + layer * high
                yield f'<g transform="translate({x:.1f} {y:.1f})">'
                yield f'<text class="head" x="{margin:.1f}" y="10">layer {layer + 1}, head {head + 1}</text>'
                yield from _panel(weights[layer, head], shown if named else [], margin, side)
                yield "</g>\n"

    return draw(), 10 + heads * wide, 24 + layers * high


def _panel(A: Any, labels: Sequence[str], margin: float, side: float) -> Iterator[str]:
    """Yield the picture of one head, with the tokens on its left and above it."""
    x, y = margin, margin + 12
    yield f'<image x="{x:.1f}" y="{y:.1f}" width="{side:.1f}" height="{side:.1f}" preserveAspectRatio="none" '
    yield f'href="{data_uri(A)}"/><rect class="frame" x="{x:.1f}" y="{y:.1f}" width="{side:.1f}" height="{side:.1f}"/>'
    for t, label in enumerate(labels):
        at, word = (t + 0.72) * _CELL, escape(label)
        yield f'<text x="{x - 4:.1f}" y="{y + at:.1f}" text-anchor="end">{word}</text>'
        yield f'<text transform="translate({x + at:.1f} {y - 4:.1f}) rotate(-90)">{word}</text>'
