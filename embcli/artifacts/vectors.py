"""The kind of artifact that holds word vectors, and what trainers leave beside them. The other kinds: schema.py."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from embcli.artifacts.base import FLOAT, INT, WORD, Artifact, Member, Words, same_size

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
