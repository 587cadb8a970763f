"""Oracle: the manners that the README promises, for training a Transformer."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from conftest import DATA, embcli, environment, failed, ok

from embcli.artifacts import store
from embcli.models import layers
from embcli.models.packing import split
from embcli.models.sound import config_of
from embcli.models.transformer import forward, scores

_SMALL = "--layers 1 --heads 2 --dim 16 --context 64 --batch 16 --steps 8 --report 4"
SMALL = tuple(_SMALL.split())


@pytest.fixture(scope="module")
def tokens(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("attend")
    (folder / "c.txt").write_bytes((DATA / "corpus.txt").read_bytes()[:60_000])
    ok("encode", folder / "c.txt", "--words", "--lower", "-o", folder / "t.npz")
    return folder / "t.npz"


def trained(tokens: Path, out: Path, *options: str) -> bytes:
    ok("attend", tokens, *SMALL, *options, "-o", out, "-q")
    return out.read_bytes()


@pytest.mark.parametrize("options", [("--dropout", "0.2"), ("--objective", "masked", "--position", "rope", "--no-tie")])
def test_same_bytes_at_any_threads_and_after_resuming(tokens: Path, tmp_path: Path, options: tuple[str, ...]) -> None:
    whole = trained(tokens, tmp_path / "a.npz", *options, "--threads", "1")
    kept = ("--checkpoint", str(tmp_path / "k.npz"))
    assert trained(tokens, tmp_path / "b.npz", *options, "--threads", "3", *kept) == whole
    assert (tmp_path / "k.npz").read_bytes() == whole
    assert trained(tokens, tmp_path / "b.npz", *options, "--threads", "5") == whole
    trained(tokens, tmp_path / "c.npz", *options, "--threads", "2", "--stop-after", "3")
    ok("attend", tokens, "--resume", tmp_path / "c.npz", "-o", tmp_path / "d.npz")
    assert (tmp_path / "d.npz").read_bytes() == whole
    assert trained(tokens, tmp_path / "e.npz", *options, "--seed", "1") != whole


def test_what_the_model_holds(tokens: Path, tmp_path: Path) -> None:
    ran = ok("attend", tokens, *SMALL, "-o", tmp_path / "m.npz")
    assert (
        ran.talk.count("\n") - ran.talk.count("compiling kernels") == 3
        and "perplexity" in ran.talk
        and b"\r" not in ran.err
    )
    model = store.read(str(tmp_path / "m.npz"), ("model",))
    assert store.verify(str(tmp_path / "m.npz"))
    assert len(model.step_loss) == 8 and model.step_loss[-1] < model.step_loss[0] < np.log(len(model.words)) + 1.5
    assert model.stats["heldout"]["steps"] == [4, 8] and len(model.adam_mean) == model.stats["parameters"]
    assert model.options["scale_embeddings"] is True and model.options["ffn"] == 64
    assert model.text["split"] == "words" and model.output_rows is None
    light = store.read(str(tmp_path / "m.npz"), ("model",)).parameters
    assert list(light) == [n for n in model.members if n in light]


def test_rows_of_vectors_stay_where_they_are_frozen(tokens: Path, tmp_path: Path) -> None:
    ok("cooc", tokens, "-o", tmp_path / "c.npz")
    ok("svd", tmp_path / "c.npz", "--dim", "8", "-o", tmp_path / "v.npz")
    shape = "--layers 1 --heads 2 --steps 3 --batch 4 -q"
    start = ("--vectors", str(tmp_path / "v.npz"), *shape.split())
    ok("attend", tokens, *start, "--freeze", "--no-tie", "-o", tmp_path / "f.npz")
    ok("attend", tokens, *start, "-o", tmp_path / "m.npz")
    vectors = np.load(tmp_path / "v.npz")["vectors"]
    assert np.array_equal(np.load(tmp_path / "f.npz")["token_rows"], vectors)
    moved = np.load(tmp_path / "m.npz")["token_rows"]
    assert not np.array_equal(moved, vectors) and np.abs(moved - vectors).max() < 0.1
    failed(embcli("attend", tokens, *start, "--dim", "6", "-o", tmp_path / "x.npz"), 2, "8 dimensions")
    assert not (tmp_path / "x.npz").exists()


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        (("--heads", "3"), ("--heads 3", "128")),
        (("--dim", "7", "--heads", "1"), ("sinusoidal", "7")),
        (("--dim", "12", "--heads", "4", "--position", "rope"), ("rope", "3")),
        (("--min-lr", "1"), ("--min-lr",)),
        (("--stop-after", "2000"), ("--stop-after",)),
        (("--warmup", "2000"), ("--warmup",)),
        (("--lr", "0"), ("--lr",)),
        (("--dim", "9", "--heads", "3", "--position", "rope"), ("rope", "3")),
        (("--position", "learned", "--heldout-context", "256"), ("--heldout-context 256", "128")),
        (("--heldout", "0", "--heldout-context", "256"), ("--heldout-context 256", "--heldout 0")),
    ],
)
def test_usage_errors_come_before_the_text_is_read(
    options: tuple[str, ...], parts: tuple[str, ...], tmp_path: Path
) -> None:
    """user-reports A05 among them: a width that the heads cannot share."""
    failed(embcli("attend", tmp_path / "no-such.npz", *options, "-o", tmp_path / "m.npz"), 2, *parts)


def test_odd_widths_are_fine_where_no_pairs_are_needed(tokens: Path, tmp_path: Path) -> None:
    for position in ("learned", "alibi", "none"):
        shape = ("--dim", "7", "--heads", "1", "--layers", "1", "--steps", "1", "--batch", "1", "--position", position)
        ok("attend", tokens, *shape, "-q", "-o", tmp_path / "m.npz")


def test_held_out_rows_in_longer_windows(tmp_path: Path) -> None:
    """Oracle: the readable model on the held-out rows, cut to the length by hand; a whole run resumed keeps it."""
    (tmp_path / "c.txt").write_bytes((DATA / "corpus.txt").read_bytes()[:60_000].replace(b".\n", b". "))
    ok("encode", tmp_path / "c.txt", "--words", "--lower", "-o", tmp_path / "t.npz")
    for position in ("alibi", "rope", "sinusoidal"):
        longer = ("--position", position, "--context", "8", "--heldout", "0.2", "--heldout-context", "16")
        ran = ok("attend", tmp_path / "t.npz", *SMALL, *longer, "-o", tmp_path / "m.npz")
        model, text = store.read(str(tmp_path / "m.npz"), ("model",)), store.read(str(tmp_path / "t.npz"), ("tokens",))
        config = config_of(model)
        losses: dict[int, list[float]] = {8: [], 16: []}
        for row in split(text, config, 0.2, 0)[1].tolist():
            start, stop = text.row_offsets[row : row + 2].tolist()
            for T in losses:
                for a in range(start, stop - 1, T):
                    ids = text.ids[a : min(a + T + 1, stop)].astype(np.int64)
                    Z = scores(config, model.parameters, forward(config, model.parameters, ids[:-1]).final)
                    losses[T] += layers.losses(Z, ids[1:]).tolist()
        held = model.stats["heldout"]
        assert held["loss"][-1] == pytest.approx(np.mean(losses[8]), rel=1e-5)
        assert held["longer"] == pytest.approx(np.mean(losses[16]), rel=1e-5) != held["loss"][-1]
        assert f"windows of 16 tokens {np.exp(held['longer']):,.4g}" in ran.talk
    ok("attend", tmp_path / "t.npz", "--resume", tmp_path / "m.npz", "-o", tmp_path / "n.npz")
    assert (tmp_path / "n.npz").read_bytes() == (tmp_path / "m.npz").read_bytes()


def test_failures_are_clean(tokens: Path, tmp_path: Path) -> None:
    out = ("-o", tmp_path / "m.npz")
    failed(
        embcli("attend", tokens, *SMALL, "--optimizer", "sgd", "--lr", "1e30", *out), 4, "divergence", "--lr 2.5e+29"
    )
    assert not (tmp_path / "m.npz").exists()
    (tmp_path / "one.txt").write_text("a\nb\na\n", encoding="utf-8")
    ok("encode", tmp_path / "one.txt", "--words", "--min-count", "1", "-o", tmp_path / "one.npz")
    failed(embcli("attend", tmp_path / "one.npz", *out), 4, "no row", "two tokens")
    ok("encode", tmp_path / "one.txt", "--words", "--min-count", "1", "--rows", "file", "-o", tmp_path / "row.npz")
    ran = ok("attend", tmp_path / "row.npz", *SMALL, *out)
    assert "1 row" in ran.talk and "held out" in ran.talk and "heldout" not in store.read(str(out[1]), ("model",)).stats
    ok("attend", tokens, *SMALL, "--no-state", "--stop-after", "2", *out)
    failed(embcli("attend", tokens, "--resume", tmp_path / "m.npz", "-o", tmp_path / "n.npz"), 3, "--no-state")
    ok("attend", tokens, *SMALL, "--stop-after", "2", *out)
    out = ("-o", tmp_path / "n.npz")
    failed(embcli("attend", tokens, "--resume", tmp_path / "m.npz", "--lr", "0.5", *out), 2, "--lr 0.5", "0.001")
    failed(embcli("attend", tokens, "--resume", tmp_path / "m.npz", "--steps", "9", *out), 2, "planned for 8")
    failed(embcli("attend", tmp_path / "one.npz", "--resume", tmp_path / "m.npz", *out), 3, "other tokens")
    sentences = DATA / "tiny" / "five-sentences.txt"
    ok("encode", sentences, "--words", "--min-count", "2", "--gaps", "keep", "-o", tmp_path / "g.npz")
    failed(embcli("attend", tmp_path / "g.npz", *out), 3, "gaps")


def test_plain_steps_of_the_first_batch(tmp_path: Path) -> None:
    """One step of SGD without clipping, warm-up or decay, of a model without layers, by hand."""
    (tmp_path / "c.txt").write_text("a b\n" * 4, encoding="utf-8")
    ok("encode", tmp_path / "c.txt", "--words", "--min-count", "1", "-o", tmp_path / "t.npz")
    plain = "--layers 0 --heads 1 --dim 2 --position none --no-tie --optimizer sgd --decay none --batch 1 --context 1"
    plain += " --heldout 0 --lr 0.5 --steps 2 -q"
    for stop in ("1", "2"):
        ok("attend", tmp_path / "t.npz", *plain.split(), "--stop-after", stop, "-o", tmp_path / f"{stop}.npz")
    one, two = (np.load(tmp_path / f"{stop}.npz") for stop in ("1", "2"))
    row = one["token_rows"][0].astype(float)  # "a" predicts "b": the only pair there is
    unit = (row - row.mean()) / np.sqrt(row.var() + 1e-5)
    Z = one["output_rows"].astype(float) @ (unit * one["final_gain"] + one["final_bias"])
    p = np.exp(Z) / np.exp(Z).sum()
    assert two["step_loss"][1] == pytest.approx(-np.log(p[1]), rel=1e-5)
    wanted = one["output_rows"] - 0.5 * np.outer(p - [0, 1], unit * one["final_gain"] + one["final_bias"])
    np.testing.assert_allclose(two["output_rows"], wanted, rtol=0, atol=1e-6)
    assert np.array_equal(one["token_rows"][1], two["token_rows"][1])  # "b" is never an input: not one bit moves
    assert not np.array_equal(one["token_rows"][0], two["token_rows"][0])


def test_stdin_wrong_kinds_and_clashing_files(tokens: Path, tmp_path: Path) -> None:
    """user-reports X05, X20."""
    whole, out = trained(tokens, tmp_path / "m.npz"), ("-o", tmp_path / "n.npz")
    assert ok("attend", "-", *SMALL, "-o", "-", "-q", stdin=tokens.read_bytes()).out == whole
    ok("cooc", tokens, "-o", tmp_path / "c.npz")
    failed(embcli("attend", tmp_path / "c.npz", *out), 3, "found 'counts'")
    failed(embcli("attend", tokens, "--vectors", tmp_path / "c.npz", *out), 3, "found 'counts'")
    failed(embcli("attend", tokens, "--resume", tmp_path / "c.npz", *out), 3, "found 'counts'")
    failed(embcli("attend", tokens, "--resume", tmp_path / "m.npz", "-o", tmp_path / "m.npz"), 2, "is an input too")
    failed(embcli("attend", tokens, "--checkpoint", tokens, *out), 2, "is an input too")


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGKILL, -signal.SIGKILL)]
)
def test_signals_leave_a_checkpoint_that_goes_on(tokens: Path, tmp_path: Path, number: int, code: int) -> None:
    plan = ("--layers", "1", "--dim", "16", "--context", "32", "--batch", "4", "--steps", "1000000", "--report", "5")
    line = ["attend", tokens, *plan, "--checkpoint", tmp_path / "k.npz", "-o", tmp_path / "m.npz"]
    child = subprocess.Popen(
        [sys.executable, "-m", "embcli", *map(str, line)], env=environment(), stderr=subprocess.PIPE
    )
    while not (tmp_path / "k.npz").exists() and child.poll() is None:
        time.sleep(0.05)
    child.send_signal(number)
    _, err = child.communicate(timeout=120)
    assert child.returncode == code and b"Traceback" not in err, err.decode()
    if number != signal.SIGKILL:
        assert [p.name for p in tmp_path.iterdir()] == ["k.npz"]
    done = len(store.read(str(tmp_path / "k.npz"), ("model",)).step_loss)
    goal = ("--stop-after", str(done + 2), "-q", "-o")
    ok("attend", tokens, "--resume", tmp_path / "k.npz", *goal, tmp_path / "a.npz")
    ok("attend", tokens, *plan, *goal, tmp_path / "b.npz")
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
