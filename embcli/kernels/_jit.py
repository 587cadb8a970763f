"""The one place that compiles: the decorators of every kernel, and where compiled code is kept.

Numba's cache does not see edits in other files, nor bounds checking, so the cache folder is named by a digest of all
kernel sources and by that switch. Without a writable folder kernels are compiled anew in each process.
"""

from __future__ import annotations

import hashlib
import os
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


def _user_cache() -> Path:
    """Return the folder for compiled kernels: EMBCLI_CACHE, or the user's cache folder as the system names it."""
    if own := os.environ.get("EMBCLI_CACHE"):
        return Path(own)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", "~")).expanduser() / "embcli"
    if sys.platform == "darwin":
        return Path("~/Library/Caches/embcli").expanduser()
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "embcli"


def _cache_folder() -> Path | None:
    """Return a writable folder for this version of the kernels, or None."""
    digest = hashlib.sha256()
    for source in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(source.name.encode() + source.read_bytes())
    checked = "-checked" if os.environ.get("NUMBA_BOUNDSCHECK", "0") not in ("", "0") else ""
    try:
        folder = _user_cache() / f"kernels-{digest.hexdigest()[:16]}{checked}"
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / f".probe{os.getpid()}"
        probe.touch()
        probe.unlink()
    except (OSError, RuntimeError):
        return None
    return folder


#: folder of compiled kernels; None: there is no writable one
CACHE = _cache_folder()
if CACHE is not None:
    os.environ["NUMBA_CACHE_DIR"] = str(CACHE)


def _numba_alone() -> Any:
    """Import Numba without SciPy, which it wants for linear algebra in kernels only: 0.4 s less a run."""
    hidden = [name for name in ("scipy", "scipy.linalg", "scipy.linalg.cython_blas") if name not in sys.modules]
    sys.modules.update(dict.fromkeys(hidden))  # type: ignore[arg-type]
    try:
        import numba  # reads NUMBA_CACHE_DIR
        import numba.core.event
        import numba.np.arraymath
    finally:
        for name in hidden:
            del sys.modules[name]
    return numba


numba = _numba_alone()


class Compiling(UserWarning):
    """Says once that what follows takes longer than it will the next time."""


class _Listener(numba.core.event.Listener):  # type: ignore[misc,name-defined]
    """Warns when the first kernel is compiled, which is not when it is found in the cache."""

    def __init__(self) -> None:
        self._said = False

    def on_start(self, event: Any) -> None:
        if not self._said:
            self._said = True
            why = "first run only" if CACHE is not None else (
                "in every run: no folder can be written to keep them; set EMBCLI_CACHE to one")  # fmt: skip
            warnings.warn(f"compiling kernels, {why}", Compiling, stacklevel=2)

    def on_end(self, event: Any) -> None:
        """Do nothing."""


numba.core.event.register("numba:compile", _Listener())


def kernel(f: F) -> F:
    """Compile a loop over arrays: exact float rules, no GIL, division by zero gives inf as in NumPy."""
    return numba.njit(cache=CACHE is not None, nogil=True, error_model="numpy")(f)  # type: ignore[no-any-return,return-value,unused-ignore]


def inner_kernel(f: F) -> F:
    """Compile as ``kernel`` does, without counting references: for what is called from kernels, or allocates nothing.

    Arrays handed from one kernel to another are counted atomically at each call that is not inlined; in a loop over
    words that took a third of the time. The caller keeps the arrays alive. Nothing in here may make an array.
    """
    options = {"nogil": True, "error_model": "numpy", "_nrt": False}
    return numba.njit(cache=CACHE is not None, **options)(f)  # type: ignore[no-any-return,return-value,unused-ignore]


def sum_kernel(f: F) -> F:
    """Compile as ``kernel`` does, but let sums be taken in another order, so that loops over rows use vectors.

    The order is that of the compiled code: the same for the same processor, whatever the thread. NaN stays NaN.
    """
    options = {"nogil": True, "error_model": "numpy", "fastmath": {"reassoc", "contract", "nsz"}}
    return numba.njit(cache=CACHE is not None, **options)(f)  # type: ignore[no-any-return,return-value,unused-ignore]
