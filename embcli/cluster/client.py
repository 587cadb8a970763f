"""Connect to a Dask cluster: one clean line for each way in which there may be none. Work there: connection.py."""

from __future__ import annotations

import gc
import logging
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from embcli import __version__
from embcli.errors import InputError

#: seconds to wait for a scheduler, and for a first worker
PATIENCE = 30


@contextmanager
def connect(where: str, note: Callable[[str], None]) -> Iterator[Any]:
    """Yield Dask's client of ``--cluster``: ADDRESS of a scheduler, or local:N for N processes on this machine.

    note : is told the dashboard's address. Raises InputError, one line, if there is no scheduler, no worker, a worker
    without this version of embcli, or the extra is missing.
    """
    try:
        import distributed
    except ImportError:
        raise InputError(
            "--cluster needs Dask, which is not installed: pip install 'embcli[cluster]' (here and on all workers)"
        ) from None
    gc.enable()  # Dask's client is made of cycles, and a run may be long
    for name in ("distributed", "distributed.client", "asyncio"):  # Dask gives the second a level of its own
        logging.getLogger(name).setLevel(logging.CRITICAL)
    with ExitStack() as stack:
        address: Any = where
        if where.startswith("local:"):
            address = stack.enter_context(
                distributed.LocalCluster(
                    n_workers=int(where[6:]),
                    threads_per_worker=1,
                    dashboard_address=":0",
                    silence_logs=logging.CRITICAL,
                )
            )
        client = stack.enter_context(_client(where, address))
        _check_workers(where, client)
        link = client.dashboard_link
        if link:
            note(f"cluster {where}: dashboard at {link}")
        yield client


def _client(where: str, address: Any) -> Any:
    from distributed import Client

    try:
        return Client(address, timeout=PATIENCE, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as e:
        cause = str(e).splitlines()[0] if str(e) and isinstance(e, ValueError) else "nobody answers"
        raise InputError(
            f"--cluster {where}: no scheduler there ({cause}); start one with "
            "dask scheduler, which prints the address to give here and to dask worker"
        ) from None


def _check_workers(where: str, client: Any) -> None:
    """Raise InputError unless there are workers, all with this version of embcli."""
    try:
        client.wait_for_workers(1, timeout=PATIENCE)
    except TimeoutError:
        raise InputError(f"--cluster {where}: the scheduler has no workers; start some: dask worker {where}") from None
    import cloudpickle

    from embcli.cluster import version

    cloudpickle.register_pickle_by_value(version)
    try:
        found = client.run(version.version)
    finally:
        cloudpickle.unregister_pickle_by_value(version)
    for worker, there in sorted(found.items()):
        if there != __version__:
            what = f"embcli {there}" if there else "no embcli"
            raise InputError(
                f"--cluster {where}: the worker {worker} has {what}, this is {__version__}; install the same on all "
                "machines"
            )
