"""Texts that a model or static vectors are asked about: read, and cut into ids as the text that made them was cut.

Nothing is learned or looked up here: see contextual.py.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embcli.artifacts import store
from embcli.artifacts.schema import Model, Tokens, Vectors
from embcli.errors import InputError, KindError, UsageError
from embcli.job import Job
from embcli.query.lookup import find, suggest
from embcli.spec import AttendParams
from embcli.text.corpus import Block, buffer_of
from embcli.text.cutting import cut
from embcli.text.decode import decode
from embcli.text.knownphrases import join_known
from embcli.text.tokenizer import View

#: how the row that stands for a token to be guessed is written in texts
MASK = "[MASK]"
#: unknown words that are named in a note, and letters of each
_NAMED, _LONG = 8, 40

#: from many strings to the ids of each, and the words that have none
Cutter = Callable[[Sequence[str]], tuple[list[list[int]], list[str]]]


@dataclass(frozen=True)
class Cut:
    """One text: as it was given, and its ids, int64 (T,); V is [MASK]."""

    text: str
    ids: NDArray[np.int64]


def given_texts(params: AttendParams) -> list[str]:
    """Return the texts of the options: those of --text, then the lines of --text-file, blank ones too.

    Raises InputError if the file cannot be read or is not UTF-8.
    """
    found = list(params.text)
    if params.text_file is not None:
        try:
            with open(params.text_file, "rb") as file:
                text = file.read().decode("utf-8-sig")
        except UnicodeDecodeError as e:
            line = e.object[: e.start].count(b"\n") + 1
            raise InputError(
                f"{params.text_file}:{line}: byte 0x{e.object[e.start]:02x} is not UTF-8; texts are UTF-8"
            ) from None
        except OSError as e:
            raise InputError(f"{params.text_file}: cannot be read: {e.strerror}") from None
        found += [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")] if text else []
    if not found:
        raise InputError(f"{params.text_file}: is empty; give one text a line")
    return found


def cut_texts(artifact: Model | Vectors, params: AttendParams, job: Job) -> list[Cut]:
    """Return the texts of the options as ids.

    Words that the vocabulary lacks leave no gap, as in training, and are named in a note. Of a model ``[MASK]`` is the
    mask row; a blank before it belongs to it.

    Raises
    ------
    UsageError : [MASK] for a model that has no such row, or --tokenizer where nothing is cut by it.
    KindError : the vectors are of BPE tokens and no tokenizer says how to cut.
    InputError : a text cannot be read or cut.
    """
    texts = given_texts(params)
    V = len(artifact.words)
    parts = [text.split(MASK) for text in texts]
    masked = any(len(each) > 1 for each in parts)
    if masked and (not isinstance(artifact, Model) or len(artifact.token_rows) == V):
        raise UsageError(f"{MASK}: {artifact.path or artifact.kind} has no such row; it was not trained masked")
    flat = [piece.removesuffix(" ") if i + 1 < len(each) else piece for each in parts for i, piece in enumerate(each)]
    ids, unknown = cutter(artifact, params)(flat)
    _remark(artifact, unknown, job)
    found, at = [], 0
    for text, each in zip(texts, parts, strict=True):
        joined = ids[at]
        for more in ids[at + 1 : at + len(each)]:
            joined = [*joined, V, *more]
        at += len(each)
        found.append(Cut(text, np.array(joined, np.int64)))
    return found


def cutter(artifact: Model | Vectors, params: AttendParams) -> Cutter:
    """Return what cuts strings as the text of an artifact was cut."""
    how = artifact.text
    if how.get("unit", "words") == "bpe":
        return _pieces(_view(artifact, params))
    if params.tokenizer is not None:
        raise UsageError(f"--tokenizer: {artifact.path or 'the text'} was cut into words, not by one; leave it out")
    if how.get("unit", "words") != "words":
        raise KindError(f"{artifact.path}: its rows are {how['unit']}, no words; give a model or vectors of words")
    return lambda texts: _words(artifact, how, texts)


def _words(artifact: Model | Vectors, how: dict[str, Any], texts: Sequence[str]) -> tuple[list[list[int]], list[str]]:
    """Return the ids of words, and the words without one: they are dropped, or counted as the word for dropped ones."""
    rows = [cut(text, how) for text in texts]
    if how.get("phrases"):
        rows = [join_known(row, artifact.words, how["phrases"]) for row in rows]
    asked = {word for row in rows for word in row}
    known = find(artifact.words, asked | {how["unk"]} if how.get("unk") else asked)
    other = known.get(how["unk"], -1) if how.get("unk") else -1
    ids = [[at for word in row if (at := known.get(word, other)) >= 0] for row in rows]
    return ids, [word for row in rows for word in row if word not in known]


def _view(artifact: Any, params: AttendParams) -> View:
    """Return the tokenizer that made the tokens. KindError if the artifact does not hold it and none is given."""
    if params.tokenizer is None:
        if getattr(artifact, "tokens", None) is None:
            raise KindError(
                f"{artifact.path}: vectors of BPE tokens do not hold their tokenizer; give --tokenizer FILE"
            )
        return View(artifact)
    found: Any = store.read(params.tokenizer, ("tokenizer", "tokens", "model"), command="attend")
    if found.tokens is None:
        raise KindError(f"{params.tokenizer}: its tokens are words; --tokenizer is one of bpe-train")
    view = View(found)
    words = view.words
    if len(words) != len(artifact.words) or words.data.tobytes() != artifact.words.data.tobytes():
        raise KindError(f"{params.tokenizer}: is another tokenizer than that of {artifact.path or 'the vectors'}")
    return view


def _pieces(view: View) -> Cutter:
    """Return what encodes strings by a tokenizer; lines are encoded together, texts with line ends one by one."""
    from embcli.text.bpe_encode import Encoder, encode_text, splitter_of

    specials = view.text.get("specials", "text")

    def run(texts: Sequence[str]) -> tuple[list[list[int]], list[str]]:
        plain = [text for text in texts if "\n" not in text]
        lane = Encoder(view, splitter_of(view, specials), "line", "strict")
        data = "\n".join(plain).encode("utf-8", "surrogateescape")
        read = lane.read(Block(buffer_of(data), 0, len(data), "text", True, True))
        if read.fault:
            raise InputError(f"text: byte {read.fault.at + 1}: 0x{read.fault.byte:02x} is not UTF-8")
        bounds = [0, *read.ends.tolist(), len(read.ids)] if plain else [0]
        lines = iter([read.ids[a:b].tolist() for a, b in itertools.pairwise(bounds)])
        found = []
        for text in texts:
            if "\n" in text:
                pieces = encode_text(text.encode("utf-8", "surrogateescape"), view, specials, "strict")
                found.append([at for _, ids in pieces for at in ids])
            else:
                found.append(next(lines))
        return found, []

    return run


def _remark(artifact: Model | Vectors, unknown: Sequence[str], job: Job) -> None:
    """Say which words the vocabulary lacks."""
    if not unknown:
        return
    distinct = list(dict.fromkeys(unknown))
    named = []
    for word in distinct[:_NAMED]:
        near = suggest(artifact.words, word, 1) if len(word) <= _LONG else []
        short = word if len(word) <= _LONG else f"{word[:_LONG]}..."
        named.append(f"{short!r}" + (f" (there is {near[0]!r})" if near else ""))
    more = f" and {len(distinct) - _NAMED:,} more" if len(distinct) > _NAMED else ""
    unk = artifact.text.get("unk")
    what = f"read as {unk!r}" if unk else "left out, as rare words were in training"
    job.note(f"not in the vocabulary and {what}: {', '.join(named)}{more}")


def spelled(artifact: Model | Vectors, ids: NDArray[np.int64]) -> list[str]:
    """Return each token as a label: its word, without the blank that a BPE token may begin with; [MASK] as that."""
    V, words = len(artifact.words), artifact.words
    labels = {at: words[at] if at < V else MASK for at in set(np.asarray(ids).tolist())}
    return [labels[at].strip() or labels[at] for at in np.asarray(ids).tolist()]


def text_of(model: Model, ids: Iterable[int]) -> str:
    """Return the text that ids spell: bytes of BPE tokens, else words with a space between."""
    row = np.array(list(ids), np.uint32)
    made = Tokens(
        ids=row, row_offsets=np.array([0, len(row)]), words=model.words, unigram=model.unigram, tokens=model.tokens,
        merges=model.merges, merge_counts=model.merge_counts, special_ids=model.special_ids,
        text=model.text | {"rows": "line"}, stats={"open_rows": [0]},
    )  # fmt: skip
    return b"".join(decode(made)).decode("utf-8", "replace").removesuffix("\n")
