"""What a person sees of training: a live table on a terminal, else one line an epoch. Times are taken here alone."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from typing import Any

from embcli.report.tables import render
from embcli.report.training import epoch_line, epoch_table


class Epochs:
    """Listens to a trainer (``Job.epoch``).

    Parameters
    ----------
    say : prints a line; silent with --quiet.
    live : draw a table that changes; a terminal that cannot do that gets lines.

    ``rows`` holds a record of each finished epoch: epoch, epochs, loss, lr, words, share (of the epoch), seconds (since
    the start), words_per_second (of the epoch, without what was measured after it), left (seconds, estimated), heldout
    where there is any, and eval, the figures by file. A trainer may count something else than words and measure
    something else than a loss: ``unit`` and ``measure`` then name these, and the keys are called after them. One that
    counts in steps gives each report a ``label``; ``perplexity`` says that the loss is to be shown as one too.
    """

    def __init__(self, say: Callable[[str], None], live: bool) -> None:
        self.rows: list[dict[str, Any]] = []
        self._say, self._started = say, time.monotonic()
        self._begun, self._trained = self._started, self._started  # when the epoch began, and when it was read last
        self._first: float | None = None  # share of all epochs that was done at the start
        self._share = 0.0
        self._encoding = sys.stderr.encoding or "ascii"  # before the display stands in for the stream
        self._screen = _open() if live else None
        self.live = self._screen is not None

    def hear(self, event: dict[str, Any]) -> None:
        """Take one report."""
        now = time.monotonic()
        if not event["words"]:
            self._begun = now
        if not event["finished"]:
            self._trained = now
        row = self._row(event, now)
        if event["finished"]:
            self.rows.append(row)
            if not self.live:
                self._say(epoch_line(row))
        if self._screen is not None:
            self._draw(None if event["finished"] else row)

    def _row(self, event: dict[str, Any], now: float) -> dict[str, Any]:
        done = ((event["epoch"] - 1) + event["words"] / max(event["of"], 1)) / max(event["last"], 1)
        if self._first is None:
            self._first = done
        self._share = min(max(self._share, done), 1.0)
        spent, gained = now - self._started, self._share - self._first
        speed = event["words"] / max(self._trained - self._begun, 1e-9) if event["words"] else None
        unit, measure = event.get("unit", "words"), event.get("measure", "loss")
        row = {"epoch": event["epoch"], "epochs": event["epochs"], measure: event["loss"], "lr": event["lr"]}
        row |= {unit: event["words"], "share": event["words"] / max(event["of"], 1)}
        row[f"{unit}_per_second"] = speed and round(speed)
        row |= {"seconds": round(spent, 3), "left": round(spent * (1 - self._share) / gained, 1) if gained else None}
        row |= {key: event[key] for key in ("unit", "measure", "label", "perplexity", "heldout") if key in event}
        return row | {"eval": event.get("eval", {})}

    def _draw(self, current: dict[str, Any] | None) -> None:
        """Draw the epochs that fit on the screen, the one that runs last."""
        from rich.text import Text

        assert self._screen is not None
        console = self._screen.console
        rows = [*self.rows, *([current] if current else [])][-max(console.height - 6, 1) :]
        text = render(
            epoch_table(rows), terminal=True, width=console.width, color=not os.environ.get("NO_COLOR"),
            encoding=self._encoding,
        )  # fmt: skip
        self._screen.update(Text.from_ansi(text.rstrip("\n")), refresh=True)

    def close(self) -> None:
        """Leave the table as it is."""
        if self._screen is not None:
            self._screen.stop()
            self._screen = None
            self.live = False


def _open() -> Any:
    """Return a live display on stderr that draws only when told, None if the terminal cannot redraw."""
    from rich.console import Console
    from rich.live import Live

    console = Console(file=sys.stderr)
    if not console.is_terminal or console.is_dumb_terminal:
        return None
    screen = Live(console=console, auto_refresh=False)
    screen.start()
    return screen
