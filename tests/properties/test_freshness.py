"""Oracle: what decides an artifact's bytes. Any change of it builds the artifact again, nothing else does."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from embcli.pipeline import freshness
from embcli.pipeline.config import load
from embcli.pipeline.plan import make_plan
from embcli.pipeline.runner import run, survey

TEXT = "a b c a b d\nc a d b a\nb a c d\n" * 20
STEPS = {
    "tokens": "{use: encode, inputs: c.txt, words: true}",
    "counts": "{use: cooc, inputs: tokens}",
    "vectors": "{use: svd, inputs: counts, dim: 2}",
    "mapped": "{use: encode, inputs: c.txt, words: true, vocab: words.npz}",
}


class Quiet:
    """Keeps what a step says."""

    def __init__(self, label: str, said: list[str]) -> None:
        self.label, self.said = label, said

    def say(self, text: str) -> None:
        self.said.append(f"{self.label}: {text}")

    warn = say

    def detail(self, text: str) -> None: ...

    def progress(self, done: float, total: float, unit: str) -> None: ...

    def epoch(self, event: dict[str, object]) -> None: ...


class Lab:
    """An experiment in a folder, and which of its artifacts a run builds."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.steps, self.top = folder, dict(STEPS), ""
        (folder / "c.txt").write_text(TEXT, encoding="utf-8")
        self.said: list[str] = []
        make = f"steps:\n  words: {{use: encode, inputs: c.txt, words: true}}\nout: {folder}\n"
        (folder / "words.yaml").write_text(make, encoding="utf-8")
        run(make_plan(load(str(folder / "words.yaml"))), lambda label: Quiet(label, []))

    def plan(self) -> object:
        lines = [f"  {name}: {step}\n" for name, step in self.steps.items()]
        (self.folder / "e.yaml").write_text(f"{self.top}steps:\n{''.join(lines)}", encoding="utf-8")
        return make_plan(load(str(self.folder / "e.yaml")))

    def built(self, **options: object) -> list[str]:
        self.said.clear()
        plan = self.plan()
        foreseen = [build.name for build, fresh in survey(plan).items() if not fresh]  # type: ignore[arg-type]
        run(plan, lambda label: Quiet(label, self.said), **options)  # type: ignore[arg-type]
        names = [line.split(":")[0] for line in self.said if not line.endswith("up to date")]
        assert options or set(names) <= set(foreseen)
        return names

    def file(self, name: str) -> Path:
        return self.folder / "build" / "e" / name


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    lab = Lab(tmp_path)
    assert lab.built() == list(STEPS)
    assert lab.built() == []
    return lab


def test_a_touched_input_is_still_the_same(lab: Lab) -> None:
    os.utime(lab.folder / "c.txt", (1, 1))
    os.utime(lab.file("tokens.npz"), (1, 1))
    assert lab.built() == []


@pytest.mark.parametrize("how", ["written", "replaced"])
@pytest.mark.parametrize("cached", [True, False])
def test_another_input_of_the_same_size_and_date_is_seen(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, how: str, cached: bool
) -> None:
    """The cache of digests knows files by more than size and date; a file that has just changed is not in it."""
    if cached:
        monkeypatch.setattr(freshness, "_SETTLED", 0)
    assert lab.built() == []
    text = lab.folder / "c.txt"
    assert (str(text) in json.loads(lab.file(".run/texts.json").read_text() if cached else "{}")) == cached
    found, target = os.stat(text), text if how == "written" else lab.folder / "new.txt"
    target.write_text(TEXT.replace("a b c", "a b b"), encoding="utf-8")
    os.utime(target, ns=(found.st_atime_ns, found.st_mtime_ns))
    target.replace(text)
    assert (os.stat(text).st_size, os.stat(text).st_mtime_ns) == (found.st_size, found.st_mtime_ns)
    assert lab.built() == list(STEPS)


def test_digests_of_old_texts_are_not_computed_again(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(freshness, "_SETTLED", 0)
    lab.steps["tokens"] = "{use: encode, inputs: c.txt, words: true, min-count: 2}"
    assert "tokens" in lab.built()
    monkeypatch.setattr(freshness, "file_digest", lambda path: pytest.fail(f"{path} was read again"))
    assert lab.built() == []
    with pytest.raises(pytest.fail.Exception):  # and the guard can fail
        lab.built(force=True)


@pytest.mark.parametrize(
    ("name", "step", "due"),
    [
        ("vectors", "{use: svd, inputs: counts, dim: 3}", ["vectors"]),
        ("vectors", "{use: svd, inputs: counts, dim: 2, seed: 4}", ["vectors"]),
        ("counts", "{use: cooc, inputs: tokens, window: 2}", ["counts", "vectors"]),
        ("counts", "{use: cooc, inputs: tokens, memory: 1GB}", []),
        ("counts", "{use: cooc, inputs: tokens, window: 5}", []),
        ("mapped", "{use: encode, inputs: c.txt, words: true, vocab: tokens}", []),
    ],
)
def test_an_option_decides_what_is_built_again(lab: Lab, name: str, step: str, due: list[str]) -> None:
    lab.steps[name] = step
    assert lab.built() == due
    assert lab.built() == []


def test_the_content_of_a_file_that_an_option_names_counts(lab: Lab) -> None:
    (lab.folder / "words.yaml").write_text(
        f"out: {lab.folder}\nsteps:\n  words: {{use: encode, inputs: c.txt, words: true, max-vocab: 2}}\n",
        encoding="utf-8",
    )
    run(make_plan(load(str(lab.folder / "words.yaml"))), lambda label: Quiet(label, []))
    assert lab.built() == ["mapped"]


def test_another_version_builds_everything(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(freshness, "__version__", "0.0.0")
    assert lab.built() == list(STEPS)


def test_a_new_seed_of_the_experiment_builds_everything(lab: Lab) -> None:
    lab.top = "seed: 5\n"
    assert lab.built() == list(STEPS)
    lab.top = "seed: 5\nname: e\n"
    assert lab.built() == []


def test_what_came_out_the_same_makes_nothing_stale(lab: Lab) -> None:
    """The same text in another packing is read again, but its tokens are the same bytes."""
    (lab.folder / "c.txt").write_bytes(gzip.compress(TEXT.encode()))
    before = lab.file("tokens.npz").read_bytes()
    assert lab.built() == ["tokens", "mapped"]
    assert lab.file("tokens.npz").read_bytes() == before


@pytest.mark.parametrize("damage", ["gone", "cut", "byte", "byte and date", "other", "record"])
def test_an_artifact_that_is_not_what_was_made_is_made_again(lab: Lab, damage: str) -> None:
    target = lab.file("counts.npz")
    good = target.read_bytes()
    if damage == "gone":
        target.unlink()
    elif damage == "cut":
        target.write_bytes(good[:-50])
    elif damage.startswith("byte"):  # of an array; the digest in the file stays what it was
        found, at = os.stat(target), good.index(np.load(target)["data"].tobytes())
        target.write_bytes(good[:at] + bytes([good[at] ^ 1]) + good[at + 1 :])
        if damage == "byte and date":
            os.utime(target, ns=(found.st_atime_ns, found.st_mtime_ns))
    elif damage == "other":
        target.write_bytes(lab.file("tokens.npz").read_bytes())
    else:
        lab.file(".run/steps/counts.json").write_text("[1, 2", encoding="utf-8")
    assert lab.built() == ["counts"]
    assert target.read_bytes() == good


def test_only_artifacts_that_were_touched_are_checked(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    real = freshness.store.verify
    monkeypatch.setattr(freshness.store, "verify", lambda path: seen.append(os.path.basename(path)) or real(path))
    assert lab.built() == [] and seen == []
    os.utime(lab.file("counts.npz"), (1, 1))
    survey(lab.plan())  # type: ignore[arg-type] - a dry run writes nothing down
    assert seen == ["counts.npz"]
    assert lab.built() == [] and seen == ["counts.npz"] * 3  # foreseen, and built
    assert lab.built() == [] and seen == ["counts.npz"] * 3


def test_steps_may_have_the_names_of_what_a_run_keeps(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(freshness, "_SETTLED", 0)
    lab.steps = {"texts": STEPS["tokens"], "steps": "{use: cooc, inputs: texts}"}
    assert lab.built() == ["texts", "steps"]
    assert lab.built() == []


def test_what_a_killed_process_left_is_removed(lab: Lab) -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as dead:
        pass
    gone = [lab.file(f".counts.npz.{dead.pid}{more}.tmp") for more in ("", ".1")]
    kept = [lab.file(name) for name in (
        f".counts.npz.{os.getppid()}.tmp", f".counts.npz.{os.getpid()}.tmp", f".other.npz.{dead.pid}.tmp",
        f"counts.npz.{dead.pid}.tmp", ".counts.npz.x.tmp", f".counts.npz.{dead.pid}.tmp.npz",
    )]  # fmt: skip
    for path in (*gone, *kept):
        path.write_bytes(b"PK")
    survey(lab.plan())  # type: ignore[arg-type]
    assert all(path.exists() for path in (*gone, *kept))
    assert lab.built() == []
    assert [path.exists() for path in gone] == [False, False] and all(path.exists() for path in kept)


def test_a_damaged_cache_of_digests_is_no_reason_to_fail(lab: Lab) -> None:
    for text in ("{", "[]", '{"x": 3}'):
        lab.file(".run/texts.json").write_text(text, encoding="utf-8")
        assert lab.built() == []


def test_force_builds_everything(lab: Lab) -> None:
    assert lab.built(force=True) == list(STEPS)


def test_an_input_that_changes_while_it_is_read_is_not_believed(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    from embcli.pipeline import runner

    real = runner.execute

    def meddle(*args: object) -> object:
        (lab.folder / "c.txt").write_text(f"{TEXT}a b\n", encoding="utf-8")
        return real(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(runner, "execute", meddle)
    lab.steps = {"tokens": "{use: encode, inputs: c.txt, words: true, min-count: 3}"}
    lab.built()
    assert any("changed while it was read" in line for line in lab.said)
    monkeypatch.setattr(runner, "execute", real)
    assert lab.built() == ["tokens"]


def test_the_log_has_times_and_artifacts_have_none(lab: Lab) -> None:
    lines = [json.loads(line) for line in lab.file("log.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [line["artifact"] for line in lines] == list(STEPS)
    assert all(line["seconds"] >= 0 and line["when"].startswith("20") and len(line["digest"]) == 64 for line in lines)
    before = {name: lab.file(f"{name}.npz").read_bytes() for name in STEPS}
    time.sleep(1.1)
    lab.built(force=True)
    assert before == {name: lab.file(f"{name}.npz").read_bytes() for name in STEPS}


def test_a_folder_of_texts(lab: Lab) -> None:
    (lab.folder / "texts").mkdir()
    for name in ("a", "b"):
        (lab.folder / "texts" / name).write_text(TEXT, encoding="utf-8")
    lab.steps = {"tokens": "{use: encode, inputs: texts, words: true}"}
    assert lab.built() == ["tokens"]
    (lab.folder / "texts" / "c").write_text(TEXT, encoding="utf-8")
    assert lab.built() == ["tokens"]
    assert lab.built() == []
