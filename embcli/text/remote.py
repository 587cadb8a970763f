"""Texts that are named by an address (s3://bucket/key, hdfs://..., memory://...), through the fsspec package.

Which addresses work depends on the packages that are installed beside it (s3fs, gcsfs, ...). Only inputs are read so.
"""

from __future__ import annotations

import re
from typing import Any

from embcli.errors import InputError

_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")


def is_remote(path: str) -> bool:
    """Return whether a path is an address."""
    return _ADDRESS.match(path) is not None


def files_at(path: str) -> list[str]:
    """Return the addresses of the files of one input: itself, or all below it, sorted. InputError: there is none."""
    system, inner = _system(path)
    try:
        found = [inner] if system.isfile(inner) else sorted(system.find(inner))
    except Exception as e:  # whatever the store's own package raises
        raise _unreadable(path, e) from None
    if not found:
        raise InputError(f"{path}: there is no such file or folder")
    return [system.unstrip_protocol(name) for name in found]


def size_at(path: str) -> int | None:
    """Return the bytes of a file, None if they are not known."""
    system, inner = _system(path)
    try:
        size = system.size(inner)
    except Exception:
        return None
    return None if size is None else int(size)


def open_at(path: str) -> Any:
    """Open a file for reading at any place. InputError if it cannot be read."""
    system, inner = _system(path)
    try:
        return system.open(inner, "rb")
    except Exception as e:
        raise _unreadable(path, e) from None


def _system(path: str) -> tuple[Any, str]:
    try:
        from fsspec.core import url_to_fs
    except ImportError:
        raise InputError(f"{path}: addresses need the package fsspec: pip install fsspec") from None
    try:
        system, inner = url_to_fs(path)
    except (ImportError, ValueError, OSError) as e:  # no such protocol, or its package is missing
        raise _unreadable(path, e) from None
    return system, str(inner)


def _unreadable(path: str, e: Exception) -> InputError:
    if isinstance(e, FileNotFoundError):
        return InputError(f"{path}: there is no such file or folder")
    return InputError(f"{path}: cannot be read: {(str(e) or type(e).__name__).splitlines()[0]}")
