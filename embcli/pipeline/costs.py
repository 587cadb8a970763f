"""What the artifacts of an experiment cost: seconds and memory, kept in OUT/log.jsonl, never in the artifacts."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from embcli.artifacts import store
from embcli.job import human_bytes
from embcli.pipeline.cells import Build
from embcli.query.seeds import groups, spread
from embcli.report.tables import Column, Table

#: what Linux tells about this process, and where it is told to begin its peak of memory anew
_STATUS, _RESET = "/proc/self/status", "/proc/self/clear_refs"


@dataclass(frozen=True)
class Cost:
    """Seconds that a step took, and the most bytes that the process had in memory meanwhile (None: not known)."""

    seconds: float
    peak: int | None = None


class Watch:
    """Measures one step. Memory is known on Linux, and only if no other step runs in the process at the same time."""

    def __init__(self, alone: bool = True) -> None:
        self._known = alone
        try:
            with open(_RESET, "w", encoding="ascii") as file:
                file.write("5")  # proc(5): the peak becomes what is in memory now
        except OSError:
            self._known = False
        self._started = time.monotonic()

    def cost(self) -> Cost:
        """Return what was used since."""
        return Cost(time.monotonic() - self._started, _peak() if self._known else None)


def _peak() -> int | None:
    try:
        with open(_STATUS, encoding="ascii") as file:
            return next((int(line.split()[1]) * 1024 for line in file if line.startswith("VmHWM:")), None)
    except (OSError, ValueError, IndexError):
        return None


def keep(out: str, name: str, use: str, cost: Cost, digest: str) -> None:
    """Add a line to OUT/log.jsonl: what was made, when, what it cost."""
    when = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    line = {"when": when, "artifact": name, "use": use, "seconds": round(cost.seconds, 3), "peak_bytes": cost.peak}
    with open(os.path.join(out, "log.jsonl"), "a", encoding="utf-8") as file:
        file.write(json.dumps(line | {"digest": digest}) + "\n")


def costs(out: str) -> Mapping[tuple[str, str], Cost]:
    """Return what artifacts cost, by name and digest, as OUT/log.jsonl has it; the last time counts."""
    found: dict[tuple[str, str], Cost] = {}
    with suppress(OSError), open(os.path.join(out, "log.jsonl"), encoding="utf-8", errors="replace") as file:
        for text in file:
            with suppress(ValueError, KeyError, TypeError, AttributeError):
                line: dict[str, Any] = json.loads(text)
                peak = line.get("peak_bytes")
                cost = Cost(float(line["seconds"]), None if peak is None else int(peak))
                found[str(line["artifact"]), str(line["digest"])] = cost
    return found


def cost_table(builds: Sequence[Build], out: str, form: str = "table") -> Table:
    """Return what artifacts cost when they were made; those that differ by their seed alone are one row.

    ``form`` is ``table``, for people, or ``jsonl``, which has bytes as numbers.
    """
    size_of: Any = human_bytes if form == "table" else int
    known, facts = costs(out), [store.peek(build.out) for build in builds]
    alike = groups([each["meta"] for each in facts], [build.label for build in builds])
    rows: list[list[Any]] = []
    for group in alike:
        found = [known.get((builds[i].name, facts[i]["digest"])) for i in group.members]
        seconds = spread([None if cost is None else cost.seconds for cost in found])
        peaks = [cost.peak for cost in found if cost is not None and cost.peak is not None]
        size = facts[group.members[0]]["size"]
        rows.append([
            group.name, builds[group.members[0]].step.name, len(group.members),
            *((None, None) if seconds is None else (seconds.mean, seconds.deviation)),
            size_of(max(peaks)) if peaks else None, size_of(size),
        ])  # fmt: skip
    columns = [
        Column("artifact"),
        Column("command"),
        Column("seeds", "right"),
        Column("seconds", "right", digits=".1f"),
    ]
    columns += [
        Column("+-", "right", key="deviation", digits=".1f"),
        Column("memory", "right"),
        Column("size", "right"),
    ]
    notes = [
        "seconds: of the run that made the artifact, mean and standard deviation over seeds; memory: the most that the "
        "process had, mapped files and compiled code included (on Linux, and of steps that ran alone)"
    ]
    return Table("Costs", columns, rows, notes)
