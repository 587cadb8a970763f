"""Artifacts as tasks find them: opened once by each worker, and looked at before they are trusted."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from embcli.artifacts import checks, store
from embcli.artifacts.schema import Tokens
from embcli.errors import InputError


@lru_cache(4)
def opened(path: str, digest: str) -> Any:
    """Return an artifact; a worker opens it once."""
    return store.read(path)


def checked(tokens: Tokens, start: int, stop: int) -> None:
    """Raise InputError if an id of tokens [start, stop) is none."""
    step = 1 << 20
    try:
        for a in range(start, stop, step):
            checks.check(tokens, "ids", tokens.ids, a, min(a + step, stop))
            store.release(tokens.ids, a, min(a + step, stop))
    except ValueError as e:
        raise InputError(f"{tokens.path}: damaged: {e}; make the file again") from None
