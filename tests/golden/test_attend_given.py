"""Oracle: the worked numbers of the sources, in experiments/worked/by-hand/, checked by ``attend --given`` itself."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT, embcli, failed, ok

from embcli.errors import UsageError
from embcli.pipeline.given import work_out
from embcli.report.given import compared, given_json

WORKED = sorted((ROOT / "experiments" / "worked" / "by-hand").glob("*.yaml"))


def worked(tmp_path: Path, text: str) -> dict[str, np.ndarray]:
    (tmp_path / "g.yaml").write_text(text, encoding="utf-8")
    return {name: np.array(value) for name, value in given_json(work_out(str(tmp_path / "g.yaml"))).items()}


@pytest.mark.parametrize("path", WORKED, ids=lambda path: path.stem)
def test_every_worked_number_is_found(path: Path) -> None:
    rows = list(compared(work_out(str(path))))
    assert rows and all(same for *_, same in rows), [row for row in rows if not row[-1]]


def test_a_mismatch_fails_and_is_shown(tmp_path: Path) -> None:
    text = (ROOT / "experiments" / "worked" / "by-hand" / "step.yaml").read_text(encoding="utf-8")
    (tmp_path / "wrong.yaml").write_text(text.replace("0.78", "0.79"), encoding="utf-8")
    ran = embcli("attend", "--given", tmp_path / "wrong.yaml")
    assert "NOT as expected" in ran.text and "E after[2]" in ran.text
    failed(ran, 4, "E after[2] is [0.78, -0.06], expected [0.79, -0.06]")


def test_the_command_prints_tables_and_json() -> None:
    path = ROOT / "experiments" / "worked" / "by-hand" / "causal.yaml"
    ran = ok("attend", "--given", path)
    assert "A: softmax of each row, within the mask (2 x 2)" in ran.text and "as expected" in ran.text
    found = json.loads(ok("attend", "--given", path, "--json").text)
    assert found["A"] == [[1, 0], [0.5, 0.5]] and found["A"][0][1] == 0 and found["expected"] == {
        "A": True, "O": True, "row sums of A": True,
    }  # fmt: skip


def test_rows_of_tied_tables_all_have_a_gradient_and_untied_ones_have_not(tmp_path: Path) -> None:
    tables = "E: [[1, 0], [0, 1], [1, 1], [2, 0]]\nids: [0, 1]\ntargets: next\nlr: 0.1\n"
    tied = worked(tmp_path, tables + "tie: true\n")
    assert (np.abs(tied["dL/dE"]).sum(1) > 0).all() and (np.abs(tied["E after"] - np.array(
        [[1, 0], [0, 1], [1, 1], [2, 0]])).sum(1) > 0).all()  # fmt: skip
    untied = worked(tmp_path, tables + "U: [[1, 0], [0, 1], [1, 1], [2, 0]]\n")
    assert (untied["S^T G"][[2, 3]] == 0).all() and (untied["S^T G"][0] != 0).any()
    assert untied["numbers of both tables"] == 2 * tied["numbers of both tables"]


def test_gradients_equal_differences(tmp_path: Path) -> None:
    """The gradient of the loss at U and h: central differences."""
    rng = np.random.default_rng(0)
    h, U, h0 = rng.standard_normal((3, 2)), rng.standard_normal((4, 2)), 1e-5

    def sheet(h: np.ndarray, U: np.ndarray) -> dict[str, np.ndarray]:
        return worked(tmp_path, f"h: {h.tolist()}\nU: {U.tolist()}\ntargets: [1, 3, 0]\n")

    found = sheet(h, U)
    for table, name in ((h, "dL/dh"), (U, "dL/dU")):
        for place in np.ndindex(*table.shape):
            old = table[place]
            sums = []
            for step in (h0, -h0):
                table[place] = old + step
                sums.append(sheet(h, U)["losses"].sum())
            table[place] = old
            assert (sums[0] - sums[1]) / (2 * h0) == pytest.approx(found[name][place], abs=1e-8)


def test_a_fixed_offset_is_a_linear_map_of_each_pair(tmp_path: Path) -> None:
    P = worked(tmp_path, "{position: sinusoidal, length: 8, dim: 6}")["P"].reshape(8, 3, 2)
    for r in range(3):
        turn, *_ = np.linalg.lstsq(P[:-2, r], P[2:, r], rcond=None)
        np.testing.assert_allclose(P[:-2, r] @ turn, P[2:, r], atol=1e-12)
        np.testing.assert_allclose(turn @ turn.T, np.eye(2), atol=1e-12)
    across, *_ = np.linalg.lstsq(P[:-2, 0], P[2:, 1], rcond=None)
    assert not np.allclose(P[:-2, 0] @ across, P[2:, 1])  # one pair says nothing about another


def test_ids_may_be_names(tmp_path: Path) -> None:
    tables = "E: [[1, 0], [0, 1], [1, 1]]\nwords: [a, b, c]\nids: "
    assert (worked(tmp_path, tables + "[c, a]")["X"] == worked(tmp_path, tables + "[2, 0]")["X"]).all()


def test_masks_of_both_conventions_and_none(tmp_path: Path) -> None:
    """user-reports A01, A03: which way round a mask is, and a row that may look nowhere."""
    tables = "scores: [[0, 5], [0, 0]]\nV: [[2, 0], [0, 4]]\nmask: "
    boolean, additive, causal = (
        worked(tmp_path, tables + mask) for mask in ("[[1, 0], [1, 1]]", "[[0, -.inf], [0, 0]]", "causal")
    )
    assert (boolean["A"] == causal["A"]).all() and (additive["A"] == causal["A"]).all()
    assert worked(tmp_path, tables + "none")["A"][0, 1] > 0.99
    nowhere = worked(tmp_path, tables + "[[0, 0], [1, 1]]")
    assert (nowhere["A"][0] == 0).all() and (nowhere["O"][0] == 0).all() and np.isfinite(nowhere["A"]).all()
    assert (nowhere["A"][1] == causal["A"][1]).all()


def test_heads_of_neighboring_columns(tmp_path: Path) -> None:
    found = worked(tmp_path, "E: [[1, 0, 0, 1], [0, 1, 1, 0]]\nids: [0, 1]\nheads: 2\nmask: causal\n")
    assert found["A"].shape == (2, 2, 2) and found["O"].shape == (2, 4)
    assert found["scores"][0, 0, 0] == pytest.approx(1 / np.sqrt(2))  # the width of a head


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("E: [[1, 0], [1]]", "E: expected numbers, in rows of equal length"),
        ("{E: [[1, 0]], ids: [1]}", "ids: rows of E are 0 to 0, found 1"),
        ("{E: [[1, 0]], idz: [0]}", "did you mean 'ids'"),
        ("{E: [[1, 0]], words: [a], ids: [b]}", "ids: 'b' is none of the words: a"),
        ("{scores: [[0, 0], [0, 0]], mask: [[0, -1], [0, 0]]}", "mask: expected 1"),
        ("{scores: [[0, 0], [0, 0]], mask: left}", "mask: expected causal"),
        ("{E: [[1, 0, 1]], ids: [0], position: sinusoidal}", "its columns are pairs"),
        ("{h: [1, 2], U: [[1, 0, 0]]}", "U: 3 columns, and states have 2"),
        ("{h: [1, .nan], U: [[1, 0]]}", "h: holds a number that is not finite"),
        ("{E: [[1, 0]], expect: {Y: 1}}", "there is no 'Y'"),
        ("[1, 2]", "expected a mapping of tables"),
    ],
)
def test_faults_are_one_line(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "g.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match="(?s).*" + __import__("re").escape(said)) as e:
        list(compared(work_out(str(tmp_path / "g.yaml"))))
    assert "\n" not in str(e.value)


def test_usage_of_given(tmp_path: Path) -> None:
    path = ROOT / "experiments" / "worked" / "by-hand" / "causal.yaml"
    failed(embcli("attend", "x.npz", "--given", path), 2, "--given")
    failed(embcli("attend", "--given", path, "-o", tmp_path / "x.npz"), 2, "only print")
    failed(embcli("attend", "--given", path, "--text", "a"), 2, "--given")
    failed(embcli("attend", "--given", tmp_path / "none.yaml"), 1, "no such file")
    failed(embcli("attend", "-o", tmp_path / "x.npz"), 2, "missing argument")
