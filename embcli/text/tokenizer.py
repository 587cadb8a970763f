"""A tokenizer in memory: what its ids spell and what merges, as the kernels want it, and in readable form.

Shared by encode, decode, info and convert. How text is cut before is in patterns.py; learning is in bpe_train.py.
"""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embcli.artifacts.schema import Tokenizer, Tokens, Words, readable
from embcli.errors import InputError
from embcli.kernels import pieces as k
from embcli.text.typetable import TypeTable, power_of_two
from embcli.text.unicode import WHITE_SPACE

#: the bytes in the order in which GPT-2 numbers them: visible ones first
BYTE_ORDER = tuple(
    [*range(33, 127), *range(161, 173), *range(174, 256)]
    + [b for b in range(256) if b < 33 or 126 < b < 161 or b == 173]
)
#: what marks the end of a word
END = b"</w>"
#: what ``str.strip`` takes away, which training did where the ends of words are marked
_BLANKS = (*WHITE_SPACE, *range(0x1C, 0x20))


#: what the record of how text is cut must hold besides its base
_TEXT = {"pattern": str, "regex": str, "end_of_word": bool, "whole": bool}


class View:
    """A tokenizer to encode with.

    Parameters
    ----------
    made
        A tokenizer, or tokens that were made with one.

    Raises InputError if its merges spell no token, or its record of how text is cut makes no sense.
    """

    def __init__(self, made: Tokenizer | Tokens) -> None:
        assert made.tokens is not None
        self.made, self.name = made, made.path or "tokenizer"
        self.tokens: Words = made.tokens
        self.text: dict[str, Any] = made.text
        sound = self.text.get("base") in ("byte", "char") and all(
            isinstance(self.text.get(key), kind) for key, kind in _TEXT.items()
        )
        if not sound or (self.text["end_of_word"] and self.text["base"] == "byte"):
            raise InputError(
                f"{self.name}: damaged: its meta says nothing sensible about how text is cut; make it again"
            )
        self.special: frozenset[int] = frozenset(np.asarray(made.special_ids).tolist())
        self.chars = self.text.get("base") == "char"

    @property
    def expression(self) -> str:
        """The pattern that cuts text: its name, or the regular expression."""
        name: str = self.text.get("pattern", "custom")
        return name if name != "custom" else self.text["regex"]

    @cached_property
    def tail(self) -> int:
        """The id of the end of a word, or -1."""
        return self._id_of(END) if self.text.get("end_of_word") else -1

    @cached_property
    def base(self) -> NDArray[np.int32]:
        """Ids of the base symbols by byte (256,), or by code point (0x110000,); below 0 where there is none."""
        sizes = np.diff(self.tokens.offsets)
        base = np.full(0x110000 if self.chars else 256, -1, np.int32)
        if self.tail >= 0:
            base[list(_BLANKS)] = k.BLANK
        for at in np.flatnonzero((sizes >= 1) & (sizes <= (4 if self.chars else 1)))[::-1].tolist():
            if at in self.special:
                continue
            spelled = self.tokens.bytes_at(at)
            if not self.chars:
                base[spelled[0]] = at
            elif len(text := spelled.decode("utf-8", "replace")) == 1:
                base[ord(text)] = at
        return base

    def special_id(self, token: bytes) -> int:
        """Return the id of a special token."""
        return next(i for i in sorted(self.special) if self.tokens.bytes_at(i) == token)

    def prepare(self) -> None:
        """Make what lanes share before they start."""
        _ = self.rules, self.base, self.tail

    @cached_property
    def ordinary(self) -> NDArray[np.bool_]:
        """Whether each id is a token that text can hold without being special."""
        ordinary = np.diff(self.tokens.offsets) > 0
        ordinary[list(self.special)] = False
        return ordinary

    @cached_property
    def rules(self) -> k.Rules:
        """What merges, for the kernels."""
        merges = np.asarray(self.made.merges)
        whole = bool(self.text.get("whole"))
        if not self.chars and (self.base < 0).any():
            byte = int(np.argmax(self.base < 0))
            raise InputError(f"{self.name}: damaged: it has no token for the byte 0x{byte:02x}; make the file again")
        if not whole and len(unmade := self.unmade()):
            raise InputError(
                f"{self.name}: damaged: no merge makes the token {self.readable(int(unmade[0]))!r} (id {unmade[0]:,}); "
                "a merge is missing or altered; make the file again"
            )
        rules = self.room_for(len(merges))._replace(whole=whole)
        k.put_merges(rules, merges, self.results)
        return rules

    def room_for(self, merges: int) -> k.Rules:
        """Return rules without any merge yet, with room for so many."""
        table, ids = self._table
        pairs = np.full((power_of_two(2 * merges + 2), 2), k.NEVER)
        return k.Rules(
            np.full(k.DENSE * k.DENSE, k.NEVER), pairs, np.zeros(k.FILTER, np.uint64), table.types, ids, False
        )

    @cached_property
    def results(self) -> NDArray[np.int32]:
        """The id of what each merge spells, int32 (merges,)."""
        merges = np.asarray(self.made.merges)
        results = np.empty(len(merges), np.int32)
        data, begin = self.tokens.data, self.tokens.offsets
        room = np.empty(2 * int(np.diff(begin).max(initial=0)) // 8 * 8 + 24, np.uint8)
        table, ids = self._table
        k.find_results(table.types, ids, data, begin, merges, room, results)
        if (results < 0).any():
            at = int(np.argmax(results < 0))
            a, b = (self.readable(part) for part in merges[at].tolist())
            raise InputError(
                f"{self.name}: damaged: merge {at + 1:,} ({a!r} {b!r}) spells no token; make the file again"
            )
        return results

    def unmade(self) -> NDArray[np.intp]:
        """Return the ids of ordinary tokens that no merge makes though they are no base symbols."""
        made = ~self.ordinary
        made[self.results] = True
        made[self.base[self.base >= 0]] = True
        return np.flatnonzero(~made if self.tail < 0 else ~made & (np.arange(len(made)) != self.tail))

    @cached_property
    def _table(self) -> tuple[TypeTable, NDArray[np.int32]]:
        """The ordinary tokens by their bytes, and the id of each, int32; of equal ones the lowest."""
        chosen = np.flatnonzero(self.ordinary)
        begins, sizes = self.tokens.offsets[chosen], np.diff(self.tokens.offsets)[chosen]
        table = TypeTable(power_of_two(len(chosen) + 2))
        zeros = np.zeros(len(chosen), np.uint64)
        numbers = table.add(self.tokens.data, begins.astype(np.uint64), sizes.astype(np.uint64), zeros)
        ids = np.empty(len(table), np.int32)
        ids[numbers[::-1]] = chosen[::-1]
        return table, ids

    def _id_of(self, spelled: bytes) -> int:
        for at in range(len(self.tokens)):
            if self.tokens.bytes_at(at) == spelled:
                return at
        raise InputError(f"{self.name}: damaged: it has no token {spelled.decode()!r}; make the file again")

    def readable(self, at: int) -> str:
        """Return a token as a person reads it; see ``readable``."""
        return readable(self.tokens.bytes_at(at))

    @cached_property
    def words(self) -> Words:
        """The readable forms of all tokens; an id without a token is written <id>, equal forms get their id."""
        data, ends = self.tokens.data, self.tokens.offsets
        odd = np.zeros(len(data) + 1, np.int64)  # bytes that may be written otherwise: no ASCII, invisible, or in \\x
        np.cumsum((data < 0x20) | (data > 0x7E) | (data == ord("\\")), out=odd[1:])
        raw, places = data.tobytes(), ends.tolist()
        forms = [raw[a:b] for a, b in pairwise(places)]
        for at in np.flatnonzero((odd[ends[1:]] > odd[ends[:-1]]) | (ends[1:] == ends[:-1])).tolist():
            forms[at] = readable(forms[at]).encode() if forms[at] else b"<%d>" % at
        return Words.of(_distinct(forms))


def _distinct(forms: list[bytes]) -> list[bytes]:
    if len(set(forms)) < len(forms):
        seen: set[bytes] = set()
        for at, form in enumerate(forms):
            while form in seen:
                form += b"<%d>" % at
            seen.add(form)
            forms[at] = form
    return forms
