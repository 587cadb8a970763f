"""Score artifacts on word pairs and analogies: files to figures. See similarity.py and analogies.py for the arithmetic.

Nothing is printed here; report/evaluation.py makes tables of the figures.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from embcli.artifacts.schema import Artifact, Counts
from embcli.errors import InputError, KindError, UsageError
from embcli.job import Job
from embcli.query.analogies import solve
from embcli.query.evalfiles import Pairs, Questions, read_pairs, read_questions
from embcli.query.lexicon import Lexicon
from embcli.query.misses import Miss, missed
from embcli.query.resolve import lowered
from embcli.query.similarity import SimilarityResult, correlate
from embcli.query.space import Space, open_space
from embcli.query.tables import as_vectors
from embcli.query.topk import Best
from embcli.spec import EvalParams, NeighborsParams

#: what sections of the Google questions about word forms are called like
_SYNTACTIC = "gram"


@dataclass(frozen=True)
class AnalogyResult:
    """How many analogies of one file, or of a part of it, one artifact solves by one method.

    ``part`` is ``all``, ``semantic`` and ``syntactic`` (where some sections begin with 'gram' and others do not), or
    ``section``, whose name is ``section``. ``scored`` of ``total`` questions have all four words, ``correct`` of them
    are solved.
    """

    artifact: int
    file: str
    part: str
    section: str
    method: str
    total: int
    scored: int
    correct: int

    @property
    def accuracy(self) -> float | None:
        """The share of scored questions that are solved, None if none is scored."""
        return self.correct / self.scored if self.scored else None

    @property
    def accuracy_all(self) -> float | None:
        """The share of all questions that are solved, skipped ones counting as wrong; None if none is scored."""
        return self.correct / self.total if self.scored else None


@dataclass(frozen=True)
class Evaluation:
    """What ``evaluate`` found: figures, artifact by artifact.

    ``words`` : how many words each artifact was searched for.  ``zeros`` : how many words of the files have a row of
    zeros there.
    """

    names: tuple[str, ...]
    words: list[int] = field(default_factory=list)
    zeros: list[int] = field(default_factory=list)
    similarity: list[SimilarityResult] = field(default_factory=list)
    analogies: list[AnalogyResult] = field(default_factory=list)
    misses: list[Miss] = field(default_factory=list)


def evaluate(
    artifacts: Sequence[Artifact], params: EvalParams, job: Job, names: Sequence[str] = (),
    files: Sequence[Pairs | Questions] | None = None,
) -> Evaluation:  # fmt: skip
    """Score one or several artifacts on the files of ``params``.

    Parameters
    ----------
    artifacts
        Opened ``Vectors``, ``Counts`` or ``Model``; rows of counts are weighted as ``params.weight`` says.
    params
        ``restrict`` leaves only so many of the most frequent words, for questions and for answers; see Lexicon for
        ``case``.
    job
        Its threads share the rows; figures do not depend on how many there are.
    names
        What to call the artifacts; their paths, if they are not given.
    files
        What the files of ``params`` hold, for those who have read them already.

    Raises
    ------
    UsageError
        If options do not fit together.
    InputError
        If a file cannot be read, or no artifact knows the words of a single pair or question.
    KindError
        If an artifact has no rows to search, or no output table and one is asked for.

    Notes
    -----
    A pair or a question with an unknown word is skipped and counted. A word whose row is all zeros has no direction
    and counts as unknown. In pairs, a word that is not in the vocabulary of a model with character n-grams is composed
    of their rows and known; in questions it is not, since their answers are words of the vocabulary.
    """
    params.check()
    if params.weight is not None and not any(isinstance(artifact, Counts) for artifact in artifacts):
        raise UsageError(f"--weight {params.weight}: weighs counts, and there are none; leave it out")
    artifacts = [as_vectors(artifact) for artifact in artifacts]
    called = [names[i] if i < len(names) else a.path or f"artifact {i + 1}" for i, a in enumerate(artifacts)]
    if files is None:
        files = [*map(read_pairs, params.similarity), *map(read_questions, params.analogies)]
    pairs, questions = [f for f in files if isinstance(f, Pairs)], [f for f in files if isinstance(f, Questions)]
    found = Evaluation(tuple(called))
    for at, (artifact, name) in enumerate(zip(artifacts, called, strict=True)):
        if isinstance(artifact, Counts) and artifact.rows is not None:
            raise KindError(
                f"{name}: its rows are documents, not words; run 'embcli svd {name} -o vectors.npz' and evaluate that"
            )
        space = open_space(artifact, NeighborsParams(table=params.table, weight=params.weight), name, job)
        if params.rare is not None and (space.counts is None or not np.any(space.counts)):
            raise KindError(f"--rare: {name} does not say how often its words are in a text; leave --rare out")
        _score(space, at, pairs, questions, params, job, found, lowered(artifact))
    scored = sum(s.scored for s in found.similarity) + sum(a.scored for a in found.analogies)
    if (pairs or questions) and not scored:
        raise InputError(_nothing([*pairs, *questions], found, params))
    return found


def _score(
    space: Space, at: int, pairs: Sequence[Pairs], questions: Sequence[Questions], params: EvalParams, job: Job,
    found: Evaluation, lower: bool,
) -> None:  # fmt: skip
    """Add the figures of one artifact."""
    wanted = {word for file in pairs for words in (file.lefts, file.rights) for word in words}
    wanted |= {word for file in questions for quad in file.quads for word in quad}
    lexicon = Lexicon(space.words, space.counts, wanted, params.case == "fold", params.restrict)
    rows = sorted({row for word in wanted if (row := lexicon.row(word)) >= 0})
    probes = dict(zip(rows, space.probes([((1,), (row,)) for row in rows], True), strict=True))
    empty = [row for row in rows if not space.length(probes[row])]
    for row in empty:
        lexicon.forget(row)
    found.zeros.append(len(empty))
    found.words.append(lexicon.size)
    unseen = _unseen(space, lexicon, pairs, lower)
    made = sorted(set(unseen.values()))
    probes |= dict(zip(made, space.probes([((1,), (row,)) for row in made], True), strict=True))
    for each in pairs:
        found.similarity.append(correlate(space, lexicon, probes, each, at, unseen))
        if params.rare is not None:
            found.similarity.append(correlate(space, lexicon, probes, each, at, unseen, params.rare))
    methods = ("add", "mul") if params.method == "both" else (params.method,)
    for file in questions:
        known = [i for i, quad in enumerate(file.quads) if all(lexicon.row(word) >= 0 for word in quad)]
        quads = [file.quads[i] for i in known]
        best = solve(space, lexicon, probes, quads, methods, job)
        for method in methods:
            right = _right(lexicon, quads, best[method])
            found.analogies.extend(_totals(file, known, right, at, method))
            wrong = [i for i, solved in enumerate(right) if not solved][: params.misses]
            sections = [file.names[file.sections[known[i]]] for i in wrong]
            found.misses.extend(
                missed(
                    space, lexicon, probes, [quads[i] for i in wrong], best[method].rows[wrong, 0], method,
                    at, file.name, sections,
                )
            )  # fmt: skip


def _unseen(space: Space, lexicon: Lexicon, pairs: Sequence[Pairs], lower: bool) -> dict[str, int]:
    """Return the rows of the pairs' words that are in no vocabulary and could be composed."""
    words = {word for file in pairs for words in (file.lefts, file.rights) for word in words if lexicon.row(word) < 0}
    if space.compose is None or not words:
        return {}
    there = Lexicon(space.words, None, words, lexicon.fold, None)  # but for --restrict
    composed = {word: space.compose(word.lower() if lower else word)[0] for word in words if there.row(word) < 0}
    return {word: row for word, row in composed.items() if row >= 0}


def _right(lexicon: Lexicon, quads: Sequence[Sequence[str]], best: Best) -> list[bool]:
    """Return which questions are solved: any word with the (folded) form of the answer will do."""
    return [row in lexicon.rows(quad[3]) for row, quad in zip(best.rows[:, 0].tolist(), quads, strict=True)]


def _totals(file: Questions, known: Sequence[int], right: Sequence[bool], at: int, method: str) -> list[AnalogyResult]:
    """Return the figures of a file and its parts."""
    total = Counter(file.sections)
    scored = Counter(file.sections[i] for i in known)
    correct = Counter(file.sections[i] for i, solved in zip(known, right, strict=True) if solved)

    def part(name: str, section: str, sections: Sequence[int]) -> AnalogyResult:
        sums = (sum(counter[s] for s in sections) for counter in (total, scored, correct))
        return AnalogyResult(at, file.name, name, section, method, *sums)

    every = [i for i in range(len(file.names)) if total[i]]
    syntactic = [i for i in every if file.names[i].startswith(_SYNTACTIC)]
    results = [part("all", "", every)]
    if syntactic and len(syntactic) < len(every):
        results += [
            part("semantic", "", [i for i in every if i not in syntactic]), part("syntactic", "", syntactic),
        ]  # fmt: skip
    return results + [part("section", file.names[i], [i]) for i in every if file.names[i]]


def _nothing(files: Sequence[Any], found: Evaluation, params: EvalParams) -> str:
    """Return why not a single pair or question could be scored."""
    entries = sum(len(file.scores if isinstance(file, Pairs) else file.quads) for file in files)
    what = ", ".join(file.name for file in files)
    sizes = ", ".join(f"{name} ({size:,} words)" for name, size in zip(found.names, found.words, strict=True))
    text = f"{what}: coverage 0 of {entries:,}: not one pair or question has all its words in {sizes}"
    if any(found.zeros):
        return f"{text}, or their rows are all zeros"
    if params.case == "exact":
        return f"{text}; --case exact takes capitals as they are: try --case fold"
    if params.restrict:
        return f"{text}; a larger --restrict may help"
    return f"{text}; is it the same language, and were words split and lower-cased as in the files?"
