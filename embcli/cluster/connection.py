"""Connect to a Dask cluster and run tasks on it: one clean line for each way in which a cluster may fail.

``Cluster.map`` is all that most commands need. Scheduling, transport and retries are Dask's.
"""

from __future__ import annotations

import itertools
import os
import shutil
import tempfile
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

from embcli import __version__
from embcli.artifacts import store
from embcli.artifacts.joined import Joined
from embcli.artifacts.schema import Artifact
from embcli.artifacts.zipwrite import combine
from embcli.errors import EmbcliError, InputError, UsageError
from embcli.job import Job
from embcli.text.corpus import size_of

T = TypeVar("T")
R = TypeVar("R")

#: bytes that Python, NumPy and the compiled kernels take in a worker
BESIDES = 250_000_000
#: what Dask raises when the scheduler is gone
_LOST = ("CancelledError", "FutureCancelledError", "CommClosedError", "FutureCancelled", "ClosedClientError")


class LoneError(UsageError):
    """What is asked for is done on one machine only; ``reason`` says why."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"{reason}; leave --cluster out")
        self.reason = reason


class Cluster:
    """A scheduler with workers.

    name : as given.  client : Dask's.  job : whose progress shows.  folder : that all workers see, for parts.
    threads : tasks that run at a time.  budget : bytes that one task may plan to use.
    """

    def __init__(self, name: str, client: Any, job: Job, folder: str) -> None:
        self.name, self.client, self.job, self.folder = name, client, job, folder
        workers = client.run(room).values()
        self.threads = sum(threads for threads, _ in workers)
        free = min((limit or 1 << 32) / threads for threads, limit in workers)
        self.budget = max(int(free * 0.6) - BESIDES, 1 << 26)

    def slots(self) -> list[str]:
        """Return the addresses of the workers, each as often as it has threads, in turn."""
        with self.failing():
            found = [(i, where) for where, threads in self.client.nthreads().items() for i in range(threads)]
        return [where for _, where in sorted(found)]

    def path(self, name: str) -> str:
        """Return the path of a part."""
        return os.path.join(self.folder, name)

    def map(self, work: Callable[..., R], items: Sequence[T], *more: Any, unit: str, sizes: Any = None) -> list[R]:
        """Return work(item, *more) of all items, in their order.

        ``unit`` and ``sizes`` are what the progress counts: items, or what each of them weighs.
        """
        return [*self.each(work, items, *more, unit=unit, sizes=sizes)]

    def each(self, work: Callable[..., R], items: Sequence[T], *more: Any, unit: str, sizes: Any = None) -> Iterator[R]:
        """Yield what ``map`` returns as soon as it, and all before it, are there."""
        with self.failing():
            futures = [self.client.submit(work, item, *more, pure=False) for item in items]
        yield from self.watch(futures, sizes if sizes is not None else [1] * len(items), unit)

    def watch(self, futures: list[Any], sizes: Sequence[float], unit: str) -> Iterator[Any]:
        """Yield the results of futures, which are forgotten then, in order, as soon as they are there."""
        from distributed import as_completed

        number = {future.key: i for i, future in enumerate(futures)}
        done, ready, upto, total = 0.0, set(), 0, float(sum(sizes))
        try:
            with self.failing():
                for future in as_completed(futures, loop=self.client.loop):
                    if future.status != "finished":
                        future.result()
                    done += sizes[number[future.key]]
                    ready.add(number[future.key])
                    del future
                    self.job.progress(done, total, unit)
                    while upto in ready:
                        yield futures[upto].result()
                        futures[upto] = None
                        upto += 1
        except BaseException:
            with suppress(Exception):
                self.client.cancel([future for future in futures if future is not None])
            raise

    def submit(self, work: Callable[..., Any], *arguments: Any, near: str | None = None) -> Any:
        """Return the future of work(*arguments), whose result stays on a worker; arguments may be futures.

        near : address of the worker that should do it, while it lives.
        """
        where = {} if near is None else {"workers": [near], "allow_other_workers": True}
        with self.failing():
            return self.client.submit(work, *arguments, pure=False, **where)

    def gather(self, futures: Any) -> Any:
        """Return the results of futures."""
        with self.failing():
            return self.client.gather(futures)

    @contextmanager
    def failing(self) -> Iterator[None]:
        """Turn what Dask raises into one clean line."""
        try:
            yield
        except EmbcliError:
            raise
        except BaseException as e:
            kind = type(e).__name__
            if kind == "KilledWorker":
                task = str(getattr(e, "task", "a task")).split("-")[0]
                raise InputError(
                    f"--cluster {self.name}: one worker after the other ended while it worked on {task}, most likely "
                    "for want of memory; give workers more of it, or fewer threads each"
                ) from None
            if kind in _LOST:
                raise InputError(
                    f"--cluster {self.name}: the scheduler was lost; nothing was written. Start it again, and the run"
                ) from None
            if isinstance(e, ImportError | AttributeError) and "embcli" in str(e):
                raise InputError(
                    f"--cluster {self.name}: a worker that came later has another embcli than this one, {__version__} "
                    f"({e}); install the same on all machines"
                ) from None
            raise

    def file_of(self, artifact: Artifact, name: str) -> str:
        """Return the path under which workers find an artifact that was read; a copy where it came from a pipe."""
        path = os.path.abspath(artifact.path)
        if not os.path.isfile(path) or store.digest(path) != artifact.digest:
            path = self.path(name + ".npz")
            store.write(artifact, path, artifact.meta)
        self.check_paths([path])
        return path

    def write(self, artifact: Artifact, path: str, meta: Mapping[str, Any]) -> str:
        """Write an artifact as ``store.write`` does; arrays that lie in files are copied into it by the workers."""
        return store.write(artifact, path, meta, self._copied)

    def _copied(self, path: str, members: Sequence[tuple[Joined, int]]) -> list[int]:
        """Let workers write the parts of members into a file, from a place on each; return the CRC of each member."""
        pieces = [[(piece, start + at) for at, piece in member.pieces()] for member, start in members]
        every = [piece for each in pieces for piece in each]
        sizes = [len(piece) * piece.dtype.itemsize for piece, _ in every]
        found = self.each(copy_piece, every, path, unit="bytes", sizes=sizes)
        crcs = []
        for each in pieces:
            whole = 0
            for crc, size in itertools.islice(found, len(each)):
                whole = combine(whole, crc, size)
            crcs.append(whole)
        return crcs

    def check_paths(self, paths: Sequence[str]) -> None:
        """Raise InputError unless all workers see the folder for parts, and the same files as we do."""
        mark = self.path(uuid.uuid4().hex)
        with open(mark, "xb"):
            pass
        sizes = {path: size_of(path) for path in paths}
        with self.failing():
            found = self.client.run(unseen, sizes, mark)
        for worker, what in sorted(found.items()):
            if what is not None:
                where = os.path.dirname(self.folder) if what == mark else what
                raise InputError(
                    f"{where}: cannot be seen by the worker {worker}; inputs and the folder of -o must have the same "
                    "path on all machines (a network file system)"
                )


def room(dask_worker: Any) -> tuple[int, int]:
    """Return the threads of a worker, and the bytes that it may take, 0 if nobody says. Runs on each worker."""
    return dask_worker.state.nthreads, int(dask_worker.memory_manager.memory_limit or 0)


def unseen(sizes: dict[str, int | None], mark: str) -> str | None:
    """Return the first path that is not here or has another size, None if there is none. Runs on each worker."""
    return next((path for path, size in (sizes | {mark: 0}).items() if size_of(path) != size), None)


def copy_piece(piece: tuple[Joined, int], path: str) -> tuple[int, int]:
    """Write a part of a member into a file; return its CRC and its bytes."""
    joined, at = piece
    return joined.copy_to(path, at)


@contextmanager
def place(where: str, client: Any, job: Job) -> Iterator[Cluster]:
    """Yield the cluster to work on for a job, with a folder for parts beside its output, which is removed then."""
    folder = tempfile.mkdtemp(prefix=".embcli-parts-", dir=os.path.abspath(job.scratch or os.getcwd()))
    try:
        yield Cluster(where, client, job, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
