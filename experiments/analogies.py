"""Score a question file: how many analogies a vectors artifact solves, by section.

    python experiments/analogies.py VECTORS QUESTIONS

QUESTIONS is in word2vec's format: ': section' lines, then four words a line, a b c d for 'a is to b as c is to d'.
Each is the query b - a + c by 3CosAdd; it is solved if d is the best answer without the question's own words. A
question with a word outside the vocabulary counts as not solved, and is counted apart.
"""

from __future__ import annotations

import argparse
from collections import Counter

from embcli.artifacts import store
from embcli.job import Job
from embcli.query.neighbors import search
from embcli.report.tables import Column, Table, render
from embcli.spec import NeighborsParams


def questions(path: str) -> list[tuple[str, str, str]]:
    """Return (section, query, answer) of each question."""
    found, section = [], ""
    with open(path, encoding="utf-8") as f:
        for line in f:
            if line.startswith(":"):
                section = line[1:].strip()
            elif line.strip():
                a, b, c, d = line.split()
                found.append((section, f"{b} - {a} + {c}", d))
    return found


def main() -> None:
    """Print a table of the sections and of all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("vectors")
    parser.add_argument("questions")
    a = parser.parse_args()
    asked = questions(a.questions)
    artifact = store.read(a.vectors, ("vectors",))
    answers = search([artifact], [query for _, query, _ in asked], NeighborsParams(top=1), Job(), [a.vectors])
    total, solved, unknown = Counter[str](), Counter[str](), Counter[str]()
    for (section, _, due), answer in zip(asked, answers, strict=True):
        for key in (section, "all"):
            total[key] += 1
            unknown[key] += bool(answer.unknown)
            solved[key] += bool(answer.results) and answer.results[0].word == due
    columns = [Column("section"), *(Column(c, "right") for c in ("questions", "unknown", "solved", "%"))]
    order = [*dict.fromkeys(section for section, _, _ in asked), "all"]
    rows = [(s, total[s], unknown[s], solved[s], f"{100 * solved[s] / total[s]:.1f}") for s in order]
    print(render(Table(f"analogies of {a.questions}", columns, rows)), end="")


if __name__ == "__main__":
    main()
