"""From queries to rows of one vocabulary: which words they name, and which words are unknown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from embcli.artifacts.schema import Artifact, Words
from embcli.query.expression import Term, parse, spell
from embcli.query.lookup import find, suggest

#: suggestions are looked for as many unknown words; a list of queries in another language would take minutes
_SUGGESTED = 20
#: makes a row of its own for a word that is in no vocabulary: the row and how it was made, or -1 and why it was not
Compose = Callable[[str], tuple[int, str]]
#: suggestions for one word
_NEAR = 3


@dataclass(frozen=True)
class Unknown:
    """A word that the vocabulary lacks, words that may have been meant, the likeliest first, and why none was composed.

    ``why`` is empty where words have no n-grams to compose them of.
    """

    word: str
    suggestions: tuple[str, ...]
    why: str = ""


@dataclass(frozen=True)
class Resolved:
    """A query as one vocabulary understands it.

    ``terms`` hold words of the vocabulary where they are known, ``rows`` the row of each, -1 where it is not.
    """

    query: str
    terms: tuple[Term, ...]
    rows: tuple[int, ...]
    unknown: tuple[Unknown, ...]
    notes: tuple[str, ...]

    @property
    def label(self) -> str:
        """The query as an expression, in words of the vocabulary."""
        return spell(self.terms) if self.terms else self.query


def lowered(artifact: Artifact) -> bool:
    """Return whether the text that the artifact was made from was folded to lower case."""
    return bool((artifact.text or artifact.meta.get("text") or {}).get("lower", False))


def in_pieces(artifact: Artifact) -> bool:
    """Return whether the words are tokens of a byte-pair encoding."""
    return bool((artifact.text or artifact.meta.get("text") or {}).get("unit") == "bpe")


def resolve(
    words: Words,
    queries: Sequence[str],
    lower: bool,
    pieces: bool = False,
    also: Words | None = None,
    compose: Compose | None = None,
) -> list[Resolved]:
    """Return each query with its words looked up.

    A word is looked up as it is written; where it is unknown, its lower case is taken instead, if ``lower`` says that
    the text was lower-cased. If ``pieces`` says that the words are tokens of a byte-pair encoding, a word first means
    the token with a space before it, or with the mark of a word's end; ##word is the token inside words. A note says
    what was taken if it is not what was written. What is not in ``words`` is looked for in ``also``, whose rows stand
    behind those of ``words``; what is in neither is made by ``compose``, if it can.
    """
    asked = {query for q in queries for query in (q, q.strip(), *_words(q))}
    asked |= {form for word in asked for form, _ in _forms(word, lower, pieces)}
    rows = find(words, asked)
    if also is not None:
        rows = {word: len(words) + row for word, row in find(also, asked - rows.keys()).items()} | rows
    hinted: dict[str, Unknown] = {}

    def unknown(word: str, why: str) -> Unknown:
        if word not in hinted:
            near = suggest(words, word) if len(hinted) < _SUGGESTED else []
            if also is not None and len(hinted) < _SUGGESTED:
                near += [other for other in suggest(also, word) if other not in near]
            hinted[word] = Unknown(word, tuple(near[:_NEAR]), why)
        return hinted[word]

    def missing(word: str) -> tuple[str, int, str] | Unknown:
        """Return the form of which a word is composed, its row and a note; or the unknown word."""
        form = word.lower() if lower else word
        row, note = compose(form) if compose else (-1, "")
        return (form, row, f"{word!r} is not in the vocabulary: {note}") if row >= 0 else unknown(word, note)

    return [_resolve(query, rows, lambda word: _forms(word, lower, pieces), missing) for query in queries]


def _forms(word: str, lower: bool, pieces: bool) -> list[tuple[str, str]]:
    """Return the forms in which a word may stand in the vocabulary, the best first, and why if it is another form."""
    exact, lowered = (word, ""), [(word.lower(), "the text was lower-cased")] * lower
    if not pieces or word.startswith(" "):
        return [exact, *lowered]
    if word.startswith("##"):
        return [(word[2:], "the token inside words"), exact]
    return [
        (f" {word}", "the token at the beginning of a word"),
        (f"{word}</w>", "the token that is a whole word"),
        exact,
        *lowered,
    ]


def _words(query: str) -> list[str]:
    """Return the words that a query would name if it were an expression."""
    return [term.word for term in parse(query, lambda word: False)]


def _resolve(
    query: str,
    rows: dict[str, int],
    forms: Callable[[str], list[tuple[str, str]]],
    missing: Callable[[str], tuple[str, int, str] | Unknown],
) -> Resolved:
    terms, found, unknown, notes = [], [], [], []
    for term in parse(query, rows.__contains__):
        form, why = next(((form, why) for form, why in forms(term.word) if form in rows), ("", ""))
        row = rows.get(form, -1) if form else -1
        if not form:
            made = missing(term.word)
            if isinstance(made, Unknown):
                unknown.append(made)
            else:
                form, row, note = made
                notes.append(note)
        elif why:
            inside = f"; ##{term.word} is the one inside words" if term.word in rows and form.startswith(" ") else ""
            notes.append(f"{term.word!r} was looked up as {form!r}: {why}{inside}")
        terms.append(Term(term.sign, form or term.word))
        found.append(row)
    return Resolved(query, tuple(terms), tuple(found), tuple(unknown), tuple(notes))
