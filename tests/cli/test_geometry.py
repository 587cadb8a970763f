"""Oracle: the manners of a command line: one table with one header for programs, and clusters refused in time."""

from __future__ import annotations

import json
from pathlib import Path

from conftest import embcli, failed, ok


def test_geometry_and_clusters_are_one_table(chain: Path) -> None:
    args = ("eval", chain / "vectors.npz", "--geometry", "--clusters", "3", "--top", "8")
    lines = ok(*args, "--format", "tsv").text.splitlines()
    assert all(lines) and {line.count("\t") for line in lines} == {lines[0].count("\t")}
    told = [json.loads(line) for line in ok(*args, "--json").text.splitlines()]
    assert len(told) == len(lines) - 1 and not any(None in line.values() for line in told)
    words = [line for line in told if line["report"] == "cluster word"]
    assert [(line["group"], line["rank"]) for line in words] == [(i, j) for i in (1, 2, 3) for j in range(1, 9)]


def test_too_many_clusters_are_a_usage_error(chain: Path) -> None:
    ran = embcli("eval", chain / "vectors.npz", "--clusters", "1000000")
    failed(ran, 2, "--clusters 1000000: vectors.npz has ", "clusters at most")
