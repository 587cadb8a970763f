"""Oracle: the manners of a command line, and the reports N02, N03 and N11, on the vectors of the bundled corpus."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from conftest import DATA, embcli, failed, ok

PAIRS, QUESTIONS = DATA / "similarity.tsv", DATA / "questions.txt"


def rows(text: str) -> list[dict[str, str]]:
    head, *lines = (line.split("\t") for line in text.splitlines())
    return [dict(zip(head, line, strict=True)) for line in lines]


def test_the_bundled_files(chain: Path) -> None:
    """user-reports N11: total, scored, both accuracies, method and cut are in the output."""
    vectors = chain / "vectors.npz"
    ran = ok("eval", vectors, "--similarity", PAIRS, "--analogies", QUESTIONS, "--sections", "--method", "both")
    for said in (
        "Spearman",
        "% of scored",
        "% of all",
        "3CosAdd",
        "3CosMul",
        "family",
        "vocabulary: all",
        "case: fold",
    ):
        assert said in ran.text
    assert "\x1b" not in ran.text and "\r" not in ran.text and not ran.talk
    told = [json.loads(line) for line in ok("eval", vectors, "-s", PAIRS, "-a", QUESTIONS, "--json").text.splitlines()]
    value = {line["measure"]: line for line in told}
    assert value["accuracy"]["value"] >= 0.8 and value["spearman"]["value"] > 0.5
    assert value["accuracy_all"]["total"] == sum(len(line.split()) == 4 for line in QUESTIONS.open(encoding="utf-8"))
    assert value["accuracy"]["restrict"] is None and value["accuracy"]["method"] == "add"


def test_a_leaderboard_keeps_the_order(chain: Path) -> None:
    args = (chain / "vectors.npz", chain / "counts.npz", "-s", PAIRS)
    table = ok("eval", *args).text
    assert table.index("vectors.npz") < table.index("counts.npz") and "*" in table
    assert [r["artifact"] for r in rows(ok("eval", *args, "--format", "tsv").text) if r["measure"] == "spearman"] == [
        "vectors.npz", "counts.npz",
    ]  # fmt: skip


def test_rare_pairs_are_scored_on_their_own(chain: Path, tmp_path: Path) -> None:
    """By the counts of the text: what a file of these pairs alone gives; common words are not among them."""
    vectors = chain / "vectors.npz"
    count = {
        r[0]: int(r[1]) for r in map(str.split, ok("info", vectors, "--words").text.splitlines()) if r[1].isdigit()
    }
    lines = [line.split("\t") for line in PAIRS.read_text(encoding="utf-8").splitlines()]
    pairs = [line for line in lines if line[0] in count and line[1] in count]
    limit = sorted(min(count[a], count[b]) for a, b, *_ in pairs)[len(pairs) // 2]
    rare = [line for line in pairs if min(count[line[0]], count[line[1]]) < limit]
    assert 2 < len(rare) < len(pairs)
    (tmp_path / "rare.tsv").write_text("".join("\t".join(line) + "\n" for line in rare), encoding="utf-8")
    both = rows(ok("eval", vectors, "-s", PAIRS, "--rare", str(limit), "--format", "tsv").text)
    alone = rows(ok("eval", vectors, "-s", tmp_path / "rare.tsv", "--format", "tsv").text)
    found = {r["section"]: r for r in both if r["measure"] == "spearman"}
    assert found["rare"]["value"] == alone[0]["value"] != found[""]["value"]
    assert int(found["rare"]["scored"]) == len(rare)
    assert f"fewer than {limit:,} times" in ok("eval", vectors, "-s", PAIRS, "--rare", str(limit)).text


def test_figures_depend_neither_on_threads_nor_on_hashes(chain: Path) -> None:
    args = ("eval", chain / "vectors.npz", "-s", PAIRS, "-a", QUESTIONS, "--misses", "3", "--json")
    first = ok(*args, "--threads", "1", PYTHONHASHSEED="1").out
    assert ok(*args, "--threads", "3", PYTHONHASHSEED="2").out == first
    assert ok(*args, "--restrict", "300").out != first


def test_misses_say_what_was_found(chain: Path, tmp_path: Path) -> None:
    """user-reports N02: a question with an unknown word is skipped and counted."""
    (tmp_path / "q.txt").write_text("man king woman dog\nman king woman xqzv\nman king woman queen\n", encoding="utf-8")
    args = ("eval", chain / "vectors.npz", "-a", tmp_path / "q.txt", "--misses", "5")
    text = ok(*args).text
    assert "man : king :: woman : ?" in text and "2 of 3" in text and "the first 1 of 1 failed" in text
    *_, miss = rows(ok(*args, "--format", "tsv").text)
    assert (miss["measure"], miss["expected"], miss["found"]) == ("miss", "dog", "queen")
    assert int(miss["expected_rank"]) > 1 and float(miss["score"]) > float(miss["expected_score"])


def test_restrict_and_case(chain: Path, tmp_path: Path) -> None:
    """user-reports N03."""
    (tmp_path / "q.txt").write_text("MAN KING WOMAN QUEEN\n", encoding="utf-8")
    args = ("eval", chain / "vectors.npz", "-a", tmp_path / "q.txt")
    for locale in ("C", "tr_TR.UTF-8"):
        assert "1 of 1" in ok(*args, LC_ALL=locale, PYTHONUTF8="0", PYTHONCOERCECLOCALE="0").text
    failed(embcli(*args, "--case", "exact"), 1, "q.txt", "coverage 0 of 1", "--case fold")
    failed(embcli(*args, "--restrict", "2"), 1, "coverage 0 of 1", "2 words", "--restrict")


def test_stdin_and_compressed_files_equal_the_file(chain: Path, tmp_path: Path) -> None:
    vectors = chain / "vectors.npz"
    raw = QUESTIONS.read_bytes()
    (tmp_path / "q.gz").write_bytes(gzip.compress(raw))
    plain = [{**r, "file": ""} for r in rows(ok("eval", vectors, "-a", QUESTIONS, "--format", "tsv").text)]
    for args, stdin in (((vectors, "-a", tmp_path / "q.gz"), b""), ((vectors, "-a", "-"), raw),
                        (("-", "-a", QUESTIONS), vectors.read_bytes())):  # fmt: skip
        ran = ok("eval", *args, "--format", "tsv", stdin=stdin)
        assert [{**r, "file": "", "artifact": "vectors.npz"} for r in rows(ran.text)] == plain
    failed(embcli("eval", "-", "-a", "-"), 2, "stdin")


@pytest.mark.parametrize(
    ("args", "code", "said"),
    [
        ((), 2, "nothing to evaluate"),
        (("-a", PAIRS), 1, "give it to --similarity"),
        (("-s", QUESTIONS), 1, "give it to --analogies"),
        (("-s", "nowhere.tsv"), 1, "nowhere.tsv"),
        (("-s", PAIRS, "--misses", "2"), 2, "--analogies"),
        (("-a", QUESTIONS, "--rare", "9"), 2, "--rare belongs to --similarity"),
        (("-a", QUESTIONS, "--restrict", "0"), 2, "--restrict"),
        (("-a", QUESTIONS, "--weight", "log"), 2, "--weight log"),
        (("-a", QUESTIONS, "-a", QUESTIONS), 2, "given twice"),
        (("-a", DATA / "corpus.txt"), 1, "line 1: expected four words"),
    ],
)
def test_faults_are_one_line(chain: Path, args: tuple[str, ...], code: int, said: str) -> None:
    failed(embcli("eval", chain / "vectors.npz", *args), code, said)


def test_wrong_kinds(chain: Path) -> None:
    failed(embcli("eval", chain / "tokens.npz", "-a", QUESTIONS), 3, "tokens.npz", "expected kind")
    failed(embcli("eval", chain / "vectors.npz", "-a", chain / "vectors.npz"), 3, "not text")
    failed(embcli("eval", chain / "counts.npz", "-a", QUESTIONS, "--table", "output"), 3, "counts.npz")


def test_a_first_line_without_its_score_is_no_heading(chain: Path, tmp_path: Path) -> None:
    for missing in ("NA", "nan", "0x10", "-", "1_0"):
        (tmp_path / "s.txt").write_text(f"king queen {missing}\ndog puppy 8\nking dog 1\n", encoding="utf-8")
        failed(embcli("eval", chain / "vectors.npz", "-s", tmp_path / "s.txt"), 1, "line 1")
    (tmp_path / "s.txt").write_text("word1 word2 score\ndog puppy 8\nking dog 1\nking queen 7\n", encoding="utf-8")
    assert "3 of 3" in ok("eval", chain / "vectors.npz", "-s", tmp_path / "s.txt").text


def test_no_best_is_marked_where_coverage_differs(chain: Path, tmp_path: Path) -> None:
    ok("encode", DATA / "corpus.txt", "--words", "--lower", "--max-vocab", "400", "-o", tmp_path / "t.npz")
    ok("cooc", tmp_path / "t.npz", "-o", tmp_path / "c.npz")
    ok("svd", tmp_path / "c.npz", "--dim", "20", "-o", tmp_path / "small.npz")
    both = [chain / "vectors.npz", tmp_path / "small.npz"]
    uneven = ok("eval", *both, "-s", DATA / "similarity.tsv").text
    assert "*" not in uneven and "no best is marked" in uneven
    even = ok("eval", chain / "vectors.npz", chain / "counts.npz", "-s", DATA / "similarity.tsv").text
    assert "*" in even and "no best is marked" not in even


def test_document_counts_are_refused_with_the_way_out(chain: Path, tmp_path: Path) -> None:
    ok("cooc", chain / "tokens.npz", "--context", "document", "-o", tmp_path / "d.npz")
    failed(embcli("eval", tmp_path / "d.npz", "-s", DATA / "similarity.tsv"), 3, "d.npz", "documents", "embcli svd")


def test_a_column_of_numbers_before_the_words_is_refused(chain: Path, tmp_path: Path) -> None:
    (tmp_path / "s.txt").write_text("1\tking\tqueen\t9\n2\tdog\tpuppy\t1\n", encoding="utf-8")
    failed(embcli("eval", chain / "vectors.npz", "-s", tmp_path / "s.txt"), 1, "first column holds numbers")
