"""Oracle: the commands themselves. What ``run`` builds and prints is what its steps build and print one by one."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import DATA, ROOT, Ran, embcli, environment, failed, ok

SMALL = """\
name: small            # of 2,000 lines of the bundled corpus
out: made
steps:
  tokens:  {use: encode, inputs: 'my text.txt', words: true, lower: true}
  counts:  {use: cooc, inputs: tokens, weighting: dynamic, grid: {window: [2, 5]}}
  vectors: {use: svd, inputs: counts, dim: 10, cds: 1e-1, seed: 3}
  mapped:  {use: encode, inputs: 'my text.txt', words: true, vocab: tokens, gaps: keep}
report:
  - {use: neighbors, inputs: vectors, queries: [king, 'the + of', -no-such], top: 3, title: Near}
  - {use: info, inputs: counts, pair: [the king], top: 1}
"""
NAMES = ["tokens", "counts-window=2", "counts-window=5", "vectors-window=2", "vectors-window=5", "mapped"]


def replay(log: Path) -> list[Ran]:
    """Run what ``recorder`` wrote down, and forget it."""
    words = log.read_text(encoding="utf-8").split("\0") if log.exists() else [""]
    log.unlink(missing_ok=True)
    done = []
    while len(words) > 1:
        folder, count = words[0], int(words[1])
        done.append(ok(*words[2 : 2 + count], cwd=Path(folder)))
        words = words[2 + count :]
    return done


def without_lost(report: str) -> str:
    """Return what was printed of a report.txt: lines about unknown words are talk on the screen."""
    blocks = report.split("\n\n")
    return "\n\n".join(each for each in blocks if not each.startswith("vectors window"))


@pytest.fixture
def lab(tmp_path: Path) -> Path:
    """Return a folder with an experiment in a folder whose name wants quoting."""
    lab = tmp_path / "the lab"
    lab.mkdir()
    lines = (DATA / "corpus.txt").read_bytes().splitlines(keepends=True)[:2000]
    (lab / "my text.txt").write_bytes(b"".join(lines))
    (lab / "small.yaml").write_text(SMALL, encoding="utf-8")
    return lab


def artifacts(folder: Path) -> dict[str, bytes]:
    return {path.stem: path.read_bytes() for path in sorted(folder.glob("*.npz"))}


def recorder(folder: Path) -> dict[str, str]:
    """Return an environment in which a shell finds an ``embcli`` that writes its words down in folder/log."""
    (folder / "bin").mkdir(exist_ok=True)
    script = f"""#!/bin/sh\nprintf '%s\\0' "$PWD" "$#" "$@" >> '{folder / "log"}'\n"""
    (folder / "bin" / "embcli").write_text(script, encoding="utf-8")
    (folder / "bin" / "embcli").chmod(0o755)
    return environment(PATH=f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}")


@pytest.mark.parametrize("where", ["the lab", "elsewhere"])
def test_the_commands_of_a_dry_run_make_the_same_bytes_and_tables(lab: Path, tmp_path: Path, where: str) -> None:
    (tmp_path / "elsewhere").mkdir()
    cwd = tmp_path / where
    yaml = os.path.relpath(lab / "small.yaml", cwd)
    ran = ok("run", yaml, cwd=cwd)
    made = artifacts(lab / "made")
    assert sorted(made) == sorted(NAMES)
    commands = ok("run", yaml, "-n", "--force", cwd=cwd).text
    assert commands.startswith("mkdir -p ") and commands.count("\n") == 1 + len(NAMES) + 2
    (lab / "made").rename(lab / "old")
    subprocess.run(["sh", "-ec", commands], cwd=cwd, env=recorder(tmp_path), check=True)
    done = replay(tmp_path / "log")
    assert len(done) == len(NAMES) + 2 and artifacts(lab / "made") == made
    # the tables of run have titles and names of its own; numbers and words are the same
    lines = done[-2].text.splitlines()[3:6]
    assert len(lines) == 3
    for line in lines:
        assert line in ran.text


def test_a_second_run_builds_nothing_and_prints_the_same(lab: Path) -> None:
    first, kept = ok("run", lab / "small.yaml"), artifacts(lab / "made")
    stamps = {path: os.stat(path).st_mtime_ns for path in (lab / "made").glob("*.npz")}
    second = ok("run", lab / "small.yaml")
    assert second.out == first.out and first.text.startswith("== Near ==\n\nking\n")
    labels = [name.replace("-", " ") for name in NAMES]
    assert second.talk.splitlines()[: len(NAMES)] == [f"embcli run: {label}: up to date" for label in labels]
    assert "Near: vectors window=2: unknown word '-no-such'" in second.talk
    assert artifacts(lab / "made") == kept
    assert stamps == {path: os.stat(path).st_mtime_ns for path in (lab / "made").glob("*.npz")}
    report = (lab / "made" / "report.txt").read_text(encoding="utf-8")
    assert without_lost(report) == first.text != report and report.count("unknown word '-no-such'") == 2
    dry = ok("run", lab / "small.yaml", "--dry-run").text
    assert dry.count("# up to date: embcli ") == len(NAMES) and "mkdir" not in dry


def test_one_line_a_step_with_its_figures(lab: Path) -> None:
    talk = [line for line in ok("run", lab / "small.yaml").talk.splitlines() if "compiling" not in line]
    assert talk[0].startswith("embcli run: tokens: kept ") and talk[0].endswith(" s")
    assert talk[3].startswith("embcli run: vectors window=2: 10 dimensions")
    assert ok("run", lab / "small.yaml", "-q").err == b""
    talk = ok("run", lab / "small.yaml", "-v", "--force").talk.splitlines()
    assert talk[1].startswith("embcli run: tokens: options: words, ") and "digest: " in talk[2]


@pytest.mark.parametrize("options", [["--jobs", "2"], ["--jobs", "7", "--threads", "5"], ["--threads", "1"]])
def test_jobs_and_threads_do_not_change_bytes(lab: Path, options: list[str]) -> None:
    first = ok("run", lab / "small.yaml")
    kept = artifacts(lab / "made")
    again = ok("run", lab / "small.yaml", "--force", *options)
    assert artifacts(lab / "made") == kept and again.out == first.out
    assert sorted(path.name for path in (lab / "made").iterdir() if path.suffix == ".tmp") == []


def test_another_option_would_be_seen(lab: Path) -> None:
    ok("run", lab / "small.yaml")
    kept = artifacts(lab / "made")
    (lab / "small.yaml").write_text(SMALL.replace("seed: 3", "seed: 4"), encoding="utf-8")
    ok("run", lab / "small.yaml")
    assert {name for name, raw in artifacts(lab / "made").items() if raw != kept[name]} == {NAMES[3], NAMES[4]}


def test_only_builds_what_is_needed(lab: Path) -> None:
    ran = ok("run", lab / "small.yaml", "--only", "counts-window=5")
    assert sorted(artifacts(lab / "made")) == ["counts-window=5", "tokens"]
    assert ran.text.startswith("word  context") and "Near" not in ran.text  # the report on what was built, no other
    assert not (lab / "made" / "report.txt").exists()
    failed(embcli("run", lab / "small.yaml", "--only", "count"), 2, "unknown step 'count'; did you mean 'counts'?")


def test_json_is_one_object_a_row(lab: Path) -> None:
    rows = [json.loads(line) for line in ok("run", lab / "small.yaml", "--json").text.splitlines()]
    assert rows[0].keys() == {"report", "use", "query", "artifact", "rank", "word", "score", "count"}
    assert (rows[0]["report"], rows[0]["artifact"], rows[-1]["report"]) == ("Near", "vectors window=2", "info 2")
    plan = [json.loads(line) for line in ok("run", lab / "small.yaml", "-n", "--json").text.splitlines()]
    assert [line["artifact"] for line in plan] == [*NAMES, None, None]
    assert all(line["up_to_date"] for line in plan[: len(NAMES)])


def test_a_report_entry_without_an_answer_leaves_the_others(lab: Path) -> None:
    first = ok("run", lab / "small.yaml").text
    more = "  - {use: neighbors, inputs: vectors, queries: [no-such], title: None}\n"
    more += "  - {use: info, inputs: tokens}\n"
    (lab / "small.yaml").write_text(SMALL.replace("report:\n", f"report:\n{more}"), encoding="utf-8")
    ran = embcli("run", lab / "small.yaml", "-q")
    error = "vectors window=2: unknown word 'no-such'"
    failed(ran, 1, "embcli run: error: report None: " + error)
    info, rest = ran.text.split("\n== Near ==\n")
    assert f"== Near ==\n{rest}" == first and info.strip() and not info.startswith("\n")
    kept = (lab / "made" / "report.txt").read_text(encoding="utf-8")
    title, said, tables = without_lost(kept).split("\n\n", 2)
    assert (title, tables) == ("== None ==", ran.text) and said.startswith(f"error: {error}")
    rows = [json.loads(line) for line in embcli("run", lab / "small.yaml", "--json").text.splitlines()]
    assert {row["report"] for row in rows} == {"info 2", "Near", "info 4"}


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_failure_stops_what_needs_it_and_nothing_else(lab: Path, jobs: str) -> None:
    bad = SMALL.replace("dim: 10, cds: 1e-1", "dim: 10, weight: none").replace("window: [2, 5]", "window: [2]")
    bad = bad.replace("  mapped:", "  none: {use: encode, inputs: my text.txt, words: true, min-count: 99999}\n"
                      "  after: {use: cooc, inputs: none}\n  mapped:")  # fmt: skip
    (lab / "small.yaml").write_text(bad, encoding="utf-8")
    ran = embcli("run", lab / "small.yaml", "--jobs", jobs)
    assert ran.code == 4 and ran.out == b""
    last = ran.talk.splitlines()[-1]
    assert last.startswith("embcli run: error: step none: ") and "nothing left to learn from" in last
    assert sorted(artifacts(lab / "made")) == sorted(["tokens", "counts-window=2", "vectors-window=2", "mapped"])
    assert not (lab / "made" / "report.txt").exists()


def test_a_missing_input_is_found_before_anything_is_built(lab: Path) -> None:
    bad = SMALL.replace("vocab: tokens", "vocab: nothing.npz")
    (lab / "small.yaml").write_text(bad, encoding="utf-8")
    failed(embcli("run", lab / "small.yaml"), 1, "small.yaml: step mapped: --vocab: unknown step or file 'nothing.npz'")
    assert not (lab / "made").exists()
    failed(embcli("run", lab / "none.yaml"), 1, "none.yaml: there is no such file")
    failed(embcli("run", lab / "my text.txt"), 2, "my text.txt")


def test_an_output_folder_that_cannot_be(lab: Path) -> None:
    (lab / "made").write_bytes(b"")
    failed(embcli("run", lab / "small.yaml"), 1, "made: cannot be made")


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, dict[str, bytes]]:
    """Return a text that takes a while, and what a run that nobody stops makes of it."""
    folder, text = tmp_path_factory.mktemp("large"), (DATA / "corpus.txt").read_bytes() * 3
    (folder / "my text.txt").write_bytes(text)
    (folder / "small.yaml").write_text(SMALL, encoding="utf-8")
    ok("run", folder / "small.yaml")
    return text, artifacts(folder / "made")


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_a_run_that_was_stopped_goes_on(lab: Path, large: tuple[bytes, dict[str, bytes]], number: int) -> None:
    """What was complete is kept, what was not is absent, and the end is the same."""
    text, kept = large
    (lab / "my text.txt").write_bytes(text)
    command = [sys.executable, "-m", "embcli", "run", str(lab / "small.yaml")]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment())
    until = time.monotonic() + 120
    while not (lab / "made" / ".run" / "steps" / "tokens.json").exists() and time.monotonic() < until:
        time.sleep(0.005)
    child.send_signal(number)
    talk = child.communicate(timeout=120)[1].decode()
    assert "Traceback" not in talk
    if number != signal.SIGKILL:
        assert child.returncode == (130 if number == signal.SIGINT else 143)
        assert not [path for path in (lab / "made").iterdir() if path.suffix == ".tmp"]
    assert "vectors-window=5" not in artifacts(lab / "made")
    again = ok("run", lab / "small.yaml")
    assert "tokens: up to date" in again.talk
    assert artifacts(lab / "made") == kept
    assert not [path for path in (lab / "made").iterdir() if path.suffix == ".tmp"]


def test_variables_are_set_in_the_shell(lab: Path, tmp_path: Path) -> None:
    text = SMALL.replace("out: made", "out: ${to}\nvars: {text: my text.txt, to: made, dim: 10}")
    text = text.replace("'my text.txt'", "'${text}'").replace("dim: 10, cds", "dim: '${dim}', cds")
    (lab / "small.yaml").write_text(text, encoding="utf-8")
    (tmp_path / "other.txt").write_bytes((lab / "my text.txt").read_bytes())
    ok("run", lab / "small.yaml", "--set", "to=here", "--set", "text=other.txt", "--set", "dim=4", cwd=tmp_path)
    assert sorted(artifacts(tmp_path / "here")) == sorted(NAMES)
    failed(embcli("run", lab / "small.yaml", "--set", "dimm=4"), 2, "unknown variable 'dimm'; did you mean 'dim'?")
    failed(embcli("run", lab / "small.yaml", "--set", "dim=x"), 2, "step vectors", "--dim: expected a whole number")


def test_make_builds_the_artifacts_of_the_quickstart(tmp_path: Path) -> None:
    """experiments/Makefile and experiments/quickstart.yaml: the same bytes; a second make does nothing."""
    (tmp_path / "experiments").mkdir()
    for name in ("quickstart.yaml", "Makefile"):
        (tmp_path / "experiments" / name).write_bytes((ROOT / "experiments" / name).read_bytes())
    (tmp_path / "data").mkdir()
    for name in ("questions.txt", "similarity.tsv"):
        (tmp_path / "data" / name).symlink_to(DATA / name)
    lines = (DATA / "corpus.txt").read_bytes().splitlines(keepends=True)
    known = [line for line in lines if b" big " in line or b" small " in line]  # the report asks for these words
    (tmp_path / "data" / "corpus.txt").write_bytes(b"".join(lines[:600] + known[:60]))
    steps = [option for name in ("vectors", "sweep") for option in ("--only", name)]
    ok("run", "experiments/quickstart.yaml", *steps, "-q", cwd=tmp_path)
    runs = artifacts(tmp_path / "build" / "quickstart")
    make = ["make", "-C", "experiments"]
    subprocess.run(make, cwd=tmp_path, env=recorder(tmp_path), capture_output=True, check=True)
    replay(tmp_path / "log")
    makes = artifacts(tmp_path / "build" / "make")
    same = {name: name for name in ("tokens", "counts", "vectors")}
    same |= {"sweep-cds=1-shift=5": "cds1.shift5", "sweep-cds=0.75-shift=1": "cds0.75.shift1"}
    for name, other in same.items():
        assert runs[name] == makes[f"corpus.{other}"], name
    assert len(runs) == len(makes) == 7
    again = subprocess.run(make, cwd=tmp_path, env=recorder(tmp_path), capture_output=True, check=True)
    assert b"embcli" not in again.stdout and not (tmp_path / "log").exists()


def test_the_examples_of_this_project_are_sound() -> None:
    """Every experiment's plan can be made; variables without a value are set to what is here."""
    found = sorted((ROOT / "experiments").glob("*.yaml"))
    assert {path.name for path in found} >= {"quickstart.yaml", "levy2015.yaml"}
    text = ok("run", ROOT / "experiments" / "quickstart.yaml", "--dry-run").text
    assert "embcli eval" in text
    failed(embcli("run", ROOT / "experiments" / "levy2015.yaml", "-n"), 2, "'corpus' has no value; give --set corpus=")
