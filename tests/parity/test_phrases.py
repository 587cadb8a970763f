"""Oracle: gensim's Phrases with its default scorer, the threshold scaled to the other N; skipped where it is absent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import twin_words
from conftest import DATA, shared

from embcli.job import Job
from embcli.spec import EncodeParams
from embcli.text.words import encode

models = pytest.importorskip("gensim.models.phrases")


def corpora() -> list[Path]:
    """Return the texts at hand."""
    return [DATA / "corpus.txt", *sorted((shared() / "corpora").glob("enwiki-100k.txt"))]


def split(path: Path) -> list[list[str]]:
    return [line.split() for line in path.read_text(encoding="utf-8").splitlines()]


def joined(path: Path, threshold: float) -> Any:
    """Return the tokens of one pass. gensim's min_count is a discount, and drops nothing."""
    params = EncodeParams(
        words=True, split="whitespace", phrases=1, phrase_threshold=threshold, min_count=1, phrase_discount=3.0
    )
    return encode([str(path)], params, Job(threads=2))


def prepared(folder: Path, source: Path) -> Path:
    """Write a text of plain words, rows as lines, that both tools cut alike."""
    tokens = encode([str(source)], EncodeParams(words=True, lower=True, min_count=1), Job())
    path = folder / source.name
    path.write_text("".join(" ".join(map(str, row)) + "\n" for row in twin_words.rows_of(tokens)), encoding="utf-8")
    return path


@pytest.mark.parametrize("threshold", [5.0, 30.0])
def test_phrases_are_those_of_gensim(tmp_path: Path, threshold: float) -> None:
    for source in corpora():
        path = prepared(tmp_path, source)
        rows = split(path)
        tokens = joined(path, threshold)
        words = sum(map(len, rows))
        theirs = models.Phrases(rows, min_count=3, threshold=threshold)
        theirs.threshold = threshold * len(theirs.vocab) / words
        expected = [theirs[row] for row in rows]
        assert any("_" in word for word in tokens.words)
        assert twin_words.rows_of(tokens) == expected
        scores = {name: score * words / len(theirs.vocab) for name, score in theirs.find_phrases(rows).items()}
        for name, score, _, _ in tokens.stats["phrases"]["passes"][0]["top"]:
            assert score == pytest.approx(scores[name], rel=1e-12)


def test_the_threshold_of_gensim_means_less(tmp_path: Path) -> None:
    """Sibling: without the scaling the two do not agree."""
    path = prepared(tmp_path, DATA / "corpus.txt")
    rows = split(path)
    ours = {word for word in joined(path, 5.0).words if "_" in word}
    theirs = models.Phrases(rows, min_count=3, threshold=5.0)
    assert len(theirs.vocab) < sum(map(len, rows)), "distinct words and pairs against all words"
    assert len(theirs.find_phrases(rows)) < len(ours)
