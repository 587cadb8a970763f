"""How much memory counting takes, and how to cut the work so that it stays within a budget. Arithmetic only.

What is planned: the padded ids and their positions, one dense row for each thread, the blocks of finished rows that
wait to be written, and a few numbers for each word. Python, NumPy and the compiled kernels come on top: about 200 MB.
Results never depend on a plan.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from embcli.errors import InputError, UsageError
from embcli.job import human_bytes

#: cells of a block of rows when memory is no concern: handing a block around costs little, and it stays in the cache
CELLS = 1 << 18
#: tokens (and walls) that a slice should have at least, or slicing costs more than counting
PLACES = 1 << 16
#: tokens and walls of a slice at most, so that places fit in 32 bits
MOST = 1 << 31


@dataclass(frozen=True)
class Plan:
    """How to cut the work.

    threads : how many work at a time.
    cells : most cells of a block of rows; a single row may have more.
    places : tokens and walls of a slice, without the surroundings that it shares with its neighbours.
    """

    threads: int
    cells: int
    places: int


@dataclass(frozen=True)
class Task:
    """What decides the memory that counting takes: words, window, bytes of a padded id, tokens plus rows."""

    size: int
    window: int
    itemsize: int
    places: int

    @property
    def _place(self) -> int:
        """Bytes for a token: its padded id and its position."""
        return self.itemsize + 4

    @property
    def least_cells(self) -> int:
        """Cells of the smallest block worth planning: two full rows, as merging reads one and writes one."""
        return 2 * self.size

    @property
    def least_places(self) -> int:
        """Tokens and walls of the smallest slice worth planning; all of them if there are fewer."""
        return min(self.places, max(PLACES, self.size, 8 * self.window))

    def fixed(self, threads: int, cells: int) -> int:
        """Return the bytes taken whatever the length of a slice."""
        held = threads + 3 if threads > 1 else 2  # blocks at work, waiting, and being written
        surroundings = (4 * self.window + 2) * self._place
        return 9 * threads * (self.size + 64) + 28 * held * cells + 80 * (self.size + 2) + surroundings

    @property
    def least(self) -> int:
        """Bytes below which nothing goes."""
        return self.fixed(1, self.least_cells) + self.least_places * self._place

    def plan(self, budget: int, threads: int) -> Plan | None:
        """Return the fastest plan within the budget, None if there is none.

        Fast is: all in one slice, or else slices that take at least half of the budget; then many threads; then large
        blocks.
        """
        for t, cells in self._choices(threads):
            places = min((budget - self.fixed(t, cells)) // self._place, MOST)
            if places >= self.places or places * self._place >= max(budget // 2, self.least_places * self._place):
                return Plan(t, cells, min(places, self.places))
        places = min((budget - self.fixed(1, self.least_cells)) // self._place, MOST, self.places)
        return Plan(1, self.least_cells, places) if places >= self.least_places else None

    def _choices(self, threads: int) -> Iterator[tuple[int, int]]:
        for t in range(threads, 0, -1):
            cells = CELLS
            while cells > self.least_cells:
                yield t, cells
                cells //= 4
            yield t, self.least_cells


def plan(task: Task, budget: int, threads: int, asked: bool) -> Plan:
    """Return a plan for the task.

    Parameters
    ----------
    task : what is to be counted.
    budget : bytes.
    threads : most threads to use.
    asked : whether the budget is the user's choice; else it is what the machine has.

    Raises
    ------
    UsageError, InputError : the budget is too small; the message names the smallest that works.
    """
    found = task.plan(budget, threads)
    if found is not None:
        return found
    least = f"{-(-task.least // 100_000) / 10:.1f}MB"
    if asked:
        raise UsageError(f"--memory: {human_bytes(budget)} is too little for {task.size:,} words; give {least} or more")
    raise InputError(f"cooc needs {least} of memory for {task.size:,} words, {human_bytes(budget)} may be used")
