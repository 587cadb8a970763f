"""The pass over the rows: every block is scored for every query, and the best rows are kept.

Blocks are spread over the job's threads; what is found does not depend on how many there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embcli.job import Job
from embcli.query.space import Space
from embcli.query.topk import Best, Floats, Ints, Scored, candidates

#: added to the denominator of 3CosMul (Levy and Goldberg 2014, section 6)
EPSILON = 0.001


@dataclass(frozen=True)
class Plan:
    """One search: a probe, or for 3CosMul one probe a term and the terms' signs."""

    probes: tuple[Any, ...]
    signs: tuple[int, ...] = (1,)

    @property
    def multiplied(self) -> bool:
        """Whether cosines of several probes are multiplied."""
        return len(self.probes) > 1


def scan(plans: Sequence[Plan], space: Space, metric: str, limit: int, k: int, job: Job) -> Best:
    """Return the best ``k`` of the first ``limit`` rows for each plan.

    Scores: cosine or 3CosMul, rounded to 6 decimals; dot product; minus the squared distance.
    """
    best = Best(len(plans), k)
    for multiplied in (False, True):
        chosen = [i for i, plan in enumerate(plans) if plan.multiplied == multiplied]
        if chosen:
            part = _pass([plans[i] for i in chosen], space, metric, limit, k, job)
            best.scores[chosen], best.rows[chosen] = part.scores, part.rows
    return best


def _pass(plans: Sequence[Plan], space: Space, metric: str, limit: int, k: int, job: Job) -> Best:
    """Make one pass over the rows for plans that are all multiplied or all not."""
    best = Best(len(plans), k)
    batches = [(at, plans[at : at + space.batch]) for at in range(0, len(plans), space.batch)]
    stacks = [space.stack([probe for plan in batch for probe in plan.probes]) for _, batch in batches]

    def work(span: tuple[int, int]) -> tuple[Ints, Ints, Floats]:
        block = space.block(*span)
        parts = []
        for (at, batch), stack in zip(batches, stacks, strict=True):
            multiplied = batch[0].multiplied
            scored = block.score(stack, metric, fine=multiplied)
            if multiplied:
                scored = _product(scored, batch)
            # other threads may raise the floor meanwhile: then this keeps some rows that will not stay
            floor = best.floor()[at : at + len(batch)]
            queries, rows, scores = candidates(_rounded(scored) if metric == "cosine" else scored, floor, k)
            parts.append((queries + at, rows + span[0], scores))
        space.done(*span)
        queries, rows, scores = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        return queries, rows, scores

    spans = list(space.spans(limit))
    for (_, stop), found in zip(spans, job.map(work, spans), strict=True):
        best.add(*found)
        job.progress(stop, limit, "rows")
    return best


def _rounded(scored: Scored) -> Scored:
    """Return cosines or their products to 6 decimals, as they are reported, so that a tie is a tie."""

    def exact(queries: Ints, rows: Ints) -> Floats:
        # + 0.0 makes a negative zero positive
        return np.round(scored.exact(queries, rows), 6) + 0.0

    return Scored(scored.near, scored.slack + 1e-6, exact)


def _product(cosines: Scored, plans: Sequence[Plan]) -> Scored:
    """Return 3CosMul out of the cosines of each plan's probes.

    The product of the added terms' cosines, over that of the subtracted ones plus 0.001, cosines shifted to [0, 1]:
    Levy and Goldberg 2014, equation 4.
    """
    firsts = np.cumsum([0, *(len(plan.probes) for plan in plans)]).tolist()
    near = np.stack([
        _ratio(cosines.near[start:stop], plan.signs)
        for plan, start, stop in zip(plans, firsts[:-1], firsts[1:], strict=True)
    ])  # fmt: skip
    near[:, np.isneginf(cosines.near[0])] = -np.inf

    def exact(queries: Ints, rows: Ints) -> Floats:
        scores = np.empty(len(rows))
        for i in sorted(set(queries.tolist())):
            here = np.flatnonzero(queries == i)
            terms = [cosines.exact(np.full(len(here), j), rows[here]) for j in range(firsts[i], firsts[i + 1])]
            scores[here] = _ratio(np.stack(terms), plans[i].signs)
        return scores

    return Scored(near, 1e-6 + 1e-8 * np.maximum(near.max(1, keepdims=True), 0), exact)


def _ratio(terms: NDArray[np.floating], signs: tuple[int, ...]) -> Floats:
    """Return products over products: terms (terms, rows) are cosines."""
    shifted = (np.clip(terms, -1, 1) + 1) / 2
    plus, minus = [i for i, s in enumerate(signs) if s > 0], [i for i, s in enumerate(signs) if s < 0]
    above: Floats = np.prod(shifted[plus], axis=0)
    return above / (np.prod(shifted[minus], axis=0) + EPSILON) if minus else above
