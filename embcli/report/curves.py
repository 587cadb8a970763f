"""Lines and clouds: loss by epoch, singular values, length and distance by frequency, drawn with matplotlib.

What is drawn comes from query/curves.py; plots.py draws maps.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from embcli.query.curves import ByFrequency, Curve
from embcli.query.topk import Floats, Ints
from embcli.report.display import shown
from embcli.report.looks import THEMES, Theme, below, called, drawing, figure, heading, saved, settle
from embcli.report.plots import Picture, write_labels
from embcli.spec import PlotParams

#: bands of frequency for which a median is drawn, and words that a band needs
_BANDS, _ENOUGH = 24, 5
#: panels in a row
_ACROSS = 3


def loss_picture(curves: Sequence[Curve], params: PlotParams) -> Picture:
    """Draw losses by epoch or step, one panel for each objective, since only equal objectives are comparable."""
    theme = THEMES[params.theme]
    names = list(dict.fromkeys(curve.name for curve in curves))
    groups = list(dict.fromkeys((curve.measure, curve.unit) for curve in curves))
    with drawing(theme, params.form) as matplotlib:
        across, down = min(len(groups), _ACROSS), -(-len(groups) // _ACROSS)
        made = figure(matplotlib, params.width or (7.0 if across == 1 else 4.6 * across), params.height or 4.2 * down)
        axes = made.subplots(down, across, squeeze=False).ravel()
        for ax in axes[len(groups) :]:
            ax.remove()
        units = list(dict.fromkeys(unit for _, unit in groups))
        heading(made, f"Loss by {' and '.join(units)}" if params.title is None else params.title, theme)
        for ax, (group, unit) in zip(axes, groups, strict=False):
            ax.set_title(group)
            for curve in (curve for curve in curves if (curve.measure, curve.unit) == (group, unit)):
                _loss(ax, curve, theme.lines[names.index(curve.name) % len(theme.lines)])
            ax.set_xlabel(unit)
            ax.xaxis.get_major_locator().set_params(integer=True)
            ax.legend(handlelength=2.8).set_in_layout(False)  # a long name takes no room from the panel
        axes[0].set_ylabel("mean loss")
        remarks = ["dashed: on text that was held out"] if any(curve.heldout for curve in curves) else []
        if len(groups) > 1:
            remarks.append("panels have scales of their own: losses of different objectives cannot be compared")
        below(made, "; ".join(remarks), theme)
        settle(made)
        return Picture(saved(made, params.form), params.form)


def _loss(ax: Any, curve: Curve, color: str) -> None:
    """Draw one loss, and the held-out one beside it."""
    lines: list[tuple[Floats, Floats, Any, str]] = [(curve.steps, curve.values, "-", called(curve.name))]
    pale = {"alpha": 0.5, "linewidth": 1.3} if curve.heldout else {"linewidth": 1.8}
    lines += [(*curve.heldout, (0, (4, 2)), f"{called(curve.name)}, held out")] if curve.heldout else []
    for steps, values, style, label in lines:
        mark = "o" if len(steps) <= 40 else ""
        look = pale if style == "-" else {"linewidth": 1.8}
        ax.plot(steps, values, color=color, linestyle=style, marker=mark, markersize=3.6, label=label, **look)


def spectrum_picture(curves: Sequence[Curve], params: PlotParams) -> Picture:
    """Draw singular values on a logarithmic scale, and the share of the squares up to each."""
    theme = THEMES[params.theme]
    with drawing(theme, params.form) as matplotlib:
        made = figure(matplotlib, params.width or 9.0, params.height or 4.2)
        left, right = made.subplots(1, 2)
        heading(made, "Singular values" if params.title is None else params.title, theme)
        for curve, color in zip(curves, _colors(theme, len(curves)), strict=True):
            steps = curve.steps
            squares = np.cumsum(curve.values**2)
            there = curve.values > 1e-7 * max(curve.values.max(initial=0), 1e-300)
            left.plot(steps[there], curve.values[there], color=color, linewidth=1.8, label=called(curve.name))
            right.plot(steps, 100 * squares / max(squares[-1], 1e-300), color=color, linewidth=1.8)
        left.set_yscale("log")
        left.yaxis.set_major_formatter(matplotlib.ticker.FuncFormatter(lambda value, _: f"{value:g}"))
        left.yaxis.set_minor_formatter(matplotlib.ticker.NullFormatter())
        _bare_log(left.yaxis, matplotlib, curves)
        left.set_title("value")
        right.set_title("share of the sum of squares, %")
        right.set_ylim(0, 103)
        for ax in (left, right):
            ax.set_xlabel("number")
        left.legend().set_in_layout(False)
        below(made, f"singular values {curves[0].measure}; shares are of the values shown", theme)
        settle(made)
        return Picture(saved(made, params.form), params.form)


def _bare_log(axis: Any, matplotlib: Any, curves: Sequence[Curve]) -> None:
    """Put a few plain numbers on a logarithmic axis that spans little."""
    values = np.concatenate([curve.values[curve.values > 0] for curve in curves])
    if len(values) and values.max() < 100 * values.min():
        axis.set_major_locator(matplotlib.ticker.LogLocator(10, subs=(1, 2, 5)))


def frequency_picture(found: Sequence[ByFrequency], params: PlotParams) -> Picture:
    """Draw length, and distance to the centroid, against the count of each word, with the medians of bands."""
    theme = THEMES[params.theme]
    with drawing(theme, params.form) as matplotlib:
        made = figure(matplotlib, params.width or 10.0, params.height or 4.4 * len(found))
        grid = made.subplots(len(found), 2, squeeze=False)
        one = f" in {shown(found[0].name)}" if len(found) == 1 else ""
        heading(made, f"Length and place by frequency{one}" if params.title is None else params.title, theme)
        for axes, each in zip(grid, found, strict=True):
            titles = ("length (norm)", "distance to the centroid")
            for ax, values, title in zip(axes, (each.norms, each.distances), titles, strict=True):
                _cloud(ax, each.counts, values, theme)
                ax.set_title(f"{called(each.name)}: {title}" if len(found) > 1 else title)
                ax.set_xlabel("count of the word")
        below(made, "lines: median, and 10th and 90th percentile, of words of about this count", theme)
        settle(made)
        for axes, each in zip(grid, found, strict=True):
            for ax, values in zip(axes, (each.norms, each.distances), strict=True):
                _marked(ax, each, values, theme)
        return Picture(saved(made, params.form), params.form)


def _cloud(ax: Any, counts: Ints, values: Floats, theme: Theme) -> None:
    """Draw a point for each word, pale where there are many, and the medians on top."""
    seen = np.maximum(counts, 1)
    alpha = float(np.clip(30 / np.sqrt(max(len(seen), 1)), 0.12, 0.7))
    ax.scatter(seen, values, s=5, color=theme.scale[1], alpha=alpha, linewidths=0, rasterized=len(seen) > 2000)
    ax.set_xscale("log")
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    x, low, middle, high = medians(seen, values)
    for edge in (low, high):
        ax.plot(x, edge, color=theme.lines[1], linewidth=1.1, linestyle=(0, (4, 2)))
    ax.plot(x, middle, color=theme.lines[1], linewidth=2)


def medians(counts: Ints, values: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Return the middle of each band of counts, and the 10th, 50th and 90th percentile of its values.

    Bands are equally wide in log(count); those with fewer than 5 words are left out.
    """
    logs = np.log(np.maximum(counts, 1))
    edges = np.linspace(logs.min(initial=0), logs.max(initial=0) + 1e-9, _BANDS + 1)
    band = np.clip(np.searchsorted(edges, logs, "right") - 1, 0, _BANDS - 1)
    rows = []
    for i in range(_BANDS):
        part = values[band == i]
        if len(part) >= _ENOUGH:
            rows.append([float(np.exp(np.median(logs[band == i]))), *np.percentile(part, (10, 50, 90)).tolist()])
    made = np.array(rows, np.float64).reshape(-1, 4).T
    return made[0], made[1], made[2], made[3]


def _marked(ax: Any, each: ByFrequency, values: Floats, theme: Theme) -> None:
    """Mark the words that were asked for."""
    if not len(each.rows):
        return
    places = np.stack([np.maximum(each.counts[each.rows], 1).astype(np.float64), values[each.rows]], axis=1)
    ax.scatter(places[:, 0], places[:, 1], s=18, color=theme.ink, zorder=3, linewidths=0)
    styles = [{"fontsize": 9, "color": theme.ink} for _ in each.words]
    must = [len(each.words) <= 30] * len(each.words)
    write_labels(ax, [shown(word) for word in each.words], places, styles, must, theme)


def _colors(theme: Theme, n: int) -> list[str]:
    return [theme.lines[i % len(theme.lines)] for i in range(n)]
