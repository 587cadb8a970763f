"""What goes wrong on a cluster, as functions that a worker can import; and the processes of one on loopback."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from conftest import ROOT


def dies_once(work: Callable[..., Any], flag: str, *arguments: Any) -> Any:
    """Return work(*arguments), but let the first process that comes here be killed in the middle of it."""
    try:
        os.close(os.open(flag, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return work(*arguments)
    threading.Timer(0.02, os.kill, (os.getpid(), signal.SIGKILL)).start()
    work(*arguments)
    time.sleep(60)
    raise AssertionError("nobody killed this process")


def kills(pid: int, *arguments: Any) -> None:
    """Kill another process."""
    os.kill(pid, signal.SIGKILL)
    time.sleep(60)


class Processes:
    """A scheduler and its workers. ``address`` is the scheduler's."""

    def __init__(self, folder: Path, workers: int, path: str = "") -> None:
        self.folder, self.path, self.running = folder, path, []
        file = folder / "scheduler.json"
        self.scheduler = self._start("scheduler", "--port", "0", "--no-dashboard", "--scheduler-file", str(file))
        self.address = json.loads(_when_there(file))["address"]
        self.add(workers)

    def add(self, workers: int = 1) -> None:
        """Start workers, and wait until the scheduler knows them."""
        from distributed import Client

        options = ("--nthreads", "1", "--no-nanny", "--no-dashboard", "--local-directory", str(self.folder))
        with Client(self.address, timeout=100, set_as_default=False) as client:
            known = len(client.nthreads())
            for _ in range(workers):
                self._start("worker", self.address, *options)
            client.wait_for_workers(known + workers, timeout=100)

    def _start(self, kind: str, *options: str) -> subprocess.Popen[bytes]:
        paths = [*([self.path] if self.path else []), str(ROOT), str(ROOT / "tests")]
        settings = os.environ | {"PYTHONPATH": os.pathsep.join(paths), "OMP_NUM_THREADS": "1"}
        with open(self.folder / f"{kind}.log", "ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", f"distributed.cli.dask_{kind}", "--host", "127.0.0.1", *options],
                stdout=log,
                stderr=log,
                env=settings,
                cwd=self.folder,
            )
        self.running.append(process)
        return process

    def stop(self) -> None:
        """End all processes."""
        for process in self.running:
            process.kill()
        for process in self.running:
            process.wait()


def _when_there(file: Path) -> str:
    for _ in range(1200):
        try:
            text = file.read_text(encoding="utf-8")
            json.loads(text)
            return text
        except (OSError, ValueError):
            time.sleep(0.05)
    raise AssertionError("no scheduler came up")
