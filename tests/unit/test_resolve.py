"""Oracle: which row a query names, said by hand."""

from __future__ import annotations

from embcli.artifacts.schema import Words
from embcli.query.resolve import resolve

WORDS = Words.of([" king", "ing", "queen", " queen", "low</w>"])


def test_a_word_is_looked_up_as_the_token_that_begins_it() -> None:
    """Of byte-pair tokens: with a space before it, else with the mark of a word's end, else as it stands."""
    asked = ["king", "queen", "low", "ing", "xyz", "king - queen", "##queen", " queen"]
    found = {r.query: r for r in resolve(WORDS, asked, False, True)}
    assert found["king"].rows == (0,) and found["king"].notes == (
        "'king' was looked up as ' king': the token at the beginning of a word",
    )
    assert found["queen"].rows == (3,) and "##queen is the one inside words" in found["queen"].notes[0]
    assert found["##queen"].rows == (2,) and found[" queen"].rows == (3,) and found[" queen"].notes == ()
    assert found["low"].rows == (4,) and found["ing"].rows == (1,)
    assert found["xyz"].rows == (-1,) and found["xyz"].unknown[0].word == "xyz"
    assert found["king - queen"].rows == (0, 3)


def test_words_are_looked_up_as_they_stand() -> None:
    """The sibling: a vocabulary of words has no such tokens; lower case is another matter."""
    assert resolve(WORDS, ["king"], False)[0].rows == (-1,)
    assert resolve(WORDS, ["QUEEN"], True)[0].rows == (2,)
    assert resolve(WORDS, ["QUEEN"], False, True)[0].rows == (-1,)
