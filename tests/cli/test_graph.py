"""Oracle: the manners of all steps that write (README), and ``neighbors`` word by word; reports N02, N06, X05."""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from conftest import embcli, environment, failed, ok


@pytest.fixture(scope="module")
def knn(chain: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the graph of the bundled corpus' vectors."""
    path = tmp_path_factory.mktemp("knn") / "knn.npz"
    ran = ok("neighbors", chain / "vectors.npz", "--all", "-o", path)
    assert "words, 10 neighbors each, " in ran.talk and ran.talk.count("\n") == 1 and not ran.out
    return path


def words_of(path: Path) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Return words, neighbors and scores by plain NumPy (report X08)."""
    with np.load(path, allow_pickle=False) as z:
        raw, at = z["word_bytes"].tobytes(), z["word_offsets"].tolist()
        return [raw[a:b].decode() for a, b in pairwise(at)], z["neighbors"], z["scores"]


def known(chain: Path) -> list[str]:
    """Return a few words of the vocabulary, frequent ones and rare ones."""
    words = words_of_vectors(chain)
    return [words[i] for i in (0, 1, 17, len(words) // 2, len(words) - 1)]


def words_of_vectors(chain: Path) -> list[str]:
    return [line.split("\t")[0] for line in ok("info", chain / "vectors.npz", "--words").text.splitlines()]


def test_the_graph_is_what_neighbors_says(chain: Path, knn: Path) -> None:
    words, neighbors, scores = words_of(knn)
    asked = known(chain)
    said = ok("neighbors", chain / "vectors.npz", *asked, "--format", "jsonl").text.splitlines()
    for word in asked:
        lines = [line for line in map(json.loads, said) if line["query"] == word]
        row = words.index(word)
        assert [words[i] for i in neighbors[row]] == [line["word"] for line in lines]
        assert scores[row].tolist() == pytest.approx([line["score"] for line in lines], abs=1e-7)


def test_files_pipes_and_threads_give_the_same_bytes(chain: Path, knn: Path, tmp_path: Path) -> None:
    for threads in ("1", "5"):
        ok("neighbors", chain / "vectors.npz", "--all", "--threads", threads, "-o", tmp_path / "k.npz")
        assert (tmp_path / "k.npz").read_bytes() == knn.read_bytes()
    piped = ok("neighbors", "-", "--all", "-o", "-", stdin=(chain / "vectors.npz").read_bytes())
    assert piped.out == knn.read_bytes() and "stdout: " in piped.talk


def test_another_option_gives_other_bytes(chain: Path, knn: Path, tmp_path: Path) -> None:
    ok("neighbors", chain / "vectors.npz", "--all", "--metric", "dot", "-o", tmp_path / "k.npz")
    assert (tmp_path / "k.npz").read_bytes() != knn.read_bytes()


def test_quiet_json_and_verbose(chain: Path, knn: Path, tmp_path: Path) -> None:
    args = ["neighbors", chain / "vectors.npz", "--all", "--top", "3", "-o", tmp_path / "k.npz"]
    ran = ok(*args, "-q")
    assert (ran.out, ran.err) == (b"", b"")
    found = json.loads(ok(*args, "--json").text)
    assert (found["step"], found["kind"], found["options"]["top"], found["stats"]["top"]) == ("neighbors", "knn", 3, 3)
    assert "digest: " in ok(*args, "-v").talk


def test_info_shows_words_and_their_neighbors(chain: Path, knn: Path) -> None:
    words, neighbors, scores = words_of(knn)
    text = ok("info", knn).text
    assert f"{words[neighbors[0, 0]]} {scores[0, 0]:.6g}" in text and "vectors " in text
    first = json.loads(ok("info", knn, "--json").text)["first"]
    assert first[1]["word"] == words[1] and first[1]["neighbors"][0][0] == words[neighbors[1, 0]]
    ok("info", knn, "--verify")
    failed(embcli("info", knn, "--words"), 3, "no vocabulary")


def test_usage_errors_are_found_first(chain: Path, tmp_path: Path) -> None:
    vectors, out = chain / "vectors.npz", ["-o", tmp_path / "k.npz"]
    failed(embcli("neighbors", vectors, "--all"), 2, "-o FILE")
    failed(embcli("neighbors", vectors, "king", *out), 2, "--all")
    failed(embcli("neighbors", vectors, "king", "--all", *out), 2, "'king'")
    failed(embcli("neighbors", vectors, "--all", "--centroid", *out), 2, "--centroid")
    failed(embcli("neighbors", "--all", *out, vectors, vectors, "--"), 2, "one artifact")
    failed(embcli("neighbors", vectors, "--all", "-o", "-", "--json"), 2, "stdout")
    failed(embcli("neighbors", vectors, "--all", "--weight", "log", *out), 2, "--weight log")
    failed(embcli("neighbors", vectors, "--all", "-o", vectors), 2, "is an input too")
    failed(embcli("neighbors", vectors, "--all", "-o", tmp_path / "none" / "k.npz"), 1, "none", "make it first")
    failed(embcli("neighbors", chain / "tokens.npz", "--all", *out), 3, "found 'tokens'")
    assert list(tmp_path.iterdir()) == []


def test_a_graph_is_no_table_of_vectors(knn: Path) -> None:
    """What is asked of a graph is answered by ``info``, or by what it was made from."""
    failed(embcli("neighbors", knn, "king"), 3, "knn.npz", "found 'knn'")


def test_counts_have_a_graph_too(chain: Path, tmp_path: Path) -> None:
    """Few rows, since counts are searched one by one: the graph of five sentences."""
    (tmp_path / "c.txt").write_text("I like cats\nI like dogs\nI like pizza\n", encoding="utf-8")
    ok("encode", "c.txt", "--words", "--min-count", "1", "-o", "t.npz", cwd=tmp_path)
    ok("cooc", "t.npz", "-o", "c.npz", cwd=tmp_path)
    ok("neighbors", "c.npz", "--all", "--top", "2", "-o", "k.npz", cwd=tmp_path)
    words, neighbors, _ = words_of(tmp_path / "k.npz")
    near = {words[i] for i in neighbors[words.index("cats")]}
    assert near == {"dogs", "pizza"}
    assert json.loads(ok("info", "k.npz", "--json", cwd=tmp_path).text)["options"]["weight"] == "ppmi"


def test_numba_is_loaded_for_the_graph_only(chain: Path, tmp_path: Path) -> None:
    """The other half stands in test_imports.py: ``neighbors`` of a word loads no numba."""
    code = "import sys; from embcli.cli.app import main; main(sys.argv[1:]); print('numba' in sys.modules)"
    args = ["neighbors", str(chain / "vectors.npz"), "--all", "-o", str(tmp_path / "k.npz")]
    done = subprocess.run([sys.executable, "-c", code, *args], capture_output=True, env=environment(), check=True)
    assert done.stdout.split() == [b"True"]


def test_words_from_a_file_and_from_stdin(chain: Path, tmp_path: Path) -> None:
    """Reports N02 and X05: a list of queries, unknown ones said on stderr; stdin is the file, with or without BOM."""
    asked = known(chain)
    text = "\n".join([asked[1], "", "  " + asked[2], "qqqxqq"]) + "\r\n"
    (tmp_path / "q.txt").write_text("\ufeff" + text, encoding="utf-8", newline="")
    for form in ("tsv", "jsonl", "table"):
        args = ["neighbors", chain / "vectors.npz", "--top", "2", "--format", form, "--words-from"]
        file, stdin = ok(*args, tmp_path / "q.txt"), ok(*args, "-", stdin=text.encode())
        assert file.out == stdin.out and file.err == stdin.err and "qqqxqq" in file.talk
    rows = [json.loads(line) for line in ok(*args[:4], "--json", *args[-1:], tmp_path / "q.txt").text.splitlines()]
    assert [row["query"] for row in rows] == [asked[1]] * 2 + [asked[2]] * 2
    failed(embcli("neighbors", chain / "vectors.npz", "--words-from", tmp_path / "none"), 1, "cannot be read")
    (tmp_path / "bad.txt").write_bytes(b"king\n\xff\n")
    failed(embcli("neighbors", chain / "vectors.npz", "--words-from", tmp_path / "bad.txt"), 1, "byte 6", "UTF-8")
    failed(embcli("neighbors", "-", "--words-from", "-", stdin=b""), 2, "only once")


def test_tsv_and_json_lines_agree(chain: Path) -> None:
    """Report N06 in the forms that programs read: scores in full, sorted, from -1 to 1."""
    asked = known(chain)
    args = ["neighbors", chain / "vectors.npz", *asked, "--min-score", "0.2", "--restrict", "500"]
    heads, *lines = [line.split("\t") for line in ok(*args, "--format", "tsv").text.splitlines()]
    rows = [json.loads(line) for line in ok(*args, "--format", "jsonl").text.splitlines()]
    assert [dict(zip(heads, line, strict=True)) for line in lines] == [
        {key: "" if value is None else str(value) for key, value in row.items()} for row in rows
    ]
    frequent = set(words_of_vectors(chain)[:500])
    assert rows and all(0.2 <= row["score"] <= 1 and row["word"] in frequent for row in rows)
    assert ok("neighbors", chain / "vectors.npz", asked[0], "--format", "jsonl", "--restrict", "5000").out


def test_more_neighbors_than_there_are_rows_are_lowered(chain: Path, tmp_path: Path) -> None:
    ran = ok(
        "neighbors", chain / "vectors.npz", "--all", "--top", "99999", "--restrict", "30", "-o", tmp_path / "k.npz"
    )
    assert "lowered to 30" in ran.talk
    with np.load(tmp_path / "k.npz") as found:
        assert found["neighbors"].shape[1] == 30
