"""Weights as PNG pictures, one pixel a number, without any imaging library: for pages and SVG that load nothing.

One color whose opacity is the weight, so that a picture suits a light and a dark page.
"""

from __future__ import annotations

import base64
import struct
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: the color of a weight of 1
COLOR = (37, 99, 235)
_MARK = b"\x89PNG\r\n\x1a\n"


def opacities(weights: NDArray[Any]) -> NDArray[np.uint8]:
    """Return 255 sqrt(w) for weights in 0 ... 1: small weights are told apart better than by w, none is lost."""
    return np.asarray(np.rint(255 * np.sqrt(np.clip(weights, 0, 1))), np.uint8)


def png(weights: NDArray[Any]) -> bytes:
    """Return the bytes of a PNG, (height, width) pixels, whose opacity at (i, j) is that of weight (i, j)."""
    pixels = opacities(weights)
    height, width = pixels.shape
    lines = np.zeros((height, width + 1), np.uint8)  # each line begins with its filter: none
    lines[:, 1:] = pixels
    parts = [
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)),
        (b"PLTE", bytes(COLOR) * 256),
        (b"tRNS", bytes(range(256))),
        (b"IDAT", zlib.compress(lines.tobytes(), 6)),
        (b"IEND", b""),
    ]
    return _MARK + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data)) for name, data in parts
    )


def data_uri(weights: NDArray[Any]) -> str:
    """Return a picture of weights as a data URI; one empty pixel where there are none."""
    if not weights.size:
        weights = np.zeros((1, 1))
    return "data:image/png;base64," + base64.b64encode(png(weights)).decode("ascii")
