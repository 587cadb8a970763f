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
    FLOAT,
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


#: tables of a trainer besides ``vectors`` and ``contexts``
_TABLES = ("word_rows", "word_squares", "context_squares")


@dataclass(kw_only=True)
class Vectors(Artifact):
    """Word vectors.

    vectors : float32 (V, d), or float16, which is read as float32 (Halves).
    contexts : float32 (V, d), the second table of two-table models.
    word_rows : float32 (V, d), the words' own table where ``vectors`` are made of more than that.
    ngram_rows, ngram_buckets : of models with character n-grams (fastText), float32 (n, d), int64 (n,) ascending. A
    word's vector is the mean of its word row, if it is in the vocabulary, and of the rows of all its n-grams' buckets,
    where a bucket that is not here has a row of zeros; ``vectors`` are these means. The options ``min_n``, ``max_n``
    and ``buckets`` say what the n-grams are: see text/ngrams.py.
    singular_values : float64 (d,), descending.
    documents : float32 (documents, d), and ``labels``, one each (svd of document-term counts).
    nodes : float32 (V - 1, d), the inner nodes of the Huffman tree (hierarchical softmax), as they were made.
    bias, context_bias : float32 (V,), of the words and of the contexts (GloVe).
    word_squares, context_squares : float32 (V, d), bias_squares, context_bias_squares : float32 (V,), sums of squared
    gradients of AdaGrad, with 1 at the start (what --resume needs).
    epoch_loss, epoch_lr : float64 (epochs done,), mean loss per prediction, and the rate at the end of each epoch.
    """

    kind: ClassVar[str] = "vectors"
    members: ClassVar[dict[str, Member]] = {
        "vectors": Member(("f4", "f2"), 2),
        **WORD,
        "unigram": Member(INT),
        "contexts": Member(("f4",), 2, required=False),
        "ngram_buckets": Member(INT, required=False),
        "ngram_rows": Member(("f4",), 2, required=False),
        "singular_values": Member(FLOAT, required=False),
        "documents": Member(("f4",), 2, required=False),
        "nodes": Member(("f4",), 2, required=False),
        "bias": Member(("f4",), required=False),
        "context_bias": Member(("f4",), required=False),
        **{name: Member(("f4",), 2, required=False) for name in _TABLES},
        "bias_squares": Member(("f4",), required=False),
        "context_bias_squares": Member(("f4",), required=False),
        "epoch_loss": Member(FLOAT, required=False),
        "epoch_lr": Member(FLOAT, required=False),
        "label_bytes": Member(("u1",), required=False),
        "label_offsets": Member(INT, required=False),
    }
    vectors: Any
    words: Words
    unigram: NDArray[np.int64]
    contexts: Any = None
    ngram_buckets: Any = None
    ngram_rows: Any = None
    singular_values: Any = None
    documents: Any = None
    nodes: Any = None
    bias: Any = None
    context_bias: Any = None
    word_rows: Any = None
    word_squares: Any = None
    context_squares: Any = None
    bias_squares: Any = None
    context_bias_squares: Any = None
    epoch_loss: Any = None
    epoch_lr: Any = None
    labels: Words | None = None

    @property
    def summed(self) -> bool:
        """Whether ``vectors`` are the words' own rows plus ``contexts`` already (GloVe)."""
        return self.meta.get("step") == "glove" and self.options.get("output") == "sum"

    def addends(self, table: str) -> list[Any]:
        """Return the arrays that a table is the sum of: input is ``vectors``, output ``contexts``, sum both together.

        None is in it where an array is missing. What is a sum already is not added to once more.
        """
        if table == "sum" and self.summed:
            return [self.vectors]
        return {"input": [self.vectors], "output": [self.contexts], "sum": [self.vectors, self.contexts]}[table]

    def check(self) -> None:
        """Raise ValueError if sizes do not fit together."""
        same_size("words", len(self.words), len(self.vectors))
        same_size("unigram", len(self.unigram), len(self.words))
        if self.contexts is not None and self.contexts.shape != self.vectors.shape:
            raise ValueError(f"contexts have shape {self.contexts.shape}, vectors {self.vectors.shape}")
        self._check_ngrams()
        if self.singular_values is not None:
            same_size("singular_values", len(self.singular_values), self.vectors.shape[1])
        if self.epoch_loss is not None:
            same_size("epoch_lr", -1 if self.epoch_lr is None else len(self.epoch_lr), len(self.epoch_loss))
        if self.nodes is not None:
            same_size("nodes", len(self.nodes), max(len(self.words) - 1, 0))
        for name in ("bias", "context_bias", *_TABLES, "bias_squares", "context_bias_squares"):
            if getattr(self, name) is not None:
                same_size(name, len(getattr(self, name)), len(self.words))
        widths = [getattr(self, name).shape[1] for name in _TABLES if getattr(self, name) is not None]
        if len(set(widths)) > 1:
            raise ValueError(f"{', '.join(_TABLES)} have {widths} columns")
        if (self.documents is None) != (self.labels is None):
            raise ValueError("documents and their labels go together, and one is missing")
        if self.documents is not None and self.labels is not None:
            same_size("labels", len(self.labels), len(self.documents))
            same_size("dimensions of documents", self.documents.shape[1], self.vectors.shape[1])

    def _check_ngrams(self) -> None:
        """Raise ValueError if rows of words and of n-grams do not fit together, or no option explains them."""
        if self.ngram_buckets is None and self.ngram_rows is None:
            return
        if self.word_rows is None or self.ngram_buckets is None or self.ngram_rows is None:
            raise ValueError("word_rows, ngram_buckets and ngram_rows go together, and one is missing")
        if self.word_rows.shape != self.vectors.shape:
            raise ValueError(f"word_rows have shape {self.word_rows.shape}, vectors {self.vectors.shape}")
        same_size("ngram_buckets", len(self.ngram_buckets), len(self.ngram_rows))
        same_size("dimensions of ngram_rows", self.ngram_rows.shape[1], self.vectors.shape[1])
        for name in ("min_n", "max_n", "buckets"):
            value = self.options.get(name)
            if type(value) is not int or not 0 <= value < 1 << 31:
                raise ValueError(f"its options say nothing sensible about {name}")


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
