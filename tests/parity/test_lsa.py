"""Oracle: scikit-learn's CountVectorizer, TfidfTransformer and TruncatedSVD, on the Lee news documents.

Where definitions match: ``--idf smooth`` is TfidfTransformer(smooth_idf=True, norm=None). Without smoothing
scikit-learn takes ln(n/df) + 1 and we ln(n/df), so its weight is ours plus the count.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import shared
from scipy.sparse import csr_array
from svd_twin import solved

from embcli.artifacts import store
from embcli.artifacts.schema import Counts
from embcli.counts.weighting import marginals, read_cells, weigh
from embcli.job import Job
from embcli.pipeline.execute import execute
from embcli.spec import STEPS, CoocParams, EncodeParams


@pytest.fixture(scope="module")
def texts() -> list[str]:
    return (shared() / "corpora" / "lee_background.cor").read_text(encoding="utf-8").splitlines()


@pytest.fixture(scope="module")
def counts(texts: list[str], tmp_path_factory: pytest.TempPathFactory) -> Counts:
    folder = tmp_path_factory.mktemp("lee")
    corpus = str(shared() / "corpora" / "lee_background.cor")
    params = EncodeParams(words=True, split="whitespace", min_count=2)
    execute(STEPS["encode"], [corpus], params, Job(threads=2), str(folder / "t.npz"))
    execute(STEPS["cooc"], [str(folder / "t.npz")], CoocParams(context="document"), Job(), str(folder / "c.npz"))
    made = store.read(str(folder / "c.npz"))
    assert isinstance(made, Counts)
    return made


@pytest.fixture(scope="module")
def peer(texts: list[str], counts: Counts) -> Any:
    """Return scikit-learn's counts over our vocabulary."""
    text = pytest.importorskip("sklearn.feature_extraction.text")
    maker = text.CountVectorizer(
        vocabulary=list(counts.words), tokenizer=str.split, lowercase=False, token_pattern=None
    )
    return csr_array(maker.transform(texts))


def matrix(counts: Counts, weight: str, idf: str = "plain") -> Any:
    values = weigh(read_cells(counts, 0, int(counts.shape[0])), weight, marginals(counts, 1.0, None, idf))
    return csr_array((values, np.array(counts.indices), np.array(counts.indptr)), shape=tuple(counts.shape))


def tfidf(peer: Any, **options: Any) -> Any:
    from sklearn.feature_extraction.text import TfidfTransformer

    return csr_array(TfidfTransformer(norm=None, **options).fit_transform(peer))


def test_counts_are_equal(counts: Counts, peer: Any) -> None:
    assert (matrix(counts, "none") != peer).nnz == 0 and peer.shape == (300, len(counts.words))


def test_tfidf_is_equal_where_definitions_match(counts: Counts, peer: Any) -> None:
    ours = matrix(counts, "tfidf", "smooth")
    assert abs(ours - tfidf(peer, smooth_idf=True)).max() <= 1e-12 * ours.max()
    plain = matrix(counts, "tfidf")
    assert abs(plain + peer - tfidf(peer, smooth_idf=False)).max() <= 1e-12 * ours.max()
    # the sibling: plain and smooth are not the same
    assert abs(plain - ours).max() > 0.1


@pytest.mark.parametrize("solver", ["dense", "krylov", "arpack"])
def test_lsa_equals_truncated_svd(counts: Counts, peer: Any, solver: str) -> None:
    from sklearn.decomposition import TruncatedSVD

    X, k = tfidf(peer, smooth_idf=True), 50
    there = TruncatedSVD(k, algorithm="arpack", random_state=0, tol=0)
    documents, components = there.fit_transform(X), there.components_
    s = there.singular_values_
    ours = solved(counts, solver=solver, dim=k, idf="smooth")
    assert np.abs(ours.singular_values / s - 1).max() <= 1e-6
    # coordinates: relative to the largest of their dimension; signs are each one's own. Krylov works in float32
    close = 1e-6 if solver != "krylov" else 1e-4
    for mine, its in ((ours.documents, documents), (ours.vectors, components.T * s)):
        gap = np.abs(np.abs(mine.astype(np.float64)) - np.abs(its)).max(axis=0)
        assert (gap <= close * np.abs(its).max(axis=0)).all(), solver
    plain = solved(counts, solver=solver, dim=k)
    assert np.abs(plain.singular_values / s - 1).max() > 1e-2  # the sibling


def test_document_labels_are_the_first_words(counts: Counts, texts: list[str]) -> None:
    assert counts.rows is not None and len(counts.rows) == 300
    known = set(counts.words)
    for number, (label, line) in enumerate(zip(counts.rows, texts, strict=True), 1):
        first = [word for word in line.split() if word in known][:6]
        assert label == f"doc{number}: {' '.join(first)}" and len(first) == 6


def test_a_corpus_counted_in_two_halves_is_the_corpus(counts: Counts, texts: list[str], tmp_path: Path) -> None:
    for name, part in (("a", texts[:120]), ("b", texts[120:])):
        (tmp_path / f"{name}.txt").write_text("".join(f"{line}\n" for line in part), encoding="utf-8")
        params = EncodeParams(words=True, split="whitespace", min_count=1)
        execute(STEPS["encode"], [str(tmp_path / f"{name}.txt")], params, Job(), str(tmp_path / f"{name}.t.npz"))
        params = CoocParams(context="document")
        execute(STEPS["cooc"], [str(tmp_path / f"{name}.t.npz")], params, Job(), str(tmp_path / f"{name}.npz"))
    paths = [str(tmp_path / f"{name}.npz") for name in "ab"]
    execute(STEPS["cooc"], paths, CoocParams(context="document"), Job(threads=2), str(tmp_path / "both.npz"))
    both = store.read(str(tmp_path / "both.npz"))
    assert isinstance(both, Counts) and len(both.words) > len(counts.words)
    kept = {word: i for i, word in enumerate(both.words)}
    columns = [kept[word] for word in counts.words]
    assert (matrix(both, "none")[:, columns] != matrix(counts, "none")).nnz == 0
    assert list(map(len, map(str.split, texts))) == np.add.reduceat(both.data, both.indptr[:-1]).tolist()
    assert [label.split(":")[0] for label in both.rows or ()] == [f"doc{i}" for i in range(1, 301)]
