"""Oracle: the layout that the report promises: what a reader finds in which table, and one figure a row in TSV."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from embcli.artifacts.schema import Vectors, Words
from embcli.job import Job
from embcli.query.geometry import geometry
from embcli.report.geometry import geometry_tables
from embcli.report.tables import Table, render
from embcli.spec import EvalParams


def made(seed: int = 0, **more: Any) -> Vectors:
    table = np.random.default_rng(seed).standard_normal((120, 5)).astype(np.float32)
    table[7] = 0
    words = Words.of(["tab\there", *(f"w{i}" for i in range(1, 120))])
    return Vectors(vectors=table, words=words, unigram=np.arange(119, -1, -1), **more)


def tables(form: str = "table", **options: Any) -> list[Table]:
    artifacts = [made(), made(1, contexts=np.ones((120, 5), np.float32))]
    params = EvalParams(**options)
    return geometry_tables(geometry(artifacts, params, Job(), ["a.npz", "b.npz"]), params, form)


def test_two_artifacts_share_the_table_of_spectra() -> None:
    found = tables(geometry=True, clusters=3)
    assert [table.title for table in found] == [
        "geometry", "a.npz: by rank of frequency", "a.npz: under-trained rows by input cosine distance",
        "a.npz: clusters", found[4].title, "b.npz: by rank of frequency", "b.npz: under-trained rows by input norm",
        "b.npz: under-trained rows by output cosine distance", "b.npz: clusters", found[9].title,
    ]  # fmt: skip
    assert found[4].title.startswith("a.npz: cluster 1, nearest to the centroid, ")
    assert [row[0] for row in found[0].rows] == ["a.npz", "b.npz"]
    assert all(len(row) == len(table.columns) for table in found for row in table.rows)
    assert any("all zeros" in note for note in found[1].notes)


@pytest.mark.parametrize("terminal", [False, True])
def test_every_table_can_be_drawn(terminal: bool) -> None:
    for table in tables(geometry=True, clusters=3, top=3):
        text = render(table, terminal=terminal, width=100)
        assert "nan" not in text and "None" not in text and "np." not in text
    assert "tab\\there" in render(tables(geometry=True, top=200)[2], terminal=terminal)


@pytest.mark.parametrize("form", ["tsv", "jsonl"])
def test_one_long_table_for_programs(form: str) -> None:
    (table,) = tables(form, geometry=True, clusters=3)
    assert [column.name for column in table.columns] == [
        "artifact", "table", "report", "group", "rank", "word", "count", "measure", "value",
    ]  # fmt: skip
    text = render(table, form)
    if form == "jsonl":
        lines = [json.loads(line) for line in text.splitlines()]
        assert {line["report"] for line in lines} == {
            "table", "band", "undertrained", "clusters", "cluster", "cluster word",
        }  # fmt: skip
        (rank,) = {
            x["value"] for x in lines if (x["artifact"], x["measure"]) == ("a.npz", "effective_rank")
        }  # fmt: skip
        assert 1 < rank <= 5
    else:
        assert len({line.count("\t") for line in text.splitlines()}) == 1


def test_clusters_alone_have_no_other_table() -> None:
    assert len(tables(clusters=2)) == 4
    assert {row[2] for row in tables("tsv", clusters=2)[0].rows} == {"table", "clusters", "cluster", "cluster word"}
