"""Oracle: NumPy's own concatenation, plain loops, and the same step with everything in one place. No cluster here."""

from __future__ import annotations

import gzip
import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import DATA, failed, ok
from hypothesis import given
from hypothesis import strategies as st

from embcli.artifacts.joined import Joined, Part, fill_part, map_part, read_part, write_part
from embcli.artifacts.schema import Words
from embcli.cli import app
from embcli.cluster.glove import lanes_of
from embcli.models.glove_trainer import offsets_of
from embcli.models.shares import Change, merge
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


@given(st.integers(0, 2**32), st.integers(1, 4))
def test_changes_are_merged_by_their_mean(seed: int, shares: int) -> None:
    rng = np.random.default_rng(seed)
    old = rng.standard_normal((9, 3)).astype(np.float32)
    news = []
    for _ in range(shares):
        new = old.copy()
        new[rng.random(9) < 0.5] += np.float32(1)
        news.append(new)
    merged = merge(old, [Change.between(old, new) for new in news])
    for row in range(9):
        steps = [new[row] - old[row] for new in news if (new[row] != old[row]).any()]
        expected = old[row] + (sum(steps) / len(steps) if steps else 0)
        assert np.allclose(merged[row], expected, atol=1e-6)
    halves = [merge(old[a:b], [Change.between(old, new).within(a, b) for new in news]) for a, b in ((0, 4), (4, 9))]
    assert np.array_equal(np.concatenate(halves), merged)


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
