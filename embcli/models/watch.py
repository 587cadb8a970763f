"""Scores of half-trained vectors on similarity and analogy files, one figure a file, for --eval."""

from __future__ import annotations

import os
from collections.abc import Sequence

from embcli.artifacts.schema import Vectors
from embcli.errors import InputError, UsageError
from embcli.job import Job
from embcli.query.evalfiles import Pairs, Questions, read_pairs, read_questions
from embcli.query.evaluate import evaluate
from embcli.query.lexicon import Lexicon
from embcli.spec import EvalParams


class Watch:
    """The files of --eval: read, and found to hold something that can be scored, before any training.

    Parameters
    ----------
    files : paths; what each holds is seen from its lines.
    about : words and frequencies of what will be trained; its vectors are not looked at.

    Raises
    ------
    UsageError : a file is stdin, which cannot be read each epoch, or given twice.
    InputError : a file cannot be read, or not one pair or question has all its words.
    """

    def __init__(self, files: Sequence[str], about: Vectors) -> None:
        found = {path: _read(path) for path in files}
        if len(found) < len(files):
            raise UsageError("--eval: a file is given twice")
        short = {path: os.path.basename(path) for path in files}
        clear = len(set(short.values())) == len(short)
        self.names = {path: short[path] if clear else path for path in files}
        self._files = found
        for path, held in found.items():
            entries = list(zip(held.lefts, held.rights, strict=True)) if isinstance(held, Pairs) else held.quads
            lexicon = Lexicon(about.words, about.unigram, {word for entry in entries for word in entry}, True, None)
            if not any(all(lexicon.row(word) >= 0 for word in entry) for entry in entries):
                raise InputError(
                    f"{path}: coverage 0 of {len(entries):,}: not one line has all its words in the text; is it the "
                    "same language, and were words split and lower-cased as in the file?"
                )

    def __call__(self, vectors: Vectors, threads: int) -> dict[str, float | None]:
        """Return by file the Spearman correlation, or the share of scored questions that 3CosAdd solves."""
        figures: dict[str, float | None] = {}
        for path, held in self._files.items():
            params = EvalParams(similarity=(path,)) if isinstance(held, Pairs) else EvalParams(analogies=(path,))
            found = evaluate([vectors], params, Job(threads=threads), ["vectors"], [held])
            figures[self.names[path]] = (
                found.similarity[0].spearman if found.similarity else found.analogies[0].accuracy
            )
        return figures


def _read(path: str) -> Pairs | Questions:
    """Return what a file holds: questions if its lines have four words, else word pairs with scores."""
    if path == "-":
        raise UsageError("--eval -: stdin cannot be read after each epoch; give a file")
    try:
        return read_questions(path)
    except InputError as questions:
        try:
            return read_pairs(path)
        except InputError as pairs:
            # of the two complaints the one of the reader that took the file for its own
            raise questions if "give it to --analogies" in str(pairs) else pairs from None
