"""Says what a file is that is not the artifact a command needs, and which command makes the right one. Only texts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from embcli.artifacts.schema import MAKERS
from embcli.errors import KindError

#: how many bytes of a file's beginning ``what_is`` wants
HEAD = 1 << 16

_COMPRESSED = {b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\xfd7zXZ\x00": "xz", b"\x28\xb5\x2f\xfd": "zstd"}
_MARKS = {
    b"\x93NUMPY": "a single NumPy array (.npy)",
    b"PK\x05\x06": "an empty zip",
    b"\xba\x16\x4f\x2f": "a fastText model (.bin)",
    b"\x89HDF": "an HDF5 file",
    b"%PDF": "a PDF",
    b"\x7fELF": "a program",
    b"SQLite format 3": "an SQLite database",
}
_VECTORS = re.compile(rb"\d{1,12} \d{1,6}\n")
_PAGE = re.compile(rb"\s*<(!doctype\s|html|head|\?xml|script|body)", re.IGNORECASE)
_NOT_TEXT = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")


def show(path: str) -> str:
    """Return a path as messages name it: on one line, and stdin by its name."""
    if path == "-":
        return "stdin"
    return path if path.isprintable() else ascii(path)


def in_shell(path: str) -> str:
    """Return a path as it is typed in a shell."""
    if re.fullmatch(r"[\w@%+=:,./-]+", path):
        return path
    return "'" + show(path).replace("'", "'\"'\"'") + "'"


def is_zip(path: str) -> bool:
    """Say whether a file begins like a zip, as every artifact does."""
    with open(path, "rb") as f:
        return f.read(4) == b"PK\x03\x04"


def what_is(head: bytes) -> str:
    """Return what a file that begins like this looks like, such as 'text' or 'compressed by gzip'."""
    if not head:
        return "an empty file"
    for mark, name in _COMPRESSED.items():
        if head.startswith(mark):
            return f"compressed by {name}"
    for mark, name in _MARKS.items():
        if head.startswith(mark):
            return name
    if re.match(rb"\x80[\x02-\x05]", head):
        return "a Python pickle, which is never read"
    if not head.strip(b"\0"):
        return "nothing but zero bytes"
    if _PAGE.match(head.removeprefix(b"\xef\xbb\xbf")):
        return "a web page"
    vectors = _VECTORS.match(head) is not None
    if is_text(head):
        return "word vectors as text" if vectors else "text"
    return "word vectors in word2vec's binary format" if vectors else "binary data"


def is_text(head: bytes) -> bool:
    """Say whether a file that begins like this is UTF-8 text without control characters."""
    if _NOT_TEXT.search(head):
        return False
    for cut in range(4):  # the last character may be cut
        try:
            head[: len(head) - cut].decode()
        except UnicodeDecodeError:
            continue
        return True
    return False


def is_binary(head: bytes) -> bool:
    """Say whether a file that begins like this is no text in any encoding: many of its bytes are control characters."""
    return len(_NOT_TEXT.findall(head)) * 20 > len(head)


def foreign(path: str, head: bytes) -> KindError:
    """Return the error for a file that is no zip at all."""
    found, shown = what_is(head), show(path)
    looks = f"it is {found}" if found.startswith(("a", "compressed", "nothing")) else f"looks like {found}"
    if found == "text":
        source = "corpus.txt" if path == "-" else in_shell(path)
        hint = "make one with '" + MAKERS["tokens"].replace("corpus.txt", source) + "'"
    elif found.startswith("compressed"):
        hint = "decompress an artifact first; a compressed text is read by 'embcli encode'"
    elif not head:
        hint = "the command that should have written it failed or was stopped"
    elif found.startswith("word vectors"):
        hint = "vectors are made with '" + MAKERS["vectors"] + "'"
    else:
        hint = "'embcli --help' lists the commands that make one"
    return KindError(f"{shown}: not an embcli artifact ({looks}); {hint}")


def other_zip(path: str, names: Sequence[str]) -> KindError:
    """Return the error for a zip without embcli's meta."""
    arrays = [name.removesuffix(".npy") for name in names if name.endswith(".npy")]
    if not names:
        what = "an empty zip"
    elif len(arrays) == len(names):
        what = f"an npz of other arrays: {_few(arrays)}"
    else:
        what = f"a zip of other things: {_few(names)}"
    return KindError(f"{show(path)}: not an embcli artifact ({what}); 'embcli --help' lists the commands that make one")


def _few(names: Sequence[str]) -> str:
    listed = ", ".join(ascii(name)[1:-1][:40] for name in names[:5])
    return listed + (f" and {len(names) - 5:,} more" if len(names) > 5 else "")


def wrong_kind(path: str, kinds: Iterable[str], found: str, command: str) -> KindError:
    """Return the error for an artifact of another kind.

    If a command makes the expected kind from the one that was found, the message is that command; otherwise it names
    the command that makes the expected kind.
    """
    expected = list(kinds)
    text = f"{show(path)}: expected kind {' or '.join(map(repr, expected))}, found {ascii(found)[:40]}"
    makers = [MAKERS[kind] for kind in expected if kind in MAKERS]
    for maker in makers:
        if f" {found}.npz " in maker:
            return KindError(f"{text}; run '{maker.replace(f'{found}.npz', in_shell(path), 1)}' first")
    if not makers:
        return KindError(text)
    return KindError(f"{text}; {command or 'this command'} reads what '{makers[0]}' makes")
