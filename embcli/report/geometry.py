"""The geometry of vectors as tables: a leaderboard of spectra, bands, under-trained rows, clusters; or one long table.

Figures come from query/geometry.py; here they are only arranged.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import groupby, zip_longest
from typing import Any

from embcli.query.clusters import Cluster, Clusters
from embcli.query.geometry import Geometry
from embcli.query.spectrum import LEADING
from embcli.query.undertrained import Ranking
from embcli.report.display import shown
from embcli.report.tables import Column, Table
from embcli.spec import EvalParams

#: clusters that are printed, and words of each; programs get all clusters and --top words of each
_CLUSTERS, _WORDS = 30, 6


def geometry_tables(found: Sequence[Geometry], params: EvalParams, form: str) -> list[Table]:
    """Return what was found as tables.

    Parameters
    ----------
    found
        As ``query.geometry.geometry`` returns it.
    params
        The options it was found with.
    form
        ``table``: for people, one table of spectra for all artifacts, then each artifact's bands, under-trained rows
        and clusters. ``tsv``: one table, a figure a row. ``jsonl``: the same rows in tables without empty columns.
    """
    if form != "table":
        return [_long(found)] if form == "tsv" else _parts(_long(found))
    tables = [_spectra(found)] if params.geometry else []
    for one in found:
        of = f"{one.name}, {one.table} table" if one.table != "input" else one.name
        if one.bands:
            tables.append(_bands(one, of))
        tables += [_ranking(ranking, one.name) for ranking in one.rankings]
        if one.clusters is not None:
            tables += _clusters(one.clusters, of, one.zero_rows)
    return tables


def _spectra(found: Sequence[Geometry]) -> Table:
    """Return the table with one row an artifact."""
    columns = [
        Column("artifact"), Column("rows", "right"), Column("zero rows", "right"), Column("dim", "right"),
        Column("pair cosine", "right", digits=".4f"),
        *(Column(f"first {n}", "right", "share of components", digits=".1%") for n in LEADING),
        Column("first 1", "right", "not centred", digits=".1%"), Column("effective rank", "right", digits=".1f"),
        Column("isotropy", "right"),
    ]  # fmt: skip
    rows = [
        (
            one.name, f"{one.rows:,}", f"{one.zero_rows:,}", f"{one.dim:,}",
            one.bands[-1].pair_cosine if one.bands else None, *one.spectrum.shares, one.spectrum.uncentred,
            one.spectrum.effective_rank, _tiny(one.spectrum.isotropy),
        )
        for one in found if one.spectrum is not None
    ]  # fmt: skip
    notes = (
        "pair cosine: mean over all pairs of rows; 0 if directions are even, 1 if all rows point one way",
        "share of components: of the variance; effective rank: exp of the entropy of all shares, dim at most",
        "not centred: the mean counts too; isotropy: 1 if no direction is preferred (Mu and Viswanath 2018)",
        "isotropy falls as rows get longer: compare artifacts after 'embcli transform --unit'",
    )
    return Table("geometry", columns, rows, notes)


def _tiny(value: float | None) -> str | None:
    """Return a number from 0 to 1 with four decimals, or its size if they would all be 0."""
    if value is None:
        return None
    return f"{value:.4f}" if value >= 0.0001 else f"{value:.0e}" if value else "0"


def _bands(one: Geometry, of: str) -> Table:
    """Return the bands of one artifact."""
    columns = [
        Column("rank", "right"), Column("counts", "right"), Column("rows", "right"),
        Column("pair cosine", "right", digits=".4f"), Column("mean", "right", "norm", digits=".4g"),
        Column("median", "right", "norm", digits=".4g"), Column("cosine", "right", "to the centroid", digits=".4f"),
        Column("distance", "right", "to the centroid", digits=".4g"),
    ]  # fmt: skip
    started = one.bands[-1].start_distance is not None
    if started:
        columns += [
            Column("distance", "right", "to the start", digits=".4g"),
            Column("unmoved", "right", "to the start"),
        ]
    rows = []
    for band in one.bands:
        counts = f"{band.most:,}" if band.most == band.least else f"{band.most:,}-{band.least:,}"
        row = [
            band.name, counts, f"{band.rows:,}", band.pair_cosine, band.mean_norm, band.median_norm,
            band.centroid_cosine, band.centroid_distance,
        ]  # fmt: skip
        rows.append([*row, band.start_distance, f"{band.unmoved:,}"] if started else row)
    notes = ["pair cosine: mean over pairs of rows of the band; centroid: the mean of all rows as they stand"]
    if started:
        notes.append("start: the table that training began from, made again from the seed; unmoved rows equal it")
    if one.zero_rows:
        notes.append(f"{one.zero_rows:,} rows are all zeros: they count in norms and distances, not in cosines")
    return Table(f"{of}: by rank of frequency", columns, rows, notes)


def _ranking(ranking: Ranking, name: str) -> Table:
    """Return both ends of a ranking side by side."""
    columns = [Column("", "right")]
    for group in ("lowest", "highest"):
        columns += [
            Column("word", group=group), Column("count", "right", group),
            Column("score", "right", group, digits=".4g"),
        ]  # fmt: skip
    pairs = zip_longest(ranking.lowest, ranking.highest)
    rows = [
        [i, *(c for line in pair for c in ((line.word, f"{line.count:,}", line.score) if line else (None,) * 3))]
        for i, pair in enumerate(pairs, 1)
    ]
    notes = [f"score: {ranking.formula}"]
    if ranking.reference:
        notes.append(f"reference: {ranking.reference}")
    if ranking.rule:
        notes.append(f"that is {ranking.rule}")
    if ranking.left_out:
        notes.append(f"{ranking.left_out:,} rows have no direction and no score")
    source = f"{ranking.variant}, Land and Bartolo 2024, section 2.2" if ranking.variant else "not from the paper"
    notes.append(f"{source}; low scores are suspicious, high ones are shown for comparison")
    return Table(f"{name}: under-trained rows by {ranking.score}", columns, rows, notes)


def _clusters(made: Clusters, of: str, zero_rows: int) -> list[Table]:
    """Return the table of clusters and the words of the one nearest to the centroid."""
    columns = [
        Column("cluster", "right"), Column("rows", "right"), Column("cosine to centroid", "right", digits=".4f"),
        Column("tightness", "right", digits=".4f"), Column("mean norm", "right", digits=".4g"),
        Column("median count", "right", digits=",.10g"), Column("words nearest to its center"),
    ]  # fmt: skip
    rows = [
        (i, f"{c.size:,}", c.centroid_cosine, c.tightness, c.mean_norm, c.median_count, _named(c))
        for i, c in enumerate(made.clusters[:_CLUSTERS], 1)
    ]
    notes = [
        f"k-means of rows at unit length, {made.rounds} rounds, inertia {made.inertia:.6g}; nearest to the centroid "
        "first",
        "centroid: the mean of all rows as they stand; tightness: mean cosine of rows with their center",
        f"words: --top, {_WORDS} at most; --format tsv has all --top of each cluster",
    ]
    if len(rows) < len(made.clusters):
        notes.insert(0, f"and {len(made.clusters) - len(rows):,} clusters more: --format tsv has all")
    if len(made.clusters) < made.asked:
        notes.append(f"{made.asked:,} clusters were asked for, but there are not so many different directions")
    if zero_rows:
        notes.append(f"{zero_rows:,} rows are all zeros and in no cluster")
    listed = Table(f"{of}: clusters", columns, rows, notes)
    columns = [
        Column("", "right"), Column("word"), Column("count", "right"),
        Column("center", "right", "cosine with", digits=".4f"),
        Column("centroid", "right", "cosine with", digits=".4f"),
    ]  # fmt: skip
    words = made.clusters[0].words
    lines = [(i, m.word, f"{m.count:,}", m.cosine, m.centroid_cosine) for i, m in enumerate(words, 1)]
    title = f"{of}: cluster 1, nearest to the centroid, {made.clusters[0].size:,} rows"
    return [listed, Table(title, columns, lines)]


def _named(cluster: Cluster) -> str:
    """Return the words that stand for a cluster."""
    return ", ".join(shown(member.word) for member in cluster.words[:_WORDS])


#: columns of the long table; a cell is empty where it does not apply
_COLUMNS = ("artifact", "table", "report", "group", "rank", "word", "count", "measure", "value")


def _long(found: Sequence[Geometry]) -> Table:
    """Return every figure as a row of its own, to 7 significant digits."""
    rows = [
        (one.name, *row, float(f"{value:.7g}") if isinstance(value, float) else value)
        for one in found for *row, value in _figures(one)
    ]  # fmt: skip
    return Table("", [Column(name) for name in _COLUMNS], rows)


def _parts(table: Table) -> list[Table]:
    """Return the rows of the long table, report by report, without the columns that are empty there."""
    parts = []
    for _, group in groupby(table.rows, key=lambda row: (row[0], row[2])):
        rows = list(group)
        kept = [i for i in range(len(table.columns)) if any(row[i] is not None for row in rows)]
        parts.append(Table("", [table.columns[i] for i in kept], [[row[i] for i in kept] for row in rows]))
    return parts


def _figures(one: Geometry) -> Iterator[tuple[Any, ...]]:
    """Yield the cells after the artifact's name."""
    whole = (one.table, "table", "all", None, None, None)
    yield from ((*whole, key, getattr(one, key)) for key in ("rows", "dim", "zero_rows"))
    if one.spectrum is not None:
        shares = zip((f"variance_first_{n}" for n in LEADING), one.spectrum.shares, strict=True)
        figures = {**dict(shares), **asdict(one.spectrum)}
        del figures["shares"]
        yield from ((*whole, key, value) for key, value in figures.items() if value is not None)
    for band in one.bands:
        figures = asdict(band)
        name = figures.pop("name").replace(",", "")
        yield from (
            (one.table, "band", name, None, None, None, key, value) for key, value in figures.items()
            if value is not None
        )  # fmt: skip
    for ranking in one.rankings:
        table = "output" if ranking.score.startswith("output") else "input"
        for end in ("lowest", "highest"):
            for i, line in enumerate(getattr(ranking, end), 1):
                yield table, "undertrained", end, i, line.word, line.count, ranking.score, line.score
    if one.clusters is not None:
        yield from _cluster_figures(one.clusters, one.table)


def _cluster_figures(made: Clusters, table: str) -> Iterator[tuple[Any, ...]]:
    """Yield the figures of all clusters, then the words of each with their ranks."""
    yield table, "clusters", "all", None, None, None, "inertia", made.inertia
    for i, cluster in enumerate(made.clusters, 1):
        for key in ("size", "centroid_cosine", "tightness", "mean_norm", "median_count"):
            if (value := getattr(cluster, key)) is not None:
                yield table, "cluster", i, None, None, None, key, value
    for i, cluster in enumerate(made.clusters, 1):
        for j, member in enumerate(cluster.words, 1):
            yield table, "cluster word", i, j, member.word, member.count, "cosine", member.cosine
