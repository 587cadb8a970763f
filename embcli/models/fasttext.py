"""FastText: word2vec whose input vectors are means of the rows of words and character n-grams (Bojanowski et al. 2017).

The step ``embcli fasttext``. Training is word2vec.py's; what is different is which rows a word's vector is the mean of
(ngram_rows.py) and how steps reach them (kernels/means.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from embcli.artifacts.schema import Tokens, Vectors
from embcli.errors import KindError
from embcli.job import Job, human_bytes
from embcli.models import word2vec
from embcli.models.begin import Beginning
from embcli.models.shares import Make, Threads
from embcli.models.word2vec_plain import Prediction
from embcli.spec import FastTextParams


def train(inputs: Sequence[Tokens], params: FastTextParams, job: Job, crew: Make = Threads) -> Vectors:
    """Return vectors of the words of one text and of their n-grams.

    Parameters
    ----------
    inputs
        One tokens artifact of words; it stays on disk.
    params
        Options, as for word2vec; ``init`` may be vectors without n-grams, which then are the words' own rows.
    job
        As for word2vec; its ``note`` hears how large the artifact will be before training begins.
    crew
        As for word2vec.

    Returns
    -------
    Vectors
        As of word2vec, but ``vectors`` are means; ``word_rows``, ``ngram_buckets`` and ``ngram_rows`` are the input
        table. Only buckets that a word of the vocabulary uses have rows (those of ``init`` besides).

    Raises
    ------
    KindError : the tokens are of a BPE tokenizer.
    UsageError, InputError, NumbersError : as word2vec does.
    """
    return word2vec.train_from(_begin(inputs, params, job), inputs[0], params, job, crew)


def explain(inputs: Sequence[Tokens], params: FastTextParams, job: Job) -> tuple[Tokens, Iterator[Prediction]]:
    """Return the words (as tokens) and the first ``params.explain`` predictions of training, made slowly in float64."""
    return word2vec.explain_from(_begin(inputs, params, job), params, job)


def _begin(inputs: Sequence[Tokens], params: FastTextParams, job: Job) -> Beginning:
    (tokens,) = inputs
    if tokens.tokens is not None:
        raise KindError(
            f"{tokens.path or 'tokens'}: tokens of a BPE tokenizer are pieces of words already, cut one way each; "
            "fastText takes all character n-grams of whole words: encode the text with --words, or train word2vec on "
            "the pieces"
        )
    begun = word2vec.begin(tokens, params, job)
    V, n = begun.ngrams.words, len(begun.ngrams.buckets)
    job.note(f"{V:,} words and {n:,} n-gram rows: the artifact will take about {human_bytes(forecast(begun))}")
    return begun


def forecast(begun: Beginning) -> int:
    """Return about how many bytes the artifact will take."""
    params, V = begun.params, begun.ngrams.words
    tree = params.loss == "hierarchical"
    tables = 2 * V + len(begun.ngrams.buckets)  # vectors, word_rows, ngram_rows
    tables += len(begun.tables.outputs) if (params.state if tree else params.context_vectors) else 0
    words = len(begun.words.data) + 16 * V  # offsets, unigram
    return tables * 4 * begun.tables.dim + 8 * len(begun.ngrams.buckets) + words + 10_000
