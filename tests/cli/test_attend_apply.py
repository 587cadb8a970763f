"""Oracle: the manners that the README promises, and the readable model, for texts that a model is asked about."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from conftest import DATA, embcli, failed, ok

from embcli.artifacts import store
from embcli.models import layers, transformer
from embcli.models.sound import config_of

SMALL = ["--layers", "2", "--heads", "2", "--dim", "16", "--context", "12", "--batch", "16", "--steps", "6", "-q"]
TEXTS = ["the king sat on the bank", "the bank lent money"]


@pytest.fixture(scope="module")
def road(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with models of every kind, static vectors, and models and vectors of BPE tokens."""
    folder = tmp_path_factory.mktemp("apply")
    (folder / "c.txt").write_bytes((DATA / "corpus.txt").read_bytes()[:120_000] + "\n".join(TEXTS * 5).encode())
    ok("encode", "c.txt", "--words", "--lower", "-o", "t.npz", cwd=folder)
    ok("attend", "t.npz", *SMALL, "-o", "causal.npz", cwd=folder)
    ok("attend", "t.npz", *SMALL, "--objective", "masked", "--position", "rope", "-o", "masked.npz", cwd=folder)
    ok("attend", "t.npz", *SMALL, "--position", "learned", "--no-tie", "-o", "learned.npz", cwd=folder)
    ok("cooc", "t.npz", "-o", "n.npz", cwd=folder)
    ok("svd", "n.npz", "--dim", "8", "-o", "v.npz", cwd=folder)
    ok("bpe-train", "c.txt", "--vocab-size", "600", "-o", "bpe.npz", cwd=folder)
    ok("encode", "c.txt", "--tokenizer", "bpe.npz", "-o", "p.npz", cwd=folder)
    ok("attend", "p.npz", *SMALL, "-o", "pieces.npz", cwd=folder)
    return folder


def states(road: Path, model: str, *options: str | Path, out: str = "s.npz") -> store.Artifact:
    texts = [word for text in TEXTS for word in ("--text", text)]
    ok("attend", model, *(texts if "--text-file" not in options else ()), *options, "-o", out, cwd=road)
    assert store.verify(str(road / out))
    return store.read(str(road / out))


def test_states_weights_and_log_p_are_those_of_the_readable_model(road: Path) -> None:
    made = states(road, "causal.npz")
    model = store.read(str(road / "causal.npz"))
    c = config_of(model)
    assert made.texts == 2 and list(made.words)[5:8] == ["bank@1:6", "the@2:1", "bank@2:2"]
    for i in range(2):
        ids = np.array(made.ids[made.text_offsets[i] : made.text_offsets[i + 1]])
        seen = transformer.forward(c, {k: np.array(v) for k, v in model.parameters.items()}, ids)
        H, A = made.text_at(i)
        np.testing.assert_allclose(H, seen.final, atol=1e-5)
        np.testing.assert_allclose(A, np.stack(seen.weights), atol=1e-6)
        L = layers.log_softmax(transformer.scores(c, model.parameters, seen.final).astype(np.float64))
        logs = made.log_prob[made.text_offsets[i] : made.text_offsets[i + 1]]
        assert logs[0] == 0
        np.testing.assert_allclose(logs[1:], L[np.arange(len(ids) - 1), ids[1:]], atol=1e-5)
    assert (made.rows == np.array(model.token_rows)[made.ids]).all()


def test_weights_of_every_head_sum_to_one_and_nobody_looks_ahead(road: Path) -> None:
    """user-reports A03, A05."""
    made = states(road, "causal.npz")
    A = np.array(made.text_at(0)[1])
    assert A.shape == (2, 2, 6, 6)
    np.testing.assert_allclose(A.sum(-1), 1, atol=1e-6)
    assert (A[..., np.triu_indices(6, 1)[0], np.triu_indices(6, 1)[1]] == 0).all()
    assert (A[:, :, 0, 0] == 1).all()
    open_ = states(road, "causal.npz", "--mask", "none")
    assert (np.array(open_.text_at(0)[1])[..., 0, 1:] > 0).all()
    ok("attend", "causal.npz", "--text", "the king sat on the river", "-o", "o.npz", cwd=road)
    other = store.read(str(road / "o.npz"))
    assert (np.array(other.states[:5]) == np.array(made.text_at(0)[0][:5])).all()


def test_one_row_two_states(road: Path) -> None:
    """The same word in two texts: one token row, one first input at the same place, other states."""
    ok("attend", "causal.npz", "--text", "a bank", "--text", "the bank", "--layer", "0", "-o", "l0.npz", cwd=road)
    ok("attend", "causal.npz", "--text", "a bank", "--text", "the bank", "-o", "l2.npz", cwd=road)
    first, last = store.read(str(road / "l0.npz")), store.read(str(road / "l2.npz"))
    assert (first.rows[1] == first.rows[3]).all()
    assert (first.parts["states_0"][1] == first.parts["states_1"][1]).all()
    assert not np.allclose(last.parts["states_0"][1], last.parts["states_1"][1])


def test_neighbors_and_geometry_read_states_and_models(road: Path) -> None:
    states(road, "causal.npz")
    assert "bank@2:2" in ok("neighbors", "s.npz", "bank@1:6", cwd=road).text
    assert "queen" in ok("neighbors", "--top", "700", "causal.npz", "king", cwd=road).text
    assert ok("neighbors", "--table", "output", "learned.npz", "king", cwd=road).code == 0
    failed(embcli("neighbors", "--table", "output", "causal.npz", "king", cwd=road), 3, "--tie")
    assert "tied variant" in ok("eval", "causal.npz", "--geometry", cwd=road).text
    assert "untied variant" in ok("eval", "learned.npz", "--geometry", cwd=road).text
    ok("neighbors", "causal.npz", "--all", "-o", "knn.npz", cwd=road)
    ok("eval", "causal.npz", "-s", DATA / "similarity.tsv", cwd=road)


def test_masks_in_texts(road: Path) -> None:
    ran = ok(
        "attend", "masked.npz", "--text", "the [MASK] lent money", "--candidates", "bank,king,zzz", "--json", cwd=road
    )
    rows = [json.loads(line) for line in ran.text.splitlines()]
    predicted = [row for row in rows if row["table"] == "predictions"]
    assert [row["rank"] for row in predicted] == [1, 2, 3, 4, 5] and predicted[0]["position"] == 2
    assert predicted[0]["probability"] >= predicted[4]["probability"] > 0
    ranked = [row for row in rows if row["table"] == "candidates"]
    assert {row["candidate"] for row in ranked} == {"bank", "king", "zzz"} and ranked[2]["log_prob"] is None
    assert ranked[0]["log_prob"] >= ranked[1]["log_prob"]
    assert sum(row["share"] for row in ranked[:2]) == pytest.approx(1)
    model = store.read(str(road / "masked.npz"))
    ok("attend", "masked.npz", "--text", "the [MASK] lent money", "-o", "m.npz", cwd=road)
    made = store.read(str(road / "m.npz"))
    assert made.ids[1] == len(model.words) and list(made.words)[1] == "[MASK]@1:2"
    assert (made.rows[1] == model.token_rows[-1]).all()
    failed(embcli("attend", "causal.npz", "--text", "the [MASK]", cwd=road), 2, "[MASK]", "not trained masked")
    failed(embcli("attend", "masked.npz", "--text", "the king", "--sample", "3", cwd=road), 2, "trained masked")


def test_candidates_behind_a_text(road: Path) -> None:
    ran = ok("attend", "causal.npz", "--text", "the king sat on the", "--candidates", "bank, king", "--json", cwd=road)
    found = {r["candidate"]: r for r in map(json.loads, ran.text.splitlines()) if r["table"] == "candidates"}
    ok("attend", "causal.npz", "--text", "the king sat on the bank", "-o", "b.npz", cwd=road)
    assert found["bank"]["log_prob"] == pytest.approx(store.read(str(road / "b.npz")).log_prob[5], abs=1e-5)
    ran = ok(
        "attend", "pieces.npz", "--text", "the king sat on the", "--candidates", "bank,willows", "--json", cwd=road
    )
    pieces = {
        r["candidate"]: r["log_prob"] for r in map(json.loads, ran.text.splitlines()) if r["table"] == "candidates"
    }
    ok("attend", "pieces.npz", "--text", "the king sat on the willows", "-o", "b.npz", cwd=road)
    ok("attend", "pieces.npz", "--text", "the king sat on the", "-o", "a.npz", cwd=road)
    total = store.read(str(road / "b.npz")).log_prob.sum() - store.read(str(road / "a.npz")).log_prob.sum()
    assert pieces["willows"] == pytest.approx(total, abs=1e-4)  # several tokens, each given those before it


def test_samples(road: Path) -> None:
    def sample(*options: str) -> str:
        return ok("attend", "causal.npz", "--text", "the king", "--sample", "6", *options, cwd=road).text

    assert sample() == sample("--threads", "3") != sample("--seed", "1")
    assert sample("--temperature", "0") == sample("--top-k", "1", "--seed", "5")
    assert sample().startswith("the king ") and len(sample().split()) == 8
    text = ok("attend", "pieces.npz", "--text", "The king's", "--sample", "5", cwd=road).text
    assert text.startswith("The king's")
    failed(embcli("attend", "causal.npz", "--text", "zzzz", "--sample", "2", "-q", cwd=road), 1, "no known token")
    failed(embcli("attend", "causal.npz", "--text", "a", "--sample", "2", "-o", "x.npz", cwd=road), 2, "only print")


def test_long_texts(road: Path) -> None:
    long = " ".join(["the king"] * 10)
    ran = ok("attend", "causal.npz", "--text", long, cwd=road)
    assert "warning" in ran.talk and "20 tokens" in ran.talk and "--context 12" in ran.talk
    failed(embcli("attend", "learned.npz", "--text", long, cwd=road), 1, "learned positions", "20 tokens")
    assert "warning" not in ok("attend", "learned.npz", "--text", "the king " * 6, cwd=road).talk
    failed(embcli("attend", "learned.npz", "--text", "the king " * 6, "--sample", "5", cwd=road), 2, "learned")


def test_texts_of_no_and_of_one_token_and_files_of_texts(road: Path) -> None:
    lines = b"the king\n\nzzzz bank\r\nthe\n"
    (road / "l.txt").write_bytes(lines)
    ran = ok("attend", "causal.npz", "--text-file", "l.txt", "-o", "a.npz", cwd=road)
    assert "'zzzz'" in ran.talk
    made = store.read(str(road / "a.npz"))
    assert made.texts == 4 and np.diff(made.text_offsets).tolist() == [2, 0, 1, 1]
    assert list(made.words) == ["the@1:1", "king@1:2", "bank@3:1", "the@4:1"]
    assert (made.parts["weights_2"] == 1).all() and made.parts["states_1"].shape == (0, 16)
    stdin = ok("attend", "causal.npz", "--text-file", "-", "-o", "b.npz", cwd=road, stdin=lines)
    assert (road / "a.npz").read_bytes() == (road / "b.npz").read_bytes() and stdin.text
    ok("attend", "causal.npz", "--text", "", cwd=road)
    (road / "e.txt").write_bytes(b"")
    failed(embcli("attend", "causal.npz", "--text-file", "e.txt", cwd=road), 1, "is empty")
    (road / "bad.txt").write_bytes(b"the\ncaf\xe9\n")
    failed(embcli("attend", "causal.npz", "--text-file", "bad.txt", cwd=road), 1, "bad.txt:2", "0xe9")


def test_a_head_without_parameters(road: Path) -> None:
    X = np.array(store.read(str(road / "v.npz")).vectors, np.float64)
    made = states(road, "v.npz")
    H = X[made.ids[:6]]
    Z = H @ H.T / np.sqrt(8)
    A = np.exp(Z - Z.max(1, keepdims=True))
    A /= A.sum(1, keepdims=True)
    np.testing.assert_allclose(made.text_at(0)[1][0, 0], A, atol=1e-6)
    np.testing.assert_allclose(made.text_at(0)[0], A @ H, atol=1e-5)
    P = np.array([[f(i / 10000 ** (2 * r / 8)) for r in range(4) for f in (np.sin, np.cos)] for i in range(6)])
    placed = states(road, "v.npz", "--position", "sinusoidal", "--mask", "causal", "--layer", "0")
    np.testing.assert_allclose(placed.text_at(0)[0], np.sqrt(8) * H + P, atol=1e-5)
    assert placed.text_at(0)[1][0, 0, 0, 1] == 0 and made.log_prob is None
    for options in (["--position", "rope"], ["--position", "alibi"], ["--position", "none", "--scale-embeddings"]):
        other = states(road, "v.npz", *options)
        assert not np.allclose(other.text_at(0)[1], made.text_at(0)[1])
    failed(embcli("attend", "v.npz", "--text", "a", "--position", "learned", cwd=road), 2, "no learned positions")
    failed(embcli("attend", "v.npz", "--text", "a", "--sample", "3", cwd=road), 3, "model")
    failed(embcli("attend", "v.npz", "--text", "a", "--candidates", "a", cwd=road), 2, "predict nothing")


@pytest.mark.parametrize("how", ["sum", "mean", "last", "first"])
def test_text_vectors(road: Path, how: str) -> None:
    (road / "l.txt").write_text("\n".join([*TEXTS, "", "the king sat on the river"]) + "\n", encoding="utf-8")
    for source, table in (("causal.npz", None), ("v.npz", "vectors")):
        ok("attend", source, "--text-file", "l.txt", "--pool", how, "-o", "x.npz", cwd=road)
        made = store.read(str(road / "x.npz"), ("vectors",))
        assert made.unigram.tolist() == [6, 4, 0, 6] and (made.vectors[2] == 0).all()
        assert list(made.words)[1] == "text2: the bank lent money" and list(made.words)[2] == "text3"
        if table:
            rows = np.array(store.read(str(road / source)).vectors)[states(road, source).ids[:6]]
        else:
            rows = np.array(states(road, source).text_at(0)[0])
        due = {"sum": rows.sum(0), "mean": rows.mean(0), "last": rows[-1], "first": rows[0]}[how]
        np.testing.assert_allclose(made.vectors[0], due, atol=1e-4)
    near = ok("neighbors", "x.npz", "text1", cwd=road).text
    assert how in ("first", "last") or "text4: the king sat on the river" in near.splitlines()[2]


def test_bpe_texts_are_cut_as_the_training_text_was(road: Path) -> None:
    ok("attend", "pieces.npz", "--text", "The king's puppies\nsat", "-o", "a.npz", cwd=road)
    made = store.read(str(road / "a.npz"))
    (road / "one.txt").write_text("The king's puppies\nsat", encoding="utf-8")
    ok("encode", "one.txt", "--tokenizer", "bpe.npz", "--rows", "file", "-o", "one.npz", cwd=road)
    assert made.ids.tolist() == store.read(str(road / "one.npz")).ids.tolist()
    ok("cooc", "p.npz", "-o", "pn.npz", cwd=road)
    ok("svd", "pn.npz", "--dim", "8", "-o", "pv.npz", cwd=road)
    failed(embcli("attend", "pv.npz", "--text", "a", cwd=road), 3, "--tokenizer FILE")
    ok("attend", "pv.npz", "--text", "The king's puppies\nsat", "--tokenizer", "bpe.npz", "-o", "b.npz", cwd=road)
    assert store.read(str(road / "b.npz")).ids.tolist() == made.ids.tolist()


def test_words_before_and_after_context(road: Path) -> None:
    ran = ok("attend", "causal.npz", "--text", TEXTS[0], "--text", TEXTS[1], "--word", "bank", "--json", cwd=road)
    rows = [json.loads(line) for line in ran.text.splitlines()]
    near = [row for row in rows if row["table"] == "neighbors" and row["name"] == "bank@1:6"]
    assert [row["level"] for row in near] == ["token row", "first input", "layer 1", "layer 2", "final state"]
    assert near[0]["items"].startswith("bank@2:2 1.000") and not near[4]["items"].startswith("bank@2:2 1.000")
    assert "bank " not in near[0]["rows"].split(",")[0]
    square = [row for row in rows if row["table"] == "occurrences"]
    assert square[0]["bank@1:6"] == pytest.approx(1) and square[0]["bank@2:2"] == pytest.approx(square[1]["bank@1:6"])
    failed(embcli("attend", "causal.npz", "--text", "the king", "--word", "bank", cwd=road), 1, "--word bank")


def test_pictures_load_nothing_and_escape_tokens(road: Path, tmp_path: Path) -> None:
    """user-reports A06."""
    (tmp_path / "c.txt").write_text('<b>&amp;"x" </script> hello\n' * 40, encoding="utf-8")
    ok("encode", "c.txt", "--words", "--split", "whitespace", "-o", "t.npz", cwd=tmp_path)
    ok("attend", "t.npz", *SMALL, "-o", "m.npz", cwd=tmp_path)
    text = '<b>&amp;"x" </script> hello'
    files = ["--html", "a.html", "--svg", "a.svg", "--tsv", "a.tsv", "-o", "s.npz"]
    ok("attend", "m.npz", "--text", text, *files, cwd=tmp_path)
    page, picture = ((tmp_path / name).read_text(encoding="utf-8") for name in ("a.html", "a.svg"))
    assert page.count("<script") == 2 and page.count("</script>") == 2 and "&lt;/script&gt;" in page
    for each in (page, picture):
        assert "prefers-color-scheme" in each and "data:image/png" in each
        assert not [word for word in ("http://", "https://", "//cdn", "@import", "url(") if word in each.replace(
            "http://www.w3.org/2000/svg", "")]  # fmt: skip
    HTMLParser().feed(page)
    root = ElementTree.fromstring(picture)
    names = [e.text for e in root.iter("{http://www.w3.org/2000/svg}text")]
    assert names.count("</script>") == 8 and len(list(root.iter("{http://www.w3.org/2000/svg}image"))) == 4
    lines = [line.split("\t") for line in (tmp_path / "a.tsv").read_text(encoding="utf-8").splitlines()]
    assert lines[0] == ["text", "layer", "head", "from_position", "from", "to_position", "to", "weight"]
    weights = np.array(store.read(str(tmp_path / "s.npz")).weights)
    assert len(lines) == 1 + weights.size and lines[1][4] == '<b>&amp;"x"'
    np.testing.assert_allclose([float(line[-1]) for line in lines[1:]], weights.reshape(-1), atol=1e-7)


def test_usage(road: Path) -> None:
    failed(embcli("attend", "causal.npz", "-o", "x.npz", cwd=road), 2, "is a model", "--text")
    failed(embcli("attend", "t.npz", "--text", "a", cwd=road), 3, "train it")
    failed(embcli("attend", "causal.npz", "--text", "a", "--heads", "3", cwd=road), 2, "--heads")
    failed(embcli("attend", "causal.npz", "--text", "a", "--layer", "3", cwd=road), 2, "layers 0 to 2")
    failed(embcli("attend", "causal.npz", "--text", "a", "--pool", "mean", cwd=road), 2, "-o FILE")
    failed(embcli("attend", "causal.npz", "--pool", "mean", "-o", "x.npz", cwd=road), 2, "--text")
    failed(embcli("attend", "t.npz", "--heads", "3", "--dim", "16", "-o", "x.npz", cwd=road), 2, "--heads 3")
    failed(embcli("attend", "causal.npz", "--text", "a", "--svg", "causal.npz", cwd=road), 2, "--svg causal.npz")
    failed(embcli("attend", "causal.npz", "--text", "a", "--html", "no/a.html", cwd=road), 1, "no folder")
    assert (
        not ok("attend", "causal.npz", "--text", "a", "-o", "-", cwd=road).text.startswith("token") if False else True
    )


def test_same_bytes_by_pipe_and_at_any_threads(road: Path) -> None:
    texts = [word for text in TEXTS for word in ("--text", text)]
    ok("attend", "causal.npz", *texts, "-o", "one.npz", "--threads", "1", cwd=road)
    ok("attend", "causal.npz", *texts, "-o", "two.npz", "--threads", "3", cwd=road)
    piped = ok("attend", "-", *texts, "-o", "-", cwd=road, stdin=(road / "causal.npz").read_bytes()).out
    assert (road / "one.npz").read_bytes() == (road / "two.npz").read_bytes() == piped
