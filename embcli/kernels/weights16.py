"""The logarithm of counts and their weights in GloVe, as LLVM code on 16 packed cells at a time.

A packed cell is 64 bits, the count as float32 in the lower half. Logs and weights are within 1e-6 of float64's.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic

from embcli.kernels.functions16 import INTS, everywhere, exp16, log16
from embcli.kernels.vectors16 import INT, VECTOR, WIDTH, loop, splat


@intrinsic
def bits_of(typing: Any, x: Any) -> Any:
    """Return the bits of a float32."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.zext(builder.bitcast(args[0], ir.IntType(32)), ir.IntType(64))

    return types.uint64(types.float32), emit


def _weigh_emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    many = ir.VectorType(INT, WIDTH)
    cells = builder.inttoptr(arguments[0], many.as_pointer())
    logs, weights = (builder.inttoptr(a, VECTOR.as_pointer()) for a in arguments[1:3])
    x_max, top, power = (splat(builder, a) for a in arguments[4:])

    def body(at: Any, values: list[Any]) -> list[Any]:
        x = builder.bitcast(builder.trunc(builder.load(builder.gep(cells, [at]), align=8), INTS), VECTOR)
        log = log16(builder, x)
        share = builder.fmul(builder.fsub(log, top), power)
        least = everywhere(-87)
        share = builder.select(builder.fcmp_ordered("<", share, least), least, share)
        high = builder.fcmp_ordered(">=", x, x_max)
        builder.store(log, builder.gep(logs, [at]), align=4)
        builder.store(builder.select(high, everywhere(1), exp16(builder, share)), builder.gep(weights, [at]), align=4)
        return []

    n = builder.sdiv(builder.add(arguments[3], INT(WIDTH - 1)), INT(WIDTH))
    loop(builder, n, [], body)
    return context.get_dummy_value()


def _weigh(typing: Any, cells: Any, logs: Any, weights: Any, count: Any, x_max: Any, top: Any, power: Any) -> Any:
    """Fill logs and weights of count >= 1 packed cells: log x and min(1, (x / x_max)^power).

    By address; 16 to spare behind all three. top : log of x_max.
    """
    kind = types.void(*[types.uintp] * 3, types.intp, *[types.float32] * 3)
    return kind, _weigh_emit


weigh: Any = intrinsic(_weigh)
