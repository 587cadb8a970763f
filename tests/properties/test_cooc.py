"""Oracle: the definition in exact fractions (cooc_twin), and what must hold between counts of related texts."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import ROOT, environment
from cooc_twin import Cells, cells_of, counted, dense, same_bytes, tokens_of, twin, weight
from hypothesis import assume, given
from hypothesis import strategies as st

from embcli.artifacts import provenance, store
from embcli.artifacts.schema import Counts
from embcli.counts.budget import Plan, Task
from embcli.counts.slices import Source, cut
from embcli.spec import CoocParams, EncodeParams

SIZE = 6
words = st.integers(0, SIZE - 1)
rows = st.lists(st.lists(words, max_size=12), min_size=1, max_size=8)
rows_with_gaps = st.lists(st.lists(st.integers(0, SIZE), max_size=12), min_size=1, max_size=8)
options = st.fixed_dictionaries(
    {
        "window": st.sampled_from([1, 2, 3, 7, 20, 21, 100]),
        "direction": st.sampled_from(["symmetric", "left", "right"]),
        "weighting": st.sampled_from(["flat", "harmonic", "dynamic"]),
        "cross_rows": st.booleans(),
    }
)
plans = st.builds(Plan, st.sampled_from([1, 2, 5]), st.integers(1, 60), st.integers(1, 40))


def exact(text: Sequence[Sequence[int]], opts: dict[str, Any]) -> Cells:
    """Return the twin's counts; texts without any pair are another test's business."""
    found = twin(text, SIZE, CoocParams(**opts))
    assume(found)
    return found


def agrees(counts: Counts, cells: Cells) -> bool:
    """Say whether counts are the twin's, rounded once, rows and columns ascending."""
    found = cells_of(counts)
    return list(found) == sorted(cells) and all(found[at] == float(value) for at, value in cells.items())


@given(rows_with_gaps, options)
def test_counts_are_the_definition(text: list[list[int]], opts: dict[str, Any]) -> None:
    cells = exact(text, opts)
    counts = counted(tokens_of(text, SIZE), **opts)
    assert agrees(counts, cells)
    assert counts.stats["total"] == pytest.approx(float(sum(cells.values())), rel=1e-15)
    assert counts.stats["cells"] == len(cells)


def test_counts_of_another_window_are_not_the_definition() -> None:
    text = [[0, 1, 2]]
    assert not agrees(counted(tokens_of(text, SIZE), window=1), twin(text, SIZE, CoocParams(window=2)))


@given(rows_with_gaps, options, plans)
def test_same_bytes_however_the_work_is_cut(text: list[list[int]], opts: dict[str, Any], plan: Plan) -> None:
    exact(text, opts)
    tokens = tokens_of(text, SIZE)
    assert same_bytes(counted(tokens, plan, plan.threads, **opts), counted(tokens, **opts))


def test_slices_without_their_surroundings_would_differ() -> None:
    text = [[0, 1, 2, 3, 4, 5] * 4]
    halves = [counted(tokens_of([text[0][:12]], SIZE)), counted(tokens_of([text[0][12:]], SIZE))]
    assert not np.array_equal(sum(map(dense, halves)), dense(counted(tokens_of(text, SIZE))))


@given(rows, st.booleans(), st.integers(1, 30))
def test_slices_cover_the_tokens_and_keep_their_size(text: list[list[int]], cross: bool, places: int) -> None:
    source = Source.of(tokens_of(text, SIZE), cross)
    bounds = list(cut(source, places))
    assert [a for a, _ in bounds] + [len(source.ids)] == [0] + [b for _, b in bounds]
    for start, stop in bounds:
        ends = source.offsets[(source.offsets > start) & (source.offsets <= stop)]
        assert start < stop and (stop - start + len(set(ends.tolist())) <= places or stop == start + 1)


@given(rows_with_gaps, options)
def test_symmetric_counts_equal_their_transpose(text: list[list[int]], opts: dict[str, Any]) -> None:
    opts |= {"direction": "symmetric"}
    exact(text, opts)
    x = dense(counted(tokens_of(text, SIZE), **opts))
    assert np.array_equal(x, x.T)


@given(rows_with_gaps, options)
def test_left_is_right_transposed_and_both_add_up(text: list[list[int]], opts: dict[str, Any]) -> None:
    exact(text, opts | {"direction": "symmetric"})
    tokens = tokens_of(text, SIZE)
    left, right, both = (dense(counted(tokens, **opts | {"direction": d})) for d in ("left", "right", "symmetric"))
    assert np.array_equal(left, right.T)
    assert np.allclose(left + right, both, rtol=1e-14, atol=0)


def test_left_is_neither_symmetric_nor_right() -> None:
    left, right = (dense(counted(tokens_of([[0, 1]], 2), direction=d)) for d in ("left", "right"))
    assert not np.array_equal(left, left.T) and not np.array_equal(left, right)


def conserved(text: list[list[int]], opts: dict[str, Any]) -> float:
    """Return what all counts must add up to if there are no gaps: it depends on the rows' lengths alone."""
    lengths = [sum(map(len, text))] if opts["cross_rows"] else [len(row) for row in text]
    sides = 2 if opts["direction"] == "symmetric" else 1
    near = range(1, opts["window"] + 1)
    each = (max(n - d, 0) * weight(opts["weighting"], d, opts["window"]) for n in lengths for d in near)
    return float(sides * sum(each))


@given(rows, options)
def test_totals_depend_on_the_lengths_of_rows_alone(text: list[list[int]], opts: dict[str, Any]) -> None:
    exact(text, opts)
    assert counted(tokens_of(text, SIZE), **opts).stats["total"] == conserved(text, opts)


def test_gaps_take_from_the_total() -> None:
    opts = {"window": 2, "direction": "symmetric", "weighting": "flat", "cross_rows": False}
    text = [[0, SIZE, 1]]
    assert counted(tokens_of(text, SIZE), **opts).stats["total"] < conserved(text, opts)


@given(rows, options, st.permutations(range(SIZE)))
def test_other_numbers_for_the_words_permute_the_matrix(
    text: list[list[int]], opts: dict[str, Any], numbers: list[int]
) -> None:
    exact(text, opts)
    x = dense(counted(tokens_of(text, SIZE), **opts))
    y = dense(counted(tokens_of([[numbers[word] for word in row] for row in text], SIZE), **opts))
    assert np.array_equal(y[np.ix_(numbers, numbers)], x)


def test_other_numbers_change_the_matrix() -> None:
    a, b = (dense(counted(tokens_of([row], 3))) for row in ([0, 1, 1], [1, 0, 0]))
    assert not np.array_equal(a, b)


@given(rows_with_gaps, options)
def test_crossing_rows_is_one_long_row(text: list[list[int]], opts: dict[str, Any]) -> None:
    exact(text, opts | {"cross_rows": True})
    long = [[word for row in text for word in row]]
    crossed = counted(tokens_of(text, SIZE), **opts | {"cross_rows": True})
    assert np.array_equal(dense(crossed), dense(counted(tokens_of(long, SIZE), **opts | {"cross_rows": False})))


def test_not_crossing_rows_is_not_one_long_row() -> None:
    text = [[0, 1], [2, 3]]
    assert not np.array_equal(*(dense(counted(tokens_of(text, 4), cross_rows=c)) for c in (False, True)))


@given(
    st.builds(Task, st.integers(1, 10**7), st.integers(1, 10**4), st.sampled_from([2, 4]), st.integers(1, 10**10)),
    st.integers(1, 64),
    st.floats(0.1, 1000),
)
def test_plans_keep_within_the_budget(task: Task, threads: int, times: float) -> None:
    budget = int(task.least * times)
    plan = task.plan(budget, threads)
    assert (plan is None) == (budget < task.least)
    if plan is not None:
        assert 1 <= plan.threads <= threads and 1 <= plan.places <= task.places
        assert task.fixed(plan.threads, plan.cells) + plan.places * (task.itemsize + 4) <= budget


def test_a_plan_for_more_memory_does_not_fit_into_less() -> None:
    task = Task(50_000, 5, 2, 10**9)
    plan = task.plan(10**9, 4)
    assert plan is not None and task.fixed(plan.threads, plan.cells) + plan.places * 6 > 10**8


#: runs the command line and prints the most memory that was resident at any time, in bytes
MEASURED = """
import sys
from embcli.cli.app import main
assert main(sys.argv[1:]) == 0
print(next(int(line.split()[1]) for line in open("/proc/self/status", encoding="ascii") if "VmHWM" in line) * 1024)
"""


def zipf(path: Path, n: int) -> Path:
    """Write tokens of a Zipf text: 50,000 words, rows of 50."""
    rng = np.random.default_rng(1)
    ids = np.minimum(np.exp(rng.random(n) * np.log(50_000)) - 1, 49_999).astype(np.uint16)
    tokens = tokens_of([[0]], 50_000)
    tokens.ids, tokens.row_offsets = ids, np.arange(0, n + 1, 50)
    tokens.unigram = np.bincount(ids, minlength=50_000)
    store.write(tokens, str(path), provenance.compose("encode", EncodeParams(words=True), 0, [], tokens))
    return path


def peak(tokens: Path, memory: str) -> int:
    args = ["cooc", str(tokens), "-o", str(tokens.parent / f"counts-{memory}.npz"), "-w", "2", "--threads", "2", "-q"]
    ran = subprocess.run(
        [sys.executable, "-c", MEASURED, *args, "--memory", memory],
        env=environment(),
        cwd=ROOT,
        capture_output=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return int(ran.stdout)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs Linux to say how much memory was resident")
def test_memory_stays_within_the_budget_and_so_do_the_bytes(tmp_path: Path) -> None:
    """Report C05: a text of 50 MB. What a tiny text takes is the program itself."""
    tiny, large = zipf(tmp_path / "tiny.npz", 10_000), zipf(tmp_path / "large.npz", 9_000_000)
    peak(zipf(tmp_path / "sliced.npz", 600_000), "12MB")  # compiles every kernel, which takes memory
    base, small, ample = peak(tiny, "20MB"), peak(large, "20MB"), peak(large, "1GB")
    assert small - base < 20e6 + 10e6
    assert ample - base > 20e6 + 10e6  # so the measure would have noticed
    assert base < 220e6
    assert (tmp_path / "counts-20MB.npz").read_bytes() == (tmp_path / "counts-1GB.npz").read_bytes()
