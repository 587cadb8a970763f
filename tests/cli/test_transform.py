"""Oracle: the manners of a step, for transform: bytes, pipes, order of options, one-line errors, the summary."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from conftest import embcli, failed, ok

ALL = ["--remove-top", "2", "--dim", "20", "--unit"]


@pytest.fixture(scope="module")
def made(chain: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return vectors of 20 dimensions to align to."""
    path = tmp_path_factory.mktemp("made") / "y.npz"
    ok("transform", chain / "vectors.npz", "--table", "output", "--dim", "20", "--unit", "-o", path)
    return path


@pytest.mark.parametrize("threads", ["1", "2", "5"])
def test_same_bytes_at_any_number_of_threads_and_hash_seed(
    chain: Path, made: Path, tmp_path: Path, threads: str
) -> None:
    def run(out: str, *options: str, **env: str) -> bytes:
        given = [chain / "vectors.npz", made, "--concat", *ALL, "--align-to", made, "-o", tmp_path / out]
        ok("transform", *given, *options, **env)
        return (tmp_path / out).read_bytes()

    first = run("a.npz", "--threads", "1", PYTHONHASHSEED="1")
    assert run("b.npz", "--threads", threads, PYTHONHASHSEED="2") == first
    assert run("c.npz", "--threads", threads, "--center") != first


def test_pipes_and_the_order_of_options_change_no_byte(chain: Path, tmp_path: Path) -> None:
    ok("transform", chain / "vectors.npz", *ALL, "-o", tmp_path / "a.npz")
    raw = (chain / "vectors.npz").read_bytes()
    assert ok("transform", "-", *ALL, "-o", "-", stdin=raw).out == (tmp_path / "a.npz").read_bytes()
    turned = ["-o", tmp_path / "b.npz", "--unit", "--dim", "20", "--remove-top", "2"]
    ok("transform", *turned, chain / "vectors.npz")
    assert (tmp_path / "b.npz").read_bytes() == (tmp_path / "a.npz").read_bytes()
    # the sibling: another order takes two runs
    ok("transform", chain / "vectors.npz", "--unit", "-o", tmp_path / "unit.npz")
    ok("transform", tmp_path / "unit.npz", "--remove-top", "2", "--dim", "20", "-o", tmp_path / "c.npz")
    assert (tmp_path / "c.npz").read_bytes() != (tmp_path / "a.npz").read_bytes()


def test_the_summary_says_what_was_done_and_what_is_missing(chain: Path, made: Path, tmp_path: Path) -> None:
    ran = ok("transform", chain / "vectors.npz", *ALL, "--align-to", made, "-o", tmp_path / "a.npz")
    for part in ("20 dimensions", "% of the variance removed", "% kept", "aligned by", "mean cosine"):
        assert part in ran.talk
    assert "without contexts and singular values" in ran.talk and len(ran.talk.splitlines()) == 1
    again = ok("transform", tmp_path / "a.npz", "--unit", "-o", tmp_path / "b.npz")
    assert "without" not in again.talk


def test_provenance_names_the_files_by_digest_and_the_dimensions_by_number(
    chain: Path, made: Path, tmp_path: Path
) -> None:
    (tmp_path / "words.txt").write_text("king\nqueen\n", encoding="utf-8")
    target = json.loads(ok("info", made, "--json").text)["digest"]
    said = ok(
        "transform", chain / "vectors.npz", "--dim", "20", "--align-to", made, "--anchors", tmp_path / "words.txt",
        "-o", tmp_path / "a.npz", "--json",
    )  # fmt: skip
    found = json.loads(said.text)
    assert found["options"]["align_to"] == target and len(found["options"]["anchors"]) == 64
    assert found["stats"]["anchors"] == 2 and found["stats"]["unknown_anchors"] == 0
    assert "2 anchors cannot fix all 20 directions" in said.talk
    unset = json.loads(ok("transform", chain / "vectors.npz", "--unit", "-o", tmp_path / "b.npz", "--json").text)
    assert unset["options"]["dim"] == 150 and unset["options"]["align_to"] is None


def test_what_the_text_was_is_carried_over(chain: Path, tmp_path: Path) -> None:
    ok("transform", chain / "vectors.npz", "--unit", "-o", tmp_path / "a.npz")
    said = ok("neighbors", tmp_path / "a.npz", "KING", "--json")
    assert json.loads(said.text.splitlines()[0])["query"] == "KING" and "lower-cased" in said.talk


def test_unit_rows_change_no_neighbor_and_centred_ones_some(chain: Path, tmp_path: Path) -> None:
    def near(path: Path) -> list[tuple[str, float]]:
        lines = ok("neighbors", path, "king", "dog", "--json").text.splitlines()
        return [(found["word"], found["score"]) for found in map(json.loads, lines)]

    ok("transform", chain / "vectors.npz", "--unit", "-o", tmp_path / "unit.npz")
    ok("transform", chain / "vectors.npz", "--remove-top", "1", "-o", tmp_path / "abtt.npz")
    before, unit, abtt = (near(p) for p in (chain / "vectors.npz", tmp_path / "unit.npz", tmp_path / "abtt.npz"))
    assert [w for w, _ in unit] == [w for w, _ in before]
    assert [s for _, s in unit] == pytest.approx([s for _, s in before], abs=1e-5)
    assert [s for _, s in abtt] != pytest.approx([s for _, s in before], abs=1e-3)


def test_faults_are_one_line(chain: Path, made: Path, tmp_path: Path) -> None:
    vectors, out = chain / "vectors.npz", ["-o", tmp_path / "x.npz"]
    (tmp_path / "none.txt").write_text("xqzv\n", encoding="utf-8")
    (tmp_path / "bad.txt").write_text("a b c\n", encoding="utf-8")
    for code, parts, given in [
        (2, ["nothing to do", "--unit"], [vectors]),
        (2, ["--concat"], [vectors, made, "--unit"]),
        (2, ["--concat"], [vectors, "--concat"]),
        (2, ["--anchors", "--align-to"], [vectors, "--anchors", "x"]),
        (2, ["stdin"], [vectors, "--align-to", "-"]),
        (2, ["vectors.npz", "150"], [vectors, "--remove-top", "150"]),
        (2, ["--dim"], [vectors, "--dim", "0"]),
        (3, ["y.npz", "no contexts", "--table input"], [made, "--table", "sum"]),
        (3, ["y.npz", "20", "--dim 20"], [vectors, "--align-to", made]),
        (3, ["none of the pairs", "none.txt"],
         [vectors, "--dim", "20", "--align-to", made, "--anchors", tmp_path / "none.txt"]),
        (1, ["bad.txt", "line 1"], [vectors, "--dim", "20", "--align-to", made, "--anchors", tmp_path / "bad.txt"]),
        (1, ["gone.npz"], [vectors, "--align-to", tmp_path / "gone.npz"]),
        (1, ["gone.txt"], [vectors, "--dim", "20", "--align-to", made, "--anchors", tmp_path / "gone.txt"]),
        (3, ["counts.npz", "found 'counts'"], [chain / "counts.npz", "--unit"]),
        (3, ["tokens.npz", "found 'tokens'"], [vectors, "--align-to", chain / "tokens.npz"]),
    ]:  # fmt: skip
        failed(embcli("transform", *given, *out), code, *parts)
    assert not (tmp_path / "x.npz").exists()


def test_not_finite_vectors_are_refused(chain: Path, tmp_path: Path) -> None:
    with np.load(chain / "vectors.npz") as z:
        arrays = {name: z[name] for name in z.files}
    arrays["vectors"][5, 3] = np.nan
    with open(tmp_path / "nan.npz", "wb") as file:
        np.savez(file, **arrays)
    failed(embcli("transform", tmp_path / "nan.npz", "--unit", "-o", tmp_path / "x.npz"), 1, "nan.npz", "damaged")
    assert not (tmp_path / "x.npz").exists()


def test_a_file_that_an_option_names_is_not_replaced(chain: Path, tmp_path: Path) -> None:
    (tmp_path / "v.npz").write_bytes((chain / "vectors.npz").read_bytes())
    before = (tmp_path / "v.npz").read_bytes()
    command = ("transform", chain / "vectors.npz", "--align-to", tmp_path / "v.npz", "-o")
    failed(embcli(*command, tmp_path / "v.npz"), 2, "is an input too")
    assert (tmp_path / "v.npz").read_bytes() == before
    ok(*command, tmp_path / "w.npz")
