"""What word2vec's kernels are handed: the goal, how long a lane's share is, and room to work in.

All of it follows from the plan and the words of the text, never from threads or time.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from embcli.artifacts.schema import Tokens
from embcli.errors import NumbersError
from embcli.kernels.copies import Side
from embcli.kernels.draws import alias_cells, keep_limits
from embcli.kernels.means import PARTS
from embcli.kernels.predict import NEGATIVE, SOFTMAX, TREE, Goal, Room
from embcli.kernels.spans import Means
from embcli.kernels.tree import Tree, huffman
from embcli.kernels.vectors16 import WIDTH, aligned
from embcli.models.training_plan import Lists, Plan, Tables

#: blocks that an epoch has at least, if shares need not be shorter than a token for it
BLOCKS = 1000
#: rate times the steps that the busiest row takes in a block, at most: beyond, lanes that do not see each other push
#: it too far (hierarchical softmax, the root: 50 is worse, 130 worse still, 270 diverges)
PUSH = 25.0
#: tokens of a span, at most: longer ones compose fewer means, but words see late what others did to common n-grams
SPAN = 20_000
#: rate times the steps that the most shared rows of a word take in a span, at most
SHARED = 500.0
#: no weights: rows that are no means
NONE = np.zeros(0, np.float32)
KINDS = {"negative": NEGATIVE, "hierarchical": TREE, "softmax": SOFTMAX}


def share_of(plan: Plan, tokens: Tokens) -> int:
    """Return the tokens of a lane's share: the plan's ``block``, or fewer for a short text or for busy rows."""
    size = len(tokens.ids)
    calm = PUSH / (plan.lanes * plan.lr * max(busiest(plan, np.asarray(tokens.unigram), size), 1e-12))
    return max(1, min(plan.block, size // (BLOCKS * plan.lanes), int(min(calm, size))))


def busiest(plan: Plan, unigram: NDArray[np.int64], size: int) -> float:
    """Return how many steps the row that takes most of them takes for a token of the text, roughly."""
    kept = kept_of(plan, unigram, size)
    top, all_kept = float(kept.max()), float(kept.sum())
    contexts = contexts_of(plan)
    predictions = 1 if plan.arch == "cbow" else contexts
    if plan.loss == "hierarchical":  # the root; its inputs grow where one word that is not thinned out is everywhere
        share = unigram[unigram > 0] / max(int(unigram.sum()), 1)
        depth = -float(share @ np.log2(share))  # of the tree, which is longer by less than a node
        return predictions * all_kept * max(contexts * top * depth, 1.0)
    if plan.loss == "softmax":
        return max(predictions, contexts) * top
    noise = noise_of(plan, unigram)
    output = predictions * (top + all_kept * plan.negative * float(noise.max() / noise.sum()))
    return max(output, contexts * top * (1 + plan.negative))


def contexts_of(plan: Plan) -> int:
    """Return how many words a window has beside its centre, on average."""
    return 2 * plan.window if plan.fixed_window else plan.window + 1


def kept_of(plan: Plan, unigram: NDArray[np.int64], size: int) -> NDArray[np.float64]:
    """Return how often each word is kept, for a token of the text."""
    kept: NDArray[np.float64] = unigram / max(size, int(unigram.sum()), 1)
    return kept * (keep_limits(unigram, plan.sample)[:-1] / 2.0**32)


def span_of(plan: Plan, tokens: Tokens, lists: Lists, share: int) -> int:
    """Return the blocks of a span: ``SPAN`` tokens, or fewer where words push rows that they share."""
    unigram, size = np.asarray(tokens.unigram), len(tokens.ids)
    contexts = contexts_of(plan)
    steps = contexts * most_shared(kept_of(plan, unigram, size), lists) * (1 + plan.negative)
    return max(1, int(min(SPAN, SHARED / (plan.lr * max(steps, 1e-12)))) // (plan.lanes * share))


def most_shared(kept: NDArray[np.float64], lists: Lists) -> float:
    """Return the largest mean over a word's rows of the sum of ``kept`` over all words that have the row."""
    sizes = lists.sizes
    by_row = np.bincount(lists.rows, np.repeat(kept, sizes))
    return float((np.add.reduceat(by_row[lists.rows], lists.starts[:-1:PARTS]) / sizes).max())


def noise_of(plan: Plan, unigram: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the weights of the words as negatives; NumbersError if all are 0."""
    counts = np.maximum(unigram, 0).astype(np.float64)
    weights = np.where(counts > 0, np.power(np.maximum(counts, 1), plan.ns_power), 0.0)
    if not weights.sum():
        raise NumbersError("no word of the vocabulary stands in this text: nothing to predict")
    return weights


def goal_of(plan: Plan, unigram: NDArray[np.int64]) -> Goal:
    """Return what the kernels predict. Raises NumbersError as ``noise_of``."""
    kind, negative = KINDS[plan.loss], plan.negative if plan.loss == "negative" else 0
    tree = huffman(unigram) if kind == TREE else Tree(np.zeros(1, np.int64), np.zeros(0, np.int32), aligned(WIDTH))
    thaw, cells = np.float32(not plan.freeze_output), alias_cells(noise_of(plan, unigram))
    return Goal(kind, negative, plan.share, thaw, cells, tree.offsets, tree.path, tree.signs)


def outputs_of_share(goal: Goal, share: int) -> int:
    """Return how many different output rows a share can touch, at most."""
    if goal.loss == NEGATIVE:
        return share * (1 + goal.negative)
    return len(goal.cells) if goal.loss == SOFTMAX else share * int(np.diff(goal.path_offsets).max())


def side_of(table: NDArray[np.float32], plan: Plan, capacity: int, weights: Any = NONE) -> Side:
    """Return a table with room for the lanes' copies; without, if threads write to the table itself."""
    capacity = 0 if plan.hogwild else min(capacity, len(table))
    marks = np.zeros((len(table), plan.lanes) if capacity else (1, plan.lanes), np.int32)
    rows, used = np.zeros((plan.lanes, capacity), np.int32), np.zeros((plan.lanes, 8), np.int64)
    return Side(table, aligned(plan.lanes, capacity, table.shape[1]), marks, rows, used, weights)


def means_of(tables: Tables, plan: Plan, share: int, span: int) -> Means:
    """Return what the input table is composed of, with room for the words of a span."""
    lists = tables.lists
    V = len(lists.shares)
    capacity = min(V, span * plan.lanes * (share + 2 * plan.window))
    words, before = np.zeros(capacity, np.int64), aligned(capacity, tables.inputs.shape[1])
    state = (words, np.zeros(1, np.int64), np.zeros(V, np.bool_), before)
    return Means(tables.inputs, lists.starts, lists.rows, lists.shares, *state)


def room_of(goal: Goal, plan: Plan, share: int, width: int) -> Room:
    """Return the working memory of one thread."""
    outputs = outputs_of_share(goal, 1)
    inputs = 1 if plan.arch == "cbow" else 2 * plan.window
    signs = aligned(inputs * outputs + WIDTH if goal.loss == NEGATIVE else 0)
    signs[:] = np.where(np.arange(len(signs)) % outputs == 0, 1, -1)
    return Room(
        places=np.zeros((3, share + 2 * plan.window), np.int64),
        sources=np.zeros(2 * plan.window, np.uint64),
        targets=np.zeros(2 * plan.window, np.uint64),
        weights=np.zeros(2 * plan.window, np.float32),
        outputs=np.zeros(outputs, np.uint64),
        ahead=np.zeros(2 * goal.negative, np.int64),
        scores=aligned(inputs * outputs + WIDTH),
        signs=signs,
        vectors=aligned(inputs + 2, width),
    )
