"""Oracle: the pictures' own texts and numbers, and the same command once more."""

from __future__ import annotations

import json
import os
import re
import warnings
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from conftest import ROOT, embcli, failed, ok
from samples import save

from embcli.artifacts.schema import Vectors, Words
from embcli.report.looks import missing_glyphs

pytest.importorskip("matplotlib")

ODD = [
    "$x^2$",
    "<b>&amp;",
    'quo"te',
    "a\tb",
    "東京",
    " ",
    "plain",
    "</script><script>alert(1)</script>",
    "\u2028",
    "{css}",
]


def texts(svg: bytes) -> list[str]:
    """Return what is written in a picture."""
    root = ElementTree.fromstring(svg)
    return [("".join(e.itertext())).strip() for e in root.iter() if e.tag.endswith("}text")]


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return vectors of words that are hard to write into a file."""
    path = tmp_path_factory.mktemp("odd") / "odd.npz"
    table = np.random.default_rng(1).normal(size=(len(ODD), 6)).astype(np.float32)
    save(Vectors(vectors=table, words=Words.of(ODD), unigram=np.arange(len(ODD), 0, -1)), path)
    return path


@pytest.fixture(scope="module")
def trained(chain: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with short runs of three trainings."""
    folder = tmp_path_factory.mktemp("trained")
    for name, *more in (["w.npz"], ["v.npz", "--lr", "0.05"]):
        ok("word2vec", chain / "tokens.npz", "--dim", "10", "--epochs", "3", *more, "-o", folder / name)
    ok("glove", chain / "counts.npz", "--dim", "10", "--epochs", "4", "-o", folder / "g.npz")
    return folder


#: options, and words behind --
PICTURES = {
    "frequent": (["--frequent", "40"], []),
    "words": (["--around", "3", "--theme", "dark"], ["king", "queen", "king - man + woman"]),
    "t-sne": (["--frequent", "40", "--tsne"], []),
    "analogies": (["-s", "analogies"], ["king - man + woman", "man : uncle :: woman : ?"]),
    "spectrum": (["-s", "spectrum"], []),
    "frequency": (["-s", "frequency", "--format", "png"], ["king"]),
}


@pytest.mark.parametrize("name", PICTURES)
def test_the_same_bytes_whatever_the_threads_and_hash_seed(chain: Path, name: str) -> None:
    options, words = PICTURES[name]
    line = ["plot", "-o", "-", *options, chain / "vectors.npz", "--", *words]
    made = ok("plot", "--threads", "3", *line[1:]).out
    again = ok("plot", "--threads", "1", *line[1:], PYTHONHASHSEED="2").out
    assert made == again
    if "png" in options:
        assert made.startswith(b"\x89PNG")
    else:
        assert b"<dc:date>" not in made and texts(made)


def test_another_word_gives_another_picture(chain: Path) -> None:
    a, b = (ok("plot", chain / "vectors.npz", "king", word, "-o", "-").out for word in ("queen", "bread"))
    assert a != b and "queen" in texts(a) and "bread" in texts(b)


def test_given_words_are_all_labelled_and_unknown_ones_are_named(chain: Path) -> None:
    words = ["king", "queen", "prince", "princess", "bread", "butter"]
    ran = ok("plot", chain / "vectors.npz", *words, "hospitl", "-o", "-")
    assert set(words) <= set(texts(ran.out)) and "hospitl" not in texts(ran.out)
    assert "unknown word 'hospitl'; did you mean hospital?" in ran.talk
    failed(embcli("plot", chain / "vectors.npz", "hospitl", "-o", "-"), 1, "unknown word 'hospitl'")


def test_analogies_show_the_word_that_neighbors_finds(chain: Path) -> None:
    found = json.loads(ok("neighbors", chain / "vectors.npz", "uncle - man + woman", "--top", "1", "--json").text)
    ran = ok("plot", "-s", "analogies", chain / "vectors.npz", "uncle - man + woman", "-o", "-")
    assert f"uncle \u2212 man + woman = {found['word']}  {found['score']:.3f}" in texts(ran.out)
    assert {"uncle", "man", "woman", found["word"]} <= set(texts(ran.out))
    failed(embcli("plot", "-s", "analogies", chain / "vectors.npz", "uncle", "-o", "-"), 2, "a - b + c")


def test_an_analogy_without_an_answer_says_why(chain: Path, tmp_path: Path) -> None:
    for name, table in (("one.npz", [[1.0, 2]]), ("zero.npz", [[0.0, 0]] * 4)):
        words = Words.of("abcd"[: len(table)])
        save(
            Vectors(vectors=np.array(table, np.float32), words=words, unigram=np.ones(len(table), int)), tmp_path / name
        )
    asked = ["plot", "-o", "-", "-s", "analogies"]
    failed(embcli(*asked, tmp_path / "one.npz", "a - a + a"), 1, "'a - a + a' has no answer to draw: no word is left")
    failed(embcli(*asked, tmp_path / "zero.npz", "a - b + c"), 1, "its sum, or every other row, is zero")


def test_points_that_do_not_vary_have_no_share_of_the_variance(odd: Path, tmp_path: Path) -> None:
    for name, table in (("one.npz", [[1.0, 2]]), ("same.npz", [[1.0, 2]] * 3), ("zero.npz", [[0.0, 0]] * 3)):
        words = Words.of("abc"[: len(table)])
        save(
            Vectors(vectors=np.array(table, np.float32), words=words, unigram=np.ones(len(table), int)), tmp_path / name
        )
        assert "variance" not in ok("plot", tmp_path / name, "-o", "-").text
        ok("plot", tmp_path / name, "--html", tmp_path / "x.html")
        assert "variance" not in re.findall("<footer>.*", (tmp_path / "x.html").read_text(encoding="utf-8"))[0]
    assert "variance" in ok("plot", odd, "-o", "-").text


def test_characters_without_a_font_are_one_line_of_ours(tmp_path: Path) -> None:
    table = np.random.default_rng(2).normal(size=(4, 3)).astype(np.float32)
    words = Words.of(["plain", "\U00013000", "\U00013001\U00013000", "word"])  # hieroglyphs, which few fonts have
    save(Vectors(vectors=table, words=words, unigram=np.arange(4, 0, -1)), tmp_path / "v.npz")
    ran = ok("plot", tmp_path / "v.npz", "-o", tmp_path / "x.png")
    if "no font here" not in ran.talk:
        pytest.skip("a font of this machine has hieroglyphs")
    assert "no font here has \U00013000 \U00013001; a box" in ran.talk and len(ran.talk.splitlines()) == 2
    assert ok("plot", tmp_path / "v.npz", "-o", tmp_path / "y.png", "-q").talk == ""
    assert "no font" not in ok("plot", tmp_path / "v.npz", "-o", tmp_path / "x.svg").talk


def test_other_warnings_are_heard(recwarn: pytest.WarningsRecorder) -> None:
    with missing_glyphs() as found:
        warnings.warn("Glyph 26085 (x) missing from font(s) DejaVu Sans.", stacklevel=1)
        warnings.warn("another", stacklevel=1)
    assert found == {"\u65e5"} and [str(one.message) for one in recwarn] == ["another"]


def test_losses_of_one_objective_share_a_panel_and_no_others(trained: Path) -> None:
    names = [trained / name for name in ("w.npz", "v.npz", "g.npz")]
    found = texts(ok("plot", "-s", "loss", *names, "-o", "-").out)
    assert found.count("skip-gram, 5 negative samples") == 1 and found.count("GloVe") == 1
    assert {"w.npz", "v.npz", "g.npz"} <= set(found) and found.count("epoch") == 2
    assert any("cannot be compared" in text for text in found)
    assert not any("cannot be compared" in text for text in texts(ok("plot", "-s", "loss", *names[:2], "-o", "-").out))


def test_vectors_without_epochs_have_no_loss(chain: Path, trained: Path) -> None:
    ran = embcli("plot", "-s", "loss", trained / "w.npz", chain / "vectors.npz", "-o", "-")
    failed(ran, 1, "vectors.npz: keeps no loss, since svd has no epochs")


def test_a_spectrum_says_which_values_it_shows(chain: Path, trained: Path) -> None:
    one = texts(ok("plot", "-s", "spectrum", chain / "vectors.npz", "-o", "-").out)
    both = texts(ok("plot", "-s", "spectrum", chain / "vectors.npz", trained / "w.npz", "-o", "-").out)
    assert any("of the weighted counts" in text for text in one)
    assert any("of the table of vectors" in text for text in both)


def test_several_maps_stand_side_by_side(chain: Path, trained: Path) -> None:
    ran = ok("plot", "-o", "-", chain / "vectors.npz", trained / "w.npz", "--", "king", "queen", "bread")
    found = texts(ran.out)
    assert found.count("king") == 2 and {"vectors.npz", "w.npz"} <= set(found)


def test_odd_words_stay_what_they_are(odd: Path) -> None:
    found = texts(ok("plot", odd, "-o", "-").out)
    assert {"$x^2$", "<b>&amp;", 'quo"te', "a\\tb", "東京", "' '", "plain"} <= set(found)
    assert ok("plot", odd, "-o", "-", "--format", "png").out.startswith(b"\x89PNG")


def test_matplotlib_is_asked_for_by_name_and_pages_do_without(odd: Path, tmp_path: Path) -> None:
    (tmp_path / "matplotlib").mkdir()
    (tmp_path / "matplotlib" / "__init__.py").write_text("raise ImportError('not here')", encoding="utf-8")
    path = f"{tmp_path}{os.pathsep}{ROOT}"
    ran = embcli("plot", odd, "-o", tmp_path / "x.svg", PYTHONPATH=path)
    failed(ran, 1, "matplotlib", "pip install 'embcli[plot]'")
    assert not (tmp_path / "x.svg").exists()
    ok("plot", odd, "--html", tmp_path / "x.html", PYTHONPATH=path)


def test_t_sne_asks_for_scikit_learn_by_name(odd: Path, tmp_path: Path) -> None:
    (tmp_path / "sklearn").mkdir()
    (tmp_path / "sklearn" / "__init__.py").write_text("raise ImportError('not here')", encoding="utf-8")
    ran = embcli("plot", odd, "--tsne", "-o", tmp_path / "x.svg", PYTHONPATH=f"{tmp_path}{os.pathsep}{ROOT}")
    failed(ran, 1, "scikit-learn", "pip install 'embcli[tsne]'")


@pytest.mark.parametrize(
    ("options", "code", "part"),
    [
        ([], 2, "-o FILE"),
        (["-o", "x.pdf"], 2, "ends in .svg, .png or .html"),
        (["-o", "x.html", "-s", "loss"], 2, "a page shows a map"),
        (["-o", "x.svg", "-s", "loss", "--tsne"], 2, "--tsne"),
        (["-o", "x.svg", "--perplexity", "3"], 2, "--perplexity belongs to --tsne"),
        (["-o", "x.svg", "-s", "analogies"], 2, "give expressions"),
        (["-o", "none/x.svg"], 1, "make it first"),
        (["-o", "x.svg", "--show", "maps"], 2, "map"),
        (["-o", "x.svg", "--table", "output"], 3, "has no contexts"),
    ],
)
def test_what_cannot_be_meant_is_one_line(odd: Path, tmp_path: Path, options: list[str], code: int, part: str) -> None:
    failed(embcli("plot", odd, *options, cwd=tmp_path), code, part)
    assert list(tmp_path.iterdir()) == []


def test_wrong_kinds_are_refused_with_the_way_out(chain: Path) -> None:
    failed(embcli("plot", chain / "counts.npz", "-o", "-"), 3, "found 'counts'", "embcli svd")
    failed(embcli("plot", "-o", "-", chain / "vectors.npz", "king", chain / "counts.npz"), 2, "put -- between")


def test_json_says_what_was_written(odd: Path, tmp_path: Path) -> None:
    ran = ok("plot", odd, "-o", "m.svg", "--html", "m.html", "--json", cwd=tmp_path)
    lines = [json.loads(line) for line in ran.text.splitlines()]
    assert [(line["out"], line["format"]) for line in lines] == [("m.svg", "svg"), ("m.html", "html")]
    assert all(line["bytes"] == (tmp_path / line["out"]).stat().st_size for line in lines)


def test_labels_have_a_limit(chain: Path) -> None:
    ran = ok("plot", chain / "vectors.npz", "--frequent", "50", "--labels", "4", "-o", "-")
    found = [text for text in texts(ran.out) if re.fullmatch(r"[a-z']+", text) and text != "count"]
    assert len(found) == 4


def test_long_names_take_no_room_from_panels(trained: Path, tmp_path: Path) -> None:
    folder = tmp_path / ("a long name " * 8)
    folder.mkdir()
    (folder / "w.npz").write_bytes((trained / "w.npz").read_bytes())
    for show in ("loss", "spectrum"):
        svg = ok("plot", "-s", show, trained / "w.npz", folder / "w.npz", "-o", "-").text
        width = float(re.findall(r'viewBox="0 0 ([\d.]+)', svg)[0])
        left, right = map(float, re.findall(r'id="patch_2">\s*<path d="M ([\d.]+) [\d.]+\s*L ([\d.]+)', svg)[0])
        assert right - left > (0.8 if show == "loss" else 0.35) * width
        assert any(text.startswith("\u2026") and text.endswith("w.npz") for text in texts(svg.encode()))
