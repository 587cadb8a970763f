"""Oracle: what the README promises of fasttext, n-grams by text/ngrams.py, means by NumPy, and users' reports."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from conftest import DATA, Ran, embcli, failed, ok
from w2v import read, tables, tokens_of, topics

from embcli.models.begin import completed
from embcli.spec import FastTextParams, Word2vecParams, fields
from embcli.text.ngrams import fragments

SMALL = ["--dim", "8", "--epochs", "2", "-q"]


def fasttext(*args: str | Path, **kw: str) -> Ran:
    return ok("fasttext", *args, **kw)


@pytest.fixture(scope="module")
def tokens(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Tokens of 100 kB of the bundled corpus."""
    folder = tmp_path_factory.mktemp("ft")
    (folder / "c.txt").write_bytes((DATA / "corpus.txt").read_bytes()[:100_000])
    ok("encode", folder / "c.txt", "--words", "--lower", "-o", folder / "t.npz")
    return folder / "t.npz"


def compose(arrays: dict[str, np.ndarray], word: str, own: int, options: tuple[int, int, int]) -> np.ndarray:
    """Return a word's vector from the raw rows: the mean over its own and its n-grams', zeros for absent buckets."""
    parts = [part.bucket for part in fragments(word.encode(), *options)]
    place = {int(b): i for i, b in enumerate(arrays["ngram_buckets"])}
    rows = [arrays["ngram_rows"][place[b]] for b in parts if b in place]
    return (arrays["word_rows"][own] + np.sum(rows, axis=0)) / (1 + len(parts)) if rows else arrays["word_rows"][own]


def test_vectors_are_the_means_of_their_rows(tokens: Path, tmp_path: Path) -> None:
    """user-reports F06, F08: rows for the buckets that words use and for no others; characters, not bytes."""
    for options, n in (([], (3, 6, 2_000_000)), (["--min-n", "1", "--max-n", "3", "--buckets", "50"], (1, 3, 50))):
        fasttext(tokens, *SMALL, *options, "-o", tmp_path / "v.npz")
        arrays, words, _ = read(tmp_path / "v.npz")
        used = sorted({part.bucket for word in words for part in fragments(word.encode(), *n)})
        assert arrays["ngram_buckets"].tolist() == used and arrays["ngram_rows"].shape == (len(used), 8)
        for i in (0, 7, len(words) - 1):
            made = compose(arrays, words[i], i, n)
            np.testing.assert_allclose(arrays["vectors"][i], made, atol=1e-6)
            assert np.abs(made - arrays["word_rows"][i]).max() > 1e-3  # its own row alone would not do
        ok("info", tmp_path / "v.npz", "--verify")


@pytest.mark.parametrize("recipe", [[], ["--arch", "cbow", "--loss", "hierarchical", "--heldout", "0.1"]], ids=str)
def test_threads_hash_seeds_and_resuming_do_not_matter(tokens: Path, tmp_path: Path, recipe: list[str]) -> None:
    """user-reports X17; one epoch and one are two, by the checkpoint; another seed is another table."""
    fasttext(tokens, *SMALL, *recipe, "--threads", "1", "-o", tmp_path / "1.npz", PYTHONHASHSEED="1")
    fasttext(tokens, *SMALL, *recipe, "--threads", "3", "-o", tmp_path / "3.npz", PYTHONHASHSEED="2")
    check = ["--stop-after", "1", "--checkpoint", tmp_path / "check.npz", "-o", tmp_path / "half.npz"]
    fasttext(tokens, *SMALL, *recipe, *check)
    fasttext(tokens, "--resume", tmp_path / "check.npz", "-q", "-o", tmp_path / "whole.npz")
    fasttext(tokens, *SMALL, *recipe, "--seed", "1", "-o", tmp_path / "other.npz")
    whole = (tmp_path / "1.npz").read_bytes()
    assert whole == (tmp_path / "3.npz").read_bytes() == (tmp_path / "whole.npz").read_bytes()
    assert whole not in ((tmp_path / "half.npz").read_bytes(), (tmp_path / "other.npz").read_bytes())


def test_what_cannot_be_resumed_or_taken_over(tokens: Path, tmp_path: Path) -> None:
    fasttext(tokens, *SMALL, "--stop-after", "1", "-o", tmp_path / "ft.npz")
    ok("word2vec", tokens, *SMALL, "--stop-after", "1", "-o", tmp_path / "w.npz")
    out = ["-o", tmp_path / "v.npz"]
    failed(embcli("fasttext", tokens, "--resume", tmp_path / "w.npz", *out), 3, "'word2vec'", "--init")
    failed(embcli("word2vec", tokens, "--resume", tmp_path / "ft.npz", *out), 3, "'fasttext'", "--init")
    failed(embcli("fasttext", tokens, "--resume", tmp_path / "ft.npz", "--min-n", "2", *out), 2, "--min-n 2")
    failed(embcli("fasttext", tokens, "--init", tmp_path / "ft.npz", "--max-n", "5", *out), 2, "--max-n 5", "6")


def test_starting_from_other_vectors(tokens: Path, tmp_path: Path) -> None:
    """user-reports W08 for this command: known words and buckets keep their rows, new ones follow or are put between.

    Vectors without n-grams are the words' own rows.
    """
    fasttext(tokens, *SMALL, "-o", tmp_path / "ft.npz")
    before, words, _ = read(tmp_path / "ft.npz")
    new = tokens_of(tmp_path, f"{words[0]} zebrafishes {words[1]}\n" * 9)
    still = ["--sample", "0", "--lr", "1e-30", "--min-lr", "0", "--epochs", "1"]
    fasttext(new, "--init", tmp_path / "ft.npz", *still, "-o", tmp_path / "v.npz")
    after, more, _ = read(tmp_path / "v.npz")
    assert more == [*words, "zebrafishes"]
    assert np.array_equal(after["word_rows"][:-1], before["word_rows"])
    at = np.searchsorted(after["ngram_buckets"], before["ngram_buckets"])
    assert np.array_equal(after["ngram_rows"][at], before["ngram_rows"]) and len(at) < len(after["ngram_buckets"])
    np.testing.assert_allclose(after["vectors"][-1], compose(after, more[-1], -1, (3, 6, 2_000_000)), atol=1e-6)
    tables(tmp_path / "plain.npz", ["zebrafishes", words[0]], np.eye(2, 8))
    ran = fasttext(new, "--init", tmp_path / "plain.npz", *still, "-o", tmp_path / "v.npz")
    assert np.array_equal(read(tmp_path / "v.npz")[0]["word_rows"][:2], np.eye(2, 8)) and "no n-grams" in ran.talk


def test_two_topics_separate_and_words_of_one_stem_come_close(tmp_path: Path) -> None:
    tokens = tokens_of(tmp_path, topics())
    options = ["--sample", "0", "--negative", "2", "--epochs", "20", "--dim", "10", "--lr", "0.1", "--min-n", "2"]
    fasttext(tokens, *options, "-q", "-o", tmp_path / "v.npz")
    arrays, words, _ = read(tmp_path / "v.npz")
    X = arrays["vectors"] / np.linalg.norm(arrays["vectors"], axis=1)[:, None]
    same = np.array([[a[0] == b[0] for a in words] for b in words])
    assert (X @ X.T)[same].min() > (X @ X.T)[~same].max()
    rare = tokens_of(tmp_path, topics() + "b0 a0zzzz b1\n")  # spelled like no other, seen once
    fasttext(rare, *options, "-q", "-o", tmp_path / "v.npz")
    losses = read(tmp_path / "v.npz")[0]["epoch_loss"]
    assert losses[-1] < losses[0]


@pytest.mark.parametrize("options", [["--min-n", "5", "--max-n", "4"], ["--buckets", "0"], ["--min-n", "0"]], ids=str)
def test_usage_errors_come_before_reading(options: list[str], tmp_path: Path) -> None:
    failed(embcli("fasttext", tmp_path / "none.npz", "-o", tmp_path / "v.npz", *options), 2, options[0])


def test_no_ngrams_at_all(tokens: Path, tmp_path: Path) -> None:
    fasttext(tokens, *SMALL, "--max-n", "0", "-o", tmp_path / "v.npz")
    arrays, _, _ = read(tmp_path / "v.npz")
    assert np.array_equal(arrays["vectors"], arrays["word_rows"]) and len(arrays["ngram_buckets"]) == 0
    ok("info", tmp_path / "v.npz", "--verify")


def test_the_size_is_said_before_training(tokens: Path, tmp_path: Path) -> None:
    """user-reports F06: 100 kB of text make less than 50 MB; the forecast is within 20 %."""
    for more in ([], ["--loss", "hierarchical", "--no-state"], ["--no-context-vectors"]):
        ran = fasttext(tokens, "--epochs", "1", *more, "-o", tmp_path / "v.npz")
        size = (tmp_path / "v.npz").stat().st_size
        first = ran.talk.splitlines()[0 if "rows:" in ran.talk.splitlines()[0] else 1]
        found = re.search(r"the artifact will take about ([\d.]+) ([kM]B)$", first)
        assert found is not None, first
        assert float(found[1]) * {"kB": 1e3, "MB": 1e6}[found[2]] == pytest.approx(size, rel=0.2)
        assert size < 50e6


def test_a_word_of_100000_characters_does_no_harm(tmp_path: Path) -> None:
    """400,000 n-grams, 25 times: trained on, stored once."""
    rng = np.random.default_rng(0)
    long = "".join(rng.choice(list("abcdefghijklmnopqrstuvwxyz"), 100_000))
    tokens = tokens_of(tmp_path, f"one {long} two three four\n" * 25)
    fasttext(tokens, "--dim", "4", "--epochs", "1", "--sample", "0", "-o", tmp_path / "v.npz")
    arrays, words, _ = read(tmp_path / "v.npz")
    assert long in words and np.isfinite(arrays["vectors"]).all()
    assert 100_000 < len(arrays["ngram_buckets"]) < 400_000
    assert (tmp_path / "v.npz").stat().st_size < 20e6


def test_pieces_are_refused(tmp_path: Path) -> None:
    (tmp_path / "c.txt").write_text("low lower lowest\n" * 9, encoding="utf-8")
    ok("bpe-train", tmp_path / "c.txt", "--vocab-size", "260", "-o", tmp_path / "b.npz")
    ok("encode", tmp_path / "c.txt", "--tokenizer", tmp_path / "b.npz", "-o", tmp_path / "t.npz")
    failed(embcli("fasttext", tmp_path / "t.npz", "-o", tmp_path / "v.npz"), 3, "t.npz", "pieces of words", "--words")


def test_defaults_are_the_originals() -> None:
    found = FastTextParams()
    assert (found.min_n, found.max_n, found.buckets, found.window, found.negative) == (3, 6, 2_000_000, 5, 5)
    assert (found.ns_power, found.sample, found.epochs) == (0.5, 1e-4, 5)
    for arch in ("skipgram", "cbow"):
        assert completed(FastTextParams(arch=arch), 100).lr == 0.05  # type: ignore[arg-type]
    assert completed(Word2vecParams(), 100).lr == 0.025
    ours, theirs = ({f.name for f in fields(p)} for p in (FastTextParams, Word2vecParams))
    assert ours - theirs == {"min_n", "max_n", "buckets"} and theirs <= ours


def test_explain_divergence_and_hogwild(tokens: Path, tmp_path: Path) -> None:
    """user-reports F05: exit 4, the epoch and a lower rate named, nothing written."""
    shown = fasttext(tokens, "--explain", "2").text
    assert "n-gram row" in shown and "4.158883" in shown  # 6 log 2
    ran = embcli("fasttext", tokens, "--lr", "1e9", "--dim", "8", "-q", "-o", tmp_path / "v.npz")
    failed(ran, 4, "epoch 1", "--lr")
    assert list(tmp_path.iterdir()) == []
    fasttext(tokens, *SMALL, "--hogwild", "-o", tmp_path / "v.npz")
    assert read(tmp_path / "v.npz")[2]["stats"]["reproducible"] is False
