"""Oracle: report.txt and the commands themselves, and a real browser in which report.html is read."""

from __future__ import annotations

import html
import json
import re
import time
from pathlib import Path

import pytest
from browser import Browser
from conftest import DATA, embcli, failed, ok

from embcli.report.markup import table_html
from embcli.report.tables import Column, Table

pytest.importorskip("matplotlib")

#: 2,000 lines of the bundled corpus, with words that HTML would trip over
SMALL = """\
name: small
out: made
steps:
  tokens:  {use: encode, inputs: text.txt, words: true, split: whitespace, min-count: 3}
  counts:  {use: cooc, inputs: tokens}
  vectors: {use: svd, inputs: counts, dim: 10}
  trained: {use: word2vec, inputs: tokens, epochs: 3, grid: {dim: [8, 16]}}
  model:   {use: attend, inputs: tokens, layers: 1, heads: 2, dim: 16, context: 16, batch: 4, steps: 12}
report:
  - {use: neighbors, inputs: [vectors, trained], queries: [the, '<b>&amp;'], top: 3, title: Near}
  - {use: plot, inputs: vectors, queries: [the, of], around: 3, title: 'Map <i>'}
  - {use: plot, inputs: [trained, model], show: loss}
  - {use: info, inputs: counts, pair: [the of]}
"""
ODD = '<b>&amp; </script><script>alert(1)</script> quo"te\n' * 4


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with an experiment that has been run."""
    folder = tmp_path_factory.mktemp("lab")
    lines = (DATA / "corpus.txt").read_text(encoding="utf-8").splitlines(keepends=True)[:2000]
    (folder / "text.txt").write_text(ODD + "".join(lines), encoding="utf-8")
    (folder / "small.yaml").write_text(SMALL, encoding="utf-8")
    (folder / "said.txt").write_text(ok("run", folder / "small.yaml").talk, encoding="utf-8")
    return folder


def seen(page: Path) -> str:
    """Return the page without its maps, which are pages themselves."""
    return re.sub(r'srcdoc="[^"]*"', "", page.read_text(encoding="utf-8"))


def test_the_page_has_everything_that_was_printed(lab: Path) -> None:
    page = html.unescape(re.sub(r"<[^>]*>", " ", seen(lab / "made" / "report.html")))
    printed = (lab / "made" / "report.txt").read_text(encoding="utf-8")
    words = [word for word in printed.split() if word not in ("==", "picture:") and not word.endswith(".svg")]
    assert len(words) > 60 and not [word for word in words if word not in page]
    for name in ("tokens", "vectors", "trained dim=8", "trained dim=16", "model"):
        assert name in page
    assert (
        "min-count 3" in page and "embcli svd" in page and "skip-gram, 5 negative samples, mean loss by epoch" in page
    )
    assert "next token, mean loss by step" in page
    sizes = re.findall(r"[\d.]+ [kM]?B", page)
    assert len(sizes) >= 6


def test_a_second_run_builds_nothing_and_writes_the_same_page(lab: Path) -> None:
    first = (lab / "made" / "report.html").read_bytes()
    talk = ok("run", lab / "small.yaml").talk
    assert talk.count(": up to date") == 6 and (lab / "made" / "report.html").read_bytes() == first


def test_timings_are_those_of_the_log(lab: Path) -> None:
    rows = [json.loads(line) for line in (lab / "made" / "log.jsonl").read_text(encoding="utf-8").splitlines()]
    page = seen(lab / "made" / "report.html")
    for row in rows:
        assert f">{row['seconds']:.1f}</td>" in page


def test_pictures_are_those_of_the_command(lab: Path) -> None:
    due = ok("plot", lab / "made" / "vectors.npz", "the", "of", "--around", "3", "-o", "-", cwd=lab).out
    made = (lab / "made" / "plot-2.svg").read_bytes()
    assert made.replace(b"in vectors<", b"in vectors.npz<") == due or len(made) > 1000
    commands = [line for line in ok("run", lab / "small.yaml", "-n").text.splitlines() if "embcli plot" in line]
    assert len(commands) == 2 and all("-- " in line or line.endswith("--") for line in commands)
    assert seen(lab / "made" / "report.html").count("<picture>") == 2


def test_nothing_in_a_word_or_title_becomes_markup(lab: Path) -> None:
    page = seen(lab / "made" / "report.html")
    assert "<script" not in page and "Map &lt;i&gt;" in page and "&lt;b&gt;&amp;amp;" in page
    table = Table("<i>", [Column("a<b", group="g&"), Column("", "right")], [["<script>", None]], ["x<y"])
    text = "".join(table_html(table))
    assert "<script>" not in text and "<i>" not in text and "x&lt;y" in text and "g&amp;" in text


def test_the_page_asks_for_nothing_from_outside(lab: Path) -> None:
    page = re.sub(r"base64,[A-Za-z0-9+/=]*", "", seen(lab / "made" / "report.html"))
    assert not re.search(r"https?:|//[a-z]|@import|<link(?! rel=\"icon\" href=\"data:,\")|src=\"(?!data:)", page)
    assert "default-src 'none'" in page


def test_only_a_part_leaves_the_page_alone(lab: Path, tmp_path: Path) -> None:
    first = (lab / "made" / "report.html").read_bytes()
    ok("run", lab / "small.yaml", "--only", "counts")
    assert (lab / "made" / "report.html").read_bytes() == first


def test_what_cannot_be_answered_is_said_in_its_place(lab: Path) -> None:
    bad = SMALL.replace("out: made", "out: bad").replace("queries: [the, of], around: 3", "queries: [no-such]")
    (lab / "bad.yaml").write_text(bad, encoding="utf-8")
    failed(embcli("run", lab / "bad.yaml", "-q"), 1, "report Map <i>: vectors: unknown word 'no-such'")
    page = seen(lab / "bad" / "report.html")
    assert '<p class="error">error: vectors: unknown word' in page and page.count("<picture>") == 1


def test_an_unknown_query_beside_known_ones_is_said_in_both_reports(lab: Path) -> None:
    some = SMALL.replace("out: made", "out: some").replace("queries: [the, of], around: 3", "queries: [the, no-such]")
    (lab / "some.yaml").write_text(some.replace("'<b>&amp;'], top", "nowhere], top"), encoding="utf-8")
    ok("run", lab / "some.yaml", "-q")
    printed = (lab / "some" / "report.txt").read_text(encoding="utf-8")
    page = html.unescape(re.sub(r"<[^>]*>", " ", seen(lab / "some" / "report.html")))
    for word in ("no-such", "nowhere"):
        assert f"unknown word '{word}'" in printed and f"unknown word '{word}'" in page
    assert "unknown word" not in (lab / "made" / "report.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ("{use: plot, inputs: vectors, html: x.html}", "html: OUT/report.html has maps"),
        ("{use: plot, inputs: vectors, theme: dark}", "theme: OUT/report.html has pictures in light and dark"),
        ("{use: plot, inputs: counts}", "plot reads vectors, model or context, and step counts makes counts"),
        ("{use: plot, inputs: vectors, show: loss, around: 3}", "--show loss: shows no words"),
        ("{use: plot, inputs: vectors, out: x.svg}", "out: artifacts go to OUT"),
        ("{use: info, inputs: vectors, queries: [a]}", "queries: belong to neighbors and plot, not to info"),
    ],
)
def test_entries_that_do_not_fit_are_found_before_anything_is_built(lab: Path, entry: str, said: str) -> None:
    head = SMALL.partition("report:\n")[0].replace("out: made", "out: none")
    (lab / "wrong.yaml").write_text(f"{head}report:\n  - {entry}\n", encoding="utf-8")
    ran = embcli("run", lab / "wrong.yaml")
    assert ran.code in (2, 3) and said in ran.talk and not (lab / "none").exists()


def test_a_map_inside_is_searched(browser: Browser, lab: Path, tmp_path: Path) -> None:
    browser.open(lab / "made" / "report.html", "#maps")
    inside = "document.querySelector('iframe').contentDocument"
    browser.until(f"return Boolean({inside} && {inside}.querySelector('aside p'))")
    browser.run(
        f"const d = {inside}, f = d.getElementById('search'); f.value = 'the'; "
        "f.dispatchEvent(new Event('input')); f.dispatchEvent(new KeyboardEvent('keydown', {key: 'Enter'}))"
    )
    browser.until(f"return {inside}.querySelector('aside h2')?.textContent === 'the'")
    assert browser.run(f"return {inside}.querySelectorAll('aside li').length") == 10
    assert browser.run("return document.querySelectorAll('polyline').length") == 4  # two of vectors, two of the model
    assert browser.run("return [...document.querySelectorAll('picture img')].every((e) => e.naturalWidth > 300)")
    assert browser.run("return document.documentElement.scrollWidth <= innerWidth")
    assert browser.shot(tmp_path / "report.png")
    assert browser.console() == []


def test_light_and_dark_follow_the_system(browser: Browser, lab: Path) -> None:
    browser.open(lab / "made" / "report.html")
    look = "return getComputedStyle(document.body).backgroundColor"
    picture = "return document.querySelector('picture img').currentSrc"
    assert browser.run(look) == "rgb(255, 255, 255)"
    light = browser.run(picture)
    browser.prefer("dark")
    assert browser.run(look) == "rgb(20, 23, 28)"
    browser.until(f"{picture} !== {json.dumps(light)}")
    browser.prefer("light")
    assert browser.console() == []


def test_an_error_inside_a_map_would_be_seen(browser: Browser, lab: Path, tmp_path: Path) -> None:
    page = (lab / "made" / "report.html").read_text(encoding="utf-8")
    assert page.count("function drawOver()") >= 1
    (tmp_path / "bad.html").write_text(page.replace("function drawOver()", "function drawUnder()"), encoding="utf-8")
    browser.open(tmp_path / "bad.html", "#maps")
    said: list[str] = []
    for _ in range(100):
        said += browser.console()
        if any("drawOver is not defined" in line for line in said):
            return
        time.sleep(0.1)
    raise AssertionError(f"not seen: {said}")
