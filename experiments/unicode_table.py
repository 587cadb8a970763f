"""Make embcli/text/unicode.txt: the general category of every code point, and capitals newer than Python's own table.

Python's table is as old as the Python, so two users would cut one text differently. This one is fixed; it comes from
the ``regex`` package, which carries a newer Unicode. Run it, look at the difference, commit it:

    python experiments/unicode_table.py
"""

from __future__ import annotations

import importlib.metadata
import re
import textwrap
from pathlib import Path

import regex

TARGET = Path(__file__).resolve().parent.parent / "embcli" / "text" / "unicode.txt"
CATEGORIES = [  # in this order in the file
    "Cc", "Cf", "Cn", "Co", "Cs", "Ll", "Lm", "Lo", "Lt", "Lu", "Mc", "Me", "Mn", "Nd", "Nl",
    "No", "Pc", "Pd", "Pe", "Pf", "Pi", "Po", "Ps", "Sc", "Sk", "Sm", "So", "Zl", "Zp", "Zs",
]  # fmt: skip
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcd"
EVERYTHING = "".join(map(chr, range(0x110000)))

HEAD = """\
# General categories of all code points, Unicode {version}; made by experiments/unicode_table.py from the regex package.
# runs: in code point order, a letter for a category (A is the first) and, above 1, a number for how often it repeats.
# lower: capitals added after Unicode 14 and their small letters, for Pythons which do not know them.
"""


def unicode_version() -> str:
    """Return the version of Unicode that the installed regex package says it supports."""
    about = str(importlib.metadata.metadata("regex").get_payload())
    found = re.search(r"supports Unicode (\d+\.\d+\.\d+)", about)
    if not found:
        raise SystemExit("the regex package does not say which Unicode it supports")
    return found.group(1)


def runs() -> str:
    """Return the categories in code point order, run-length coded."""
    spans = []
    for letter, name in zip(LETTERS, CATEGORIES, strict=True):
        spans += [(m.start(), m.end(), letter) for m in regex.finditer(rf"\p{{{name}}}+", EVERYTHING)]
    spans.sort()
    if [a for a, _, _ in spans] != [0] + [b for _, b, _ in spans[:-1]] or spans[-1][1] != len(EVERYTHING):
        raise SystemExit("the categories do not cover every code point once")
    return "".join(letter + (str(b - a) if b - a > 1 else "") for a, b, letter in spans)


def lower_pairs() -> str:
    """Return "capital small" in hex, for each capital that Unicode 14 (Python 3.11) leaves as it is."""
    small = "".join(regex.findall(r"\p{Ll}", EVERYTHING))
    pairs = []
    for capital in regex.findall(r"\p{Lu}", EVERYTHING):
        if capital.lower() == capital and len(found := regex.findall(f"(?i){capital}", small)) == 1:
            pairs.append(f"{ord(capital):X} {ord(found[0]):X}")
    return " ".join(pairs)


def main() -> None:
    """Write the file."""
    version = unicode_version()
    fields = {"version": version, "categories": " ".join(CATEGORIES), "runs": runs(), "lower": lower_pairs()}
    text = HEAD.format(version=version)
    for name, value in fields.items():
        lines = textwrap.wrap(value, 100) if " " in value else [value[i : i + 100] for i in range(0, len(value), 100)]
        text += f"{name}:\n" + "".join(line + "\n" for line in lines)
    TARGET.write_text(text, encoding="ascii")


if __name__ == "__main__":
    main()
