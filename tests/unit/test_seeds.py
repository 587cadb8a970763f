"""Oracle: the statistics module, and names and metas written by hand."""

from __future__ import annotations

import statistics

from embcli.query.seeds import Group, groups, spread


def meta(seed: int, dim: int = 8, digest: str = "a") -> dict[str, object]:
    return {
        "kind": "vectors", "step": "svd", "options": {"dim": dim}, "inputs": [{"digest": digest}], "seed": seed,
        "embcli": "1",
    }  # fmt: skip


def test_only_the_seed_may_differ() -> None:
    metas = [meta(0), meta(1), meta(0, dim=9), meta(2), meta(0, digest="b"), meta(1, dim=9)]
    names = ["sg seed=0", "sg seed=1", "wide seed=0", "sg seed=2", "other", "wide seed=1"]
    found = groups(metas, names)
    assert found == [Group("sg", (0, 1, 3)), Group("wide", (2, 5)), Group("other", (4,))]


def test_the_same_artifact_twice_is_one() -> None:
    assert groups([meta(0), meta(0), meta(1)], ["a1.npz", "a1.npz", "a2.npz"]) == [Group("a", (0, 2))]


def test_what_tells_nothing_of_its_making_stands_alone() -> None:
    unknown = [meta(seed) | {"inputs": []} for seed in (0, 1)]
    assert [group.members for group in groups(unknown, ["a", "b"])] == [(0,), (1,)]


def test_names_without_a_common_beginning() -> None:
    assert groups([meta(0), meta(1)], ["first.npz", "second.npz"])[0].name == "first.npz"
    assert groups([meta(0), meta(1)], ["1", "2"])[0].name == "1"
    assert groups([meta(3), meta(4)], ["w-loss=x-seed=13.npz", "w-loss=x-seed=14.npz"])[0].name == "w-loss=x"


def test_the_spread_of_what_is_there() -> None:
    values = [0.5, 0.25, None, 0.375]
    known = [0.5, 0.25, 0.375]
    found = spread(values)
    assert found is not None and (found.mean, found.n) == (statistics.mean(known), 3)
    assert found.deviation == statistics.stdev(known)
    alone = spread([0.5])
    assert alone is not None and alone.deviation is None and spread([None]) is None
