"""What can be written by hand for ``attend --given``: the tables and options; given.py works them out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

Array = NDArray[Any]


@dataclass(frozen=True)
class Tables:
    """What is written by hand; None is absent.

    E : (V, d), token rows.  ids : (T,) or (B, T).  words : a name for each row.  P : (T, d), or ``position``:
    sinusoidal, rope, alibi or none; with ``length`` and ``dim`` where there is no E.  scale : multiply rows by sqrt(d).
    W_Q, W_K : (d, d_k); W_V : (d, d_v); those left out are the identity.  heads.  scores : (T, T), as they enter the
    softmax.  V : (T, d_v), values.  mask : True where row i may look at column j; from -inf and 0 it is made.
    U : (V, d), output rows, or ``tie``: E.  b : (V,).  h : (T, d) or (d,).  targets : (T,), or ``next``: each
    token's successor.  R : (d, d), turns both tables.  G : gradient at X, (T, d).  lr : of one plain step.
    """

    E: Array | None = None
    ids: Array | None = None
    words: tuple[str, ...] = ()
    P: Array | None = None
    position: str = "none"
    length: int | None = None
    dim: int | None = None
    scale: bool = False
    W_Q: Array | None = None
    W_K: Array | None = None
    W_V: Array | None = None
    heads: int = 1
    scores: Array | None = None
    V: Array | None = None
    mask: Array | str | None = None
    U: Array | None = None
    tie: bool = False
    b: Array | None = None
    h: Array | None = None
    targets: Array | str | None = None
    R: Array | None = None
    G: Array | None = None
    lr: float | None = None
