"""Text vectors: what is left of a text when the order of its states, or of its words' rows, is summed away.

A text vector is no sentence encoder: nothing trained it so that similar texts come to lie together.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from embcli.artifacts.schema import Model, Vectors, Words, readable
from embcli.errors import NumbersError
from embcli.job import Job
from embcli.models.readers import Reader, applied, check_layer, check_length, need_memory, reader
from embcli.models.texts import Cut, cut_texts
from embcli.spec import AttendParams

#: characters of a text that its name shows
_SHOWN = 60


def pooled(H: NDArray[Any], how: str) -> NDArray[Any]:
    """Return one vector (d,) for states or rows H (T, d): their ``sum``, ``mean``, the ``last`` or the ``first``.

    Of no rows it is zero.
    """
    if not len(H):
        return np.zeros(H.shape[1], H.dtype)
    if how in ("last", "first"):
        return np.asarray(H[-1 if how == "last" else 0])
    total = H.sum(0, dtype=np.float64)
    return np.asarray(total / len(H) if how == "mean" else total, H.dtype)


def text_vectors(artifact: Model | Vectors, params: AttendParams, job: Job) -> Vectors:
    """Return one vector for each text of the options; row i is text i, named ``text1: the first words``.

    Of a model the states behind the last layer and its norm are pooled, or those of ``params.layer``; of static vectors
    the rows of the words as they stand, without a head. ``unigram`` is how many tokens each text has; of a text without
    a known token the vector is zero. Raises what ``contextual`` raises.
    """
    assert params.pool is not None
    use, how = reader(artifact, params), params.pool
    check_layer(use, params)
    cuts = cut_texts(artifact, params, job)
    check_length(use, [len(each.ids) for each in cuts], job)
    need_memory(use, [max(cuts, key=lambda each: len(each.ids))], job, False)

    def work(each: Cut) -> NDArray[Any]:
        return pooled(_states(use, each, params.layer), how).astype(np.float32)

    rows = np.stack(list(job.map(work, cuts)))
    if not np.isfinite(rows).all():
        raise NumbersError("the text vectors are not finite: the numbers of the model are too large")
    sizes = np.array([len(each.ids) for each in cuts], np.int64)
    if empty := int((sizes == 0).sum()):
        job.note(f"{empty:,} of {len(cuts):,} texts have no known token; their vectors are zero")
    return Vectors(
        vectors=rows, words=Words.of(_name(i, each) for i, each in enumerate(cuts, 1)), unigram=sizes,
        stats={"texts": len(cuts), "tokens": int(sizes.sum()), "source": artifact.kind},
        text={"unit": "texts"}, options=applied(use, params) | {"dim": rows.shape[1], "top": None},
    )  # fmt: skip


def _states(use: Reader, each: Cut, layer: int | None) -> NDArray[Any]:
    if not use.trained:
        return np.asarray(use.rows[each.ids])
    seen = use.see(each.ids, False)
    found = seen.final if layer is None else [seen.inputs, *seen.states][layer]
    assert found is not None
    return found


def _name(number: int, each: Cut) -> str:
    shown = readable(each.text.strip().encode("utf-8", "replace"))
    short = shown if len(shown) <= _SHOWN else shown[: _SHOWN - 3].rstrip() + "..."
    return f"text{number}: {short}" if short else f"text{number}"
