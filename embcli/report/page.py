"""A map of words as one page for a browser: points, neighbors and the program inside, no network, no library.

The page's own text, style and program are the files in page_parts/. Needs no matplotlib.
"""

from __future__ import annotations

import base64
import html
import json
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embcli.artifacts.schema import Vectors, Words
from embcli.job import Job, counted
from embcli.query.graph import graph
from embcli.query.pictured import Chosen
from embcli.query.topk import Floats
from embcli.report.display import shown
from embcli.report.plots import Picture, laid_out
from embcli.spec import NeighborsParams, PlotParams

#: places are whole numbers from 0 to this
_SPAN = 65535
#: words of which t-SNE takes long enough to say so
_MANY = 5000


def map_page(chosen: Chosen, name: str, params: PlotParams, job: Job) -> Picture:
    """Return the page of some words, with the nearest neighbors of each among them.

    Neighbors are those of ``embcli neighbors`` over these words: exact, by cosine, more frequent words first in ties.
    """
    if params.tsne and len(chosen.words) > _MANY:
        job.note(f"t-SNE of {len(chosen.words):,} words takes minutes")
    places, how = laid_out(chosen, params)
    near, scores = _neighbors(chosen, params, job)
    n, total = len(chosen.words), chosen.total
    wide = n > _SPAN
    data = {
        "words": [shown(word) for word in chosen.words],
        "k": near.shape[1],
        "wide": wide,
        "places": _text(_whole(places)),
        "near": _text(near.astype("<i4") if wide else np.where(near < 0, _SPAN, near).astype("<u2")),
        "scores": _text(_digits(scores)),
        "counts": _text(np.minimum(chosen.counts, 2**32 - 1).astype("<u4")),
    }
    some = counted(n, chosen.noun.removesuffix("s"))
    title = params.title if params.title is not None else f"{some} of {shown(name)}"
    which = f"{n:,} of {total:,} {chosen.noun}" if n < total else f"all {some}"
    table = "" if params.table == "input" else f", table {params.table}"
    among = f"of these {chosen.noun}" if n < total else "exact"
    note = f"{which}{table}; rows at unit length; {how}; neighbors by cosine, {among}"
    return Picture(_filled(title, note, data, f"{n:,}", params).encode(), "html")


def _neighbors(chosen: Chosen, params: PlotParams, job: Job) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """Return the rows and cosines (n, k) of each word's nearest among the words, -1 where there are fewer."""
    n = len(chosen.words)
    table = Vectors(vectors=chosen.points, words=Words.of(chosen.words), unigram=chosen.counts)
    found = graph([table], NeighborsParams(top=min(params.top, max(n - 1, 1))), job)
    near = np.concatenate(list(found.neighbors.blocks))
    return near, found.scores


def _digits(scores: NDArray[np.float32]) -> NDArray[np.int16]:
    """Return cosines as the whole number that four decimals of them spell, rounded as ``neighbors`` prints them."""
    found, at = np.unique(scores, return_inverse=True)
    shown_as = [round(1e4 * round(round(value, 6), 4)) for value in found.tolist()]
    made: NDArray[np.int16] = np.array(shown_as, "<i2")[at.reshape(scores.shape)]
    return made


def _whole(places: Floats) -> NDArray[np.uint16]:
    """Return places (n, 2) as whole numbers, both ways on one scale."""
    low, high = places.min(0), places.max(0)
    size = float((high - low).max()) or 1.0
    moved = (places - (low + high) / 2) / size + 0.5
    made: NDArray[np.uint16] = np.round(np.clip(moved, 0, 1) * _SPAN).astype("<u2")
    return made


def _text(array: NDArray[Any]) -> str:
    return base64.b64encode(np.ascontiguousarray(array).tobytes()).decode("ascii")


def _filled(title: str, note: str, data: dict[str, Any], count: str, params: PlotParams) -> str:
    """Return the page with its parts filled in; nothing in a word can end the data or begin a tag."""
    parts = files("embcli.report") / "page_parts"
    text = (parts / "page.html").read_text(encoding="utf-8")
    inside = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    for sign in "<>&\u2028\u2029":
        inside = inside.replace(sign, f"\\u{ord(sign):04x}")
    filled = {
        "theme": f' data-theme="{params.theme}"' if "theme" in params.given else "",
        "title": html.escape(title), "count": count, "note": html.escape(note),
        "css": (parts / "page.css").read_text(encoding="utf-8"),
        "js": (parts / "page.js").read_text(encoding="utf-8"),
        "data": inside,
    }  # fmt: skip
    pieces = []
    for i, piece in enumerate(text.split("{")):
        name, closed, rest = piece.partition("}")
        pieces.append(piece if not i else filled[name] + rest if closed and name in filled else "{" + piece)
    return "".join(pieces)
