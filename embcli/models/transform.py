"""Vectors to vectors: another table, several side by side, centred, without top directions, reduced, rotated.

The step ``embcli transform``. What happens to a row is the same for all rows (``Change``), so tables are never held:
passes over the mapped input find means and directions, and a last one changes rows while they are written.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embcli.artifacts.schema import Blocks, Vectors
from embcli.errors import NumbersError, UsageError
from embcli.job import Job
from embcli.models import align
from embcli.models.tables import Floats, Table, Walk, chosen, side_by_side, unit_length
from embcli.spec import TransformParams

#: what float32 cannot tell from nothing, as a share of the lengths that were subtracted from each other
EPS = float(np.finfo(np.float32).eps)


@dataclass(frozen=True)
class Change:
    """What is done to each row, in this order; None leaves it out.

    mean : (d,), subtracted.  removed : (d, N), orthonormal directions that are taken out.  kept : (d, k), orthonormal
    directions whose coordinates replace the row.  unit : to length 1.  rotation : (k, k), multiplied with.
    """

    mean: Floats | None = None
    removed: Floats | None = None
    kept: Floats | None = None
    unit: bool = False
    rotation: Floats | None = None

    def __call__(self, rows: Floats) -> Floats:
        """Return changed rows. Zero rows stay zero, and a row becomes zero where only rounding would be left of it."""
        made, live = rows, np.asarray(rows.any(axis=1))
        if self.mean is not None:
            made = made - self.mean
        if self.removed is not None:
            made = made - (made @ self.removed) @ self.removed.T
        if self.kept is not None:
            made = made @ self.kept
        if self.mean is not None or self.removed is not None or self.kept is not None:
            size = np.linalg.norm(rows, axis=1) + (0 if self.mean is None else np.linalg.norm(self.mean))
            live &= np.linalg.norm(made, axis=1) > EPS * size
        if self.unit:
            made = unit_length(made)
        if self.rotation is not None:
            made = made @ self.rotation
        return np.where(live[:, None], made, 0)


def transform(inputs: Sequence[Vectors], params: TransformParams, job: Job) -> Vectors:
    """Return vectors made from vectors, in the order of the options of ``TransformParams``.

    Parameters
    ----------
    inputs
        One artifact, or with ``concat`` two or more.
    params
        ``remove_top`` subtracts the mean first (Mu and Viswanath 2018, section 2.2); ``dim`` takes the coordinates on
        the principal directions of the rows, of their covariance where the mean was subtracted; in each direction the
        entry of largest size is positive.

    Returns
    -------
    Vectors
        Rows are made while they are written. The second table and the singular values are not carried over; documents
        go through the same change as the words, except with ``concat``. Zero rows (words without data) stay zero and
        count neither for the mean nor for directions. ``stats``: zero_rows, left_out, removed and explained (shares of
        the squared length, after the mean was subtracted if it was), and of an alignment what ``align.rotation`` says,
        with ``unknown_anchors``.

    Raises
    ------
    UsageError : more than one input without ``concat``, one with it, more directions to remove than there are.
    KindError : a table is missing, or spaces have no word in common or different dimensions.
    InputError : an input is damaged, or the work needs more memory than is free.
    NumbersError : all rows are zero, or nothing would be left.
    """
    _check_inputs(inputs, params)
    first, whole, text = inputs[0], not params.concat, _common([each.text for each in inputs], job)
    if whole:
        table, words, unigram = chosen(first, params.table), first.words, np.asarray(first.unigram)
    else:
        table, words, unigram = side_by_side(inputs, params.table)
        job.note(f"{len(words):,} words are in all {len(inputs):,} inputs")
    documents = Table.of(_name(first), [first.documents]) if whole and first.documents is not None else None
    walk = Walk(job, table.shape[0] * _passes(params) + (documents.shape[0] if documents else 0))
    change, stats = _directions(table, params, walk, _name(first))
    change = replace(change, unit=params.unit)
    dim = table.shape[1] if change.kept is None else change.kept.shape[1]
    if params.align_to is not None:
        target = align.read_target(params.align_to)
        align.check_dimensions(_name(first), dim, target)
        anchors = align.anchors_of(words, bool(text.get("lower")), target, params.anchors)
        R, figures = align.rotation(table, target, anchors, change, walk)
        change, stats = replace(change, rotation=R), stats | figures
    stats |= {"zero_rows": 0, "left_out": _left_out(inputs, params)}
    return Vectors(
        vectors=_changed(table, change, walk, dim, stats),
        words=words,
        unigram=unigram,
        documents=_changed(documents, change, walk, dim) if documents else None,
        labels=first.labels if documents else None,
        text=text,
        options={"dim": dim},
        stats=stats,
    )


def _name(artifact: Vectors) -> str:
    return artifact.path or "vectors"


def _check_inputs(inputs: Sequence[Vectors], params: TransformParams) -> None:
    if params.concat and len(inputs) < 2:
        raise UsageError("--concat: joins two inputs or more, found one")
    if not params.concat and len(inputs) > 1:
        raise UsageError(f"expected one input, found {len(inputs):,}; join them with --concat, or run it once for each")


def _passes(params: TransformParams) -> int:
    """Return how often the rows are read (about: an alignment reads only those of the anchors)."""
    return 1 + (params.center or params.remove_top > 0) + (params.remove_top > 0 or params.dim is not None) + (
        2 if params.align_to is not None else 0
    )  # fmt: skip


def _directions(table: Table, params: TransformParams, walk: Walk, name: str) -> tuple[Change, dict[str, Any]]:
    """Return the change as far as the mean and the principal directions decide it, and the figures about them."""
    d, top = table.shape[1], params.remove_top
    if top >= d:
        raise UsageError(f"--remove-top {top:,}: {name} has {d:,} dimensions; remove fewer")
    centred, principal = params.center or top > 0, top > 0 or params.dim is not None
    mean = _mean(table, walk, name) if centred else None
    if not principal:
        return Change(mean), {}
    walk.job.need(8 * d * d * (walk.job.threads + 6), f"principal directions of {d:,} dimensions")
    values, U = np.linalg.eigh(_second_moments(table, mean, walk))
    values, U = np.maximum(values[::-1], 0), U[:, ::-1]
    rank = int((values > max(EPS**2, d * np.finfo(float).eps) * values[0]).sum())
    if rank <= top:
        what = "all rows are zero or equal" if not rank else f"the vectors have rank {rank:,}"
        raise NumbersError(f"{name}: {what}; nothing is left" + (f" after --remove-top {top:,}" if top else ""))
    stats: dict[str, Any] = {"removed": float(values[:top].sum() / values.sum())} if top else {}
    removed = np.ascontiguousarray(U[:, :top]) if top else None
    if params.dim is None:
        return Change(mean, removed), stats
    dim = _lowered(params.dim, min(d - top, table.shape[0]), walk.job)
    if rank < top + dim:
        left = rank - top
        walk.job.warn(f"rank {left:,} is left: dimensions from {left + 1:,} to {dim:,} are zeros")
    kept = _signed(U[:, top : top + dim]) * (np.arange(top, top + dim) < rank)
    return Change(mean, None, kept), stats | {"explained": float(values[top : top + dim].sum() / values[top:].sum())}


def _lowered(dim: int, most: int, job: Job) -> int:
    if dim <= most:
        return dim
    job.warn(f"--dim {dim:,} is more than there are; lowered to {most:,}")
    return most


def _signed(U: Floats) -> Floats:
    """Return the columns with their entry of largest size, the first of equals, positive."""
    largest = np.abs(U).argmax(axis=0)
    return U * np.where(U[largest, np.arange(U.shape[1])] < 0, -1.0, 1.0)


def _mean(table: Table, walk: Walk, name: str) -> Floats:
    """Return the mean of the rows that are not zero, (d,). NumbersError if all are."""

    def work(start: int, stop: int) -> tuple[Floats, int]:
        rows = table.take(start, stop)
        return rows.sum(axis=0), int(rows.any(axis=1).sum())

    total, live = np.zeros(table.shape[1]), 0
    for part, n in walk.over(table, work):
        total += part
        live += n
    if not live:
        raise NumbersError(f"{name}: all rows are zero; there is no mean to subtract")
    return total / live


def _second_moments(table: Table, mean: Floats | None, walk: Walk) -> Floats:
    """Return X^T X of the rows that are not zero, less their mean if it is given, (d, d)."""

    def work(start: int, stop: int) -> Floats:
        rows = Change(mean)(table.take(start, stop))
        return rows.T @ rows

    total = np.zeros((table.shape[1],) * 2)
    for part in walk.over(table, work):
        total += part
    return total


def _changed(table: Table, change: Change, walk: Walk, dim: int, stats: dict[str, Any] | None = None) -> Blocks:
    """Return the changed rows, float32, made while they are taken; zero rows are counted in ``stats``."""

    def work(start: int, stop: int) -> NDArray[np.float32]:
        with np.errstate(over="ignore"):  # what is too large is found when it is written
            return change(table.take(start, stop)).astype(np.float32)

    def rows() -> Iterator[NDArray[np.float32]]:
        for made in walk.over(table, work):
            if stats is not None:
                stats["zero_rows"] += int((~made.any(axis=1)).sum())
            yield made

    return Blocks(np.float32, rows(), (dim,))


def _common(texts: Sequence[dict[str, Any]], job: Job) -> dict[str, Any]:
    """Return what all texts agree on about how they were cut; says so if they differ."""
    first, *others = texts
    differ = [key for other in others for key in {**first, **other} if first.get(key) != other.get(key)]
    if differ:
        job.warn(f"the inputs' texts were cut differently ({', '.join(dict.fromkeys(differ))}); that is left out")
    return {key: value for key, value in first.items() if key not in differ}


def _left_out(inputs: Sequence[Vectors], params: TransformParams) -> list[str]:
    """Return the arrays of the inputs that the result does not have."""
    names = ["contexts", "singular_values", "bias", "context_bias"] + (["documents"] if params.concat else [])
    return [name for name in names if any(getattr(each, name) is not None for each in inputs)]
