"""Decimal numbers, one at a time and exactly: for the few that the kernel of decimals hands back."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from embcli.formats.vector_shape import NOT_FINITE, NUMBER


def nearest(text: bytes) -> np.float32 | None:
    """Return the float32 nearest to a decimal number, ties to the even one; None if it is none. Exact, and slow."""
    if NOT_FINITE.fullmatch(text):
        return np.float32(float(text))
    if not NUMBER.fullmatch(text):
        return None
    wide = float(text)
    with np.errstate(over="ignore"):
        guess = np.float32(wide)
        near = [guess, np.nextafter(guess, np.float32(-np.inf)), np.nextafter(guess, np.float32(np.inf))]
    if not 1e-46 < abs(wide) < 3.5e38 or len(text) > 4000:  # nothing but zero or infinity is near
        return guess
    exact = Fraction(text.decode())
    best: np.float32 = min(near, key=lambda x: (abs(_exactly(x) - exact), int(x.view(np.uint32)) & 1))
    return best


def _exactly(x: np.float32) -> Fraction:
    """Return the value of a float32; infinity stands where the number after the largest one would."""
    return Fraction(float(x)) if np.isfinite(x) else Fraction(int(np.sign(x)) << 128)
