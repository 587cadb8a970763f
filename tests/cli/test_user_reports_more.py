"""Oracle: what users of the existing tools reported, for every command of the count road."""

from __future__ import annotations

import ast
import io
import json
import zipfile
from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT, embcli, failed, ok
from road import SMALL, counted, dense, load
from transform_twin import saved

from embcli.spec import STEPS

SOLVERS = ["dense", "arpack", "krylov"]
POSIX = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
#: step -> what it takes besides its input
ROAD = {
    "cooc": ["--window", "2"],
    "svd": ["--weight", "log", "--dim", "4"],
    "transform": ["--center", "--dim", "3", "--unit"],
}


def road(folder: Path, text: bytes, **env: str) -> dict[str, bytes]:
    """Return the artifacts that the commands make of a text, one after another, each by its command's name."""
    folder.mkdir()
    (folder / "c.txt").write_bytes(text)
    ok("encode", "c.txt", *SMALL, "-o", "encode", cwd=folder, **env)
    for before, (step, options) in zip(("encode", "cooc", "svd"), ROAD.items(), strict=True):
        ok(step, before, *options, "-o", step, cwd=folder, **env)
    return {name: (folder / name).read_bytes() for name in ("encode", *ROAD)}


TEXT = "naïve 東京 “x” y\n東京 naïve z y\n".encode() * 3


def test_the_locale_changes_no_byte_of_any_artifact_or_report(tmp_path: Path) -> None:
    """user-reports X01."""
    assert road(tmp_path / "a", TEXT) == road(tmp_path / "b", TEXT, **POSIX)
    for command in (["neighbors", "svd", "--words-from", "-"], ["info", "svd"], ["info", "cooc"]):
        plain = ok(*command, "--json", cwd=tmp_path / "a", stdin="東京\n".encode()).text
        posix = ok(*command, "--json", cwd=tmp_path / "b", stdin="東京\n".encode(), **POSIX).text
        assert [*map(json.loads, plain.splitlines())] == [*map(json.loads, posix.splitlines())]


def test_the_locale_does_not_change_a_word_among_the_arguments(tmp_path: Path) -> None:
    """user-reports X01."""
    path = saved(tmp_path / "v.npz", [[1, 0], [1, 1]], ["東京", "naïve"])
    assert json.loads(ok("neighbors", path, "東京", "--json", **POSIX).text)["word"] == "naïve"


def opened_without_encoding(source: str) -> list[int]:
    """Return the lines that open a text file without naming its encoding."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        binary = any(isinstance(a, ast.Constant) and "b" in str(a.value) for a in node.args[1:2])
        text = (name == "open" and isinstance(node.func, ast.Name) and not binary) or name in (
            "read_text",
            "write_text",
        )
        if text and not any(k.arg == "encoding" for k in node.keywords):
            found.append(node.lineno)
    return found


def test_every_text_file_is_opened_with_its_encoding() -> None:
    """user-reports X01."""
    for path in sorted((ROOT / "embcli").rglob("*.py")):
        assert opened_without_encoding(path.read_text(encoding="utf-8")) == [], path
    assert opened_without_encoding("open('a')\nPath(p).read_text()\nopen('a', 'rb')\nopen('a', encoding='utf-8')") == [
        1, 2,
    ]  # fmt: skip


@pytest.mark.parametrize("flag", [[], ["--progress"], ["-v"]])
def test_no_command_writes_control_characters_into_files(tmp_path: Path, flag: list[str]) -> None:
    """user-reports X03."""
    road(tmp_path / "a", TEXT)
    there = tmp_path / "a"
    runs = [["encode", "c.txt", *SMALL, "-o", "x", *flag]]
    runs += [[s, b, *ROAD[s], "-o", "x", *flag] for b, s in (("encode", "cooc"), ("cooc", "svd"), ("svd", "transform"))]
    if not flag:
        runs += [["neighbors", "svd", "東京"], ["info", "svd"], ["decode", "encode"]]
    for run in runs:
        ran = ok(*run, cwd=there, FORCE_COLOR="1") if run[0] == "encode" else ok(*run, cwd=there)
        assert b"\x1b" not in ran.out + ran.err and b"\r" not in ran.out + ran.err, run
        if "-o" in run:
            assert ran.out == b"" and ran.err.count(b"\n") >= 1


def test_stdin_is_the_file_for_every_command(tmp_path: Path) -> None:
    """user-reports X05."""
    made, there = road(tmp_path / "a", TEXT), tmp_path / "a"
    assert ok("encode", "-", *SMALL, "-o", "-", stdin=TEXT).out == made["encode"]
    for before, step in (("encode", "cooc"), ("cooc", "svd"), ("svd", "transform")):
        assert ok(step, "-", *ROAD[step], "-o", "-", stdin=made[before]).out == made[step]
    assert ok("decode", "-", stdin=made["encode"]).out == ok("decode", "encode", cwd=there).out
    for command in (["info", "{}", "--json"], ["neighbors", "{}", "東京", "--json"]):
        by_name = ok(*(a.format("svd") for a in command), cwd=there).text.splitlines()
        by_pipe = ok(*(a.format("-") for a in command), stdin=made["svd"]).text.splitlines()
        told = [[{k: v for k, v in json.loads(x).items() if k not in ("artifact", "path", "size", "file")}
                 for x in lines] for lines in (by_name, by_pipe)]  # fmt: skip
        assert told[0] == told[1] != []


def test_names_stay_as_given_and_nothing_needs_pickle(tmp_path: Path) -> None:
    """user-reports X06 and X08; the names of the road have no suffix."""
    made, there = road(tmp_path / "a", TEXT), tmp_path / "a"
    assert {p.name for p in there.iterdir()} == {"c.txt", *made}
    for name in made:
        with np.load(there / name, allow_pickle=False) as z:
            assert all(z[key].dtype.hasobject is False for key in z.files)


def test_crlf_gives_the_arrays_of_lf_all_along_the_road(tmp_path: Path) -> None:
    """user-reports X12."""
    road(tmp_path / "lf", TEXT)
    road(tmp_path / "crlf", b"\xef\xbb\xbf" + TEXT.replace(b"\n", b"\r\n"))
    road(tmp_path / "cr", TEXT.replace(b" ", b" w\r "))
    for name in ("encode", *ROAD):
        (lf, words), (crlf, same) = load(tmp_path / "lf" / name), load(tmp_path / "crlf" / name)
        assert words == same and not any("\r" in word or "\ufeff" in word for word in same)
        assert all(lf[key].tobytes() == crlf[key].tobytes() for key in lf if key != "meta")
        assert load(tmp_path / "cr" / name)[1] != words


def test_hashing_changes_nothing_and_the_seed_is_always_stored(tmp_path: Path) -> None:
    """user-reports X17."""
    first, second = road(tmp_path / "a", TEXT, PYTHONHASHSEED="1"), road(tmp_path / "b", TEXT, PYTHONHASHSEED="2")
    assert first == second
    for name in first:
        assert json.loads(load(tmp_path / "a" / name)[0]["meta"].tobytes())["seed"] == 0
    ok("svd", "cooc", *ROAD["svd"], "--seed", "7", "-o", "other", cwd=tmp_path / "a")
    assert json.loads(load(tmp_path / "a" / "other")[0]["meta"].tobytes())["seed"] == 7


@pytest.mark.parametrize("step", ["cooc", "svd", "transform", "neighbors", "decode", "info"])
def test_every_wrong_pairing_names_what_it_is_and_what_was_due(chain: Path, tmp_path: Path, step: str) -> None:
    """user-reports X20."""
    more = {"neighbors": ["like"], "decode": [], "info": []}.get(step, ["-o", tmp_path / "x.npz"])
    more = [*more, "--unit"] if step == "transform" else more
    reads = set(STEPS[step].reads) if step != "info" else {"tokens", "counts", "vectors"}
    for kind in sorted({"tokens", "counts", "vectors"} - reads):
        due = next(iter(sorted(reads)))
        failed(embcli(step, chain / f"{kind}.npz", *more), 3, f"{kind}.npz", f"found '{kind}'", due)
    with zipfile.ZipFile(tmp_path / "plain.zip", "w") as z:
        z.writestr("readme.txt", "nothing of ours")
    buffer = io.BytesIO()
    np.savez(buffer, ids=np.arange(5), table=np.eye(3))
    (tmp_path / "other.npz").write_bytes(buffer.getvalue())
    for name in ("plain.zip", "other.npz"):
        failed(embcli(step, tmp_path / name, *more), 3, name)
    assert not (tmp_path / "x.npz").exists()


def test_both_triangles_and_half_of_them(tmp_path: Path) -> None:
    """user-reports C02."""
    flat = ["--window", "1", "--weighting", "flat"]
    found = counted(tmp_path, "a b c b a\n", *flat)
    assert found == {("a", "b"): 2, ("b", "a"): 2, ("b", "c"): 2, ("c", "b"): 2}
    assert counted(tmp_path, "a a\n", *flat) == {("a", "a"): 2}
    for side in ("left", "right"):
        assert sum(counted(tmp_path, "a b c b a\n", *flat, "--direction", side).values()) == 4


def test_counts_equal_a_naive_count_of_200_lines(tmp_path: Path) -> None:
    """user-reports C08."""
    rng = np.random.default_rng(0)
    lines = [[f"w{i}" for i in rng.zipf(1.5, 12) % 30] for _ in range(200)]
    naive: Counter[tuple[str, str]] = Counter()
    for line in lines:
        for i, j in ((i, j) for i in range(12) for j in range(12) if i != j and abs(i - j) <= 3):
            naive[line[i], line[j]] += 1
    text = "\n".join(map(" ".join, lines))
    assert counted(tmp_path, text, "--window", "3", "--weighting", "flat") == naive
    (a, b), most = naive.most_common(1)[0]
    said = ok("cooc", tmp_path / "t.npz", "--window", "3", "--weighting", "flat", "--top", "1", "--json").text
    assert json.loads(said)["count"] == most
    assert json.loads(ok("info", tmp_path / "c.npz", "--pair", f"{a} {b}", "--json").text)["count"] == most
    assert counted(tmp_path, text, "--window", "2", "--weighting", "flat") != naive


@pytest.mark.parametrize("solver", SOLVERS)
def test_values_descend_and_belong_to_their_columns(tmp_path: Path, solver: str) -> None:
    """user-reports S01 and S02, on a 60 x 60 sparse matrix: the product of the factors is that of a dense SVD."""
    rng = np.random.default_rng(1)
    lines = [" ".join(f"w{i}" for i in rng.integers(0, 60, 6)) for _ in range(80)]
    cells = counted(tmp_path, "\n".join(lines), "--window", "1", "--weighting", "flat")
    ok("svd", tmp_path / "c.npz", "--weight", "none", "--dim", "20", "--eig", "0", "--solver", solver, "-o",
       tmp_path / "v.npz")  # fmt: skip
    a, words = load(tmp_path / "v.npz")
    assert len(words) == 60 and cells == dense(tmp_path / "c.npz")
    X = np.array([[cells.get((w, c), 0.0) for c in words] for w in words])
    U, s, Vt = np.linalg.svd(X)
    found, left, right = a["singular_values"], a["vectors"].astype(float), a["contexts"].astype(float)
    assert all(x >= y >= 0 for x, y in pairwise(found)) and found == pytest.approx(s[:20], rel=1e-5)
    if abs(s[19] - s[20]) > 1e-3 * s[0]:
        assert (left * found) @ right.T == pytest.approx((U[:, :20] * s[:20]) @ Vt[:20], abs=2e-5 * s[0])
    assert np.abs((left * found[::-1]) @ right.T - (U[:, :20] * s[:20]) @ Vt[:20]).max() > 1e-2
    assert (left[np.abs(left).argmax(axis=0), np.arange(20)] > 0).all()


def test_a_word_without_contexts_is_a_zero_row_without_warnings(tmp_path: Path) -> None:
    """user-reports S07."""
    counted(tmp_path, "a b c b a\nalone\n", "--window", "1", "--weighting", "flat")
    for shift in ("1", "1.5"):
        ran = ok("svd", tmp_path / "c.npz", "--cds", "1", "--shift", shift, "--dim", "4", "--eig", "1", "-o",
                 tmp_path / "v.npz", PYTHONWARNINGS="error")  # fmt: skip
        assert "RuntimeWarning" not in ran.talk
        a, words = load(tmp_path / "v.npz")
        assert not a["vectors"][words.index("alone")].any() and a["vectors"][words.index("a")].any()
        right = a["contexts"] / np.where(a["singular_values"] > 0, a["singular_values"], 1)
        ppmi = a["vectors"] @ right.T
        due = np.log(2 / float(shift))
        assert ppmi[words.index("a"), words.index("b")] == pytest.approx(due, abs=1e-6)
        assert ppmi[words.index("a"), words.index("c")] == pytest.approx(0, abs=1e-6)
    failed(embcli("svd", tmp_path / "c.npz", "--cds", "1", "--shift", "2.5", "--dim", "4", "-o", tmp_path / "w.npz"),
           4, "--shift")  # fmt: skip


FIVE = {"man": (1, 0, 0), "woman": (0.9, 0.1, 0), "king": (1, 0, 1), "queen": (0.8, 0.4, 0.8), "apple": (0, 1, 0)}


def answers(path: str, *query: str) -> list[tuple[str, float]]:
    lines = ok("neighbors", path, *query, "--json").text.splitlines()
    return [(found["word"], found["score"]) for found in map(json.loads, lines)]


def test_queen_comes_first_and_a_word_is_not_its_own_neighbor(tmp_path: Path) -> None:
    """user-reports N01, through the command."""
    path = saved(tmp_path / "v.npz", list(FIVE.values()), [*FIVE])
    word, score = answers(path, "king - man + woman")[0]
    assert word == "queen" and score == pytest.approx(0.973799, abs=1e-6)
    lines = ok("neighbors", path, "--include-inputs", "king - man + woman", "--json").text.splitlines()
    assert json.loads(lines[0])["word"] == "king"
    assert json.loads(lines[0])["score"] == pytest.approx(0.993896, abs=1e-6)
    assert "king" not in dict(answers(path, "king"))


def test_unknown_words_in_expressions_are_skipped_and_named(chain: Path) -> None:
    """user-reports N02."""
    ran = ok("neighbors", chain / "vectors.npz", "king - man + xqzv", "king - man + woman", "--json")
    assert {json.loads(line)["query"] for line in ran.text.splitlines()} == {"king - man + woman"}
    assert "xqzv" in ran.talk
    failed(embcli("neighbors", chain / "vectors.npz", "king - man + xqzv"), 1, "xqzv")


def test_cosines_are_cosines_whatever_the_lengths(chain: Path, tmp_path: Path) -> None:
    """user-reports N06."""
    a, words = load(chain / "vectors.npz")
    longer = a["vectors"].copy()
    longer[::3] *= 1000
    path = saved(tmp_path / "long.npz", longer, words)
    for word in ("king", "dog", words[0]):
        before, after = answers(str(chain / "vectors.npz"), word), answers(path, word)
        assert [w for w, _ in after] == [w for w, _ in before]
        assert [s for _, s in after] == pytest.approx([s for _, s in before], abs=1e-5)
        assert all(-1 <= s <= 1 for _, s in after) and [s for _, s in after] == sorted((s for _, s in after))[::-1]
        unit = a["vectors"] / np.linalg.norm(a["vectors"].astype(float), axis=1, keepdims=True)
        brute = dict(zip(words, unit @ unit[words.index(word)], strict=True))
        assert all(score == pytest.approx(brute[w], abs=1e-5) for w, score in after)
    dots = json.loads(ok("neighbors", path, "king", "--metric", "dot", "--json").text.splitlines()[0])
    assert dots["score"] > 1
