"""Oracle: exact fractions, NumPy's shortest float32, and the bits of what was written."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from embcli.formats.decimal import nearest
from embcli.formats.vector_lines import compiled, plain
from embcli.kernels import decimals as k


def written(rows: np.ndarray) -> list[list[str]]:
    out = np.empty(len(rows) * (17 * rows.shape[1] + 2), np.uint8)
    words, offsets = np.full(len(rows), ord("w"), np.uint8), np.arange(len(rows) + 1)
    n = k.write_rows(words, offsets, 0, rows, k.POWERS, 32, False, out)
    return [line.split(" ")[1:] for line in out[:n].tobytes().decode().splitlines()]


def read(fields: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """Return the values of numbers and which of them were handed back."""
    text = np.frombuffer(("w " + " ".join(fields)).encode(), np.uint8)
    out, stops, odd = (
        np.zeros((1, len(fields)), np.float32),
        np.zeros(1, np.int64),
        np.zeros((len(fields), 4), np.int64),
    )
    line, n = k.read_rows(text, np.zeros(1, np.int64), np.array([len(text)]), 0, k.POWERS, False, out, stops, odd)
    assert line == 1
    back = np.zeros(len(fields), np.bool_)
    back[odd[:n, 1]] = True
    return out[0], back


BITS = np.random.default_rng(5).integers(0, 2**32, 4000, np.uint32).view(np.float32)
EDGES = [
    0.0,
    -0.0,
    3.4028235e38,
    1.1754944e-38,
    1e-45,
    16777216,
    0.1,
    1e12,
    1e13,
    9.999999e-5,
    123456.7,
    2.0**-100,
    7e-10,
]
SOME = np.concatenate([BITS[np.isfinite(BITS)], np.array(EDGES, np.float32)])


def test_what_is_written_is_read_back_bit_for_bit_and_is_short() -> None:
    (fields,) = written(SOME[None])
    assert max(map(len, fields)) <= 16
    found, back = read(fields)
    exact = np.array([nearest(f.encode()) if b else x for f, x, b in zip(fields, found, back, strict=True)], np.float32)
    assert exact.tobytes() == SOME.tobytes() and back.mean() < 0.05
    digits = [sum(c.isdigit() for c in f.split("e")[0].replace(".", "").lstrip("0")) for f in fields]
    assert (
        np.mean([n > len(str(x).split("e")[0].replace(".", "").strip("-0")) for n, x in zip(digits, SOME, strict=True)])
        < 0.2
    )


@given(
    st.decimals(allow_nan=False, allow_infinity=False, places=12) | st.floats(-1e30, 1e30, allow_nan=False).map(repr)
)
def test_a_number_that_is_not_handed_back_is_the_nearest_float32(value: object) -> None:
    found, back = read([str(value)])
    near = nearest(str(value).encode())
    assert near is not None and (back[0] or found[0] == near)


def test_the_middle_between_two_numbers_is_handed_back_and_decided_exactly() -> None:
    """1 + 2^-24 is the middle between 1 and its next; a digit at the 40th place decides, and NumPy misses it."""
    middle = "1.000000059604644775390625"
    for text, due in ((middle, 1.0), (middle + "0" * 20 + "1", np.nextafter(np.float32(1), np.float32(2)))):
        assert read([text])[1][0] and nearest(text.encode()) == due
    assert np.float32(float(middle + "0" * 20 + "1")) == 1.0
    assert abs(Fraction(float(np.float32(0.1))) - Fraction("0.1")) < Fraction(1, 10**8)


@pytest.mark.parametrize("text", ["", "x", "1.2.3", "1e", "--1", "1_0", ".", "e5", "0x10"])
def test_no_number(text: str) -> None:
    assert nearest(text.encode()) is None and (not text or read([text])[1][0])


@pytest.mark.parametrize("text", ["+1.5", "-.5", "5.", "1E3", "1e+03", "00012", "1.00000000000000000000001"])
def test_spellings(text: str) -> None:
    found, back = read([text])
    assert not back[0] and found[0] == np.float32(float(text))


@settings(max_examples=60)
@given(
    st.lists(
        st.lists(
            st.sampled_from(
                ["1", "-0.5", "1e-45", "3.4028235e38", "1e39", "nan", "x", "1.000000059604644775390625", "."]
            )
            | st.floats(width=32, allow_nan=False, allow_infinity=False).map(repr)
            | st.decimals(allow_nan=False, allow_infinity=False, places=9).map(str),
            min_size=1,
            max_size=5,
        ),
        min_size=1,
        max_size=6,
    ),
    st.sampled_from([" ", "  ", "\t", " \r", "\x0b"]),
    st.booleans(),
)
def test_few_lines_are_parsed_plainly_to_the_same_bits(lines: list[list[str]], blank: str, bare: bool) -> None:
    """Up to the first bad line, which is the same one."""
    text = "\n".join(blank.join(line) + blank * (i % 2) for i, line in enumerate(lines)).encode()
    a, b = (parse(text, 1, 2, False, bare) for parse in (compiled, plain))
    assert a.bad == b.bad and a.odd == b.odd and a.numbers.tolist() == b.numbers.tolist()
    stop = len(a.starts) if a.bad is None else a.bad
    assert a.ends[:stop].tolist() == b.ends[:stop].tolist() and a.rows[:stop].tobytes() == b.rows[:stop].tobytes()
