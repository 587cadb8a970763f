"""Tokenizers learned and used by the readable twin, for tests of encode, decode and convert; shared helpers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from embcli.artifacts import provenance, store
from embcli.artifacts.schema import Tokenizer, Tokens, Words
from embcli.job import Job
from embcli.spec import BpeTrainParams, EncodeParams, make
from embcli.text import bpe_plain
from embcli.text.decode import decode
from embcli.text.patterns import Splitter
from embcli.text.pretokens import split
from embcli.text.tokenizer import BYTE_ORDER, END
from embcli.text.words import encode

#: text that decides: contractions, doubled spaces, line ends, other scripts, numbers, odd bytes
TEXT = (
    "I'll  go, they'll go; the thing that thinks.\r\nthe the\tthe   end\n\n\nBanana banana bananas ananas 1234567 "
    "naïve café 東京 東京都 \U0001f44d\U0001f3fd e\u0301 <s> </s> \\x41 \\n '' ++ aaaa aaaaaaaa abababab ^^^^^^^^\n"
).encode() + b"\xff\xfe\x80 \xff\xfe"


def trained(
    text: bytes = TEXT * 2,
    size: int = 330,
    pattern: str = "gpt4",
    specials: tuple[bytes, ...] = (b"<s>", b"</s>"),
    whole: bool = False,
) -> Tokenizer:
    """Return a byte-level tokenizer that the twin learned."""
    tokens = [bytes([b]) for b in BYTE_ORDER] + list(specials)
    ids = {token: i for i, token in enumerate(tokens[:256])}
    pieces = list(dict.fromkeys(split(text, Splitter(pattern))))
    types = [[ids[bytes([b])] for b in piece] for piece in pieces]
    steps = list(bpe_plain.train(types, [1] * len(types), tokens, size))
    return made_of(tokens, [s.pair for s in steps], range(256, 256 + len(specials)), pattern, whole=whole)


def made_of(tokens: list[bytes], merges: Any, special: Any, pattern: str = "gpt4", **text: Any) -> Tokenizer:
    """Return a tokenizer of tokens by id and merges."""
    rule = Splitter(pattern)
    how = {"unit": "bpe", "base": "byte", "pattern": rule.name, "regex": rule.text, "end_of_word": False}
    return Tokenizer(
        tokens=Words.of(tokens),
        merges=np.array(merges, np.int32).reshape(-1, 2),
        merge_counts=np.zeros(len(merges), np.int64),
        special_ids=np.array(list(special), np.int64),
        text=how | {"whole": False} | text,
        stats={"vocab": len(tokens)},
    )


def characters(words: list[str], size: int, tail: bool, extra: str = "") -> Tokenizer:
    """Return a tokenizer of characters that the twin learned from words."""
    alphabet = sorted({c for word in words for c in word} | set(extra))
    tokens = [c.encode() for c in alphabet] + [END] * tail
    types = [[*map(alphabet.index, word), *[len(alphabet)] * tail] for word in words]
    steps = list(bpe_plain.train(types, [2] * len(types), tokens, size))
    return made_of(tokens, [s.pair for s in steps], [], "whitespace", base="char", end_of_word=tail)


def saved(made: Tokenizer, folder: Path, name: str = "tokenizer.npz") -> str:
    """Write a tokenizer and return the path."""
    meta = provenance.compose("bpe-train", make(BpeTrainParams, {}), 0, [("text", "0" * 64, None)], made)
    store.write(made, str(folder / name), meta)
    return str(folder / name)


def plainly(made: Tokenizer, text: bytes) -> list[int]:
    """Return the ids of one text by the twin, special tokens as text."""
    tokens = [made.tokens.bytes_at(i) for i in range(len(made.tokens))]
    special = set(made.special_ids.tolist())
    ids = {token: i for i, token in reversed(list(enumerate(tokens))) if i not in special}
    pairs = [tuple(pair) for pair in made.merges.tolist()]
    ranks = {pair: i for i, pair in reversed(list(enumerate(pairs)))}
    results = {pair: ids[tokens[pair[0]] + tokens[pair[1]]] for pair in pairs}
    found: list[int] = []
    for piece in split(text, Splitter(made.text["regex"])):
        if made.text["whole"] and piece in ids:
            found.append(ids[piece])
        else:
            found += bpe_plain.encode([ids[bytes([b])] for b in piece], ranks, results)
    return found


def encoded(
    tokenizer: str, folder: Path, *texts: bytes, threads: int = 1, block: int | None = None, **options: Any
) -> Tokens:
    """Encode texts, each a file of its own, write the artifact and read it back."""
    from embcli.text.bpe_encode import encode_pieces

    paths = []
    for i, text in enumerate(texts):
        paths.append(str(folder / f"text{i}.txt"))
        Path(paths[-1]).write_bytes(text)
    params = make(EncodeParams, {"tokenizer": tokenizer} | options)
    job = Job(threads=threads, scratch=str(folder))
    found = encode(paths, params, job) if block is None else encode_pieces(paths, params, job, block=block)
    target = folder / f"tokens{threads}-{block}.npz"
    sources = [("text", "0" * 64, None)]
    store.write(found, str(target), provenance.compose("encode", params, 0, sources, found, {"tokenizer": "0" * 64}))
    back = store.read(str(target), ("tokens",))
    assert isinstance(back, Tokens)
    return back


def text_of(tokens: Tokens) -> bytes:
    """Return the decoded text."""
    return b"".join(decode(tokens))
