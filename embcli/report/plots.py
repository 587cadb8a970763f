"""Maps of words and arrows of analogies, drawn with matplotlib. What is drawn comes from query/pictured.py.

A picture is the bytes of a file and remarks for whoever asked for it. curves.py draws lines and clouds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from embcli.job import counted
from embcli.query.pictured import Chosen, Parallel
from embcli.query.projection import Plane, neighborly, principal, shared, turned
from embcli.query.topk import Floats
from embcli.report.display import shown
from embcli.report.labels import place
from embcli.report.looks import THEMES, Theme, below, called, drawing, figure, heading, saved, scale, settle
from embcli.spec import PlotParams

#: panels in a row
_ACROSS = 3
#: neighbors of given words are labelled whatever it takes, up to so many words
_NEEDED = 150


@dataclass(frozen=True)
class Picture:
    """The bytes of a file, its format (svg, png or html), and remarks about what is not in it."""

    data: bytes
    form: str
    notes: tuple[str, ...] = ()


def map_picture(chosen: Sequence[Chosen], names: Sequence[str], params: PlotParams) -> Picture:
    """Draw the words of one or several artifacts as points with labels; further maps are turned onto the first."""
    theme, notes = THEMES[params.theme], list[str]()
    laid = [laid_out(one, params) for one in chosen]
    for i in range(1, len(laid)):
        mine, theirs = shared(chosen[i].words, chosen[0].words)
        laid[i] = (turned(laid[i][0], laid[0][0], mine, theirs), laid[i][1] if params.tsne else "")
    with drawing(theme, params.form) as matplotlib:
        across, down = min(len(laid), _ACROSS), -(-len(laid) // _ACROSS)
        each = 8.0 if across == 1 else 5.6
        made = figure(matplotlib, params.width or each * across, params.height or each * 0.8 * down + 0.3)
        axes = made.subplots(down, across, squeeze=False).ravel()
        for ax in axes[len(laid) :]:
            ax.remove()
        heading(made, params.title if params.title is not None else _title(chosen, names, params), theme)
        parts = []
        for ax, one, (places, text), name in zip(axes, chosen, laid, names, strict=False):
            parts.append(_points(ax, one, places, theme, _by_count(chosen)))
            _plain(ax, text, called(name) if len(laid) > 1 else "")
        if _by_count(chosen):
            _legend(made, parts[0], axes[: len(laid)].tolist(), theme)
        below(made, _remark(chosen, laid, params), theme)
        settle(made)
        for ax, one, (places, _), name in zip(axes, chosen, laid, names, strict=False):
            lost = _labels(ax, one, places, theme, params.labels, params.around > 0)
            if lost and params.labels is None:
                notes.append(f"{name}: {lost:,} of {len(one.words):,} words have no room for a label; "
                             "a larger --width and --height, or --html, shows more")  # fmt: skip
        return Picture(saved(made, params.form), params.form, tuple(notes))


def laid_out(one: Chosen, params: PlotParams) -> tuple[Floats, str]:
    """Return the places (n, 2) of words, and how they were found, in a few words."""
    if params.tsne:
        return neighborly(one.points, params.perplexity, params.seed), "t-SNE"
    plane = principal(one.points)
    return plane.place(one.points), f"principal components 1 and 2{_share(plane)}"


def _share(plane: Plane) -> str:
    """Return how much of the variance a plane has; nothing where points do not vary."""
    return f": {100 * sum(plane.shares):.1f} % of the variance" if any(plane.shares) else ""


def _title(chosen: Sequence[Chosen], names: Sequence[str], params: PlotParams) -> str:
    """Return a title that says what the words are."""
    one = chosen[0]
    given = int(one.asked.sum())
    if given:
        what = one.noun.capitalize() + (" and their neighbors" if params.around else "")
    else:
        what = (
            f"The {len(one.words):,} most frequent {one.noun}"
            if len(one.words) < one.total
            else f"All {counted(one.total, one.noun.removesuffix('s'))}"
        )
    return f"{what} in {shown(names[0])}" if len(names) == 1 else what


def _remark(chosen: Sequence[Chosen], laid: Sequence[tuple[Floats, str]], params: PlotParams) -> str:
    text = f"rows at unit length; {laid[0][1]}"
    if params.tsne:
        return "rows at unit length; t-SNE: near words stay near, distances between groups mean nothing"
    return "rows at unit length; principal components of each, turned onto the first" if len(laid) > 1 else text


def _by_count(chosen: Sequence[Chosen]) -> bool:
    """Return whether colors tell frequencies: where words were not all asked for."""
    return not any(one.asked.any() for one in chosen)


def _points(ax: Any, one: Chosen, places: Floats, theme: Theme, by_count: bool) -> Any:
    """Draw the points and return what a legend of colors needs."""
    from matplotlib.colors import LogNorm

    size = 16 if len(places) <= 500 else 7 if len(places) <= 5000 else 2.5
    x, y = places[:, 0], places[:, 1]
    raster = len(places) > 4000  # a file of a hundred thousand circles is no use to anybody
    if by_count:
        counts = np.maximum(one.counts, 1)
        norm = LogNorm(counts.min(), max(counts.max(), counts.min() + 1))
        order = np.argsort(counts, kind="stable")  # the frequent ones on top
        return ax.scatter(x[order], y[order], s=size, c=counts[order], cmap=scale(theme), norm=norm, linewidths=0,
                          rasterized=raster)  # fmt: skip
    colors = np.where(one.asked, theme.lines[0], theme.muted)
    filled = np.where(one.rows >= 0, colors, theme.paper)
    ax.scatter(x, y, s=np.where(one.asked, 22, 12), c=filled, edgecolors=colors, linewidths=0.9, rasterized=raster)
    return None


def _plain(ax: Any, text: str, title: str) -> None:
    """Take away the numbers, which mean nothing on a map, and keep one scale both ways."""
    ax.grid(False)
    ax.set_aspect("equal", adjustable="datalim")
    ax.tick_params(length=0, labelbottom=False, labelleft=False)
    for spine in ax.spines.values():
        spine.set_visible(True)
    ax.margins(0.07)
    if title:
        ax.set_title(title)


def _legend(made: Any, points: Any, axes: list[Any], theme: Theme) -> None:
    """Draw the colors of frequencies beside the map."""
    bar = made.colorbar(points, ax=axes, shrink=0.42, aspect=22, pad=0.012, anchor=(0.0, 1.0))
    bar.outline.set_visible(False)
    bar.ax.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    bar.ax.tick_params(length=0, which="both")
    bar.ax.grid(False)
    bar.ax.set_title("count", fontsize=8.5, color=theme.muted, loc="left")


def _labels(ax: Any, one: Chosen, places: Floats, theme: Theme, most: int | None, around: bool) -> int:
    """Write the words beside their points where there is room, and return how many have none."""
    styles = [
        {"fontsize": 10 if asked else 8.5, "color": theme.ink if asked or not one.asked.any() else theme.muted,
         "fontweight": "bold" if asked and not one.asked.all() else "normal",
         "fontstyle": "italic" if row < 0 else "normal"}
        for asked, row in zip(one.asked.tolist(), one.rows.tolist(), strict=True)
    ]  # fmt: skip
    needed = one.asked | (around and len(one.words) <= _NEEDED)
    return write_labels(ax, [shown(word) for word in one.words], places, styles, needed.tolist(), theme, most)


def write_labels(
    ax: Any, words: Sequence[str], places: Floats, styles: Sequence[dict[str, Any]], must: Sequence[bool], theme: Theme,
    most: int | None = None, avoid: Floats | None = None,
) -> int:  # fmt: skip
    """Write words beside their points so that none covers another; return how many have no room.

    ``must`` words come first and may stand apart, with a line to their point. ``avoid`` (n, 2) are places of the data
    that labels should leave free.
    """
    made = ax.figure
    renderer, pixels = made.canvas.get_renderer(), made.dpi / 72
    order = sorted(range(len(words)), key=lambda i: not must[i])
    texts = [ax.text(0, 0, words[i], va="baseline", ha="left", transform=None, **styles[i]) for i in order]
    measured = [
        [
            renderer.get_text_width_height_descent(text, each.get_fontproperties(), False)
            for text in (each.get_text(), "lp")
        ]
        for each in texts
    ]
    # all labels of a size are as high as one with ascenders and descenders, so that lines of text look even
    sizes = [(word[0], max(word[1], line[1])) for word, line in measured]
    deep = [max(word[2], line[2]) for word, line in measured]
    at = ax.transData.transform(places[order])
    box = ax.get_window_extent(renderer)
    bounds = (box.x0 + 2, box.y0 + 2, box.x1 - 2, box.y1 - 2)
    free = ax.transData.transform(avoid).tolist() if avoid is not None else []
    spots = place([tuple(p) for p in at.tolist()], sizes, [must[i] for i in order], bounds, 2.6 * pixels, most,
                  1.6 * pixels, free)  # fmt: skip
    lost = 0
    for text, spot, (width, height), low, point in zip(texts, spots, sizes, deep, at, strict=True):
        if spot is None:
            text.remove()
            lost += 1
            continue
        corner = ax.transAxes.inverted().transform((spot.x, spot.y + low))
        text.set_transform(ax.transAxes)
        text.set_position(corner)
        if spot.leader:
            near = np.clip(point, (spot.x, spot.y), (spot.x + width, spot.y + height))
            ends = ax.transAxes.inverted().transform(np.stack([point, near]))
            ax.plot(ends[:, 0], ends[:, 1], transform=ax.transAxes, color=theme.muted, linewidth=0.6, zorder=1,
                    scalex=False, scaley=False)  # fmt: skip
    return lost


def analogy_picture(found: Sequence[Parallel], name: str, params: PlotParams) -> Picture:
    """Draw analogies as pairs of arrows, b to a and c to d, with the place of a - b + c."""
    theme = THEMES[params.theme]
    points = dict[str, Floats]()
    for one in found:
        points |= {word: point for word, point in zip((one.a, one.b, one.c, one.d), one.points, strict=False)}
    words, rows = list(points), np.stack(list(points.values()))
    plane = principal(rows)
    where = dict(zip(words, plane.place(rows), strict=True))
    with drawing(theme, params.form) as matplotlib:
        made = figure(matplotlib, params.width or 8.0, params.height or 6.6)
        ax = made.subplots()
        heading(made, params.title if params.title is not None else f"Analogies in {shown(name)}", theme)
        below(made, f"rows at unit length; principal components 1 and 2 of these words{_share(plane)}; "
              "\u00d7 is the sum, dotted to the nearest word", theme)  # fmt: skip
        lines = []
        for i, one in enumerate(found):
            color = theme.lines[i % len(theme.lines)]
            goal = plane.place(one.points[4:])[0]
            for start, end in ((where[one.b], where[one.a]), (where[one.c], where[one.d])):
                _arrow(ax, start, end, color)
                lines.append(np.linspace(start, end, 24)[2:])
            lines += [np.linspace(where[one.c], goal, 16)[1:], np.linspace(goal, where[one.d], 8)[:-1]]
            ax.plot(*np.stack([where[one.c], goal]).T, color=color, linewidth=0.8, linestyle=(0, (4, 3)), alpha=0.7)
            ax.plot(*np.stack([goal, where[one.d]]).T, color=color, linewidth=0.9, linestyle=":")
            ax.plot(*goal, marker="x", color=color, markersize=5, linestyle="none")
            label = f"{shown(one.a)} \u2212 {shown(one.b)} + {shown(one.c)} = {shown(one.d)}  {one.score:.3f}"
            ax.plot([], [], color=color, label=label)
        places = np.stack([where[word] for word in words])
        ax.scatter(places[:, 0], places[:, 1], s=20, c=theme.ink, zorder=3, linewidths=0)
        _plain(ax, "", "")
        ax.legend(loc="upper left", bbox_to_anchor=(0, -0.005), borderaxespad=0, ncols=1 if len(found) < 4 else 2)
        settle(made)
        styles = [{"fontsize": 10, "color": theme.ink} for _ in words]
        write_labels(ax, [shown(word) for word in words], places, styles, [True] * len(words), theme,
                     avoid=np.concatenate(lines))  # fmt: skip
        return Picture(saved(made, params.form), params.form)


def _arrow(ax: Any, start: Floats, end: Floats, color: str) -> None:
    """Draw an arrow between two points, short of both."""
    look = {"arrowstyle": "-|>,head_length=0.45,head_width=0.22", "color": color, "linewidth": 1.7,
            "shrinkA": 4, "shrinkB": 4, "mutation_scale": 13}  # fmt: skip
    ax.annotate("", xy=tuple(end), xytext=tuple(start), arrowprops=look, zorder=2)
