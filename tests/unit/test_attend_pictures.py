"""Oracle: the PNG specification, read by hand, for pictures of weights; sizes of pages with many tokens (A06)."""

from __future__ import annotations

import base64
import re
import struct
import zlib
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from embcli.artifacts.schema import Context, Words
from embcli.report import heads_png as pixel_heads
from embcli.report.heads_html import heads_html
from embcli.report.heads_svg import heads_svg
from embcli.report.png import data_uri, opacities, png
from embcli.spec import PlotParams


def chunks(data: bytes) -> dict[bytes, bytes]:
    """Return the chunks of a PNG by name, their checksums checked."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    found, at = {}, 8
    while at < len(data):
        (size,) = struct.unpack(">I", data[at : at + 4])
        name, body = data[at + 4 : at + 8], data[at + 8 : at + 8 + size]
        assert struct.unpack(">I", data[at + 8 + size : at + 12 + size])[0] == zlib.crc32(name + body)
        found[name] = body
        at += 12 + size
    return found


def pixels(data: bytes) -> np.ndarray:
    """Return the opacities of a picture, (height, width)."""
    parts = chunks(data)
    width, height, depth, kind = struct.unpack(">IIBB", parts[b"IHDR"][:10])
    assert (depth, kind) == (8, 3) and parts[b"tRNS"] == bytes(range(256))
    lines = np.frombuffer(zlib.decompress(parts[b"IDAT"]), np.uint8).reshape(height, width + 1)
    assert (lines[:, 0] == 0).all()
    return lines[:, 1:]


def context(T: int, layers: int = 2, heads: int = 2) -> tuple[Context, list[str]]:
    A = np.tril(np.random.default_rng(0).random((layers, heads, T, T)))
    A /= np.maximum(A.sum(-1, keepdims=True), 1e-9)
    made = Context(
        ids=np.zeros(T, np.int64), text_offsets=np.array([0, T]), words=Words.of(f"w@1:{t + 1}" for t in range(T)),
        rows=np.zeros((T, 4), np.float32), states=np.zeros((T, 4), np.float32), weights=A.astype(np.float32),
    )  # fmt: skip
    return made, [f"w{t}" for t in range(T)]


@pytest.mark.parametrize("shape", [(1, 1), (3, 5), (64, 64)])
def test_a_picture_holds_the_roots_of_the_weights(shape: tuple[int, int]) -> None:
    A = np.random.default_rng(1).random(shape)
    found = pixels(png(A))
    assert (found == opacities(A)).all()
    np.testing.assert_allclose((found / 255.0) ** 2, A, atol=0.004)
    assert opacities(np.array([0.0, 1.0, 1e-4])).tolist() == [0, 255, 3]


def test_no_tokens_and_one() -> None:
    assert pixels(base64.b64decode(data_uri(np.zeros((0, 0))).partition(",")[2])).tolist() == [[0]]
    for T in (0, 1):
        made, labels = context(T)
        assert "</html>" in "".join(heads_html(made, labels)) and "</svg>" in "".join(heads_svg(made, labels))


def test_512_tokens_and_36_heads_stay_small() -> None:
    made, labels = context(512, 6, 6)
    page, picture = "".join(heads_html(made, labels)), "".join(heads_svg(made, labels))
    for text in (page, picture):
        sources = re.findall(r'"(data:image/png;base64,[^"]+)"', text)
        assert len(sources) == 36 and len(text) < 12_000_000  # uniform noise: as large as it gets
        first = pixels(base64.b64decode(sources[0].partition(",")[2]))
        assert first.shape == (512, 512) and (first == opacities(np.asarray(made.weights[0, 0]))).all()
    assert page.count("<span>") == 512 and picture.count("<text") < 50  # labels only where they can be read


@pytest.mark.parametrize("T", [1, 2, 6, 41])
def test_names_of_panels_neither_meet_nor_leave_the_picture(T: int, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    boxes, edge = names_of_panels(T, monkeypatch)
    assert len(boxes) == 24 and not cut_or_met(boxes, edge)
    if T < 6:
        monkeypatch.setattr(pixel_heads, "_BOLD", 0.03)
        assert cut_or_met(*names_of_panels(T, monkeypatch))


def names_of_panels(T: int, monkeypatch: pytest.MonkeyPatch) -> tuple[list[tuple[float, float, float]], float]:
    """Return bottom, left and right of the names of the panels of a picture, in rows, and its right edge."""
    kept: list[Any] = []
    monkeypatch.setattr(pixel_heads, "saved", lambda made, form: bytes(kept.append(made) or 0))
    made, labels = context(T, layers=2, heads=12)
    pixel_heads.heads_png(made, labels, PlotParams(out="x.png"), "Weights")
    (figure,) = kept
    boxes = sorted(
        (text.get_window_extent().y0, text.get_window_extent().x0, text.get_window_extent().x1)
        for text in figure.axes[0].texts
        if text.get_text().startswith("layer")
    )
    return boxes, figure.bbox.x1


def cut_or_met(boxes: list[tuple[float, float, float]], edge: float) -> bool:
    """Return whether a name leaves the picture or comes close to the next one of its row."""
    met = any(low == again and left < right + 5 for (low, _, right), (again, left, _) in pairwise(boxes))
    return met or max(right for _, _, right in boxes) >= edge


@pytest.mark.parametrize("T", [1, 2, 6, 41])
def test_names_of_panels_in_an_svg_have_room(T: int) -> None:
    made, labels = context(T, layers=2, heads=12)
    svg = "".join(heads_svg(made, labels))
    assert ("text 1, 1 token<" if T == 1 else f"text 1, {T} tokens<") in svg
    across = [float(x) for x in re.findall(r"translate\(([\d.]+) [\d.]+\)\"><text class=\"head\"", svg)][:12]
    assert min(np.diff(across)) > 6.7 * len("layer 2, head 12")  # a letter of 11 px is 6.6 wide
    width = float(re.findall(r'width="(\d+)"', svg)[0])
    assert across[-1] + 6.7 * len("layer 2, head 12") < width
