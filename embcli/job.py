"""What a running step is given besides its inputs and options: seed, threads, memory, progress, a pool.

Standard library only: every layer may import it. It decides nothing about results: a step must give the same
bytes whatever its job says about threads, memory or progress.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

from embcli import stop
from embcli.errors import InputError

T = TypeVar("T")
R = TypeVar("R")


def _silent(done: float, total: float, unit: str) -> None:
    """Show no progress."""


def _mute(text: str) -> None:
    """Say nothing."""


def _unheard(event: dict[str, Any]) -> None:
    """Show no epoch."""


#: what a trainer says of an epoch: its number, how many are planned, after which one it stops, words read in it so far
#: and when it is done, mean loss so far and rate (None at the start), whether it is finished; then also "heldout" (a
#: loss) and "eval" (name -> figure). "unit" says what is counted if not words, "measure" what the loss is called,
#: "label" what the epoch is called, "perplexity" that the loss is the logarithm of one
EPOCH = ("epoch", "epochs", "last", "words", "of", "loss", "lr", "finished")


@dataclass
class Job:
    """The circumstances of one run.

    Parameters
    ----------
    seed : the only source of randomness; ``seed_given`` says that it was asked for, and is no default.
    threads : worker threads, >= 1. Results never depend on it.
    memory : bytes that the step may plan to use; None means half of what is free.
    scratch : folder for unlinked temporary files; None means the system's.
    progress : called with (done, total, unit), often; total 0 when it is not known.
    note, warn : one line each for the person who waits; the command line decides whether it is shown.
    epoch : called by trainers several times a second and at the end of an epoch with what stands in ``EPOCH``.
    sources : filled by steps that read text: one record {"kind", "digest"} an input.
    """

    seed: int = 0
    threads: int = 1
    memory: int | None = None
    scratch: str | None = None
    progress: Callable[[float, float, str], None] = _silent
    note: Callable[[str], None] = _mute
    warn: Callable[[str], None] = _mute
    epoch: Callable[[dict[str, Any]], None] = _unheard
    sources: list[dict[str, Any]] = field(default_factory=list)
    seed_given: bool = False

    def map(self, work: Callable[[T], R], items: Iterable[T], ahead: int = 2) -> Iterator[R]:
        """Yield work(item) in the order of the items, computed on the job's threads.

        At most ``threads + ahead`` results exist at a time, so memory stays bounded. One thread runs in the caller,
        without a pool. An exception, Ctrl-C included, cancels what has not started.
        """
        if self.threads == 1:
            for item in items:
                stop.check()
                yield work(item)
            return
        waiting: deque[Future[R]] = deque()
        pool = ThreadPoolExecutor(self.threads)
        try:
            for item in items:
                stop.check()
                waiting.append(pool.submit(work, item))
                if len(waiting) >= self.threads + ahead:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)

    @contextmanager
    def crew(self) -> Iterator[Callable[[Callable[[T], R], Iterable[T]], Iterator[R]]]:
        """Yield a ``map`` whose threads stay until the end: for thousands of short calls, all results at once."""
        if self.threads == 1:
            yield self.map
            return
        pool = ThreadPoolExecutor(self.threads)

        def run(work: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
            stop.check()
            return pool.map(work, items)

        try:
            yield run
        finally:
            pool.shutdown(wait=True, cancel_futures=True)

    @property
    def budget(self) -> int:
        """Bytes that the step may plan to use."""
        return self.memory if self.memory is not None else free_memory() // 2

    def need(self, nbytes: int, what: str) -> None:
        """Raise InputError if ``nbytes`` for ``what`` cannot be had, before any of it is taken."""
        free = free_memory()
        if nbytes > free:
            raise InputError(f"{what} needs {human_bytes(nbytes)} of memory, {human_bytes(free)} are free")


def free_memory() -> int:
    """Return the bytes of memory that can be had without swapping, the container's limit included."""
    free = 1 << 62
    try:
        with open("/proc/meminfo", encoding="ascii") as f:
            free = next(int(line.split()[1]) * 1024 for line in f if line.startswith("MemAvailable"))
        with (
            open("/sys/fs/cgroup/memory.max", encoding="ascii") as f,
            open("/sys/fs/cgroup/memory.current", encoding="ascii") as g,
        ):
            limit = f.read().strip()
            if limit != "max":
                free = min(free, max(int(limit) - int(g.read()), 0))
    except (OSError, StopIteration, ValueError):
        if free == 1 << 62 and hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
            free = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    return free


def human_count(n: float) -> str:
    """Return a number with a unit of size: 12.3 M."""
    for size, name in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if n >= size:
            return f"{n / size:.1f}{name}"
    return f"{n:.0f}"


def human_time(seconds: float) -> str:
    """Return a duration as a person reads it: 3.4 s, 75 s, 1:02:05."""
    if seconds < 100:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}"


def counted(n: int, noun: str) -> str:
    """Return a number with its noun: 1 row, 2,000 rows."""
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def human_bytes(n: float) -> str:
    """Return bytes as a person reads them: 1.5 GB. Units are powers of 1000."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if n < 1000 or unit == "GB":
            return f"{n:,.0f} {unit}" if unit == "bytes" or n >= 100 else f"{n:,.1f} {unit}"
        n /= 1000
    raise AssertionError
