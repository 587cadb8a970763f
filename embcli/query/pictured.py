"""What maps show of artifacts: words with their points, and analogies.

Only numbers and words; report/plots.py draws them, projection.py lays points out. Losses and spectra: see curves.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from embcli.artifacts.schema import Artifact, Context
from embcli.errors import UsageError
from embcli.job import Job
from embcli.query.contexts import occurrences
from embcli.query.dense import DenseRows
from embcli.query.lookup import words_at
from embcli.query.neighbors import Answer, search
from embcli.query.projection import unit
from embcli.query.resolve import Resolved, in_pieces, lowered, resolve
from embcli.query.space import open_space
from embcli.query.tables import as_vectors
from embcli.query.topk import Floats, Ints
from embcli.spec import NeighborsParams, PlotParams

#: words of a map of which no number is asked
FREQUENT, ON_A_PAGE = 200, 50_000


@dataclass(frozen=True)
class Chosen:
    """The words of a map of one artifact.

    words : what they are called; of an expression itself.  points : float64 (n, d), at unit length.
    rows : int64 (n,), -1 for an expression or an unseen word.  counts : int64 (n,), 0 for those.
    asked : bool (n,), whether the word was given, and not found by frequency or as a neighbor.
    missing : the queries with unknown words, as answers without results.
    total : how many words the artifact has.  noun : what they are, words or tokens of texts.
    """

    words: list[str]
    points: Floats
    rows: Ints
    counts: Ints
    asked: np.ndarray
    missing: tuple[Answer, ...]
    total: int
    noun: str = "words"


def choose(artifact: Artifact, at: int, queries: Sequence[str], params: PlotParams, name: str, job: Job) -> Chosen:
    """Return the words of a map: those asked for, their neighbors (``around``), and the most frequent.

    ``at`` is the artifact's place among several. Words by frequency: by their counts, ties by row. Of contextual states
    a word means all places where it stands. Raises InputError if no query is known, or nothing is left to show.
    """
    if isinstance(artifact, Context):
        queries = placed(artifact, queries)
    table = as_vectors(artifact)
    space = rows_of(table, params, name, job)
    known, missing = looked_up(space, table, at, queries)
    single = counted_rows(space, known)
    rows = list(dict.fromkeys(row for row, _ in single))
    plain = {id(one) for _, one in single}
    sums = list({one.label: one for one in known if id(one) not in plain}.values())
    asked = len(rows)
    if params.around and known:
        rows += _around(table, at, [one.label for one in known], params, name, job, set(rows))
    wanted = params.frequent or (0 if queries else ON_A_PAGE if params.page else FREQUENT)
    rows = list(dict.fromkeys([*rows, *frequent(space.counts, wanted).tolist()]))
    taken = np.array(rows, np.int64)
    points = unit(space.take(taken)) if rows else np.zeros((0, space.shape[1]))
    if sums:
        points = np.concatenate([points, unit(np.stack(space.probes([_sum(one) for one in sums], True)))])
    return Chosen(
        [*words_at(space.words, taken), *(one.label for one in sums)], points,
        np.concatenate([taken, np.full(len(sums), -1)]),
        np.concatenate([np.asarray(space.counts)[taken], np.zeros(len(sums), np.int64)]),
        np.concatenate([np.arange(len(rows)) < asked, np.ones(len(sums), np.bool_)]),
        missing, space.shape[0], "tokens" if isinstance(artifact, Context) else "words",
    )  # fmt: skip


def placed(context: Context, queries: Sequence[str]) -> list[str]:
    """Return queries with each word that stands in the texts replaced by its places, word@text:position."""
    names = list(context.words)
    labels = [name.rpartition("@")[0] for name in names]
    found: list[str] = []
    for query in queries:
        places = [] if query in names else occurrences(context, labels, query)
        found += [names[place] for place in places] or [query]
    return found


def rows_of(artifact: Artifact, params: PlotParams, name: str, job: Job) -> DenseRows:
    """Return the rows of an artifact. Raises KindError if it has not the table that is asked for."""
    space = open_space(artifact, NeighborsParams(table=params.table), name, job)
    assert isinstance(space, DenseRows)
    return space


def looked_up(
    space: DenseRows, artifact: Artifact, at: int, queries: Sequence[str]
) -> tuple[list[Resolved], tuple[Answer, ...]]:
    """Return the queries whose words are all known or composed, and the others as answers without results."""
    found = resolve(space.names, queries, lowered(artifact), in_pieces(artifact), None, space.compose)
    missing = tuple(Answer(one.query, at, one.label, one.terms, one.unknown) for one in found if one.unknown)
    return [one for one in found if not one.unknown], missing


def counted_rows(space: DenseRows, known: Sequence[Resolved]) -> list[tuple[int, Resolved]]:
    """Return the queries that are a row of the table each, no expression and no unseen word, with that row."""
    return [(one.rows[0], one) for one in known if len(one.rows) == 1 and one.rows[0] < space.shape[0]]


def _sum(one: Resolved) -> tuple[tuple[int, ...], tuple[int, ...]]:
    return tuple(term.sign for term in one.terms), one.rows


def _around(
    artifact: Artifact, at: int, labels: Sequence[str], params: PlotParams, name: str, job: Job, rows: set[int]
) -> list[int]:
    """Return the rows of the nearest neighbors of some queries that are not among ``rows`` yet."""
    how = NeighborsParams(top=params.around, table=params.table)
    answers = search([artifact], labels, how, job, [name])
    words = dict.fromkeys(line.word for answer in answers for line in answer.results)
    space = rows_of(artifact, params, name, job)
    found = resolve(space.words, list(words), False)
    return [row for row in dict.fromkeys(one.rows[0] for one in found if len(one.rows) == 1) if row not in rows]


def frequent(counts: Ints, n: int) -> Ints:
    """Return the rows of the n highest counts, the highest first, ties by row."""
    rows: Ints = np.argsort(-np.asarray(counts), kind="stable")[:n]
    return rows


@dataclass(frozen=True)
class Parallel:
    """An analogy a - b + c = d as two arrows, from ``b`` to ``a`` and from ``c`` to ``d``.

    ``points`` are the unit rows of a, b, c and d, and the sum a - b + c as it stands, float64 (5, d). ``score`` is the
    cosine of d with the sum.
    """

    a: str
    b: str
    c: str
    d: str
    score: float
    points: Floats


def parallels(
    artifact: Artifact, queries: Sequence[str], params: PlotParams, name: str, job: Job
) -> tuple[list[Parallel], tuple[Answer, ...], list[tuple[str, str]]]:
    """Return each analogy with its answer, the queries with unknown words, and those without an answer, with why.

    Raises UsageError for a query that is no analogy of three words.
    """
    table = as_vectors(artifact)
    space = rows_of(table, params, name, job)
    answers = search([table], queries, NeighborsParams(top=1, table=params.table), job, [name])
    made, without = list[Parallel](), list[tuple[str, str]]()
    for answer in answers:
        plus = [term.word for term in answer.terms if term.sign > 0]
        minus = [term.word for term in answer.terms if term.sign < 0]
        if (len(plus), len(minus)) != (2, 1):
            raise UsageError(f"{answer.query!r}: arrows are drawn of a - b + c, such as 'king - man + woman'")
        if answer.unknown:
            continue
        if not answer.results:
            known = resolve(space.names, plus + minus, False, False, None, space.compose)
            others = space.shape[0] > len({one.rows[0] for one in known})
            why = "its sum, or every other row, is zero" if others else "no word is left besides its own"
            without.append((answer.query, why))
            continue
        best = answer.results[0]
        words = [*plus[:1], *minus, plus[1], best.word]
        known = resolve(space.names, words, False, False, None, space.compose)
        a, b, c, d = space.probes([((1,), (one.rows[0],)) for one in known], True)
        made.append(Parallel(words[0], words[1], words[2], words[3], best.score, np.stack([a, b, c, d, a - b + c])))
    return made, tuple(answer for answer in answers if answer.unknown), without
