"""Models and contextual states as tables of rows with a word each, so that all queries read them like vectors."""

from __future__ import annotations

import numpy as np

from embcli.artifacts.schema import Artifact, Context, Model, Vectors


def as_vectors(artifact: Artifact) -> Artifact:
    """Return vectors for a model or for contextual states; anything else as it is.

    Of a model the input table are its token rows, without [MASK], and the output table its output rows; of a tied model
    there is no second one. Of contextual states (their words are word@text:position) the one table are the states as
    they were written, and a word's count is how often its token stands in the texts.
    """
    if isinstance(artifact, Model):
        V = len(artifact.words)
        made = Vectors(
            vectors=artifact.token_rows[:V],
            contexts=artifact.output_rows,
            words=artifact.words,
            unigram=artifact.unigram,
        )
    elif isinstance(artifact, Context):
        states = [np.asarray(artifact.text_at(i)[0]) for i in range(artifact.texts)]
        _, which, counts = np.unique(np.asarray(artifact.ids), return_inverse=True, return_counts=True)
        rows = np.concatenate(states) if len(states) > 1 else states[0]
        made = Vectors(vectors=rows, words=artifact.words, unigram=counts[which].astype(np.int64))
    else:
        return artifact
    made.stats, made.text, made.options, made.meta = artifact.stats, artifact.text, artifact.options, artifact.meta
    made.digest, made.path = artifact.digest, artifact.path
    return made
