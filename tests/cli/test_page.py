"""Oracle: the ``neighbors`` command, and a real browser (Chromium without a screen) in which the page is used."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browser import DOWN, ENTER, Browser
from conftest import embcli, failed, ok
from samples import save

from embcli.artifacts.schema import Vectors, Words
from embcli.report.page import _digits

#: a script that copies the dots that are drawn (the copy is read, since reading a canvas slows it down): p
PIXELS = """const d = document.getElementById('dots'), copy = document.createElement('canvas');
    copy.width = d.width; copy.height = d.height;
    const pen = copy.getContext('2d', {willReadFrequently: true});
    pen.drawImage(d, 0, 0);
    const p = pen.getImageData(0, 0, d.width, d.height).data;"""
ODD = ["<b>&amp;", "</script><script>alert(1)</script>", 'quo"te', "{css}", "東京", "\u2028", " ", "a\tb", "plain"]


def inside(page: Path) -> dict[str, Any]:
    """Return the data of a page, with its arrays."""
    found = re.search(
        r'<script type="application/json" id="data">(.*?)</script>', page.read_text(encoding="utf-8"), re.S
    )
    assert found
    data: dict[str, Any] = json.loads(found[1])
    types = {"places": "<u2", "near": "<i4" if data["wide"] else "<u2", "scores": "<i2", "counts": "<u4"}
    return data | {name: np.frombuffer(base64.b64decode(data[name]), kind) for name, kind in types.items()}


@pytest.fixture(scope="module")
def pages(chain: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a page of the bundled corpus, one of odd words, and one of 50,000 points."""
    folder = tmp_path_factory.mktemp("pages")
    ok("plot", chain / "vectors.npz", "--html", folder / "all.html")
    rng = np.random.default_rng(3)
    table = rng.normal(size=(len(ODD), 6)).astype(np.float32)
    save(Vectors(vectors=table, words=Words.of(ODD), unigram=np.arange(len(ODD), 0, -1)), folder / "odd.npz")
    ok("plot", folder / "odd.npz", "--html", folder / "odd.html")
    n = 50_000
    table = rng.normal(size=(n, 8)).astype(np.float32)
    counts = np.sort(rng.zipf(1.3, n).clip(max=1_000_000))[::-1]
    words = Words.of(f"w{i}" for i in range(n))
    save(Vectors(vectors=table, words=words, unigram=counts.astype(np.int64)), folder / "big.npz")
    ok("plot", folder / "big.npz", "--html", folder / "big.html", "--top", "5")
    return folder


def test_neighbors_are_those_of_the_command(chain: Path, pages: Path) -> None:
    data = inside(pages / "all.html")
    assert len(data["words"]) == 3013 and data["counts"][0] == 39_056
    near, scores = (data[name].reshape(-1, data["k"]) for name in ("near", "scores"))
    for word in ("king", "bread", "the"):
        row = data["words"].index(word)
        lines = ok("neighbors", chain / "vectors.npz", word, "--json").text.splitlines()
        due = [(line["word"], line["score"]) for line in map(json.loads, lines)]
        assert [data["words"][i] for i in near[row]] == [name for name, _ in due]
        assert [f"{score / 10_000:.4f}" for score in scores[row]] == [f"{score:.4f}" for _, score in due]


def test_scores_are_spelled_as_the_command_spells_them() -> None:
    scores = np.array([[0.61145, 0.6114518, 0.5], [-0.00003, -1, 1.0000001]], np.float32)
    due = [[f"{round(score, 6):.4f}" for score in row] for row in scores.astype(np.float64).tolist()]
    found = _digits(scores)
    assert found.dtype == np.int16
    assert [[f"{score / 10_000:.4f}".replace("-0.0000", "0.0000") for score in row] for row in found.tolist()] == [
        [text.replace("-0.0000", "0.0000") for text in row] for row in due
    ]
    assert found[0].tolist() != np.round(np.round(scores[0] * 32767) / 32767 * 10_000).tolist()


def test_places_are_those_of_the_principal_components(chain: Path, pages: Path) -> None:
    table = np.load(chain / "vectors.npz")["vectors"].astype(np.float64)
    table /= np.linalg.norm(table, axis=1, keepdims=True)
    centred = table - table.mean(0)
    due = centred @ np.linalg.eigh(centred.T @ centred)[1][:, :-3:-1]
    places = inside(pages / "all.html")["places"].reshape(-1, 2).astype(np.float64)
    for axis in (0, 1):
        assert abs(np.corrcoef(places[:, axis], due[:, axis])[0, 1]) > 0.9999
    assert np.ptp(places, axis=0).max() == 65535


def test_the_same_bytes_whatever_the_threads(pages: Path, tmp_path: Path) -> None:
    for threads, seed in (("1", "1"), ("5", "2")):
        out = tmp_path / f"{threads}.html"
        ok("plot", pages / "odd.npz", "--html", out, "--threads", threads, PYTHONHASHSEED=seed)
        assert out.read_bytes() == (pages / "odd.html").read_bytes()
    ok("plot", pages / "odd.npz", "--html", tmp_path / "k.html", "--top", "2")
    assert (tmp_path / "k.html").read_bytes() != (pages / "odd.html").read_bytes()


def test_a_page_asks_for_nothing_from_outside(pages: Path) -> None:
    text = (pages / "odd.html").read_text(encoding="utf-8")
    text = re.sub(r'(id="data">).*', r"\1</script>", text)  # base64 may spell anything
    assert not re.search(r"https?:|//[a-z]|@import|\bsrc=|<link(?! rel=\"icon\" href=\"data:,\")", text)
    assert "default-src 'none'" in text and text.count("<script") == 2 and text.count("</script>") == 2


def test_a_page_shows_one_artifact(pages: Path, tmp_path: Path) -> None:
    two = [pages / "odd.npz", pages / "big.npz"]
    failed(embcli("plot", *two, "--html", tmp_path / "x.html"), 2, "a page shows one artifact")


def test_words_are_searched_and_show_their_neighbors(browser: Browser, pages: Path, tmp_path: Path) -> None:
    browser.open(pages / "all.html")
    browser.until("return document.querySelector('aside p')")
    empty = browser.shot(tmp_path / "light.png")
    browser.type("#search", "princ")
    rows = browser.run("return [...document.querySelectorAll('#found li span')].map((e) => e.textContent)")
    assert rows[:2] == ["princess", "prince"]  # the more frequent first
    browser.type("#search", DOWN + ENTER)
    browser.until("return document.querySelector('aside h2')?.textContent === 'prince'")
    near = browser.run("return [...document.querySelectorAll('aside li span:first-child')].map((e) => e.textContent)")
    data = inside(pages / "all.html")
    row = data["words"].index("prince")
    assert near == [data["words"][i] for i in data["near"].reshape(-1, data["k"])[row]]
    assert browser.run("return location.hash") == "#prince"
    browser.run("document.querySelector('aside li button').click()")
    browser.until(f"return document.querySelector('aside h2').textContent === {json.dumps(near[0])}")
    assert browser.shot(tmp_path / "chosen.png") != empty
    browser.run("document.getElementById('search').value = 'xyzzy'; "
                "document.getElementById('search').dispatchEvent(new Event('input'))")  # fmt: skip
    assert "no word here" in browser.run("return document.getElementById('found').textContent")
    assert browser.console() == []


def test_the_word_under_the_mouse_is_named_and_a_click_chooses_it(browser: Browser, pages: Path) -> None:
    browser.open(pages / "odd.html", "#plain")
    browser.until("return document.querySelector('aside h2')?.textContent === 'plain'")
    # a word given behind # is flown to: wait until it has arrived, then look for any word under the mouse
    browser.wait("setTimeout(arguments[arguments.length - 1], 900)")
    browser.run("document.dispatchEvent(new KeyboardEvent('keydown', {key: '0'}))")
    box = browser.run(
        "const b = document.getElementById('over').getBoundingClientRect(); return [b.x, b.y, b.width, b.height]"
    )
    data = inside(pages / "odd.html")
    places = data["places"].reshape(-1, 2).astype(float)
    (low, high) = places.min(0), places.max(0)
    scale = min((box[2] - 90) / max(high[0] - low[0], 1), (box[3] - 60) / max(high[1] - low[1], 1))
    row = data["words"].index("東京")
    x = box[0] + box[2] / 2 + scale * (places[row, 0] - (low[0] + high[0]) / 2)
    y = box[1] + box[3] / 2 - scale * (places[row, 1] - (low[1] + high[1]) / 2)
    browser.mouse(round(x), round(y))
    assert "東京" in browser.until(
        "return document.getElementById('tip').hidden ? '' : document.getElementById('tip').textContent"
    )
    browser.mouse(round(x), round(y), click=True)
    browser.until("return document.querySelector('aside h2').textContent === '東京'")
    names = browser.run("return [...document.querySelectorAll('aside li span:first-child')].map((e) => e.textContent)")
    assert set(names) == set(data["words"]) - {"東京"}  # tags and quotes are text
    assert browser.console() == []


def test_light_and_dark(browser: Browser, pages: Path) -> None:
    browser.open(pages / "all.html")
    look = "return getComputedStyle(document.body).backgroundColor"
    assert browser.run(look) == "rgb(255, 255, 255)" and browser.until(f"{PIXELS} return p[0] === 255")
    browser.run("document.getElementById('theme').click()")
    browser.until(f"{PIXELS} return p[0] === 20")
    assert browser.run(look) == "rgb(20, 23, 28)"
    assert browser.console() == []


@pytest.mark.parametrize("name", ["odd.html", "big.html"])
@pytest.mark.parametrize(("theme", "paper"), [("light", 255), ("dark", 20)])
def test_the_map_is_painted_before_the_browser_shows_anything(
    browser: Browser, pages: Path, tmp_path: Path, name: str, theme: str, paper: int
) -> None:
    text = (pages / name).read_text(encoding="utf-8").replace("<html ", f'<html data-theme="{theme}" ')
    last = 'addEventListener("hashchange", fromHash);'
    early = f"""{last} {{ {PIXELS} let n = 0; for (let i = 0; i < p.length; i += 4) n += p[i] !== {paper};
        window.first = [p[0], p[3], n]; }}"""
    found = {}
    for page, made in (("now.html", text), ("late.html", text.replace("    paint();  // at once", "    draw();  //"))):
        assert last in made
        (tmp_path / page).write_text(made.replace(last, early), encoding="utf-8")
        browser.open(tmp_path / page)
        found[page] = browser.until("return window.first")
    assert found["now.html"][:2] == [paper, 255] and found["now.html"][2] > 50
    assert found["late.html"][:2] == [0, 0]  # this would have been seen, and is clear, not black
    look = "return getComputedStyle(document.getElementById('dots')).backgroundColor"
    assert str(paper) in browser.run(look)


def test_each_word_is_written_once(browser: Browser, pages: Path, tmp_path: Path) -> None:
    text = (pages / "odd.html").read_text(encoding="utf-8")
    heard = """<script>
        const pens = CanvasRenderingContext2D.prototype, {fillText, drawImage, clearRect} = pens;
        pens.fillText = function (...given) { this.canvas.said = given[0]; fillText.apply(this, given); };
        pens.clearRect = function (...given) { window.said = []; clearRect.apply(this, given); };
        pens.drawImage = function (...given) { window.said.push(given[0].said); drawImage.apply(this, given); };
        </script>"""
    twice = "|| y > H || i === chosen) continue;"
    for page, made in (
        ("once.html", text),
        ("twice.html", text.replace("|| y > H || labelled.has(i)) continue;", twice)),
    ):
        (tmp_path / page).write_text(made.replace("<body>", f"<body>{heard}"), encoding="utf-8")
        browser.open(tmp_path / page, "#plain")
        browser.until("return document.querySelector('aside h2')?.textContent === 'plain'")
        browser.wait("setTimeout(arguments[arguments.length - 1], 900)")
        said = browser.run("return window.said")
        assert len(said) > 4 and (len(set(said)) == len(said)) is (page == "once.html")


def test_fifty_thousand_points_are_drawn_and_moved(browser: Browser, pages: Path) -> None:
    browser.open(pages / "big.html")
    browser.until("return document.querySelector('aside p')")
    drawn = f"{PIXELS} let n = 0; for (let i = 0; i < p.length; i += 4) n += p[i] !== 255; return n;"
    first = browser.until(drawn)
    assert first > 20_000
    frames = browser.wait(
        """
        const done = arguments[arguments.length - 1], over = document.getElementById('over');
        let i = 0;
        const step = () => {
          if (i++ === 30) { done(i); return; }
          over.dispatchEvent(new WheelEvent('wheel', {deltaY: -40, clientX: 400, clientY: 400, cancelable: true}));
          requestAnimationFrame(step);
        };
        step();"""
    )
    assert frames == 31 and browser.until(drawn) != first
    assert browser.console() == []


def test_an_error_of_a_page_would_be_seen(browser: Browser, pages: Path, tmp_path: Path) -> None:
    text = (pages / "odd.html").read_text(encoding="utf-8")
    spoiled = {
        "name.html": text.replace("function drawOver()", "function drawUnder()"),
        "load.html": text.replace("</header>", "</header><img src='https://127.0.0.1:9/no.png'>"),
    }
    for name, said in (("name.html", "drawOver is not defined"), ("load.html", "Content Security Policy")):
        assert spoiled[name] != text
        (tmp_path / name).write_text(spoiled[name], encoding="utf-8")
        browser.open(tmp_path / name)
        browser.until("return document.readyState === 'complete'")
        browser.wait("setTimeout(arguments[arguments.length - 1], 300)")
        assert any(said in line for line in browser.console())


def test_a_hover_leaves_the_dots_alone(browser: Browser, pages: Path) -> None:
    browser.open(pages / "all.html")
    browser.until("return document.querySelector('aside p')")
    counted = """
        const done = arguments[arguments.length - 1], over = document.getElementById('over'), move = arguments[0];
        const pen = document.getElementById('dots').getContext('2d'), put = pen.putImageData;
        let times = 0;
        pen.putImageData = (...given) => { times++; put.apply(pen, given); };
        const box = over.getBoundingClientRect(), x = box.left + box.width / 2, y = box.top + box.height / 2;
        const at = (dx) => ({clientX: x + dx, clientY: y, pointerId: 1});
        const send = (kind, dx) => over.dispatchEvent(new PointerEvent(kind, at(dx)));
        over.setPointerCapture = () => {};
        if (move === 'drag') send('pointerdown', 0);
        for (let i = 0; i < 40; i++) send('pointermove', 3 * i);
        if (move === 'drag') send('pointerup', 120);
        setTimeout(() => { delete pen.putImageData; done(times); }, 400);"""
    browser.wait("setTimeout(arguments[arguments.length - 1], 400)")
    assert browser.wait(counted, "hover") == 0
    assert browser.wait(counted, "drag") > 0
    assert browser.console() == []
