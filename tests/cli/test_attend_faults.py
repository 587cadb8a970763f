"""Oracle: what files and options that do not fit are told, found by people who used ``attend`` to break it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import DATA, embcli, failed, ok

from embcli.artifacts import store

_SMALL = "--layers 1 --heads 2 --dim 16 --context 16 --batch 8 --steps 4"
SMALL = tuple(_SMALL.split())


@pytest.fixture(scope="module")
def road(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("faults")
    (folder / "c.txt").write_bytes((DATA / "corpus.txt").read_bytes()[:150_000])
    ok("encode", "c.txt", "--words", "--lower", "-o", "t.npz", cwd=folder)
    ok("attend", "t.npz", *SMALL, "-o", "m.npz", cwd=folder)
    ok("attend", "t.npz", *SMALL, "--position", "learned", "-o", "learned.npz", cwd=folder)
    ok("attend", "t.npz", *SMALL, "--objective", "masked", "-o", "masked.npz", cwd=folder)
    return folder


def altered(road: Path, change: Callable[[dict[str, Any]], Any]) -> str:
    """Write the model with another meta, as somebody may who edits files."""
    model = store.read(str(road / "m.npz"))
    meta = json.loads(json.dumps(model.meta))
    change(meta)
    model.options, model.stats = meta["options"], meta["stats"]
    store.write(model, str(road / "x.npz"), meta)
    return "x.npz"


def to(part: str, name: str, value: Any) -> Callable[[dict[str, Any]], Any]:
    def change(meta: dict[str, Any]) -> None:
        meta[part].pop(name, None)
        if value is not None:
            meta[part][name] = value

    return change


BOTH = [
    to("options", "heads", 5), to("options", "heads", 0), to("options", "heads", "2"), to("options", "layers", 7),
    to("options", "position", None), to("options", "position", "learned"), to("options", "position", "foo"),
    to("options", "tie", False), to("options", "objective", "masked"), to("options", "context", -1),
]  # fmt: skip
RESUMED = [
    to("stats", "cursor", None), to("stats", "cursor", [0, 10**9]), to("stats", "cursor", ["a", -1]),
    to("stats", "cursor", [1.5, 2.5]), to("stats", "tokens", None), to("stats", "heldout", "x"),
    to("options", "lr", None), to("options", "lr", "nan"),
]  # fmt: skip


@pytest.mark.parametrize("change", BOTH)
def test_altered_options_are_damage(road: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    failed(embcli("attend", altered(road, change), "--text", "the king", cwd=road), 1, "x.npz: damaged")
    failed(embcli("attend", "t.npz", "--resume", "x.npz", "-o", "y.npz", cwd=road), 1, "x.npz: damaged")


@pytest.mark.parametrize("change", RESUMED)
def test_altered_progress_is_damage(road: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    failed(embcli("attend", "t.npz", "--resume", altered(road, change), "-o", "y.npz", cwd=road), 1, "x.npz: damaged")


def test_what_was_not_altered_is_not(road: Path) -> None:
    ok("attend", altered(road, lambda meta: None), "--text", "the king", cwd=road)
    ok("attend", "t.npz", "--resume", "x.npz", "-o", "y.npz", cwd=road)
    assert (road / "y.npz").read_bytes() == (road / "m.npz").read_bytes()


def test_states_that_see_what_they_predict_predict_nothing(road: Path) -> None:
    ran = ok("attend", "m.npz", "--mask", "none", "--text", "the king was", "-o", "s.npz", cwd=road)
    assert "log P" not in ran.text and "perplexity" not in ran.text and "there are no predictions" in ran.talk
    assert store.read(str(road / "s.npz")).log_prob is None
    assert "log P" in ok("attend", "m.npz", "--text", "the king was", cwd=road).text
    for option in (("--sample", "2"), ("--candidates", "king")):
        failed(embcli("attend", "m.npz", "--mask", "none", "--text", "the", *option, cwd=road), 2, "--mask none")


@pytest.mark.parametrize("flag", ["--tsv", "--html", "--svg"])
def test_one_file_is_not_two(road: Path, flag: str) -> None:
    failed(embcli("attend", "m.npz", "--text", "the", flag, "z.npz", "-o", "./z.npz", cwd=road), 2, f"{flag} z.npz")
    assert not (road / "z.npz").exists()


def test_long_texts_are_named(road: Path) -> None:
    lines = ["the king", "the king was " * 8, "the queen was " * 9]
    (road / "lines").write_text("\n".join(lines), encoding="utf-8")
    failed(embcli("attend", "learned.npz", "--text-file", "lines", cwd=road), 1, "text 2 has 24 tokens")
    said = ok("attend", "m.npz", "--text-file", "lines", cwd=road).talk
    assert "text 2 has 24 tokens" in said and "1 more text" in said
    ran = embcli("attend", "learned.npz", "--text", "the king", "--sample", "40", cwd=road)
    failed(ran, 2, "--sample 40: text 1 has 2 tokens")


def test_weights_can_be_left_out(road: Path) -> None:
    for name, more in (("with.npz", ()), ("without.npz", ("--no-weights",))):
        ok("attend", "m.npz", "--text", "the king was", "--text", "the", *more, "-o", name, cwd=road)
    a, b = (store.read(str(road / name)) for name in ("with.npz", "without.npz"))
    assert a.text_at(0)[1].shape == (1, 2, 3, 3) and b.text_at(0)[1].size == 0
    assert (np.asarray(a.text_at(0)[0]) == np.asarray(b.text_at(0)[0])).all()
    ok("neighbors", "without.npz", "king@1:2", cwd=road)
    failed(embcli("neighbors", "without.npz", "king", cwd=road), 1, "did you mean king@1:2?")
    failed(embcli("attend", "m.npz", "--text", "the", "--no-weights", "--svg", "a.svg", cwd=road), 2, "--no-weights")


@pytest.mark.parametrize(
    ("args", "code", "said"),
    [
        (("m.npz", "--text", "the", "--candidates", ",,"), 2, "names no word"),
        (("m.npz", "--text", "the", "--candidates", ""), 2, "names no word"),
        (("t.npz", "--temperature", "2", "-o", "x"), 2, "--temperature"),
        (("t.npz", "--top", "7", "-o", "x"), 2, "--top"),
        (("t.npz", "--optimizer", "sgd", "--beta1", ".5", "-o", "x"), 2, "--beta1"),
        (("m.npz",), 2, "give a model and --text"),
    ],
)
def test_options_that_would_do_nothing_are_refused(road: Path, args: tuple[str, ...], code: int, said: str) -> None:
    failed(embcli("attend", *args, cwd=road), code, said)


def test_candidates_are_ranked_once_and_masks_are_missed(road: Path) -> None:
    ran = ok("attend", "m.npz", "--text", "the", "--candidates", "king,king,queen", "--json", cwd=road)
    found = [row for row in map(json.loads, ran.text.splitlines()) if row["table"] == "candidates"]
    assert sorted(row["candidate"] for row in found) == ["king", "queen"]
    assert sum(row["share"] for row in found) == pytest.approx(1)
    said = ok("attend", "masked.npz", "--text", "the king", "--candidates", "was", cwd=road).talk
    assert "no [MASK] in the texts: nothing to rank" in said


def test_json_has_numbers_and_the_text_as_a_whole(road: Path) -> None:
    rows = [
        json.loads(line) for line in ok("attend", "m.npz", "--text", "the king", "--json", cwd=road).text.splitlines()
    ]
    token = next(row for row in rows if row["table"] == "tokens")
    assert [set(each) for each in token["next"]] == [{"word", "probability"}] * 5
    whole = next(row for row in rows if row["table"] == "text")
    assert whole["tokens"] == 2 and whole["perplexity"] == pytest.approx(np.exp(-whole["log_prob"]))
    assert {row["position"] for row in rows if row["table"] == "weights"} == {1, 2}


def test_a_huge_word_is_cut_in_notes(road: Path) -> None:
    assert len(ok("attend", "m.npz", "--text", "the " + "x" * 5000, cwd=road).talk) < 400
