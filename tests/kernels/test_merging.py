"""Oracle: the readable twin bpe_plain.py, which counts every pair anew before each merge; recounting along the way."""

from __future__ import annotations

import random
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

from embcli.artifacts.schema import Words
from embcli.errors import InputError
from embcli.text import bpe_plain, learning
from embcli.text.learning import Learned, Rules, learn

Types = list[list[int]]


def fast(types: Types, weights: list[int], base: list[bytes], rules: Rules) -> Learned:
    """Learn from types in the kernel."""
    symbols = np.array([symbol for one in types for symbol in one], np.int32)
    begins = np.cumsum([0, *map(len, types)])
    return learn(symbols, begins, np.array(weights, np.int64), Words.of(base), rules)


def drawn(rnd: random.Random, words: bool) -> tuple[Types, list[int], list[bytes]]:
    """Return types, their weights and base tokens; with ``words``, some tokens are spelled by others together."""
    letters = rnd.choice([2, 3, 4])
    base = [bytes([97 + i]) for i in range(letters)]
    if words:
        more = {bytes(rnd.choices(b"abcd"[:letters], k=rnd.randint(2, 4))) for _ in range(rnd.randint(1, 5))}
        base += sorted(more)
    count, longest = rnd.randint(5, 40), rnd.choice([8, 20, 40])
    types = [[rnd.randrange(len(base)) for _ in range(rnd.randint(1, longest))] for _ in range(count)]
    return types, [rnd.randint(1, rnd.choice([1, 3, 9])) for _ in range(count)], base


def rules_for(rnd: random.Random, base: int) -> Rules:
    return Rules(
        base + rnd.randint(50, 200), rnd.choice([1, 2, 2, 3]), rnd.choice([None, None, 3, 5]), rnd.random() < 0.5
    )


def plain(
    types: Types, weights: list[int], base: list[bytes], rules: Rules
) -> tuple[list[bpe_plain.Merge], list[bytes]]:
    """Learn from types in the twin; return merges and all tokens."""
    tokens = list(base)
    steps = bpe_plain.train(types, weights, tokens, rules.size, rules.least, rules.longest, rules.first_seen)
    return list(steps), tokens


def equal(found: Learned, steps: list[bpe_plain.Merge], tokens: list[bytes]) -> bool:
    return (
        found.merges.tolist() == [list(step.pair) for step in steps]
        and found.counts.tolist() == [step.count for step in steps]
        and [found.tokens.bytes_at(i) for i in range(len(found.tokens))] == tokens
    )


@pytest.mark.parametrize("words", [False, True])
def test_equal_to_the_twin(words: bool) -> None:
    """Several hundred small corpora, with all rules; where tokens are spelled by others, merges share ids."""
    shared = 0
    for seed in range(150):
        rnd = random.Random(seed)
        types, weights, base = drawn(rnd, words)
        rules = rules_for(rnd, len(base))
        steps, tokens = plain(types, weights, base, rules)
        assert equal(fast(types, weights, base, rules), steps, tokens), (seed, words)
        shared += len(steps) > len(tokens) - len(base)
    assert shared > 30 if words else shared == 0


def test_the_comparison_can_fail() -> None:
    """One more occurrence of one type gives other counts, and another rule other merges."""
    rnd = random.Random(1)
    types, weights, base = drawn(rnd, False)
    rules = Rules(len(base) + 60)
    steps, tokens = plain(types, weights, base, rules)
    longest = max(range(len(types)), key=lambda i: len(types[i]))
    more = [n + (i == longest) for i, n in enumerate(weights)]
    assert equal(fast(types, weights, base, rules), steps, tokens)
    assert not equal(fast(types, more, base, rules), steps, tokens)
    assert not equal(fast(types, weights, base, Rules(rules.size, first_seen=True)), steps, tokens)


def replayed(types: Types, weights: list[int], base: list[bytes], found: Learned) -> bool:
    """Return whether each merge is of a most frequent pair when its turn comes, counted from scratch."""
    tokens = [found.tokens.bytes_at(i) for i in range(len(found.tokens))]
    for pair, count in zip(found.merges.tolist(), found.counts.tolist(), strict=True):
        counts: Counter[tuple[int, int]] = Counter()
        for one, n in zip(types, weights, strict=True):
            for both in pairwise(one):
                counts[both] += n
        if (pair[0], pair[1]) != min(p for p in counts if counts[p] == max(counts.values())):
            return False
        if counts[pair[0], pair[1]] != count:
            return False
        new = tokens.index(tokens[pair[0]] + tokens[pair[1]])
        types = [bpe_plain.merge(one, (pair[0], pair[1]), new) for one in types]
    return True


def test_replay() -> None:
    """Counting from scratch before each merge finds the same pair and count; swapped merges do not pass."""
    caught = 0
    for seed in range(100):
        types, weights, base = drawn(random.Random(1000 + seed), seed % 2 == 1)
        found = fast(types, weights, base, Rules(len(base) + 40))
        assert replayed(types, weights, base, found)
        order = np.r_[1, 0, 2 : len(found.merges)] if len(found.merges) > 1 else np.r_[0]
        wrong = Learned(found.tokens, found.merges[order], found.counts[order])
        caught += not replayed(types, weights, base, wrong)
    assert caught > 90


@pytest.mark.parametrize("first_seen", [False, True])
def test_arrays_may_grow_at_any_merge(monkeypatch: pytest.MonkeyPatch, first_seen: bool) -> None:
    """Pausing after every merge, and starting from room for nothing, changes nothing."""
    rnd = random.Random(5)
    types = [[rnd.randrange(40) for _ in range(rnd.randint(1, 30))] for _ in range(400)]
    weights, base = [rnd.randint(1, 50) for _ in types], [bytes([50 + i]) for i in range(40)]
    rules = Rules(600, 1, None, first_seen)
    before = fast(types, weights, base, rules)
    monkeypatch.setattr(learning, "_PATIENCE", 1)
    monkeypatch.setattr(learning, "_FEW", 2)
    after = fast(types, weights, base, rules)
    assert before.merges.tolist() == after.merges.tolist() and before.counts.tolist() == after.counts.tolist()
    assert equal(after, *plain(types, weights, base, rules))


def test_the_order_of_types_matters_for_first_seen_only() -> None:
    rnd = random.Random(6)
    types, weights, base = drawn(rnd, False)
    order = rnd.sample(range(len(types)), len(types))
    turned = [types[i] for i in order], [weights[i] for i in order]
    one, two = fast(types, weights, base, Rules(60)), fast(*turned, base, Rules(60))
    assert one.merges.tolist() == two.merges.tolist() and one.counts.tolist() == two.counts.tolist()
    seen = [fast(*corpus, base, Rules(60, first_seen=True)).merges.tolist() for corpus in ((types, weights), turned)]
    assert seen[0] != seen[1]


def test_a_long_run_of_one_symbol() -> None:
    """aaaa... doubles: 2, 4, 8 letters; pairs are counted by adjacency, merged from the left."""
    found = fast([[0] * 1001], [3], [b"a"], Rules(6))
    assert found.merges.tolist() == [[0, 0], [1, 1], [2, 2], [3, 3], [4, 4]]
    assert found.counts.tolist() == [3 * 1000, 3 * 499, 3 * 249, 3 * 124, 3 * 61]


def test_counts_have_64_bits() -> None:
    found = fast([[0, 1], [0, 1, 0]], [1 << 60, 1 << 59], [b"a", b"b"], Rules(4))
    assert found.counts.tolist() == [(1 << 60) + (1 << 59), 1 << 59]
    with pytest.raises(InputError, match="2\\*\\*62"):
        fast([[0, 1], [0, 1, 0]], [1 << 61, 1 << 60], [b"a", b"b"], Rules(4))


def test_nothing_to_merge() -> None:
    for types in ([], [[0], [1]], [[0, 1], [1, 0]]):
        found = fast(types, [1] * len(types), [b"a", b"b"], Rules(9))
        assert len(found.merges) == 0 and len(found.tokens) == 2
        assert found.highest == (1 if types and len(types[0]) > 1 else 0)
