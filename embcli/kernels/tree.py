"""The Huffman tree of hierarchical softmax (Morin and Bengio 2005; Mikolov et al. 2013): each word's path and signs.

Built with the two queues of word2vec's code: leaves by rising count, inner nodes as they are made, both sorted by
themselves; of equal counts the inner node goes first. Not for compressing anything.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from embcli.kernels._jit import kernel


class Tree(NamedTuple):
    """Paths from the root, word after word.

    offsets : int64 (V + 1,).  path : int32, inner nodes, 0 ... V - 2 as they were made (the root is V - 2).
    signs : float32, +1 where the path turns to the child taken first (code 0), -1 to the other; 16 to spare.
    """

    offsets: NDArray[np.int64]
    path: NDArray[np.int32]
    signs: NDArray[np.float32]


@kernel
def _grow(counts, parent, second):  # type: ignore[no-untyped-def]
    """Fill parent and code of each node: V leaves by rising count, then the inner nodes."""
    leaves = len(parent) // 2 + 1
    made = np.zeros(leaves - 1, np.float64)
    leaf = inner = 0
    for node in range(leaves - 1):
        for side in range(2):
            if leaf < leaves and (inner >= node or counts[leaf] < made[inner]):
                child, weight = leaf, np.float64(counts[leaf])
                leaf += 1
            else:
                child, weight = leaves + inner, made[inner]
                inner += 1
            made[node] += weight
            parent[child] = node
            second[child] = side == 1


@kernel
def _depths(parent, depth):  # type: ignore[no-untyped-def]
    leaves = len(parent) // 2 + 1
    for node in range(len(parent) - 2, -1, -1):
        depth[node] = depth[leaves + parent[node]] + 1


@kernel
def _walk(parent, second, order, offsets, path, signs):  # type: ignore[no-untyped-def]
    leaves = len(parent) // 2 + 1
    for i in range(leaves):
        at, node = offsets[order[i] + 1], i
        while node < len(parent) - 1:
            at -= 1
            path[at] = parent[node]
            signs[at] = -1.0 if second[node] else 1.0
            node = leaves + parent[node]


def huffman(unigram: NDArray[np.int64]) -> Tree:
    """Return the tree of V >= 1 words; a word that is nowhere counts as once, so that no path gets long for nothing.

    Words of equal count become leaves from the last one on, as in word2vec's code.
    """
    counts = np.maximum(np.asarray(unigram, np.int64), 1)
    order = np.argsort(-counts, kind="stable")[::-1].copy()
    nodes = 2 * len(counts) - 1
    parent, second, depth = np.zeros(nodes, np.int64), np.zeros(nodes, np.bool_), np.zeros(nodes, np.int64)
    _grow(counts[order].astype(np.float64), parent, second)
    _depths(parent, depth)
    offsets = np.zeros(len(counts) + 1, np.int64)
    offsets[order + 1] = depth[: len(counts)]
    np.cumsum(offsets, out=offsets)
    path, signs = np.zeros(int(offsets[-1]), np.int32), np.zeros(int(offsets[-1]) + 16, np.float32)
    _walk(parent, second, order, offsets, path, signs)
    return Tree(offsets, path, signs)
