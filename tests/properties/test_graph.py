"""Oracle: a float64 brute force that sorts all rows, and ``neighbors`` asked word by word."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from neighbors_twin import SMALL, agrees, brute, count_tables, counts_of, large, of
from samples import save

from embcli.artifacts import provenance, store
from embcli.artifacts.schema import Artifact, Knn
from embcli.job import Job
from embcli.query import graph as graphs
from embcli.query import tiles
from embcli.query.graph import graph
from embcli.query.neighbors import search
from embcli.spec import NeighborsParams

METRICS = ["cosine", "dot", "euclidean"]


def made(artifact: Artifact, job: Job | None = None, **options: Any) -> tuple[Any, Any]:
    """Return the arrays of a graph: neighbors and scores."""
    knn = graph([artifact], NeighborsParams(**options), job or Job())
    blocks = list(knn.neighbors.blocks)
    assert knn.stats["listed"] == sum(int((block >= 0).sum()) for block in blocks)
    return np.concatenate([np.zeros((0, knn.scores.shape[1]), np.int32), *blocks]), knn.scores


def same_as_words(artifact: Artifact, found: tuple[Any, Any], rows: Any, **options: Any) -> None:
    """Require of each row the list of a single search: the same words in the same order, scores as float32."""
    names = [f"w{i}" for i in rows]
    for row, answer in zip(rows, search([artifact], names, NeighborsParams(**options), Job()), strict=True):
        listed = found[0][row] >= 0
        assert found[0][row][listed].tolist() == [int(line.word[1:]) for line in answer.results]
        scores = [line.score for line in answer.results]
        np.testing.assert_allclose(found[1][row][listed], scores, rtol=2e-6, atol=1e-38)
        assert not found[1][row][~listed].any() and (found[0][row][~listed] == -1).all()
        assert listed[: len(scores)].all()


@given(SMALL, st.sampled_from(METRICS), st.integers(1, 40), st.integers(0, 3))
def test_a_graph_finds_what_brute_force_finds(table: Any, metric: str, top: int, drop: int) -> None:
    limit = max(len(table) - drop, 1)
    neighbors, scores = made(of(table), top=top, metric=metric, restrict=limit)
    most = limit if limit < len(table) else max(limit - 1, 1)
    assert neighbors.shape == scores.shape == (len(table), min(top, most))
    sign = -1 if metric == "euclidean" else 1
    for row in range(len(table)):
        listed = neighbors[row] >= 0
        if metric == "cosine" and not table[row].any():
            assert not listed.any()
            continue
        found = [(int(i), sign * float(s)) for i, s in zip(neighbors[row][listed], scores[row][listed], strict=True)]
        agrees(found, brute(table, {row: 1}, metric)[:limit], {row}, top)


def test_the_brute_force_sees_a_wrong_neighbor() -> None:
    """Sibling: the comparison fails for a row further away, and for another metric."""
    table = np.random.default_rng(4).standard_normal((200, 5)).astype(np.float32)
    neighbors, scores = made(of(table), top=5)
    found = list(zip(neighbors[3].tolist(), scores[3].tolist(), strict=True))
    agrees(found, brute(table, {3: 1}, "cosine"), {3}, 5)
    further = next(row for row in range(200) if row not in (3, *neighbors[3].tolist()))
    with pytest.raises(AssertionError):
        agrees([*found[:4], (further, found[4][1])], brute(table, {3: 1}, "cosine"), {3}, 5)
    with pytest.raises(AssertionError):
        agrees(found, brute(table, {3: 1}, "dot"), {3}, 5)


@given(SMALL, st.sampled_from(METRICS), st.integers(1, 12), st.booleans())
def test_a_graph_is_the_lists_of_all_words(table: Any, metric: str, top: int, include: bool) -> None:
    options = {"top": top, "metric": metric, "include_inputs": include}
    same_as_words(of(table), made(of(table), **options), range(len(table)), **options)


@pytest.mark.parametrize(
    "options",
    [{}, {"metric": "dot"}, {"metric": "euclidean"}, {"top": 40}, {"restrict": 5000}, {"include_inputs": True},
     {"min_score": 0.9}, {"min_score": 12.5, "metric": "dot"}, {"table": "output"}, {"table": "sum", "restrict": 4097}],
    ids=str,
)  # fmt: skip
def test_many_rows_with_many_copies(options: dict[str, Any]) -> None:
    """500 of the rows are equal: more than a list holds, so their queries have to be searched again."""
    artifact = of(large(), contexts=large(seed=1))
    same_as_words(artifact, made(artifact, Job(threads=2), **options), range(0, 9000, 9), **options)


def test_a_wrong_order_is_seen() -> None:
    """Sibling: two neighbors changed about, and a score."""
    artifact = of(np.random.default_rng(4).standard_normal((300, 5)))
    neighbors, scores = made(artifact)
    same_as_words(artifact, (neighbors, scores), [5])
    swapped = neighbors.copy()
    swapped[5, [0, 1]] = swapped[5, [1, 0]]
    with pytest.raises(AssertionError):
        same_as_words(artifact, (swapped, scores), [5])
    with pytest.raises(AssertionError):
        same_as_words(artifact, (neighbors, scores + np.float32(1e-5)), [5])


@pytest.mark.parametrize("size", [1e-44, 1e-38, 1e-30, 1e-20, 1e15, 1e30])
@pytest.mark.parametrize("metric", METRICS)
def test_very_short_and_very_long_rows(size: float, metric: str) -> None:
    table = np.random.default_rng(2).integers(-3, 4, (60, 3)).astype(np.float32) * np.float32(size)
    if metric == "dot" and size == 1e30:
        return  # such a product is no float32
    same_as_words(of(table), made(of(table), metric=metric), range(60), metric=metric)


@pytest.mark.parametrize("metric", METRICS)
def test_rows_too_near_for_float32_are_told_apart(metric: str) -> None:
    """Cosines within 2e-6 of each other, or distances of 1e-2 far from the origin."""
    rng = np.random.default_rng(5)
    table = (rng.standard_normal(20) + 1e-3 * rng.standard_normal((1000, 20))).astype(np.float32)
    table[:, 0] += np.float32(0 if metric == "cosine" else 1e4)
    same_as_words(of(table), made(of(table), metric=metric), range(0, 1000, 50), metric=metric)


def as_file(artifact: Artifact, threads: int, **options: Any) -> bytes:
    """Return the bytes of a graph's artifact."""
    knn = graph([artifact], NeighborsParams(**options), Job(threads=threads))
    meta = provenance.compose("neighbors", NeighborsParams(**options), 0, [("vectors", "1" * 64, {})], knn)
    out = io.BytesIO()
    import unittest.mock

    with unittest.mock.patch("sys.stdout") as stdout:
        stdout.buffer = out
        store.write(knn, "-", meta)
    return out.getvalue()


@pytest.mark.parametrize("metric", METRICS)
def test_same_bytes_at_any_number_of_threads_and_block_size(metric: str, monkeypatch: pytest.MonkeyPatch) -> None:
    artifact = of(large(rows=3000))
    monkeypatch.setattr(tiles, "ROWS", 800)
    expected = as_file(artifact, 1, metric=metric)
    assert as_file(artifact, 2, metric=metric) == as_file(artifact, 5, metric=metric) == expected
    for rows, queries, columns, spare in ((1000, 64, 100, 6), (500, 40, 64, 1), (3000, 256, 2048, 60)):
        monkeypatch.setattr(tiles, "ROWS", rows)
        monkeypatch.setattr(tiles, "QUERIES", queries)
        monkeypatch.setattr(tiles, "COLUMNS", columns)
        monkeypatch.setattr(graphs, "SPARE", spare)
        assert as_file(artifact, 3, metric=metric) == expected


def test_other_vectors_give_other_bytes() -> None:
    """Sibling: one number changed."""
    table = large(rows=500)
    changed = table.copy()
    changed[7, 0] += 1
    assert as_file(of(table), 1) != as_file(of(changed), 1)


@pytest.mark.parametrize("blocks", [*range(1, 10)])
def test_every_two_blocks_meet_once_and_never_twice_in_a_round(blocks: int) -> None:
    listed, others = [(i, i + 1) for i in range(blocks)], [(20 + i, 21 + i) for i in range(3)]
    met: list[Any] = []
    for pairs in tiles._rounds(listed, others):
        beyond = pairs and pairs[0][0][0] >= 20
        written = [a for a, _ in pairs] if beyond else [block for pair in pairs for block in set(pair)]
        assert len(written) == len(set(written))
        met += pairs
    expected = {(a, b) for a in listed for b in listed if a <= b} | {(a, b) for a in others for b in listed}
    assert len(met) == len(expected) and set(met) == expected


@given(count_tables(), st.sampled_from(["none", "log", "ppmi"]), st.sampled_from(METRICS))
def test_rows_of_counts_are_the_lists_of_all_words(table: Any, weight: str, metric: str) -> None:
    options = {"weight": weight, "metric": metric}
    same_as_words(counts_of(table), made(counts_of(table), Job(threads=2), **options), range(len(table)), **options)


def test_an_empty_table() -> None:
    neighbors, scores = made(of(np.zeros((0, 3))))
    assert neighbors.shape == scores.shape == (0, 1)


def test_the_kind_is_checked_as_it_is_written(tmp_path: Any) -> None:
    knn = graph([of(large(rows=50))], NeighborsParams(), Job())
    assert isinstance(knn, Knn)
    save(knn, tmp_path / "k.npz")
    assert {m["name"] for m in store.verify(str(tmp_path / "k.npz"))} >= {"neighbors", "scores"}
