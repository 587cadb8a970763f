"""Oracle: small artifacts whose every number is known."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from embcli.artifacts.schema import Counts, Tokens, Vectors, Words
from embcli.errors import InputError, KindError
from embcli.query.info import describe, facts_of, heaviest_pairs, pair_count, vocabulary
from embcli.report.description import description_tables, phrase
from embcli.report.tables import render
from embcli.spec import InfoParams

PARENT = {
    "digest": "ab" * 32, "kind": "tokens", "step": "encode",
    "options": {"words": True, "lower": False, "min_count": 1},
}  # fmt: skip
META = {
    "kind": "vectors", "step": "svd", "embcli": "0.1.0", "seed": 0, "text": {"split": "words", "lower": False},
    "options": {"weight": "ppmi", "dim": 100, "eig": 0.5, "vocab": None},
    "stats": {"words": 12345, "explained": 0.987654321},
    "inputs": [{"kind": "counts", "digest": "cd" * 32}], "parents": [PARENT],
}  # fmt: skip
MEMBERS = [{"name": "vectors", "dtype": "float32", "shape": [12345, 100], "bytes": 4938000}]
FACTS: dict[str, Any] = {"size": 5_000_000, "digest": "ef" * 32, "meta": META, "members": MEMBERS}
WORDS = Words.of(["like", "I", "new york", "cats\x1b", "new"])
UNIGRAM = np.array([5, 4, 3, 2, 1])
IDS = np.array([1, 0, 3, 5, 0], np.uint8)
TOKENS = Tokens(ids=IDS, row_offsets=np.array([0, 3, 3, 5]), words=WORDS, unigram=UNIGRAM)
TABLE = np.zeros((5, 5), np.int64)
TABLE[0, 1], TABLE[0, 3], TABLE[2, 1], TABLE[4, 0] = 5, 7, 2, 1
COUNTS = Counts(
    data=TABLE[TABLE > 0], indices=np.nonzero(TABLE)[1].astype(np.int32), shape=np.array([5, 5]),
    indptr=np.concatenate([[0], (TABLE > 0).sum(1).cumsum()]), words=WORDS, unigram=UNIGRAM,
)  # fmt: skip
VECTORS = Vectors(
    vectors=np.arange(40, dtype=np.float32).reshape(5, 8), words=WORDS, unigram=UNIGRAM,
    singular_values=np.arange(8.0, 0, -1),
)  # fmt: skip


def test_a_description_is_plain_data() -> None:
    found = describe(FACTS, VECTORS, InfoParams())
    assert json.loads(json.dumps(found)) == found
    assert (found["kind"], found["step"], found["seed"], found["size"]) == ("vectors", "svd", 0, 5_000_000)
    assert found["parents"] == [PARENT] and found["members"] == MEMBERS


def test_facts_without_a_file() -> None:
    facts = facts_of(VECTORS)
    names = ["vectors", "word_bytes", "word_offsets", "unigram", "singular_values"]
    assert [m["name"] for m in facts["members"]] == names
    assert facts["members"][0] == {"name": "vectors", "dtype": "float32", "shape": [5, 8], "bytes": 160}
    assert facts["size"] == sum(m["bytes"] for m in facts["members"])


def test_first_rows_of_vectors() -> None:
    first = describe(FACTS, VECTORS, InfoParams(rows=2))["first"]
    assert [record["word"] for record in first] == ["like", "I"]
    assert first[0] == {"word": "like", "count": 5, "norm": 11.83216, "numbers": [0, 1, 2, 3, 4, 5]}


def test_first_rows_of_tokens_are_decoded() -> None:
    first = describe(FACTS, TOKENS, InfoParams(rows=9))["first"]
    assert first == [
        {"row": 1, "tokens": 3, "text": "I like cats\x1b"},
        {"row": 2, "tokens": 0, "text": ""},
        {"row": 3, "tokens": 2, "text": "_ like"},
    ]


def test_first_rows_of_counts_are_the_heaviest_cells() -> None:
    first = describe(FACTS, COUNTS, InfoParams(rows=2))["first"]
    assert first == [
        {"word": "like", "cells": 2, "heaviest": [["cats\x1b", 7], ["I", 5]]},
        {"word": "I", "cells": 0, "heaviest": []},
    ]


def test_no_rows_and_unknown_kinds() -> None:
    assert "first" not in describe(FACTS, VECTORS, InfoParams(rows=0))
    assert "first" not in describe(FACTS, None, InfoParams())


def test_vocabulary_in_its_order() -> None:
    assert list(vocabulary(COUNTS, "c")) == [("like", 5), ("I", 4), ("new york", 3), ("cats\x1b", 2), ("new", 1)]
    with pytest.raises(KindError, match=r"c.npz: has no vocabulary"):
        vocabulary(None, "c.npz")


@pytest.mark.parametrize(
    ("pair", "expected"),
    [
        ("like I", ("like", "I", 5)),
        ("I like", ("I", "like", 0)),
        ("new york I", ("new york", "I", 2)),
        ("new like", ("new", "like", 1)),
        ("like  new york", ("like", "new york", 0)),
    ],
)
def test_count_of_a_pair(pair: str, expected: tuple[str, str, int]) -> None:
    assert pair_count(COUNTS, pair, "c") == expected


def test_pairs_that_cannot_be_counted() -> None:
    with pytest.raises(InputError, match=r"c: unknown word 'lik'; did you mean like\?"):
        pair_count(COUNTS, "lik I", "c")
    with pytest.raises(InputError, match="unknown word 'xyz'"):
        pair_count(COUNTS, "like xyz", "c")
    with pytest.raises(InputError, match="two words"):
        pair_count(COUNTS, "like", "c")
    with pytest.raises(KindError, match="v: --pair reads counts"):
        pair_count(VECTORS, "like I", "v")


def test_heaviest_pairs() -> None:
    assert heaviest_pairs(COUNTS, 2, "c") == [("like", "cats\x1b", 7), ("like", "I", 5)]
    with pytest.raises(KindError, match="v: --top reads counts"):
        heaviest_pairs(VECTORS, 2, "v")


def test_a_description_as_tables() -> None:
    found = describe(FACTS, VECTORS, InfoParams(rows=1))
    text = "\n".join(render(table) for table in description_tables(found, "v.npz"))
    assert text.startswith("v.npz\n  kind             vectors, 5.0 MB\n")
    for part in (
        "made by          embcli svd, version 0.1.0, seed 0", "options          weight ppmi, dim 100, eig 0.5\n",
        "input            counts cdcdcdcdcdcd", "ancestor         tokens abababababab by encode: words, min-count 1",
        "figures          words 12,345, explained 0.987654", "singular values  8, 7, 6, 5, 4, ..., 1",
        "vectors  float32  12,345 x 100  4.9 MB", "like      5  11.8322  0.0000 1.0000 2.0000",
    ):  # fmt: skip
        assert part in text, part


def test_control_characters_do_not_reach_the_screen() -> None:
    for artifact in (TOKENS, COUNTS):
        text = "".join(render(t) for t in description_tables(describe(FACTS, artifact, InfoParams()), "x"))
        assert "\x1b" not in text and "cats\\x1b" in text


def test_checksums_are_shown_where_they_were_checked() -> None:
    facts = FACTS | {"members": [MEMBERS[0] | {"crc": "00c0ffee"}]}
    assert "00c0ffee" in render(description_tables(describe(facts, None, InfoParams()), "x")[1])
    assert "crc" not in render(description_tables(describe(FACTS, None, InfoParams()), "x")[1])


def test_options_as_a_phrase() -> None:
    assert phrase({"a_b": True, "c": False, "d": None, "e": 1e-3, "f": [1, 2], "g": "x", "h": {"i": 3}}) == (
        "a-b, e 0.001, f 1 2, g x, h (i 3)"
    )
    assert phrase({"rows": list(range(9))}) == "rows 0 1 2 3 4 ... (9 in all)"
    assert phrase({}) == "none"
