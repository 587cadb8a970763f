"""The command convert: between artifacts and the files of other programs."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from typing import Any

from embcli.cli.console import Console, keep_inputs, limit_blas, refuse_terminal
from embcli.errors import InputError, UsageError
from embcli.job import human_bytes
from embcli.spec import ConvertParams

#: options that belong to reading other files
_READING = ("from_", "pattern", "special", "limit", "errors")


def convert(inputs: list[str], params: ConvertParams, console: Console) -> None:
    """Write an artifact in another program's format, or another program's file as an artifact."""
    (path,) = inputs
    if params.out is None:
        raise UsageError("missing option -o FILE (- is stdout)")
    keep_inputs([path, *filter(None, [params.vectors_for])], params.out)
    if not params.vectors_for:
        refuse_terminal(params.out)
    limit_blas(1)
    from embcli.artifacts import identify, store

    if os.path.isfile(path) and identify.is_zip(path):
        _export(path, params, console)
        return
    if params.to is not None or params.vectors_for:
        option = f"--to {params.to}" if params.to else "--vectors-for"
        raise UsageError(f"{option}: {path} is no artifact; convert it to one first (-o NAME.npz)")
    if params.out.endswith((".json", ".tiktoken", ".ranks", ".vec", ".bin", "/")):
        raise UsageError(
            f"-o {params.out}: {path} becomes an artifact first (-o NAME.npz), which you can convert again"
        )
    store.check_target(params.out)
    _import(path, params, console)


def _import(path: str, params: ConvertParams, console: Console) -> None:
    """Write a file of another program as an artifact."""
    from embcli.formats import vectors

    form = None if os.path.isdir(path) else vectors.format_of(path, params.from_)
    if form is None:
        if params.limit or params.errors:
            raise UsageError("--limit and --errors: belong to files of vectors; leave them out for a tokenizer")
        from embcli.formats.tokenizers import read

        found = read(path, params)
        found.made.options = {"from_": found.format}
        _write(found, [{"kind": "file", "digest": digest} for digest in found.digests], params, console)
        return
    if params.pattern or params.special:
        raise UsageError("--pattern and --special: belong to tokenizers; leave them out for vectors")
    with vectors.reading(path, form, params) as read_in:
        _write(read_in, read_in.sources, params, console)


def _write(found: Any, sources: list[dict[str, str]], params: ConvertParams, console: Console) -> None:
    """Write what was found as an artifact, and say what there is to say of it."""
    from embcli.artifacts import provenance, store
    from embcli.report.summary import sentence

    meta = provenance.compose("convert", params, 0, [], found.made)
    meta["inputs"] = sources  # digests may be known only when all was read
    digest = store.write(found.made, str(params.out), meta)
    for note in found.notes:
        console.say(note)
    kind = found.made.kind
    console.say(f"{params.out}: {sentence(kind, meta)}, from {found.format}, {console.seconds:.1f} s")
    if console.json:
        console.data_json({"step": "convert", "out": params.out, "kind": kind, "digest": digest})


def _export(path: str, params: ConvertParams, console: Console) -> None:
    """Write an artifact in another program's format."""
    for name in _READING:
        if name in params.given:
            raise UsageError(f"--{name.rstrip('_')}: belongs to reading other files; leave it out for an artifact")
    from embcli.artifacts import store
    from embcli.formats import tokenizers, vectors

    form = params.to or ("word2vec" if params.vectors_for else vectors.named(str(params.out)))
    if form in vectors.FORMATS:
        _export_vectors(store.read(path, ("vectors",), command="convert"), str(form), params, console)
        return
    form = tokenizers.named(str(params.out), params.to)
    if params.vectors_for:
        raise UsageError(f"--vectors-for: belongs to vectors; {form} is a format of tokenizers")
    _export_tokenizer(store.read(path, ("tokenizer",), command="convert"), form, str(params.out), console)


def _export_tokenizer(made: Any, form: str, out: str, console: Console) -> None:
    import numpy as np

    from embcli.formats.tokenizers import write

    files, notes = write(made, form)
    if "" not in files:
        if out == "-" or os.path.isfile(out):
            raise UsageError(f"-o {out}: {form} writes a folder; give the name of one")
        os.makedirs(out, exist_ok=True)
    for name, blocks in files.items():
        _put(os.path.join(out, name) if name else out, blocks)
    for note in notes:
        console.say(note)
    n = int((np.diff(made.tokens.offsets) > 0).sum()) - (len(made.special_ids) if form == "tiktoken" else 0)
    console.say(f"{out}: {n:,} tokens as {form}, {console.seconds:.1f} s")


def _export_vectors(made: Any, form: str, params: ConvertParams, console: Console) -> None:
    from embcli.formats.vectors import chosen, write

    out = str(params.out)
    if params.vectors_for:
        if form == "fasttext-binary":
            raise UsageError("--vectors-for: writes text; give --to word2vec or --to glove")
        from embcli.pipeline.reports import lines_of

        made, notes = chosen(made, lines_of(params.vectors_for))
        for note in notes:
            console.say(note)
    blocks, size, notes = write(made, form)
    for note in notes:  # first, since the writing may take its time
        console.say(note)
    _room(out, size)
    _put(out, blocks)
    n, dim = made.vectors.shape
    console.say(f"{out}: {n:,} words, {dim:,} dimensions as {form}, {console.seconds:.1f} s")


def _room(out: str, size: int | None) -> None:
    """Raise InputError if the disk has not the room for a file of a known size."""
    if size is None or out == "-" or (os.path.exists(out) and not os.path.isfile(out)):
        return
    folder = os.path.dirname(os.path.realpath(out))
    if os.path.isdir(folder) and (free := shutil.disk_usage(folder).free) < size:
        raise InputError(f"{out}: would take {human_bytes(size)}, and {human_bytes(free)} are free on its disk")


def _put(out: str, blocks: Iterable[bytes]) -> None:
    from embcli.artifacts import store

    with store.open_target(out) as file:
        for block in blocks:
            file.write(block)
