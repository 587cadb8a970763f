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


def test_one_long_table_as_tsv() -> None:
    (table,) = tables("tsv", geometry=True, clusters=3)
    assert [column.name for column in table.columns] == [
        "artifact", "table", "report", "group", "rank", "word", "count", "measure", "value",
    ]  # fmt: skip
    lines = render(table, "tsv").splitlines()
    assert {line.count("\t") for line in lines} == {8}
    assert sum(line.startswith("artifact\t") for line in lines) == 1


def test_json_lines_hold_no_nulls() -> None:
    text = "".join(render(table, "jsonl") for table in tables("jsonl", geometry=True, clusters=3))
    lines = [json.loads(line) for line in text.splitlines()]
    assert len(lines) == len(tables("tsv", geometry=True, clusters=3)[0].rows)
    assert [line["report"] for line in lines if line["artifact"] == "a.npz"][:1] == ["table"]
    assert {line["report"] for line in lines} == {
        "table", "band", "undertrained", "clusters", "cluster", "cluster word",
    }  # fmt: skip
    assert all(value is not None for line in lines for value in line.values())
    (rank,) = {x["value"] for x in lines if (x["artifact"], x["measure"]) == ("a.npz", "effective_rank")}
    assert 1 < rank <= 5


def test_words_of_all_clusters_come_in_order_and_complete() -> None:
    for top in (2, 9):
        rows = [row[3:] for row in tables("tsv", clusters=3, top=top)[0].rows if row[0] == "a.npz"]
        words = [row for row in rows if row[2] is not None]
        assert [row[:2] for row in words] == [(i, j) for i in (1, 2, 3) for j in range(1, top + 1)]
        assert all(row[4] == "cosine" and isinstance(row[3], int) and -1 <= row[5] <= 1 for row in words)
        printed = tables(clusters=3, top=top)
        assert {row[-1].count(", ") + 1 for row in printed[0].rows} == {min(top, 6)}
        assert len(printed[1].rows) == top
        assert any("--top, 6 at most" in note for note in printed[0].notes)


def test_figures_have_seven_digits_and_names_no_commas() -> None:
    table = np.random.default_rng(3).standard_normal((1_200, 5)).astype(np.float32)
    artifact = Vectors(vectors=table, words=Words.of(str(i) for i in range(1_200)), unigram=np.arange(1_200, 0, -1) * 7)
    params = EvalParams(geometry=True, clusters=2)
    found = geometry([artifact], params, Job(), ["a.npz"])
    (long,) = geometry_tables(found, params, "tsv")
    values = [row[-1] for row in long.rows if isinstance(row[-1], float)]
    assert values and all(value == float(f"{value:.7g}") for value in values)
    groups = [row[3] for row in long.rows if row[2] == "band"]
    assert "101-1000" in groups and not any("," in group for group in groups)
    spectra, bands, ranking, *_ = geometry_tables(found, params, "table")
    assert spectra.rows[0][1] == "1,200" and bands.rows[-1][2] == "1,200"
    assert ranking.rows[0][2].replace(",", "").isdigit()
    assert all("," in row[2] or len(row[2]) < 4 for row in ranking.rows)
    assert any("all as rare as the last" in note for note in ranking.notes)


def test_thirty_clusters_are_printed_and_all_are_written() -> None:
    printed = tables(clusters=40)[0]
    assert len(printed.rows) == 30 and "and 10 clusters more: --format tsv has all" in printed.notes
    assert not any("more" in note for note in tables(clusters=30)[0].notes)
    written = {row[3] for row in tables("tsv", clusters=40)[0].rows if row[2] == "cluster"}
    assert written == set(range(1, 41))


def test_isotropy_of_long_rows_is_not_printed_as_0() -> None:
    artifact = made()
    artifact.vectors[:] *= 6
    params = EvalParams(geometry=True)
    found = geometry([artifact], params, Job(), ["a.npz"])
    assert found[0].spectrum is not None and 0 < (found[0].spectrum.isotropy or 0) < 5e-5
    spectra = geometry_tables(found, params, "table")[0]
    assert "e-" in spectra.rows[0][-1] and any("transform --unit" in note for note in spectra.notes)
    assert tables(geometry=True)[0].rows[0][-1].startswith("0.") and len(tables(geometry=True)[0].rows[0][-1]) == 6


def test_clusters_alone_have_no_other_table() -> None:
    assert len(tables(clusters=2)) == 4
    assert {row[2] for row in tables("tsv", clusters=2)[0].rows} == {"table", "clusters", "cluster", "cluster word"}
