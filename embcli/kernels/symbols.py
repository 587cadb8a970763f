"""What merging works on: types as rows of symbols, and what symbols spell.

Not for choosing what to merge (pairqueue.py) nor for merging (merging.py), which share ``state`` with this file.

Types (distinct pieces of text) lie side by side as nodes, one a base symbol, with a wall before and behind each. A
symbol of several nodes has its id at the first one; the second and the last one hold how many there are, so neighbors
are found in both directions without links. Types of one weight should lie together: the weight of a node is looked up
among the nodes at which it changes.
"""

from typing import NamedTuple

import numpy as np

from embcli.kernels._jit import kernel

#: what stands at a node between types; inside a symbol of n nodes stands -n
WALL = -1
#: what stands in ``state``: merges so far, pairs, places in use, entries of the queue, tokens, bytes of tokens, and
#: what the next merge wants room for: nodes, bytes
MERGES, PAIRS, PLACES, QUEUED, TOKENS, BYTES, NODES, LENGTH = range(8)

_ODD = np.uint64(0x9E3779B97F4A7C15)
_HALF = np.uint64(32)


class Forest(NamedTuple):
    """All types as nodes.

    sym : int32 (nodes,), see above.  begin : int64 (runs + 1,), the first node of each run of types of one weight, and
    the number of nodes.  weight : int64 (runs,), how often each of these types occurs.
    """

    sym: np.ndarray
    begin: np.ndarray
    weight: np.ndarray


class Tokens(NamedTuple):
    """What symbols spell.

    data : uint8.  begin : int64 (capacity + 1,).  slots : int32, a power of two of them, id + 1 or 0; by bytes.
    """

    data: np.ndarray
    begin: np.ndarray
    slots: np.ndarray


@kernel
def plant(symbols, begins, order, sym):
    """Write types, in an order, as nodes: type t is ``symbols[begins[t]:begins[t + 1]]``.  sym : WALL everywhere."""
    node = 1
    for t in order:
        for k in range(begins[t], begins[t + 1]):
            sym[node] = symbols[k]
            node += 1
        node += 1


@kernel
def after(sym, node):
    """Return the node behind a symbol or wall."""
    inside = sym[node + 1]
    return node + 1 if inside >= WALL else node - inside


@kernel
def lives(sym, key, node):
    """Return whether a pair still stands at a node."""
    return sym[node] == key >> 32 and sym[after(sym, node)] == key & 0xFFFFFFFF


@kernel
def run_of(begin, node, run):
    """Return the run that a node is in; ``run`` is a guess."""
    if begin[run] <= node < begin[run + 1]:
        return run
    low, high = 0, len(begin) - 1
    while high - low > 1:
        middle = (low + high) >> 1
        if begin[middle] <= node:
            low = middle
        else:
            high = middle
    return low


@kernel
def length(tokens, symbol):
    """Return how many bytes a symbol spells."""
    return tokens.begin[symbol + 1] - tokens.begin[symbol]


@kernel
def _hash(data, start, stop):
    """Return a number that depends on all bytes."""
    h = np.uint64(stop - start)
    for i in range(start, stop):
        h = (h ^ np.uint64(data[i])) * _ODD
        h ^= h >> _HALF
    return h


@kernel
def place_token(tokens, start, stop, at):
    """Return the id of the bytes ``data[start:stop]``; if no token has them, they become token ``at``."""
    data, last = tokens.data, len(tokens.slots) - 1
    i = np.int64(_hash(data, start, stop) & np.uint64(last))
    while tokens.slots[i] != 0:
        other = tokens.slots[i] - 1
        begin = tokens.begin[other]
        if tokens.begin[other + 1] - begin == stop - start:
            k = 0
            while k < stop - start and data[begin + k] == data[start + k]:
                k += 1
            if k == stop - start:
                return np.int64(other)
        i = (i + 1) & last
    tokens.slots[i] = at + 1
    return np.int64(at)


@kernel
def index_tokens(tokens, n):
    """Fill the slots, all 0, with the first ``n`` tokens; one of no bytes is never found."""
    for at in range(n):
        if length(tokens, at) > 0:
            place_token(tokens, tokens.begin[at], tokens.begin[at + 1], at)


@kernel
def spell(tokens, a, b, state):
    """Return the id of the token that two symbols spell together, and whether it is new; it is written down then."""
    n = state[BYTES]
    for part in (a, b):
        for i in range(tokens.begin[part], tokens.begin[part + 1]):
            tokens.data[n] = tokens.data[i]
            n += 1
    at = state[TOKENS]
    found = place_token(tokens, state[BYTES], n, at)
    if found == at:
        tokens.begin[at + 1] = n
        state[BYTES], state[TOKENS] = n, at + 1
    return found, found == at
