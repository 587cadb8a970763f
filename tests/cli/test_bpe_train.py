"""Oracle: the contract of the command line, and what users of other trainers reported."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import DATA, embcli, environment, failed, ok

TRAIN = ("bpe-train", "--vocab-size", "400")
CORPUS = DATA / "corpus.txt"


def test_same_bytes_whatever_the_machine(tmp_path: Path) -> None:
    """user-reports X17, X01: threads, hash seeds and locales change nothing; the file and stdin are one (X05)."""
    text = CORPUS.read_bytes() + "naïve 東京 “x”\n".encode() * 9
    (tmp_path / "text").write_bytes(text)
    locale = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    runs = [("1", {"PYTHONHASHSEED": "1"}), ("2", {"PYTHONHASHSEED": "2"}), ("5", locale)]
    for threads, env in runs:
        ok(*TRAIN, tmp_path / "text", "--threads", threads, "-o", tmp_path / threads, **env)
    ok(*TRAIN, "-", "-o", tmp_path / "stdin", stdin=text)
    ok(*TRAIN, CORPUS, "-o", tmp_path / "other")
    said = [(tmp_path / name).read_bytes() for name in ("1", "2", "5", "stdin", "other")]
    assert said[0] == said[1] == said[2] == said[3] != said[4]


def test_no_control_codes(tmp_path: Path) -> None:
    """user-reports X03: no bars in files."""
    ran = ok(*TRAIN, CORPUS, "-o", tmp_path / "t.npz")
    assert ran.out == b"" and b"\x1b" not in ran.err and b"\r" not in ran.err
    assert "400 entries, 144 merges" in ran.talk


def test_the_name_and_the_arrays_are_what_was_asked(tmp_path: Path) -> None:
    """user-reports X06 and X08: exactly that path, and no pickle in it."""
    ok(*TRAIN, CORPUS, "-o", tmp_path / "model.tmp")
    assert [p.name for p in tmp_path.iterdir()] == ["model.tmp"]
    with np.load(tmp_path / "model.tmp", allow_pickle=False) as z:
        shapes = {name: z[name].shape for name in z.files}
    assert shapes["merges"] == (144, 2) and shapes["token_offsets"] == (401,)


def test_carriage_returns_are_bytes(tmp_path: Path) -> None:
    """user-reports X12: byte-level tokens keep a CR, and a BOM."""
    (tmp_path / "crlf").write_bytes(b"\xef\xbb\xbfab\r\n" * 9)
    ok("bpe-train", tmp_path / "crlf", "-q", "-o", tmp_path / "t.npz")
    with np.load(tmp_path / "t.npz") as z:
        learned = z["token_bytes"][z["token_offsets"][256] :].tobytes()
    assert b"\r\n" in learned and b"\xef\xbb\xbf" in learned


def test_usage_errors(tmp_path: Path) -> None:
    out, text = ("-o", tmp_path / "t.npz"), tmp_path / "text"
    text.write_text("ab ab\n")
    for code, options, part in [
        (2, ("--vocab-size", "1"), "--vocab-size"),
        (2, ("--vocab-size", "257", "--special", "<s>", "--special", "<t>"), "at least 258"),
        (2, ("--special", ""), "--special"),
        (2, ("--special", "<s>", "--special", "<s>"), "given twice"),
        (2, ("--special", "a"), "base symbol"),
        (2, ("--end-of-word",), "--unit char"),
        (2, ("--pattern", "("), "regular expression"),
        (2, ("--min-frequency", "0"), "--min-frequency"),
        (2, ("--ties", "highest"), "--ties"),
        (1, ("--init", tmp_path / "none.npz"), "none.npz"),
        (3, ("--init", text), "is no tokenizer artifact"),
        (4, ("--vocab-size", "9999", "--strict"), "nothing was written"),
        (4, ("--max-token-bytes", "1"), "nothing to learn"),
    ]:
        failed(embcli("bpe-train", text, *options, *out), code, part)
    failed(embcli("bpe-train", text), 2, "-o")
    failed(embcli("bpe-train", tmp_path / "none.txt", *out), 1, "none.txt")
    assert not (tmp_path / "t.npz").exists()


def test_wrong_kinds(tmp_path: Path) -> None:
    """user-reports X20: a tokenizer is no text, no counts and no vectors, and is told by name."""
    ok(*TRAIN, CORPUS, "-o", tmp_path / "t.npz")
    failed(embcli(*TRAIN, tmp_path / "t.npz", "-o", tmp_path / "o.npz"), 3, "t.npz")
    failed(embcli("svd", tmp_path / "t.npz", "-o", tmp_path / "o.npz"), 3, "tokenizer")
    failed(embcli("neighbors", tmp_path / "t.npz", "cat"), 3, "tokenizer")
    ok("encode", CORPUS, "--words", "-o", tmp_path / "w.npz")
    failed(embcli(*TRAIN, CORPUS, "--init", tmp_path / "w.npz", "-o", tmp_path / "o.npz"), 3, "tokens")


@pytest.mark.parametrize("text", [b"", b"\n\n"])
def test_nothing_to_train_on(tmp_path: Path, text: bytes) -> None:
    """user-reports X13."""
    (tmp_path / "text").write_bytes(text)
    failed(
        embcli("bpe-train", tmp_path / "text", "-o", tmp_path / "t.npz"), 4, "nothing to learn from", "highest count"
    )


def test_json_is_one_object(tmp_path: Path) -> None:
    ran = ok(*TRAIN, CORPUS, "--json", "-o", tmp_path / "t.npz")
    said = json.loads(ran.text)
    assert said["stats"]["vocab"] == 400 and said["options"]["vocab_size"] == 400


PEAK = """
import sys
from embcli.cli.app import main
code = main(sys.argv[1:])
line = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(line.split()[1])
sys.exit(code)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="peak memory is read from /proc")
def test_memory_depends_on_types(tmp_path: Path) -> None:
    """user-reports B06: 5,000 words in 2 MB and in 60 MB of text need the same memory; 60 MB of new words more."""

    def peak(make: bytes, size: int) -> int:
        path = tmp_path / "text"
        with path.open("wb") as f:
            for _ in range(-(-size // len(make))):
                f.write(make)
        argv = ["bpe-train", str(path), "--threads", "2", "-q", "-o", str(tmp_path / "t.npz")]
        done = subprocess.run([sys.executable, "-c", PEAK, *argv], capture_output=True, env=environment(), check=True)
        return int(done.stdout)

    rnd = np.random.default_rng(0)
    words = ["".join(map(chr, rnd.integers(97, 123, 7))) for _ in range(5000)]
    few = (" ".join(words) + "\n").encode()
    many = (" ".join("".join(map(chr, rnd.integers(97, 123, 7))) for _ in range(250_000)) + "\n").encode()
    peak(few, 1)  # compile
    small, large = peak(few, 2_000_000), peak(few, 60_000_000)
    assert large < 1.3 * small
    assert peak(many, 1) > 1.1 * small


def test_patterns_that_hang_or_are_wrong_names(tmp_path: Path) -> None:
    (tmp_path / "c.txt").write_bytes(b"a" * 45 + b"b\n")
    train = ("bpe-train", tmp_path / "c.txt", "--vocab-size", "260", "-o", tmp_path / "t.npz", "--pattern")
    failed(embcli(*train, r"(?:a|aa)+$"), 1, "too many ways")
    failed(embcli(*train, "gpt5"), 2, "did you mean 'gpt4'")
    ok(*train, "cl100k_base")
    assert "pattern gpt4" in ok("info", tmp_path / "t.npz").text


def test_numbers_beyond_64_bits_are_usage_errors(tmp_path: Path) -> None:
    (tmp_path / "c.txt").write_bytes(b"ab ab\n")
    for flag in ("--min-frequency", "--max-token-bytes"):
        failed(embcli("bpe-train", tmp_path / "c.txt", flag, "9" * 23, "-o", tmp_path / "t.npz"), 2, flag, "too large")
