"""Read a corpus - files, folders, stdin, plain or compressed - in blocks, whatever its size. Knows nothing of words.

Blocks end behind a line end or a space, where no word can be cut; what the blocks are never changes what they say.
"""

from __future__ import annotations

import hashlib
import os
import stat
import sys
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from embcli.errors import InputError, UsageError
from embcli.job import free_memory, human_bytes
from embcli.text import remote
from embcli.text.boundaries import piece_end
from embcli.text.compressed import Plain

#: bytes to read at a time, and line ends that follow the text in a block's buffer
BLOCK, SPARE = 1 << 20, 24
#: bytes of the longest word
LONGEST = 1 << 27
_ADVICE = "--split chars takes texts without any word ends"
BOM = b"\xef\xbb\xbf"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")


def buffer_of(text: bytes) -> NDArray[np.uint8]:
    """Return a buffer, as a block has one, that begins with the text."""
    buffer = np.full(_whole(len(text)), ord("\n"), np.uint8)
    buffer[: len(text)] = np.frombuffer(text, np.uint8)
    return buffer


@dataclass(frozen=True)
class Block:
    """A stretch of one file: ``buffer[start:stop]``.

    buffer : uint8, a multiple of 8 bytes, with at least 16 LFs behind ``stop``.
    name : the file, for messages.  first, last : whether the file begins or ends here. A file of 0 bytes is one block.
    """

    buffer: NDArray[np.uint8]
    start: int
    stop: int
    name: str
    first: bool
    last: bool


@dataclass(frozen=True)
class Stretch:
    """Bytes [start, stop) of a file of ``size`` bytes, as one input of a corpus; ``name`` is for messages.

    Only a whole file may be compressed.
    """

    path: str
    name: str
    start: int
    stop: int
    size: int

    @property
    def ends(self) -> bool:
        """Whether the file ends here."""
        return self.stop == self.size

    @property
    def whole(self) -> bool:
        """Whether this is all of the file."""
        return self.start == 0 and self.ends


@dataclass
class Corpus:
    """The files behind the inputs of a command.

    Parameters
    ----------
    inputs : paths of files and folders; ``-`` is stdin, at most once. A ``Stretch`` is a part of a file. Addresses
    (``s3://...``) are read by fsspec.
    block : bytes to read at a time; results must not depend on it.
    split : how words will be cut (``--split``), which says where blocks may end. For pieces of byte-pair encoding:
    ``lines`` (behind a LF), ``lines or pieces`` (also where any pattern ends a piece), ``pieces``, ``whole`` (nowhere).
    bytewise : keep every byte: a BOM is text, and UTF-16 is no error.

    Raises InputError for what is not there, UsageError for a second ``-``. ``digests`` has the sha256 of each input's
    (decompressed) bytes as soon as it has been read; ``done`` of ``total`` bytes on disk are read (0: not known).
    """

    inputs: Sequence[str | Stretch]
    block: int = BLOCK
    split: str = "words"
    bytewise: bool = False
    digests: list[str] = field(default_factory=list)
    done: int = 0
    total: int = 0

    def __post_init__(self) -> None:
        if list(self.inputs).count("-") > 1:
            raise UsageError("- (stdin) can be given only once")
        self._files = [files_of(path) for path in self.inputs]
        sizes = [size_of(path) for paths in self._files for path in paths]
        self.total = 0 if None in sizes else sum(size or 0 for size in sizes)

    @property
    def files(self) -> list[str]:
        """The files behind all inputs, in the order in which they are read."""
        return [path for paths in self._files for path in paths if isinstance(path, str)]

    def blocks(self) -> Iterator[Block]:
        """Yield the corpus block by block, in order. Raises InputError where a file cannot be read or is damaged."""
        for paths in self._files:
            digest = hashlib.sha256()
            for path in paths:
                yield from self._read(path, digest)
            self.digests.append(digest.hexdigest())

    def _read(self, path: str | Stretch, digest: Any) -> Iterator[Block]:
        part = path if isinstance(path, Stretch) else None
        name = part.name if part else "stdin" if path == "-" else str(path)
        before, first, last = self.done, part is None or part.start == 0, False
        rest, want = np.empty(0, np.uint8), self.block
        with open_file(path, name) as raw:
            plain = Plain(raw, name, part is None or part.whole)
            while not last:
                size = len(rest)
                buffer = np.empty(_whole(size + want), np.uint8)
                buffer[:size] = rest
                got = plain.fill(buffer.data[size : size + want])
                digest.update(buffer[size : size + got])
                self.done = before + raw.tell() if raw.seekable() else self.done + got
                last = got < want
                stop = size + got if last else boundary(buffer, size, size + got, self.split)
                rest, want = buffer[stop : size + got].copy(), self.block
                if not stop and not last:  # no place to cut in sight: look as far again
                    self._wait(len(rest), name)
                    want = max(want, len(rest))
                    continue
                buffer[stop : stop + SPARE] = ord("\n")
                if last:  # many small files may be waiting at a time
                    buffer = buffer[: _whole(stop)].copy()
                begin, ends = self._text_begins(buffer, stop, name) if first else 0, part is None or part.ends
                yield Block(buffer, begin, stop, name, first, last and ends)
                first = False

    def _wait(self, size: int, name: str) -> None:
        """Raise InputError if a stretch of text without a place to cut is too long to be read on."""
        if self.split not in _UNBOUNDED:
            if size > LONGEST:
                raise InputError(f"{name}: a word of more than {LONGEST >> 20} MB; is this text? {_ADVICE}")
        elif 4 * size > (free := free_memory()):
            what = "file" if self.split in ("pieces", "whole") else "line"
            raise InputError(
                f"{name}: a {what} of more than {human_bytes(size)} must be held in memory as a whole, "
                f"{human_bytes(free)} are free; cut it into shorter ones"
            )

    def _text_begins(self, buffer: NDArray[np.uint8], stop: int, name: str) -> int:
        """Return where a file's text begins, behind a BOM."""
        head = buffer[: min(stop, 3)].tobytes()
        if not self.bytewise and head[:2] in _UTF16:
            raise InputError(f"{name}: looks like UTF-16; convert it: iconv -f UTF-16 -t UTF-8 FILE > NEW")
        return len(BOM) if head == BOM and not self.bytewise else 0


def files_of(path: str | Stretch) -> Sequence[str | Stretch]:
    """Return the files of one input: itself, or every file below a folder, sorted by path."""
    if isinstance(path, Stretch) or path == "-":
        return [path]
    if remote.is_remote(path):
        return remote.files_at(path)
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError) as e:  # ValueError: a NUL in the path
        raise _unreadable(path, e) from None
    if not stat.S_ISDIR(mode):
        return [path]
    found = sorted(_walk(path, ()), key=os.fsencode)
    if not found:
        raise InputError(f"{path}: the folder holds no files")
    return found


def size_of(path: str | Stretch) -> int | None:
    """Return the bytes of a file on disk, or None if that cannot be known (stdin, a pipe)."""
    if isinstance(path, Stretch):
        return path.stop - path.start
    if remote.is_remote(path):
        return remote.size_at(path)
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_size if stat.S_ISREG(found.st_mode) else None


def _walk(folder: str, above: tuple[tuple[int, int], ...]) -> Iterator[str]:
    """Yield every file below a folder; links are followed, but not in circles."""
    try:
        own = os.stat(folder)
        if (own.st_dev, own.st_ino) in above:
            raise InputError(f"{folder}: is a link to a folder that it is in; remove it")
        with os.scandir(folder) as entries:
            for entry in entries:
                mode = os.stat(entry.path).st_mode
                if stat.S_ISDIR(mode):
                    yield from _walk(entry.path, (*above, (own.st_dev, own.st_ino)))
                elif stat.S_ISREG(mode):
                    yield entry.path
                else:
                    raise InputError(f"{entry.path}: is neither a file nor a folder; remove it, or name the files")
    except OSError as e:
        raise _unreadable(e.filename or folder, e) from None


def _unreadable(name: str, e: OSError | ValueError) -> InputError:
    if isinstance(e, FileNotFoundError):
        return InputError(f"{name}: there is no such file or folder")
    return InputError(f"{name}: cannot be read: {getattr(e, 'strerror', None) or e}")


class _Within:
    """A part of an open file, to be read from its beginning to its end."""

    def __init__(self, raw: Any, part: Stretch) -> None:
        self._raw, self._at, self._size = raw, 0, part.stop - part.start
        raw.seek(part.start)

    def __enter__(self) -> _Within:
        return self

    def __exit__(self, *_: object) -> None:
        self._raw.close()

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def readinto(self, target: Any) -> int:
        n = int(self._raw.readinto(target[: self._size - self._at]) or 0)
        self._at += n
        return n


def open_file(path: str | Stretch, name: str) -> AbstractContextManager[Any]:
    """Open a file, or a part of it, or stdin, which stays open."""
    if isinstance(path, Stretch):
        return _Within(open_file(path.path, name), path)
    if path == "-":
        if sys.stdin is None:
            raise InputError("stdin: is closed; give a file, or a pipe")
        return nullcontext(sys.stdin.buffer)
    if remote.is_remote(path):
        return cast(AbstractContextManager[Any], remote.open_at(path))
    try:
        return open(path, "rb", buffering=0)
    except OSError as e:
        raise _unreadable(name, e) from None


def digest_of(files: Sequence[str]) -> str:
    """Return the sha256 of the decompressed bytes of files, one after another, as ``Corpus.digests`` has it."""
    digest, buffer = hashlib.sha256(), memoryview(bytearray(BLOCK))
    for path in files:
        with open_file(path, path) as raw:
            plain = Plain(raw, path)
            while got := plain.fill(buffer):
                digest.update(buffer[:got])
    return digest.hexdigest()


def _whole(size: int) -> int:
    """Return the length of a buffer for so many bytes of text: whole words of 8 bytes, with SPARE bytes."""
    return -(-(size + SPARE) // 8) * 8


def boundary(buffer: NDArray[np.uint8], fresh: int, stop: int, split: str) -> int:
    """Return where text up to ``stop`` can be cut: behind its last LF, else its last byte that ends a word, or 0.

    Bytes before ``fresh`` hold no LF. Characters are cut before any byte that begins one, but not between CR and LF.
    """
    if split == "whole":
        return 0
    for tail in (buffer[max(fresh, stop - 4096) : stop], buffer[fresh:stop]) if split != "pieces" else ():
        at = tail.tobytes().rfind(b"\n")
        if at >= 0:
            return stop - len(tail) + at + 1
    if split == "chars":
        places = range(stop - 1, max(stop - 8, 0), -1)
        return next((at for at in places if buffer[at] & 0xC0 != 0x80 and buffer[at - 1] != 13), 0)
    if split in _UNBOUNDED:
        return 0 if split == "lines" else piece_end(buffer, stop)
    ends = _ENDS[split]
    for tail in (buffer[max(stop - 4096, 0) : stop], buffer[:stop]):
        found = np.flatnonzero(ends[tail])
        if len(found):
            return stop - len(tail) + int(found[-1]) + 1
    return 0


#: rules for which a text may be as long as memory allows
_UNBOUNDED = ("lines", "lines or pieces", "pieces", "whole")


def _ending(word: bytes) -> NDArray[np.bool_]:
    """Return which bytes certainly end a word: ASCII, and none of the given ones nor CR, which may belong to a LF."""
    ends = np.arange(256) < 128
    ends[np.frombuffer(word + b"\r", np.uint8)] = False
    return ends


#: which bytes end a word
_ENDS = {
    "words": _ending(b"'0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"),
    "whitespace": _ending(bytes(range(9)) + bytes(range(14, 32)) + bytes(range(33, 128))),
}
