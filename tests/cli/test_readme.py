"""Oracle: README.md. Every command that it shows prints what it shows, and its Python lines run."""

from __future__ import annotations

import doctest
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT, environment

README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_commands_print_what_the_readme_shows() -> None:
    assert README.count("```console") >= 2
    script = [sys.executable, str(ROOT / "experiments" / "readme.py")]
    done = subprocess.run(script, capture_output=True, env=environment(), check=False)
    assert done.returncode == 0, done.stdout.decode()


def test_a_changed_output_would_be_seen(tmp_path: Path) -> None:
    sys.path.insert(0, str(ROOT / "experiments"))
    try:
        from readme import run, same  # type: ignore[import-not-found]
    finally:
        sys.path.pop(0)
    assert run("$ echo one\nnone\n", tmp_path, environment()) == "$ echo one\none\n"
    assert same("a 0.1234, 1.0 s\n", "a 0.1235, 2.0 s\n")
    assert not same("a 0.1234\n", "a 0.1237\n")
    assert not same("a 1\n", "b 1\n")


def test_the_lines_of_numpy_load_words_and_vectors(chain: Path) -> None:
    code = re.search(r"```python\n(.*?)```", README, re.S)
    assert code is not None and len(code[1].strip().splitlines()) == 5
    ending = "print(words[0], vectors.shape == (len(words), 150), meta['step'])"
    done = subprocess.run([sys.executable, "-c", f"{code[1]}\n{ending}"], cwd=chain, capture_output=True, check=True)
    assert done.stdout.decode().split() == ["the", "True", "svd"]


def test_the_artifacts_are_what_plain_numpy_sees(chain: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sessions of the page on plain NumPy are doctests, behind its five lines, in a folder with the artifacts."""
    monkeypatch.chdir(chain)
    page = README[README.index("## Artifacts for people with plain NumPy") : README.index("## The file format")]
    names: dict[str, object] = {}
    exec(re.search(r"```python\n(.*?)```", page, re.S)[1], names)  # type: ignore[index]
    sessions = re.findall(r"```pycon\n(.*?)```", page, re.S)
    assert len(sessions) == 3
    parser, runner, said = doctest.DocTestParser(), doctest.DocTestRunner(verbose=False), list[str]()
    for i, session in enumerate(sessions):
        test = parser.get_doctest(session, names, f"session {i + 1}", "README.md", 0)
        runner.run(test, out=said.append, clear_globs=False)
        names = test.globs
    assert runner.summarize(verbose=False) == doctest.TestResults(0, 14), "".join(said)
    wrong = parser.get_doctest(sessions[0].replace("(3013, 150)", "(3013, 151)"), names, "wrong", "README.md", 0)
    assert runner.run(wrong, out=said.append).failed == 1
