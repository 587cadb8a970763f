"""Oracle: the manners that the README promises and users' reports, for glove."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from conftest import DATA, embcli, environment, failed, ok
from glove import chance, fit
from samples import documents, save
from w2v import read

from embcli import job as jobs
from embcli.artifacts import store
from embcli.artifacts.schema import Counts
from embcli.errors import InputError

SMALL = ["--dim", "8", "--epochs", "2"]


@pytest.fixture(scope="module")
def counts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Counts of a part of the bundled corpus: about 1,300 words, 200,000 cells."""
    folder = tmp_path_factory.mktemp("glove")
    (folder / "c.txt").write_bytes((DATA / "corpus.txt").read_bytes()[:200_000])
    ok("encode", folder / "c.txt", "--words", "--lower", "-o", folder / "t.npz")
    ok("cooc", folder / "t.npz", "--window", "10", "-o", folder / "c.npz")
    return folder / "c.npz"


@pytest.fixture(scope="module")
def ten(counts: Path) -> Path:
    """Ten epochs in one go, and their first five."""
    five = ["--epochs", "5", "--checkpoint", counts.parent / "check.npz", "--threads", "1"]
    ok("glove", counts, "-d", "20", *five, "-o", counts.parent / "five.npz", PYTHONHASHSEED="2")
    ok("glove", counts, "-d", "20", "--epochs", "10", "-o", counts.parent / "ten.npz", PYTHONHASHSEED="1")
    return counts.parent / "ten.npz"


def test_five_and_five_are_ten(ten: Path, tmp_path: Path) -> None:
    """user-reports G02, G03, X17: to the bit, whatever threads and hash seed; the file is no parent."""
    counts, five = ten.with_name("c.npz"), ten.with_name("five.npz")
    assert five.read_bytes() == ten.with_name("check.npz").read_bytes()
    options = ["--resume", five, "--epochs", "10", "--threads", "3", "-o", tmp_path / "v.npz"]
    ran = ok("glove", counts, *options)
    assert (tmp_path / "v.npz").read_bytes() == ten.read_bytes()
    assert "epoch 6 of 10" in ran.talk and "epoch 5" not in ran.talk
    arrays, _, meta = read(ten)
    assert (np.diff(arrays["epoch_loss"]) < 0).all() and meta["seed"] == 0
    assert [parent["kind"] for parent in meta["parents"]] == ["tokens", "counts"]
    assert "nothing is trained" in ok("glove", counts, "--resume", ten, "-o", tmp_path / "v.npz").talk
    assert (tmp_path / "v.npz").read_bytes() == ten.read_bytes()


def test_what_cannot_be_resumed(ten: Path, chain: Path, tmp_path: Path) -> None:
    """user-reports G02: another dimension or vocabulary is a clean error."""
    counts, out = ten.with_name("c.npz"), ["-o", tmp_path / "v.npz"]
    failed(embcli("glove", counts, "--resume", ten, "--dim", "30", *out), 2, "--dim 30", "20")
    failed(embcli("glove", counts, "--resume", ten, "--epochs", "9", *out), 2, "--epochs 9", "10 epochs")
    failed(embcli("glove", counts, "--resume", ten, "--seed", "1", *out), 2, "--seed 1")
    failed(embcli("glove", chain / "counts.npz", "--resume", ten, *out), 3, "other counts")
    failed(embcli("glove", counts, "--resume", chain / "vectors.npz", *out), 3, "svd")
    failed(embcli("glove", counts, "--resume", chain / "tokens.npz", *out), 3, "found 'tokens'", "'embcli glove'")
    ok("glove", counts, *SMALL, "--no-state", "-o", tmp_path / "n.npz")
    assert not {"word_rows", "word_squares", "bias_squares"} & read(tmp_path / "n.npz")[0].keys()
    failed(embcli("glove", counts, "--resume", tmp_path / "n.npz", *out), 3, "--no-state")


def test_what_is_in_the_output(ten: Path) -> None:
    """user-reports G06, X08: words, both tables and biases, and vectors is their sum; it can be asked and described."""
    arrays, words, meta = read(ten)
    assert (
        np.array_equal(arrays["vectors"], arrays["word_rows"] + arrays["contexts"])
        and meta["options"]["output"] == "sum"
    )
    assert {"bias", "context_bias", "word_squares", "context_squares"} <= arrays.keys() and words[0] == "the"
    shown = ok("info", ten, "--verify").text
    assert "cost (GloVe: mean of f(X)" in shown and f"{arrays['epoch_loss'][-1]:.6g}" in shown
    assert "king" in ok("neighbors", ten, "king", "--top", "3", "--table", "output").text
    assert "to the start" in ok("eval", ten, "--geometry").text


def test_a_sum_is_not_added_to_once_more(ten: Path, tmp_path: Path) -> None:
    """user-reports G06: vectors are w + c already; --init takes w."""
    arrays, words, _ = read(ten)
    for table, member in (("sum", "vectors"), ("output", "contexts")):
        ok("transform", ten, "--table", table, "-o", tmp_path / "t.npz")
        assert np.array_equal(read(tmp_path / "t.npz")[0]["vectors"], arrays[member]), table
    ok("glove", ten.with_name("c.npz"), *SMALL, "--output", "words", "-o", tmp_path / "w.npz")
    ok("transform", tmp_path / "w.npz", "--table", "sum", "-o", tmp_path / "t.npz")
    parts = read(tmp_path / "w.npz")[0]
    assert np.array_equal(read(tmp_path / "t.npz")[0]["vectors"], parts["vectors"] + parts["contexts"])
    still = ["--epochs", "1", "--lr", "1e-30", "--min-lr", "1e-30"]
    ok("word2vec", ten.with_name("t.npz"), "--init", ten, *still, "-o", tmp_path / "i.npz")
    begun, same, _ = read(tmp_path / "i.npz")
    assert same == words and np.array_equal(begun["vectors"], arrays["word_rows"])
    assert np.array_equal(begun["contexts"], arrays["contexts"])


def test_another_seed_and_stdin(counts: Path, tmp_path: Path) -> None:
    """user-reports G03, X05, X17."""
    ok("glove", counts, *SMALL, "-o", tmp_path / "a.npz")
    assert ok("glove", "-", *SMALL, "-o", "-", stdin=counts.read_bytes()).out == (tmp_path / "a.npz").read_bytes()
    ok("glove", counts, *SMALL, "--seed", "1", "-o", tmp_path / "b.npz")
    (a, _, _), (b, _, meta) = read(tmp_path / "a.npz"), read(tmp_path / "b.npz")
    assert not np.array_equal(a["vectors"], b["vectors"]) and meta["seed"] == 1


def test_lines_for_each_epoch(counts: Path, tmp_path: Path) -> None:
    """user-reports X03: plain lines; the cost is called GloVe's; JSON has it all."""
    pairs = DATA / "similarity.tsv"
    ran = ok("glove", counts, *SMALL, "--eval", pairs, "--json", "-o", tmp_path / "v.npz")
    lines = [line for line in ran.talk.splitlines() if "compiling" not in line]
    assert b"\x1b" not in ran.err and b"\r" not in ran.err and len(lines) == 3
    form = r"embcli glove: epoch 1 of 2: cost 0\.\d{5}, rate 0.05, [\d.]+ [kM] cells/s, similarity.tsv [\d.-]+, .+ left"
    assert re.fullmatch(form, lines[0]), lines[0]
    assert re.search(r"8 dimensions, GloVe, 2 epochs, [\d,]+ cells, cost 0\.\d+", lines[2])
    found = json.loads(ran.text)
    assert [row["cost"] for row in found["epochs"]] == read(tmp_path / "v.npz")[0]["epoch_loss"].tolist()
    assert "similarity.tsv" in found["epochs"][0]["eval"] and found["epochs"][0]["cells_per_second"] > 0


def test_stop_when_flat(counts: Path, tmp_path: Path) -> None:
    ran = ok("glove", counts, "--dim", "8", "--epochs", "50", "--stop-when-flat", "0.9", "-o", tmp_path / "v.npz")
    assert "stopped after epoch 2" in ran.talk and len(read(tmp_path / "v.npz")[0]["epoch_loss"]) == 2
    more = ["--resume", tmp_path / "v.npz", "--epochs", "4", "-o", tmp_path / "w.npz"]
    assert "give a smaller share" in ok("glove", counts, *more).talk
    ok("glove", counts, *more, "--stop-when-flat", "1e-9")
    ok("glove", counts, "--dim", "8", "--epochs", "4", "-o", tmp_path / "x.npz")
    assert np.array_equal(read(tmp_path / "w.npz")[0]["vectors"], read(tmp_path / "x.npz")[0]["vectors"])


def test_squares_that_cannot_be_are_damage(ten: Path, tmp_path: Path) -> None:
    made = store.read(str(ten))
    made.word_squares = np.zeros_like(made.word_squares)
    store.write(made, str(tmp_path / "d.npz"), made.meta)
    out = ["--epochs", "11", "-o", tmp_path / "v.npz"]
    failed(embcli("glove", ten.with_name("c.npz"), "--resume", tmp_path / "d.npz", *out), 1, "damaged", "word_squares")


@pytest.mark.parametrize(
    "options",
    [["--dim", "0"], ["--epochs", "0"], ["--lr", "0"], ["--lr", "nan"], ["--x-max", "0"], ["--weight-power", "-1"],
     ["--output", "mean"], ["--stop-after", "99"], ["--checkpoint", "-"]],
    ids=" ".join,
)  # fmt: skip
def test_usage_errors_come_before_reading(options: list[str], tmp_path: Path) -> None:
    failed(embcli("glove", tmp_path / "none.npz", "-o", tmp_path / "v.npz", *options), 2, options[0])


def test_counts_that_cannot_be_used(chain: Path, tmp_path: Path) -> None:
    """user-reports X20, X13: tokens, vectors, documents x words, and no counts at all."""
    out = ["-o", tmp_path / "v.npz"]
    for kind in ("tokens", "vectors"):
        failed(embcli("glove", chain / f"{kind}.npz", *out), 3, f"found '{kind}'", "embcli cooc")
    save(documents(), tmp_path / "d.npz")
    failed(embcli("glove", tmp_path / "d.npz", *out), 3, "d.npz", "2 documents x 4 words", "--context")
    save(chance(5, 0.0), tmp_path / "e.npz")
    failed(embcli("glove", tmp_path / "e.npz", *out), 4, "e.npz", "nothing to learn", "5 words")


def test_divergence(counts: Path, tmp_path: Path) -> None:
    """user-reports G01: exit 4, the epoch and a lower rate named, nothing written, no warning of NumPy."""
    failed(embcli("glove", counts, "--lr", "1e9", "-o", tmp_path / "v.npz"), 4, "c.npz", "epoch 1", "--lr 0.05")
    assert list(tmp_path.iterdir()) == []


def test_many_dimensions_on_few_words(counts: Path, tmp_path: Path) -> None:
    """user-reports G01: 200 lines, 500 dimensions, 100 epochs at the default rate."""
    lines = (DATA / "corpus.txt").read_bytes().splitlines(keepends=True)[:200]
    (tmp_path / "c.txt").write_bytes(b"".join(lines))
    ok("encode", tmp_path / "c.txt", "--words", "--lower", "-o", tmp_path / "t.npz")
    ok("cooc", tmp_path / "t.npz", "-o", tmp_path / "c.npz")
    found = store.read(str(tmp_path / "c.npz"))
    assert isinstance(found, Counts)
    made = fit(found, 2, dim=500, epochs=100)
    assert np.isfinite(made.word_rows).all() and made.epoch_loss[-1] < made.epoch_loss[0] / 2


def test_memory_is_checked_before_work(counts: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """user-reports G07: the bytes that are needed are named."""
    found = store.read(str(counts))
    assert isinstance(found, Counts)
    monkeypatch.setattr(jobs, "free_memory", lambda: 1_000_000_000)
    with pytest.raises(InputError, match=r"x 100,000 and their squared gradients needs 2.\d GB of memory, 1.0 GB are"):
        fit(found, dim=100_000)


def test_interrupted(counts: Path, tmp_path: Path) -> None:
    """Ctrl-C leaves the checkpoint, no output and no litter; training goes on from there."""
    check = tmp_path / "check.npz"
    line = [sys.executable, "-m", "embcli", "glove", counts, *SMALL[:2], "--epochs", "20000", "--checkpoint", check]
    child = subprocess.Popen(
        [*map(str, line), "-o", str(tmp_path / "v.npz")], env=environment(), stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )  # fmt: skip
    for _ in range(600):
        if check.exists():
            break
        time.sleep(0.1)
    child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=60)
    assert child.returncode == 130 and b"Traceback" not in err, err.decode()
    assert [p.name for p in tmp_path.iterdir()] == ["check.npz"]
    done = len(read(check)[0]["epoch_loss"])
    ok("glove", counts, "--resume", check, "--stop-after", str(done + 1), "-o", tmp_path / "v.npz")
    assert len(read(tmp_path / "v.npz")[0]["epoch_loss"]) == done + 1


def test_peak_memory_is_tables_and_little_more(tmp_path: Path) -> None:
    """3 M cells (36 MB) and tables with squares of 4 x 4 MB; what is besides them does not grow with either."""
    rng = np.random.default_rng(0)
    V, each = 10_000, 300
    made = chance(5, 1.0)
    made.indices = (
        np.sort(rng.integers(0, V // each, (V, each)) + np.arange(each) * (V // each), 1).astype(np.int32).ravel()
    )
    made.data, made.indptr = np.ones(V * each), np.arange(V + 1) * each
    made.shape, made.unigram = np.array([V, V]), np.ones(V, np.int64)
    made.words = type(made.words).of([f"w{i}" for i in range(V)])
    save(made, tmp_path / "c.npz")
    if not Path("/proc/self/status").exists():
        pytest.skip("peak memory is read from /proc")
    code = (
        "import sys; from embcli.cli.app import main; code = main(sys.argv[1:])\n"  # ru_maxrss knows the parent's peak
        "print(open('/proc/self/status').read().split('VmHWM:')[1].split()[0]); sys.exit(code)"
    )
    line = [
        "glove",
        str(tmp_path / "c.npz"),
        "-d",
        "96",
        "-e",
        "1",
        "--threads",
        "2",
        "-o",
        str(tmp_path / "v.npz"),
        "-q",
    ]
    subprocess.run([sys.executable, "-c", code, *line], env=environment(), check=True, capture_output=True)
    done = subprocess.run([sys.executable, "-c", code, *line], env=environment(), check=True, capture_output=True)
    assert int(done.stdout) * 1024 < 4 * V * 96 * 4 + 300_000_000
