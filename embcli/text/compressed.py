"""Recognise compressed streams by their first bytes and read what is in them. Text and bytes are all the same here."""

from __future__ import annotations

import io
import zlib
from typing import IO, Any

from embcli.errors import InputError, KindError

_LONGEST_MAGIC = 10
_BUFFER = 1 << 18


class Plain:
    """The decompressed bytes of a stream, to be read into buffers.

    raw : an open binary file.  name : what messages call it. ``kind`` is the compression, "" if there is none.
    look : whether it may be compressed; the middle of a plain file may look as if it were.
    Raises InputError, as ``fill`` does, where it cannot be read, is damaged or ends too early.
    """

    def __init__(self, raw: IO[bytes], name: str, look: bool = True) -> None:
        self._stream: Any = raw
        self._name, self.kind = name, ""
        self._faults: tuple[type[Exception], ...] = (OSError,)
        if not look:
            return
        head = bytearray(_LONGEST_MAGIC)
        magic = bytes(head[: self.fill(memoryview(head))])
        self._stream = _Headed(magic, raw)
        if magic[:4] == b"PK\x03\x04":
            raise KindError(f"{name}: a zip or an .npz artifact, not text; 'embcli info' says what an artifact is")
        if magic[:3] == b"\x1f\x8b\x08":
            import gzip

            self._set("gzip", gzip.GzipFile(fileobj=io.BufferedReader(self._stream, _BUFFER)), zlib.error)
        elif magic[:3] == b"BZh" and magic[4:] in (b"1AY&SY", b"\x17rE8P\x90"):
            import bz2

            self._set("bzip2", bz2.BZ2File(io.BufferedReader(self._stream, _BUFFER)), ValueError)
        elif magic[:6] == b"\xfd7zXZ\0":
            import lzma

            inside = lzma.LZMAFile(io.BufferedReader(self._stream, _BUFFER))  # noqa: SIM115 - open as long as raw
            self._set("xz", inside, lzma.LZMAError)
        elif magic[:4] == b"\x28\xb5\x2f\xfd":
            zstandard = _zstandard(name)
            self._set("zstd", _Frames(zstandard.ZstdDecompressor(), self._stream), zstandard.ZstdError)

    def _set(self, kind: str, stream: Any, fault: type[Exception]) -> None:
        self._stream, self.kind, self._faults = stream, kind, (OSError, EOFError, fault)

    def fill(self, target: memoryview) -> int:
        """Read until the target is full or the stream ends; return how many bytes there are."""
        got = 0
        try:
            while got < len(target) and (n := self._stream.readinto(target[got:])):
                got += n
        except self._faults as e:
            if isinstance(e, OSError) and e.errno is not None:
                raise InputError(f"{self._name}: cannot be read: {e.strerror}") from None
            what = f"the {self.kind} data are damaged or cut short ({e})"
            raise InputError(f"{self._name}: {what}; get the file again") from None
        return got


class _Headed(io.RawIOBase):
    """A stream whose first bytes were read already."""

    def __init__(self, head: bytes, rest: Any) -> None:
        self._head, self._rest = head, rest

    def readable(self) -> bool:
        return True

    def readinto(self, target: Any) -> int:
        if not self._head:
            return int(self._rest.readinto(target))
        n = min(len(target), len(self._head))
        target[:n], self._head = self._head[:n], self._head[n:]
        return n


def _zstandard(name: str) -> Any:
    try:
        import zstandard
    except ImportError:
        raise InputError(f"{name}: is zstd-compressed; run 'pip install zstandard', or decompress it") from None
    return zstandard


class _Frames(io.RawIOBase):
    """The content of zstd frames, one after another.

    The package's own reader takes a stream that is cut short for one that has ended.
    """

    def __init__(self, zstd: Any, source: _Headed) -> None:
        self._zstd, self._source = zstd, source
        self._frame: Any = None
        self._packed = self._content = b""

    def readinto(self, target: Any) -> int:
        while not self._content:
            self._packed = self._packed or self._source.read(_BUFFER) or b""
            if not self._packed:
                if self._frame is not None:
                    raise EOFError("it ends within a frame")
                return 0
            self._frame = self._frame or self._zstd.decompressobj()
            self._content = self._frame.decompress(self._packed)
            self._packed = self._frame.unused_data
            if self._frame.eof:
                self._frame = None
        n = min(len(target), len(self._content))
        target[:n], self._content = self._content[:n], self._content[n:]
        return n
