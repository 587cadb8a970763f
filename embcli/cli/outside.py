"""The command convert: between artifacts and the files of other programs."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from typing import Any

from embcli.cli.console import Console, cores, keep_inputs, limit_blas, refuse_terminal
from embcli.errors import InputError, UsageError
from embcli.job import Job, counted, human_bytes
from embcli.spec import ConvertParams

#: options that belong to reading other files
_READING = ("from_", "pattern", "special", "limit", "errors", "tensor")
#: options that belong to vectors
_OF_VECTORS = ("limit", "errors", "dtype", "tensor")
#: endings of names of files that are no artifacts
_OTHERS = (".json", ".tiktoken", ".ranks", ".vec", ".bin", ".tsv", ".safetensors", "/")


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
    if params.out.endswith(_OTHERS):
        raise UsageError(
            f"-o {params.out}: {path} becomes an artifact first (-o NAME.npz), which you can convert again"
        )
    store.check_target(params.out)
    _import(path, params, console)


def _import(path: str, params: ConvertParams, console: Console) -> None:
    """Write a file of another program as an artifact."""
    from embcli.formats import vectors

    form = vectors.format_of(path, params.from_)
    if form is None:
        from embcli.formats.tokenizers import read

        found = read(path, params)
        for name in _OF_VECTORS:
            if name in params.given:
                raise UsageError(f"--{name}: belongs to files of vectors, and {path} is a tokenizer; leave it out")
        found.made.options = {"from_": found.format}
        _write(found, [{"kind": "file", "digest": digest} for digest in found.digests], params, console)
        return
    if params.pattern or params.special:
        raise UsageError("--pattern and --special: belong to tokenizers; leave them out for vectors")
    if params.tensor and form != "safetensors":
        raise UsageError(f"--tensor: belongs to safetensors files, and {path} is {form}; leave it out")
    with vectors.reading(path, form, params, _job(params, console)) as read_in:
        _write(read_in, read_in.sources, params, console)


def _job(params: ConvertParams, console: Console) -> Job:
    return Job(threads=params.threads or cores(), note=console.say, warn=console.warn)


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
    try:
        form = tokenizers.named(str(params.out), params.to)
    except UsageError:
        held = store.read(path, ("tokenizer", "vectors"), command="convert")  # a damaged file is the first thing to say
        if held.kind == "tokenizer":
            raise
        named = f"-o {params.out}: the name does not say the format"
        raise UsageError(f"{named}; give --to {', '.join(vectors.FORMATS[:-1])} or {vectors.FORMATS[-1]}") from None
    if params.vectors_for:
        raise UsageError(f"--vectors-for: belongs to vectors; {form} is a format of tokenizers")
    _export_tokenizer(store.read(path, ("tokenizer",), command="convert"), form, str(params.out), console)


def _export_tokenizer(made: Any, form: str, out: str, console: Console) -> None:
    import numpy as np

    from embcli.formats.tokenizers import write

    files, notes = write(made, form)
    if "" not in files:
        _folder(out, form)
    for name, blocks in files.items():
        _put(os.path.join(out, name) if name else out, blocks)
    for note in notes:
        console.say(note)
    n = int((np.diff(made.tokens.offsets) > 0).sum()) - (len(made.special_ids) if form == "tiktoken" else 0)
    console.say(f"{out}: {counted(n, 'token')} as {form}, {console.seconds:.1f} s")


def _export_vectors(made: Any, form: str, params: ConvertParams, console: Console) -> None:
    from embcli.formats.vectors import chosen, write

    out = str(params.out)
    if params.dtype and form != "safetensors":
        raise UsageError(
            f"--dtype: belongs to reading other files and to writing safetensors; {form} has one of its own"
        )
    if params.vectors_for:
        if form == "fasttext-binary":
            raise UsageError("--vectors-for: writes text; give --to word2vec or --to glove")
        from embcli.pipeline.reports import lines_of

        made, notes = chosen(made, lines_of(params.vectors_for))
        for note in notes:
            console.say(note)
    files, size, notes = write(made, form, out, params.dtype, _job(params, console))
    for note in notes:  # first, since the writing may take its time
        console.say(note)
    if "" not in files and not out.endswith(".tsv"):
        _folder(out, form)
    _room(out, size)
    for name, blocks in files.items():
        _put(name or out, blocks)
    n, dim = made.vectors.shape
    named = " and ".join(name or out for name in files)
    console.say(f"{named}: {counted(n, 'word')}, {counted(dim, 'dimension')} as {form}, {console.seconds:.1f} s")


def _folder(out: str, form: str) -> None:
    """Make the folder that some formats are."""
    if out == "-" or os.path.isfile(out):
        raise UsageError(f"-o {out}: {form} writes a folder; give the name of one")
    os.makedirs(out, exist_ok=True)


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
