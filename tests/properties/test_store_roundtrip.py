"""Oracle: what is read is what was written, array by array and bit by bit, for every kind; equal content, one file."""

from __future__ import annotations

import io
import tempfile
import zlib
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from samples import arrays, equal, meta_of, same, save

from embcli.artifacts import checks, store
from embcli.artifacts.schema import Artifact, Blocks, Counts, Tokens, Vectors, Words
from embcli.artifacts.spill import Spill
from embcli.artifacts.zipwrite import combine

WORD = st.text(st.characters(exclude_categories=("Cs",)), max_size=8)
FINITE = {"allow_nan": False, "allow_infinity": False}


@st.composite
def vocabularies(draw: Any, smallest: int = 0) -> tuple[Words, np.ndarray]:
    words = draw(st.lists(WORD, min_size=smallest, max_size=12, unique=True))
    unigram = draw(npst.arrays(np.int64, len(words), elements=st.integers(0, 2**62)))
    return Words.of(words), unigram


@st.composite
def some_tokens(draw: Any) -> Tokens:
    words, unigram = draw(vocabularies())
    dtype = draw(st.sampled_from([np.uint8, np.uint16, np.uint32]))
    n = draw(st.integers(0, 60)) if len(words) else 0
    ids = draw(npst.arrays(dtype, n, elements=st.integers(0, max(len(words) - 1, 0))))
    inner = sorted(draw(st.lists(st.integers(0, n), max_size=6)))
    return Tokens(ids=ids, row_offsets=np.array([0, *inner, n]), words=words, unigram=unigram, stats={"n": n})


@st.composite
def some_counts(draw: Any) -> Counts:
    words, unigram = draw(vocabularies())
    labels = Words.of(draw(st.lists(WORD, max_size=5))) if draw(st.booleans()) else None
    rows = len(words) if labels is None else len(labels)
    cells = draw(npst.arrays(np.bool_, (rows, len(words))))
    n = int(cells.sum())
    elements, dtype = draw(
        st.sampled_from([(st.integers(1, 10**18), np.int64), (st.floats(1e-18, 1e18, **FINITE), np.float64)])
    )
    return Counts(
        data=draw(npst.arrays(dtype, n, elements=elements)),
        indices=np.nonzero(cells)[1].astype(np.int32),
        indptr=np.concatenate([[0], np.cumsum(cells.sum(1))]).astype(np.int64),
        shape=np.array([rows, len(words)]),
        words=words,
        rows=labels,
        unigram=unigram,
    )


@st.composite
def some_vectors(draw: Any) -> Vectors:
    words, unigram = draw(vocabularies())
    d = draw(st.integers(0, 5))
    table = npst.arrays(np.float32, (len(words), d), elements=st.floats(width=32, **FINITE))
    values = draw(npst.arrays(np.float64, d, elements=st.floats(0, 1e300, **FINITE)))
    labels = draw(st.none() | st.lists(WORD, max_size=5).map(Words.of))
    documents = npst.arrays(np.float32, (len(labels or ()), d), elements=st.floats(width=32, **FINITE))
    return Vectors(
        vectors=draw(table),
        words=words,
        unigram=unigram,
        contexts=draw(st.none() | table),
        singular_values=draw(st.sampled_from([None, np.sort(values)[::-1]])),
        labels=labels,
        documents=None if labels is None else draw(documents),
    )


ANY = st.one_of(some_tokens(), some_counts(), some_vectors())


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


@given(made=ANY)
def test_what_is_read_is_what_was_written(folder: Path, made: Artifact) -> None:
    path = folder / "a.npz"
    digest = store.write(made, str(path), meta_of(made))
    found = store.read(str(path))
    assert same(found, made)
    assert (found.digest, found.meta) == (digest, meta_of(made))
    assert store.digest(str(path)) == digest
    assert list(getattr(found, "words")) == list(getattr(made, "words"))  # noqa: B009 - every kind has words
    store.verify(str(path))


@given(made=ANY)
def test_numpy_reads_every_array_without_pickle(folder: Path, made: Artifact) -> None:
    raw = save(made, folder / "a.npz")
    with np.load(io.BytesIO(raw), allow_pickle=False) as found:
        wanted = arrays(made)
        assert found.files == [*wanted, "meta"]
        assert all(equal(found[name], wanted[name]) for name in wanted)
        assert found["meta"].dtype == np.uint8


@given(made=ANY)
def test_what_was_read_is_written_as_the_same_bytes(folder: Path, made: Artifact) -> None:
    raw = save(made, folder / "a.npz")
    found = store.read(str(folder / "a.npz"))
    store.write(found, str(folder / "b.npz"), found.meta)
    assert (folder / "b.npz").read_bytes() == raw


@given(made=some_vectors(), data=st.data())
def test_one_changed_value_changes_bytes_and_digest(folder: Path, made: Vectors, data: st.DataObject) -> None:
    """Sibling of all three: equality is not the equality of everything."""
    if not made.vectors.size:
        return
    before, digest = save(made, folder / "a.npz"), store.digest(str(folder / "a.npz"))
    old = store.read(str(folder / "a.npz"))
    at = data.draw(st.integers(0, made.vectors.size - 1))
    made.vectors = made.vectors.copy()
    made.vectors.flat[at] = 1 if made.vectors.flat[at] != 1 else 2
    assert save(made, folder / "b.npz") != before
    assert store.digest(str(folder / "b.npz")) != digest
    assert not same(old, made)


def cut(array: np.ndarray, at: list[int]) -> list[np.ndarray]:
    ends = [0, *sorted(min(a, len(array)) for a in at), len(array)]
    return [array[a:b] for a, b in pairwise(ends)]


CUTS = st.lists(st.integers(0, 60), max_size=5)


@given(made=some_tokens(), at=CUTS, also=CUTS)
def test_blocks_and_spills_give_the_bytes_of_arrays(folder: Path, made: Tokens, at: list[int], also: list[int]) -> None:
    raw = save(made, folder / "a.npz")
    offsets, spill = made.row_offsets, Spill(np.int64)

    def produce(parts: list[np.ndarray]) -> Iterator[np.ndarray]:
        """The row offsets appear while the ids are consumed, as in encoding."""
        for part, rows in zip(parts, cut(offsets, [len(offsets)] * (len(parts) - 1)), strict=True):
            spill.append(rows)
            yield part

    made.ids, made.row_offsets = Blocks(made.ids.dtype, produce(cut(made.ids, at))), spill
    assert save(made, folder / "b.npz") == raw


@given(made=some_vectors(), at=CUTS)
def test_blocks_of_rows_give_the_bytes_of_a_table(folder: Path, made: Vectors, at: list[int]) -> None:
    raw, table = save(made, folder / "a.npz"), made.vectors
    made.vectors = Blocks(np.float32, iter(cut(table, at)), table.shape[1:])
    assert save(made, folder / "b.npz") == raw
    extra = np.ones((1, table.shape[1]), np.float32)
    made.vectors = Blocks(np.float32, iter([*cut(table, at), extra]), table.shape[1:])
    with pytest.raises(ValueError, match="words has"):  # sibling: a row too many is no sound artifact
        save(made, folder / "c.npz")


@given(parts=st.lists(npst.arrays(np.uint16, st.integers(0, 40)), max_size=8), n_bytes=st.integers(1, 64))
def test_a_spill_gives_back_what_was_appended(parts: list[np.ndarray], n_bytes: int) -> None:
    spill = Spill(np.uint16)
    for part in parts:
        spill.append(part)
        assert equal(spill.array()[len(spill) - len(part) :], part)
    wanted = np.concatenate([np.zeros(0, np.uint16), *parts])
    assert len(spill) == len(wanted) and equal(spill.array(), wanted)
    blocks = list(spill.blocks(n_bytes))
    assert equal(np.concatenate([np.zeros(0, np.uint16), *blocks]), wanted)
    assert all(block.nbytes <= max(n_bytes, 2) for block in blocks)


@given(first=st.binary(max_size=300), second=st.binary(max_size=3000))
def test_combined_checksums_are_the_checksum_of_both(first: bytes, second: bytes) -> None:
    assert combine(zlib.crc32(first), zlib.crc32(second), len(second)) == zlib.crc32(first + second)
    assert combine(zlib.crc32(first), zlib.crc32(second), len(second) + 1) != zlib.crc32(first + second) or not first


def verdict(work: Callable[[], Any]) -> str:
    try:
        work()
    except ValueError as e:
        return str(e)
    return ""


@given(made=ANY, data=st.data())
def test_checking_block_by_block_is_checking_the_whole(made: Artifact, data: st.DataObject) -> None:
    """Whatever is changed and wherever blocks end, an error is seen in the blocks if and only if it is in the whole."""
    found = {name: array for name, array in arrays(made).items() if array.ndim == 1 and array.size}
    name = data.draw(st.sampled_from(sorted(found))) if found else None
    if name is None:
        return
    array = found[name].copy()
    at = data.draw(st.integers(0, len(array) - 1))
    array[at] = data.draw(st.sampled_from([0, 1, 3, len(array), 200, array[0]]))
    stops = data.draw(CUTS)

    def in_blocks() -> None:
        ends = [0, *sorted(min(stop, len(array)) for stop in stops), len(array)]
        for start, stop in pairwise(ends):
            checks.check(made, name, array, start, stop)

    whole = verdict(lambda: checks.check(made, name, array, 0, len(array)))
    assert bool(verdict(in_blocks)) == bool(whole)


def test_the_block_checks_can_fail() -> None:
    """Sibling: a rule that looked at each block alone would miss an order that breaks between two blocks."""
    words, table = Words.of(["a", "b"]), np.array([0, 5, 4, 9])
    made = Tokens(ids=np.zeros(9, np.uint8), row_offsets=table, words=words, unigram=np.array([9, 0]))
    for stop in range(1, 4):
        parts = [(0, stop), (stop, 4)]
        assert any(verdict(lambda a=a, b=b: checks.check(made, "row_offsets", table, a, b)) for a, b in parts)
        alone = [verdict(lambda a=a, b=b: checks.check(made, "row_offsets", table[a:b], 0, b - a)) for a, b in parts]
        assert any(alone) == (stop != 2)
