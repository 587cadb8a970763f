"""Do contextual states tell the senses of a word apart? Leave-one-out nearest neighbors of bank, mole and tower.

    python experiments/senses.py MODEL [--sentences FILE ...] [--svg FILE] [--least SHARE]

MODEL is what ``embcli attend tokens.npz -o model.npz`` makes (senses.yaml trains one on the bundled corpus). A sentence
counts as right if the nearest of the others, by the cosine of the states at the word, has its sense. FILE holds
``word<TAB>sense<TAB>sentence`` a line. As a token row a word is the same in all sentences, so the nearest one is any
one: the share that this gives is chance. The pictures are the first two principal components of the final states.
"""

from __future__ import annotations

import argparse
import itertools
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from html import escape
from itertools import pairwise
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
COLORS = ("#2563eb", "#d97706", "#059669", "#db2777")
SIDE, GAP = 260, 24

Row = tuple[str, str, str]
Figures = dict[str, dict[str, float]]


def sentences(paths: list[Path]) -> list[Row]:
    """Return (word, sense, sentence) of files."""
    rows = [line.split("\t") for path in paths for line in path.read_text(encoding="utf-8").splitlines()]
    return [(word, sense, text) for word, sense, text in rows]


def states(model: str, rows: list[Row], layer: int | None) -> np.ndarray:
    """Return the states (n, d) of each sentence's word, by the command."""
    with tempfile.TemporaryDirectory() as name:
        texts, out = Path(name) / "texts", Path(name) / "states.npz"
        texts.write_text("".join(f"{text}\n" for _, _, text in rows), encoding="utf-8")
        options = [] if layer is None else ["--layer", str(layer)]
        run = [
            sys.executable,
            "-m",
            "embcli",
            "attend",
            model,
            "--text-file",
            str(texts),
            "-o",
            str(out),
            "-q",
            *options,
        ]
        subprocess.run(run, check=True, stdout=subprocess.DEVNULL)
        z = np.load(out)
        raw, at = z["word_bytes"].tobytes(), z["word_offsets"]
        names = [raw[a:b].decode() for a, b in itertools.pairwise(at)]
        ends, found = z["text_offsets"], []
        for i, (word, _, text) in enumerate(rows):
            labels = [each.rpartition("@")[0].lower() for each in names[ends[i] : ends[i + 1]]]
            if word not in labels:
                sys.exit(f"{model}: the token {word!r} is not in {text!r} as it is cut")
            found.append(z[f"states_{i}"][labels.index(word)])
    return np.array(found, np.float64)


def right(H: np.ndarray, senses: list[str]) -> float:
    """Return the share of rows whose nearest other row has their sense; of equally near ones the share that has."""
    unit = H / np.maximum(np.linalg.norm(H, axis=1, keepdims=True), 1e-30)
    near = np.round(unit @ unit.T, 6)
    np.fill_diagonal(near, -2)
    best = near == near.max(1, keepdims=True)
    same = np.array(senses)[:, None] == np.array(senses)[None]
    return float(((best & same).sum(1) / best.sum(1)).mean())


def read_model(model: str) -> tuple[int, set[str]]:
    """Return how many layers a model has, and its words."""
    z = np.load(model)
    raw, at = z["word_bytes"].tobytes(), z["word_offsets"].tolist()
    return int(z["query"].shape[0]), {raw[a:b].decode().strip() for a, b in pairwise(at)}


def measure(model: str, rows: list[Row]) -> tuple[Figures, np.ndarray]:
    """Return for each word the share at every level, and the final states."""
    words = list(dict.fromkeys(word for word, _, _ in rows))
    figures: Figures = {word: {} for word in words}
    levels = [
        ("first input", 0),
        *((f"layer {i}", i) for i in range(1, read_model(model)[0] + 1)),
        ("final state", None),
    ]
    final = np.zeros(0)
    for word in words:
        senses = [s for w, s, _ in rows if w == word]
        figures[word]["token row"] = right(np.ones((len(senses), 1)), senses)
    for level, layer in levels:
        final = states(model, rows, layer)
        for word in words:
            some = [i for i, row in enumerate(rows) if row[0] == word]
            figures[word][level] = right(final[some], [rows[i][1] for i in some])
    return figures, final


def plane(H: np.ndarray) -> np.ndarray:
    """Return the first two principal components of unit rows, within -1 ... 1."""
    unit = H / np.linalg.norm(H, axis=1, keepdims=True)
    centred = unit - unit.mean(0)
    _, _, V = np.linalg.svd(centred, full_matrices=False)
    xy = centred @ V[:2].T
    return xy / max(float(np.abs(xy).max()), 1e-12)


def picture(title: str, rows: list[Row], final: np.ndarray, figures: Figures) -> Iterator[str]:
    """Yield an SVG: a panel a word, a dot a sentence, a color a sense."""
    words = list(figures)
    width, height = GAP + len(words) * (SIDE + GAP), SIDE + 140
    yield f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">'
    yield "<style>.page{fill:#fff}text{font:12px system-ui,sans-serif;fill:#1f2328}.b{font-weight:600}"
    yield "rect.f{fill:none;stroke:#8c959f}@media (prefers-color-scheme:dark){.page{fill:#0d1117}"
    yield "text{fill:#e6edf3}}</style>"
    yield f'<rect class="page" width="{width}" height="{height}"/>'
    yield f'<text class="b" x="{GAP}" y="22">{escape(title)}</text>\n'
    for n, word in enumerate(words):
        x, some = GAP + n * (SIDE + GAP), [i for i, row in enumerate(rows) if row[0] == word]
        xy, senses = plane(final[some]), [rows[i][1] for i in some]
        names = list(dict.fromkeys(senses))
        yield f'<g transform="translate({x} 40)"><text class="b" y="14">{word}: '
        yield f"{figures[word]['final state']:.0%} right, "
        yield f'chance {figures[word]["token row"]:.0%}</text><rect class="f" y="22" width="{SIDE}" height="{SIDE}"/>'
        for (a, b), sense, i in zip(xy.tolist(), senses, some, strict=True):
            cx, cy = SIDE / 2 * (1 + 0.92 * a), 22 + SIDE / 2 * (1 - 0.92 * b)
            color = COLORS[names.index(sense) % len(COLORS)]
            yield f'<circle cx="{cx:.1f}" cy="{cy:.1f}" r="4.5" fill="{color}" fill-opacity=".7">'
            yield f"<title>{escape(rows[i][2])}</title></circle>"
        for j, sense in enumerate(names):
            y = SIDE + 42 + 17 * j
            yield f'<circle cx="6" cy="{y - 4}" r="5" fill="{COLORS[j % len(COLORS)]}"/>'
            yield f'<text x="18" y="{y}">{sense}</text>'
        yield "</g>\n"
    yield "</svg>\n"


def main() -> int:
    """Print the table; return 1 if a word's final states fall short of --least."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model")
    parser.add_argument("--sentences", type=Path, action="append", help="default: data/senses.tsv")
    parser.add_argument("--svg", type=Path)
    parser.add_argument("--title", default="Senses by final contextual states")
    parser.add_argument("--least", type=float, default=0.0)
    args = parser.parse_args()
    rows = sentences(args.sentences or [ROOT / "data" / "senses.tsv"])
    known = read_model(args.model)[1]
    for word in dict.fromkeys(row[0] for row in rows if row[0] not in known):
        print(f"{word}: not in the vocabulary of {args.model}, left out", file=sys.stderr)
    rows = [row for row in rows if row[0] in known]
    figures, final = measure(args.model, rows)
    levels = list(next(iter(figures.values())))
    print("word    sentences  " + "  ".join(f"{level:>11}" for level in levels))
    for word, found in figures.items():
        n = sum(row[0] == word for row in rows)
        print(f"{word:<8}{n:>9}  " + "  ".join(f"{found[level]:>10.1%} " for level in levels))
    if args.svg:
        args.svg.write_text("".join(picture(args.title, rows, final, figures)), encoding="utf-8")
    return int(any(found["final state"] < args.least for found in figures.values()))


if __name__ == "__main__":
    sys.exit(main())
