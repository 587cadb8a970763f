"""Oracle: finite differences of the stated loss, rotations, and the start made again by the same seed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from w2v import explained, read, tables, tokens_of, topics, word2vec
from word2vec_twin import gradient, hidden, loss

from embcli.models.starts import fresh_rows, start
from embcli.models.word2vec_plain import judge

KINDS = st.sampled_from(["softmax", "negative", "hierarchical"])


def case(kind: str, seed: int, d: int, k: int) -> tuple[list[float], list[list[float]], list[float]]:
    rng = np.random.default_rng(seed)
    labels = np.eye(1, k, rng.integers(k))[0] if kind != "hierarchical" else rng.integers(0, 2, k).astype(float)
    return rng.normal(size=d).tolist(), rng.normal(size=(k, d)).tolist(), labels.tolist()


@settings(max_examples=40)
@given(kind=KINDS, seed=st.integers(0, 10**6), d=st.integers(1, 5), k=st.integers(2, 7))
def test_gradients_are_the_slopes_of_the_loss(kind: str, seed: int, d: int, k: int) -> None:
    h, ys, labels = case(kind, seed, d, k)
    g, e = gradient(kind, h, ys, labels), 1e-5
    for j in range(d):
        up, down = (loss(kind, [x + s * e * (i == j) for i, x in enumerate(h)], ys, labels) for s in (1, -1))
        assert g[j] == pytest.approx((up - down) / (2 * e), abs=1e-7)


@settings(max_examples=40)
@given(kind=KINDS, seed=st.integers(0, 10**6), d=st.integers(1, 5), k=st.integers(2, 7))
def test_the_loss_of_explain_is_that_of_the_twin(kind: str, seed: int, d: int, k: int) -> None:
    h, ys, labels = case(kind, seed, d, k)
    p, found = judge(np.array(ys) @ np.array(h), np.array(labels), kind == "softmax")
    assert found == pytest.approx(loss(kind, h, ys, labels), abs=1e-12)
    assert np.array(ys).T @ (p - labels) == pytest.approx(gradient(kind, h, ys, labels), abs=1e-12)


def test_a_wrong_slope_would_be_seen() -> None:
    h, ys, labels = case("negative", 1, 3, 4)
    assert gradient("softmax", h, ys, labels) != pytest.approx(gradient("negative", h, ys, labels), abs=1e-3)


@settings(max_examples=25)
@given(seed=st.integers(0, 10**6), kind=KINDS, mean=st.booleans())
def test_rotating_both_tables_changes_no_prediction(seed: int, kind: str, mean: bool) -> None:
    """The loss of skip-gram and CBOW, and their gradient, turned."""
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(rng.normal(size=(4, 4)))[0]
    _, ys, labels = case(kind, seed, 4, 5)
    rows = rng.normal(size=(3, 4))
    h, turned = hidden(rows.tolist(), mean), hidden((rows @ Q).tolist(), mean)
    ys_turned = (np.array(ys) @ Q).tolist()
    assert loss(kind, turned, ys_turned, labels) == pytest.approx(loss(kind, h, ys, labels), abs=1e-10)
    assert gradient(kind, turned, ys_turned, labels) == pytest.approx(np.array(gradient(kind, h, ys, labels)) @ Q)
    assert loss(kind, turned, ys, labels) != pytest.approx(loss(kind, h, ys, labels), abs=1e-9)  # one table alone


@pytest.mark.parametrize("objective", ["negative", "softmax"])
def test_training_from_rotated_tables_makes_the_same_predictions(tmp_path: Path, objective: str) -> None:
    """By the command: the losses of an epoch, and the vectors turned back, up to float32."""
    tokens = tokens_of(tmp_path, topics(rows=100))
    rng = np.random.default_rng(1)
    words = sorted({word for word in topics(rows=100).split()})
    W, C, Q = (rng.normal(size=shape) for shape in ((12, 6), (12, 6), (6, 6)))
    Q = np.linalg.qr(Q)[0]
    tables(tmp_path / "a.npz", words, W / 3, C / 3)
    tables(tmp_path / "b.npz", words, W @ Q / 3, C @ Q / 3)
    for name in "ab":
        options = ["--loss", objective, "--sample", "0", "--epochs", "2", "--init", tmp_path / f"{name}.npz"]
        word2vec(tokens, *options, "-o", tmp_path / f"{name}.out.npz", "-q")
    a, b = (read(tmp_path / f"{name}.out.npz")[0] for name in "ab")
    assert b["epoch_loss"] == pytest.approx(a["epoch_loss"], abs=1e-5)
    assert b["vectors"] @ Q.T == pytest.approx(a["vectors"], abs=1e-4)
    assert np.abs(b["vectors"] - a["vectors"]).max() > 0.01
    assert np.abs(a["vectors"] - (W / 3)[[words.index(w) for w in read(tmp_path / "a.out.npz")[1]]]).max() > 0.01


@given(seed=st.integers(0, 2**63 - 1), dim=st.integers(1, 40), a=st.integers(0, 3000), n=st.integers(0, 1500))
def test_any_rows_of_the_start_can_be_made_alone(seed: int, dim: int, a: int, n: int) -> None:
    whole = fresh_rows(seed, dim, 0, a + n)
    assert np.array_equal(fresh_rows(seed, dim, a, a + n), whole[a:])
    assert whole.dtype == np.float32 and (np.abs(whole) <= 0.5 / dim).all()
    assert n == 0 or not np.array_equal(whole, fresh_rows(seed ^ 1, dim, 0, a + n))


def test_training_starts_from_the_start_that_reports_make_again(tmp_path: Path) -> None:
    tokens = tokens_of(tmp_path, topics(rows=50))
    options = [tokens, "--sample", "0", "--dim", "5", "--seed", "9"]
    record = explained(*options, "--explain", "1")[0]
    word2vec(*options, "--lr", "1e-30", "--min-lr", "0", "--epochs", "1", "-o", tmp_path / "v.npz", "-q")
    arrays, words, meta = read(tmp_path / "v.npz")
    made = start(meta, 0, len(words))
    assert np.array_equal(made, arrays["vectors"])
    assert record["rows"][0] == pytest.approx(made[words.index(record["inputs"][0])].tolist())
    assert start(meta | {"options": meta["options"] | {"init": "0" * 64}}, 0, 1) is None
