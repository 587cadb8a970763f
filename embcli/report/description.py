"""The description of an artifact as tables for people; JSON takes the description as it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from embcli.job import human_bytes
from embcli.report.tables import Column, Table


def description_tables(found: Mapping[str, Any], name: str) -> list[Table]:
    """Return what ``query.info.describe`` found as tables: how the artifact was made, its arrays, its first rows."""
    tables = [Table(name, [Column(""), Column("")], _facts(found)), _arrays(found)]
    if found.get("first"):
        tables.append(_first(found["first"]))
    if found.get("loss"):
        tables.append(_losses(found))
    return tables


def _losses(found: Mapping[str, Any]) -> Table:
    """Return the loss of each epoch, what it is the loss of, and the rate at its end."""
    stats = found["stats"] or {}
    measure = "cost" if "cost" in stats else "loss"
    series = {measure: found["loss"], "held out": stats.get("heldout_loss"), "rate": found.get("rate")}
    kept = {name: values for name, values in series.items() if values}
    rows = [(epoch, *values) for epoch, values in enumerate(zip(*kept.values(), strict=False), 1)]
    title = f"{measure} ({stats['objective']})" if "objective" in stats else measure
    return Table(title, [Column(name, "right") for name in ("epoch", *kept)], rows)


def _facts(found: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the lines of the first table: a heading and a text each."""
    made = f"embcli {found['step']}, version {found['embcli']}, seed {found['seed']}"
    rows = [
        ("kind", f"{found['kind']}, {human_bytes(found['size'])}" + _extent(found["stats"])),
        ("digest", found["digest"]),
        ("made by", made),
        ("options", phrase(found["options"])),
    ]
    if found["text"]:
        rows.append(("text", phrase(found["text"])))
    rows += [("input", f"{each['kind']} {each['digest'][:12]}") for each in found["inputs"]]
    for parent in found["parents"]:
        line = f"{parent['kind']} {parent['digest'][:12]} by {parent['step']}: {phrase(parent['options'])}"
        rows.append(("ancestor", line))
    rows.append(("figures", phrase(found["stats"])))
    if found.get("singular_values"):
        values = [f"{value:.5g}" for value in found["singular_values"]]
        shown = values if len(values) <= 6 else [*values[:5], "...", values[-1]]
        rows.append(("singular values", ", ".join(shown)))
    return rows


def _extent(stats: Mapping[str, Any] | None) -> str:
    """Return how many documents and words there are, where rows are documents."""
    if not stats or "documents" not in stats:
        return ""
    return f", {stats['documents']:,} documents x {stats['words']:,} words"


def phrase(options: Mapping[str, Any] | None) -> str:
    """Return options or figures as a phrase: window 5, lower, min-count 5. What is not set is left out."""
    parts = []
    for key, value in (options or {}).items():
        key = key.replace("_", "-")
        if value is True:
            parts.append(key)
        elif value is not None and value is not False and value != []:
            parts.append(f"{key} {_value(value)}")
    return ", ".join(parts) or "none"


def _value(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "none"}[value]
    if isinstance(value, float):
        return f"{value:.10g}"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, Mapping):
        return f"({phrase(value)})"
    if isinstance(value, (list, tuple)):
        head = " ".join(_value(each) for each in value[:5])
        return head if len(value) <= 5 else f"{head} ... ({len(value):,} in all)"
    return str(value)


def _arrays(found: Mapping[str, Any]) -> Table:
    """Return the table of arrays, with checksums where they were checked."""
    columns = [Column("array"), Column("type"), Column("shape"), Column("size", "right")]
    rows = [
        [m["name"], m["dtype"], " x ".join(f"{n:,}" for n in m["shape"]), human_bytes(m["bytes"])]
        for m in found["members"]
    ]
    if all("crc" in m for m in found["members"]):
        columns.append(Column("crc (checked)"))
        rows = [[*row, m["crc"]] for row, m in zip(rows, found["members"], strict=True)]
    return Table("arrays", columns, rows)


def _first(records: list[dict[str, Any]]) -> Table:
    """Return the table of first rows."""
    columns = [Column(key, "right" if isinstance(value, (int, float)) else "left") for key, value in records[0].items()]
    title = "first and last merges" if "merge" in records[0] else "first rows"
    return Table(title, columns, [[_first_cell(value) for value in record.values()] for record in records])


def _first_cell(value: Any) -> Any:
    """Return a cell: pairs of a word and its count, or the first numbers of a vector, as one text."""
    if not isinstance(value, list):
        return value
    if value and isinstance(value[0], list):
        return ", ".join(f"{word} {n:.6g}" for word, n in value)
    return " ".join(f"{n:.4f}" for n in value)
