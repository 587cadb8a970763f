"""What the arrays of each kind of artifact are and what must hold between them. No files here: see store.py.

An artifact is a dataclass whose fields are named like the members of its .npz. A field of words is one ``Words``
object in memory and two members (NAME_bytes, NAME_offsets) in the file.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from embcli.artifacts.base import (
    INT,
    TOKENIZER,
    WORD,
    Artifact,
    Blocks,
    Member,
    Words,
    check_tokenizer,
    readable,
    same_size,
)
from embcli.artifacts.networks import Context, Model
from embcli.artifacts.vectors import Vectors

__all__ = [
    "KINDS",
    "MAKERS",
    "Artifact",
    "Blocks",
    "Context",
    "Counts",
    "Knn",
    "Member",
    "Model",
    "Tokenizer",
    "Tokens",
    "Vectors",
    "Words",
    "check_tokenizer",
    "readable",
]


@dataclass(kw_only=True)
class Tokenizer(Artifact):
    """A byte-pair encoding.

    tokens : the bytes of every id; byte-level tokens need not be UTF-8, and an id without a token has no bytes.
    merges : int32 (n, 2), ids of the two parts, in the order in which they were learned; the result of a merge is the
    token that its bytes spell. merge_counts : int64 (n,), how often the pair occurred then, 0 where it is not known.
    special_ids : int64, ids of the special tokens.
    ``text``: ``unit`` (bpe), ``base`` (byte or char), ``pattern`` (its name, or custom) and ``regex``, ``end_of_word``,
    ``whole`` (a piece that is a token is not taken apart: tiktoken).
    """

    kind: ClassVar[str] = "tokenizer"
    members: ClassVar[dict[str, Member]] = dict(TOKENIZER)
    tokens: Words
    merges: Any
    merge_counts: NDArray[np.int64]
    special_ids: NDArray[np.int64]

    def check(self) -> None:
        """Raise ValueError if sizes do not fit together."""
        check_tokenizer(self)


@dataclass(kw_only=True)
class Tokens(Artifact):
    """Token ids of a text, row by row.

    ids : unsigned, the smallest type that fits; with --gaps keep id V (= len(words)) is a dropped word.
    row_offsets : int64 (rows + 1); row r is ids[row_offsets[r]:row_offsets[r + 1]].
    words : the V types, most frequent first, ties by UTF-8 bytes.
    unigram : int64 (V,), how often each type stands in this text.
    Of BPE tokens the words are the readable forms of the tokenizer's tokens, whose arrays are here too.
    ``stats["open_rows"]``: the numbers of the rows whose last LF was missing in the input.
    """

    kind: ClassVar[str] = "tokens"
    members: ClassVar[dict[str, Member]] = {
        "ids": Member(("u1", "u2", "u4")),
        "row_offsets": Member(INT),
        **WORD,
        "unigram": Member(INT),
        **{name: Member(m.dtypes, m.ndim, False) for name, m in TOKENIZER.items()},
    }
    ids: Any
    row_offsets: Any
    words: Words
    unigram: NDArray[np.int64]
    tokens: Words | None = None
    merges: Any = None
    merge_counts: Any = None
    special_ids: Any = None

    def check(self) -> None:
        """Raise ValueError if sizes do not fit together."""
        same_size("unigram", len(self.unigram), len(self.words))
        parts = (self.tokens, self.merges, self.merge_counts, self.special_ids)
        if any(part is None for part in parts) != all(part is None for part in parts):
            raise ValueError("a part of the tokenizer's arrays is missing")
        if self.tokens is not None:
            same_size("tokens", len(self.tokens), len(self.words))
            check_tokenizer(self)
        if len(self.row_offsets) < 1 or self.row_offsets[0] != 0 or self.row_offsets[-1] != len(self.ids):
            raise ValueError("row_offsets do not span the ids")


@dataclass(kw_only=True)
class Counts(Artifact):
    """Co-occurrence counts as a sparse matrix in compressed rows, columns ascending within a row.

    data : int64 for flat weights, else float64; all > 0.  indices : int32 columns.  indptr : int64 (rows + 1).
    shape : int64 (2,).  words : of the columns; ``rows`` : labels of the rows where they are not the same words.
    unigram : int64, frequencies of ``words`` in the text.
    """

    kind: ClassVar[str] = "counts"
    members: ClassVar[dict[str, Member]] = {
        "data": Member(("i8", "f8")),
        "indices": Member(("i4",)),
        "indptr": Member(INT),
        "shape": Member(INT),
        **WORD,
        "row_bytes": Member(("u1",), required=False),
        "row_offsets": Member(INT, required=False),
        "unigram": Member(INT),
    }
    data: Any
    indices: Any
    indptr: Any
    shape: NDArray[np.int64]
    words: Words
    rows: Words | None = None
    unigram: NDArray[np.int64]

    def check(self) -> None:
        """Raise ValueError if sizes do not fit together."""
        same_size("shape", len(self.shape), 2)
        same_size("words", len(self.words), int(self.shape[1]))
        same_size("row labels", len(self.rows if self.rows is not None else self.words), int(self.shape[0]))
        same_size("unigram", len(self.unigram), len(self.words))
        same_size("indptr", len(self.indptr), int(self.shape[0]) + 1)
        same_size("indices", len(self.indices), len(self.data))
        if self.indptr[0] != 0 or self.indptr[-1] != len(self.data):
            raise ValueError("indptr does not span the data")


@dataclass(kw_only=True)
class Knn(Artifact):
    """The nearest neighbors of every row.

    neighbors : int32 (n, k), rows of the nearest words, nearest first; -1 where there are fewer than k.
    scores : float32 (n, k), cosine, dot product or distance; 0 where there is none.
    words : of the n rows.
    """

    kind: ClassVar[str] = "knn"
    members: ClassVar[dict[str, Member]] = {"neighbors": Member(("i4",), 2), "scores": Member(("f4",), 2), **WORD}
    neighbors: Any
    scores: Any
    words: Words

    def check(self) -> None:
        """Raise ValueError if sizes do not fit together."""
        same_size("words", len(self.words), len(self.neighbors))
        if self.neighbors.shape != self.scores.shape:
            raise ValueError(f"neighbors have shape {self.neighbors.shape}, scores {self.scores.shape}")


#: the kinds by name, and which command makes each
KINDS: dict[str, type[Artifact]] = {k.kind: k for k in (Tokenizer, Tokens, Counts, Vectors, Model, Context, Knn)}
MAKERS = {
    "tokenizer": "embcli bpe-train corpus.txt -o tokenizer.npz",
    "tokens": "embcli encode corpus.txt --words -o tokens.npz",
    "counts": "embcli cooc tokens.npz -o counts.npz",
    "vectors": "embcli svd counts.npz -o vectors.npz",
    "model": "embcli attend tokens.npz -o model.npz",
    "context": "embcli attend model.npz --text 'a river bank' -o context.npz",
    "knn": "embcli neighbors vectors.npz --all -o knn.npz",
}
