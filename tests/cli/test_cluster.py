"""Oracle: the same commands on one machine, byte for byte. A scheduler and workers run on loopback."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cluster_faults import Processes, dies_once, kills
from conftest import DATA

from embcli.artifacts import store
from embcli.cli import app

distributed = pytest.importorskip("distributed", reason="distributed is missing: pip install 'embcli[cluster]'")

from embcli.cluster import client, counts, partitions  # noqa: E402

TRAINED = ("--dim", "16", "--epochs", "1", "--shares", "4", "--merge-every", "20000")
FITTED = ("--dim", "16", "--epochs", "2")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Processes]:
    made = Processes(tmp_path_factory.mktemp("cluster"), 3)
    yield made
    made.stop()


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let small texts have several partitions."""
    monkeypatch.setattr(partitions, "LARGEST", 300_000)
    monkeypatch.setattr(counts, "LARGEST", 80_000)


def run(*line: str | Path) -> None:
    assert app.main([*map(str, line), "-q"]) == 0, line


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with what one machine makes."""
    folder = tmp_path_factory.mktemp("local")
    text = (DATA / "corpus.txt").read_bytes()
    (folder / "a.txt").write_bytes(text[:700_000])
    (folder / "b.txt").write_bytes(b" \n\n" + text[700_000:1_200_000].replace(b"\n", b"\n \n", 40))
    for name, *line in road(folder):
        run(*line, "-o", folder / name)
    return folder


def road(folder: Path) -> list[tuple[str | Path, ...]]:
    """Return the commands of the whole road: the name of the artifact, and the line."""
    texts = (folder / "a.txt", folder / "b.txt")
    return [
        ("words.npz", "encode", *texts, "--words", "--lower"),
        ("blocks.npz", "encode", *texts, "--words", "--rows", "blank-line", "--unk", "<unk>", "--min-count", "9"),
        ("bpe.npz", "bpe-train", *texts, "--vocab-size", "400"),
        ("pieces.npz", "encode", *texts, "--tokenizer", folder / "bpe.npz"),
        ("counts.npz", "cooc", folder / "words.npz"),
        ("left.npz", "cooc", folder / "words.npz", "--cross-rows", "--direction", "left", "--weighting", "flat"),
        ("documents.npz", "cooc", folder / "blocks.npz", "--context", "document"),
        ("w2v.npz", "word2vec", folder / "words.npz", *TRAINED),
        ("ft.npz", "fasttext", folder / "words.npz", *TRAINED),
        ("glove.npz", "glove", folder / "counts.npz", *FITTED),
        ("second.npz", "encode", folder / "b.txt", "--words", "--lower"),
        ("sum.npz", "cooc", folder / "words.npz", folder / "second.npz", folder / "counts.npz"),
        ("all.npz", "cooc", folder / "blocks.npz", folder / "documents.npz", "--context", "document"),
        ("phrases.npz", "encode", *texts, "--words", "--lower", "--phrases", "2", "--phrase-threshold", "20"),
    ]


@pytest.mark.parametrize("number", range(14))
def test_a_cluster_gives_the_bytes_of_one_machine(
    number: int, cluster: Processes, local: Path, small: None, tmp_path: Path
) -> None:
    name, *line = road(local)[number]
    out = tmp_path / str(name)
    run(*line, "-o", out, "--cluster", cluster.address)
    assert out.read_bytes() == (local / str(name)).read_bytes()
    assert sorted(os.listdir(tmp_path)) == [name]  # nothing is left behind


def test_addresses_are_read_by_workers(cluster: Processes, local: Path, small: None, tmp_path: Path) -> None:
    texts = [f"file://{local / name}" for name in ("a.txt", "b.txt")]
    run("encode", *texts, "--words", "--lower", "-o", tmp_path / "x.npz", "--cluster", cluster.address)
    assert (tmp_path / "x.npz").read_bytes() == (local / "words.npz").read_bytes()


def test_phrases_reach_from_one_partition_into_the_next(
    cluster: Processes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Partitions end at line ends, a row is a file here; "a_b" is a word that is too rare, until pairs are joined."""
    monkeypatch.setattr(partitions, "LARGEST", 700)
    text = tmp_path / "t.txt"
    text.write_text("a\nb\na\nb\nc\nx y\n" * 200 + "a_b z\n", encoding="utf-8")
    line = ("encode", text, "--words", "--split", "whitespace", "--rows", "file", "--phrases", "3")
    made = []
    for name, where in (("l.npz", ()), ("c.npz", ("--cluster", cluster.address))):
        run(*line, "--phrase-threshold", "1", "-o", tmp_path / name, *where)
        made.append((tmp_path / name).read_bytes())
    assert made[0] == made[1]
    assert any("b_c_x_y_a" in word for word in store.read(str(tmp_path / "c.npz")).words)


@pytest.mark.parametrize("name", ["counts.npz", "left.npz"])
def test_svd_gives_the_values_of_one_machine(name: str, cluster: Processes, local: Path, tmp_path: Path) -> None:
    line = ("svd", local / name, "--solver", "krylov", "--dim", "4")
    run(*line, "-o", tmp_path / "l.npz")
    run(*line, "-o", tmp_path / "c.npz", "--cluster", cluster.address)
    with np.load(tmp_path / "l.npz") as a, np.load(tmp_path / "c.npz") as b:
        assert np.allclose(a["singular_values"], b["singular_values"], rtol=1e-6, atol=0)
        assert np.allclose(a["vectors"], b["vectors"], rtol=0, atol=1e-6 * np.abs(a["vectors"]).max())


def test_glove_goes_on_where_it_stopped(cluster: Processes, local: Path, tmp_path: Path) -> None:
    line, there = ("glove", local / "counts.npz"), ("--cluster", cluster.address)
    score = tmp_path / "pairs.tsv"
    score.write_text("king\tqueen\t1\nman\tthe\t0\nwoman\ta\t0.5\n", encoding="utf-8")
    run(*line, *FITTED, "--stop-after", "1", "--checkpoint", tmp_path / "c.npz", "-o", tmp_path / "l.npz")
    stopped = (*FITTED, "--stop-after", "1", "--eval", score, "--checkpoint", tmp_path / "d.npz")
    run(*line, *stopped, "-o", tmp_path / "x.npz", *there)
    assert (tmp_path / "d.npz").read_bytes() == (tmp_path / "c.npz").read_bytes()
    assert (tmp_path / "x.npz").read_bytes() == (tmp_path / "l.npz").read_bytes()
    run(*line, "--resume", tmp_path / "x.npz", "-o", tmp_path / "y.npz", *there)
    assert (tmp_path / "y.npz").read_bytes() == (local / "glove.npz").read_bytes()


def test_other_shares_give_other_bytes(local: Path, tmp_path: Path) -> None:
    run("word2vec", local / "words.npz", *TRAINED[:-4], "--shares", "3", "-o", tmp_path / "v.npz")
    assert (tmp_path / "v.npz").read_bytes() != (local / "w2v.npz").read_bytes()


@pytest.mark.parametrize(
    ("name", "task"), [("counts.npz", "count_part"), ("w2v.npz", "train_turn"), ("glove.npz", "visit_cells")]
)
def test_a_killed_worker_costs_its_task_alone(
    name: str, task: str, cluster: Processes, local: Path, small: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster.add()  # for the one that dies
    flag = tmp_path / "died"
    _wrapped(monkeypatch, task, dies_once, str(flag))
    line = next(line for found, *line in road(local) if found == name)
    out = tmp_path / name
    run(*line, "-o", out, "--cluster", cluster.address)
    assert flag.exists()
    assert out.read_bytes() == (local / name).read_bytes()


def _wrapped(monkeypatch: pytest.MonkeyPatch, task: str, wrapper: Any, what: Any) -> None:
    """Let tasks of a name be done by a wrapper, which is handed the work and something else."""
    plain = distributed.Client.submit

    def submit(client: Any, work: Any, *arguments: Any, **options: Any) -> Any:
        if work.__name__ != task:
            return plain(client, work, *arguments, **options)
        first = (work, what) if wrapper is dies_once else (what,)
        return plain(client, wrapper, *first, *arguments, **options)

    monkeypatch.setattr(distributed.Client, "submit", submit)


EXPERIMENT = """\
steps:
  tokens:  {use: encode, inputs: a.txt, words: true, lower: true, phrases: 1}
  counts:  {use: cooc, inputs: tokens, grid: {window: [2, 5]}}
  glove:   {use: glove, inputs: counts-window=5, dim: 8, epochs: 1}
  w2v:     {use: word2vec, inputs: tokens, dim: 8, epochs: 1, shares: 3}
  mapped:  {use: encode, inputs: b.txt, words: true, vocab: tokens}
"""


def test_an_experiment_has_one_connection(
    cluster: Processes, local: Path, small: None, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_bytes((local / name).read_bytes()[:400_000])
    there, made = ("--cluster", cluster.address), []
    for name, where in (("here", ()), ("there", (*there, "-j", "2"))):
        (tmp_path / f"{name}.yaml").write_text(f"out: {name}\n{EXPERIMENT}", encoding="utf-8")
        capfd.readouterr()
        assert app.main(["run", str(tmp_path / f"{name}.yaml"), *where, "--no-progress"]) == 0
        made.append({path.name: path.read_bytes() for path in (tmp_path / name).glob("*.npz")})
    assert made[0] == made[1] and len(made[0]) == 6
    talk = capfd.readouterr().err
    assert "mapped: --vocab: its phrases are joined on one machine: done here" in talk
    assert not [name for name in os.listdir(tmp_path / "there") if "parts" in name]
    assert app.main(["run", str(tmp_path / "there.yaml"), *there, "--dry-run", "--force"]) == 0
    assert capfd.readouterr().out.count(f"--cluster {cluster.address} ") == 6
    line = ("run", tmp_path / "there.yaml", *there, "--force")
    (tmp_path / "there.yaml").write_text(EXPERIMENT.replace(", shares: 3", ""), encoding="utf-8")
    assert "step w2v: --cluster trains shares" in refused(capfd, 2, *line)


def refused(capfd: pytest.CaptureFixture[str], code: int, *line: str | Path) -> str:
    """Run a command that must fail in one line, and return that line."""
    capfd.readouterr()
    assert app.main([*map(str, line), "-q"]) == code
    lines = capfd.readouterr().err.splitlines()
    assert len(lines) == 1 and "error: " in lines[0], lines
    return lines[0]


def test_a_lost_scheduler_is_one_line(
    local: Path, small: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(client, "PATIENCE", 5)
    made = Processes(tmp_path, 1)
    try:
        _wrapped(monkeypatch, "count_part", kills, made.scheduler.pid)
        line = ("cooc", local / "words.npz", "-o", tmp_path / "x.npz", "--cluster", made.address)
        assert "the scheduler was lost" in refused(capfd, 1, *line)
    finally:
        made.stop()
    assert not (tmp_path / "x.npz").exists()
    assert not [name for name in os.listdir(tmp_path) if "parts" in name]


@pytest.mark.parametrize(
    ("stub", "found"), [("__version__ = '0.0.9'", "has embcli 0.0.9"), ("raise ImportError", "has no embcli")]
)
def test_a_worker_with_another_embcli_is_one_line(
    stub: str, found: str, local: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "embcli").mkdir()
    (tmp_path / "embcli" / "__init__.py").write_text(stub, encoding="utf-8")
    made = Processes(tmp_path, 1, str(tmp_path))
    try:
        line = ("cooc", local / "words.npz", "-o", tmp_path / "x.npz", "--cluster", made.address)
        assert found in refused(capfd, 1, *line)
    finally:
        made.stop()


def test_a_path_that_workers_cannot_see_is_one_line(
    cluster: Processes, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "t.txt").write_text("a b a b\n" * 99, encoding="utf-8")
    with open(tmp_path / "t.txt", "rb") as file:
        path = f"/proc/self/fd/{file.fileno()}"  # is there in this process alone
        line = ("encode", path, "--words", "-o", tmp_path / "x.npz", "--cluster", cluster.address)
        error = refused(capfd, 1, *line)
    assert path in error and "cannot be seen by the worker" in error


def test_faults_of_the_text_are_those_of_one_machine(
    cluster: Processes, small: None, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    text = (DATA / "corpus.txt").read_bytes()
    (tmp_path / "bad.txt").write_bytes(text[:700_000] + b"\nab \xff c\n" + text[:9000])
    line = ("encode", tmp_path / "bad.txt", "--words", "-o", tmp_path / "x.npz")
    assert refused(capfd, 1, *line) == refused(capfd, 1, *line, "--cluster", cluster.address)


def test_nobody_there_is_one_line(
    local: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(client, "PATIENCE", 1)
    line = ("cooc", local / "words.npz", "-o", tmp_path / "x.npz", "--cluster", "tcp://127.0.0.1:1")
    assert "no scheduler there" in refused(capfd, 1, *line)


def test_processes_on_this_machine(local: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    line = ("cooc", local / "words.npz", "-o", tmp_path / "c.npz", "--cluster", "local:2", "--no-progress")
    assert app.main([*map(str, line)]) == 0
    talk = capfd.readouterr().err
    assert "dashboard at http://" in talk and "2 tasks at a time" in talk
    assert (tmp_path / "c.npz").read_bytes() == (local / "counts.npz").read_bytes()
