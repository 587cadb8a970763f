"""Oracle: what users of the existing tools reported, as properties of the commands."""

from __future__ import annotations

import gzip
import json
import math
from pathlib import Path

import numpy as np
import pytest
from conftest import DATA, embcli, failed, ok, shared
from road import SMALL, counted, load


def test_golden_chain_of_the_five_sentences(tmp_path: Path) -> None:
    """Counts, PPMI(cats, like) = ln 2, and cosine 1 of cats, dogs and pizza, through the commands."""
    text = (DATA / "tiny" / "five-sentences.txt").read_text(encoding="utf-8")
    found = counted(tmp_path, text, "--window", "1", "--weighting", "flat")
    assert found[("cats", "like")] == 3 and found[("dogs", "like")] == found[("pizza", "like")] == 1
    assert found[("like", "I")] == 5 and ("cats", "I") not in found
    ok("svd", tmp_path / "c.npz", "--cds", "1", "--dim", "5", "--eig", "1", "-o", tmp_path / "v.npz")
    a, words = load(tmp_path / "v.npz")
    at = {w: i for i, w in enumerate(words)}
    ppmi = a["vectors"].astype(float) @ (a["contexts"] / np.where(a["singular_values"] > 0, a["singular_values"], 1)).T
    assert ppmi[at["cats"], at["like"]] == pytest.approx(math.log(2), abs=1e-6)
    for pair in (("cats", "dogs"), ("cats", "pizza"), ("dogs", "pizza")):
        said = ok("neighbors", tmp_path / "v.npz", pair[0], "--format", "jsonl", "--restrict", "5").text
        scores = {json.loads(line)["word"]: json.loads(line)["score"] for line in said.splitlines()}
        assert scores[pair[1]] == pytest.approx(1, abs=1e-5)
    assert scores["like"] < 0.5  # the neighbors of dogs: what is not alike is told apart


def test_squared_error_is_the_sum_of_dropped_squares(tmp_path: Path) -> None:
    counted(tmp_path, (DATA / "tiny" / "moles.txt").read_text(encoding="utf-8"), "--window", "2")
    ok("svd", tmp_path / "c.npz", "--dim", "1000", "--eig", "1", "-o", tmp_path / "full.npz")
    ok("svd", tmp_path / "c.npz", "--dim", "4", "--eig", "1", "-o", tmp_path / "four.npz")
    full, four = load(tmp_path / "full.npz")[0], load(tmp_path / "four.npz")[0]

    def product(a: dict[str, np.ndarray]) -> np.ndarray:
        s = a["singular_values"]
        return (a["vectors"] / np.where(s > 0, s, 1)) @ a["contexts"].T

    error = ((product(full) - product(four)) ** 2).sum()
    s = full["singular_values"]
    assert error == pytest.approx((s[4:] ** 2).sum(), rel=1e-4)
    assert error != pytest.approx((s[5:] ** 2).sum(), rel=1e-2)


def test_stdin_is_the_file(tmp_path: Path) -> None:
    text = (DATA / "tiny" / "moles.txt").read_bytes()
    (tmp_path / "c.txt").write_bytes(text)
    (tmp_path / "c.any").write_bytes(gzip.compress(text))
    made = {
        name: ok("encode", source, *SMALL, "-o", "-", stdin=text, cwd=tmp_path).out
        for name, source in {"file": "c.txt", "stdin": "-", "gzip": "c.any"}.items()
    }
    assert len(set(made.values())) == 1


def test_every_artifact_loads_without_pickle(chain: Path) -> None:
    for name in ("tokens", "counts", "vectors"):
        a, words = load(chain / f"{name}.npz")
        assert all(x.dtype.hasobject is False for x in a.values()) and words[0] == "the"


@pytest.mark.parametrize(("text", "count"), [("", 5), ("\n\n\n", 5), ("a b c", 5)])
def test_nothing_left_says_what_there_was(tmp_path: Path, text: str, count: int) -> None:
    (tmp_path / "c.txt").write_text(text, encoding="utf-8")
    ran = embcli("encode", tmp_path / "c.txt", "--words", "--min-count", str(count), "-o", tmp_path / "t.npz")
    read = len(text.split())
    parts = f"{read} tokens read", f"{read} distinct words", f"highest count {int(read > 0)}", f"--min-count {count}"
    failed(ran, 4, "c.txt", *parts)
    assert not (tmp_path / "t.npz").exists()


def test_what_was_dropped_is_said_and_stored(tmp_path: Path) -> None:
    (tmp_path / "c.txt").write_text("a a b", encoding="utf-8")
    ran = ok("encode", tmp_path / "c.txt", "--words", "--min-count", "2", "-o", tmp_path / "t.npz")
    assert "kept 1 of 2 types and 2 of 3 tokens" in ran.talk and "dropped 1 type rarer than 2" in ran.talk
    meta = json.loads(load(tmp_path / "t.npz")[0]["meta"].tobytes())
    assert meta["options"]["min_count"] == 2 and meta["seed"] == 0
    assert (meta["stats"]["types_kept"], meta["stats"]["types_dropped"], meta["stats"]["tokens_kept"]) == (1, 1, 2)


def test_bad_bytes_are_named_and_never_silently_mended(tmp_path: Path) -> None:
    (tmp_path / "c.txt").write_bytes(b"ok ok\ncaf\xe9 ok\n")
    failed(embcli("encode", tmp_path / "c.txt", *SMALL, "-o", tmp_path / "t.npz"), 1, "c.txt", "line 2", "0xe9")
    ran = ok("encode", tmp_path / "c.txt", *SMALL, "--errors", "replace", "-o", tmp_path / "t.npz")
    assert "1 bad byte sequences replaced" in ran.talk


def test_crlf_and_bom_change_nothing(tmp_path: Path) -> None:
    for name, text in {"lf": b"a b\nc a\n", "crlf": b"a b\r\nc a\r\n", "bom": b"\xef\xbb\xbfa b\nc a\n"}.items():
        (tmp_path / name).write_bytes(text)
        ok("encode", tmp_path / name, *SMALL, "-o", tmp_path / f"{name}.npz")
    lf, crlf, bom = (load(tmp_path / f"{name}.npz") for name in ("lf", "crlf", "bom"))
    for other in (crlf, bom):
        assert other[1] == lf[1] and not any("\r" in w or "\ufeff" in w for w in other[1])
        assert (other[0]["ids"] == lf[0]["ids"]).all()


def test_windows_and_line_ends(tmp_path: Path) -> None:
    assert ("b", "c") not in counted(tmp_path, "a b\nc d\n", "--window", "5")
    assert ("b", "c") in counted(tmp_path, "a b\nc d\n", "--window", "5", "--cross-rows")
    assert "stop at" in ok("cooc", "--help").text


def test_weights_by_distance_are_recorded(tmp_path: Path) -> None:
    for weighting, due in (("flat", 1), ("harmonic", 0.5), ("dynamic", 0.5)):
        assert counted(tmp_path, "a b c\n", "--window", "2", "--weighting", weighting)[("a", "c")] == due
        assert json.loads(load(tmp_path / "c.npz")[0]["meta"].tobytes())["options"]["weighting"] == weighting


def test_counts_can_be_looked_up(tmp_path: Path) -> None:
    counted(tmp_path, "a b c b a\n" * 40, "--window", "1", "--weighting", "flat")
    said = ok("info", tmp_path / "c.npz", "--pair", "b c", "--pair", "a c", "--json").text.splitlines()
    assert [json.loads(line)["count"] for line in said] == [80, 0]
    top = ok("cooc", tmp_path / "t.npz", "--window", "1", "--weighting", "flat", "--top", "1", "--json").text
    assert json.loads(top)["count"] == 80


def test_an_impossible_budget_is_found_at_the_start(chain: Path, tmp_path: Path) -> None:
    failed(embcli("cooc", chain / "tokens.npz", "--memory", "1kB", "-o", tmp_path / "c.npz"), 2, "--memory", "or more")
    failed(embcli("cooc", chain / "tokens.npz", "--memory", "much", "-o", tmp_path / "c.npz"), 2, "--memory", "500MB")


def test_a_budget_changes_no_byte(chain: Path, tmp_path: Path) -> None:
    ran = ok("cooc", chain / "tokens.npz", "--weighting", "dynamic", "--memory", "3MB", "-o", tmp_path / "c.npz")
    assert "slices" in ran.talk
    assert (tmp_path / "c.npz").read_bytes() == (chain / "counts.npz").read_bytes()


@pytest.mark.parametrize(("dim", "code"), [("2", 0), ("3", 0), ("100", 0), ("0", 2), ("-1", 2)])
def test_dimensions_at_or_above_the_size(tmp_path: Path, dim: str, code: int) -> None:
    counted(tmp_path, "a b\nb c\n", "--window", "1")
    ran = embcli("svd", tmp_path / "c.npz", "--weight", "none", "--dim", dim, "-o", tmp_path / "v.npz")
    assert ran.code == code, ran.talk
    if code == 0:
        assert load(tmp_path / "v.npz")[0]["vectors"].shape == (3, min(int(dim), 3))
        assert ("lowered to 3" in ran.talk) == (dim == "100")


def test_ppmi_of_independent_words_has_nothing_to_factorise(tmp_path: Path) -> None:
    counted(tmp_path, "a a a a\n", "--window", "1")
    failed(
        embcli("svd", tmp_path / "c.npz", "--dim", "1", "-o", tmp_path / "v.npz"), 4, "c.npz", "nothing to factorise"
    )


def test_an_unknown_word_among_known_ones(chain: Path) -> None:
    ran = ok("neighbors", chain / "vectors.npz", "king", "queeen", "dog")
    assert ran.text.count("rank") == 2 and "queeen" not in ran.text
    assert "unknown word 'queeen'; did you mean queen" in ran.talk
    failed(embcli("neighbors", chain / "vectors.npz", "xqzv"), 1, "xqzv")


def test_the_question_file_is_solved(chain: Path) -> None:
    """At least 80 % of the bundled analogies, by the queries a user would type; king - man + woman among them."""
    lines = (DATA / "questions.txt").read_text(encoding="utf-8").splitlines()
    asked = [line.split() for line in lines if not line.startswith(":")]
    queries = "\n".join(f"{b} - {a} + {c}" for a, b, c, _ in asked).encode()
    said = ok("neighbors", chain / "vectors.npz", "--words-from", "-", "--top", "1", "--json", stdin=queries).text
    best = {(line := json.loads(row))["query"]: line["word"] for row in said.splitlines()}
    solved = sum(best[f"{b} - {a} + {c}"] == d for a, b, c, d in asked)
    assert solved >= 0.8 * len(asked)
    royal = ok("neighbors", chain / "vectors.npz", "king - man + woman", "--json").text
    assert json.loads(royal.splitlines()[0])["word"] == "queen"


def test_awkward_files_end_well(tmp_path: Path) -> None:
    """Every one is encoded or refused in one line (tests/properties/test_words.py does the same for each --errors)."""
    out = tmp_path / "t.npz"
    for path in sorted((shared() / "text-awkward" / "bytes").iterdir()):
        ran = embcli("encode", path, *SMALL, "-o", out)
        assert ran.code in (0, 1, 4) and "Traceback" not in ran.talk, (path.name, ran.talk)
        assert (ran.code == 0) == out.exists()
        if ran.code == 0:
            ok("decode", out)
            out.unlink()
        else:
            failed(ran, ran.code, path.name)
