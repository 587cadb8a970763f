"""Questions about the generated corpus, made from the facts: analogies and graded word pairs.

What is asked follows from the facts and from word counts alone, by one rule that was fixed before anything was trained:
a word of a question occurs often enough, the two words of a pair differ, and each stands in one row of its column only
(many countries have the euro; such rows are left out). Nothing is left out for being hard.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Protocol

import facts

OFTEN = 20
"""A word of a question or of a pair occurs at least this often in the corpus."""

PER_SECTION = 45
"""Questions of a section at most, drawn from all pairs of pairs."""

PER_GRADE = 16
"""Word pairs of a grade."""

SECTIONS = [
    ("family", facts.ROLES, "m", "f"),
    ("capital-country", facts.COUNTRIES, "city", "land"),
    ("country-nationality", facts.COUNTRIES, "land", "adj"),
    ("country-currency", facts.COUNTRIES, "land", "coin"),
    ("country-language", facts.COUNTRIES, "land", "lang"),
    ("animal-young", facts.ANIMALS, "a", "young"),
    ("animal-home", facts.ANIMALS, "a", "home"),
    ("profession-place", facts.TRADES, "p", "place"),
    ("profession-tool", facts.TRADES, "p", "tool"),
    ("comparative", facts.ADJECTIVES, "q", "er"),
    ("superlative", facts.ADJECTIVES, "q", "est"),
    ("plural-animals", facts.ANIMALS, "a", "as"),
    ("plural-things", facts.THINGS, "o", "os"),
    ("past-tense", facts.VERBS, "v", "past"),
    ("present-participle", facts.VERBS, "v", "ing"),
    ("third-person", facts.VERBS, "v", "s"),
]

KINDS = [
    (facts.ROLES, ("m", "f")),
    (facts.THINGS, ("o", "os")),
    (facts.COUNTRIES, ("land", "city", "adj", "coin")),
    (facts.ANIMALS, ("a", "young", "home")),
    (facts.TRADES, ("p", "place", "tool")),
]
"""Tables and columns of the graded pairs. In the first two a row is one thing in two forms."""

ALIKE = {"m", "f", "land", "city", "adj", "coin", "a", "young", "p"}
"""Columns whose words are of a kind: two cities are alike, two tools not much."""

GRADES = {"forms": 9, "kind": 7, "row": 6, "table": 3, "none": 0}
"""Score of a pair: two forms of one thing; two of a kind (two capitals); what belongs together (a country and its
capital); the same subject, no more (a country and another one's coin); nothing in common."""

WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")


class Chance(Protocol):
    """The part of make_corpus.Chance that is needed here."""

    def shuffled(self, items: list) -> list:
        """Return the items in random order."""


def word_counts(text: str) -> Counter[str]:
    """Return how often each word occurs, in lower case."""
    return Counter(WORD.findall(text.lower()))


def pairs(rows: list[facts.Row], left: str, right: str, counts: Counter[str]) -> list[tuple[str, str]]:
    """Return the pairs of two columns that may be asked: frequent, different, each word in one row only."""
    found = [(str(row[left]).lower(), str(row[right]).lower()) for row in rows]
    firsts, seconds = Counter(a for a, _ in found), Counter(b for _, b in found)
    if right == "lang":  # a language called like its people would ask country-nationality again
        seconds.update(str(row["adj"]).lower() for row in rows)
    often = [(a, b) for a, b in found if min(counts[a], counts[b]) >= OFTEN]
    return [(a, b) for a, b in often if a != b and firsts[a] == 1 and seconds[b] == 1]


def analogies(counts: Counter[str], chance: Chance) -> str:
    """Return the question file (word2vec's format, lower case): up to PER_SECTION questions of each section."""
    out = []
    for name, rows, left, right in SECTIONS:
        known = pairs(rows, left, right, counts)
        asked = chance.shuffled([(*p, *q) for p in known for q in known if p != q])[:PER_SECTION]
        out.append(f": {name}\n" + "".join(" ".join(q) + "\n" for q in sorted(asked)))
    return "".join(out)


def grade(one: tuple[int, int, str], two: tuple[int, int, str]) -> str:
    """Return how two words (table, row, column) are related: a key of GRADES."""
    if one[0] != two[0]:
        return "none"
    if one[1] == two[1]:
        return "forms" if one[0] < 2 else "row"
    return "kind" if one[2] == two[2] and one[2] in ALIKE else "table"


def similarity(counts: Counter[str], chance: Chance) -> str:
    """Return graded pairs, ``word<TAB>word<TAB>score``: PER_GRADE of each grade, by the facts alone."""
    words: dict[str, tuple[int, int, str]] = {}
    seen: Counter[str] = Counter()
    for table, (rows, columns) in enumerate(KINDS):
        for i, row in enumerate(rows):
            for column in columns:
                word = str(row[column]).lower()
                seen[word] += 1
                words[word] = (table, i, column)
    clear = [w for w in words if seen[w] == 1 and counts[w] >= OFTEN]
    order = chance.shuffled([(a, b) for i, a in enumerate(clear) for b in clear[i + 1 :]])
    out = []
    for name, score in GRADES.items():
        fit = [(a, b) for a, b in order if grade(words[a], words[b]) == name]
        out += [f"{a}\t{b}\t{score}\n" for a, b in sorted(fit[:PER_GRADE])]
    return "".join(out)
