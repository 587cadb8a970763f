"""Atomic numbers for threads that run one kernel together, without knowing how many they are.

Work is claimed by adding to a counter and announced as done by adding to another; whoever finds nothing left waits
until all is done. No thread counts on another to come: one alone does everything.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]

from embcli.kernels._jit import inner_kernel, numba

_I64 = ir.IntType(64)
#: looks before the thread lets another one run
SPINS = 500


@numba.extending.intrinsic
def fetch_add(typing: Any, address: Any, value: Any) -> Any:
    """Add to the int64 at an address, atomically; return what was there."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.atomic_rmw("add", builder.inttoptr(args[0], _I64.as_pointer()), args[1], "seq_cst")

    return numba.types.int64(numba.types.uint64, numba.types.int64), emit


@numba.extending.intrinsic
def load_now(typing: Any, address: Any) -> Any:
    """Return the int64 at an address as other threads left it."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.load_atomic(builder.inttoptr(args[0], _I64.as_pointer()), "seq_cst", 8)

    return numba.types.int64(numba.types.uint64), emit


@numba.extending.intrinsic
def yield_now(typing: Any) -> Any:
    """Let another thread run."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        name, kind = "sched_yield", ir.FunctionType(ir.IntType(32), [])
        builder.call(numba.core.cgutils.get_or_insert_function(builder.module, kind, name), [])
        return context.get_dummy_value()

    return numba.types.void(), emit


@inner_kernel
def wait_for(address, goal):  # type: ignore[no-untyped-def]
    """Wait until the int64 at the address is ``goal`` or more."""
    looks = 0
    while load_now(address) < goal:
        looks += 1
        if looks > SPINS:
            yield_now()
