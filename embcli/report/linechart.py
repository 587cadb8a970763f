"""Lines of losses as SVG inside a page: no library, and colors of the page, so that light and dark both suit.

For files of their own, of any size and with more pictures, see curves.py, which draws with matplotlib.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from html import escape

from embcli.query.curves import Curve
from embcli.query.topk import Floats
from embcli.report.display import shown

#: size of a chart, and its edges: left, top, right, bottom
_WIDTH, _HEIGHT, _LEFT, _TOP, _RIGHT, _BOTTOM = 580, 260, 54, 10, 34, 34
#: colors that the page's style defines: .c0 and so on
_COLORS = 8
#: lines with so many points at most have a dot at each, which names its numbers
_DOTS = 40


def loss_charts(curves: Sequence[Curve]) -> Iterator[str]:
    """Yield a figure for each objective, since only losses of equal objectives are comparable."""
    color = {name: f"c{i % _COLORS}" for i, name in enumerate(dict.fromkeys(curve.name for curve in curves))}
    for measure, unit in dict.fromkeys((curve.measure, curve.unit) for curve in curves):
        group = [curve for curve in curves if (curve.measure, curve.unit) == (measure, unit)]
        names = "".join(f'<li><i class="{color[curve.name]}"></i>{escape(shown(curve.name))}</li>' for curve in group)
        held = "<li>dashed: held-out text</li>" if any(curve.heldout for curve in group) else ""
        yield f"<figure><figcaption>{escape(shown(measure))}, mean loss by {escape(unit)}</figcaption>"
        yield from _chart(group, unit, color)
        yield f'<ul class="legend">{names}{held}</ul></figure>\n'


def _chart(curves: Sequence[Curve], unit: str, colors: Mapping[str, str]) -> Iterator[str]:
    """Yield the SVG of some lines on one scale."""
    lines = [line for curve in curves for line in ((curve.steps, curve.values), curve.heldout) if line is not None]
    across = (min(float(x.min()) for x, _ in lines), max(float(x.max()) for x, _ in lines))
    up = (min(float(y.min()) for _, y in lines), max(float(y.max()) for _, y in lines))
    margin = 0.05 * (up[1] - up[0]) or 0.05 * abs(up[1]) or 1.0
    low, high = up[0] - margin, up[1] + margin
    first, last = across if across[1] > across[0] else (across[0] - 1, across[1] + 1)

    def place(x: float, y: float) -> tuple[float, float]:
        wide, tall = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM
        return _LEFT + wide * (x - first) / (last - first), _TOP + tall * (high - y) / (high - low)

    yield f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="mean loss by {escape(unit)}">'
    for value in ticks(low, high, 5):
        y = place(first, value)[1]
        yield f'<path class="grid" d="M{_LEFT} {y:.1f}H{_WIDTH - _RIGHT}"/>'
        yield f'<text x="{_LEFT - 7}" y="{y + 4:.1f}" text-anchor="end">{value:.6g}</text>'
    for value in ticks(first, last, 8, whole=True):
        x = place(value, low)[0]
        yield f'<text x="{x:.1f}" y="{_HEIGHT - _BOTTOM + 17}" text-anchor="middle">{value:,.0f}</text>'
    yield f'<text x="{(_WIDTH + _LEFT - _RIGHT) / 2}" y="{_HEIGHT - 3}" text-anchor="middle">{escape(unit)}</text>'
    for curve in curves:
        color = colors[curve.name]
        parts: list[tuple[str, tuple[Floats, Floats]]] = [
            ("pale" if curve.heldout else "", (curve.steps, curve.values))
        ]
        parts += [("dashed", curve.heldout)] if curve.heldout else []
        for kind, (steps, values) in parts:
            spots = [(*place(x, y), x, y) for x, y in zip(steps.tolist(), values.tolist(), strict=True)]
            points = " ".join(f"{x:.1f},{y:.1f}" for x, y, _, _ in spots)
            yield f'<polyline class="{color} {kind}" points="{points}"/>'
            for x, y, step, value in spots if len(spots) <= _DOTS else ():
                said = f"{shown(curve.name)}, {unit} {step:,.0f}: {value:.6g}"
                yield f'<circle class="{color}" cx="{x:.1f}" cy="{y:.1f}" r="2.6">'
                yield f"<title>{escape(said)}</title></circle>"
    yield "</svg>"


def ticks(low: float, high: float, most: int, whole: bool = False) -> list[float]:
    """Return round numbers from low to high, at most so many and evenly apart; integers if ``whole``."""
    raw = max((high - low) / most, 1e-300)
    size: float = 10.0 ** math.floor(math.log10(raw))
    step = next(size * factor for factor in (1, 2, 5, 10, 20) if size * factor >= raw * (1 - 1e-9))
    if whole:
        step = max(step, 1.0)
    start = math.ceil(low / step - 1e-9)
    return [round(i * step, 12) for i in range(start, math.floor(high / step + 1e-9) + 1)]
