"""What a command answers that prints: tables in each form, records for JSON, and what it was expected to say."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from embcli.report.tables import Table

if TYPE_CHECKING:  # most answers are compared with nothing
    from embcli.report.expected import Compared


@dataclass(frozen=True)
class Shown:
    """An answer.

    ``tables`` gives its tables for a form (``table``, ``tsv``, ``jsonl``); ``record`` its objects for JSON, None if
    these are the rows of its tables. ``lost`` are lines about what was not answered; ``notes`` are remarks that stand
    in tables for people and in no other form. A plot has no tables but ``pictures``, SVG in light and dark.
    ``expected`` says what was expected and whether it was found.
    """

    tables: Callable[[str], Iterable[Table]]
    lost: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    pictures: tuple[bytes, bytes] | None = None
    record: Callable[[], Iterable[Mapping[str, Any]]] | None = None
    expected: tuple[Compared, ...] = ()

    def records(self) -> Iterator[Mapping[str, Any]]:
        """Yield the objects of its JSON."""
        if self.record is not None:
            yield from self.record()
            return
        for table in self.tables("jsonl"):
            keys = [column.key or column.name for column in table.columns]
            for row in table.rows:
                yield dict(zip(keys, row, strict=True))
