"""Oracle: the statistics module on what `eval` prints of each seed; what an experiment says that its artifacts cost."""

from __future__ import annotations

import json
import statistics
from pathlib import Path

import pytest
from conftest import DATA, embcli, failed, ok

FILES = ("-s", DATA / "similarity.tsv", "-a", DATA / "questions.txt")
SMALL = """\
name: small
out: made
steps:
  tokens:  {use: encode, inputs: text.txt, words: true, min-count: 3}
  trained: {use: word2vec, inputs: tokens, epochs: 2, grid: {dim: [8, 16], seed: [0, 1, 2]}}
report:
  - {use: info, inputs: tokens}
costs: true
"""


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with an experiment over seeds that has been run; what it printed is in said.txt."""
    folder = tmp_path_factory.mktemp("lab")
    lines = (DATA / "corpus.txt").read_text(encoding="utf-8").splitlines(keepends=True)[:8000]
    (folder / "text.txt").write_text("".join(lines), encoding="utf-8")
    (folder / "small.yaml").write_text(SMALL, encoding="utf-8")
    (folder / "said.txt").write_text(ok("run", folder / "small.yaml").text, encoding="utf-8")
    return folder


def told(*line: str | Path) -> list[dict[str, object]]:
    return [json.loads(text) for text in ok(*line, "--json").text.splitlines()]


def test_means_and_deviations_are_those_of_the_seeds(lab: Path) -> None:
    seeds = [lab / "made" / f"trained-dim=8-seed={seed}.npz" for seed in range(3)]
    alone = [row for path in seeds for row in told("eval", path, *FILES, "--sections")]
    pooled = told("eval", *seeds, *FILES, "--sections", "--spread")
    assert pooled and all(row["artifact"] == "trained-dim=8" and row["seeds"] == 3 for row in pooled)
    for row in pooled:
        values = [
            one["value"] for one in alone
            if [one[key] for key in ("file", "section", "measure", "method")]
            == [row[key] for key in ("file", "section", "measure", "method")]
        ]  # fmt: skip
        assert len(values) == 3
        assert row["mean"] == pytest.approx(statistics.mean(values))  # type: ignore[type-var]
        assert row["deviation"] == pytest.approx(statistics.stdev(values))  # type: ignore[type-var]
    assert any(row["deviation"] for row in pooled)


def test_a_row_for_each_way_and_one_without_seeds(lab: Path) -> None:
    every = sorted((lab / "made").glob("trained-*.npz"))
    table = ok("eval", *every, *FILES, "--spread").text
    rows = [line.split() for line in table.splitlines() if line.strip().startswith("trained")]
    assert [row[0] for row in rows] == ["trained-dim=16", "trained-dim=8"] * 2
    assert all("+-" in row for row in rows) and "3CosAdd" in table
    single = ok("eval", every[0], *FILES, "--spread").text
    assert "+- " not in single.replace("mean +- standard", "")


def test_nothing_to_pool_is_refused(lab: Path) -> None:
    path = lab / "made" / "trained-dim=8-seed=0.npz"
    failed(embcli("eval", path, "--geometry", "--spread"), 2, "--spread")
    failed(embcli("eval", path, *FILES, "--misses", "3", "--spread"), 2, "--spread")


def test_costs_stand_at_the_end_of_the_report(lab: Path) -> None:
    said = (lab / "said.txt").read_text(encoding="utf-8")
    head, _, costs = said.partition("Costs\n")
    assert "tokens" in head
    rows = [line.split() for line in costs.splitlines()]
    assert [row[:-1] and row[0] for row in rows[1:4]] == ["tokens", "trained", "trained"]
    assert "dim=8" in costs and "seed" not in costs.replace("seeds", "")
    assert costs in (lab / "made" / "report.txt").read_text(encoding="utf-8")
    logged = [json.loads(text) for text in (lab / "made" / "log.jsonl").read_text(encoding="utf-8").splitlines()]
    seconds = [line["seconds"] for line in logged if line["artifact"].startswith("trained-dim=8")]
    (row,) = (line for line in told("run", lab / "small.yaml") if line.get("artifact") == "trained dim=8")
    assert row["seeds"] == 3 and row["seconds"] == pytest.approx(statistics.mean(seconds))
    assert row["deviation"] == pytest.approx(statistics.stdev(seconds))
    assert row["size"] == (lab / "made" / "trained-dim=8-seed=0.npz").stat().st_size
    if Path("/proc/self/clear_refs").exists():
        assert all(line["peak_bytes"] > 10_000_000 for line in logged)


def test_memory_is_known_only_of_steps_that_run_alone(lab: Path) -> None:
    ok("run", lab / "small.yaml", "--force", "--jobs", "2")
    logged = [json.loads(text) for text in (lab / "made" / "log.jsonl").read_text(encoding="utf-8").splitlines()]
    assert all(line["peak_bytes"] is None for line in logged[-7:])


def test_a_log_that_was_damaged_lacks_what_it_lacks(lab: Path) -> None:
    log = lab / "made" / "log.jsonl"
    kept = log.read_bytes()
    log.write_bytes(b'[]\nnull\n7\n{"a": 1}\ngarbage\n\xff\xfe\n')
    assert "Costs" in ok("run", lab / "small.yaml").text
    log.write_bytes(kept)


def test_costs_are_true_or_false(lab: Path) -> None:
    (lab / "bad.yaml").write_text(SMALL.replace("costs: true", "costs: some"), encoding="utf-8")
    failed(embcli("run", lab / "bad.yaml"), 2, "bad.yaml", "costs: expected true or false")
