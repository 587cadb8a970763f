"""Oracle: NumPy's own concatenation, plain loops, and the same step with everything in one place. No cluster here."""

from __future__ import annotations

import gzip
import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import DATA, failed, ok
from hypothesis import given
from hypothesis import strategies as st

from embcli.artifacts import provenance, store
from embcli.artifacts.joined import Joined, Part, fill_part, map_part, read_part, write_part
from embcli.artifacts.schema import Tokens, Words
from embcli.artifacts.zipwrite import combine
from embcli.cli import app
from embcli.cluster.count_tasks import buckets_of
from embcli.cluster.counts import ranges_of
from embcli.cluster.glove import lanes_of
from embcli.cluster.svd import even
from embcli.errors import NumbersError
from embcli.job import Job
from embcli.models.glove_trainer import offsets_of
from embcli.models.pace import paces
from embcli.models.shares import REACH, Change, merge
from embcli.models.trainer import Trainer
from embcli.models.training_plan import Plan, Tables
from embcli.spec import EncodeParams
from embcli.text.vocab import Census, Rest, choose


def test_joined_files_are_one_array(tmp_path: Path) -> None:
    parts = [np.arange(5), np.arange(0), np.array([7, 9])]
    paths = [str(tmp_path / f"{i}") for i in range(3)]
    for path, part in zip(paths, parts, strict=True):
        write_part(path, part)
    joined = Joined(np.int64, paths, [0, 5, 5], [0])
    assert np.concatenate([*joined.blocks(16)]).tolist() == [0, 0, 1, 2, 3, 4, 12, 14]
    assert len(joined) == 8
    assert read_part(paths[0], np.int64, 1, 3).tolist() == map_part(paths[0], np.int64)[1:3].tolist() == [1, 2]
    assert len(map_part(paths[1], np.int64)) == 0
    into = np.zeros((2, 2), np.int64)
    fill_part(paths[0], 8, into)
    assert into.tolist() == [[1, 2], [3, 4]]
    with pytest.raises(EOFError):
        fill_part(paths[0], 16, into)


def test_a_part_that_fails_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(ValueError), Part(str(tmp_path / "x"), np.int64) as part:
        part.append([1])
        raise ValueError
    assert not list(tmp_path.iterdir())


def adaptive(a: Any, b: Any) -> Any:
    """Return the adaptive sum of two steps as its paper writes it."""
    if not a.any() or not b.any():
        return a + b
    return (1 - a @ b / (2 * (a @ a))) * a + (1 - a @ b / (2 * (b @ b))) * b


def test_members_that_others_write_make_the_same_file(tmp_path: Path) -> None:
    """The oracle is the writer that copies everything itself."""
    rng = np.random.default_rng(0)
    paths = [str(tmp_path / f"ids-{i}") for i in range(3)]
    ends = [str(tmp_path / f"ends-{i}") for i in range(3)]
    for path, end, size in zip(paths, ends, (700_000, 0, 5), strict=True):
        write_part(path, rng.integers(0, 3, size).astype(np.uint16))
        write_part(end, np.array([size], np.int64))
    bases = [0, 700_000, 700_000]
    made = Tokens(
        ids=Joined(np.uint16, paths), row_offsets=Joined(np.int64, ends, bases, [0]), words=Words.of(["a", "b", "c"]),
        unigram=np.zeros(3, np.int64),
    )  # fmt: skip
    meta = provenance.compose("encode", EncodeParams(words=True), 0, [], made)
    asked = []

    def copied(path: str, members: Any) -> list[int]:
        asked.append(len(members))
        crcs = []
        for member, start in members:
            crc = 0
            for at, piece in reversed([*member.pieces()]):  # in any order
                piece.copy_to(path, start + at)
            for at, piece in member.pieces():
                crc = combine(crc, *piece.copy_to(path, start + at))
            crcs.append(crc)
        return crcs

    digest = store.write(made, str(tmp_path / "a.npz"), meta)
    assert store.write(made, str(tmp_path / "b.npz"), meta, copied) == digest and asked == [2]
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    store.verify(str(tmp_path / "b.npz"))
    wrong = lambda path, members: [crc ^ 1 for crc in copied(path, members)]
    with pytest.raises(ValueError, match="checksum is wrong"):
        store.write(made, str(tmp_path / "c.npz"), meta, wrong)
    assert not (tmp_path / "c.npz").exists()


def test_numbers_that_are_not_finite_are_refused(tmp_path: Path) -> None:
    write_part(str(tmp_path / "x"), np.array([1.0, np.inf]))
    (tmp_path / "y").write_bytes(bytes(16))
    with pytest.raises(NumbersError, match="finite"):
        Joined(np.float64, [str(tmp_path / "x")]).copy_to(str(tmp_path / "y"), 0)


@given(st.integers(0, 2**32), st.integers(1, 5), st.floats(0, 500))
def test_changes_are_merged_as_the_formulas_say(seed: int, shares: int, updates: float) -> None:
    rng = np.random.default_rng(seed)
    old = rng.standard_normal((9, 3)).astype(np.float32)
    news = []
    for _ in range(shares):
        new = old.copy()
        touched = rng.random(9) < 0.5
        new[touched] += rng.standard_normal((int(touched.sum()), 3)).astype(np.float32)
        news.append(new)

    def merged_of(a: int, b: int) -> Any:
        made = old[a:b].copy()
        changes = [Change.between(old, new).within(a, b) for new in news]
        found = merge(made, changes, np.full(b - a, updates))
        made[found.rows] = found.values
        return made

    merged = merged_of(0, 9)
    for row in range(9):
        steps = [(new[row] - old[row]).astype(np.float64) for new in news]
        touched = sum(bool(step.any()) for step in steps)
        left = math.exp(-updates / REACH)
        farther = sum(left**i for i in range(touched)) / max(touched, 1)  # (1 - left^n) / (1 - left) of n
        by_count = sum(steps) * farther
        while len(steps) > 1:
            steps = [adaptive(*steps[i : i + 2]) if i + 1 < len(steps) else steps[i] for i in range(0, len(steps), 2)]
        lengths = np.linalg.norm(by_count), np.linalg.norm(steps[0])
        due = [old[row] + step for step, length in zip((by_count, steps[0]), lengths, strict=True)]
        wanted = due if abs(lengths[0] - lengths[1]) < 1e-5 else [due[int(lengths[1] > lengths[0])]]
        assert any(np.allclose(merged[row], one, atol=1e-5) for one in wanted)
        if touched == 1:
            assert any(np.array_equal(merged[row], new[row]) for new in news)
    assert np.array_equal(np.concatenate([merged_of(0, 4), merged_of(4, 9)]), merged)


def test_equal_steps_of_a_frequent_row_are_averaged_and_those_of_a_rare_one_added() -> None:
    old, new = np.zeros((2, 2), np.float32), np.array([[1, 0], [1, 0]], np.float32)
    merged = merge(old, [Change.between(old, new)] * 2, np.array([1e9, 0.0]))
    assert merged.rows.tolist() == [0, 1] and merged.values.tolist() == [[1, 0], [2, 0]]


@pytest.mark.parametrize("loss", ["negative", "hierarchical", "softmax"])
@pytest.mark.parametrize("arch", ["skipgram", "cbow"])
def test_steps_that_are_expected_add_up(arch: str, loss: str) -> None:
    """In each token of the text all outputs together take as many steps as inputs do, each one on both sides."""
    unigram = np.array([70, 20, 10])
    tokens = Tokens(
        ids=np.zeros(100, np.uint8), row_offsets=np.array([0, 100]), words=Words.of(["a", "b", "c"]), unigram=unigram
    )
    plan = Plan(arch=arch, loss=loss, dim=4, window=3, sample=0.0, cbow_sum=True)
    nodes = 2 if loss == "hierarchical" else 3
    inputs, outputs = paces(Trainer(plan, tokens, Tables(3, nodes, 4), Job()))
    reach = 4  # the mean window is 2 words at each side
    terms = {"negative": 6, "hierarchical": 0.7 + 0.3 * 2, "softmax": 1}[loss]
    assert inputs.sum() == pytest.approx(reach * terms)
    assert np.allclose(inputs / inputs.sum(), unigram / 100)
    pairs = (reach if arch == "skipgram" else 1) * (3 if loss == "softmax" else terms)
    assert outputs.sum() == pytest.approx(pairs) and len(outputs) == nodes


def visits_of(blocks: int, columns: int, most: int) -> list[tuple[int, int]]:
    """Return the visits (block of rows, place of the columns) of all lanes, stage by stage."""
    offsets, found = offsets_of(blocks, columns), []
    lanes = lanes_of(offsets, columns, most)
    for stage in range(len(lanes) + 1):
        for k, lane in enumerate(lanes):
            to = lanes[(k + stage) % len(lanes)]
            for i, (a, b) in zip(lane.members, lane.spans(offsets, to, stage, len(lanes)), strict=True):
                found += [(i, place) for place in range(a, b)]
    return found


@given(st.integers(1, 8), st.integers(1, 40), st.integers(1, 9))
def test_lanes_visit_in_the_order_of_one_machine(blocks: int, columns: int, most: int) -> None:
    """The kernel's rule: at its step s, block i is s places after its own; columns take the earlier step first."""
    offsets, found = offsets_of(blocks, columns), visits_of(blocks, columns, most)
    assert sorted(found) == [(i, place) for i in range(blocks) for place in range(columns)]
    for i in range(blocks):
        own = [place for block, place in found if block == i]
        assert own == [(int(offsets[i]) + step) % columns for step in range(columns)]
    for place in range(columns):
        steps = [((place - int(offsets[i])) % columns, i) for i, at in found if at == place]
        assert steps == sorted(steps)


def test_lanes_in_the_order_of_the_blocks_would_not() -> None:
    offsets = offsets_of(8, 16)
    (lane,) = lanes_of(offsets, 16, 1)
    steps = [(15 - int(offsets[i])) % 16 for i in lane.members]
    assert steps == sorted(steps) != sorted(steps, reverse=True) and lane.members == [*range(7, -1, -1)]


@pytest.mark.parametrize("unk", [None, "<u>", "b"])
def test_types_left_out_before_are_counted_as_dropped(unk: str | None) -> None:
    words, counts = ["a", "b", "c", "d"], np.array([9, 2, 5, 1], np.uint64)

    def census(some: list[int]) -> Census:
        made, listed = Census(), Words.of([words[i] for i in some])
        sizes = np.diff(listed.offsets).astype(np.uint64)
        made.table.add(listed.data, listed.offsets[:-1].astype(np.uint64), sizes, counts[some])
        return made

    whole = choose(census([0, 1, 2, 3]), 5, None, unk, None)
    pruned = choose(census([0, 2]), 5, None, unk, None, Rest(2, 3, 2))
    assert [*pruned.words] == [*whole.words]
    assert pruned.unigram.tolist() == whole.unigram.tolist()
    assert pruned.stats == whole.stats
    assert choose(census([0, 2]), 5, None, unk, None).stats != whole.stats


def test_shares_do_not_depend_on_threads(tmp_path: Path) -> None:
    ok("encode", DATA / "corpus.txt", "--words", "--lower", "-o", tmp_path / "t.npz")
    line = ("word2vec", tmp_path / "t.npz", "--dim", "8", "--epochs", "2", "--shares", "3", "--merge-every", "9000")
    for threads in (1, 2):
        ok(*line, "--threads", str(threads), "-o", tmp_path / f"{threads}.npz")
    assert (tmp_path / "1.npz").read_bytes() == (tmp_path / "2.npz").read_bytes()
    ok(*line[:-2], "-o", tmp_path / "other.npz")
    assert (tmp_path / "1.npz").read_bytes() != (tmp_path / "other.npz").read_bytes()
    ok(*line, "--stop-after", "1", "-o", tmp_path / "half.npz")
    ok("word2vec", tmp_path / "t.npz", "--resume", tmp_path / "half.npz", "-o", tmp_path / "whole.npz")
    assert (tmp_path / "1.npz").read_bytes() == (tmp_path / "whole.npz").read_bytes()


def test_the_missing_extra_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    (tmp_path / "t.txt").write_text("a b\n", encoding="utf-8")
    line = ["encode", str(tmp_path / "t.txt"), "--words", "-o", str(tmp_path / "x.npz"), "--cluster", "local:2"]
    assert app.main(line) == 1
    assert capfd.readouterr().err.splitlines() == [
        "embcli encode: error: --cluster needs Dask, which is not installed: "
        "pip install 'embcli[cluster]' (here and on all workers)"
    ]


@pytest.mark.parametrize("where", ["local:0", "local:x", "somewhere", "tcp://host"])
def test_no_address_is_a_usage_error(where: str, tmp_path: Path) -> None:
    from conftest import embcli

    failed(embcli("encode", "t.txt", "--words", "-o", tmp_path / "x", "--cluster", where), 2, "--cluster", where)


def test_addresses_are_read_by_fsspec(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    fsspec = pytest.importorskip("fsspec", reason="fsspec is missing: it comes with embcli[cluster]")
    memory = fsspec.filesystem("memory")
    text = (DATA / "corpus.txt").read_bytes()[:200_000]
    memory.pipe("/texts/a.txt", text[:90_000])
    memory.pipe("/texts/b.txt.gz", gzip.compress(text[90_000:]))
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "a.txt").write_bytes(text[:90_000])
    (tmp_path / "texts" / "b.txt").write_bytes(text[90_000:])
    for name, where in (("m", "memory://texts"), ("l", tmp_path / "texts"), ("f", f"file://{tmp_path}/texts")):
        assert app.main(["encode", str(where), "--words", "-q", "-o", str(tmp_path / name)]) == 0
    assert (tmp_path / "m").read_bytes() == (tmp_path / "l").read_bytes() == (tmp_path / "f").read_bytes()
    for where in ("memory://nowhere", "nosuch://x"):
        assert app.main(["encode", where, "--words", "-q", "-o", str(tmp_path / "x")]) == 1
        assert where in capfd.readouterr().err


@given(st.lists(st.integers(0, 9), min_size=1, max_size=40), st.integers(1, 6))
def test_ranges_of_rows_are_even(sizes: list[int], parts: int) -> None:
    ends = np.concatenate([[0], np.cumsum(sizes)])
    found = even(ends, parts)
    assert [a for a, _ in found] == [0, *(b for _, b in found[:-1])] and found[-1][1] == len(sizes)
    assert len(found) <= parts and all(a < b for a, b in found)
    assert all(ends[b] - ends[a] <= ends[-1] / parts + 9 for a, b in found)


@given(st.lists(st.integers(0, 9), min_size=1, max_size=5000), st.integers(1, 6), st.integers(0, 5000))
def test_ranges_of_rows_to_add_up_are_even_and_not_too_long(sizes: list[int], count: int, most: int) -> None:
    buckets, rows = buckets_of(len(sizes))
    held = np.add.reduceat(np.array(sizes), np.arange(0, len(sizes), rows))
    found = [*ranges_of(held, len(sizes), count, most)]
    assert len(held) == buckets and [i for i, *_ in found] == [*range(len(found))]
    assert [a for _, a, _ in found] == [0, *(b for *_, b in found[:-1])] and found[-1][2] == len(sizes)
    assert all(0 < b - a <= max(most, rows) for _, a, b in found)
    assert all(sum(sizes[a:b]) <= sum(sizes) / count + 9 * rows for _, a, b in found)
