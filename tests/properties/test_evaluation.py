"""Oracle: a float64 brute force over all rows, and changes of the vectors that no cosine can see."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from embcli.artifacts.schema import Vectors, Words
from embcli.job import Job
from embcli.query import analogies
from embcli.query.evaluate import Evaluation, evaluate
from embcli.query.lexicon import Lexicon
from embcli.query.space import open_space
from embcli.spec import EvalParams, NeighborsParams

SEEDS = st.integers(0, 10_000)


def of(table: Any) -> Vectors:
    words = Words.of(f"w{i}" for i in range(len(table)))
    return Vectors(vectors=np.asarray(table, np.float32), words=words, unigram=np.arange(len(table), 0, -1))


def table(seed: int, rows: int = 60, dim: int = 5) -> Any:
    """Return small whole numbers, so that there are many ties and a few rows of zeros."""
    return np.random.default_rng(seed).integers(-2, 3, (rows, dim)).astype(np.float64)


def questions(seed: int, rows: int = 60, number: int = 40) -> list[tuple[str, ...]]:
    return [tuple(f"w{i}" for i in row) for row in np.random.default_rng(seed).integers(0, rows, (number, 4))]


def known(rows: Any, seed: int, number: int = 40) -> list[tuple[str, ...]]:
    """Return questions without words of zeros: those count as unknown."""
    return [quad for quad in questions(seed, len(rows), number) if all(rows[int(w[1:])].any() for w in quad)]


def best(rows: Any, asked: list[tuple[str, ...]], method: str, job: Job | None = None) -> list[int]:
    """Return the best row of each question."""
    space = open_space(of(rows), NeighborsParams(), "v", job or Job())
    lexicon = Lexicon(space.words, space.counts, {word for quad in asked for word in quad}, True, None)
    words = sorted({lexicon.row(word) for quad in asked for word in quad[:3]})
    probes = dict(zip(words, space.probes([((1,), (row,)) for row in words], True), strict=True))
    return analogies.solve(space, lexicon, probes, asked, [method], job or Job())[method].rows[:, 0].tolist()


def brute(rows: Any, asked: list[tuple[str, ...]], method: str) -> list[int]:
    norms = np.linalg.norm(rows, axis=1)
    units = rows / np.where(norms > 0, norms, 1)[:, None]
    found = []
    for quad in asked:
        a, b, c = (units @ units[int(word[1:])] for word in quad[:3])
        a2, b2, c2 = ((1 + x) / 2 for x in (a, b, c))
        scores = np.round(b - a + c if method == "add" else b2 * c2 / (a2 + 0.001), 6) + 0.0
        scores[norms == 0] = -np.inf
        scores[[int(word[1:]) for word in quad[:3]]] = -np.inf
        found.append(int(scores.argmax()) if np.isfinite(scores.max()) else -1)
    return found


@given(SEEDS, st.sampled_from(["add", "mul"]))
def test_as_brute_force_with_ties_to_the_lower_row(seed: int, method: str) -> None:
    rows = table(seed)
    asked = known(rows, seed)
    assert best(rows, asked, method) == brute(rows, asked, method)


@pytest.mark.parametrize("method", ["add", "mul"])
def test_blocks_batches_groups_and_threads_change_nothing(monkeypatch: pytest.MonkeyPatch, method: str) -> None:
    rows = table(1, 500)
    asked = known(rows, 2, 300)
    whole = best(rows, asked, method)
    assert whole == brute(rows, asked, method)
    for name, size in (("_ROWS", 7), ("_BATCH", 3), ("_WORDS", 11)):
        monkeypatch.setattr(analogies, name, size)
        assert best(rows, asked, method) == whole
    for threads in (2, 5):
        assert best(rows, asked, method, Job(threads=threads)) == whole


def test_a_block_that_is_left_out_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = table(1, 500)
    asked = known(rows, 2, 300)
    whole = best(rows, asked, "add")
    monkeypatch.setattr(analogies, "row_spans", lambda space, limit: iter([(0, limit // 2)]))
    assert best(rows, asked, "add") != whole


@given(SEEDS, st.sampled_from(["add", "mul"]))
def test_the_order_of_the_questions_changes_nothing(seed: int, method: str) -> None:
    rows = table(seed)
    asked = known(rows, seed)
    order = random.Random(seed).sample(range(len(asked)), len(asked))
    found = best(rows, asked, method)
    assert best(rows, [asked[i] for i in order], method) == [found[i] for i in order]


def scored(rows: Any, seed: int, **options: Any) -> Evaluation:
    asked = questions(seed)
    with tempfile.TemporaryDirectory() as folder:
        pairs, quads = Path(folder, "p.tsv"), Path(folder, "q.txt")
        quads.write_text("".join(" ".join(quad) + "\n" for quad in asked), encoding="utf-8")
        pairs.write_text("".join(f"{a}\t{b}\t{i * 7 % 10}\n" for i, (a, b, *_) in enumerate(asked)), encoding="utf-8")
        params = EvalParams(similarity=(str(pairs),), analogies=(str(quads),), method="both", misses=9, **options)
        return evaluate([of(rows)], params, Job())


def figures(found: Evaluation) -> list[Any]:
    rows: list[Any] = [(s.scored, round(s.spearman or 0, 4), round(s.pearson or 0, 4)) for s in found.similarity]
    rows += [(a.method, a.scored, a.correct) for a in found.analogies]
    return rows + [(m.question, m.found, m.rank, round(m.score or 0, 4)) for m in found.misses]


@given(SEEDS, st.sampled_from([1e-3, 8.0, 1e4]))
def test_scaling_a_row_changes_nothing(seed: int, factor: float) -> None:
    """user-reports N06."""
    rows = np.random.default_rng(seed).normal(size=(60, 6)).astype(np.float32)
    scaled = rows.copy()
    scaled[seed % 60] *= factor
    assert figures(scored(scaled, seed)) == figures(scored(rows, seed))


@given(SEEDS)
def test_a_rotation_changes_nothing(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows, turn = rng.normal(size=(60, 6)), np.linalg.qr(rng.normal(size=(6, 6)))[0]
    before, after = scored(rows, seed), scored(rows @ turn, seed)
    assert [(a.method, a.scored, a.correct) for a in before.analogies] == [
        (a.method, a.scored, a.correct) for a in after.analogies
    ]
    assert before.similarity[0].spearman == pytest.approx(after.similarity[0].spearman, abs=1e-3)


def test_what_cosines_do_see_changes_figures() -> None:
    rows = np.random.default_rng(5).normal(size=(60, 6))
    stretched = rows * np.array([9, 1, 1, 1, 1, 1])
    assert figures(scored(stretched, 5)) != figures(scored(rows, 5))


def test_the_rank_of_a_miss_is_its_place_among_all_answers() -> None:
    rows = np.random.default_rng(6).normal(size=(60, 6))
    units = rows.astype(np.float32).astype(np.float64)
    units /= np.linalg.norm(units, axis=1, keepdims=True)
    for miss in (m for m in scored(rows, 6).misses if m.method == "add" and m.rank):
        a, b, c = (int(word[1:]) for word in miss.question)
        target = units[b] - units[a] + units[c]
        scores = units @ target / np.linalg.norm(target)
        scores[[a, b, c]] = -9
        assert miss.found == f"w{scores.argmax()}" and miss.score == pytest.approx(scores.max(), abs=1e-5)
        assert miss.rank == 1 + int((scores > scores[int(miss.expected[1:])]).sum()) > 1
