"""Nearest neighbors and analogies: from queries to lists of words. No tables: see report/answers.py."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from embcli.artifacts.schema import Artifact
from embcli.job import Job
from embcli.query.approximate import Index, check
from embcli.query.expression import Term
from embcli.query.lookup import words_at
from embcli.query.resolve import Resolved, Unknown, in_pieces, lowered, resolve
from embcli.query.scan import Plan, scan
from embcli.query.space import Space, open_space
from embcli.query.tables import as_vectors
from embcli.query.topk import Best, Sum
from embcli.spec import NeighborsParams

#: what the query of --centroid is called
CENTROID = "(centroid)"
#: neighbors kept at a time, over all queries
_KEPT = 1 << 22


@dataclass(frozen=True, slots=True)
class Neighbor:
    """One line of an answer.

    ``score`` is a cosine, a dot product, a 3CosMul score (higher is nearer) or a distance (lower is nearer). ``count``
    is the word's frequency in the text, None where rows are no words. ``given`` marks words of the query itself.
    """

    rank: int
    word: str
    score: float
    count: int | None
    given: bool


@dataclass(frozen=True)
class Answer:
    """What one artifact says to one query.

    ``artifact`` is its place among the artifacts, ``rows`` says what it lists: word or document. ``label`` is the
    query in words of its vocabulary, ``terms`` its parts. With ``unknown`` words there are no results. ``results``
    leaves the query's own words out unless ``included``; for an expression ``other`` is the list that does the
    opposite, and ``rule`` says how the terms were combined.
    """

    query: str
    artifact: int
    label: str
    terms: tuple[Term, ...]
    unknown: tuple[Unknown, ...] = ()
    notes: tuple[str, ...] = ()
    rule: str = ""
    included: bool = False
    results: tuple[Neighbor, ...] = ()
    other: tuple[Neighbor, ...] = ()
    rows: str = "word"


def search(
    artifacts: Sequence[Artifact], queries: Sequence[str], params: NeighborsParams, job: Job, names: Sequence[str] = ()
) -> list[Answer]:
    """Answer queries from the rows of one or several artifacts.

    Parameters
    ----------
    artifacts
        Opened ``Vectors``, ``Counts``, ``Model`` (token rows, output rows) or ``Context`` (contextual states).
    queries
        Each a word, or an expression (see expression.parse).
    params
        With ``centroid`` the mean of all rows, as they stand, is the first query.
    job
        Its threads share the rows; answers do not depend on how many there are.
    names
        What to call the artifacts in messages; their paths, if they are not given.

    Returns
    -------
    One answer a query and artifact: all artifacts' answers to the first query, then to the second. A query with an
    unknown word is answered by the list of its unknown words. Where rows are documents, a query names one by what
    stands before the colon of its label (doc17), or words, each of which is a document of this one word; where
    documents belong to the vectors of words, such a name is taken as a word of this one document. A word that a model
    with character n-grams has not seen is composed of their rows, which a note says.

    Raises
    ------
    UsageError
        If options do not fit together.
    KindError
        If an artifact has no rows to search, or not the table that is asked for.
    InputError
        If an artifact holds numbers that no step writes.

    Notes
    -----
    Cosine scales the words of an expression to unit length before it adds them (3CosAdd); dot and euclidean add the
    rows as they stand. Cosines and 3CosMul scores are rounded to 6 decimals; equal scores are listed in the order of
    the vocabulary, the more frequent word first. A row of zeros has no direction: cosine never lists it.
    ``restrict`` limits what is listed, not what may be asked. With ``index`` rows may be missed; a note says how many
    """
    params.check()
    if params.index is not None:
        check(params, len(artifacts))
    answers = []
    for at, artifact in enumerate(map(as_vectors, artifacts)):
        name = names[at] if at < len(names) else artifact.path or f"artifact {at + 1}"
        space = open_space(artifact, params, name, job)
        looked_up = resolve(space.names, queries, lowered(artifact), in_pieces(artifact), space.also, space.compose)
        found = [_folded(one, space) for one in looked_up]
        if params.centroid:
            note = f"the mean of all {space.shape[0]:,} rows as they stand"
            found.insert(0, Resolved(CENTROID, (), (), (), (note,)))
        rows = "document" if space.counts is None else "word"
        index = Index(params.index, space, artifact.digest, params, job) if params.index is not None else None
        answers.append([replace(answer, rows=rows) for answer in _answers(space, at, found, params, job, index)])
    return [answer for together in zip(*answers, strict=True) for answer in together]


def _folded(asked: Resolved, space: Space) -> Resolved:
    """Return a query with a note for each of its terms that is no row of the space but folded in."""
    if space.also is None:
        return asked
    this, other = ("word", "document") if space.counts is None else ("document", "word")
    terms = [term for term, row in zip(asked.terms, asked.rows, strict=True) if row >= space.shape[0]]
    more = [f"{term.word!r} is a {this}: taken as a {other} of this one {this}" for term in terms]
    return replace(asked, notes=(*asked.notes, *more)) if more else asked


def exit_code(answers: Sequence[Answer]) -> int:
    """Return 1 if there were queries and none was known to any artifact, else 0."""
    return int(bool(answers) and all(answer.unknown for answer in answers))


def _answers(
    space: Space, at: int, asked: Sequence[Resolved], params: NeighborsParams, job: Job, index: Index | None
) -> list[Answer]:
    """Return the answers of one space, in the order of the queries; with an index approximate ones."""
    limit = min(params.restrict or space.shape[0], space.shape[0])
    k = min(params.top + max((len(one.rows) for one in asked), default=0), max(limit, 1))
    group = max(1, min(space.group, _KEPT // k))
    done: list[Answer] = []
    for start in range(0, len(asked), group):
        part = asked[start : start + group]
        plans, excuses = _plans(space, part, params)
        best = index.search(plans, k) if index else scan(plans, space, params.metric, limit, k, job)
        lists = iter(_lists(space, best, params))
        for one, excuse in zip(part, excuses, strict=True):
            if excuse is None:
                done.append(_filled(one, at, next(lists), params))
            else:
                notes = (*one.notes, excuse) if excuse else one.notes
                done.append(Answer(one.query, at, one.label, one.terms, one.unknown, notes))
    return done


def _plans(space: Space, asked: Sequence[Resolved], params: NeighborsParams) -> tuple[list[Plan], list[str | None]]:
    """Return how to search, and for each query None, or why it is not searched for (empty: unknown words)."""
    cosine = params.metric == "cosine"
    sums = [_sums(one, params.method) for one in asked]
    probes = iter(space.probes([each for of_one in sums for each in of_one], cosine))
    plans: list[Plan] = []
    excuses: list[str | None] = []
    for one, of_one in zip(asked, sums, strict=True):
        if one.unknown:
            excuses.append("")
            continue
        signs = tuple(term.sign for term in one.terms) if len(of_one) > 1 else (1,)
        plan = Plan(tuple(next(probes) for _ in of_one) if of_one else (space.mean(),), signs)
        excuses.append(_pointless(space, plan, one) if cosine else None)
        if excuses[-1] is None:
            plans.append(plan)
    return plans, excuses


def _sums(asked: Resolved, method: str) -> list[Sum]:
    """Return the sums of rows that a query is made of: one, or with 3CosMul one a term; none for the centroid."""
    if asked.unknown or not asked.terms:
        return []
    if method == "mul":
        return [((1,), (row,)) for row in asked.rows]
    return [(tuple(term.sign for term in asked.terms), asked.rows)]


def _pointless(space: Space, plan: Plan, asked: Resolved) -> str | None:
    """Return why a plan has no direction, None if it has one."""
    many = len(asked.terms) > 1
    # what is left of unit rows that cancel out is rounding
    if all(space.length(probe) > (1e-12 if many else 0) for probe in plan.probes):
        return None
    why = "nothing is left of its rows" if many and not plan.multiplied else "its row is all zeros"
    return f"{asked.label!r} has no direction, so no neighbors: {why}"


def _lists(space: Space, best: Best, params: NeighborsParams) -> list[list[tuple[int, str, float, int | None]]]:
    """Return the rows, words, scores and counts of each plan's best rows."""
    found = best.rows >= 0
    rows = best.rows[found]
    scores = np.sqrt(np.maximum(-best.scores[found], 0)) if params.metric == "euclidean" else best.scores[found]
    values = scores.tolist()
    if params.metric != "cosine":
        # what a float32 vector can tell; cosines have 6 decimals already
        values = [float(f"{value:.7g}") for value in values]
    counts = [None] * len(rows) if space.counts is None else space.counts[rows].tolist()
    lines = list(zip(rows.tolist(), words_at(space.words, rows), values, counts, strict=True))
    ends = np.cumsum(found.sum(1)).tolist()
    return [lines[start:stop] for start, stop in zip([0, *ends], ends, strict=False)]


def _filled(
    asked: Resolved, at: int, lines: list[tuple[int, str, float, int | None]], params: NeighborsParams
) -> Answer:
    """Return the answer to a query from its best rows."""
    if params.min_score is not None:
        lines = [line for line in lines if line[2] >= params.min_score]

    def listed(included: bool) -> tuple[Neighbor, ...]:
        kept = [line for line in lines if included or line[0] not in asked.rows][: params.top]
        return tuple(
            Neighbor(rank, word, score, count, row in asked.rows)
            for rank, (row, word, score, count) in enumerate(kept, 1)
        )

    many = len(asked.terms) > 1
    rule = "3CosAdd, unit length first" if params.metric == "cosine" else "rows added as they stand"
    rule = "3CosMul" if params.method == "mul" else rule
    included = params.include_inputs
    return Answer(
        asked.query, at, asked.label, asked.terms, (), asked.notes, rule if many else "",
        included, listed(included), listed(not included) if many else (),
    )  # fmt: skip
