"""The command convert: between artifacts and the files of other programs."""

from __future__ import annotations

import os
from typing import Any

from embcli.cli.console import Console, keep_inputs, limit_blas, refuse_terminal
from embcli.errors import UsageError
from embcli.spec import ConvertParams


def convert(inputs: list[str], params: ConvertParams, console: Console) -> None:
    """Write an artifact in another program's format, or another program's file as an artifact."""
    (path,) = inputs
    if params.out is None:
        raise UsageError("missing option -o FILE (- is stdout)")
    keep_inputs(inputs, params.out)
    refuse_terminal(params.out)
    limit_blas(1)
    from embcli.artifacts import identify, store

    if os.path.isfile(path) and identify.is_zip(path):
        _export(path, params, console)
        return
    if params.to is not None:
        raise UsageError(f"--to {params.to}: {path} is no artifact; convert it to one first (-o NAME.npz)")
    if params.out.endswith((".json", ".tiktoken", ".ranks", "/")):
        raise UsageError(
            f"-o {params.out}: {path} becomes an artifact first (-o NAME.npz), which you can convert again"
        )
    store.check_target(params.out)
    _import(path, params, console)


def _import(path: str, params: ConvertParams, console: Console) -> None:
    from embcli.artifacts import provenance, store
    from embcli.formats.tokenizers import read
    from embcli.report.summary import sentence

    found = read(path, params)
    sources = [("file", digest, None) for digest in found.digests]
    found.made.options = {"from_": found.format}
    meta = provenance.compose("convert", params, 0, sources, found.made)
    digest = store.write(found.made, str(params.out), meta)
    for note in found.notes:
        console.say(note)
    console.say(f"{params.out}: {sentence('tokenizer', meta)}, from {found.format}, {console.seconds:.1f} s")
    if console.json:
        console.data_json({"step": "convert", "out": params.out, "kind": "tokenizer", "digest": digest})


def _export(path: str, params: ConvertParams, console: Console) -> None:
    import numpy as np

    from embcli.artifacts import store
    from embcli.formats.tokenizers import named, write

    if params.pattern or params.special or params.from_:
        raise UsageError(
            "--from, --pattern and --special: belong to reading other files; leave them out for an artifact"
        )
    form = named(str(params.out), params.to)
    made: Any = store.read(path, ("tokenizer",), command="convert")
    files, notes = write(made, form)
    out = str(params.out)
    if "" not in files:
        if out == "-" or os.path.isfile(out):
            raise UsageError(f"-o {out}: {form} writes a folder; give the name of one")
        os.makedirs(out, exist_ok=True)
    for name, blocks in files.items():
        with store.open_target(os.path.join(out, name) if name else out) as file:
            for block in blocks:
                file.write(block)
    for note in notes:
        console.say(note)
    n = int((np.diff(made.tokens.offsets) > 0).sum()) - (len(made.special_ids) if form == "tiktoken" else 0)
    console.say(f"{out}: {n:,} tokens as {form}, {console.seconds:.1f} s")
