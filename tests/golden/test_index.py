"""Oracle: the exact search of the same rows."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import embcli, failed, ok

from embcli.artifacts import provenance, store
from embcli.artifacts.schema import Vectors, Words
from embcli.spec import ConvertParams, make

pytest.importorskip("usearch.index")


@pytest.fixture(scope="module")
def vectors(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three thousand rows in sixty bunches; one row is zero."""
    rng = np.random.default_rng(4)
    rows = rng.standard_normal((60, 24)).repeat(50, 0) + 0.7 * rng.standard_normal((3000, 24))
    rows[17] = 0
    made = Vectors(
        vectors=rows.astype(np.float32), words=Words.of(f"w{i}" for i in range(3000)), unigram=np.arange(3000, 0, -1)
    )
    path = tmp_path_factory.mktemp("index") / "v.npz"
    store.write(made, str(path), provenance.compose("convert", make(ConvertParams, {}), 0, [], made))
    return path


def lines(ran: object) -> list[dict[str, object]]:
    return [json.loads(line) for line in ran.text.splitlines()]  # type: ignore[attr-defined]


@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
def test_an_index_finds_nearly_what_the_exact_search_finds(vectors: Path, metric: str, tmp_path: Path) -> None:
    """The same scores for the same rows, the recall it claims, and the zero row in no list."""
    queries = [f"w{i}" for i in range(0, 3000, 60)] + ["w1 - w2 + w60"]
    args = ["--metric", metric, "--format", "jsonl", "--top", "5"]
    exact = lines(ok("neighbors", *args, vectors, *queries))
    first = ok("neighbors", *args, "--index", tmp_path / "i", vectors, *queries)
    assert "index of 2,999 rows" in first.talk or metric != "cosine"
    claimed = json.loads((tmp_path / "i.json").read_text(encoding="utf-8"))["recall"]
    found = lines(first)
    pairs = [{(line["query"], line["word"], line["score"]) for line in some} for some in (exact, found)]
    assert claimed > 0.9 and len(pairs[0] & pairs[1]) > 0.9 * len(pairs[0])
    assert "w17" not in {line["word"] for line in found} or metric != "cosine"
    again = ok("neighbors", *args, "--index", tmp_path / "i", vectors, *queries)
    assert lines(again) == found and f"{100 * claimed:.1f} %" in again.talk
    assert lines(ok("neighbors", *args, vectors, *queries[1:])) != lines(ok("neighbors", *args, vectors, *queries[:-1]))


def test_one_thread_makes_the_same_index(vectors: Path, tmp_path: Path) -> None:
    for name in ("a", "b"):
        ok("neighbors", vectors, "w1", "--index", tmp_path / name, "--threads", "1")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()
    assert "another one may differ" in ok("neighbors", vectors, "w1", "--index", tmp_path / "c", "--threads", "2").talk


def test_an_index_of_something_else_is_refused(vectors: Path, chain: Path, tmp_path: Path) -> None:
    at = tmp_path / "i"
    ok("neighbors", vectors, "w1", "--index", at)
    failed(embcli("neighbors", chain / "vectors.npz", "king", "--index", at), 1, "is the index of other vectors")
    failed(embcli("neighbors", vectors, "w1", "--index", at, "--metric", "dot"), 1, "is the index of other --metric")
    (tmp_path / "j").write_bytes(b"hello")
    for path, what in ((tmp_path / "j", "is no index of embcli's"), (vectors, "is an artifact, no index")):
        ran = embcli("neighbors", vectors, "w1", "--index", path)
        failed(ran, 1, f"{what}: there is no {path.name}.json beside it; name another file for the index")
        assert "Errno" not in ran.talk and "remove" not in ran.talk and path.exists()
    failed(embcli("neighbors", vectors, "w1", "--index", tmp_path), 1, "is no file, so no index")
    (tmp_path / "i").write_bytes(b"hello")
    failed(embcli("neighbors", vectors, "w1", "--index", at), 1, "if it was one, remove both")
    failed(embcli("neighbors", chain / "counts.npz", "king", "--index", tmp_path / "k"), 3, "holds counts")
    several = embcli("neighbors", "--index", at, vectors, chain / "vectors.npz", "--", "king")
    failed(several, 2, "--index: belongs to one artifact")
    for option, value in (("--method", "mul"), ("--restrict", "5")):
        ran = embcli("neighbors", vectors, "w1 - w2", option, value, "--index", at)
        failed(ran, 2, f"leave out {option}")
        assert ("--method" in ran.talk) + ("--restrict" in ran.talk) == 1


def test_without_the_package_one_line_says_so(vectors: Path, tmp_path: Path) -> None:
    (tmp_path / "usearch.py").write_text("raise ImportError\n", encoding="utf-8")
    path = os.pathsep.join([str(tmp_path), *sys.path])
    failed(embcli("neighbors", vectors, "w1", "--index", tmp_path / "i", PYTHONPATH=path), 1, "pip install usearch")
