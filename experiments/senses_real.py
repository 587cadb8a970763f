"""Sentences of real text about bank and tower, labelled by the words beside them, for senses.py.

    python experiments/senses_real.py CORPUS --skip BYTES > senses-real.tsv

A sense is given by a cue ("left bank", "central bank"), so the labels are rough, and what is asked is whether the state
at the word knows its neighbors: the token row does not. --skip leaves out the part that the model was trained on. At
most --most sentences a sense, of 6 to 24 words, each with the word once.
"""

from __future__ import annotations

import argparse
import re

CUES = {
    ("bank", "money"): (
        "central bank",
        "national bank",
        "investment bank",
        "world bank",
        "bank account",
        "savings bank",
    ),
    ("bank", "river"): ("left bank", "right bank", "north bank", "south bank", "bank of the river", "river bank"),
    ("tower", "church"): ("bell tower", "church tower", "west tower", "tower of the church", "church with a tower"),
    ("tower", "radio"): ("radio tower", "television tower", "transmission tower", "tv tower", "broadcast tower"),
    ("tower", "office"): ("office tower", "residential tower", "apartment tower", "condominium tower", "tower block"),
}
SENTENCE = re.compile(r"(?<=[.?!])\s+|\n")


def main() -> None:
    """Print ``word<TAB>sense<TAB>sentence`` lines."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus")
    parser.add_argument("--skip", type=int, default=0)
    parser.add_argument("--most", type=int, default=30)
    args = parser.parse_args()
    with open(args.corpus, "rb") as file:
        file.seek(args.skip)
        text = file.read().decode("utf-8", "replace")
    found: dict[tuple[str, str], dict[str, None]] = {key: {} for key in CUES}
    for sentence in SENTENCE.split(text):
        low = sentence.lower()
        for word, sense in CUES:
            if word not in low or len(re.findall(rf"\b{word}\b", low)) != 1 or not 6 <= len(low.split()) <= 24:
                continue
            hit = [other for other in CUES if other[0] == word and any(cue in low for cue in CUES[other])]
            if hit == [(word, sense)] and len(found[word, sense]) < args.most:
                found[word, sense][sentence.strip().replace("\t", " ")] = None
    for (word, sense), sentences in found.items():
        for sentence in sentences:
            print(f"{word}\t{sense}\t{sentence}")


if __name__ == "__main__":
    main()
