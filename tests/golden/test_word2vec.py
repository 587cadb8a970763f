"""Oracle: worked arithmetic (full-softmax skip-gram step), a twin in plain loops, losses of untrained tables, PMI."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from conftest import DATA, ok
from w2v import explained, read, tables, tokens_of, topics, word2vec
from word2vec_twin import loss, step

FIVE = (DATA / "tiny" / "five-sentences.txt").read_text(encoding="utf-8")
WORKED = ["--loss", "softmax", "--fixed-window", "--window", "1", "--sample", "0", "--lr", "0.5", "--min-lr", "0.5"]


@pytest.fixture
def worked(tmp_path: Path) -> list[str | Path]:
    """The step of worked-numbers: cats at (0, 0), output rows fixed."""
    words = ["like", "cats", "dogs", "pizza", "I"]
    outputs = [(1, 0), (-1, 0), (0, 1), (0, -1), (0, 0)]
    init = tables(tmp_path / "init.npz", words, np.zeros((5, 2)), outputs)
    return [tokens_of(tmp_path, FIVE), "--init", init, "--freeze-output", *WORKED]


def test_the_worked_step_of_full_softmax(worked: list[str | Path]) -> None:
    """Loss ln 5, gradient (-1, 0), new row (0.5, 0), p(like) 0.313728, loss 1.159228."""
    found = next(r for r in explained(*worked, "--explain", "3") if r["inputs"] == ["cats"] and r["target"] == "like")
    assert found["loss"] == pytest.approx(math.log(5), abs=1e-12) and found["probabilities"] == pytest.approx([0.2] * 5)
    assert found["gradient"] == pytest.approx([-1, 0]) and found["rate"] == 0.5
    assert found["rows"] == [[0, 0]] and found["rows_after"] == [[0.5, 0]]
    like = found["outputs"].index("like")
    assert found["probabilities_after"][like] == pytest.approx(0.313728, abs=5e-7)
    assert found["loss_after"] == pytest.approx(1.159228, abs=5e-7)


def test_the_worked_step_as_a_table(worked: list[str | Path]) -> None:
    text = word2vec(*worked, "--explain", "3").text
    part = text[text.index("cats -> like") :]
    for piece in (
        "loss 1.609438, after the step 1.159228", "gradient (-1, 0), rate 0.5", "0.313728",
        "row of cats: (0, 0) becomes (0.5, 0)",
    ):  # fmt: skip
        assert piece in part


def test_with_another_rate_or_moving_outputs_the_numbers_are_others(worked: list[str | Path]) -> None:
    slower = [{"0.5": "0.4"}.get(str(each), each) for each in worked]
    found = next(r for r in explained(*slower, "--explain", "3") if r["inputs"] == ["cats"])
    assert found["loss_after"] != pytest.approx(1.159228, abs=1e-3)
    thawed = [each for each in worked if each != "--freeze-output"]
    assert explained(*thawed, "--explain", "9")[-1]["loss"] != explained(*worked, "--explain", "9")[-1]["loss"]


VARIANTS = [(a, o) for a in ("skipgram", "cbow", "cbow-sum") for o in ("negative", "hierarchical", "softmax")]


@pytest.mark.parametrize(("arch", "objective"), VARIANTS)
def test_explained_steps_are_those_of_the_twin(tmp_path: Path, arch: str, objective: str) -> None:
    """Every number of 60 predictions in a row, by loops, to 1e-6 (rows start in float32)."""
    tokens = tokens_of(tmp_path, topics(rows=20))
    options = [
        "--arch",
        arch[:8].removesuffix("-sum"),
        "--loss",
        objective,
        "--dim",
        "3",
        "--lr",
        "0.3",
        "--sample",
        "0",
    ]
    options += ["--cbow-sum"] if arch == "cbow-sum" else []
    inputs: dict[str, list[float]] = {}
    outputs: dict[object, list[float]] = {}
    records = explained(tokens, *options, "--explain", "60")
    assert len(records) == 60
    for r in records:
        keys = r["nodes"] if objective == "hierarchical" else r["outputs"]
        for w, row in zip(r["inputs"], r["rows"], strict=True):
            assert row == pytest.approx(inputs.setdefault(w, row), abs=1e-6)
        for k in keys:
            outputs.setdefault(k, [0.0] * 3)
        found = step(objective, inputs, outputs, r["inputs"], keys, r["labels"], r["rate"], arch != "cbow-sum")
        assert r["loss"] == pytest.approx(found, abs=1e-6)
        if len(set(r["inputs"])) == len(r["inputs"]):
            assert r["rows_after"][0] == pytest.approx(inputs[r["inputs"][0]], abs=1e-6)
    assert any(len(r["inputs"]) > 1 for r in records) == arch.startswith("cbow")


@pytest.mark.parametrize("arch", ["skipgram", "cbow"])
@pytest.mark.parametrize("sample", ["0", "0.05"])
def test_explain_makes_the_predictions_of_an_epoch(tmp_path: Path, arch: str, sample: str) -> None:
    """The draws of --explain are the kernels' own: as many predictions, the same first loss, in all of epoch 1."""
    tokens = tokens_of(tmp_path, topics(rows=60))
    options = [tokens, "--arch", arch, "--dim", "4", "--sample", sample, "--epochs", "1", "--lr", "1e-7"]
    word2vec(*options, "-o", tmp_path / "v.npz")
    arrays, _, meta = read(tmp_path / "v.npz")
    records = explained(*options, "--explain", "10000")
    assert len(records) == meta["stats"]["predictions"][0]
    assert np.mean([r["loss"] for r in records]) == pytest.approx(arrays["epoch_loss"][0], abs=1e-5)


@pytest.mark.parametrize(("objective", "k"), [("negative", 5), ("negative", 2), ("softmax", 0)])
def test_untrained_loss(tmp_path: Path, objective: str, k: int) -> None:
    """(k + 1) ln 2 of negative sampling and ln V of the softmax; user-reports W01."""
    rng = np.random.default_rng(3)
    tokens = tokens_of(tmp_path, "\n".join(" ".join(f"w{i}" for i in rng.integers(0, 50, 20)) for _ in range(50)))
    more = ["--negative", str(k)] if k else []
    word2vec(tokens, "--loss", objective, *more, "--lr", "1e-6", "--epochs", "1", "-o", tmp_path / "v.npz")
    found = read(tmp_path / "v.npz")[0]["epoch_loss"]
    assert found == pytest.approx([(k + 1) * math.log(2) if k else math.log(50)], rel=0.001)


def test_untrained_hierarchical_loss_is_the_mean_code_length(tmp_path: Path) -> None:
    """Counts 4, 2, 1, 1 have codes of 1, 2, 3, 3 bits; every turn is ln 2."""
    tokens = tokens_of(tmp_path, "a b a c a b a d\n" * 20)
    options = ["--loss", "hierarchical", "--fixed-window", "--window", "1", "--sample", "0", "--lr", "1e-6"]
    word2vec(tokens, *options, "--epochs", "1", "-o", tmp_path / "v.npz")
    arrays, words, _ = read(tmp_path / "v.npz")
    bits = {"a": 1, "b": 2, "c": 3, "d": 3}
    row = "abacabad"
    predicted = [bits[row[i]] for i in range(8) for j in (i - 1, i + 1) if 0 <= j < 8]
    assert arrays["epoch_loss"][0] == pytest.approx(np.mean(predicted) * math.log(2), rel=1e-4)
    assert "contexts" not in arrays and arrays["nodes"].shape == (len(words) - 1, 100)


def test_held_out_loss_of_untrained_tables_is_ln_v(tmp_path: Path) -> None:
    tokens = tokens_of(tmp_path, topics())
    for objective in ("negative", "softmax"):
        options = ["--loss", objective, "--lr", "1e-7", "--epochs", "1", "--heldout", "0.2", "--sample", "0"]
        word2vec(tokens, *options, "-o", tmp_path / "v.npz")
        stats = read(tmp_path / "v.npz")[2]["stats"]
        assert stats["heldout_loss"] == pytest.approx([math.log(12)], abs=1e-4)
        assert 0 < stats["words"][0] < 400 * 8


def test_held_out_loss_falls_to_the_entropy_of_a_topic(tmp_path: Path) -> None:
    """Knowing the topic leaves 6 equally likely words: ln 6, by every objective that is normalised; none beats it."""
    tokens = tokens_of(tmp_path, topics())
    for options in (["--loss", "softmax"], ["--loss", "hierarchical"], ["--loss", "softmax", "--arch", "cbow"]):
        more = ["--lr", "0.1", "--epochs", "20", "--dim", "10", "--heldout", "0.2", "--sample", "0"]
        word2vec(tokens, *options, *more, "-o", tmp_path / "v.npz")
        found = read(tmp_path / "v.npz")[2]["stats"]["heldout_loss"][-1]
        assert math.log(6) - 0.02 < found < math.log(6) + 0.15


def test_dot_products_approach_pmi_less_log_k(tmp_path: Path) -> None:
    """Levy and Goldberg 2014, equation 11: w . c = PMI(w, c) - log k, with enough dimensions and noise by counts."""
    rng = np.random.default_rng(0)
    V, k, window = 12, 3, 2
    chances = rng.dirichlet(np.full(V, 2.0), V)
    rows = []
    for _ in range(3000):
        row = [int(rng.integers(V))]
        for _ in range(9):
            row.append(int(rng.choice(V, p=chances[row[-1]])))
        rows.append(row)
    text = "\n".join(" ".join(f"w{i:02d}" for i in row) for row in rows)
    tokens = tokens_of(tmp_path, text)
    options = ["--negative", str(k), "--ns-power", "1", "--window", str(window), "--fixed-window", "--sample", "0"]
    word2vec(tokens, *options, "--dim", "24", "--epochs", "60", "--lr", "0.05", "-o", tmp_path / "v.npz", "-q")
    arrays, words, _ = read(tmp_path / "v.npz")
    n, u = np.zeros((V, V)), np.zeros(V)
    for row in rows:
        for i, w in enumerate(row):
            u[w] += 1
            for c in row[max(i - window, 0) : i] + row[i + 1 : i + 1 + window]:
                n[c, w] += 1
    u /= u.sum()
    # a negative equal to the target is drawn again, so c is a negative of the other targets only, a little more often
    noise = k * ((n / (1 - u)) @ (1 - np.eye(V))) * u
    expected, plain = np.log(n / noise), np.log(n * n.sum() / (n.sum(1)[:, None] * n.sum(0))) - np.log(k)
    at = [int(word[1:]) for word in words]
    found = arrays["vectors"].astype(float) @ arrays["contexts"].astype(float).T
    for due, mean in ((expected, 0.1), (plain, 0.2)):
        due = due[np.ix_(at, at)]
        assert np.corrcoef(due.ravel(), found.ravel())[0, 1] > 0.95
        assert np.abs(due - found).mean() < mean
    assert np.abs(expected[np.ix_(at, at)] + np.log(k) - found).mean() > 0.5  # without log k it would not fit


def test_two_topics_separate(tmp_path: Path) -> None:
    tokens = tokens_of(tmp_path, topics())
    options = ["--sample", "0", "--negative", "2", "--epochs", "30", "--lr", "0.1", "--dim", "10", "--fixed-window"]
    word2vec(tokens, *options, "-o", tmp_path / "v.npz")
    arrays, words, _ = read(tmp_path / "v.npz")
    X = arrays["vectors"] / np.linalg.norm(arrays["vectors"], axis=1)[:, None]
    topic = np.array([word[0] == "a" for word in words])
    same = topic[:, None] == topic
    assert (X @ X.T)[same].min() > (X @ X.T)[~same].max()


def test_the_loss_of_two_repeated_topics_falls_below_half(tmp_path: Path) -> None:
    """user-reports W01: one mean per prediction and epoch, in the artifact and in info, with its objective."""
    tokens = tokens_of(tmp_path, "cat dog cat dog cat dog\nsun moon sun moon\n" * 100)
    word2vec(tokens, "--sample", "0", "--window", "1", "--lr", "0.1", "--dim", "8", "-o", tmp_path / "v.npz")
    arrays, _, meta = read(tmp_path / "v.npz")
    losses = arrays["epoch_loss"]
    assert losses.dtype == np.float64 and len(losses) == 5 == len(arrays["epoch_lr"])
    assert losses[0] < 6 * math.log(2) and losses[-1] < losses[0] / 2
    assert meta["stats"]["objective"] == "skip-gram, 5 negative samples"
    shown = ok("info", tmp_path / "v.npz").text
    assert f"{losses[-1]:.6g}" in shown and "objective skip-gram, 5 negative samples" in shown


def test_the_twin_can_disagree() -> None:
    assert loss("softmax", [0.0], [[1.0], [2.0]], [1, 0]) == pytest.approx(math.log(2))
    assert loss("softmax", [1.0], [[1.0], [2.0]], [1, 0]) > loss("softmax", [1.0], [[1.0], [2.0]], [0, 1])
