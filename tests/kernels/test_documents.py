"""Oracle: a few lines of NumPy and string formatting for each kernel of ``documents``; equality is exact."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from embcli.kernels import documents as k
from embcli.kernels.cooc import Rows

SIZES = [0, 3, 0, 12, 1, 300, 2, 0]


def text(size: int) -> tuple[Any, Any]:
    """Return ids, some of them gaps (id ``size``), and row offsets."""
    offsets = np.concatenate(([0], np.cumsum(SIZES)))
    return np.random.default_rng(3).integers(0, size + 1, offsets[-1]).astype(np.uint32), offsets


def tally(size: int) -> k.Tally:
    return k.Tally(np.zeros(size, np.int64), np.empty(size + 1, np.int32))


def room(cells: int, rows: int) -> Rows:
    shapes = ((cells, np.int32), (cells, np.int64), (rows, np.int64), (rows, np.int64))
    return Rows(*(np.full(n, -7, t) for n, t in shapes))


def expected(ids: Any, offsets: Any, size: int) -> list[dict[int, int]]:
    found = []
    for a, b in pairwise(offsets):
        words, counts = np.unique(ids[a:b][ids[a:b] < size], return_counts=True)
        found.append(dict(zip(words.tolist(), counts.tolist(), strict=True)))
    return found


def rows_of(out: Rows) -> list[dict[int, int]]:
    cut = [0, *out.ends.tolist()]
    return [dict(zip(out.cols[a:b].tolist(), out.sums[a:b].tolist(), strict=True)) for a, b in pairwise(cut)]


@pytest.mark.parametrize("size", [1, 7, 40, 5000])
def test_count_documents(size: int) -> None:
    ids, offsets = text(size)
    into, out = tally(size), room(len(ids), len(SIZES))
    n = k.count_documents(ids, offsets, 0, len(SIZES), into, out)
    wanted = expected(ids, offsets, size)
    assert rows_of(out) == wanted
    assert [list(row) for row in rows_of(out)] == [sorted(row) for row in wanted]  # columns ascend
    assert out.totals.tolist() == [sum(row.values()) for row in wanted]
    assert n == sum(map(len, wanted)) and not into.counts.any()


def test_a_table_that_was_not_cleared_would_be_seen() -> None:
    ids, offsets = text(7)
    into, out = tally(7), room(len(ids), len(SIZES))
    into.counts[3] = 1
    k.count_documents(ids, offsets, 0, len(SIZES), into, out)
    assert rows_of(out) != expected(ids, offsets, 7)


@pytest.mark.parametrize("size", [40, 5000])
def test_rename_documents(size: int) -> None:
    ids, offsets = text(size)
    out, renamed = room(len(ids), len(SIZES)), room(len(ids), len(SIZES))
    n = k.count_documents(ids, offsets, 0, len(SIZES), tally(size), out)
    names = np.random.default_rng(0).permutation(2 * size)[:size]
    assert k.rename_documents(out.cols, out.sums, out.ends, names, tally(2 * size), renamed) == n
    wanted = [{int(names[c]): v for c, v in row.items()} for row in rows_of(out)]
    assert rows_of(renamed) == wanted
    assert all(list(row) == sorted(row) for row in rows_of(renamed))
    assert renamed.totals.tolist() == out.totals.tolist()


def labels(rows: list[list[str]], spaced: bool = True, number: int = 1, most: int = 6) -> list[str]:
    words = sorted({word for row in rows for word in row if word != "GAP"})
    data = np.frombuffer("".join(words).encode(), np.uint8)
    begins = np.concatenate(([0], np.cumsum([len(word.encode()) for word in words])))
    ids = np.array([len(words) if word == "GAP" else words.index(word) for row in rows for word in row], np.uint16)
    offsets = np.concatenate(([0], np.cumsum([len(row) for row in rows])))
    out, ends = np.empty(k.LABEL * len(rows), np.uint8), np.empty(len(rows), np.int64)
    n = k.write_labels(ids, offsets, 0, (data, begins), most, spaced, number, out, ends)
    cut = [0, *ends.tolist()]
    assert n == cut[-1]
    return [out[a:b].tobytes().decode() for a, b in pairwise(cut)]


def test_write_labels() -> None:
    found = labels([["a", "b"], [], ["GAP"], ["GAP", "é", "GAP", "x"], ["w"] * 9], number=9)
    assert found == ["doc9: a b", "doc10", "doc11", "doc12: é x", "doc13: w w w w w w"]
    assert labels([["東", "京", "は"]], spaced=False, number=10**18) == [f"doc{10**18}: 東京は"]


def test_labels_hold_sixty_bytes_of_words_and_no_part_of_one() -> None:
    long = "x" * 59
    assert labels([[long], [long + "x"], ["a", long], ["b" * 29, "b" * 29, "b"]]) == [
        f"doc1: {long}", "doc2", "doc3: a", f"doc4: {'b' * 29} {'b' * 29}",
    ]  # fmt: skip


def test_renumber_labels() -> None:
    given = ["doc1: a b", "doc2", "doc", "", "document: x", "plain", "doc9:x", "doc3x"]
    data = np.frombuffer("".join(given).encode(), np.uint8)
    begins = np.concatenate(([0], np.cumsum([len(label) for label in given])))
    out, ends = np.empty(len(data) + k.LABEL * 8, np.uint8), np.empty(8, np.int64)
    k.renumber_labels((data, begins), 0, 99, out, ends)
    cut = [0, *ends.tolist()]
    assert [out[a:b].tobytes().decode() for a, b in pairwise(cut)] == [
        "doc99: a b", "doc100", "doc101: doc", "doc102", "doc103: document: x", "doc104: plain", "doc105:x",
        "doc106: doc3x",
    ]  # fmt: skip
