"""Two spaces brought together: which words they share, and the rotation of one onto the other.

Orthogonal Procrustes (Schoenemann 1966, "A generalized solution of the orthogonal Procrustes problem", section 2), as
used for the meanings of words over time by Hamilton, Leskovec and Jurafsky (2016, section 3.3). A reflection counts as
a rotation. It neither scales nor moves: --center and --unit do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from embcli.artifacts import store
from embcli.artifacts.schema import Vectors, Words
from embcli.errors import InputError, KindError, NumbersError
from embcli.models.tables import Floats, Ints, Table, Walk
from embcli.query.lookup import find
from embcli.query.resolve import lowered


@dataclass(frozen=True)
class Anchors:
    """Rows of words that mean the same in both spaces; ``unknown`` is how many listed pairs are in one only."""

    here: Ints
    there: Ints
    unknown: int | None


def read_target(path: str) -> Vectors:
    """Return the artifact of vectors to align to. Raises as ``store.read`` does."""
    found = store.read(path, ("vectors",), command="transform")
    assert isinstance(found, Vectors)
    return found


def anchors_of(words: Words, lower: bool, target: Vectors, path: str | None) -> Anchors:
    """Return the rows to align by: of all words that both have, or of the pairs in a file.

    Parameters
    ----------
    words, lower
        The words of the table that is rotated, and whether their text was folded to lower case; the target knows its
        own. A listed word that is unknown is looked up in lower case where the text was folded.
    path
        A file with one or two words a line (``pairs_in``); None is all shared words.

    Raises
    ------
    KindError : no word is in both.
    InputError : the file cannot be read, or a line is no pair.
    """
    if path is None:
        found = find(target.words, words)
        rows = np.array([found.get(word, -1) for word in words], np.int64)
        here = np.flatnonzero(rows >= 0)
        there, unknown = rows[here], None
    else:
        pairs = [*dict.fromkeys(pairs_in(path))]
        if not pairs:
            raise InputError(f"{path}: --anchors: holds no words; expected one or two words a line")
        ours = _rows(words, [a for a, _ in pairs], lower)
        theirs = _rows(target.words, [b for _, b in pairs], lowered(target))
        both = (ours >= 0) & (theirs >= 0)
        here, there, unknown = ours[both], theirs[both], int((~both).sum())
    if not len(here):
        what = "shares no word with the vectors" if path is None else f"none of the pairs of {path} is in both vectors"
        raise KindError(f"--align-to {target.path}: {what}; give --anchors FILE with pairs that are")
    return Anchors(here, there, unknown)


def _rows(words: Words, wanted: list[str], lower: bool) -> Ints:
    """Return the row of each wanted word, -1 where there is none."""
    found = find(words, {*wanted, *(word.lower() for word in wanted)} if lower else set(wanted))
    return np.array([found.get(w, found.get(w.lower(), -1) if lower else -1) for w in wanted], np.int64)


def pairs_in(path: str) -> Iterator[tuple[str, str]]:
    """Yield the pairs of an anchors file: UTF-8, a word (for both spaces) or two words a line.

    A line with a tab is parted there, so that words may hold spaces; any other at its white space. Empty lines are
    passed over. Raises InputError if the file cannot be read or a line has more than two words.
    """
    try:
        text = Path(path).read_bytes().decode("utf-8-sig")
    except OSError as e:
        raise InputError(f"{path}: --anchors: cannot be read: {e.strerror}") from None
    except UnicodeDecodeError as e:
        raise InputError(f"{path}: --anchors: not UTF-8 at byte {e.start:,}; give a text file of words") from None
    for number, line in enumerate(text.split("\n"), 1):
        parts = [part.strip() for part in line.split("\t")] if "\t" in line.strip() else line.split()
        if len(parts) > 2 or "" in parts:
            raise InputError(f"{path}: --anchors: line {number:,}: expected one or two words, found {line.strip()!r}")
        if parts:
            yield parts[0], parts[-1]


def rotation(
    table: Table, target: Vectors, anchors: Anchors, act: Callable[[Floats], Floats], walk: Walk
) -> tuple[Floats, dict[str, Any]]:
    """Return the orthogonal R that brings act(X) R nearest to Y in squares, (d, d), and figures about it.

    X are the anchors' rows of the table and Y those of the target; R = U V^T of the singular value decomposition of
    act(X)^T Y. The figures: ``anchors`` (pairs), ``unknown_anchors``, ``cosine_before`` and ``cosine_after`` (means
    over the pairs without zero rows), and ``residual``, the length of what is left as a share of Y's. Two passes.

    Raises NumbersError if the pairs fix nothing.
    """
    here, there = table.select(anchors.here), Table.of(target.path, [target.vectors], anchors.there)
    product = np.zeros((there.shape[1],) * 2)
    parts = walk.over(here, lambda start, stop: act(here.take(start, stop)).T @ there.take(start, stop))
    for part in parts:
        product += part
    U, s, Vt = np.linalg.svd(product)
    if not s.any():
        raise NumbersError("--align-to: the rows of all anchors are zero; nothing says how to rotate")
    if here.shape[0] < len(s):
        what = f"{here.shape[0]:,} anchors cannot fix all {len(s):,} directions"
        walk.job.warn(f"{what}; the others are rotated at will: use more anchors or fewer dimensions")
    R: Floats = U @ Vt

    def compare(start: int, stop: int) -> Floats:
        X, Y = act(here.take(start, stop)), there.take(start, stop)
        turned = X @ R
        lengths = np.linalg.norm(X, axis=1) * np.linalg.norm(Y, axis=1)
        live = lengths > 0
        cosines = [((T * Y).sum(1)[live] / lengths[live]).sum() for T in (X, turned)]
        return np.array([live.sum(), *cosines, ((turned - Y) ** 2).sum(), (Y * Y).sum()])

    n, before, after, left, size = sum(walk.over(here, compare), np.zeros(5)).tolist()
    figures: dict[str, Any] = {"anchors": here.shape[0], "unknown_anchors": anchors.unknown}
    figures |= {"cosine_before": before / n, "cosine_after": after / n, "residual": (left / size) ** 0.5}
    return R, figures


def check_dimensions(name: str, dim: int, target: Vectors) -> None:
    """Raise KindError, which says how to mend it, if two spaces have different dimensions."""
    other = target.vectors.shape[1]
    if dim == other:
        return
    way = f"add --dim {other}" if dim > other else f"reduce {target.path} first: embcli transform --dim {dim}"
    raise KindError(f"{name}: has dimension {dim:,} and --align-to {target.path} {other:,}; {way}")
