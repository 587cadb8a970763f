"""Oracle: the experiments of this project, run small on the bundled corpus: every step and every table is there."""

from __future__ import annotations

import shutil
from pathlib import Path

from conftest import DATA, ROOT, ok


def test_all_methods_on_one_leaderboard(tmp_path: Path) -> None:
    """compare.yaml with an epoch of everything; the tables have a row for each method, also of rare pairs."""
    (tmp_path / "experiments").mkdir()
    shutil.copy(ROOT / "experiments" / "compare.yaml", tmp_path / "experiments")
    small = {"epochs": 1, "glove_epochs": 1, "steps": 4, "batch": 4, "dim": 20, "min_count": 20}
    files = {"corpus": "corpus.txt", "similarity": "similarity.tsv", "analogies": "questions.txt"}
    settings = [*small.items(), *((name, DATA / file) for name, file in files.items())]
    args = [part for name, value in settings for part in ("--set", f"{name}={value}")]
    ran = ok("run", tmp_path / "experiments" / "compare.yaml", *args)
    rows = (
        "svd",
        "skipgram loss=negative",
        "skipgram loss=hierarchical",
        "cbow loss=negative",
        "glove",
        "fasttext",
        "attend",
    )
    board = ran.text[: ran.text.index("geometry")]
    for row in rows:
        assert board.count(f"  {row} ") >= 2, row  # similarity and analogies
    for said in ("similarity.tsv, rare", "fewer than 50 times", "effective rank", "Neighbors side by side", "family"):
        assert said in ran.text, said
    assert (tmp_path / "build" / "compare" / "report.html").exists()
