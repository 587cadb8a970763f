"""Oracle: arithmetic that a reader can do on a handful of rows."""

from __future__ import annotations

import math
import sys
import types
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
import samples

from embcli.artifacts.schema import Artifact, Vectors, Words
from embcli.errors import InputError, KindError, UsageError
from embcli.job import Job
from embcli.query import clusters, starts, undertrained
from embcli.query.geometry import Geometry, geometry
from embcli.query.neighbors import search
from embcli.spec import EvalParams, NeighborsParams


def vectors(table: Any, counts: Any = None, **more: Any) -> Vectors:
    """Return an artifact with words a, b, c ...; the first word is the most frequent."""
    table = np.array(table, np.float32)
    unigram = np.arange(len(table), 0, -1) if counts is None else np.array(counts)
    return Vectors(vectors=table, words=Words.of(map(chr, range(97, 97 + len(table)))), unigram=unigram, **more)


def measure(artifact: Artifact, **options: Any) -> Geometry:
    options.setdefault("geometry", True)
    (found,) = geometry([artifact], EvalParams(**options), Job(), ["v.npz"])
    return found


def test_pair_cosine_norms_and_distances_by_hand() -> None:
    """Cosines of the pairs: 0, 1/sqrt 2, 1/sqrt 2. The mean of the rows is (1, 1)."""
    found = measure(vectors([(2, 0), (0, 2), (1, 1)]))
    band = found.bands[0]
    assert (band.name, band.rows, band.most, band.least) == ("1-3", 3, 3, 1)
    assert band.pair_cosine == pytest.approx(math.sqrt(2) / 3)
    assert band.mean_norm == pytest.approx((4 + math.sqrt(2)) / 3) and band.median_norm == 2
    assert band.centroid_cosine == pytest.approx((math.sqrt(2) + 1) / 3)
    assert band.centroid_distance == pytest.approx(2 * math.sqrt(2) / 3)
    assert band.start_distance is None and band.unmoved is None
    assert found.bands[1].name == "all" and found.bands[1].pair_cosine == band.pair_cosine


def test_rows_that_point_one_way_have_pair_cosine_1_and_opposite_ones_minus_1() -> None:
    assert measure(vectors([(1, 2), (2, 4), (3, 6)])).bands[-1].pair_cosine == pytest.approx(1)
    assert measure(vectors([(1, 2), (-2, -4)])).bands[-1].pair_cosine == pytest.approx(-1)


def test_bands_are_ranks_whatever_the_order_of_the_rows() -> None:
    counts = np.arange(1, 1202)
    table = np.ones((1201, 1))
    table[-100:] = 5  # the hundred most frequent stand last
    names = Words.of(str(i) for i in range(1201))
    found = measure(Vectors(vectors=table.astype(np.float32), words=names, unigram=counts))
    assert [band.name for band in found.bands] == ["1-100", "101-1,000", "1,001-1,201", "all"]
    assert [band.rows for band in found.bands] == [100, 900, 201, 1201]
    assert (found.bands[0].mean_norm, found.bands[0].most, found.bands[0].least) == (5, 1201, 1102)
    assert found.bands[1].mean_norm == 1


def test_words_of_count_0_are_a_band_and_unknown_counts_are_not() -> None:
    table = [(1, 0), (0, 1), (3, 4)]
    assert [band.name for band in measure(vectors(table, [5, 2, 0])).bands] == ["1-2", "unseen", "all"]
    assert [band.name for band in measure(vectors(table, [0, 0, 0])).bands] == ["1-3", "all"]


def test_spectrum_by_hand() -> None:
    """The variances are 9/2 and 1/2: shares .9 and .1. Directions are the axes, and so is Z."""
    found = measure(vectors([(3, 0), (-3, 0), (0, 1), (0, -1)])).spectrum
    assert found is not None
    assert found.shares == (pytest.approx(0.9), pytest.approx(1), pytest.approx(1))
    assert found.uncentred == pytest.approx(0.9)
    assert found.effective_rank == pytest.approx(math.exp(-0.9 * math.log(0.9) - 0.1 * math.log(0.1)))
    assert found.isotropy == pytest.approx((2 + 2 * math.cosh(1)) / (2 + 2 * math.cosh(3)))


def test_a_mean_counts_only_where_it_is_not_taken_out() -> None:
    """The same rows about (100, 0)... the second moment is nearly all mean; the variances stay."""
    found = measure(vectors([(103, 0), (97, 0), (100, 1), (100, -1)])).spectrum
    assert found is not None
    assert found.shares[0] == pytest.approx(0.9)
    assert found.uncentred == pytest.approx(10004.5 / 10005)
    assert found.isotropy == pytest.approx(0, abs=1e-80)


def test_even_rows_have_full_rank_and_isotropy_1() -> None:
    found = measure(vectors(np.vstack([np.eye(4), -np.eye(4)]))).spectrum
    assert found is not None
    assert found.effective_rank == pytest.approx(4) and found.isotropy == pytest.approx(1)


def test_untied_scores_are_the_input_norm_and_the_cosine_of_output_rows() -> None:
    """d was never seen. Output rows lie evenly along y, which is the first component; what is left is x and z."""
    contexts = [(1, 9, 0), (0, -9, 1), (1, 3, 1), (2, -3, 0)]
    artifact = vectors([(3, 4, 0), (0, 1, 0), (0, 0, 2), (0.1, 0, 0)], [9, 5, 2, 0], contexts=np.array(contexts, "f4"))
    norm, cosine = measure(artifact).rankings
    assert (norm.variant, norm.score) == ("untied variant", "input norm")
    assert [(line.word, line.count, line.score) for line in norm.lowest] == [
        ("d", 0, 0.1), ("b", 5, 1), ("c", 2, 2), ("a", 9, 5),
    ]  # fmt: skip
    assert [line.word for line in norm.highest] == ["a", "c", "b", "d"]
    assert cosine.score == "output cosine distance" and "1 rows of words with count 0" in cosine.reference
    assert cosine.lowest[0].word == "d" and cosine.lowest[0].score == 0
    rows = np.array(contexts, float)
    _, axes = np.linalg.eigh(np.cov(rows.T))
    left = rows - np.outer(rows @ axes[:, -1], axes[:, -1])
    expected = 1 - left @ left[3] / np.linalg.norm(left, axis=1) / np.linalg.norm(left[3])
    for line in cosine.lowest:
        assert line.score == pytest.approx(expected[ord(line.word) - 97], abs=1e-6)


def test_tied_takes_the_input_table_and_adds_the_centred_norm_where_all_words_were_seen() -> None:
    table = [(4, 1), (-4, 1), (0, 1), (1, -1)]
    (only,) = measure(vectors(table, [4, 3, 2, 0])).rankings
    assert (only.variant, only.score, only.lowest[0].word) == ("tied variant", "input cosine distance", "d")
    cosine, norm = measure(vectors(table)).rankings
    assert "none has count 0" in cosine.reference and "rarest" in cosine.reference
    # the mean is (1/4, 1/2)
    assert (norm.variant, norm.score) == ("", "centred norm") and norm.lowest[0].word == "c"
    assert norm.lowest[0].score == pytest.approx(math.sqrt(1 / 16 + 1 / 4))


def one_count(n: int, total: int) -> Vectors:
    """Return ``total`` rows, the last n of count 10, the others more frequent."""
    table = np.random.default_rng(1).standard_normal((total, 6)).astype(np.float32)
    counts = np.r_[np.arange(total - n, 0, -1) + 10, np.full(n, 10)]
    return Vectors(vectors=table, words=Words.of(f"w{i}" for i in range(total)), unigram=counts)


def test_all_rows_as_rare_as_the_last_of_the_rarest_are_compared_with() -> None:
    """60 of 1,000 words have count 10: they are all in, whatever their order, and the next rarer word is not."""
    artifact = one_count(60, 1000)
    order = np.r_[np.arange(940), np.random.default_rng(2).permutation(np.arange(940, 1000))]
    assert np.any(order[-10:] < 990)
    other = Vectors(vectors=artifact.vectors[order], words=Words.of(f"w{i}" for i in order), unigram=artifact.unigram)
    one, two = (measure(made, top=1000).rankings[0] for made in (artifact, other))
    assert one.reference == "the 60 rarest rows (all with count 10); none has count 0"
    assert "10 % of the rows" in one.rule
    scores = {line.word: line.score for line in one.lowest}
    assert scores == pytest.approx({line.word: line.score for line in two.lowest}, abs=2e-6)
    table = artifact.vectors.astype(float)
    _, axes = np.linalg.eigh(np.cov(table.T))
    left = table - np.outer(table @ axes[:, -1], axes[:, -1])
    mean = left[-60:].mean(0)
    assert scores["w0"] == pytest.approx(1 - left[0] @ mean / np.linalg.norm(left[0]) / np.linalg.norm(mean), abs=2e-6)


def test_rows_of_one_count_beyond_a_tenth_are_sampled_by_the_seed() -> None:
    artifact = one_count(400, 1000)
    one = measure(artifact, top=1000).rankings[0]
    assert one.reference == "the 100 rarest rows (100 of 400 rows of count 10, drawn by --seed); none has count 0"
    assert measure(artifact, top=1000).rankings[0] == one
    assert measure(artifact, top=1000, seed=1).rankings[0].lowest != one.lowest
    chosen, *_ = undertrained._reference(np.asarray(artifact.unigram), np.arange(1000), 0)
    assert len(set(chosen.tolist())) == 100 and chosen.min() < 650 and chosen.max() > 950


def test_rarer_rows_come_before_the_sample() -> None:
    counts = np.r_[np.full(980, 7), np.full(20, 3)]
    chosen, said, _, known = undertrained._reference(counts, np.arange(1000), 0)
    assert (len(chosen), known) == (20, False) and chosen.min() == 980 and "(all with count 3)" in said
    counts[985:] = 7
    chosen, said, _, _ = undertrained._reference(counts, np.arange(1000), 0)
    assert len(chosen) == 100 and set(range(980, 985)) <= set(chosen.tolist())
    assert "the 5 rarer ones and 95 of 995 rows of count 7" in said


def test_the_variant_can_be_chosen_but_not_without_its_table() -> None:
    both = vectors([(1, 2), (3, 4)], contexts=np.ones((2, 2), np.float32))
    assert measure(both).rankings[0].variant == "untied variant"
    assert measure(both, undertrained="tied").rankings[0].variant == "tied variant"
    with pytest.raises(KindError, match=r"v\.npz: has no contexts.*--undertrained tied"):
        measure(vectors([(1, 2), (3, 4)]), undertrained="untied")


def begin(meta: Mapping[str, Any], start: int, stop: int) -> np.ndarray:
    """Return the start of a trainer that does not exist: all rows are (seed, 0)."""
    return np.tile(np.array([meta["seed"], 0], np.float32), (stop - start, 1))


def unknown(meta: Mapping[str, Any], start: int, stop: int) -> None:
    """Return what a trainer says that began from another file."""


def register(monkeypatch: pytest.MonkeyPatch, start: Any) -> None:
    """Add the start of the step ``dream`` to the registry."""
    module = types.ModuleType("dream_starts")
    module.start = start  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "dream_starts", module)
    monkeypatch.setitem(starts.STARTS, "dream", "dream_starts:start")


def test_rows_that_never_moved_are_found_by_their_start(monkeypatch: pytest.MonkeyPatch) -> None:
    register(monkeypatch, begin)
    table = [(7, 3), (7, 0), (3, 3), (7, 0)]
    made = vectors(table, [4, 3, 2, 0], meta={"step": "dream", "seed": 7})
    seen, unseen, everything = measure(made).bands
    assert (seen.start_distance, seen.unmoved) == (pytest.approx((3 + 0 + 5) / 3), 1)
    assert (unseen.start_distance, unseen.unmoved) == (0, 1)
    assert everything.unmoved == 2
    other = vectors(table, [4, 3, 2, 0], meta={"step": "dream", "seed": 8})
    assert measure(other).bands[-1].unmoved == 0
    assert measure(vectors(table, meta={"step": "svd", "seed": 7})).bands[-1].unmoved is None


def test_a_start_that_is_not_known_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    register(monkeypatch, unknown)
    made = vectors([(7, 0)], meta={"step": "dream", "seed": 7})
    assert measure(made).bands[-1].start_distance is None


def test_clusters_of_three_directions_and_the_one_nearest_to_the_centroid() -> None:
    """Lengths do not matter for clusters; the mean of the rows points along y."""
    table = [(5, 0.1), (1, 0), (0, 9), (0.1, 20), (-3, 0), (-3, 0.1)]
    found = measure(vectors(table), geometry=False, clusters=3)
    assert found.bands == () and found.spectrum is None and found.rankings == ()
    assert found.clusters is not None
    names = [frozenset(m.word for m in c.words) for c in found.clusters.clusters]
    assert set(names) == {frozenset(p) for p in ("ab", "cd", "ef")}
    first = found.clusters.clusters[0]
    assert names[0] == {"c", "d"}
    assert (first.size, first.median_count, first.mean_norm) == (2, 3.5, pytest.approx(14.5, abs=0.001))
    mean = np.mean(table, axis=0)
    c = next(m for m in first.words if m.word == "c")
    assert c.centroid_cosine == pytest.approx(mean[1] / np.linalg.norm(mean), abs=1e-6)
    a = next(m for other in found.clusters.clusters for m in other.words if m.word == "a")
    assert a.count == 6 and a.cosine == pytest.approx(1, abs=1e-3)
    assert a.centroid_cosine == pytest.approx(mean @ table[0] / np.linalg.norm(mean) / np.linalg.norm(table[0]), 1e-5)


def test_each_cluster_has_the_words_asked_for() -> None:
    made = measure(vectors([(1, i / 50) for i in range(9)] + [(-1, i / 50) for i in range(9)]), clusters=2, top=8)
    assert made.clusters is not None
    assert [len(c.words) for c in made.clusters.clusters] == [8, 8]
    for cluster in made.clusters.clusters:
        cosines = [m.cosine for m in cluster.words]
        assert cosines == sorted(cosines, reverse=True)


def test_as_many_clusters_as_different_rows_are_refused() -> None:
    """Four rows, one of zeros, and two that are one direction: two different ones."""
    table = [(2, 0), (4, -0.0), (0, 1), (0, 0), (-1, 0)]
    found = measure(vectors(table), clusters=2).clusters
    assert found is not None and len(found.clusters) == 2
    with pytest.raises(UsageError, match=r"--clusters 3: v\.npz has 3 rows of different .*give 2 clusters at most"):
        measure(vectors(table), clusters=3)
    with pytest.raises(UsageError, match=r"--clusters 2: v\.npz has 1 rows.*too few"):
        measure(vectors([(1, 0), (2, 0), (0, 0)]), clusters=2)
    with pytest.raises(UsageError, match="has 3 rows"):
        measure(vectors(table), clusters=10**15)


def test_clusters_that_would_take_days_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    table = np.random.default_rng(0).standard_normal((50, 4))
    monkeypatch.setattr(clusters, "MOST", 50 * 4 * 10)
    assert measure(vectors(table), clusters=10).clusters is not None
    with pytest.raises(
        UsageError, match=r"--clusters 11: too much work for the 50 rows of 4 numbers of v\.npz; give 10"
    ):
        measure(vectors(table), clusters=11)


def test_zero_rows_are_counted_and_have_no_cosine() -> None:
    found = measure(vectors([(0, 0), (1, 0), (1, 0), (0, 0), (1, 1e-3), (0, 1)]), clusters=2)
    assert found.zero_rows == 2 and found.bands[-1].zero_rows == 2
    assert found.clusters is not None and sum(c.size for c in found.clusters.clusters) == 4
    found = measure(vectors([(0, 0), (1, 0), (1, 0), (0, 0)]))
    assert found.bands[-1].pair_cosine == pytest.approx(1) and found.bands[-1].mean_norm == 0.5
    assert found.rankings[0].left_out >= 2


@pytest.mark.parametrize("shape", [(0, 3), (1, 3), (2, 3), (1, 1), (2, 1), (5, 1)])
@pytest.mark.parametrize("value", [0.0, 1.0, None])
def test_tables_too_small_to_measure_end_well(shape: tuple[int, int], value: float | None) -> None:
    table = np.arange(math.prod(shape), dtype=np.float32).reshape(shape) if value is None else np.full(shape, value)
    found = measure(vectors(table))
    assert found.rows == shape[0]
    for band in found.bands:
        assert band.pair_cosine is None or -1.000001 <= band.pair_cosine <= 1.000001
    with pytest.raises(UsageError, match="--clusters 3"):
        measure(vectors(table), clusters=3)


def test_very_long_and_very_short_rows() -> None:
    for scale in (1e-30, 1e30):
        found = measure(vectors(np.array([(3, 0), (-3, 0), (0, 1), (0, -1)]) * scale), clusters=2)
        assert found.spectrum is not None and found.spectrum.shares[0] == pytest.approx(0.9)
        assert found.bands[-1].pair_cosine == pytest.approx(-1 / 3)


def test_counts_are_refused_with_the_command_that_helps() -> None:
    with pytest.raises(KindError, match=r"v\.npz: .*need kind 'vectors', found 'counts'; run 'embcli svd v\.npz"):
        measure(samples.counts())


def test_numbers_that_are_not_finite_are_refused() -> None:
    for bad in (np.nan, np.inf):
        with pytest.raises(InputError, match="not finite"):
            measure(vectors([(1, 2), (bad, 0)]))


def test_damaged_words_are_refused() -> None:
    damaged = vectors([(1, 2), (3, 4)])
    damaged.words.offsets[1] = 9
    with pytest.raises(InputError, match=r"v\.npz: damaged: the offsets of its words"):
        measure(damaged)


def test_the_centroid_of_counts_is_the_mean_of_the_weighted_rows() -> None:
    """Rows (1.5, 0, 0, 2), nothing, (0, 0.25, 0, 0), (4, 0, 1, 0): the mean is a quarter of (5.5, 0.25, 1, 2)."""
    params = NeighborsParams(centroid=True, weight="none")
    (answer,) = search([samples.counts()], [], params, Job())
    length = math.sqrt(5.5**2 + 0.25**2 + 1 + 4)
    expected = [("a\0b", 23 / math.sqrt(17) / length), ("the", 12.25 / 2.5 / length), ("東京", 0.25 / length)]
    assert [line.word for line in answer.results] == [word for word, _ in expected]
    for line, (_, score) in zip(answer.results, expected, strict=True):
        assert line.score == pytest.approx(score, abs=1e-6)


def test_the_centroid_that_neighbors_lists_from_is_the_one_measured_here() -> None:
    """The mean cosine with the centroid equals the mean of the scores that ``neighbors --centroid`` lists."""
    artifact = vectors([(5, 1, 0), (1, 0, 2), (0, 9, 1), (-3, 0, 4)])
    (answer,) = search([artifact], [], NeighborsParams(centroid=True), Job())
    assert len(answer.results) == 4
    mean = sum(line.score for line in answer.results) / 4
    assert measure(artifact).bands[-1].centroid_cosine == pytest.approx(mean, abs=1e-6)
    (far,) = search([artifact], [], NeighborsParams(centroid=True, metric="euclidean"), Job())
    distance = sum(line.score for line in far.results) / 4
    assert measure(artifact).bands[-1].centroid_distance == pytest.approx(distance, rel=1e-5)
