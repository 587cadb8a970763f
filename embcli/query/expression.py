"""What a query means: a word, a sum and difference of words, or an analogy. Strings only, no vectors.

The same text may mean different things to different vocabularies, since an exact word wins: "rock - paper" is one word
where a phrase of that name exists, and an expression elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

#: an operator stands between blanks; the minus may be the sign of typography, as in pasted text
_OPERATOR = re.compile(r"\s+([+\-−])\s+")
_LEADING = re.compile(r"([+\-−])\s+")
#: a : b :: c : d with a question mark at one place; which terms give it, first the two that are added
_ANALOGY = {3: (1, 2, 0), 1: (0, 3, 2), 2: (3, 0, 1), 0: (2, 1, 3)}


@dataclass(frozen=True)
class Term:
    """One word of an expression and its sign, +1 or -1."""

    sign: int
    word: str


def parse(query: str, known: Callable[[str], bool]) -> tuple[Term, ...]:
    """Return the terms of a query.

    - A word that ``known`` accepts is itself, whatever characters it holds.
    - ``man : king :: woman : ?`` is ``king - man + woman``; the question mark may stand at any of the four places, and
      ": ?" may be left out at the end.
    - ``+`` and ``-`` between blanks join terms; one may stand before the first term.
    - Anything else is one word, known or not.

    Examples
    --------
    >>> [(t.sign, t.word) for t in parse("king - man + woman", lambda word: False)]
    [(1, 'king'), (-1, 'man'), (1, 'woman')]
    """
    text = query.strip()
    for whole in (query, text):
        if known(whole):
            return (Term(1, whole),)
    return _analogy(text) or _sum(text) or (Term(1, text),)


def _analogy(text: str) -> tuple[Term, ...]:
    """Return the terms of a : b :: c : ?, or nothing if the text is no analogy."""
    halves = re.split(r"\s+::\s+", text)
    if len(halves) != 2:
        return ()
    slots = [slot for half in halves for slot in re.split(r"\s+:\s+", half)]
    if len(slots) == 3:
        slots.append("?")
    if len(slots) != 4 or slots.count("?") != 1 or not all(slots):
        return ()
    plus, other, minus = _ANALOGY[slots.index("?")]
    return (Term(1, slots[plus]), Term(-1, slots[minus]), Term(1, slots[other]))


def _sum(text: str) -> tuple[Term, ...]:
    """Return the terms of a sum, or nothing if the text has no operator."""
    sign, lead = "+", _LEADING.match(text)
    if lead:
        sign, text = lead[1], text[lead.end() :]
    parts = _OPERATOR.split(text)
    if (len(parts) == 1 and not lead) or not all(parts):
        return ()
    signs = [sign, *parts[1::2]]
    return tuple(Term(1 if s == "+" else -1, word) for s, word in zip(signs, parts[::2], strict=True))


def spell(terms: tuple[Term, ...]) -> str:
    """Return the terms as an expression: the inverse of parse, up to spacing.

    Examples
    --------
    >>> spell((Term(1, "king"), Term(-1, "man"), Term(1, "woman")))
    'king - man + woman'
    """
    text = " ".join(("+ " if t.sign > 0 else "- ") + t.word for t in terms)
    return text.removeprefix("+ ")
