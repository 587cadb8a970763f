"""Tables of results as text: for a terminal, for a pipe, as TSV, as JSON lines. They know nothing of what they hold."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from embcli.report.display import padded, shown, width


@dataclass(frozen=True)
class Column:
    """A column: its heading, ``align`` left or right, and what stands over it and its neighbors of the same ``group``.

    ``key`` names it in TSV and JSON, the heading if empty; ``digits`` is the format of its floats in tables for people.
    """

    name: str
    align: str = "left"
    group: str = ""
    key: str = ""
    digits: str = ".6g"


@dataclass(frozen=True)
class Table:
    """A title (may be empty), columns, rows of cells (text, numbers, or None for nothing), and notes below."""

    title: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Any]]
    notes: Sequence[str] = ()


def render(
    table: Table, form: str = "table", *, terminal: bool = False, width: int = 80, color: bool = False,
    encoding: str = "utf-8",
) -> str:  # fmt: skip
    """Return a table as text that ends with a line end.

    Parameters
    ----------
    table
        Its cells may hold anything: what would break a line is escaped.
    form
        ``table``, for people; ``tsv``, with a line of headings, and tab, line ends and backslash as escapes; ``jsonl``,
        one object a row. TSV and JSON hold neither title nor notes, and numbers in full.
    terminal, width, color
        On a terminal a table is drawn to its width, elsewhere it is plain aligned text without escape codes.
    encoding
        Of what the text will be written to; it holds no character that this cannot hold.
    """
    if form == "jsonl":
        return _jsonl(table, encoding)
    if form == "tsv":
        return _tsv(table).encode(encoding, "backslashreplace").decode(encoding)
    if terminal:
        return _drawn(table, width, color, encoding)
    return _plain(table, encoding)


def _jsonl(table: Table, encoding: str) -> str:
    keys = [column.key or column.name for column in table.columns]
    ascii_only = not encoding.lower().replace("-", "").startswith("utf")
    lines = (json.dumps(dict(zip(keys, row, strict=True)), ensure_ascii=ascii_only) for row in table.rows)
    return "".join(line.translate(_JSON) + "\n" for line in lines)


#: what some readers take for the end of a line
_JSON = {i: f"\\u{i:04x}" for i in (0x85, 0x2028, 0x2029)}
#: C0 controls, DEL and C1 controls, line ends, and the backslash
_TSV = {i: f"\\x{i:02x}" for i in (*range(32), *range(127, 160))} | {9: "\\t", 10: "\\n", 13: "\\r", 92: "\\\\"}
_TSV |= {i: f"\\u{i:04x}" for i in (0x2028, 0x2029)}


def _tsv(table: Table) -> str:
    lines = ["\t".join(column.key or column.name for column in table.columns)]
    for row in table.rows:
        lines.append("\t".join("" if cell is None else str(cell).translate(_TSV) for cell in row))
    return "\n".join(lines) + "\n"


def cell_text(value: Any, column: Column, encoding: str = "utf-8") -> str:
    """Return a cell as people read it."""
    if value is None:
        return ""
    if isinstance(value, float):
        return format(value, column.digits)
    return shown(str(value), encoding)


def _plain(table: Table, encoding: str) -> str:
    """Return aligned text: blanks only, nothing that a log or a diff would stumble over."""
    indent = "  " if table.title else ""
    cells = [[cell_text(value, c, encoding) for value, c in zip(row, table.columns, strict=True)] for row in table.rows]
    heads = [shown(c.name, encoding) if c.name else "" for c in table.columns]
    lines = [shown(table.title, encoding)] if table.title else []
    widths = [max(width(text) for text in texts) for texts in zip(heads, *cells, strict=True)]
    if any(c.group for c in table.columns):
        lines.append(indent + _groups(table.columns, widths, encoding))
    for texts in [heads, *cells] if any(heads) else cells:
        parts = (padded(text, w, c.align) for text, w, c in zip(texts, widths, table.columns, strict=True))
        lines.append((indent + "  ".join(parts)).rstrip())
    lines += [indent + shown(note, encoding) for note in table.notes]
    return "\n".join(lines) + "\n"


def _groups(columns: Sequence[Column], widths: list[int], encoding: str) -> str:
    """Return the line of group names, and widen the last column of a group whose name is longer than its columns."""
    line, at = "", 0
    while at < len(columns):
        end = at + 1
        while end < len(columns) and columns[end].group == columns[at].group:
            end += 1
        name = shown(columns[at].group, encoding) if columns[at].group else ""
        across = sum(widths[at:end]) + 2 * (end - at - 1)
        widths[end - 1] += max(0, width(name) - across)
        line += padded(name, max(across, width(name)), "left") + "  "
        at = end
    return line.rstrip()


def _drawn(table: Table, columns: int, color: bool, encoding: str) -> str:
    """Return a table as Rich draws it."""
    from rich import box
    from rich.console import Console
    from rich.table import Table as RichTable
    from rich.text import Text

    utf = encoding.lower().replace("-", "").startswith("utf")
    style = box.SIMPLE_HEAD if utf else box.ASCII
    heads = any(c.name for c in table.columns)
    drawn = RichTable(box=style if heads else None, pad_edge=False, header_style="bold", show_header=heads)
    grouped = any(c.group for c in table.columns)
    before = ""
    for c in table.columns:
        over = c.group if c.group != before else ""
        head = Text(shown(c.name, encoding) if c.name else "")
        if grouped:
            head = Text(shown(over, encoding) + "\n" if over else "\n") + head
        drawn.add_column(head, justify="right" if c.align == "right" else "left", overflow="fold")
        before = c.group
    for row in table.rows:
        drawn.add_row(*(Text(cell_text(v, c, encoding)) for v, c in zip(row, table.columns, strict=True)))
    out = io.StringIO()
    console = Console(
        file=out, width=columns, force_terminal=True, color_system="standard" if color else None, no_color=not color,
        legacy_windows=False, highlight=False, markup=False, emoji=False,
    )  # fmt: skip
    if table.title:
        console.print(Text(shown(table.title, encoding), style="bold"))
    console.print(drawn)
    for note in table.notes:
        console.print(Text("  " + shown(note, encoding), style="dim"))
    return out.getvalue().encode(encoding, "backslashreplace").decode(encoding)
