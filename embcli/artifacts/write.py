"""Writes an artifact: complete or absent, and the same bytes for the same content whatever the target."""

from __future__ import annotations

import errno
import itertools
import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from embcli import stop as signals
from embcli.artifacts import identify, npy, provenance
from embcli.artifacts.build import artifact_of, member_of
from embcli.artifacts.checks import SMALL, blocks
from embcli.artifacts.joined import Joined
from embcli.artifacts.mapped import release
from embcli.artifacts.opened import Opened
from embcli.artifacts.schema import Artifact, Blocks, Member
from embcli.artifacts.spill import Spill
from embcli.artifacts.zipwrite import ZipWriter
from embcli.errors import EmbcliError, InputError, NumbersError

#: bytes written in one go
_PIECE = 1 << 22
#: writes the bytes of joined members into a file, each from its place on, and returns the CRC of each
Copy = Callable[[str, Sequence[tuple[Joined, int]]], Sequence[int]]


def check_target(path: str) -> None:
    """Raise InputError if a file cannot be written there, so that this is known before the work starts."""
    if path == "-":
        return
    shown = identify.show(path)
    if not path or "\0" in path:
        raise InputError(f"{shown or 'output'}: is no name for a file")
    if path.endswith("/") or os.path.isdir(path):
        raise InputError(f"{shown}: is a folder; give the name of a file")
    if _is_special(path):
        if not os.access(path, os.W_OK):
            raise InputError(f"{shown}: no permission to write it")
        return
    folder = os.path.dirname(os.path.realpath(path))
    if not os.path.isdir(folder):
        raise InputError(f"{shown}: there is no folder {identify.show(os.path.dirname(path) or folder)}; make it first")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise InputError(f"{shown}: no permission to write in {identify.show(folder)}")


def write(artifact: Artifact, path: str, meta: Mapping[str, Any], copy: Copy | None = None) -> str:
    """Write an artifact and return its digest.

    The file appears under exactly this name when it is complete; until then, and if anything goes wrong (Ctrl-C
    included), what was there before stays. Members are taken from the artifact one after another, in the order of its
    kind, and ``meta`` last, so that each may be filled while an earlier one (``Blocks``) is being produced.

    Parameters
    ----------
    artifact
        Its fields are arrays, ``Words``, ``Blocks``, ``Spill`` or ``Joined``.
    path
        - is stdout; that, a pipe or a device gets the same bytes after they were gathered in an unlinked file.
    meta
        From ``provenance.compose``.
    copy
        Who writes the ``Joined`` members into an ordinary file; this process, if None.

    Raises
    ------
    InputError : the target cannot be written.
    NumbersError : a value is not finite.
    ValueError : the arrays are not what their kind says (a mistake in the program).
    """
    check_target(path)
    if path == "-" or _is_special(path):
        return _through(artifact, path, meta)
    with _replacing(path) as file:
        return _fill(file, artifact, path, meta, path, copy)


def _is_special(path: str) -> bool:
    """Say whether the path is a device or a pipe, which must not be replaced by a file."""
    try:
        return not stat.S_ISREG(os.stat(path).st_mode)
    except OSError:
        return False


@contextmanager
def _replacing(path: str) -> Iterator[IO[bytes]]:
    """Yield a temporary file beside the target, which it replaces when all went well; else it is removed.

    A link stays a link: its target is replaced.
    """
    target = os.path.realpath(path)
    temporary = None
    try:
        for name in _names(target):
            try:
                with _failing(path):
                    file = open(name, "x+b")  # noqa: SIM115 - closed below
            except FileExistsError:
                continue  # left behind by a process of the same number that was killed
            temporary = name
            break
        with _closing(file, path):
            yield file
        signals.check()
        with _failing(path):
            os.replace(name, target)
    except BaseException:
        if temporary is not None:
            with suppress(OSError):
                os.unlink(temporary)
        raise


@contextmanager
def open_target(path: str) -> Iterator[IO[bytes]]:
    """Yield a binary stream to a file that appears when it is complete; - is stdout, devices and pipes are written to.

    Raises InputError if the target cannot be written.
    """
    check_target(path)
    if path == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
    elif _is_special(path):
        with _failing(path):
            special = open(path, "wb")  # noqa: SIM115 - closed by the next line
        with _closing(special, path):
            yield special
    else:
        with _replacing(path) as file:
            yield file


def _names(target: str) -> Iterator[str]:
    """Yield names for the temporary file, beside the target."""
    folder, name = os.path.split(target)
    if len(os.fsencode(name)) > 200:
        name = "embcli"
    pid = os.getpid()
    yield os.path.join(folder, f".{name}.{pid}.tmp")
    for i in itertools.count(1):
        yield os.path.join(folder, f".{name}.{pid}.{i}.tmp")


def _through(artifact: Artifact, path: str, meta: Mapping[str, Any]) -> str:
    """Write an unlinked temporary file and copy it to stdout, a pipe or a device."""
    import tempfile

    folder = tempfile.gettempdir()
    with _failing(folder):
        file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 - closed by the next line
    with _closing(file, folder):
        digest = _fill(file, artifact, path, meta, folder)
        with _failing(path):
            file.seek(0)
            if path == "-":
                sys.stdout.flush()
                _copy(file, sys.stdout.buffer)
            else:
                with open(path, "wb") as out:
                    _copy(file, out)
    return digest


@contextmanager
def _closing(file: IO[bytes], path: str) -> Iterator[None]:
    """Close the file at the end; that this fails too, after another failure, says nothing new."""
    try:
        yield
    except BaseException:
        with suppress(OSError):
            file.close()
        raise
    with _failing(path):
        file.close()


def _copy(file: IO[bytes], out: IO[bytes]) -> None:
    while block := file.read(1 << 20):
        out.write(block)
    out.flush()


@contextmanager
def _failing(path: str) -> Iterator[None]:
    """Turn OSError from writing the target into InputError; a closed pipe and a taken name stay what they are."""
    try:
        yield
    except (BrokenPipeError, FileExistsError):
        raise
    except OSError as e:
        shown = "stdout" if path == "-" else identify.show(path)
        if e.errno in (errno.ENOSPC, errno.EDQUOT):
            raise InputError(f"{shown}: disk full; nothing was written") from None
        raise InputError(f"{shown}: cannot be written: {e.strerror or e}") from None


def _fill(
    file: IO[bytes], artifact: Artifact, path: str, meta: Mapping[str, Any], place: str, copy: Copy | None = None
) -> str:
    """Write the whole artifact into an open file and return its digest, after opening it as a reader would.

    ``path`` is the target and ``place`` where the file really is, for messages.
    """
    shown = "stdout" if path == "-" else identify.show(path)
    left: list[tuple[Joined, int]] = []
    known: list[Callable[[int], None]] = []
    with ZipWriter(file, lambda: _failing(place)) as zip_:
        for name in artifact.names():
            source, member = member_of(artifact, name), artifact.due(name)
            if member is None:
                raise ValueError(f"{artifact.kind} can have no {name}")
            if copy is not None and isinstance(source, Joined):
                start, tell = _Source(name, member, source, shown).reserve(zip_)
                left.append((source, start))
                known.append(tell)
            elif source is not None:
                _Source(name, member, source, shown).write(zip_)
            elif member.required:
                raise ValueError(f"{artifact.kind} has no {name}")
        raw = provenance.dumps(meta)
        if len(raw) >= SMALL:
            raise InputError(f"{shown}: its meta would take {len(raw):,} bytes of {SMALL:,}; nothing was written")
        _Source("meta", Member(("u1",)), np.frombuffer(raw, np.uint8), shown).write(zip_)
        if copy is not None and left:
            with _failing(place):
                file.flush()
            for tell, crc in zip(known, copy(file.name, left), strict=True):
                tell(crc)
        zip_.finish()
    opened = Opened.of(file, path)
    try:
        artifact_of(opened)
    except EmbcliError as e:
        raise ValueError(f"what was to be written is no sound artifact: {e}") from e
    return opened.digest()


class _Source:
    """One member on its way into the file: its type, the shape of an item, and how many items went by so far."""

    def __init__(self, name: str, member: Member, source: Any, shown: str) -> None:
        self.name, self.source, self.shown = name, source, shown
        self.dtype: np.dtype[Any] = source.dtype
        self.item_shape = tuple(source.item_shape if isinstance(source, Blocks) else source.shape[1:])
        self.items = 0
        if self.dtype.newbyteorder("<").str[1:] not in member.dtypes or 1 + len(self.item_shape) != member.ndim:
            due = f"{member.ndim}-d {' or '.join(member.dtypes)}"
            raise ValueError(f"{name} is {self.dtype} with items of shape {self.item_shape} where {due} is due")

    def write(self, zip_: ZipWriter) -> None:
        zip_.add(f"{self.name}.npy", lambda: npy.header(self.dtype, (self.items, *self.item_shape)), self._pieces())

    def reserve(self, zip_: ZipWriter) -> tuple[int, Callable[[int], None]]:
        """Leave room for the member, of which all items are known; see ``ZipWriter.reserve``."""
        size = len(self.source)
        return zip_.reserve(f"{self.name}.npy", npy.header(self.dtype, (size,)), size * self.dtype.itemsize)

    def _blocks(self) -> Iterable[NDArray[Any]]:
        if isinstance(self.source, Blocks):
            return self.source.blocks
        return self.source.blocks(_PIECE) if isinstance(self.source, Spill | Joined) else (self.source,)

    def _pieces(self) -> Iterator[memoryview]:
        """Yield the bytes in pieces of bounded size; mapped sources are given back piece by piece."""
        for block in self._blocks():
            if block.dtype != self.dtype or block.shape[1:] != self.item_shape:
                raise ValueError(f"a block of {self.name} is {block.dtype} of shape {block.shape}")
            for start, stop in blocks(block, _PIECE):
                piece = np.ascontiguousarray(block[start:stop], self.dtype.newbyteorder("<"))
                if self.dtype.kind == "f" and not np.isfinite(piece).all():
                    raise NumbersError(f"{self.shown}: {self.name} are not all finite; nothing was written")
                self.items += len(piece)
                yield piece.reshape(-1).view(np.uint8).data
                release(block, start, stop)
