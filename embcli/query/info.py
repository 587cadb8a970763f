"""What an artifact holds and how it was made, as plain data that is ready for JSON. Prints nothing; opens nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from embcli.artifacts.build import member_of
from embcli.artifacts.schema import Artifact, Counts, Knn, Tokenizer, Tokens, Vectors, Words, readable
from embcli.errors import InputError, KindError
from embcli.query.lookup import find, heads, suggest, words_at
from embcli.query.subwords import Subwords
from embcli.spec import InfoParams

#: words, cells and numbers of a first row that are shown
_WORDS, _CELLS, _NUMBERS = 12, 5, 6


def facts_of(artifact: Artifact) -> dict[str, Any]:
    """Return of an opened artifact what the store says about a file: for stdin, which cannot be read twice."""
    members = []
    for name in artifact.names():
        array = member_of(artifact, name)
        if array is not None:
            members.append({"name": name, "dtype": str(array.dtype), "shape": list(array.shape), "bytes": array.nbytes})
    size = sum(member["bytes"] for member in members)
    return {"size": size, "digest": artifact.digest, "meta": artifact.meta, "members": members}


def describe(facts: dict[str, Any], artifact: Artifact | None, params: InfoParams) -> dict[str, Any]:
    """Return what there is to say about an artifact.

    Parameters
    ----------
    facts
        What the store says about the file: ``size``, ``digest``, ``members``, ``meta`` (store.peek, or facts_of).
    artifact
        The same file opened; None if this version of embcli cannot open its kind.
    params
        ``rows`` is how many first rows are shown.

    Returns
    -------
    dict
        ``kind step embcli size digest seed options text inputs parents stats members``; ``parents`` as digest, kind,
        step and options of every ancestor, the eldest first; ``first``, a list of records by kind (tokens: row, tokens,
        text; counts: word (or document), cells, heaviest; vectors: word, count, norm, numbers;
        knn: word, neighbors); ``loss``, ``rate`` (of each epoch) and ``singular_values`` where there are any.
    """
    meta = facts["meta"]
    keys = ("kind", "step", "embcli", "seed", "options", "text", "inputs", "stats")
    found = {key: meta.get(key) for key in keys} | {key: facts[key] for key in ("size", "digest", "members")}
    kept = ("digest", "kind", "step", "options")
    found["parents"] = [{key: parent.get(key) for key in kept} for parent in meta.get("parents", [])]
    rows = _FIRST.get(type(artifact))
    if rows is not None and params.rows:
        found["first"] = rows(artifact, params.rows)
    for name, key in (("epoch_loss", "loss"), ("epoch_lr", "rate"), ("singular_values", "singular_values")):
        values = getattr(artifact, name, None)
        if values is not None:
            found[key] = np.asarray(values, np.float64).tolist()
    return found


def _first_tokens(tokens: Tokens, rows: int) -> list[dict[str, Any]]:
    """Return the first rows of a text, each cut after a few words. A dropped word that kept its place is _."""
    found = []
    ends = np.asarray(tokens.row_offsets[: rows + 1]).tolist()
    for row, (start, stop) in enumerate(pairwise(ends)):
        ids = np.asarray(tokens.ids[start : min(stop, start + _WORDS)], np.int64)
        known = ids < len(tokens.words)
        words = iter(words_at(tokens.words, ids[known]))
        shown = [next(words) if here else "_" for here in known.tolist()]
        joint = "" if (tokens.text or {}).get("split") == "chars" else "|" if tokens.tokens is not None else " "
        text = joint.join(shown) + (" ..." if stop - start > _WORDS else "")
        found.append({"row": row + 1, "tokens": stop - start, "text": text})
    return found


def _first_counts(counts: Counts, rows: int) -> list[dict[str, Any]]:
    """Return the first rows of counts: how many cells each has, and the heaviest of them."""
    labels, what = (counts.words, "word") if counts.rows is None else (counts.rows, "document")
    found = []
    for row in range(min(rows, int(counts.shape[0]))):
        start, stop = int(counts.indptr[row]), int(counts.indptr[row + 1])
        data, columns = np.asarray(counts.data[start:stop]), np.asarray(counts.indices[start:stop])
        top = np.lexsort((columns, -data))[:_CELLS]
        heaviest = [[word, n] for word, n in zip(words_at(counts.words, columns[top]), data[top].tolist(), strict=True)]
        found.append({what: labels[row], "cells": stop - start, "heaviest": heaviest})
    return found


def _first_vectors(vectors: Vectors, rows: int) -> list[dict[str, Any]]:
    """Return the first words with count, length of the vector, and its first numbers."""
    table = np.asarray(vectors.vectors[:rows], np.float64)
    norms = np.sqrt((table * table).sum(1)).tolist()
    return [
        {
            "word": vectors.words[row],
            "count": int(vectors.unigram[row]),
            "norm": float(f"{norms[row]:.7g}"),
            "numbers": [float(f"{x:.7g}") for x in table[row, :_NUMBERS].tolist()],
        }
        for row in range(len(table))
    ]


def _first_merges(made: Tokenizer, rows: int) -> list[dict[str, Any]]:
    """Return the first and the last merges: the two parts, and how often they stood together."""
    n = len(made.merges)
    chosen = [*range(min(rows, n)), *range(max(n - rows, rows), n)]
    parts = [[readable(made.tokens.bytes_at(part)) for part in made.merges[i].tolist()] for i in chosen]
    return [
        {"merge": i + 1, "left": left, "right": right, "count": int(made.merge_counts[i])}
        for i, (left, right) in zip(chosen, parts, strict=True)
    ]


def _first_knn(knn: Knn, rows: int) -> list[dict[str, Any]]:
    """Return the first words with their nearest neighbors and the scores of these."""
    found = []
    for row in range(min(rows, len(knn.words))):
        near = np.asarray(knn.neighbors[row, :_CELLS], np.int64)
        listed = near >= 0
        scores = [float(f"{score:.6g}") for score in knn.scores[row, :_CELLS][listed].tolist()]
        pairs = zip(words_at(knn.words, near[listed]), scores, strict=True)
        found.append({"word": knn.words[row], "neighbors": [[word, score] for word, score in pairs]})
    return found


_FIRST: dict[type, Callable[[Any, int], list[dict[str, Any]]]] = {
    Tokenizer: _first_merges, Tokens: _first_tokens, Counts: _first_counts, Vectors: _first_vectors, Knn: _first_knn,
}  # fmt: skip


def ngrams(artifact: Artifact | None, word: str, name: str) -> dict[str, Any]:
    """Return how a word is composed of its own row and of its character n-grams.

    ``word``, ``known`` (in the vocabulary), ``terms`` (rows that the mean is of), ``vector`` (d numbers), and
    ``parts``: ``fragment`` (bytes that are no UTF-8 as escapes), ``hash``, ``bucket``, ``row`` (of ngram_rows, None:
    zeros), ``norm``. The word's own row is the first part, without hash and bucket.

    Raises KindError if the artifact has no n-grams, InputError for a word that has nothing to be composed of.
    """
    made = Subwords.of(artifact) if isinstance(artifact, Vectors) else None
    if made is None or not isinstance(artifact, Vectors):
        raise KindError(
            f"{name}: has no character n-grams; 'embcli fasttext tokens.npz -o vectors.npz' makes vectors of them"
        )
    found = made.spell(word)
    if found.row < 0 and not found.parts:
        raise InputError(f"{name}: the word {word!r} is not in the vocabulary, and {made.unseen(word)[1]}")
    parts: list[dict[str, Any]] = []
    if found.row >= 0:
        own = {"fragment": word, "hash": None, "bucket": None, "row": found.row}
        parts.append(own | {"norm": _norm(artifact.word_rows[found.row])})
    for part, row in zip(found.parts, found.rows, strict=True):
        of_part = {"fragment": readable(part.data), "hash": part.hash, "bucket": part.bucket}
        of_part |= {"row": row, "norm": _norm(artifact.ngram_rows[row])} if row >= 0 else {"row": None, "norm": 0.0}
        parts.append(of_part)
    vector = [float(f"{x:.9g}") for x in found.vector.tolist()]
    return {"word": word, "known": found.row >= 0, "terms": len(parts), "vector": vector, "parts": parts}


def _norm(row: Any) -> float:
    """Return the length of a row, as precisely as float32 can tell it."""
    wide = np.asarray(row, np.float64)
    return float(f"{np.sqrt((wide * wide).sum()):.7g}")


def vocabulary(artifact: Artifact | None, name: str) -> Iterator[tuple[str, int]]:
    """Yield the words of an artifact with their counts, in their order. Raises KindError if it has none."""
    if isinstance(artifact, Tokenizer):
        spelled = (artifact.tokens.bytes_at(i) for i in range(len(artifact.tokens)))
        return ((token.decode("utf-8", "backslashreplace"), i) for i, token in enumerate(spelled))
    words = getattr(artifact, "words", None)
    if artifact is None or words is None or not hasattr(artifact, "unigram"):
        raise KindError(f"{name}: has no vocabulary to print")
    return zip(words, artifact.unigram.tolist(), strict=True)  # type: ignore[attr-defined]


def pair_weights(artifact: Artifact | None, pairs: Sequence[tuple[str, str, float]], params: InfoParams) -> list[float]:
    """Return the weight of each pair that ``pair_count`` returned: of its count, with the margins of all counts.

    PMI is in nats; a pair that never met weighs 0. Raises InputError if the counts are damaged.
    """
    from embcli.counts import weighting

    if not isinstance(artifact, Counts) or params.weight is None:
        return []
    rows = artifact.words if artifact.rows is None else heads(artifact.rows)
    margins = weighting.marginals(artifact, params.cds, idf="plain" if params.weight == "tfidf" else None)
    found = []
    for word, context, n in pairs:
        row, column = find(rows, [word])[word], find(artifact.words, [context])[context]
        cell = weighting.Cells(row, np.ones(1, np.int64), np.array([column], np.int32), np.array([float(n)]))
        found.append(float(weighting.weigh(cell, params.weight, margins)[0]) if n else 0.0)
    return found


def pair_count(artifact: Artifact | None, pair: str, name: str) -> tuple[str, str, float]:
    """Return (word, context, count) of a pair ``"word context"``; a pair that never met counts 0.

    A blank may be part of either word: the pair is cut where both halves are words. Where rows are documents, the
    first is what stands before the colon of a label (doc17).

    Raises
    ------
    KindError : the artifact holds no counts.
    InputError : there are not two words, or one is unknown.
    """
    if not isinstance(artifact, Counts):
        raise KindError(f"{name}: --pair reads counts; run 'embcli cooc tokens.npz -o counts.npz' first")
    rows = artifact.words if artifact.rows is None else heads(artifact.rows)
    word, context = _halves(rows, artifact.words, pair, name)
    from embcli.counts.pairs import count_of

    return word, context, count_of(artifact, find(rows, [word])[word], find(artifact.words, [context])[context])


def _halves(rows: Words, columns: Words, pair: str, name: str) -> tuple[str, str]:
    """Return the two words of a pair."""
    parts = pair.split()
    cuts = [(" ".join(parts[:i]), " ".join(parts[i:])) for i in range(1, len(parts))]
    if not cuts:
        raise InputError(f"--pair {pair!r}: expected two words with a blank between them")
    left, right = find(rows, [a for a, _ in cuts]), find(columns, [b for _, b in cuts])
    for a, b in cuts:
        if a in left and b in right:
            return a, b
    a, b = cuts[0]
    unknown, words = (a, rows) if a not in left else (b, columns)
    near = suggest(words, unknown)
    raise InputError(f"{name}: unknown word {unknown!r}" + (f"; did you mean {', '.join(near)}?" if near else ""))


def heaviest_pairs(artifact: Artifact | None, n: int, name: str) -> Sequence[tuple[str, str, float]]:
    """Return the n pairs of counts that weigh most, as (word, context, count). Raises KindError for another kind."""
    if not isinstance(artifact, Counts):
        raise KindError(f"{name}: --top reads counts; run 'embcli cooc tokens.npz -o counts.npz' first")
    from embcli.counts.pairs import heaviest

    return list(heaviest(artifact, n))
