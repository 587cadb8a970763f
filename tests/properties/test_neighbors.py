"""Oracle: a float64 brute force that sorts all rows, written without a look at the search."""

from __future__ import annotations

import math
import subprocess
import sys
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from conftest import ROOT, environment
from hypothesis import given
from hypothesis import strategies as st
from neighbors_twin import SMALL, agrees, brute, count_tables, counts_of, large, of

from embcli.artifacts.schema import Words
from embcli.errors import InputError
from embcli.job import Job
from embcli.query import dense, sparse
from embcli.query.lookup import edit_distances, find, suggest
from embcli.query.neighbors import Answer, search
from embcli.spec import NeighborsParams


def ask(artifact: Any, queries: list[str], job: Job | None = None, **options: Any) -> list[Answer]:
    return search([artifact], queries, NeighborsParams(**options), job or Job())


def lines(answer: Answer) -> list[tuple[int, float]]:
    return [(int(line.word[1:]), line.score) for line in answer.results]


def ordered(found: list[tuple[int, float]], nearer: int = 1) -> bool:
    """Return whether lines are sorted by score, and equal scores by the vocabulary."""
    return all((-nearer * a, i) < (-nearer * b, j) for (i, a), (j, b) in pairwise(found))


@given(SMALL, st.data())
def test_a_word_finds_what_brute_force_finds(table: Any, data: st.DataObject) -> None:
    row, top = data.draw(st.integers(0, len(table) - 1)), data.draw(st.integers(1, 12))
    (answer,) = ask(of(table), [f"w{row}"], top=top)
    if not table[row].any():
        assert not answer.results
        return
    agrees(lines(answer), brute(table, {row: 1}, "cosine"), {row}, top)
    assert ordered(lines(answer)) and all(-1 <= score <= 1 for _, score in lines(answer))


@given(SMALL, st.data(), st.sampled_from(["cosine", "dot", "euclidean"]))
def test_an_expression_finds_what_brute_force_finds(table: Any, data: st.DataObject, metric: str) -> None:
    rows = data.draw(st.lists(st.integers(0, len(table) - 1), min_size=2, max_size=3, unique=True))
    signed = dict(zip(rows, [1, -1, 1], strict=False))
    query = " ".join(f"{'+' if sign > 0 else '-'} w{row}" for row, sign in signed.items())
    (answer,) = ask(of(table), [query], metric=metric, top=5)
    if metric == "cosine" and not answer.results and answer.notes:
        units = [table[r] / (np.linalg.norm(table[r]) or 1) * s for r, s in signed.items()]
        assert np.linalg.norm(np.sum(units, axis=0)) < 1e-6
        return
    if metric == "cosine" and not all(table[r].any() for r in rows):
        return
    sign = -1 if metric == "euclidean" else 1
    agrees([(i, sign * s) for i, s in lines(answer)], brute(table, signed, metric), set(rows), 5)
    assert ordered([(i, sign * s) for i, s in lines(answer)])


@given(SMALL, st.data())
def test_multiplied_cosines_find_what_brute_force_finds(table: Any, data: st.DataObject) -> None:
    rows = data.draw(st.lists(st.integers(0, len(table) - 1), min_size=2, max_size=2, unique=True))
    if not all(table[row].any() for row in rows):
        return
    (answer,) = ask(of(table), [f"w{rows[0]} - w{rows[1]}"], method="mul", top=4)
    agrees(lines(answer), brute(table, {rows[0]: 1, rows[1]: -1}, "cosine", "mul"), set(rows), 4)


def test_the_brute_force_tells_metrics_apart() -> None:
    """Sibling: the comparison fails for another metric, another order, and a row that should have been left out."""
    table = np.array([[1, 0], [2, 1], [0.5, 0.4], [0, 1]], np.float32)
    (answer,) = ask(of(table), ["w0"], top=2)
    for wrong in (brute(table, {0: 1}, "dot"), brute(table, {1: 1}, "cosine")):
        with pytest.raises(AssertionError):
            agrees(lines(answer), wrong, {0}, 2)
    with pytest.raises(AssertionError):
        agrees(lines(answer), brute(table, {0: 1}, "cosine"), {1}, 2)
    assert not ordered(list(reversed(lines(answer)))) and not ordered([(2, 0.5), (1, 0.5)])


@given(SMALL, st.sampled_from([1000.0, 1e-30, 1e30, 2.0**-20]), st.data())
def test_the_length_of_a_row_changes_nothing(table: Any, factor: float, data: st.DataObject) -> None:
    row, scaled = data.draw(st.integers(0, len(table) - 1)), table.copy()
    scaled[row] *= np.float32(factor)
    for query in ("w0", "w0 + w1"):
        before, after = (lines(ask(of(t), [query], top=50)[0]) for t in (table, scaled))
        assert before == after


def test_the_length_of_a_row_changes_dot_products() -> None:
    """Sibling: the same comparison fails where length matters."""
    table = np.array([[1, 0], [2, 1], [3, 0.4]], np.float32)
    scaled = table * np.array([[1], [1000], [1]], np.float32)
    assert lines(ask(of(table), ["w0"], metric="dot")[0]) != lines(ask(of(scaled), ["w0"], metric="dot")[0])


@pytest.mark.parametrize("size", [1e-44, 1e-38, 1e-20, 1e20, 1e37])
@pytest.mark.parametrize("metric", ["cosine", "dot", "euclidean"])
def test_very_short_and_very_long_rows(size: float, metric: str) -> None:
    table = np.array([[1, 0, 0], [1, 1, 0], [0, 1, 1], [0, 0, 0]], np.float32) * np.float32(size)
    (answer,) = ask(of(table), ["w0"], metric=metric)
    assert [i for i, _ in lines(answer)][:2] == [1, 3] if metric == "euclidean" else [1, 2]
    assert all(math.isfinite(score) for _, score in lines(answer))


@pytest.mark.parametrize("options", [{}, {"metric": "dot"}, {"metric": "euclidean"}, {"method": "mul"}], ids=str)
def test_many_rows_in_many_blocks(options: dict[str, str]) -> None:
    table = large()
    asked = [7, 0, 8191, 8192, 8999]
    queries = [f"w{i}" for i in asked] if not options.get("method") else [f"w{i} - w{i + 1}" for i in asked[:4]]
    for i, answer in zip(asked, ask(of(table), queries, top=30, **options), strict=False):
        signed = {i: 1} if not options.get("method") else {i: 1, i + 1: -1}
        sign = -1 if options.get("metric") == "euclidean" else 1
        found = [(row, sign * score) for row, score in lines(answer)]
        scores = brute(table, signed, options.get("metric", "cosine"), options.get("method", "add"))
        agrees(found, scores, set(signed), 30)
        assert ordered(found)


@pytest.mark.parametrize("metric", ["cosine", "dot", "euclidean"])
def test_blocks_and_threads_change_nothing(metric: str, monkeypatch: pytest.MonkeyPatch) -> None:
    artifact, queries = of(large()), [f"w{i}" for i in range(0, 9000, 30)]
    expected = ask(artifact, queries, metric=metric)
    assert ask(artifact, queries, Job(threads=5), metric=metric) == expected
    monkeypatch.setattr(dense, "ROWS", 1000)
    monkeypatch.setattr(dense.DenseRows, "batch", 7)
    monkeypatch.setattr(dense.DenseRows, "group", 64)
    assert ask(artifact, queries, Job(threads=2), metric=metric) == expected


def test_equal_rows_stand_in_vocabulary_order() -> None:
    table = np.tile(np.array([[0.3, 0.7, 0.1]], np.float32), (20_000, 1))
    (answer,) = ask(of(table), ["w5"], top=7)
    assert lines(answer) == [(i, 1.0) for i in (0, 1, 2, 3, 4, 6, 7)]


def best_rows(scores: Any, left_out: int, top: int) -> list[int]:
    """Return the best rows by brute force, equal scores in the order of the rows."""
    order = [i for i in np.lexsort((np.arange(len(scores)), -scores)).tolist() if i != left_out]
    return order[:top]


def test_rows_too_near_for_float32_are_told_apart() -> None:
    """All cosines lie within 2e-6 of each other: what is listed is decided by rounding and the vocabulary."""
    rng = np.random.default_rng(5)
    table = (rng.standard_normal(50) + 1e-3 * rng.standard_normal((20_000, 50))).astype(np.float32)
    rows = table.astype(np.float64)
    units = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    for query in (0, 7000, 19_999):
        exact = np.round((units * units[query]).sum(1), 6)
        assert len(set(exact.tolist())) < 6
        assert [row for row, _ in lines(ask(of(table), [f"w{query}"])[0])] == best_rows(exact, query, 10)


def test_distances_far_from_the_origin_are_exact() -> None:
    """Beside a square of 1e10 distances of 1e-2 drown in rounding: they have to be computed from differences."""
    rng = np.random.default_rng(6)
    table = (1e-3 * rng.standard_normal((10_000, 50))).astype(np.float32)
    table[:, 0] = 1e5
    rows = table.astype(np.float64)
    asked = range(0, 10_000, 200)
    for i, answer in zip(asked, ask(of(table), [f"w{i}" for i in asked], metric="euclidean"), strict=True):
        distances = -((rows - rows[i]) ** 2).sum(1)
        assert [row for row, _ in lines(answer)] == best_rows(distances, i, 10)


@pytest.mark.parametrize("size", [1e-30, 1e-22, 1e20, 1e30])
def test_the_size_of_all_numbers_changes_no_cosine(size: float) -> None:
    table = large()
    queries = [f"w{i}" for i in range(0, 9000, 500)]
    expected, found = ([lines(a) for a in ask(of(t), queries)] for t in (table, table * np.float32(size)))
    assert [[row for row, _ in one] for one in found] == [[row for row, _ in one] for one in expected]
    np.testing.assert_allclose(found, expected, atol=1.1e-6)


def test_numbers_that_are_not_finite_are_refused() -> None:
    for value in (np.nan, np.inf):
        table = large(rows=5000)
        table[4500, 3] = value
        with pytest.raises(InputError, match="not finite"):
            ask(of(table), ["w0"])


def weighted(table: Any, weight: str) -> Any:
    """Return the weighted table, dense: the formulas of the design once more."""
    if weight in ("none", "log"):
        return table.astype(np.float64) if weight == "none" else np.log1p(table)
    context = table.sum(0) ** 0.75
    with np.errstate(all="ignore"):
        values = np.log(table * context.sum() / (table.sum(1)[:, None] * context))
    values = np.where(table > 0, values, 0)
    return np.maximum(values, 0) if weight == "ppmi" else values


@given(count_tables(), st.sampled_from(["none", "log", "pmi", "ppmi"]), st.sampled_from(["cosine", "dot", "euclidean"]))
def test_rows_of_counts_find_what_brute_force_finds(table: Any, weight: str, metric: str) -> None:
    rows = weighted(table, weight)
    rows[np.abs(rows) < 1e-12] = 0
    asked = [i for i in range(len(rows)) if rows[i].any()][:3]
    if not asked or not (np.abs(rows).sum(1) > 1e-6)[asked].all():
        return
    answers = ask(counts_of(table), [f"w{i}" for i in asked], weight=weight, metric=metric)
    for i, answer in zip(asked, answers, strict=True):
        sign = -1 if metric == "euclidean" else 1
        left_out = {i} | ({j for j in range(len(rows)) if not rows[j].any()} if metric == "cosine" else set())
        found = [(row, sign * score) for row, score in lines(answer)]
        units = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-300)
        scores = {"cosine": units @ units[i], "dot": rows @ rows[i]}
        agrees(found, scores.get(metric, -np.linalg.norm(rows - rows[i], axis=1)), left_out, 10)


def test_blocks_of_counts_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    table = np.random.default_rng(3).poisson(0.2, (300, 300))
    artifact, queries = counts_of(table), [f"w{i}" for i in range(0, 300, 7)] + ["w1 - w2 + w3"]
    expected = ask(artifact, queries, centroid=True)
    monkeypatch.setattr(sparse, "ROWS", 13)
    monkeypatch.setattr(sparse.SparseRows, "batch", 5)
    monkeypatch.setattr(sparse.SparseRows, "group", 9)
    assert ask(artifact, queries, Job(threads=3), centroid=True) == expected


@given(st.lists(st.text(max_size=6), unique=True, max_size=40), st.lists(st.text(max_size=6), max_size=10))
def test_words_are_found_where_they_stand(words: list[str], others: list[str]) -> None:
    words = [w for w in words if not any("\ud800" <= c <= "\udfff" for c in w)]
    others = [w for w in others if not any("\ud800" <= c <= "\udfff" for c in w)]
    expected = {word: words.index(word) for word in {*words, *others} if word in words}
    assert find(Words.of(words), [*others, *words]) == expected
    assert find(Words.of(words), others) == {w: i for w, i in expected.items() if w in others}


def _edits(a: str, b: str) -> int:
    """Return the edit distance by its recursive definition."""
    if not a or not b:
        return len(a) + len(b)
    best = min(_edits(a[1:], b) + 1, _edits(a, b[1:]) + 1, _edits(a[1:], b[1:]) + (a[0] != b[0]))
    if len(a) > 1 and len(b) > 1 and a[0] == b[1] and a[1] == b[0]:
        best = min(best, _edits(a[2:], b[2:]) + 1)
    return best


@given(st.text("abć", max_size=5), st.lists(st.text("abć", max_size=5), max_size=6))
def test_edit_distances_are_those_of_the_definition(word: str, others: list[str]) -> None:
    assert edit_distances(word, others).tolist() == [_edits(word, other) for other in others]


@given(st.text("abcdefgßé", min_size=4, max_size=8), st.data())
def test_one_slip_is_suggested(word: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(word) - 1))
    before, after = word[:at], word[at + 1 :]
    slip = data.draw(st.sampled_from([before + after, f"{before}x{word[at:]}", f"{before}x{after}"]))
    assert word in suggest(Words.of(["zzzzzzz", word, "yy"]), slip)


def test_nothing_far_away_is_suggested() -> None:
    """Sibling: suggestions are not just any words."""
    assert suggest(Words.of(["apple", "pear"]), "stone") == []


def test_memory_stays_below_four_times_the_vectors() -> None:
    """100,000 words, 100 dimensions, 200 queries, in a process of its own (report N08)."""
    code = """if True:
        import resource
        import numpy as np
        from embcli.artifacts.schema import Vectors, Words
        from embcli.job import Job
        from embcli.query.neighbors import search
        from embcli.spec import NeighborsParams
        table = np.random.default_rng(0).standard_normal((100_000, 100), np.float32)
        words = Words.of(f"w{i}" for i in range(len(table)))
        artifact = Vectors(vectors=table, words=words, unigram=np.ones(len(table), np.int64))
        answers = search([artifact], [f"w{i}" for i in range(200)], NeighborsParams(), Job(threads=2))
        assert all(len(answer.results) == 10 for answer in answers)
        # VmHWM, since ru_maxrss of a child begins at what its parent took
        peak = next(line for line in open("/proc/self/status", encoding="ascii") if line.startswith("VmHWM"))
        print(int(peak.split()[1]) * 1024, table.nbytes)
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, env=environment(), cwd=ROOT, check=True)
    peak, table = map(int, done.stdout.split())
    assert peak < 4 * table + 200e6


def test_searching_loads_neither_numba_nor_scipy() -> None:
    code = (
        "import sys, embcli.query.neighbors, embcli.query.info, embcli.report.answers, embcli.report.description\n"
        "print(*{m.split('.')[0] for m in sys.modules})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, env=environment(), cwd=ROOT, check=True)
    loaded = set(done.stdout.decode().split())
    assert "numpy" in loaded and not loaded & {"numba", "scipy", "rich", "typer"}
