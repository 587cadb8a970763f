"""Reads and writes artifacts: the only door between files and the arrays of ``schema``.

A file is one stored npz that ``np.load(f, allow_pickle=False)`` reads completely: the members of its kind in the order
of ``schema``, then ``meta``. Reading maps the arrays; writing leaves the complete file or none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from numpy.typing import NDArray

from embcli.artifacts import checks
from embcli.artifacts.build import artifact_of, member_of, words_of
from embcli.artifacts.mapped import release
from embcli.artifacts.opened import Opened
from embcli.artifacts.schema import Artifact
from embcli.artifacts.write import check_target, open_target, write
from embcli.errors import InputError

__all__ = [
    "check_target",
    "checked",
    "digest",
    "member_of",
    "open_target",
    "peek",
    "read",
    "release",
    "stream",
    "verify",
    "write",
]


def read(path: str, kinds: Sequence[str] | None = None, command: str = "") -> Artifact:
    """Open an artifact.

    Arrays are read-only and memory-mapped: opening reads the zip's directory, the headers, meta, and arrays below
    16 MB, which are checked in full. What is in larger arrays is checked by ``stream`` and ``verify``.

    Parameters
    ----------
    path
        - is stdin, which is copied to an unlinked temporary file first, as is a pipe.
    kinds
        The kinds that will do; None is any.
    command
        For messages: who wants it.

    Raises
    ------
    KindError : the file is something else, or of a later version.
    InputError : it is damaged or cannot be read.
    """
    return artifact_of(Opened(path), kinds, command)


def peek(path: str) -> dict[str, Any]:
    """Return what a file says about itself, whatever its kind; no array is read.

    ``size`` in bytes, ``digest``, ``meta``, and ``members``: name, dtype, shape and bytes of each array but meta.
    Raises as ``read`` does.
    """
    opened = Opened(path)
    members = [
        {"name": a.name, "dtype": str(a.dtype), "shape": list(a.shape), "bytes": a.nbytes}
        for a in opened.arrays.values()
        if a.name != "meta"
    ]
    return {"size": opened.size, "digest": opened.digest(), "meta": opened.meta, "members": members}


def digest(path: str) -> str:
    """Return the artifact's digest: sha256 over its meta and each member's name, type, shape and CRC. Reads little."""
    return Opened(path).digest()


def verify(path: str) -> list[dict[str, Any]]:
    """Check everything in an artifact: every CRC, range, order, finiteness, UTF-8, that no word is there twice.

    Returns name, dtype, shape, bytes and crc (eight hexadecimal digits) of each array, meta included. Large arrays are
    read in blocks that are given back, so memory stays small. Raises as ``read`` does.
    """
    opened = Opened(path)
    artifact = artifact_of(opened)
    with opened.clean():
        large = [name for name, array in opened.arrays.items() if array.nbytes >= checks.SMALL and name != "meta"]
        for name in large:
            opened.check_crc(name)
        for name in sorted(large, key=checks.comes_first):
            array = member_of(artifact, name)
            for start, stop in checks.blocks(array):
                checks.check(artifact, name, array, start, stop)
                opened.give_back()
        for field, words in words_of(artifact):
            if field not in artifact.raw:
                checks.check_utf8(field, words, opened.give_back)
            if field == "words":
                checks.check_distinct(words)
    return [
        {"name": a.name, "dtype": str(a.dtype), "shape": list(a.shape), "bytes": a.nbytes, "crc": f"{a.crc:08x}"}
        for a in opened.arrays.values()
    ]


def stream(artifact: Artifact, name: str, n_bytes: int = checks.BLOCK) -> Iterator[tuple[int, NDArray[Any]]]:
    """Yield a member's array in blocks of about ``n_bytes`` bytes: where each starts, and the block.

    Each block is checked (range, order, finiteness) before it is handed out and given back when the next one is asked
    for. Raises InputError, with the file's name, if a block is not what its kind says.
    """
    array = member_of(artifact, name)
    for start, stop in checks.blocks(array, n_bytes):
        yield start, checked(artifact, name, start, stop)
        release(array, start, stop)


def checked(artifact: Artifact, name: str, start: int, stop: int) -> NDArray[Any]:
    """Return items [start, stop) of a member's array, checked as ``stream`` does; the caller gives them back."""
    array = member_of(artifact, name)
    try:
        checks.check(artifact, name, array, start, stop)
    except ValueError as e:
        raise InputError(f"{artifact.path or 'artifact'}: damaged: {e}; make the file again") from None
    block: NDArray[Any] = array[start:stop]
    return block
