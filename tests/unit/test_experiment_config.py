"""Oracle: the rules of experiment files, written out by hand; every trap of YAML is one line that names its place."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from embcli.errors import EmbcliError, InputError, KindError, UsageError
from embcli.pipeline.config import load
from embcli.pipeline.plan import Plan, make_plan

HEAD = "steps:\n  t: {use: encode, inputs: c.txt, words: true}\n"


def plan_of(folder: Path, text: str, *settings: str) -> Plan:
    (folder / "c.txt").write_text("a b c a b\n", encoding="utf-8")
    (folder / "e.yaml").write_text(text, encoding="utf-8")
    return make_plan(load(str(folder / "e.yaml"), settings))


def params_of(folder: Path, text: str, *settings: str) -> Any:
    return plan_of(folder, text, *settings).builds[-1].params


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("", ["expected a mapping"]),
        ("[1, 2]", ["expected a mapping"]),
        ("steps: {}", ["steps: expected a mapping"]),
        ("step: {}", ["unknown key 'step'", "'steps'"]),
        ("steps:\n\tt: 1", ["e.yaml:2", "a tab"]),
        ("steps: {a: [}", ["e.yaml:1", "not valid YAML"]),
        ("steps:\n  t: {use: encode}\n  t: {use: cooc}", ["e.yaml:3", "'t' is there twice"]),
        (HEAD + "  v: {use: svd, inputs: t, dim: 3, dim: 4}", ["e.yaml:3", "'dim' is there twice"]),
        (HEAD + "  v: {use: cooc, inputs: t, cross-rows: true, cross_rows: no}", ["step v", "twice"]),
        (HEAD + "  v: {use: cooc, inputs: t, window: 012}", ["e.yaml:3", "'012' is 10"]),
        (HEAD + "  v: {use: cooc, inputs: t, window: 1:30}", ["e.yaml:3", "'1:30' is 90"]),
        (HEAD + "  v: !!python/object:os.system {}", ["e.yaml:3", "python/object"]),
        (HEAD + "---\nsteps: {}", ["e.yaml:3", "single document"]),
        ("a: &a [*a]\nsteps: *a", ["contains itself"]),
        ("steps: " + "[" * 3000, ["nested too deep"]),
        (HEAD + "  v: {use: cooc, inputs: ${x}}", ["e.yaml:3", "put ${...} in quotes"]),
        ("name: a/b\n" + HEAD, ["name: expected letters"]),
        ("name: yes\n" + HEAD, ["name: ", "True"]),
        ("out: 3\n" + HEAD, ["out: expected a folder"]),
        ("seed: -1\n" + HEAD, ["--seed", "at least 0"]),
        (HEAD + "report: {use: info}", ["report: expected a list"]),
    ],
)
def test_a_fault_of_the_file_is_one_line(tmp_path: Path, text: str, parts: list[str]) -> None:
    with pytest.raises(UsageError) as found:
        plan_of(tmp_path, text)
    said = str(found.value)
    assert "e.yaml" in said and "\n" not in said
    for part in parts:
        assert part in said


@pytest.mark.parametrize(
    ("step", "parts"),
    [
        ("{inputs: t}", ["missing key 'use'"]),
        ("{use: coocc, inputs: t}", ["unknown step 'coocc'; did you mean 'cooc'?"]),
        ("{use: neighbors, inputs: t}", ["stand under 'report:'"]),
        ("{use: cooc}", ["inputs: expected text"]),
        ("{use: cooc, inputs: 3}", ["inputs: expected text, found 3", "quotes"]),
        ("{use: cooc, inputs: t, windwo: 3}", ["unknown option 'windwo'; did you mean 'window'?"]),
        ("{use: cooc, input: t}", ["unknown option 'input'; did you mean 'inputs'?"]),
        ("{use: cooc, inputs: t, window: ten}", ["--window: expected a whole number, found 'ten'"]),
        ("{use: cooc, inputs: t, window: 2.5}", ["--window", "whole number"]),
        ("{use: cooc, inputs: t, window: yes}", ["--window: expected a number, found True"]),
        ("{use: cooc, inputs: t, window: 0}", ["--window: must be at least 1"]),
        ("{use: cooc, inputs: t, window: [1, 2]}", ["--window", "'grid:'"]),
        ("{use: cooc, inputs: t, window: {a: 1}}", ["--window: expected one value"]),
        ("{use: cooc, inputs: t, cross-rows: 1}", ["--cross-rows: expected true or false"]),
        ("{use: cooc, inputs: t, weighting: no}", ["--weighting: expected one of flat"]),
        ("{use: cooc, inputs: t, weighting: flta}", ["did you mean 'flat'?"]),
        ("{use: cooc, inputs: t, out: x.npz}", ["out: ", "OUT/STEP.npz"]),
        ("{use: cooc, inputs: t, threads: 3}", ["threads: ", "--threads N"]),
        ("{use: cooc, inputs: t, json: true}", ["json: ", "embcli run FILE --json"]),
        ("{use: cooc, inputs: t, top: 3}", ["top: ", "only prints"]),
        ("{use: encode, inputs: c.txt, words: true, vocab: no}", ["--vocab: expected", "found False", "quotes"]),
        ("{use: encode, inputs: c.txt, words: true, vocab: tt}", ["--vocab: unknown step or file 'tt'"]),
        ("{use: encode, inputs: c.txt}", ["--words"]),
        ("{use: encode, inputs: '-', words: true}", ["stdin"]),
        ("{use: svd, inputs: [v2, v2]}", ["unknown step or file 'v2'"]),
        ("{use: svd, inputs: t}", ["svd reads counts, and step t makes tokens"]),
        ("{use: encode, inputs: t, words: true}", ["encode reads text, and step t makes tokens"]),
        ("{use: cooc, inputs: x}", ["circle: x -> x"]),
        ("{use: cooc, inputs: k}", ["step x: inputs: counted already", "at least two inputs"]),
        ("{use: transform, inputs: k, unit: true}", ["transform reads vectors, and step k makes counts"]),
        ("{use: transform, inputs: [k, t], unit: true}", ["transform reads vectors, and step k makes counts"]),
        ("{use: cooc, inputs: tt}", ["unknown step or file 'tt'", "did you mean"]),
        ("{use: cooc, inputs: t, grid: {window: 3}}", ["grid: window: expected a list"]),
        ("{use: cooc, inputs: t, grid: {window: []}}", ["grid: window: expected a list"]),
        ("{use: cooc, inputs: t, grid: {window: [1, 1.0]}}", ["grid: window: the same value"]),
        ("{use: cooc, inputs: t, window: 2, grid: {window: [1]}}", ["grid: window: is given twice"]),
        ("{use: cooc, inputs: t, grid: {widnow: [1]}}", ["grid: unknown option 'widnow'; did you mean 'window'?"]),
        ("{use: cooc, inputs: t, grid: {threads: [1]}}", ["grid: unknown option 'threads'"]),
        ("{use: cooc, inputs: t, grid: {window: [0]}}", ["must be at least 1"]),
        ("{use: cooc, inputs: t, grid: 3}", ["grid: expected a mapping"]),
    ],
)
def test_a_fault_of_a_step_names_it(tmp_path: Path, step: str, parts: list[str]) -> None:
    with pytest.raises(EmbcliError) as found:
        plan_of(tmp_path, f"{HEAD}  k: {{use: cooc, inputs: t}}\n  x: {step}\n")
    said = str(found.value)
    assert "e.yaml: step" in said or "circle" in said
    assert "\n" not in said
    for part in parts:
        assert part in said


@pytest.mark.parametrize(
    ("report", "parts"),
    [
        ("{use: neighbors, inputs: v}", ["no query"]),
        ("{use: neighbors, inputs: v, queries: [king, no]}", ["queries: expected text, found False", "YAML reads no"]),
        ("{use: neighbors, inputs: v, queries: [2020]}", ["found 2020", "quotes"]),
        ("{use: neighbors, inputs: v, queries: []}", ["queries: expected text or a list"]),
        ("{use: neighbors, inputs: v, query: a}", ["unknown option 'query'; did you mean 'queries'?"]),
        ("{use: neighbors, inputs: v, queries: a, all: true}", ["all: "]),
        ("{use: neighbors, inputs: v, queries: a, format: tsv}", ["format: ", "--json"]),
        (
            "{use: neighbors, inputs: t, queries: a}",
            ["neighbors reads vectors, counts, model or context, and step t makes tokens"],
        ),
        ("{use: svd, inputs: v}", ["stands under 'steps:'"]),
        ("{use: eval, inputs: v}", ["nothing to evaluate"]),
        ("{use: eval, inputs: v, similarity: none.tsv}", ["--similarity: unknown step or file 'none.tsv'"]),
        ("{use: info, inputs: v, words: true}", ["words: "]),
        ("{use: info, inputs: v, title: 3}", ["title: expected text"]),
    ],
)
def test_a_fault_of_a_report_names_it(tmp_path: Path, report: str, parts: list[str]) -> None:
    text = f"{HEAD}  k: {{use: cooc, inputs: t}}\n  v: {{use: svd, inputs: k}}\nreport:\n  - {report}\n"
    with pytest.raises(EmbcliError) as found:
        plan_of(tmp_path, text)
    assert "e.yaml: report 1: " in str(found.value)
    for part in parts:
        assert part in str(found.value)


def test_text_becomes_what_the_option_is(tmp_path: Path) -> None:
    steps = (
        HEAD + "  k: {use: cooc, inputs: t, cross-rows: 'yes', window: '7'}\n  v: {use: svd, inputs: k, cds: 1e-5}\n"
    )
    plan = plan_of(tmp_path, steps)
    assert (plan.builds[1].params.cross_rows, plan.builds[1].params.window) == (True, 7)
    assert plan.builds[2].params.cds == 1e-5  # a text to PyYAML


def test_anchors_and_merge_keys(tmp_path: Path) -> None:
    plan = plan_of(
        tmp_path, "x-words: &w {use: encode, inputs: c.txt, words: true}\nsteps:\n  t: {<<: *w, min-count: 2}\n"
    )
    assert (plan.builds[0].params.words, plan.builds[0].params.min_count) == (True, 2)


def test_variables(tmp_path: Path) -> None:
    text = "vars: {n: 3, m: '${n}', who:, s: 'a${n}$$'}\n" + HEAD + "  k: {use: cooc, inputs: t, window: '${m}'}\n"
    assert params_of(tmp_path, text).window == 3
    assert params_of(tmp_path, text, "n=9").window == 9
    assert load(str(tmp_path / "e.yaml")).name == "e"
    named = text.replace("vars:", "name: '${s}'\nvars:").replace("$$", "")
    assert plan_of(tmp_path, named).experiment.name == "a3"
    for setting, part in (("x=1", "unknown variable 'x'"), ("n", "NAME=VALUE"), ("=1", "NAME=VALUE")):
        with pytest.raises(UsageError, match=part):
            plan_of(tmp_path, text, setting)
    with pytest.raises(UsageError, match=r"'who' has no value; give --set who=VALUE"):
        plan_of(tmp_path, text.replace("'${m}'", "'${who}'"))
    with pytest.raises(UsageError, match=r"unknown variable 'mm'; did you mean 'm'\?"):
        plan_of(tmp_path, text.replace("'${m}'", "'${mm}'"))


def test_a_path_of_set_is_the_callers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Paths of the YAML are relative to it, a path typed in the shell to the shell's folder."""
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "mine.txt").write_text("x\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path / "b")
    text = "vars: {f: c.txt}\nsteps:\n  t: {use: encode, inputs: '${f}', words: true}\n"
    assert os.path.samefile(plan_of(tmp_path / "a", text).builds[0].paths[0], tmp_path / "a" / "c.txt")
    assert plan_of(tmp_path / "a", text, "f=mine.txt").builds[0].paths == ["mine.txt"]
    more = text.replace("'${f}'", "'${f}/mine.txt'")
    assert plan_of(tmp_path / "a", more, "f=.").builds[0].paths == ["mine.txt"]


def test_a_step_comes_before_a_file(tmp_path: Path) -> None:
    (tmp_path / "k").write_text("not an artifact", encoding="utf-8")
    steps = HEAD + "  k: {use: cooc, inputs: t}\n  v: {use: svd, inputs: k}\n  w: {use: svd, inputs: ./k}\n"
    plan = plan_of(tmp_path, steps)
    assert plan.builds[2].inputs == (plan.builds[1],)
    assert isinstance(plan.builds[3].inputs[0], str)


def test_an_artifact_never_replaces_an_input(tmp_path: Path) -> None:
    (tmp_path / "build" / "e").mkdir(parents=True)
    (tmp_path / "build" / "e" / "k.npz").write_bytes(b"")
    with pytest.raises(UsageError, match="is what step k writes; name the step"):
        plan_of(tmp_path, HEAD + "  k: {use: cooc, inputs: t}\n  v: {use: svd, inputs: build/e/k.npz}\n")


def test_artifacts_do_not_lie_in_a_folder_that_is_read_as_text(tmp_path: Path) -> None:
    (tmp_path / "texts" / "more").mkdir(parents=True)
    (tmp_path / "texts2").mkdir()
    (tmp_path / "link").symlink_to("texts")
    text = "steps:\n  t: {use: encode, inputs: [c.txt, texts], words: true}\n"
    for out in ("texts", "texts/more", "texts/new/new", "link/new", "."):
        with pytest.raises(UsageError, match=r"e\.yaml: step t: the folder .* is read as text, and out, .*, is in it"):
            plan_of(tmp_path, f"out: {out}\n{text.replace('texts', '.') if out == '.' else text}")
    for out in ("texts2", "texts2/texts", ".", "c"):
        assert plan_of(tmp_path, f"out: {out}\n{text}").builds


def test_the_order_is_that_of_need(tmp_path: Path) -> None:
    text = "steps:\n  v: {use: svd, inputs: k}\n  k: {use: cooc, inputs: t}\n" + HEAD.split("\n", 1)[1]
    assert [build.name for build in plan_of(tmp_path, text).builds] == ["t", "k", "v"]
    with pytest.raises(UsageError, match="circle: a -> b -> a"):
        plan_of(tmp_path, "steps:\n  a: {use: cooc, inputs: b}\n  b: {use: cooc, inputs: a}\n")


GRID = f"""{HEAD}
  k: {{use: cooc, inputs: t, grid: {{window: [2, 5]}}}}
  v: {{use: svd, inputs: k, dim: 2, grid: {{cds: [1.0, 0.75]}}}}
"""


def test_grids_chain(tmp_path: Path) -> None:
    plan = plan_of(
        tmp_path, GRID + "report: [{use: neighbors, inputs: [v, 'v-*cds=1', v-window=2-cds=1], queries: a}]\n"
    )
    assert [b.name for b in plan.builds] == [
        "t", "k-window=2", "k-window=5",
        "v-window=2-cds=1", "v-window=2-cds=0.75", "v-window=5-cds=1", "v-window=5-cds=0.75",
    ]  # fmt: skip
    last = plan.builds[-1]
    assert (last.label, last.params.cds, last.needs) == ("v window=5 cds=0.75", 0.75, (plan.builds[2],))
    assert len(plan.reports[0].inputs) == 4 + 2 + 1


def test_common_axes_are_joined(tmp_path: Path) -> None:
    """A file option that names a step of the same grid takes the same cell; other grids are crossed."""
    steps = "  a: {use: encode, inputs: c.txt, words: true, grid: {min-count: [1, 2]}}\n"
    steps += "  b: {use: encode, inputs: c.txt, words: true, vocab: a}\n"
    steps += "  c: {use: cooc, inputs: [a, b]}\n  d: {use: cooc, inputs: [a, t]}\n"
    steps += "  e: {use: cooc, inputs: 'a-*'}\n  f: {use: cooc, inputs: a-min-count=2}\n"
    plan = plan_of(tmp_path, HEAD + steps)
    by = {build.name: [each.name for each in build.needs] for build in plan.builds}
    assert by["b-min-count=2"] == ["a-min-count=2"]
    assert by["c-min-count=1"] == ["a-min-count=1", "b-min-count=1"] and "c-min-count=2" in by
    assert by["d-min-count=1"] == ["a-min-count=1", "t"]
    assert by["e"] == ["a-min-count=1", "a-min-count=2"] and by["f"] == ["a-min-count=2"]
    with pytest.raises(UsageError, match="takes one, found 2"):
        plan_of(tmp_path, GRID + "  w: {use: svd, inputs: 'k-*'}\n")
    with pytest.raises(UsageError, match="unknown cell 'k-window=3'"):
        plan_of(tmp_path, GRID + "  w: {use: svd, inputs: k-window=3}\n")


def test_names_of_cells_are_safe_and_distinct(tmp_path: Path) -> None:
    for folder in ("p", "q"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "v w.npz").write_bytes(b"")
    steps = (
        "steps:\n  t: {use: encode, inputs: c.txt, words: true, grid: {vocab: [p/v w.npz, q/v w.npz], seed: [0, 1]}}\n"
    )
    names = [build.name for build in plan_of(tmp_path, steps).builds]
    assert names == ["t-vocab=v_w-seed=0", "t-vocab=v_w-seed=1", "t-vocab=v_w.2-seed=0", "t-vocab=v_w.2-seed=1"]
    assert [build.seed for build in plan_of(tmp_path, steps).builds] == [0, 1, 0, 1]
    two = GRID.replace("dim: 2, grid: {cds: [1.0, 0.75]}", "grid: {dim: [2, 3]}")
    two += "  w: {use: transform, inputs: v, grid: {dim: [1]}}\n"
    assert "w-window=2-v.dim=2-w.dim=1" in [build.name for build in plan_of(tmp_path, two).builds]
    long = (
        HEAD + "  k: {use: cooc, inputs: t, grid: {memory: [" + ", ".join(f"1{'0' * n}MB" for n in range(3)) + "]}}\n"
    )
    assert len({build.name for build in plan_of(tmp_path, long).builds}) == 4


def test_only_takes_steps_and_cells_with_what_they_need(tmp_path: Path) -> None:
    reports = "report:\n  - {use: info, inputs: t}\n  - {use: info, inputs: [t, v]}\n"
    plan = plan_of(tmp_path, GRID + reports)
    assert [b.name for b in plan.only(["k"]).builds] == ["t", "k-window=2", "k-window=5"]
    assert [b.name for b in plan.only(["v-window=5-cds=1"]).builds] == ["t", "k-window=5", "v-window=5-cds=1"]
    sizes = [[len(r.inputs) for r in plan.only(n).reports] for n in (["k"], ["v"], ["v-window=5-*"], [])]
    assert sizes == [[1, 1], [1, 5], [1, 3], [1, 5]]
    assert plan_of(tmp_path, f"{GRID}report: [{{use: info, inputs: v}}]\n").only(["k"]).reports == ()
    with pytest.raises(UsageError, match="unknown step 'vv'; did you mean 'v'"):
        plan.only(["vv"])


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "latin.yaml").write_bytes(b"# one\nname: \xe9\n")
    for path, kind, part in (
        ("none.yaml", InputError, "no such file"),
        (".", InputError, "is a folder"),
        ("latin.yaml", UsageError, "latin.yaml:2: not UTF-8"),
    ):
        with pytest.raises(kind, match=part):
            load(str(tmp_path / path))
    with pytest.raises(UsageError, match="read from a file"):
        load("-")
    with pytest.raises(InputError, match=r"unknown step or file 'd\.txt'"):
        plan_of(tmp_path, HEAD.replace("c.txt", "d.txt"))


def test_wrong_kinds_are_wrong_before_anything_is_built(tmp_path: Path) -> None:
    from embcli.pipeline.runner import check, run

    with pytest.raises(KindError, match="not an embcli artifact"):
        check(plan_of(tmp_path, HEAD + "  v: {use: svd, inputs: c.txt}\n"))
    head = "out: .\n" + HEAD.replace("words: true", "words: true, min-count: 1")
    run(plan_of(tmp_path, head + "  k: {use: cooc, inputs: t}\n"), Mock())
    with pytest.raises(UsageError, match=r"step v: .*k\.npz: counted already; .* at least two inputs"):
        check(plan_of(tmp_path, HEAD + "  v: {use: cooc, inputs: k.npz}\n"))
    check(plan_of(tmp_path, HEAD + "  v: {use: cooc, inputs: [k.npz, t]}\n  w: {use: cooc, inputs: t.npz}\n"))
