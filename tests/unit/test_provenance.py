"""Oracle: by hand, what an artifact must say about how it was made, and what it must not."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from samples import counts, save, tokens, vectors

from embcli import __version__
from embcli.artifacts import provenance, store
from embcli.artifacts.schema import Artifact
from embcli.artifacts.zipread import ForeignError
from embcli.errors import KindError, NumbersError
from embcli.spec import STEPS

ENCODE, SVD = STEPS["encode"].params, STEPS["svd"].params


def test_options_are_written_out_and_automatic_ones_as_what_they_became() -> None:
    made = vectors()
    made.options = {"solver": "krylov", "rank": 4, "weight": "ppmi"}
    meta = provenance.compose("svd", SVD(dim=3), 5, [], made)
    assert list(meta) == [
        "format", "version", "kind", "embcli", "step", "options", "seed", "inputs", "stats", "text", "parents",
    ]  # fmt: skip
    assert (meta["format"], meta["version"], meta["embcli"]) == ("embcli", 1, __version__)
    assert (meta["kind"], meta["step"], meta["seed"]) == ("vectors", "svd", 5)
    options = meta["options"]
    assert options["dim"] == 3 and options["weight"] == "ppmi" and options["cds"] == 0.75
    assert options["solver"] == "krylov" and options["rank"] == 4


def test_options_that_cannot_change_results_are_not_recorded() -> None:
    meta = provenance.compose("encode", ENCODE(words=True, count=True, text="x"), 0, [], tokens())
    assert not {"out", "threads", "progress", "json", "quiet", "verbose", "count", "text"} & set(meta["options"])
    assert "min_count" in meta["options"]


def test_files_are_recorded_by_content() -> None:
    params = ENCODE(words=True, vocab="/somewhere/of/mine.npz")
    meta = provenance.compose("encode", params, 0, [("text", "ab", None)], tokens(), {"vocab": "cd" * 32})
    assert meta["options"]["vocab"] == "cd" * 32 and "mine.npz" not in json.dumps(meta)
    assert provenance.compose("encode", ENCODE(words=True), 0, [], tokens())["options"]["vocab"] is None
    with pytest.raises(ValueError, match="--vocab names a file whose digest is not given"):
        provenance.compose("encode", params, 0, [], tokens())


def test_parents_are_one_flat_list(tmp_path: Path) -> None:
    def step(name: str, artifact: Artifact, *inputs: str) -> Artifact:
        params = STEPS[name].params()
        read = [store.read(str(tmp_path / path)) for path in inputs]
        sources = [(a.kind, a.digest, a.meta) for a in read] or [("text", "0" * 64, None)]
        artifact.stats["name"] = f"{name} of {inputs}"
        meta = provenance.compose(name, params, 0, sources, artifact)
        store.write(artifact, str(tmp_path / f"{name}{len(inputs)}.npz"), meta)
        return store.read(str(tmp_path / f"{name}{len(inputs)}.npz"))

    first = step("encode", tokens())
    second = step("cooc", counts(), "encode0.npz")
    third = step("svd", vectors(), "cooc1.npz", "encode0.npz")
    assert first.meta["inputs"] == [{"kind": "text", "digest": "0" * 64}] and first.meta["parents"] == []
    assert [p["digest"] for p in second.meta["parents"]] == [first.digest]
    assert [p["digest"] for p in third.meta["parents"]] == [first.digest, second.digest]
    assert third.meta["inputs"] == [
        {"kind": "counts", "digest": second.digest},
        {"kind": "tokens", "digest": first.digest},
    ]
    assert not any("parents" in parent for parent in third.meta["parents"])
    assert third.meta["parents"][1] == {"digest": second.digest} | {
        k: v for k, v in second.meta.items() if k != "parents"
    }


def test_stats_may_be_completed_while_arrays_are_written() -> None:
    made = tokens()
    meta = provenance.compose("encode", ENCODE(words=True), 0, [], made)
    made.stats["late"] = np.int64(3)
    assert provenance.loads(provenance.dumps(meta))["stats"]["late"] == 3


def test_json_is_compact_readable_and_finite() -> None:
    meta = provenance.compose("encode", ENCODE(words=True, unk="東\udc80"), 0, [], tokens())
    raw = provenance.dumps(meta)
    assert raw.startswith(b'{"format":"embcli","version":1,"kind":"tokens"') and "東".encode() in raw
    assert provenance.loads(raw) == meta
    for value in (float("nan"), np.float32("inf"), np.array([1, np.nan])):
        with pytest.raises(NumbersError, match="not finite"):
            provenance.dumps(meta | {"stats": {"loss": value}})
    with pytest.raises(TypeError, match="set cannot be recorded"):
        provenance.dumps(meta | {"stats": {"loss": {1}}})


def test_what_is_no_meta_of_ours_is_refused() -> None:
    good = provenance.compose("encode", ENCODE(words=True), 0, [], tokens())
    assert provenance.loads(provenance.dumps(good)) == good
    with pytest.raises(ForeignError):
        provenance.loads(b"{}")
    with pytest.raises(KindError, match="format 2 of embcli"):
        provenance.loads(provenance.dumps(good | {"version": 2}))
    for key in set(good) - {"format", "version"}:
        with pytest.raises(ValueError, match=key):
            provenance.loads(provenance.dumps(good | {key: None}))


def test_equal_runs_give_equal_bytes_whatever_the_target(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    assert save(counts(), tmp_path / "a.npz") == save(counts(), tmp_path / "other" / "b")
    changed = counts()
    changed.stats["cells"] = 5
    assert save(changed, tmp_path / "c.npz") != save(counts(), tmp_path / "a.npz")  # sibling
