"""Oracle: numbers that a reader can check. What a report is expected to say, reports that print, several files."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from conftest import DATA, ROOT, Ran, embcli, failed, ok

TINY = DATA / "tiny" / "five-sentences.txt"
COUNTS = """\
steps:
  tokens: {use: encode, inputs: five.txt, words: true, min-count: 1}
  counts: {use: cooc, inputs: tokens, window: 1, weighting: flat}
"""
PAIRS = """\
report:
  - title: Pairs
    use: info
    inputs: counts
    pair: [cats like, dogs like]
    expect: [{word: cats, context: like, count: 3}, {word: dogs, context: like, count: 1}]
"""


@pytest.fixture
def lab(tmp_path: Path) -> Path:
    (tmp_path / "five.txt").write_bytes(TINY.read_bytes())
    return tmp_path


def run(lab: Path, text: str, *options: str) -> Ran:
    (lab / "e.yaml").write_text(text, encoding="utf-8")
    return embcli("run", "e.yaml", "-q", *options, cwd=lab)


def test_a_report_says_what_is_expected(lab: Path) -> None:
    ran = run(lab, COUNTS + PAIRS)
    assert ran.code == 0 and "\nas expected\n" in ran.text and ran.text.count(" yes\n") == 2
    assert ran.text in "== Pairs ==\n" + ran.text and ran.text == (lab / "build/e/report.txt").read_text()


def test_an_altered_expectation_fails_and_shows_the_row(lab: Path) -> None:
    ran = run(lab, COUNTS + PAIRS.replace("count: 3", "count: 4"))
    failed(ran, 4, "report Pairs: expected word cats, context like, count 4; found word cats, context like, count 3")
    assert "\nNOT as expected\n" in ran.text
    row = "word cats, context like, count 4  word cats, context like, count 3  NO"
    assert row in " ".join(ran.text.split("\n")) and row in (lab / "build/e/report.txt").read_text()


def test_json_has_expected_and_found(lab: Path) -> None:
    ran = run(lab, COUNTS + PAIRS.replace("count: 3", "count: 4"), "--json")
    rows = [json.loads(line) for line in ran.text.splitlines()]
    assert ran.code == 4 and rows[0] == {
        "report": "Pairs", "use": "info", "word": "cats", "context": "like", "count": 3,
    }  # fmt: skip
    due, found = {"word": "cats", "context": "like", "count": 4}, {"word": "cats", "context": "like", "count": 3}
    assert rows[2] == {"report": "Pairs", "use": "info", "expected": due, "found": found, "equal": False}
    assert rows[3]["equal"]


def test_the_tolerance_is_the_entrys(lab: Path) -> None:
    text = COUNTS + PAIRS.replace("count: 3", "count: 3.2") + "    tolerance: 0.25\n"
    assert run(lab, text).code == 0
    assert run(lab, text.replace("0.25", "1e-1")).code == 4


def test_figures_of_an_artifact(lab: Path) -> None:
    text = (
        COUNTS + "report: [{use: info, inputs: counts, expect: {stats.words: 5, kind: counts, stats.cells: '< 9'}}]\n"
    )
    ran = run(lab, text)
    assert ran.code == 0, ran.talk
    failed(run(lab, text.replace("stats.words", "stats.wrods")), 2, "report info 1: expect: there is no 'stats.wrods'")


@pytest.mark.parametrize(
    ("entry", "parts"),
    [
        ("expect: []", ["expect: expected places and values, found an empty list"]),
        ("expect:", ["expect: expected places and values, found nothing"]),
        ("expect: 3", ["expect: expected places and values", "found 3"]),
        ("expect: [{}]", ["expect: expected places and values", "found {}"]),
        ("expect: {3: 4}", ["expect: expected text as a place, found 3"]),
        ("expect: {stats: {words: 5}}", ["write stats.KEY"]),
        ("expcet: {a: 1}", ["unknown option 'expcet'; did you mean 'expect'?"]),
        ("expect: {a: 1}, tolerance: -1", ["tolerance: expected a number from 0, found -1"]),
        ("expect: {a: 1}, tolerance: yes", ["tolerance: expected a number from 0, found True"]),
    ],
)
def test_a_fault_of_an_expectation_is_found_before_anything_is_built(lab: Path, entry: str, parts: list[str]) -> None:
    ran = run(lab, f"{COUNTS}report: [{{use: info, inputs: counts, {entry}}}]\n")
    failed(ran, 2, "e.yaml: report 1: ", *parts)
    assert not (lab / "build").exists()


def test_only_expects_nothing_of_what_it_leaves_out(lab: Path) -> None:
    text = COUNTS.replace("window: 1", "grid: {window: [1, 2]}")
    text += "report: [{use: info, inputs: counts, pair: cats I, expect: [{count: 0}, {count: 3}]}]\n"
    assert run(lab, text).code == 0
    ran = run(lab, text, "--only", "counts-window=1")
    assert ran.code == 0 and "expected" not in ran.text


PRINTING = """\
report:
  - {use: encode, words: true, vocab: tokens, text: I like cats, expect: [{piece: cats, id: 2}]}
  - {use: encode, inputs: five.txt, words: true, min-count: 1, count: true, expect: {tokens_read: 15, types_kept: 5}}
  - {use: bpe-train, inputs: five.txt, explain: 1, expect: {step: 1, left: i, right: k}}
  - {use: word2vec, inputs: tokens, dim: 2, sample: 0, explain: 1, expect: {number: 1, loss: 4.158883}}
  - {use: fasttext, inputs: tokens, dim: 2, sample: 0, explain: 1, seed: 3, expect: {number: 1}}
  - {use: attend, given: table.yaml}
"""


def test_printing_options_make_reports(lab: Path) -> None:
    """Each prints what the command of --dry-run prints."""
    (lab / "table.yaml").write_text("{E: [[1, 2]], ids: [0], expect: {X: [[1, 2]]}}", encoding="utf-8")
    (lab / "e.yaml").write_text(COUNTS + PRINTING, encoding="utf-8")
    ran = ok("run", "e.yaml", cwd=lab)
    dry = ok("run", "e.yaml", "--dry-run", cwd=lab).text.splitlines()
    assert dry[-2].startswith("embcli fasttext build/e/tokens.npz ") and dry[-2].endswith("--seed 3")
    assert dry[-1] == "embcli attend --given table.yaml" and len(dry) == 2 + 6
    for command in dry[2:]:
        if "'" not in command and "--count" not in command:
            assert ok(*command.split()[1:], "-q", cwd=lab).text in ran.text, command
    failed(run(lab, "report: [{use: attend, given: none.yaml}]\n"), 1, "report 1: --given: unknown step or file")
    (lab / "table.yaml").write_text("{E: [[1, 2]], ids: [0], expect: {X: [[1, 3]]}}", encoding="utf-8")
    failed(
        run(lab, "report: [{use: attend, given: table.yaml}]\n"), 4, "report attend 1: X is [[1, 2]], expected [[1, 3]]"
    )


@pytest.mark.parametrize(
    ("entry", "parts"),
    [
        ("{use: encode, inputs: five.txt, words: true}", ["encode: builds", "with text or count it prints"]),
        ("{use: attend, given: t.yaml, inputs: tokens}", ["inputs: attend needs none here"]),
        ("{use: attend, inputs: tokens}", ["with given it prints"]),
        ("{use: word2vec, inputs: counts, explain: 1}", ["word2vec reads tokens, and step counts makes counts"]),
        ("{use: cooc, inputs: tokens, top: 3}", ["stands under 'steps:'"]),
        ("{use: info, inputs: counts, seed: 3}", ["unknown option 'seed'"]),
    ],
)
def test_a_fault_of_a_printing_entry_names_it(lab: Path, entry: str, parts: list[str]) -> None:
    (lab / "t.yaml").write_text("{E: [[1, 2]]}", encoding="utf-8")
    ran = run(lab, f"{COUNTS}report: [{entry}]\n")
    assert ran.code in (2, 3)
    failed(ran, ran.code, "e.yaml: report 1: ", *parts)


def test_a_step_that_only_prints_is_sent_to_the_report(lab: Path) -> None:
    ran = run(lab, COUNTS + "  x: {use: word2vec, inputs: tokens, explain: 3}\n")
    failed(ran, 2, "step x: explain: this option of word2vec only prints; it belongs under 'report:'")


@pytest.fixture
def several(lab: Path) -> Path:
    """Return a folder with an experiment that runs two others, the second of which finds another number."""
    (lab / "a").mkdir()
    (lab / "a" / "one.yaml").write_text(COUNTS.replace("five.txt", "../five.txt") + PAIRS, encoding="utf-8")
    text = COUNTS.replace("five.txt", "'${text}'") + PAIRS.replace("count: 1}", "count: 7}")
    (lab / "two.yaml").write_text("vars: {text: five.txt}\n" + text, encoding="utf-8")
    (lab / "all.yaml").write_text("runs: [a/one.yaml, two.yaml]\n", encoding="utf-8")
    return lab


def test_an_experiment_runs_others(several: Path) -> None:
    ran = embcli("run", "all.yaml", cwd=several)
    last = ran.talk.splitlines()[-1]
    assert ran.code == 4 and last.startswith("embcli run: error: two.yaml: report Pairs: expected word dogs, ")
    assert "embcli run: one: counts: " in ran.talk and "embcli run: two: counts: " in ran.talk
    assert "=== a/one.yaml ===\n\n== Pairs ==\n" in ran.text and "\n\n=== two.yaml ===\n" in ran.text
    assert ran.text.endswith(
        "experiment  reports  expected  found  failed\n"
        "a/one.yaml        1         2      2       0\n"
        "two.yaml          1         2      1       1\n"
    )
    assert (several / "a/build/one/report.txt").exists() and (several / "build/two/report.txt").exists()
    dry = ok("run", "all.yaml", "-n", cwd=several).text
    assert dry.startswith("# a/one.yaml\n# up to date: embcli encode five.txt") and "\n# two.yaml\n" in dry
    labels = {
        json.loads(line).get("report") for line in embcli("run", "all.yaml", "--json", cwd=several).text.splitlines()
    }
    assert labels == {"one: Pairs", "two: Pairs", None}


def test_a_failure_of_one_leaves_the_others(several: Path) -> None:
    (several / "a" / "one.yaml").write_text(COUNTS.replace("five.txt", "../none.txt"), encoding="utf-8")
    failed(embcli("run", "all.yaml", "-q", cwd=several), 1, "all.yaml: a/one.yaml: step tokens: inputs: unknown step")
    broken = COUNTS.replace("five.txt", "../five.txt").replace("min-count: 1", "min-count: 99") + PAIRS
    (several / "a" / "one.yaml").write_text(broken, encoding="utf-8")
    ran = embcli("run", "all.yaml", "-q", cwd=several)
    failed(ran, 4, "a/one.yaml: step tokens: ", "; two.yaml: report Pairs: ")
    assert "== Pairs ==" in ran.text


def test_variables_go_to_the_files_that_have_them(several: Path) -> None:
    (several / "two.txt").write_text("I like dogs\n" * 7, encoding="utf-8")
    failed(embcli("run", "all.yaml", "-q", "--set", "txet=two.txt", cwd=several), 2, "unknown variable 'txet'; did you")
    ran = embcli("run", "all.yaml", "-q", "--set", "text=two.txt", cwd=several)
    failed(ran, 1, "two.yaml: report Pairs: ", "unknown word 'cats'")


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("runs: [all.yaml]", ["run each other in a circle: ", "all.yaml -> "]),
        ("runs: [none.yaml]", ["none.yaml: there is no such file"]),
        ("runs: []", ["steps: expected a mapping"]),
        ("runs: 3", ["runs: expected text, found 3"]),
        ("runs: [two.yaml, twin.yaml]", ["two.yaml and ", "twin.yaml write to one folder, ", "another 'out:'"]),
    ],
)
def test_a_fault_of_runs_is_one_line(several: Path, text: str, parts: list[str]) -> None:
    (several / "twin.yaml").write_text("name: two\n" + (several / "two.yaml").read_text(), encoding="utf-8")
    (several / "all.yaml").write_text(text + "\n", encoding="utf-8")
    ran = embcli("run", "all.yaml", "-q", cwd=several)
    failed(ran, ran.code, *parts)
    assert ran.code in (1, 2)


def test_only_is_for_one_experiment(several: Path) -> None:
    failed(embcli("run", "all.yaml", "--only", "counts", cwd=several), 2, "--only: names steps of one experiment")


def test_a_pair_and_its_weight(lab: Path) -> None:
    """PPMI, cds 1, of the worked example: ln (3 * 20 / (3 * 10)) = ln 2."""
    (lab / "e.yaml").write_text(COUNTS, encoding="utf-8")
    ok("run", "e.yaml", "-q", cwd=lab)
    pairs = ["info", "build/e/counts.npz", "--pair", "cats like", "--pair", "I I"]
    text = ok(*pairs, "--weight", "ppmi", "--cds", "1", "--top", "1", "--json", cwd=lab).text
    rows = [json.loads(line) for line in text.splitlines()]
    assert [row["weight"] for row in rows] == [pytest.approx(math.log(2)), 0, None]
    smoothed = json.loads(ok(*pairs, "--weight", "pmi", "--json", cwd=lab).text.splitlines()[0])["weight"]
    columns = [n**0.75 for n in (10, 5, 3, 1, 1)]
    assert smoothed == pytest.approx(math.log(3 * sum(columns) / (3 * columns[0])))
    assert "weight" not in ok(*pairs, "--json", cwd=lab).text
    failed(embcli("info", "build/e/counts.npz", "--weight", "pmi", cwd=lab), 2, "--weight pmi: weighs pairs")


def test_files_of_experiments_name_files_that_exist() -> None:
    assert "runs:" in (ROOT / "experiments" / "worked" / "all.yaml").read_text(encoding="utf-8")
