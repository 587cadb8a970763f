"""What must hold inside the arrays of each kind: ranges, order, finiteness. Block by block, so memory stays small.

``schema`` says how arrays fit together; here is what is in them. A hostile file must not make a compiled loop read
beyond an array, so whatever is an index is checked before it is used.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embcli.artifacts.schema import Artifact, Words

#: arrays below this many bytes are checked in full when a file is opened
SMALL = 1 << 24
#: bytes looked at in one go
BLOCK = 1 << 22

#: sums and squares of counts between these stay in the range of float32
LEAST, MOST = 1e-18, 1e18

Rule = Callable[[Any, NDArray[Any], int, int], None]


def word_field(members: dict[str, Any], name: str) -> str | None:
    """Return the field of ``Words`` that a member belongs to (word_bytes and word_offsets: words), or None."""
    stem = name.removesuffix("_bytes").removesuffix("_offsets")
    return stem + "s" if stem != name and stem + "_bytes" in members else None


def comes_first(name: str) -> bool:
    """Sort key of member names: those that say where something begins are checked before what they point into."""
    return not name.endswith(("offsets", "indptr"))


def check_words(name: str, words: Words) -> None:
    """Raise ValueError unless the offsets of some words span their bytes. Reads both ends only."""
    if len(words.offsets) < 1 or words.offsets[0] != 0 or words.offsets[-1] != len(words.data):
        raise ValueError(f"the offsets of {name} do not span their bytes")


def check(artifact: Artifact, name: str, array: NDArray[Any], start: int, stop: int) -> None:
    """Raise ValueError, one clause, unless items [start, stop) of a member are what its kind says.

    Order is checked against item ``start - 1`` too, so that checking all blocks checks the array.
    """
    rule = _RULES.get((artifact.kind, name)) or _RULES.get(("", name))
    if rule is not None and stop > start:
        rule(artifact, array, start, stop)
    elif array.dtype.kind == "f" and not np.isfinite(array[start:stop]).all():
        raise ValueError(f"{name} holds values that are not finite")


def blocks(array: NDArray[Any], n_bytes: int = BLOCK) -> Iterator[tuple[int, int]]:
    """Yield the bounds [start, stop) of blocks of items (along the first axis) of about ``n_bytes`` bytes."""
    step = max(n_bytes // max(array.nbytes // max(len(array), 1), 1), 1)
    for start in range(0, len(array), step):
        yield start, min(start + step, len(array))


def _ascending(name: str) -> Rule:
    def rule(artifact: Any, array: NDArray[Any], start: int, stop: int) -> None:
        part = array[max(start - 1, 0) : stop]
        if (part[1:] < part[:-1]).any() or part[0] < 0:
            raise ValueError(f"{name} is not ascending")

    return rule


def _ids(artifact: Any, array: NDArray[Any], start: int, stop: int) -> None:
    size = len(artifact.words)
    allowed = size if artifact.options.get("gaps") == "keep" else size - 1
    highest = int(array[start:stop].max())
    if highest > allowed:
        raise ValueError(f"ids holds {highest:,}, which is no id of {size:,} words")


def _unigram(artifact: Any, array: NDArray[Any], start: int, stop: int) -> None:
    if array[start:stop].min() < 0:
        raise ValueError("unigram holds a negative frequency")


def _counts(artifact: Any, array: NDArray[Any], start: int, stop: int) -> None:
    part = array[start:stop]
    if not ((part >= LEAST) & (part <= MOST)).all():
        raise ValueError(f"data holds counts that are not positive numbers from {LEAST:g} to {MOST:g}")


def _indices(artifact: Any, array: NDArray[Any], start: int, stop: int) -> None:
    """Columns exist and ascend, except where a row begins."""
    columns = int(artifact.shape[1])
    low, part = max(start, 1), array[start:stop]
    if part.min() < 0 or part.max() >= columns:
        raise ValueError(f"indices holds a column outside 0 to {columns - 1:,}")
    rises = array[low:stop] > array[low - 1 : stop - 1]
    begins = artifact.indptr[np.searchsorted(artifact.indptr, low) : np.searchsorted(artifact.indptr, stop)]
    rises[begins[(begins >= low) & (begins < stop)] - low] = True
    if not rises.all():
        raise ValueError("indices is not ascending within a row")


def _singular_values(artifact: Any, array: NDArray[Any], start: int, stop: int) -> None:
    part = array[max(start - 1, 0) : stop]
    if not (np.isfinite(part).all() and (part >= 0).all() and (part[1:] <= part[:-1]).all()):
        raise ValueError("singular_values is not descending from a finite number to zero or more")


def _neighbors(artifact: Any, array: NDArray[Any], start: int, stop: int) -> None:
    part = array[start:stop]
    if part.size and (part.min() < -1 or part.max() >= len(array)):
        raise ValueError(f"neighbors holds a row outside 0 to {len(array) - 1:,}")


def _ngram_buckets(artifact: Any, array: NDArray[Any], start: int, stop: int) -> None:
    part = array[max(start - 1, 0) : stop]
    if (part[1:] <= part[:-1]).any() or part[0] < 0 or part[-1] >= artifact.options["buckets"]:
        raise ValueError(f"ngram_buckets is not ascending from 0 to below {artifact.options['buckets']:,}")


_RULES: dict[tuple[str, str], Rule] = {
    ("tokens", "ids"): _ids,
    ("counts", "data"): _counts,
    ("counts", "indices"): _indices,
    ("", "indptr"): _ascending("indptr"),
    ("", "row_offsets"): _ascending("row_offsets"),
    ("", "word_offsets"): _ascending("word_offsets"),
    ("", "label_offsets"): _ascending("label_offsets"),
    ("", "token_offsets"): _ascending("token_offsets"),
    ("knn", "neighbors"): _neighbors,
    ("", "unigram"): _unigram,
    ("", "ngram_buckets"): _ngram_buckets,
    ("", "singular_values"): _singular_values,
}


def check_utf8(name: str, words: Words, done: Callable[[], None] = lambda: None) -> None:
    """Raise ValueError unless every word is UTF-8. Offsets must have been checked; ``done`` is called after blocks."""
    decoder, ascii_only = codecs.getincrementaldecoder("utf-8")(), True
    try:
        for start, stop in blocks(words.data):
            block = words.data[start:stop].tobytes()
            decoder.decode(block, stop == len(words.data))
            ascii_only = ascii_only and block.isascii()
            done()
    except UnicodeDecodeError:
        raise ValueError(f"{name} are not UTF-8") from None
    if ascii_only:
        return
    for start, stop in blocks(words.offsets):
        inner = words.offsets[start:stop]
        inner = inner[inner < len(words.data)]
        if ((words.data[inner] & 0xC0) == 0x80).any():
            raise ValueError(f"{name} are cut within a character")
        done()


def check_distinct(words: Words) -> None:
    """Raise ValueError if a word is there twice. Takes 16 bytes a word for a while."""
    hashes = np.fromiter((hash(words.bytes_at(i)) for i in range(len(words))), np.int64, len(words))
    order = np.argsort(hashes, kind="stable")
    again = np.flatnonzero(hashes[order[1:]] == hashes[order[:-1]])
    for i in again.tolist():
        if words.bytes_at(int(order[i])) == words.bytes_at(int(order[i + 1])):
            raise ValueError(f"the word {ascii(words[int(order[i])])[:60]} is there twice")
