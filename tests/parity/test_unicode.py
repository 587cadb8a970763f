"""Oracle: the regex package of the version that the table was made from, and Python's own older table."""

from __future__ import annotations

import importlib.metadata
import unicodedata

import numpy as np
import pytest

from embcli.text import unicode

EVERYTHING = "".join(map(chr, range(unicode.SIZE)))


def test_categories_are_those_of_regex() -> None:
    regex = pytest.importorskip("regex")
    if f"supports Unicode {unicode.version()}" not in str(importlib.metadata.metadata("regex").get_payload()):
        pytest.skip("another regex package, of another Unicode")
    assert len(unicode.names()) == 30
    for number, name in enumerate(unicode.names()):
        flags = np.zeros(unicode.SIZE, np.bool_)
        for match in regex.finditer(rf"\p{{{name}}}+", EVERYTHING):
            flags[match.start() : match.end()] = True
        assert ((unicode.categories() == number) == flags).all(), name
    found = [ord(c) for c in regex.findall(r"\p{White_Space}", EVERYTHING)]
    assert found == list(unicode.WHITE_SPACE)


def test_it_is_unicode_15_or_newer() -> None:
    assert int(unicode.version().split(".")[0]) >= 15
    kinds = [unicode.names()[i] for i in unicode.categories()[[0x1E4D0, 0x323AF, 0x1D2C0]]]
    assert kinds == ["Lo", "Lo", "No"], "characters that came with Unicode 15"


def test_what_python_knows_is_nearly_all_the_same() -> None:
    names = np.array(unicode.names())[unicode.categories()]
    known = [c for c in EVERYTHING if unicodedata.category(c) != "Cn"]
    changed = [c for c in known if names[ord(c)] != unicodedata.category(c)]
    assert len(known) > 280_000 and len(changed) < 50, [hex(ord(c)) for c in changed]


def test_among_and_white_space_are_masks() -> None:
    letters = unicode.among("L")
    assert letters[[ord("a"), ord("я"), ord("中"), ord("1"), 0x301]].tolist() == [True, True, True, False, False]
    assert unicode.white_space().sum() == 25


@pytest.mark.parametrize(
    ("text", "low"),
    [("ABC", "abc"), ("ΟΔΟΣ", "οδος"), ("ΟΔΟΣ ΑΣ", "οδος ας"), ("İI", "i̇i"), ("ẞ", "ß"), ("ǅ", "ǆ"), ("Ɤ𐵐", "ɤ𐵰")],
)
def test_lower(text: str, low: str) -> None:
    assert unicode.lower(text) == low


def test_lower_is_pythons_on_all_it_knows() -> None:
    known = "\n".join(c for c in EVERYTHING if unicodedata.category(c) not in ("Cn", "Cs"))
    both = zip(unicode.lower(known).split("\n"), known.lower().split("\n"), strict=True)
    assert all(unicodedata.category(b) == "Lu" for a, b in both if a != b), "only capitals that this Python keeps"
