"""Where labels stand in a picture so that none covers another. Boxes and numbers only; lengths in pixels, y upwards."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

#: directions in which a label may stand from its point, best first: right, left, above, below, corners
_BESIDE = ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1))
#: how far from its point a label may move, in heights of a line, if it must be shown
_RINGS = (1.6, 2.6, 3.8, 5.2, 7.0, 9.5, 13.0, 18.0)
_AROUND = 20
_CELL = 48

Box = tuple[float, float, float, float]


@dataclass(frozen=True)
class Placed:
    """The lower left corner of a label, and whether a line has to lead to its point."""

    x: float
    y: float
    leader: bool


def place(
    points: Sequence[tuple[float, float]],
    sizes: Sequence[tuple[float, float]],
    must: Sequence[bool],
    bounds: Box,
    dot: float,
    most: int | None = None,
    margin: float = 1.5,
    free: Sequence[tuple[float, float]] = (),
) -> list[Placed | None]:
    """Return a place for each label, or None for one that is left out.

    Labels are placed in their order, each where it covers the fewest points among the places that cover no label and
    stay inside the bounds: beside its point, or, if it must be shown, farther away.

    Parameters
    ----------
    points : where the points are.
    sizes : width and height of each label.
    must : whether a label may move away from its point rather than be left out.
    bounds : left, bottom, right, top of the picture.
    dot : radius of a point.
    most : how many labels may be placed at most; None is as many as have room.
    margin : room kept free around each label.
    free : further points that labels should not cover.
    """
    taken, dots = Grid(), Grid()
    for x, y in points:
        dots.add((x - dot, y - dot, x + dot, y + dot))
    for x, y in free:
        dots.add((x - 1, y - 1, x + 1, y + 1))
    placed: list[Placed | None] = []
    done = 0
    for (x, y), (width, height), needed in zip(points, sizes, must, strict=True):
        best, cost = None, math.inf
        if most is None or done < most:
            for left, bottom, leader, price in _candidates(x, y, width, height, dot + margin, needed):
                if price >= cost:
                    continue
                box = (left - margin, bottom - margin / 2, left + width + margin, bottom + height + margin / 2)
                if not _inside(box, bounds) or taken.count(box):
                    continue
                line = list(_line(x, y, box)) if leader else []
                price += 3 * sum(taken.count(spot) > 0 for spot in line)
                price += sum(dots.count(spot) > 0 for spot in line[2:])  # the first ones lie on the point itself
                price += 1.6 * dots.count((left, bottom, left + width, bottom + height))
                if price < cost:
                    best, cost = (Placed(left, bottom, leader), box, line), price
                if cost < 0.05:
                    break
        if best is None:
            placed.append(None)
            continue
        taken.add(best[1])
        for spot in best[2]:
            dots.add(spot)
        placed.append(best[0])
        done += 1
    return placed


def _candidates(
    x: float, y: float, width: float, height: float, gap: float, needed: bool
) -> Iterator[tuple[float, float, bool, float]]:
    """Yield lower left corners, whether they need a leader, and what they cost, near ones first."""
    for i, (right, up) in enumerate(_BESIDE):
        slant = 0.75 if right and up else 1.0
        left = x + right * gap * slant - width * (1 - right) / 2
        low = y + up * gap * slant - height * (1 - up) / 2
        yield left, low, False, 0.01 * i
    for ring in _RINGS if needed else ():
        for i in range(_AROUND):
            angle = 2 * math.pi * i / _AROUND
            across, along = math.cos(angle), math.sin(angle)
            far = gap + ring * height
            left = x + across * far - width * (1 - across) / 2
            low = y + along * far - height * (1 - along) / 2
            yield left, low, True, ring


def _line(x: float, y: float, box: Box) -> Iterator[Box]:
    """Yield small boxes along the line from a point to the nearest place of a box, its ends left out."""
    left, low = min(max(x, box[0]), box[2]), min(max(y, box[1]), box[3])
    steps = int(math.hypot(left - x, low - y) / 4)
    for i in range(1, steps):
        across, along = x + (left - x) * i / steps, y + (low - y) * i / steps
        yield across - 1, along - 1, across + 1, along + 1


def _inside(box: Box, bounds: Box) -> bool:
    return box[0] >= bounds[0] and box[1] >= bounds[1] and box[2] <= bounds[2] and box[3] <= bounds[3]


class Grid:
    """Boxes that can be asked which of them a box meets, by cells of a grid."""

    def __init__(self) -> None:
        self._cells: dict[tuple[int, int], list[Box]] = {}

    def add(self, box: Box) -> None:
        """Put a box in."""
        for cell in _cells(box):
            self._cells.setdefault(cell, []).append(box)

    def count(self, box: Box) -> int:
        """Return how many boxes share some area with this one."""
        met = {other for cell in _cells(box) for other in self._cells.get(cell, ()) if overlap(box, other)}
        return len(met)


def _cells(box: Box) -> Iterator[tuple[int, int]]:
    for i in range(math.floor(box[0] / _CELL), math.floor(box[2] / _CELL) + 1):
        for j in range(math.floor(box[1] / _CELL), math.floor(box[3] / _CELL) + 1):
            yield i, j


def overlap(a: Box, b: Box) -> bool:
    """Return whether two boxes share some area."""
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
