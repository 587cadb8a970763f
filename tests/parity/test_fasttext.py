"""Oracle: the original program (EMBCLI_FASTTEXT, or fasttext on the path) and gensim; each is skipped where absent."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import embcli, failed, ok, shared

from embcli.artifacts import store
from embcli.query.subwords import Subwords
from embcli.text.ngrams import fragments

MODELS = ("toy-model", "crime-and-punishment")
OLD = ("lee_fasttext", "non_ascii_fasttext")
UNSEEN = ["zzqx", "naïvely", "東京都", "q", "ünsëen", "Преступлением", "</s>", "👍🏽👍"]


def original(*args: str | bytes | Path, stdin: bytes = b"") -> bytes:
    """Run the original program."""
    program = os.environ.get("EMBCLI_FASTTEXT") or shutil.which("fasttext")
    if not program:
        pytest.skip("the original fastText is not here (EMBCLI_FASTTEXT)")
    return subprocess.run([program, *map(os.fspath, args)], input=stdin, capture_output=True, check=True).stdout


def awkward() -> list[bytes]:
    """Return the different words of all awkward text, as bytes between white space."""
    folder = shared() / "text-awkward"
    found: dict[bytes, None] = {}
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        found |= dict.fromkeys(path.read_bytes().replace(b"\0", b" ").split())
    return [word for word in found if len(word) < 300 and not word.startswith(b"-")]


@pytest.fixture(params=MODELS)
def converted(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, Any]:
    source = shared() / "vectors" / f"{request.param}.bin"
    ok("convert", source, "-o", tmp_path / "m.npz")
    return source, store.read(str(tmp_path / "m.npz"))


def vectors(made: Any, words: list[str]) -> np.ndarray:
    subwords = Subwords.of(made)
    assert subwords is not None
    return np.array([subwords.spell(word).vector for word in words])


def printed(model: Path, words: list[bytes]) -> np.ndarray:
    """Return what the original prints for words, five digits a number."""
    lines = original("print-word-vectors", model, stdin=b"\n".join(words) + b"\n").split(b"\n")[:-1]
    assert [line.rsplit(b" ", 6)[0] for line in lines] == words
    return np.array([[float(x) for x in line.split()[-5:]] for line in lines])


def test_vectors_are_those_that_the_original_prints(converted: tuple[Path, Any], tmp_path: Path) -> None:
    """Every word, unseen ones, and all awkward text; then the same of the file that we write."""
    source, made = converted
    words = [*made.words, *UNSEEN]
    assert np.allclose(printed(source, [w.encode() for w in words]), vectors(made, words), rtol=6e-5, atol=1e-9)
    raw = awkward()[::7]
    spelled = [word.decode("utf-8", "surrogateescape") for word in raw]
    due = printed(source, raw)
    assert np.allclose(due, vectors(made, spelled), rtol=6e-5, atol=2e-7)
    assert not np.allclose(due[1:], vectors(made, spelled[:-1]), rtol=6e-5, atol=2e-7)
    ok("convert", made.path, "--to", "fasttext-binary", "-o", tmp_path / "again.bin")
    assert (tmp_path / "again.bin").read_bytes() == source.read_bytes()


def test_ngrams_are_those_that_the_original_prints(converted: tuple[Path, Any]) -> None:
    """The program reads one word a call, so some of the awkward ones."""
    source, made = converted
    known = set(made.words)
    some = [word for word in awkward()[::997] if word.decode("utf-8", "replace") not in known]
    assert len(some) > 30
    for word in some:
        lines = original("print-ngrams", source, word).split(b"\n")[:-1]
        assert [line.rsplit(b" ", 6)[0] for line in lines] == [p.data for p in fragments(word, 3, 6, 100)]


def test_text_vectors_agree_with_the_model(tmp_path: Path) -> None:
    """Files that the original's authors wrote, the old layout too; five digits a number."""
    folder = shared() / "vectors"
    for name in (*MODELS, "lee_fasttext"):
        ok("convert", folder / f"{name}.bin", "-o", tmp_path / "bin.npz")
        ok("convert", folder / f"{name}.vec", "-o", tmp_path / "vec.npz")
        a: Any = store.read(str(tmp_path / "bin.npz"))
        b: Any = store.read(str(tmp_path / "vec.npz"))
        assert list(a.words) == list(b.words) and np.allclose(a.vectors, b.vectors, rtol=6e-5, atol=1e-7)


@pytest.mark.parametrize("name", [*MODELS, *OLD])
def test_gensim_reads_what_we_write(name: str, tmp_path: Path) -> None:
    """Words and unseen ones; gensim gives n-grams to the end of a line, which the original does not."""
    gensim = pytest.importorskip("gensim.models.fasttext")
    ok("convert", shared() / "vectors" / f"{name}.bin", "-o", tmp_path / "m.npz")
    ok("convert", tmp_path / "m.npz", "--to", "fasttext-binary", "-o", tmp_path / "m.bin")
    theirs, made = gensim.load_facebook_model(str(tmp_path / "m.bin")).wv, store.read(str(tmp_path / "m.npz"))
    words = [w for w in [*made.words, *UNSEEN] if w != "</s>"]  # type: ignore[attr-defined]
    assert np.abs(np.array([theirs[w] for w in words]) - vectors(made, words)).max() < 2e-6


def test_a_classifier_is_refused_and_words_in_another_encoding_are_said(tmp_path: Path) -> None:
    folder = shared() / "vectors"
    failed(embcli("convert", folder / "pang_lee_polarity_fasttext.bin", "-o", tmp_path / "x.npz"), 1, "is a supervised")
    failed(
        embcli("convert", folder / "cp852_fasttext.bin", "-o", tmp_path / "x.npz"), 1, "is not UTF-8 (69 such words)"
    )
