"""Oracle: the document-term example of the sources, its TF-IDF and LSA by hand, and folding in by the formula."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from conftest import DATA
from cooc_twin import cells_of, counted, dense, sentences, tokens_of, with_options
from svd_twin import counts_of, solved

from embcli.artifacts.schema import Counts, Vectors, Words
from embcli.counts.pairs import heaviest
from embcli.counts.weighting import marginals, read_cells, weigh
from embcli.errors import InputError, KindError, NumbersError, UsageError
from embcli.job import Job
from embcli.query.info import pair_count
from embcli.query.lookup import heads
from embcli.query.neighbors import search
from embcli.spec import NeighborsParams

TWO = (DATA / "tiny" / "document-terms.txt").read_text(encoding="utf-8").splitlines()
LN2 = math.log(2)


def two() -> Counts:
    return with_options(counted(sentences(*TWO), context="document"), context="document")


def weights(counts: Counts, weight: str = "tfidf", idf: str = "plain") -> dict[tuple[str, str], float]:
    """Return the weighted cells by label and word."""
    labels = heads(counts.rows) if counts.rows is not None else counts.words
    cells = read_cells(counts, 0, int(counts.shape[0]))
    values = weigh(cells, weight, marginals(counts, 1.0, None, idf)).tolist()
    return {(labels[r], counts.words[c]): x for (r, c), x in zip(cells_of(counts), values, strict=True)}


def test_the_document_term_counts_of_the_sources() -> None:
    counts = two()
    words = list(counts.words)
    assert words == ["cat", "pet", "dog", "car", "drive"]
    assert dense(counts).tolist() == [[3, 2, 0, 0, 0], [0, 1, 2, 3, 3]]
    assert counts.data.dtype == np.int64 and counts.shape.tolist() == [2, 5]
    assert list(counts.rows or ()) == ["doc1: cat cat cat pet pet", "doc2: dog dog pet car car car"]
    assert counts.stats == {"documents": 2, "words": 5, "tokens": 14, "cells": 6, "total": 14}
    assert counts.unigram.tolist() == [3, 3, 2, 3, 3]


def test_tfidf_of_the_sources() -> None:
    found = weights(two())
    assert found["doc1", "cat"] == pytest.approx(2.0794, abs=5e-5)
    assert found["doc2", "dog"] == pytest.approx(1.3863, abs=5e-5)
    assert found["doc2", "car"] == found["doc2", "drive"] == pytest.approx(3 * LN2, abs=1e-15)
    assert found["doc1", "pet"] == found["doc2", "pet"] == 0


def test_smooth_idf_keeps_what_stands_everywhere() -> None:
    found = weights(two(), idf="smooth")
    assert found["doc1", "pet"] == 2  # ln(3/3) + 1 = 1
    assert found["doc1", "cat"] == pytest.approx(3 * (math.log(3 / 2) + 1), abs=1e-15)


@pytest.mark.parametrize("solver", ["auto", "dense", "krylov", "arpack"])
def test_lsa_of_the_sources(solver: str) -> None:
    # two documents without a common weighted word: s = |d2|, |d1|, each document is an axis of its own
    made = solved(two(), dim=2, solver=solver)
    s1, s2 = LN2 * math.sqrt(4 + 9 + 9), LN2 * 3
    assert made.singular_values == pytest.approx([s1, s2], rel=1e-6)
    assert made.documents == pytest.approx(np.array([[0, s2], [s1, 0]]), abs=1e-5)
    # V S: cat (0, 3 ln 2), dog (2 ln 2, 0), car and drive (3 ln 2, 0), pet at the origin, times s/s
    v = LN2 / s1
    rows = {"cat": (0, s2), "pet": (0, 0), "dog": (2 * v * s1, 0), "car": (3 * v * s1, 0), "drive": (3 * v * s1, 0)}
    assert made.vectors == pytest.approx(np.array([rows[word] for word in made.words]), abs=1e-5)
    assert made.contexts is None and list(made.labels or ()) == list(two().rows or ())
    assert {name: made.options[name] for name in ("weight", "eig")} == {"weight": "tfidf", "eig": 1.0}
    assert made.stats["documents"] == 2 and made.stats["words"] == 5
    made.check()


def test_signs_follow_the_documents() -> None:
    table = np.random.default_rng(1).poisson(0.7, (30, 20))
    for solver in ("dense", "krylov", "arpack"):
        made = solved(documents(table), dim=9, solver=solver)
        largest = np.abs(made.documents).argmax(axis=0)
        assert (made.documents[largest, np.arange(9)] > 0).all(), solver
    # the sibling: words have negative entries of largest size
    assert (made.vectors[np.abs(made.vectors).argmax(axis=0), np.arange(9)] < 0).any()


def documents(table: Any) -> Counts:
    """Return a matrix of counts as document-term counts."""
    counts = counts_of(table)
    counts.rows = Words.of(f"doc{i + 1}: some words" for i in range(len(table)))
    return counts


def test_automatic_options_and_what_belongs_to_another_weight() -> None:
    table = np.array([[3.0, 2, 0], [0, 1, 2], [1, 0, 4]])
    assert solved(table, dim=2).options | {"dim": 0, "solver": 0} == {
        "weight": "ppmi",
        "idf": None,
        "eig": 0.5,
        "dim": 0,
        "solver": 0,
    }
    assert solved(documents(table), dim=2, weight="ppmi", eig=0.5).options["weight"] == "ppmi"
    assert solved(table, dim=2, weight="tfidf").contexts is not None
    with pytest.raises(UsageError, match="--weight tfidf: --shift and --cds belong to pmi and ppmi"):
        solved(documents(table), dim=2, shift=5.0)
    with pytest.raises(UsageError, match="--weight ppmi: --idf belongs to tfidf"):
        solved(table, dim=2, idf="smooth")


def test_one_document_leaves_nothing_without_smoothing() -> None:
    with pytest.raises(NumbersError, match=r"every word stands in all rows.*--idf smooth"):
        solved(documents([[3, 1]]), dim=1)
    assert solved(documents([[3, 1]]), dim=1, idf="smooth").stats["rank"] == 1


def test_more_dimensions_than_documents_are_lowered_and_said() -> None:
    said: list[str] = []
    assert solved(two(), dim=100, warnings=said).documents.shape == (2, 2)
    assert said == ["--dim 100 is more than there are documents; lowered to 2"]


def test_empty_documents_stay_and_gaps_are_no_words() -> None:
    counts = counted(tokens_of([[], [0, 2, 2, 1, 0], [2], []], 2), context="document")
    assert dense(counts).tolist() == [[0, 0], [2, 1], [0, 0], [0, 0]]
    assert list(counts.rows or ()) == ["doc1", "doc2: w0 w1 w0", "doc3", "doc4"]
    assert counts.stats["documents"] == 4 and counts.stats["tokens"] == 3
    # idf over all four: w0 and w1 stand in one
    assert set(weights(counts).values()) == {2 * math.log(4), math.log(4)}


def test_no_word_at_all() -> None:
    with pytest.raises(NumbersError, match="nothing to count: no word in 3 rows"):
        counted(tokens_of([[], [1], []], 1), context="document")


def test_damaged_tokens_are_refused() -> None:
    tokens = tokens_of([[0, 1, 2]], 3)
    tokens.ids = np.array([0, 4, 2], np.uint8)
    with pytest.raises(InputError, match="damaged: ids holds 4"):
        counted(tokens, context="document")


def test_top_pairs_and_one_pair_of_documents() -> None:
    """user-reports C08, with documents for words."""
    counts = two()
    assert heaviest(counts, 2) == [("doc1: cat cat cat pet pet", "cat", 3), ("doc2: dog dog pet car car car", "car", 3)]
    assert pair_count(counts, "doc2 pet", "d.npz") == ("doc2", "pet", 1)
    assert pair_count(counts, "doc1 dog", "d.npz") == ("doc1", "dog", 0)
    with pytest.raises(InputError, match="unknown word 'doc3'; did you mean"):
        pair_count(counts, "doc3 cat", "d.npz")


def asked(artifact: Any, *queries: str, **options: Any) -> list[Any]:
    return search([artifact], queries, NeighborsParams(**options), Job())


def lsa() -> tuple[Any, Vectors]:
    """Return a table of counts and its LSA at full rank."""
    table = np.random.default_rng(4).poisson(0.6, (12, 9)) + np.eye(12, 9)
    return table, solved(documents(table), dim=9)


def test_folding_in_a_documents_own_row_gives_its_own_coordinates() -> None:
    # d = x W S^-1, x the TF-IDF row, W the words' vectors: Deerwester et al. 1990, section 4.3
    for eig in (1.0, 0.5, 0.0):
        table, _ = lsa()
        made = solved(documents(table), dim=4, eig=eig)
        x = table * np.log(len(table) / (table > 0).sum(0))
        assert x @ (made.vectors / made.singular_values) == pytest.approx(made.documents, abs=1e-5)
        assert x.T @ (made.documents / made.singular_values) == pytest.approx(made.vectors, abs=1e-5)
        assert x @ made.vectors != pytest.approx(made.documents, abs=0.1)


@pytest.mark.parametrize("eig", [1.0, 0.5])
def test_a_word_among_documents_is_a_document_of_this_one_word(eig: float) -> None:
    made = solved(documents(lsa()[0]), dim=4, eig=eig)
    (answer,) = asked(made, "w3", table="documents", top=12)
    point = made.vectors[3] / made.singular_values
    cosines = made.documents @ point / np.linalg.norm(made.documents, axis=1) / np.linalg.norm(point)
    assert [line.score for line in answer.results] == pytest.approx(sorted(cosines, reverse=True), abs=2e-6)
    assert answer.results[0].word == f"doc{cosines.argmax() + 1}: some words"
    assert answer.results[0].count is None and answer.rows == "document"
    assert answer.notes == ("'w3' is a word: taken as a document of this one word",)


def test_a_document_among_words_is_a_word_of_this_one_document() -> None:
    _, made = lsa()
    (answer,) = asked(made, "doc2", top=9)
    point = made.documents[1] / made.singular_values
    cosines = made.vectors @ point / np.linalg.norm(made.vectors, axis=1) / np.linalg.norm(point)
    assert [line.score for line in answer.results] == pytest.approx(sorted(cosines, reverse=True), abs=2e-6)
    assert answer.rows == "word" and answer.results[0].count is not None


def test_documents_among_documents() -> None:
    _, made = lsa()
    one, both = asked(made, "doc5", "doc5 + doc7 - w1", table="documents", top=12)
    assert len(one.results) == 11 and not one.notes
    assert "doc5: some words" not in [line.word for line in one.results]
    assert len(both.results) == 10 and both.label == "doc5 + doc7 - w1"


def test_a_word_of_the_same_name_is_a_word_among_words_and_a_document_among_documents() -> None:
    table = np.random.default_rng(0).poisson(0.8, (6, 5)) + np.eye(6, 5)
    counts = documents(table)
    counts.words = Words.of(["doc1", "a", "b", "c", "d"])
    made = solved(counts, dim=3)
    assert not asked(made, "doc1")[0].notes and not asked(made, "doc1", table="documents")[0].notes


def test_count_rows_of_documents_and_their_weight() -> None:
    counts = documents(lsa()[0])
    x = dense(counts) * np.log(12 / (dense(counts) > 0).sum(0))
    one, word = asked(counts, "doc3", "w4", top=12)
    unit = x / np.linalg.norm(x, axis=1, keepdims=True)
    assert one.results[0].score == pytest.approx(np.sort(unit @ unit[2])[-2], abs=1e-6)
    assert word.results[0].score == pytest.approx(unit[:, 4].max(), abs=1e-6)
    (plain,) = asked(counts, "doc3", weight="none", metric="dot", top=1)
    assert plain.results[0].score == np.sort(dense(counts) @ dense(counts)[2] * (np.arange(12) != 2))[-1]
    (folded,) = asked(counts, "w4", metric="dot", top=1)
    idf = np.log(12 / (dense(counts) > 0).sum(0))[4]
    assert folded.results[0].score == pytest.approx(x[:, 4].max() * idf, rel=1e-6)


def test_what_is_not_there_is_said() -> None:
    _, made = lsa()
    (answer,) = asked(made, "doc19", table="documents")
    assert answer.unknown[0].word == "doc19" and "doc1" in answer.unknown[0].suggestions
    (answer,) = asked(made, "w33", table="documents")
    assert "w3" in answer.unknown[0].suggestions
    with pytest.raises(
        KindError, match="has no documents; make them from counts with 'embcli cooc --context document'"
    ):
        asked(solved(np.array([[3.0, 2], [2, 1]]), weight="none", dim=2), "w0", table="documents")
    with pytest.raises(KindError, match="its rows are words"):
        asked(counts_of([[3.0, 2], [2, 1]]), "w0", table="documents")
    with pytest.raises(KindError, match="has no contexts"):
        asked(made, "w0", table="sum")


def test_heads_of_labels() -> None:
    labels = ["doc1: a: b", "doc2", "", ": x", "doc10: é"]
    assert list(heads(Words.of(labels))) == ["doc1", "doc2", "", "", "doc10"]
    assert list(heads(Words.of(["a", "b"]))) == ["a", "b"] and list(heads(Words.of([]))) == []
