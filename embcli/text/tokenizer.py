"""A tokenizer in memory: what its ids spell and what merges, as the kernels want it, and in readable form.

Shared by encode, decode, info and convert. How text is cut before is in patterns.py; learning is in bpe_train.py.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embcli.artifacts.schema import Tokenizer, Tokens, Words, readable
from embcli.errors import InputError
from embcli.kernels import pieces as k

#: the bytes in the order in which GPT-2 numbers them: visible ones first
BYTE_ORDER = tuple(
    [*range(33, 127), *range(161, 173), *range(174, 256)]
    + [b for b in range(256) if b < 33 or 126 < b < 161 or b == 173]
)
#: what marks the end of a word
END = b"</w>"


class View:
    """A tokenizer to encode with.

    Parameters
    ----------
    made
        A tokenizer, or tokens that were made with one.

    Raises InputError if its merges spell no token.
    """

    def __init__(self, made: Tokenizer | Tokens) -> None:
        assert made.tokens is not None
        self.made, self.name = made, made.path or "tokenizer"
        self.tokens: Words = made.tokens
        self.text: dict[str, Any] = made.text
        self.special = frozenset(np.asarray(made.special_ids).tolist())
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
        """Ids of the base symbols by byte (256,), or by code point (0x110000,); -1 where there is none."""
        sizes = np.diff(self.tokens.offsets)
        base = np.full(0x110000 if self.chars else 256, -1, np.int32)
        for at in np.flatnonzero((sizes >= 1) & (sizes <= (4 if self.chars else 1)))[::-1].tolist():
            if at in self.special:
                continue
            spelled = self.tokens.bytes_at(at)
            if not self.chars:
                base[spelled[0]] = at
            elif len(text := spelled.decode("utf-8", "replace")) == 1:
                base[ord(text)] = at
        return base

    def base_for(self, errors: str) -> NDArray[np.int32]:
        """Return ``base``; with ``replace``, characters without an id have that of U+FFFD, if there is one."""
        if not self.chars or errors != "replace" or self.base[0xFFFD] < 0:
            return self.base
        return np.where(self.base < 0, self.base[0xFFFD], self.base)

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
        rules = self.room_for(len(merges))
        k.put_merges(rules, merges, self.results, np.arange(len(merges)))
        return rules if self.text.get("whole") else rules._replace(slots=np.zeros(1, np.int32))

    def room_for(self, merges: int) -> k.Rules:
        """Return rules without any merge yet, with room for so many."""
        size = _power(2 * merges + 2)
        return self._index()._replace(
            dense=np.full((k.DENSE, k.DENSE), k.NEVER), key=np.full(size, k.NEVER), rule=np.empty(size, np.uint64)
        )

    @cached_property
    def results(self) -> NDArray[np.int32]:
        """The id of what each merge spells, int32 (merges,)."""
        merges = np.asarray(self.made.merges)
        results = np.empty(len(merges), np.int32)
        k.find_results(self._index(), merges, results)
        if (results < 0).any():
            at = int(np.argmax(results < 0))
            a, b = (self.readable(part) for part in merges[at].tolist())
            raise InputError(
                f"{self.name}: damaged: merge {at + 1:,} ({a!r} {b!r}) spells no token; make the file again"
            )
        return results

    def _index(self) -> k.Rules:
        """Return rules without merges whose tokens can be found by their bytes."""
        slots = np.zeros(_power(4 * len(self.tokens)), np.int32)
        none = np.zeros(0, np.uint64)
        index = k.Rules(none.reshape(0, 0), none, none, self.tokens.data, self.tokens.offsets, slots)
        k.index_tokens(index, self.ordinary)
        return index

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
        forms = [
            readable(self.tokens.bytes_at(at)) if n else f"<{at}>"
            for at, n in enumerate(np.diff(self.tokens.offsets).tolist())
        ]
        return Words.of(_distinct(forms))


def _distinct(forms: list[str]) -> Iterable[str]:
    seen: set[str] = set()
    for at, form in enumerate(forms):
        yield form if form not in seen else f"{form}<{at}>"
        seen.add(form)


def _power(n: int) -> int:
    """Return the power of two that is at least ``n``."""
    return 1 << max(n - 1, 1).bit_length()
