"""How many steps rows of the two tables take in a text, as expected of the words' counts. For merging shares alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from embcli.models.trainer import Trainer
from embcli.models.workspace import contexts_of, noise_of

Floats = NDArray[np.float64]


def paces(trainer: Trainer) -> tuple[Floats, Floats]:
    """Return the steps that each row of the inputs and of the outputs takes in a token of the text, on average.

    A step is what one predicted word, or one node of its path, gives a row; that on a mean of n rows is 1 / n of one.
    """
    plan, goal, unigram = trainer.plan, trainer.goal, np.asarray(trainer.tokens.unigram).astype(np.float64)
    share = unigram / unigram.sum()
    with np.errstate(divide="ignore", invalid="ignore"):
        kept = np.minimum(np.sqrt(plan.sample / share) + plan.sample / share, 1) if plan.sample else 1.0
    size = len(trainer.tables.outputs)
    words: Floats = np.where(unigram > 0, share * kept, 0)  # of each word, in a token of the text
    reach = contexts_of(plan)
    if plan.loss == "hierarchical":
        depth = np.diff(goal.path_offsets)
        outputs: Floats = np.bincount(goal.path, np.repeat(words, depth), size).astype(np.float64, copy=False)
        terms = float(words @ depth / words.sum())
    elif plan.loss == "softmax":
        outputs, terms = np.full(size, words.sum()), 1.0
    else:
        noise = noise_of(plan, trainer.tokens.unigram).astype(np.float64)
        outputs, terms = words + noise / noise.sum() * plan.negative * words.sum(), 1.0 + plan.negative
    if plan.arch != "cbow":
        outputs = outputs * reach
    inputs: Floats = words * terms * (1 if plan.arch == "cbow" and not plan.cbow_sum else reach)
    lists = trainer.tables.lists
    if lists:
        each, rows = np.repeat(inputs / lists.sizes, lists.sizes), len(trainer.tables.inputs)
        inputs = np.bincount(lists.rows, each, rows).astype(np.float64, copy=False)
    return inputs, outputs
