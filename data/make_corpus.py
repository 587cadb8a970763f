"""Write the generated corpus with its question and similarity files, or check that the committed ones are current.

    python data/make_corpus.py [--seed N] [--out FOLDER] [--check] [--stats]

Standard library only. The same seed gives the same bytes everywhere: chance is ``random.Random(seed).random()`` alone
(whose sequence Python guarantees), lists are walked in their written order, and no set or hash order is used.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
from bisect import bisect
from collections import Counter
from itertools import accumulate
from pathlib import Path
from typing import Any

import facts
import grammar
import questions

SIZE = 1_900_000
"""Stop after the article that reaches this many bytes."""

SENSES = ("bank", "mole", "tower")
"""Words whose senses senses.txt and senses.tsv are about."""

SENSE_ARTICLES, HELD_SENTENCES = 150, 20
"""Of each sense: paragraphs to learn from, and labelled sentences."""

CHOICE = re.compile(r"\[([^\[\]]*)\]")
SLOT = re.compile(r"\{(\w+)\}")
ARTICLE = re.compile(r"\b([Aa]) (?=[aeiouAEIOUÅÉÍÖ](?!uro|ne\b|nce\b|niversity|kr|ku)|hono|hones|hour|heir)")


class Chance:
    """Random choices made from ``random()`` alone, so that they do not depend on Python's version."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed).random
        self.decks: dict[int, list] = {}

    def below(self, n: int) -> int:
        """Return an integer in 0..n-1."""
        return int(self.random() * n)

    def pick(self, items: list, even: bool = True) -> Any:
        """Return one of the items, evenly or so that the first ones are commoner (weight 1/(rank + 3))."""
        if even:
            return items[self.below(len(items))]
        return self.weighted(items, [1 / (rank + 3) for rank in range(len(items))])

    def weighted(self, items: list, weights: list[float]) -> Any:
        """Return one of the items by weight."""
        sums = list(accumulate(weights))
        return items[min(bisect(sums, self.random() * sums[-1]), len(items) - 1)]

    def deal(self, rows: list[facts.Row]) -> facts.Row:
        """Return a row as from a pack of cards in which every third row is there twice."""
        deck = self.decks.setdefault(id(rows), [])
        if not deck:
            deck.extend(self.shuffled(rows + rows[::3]))
        return deck.pop()

    def shuffled(self, items: list) -> list:
        """Return the items in random order (Fisher and Yates)."""
        done = list(items)
        for i in range(len(done) - 1, 0, -1):
            j = self.below(i + 1)
            done[i], done[j] = done[j], done[i]
        return done


class Scene:
    """The facts of one article: a row of each table, two persons, and who has been mentioned."""

    def __init__(self, chance: Chance, topic: str) -> None:
        self.chance, self.mentions = chance, 0
        self.slots: dict = {}
        for rows in (facts.ANIMALS, facts.VERBS):
            self.add(chance.deal(rows), "2")
        for rows in (facts.COUNTRIES, facts.ANIMALS, facts.TRADES, facts.VERBS, facts.ADJECTIVES, facts.THINGS):
            self.add(chance.deal(rows))
        self.add(chance.deal(facts.ROLES))
        self.slots.update(b=self.slots["a2"], bcried=self.slots["cried2"], rare=facts.RARE, village=facts.VILLAGES)
        self.people(topic)

    def add(self, row: facts.Row, suffix: str = "") -> None:
        """Make the row's words and fields known to patterns."""
        self.slots.update({name + suffix: value for name, value in row.items()})

    def people(self, topic: str) -> None:
        """Give the article its main person (X, x, N, he ...) and another one (M, he2 ...)."""
        slots, chance = self.slots, self.chance
        home = {"he": slots["he"], "she": slots["she"]}
        gender, other = chance.pick(facts.GENDER), chance.pick(facts.GENDER)
        self.add(gender)
        for name in ("he", "him", "his", "himself"):
            slots[name + "2"] = other[name]
        male = gender["he"] == "he"
        slots["x"], slots["y"] = (slots["m"], slots["f"]) if male else (slots["f"], slots["m"])
        if topic == "trades":
            slots["x"] = slots["p"]
        pool = home[gender["he"]] if topic == "country" else gender["name"]
        slots["N"], slots["M"] = chance.pick(pool), chance.pick(other["name"], even=False)

    def mention(self) -> str:
        """Return the main person as a noun at first, later as a pronoun, a noun or a name."""
        self.mentions += 1
        if self.mentions == 1:
            return "the {x}"
        return self.chance.weighted(["{he}", "the {x}", "{N}"], [5, 4, 2])


class Writer:
    """Turns patterns into sentences."""

    def __init__(self, chance: Chance) -> None:
        self.chance, self.rules, self.used = chance, grammar.rules(), Counter()

    def expand(self, pattern: str, scene: Scene, taken: dict[str, list[str]]) -> str:
        """Return the pattern with its choices made and its slots filled."""
        while CHOICE.search(pattern):
            pattern = CHOICE.sub(lambda m: self.chance.pick(m[1].split("|")), pattern)
        return SLOT.sub(lambda m: self.expand(self.fill(m[1], scene, taken), scene, taken), pattern)

    def fill(self, name: str, scene: Scene, taken: dict[str, list[str]]) -> str:
        """Return a value for a slot; a list gives items that this sentence has not had yet, while it can."""
        if name == "X":
            return scene.mention()
        value = scene.slots.get(name) or self.rules[name]
        if isinstance(value, str):
            return value
        seen = taken.setdefault(name, [])
        left = [item for item in value if item not in seen] or value
        item = self.chance.pick(left, even=name not in self.rules)
        seen.append(item)
        return item

    def sentence(self, pattern: str, scene: Scene) -> str:
        """Return a finished sentence: articles, capitals, full stop."""
        self.used[pattern] += 1
        text = ARTICLE.sub(r"\1n ", self.expand(pattern, scene, {}))
        text = re.sub(r"(^“?|[.?!] “?|[?!]” “)(\w)", lambda m: m[1] + m[2].upper(), text)
        return re.sub(r"(: “)(\w)", lambda m: m[1] + m[2].upper(), text)

    def article(self, topic: str) -> list[str]:
        """Return an article: paragraphs (lines) of one to four sentences about one scene."""
        chance, scene = self.chance, Scene(self.chance, topic)
        if topic == "senses":
            word = chance.pick(list(grammar.SENSES))
            patterns = grammar.lines(grammar.SENSES[word])
        else:
            patterns = grammar.lines(grammar.TOPICS[topic][0])
        plan = chance.shuffled(patterns)[: 3 + chance.below(6)]
        for extra, share in ((grammar.ANYTIME, 0.10), (grammar.STORIES, 0.04)):
            plan = [chance.pick(grammar.lines(extra)) if chance.random() < share else p for p in plan]
        sentences = [self.sentence(p, scene) for p in plan]
        paragraphs = []
        while sentences:
            n = 1 + chance.below(4)
            paragraphs.append(" ".join(sentences[:n]))
            sentences = sentences[n:]
        return paragraphs


def corpus(seed: int) -> tuple[str, Counter]:
    """Return the corpus of a seed, and how often each pattern was used."""
    chance = Chance(seed)
    writer = Writer(chance)
    topics = list(grammar.TOPICS)
    shares = [grammar.TOPICS[t][1] for t in topics]
    parts, size = [], 0
    while size < SIZE:
        part = "\n".join(writer.article(chance.weighted(topics, shares))) + "\n"
        parts.append(part)
        size += len(part.encode("utf-8")) + 1
    return "\n".join(parts), writer.used


def senses(seed: int) -> tuple[str, str]:
    """Return paragraphs about words with several senses to learn from, and other sentences with their senses.

    The second is ``word<TAB>sense<TAB>sentence`` a line, as many of each sense. Somebody says, hears or doubts them, so
    that no sentence of corpus.txt or senses.txt is among them, though parts of one may be.
    """
    patterns = {name: text for name, text in (grammar.SENSES | grammar.TOWERS).items() if name.split()[0] in SENSES}
    chance = Chance(seed + 2)
    writer, articles, labelled = Writer(chance), [], []
    for name, text in patterns.items():
        for _ in range(SENSE_ARTICLES):
            plan, scene = chance.shuffled(grammar.lines(text))[: 2 + chance.below(2)], Scene(chance, "senses")
            articles.append(" ".join(writer.sentence(p, scene) for p in plan))
        said = ["\t".join([*name.split(), f"{lead}{p}"]) for lead in grammar.LEADS for p in grammar.lines(text)]
        for pattern in chance.shuffled(said)[:HELD_SENTENCES]:
            word, sense, sentence = pattern.split("\t")
            labelled.append(f"{word}\t{sense}\t{writer.sentence(sentence, Scene(chance, 'senses'))}")
    return "\n".join(chance.shuffled(articles)) + "\n", "\n".join(labelled) + "\n"


def build(seed: int) -> dict[str, str]:
    """Return the generated files by name."""
    text, _ = corpus(seed)
    counts = questions.word_counts(text)
    chance = Chance(seed + 1)
    learned, labelled = senses(seed)
    return {
        "senses.txt": learned,
        "senses.tsv": labelled,
        "corpus.txt": text,
        "questions.txt": questions.analogies(counts, chance),
        "similarity.tsv": questions.similarity(counts, chance),
    }


def stats(seed: int) -> None:
    """Print sizes and the commonest patterns."""
    text, used = corpus(seed)
    counts = questions.word_counts(text)
    sentences = sum(used.values())
    print(
        f"{len(text.encode()):,} bytes, {sum(counts.values()):,} words, {sentences:,} sentences, {len(used)} patterns"
    )
    print(f"{len(counts):,} types, {sum(n >= 5 for n in counts.values()):,} of them 5 times or more")
    for pattern, n in used.most_common(5):
        print(f"{n / sentences:.2%}  {pattern}")


def main() -> int:
    """Run the program; return 1 if --check finds a difference."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1, help="another seed gives another corpus of the same kind")
    parser.add_argument(
        "--out", type=Path, default=Path(__file__).parent, help="folder to write to (default: this one)"
    )
    parser.add_argument("--check", action="store_true", help="write nothing; fail if the files would change")
    parser.add_argument("--stats", action="store_true", help="print sizes and the commonest patterns instead")
    args = parser.parse_args()
    if args.stats:
        stats(args.seed)
        return 0
    bad = 0
    for name, text in build(args.seed).items():
        path, data = args.out / name, text.encode("utf-8")
        if not args.check:
            args.out.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        elif not path.exists() or path.read_bytes() != data:
            print(f"{path}: not what --seed {args.seed} makes; to write it, leave out --check", file=sys.stderr)
            bad = 1
    return bad


if __name__ == "__main__":
    sys.exit(main())
