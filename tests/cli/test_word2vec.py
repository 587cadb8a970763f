"""Oracle: the manners that the README promises and users' reports, for word2vec."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from conftest import DATA, embcli, environment, failed, ok
from w2v import read, tables, tokens_of, topics, word2vec

from embcli.models.begin import completed
from embcli.spec import Word2vecParams

SMALL = ["--dim", "8", "--sample", "0"]


@pytest.fixture(scope="module")
def tokens(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Tokens of a part of the bundled corpus: about 34,000 words, 1,300 of them different."""
    folder = tmp_path_factory.mktemp("w2v")
    (folder / "c.txt").write_bytes((DATA / "corpus.txt").read_bytes()[:200_000])
    ok("encode", folder / "c.txt", "--words", "--lower", "-o", folder / "t.npz")
    return folder / "t.npz"


@pytest.fixture(scope="module")
def trained(tokens: Path) -> Path:
    """Five epochs in one go, and their first three."""
    for name, *more in (("five.npz",), ("three.npz", "--stop-after", "3", "--checkpoint", tokens.parent / "check.npz")):
        word2vec(tokens, "--dim", "20", "-o", tokens.parent / name, *more)
    return tokens.parent


RECIPES = {
    "skipgram": [], "cbow": ["--arch", "cbow", "--sample", "0"], "tree": ["--loss", "hierarchical", "--arch", "cbow"],
    "softmax": ["--loss", "softmax", "--heldout", "0.1", "--dim", "4"],
}  # fmt: skip


@pytest.mark.parametrize("recipe", RECIPES)
def test_same_bytes_at_any_number_of_threads_and_hash_seed(tokens: Path, tmp_path: Path, recipe: str) -> None:
    """user-reports W02, X17."""
    options = ["--dim", "12", "--epochs", "2" if recipe != "softmax" else "1", *RECIPES[recipe], "-q"]
    for i, threads in enumerate((1, 2, 3, 8)):
        out = tmp_path / f"{threads}.npz"
        word2vec(tokens, *options, "--threads", str(threads), "-o", out, PYTHONHASHSEED=str(i))
        assert out.read_bytes() == (tmp_path / "1.npz").read_bytes()


def test_another_seed_gives_other_vectors_and_is_recorded(tokens: Path, tmp_path: Path) -> None:
    """user-reports X17."""
    for seed in ("0", "1"):
        word2vec(tokens, "--dim", "8", "--epochs", "1", "--seed", seed, "-o", tmp_path / f"{seed}.npz", "-q")
    (a, _, zero), (b, _, one) = (read(tmp_path / f"{seed}.npz") for seed in "01")
    assert not np.array_equal(a["vectors"], b["vectors"]) and (zero["seed"], one["seed"]) == (0, 1)


def test_stdin_equals_the_file(tokens: Path, tmp_path: Path) -> None:
    """user-reports X05."""
    options = ["--dim", "8", "--epochs", "1"]
    word2vec(tokens, *options, "-o", tmp_path / "a.npz", "-q")
    assert word2vec("-", *options, "-o", "-", stdin=tokens.read_bytes()).out == (tmp_path / "a.npz").read_bytes()


def test_long_lines_are_trained_to_their_end(tmp_path: Path) -> None:
    """user-reports W03: one line of 12,000 fillers, then x y 200 times."""
    rng = np.random.default_rng(0)
    fillers = " ".join(f"f{i}" for i in rng.integers(0, 300, 12_000))
    tokens = tokens_of(tmp_path, fillers + " x y" * 200 + "\n")
    word2vec(tokens, *SMALL, "--window", "1", "--lr", "0.1", "-o", tmp_path / "v.npz", "-q")
    _, _, meta = read(tmp_path / "v.npz")
    assert meta["stats"]["words"] == [12_400] * 5
    assert ok("neighbors", tmp_path / "v.npz", "x", "--top", "1", "--table", "sum", "--format", "tsv").text
    arrays, words, _ = read(tmp_path / "v.npz")
    scores = arrays["contexts"] @ arrays["vectors"][words.index("x")]
    assert words[int(scores.argmax())] == "y"


@pytest.mark.parametrize(
    "options",
    [["--negative", "0"], ["--epochs", "0"], ["--lr", "0"], ["--lr", "nan"], ["--window", "0"], ["--dim", "0"],
     ["--min-lr", "1", "--lr", "0.1"], ["--cbow-sum"], ["--stop-after", "9"], ["--sample", "-1"], ["--loss", "sofmax"],
     ["--init", "a.npz", "--resume", "b.npz"], ["--explain", "2", "--resume", "b.npz"], ["--heldout", "0.9"],
     ["--checkpoint", "-"]],
    ids=" ".join,
)  # fmt: skip
def test_usage_errors_come_before_reading(options: list[str], tmp_path: Path) -> None:
    """user-reports W04: the input does not even exist."""
    failed(embcli("word2vec", tmp_path / "none.npz", "-o", tmp_path / "v.npz", *options), 2, options[0])


def test_explain_and_an_output_exclude_each_other(tmp_path: Path) -> None:
    failed(embcli("word2vec", tmp_path / "none.npz", "-o", tmp_path / "v.npz", "--explain", "2"), 2, "--explain")


@pytest.mark.parametrize(
    ("text", "parts"),
    [("a a a\na\n", ("nothing to learn", "4 tokens of 1 words", "highest count 4", "--min-count 1")),
     ("a\nb\na\n", ("nothing to predict",))],
)  # fmt: skip
def test_nothing_to_learn(tmp_path: Path, text: str, parts: tuple[str, ...]) -> None:
    """user-reports X13."""
    failed(embcli("word2vec", tokens_of(tmp_path, text), "-o", tmp_path / "v.npz"), 4, "tokens.npz", *parts)
    assert not (tmp_path / "v.npz").exists()


def test_an_epoch_without_pairs_loses_nothing(tmp_path: Path) -> None:
    """Of a handful of words subsampling may leave no two: the other epochs count."""
    lines = "The cat sat on the mat .\nThe dog sat on the rug .\nA cat chased the dog and the dog chased the cat .\n"
    ran = ok("word2vec", tokens_of(tmp_path, lines), "-o", tmp_path / "v.npz")
    losses = read(tmp_path / "v.npz")[0]["epoch_loss"]
    assert "epoch 5: no pair was drawn" in ran.talk and len(losses) == 5 and losses[4] == losses[3] > 4


def test_subsampling_that_leaves_nothing_is_named(tmp_path: Path) -> None:
    tokens = tokens_of(tmp_path, "a b\n" * 3)
    ran = embcli("word2vec", tokens, "--sample", "1e-12", "-o", tmp_path / "v.npz")
    failed(ran, 4, "--sample 0 keeps all")


@pytest.mark.parametrize("kind", ["counts", "vectors"])
def test_wrong_kinds_are_refused(chain: Path, tmp_path: Path, kind: str) -> None:
    """user-reports X20."""
    failed(embcli("word2vec", chain / f"{kind}.npz", "-o", tmp_path / "v.npz"), 3, f"found '{kind}'", "embcli encode")


def test_divergence(tokens: Path, tmp_path: Path) -> None:
    """user-reports W09: exit 4, the epoch and a lower rate named, nothing written, no warning of NumPy."""
    for options in ([], ["--loss", "hierarchical"], ["--arch", "cbow", "--cbow-sum"]):
        ran = embcli("word2vec", tokens, "--lr", "1e9", "--dim", "8", "-o", tmp_path / "v.npz", *options)
        failed(ran, 4, "t.npz", "epoch 1", "--lr")
    assert list(tmp_path.iterdir()) == []


def test_lines_for_each_epoch(tokens: Path, tmp_path: Path) -> None:
    """user-reports W10, X03: plain lines on stderr, one an epoch, with all that is wanted; totals at the end."""
    ran = word2vec(tokens, "--dim", "8", "--epochs", "3", "-o", tmp_path / "v.npz")
    lines = [line for line in ran.talk.splitlines() if "compiling" not in line]
    assert ran.out == b"" and b"\x1b" not in ran.err and b"\r" not in ran.err and len(lines) == 4
    for i, line in enumerate(lines[:3], 1):
        form = rf"embcli word2vec: epoch {i} of 3: loss \d\.\d+, rate [\d.e-]+, [\d.]+ [kM] words/s, .+ so far, .+ left"
        assert re.fullmatch(form, line), line
    assert lines[2].endswith("0.0 s left")
    assert "3 epochs, 101,790 words read, " in lines[3] and "predictions, " in lines[3]


def test_quiet_and_json(tokens: Path, tmp_path: Path) -> None:
    out = ["-o", tmp_path / "v.npz"]
    ran = word2vec(tokens, "--dim", "8", "--epochs", "2", "-q", *out)
    assert ran.out == b"" and ran.err == b""
    found = json.loads(word2vec(tokens, "--dim", "8", "--epochs", "2", "--json", "-q", *out).text)
    assert found["kind"] == "vectors" and found["options"]["dim"] == 8 and found["options"]["lr"] == 0.025
    assert [each["epoch"] for each in found["epochs"]] == [1, 2]
    assert found["epochs"][1]["loss"] == read(tmp_path / "v.npz")[0]["epoch_loss"][1]
    assert "seconds" not in json.dumps(found["stats"])


def test_progress_by_wish_holds_no_control_characters(tokens: Path, tmp_path: Path) -> None:
    ran = word2vec(tokens, "--dim", "8", "--epochs", "2", "--progress", "-o", tmp_path / "v.npz")
    assert b"\x1b" not in ran.err and b"\r" not in ran.err and "epoch 2 of 2" in ran.talk


def on_terminal(*args: str | Path, **env: str) -> str:
    """Run the command line on a terminal of its own and return what it showed."""
    import pty

    main, other = pty.openpty()
    child = subprocess.Popen(
        [sys.executable, "-m", "embcli", *map(str, args)], stdin=other, stdout=other, stderr=other,
        env=environment(TERM="xterm", LINES="30", **env),
    )  # fmt: skip
    os.close(other)
    out = b""
    while True:
        try:
            block = os.read(main, 1 << 16)
        except OSError:
            break
        if not block:
            break
        out += block
    os.close(main)
    assert child.wait(timeout=60) == 0, out.decode()
    return out.decode()


def test_live_table_on_a_terminal(tokens: Path, tmp_path: Path) -> None:
    """user-reports W10: shares of an epoch never exceed 100 % and never go back."""
    options = [tokens, "--dim", "50", "--epochs", "3", "--loss", "hierarchical", "--eval", DATA / "similarity.tsv"]
    shown = on_terminal("word2vec", *options, "-o", tmp_path / "v.npz")
    assert "similarity.tsv" in shown and "elapsed" in shown and "Traceback" not in shown
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown)
    last, drawn = -1.0, 0
    for frame in text.split("epoch")[1:]:
        rows = re.findall(r"(\d)/3\D+?(\d+) %", frame)
        if rows:
            at = int(rows[-1][0]) - 1 + int(rows[-1][1]) / 100
            assert last <= at <= 3
            last, drawn = at, drawn + 1
    assert last == 3 and drawn >= 6
    assert text.rstrip().splitlines()[-1].startswith("embcli word2vec: ")
    assert "epoch 1 of 3" in on_terminal("word2vec", *options, "-o", tmp_path / "v.npz", "--no-progress")


def test_three_epochs_and_two_are_five(trained: Path, tokens: Path, tmp_path: Path) -> None:
    word2vec(tokens, "--resume", trained / "three.npz", "-o", tmp_path / "v.npz")
    assert (tmp_path / "v.npz").read_bytes() == (trained / "five.npz").read_bytes()
    assert (trained / "three.npz").read_bytes() == (trained / "check.npz").read_bytes() != b""
    assert len(read(trained / "three.npz")[0]["epoch_loss"]) == 3
    _, _, meta = read(tmp_path / "v.npz")
    assert [parent["kind"] for parent in meta["parents"]] == ["tokens"]


@pytest.mark.parametrize(
    "recipe",
    [["--loss", "hierarchical"], ["--arch", "cbow", "--heldout", "0.2", "--seed", "5"],
     ["--freeze-output", "--stop-when-flat", "0.0001"], ["--no-context-vectors"]],
    ids=" ".join,
)  # fmt: skip
def test_resuming_every_kind(tokens: Path, tmp_path: Path, recipe: list[str]) -> None:
    """One epoch and two are three, by the checkpoint; the file that is resumed may be replaced by the checkpoint."""
    options, check = [tokens, "--dim", "8", "--epochs", "3", *recipe, "-q"], tmp_path / "check.npz"
    word2vec(*options, "-o", tmp_path / "whole.npz")
    word2vec(*options, "--stop-after", "1", "--checkpoint", check, "-o", tmp_path / "one.npz")
    word2vec(tokens, "--resume", check, "--stop-after", "2", "--checkpoint", check, "-o", tmp_path / "two.npz", "-q")
    word2vec(tokens, "--resume", check, "-o", tmp_path / "v.npz", "-q")
    if "--seed" in recipe:
        failed(embcli("word2vec", tokens, "--resume", check, "--seed", "0", "-o", tmp_path / "w.npz"), 2, "--seed 0")
    assert (tmp_path / "v.npz").read_bytes() == (tmp_path / "whole.npz").read_bytes()
    assert (tmp_path / "two.npz").read_bytes() != (tmp_path / "one.npz").read_bytes()


def test_what_cannot_be_resumed(trained: Path, tokens: Path, chain: Path, tmp_path: Path) -> None:
    three, out = trained / "three.npz", ["-o", tmp_path / "v.npz"]
    for options, code, parts in (
        (["--epochs", "9"], 2, ("planned for 5", "--init")),
        (["--epochs", "4"], 2, ("--epochs 4", "5")),
        (["--dim", "100"], 2, ("--dim 100", "20")),
        (["--lr", "0.1"], 2, ("--lr 0.1",)),
        (["--seed", "3"], 2, ("--seed 3",)),
        (["--loss", "softmax"], 2, ("--loss softmax", "negative")),
        (["--stop-after", "2"], 2, ("--stop-after 2", "3 epochs")),
    ):
        failed(embcli("word2vec", tokens, "--resume", three, *options, *out), code, *parts)
    failed(embcli("word2vec", chain / "tokens.npz", "--resume", three, *out), 3, "other tokens", "--init")
    failed(embcli("word2vec", tokens, "--resume", chain / "vectors.npz", *out), 3, "svd", "--init")
    failed(embcli("word2vec", tokens, "--resume", three, "-o", three), 2, "is an input too")
    failed(embcli("word2vec", tokens, "--checkpoint", tokens, *out), 2, "--checkpoint", "is an input too")
    word2vec(tokens, *SMALL, "--epochs", "2", "--stop-after", "1", "--no-context-vectors", "-o", tmp_path / "n.npz")
    failed(embcli("word2vec", tokens, "--resume", tmp_path / "n.npz", *out), 3, "--no-context-vectors")


def test_the_same_options_may_be_given_again(trained: Path, tokens: Path, tmp_path: Path) -> None:
    word2vec(tokens, "--resume", trained / "three.npz", "--epochs", "5", "--dim", "20", "-o", tmp_path / "v.npz", "-q")
    assert (tmp_path / "v.npz").read_bytes() == (trained / "five.npz").read_bytes()


def test_a_finished_run_is_written_again(trained: Path, tokens: Path, tmp_path: Path) -> None:
    ran = word2vec(tokens, "--resume", trained / "five.npz", "-o", tmp_path / "v.npz")
    assert "nothing is trained" in ran.talk
    assert (tmp_path / "v.npz").read_bytes() == (trained / "five.npz").read_bytes()


def _start(tokens: Path, folder: Path, *options: str) -> subprocess.Popen[bytes]:
    line = [sys.executable, "-m", "embcli", "word2vec", tokens, "--epochs", "2000", "--dim", "8", *options]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen([*map(str, line), "-o", str(folder / "v.npz")], env=environment(), **pipes)


def _wait(path: Path) -> None:
    for _ in range(600):
        if path.exists():
            return
        time.sleep(0.1)
    raise AssertionError("no checkpoint")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_signals_leave_the_checkpoint_and_no_litter(tokens: Path, tmp_path: Path, number: int, code: int) -> None:
    child = _start(tokens, tmp_path, "--checkpoint", str(tmp_path / "check.npz"), "--threads", "2")
    _wait(tmp_path / "check.npz")
    child.send_signal(number)
    _, err = child.communicate(timeout=60)
    assert child.returncode == code and b"Traceback" not in err, err.decode()
    assert [p.name for p in tmp_path.iterdir()] == ["check.npz"]
    ok("info", tmp_path / "check.npz", "--verify")


def test_a_killed_run_goes_on_from_its_checkpoint(tokens: Path, tmp_path: Path) -> None:
    child = _start(tokens, tmp_path, "--checkpoint", str(tmp_path / "check.npz"))
    _wait(tmp_path / "check.npz")
    time.sleep(0.3)
    child.kill()
    child.communicate(timeout=60)
    done = len(read(tmp_path / "check.npz")[0]["epoch_loss"])
    word2vec(tokens, "--resume", tmp_path / "check.npz", "--stop-after", str(done + 2), "-o", tmp_path / "a.npz", "-q")
    word2vec(tokens, "--epochs", "2000", "--dim", "8", "--stop-after", str(done + 2), "-o", tmp_path / "b.npz", "-q")
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


def test_adding_text(tmp_path: Path) -> None:
    """user-reports W08: no new word is fine; new words follow, old ones keep their rows; counts add up."""
    first, second = (tmp_path / name for name in ("first", "second"))
    first.mkdir(), second.mkdir()
    old = tokens_of(first, "a b c a b c a b\n" * 30)
    word2vec(old, *SMALL, "-o", first / "v.npz", "-q")
    before, words, _ = read(first / "v.npz")
    ran = word2vec(old, *SMALL[2:], "--init", first / "v.npz", "--epochs", "1", "-o", first / "again.npz")
    again, same, about = read(first / "again.npz")
    assert same == words == ["a", "b", "c"] and "0 words appended" in ran.talk
    assert again["unigram"].tolist() == (2 * before["unigram"]).tolist()
    assert len(about["options"]["init"]) == 64 and about["options"]["dim"] == 8
    new = tokens_of(second, "d e d a d e\n" * 30)
    still = ["--lr", "1e-30", "--min-lr", "0", "--epochs", "1"]
    word2vec(new, "--sample", "0", "--init", first / "v.npz", *still, "-o", second / "v.npz")
    after, more, stats = read(second / "v.npz")
    assert more == ["a", "b", "c", "d", "e"] and stats["stats"]["appended"] == 2
    assert np.array_equal(after["vectors"][:3], before["vectors"])
    assert np.array_equal(after["contexts"][:3], before["contexts"])
    assert after["vectors"][3:].any() and np.abs(after["contexts"][3:]).max() < 1e-20  # they began at zero
    assert after["unigram"].tolist() == [before["unigram"][0] + 30, *before["unigram"][1:], 90, 60]
    word2vec(new, "--sample", "0", "--init", first / "v.npz", "--lr", "0.1", "-o", second / "v.npz", "-q")
    moved, _, _ = read(second / "v.npz")
    assert (moved["vectors"] != after["vectors"]).any(axis=1).tolist() == [True, False, False, True, True]


def test_added_text_resumes_too(tokens: Path, trained: Path, chain: Path, tmp_path: Path) -> None:
    options = [chain / "tokens.npz", "-q"]
    start = ["--init", trained / "five.npz", "--epochs", "2"]
    word2vec(*options, *start, "-o", tmp_path / "a.npz")
    word2vec(*options, *start, "--stop-after", "1", "-o", tmp_path / "half.npz")
    word2vec(*options, "--resume", tmp_path / "half.npz", "-o", tmp_path / "b.npz")
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


def test_starting_from_what_does_not_fit(tokens: Path, chain: Path, tmp_path: Path) -> None:
    out = ["-o", tmp_path / "v.npz"]
    failed(embcli("word2vec", tokens, "--init", chain / "vectors.npz", "--dim", "8", *out), 2, "150 dimensions")
    failed(embcli("word2vec", tokens, "--init", chain / "counts.npz", *out), 3, "found 'counts'")
    failed(embcli("word2vec", tokens, "--init", tmp_path / "none.npz", *out), 1, "none.npz")
    one = tables(tmp_path / "one.npz", ["the", "king"], np.eye(2, 3))
    assert "has no contexts" in word2vec(tokens, "--init", one, "--epochs", "1", *out).talk
    assert read(tmp_path / "v.npz")[1][:2] == ["the", "king"]


def test_gaps_that_were_kept(tmp_path: Path) -> None:
    """A gap takes its place in windows and is never predicted; further words of a start would take its id."""
    (tmp_path / "text.txt").write_text("a b x a b y a b z a b\n" * 9, encoding="utf-8")
    text = [tmp_path / "text.txt", "--words", "--min-count", "10", "-o", tmp_path / "t.npz"]
    small = [tmp_path / "t.npz", *SMALL, "--epochs", "1", "--window", "1", "-q", "-o", tmp_path / "v.npz"]
    for gaps, predictions in (("keep", 9 * 8), ("close", 9 * 14)):
        ok("encode", *text, "--gaps", gaps)
        word2vec(*small)
        assert read(tmp_path / "v.npz")[2]["stats"]["predictions"] == [predictions]
    ok("encode", *text, "--gaps", "keep")
    word2vec(*small[:1], "--init", tmp_path / "v.npz", "--sample", "0", "-q", "-o", tmp_path / "again.npz")
    more = tables(tmp_path / "more.npz", ["a", "b", "c"], np.eye(3, 8))
    failed(embcli("word2vec", tmp_path / "t.npz", "--init", more, "-o", tmp_path / "w.npz"), 3, "--gaps close")


def test_inner_nodes_are_taken_over_with_the_same_tree(tokens: Path, tmp_path: Path) -> None:
    options = [tokens, "--loss", "hierarchical", "--dim", "8"]
    word2vec(*options, "--epochs", "2", "-o", tmp_path / "a.npz", "-q")
    word2vec(*options, "--init", tmp_path / "a.npz", "--lr", "1e-9", "--min-lr", "0", "--epochs", "1",
             "-o", tmp_path / "b.npz", "-q")  # fmt: skip
    a, b = read(tmp_path / "a.npz")[0], read(tmp_path / "b.npz")[0]
    assert np.allclose(a["nodes"], b["nodes"], atol=1e-6) and a["nodes"].any()
    ran = word2vec(
        tokens, "--loss", "negative", "--init", tmp_path / "a.npz", "--epochs", "1", "-o", tmp_path / "c.npz"
    )
    assert "has no contexts" in ran.talk


def test_evaluation_after_each_epoch(tokens: Path, tmp_path: Path) -> None:
    """A column for each file, and the figures that eval gives for the artifact."""
    files = [DATA / "similarity.tsv", DATA / "questions.txt"]
    options = [tokens, "--dim", "20", "--epochs", "2", "--eval", files[0], "--eval", files[1]]
    ran = word2vec(*options, "-o", tmp_path / "v.npz", "--json")
    last = json.loads(ran.text)["epochs"][-1]["eval"]
    found = ok("eval", tmp_path / "v.npz", "-s", files[0], "-a", files[1], "--format", "jsonl").text.splitlines()
    figures = {json.loads(line)["measure"]: json.loads(line)["value"] for line in reversed(found)}
    assert last["similarity.tsv"] == pytest.approx(figures["spearman"], abs=1e-6)
    assert last["questions.txt"] == pytest.approx(figures["accuracy"], abs=1e-6)
    assert re.search(r"epoch 1 of 2: .*similarity.tsv 0\.\d+, questions.txt 0\.\d+, ", ran.talk)
    word2vec(tokens, "--dim", "20", "--epochs", "2", "-o", tmp_path / "plain.npz", "-q")
    assert (tmp_path / "v.npz").read_bytes() == (tmp_path / "plain.npz").read_bytes()


def test_files_that_cannot_be_scored_are_found_before_training(tokens: Path, tmp_path: Path) -> None:
    (tmp_path / "alien.tsv").write_text("xyzzy\tplugh\t3\nfoo\tbar\t1\n", encoding="utf-8")
    (tmp_path / "bad.tsv").write_text("king queen\n", encoding="utf-8")
    out = ["-o", tmp_path / "v.npz"]
    failed(embcli("word2vec", tokens, "--eval", tmp_path / "alien.tsv", *out), 1, "alien.tsv", "coverage 0 of 2")
    failed(embcli("word2vec", tokens, "--eval", tmp_path / "bad.tsv", *out), 1, "bad.tsv", "line 1")
    failed(embcli("word2vec", tokens, "--eval", tmp_path / "none.tsv", *out), 1, "none.tsv")
    failed(embcli("word2vec", tokens, "--eval", "-", *out), 2, "--eval -")


def test_training_stops_when_the_loss_is_flat(tokens: Path, tmp_path: Path) -> None:
    ran = word2vec(tokens, "--dim", "8", "--epochs", "50", "--stop-when-flat", "0.05", "-o", tmp_path / "v.npz")
    losses = read(tmp_path / "v.npz")[0]["epoch_loss"]
    falls = -np.diff(losses) / losses[:-1]
    assert 2 <= len(losses) < 50 and falls[-1] < 0.05 and (falls[:-1] >= 0.05).all()
    assert f"stopped after epoch {len(losses)}" in ran.talk and f"{len(losses)} of 50 epochs" in ran.talk


def test_defaults_of_the_contract() -> None:
    found = Word2vecParams()
    assert (found.arch, found.loss, found.window, found.negative) == ("skipgram", "negative", 5, 5)
    assert (found.ns_power, found.sample, found.epochs, found.hogwild) == (0.75, 1e-3, 5, False)
    for arch, lr in (("skipgram", 0.025), ("cbow", 0.05)):
        done = completed(Word2vecParams(arch=arch), 100)  # type: ignore[arg-type]
        assert (done.lr, done.min_lr, done.context_vectors, done.state) == (lr, 1e-4, True, True)
    assert completed(Word2vecParams(lr=1e-6), 100).min_lr == 1e-6


def test_what_is_kept_and_what_is_left_out(tokens: Path, tmp_path: Path) -> None:
    small = [tokens, "--dim", "8", "--epochs", "1", "-q"]
    for options, present in (
        ([], {"contexts"}), (["--no-context-vectors"], set()), (["--loss", "hierarchical"], {"nodes"}),
        (["--loss", "hierarchical", "--no-state"], set()), (["--no-state"], {"contexts"}),
    ):  # fmt: skip
        word2vec(*small, *options, "-o", tmp_path / "v.npz")
        assert {"contexts", "nodes"} & read(tmp_path / "v.npz")[0].keys() == present
        ok("info", tmp_path / "v.npz", "--verify")


def test_hogwild_says_that_it_is_not_reproducible(tokens: Path, tmp_path: Path) -> None:
    ran = word2vec(tokens, "--dim", "8", "--epochs", "1", "--hogwild", "-o", tmp_path / "v.npz")
    assert read(tmp_path / "v.npz")[2]["stats"]["reproducible"] is False and "not reproducible" in ran.talk


def test_reports_read_the_result(trained: Path) -> None:
    """neighbors, eval, geometry with the distance to the start, and the loss curve of info."""
    assert "king" in ok("neighbors", trained / "five.npz", "king", "--table", "output").text
    assert "similarity.tsv" in ok("eval", trained / "five.npz", "-s", DATA / "similarity.tsv").text
    assert "to the start" in ok("eval", trained / "five.npz", "--geometry").text
    shown = ok("info", trained / "five.npz").text
    for loss in read(trained / "five.npz")[0]["epoch_loss"]:
        assert f"{loss:.6g}" in shown


def test_in_an_experiment(tmp_path: Path) -> None:
    """Steps, a grid, --init by a step's name, --eval relative to the YAML; the report reads it all."""
    (tmp_path / "c.txt").write_text(topics(), encoding="utf-8")
    (tmp_path / "pairs.tsv").write_text("a0\ta1\t9\na0\tb1\t1\na2\ta3\t8\n", encoding="utf-8")
    (tmp_path / "e.yaml").write_text(
        "steps:\n  t: {use: encode, inputs: c.txt, words: true}\n"
        "  w: {use: word2vec, inputs: t, dim: 8, epochs: 2, sample: 0, eval: pairs.tsv,\n"
        "      grid: {arch: [skipgram, cbow]}}\n"
        "  more: {use: word2vec, inputs: t, init: w-arch=cbow, epochs: 1, lr: 1e-2}\n"
        "report:\n  - {use: neighbors, inputs: w, queries: a0, top: 2}\n"
        "  - {use: eval, inputs: more, similarity: pairs.tsv}\n",
        encoding="utf-8",
    )
    ran = ok("run", "e.yaml", cwd=tmp_path)
    assert "w arch=skipgram" in ran.text and "pairs.tsv" in ran.text
    assert re.search(r"embcli run: w arch=cbow: epoch 2 of 2: loss .*, pairs.tsv [\d.-]+, ", ran.talk)
    build = tmp_path / "build" / "e"
    word2vec(build / "t.npz", "--dim", "8", "--epochs", "2", "--sample", "0", "-o", tmp_path / "w.npz", "-q")
    assert (tmp_path / "w.npz").read_bytes() == (build / "w-arch=skipgram.npz").read_bytes()
    assert "up to date" in ok("run", "e.yaml", cwd=tmp_path).talk


def test_an_experiment_builds_whole_artifacts(tmp_path: Path) -> None:
    (tmp_path / "c.txt").write_text(topics(), encoding="utf-8")
    for option in ("stop_after: 1", "resume: c.txt", "checkpoint: x.npz", "explain: 2"):
        steps = (
            f"steps:\n  t: {{use: encode, inputs: c.txt, words: true}}\n  w: {{use: word2vec, inputs: t, {option}}}\n"
        )
        (tmp_path / "e.yaml").write_text(steps, encoding="utf-8")
        failed(embcli("run", "e.yaml", cwd=tmp_path), 2, "step w", option.split(":")[0])


def test_memory_is_checked_before_work(tokens: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from embcli import job as jobs
    from embcli.artifacts import store
    from embcli.errors import InputError
    from embcli.models.word2vec import train

    monkeypatch.setattr(jobs, "free_memory", lambda: 100_000_000)
    with pytest.raises(InputError, match=r"two tables of 1,306 x 100 needs 20. MB of memory, 100 MB are free"):
        train([store.read(str(tokens))], Word2vecParams(), jobs.Job())  # type: ignore[list-item]


def test_peak_memory_is_tables_and_little_more(tmp_path: Path) -> None:
    """The text is mapped and given back: 4 M tokens of 8 MB and tables of 2 x 10 MB need no 300 MB more than tables."""
    rng = np.random.default_rng(0)
    text = "\n".join(" ".join(map(str, row)) for row in rng.integers(0, 25_000, (4_000, 100)))
    tokens = tokens_of(tmp_path, text + "\n", "--split", "whitespace")
    if not Path("/proc/self/status").exists():
        pytest.skip("peak memory is read from /proc")
    code = (
        "import sys; from embcli.cli.app import main; code = main(sys.argv[1:])\n"  # ru_maxrss knows the parent's peak
    )
    code += "print(open('/proc/self/status').read().split('VmHWM:')[1].split()[0]); sys.exit(code)"
    line = ["word2vec", str(tokens), "--epochs", "1", "--threads", "2", "-o", str(tmp_path / "v.npz"), "-q"]
    subprocess.run([sys.executable, "-c", code, *line], env=environment(), check=True, capture_output=True)
    done = subprocess.run([sys.executable, "-c", code, *line], env=environment(), check=True, capture_output=True)
    assert int(done.stdout) * 1024 < 2 * 2 * 25_000 * 112 * 4 + 300_000_000
