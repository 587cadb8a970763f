"""The tables that trainers start from, made again from what an artifact says of itself: which rows never moved.

Trainers register here; nothing is trained. ``svd`` has no start, and neither have vectors from elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: gives rows start..stop of the input table as training began, float32 (stop - start, d), from the artifact's meta
#: (``seed``, ``options``, ...); None where that cannot be known, as when training began from another file
Start = Callable[[Mapping[str, Any], int, int], NDArray[np.float32] | None]

#: step -> "module:function", a ``Start``. The module must not import numba: queries run without it.
STARTS: dict[str, str] = {"word2vec": "embcli.models.starts:start", "glove": "embcli.models.starts:glove_start"}


def start_of(meta: Mapping[str, Any]) -> Start | None:
    """Return what makes the start of an artifact's input table, None if its step has none.

    Parameters
    ----------
    meta
        Of the artifact, as it was read; empty for one that was never written.
    """
    place = STARTS.get(str(meta.get("step", "")))
    if place is None:
        return None
    module, _, name = place.partition(":")
    found: Start = getattr(import_module(module), name)
    return found if found(meta, 0, 0) is not None else None
