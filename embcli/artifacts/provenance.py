"""The ``meta`` of an artifact: how it was made and from what. Says nothing that changes between equal runs.

There is no time, host, path or number of threads in it, so equal inputs and options give equal bytes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from embcli import __version__
from embcli.artifacts.schema import Artifact
from embcli.artifacts.zipread import ForeignError
from embcli.errors import KindError, NumbersError
from embcli.spec import recorded

FORMAT, VERSION = "embcli", 1
#: what meta must hold, in this order, and as which type
_KEYS: dict[str, type] = {
    "format": str,
    "version": int,
    "kind": str,
    "embcli": str,
    "step": str,
    "options": dict,
    "seed": int,
    "inputs": list,
    "stats": dict,
    "text": dict,
    "parents": list,
}


def compose(
    step: str,
    params: Any,
    seed: int,
    inputs: Sequence[tuple[str, str, Mapping[str, Any] | None]],
    artifact: Artifact,
    files: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Return the meta of an artifact that a step is about to write.

    Parameters
    ----------
    step
        The command's name.
    params
        Its options; those that are recorded are written out, defaults too.
    seed
        The seed of the run.
    inputs
        Kind, digest and meta of each input; the meta of a text is None.
    artifact
        What the step returned; its ``options`` say what automatic options became. ``stats`` and ``text`` are
        referred to, not copied, so that a step may complete them while its arrays are written.
    files
        Digest of the content of each option that names a file.

    Raises
    ------
    ValueError : an option names a file without a digest (a mistake in the program).
    """
    made = dict.fromkeys(_KEYS)
    made |= {"format": FORMAT, "version": VERSION, "kind": artifact.kind, "embcli": __version__, "step": step}
    made |= {"options": _options(params, artifact, files or {}), "seed": seed}
    made["inputs"] = [{"kind": kind, "digest": digest} for kind, digest, _ in inputs]
    made |= {"stats": artifact.stats, "text": artifact.text}
    made["parents"] = _ancestors([(digest, meta) for _, digest, meta in inputs if meta is not None])
    return made


def _options(params: Any, artifact: Artifact, files: Mapping[str, str]) -> dict[str, Any]:
    options: dict[str, Any] = {}
    for field, value in recorded(params):
        if field.opt.file and value is not None:
            if field.name not in files:
                raise ValueError(f"{field.flag} names a file whose digest is not given")
            value = files[field.name]
        options[field.name] = artifact.options.get(field.name, value)
    return options | {name: value for name, value in artifact.options.items() if name not in options}


def _ancestors(inputs: Sequence[tuple[str, Mapping[str, Any]]]) -> list[dict[str, Any]]:
    """Return every ancestor's meta once, with its digest and without its own ancestors: the eldest first."""
    found: dict[str, dict[str, Any]] = {}
    for _, meta in inputs:
        for parent in meta.get("parents", ()):
            found.setdefault(parent["digest"], dict(parent))
    for digest, meta in inputs:
        own = {key: value for key, value in meta.items() if key != "parents"}
        found.setdefault(digest, {"digest": digest} | own)
    return list(found.values())


def dumps(meta: Mapping[str, Any]) -> bytes:
    """Return meta as UTF-8 JSON. NumPy numbers become plain ones; NumbersError if one is not finite."""
    try:
        text = json.dumps(meta, ensure_ascii=False, separators=(",", ":"), allow_nan=False, default=_plain)
    except ValueError as e:
        raise NumbersError(f"a figure of the report is not finite ({e}); nothing was written") from None
    return text.encode("utf-8", "backslashreplace")  # a lone surrogate becomes the escape that JSON has for it


def _plain(value: Any) -> Any:
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} cannot be recorded")


def loads(raw: bytes) -> dict[str, Any]:
    """Return the meta that was written.

    Raises ValueError, one clause, if it is damaged, ForeignError if it is not embcli's, KindError (to be completed by
    the caller with the file's name) if it is of a later version.
    """
    try:
        meta = json.loads(raw.decode(), parse_constant=_refuse)
    except (ValueError, RecursionError):
        raise ValueError("its meta is not JSON") from None
    if not isinstance(meta, dict) or meta.get("format") != FORMAT:
        raise ForeignError("its meta is not embcli's")
    version = meta.get("version")
    if type(version) is not int or version < 1:
        raise ValueError("its meta says no version")
    if version > VERSION:
        made_by = ascii(str(meta.get("embcli")))[1:-1][:20]
        raise KindError(f"format {version} of embcli {made_by}; this embcli {__version__} reads {VERSION}: update it")
    wrong = [key for key, kind in _KEYS.items() if type(meta.get(key)) is not kind]
    if not wrong and not all(isinstance(p, dict) and isinstance(p.get("digest"), str) for p in meta["parents"]):
        wrong = ["parents"]
    if wrong:
        raise ValueError(f"its meta says nothing sensible about {wrong[0]}")
    return meta


def _refuse(constant: str) -> None:
    raise ValueError(constant)
