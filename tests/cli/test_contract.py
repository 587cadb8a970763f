"""Oracle: the manners that the README promises, for every command that the spec declares."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import DATA, ROOT, embcli, environment, failed, ok

from embcli.spec import STEPS, fields

TINY = DATA / "tiny" / "five-sentences.txt"
SMALL = ["--words", "--min-count", "1"]


@pytest.fixture
def tokens(tmp_path: Path) -> Path:
    ok("encode", TINY, *SMALL, "-o", tmp_path / "tokens.npz")
    return tmp_path / "tokens.npz"


@pytest.mark.processes
@pytest.mark.parametrize("name", STEPS)
def test_every_command_has_help_with_all_options_and_two_examples(name: str) -> None:
    text = ok(name, "--help").text
    step = STEPS[name]
    assert step.summary in text
    for f in fields(step.params):
        assert f.flag in text
    assert len(step.examples) == 2
    for example in step.examples:
        assert f"embcli {name}" in example
    end = "".join(f"Examples: {' '.join(step.examples)}".split())
    assert "".join(text.split()).endswith(end)  # wrapped, but nothing else


@pytest.mark.parametrize("name", STEPS)
def test_every_command_stands_in_the_readme(name: str) -> None:
    assert f"`{name}`" in (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.processes
@pytest.mark.parametrize("name", STEPS)
def test_an_unknown_option_is_one_line_and_exit_2(name: str) -> None:
    failed(embcli(name, "x", "--no-such-option"), 2, "--no-such-option", f"embcli {name} --help")


def test_help_examples_run(tmp_path: Path) -> None:
    """The examples of every help page, in the order of the road, in one folder. Pipes and all."""
    (tmp_path / "corpus.txt").write_bytes((DATA / "corpus.txt").read_bytes()[:300_000])
    (tmp_path / "corpus.gz").write_bytes(__import__("gzip").compress((tmp_path / "corpus.txt").read_bytes()))
    (tmp_path / "experiments").mkdir()
    (tmp_path / "experiments" / "quickstart.yaml").write_bytes((ROOT / "experiments" / "quickstart.yaml").read_bytes())
    if not (tmp_path / "data").exists():
        (tmp_path / "data").symlink_to(DATA)
    shim = tmp_path / "bin"
    shim.mkdir()
    (shim / "embcli").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m embcli "$@"\n', encoding="utf-8")
    (shim / "embcli").chmod(0o755)
    env = environment(PATH=f"{shim}{os.pathsep}{os.environ['PATH']}")
    road = "cp corpus.txt x; embcli encode x --words --lower -o tokens.npz; embcli cooc tokens.npz -o counts.npz"
    road += "; embcli svd counts.npz --dim 20 -o svd.npz; cp svd.npz vectors.npz"
    subprocess.run(road, shell=True, cwd=tmp_path, env=env, check=True)
    for step in STEPS.values():
        for example in step.examples:
            done = subprocess.run(
                ["bash", "-o", "pipefail", "-c", example], cwd=tmp_path, env=env, capture_output=True, check=False
            )
            closed_early = "| head" in example and done.returncode == 1 and not done.stderr.strip()
            assert done.returncode == 0 or closed_early, (example, done.stderr.decode())


@pytest.mark.processes
def test_chain_by_files_and_by_pipes_gives_the_same_bytes(tmp_path: Path) -> None:
    text = (DATA / "corpus.txt").read_bytes()[:200_000]
    (tmp_path / "c.txt").write_bytes(text)
    ok("encode", "c.txt", "--words", "-o", "t.npz", cwd=tmp_path)
    ok("cooc", "t.npz", "-o", "c.npz", cwd=tmp_path)
    ok("svd", "c.npz", "--dim", "10", "-o", "v.npz", cwd=tmp_path)
    tokens = ok("encode", "-", "--words", "-o", "-", stdin=text).out
    counts = ok("cooc", "-", "-o", "-", stdin=tokens).out
    vectors = ok("svd", "-", "--dim", "10", "-o", "-", stdin=counts).out
    assert tokens == (tmp_path / "t.npz").read_bytes()
    assert counts == (tmp_path / "c.npz").read_bytes()
    assert vectors == (tmp_path / "v.npz").read_bytes()


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("hash_seed", ["1", "2"])
def test_same_bytes_at_any_number_of_threads_and_hash_seed(
    chain: Path, tmp_path: Path, threads: int, hash_seed: str
) -> None:
    n = ["--threads", str(threads), "-o"]
    ok("encode", DATA / "corpus.txt", "--words", "--lower", *n, tmp_path / "tokens.npz", PYTHONHASHSEED=hash_seed)
    ok("cooc", tmp_path / "tokens.npz", "--weighting", "dynamic", *n, tmp_path / "counts.npz", PYTHONHASHSEED=hash_seed)
    ok("svd", tmp_path / "counts.npz", "--dim", "150", *n, tmp_path / "vectors.npz", PYTHONHASHSEED=hash_seed)
    for name in ("tokens.npz", "counts.npz", "vectors.npz"):
        assert (tmp_path / name).read_bytes() == (chain / name).read_bytes(), name


def test_another_option_gives_other_bytes(chain: Path, tmp_path: Path) -> None:
    ok("svd", chain / "counts.npz", "--dim", "150", "--seed", "1", "-o", tmp_path / "v.npz")
    assert (tmp_path / "v.npz").read_bytes() != (chain / "vectors.npz").read_bytes()


def test_the_output_has_exactly_the_name_asked_for(tmp_path: Path, tokens: Path) -> None:
    ok("cooc", tokens, "-o", tmp_path / "model")
    ok("cooc", tokens, "-o", tmp_path / "model.tmp")
    assert {p.name for p in tmp_path.iterdir()} == {"tokens.npz", "model", "model.tmp"}


@pytest.mark.processes
def test_redirected_streams_hold_no_control_characters(tmp_path: Path, tokens: Path) -> None:
    ran = ok("cooc", tokens, "-o", tmp_path / "c.npz", "--top", "3", "--progress")
    for stream in (ran.out, ran.err):
        assert b"\x1b" not in stream and b"\r" not in stream
    assert "like" in ran.text and "embcli cooc" in ran.talk


@pytest.mark.processes
def test_quiet_says_nothing(tmp_path: Path, tokens: Path) -> None:
    ran = ok("cooc", tokens, "-o", tmp_path / "c.npz", "-q")
    assert (ran.out, ran.err) == (b"", b"")


@pytest.mark.processes
def test_json_is_one_object_on_stdout(tmp_path: Path, tokens: Path) -> None:
    found = json.loads(ok("cooc", tokens, "-o", tmp_path / "c.npz", "--json").text)
    assert found["step"] == "cooc" and found["kind"] == "counts" and found["options"]["window"] == 5
    assert len(found["digest"]) == 64 and found["stats"]["cells"] > 0


@pytest.mark.processes
def test_missing_output_is_a_usage_error(tokens: Path) -> None:
    failed(embcli("cooc", tokens), 2, "-o FILE")


def test_output_in_a_missing_folder_is_found_before_work(tokens: Path, tmp_path: Path) -> None:
    failed(embcli("cooc", tokens, "-o", tmp_path / "none" / "c.npz"), 1, "none", "make it first")


@pytest.mark.processes
def test_artifact_and_report_cannot_share_stdout(tokens: Path) -> None:
    failed(embcli("cooc", tokens, "-o", "-", "--top", "3"), 2, "stdout")


@pytest.mark.processes
@pytest.mark.parametrize("step", ["cooc", "svd", "neighbors", "decode"])
def test_wrong_kinds_are_refused_with_the_way_out(step: str, tmp_path: Path, tokens: Path) -> None:
    ok("cooc", tokens, "-o", tmp_path / "counts.npz")
    ok("svd", tmp_path / "counts.npz", "--dim", "2", "-o", tmp_path / "vectors.npz")
    out = ["-o", tmp_path / "x.npz"] if step in ("cooc", "svd") else ["like"] if step == "neighbors" else []
    wrong = {
        "cooc": ["vectors"],
        "svd": ["tokens", "vectors"],
        "neighbors": ["tokens"],
        "decode": ["counts", "vectors"],
    }
    for kind in wrong[step]:
        failed(embcli(step, tmp_path / f"{kind}.npz", *out), 3, f"{kind}.npz", f"found '{kind}'", "embcli ")
    for name, content in {"text.txt": b"just some words\n", "empty.npz": b""}.items():
        (tmp_path / name).write_bytes(content)
        ran = embcli(step, tmp_path / name, *out)
        failed(ran, ran.code, name)
        assert ran.code in (1, 3)
    assert not (tmp_path / "x.npz").exists()


def test_errors_can_show_a_traceback(tmp_path: Path) -> None:
    ran = embcli("cooc", tmp_path / "none.npz", "-o", tmp_path / "c.npz", EMBCLI_TRACEBACK="1")
    assert ran.code == 1 and "Traceback" in ran.talk


def _start(tmp_path: Path, *, threads: str = "2") -> subprocess.Popen[bytes]:
    """Start an encode that waits for stdin, with some text already read, and return it."""
    child = subprocess.Popen(
        [sys.executable, "-m", "embcli", "encode", "-", *SMALL, "-o", str(tmp_path / "t.npz"), "--threads", threads],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(),
    )  # fmt: skip
    assert child.stdin is not None
    child.stdin.write(b"some words here\n" * 200_000)
    child.stdin.flush()
    time.sleep(2.5)
    return child


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_signals_leave_no_litter(tmp_path: Path, number: int, code: int) -> None:
    child = _start(tmp_path)
    child.send_signal(number)
    assert child.stdin is not None and child.stderr is not None
    child.stdin.close()
    err = child.stderr.read().decode()
    assert child.wait(timeout=60) == code, err
    assert "Traceback" not in err
    assert list(tmp_path.iterdir()) == []


def test_a_killed_writer_leaves_the_old_artifact(tmp_path: Path) -> None:
    ok("encode", TINY, *SMALL, "-o", tmp_path / "t.npz")
    before = (tmp_path / "t.npz").read_bytes()
    child = _start(tmp_path)
    child.kill()
    child.wait(timeout=60)
    assert (tmp_path / "t.npz").read_bytes() == before


def test_a_closed_pipe_ends_quietly(chain: Path) -> None:
    line = f'"{sys.executable}" -m embcli decode "{chain / "tokens.npz"}" | head -1'
    done = subprocess.run(line, shell=True, capture_output=True, env=environment(), check=False)
    assert done.stderr == b"" and done.stdout.count(b"\n") == 1


def test_make_sees_the_output_as_up_to_date(tmp_path: Path) -> None:
    (tmp_path / "c.txt").write_text("a b c\n" * 5, encoding="utf-8")
    rule = f'%.tok.npz: %.txt\n\t"{sys.executable}" -m embcli encode $< {" ".join(SMALL)} -o $@\n'
    (tmp_path / "Makefile").write_text(rule, encoding="utf-8")
    first = subprocess.run(["make", "c.tok.npz"], cwd=tmp_path, env=environment(), capture_output=True, check=True)
    second = subprocess.run(["make", "c.tok.npz"], cwd=tmp_path, env=environment(), capture_output=True, check=True)
    assert b"encode" in first.stdout and b"up to date" in second.stdout


def test_locale_does_not_matter(tmp_path: Path) -> None:
    (tmp_path / "c.txt").write_bytes("naïve 東京 “x” naïve 東京 “x”\n".encode())
    ok("encode", "c.txt", *SMALL, "-o", "a.npz", cwd=tmp_path)
    ok("encode", "c.txt", *SMALL, "-o", "b.npz", cwd=tmp_path, LC_ALL="C", PYTHONCOERCECLOCALE="0", PYTHONUTF8="0")
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    ran = ok("decode", "a.npz", cwd=tmp_path, LC_ALL="C", PYTHONCOERCECLOCALE="0", PYTHONUTF8="0")
    assert ran.out == "naïve 東京 x naïve 東京 x\n".encode()


def test_a_console_that_cannot_show_a_word_gets_an_escape(tmp_path: Path) -> None:
    (tmp_path / "c.txt").write_bytes("東京 大阪 東京\n".encode())
    ok("encode", "c.txt", *SMALL, "-o", "t.npz", cwd=tmp_path)
    ran = ok("cooc", "t.npz", "--top", "2", cwd=tmp_path, PYTHONIOENCODING="ascii")
    assert re.search(rb"\\u6771", ran.out)


def test_help_without_a_cache_folder(tmp_path: Path) -> None:
    """Kernels still run, compiled anew, where no folder can be written; it is said."""
    blocked = tmp_path / "file"
    blocked.write_bytes(b"")
    (tmp_path / "c.txt").write_bytes(b"a b a b\n")
    ran = ok("encode", "c.txt", *SMALL, "-o", "t.npz", cwd=tmp_path, EMBCLI_CACHE=str(blocked / "x"))
    assert "EMBCLI_CACHE" in ran.talk


@pytest.mark.processes
def test_tiny_tokens_survive_decode(tokens: Path) -> None:
    assert ok("decode", tokens).out == TINY.read_bytes()


def test_verbose_says_what_was_recorded(tmp_path: Path, tokens: Path) -> None:
    ran = ok("cooc", tokens, "-o", tmp_path / "c.npz", "-v")
    for part in ("options: window 5", "figures: words 5", "digest: "):
        assert part in ran.talk
    assert "digest" not in ok("cooc", tokens, "-o", tmp_path / "c.npz").talk


def test_an_input_is_never_the_output(tmp_path: Path, tokens: Path) -> None:
    before = tokens.read_bytes()
    failed(embcli("cooc", tokens, "-o", tokens), 2, "is an input too")
    failed(embcli("decode", tokens, "-o", tokens), 2, "is an input too")
    assert tokens.read_bytes() == before


@pytest.mark.processes
def test_decode_writes_to_what_is_there(tmp_path: Path, tokens: Path) -> None:
    """A link stays a link, a pipe gets the text, and what cannot be written is named."""
    (tmp_path / "link").symlink_to(tmp_path / "target")
    ok("decode", tokens, "-o", tmp_path / "link")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "target").read_bytes() == TINY.read_bytes()
    os.mkfifo(tmp_path / "fifo")
    reader = subprocess.Popen(["cat", str(tmp_path / "fifo")], stdout=subprocess.PIPE)
    ok("decode", tokens, "-o", tmp_path / "fifo")
    assert reader.communicate(timeout=60)[0] == TINY.read_bytes()
    failed(embcli("decode", tokens, "-o", tmp_path / "none" / "x"), 1, "none")


def test_decode_as_json(tokens: Path) -> None:
    rows = [json.loads(line) for line in ok("decode", tokens, "--json").text.splitlines()]
    assert rows[0] == {"row": 1, "text": "I like cats"} and len(rows) == 5


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-"])
def test_closed_streams_are_no_reason_to_fail(tmp_path: Path, tokens: Path, closed: str) -> None:
    for command in (f"cooc {tokens} -o {tmp_path / 'c.npz'}", f"info {tokens}", "--version"):
        line = f'"{sys.executable}" -m embcli {command} {closed}'
        done = subprocess.run(["bash", "-c", line], capture_output=True, env=environment(), check=False)
        assert done.returncode == 0 and b"Traceback" not in done.stderr, (command, done.stderr)


@pytest.mark.parametrize("setting", ["FORCE_COLOR", "GITHUB_ACTIONS", "PY_COLORS"])
def test_help_in_a_pipe_has_no_escape_codes(setting: str) -> None:
    assert b"\x1b" not in ok("svd", "--help", **{setting: "1"}).out


@pytest.mark.processes
def test_names_of_files_cannot_command_the_terminal(tmp_path: Path, tokens: Path) -> None:
    ran = ok("cooc", tokens, "-o", tmp_path / "a\x1b[31m\nb")
    assert b"\x1b" not in ran.err and ran.err.count(b"\n") == 1
    failed(embcli("encode", tmp_path / "no\x1bsuch", "--words", "-o", tmp_path / "t"), 1, "\\x1b")


def test_damaged_compiled_code_is_named(tmp_path: Path, tokens: Path) -> None:
    ok("cooc", tokens, "-o", tmp_path / "c.npz", EMBCLI_CACHE=str(tmp_path / "cache"))
    for index in (tmp_path / "cache").rglob("*.nbi"):
        index.write_bytes(b"")
    ran = embcli("cooc", tokens, "-o", tmp_path / "c.npz", EMBCLI_CACHE=str(tmp_path / "cache"))
    failed(ran, 1, "compiled kernels are damaged")


def test_an_artifact_behind_a_missing_separator_is_seen(tmp_path: Path, chain: Path) -> None:
    failed(embcli("neighbors", chain / "vectors.npz", chain / "counts.npz", "king"), 2, "put -- between")
