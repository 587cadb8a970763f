"""Write tables.npz: the two tables of the worked step of full-softmax skip-gram, for ``word2vec --init``.

    python experiments/worked/tables.py

Every input row is at (0, 0); the output rows are like (1, 0) and the others (-1, 0), (0, 1), (0, -1), (0, 0): they sum
to zero. Only needed if the file format changes.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from embcli.artifacts import provenance, store
from embcli.artifacts.schema import Vectors, Words
from embcli.spec import STEPS

WORDS = ["like", "cats", "dogs", "pizza", "I"]
OUTPUTS = [(1, 0), (-1, 0), (0, 1), (0, -1), (0, 0)]


def main() -> None:
    """Write the file beside this program."""
    made = Vectors(
        vectors=np.zeros((5, 2), np.float32), contexts=np.array(OUTPUTS, np.float32), words=Words.of(WORDS),
        unigram=np.zeros(5, np.int64),
    )  # fmt: skip
    meta = provenance.compose("svd", STEPS["svd"].params(), 0, [], made)
    store.write(made, str(Path(__file__).with_name("tables.npz")), meta)


if __name__ == "__main__":
    main()
