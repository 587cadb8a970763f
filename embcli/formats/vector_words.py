"""The words of a file of vectors while it is read: sound UTF-8, each once. For the formats, not for artifacts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from embcli.artifacts.schema import Words
from embcli.errors import InputError
from embcli.job import counted

if TYPE_CHECKING:
    from embcli.text.typetable import TypeTable


def shown(word: bytes) -> str:
    """Return a word as messages name it."""
    return ascii(word.decode("utf-8", "replace"))[:40]


def blanks(words: Words) -> list[str]:
    """Return a note on words that hold a blank, if there are any."""
    at = np.unique(np.searchsorted(words.offsets, np.flatnonzero(np.asarray(words.data) == 32), "right") - 1)
    if not len(at):
        return []
    what = f"{len(at):,} words hold" if len(at) > 1 else "one word holds"
    return [f"{what} a blank, such as {ascii(words[int(at[0])])[:60]}"]


def nth(what: str, first: int) -> Callable[[int], str]:
    """Return how messages call the i-th of some things of which ``first`` came before: row 1,205."""
    return lambda i: f"{what} {first + i + 1:,}"


class _Few:
    """Types numbered in the order in which they were added, as TypeTable does it with compiled code for many."""

    def __init__(self) -> None:
        self.rows: dict[bytes, int] = {}

    def __len__(self) -> int:
        return len(self.rows)

    def add(
        self, data: NDArray[np.uint8], begins: NDArray[np.uint64], sizes: NDArray[np.uint64], counts: object
    ) -> NDArray[np.uint32]:
        """Add types and return their numbers."""
        text, ends = data.tobytes(), begins + sizes
        words = (text[a:b] for a, b in zip(begins.tolist(), ends.tolist(), strict=True))
        return np.array([self.rows.setdefault(word, len(self.rows)) for word in words], np.uint32)


def _gathered(
    text: NDArray[np.uint8], starts: NDArray[np.int64], stops: NDArray[np.int64], few: bool
) -> NDArray[np.uint8]:
    """Return words ``text[starts[i]:stops[i]]`` one after another."""
    if few:
        parts = [text[a:b].tobytes() for a, b in zip(starts.tolist(), stops.tolist(), strict=True)]
        return np.frombuffer(b"".join(parts), np.uint8)
    from embcli.kernels.typetable import gather

    data = np.empty(int((stops - starts).sum()), np.uint8)
    gather(text, starts.astype(np.uint64), (stops - starts).astype(np.uint64), data)
    return data


class Taken:
    """The words taken so far, and what there is to say about those that were left out or mended.

    Parameters
    ----------
    name : of the file, for messages.
    errors : None and ``strict``: a word that is not UTF-8 stops; ``replace``: U+FFFD for what is bad; ``skip``: without
        the word. ``strict`` also stops at what otherwise is only noted (see ``notes``).
    limit : at most so many words are taken.
    claimed : how many words the file says that it has; None if it says nothing.
    few : whether there will be so few that compiled code, which holds more of them, does not pay.
    """

    def __init__(
        self, name: str, errors: str | None, limit: int | None, claimed: int | None = None, few: bool = False
    ) -> None:
        self.name, self.errors, self.limit, self.claimed = name, errors, limit, claimed
        self._few = few or (limit is not None and limit < 1 << 15)
        self.twice = self.repaired = self.skipped = 0
        self.again = b""
        self._table: TypeTable | _Few | None = None

    def __len__(self) -> int:
        return 0 if self._table is None else len(self._table)

    @property
    def room(self) -> int:
        """How many words may still be taken; many, if there is no limit."""
        return 1 << 62 if self.limit is None else self.limit - len(self)

    def words(self) -> Words:
        """Return the words that were taken, in their order."""
        if self._table is None:
            return Words.of([])
        if isinstance(self._table, _Few):
            return Words.of(self._table.rows)
        offsets = self._table.begins.astype(np.int64)
        return Words(self._table.types.data[: offsets[-1]], offsets)

    def _begun(self) -> TypeTable | _Few:
        """Return the table of words, made with the first of them."""
        if self._table is None and self._few:
            self._table = _Few()
        elif self._table is None:
            from embcli.text.typetable import TypeTable, power_of_two

            self._table = TypeTable(power_of_two(min(self.claimed or 0, self.room, 1 << 22) + 2))
        return self._table

    def take(
        self, text: NDArray[np.uint8], starts: NDArray[np.int64], stops: NDArray[np.int64], place: Callable[[int], str]
    ) -> NDArray[np.bool_]:
        """Take words ``text[starts[i]:stops[i]]``, at most ``room`` of them; return which are kept.

        ``place`` says for a message where the i-th one stands. Raises InputError for a word that is empty, and for one
        that is not UTF-8 unless it is to be mended.
        """
        sizes = stops - starts
        if len(sizes) and not sizes.all():
            raise InputError(f"{self.name}: {place(int(np.argmin(sizes)))}: no word stands there, only numbers")
        table, data = self._begun(), _gathered(text, starts, stops, self._few)
        kept = np.ones(len(sizes), np.bool_)
        if len(data) and data.max() > 127:
            data, sizes, kept = self._mended(data, sizes, place)
        begins = (np.cumsum(sizes) - sizes).astype(np.uint64)
        before = len(table)
        numbers = table.add(data, begins, sizes.astype(np.uint64), np.ones(len(sizes), np.uint64))
        highest = np.maximum.accumulate(np.concatenate([[before - 1], numbers.astype(np.int64)]))
        new = highest[1:] > highest[:-1]
        if not new.all():
            self.twice += int((~new).sum())
            at = int(np.argmin(new))
            self.again = self.again or data[begins[at] : begins[at] + np.uint64(sizes[at])].tobytes()
        kept[kept] = new
        return kept

    def _mended(
        self, data: NDArray[np.uint8], sizes: NDArray[np.int64], place: Callable[[int], str]
    ) -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.bool_]]:
        """Return the words that are kept, all UTF-8, their sizes, and which of the words they are."""
        stops = np.cumsum(sizes)
        odd = np.unique(np.searchsorted(stops, np.flatnonzero(data > 127), "right"))
        kept, mended = np.ones(len(sizes), np.bool_), dict[int, bytes]()
        for i, stop in zip(odd.tolist(), stops[odd].tolist(), strict=True):
            word = data[stop - sizes[i] : stop].tobytes()
            try:
                word.decode()
            except UnicodeDecodeError:
                if self.errors not in ("replace", "skip"):
                    raise InputError(
                        f"{self.name}: {place(i)}: the word {word[:40]!r} is not UTF-8; --errors replace "
                        "or skip reads the file all the same"
                    ) from None
                mended[i] = word.decode("utf-8", "replace").encode()
                kept[i] = self.errors == "replace"
        if not mended:
            return data, sizes, kept
        if self.errors == "skip":
            self.skipped += len(mended)
        else:
            self.repaired += len(mended)
        words = [
            mended.get(i) or data[stop - size : stop].tobytes()
            for i, (stop, size) in enumerate(zip(stops.tolist(), sizes.tolist(), strict=True))
            if kept[i]
        ]
        return np.frombuffer(b"".join(words), np.uint8), np.array([len(word) for word in words], np.int64), kept

    def notes(self, faults: list[str] | None = None) -> Iterator[str]:
        """Yield what there is to say of the words of a file that was read, after the reader's own ``faults``.

        Raises InputError if there are none, or if there is a fault (another number than was claimed, words that are
        there twice) and errors are strict.
        """
        n, faults = len(self), list(faults or ())
        if not n:
            raise InputError(f"{self.name}: holds no vectors")
        rows = n + self.twice + self.skipped
        if self.claimed is not None and rows != self.claimed and not (self.limit is not None and n == self.limit):
            there = f"{rows:,} {'is' if rows == 1 else 'are'} there"
            faults.insert(0, f"its header claims {counted(self.claimed, 'word')}, {there}; all of them are kept")
        if self.twice:
            what = f"{self.twice:,} words are" if self.twice > 1 else "1 word is"
            faults.append(f"{what} there twice, such as {shown(self.again)}; the first one is kept")
        if faults and self.errors == "strict":
            raise InputError(f"{self.name}: {'; '.join(faults)}, without --errors strict")
        yield from (f"warning: {fault}" for fault in faults)
        if self.repaired or self.skipped:
            what = (
                f"{self.repaired:,} {'has' if self.repaired == 1 else 'have'} U+FFFD in them"
                if self.repaired
                else f"{self.skipped:,} {'was' if self.skipped == 1 else 'were'} left out"
            )
            yield f"of the words that are not UTF-8, {what}"
