"""Oracle: the worked numbers of the four sources, each made by embcli's own commands (experiments/worked/all.yaml).

``NUMBERS`` is this project's own list of what the sources work out; every entry stands in the table of all.yaml, and
every report that the table names expects something.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from conftest import DATA, ROOT, embcli, failed, ok

WORKED = ROOT / "experiments" / "worked"
NUMBERS = {
    "token-embeddings-and-contextual-representations": [
        "lookup, one-hot product, 12 parameters, distances",
        "dL/dE = S^T G with a repeated id",
        "one head, zero scores, causal mask",
        "weights above the diagonal exactly 0, rows sum to 1",
        "scores over sqrt(d_k)",
        "shifted targets",
    ],
    "part-1-tokenization-and-embeddings": [
        "shape (3, 2)",
        "a plain step at rate 0.1",
        "logits and softmax",
        "document-term counts, TF-IDF",
        "tokens are rows of V S",
        "documents are rows of U S",
        "cosines 0.9919, 0.3516",
        "a batch of ids",
        "the cat sat, the sat cat",
        "sqrt(d) E + P, sinusoidal",
        "sqrt(d) E + P, learned",
        "RoPE turns queries and keys",
        "tied rows all have an output-side gradient",
        "untied rows not in the batch have none",
        "one table stored",
        "mole, bank, tower: one lookup row",
        "mole, bank, tower: different states",
    ],
    "how-does-text-become-a-vector": [
        "BPE: c+a 8, ca+t 8, d+o 6, do+g 6",
        "cats = [cat, s]",
        "dogs = [dog, s]",
        "word ids",
        "one-hot vectors",
        "counts of five sentences",
        "normalised rows are identical",
        "M^2 scores",
        "two tables 2 M d",
        "full-softmax step",
        "full-softmax step by word2vec",
        "rotation of both tables",
        "3-grams of cat and cats",
        "several lengths",
        "an unseen word",
        "GloVe's objective",
        "dog bites man: sums",
        "dog bites man: sums with positions",
        "dog bites man: sequences differ",
        "sinusoidal positions, no parameters",
        "learned positions have L d",
        "an offset is a linear map",
        "PPMI = ln 2",
        "cosine 1 after SVD",
        "I like, They like: one input",
        "I like, They like: two states",
    ],
    "a-token-id-is-an-address": [
        "rows 2 and 0, factor 2",
        "width 512, factor 22.6",
        "128 times as long",
        "king - man + woman",
        "inputs included",
        "Russia + river",
        "tying saves V d",
        "rows hardly trained, narrow cone",
        "neighbors of the centroid",
        "clusters",
        "50,257 entries",
    ],
}


def listed() -> dict[str, dict[str, str]]:
    """Return the table of all.yaml: number -> title of its report, by file."""
    found: dict[str, dict[str, str]] = {}
    for line in (WORKED / "all.yaml").read_text(encoding="utf-8").splitlines():
        if head := re.fullmatch(r"# ([\w-]+)\.yaml", line):
            entries = found.setdefault(head[1], {})
        elif row := re.fullmatch(r"#   (.{51}) (\S.*)", line):
            entries[row[1].strip()] = row[2]
    return found


def reports(name: str) -> dict[str, dict[str, Any]]:
    """Return the entries of an experiment's report by title."""
    found = yaml.safe_load((WORKED / f"{name}.yaml").read_text(encoding="utf-8"))["report"]
    assert len({entry["title"] for entry in found}) == len(found)
    return {entry["title"]: entry for entry in found}


def expects(entry: dict[str, Any]) -> bool:
    """Say whether an entry is compared with something, here or in its file of tables."""
    if "given" not in entry:
        return bool(entry.get("expect"))
    return bool(yaml.safe_load((WORKED / entry["given"]).read_text(encoding="utf-8"))["expect"])


def test_every_number_has_a_report_that_expects_it() -> None:
    table = listed()
    assert table.keys() == NUMBERS.keys()
    assert [f"{name}.yaml" for name in NUMBERS] == yaml.safe_load((WORKED / "all.yaml").read_text())["runs"]
    for name, numbers in NUMBERS.items():
        entries = reports(name)
        assert set(numbers) <= table[name].keys()
        for number, title in table[name].items():
            assert title in entries and expects(entries[title]), number


def test_every_report_expects_something_and_every_table_is_used() -> None:
    used = set()
    for name in NUMBERS:
        for title, entry in reports(name).items():
            assert expects(entry), title
            used.add(entry.get("given"))
    assert {f"by-hand/{path.name}" for path in (WORKED / "by-hand").glob("*.yaml")} <= used


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with copies of the experiments beside the data."""
    house = tmp_path_factory.mktemp("house")
    shutil.copytree(WORKED, house / "experiments" / "worked")
    (house / "data").symlink_to(DATA)
    return house


def test_all_worked_numbers_are_found(house: Path) -> None:
    ran = ok("run", "experiments/worked/all.yaml", cwd=house)
    assert "NOT as expected" not in ran.text and ran.text.count("\nas expected\n") == sum(
        map(len, map(reports, NUMBERS))
    )
    rows = [line.split() for line in ran.text.splitlines()[-len(NUMBERS) :]]
    for name, row in zip(NUMBERS, rows, strict=True):
        path, count, expected, found, wrong = row
        assert (path, int(count), wrong) == (f"experiments/worked/{name}.yaml", len(reports(name)), "0")
        assert expected == found and int(expected) >= len(NUMBERS[name])


def test_an_altered_number_fails(house: Path) -> None:
    """The same files with another number in one of them: exit 4, and the row is shown."""
    name = "token-embeddings-and-contextual-representations"
    path = house / "experiments" / "worked" / "by-hand" / "causal.yaml"
    path.write_text(path.read_text(encoding="utf-8").replace("O: [[2, 0], [1, 2]]", "O: [[2, 0], [1, 3]]"))
    ran = embcli("run", f"experiments/worked/{name}.yaml", "-q", cwd=house)
    failed(ran, 4, "report One causal head with equal scores: O is [[2, 0], [1, 2]], expected [[2, 0], [1, 3]]")
    assert "NOT as expected" in ran.text and re.search(r"\n  O  .* NO\n", ran.text)
