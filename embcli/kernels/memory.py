"""Loads from addresses, and the lowest set bit: single instructions that arrays do not give.

A kernel that hands arrays from one function to another counts references to them, atomically, at every call that is not
inlined; addresses cost nothing, and a load of 8 bytes need not be aligned. Nothing checks them: whoever uses them keeps
the array alive, and has 16 bytes to spare behind what is read. Little-endian processors only, as in ``typetable``.
"""

from typing import Any

from embcli.kernels._jit import numba

_U8, _U64 = numba.types.uint8, numba.types.uint64


def _loader(kind: Any) -> Any:
    """Return the code generator of a load of one number of this kind."""

    def load(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = builder.inttoptr(args[0], context.get_value_type(kind).as_pointer())
        return builder.load(pointer, align=1)

    return load


@numba.extending.intrinsic
def byte_at(typing: Any, address: Any) -> Any:
    """Return the byte at an address (uint64)."""
    return _U8(_U64), _loader(_U8)


@numba.extending.intrinsic
def word_at(typing: Any, address: Any) -> Any:
    """Return the 8 bytes from an address (uint64) on, the first one lowest."""
    return _U64(_U64), _loader(_U64)


@numba.extending.intrinsic
def zeros(typing: Any, x: Any) -> Any:
    """Return how many bits below the lowest one of ``x`` (uint64) are 0; 64 if it is 0."""

    def count(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], context.get_constant(numba.types.boolean, False))

    return _U64(_U64), count
