"""Oracle: the artifacts' own arrays and the pictures' texts: attention, losses by step, maps of contextual states."""

from __future__ import annotations

import base64
import json
import re
import struct
import zlib
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from conftest import embcli, failed, ok

pytest.importorskip("matplotlib")


def texts(svg: bytes) -> list[str]:
    """Return what is written in a picture."""
    root = ElementTree.fromstring(svg)
    return [("".join(e.itertext())).strip() for e in root.iter() if e.tag.endswith("}text")]


def pixels(png: bytes) -> np.ndarray:
    """Return the numbers of a picture with a palette, one byte each, without filters."""
    width, height = struct.unpack(">II", png[16:24])
    at, data = 8, b""
    while at < len(png):
        size, name = struct.unpack(">I4s", png[at : at + 8])
        data += png[at + 8 : at + 8 + size] if name == b"IDAT" else b""
        at += 12 + size
    return np.frombuffer(zlib.decompress(data), np.uint8).reshape(height, width + 1)[:, 1:]


@pytest.fixture(scope="module")
def made(chain: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a model, the states of one and of two texts, and a second model."""
    folder = tmp_path_factory.mktemp("made")
    size = ["--layers", "2", "--heads", "2", "--dim", "16", "--context", "16", "--batch", "4", "--steps", "30"]
    ok("attend", chain / "tokens.npz", *size, "--heldout", "0.05", "--report", "10", "-o", folder / "m.npz")
    ok("attend", chain / "tokens.npz", *size, "--lr", "0.01", "--heldout", "0", "-o", folder / "n.npz")
    ok("attend", folder / "m.npz", "--text", "the king sat near the bread", "-o", folder / "one.npz")
    ok("attend", folder / "m.npz", "--text", "the king sat", "--text", "bread and the king", "-o", folder / "two.npz")
    return folder


def test_the_svg_of_attention_holds_the_weights(made: Path) -> None:
    svg = ok("plot", "-s", "attention", made / "one.npz", "-o", "-").out
    pictures = [base64.b64decode(each) for each in re.findall(rb"base64,([A-Za-z0-9+/=]+)", svg)]
    weights = np.load(made / "one.npz")["weights"].reshape(4, 6, 6)
    assert len(pictures) == 4
    for picture, due in zip(pictures, weights, strict=True):
        np.testing.assert_allclose((pixels(picture) / 255.0) ** 2, due, atol=0.005)
    found = texts(svg)
    assert found.count("king") == 8 and found.count("the") == 16 and "layer 2, head 1" in found


def test_the_page_of_attention_is_that_of_attend(made: Path, tmp_path: Path) -> None:
    ok("plot", "-s", "attention", made / "two.npz", "--html", tmp_path / "a.html")
    ok(
        "attend",
        made / "m.npz",
        "--text",
        "the king sat",
        "--text",
        "bread and the king",
        "--html",
        tmp_path / "b.html",
    )
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()


def test_attention_in_pixels(made: Path) -> None:
    one = ok("plot", "-s", "attention", made / "one.npz", "-o", "-", "--format", "png").out
    dark = ok("plot", "-s", "attention", made / "one.npz", "-o", "-", "--format", "png", "--theme", "dark").out
    assert one.startswith(b"\x89PNG") and dark.startswith(b"\x89PNG") and one != dark
    assert ok("plot", "-s", "attention", made / "two.npz", "-o", "-", "--format", "png").out.startswith(b"\x89PNG")


def test_losses_of_models_are_by_step_with_held_out_ones_beside(chain: Path, made: Path, tmp_path: Path) -> None:
    ok("word2vec", chain / "tokens.npz", "--dim", "8", "--epochs", "2", "--heldout", "0.1", "-o", tmp_path / "w.npz")
    names = [made / "m.npz", made / "n.npz", tmp_path / "w.npz"]
    found = texts(ok("plot", "-s", "loss", *names, "-o", "-").out)
    assert found.count("next token") == 1 and {"m.npz", "n.npz", "m.npz, held out"} <= set(found)
    assert "n.npz, held out" not in found and "held-out text, full softmax" in found
    assert "step" in found and found.count("epoch") == 2 and "Loss by step and epoch" in found


def test_a_word_is_all_places_where_it_stands(made: Path) -> None:
    found = texts(ok("plot", made / "two.npz", "king", "-o", "-").out)
    assert {"king@1:2", "king@2:4"} <= set(found) and "the@1:1" not in found
    every = texts(ok("plot", made / "two.npz", "-o", "-").out)
    assert len([text for text in every if re.fullmatch(r"\w+@\d:\d", text)]) == 7 and "All 7 tokens in two.npz" in every
    one = texts(ok("plot", made / "two.npz", "king@2:4", "--around", "2", "-o", "-").out)
    near = [json.loads(line)["word"] for line in ok("neighbors", made / "two.npz", "king@2:4", "--top", "2",
                                                     "--json").text.splitlines()]  # fmt: skip
    assert {"king@2:4", *near} <= set(one) and "Tokens and their neighbors in two.npz" in one
    failed(embcli("plot", made / "two.npz", "queen", "-o", "-"), 1, "unknown word 'queen'")


def test_maps_read_models_and_compose_unseen_words(chain: Path, made: Path, tmp_path: Path) -> None:
    assert {"king", "bread"} <= set(texts(ok("plot", made / "m.npz", "king", "bread", "-o", "-").out))
    ok("fasttext", chain / "tokens.npz", "--dim", "8", "--epochs", "1", "--buckets", "999", "-o", tmp_path / "f.npz")
    assert {"king", "kingly"} <= set(texts(ok("plot", tmp_path / "f.npz", "king", "kingly", "bread", "-o", "-").out))
    failed(embcli("plot", made / "m.npz", "king", "kingly", "-o", tmp_path / "x.svg", "--tsne"), 1, "at least 4")


def test_what_has_no_such_picture_is_one_line(chain: Path, made: Path) -> None:
    failed(embcli("plot", "-s", "attention", made / "m.npz", "-o", "-"), 3, "found 'model'", "--text")
    failed(embcli("plot", "-s", "attention", chain / "vectors.npz", "-o", "-"), 3, "found 'vectors'")
    failed(embcli("plot", "-s", "loss", made / "one.npz", "-o", "-"), 3, "found 'context'")
    failed(embcli("plot", "-s", "attention", made / "one.npz", made / "two.npz", "-o", "-"), 2, "draws one artifact")
    failed(embcli("plot", "-s", "attention", made / "one.npz", "-o", "-", "--", "king"), 2, "takes no words")
    failed(embcli("plot", made / "m.npz", "--table", "output", "-o", "-"), 3, "--tie")
