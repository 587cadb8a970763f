"""Oracle: sys.modules of a fresh process. What a light command loads decides how fast it starts."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT, environment

HEAVY = ("numpy", "scipy", "numba", "yaml")


def loaded(args: list[str], cwd: Path = ROOT, **env: str) -> set[str]:
    """Run a command line in a fresh process and return the names of the top modules that it loaded."""
    code = (
        "import sys, json\nfrom embcli.cli.app import main\n"
        f"try:\n    main({args!r})\nexcept SystemExit:\n    pass\n"
        "print('\\n' + json.dumps(sorted({m.split('.')[0] for m in sys.modules})))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, env=environment(**env), cwd=cwd, check=False
    )
    return set(json.loads(done.stdout.decode().splitlines()[-1]))


@pytest.mark.parametrize(
    "args",
    [["--help"], ["--version"], ["svd", "--help"], ["encode", "--help"], ["nonsense"], ["svd"], ["svd", "x.npz"],
     ["cooc", "x.npz", "-o", "y.npz", "--window", "0"], ["svd", "x.npz", "-o", "y.npz", "--weight", "tf"],
     ["run", "--help"], ["run", "x.yaml", "--jobs", "0"], ["plot", "--help"], ["plot", "x.npz", "-o", "x.pdf"]],
    ids=" ".join,
)  # fmt: skip
def test_light_paths_load_nothing_heavy(args: list[str]) -> None:
    assert not loaded(args) & set(HEAVY)


def test_completion_loads_nothing_heavy() -> None:
    names = loaded([], _EMBCLI_COMPLETE="complete_bash", COMP_WORDS="embcli sv", COMP_CWORD="1")
    assert not names & set(HEAVY)


REPORTS = ("neighbors vectors.npz king", "neighbors counts.npz king", "info vectors.npz", "info counts.npz --top 3",
           f"eval vectors.npz -a {ROOT / 'data' / 'questions.txt'} --geometry")  # fmt: skip


@pytest.mark.parametrize("args", [report.split() for report in REPORTS], ids=" ".join)
def test_reports_load_neither_numba_nor_scipy(chain: Path, args: list[str]) -> None:
    names = loaded(args, cwd=chain)
    assert "numpy" in names
    assert not names & {"numba", "scipy", "llvmlite", "matplotlib"}


def test_a_page_is_made_without_matplotlib_or_scipy(chain: Path) -> None:
    names = loaded(["plot", "vectors.npz", "--frequent", "9", "--html", "x.html"], cwd=chain)
    assert not names & {"matplotlib", "sklearn", "scipy", "rich"}


def test_a_run_that_is_up_to_date_loads_neither_numba_nor_scipy(tmp_path: Path) -> None:
    (tmp_path / "c.txt").write_text("a b a b\n" * 9, encoding="utf-8")
    steps = "steps:\n  t: {use: encode, inputs: c.txt, words: true}\n  k: {use: cooc, inputs: t}\n"
    (tmp_path / "e.yaml").write_text(f"{steps}report: [{{use: neighbors, inputs: k, queries: a}}]\n", encoding="utf-8")
    assert "numba" in loaded(["run", "e.yaml"], cwd=tmp_path)
    assert "yaml" in loaded(["run", "e.yaml"], cwd=tmp_path)
    assert not loaded(["run", "e.yaml"], cwd=tmp_path) & {"numba", "scipy", "llvmlite"}


def test_the_guard_sees_what_is_loaded(chain: Path) -> None:
    assert "numba" in loaded(["cooc", "tokens.npz", "-o", str(chain / "again.npz")], cwd=chain)
