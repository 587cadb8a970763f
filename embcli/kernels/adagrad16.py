"""A product of two rows and the AdaGrad step of both, as LLVM code on 16 float32 at a time.

A row is whole vectors of 16 float32, its sums of squared gradients are as many behind it; both by address. Who calls
has to keep the arrays alive.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic

from embcli.kernels.functions16 import everywhere, fma, unary
from embcli.kernels.vectors16 import FUSED, VECTOR, load, loop, splat, sum_of_lanes

#: 1 / sqrt may be an estimate that Newton's method improved: two bits less than rounded
_ESTIMATE = ("arcp", "afn", "contract", "reassoc")


def _dot_emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    a, b = (builder.inttoptr(x, VECTOR.as_pointer()) for x in arguments[:2])

    def body(at: Any, sums: list[Any]) -> list[Any]:
        return [fma(builder, load(builder, a, at), load(builder, b, at), sums[0])]

    vector = loop(builder, arguments[2], [ir.Constant(VECTOR, None)], body)[0]
    return sum_of_lanes(builder, vector)


def _dot(typing: Any, a: Any, b: Any, n: Any) -> Any:
    """Return the product of two rows of n vectors."""
    return types.float32(types.uintp, types.uintp, types.intp), _dot_emit


dot: Any = intrinsic(_dot)


def _step_emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    a, b = (builder.inttoptr(x, VECTOR.as_pointer()) for x in arguments[:2])
    n, pull, most = arguments[2], splat(builder, arguments[3]), splat(builder, arguments[4])
    least = builder.fneg(most)

    def clipped(x: Any) -> Any:
        x = builder.select(builder.fcmp_ordered("<", x, least), least, x)  # NaN stays NaN
        return builder.select(builder.fcmp_ordered(">", x, most), most, x)

    def move(row: Any, at: Any, x: Any, other: Any) -> None:
        behind = builder.add(at, n)
        squares, g = load(builder, row, behind), clipped(builder.fmul(pull, other))
        root = unary(builder, "sqrt", squares, _ESTIMATE)
        scale = builder.fdiv(everywhere(1), root, flags=_ESTIMATE)
        change = builder.fsub(x, builder.fmul(g, scale, flags=FUSED), flags=FUSED)
        builder.store(change, builder.gep(row, [at]), align=4)
        builder.store(fma(builder, g, g, squares), builder.gep(row, [behind]), align=4)

    def body(at: Any, values: list[Any]) -> list[Any]:
        x, y = load(builder, a, at), load(builder, b, at)
        move(a, at, x, y)
        move(b, at, y, x)
        return []

    loop(builder, n, [], body)
    return context.get_dummy_value()


def _step(typing: Any, a: Any, b: Any, n: Any, pull: Any, most: Any) -> Any:
    """Step two rows of n vectors: a -= g / sqrt(A), A += g^2, g = pull b cut to +-most; and b by the old a."""
    return types.void(types.uintp, types.uintp, types.intp, types.float32, types.float32), _step_emit


step: Any = intrinsic(_step)
