"""Tables, pictures and pages as HTML: one self-contained page, light and dark, that asks for nothing from outside.

What stands in a page is decided elsewhere: pipeline/document.py makes the report of an experiment.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from importlib.resources import files

from embcli.report.display import shown
from embcli.report.tables import Column, Table, cell_text

#: a page may run its own scripts (those of maps inside), and load nothing
_POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:"


def table_html(table: Table) -> Iterator[str]:
    """Yield a table with its title above and its notes below; what would break a line is escaped as in a terminal."""
    yield '<div class="table">'
    if table.title:
        yield f"<h3>{escape(shown(table.title))}</h3>"
    yield "<table>"
    if any(column.name for column in table.columns):
        yield f"<thead>{_groups(table.columns)}<tr>"
        yield from (
            f"<th{_align(column)}>{escape(shown(column.name)) if column.name else ''}</th>" for column in table.columns
        )
        yield "</tr></thead>"
    yield "<tbody>\n"
    for row in table.rows:
        cells = (
            f"<td{_align(c)}>{escape(cell_text(value, c))}</td>" for value, c in zip(row, table.columns, strict=True)
        )
        yield f"<tr>{''.join(cells)}</tr>\n"
    yield "</tbody></table>"
    yield from (f'<p class="note">{escape(shown(note))}</p>' for note in table.notes)
    yield "</div>\n"


def _align(column: Column) -> str:
    return ' class="right"' if column.align == "right" else ""


def _groups(columns: Sequence[Column]) -> str:
    """Return the line of what stands over several columns, if there is any."""
    if not any(column.group for column in columns):
        return ""
    cells, at = [], 0
    while at < len(columns):
        end = at + 1
        while end < len(columns) and columns[end].group == columns[at].group:
            end += 1
        name = escape(shown(columns[at].group)) if columns[at].group else ""
        cells.append(f'<th colspan="{end - at}" class="group">{name}</th>')
        at = end
    return f"<tr>{''.join(cells)}</tr>"


def picture_html(light: bytes, dark: bytes, name: str) -> str:
    """Return an SVG picture in the colors that the reader's system asks for."""
    sources = [f"data:image/svg+xml;base64,{base64.b64encode(data).decode('ascii')}" for data in (light, dark)]
    label = escape(shown(name)) if name else "picture"
    return (f'<picture><source media="(prefers-color-scheme: dark)" srcset="{sources[1]}">'
            f'<img alt="{label}" src="{sources[0]}"></picture>\n')  # fmt: skip


def framed(page: bytes, name: str) -> str:
    """Return a whole page in a frame inside another one."""
    inside = escape(page.decode("utf-8"), quote=True)
    return f'<iframe loading="lazy" title="{escape(shown(name))}" srcdoc="{inside}"></iframe>\n'


def page_html(title: str, parts: Iterable[str]) -> Iterator[str]:
    """Yield a page."""
    style = (files("embcli.report") / "page_parts" / "report.css").read_text(encoding="utf-8")
    yield '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
    yield f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
    yield '<meta name="generator" content="embcli">\n<link rel="icon" href="data:,">\n'
    yield f"<title>{escape(shown(title))}</title>\n<style>\n{style}</style>\n</head>\n<body>\n"
    yield from parts
    yield "</body>\n</html>\n"
