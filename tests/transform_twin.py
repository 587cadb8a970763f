"""Vectors made from matrices, and transform run on them with its rows gathered, for the tests of transform."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from samples import meta_of

from embcli.artifacts import store
from embcli.artifacts.schema import Blocks, Vectors, Words
from embcli.job import Job
from embcli.models.transform import transform
from embcli.spec import TransformParams


def vectors_of(table: Any, words: list[str] | None = None, contexts: Any = None, **fields: Any) -> Vectors:
    """Return a matrix as vectors of the words w0, w1, ... or of those given."""
    table = np.asarray(table, np.float32)
    names = words or [f"w{i}" for i in range(len(table))]
    second = None if contexts is None else np.asarray(contexts, np.float32)
    frequencies = np.arange(len(names), 0, -1)
    return Vectors(vectors=table, words=Words.of(names), unigram=frequencies, contexts=second, **fields)


def gathered(made: Any) -> Any:
    """Return an array that is produced while it is taken as an array."""
    if not isinstance(made, Blocks):
        return made
    return np.concatenate([np.zeros((0, *made.item_shape), made.dtype), *made.blocks])


def transformed(*inputs: Any, threads: int = 1, warnings: list[str] | None = None, **options: Any) -> Vectors:
    """Run the step on vectors, or on matrices."""
    given = [each if isinstance(each, Vectors) else vectors_of(each) for each in inputs]
    said = warnings if warnings is not None else []
    params = TransformParams(**options)
    params.check()
    made = transform(given, params, Job(threads=threads, warn=said.append))
    made.vectors, made.documents = gathered(made.vectors), gathered(made.documents)
    made.check()
    return made


def saved(path: Path, table: Any, words: list[str] | None = None, **fields: Any) -> str:
    """Write vectors to a file and return its name."""
    artifact = vectors_of(table, words, **fields)
    store.write(artifact, str(path), meta_of(artifact))
    return str(path)
