"""Build the artifacts of a plan that are not up to date, in order or several at a time, and log what was done.

Steps run by ``execute``, in this process or where ``run`` is told, so a step means the same here and on the command
line. One that fails stops what needs it; the rest is still built, and the first failure is raised at the end.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import Any, Protocol

from embcli import stop
from embcli.artifacts import store
from embcli.artifacts.identify import show
from embcli.errors import EmbcliError, InputError
from embcli.job import Job, free_memory
from embcli.pipeline.cells import Build, enough
from embcli.pipeline.costs import Cost, Watch, keep
from embcli.pipeline.execute import Outcome, execute
from embcli.pipeline.freshness import Records
from embcli.pipeline.plan import Plan, Report
from embcli.pipeline.yamlfile import within
from embcli.report.description import phrase
from embcli.report.summary import sentence
from embcli.spec import Step

#: the temporary file of an artifact, with the number of the process that writes it (artifacts/write.py)
_TEMPORARY = re.compile(r"\.(.+)\.npz\.([0-9]{1,9})(?:\.[0-9]+)?\.tmp")


#: says how ``execute`` is to run a step, for as long as the step runs
Place = Callable[[Step, Job], AbstractContextManager[dict[str, Any]]]


def here(step: Step, job: Job) -> AbstractContextManager[dict[str, Any]]:
    """Let steps run in this process: see ``Place``."""
    return nullcontext({})


class Talk(Protocol):
    """Where one step's lines and progress go."""

    def say(self, text: str) -> None:
        """Print a line."""

    def detail(self, text: str) -> None:
        """Print a line for those who want to know more."""

    def warn(self, text: str) -> None:
        """Print a warning."""

    def progress(self, done: float, total: float, unit: str) -> None:
        """Show how far the step is."""

    def epoch(self, event: dict[str, Any]) -> None:
        """Say how an epoch of training went."""


def check(plan: Plan) -> None:
    """Raise before anything is built if a file that a step or a report reads is no artifact of the right kind."""
    seen = set()
    readers: list[Build | Report] = [*plan.builds, *plan.reports]
    for reader in readers:
        for each in reader.inputs:
            if reader.step.reads != ("text",) and isinstance(each, str) and (each, reader.step.name) not in seen:
                kind = store.read(each, reader.step.reads, command=reader.step.name).kind
                seen.add((each, reader.step.name))
                if len(reader.inputs) == 1 and isinstance(reader, Build):
                    with within(f"step {reader.label}"):
                        enough(reader.step, [kind], show(each))


def survey(plan: Plan, force: bool = False) -> dict[Build, bool]:
    """Return which artifacts are up to date as things stand; one whose input is not counts as not."""
    records, digests = Records(plan.experiment.out, force), dict[Build, str]()
    for build in plan.builds:
        if all(each in digests for each in build.needs):
            digest = records.up_to_date(build, records.key(build, digests))
            if digest is not None:
                digests[build] = digest
    return {build: build in digests for build in plan.builds}


def run(
    plan: Plan,
    talk: Callable[[str], Talk],
    *,
    force: bool = False,
    jobs: int = 1,
    threads: int = 1,
    place: Place = here,
) -> None:
    """Build what is not up to date.

    Parameters
    ----------
    plan : whose artifacts to build.
    talk : returns where the lines of the artifact of this name go.
    force : build everything, up to date or not.
    jobs : steps to run at the same time. Artifacts do not depend on it.
    threads : worker threads of each step.  place : where each step runs.

    Raises
    ------
    EmbcliError : a step failed (the first in the order of the plan); the text names it, the type is that of the step.
    """
    check(plan)
    out = plan.experiment.out
    try:
        os.makedirs(os.path.join(out, ".run", "steps"), exist_ok=True)
    except OSError as e:
        raise InputError(f"{show(out)}: cannot be made: {e.strerror or e}") from None
    tidy(plan)
    records = Records(out, force)
    state = _Run(plan.builds, talk, records, threads, place)
    if jobs == 1:
        state.serial()
    else:
        state.parallel(jobs)
    records.save()
    state.complain()


def tidy(plan: Plan) -> None:
    """Remove what killed processes left of the plan's artifacts: temporary files whose writer is not alive.

    Machines that share the folder cannot see each other's processes; do not run there on two at the same time.
    """
    names = {build.name for build in plan.builds}
    with suppress(OSError), os.scandir(plan.experiment.out) as entries:
        for entry in entries:
            found = _TEMPORARY.fullmatch(entry.name)
            if found and found[1] in names and not _alive(int(found[2])):
                with suppress(OSError):
                    os.unlink(entry.path)


def _alive(process: int) -> bool:
    """Say whether a process is alive; if that cannot be known, it is."""
    if os.name != "posix":
        return True
    try:
        os.kill(process, 0)  # sends nothing
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


class _Run:
    """The state of one run; only the main thread changes it."""

    def __init__(
        self, builds: Sequence[Build], talk: Callable[[str], Talk], records: Records, threads: int, place: Place
    ) -> None:
        self.builds, self.talk, self.records, self.threads, self.place = builds, talk, records, threads, place
        self.memory: int | None = None
        self.digests: dict[Build, str] = {}
        self.keys: dict[Build, str] = {}
        self.failures: dict[Build, EmbcliError | None] = {}  # None: what it needs has failed

    def serial(self) -> None:
        """Build one after another."""
        for build in self.builds:
            if self._stale(build):
                self._settle(build, lambda: self._make(build))  # noqa: B023 - called at once

    def parallel(self, jobs: int) -> None:
        """Build so many at a time, each as soon as what it needs is there."""
        self.memory = free_memory() // 2 // jobs
        waiting, running = list(self.builds), dict[Future[tuple[Outcome, Cost]], Build]()
        pool = ThreadPoolExecutor(jobs)
        try:
            while waiting or running:
                settled = self.digests.keys() | self.failures.keys()
                ready = [build for build in waiting if settled.issuperset(build.needs)]
                for build in ready[: jobs - len(running)]:
                    waiting.remove(build)
                    if self._stale(build):
                        running[pool.submit(self._make, build)] = build
                for future in wait(running, return_when=FIRST_COMPLETED).done if running else ():
                    self._settle(running.pop(future), future.result)
        finally:
            pool.shutdown(wait=True, cancel_futures=True)

    def _stale(self, build: Build) -> bool:
        """Return whether an artifact must be made; if it is up to date, say so, if what it needs failed, leave it."""
        stop.check()
        if build in self.failures:
            return False
        with within(f"step {build.label}"):
            self.keys[build] = self.records.key(build, self.digests)
        digest = self.records.up_to_date(build, self.keys[build])
        if digest is None:
            return True
        self.digests[build] = digest
        self.talk(build.label).say("up to date")
        return False

    def _make(self, build: Build) -> tuple[Outcome, Cost]:
        """Run the step of one artifact; return what it made and what it cost."""
        talk, watch = self.talk(build.label), Watch(alone=self.memory is None)
        scratch = os.path.dirname(build.out)
        job = Job(build.seed, self.threads, self.memory, scratch, talk.progress, talk.say, talk.warn, talk.epoch)
        with self.place(build.step, job) as how:
            outcome = execute(build.step, build.paths, build.params, job, build.out, **how)
        cost = watch.cost()
        talk.say(f"{sentence(outcome.kind, outcome.meta)}, {cost.seconds:.1f} s")
        talk.detail(f"options: {phrase(outcome.meta['options'])}, seed {outcome.meta['seed']}")
        talk.detail(f"digest: {outcome.digest}")
        return outcome, cost

    def _settle(self, build: Build, result: Callable[[], tuple[Outcome, Cost]]) -> None:
        """Write down what a step made, or that it failed."""
        try:
            outcome, cost = result()
        except EmbcliError as e:
            self._failed(build, type(e)(f"step {build.label}: {e}"))
            return
        except (OSError, MemoryError) as e:
            reason = str(e) or ("out of memory" if isinstance(e, MemoryError) else type(e).__name__)
            self._failed(build, InputError(f"step {build.label}: {reason}"))
            return
        self.digests[build] = outcome.digest
        keep(os.path.dirname(build.out), build.name, build.step.name, cost, outcome.digest)
        if self.records.key(build, self.digests) == self.keys[build]:
            self.records.keep(build, self.keys[build], outcome.digest)
        else:
            self.talk(build.label).warn("an input changed while it was read; it will be built again next time")

    def _failed(self, build: Build, error: EmbcliError) -> None:
        """Remember a failure, and leave out what needs the artifact."""
        self.failures[build] = error
        for other in self.builds:
            if other not in self.failures and not self.failures.keys().isdisjoint(other.needs):
                self.failures[other] = None
        if len(self.failures) + len(self.digests) < len(self.builds):
            self.talk(build.label).say("failed; what does not need it is still built")

    def complain(self) -> None:
        """Raise the first failure in the order of the plan."""
        for build in self.builds:
            error = self.failures.get(build)
            if error is not None:
                raise error
