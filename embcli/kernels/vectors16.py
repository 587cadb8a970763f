"""What loops over vectors of 16 float32 are put together from: LLVM code, copies and sums of whole rows, their tables.

LLVM turns the vectors into whatever the processor has. Rows are given by address. Products are in rows16.py (rows with
rows) and lanes.py (sparse with dense).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

#: float32 in a vector: one cache line
WIDTH = 16

FLOAT, INT32, INT = ir.FloatType(), ir.IntType(32), ir.IntType(64)
VECTOR = ir.VectorType(FLOAT, WIDTH)
#: a product and its sum may be one instruction
FUSED = ("contract",)


def padded(columns: int) -> int:
    """Return how many float32 a row of so many has when it fills whole vectors."""
    return -(-columns // WIDTH) * WIDTH


def aligned(*shape: int) -> NDArray[np.float32]:
    """Return zeros of this shape whose first number begins a cache line; rows do, if they are whole ones."""
    size = int(np.prod(shape))
    raw = np.zeros(size + WIDTH, np.float32)
    skip = -(raw.ctypes.data // 4) % WIDTH
    return raw[skip : skip + size].reshape(shape)


def select_lanes(builder: Any, a: Any, b: Any, lanes: list[int]) -> Any:
    """Emit the vector of these lanes of a and b, b's counted after a's."""
    return builder.shuffle_vector(a, b, ir.Constant(ir.VectorType(INT32, len(lanes)), lanes))


def splat(builder: Any, value: Any) -> Any:
    """Emit the vector whose lanes all are ``value``."""
    nothing = ir.Constant(VECTOR, ir.Undefined)
    return select_lanes(builder, builder.insert_element(nothing, value, INT32(0)), nothing, [0] * WIDTH)


def sum_of_lanes(builder: Any, vector: Any) -> Any:
    """Emit the sum of a vector's numbers, folded by halves."""
    size = WIDTH
    while size > 1:
        size //= 2
        low, high = ([i + start for i in range(size)] for start in (0, size))
        vector = builder.fadd(select_lanes(builder, vector, vector, low), select_lanes(builder, vector, vector, high))
    return builder.extract_element(vector, INT32(0))


def load(builder: Any, row: Any, at: Any) -> Any:
    """Emit the load of vector ``at`` of a row."""
    return builder.load(builder.gep(row, [at]), align=4)


def rows_at(builder: Any, addresses: Any, n: int) -> list[Any]:
    """Emit the loads of ``n`` addresses of rows, as pointers to vectors."""
    at = builder.inttoptr(addresses, INT.as_pointer())
    return [builder.inttoptr(builder.load(builder.gep(at, [INT(i)])), VECTOR.as_pointer()) for i in range(n)]


def loop(builder: Any, n: Any, carried: list[Any], body: Callable[[Any, list[Any]], list[Any]]) -> list[Any]:
    """Emit a loop over n >= 1 vectors; ``body(at, values)`` returns the values carried on."""
    before, inside, after = builder.block, builder.append_basic_block("vectors"), builder.append_basic_block("done")
    builder.branch(inside)
    builder.position_at_end(inside)
    at = builder.phi(INT)
    values = [builder.phi(value.type) for value in carried]
    new = body(at, values)
    following = builder.add(at, INT(1))
    at.add_incoming(INT(0), before)
    at.add_incoming(following, builder.block)
    for value, start, end in zip(values, carried, new, strict=True):
        value.add_incoming(start, before)
        value.add_incoming(end, builder.block)
    builder.cbranch(builder.icmp_signed("<", following, n), inside, after)
    builder.position_at_end(after)
    return new


def _row_loop(name: str, about: str, others: int, change: Callable[..., Any], scaled: bool = False) -> Any:
    """Return an intrinsic (target, other rows, n vectors[, scale]) that stores ``change(builder, rows, scale)``."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        rows = [builder.inttoptr(a, VECTOR.as_pointer()) for a in arguments[: 1 + others]]
        scale = splat(builder, arguments[2 + others]) if scaled else None

        def body(at: Any, values: list[Any]) -> list[Any]:
            new = change(builder, [load(builder, row, at) for row in rows], scale)
            builder.store(new, builder.gep(rows[0], [at]), align=4)
            return []

        loop(builder, arguments[1 + others], [], body)
        return context.get_dummy_value()

    kind = types.void(*[types.uintp] * (1 + others), types.intp, *([types.float32] if scaled else []))

    def one(typing: Any, target: Any, a: Any, n: Any) -> Any:
        return kind, emit

    def one_scaled(typing: Any, target: Any, a: Any, n: Any, scale: Any) -> Any:
        return kind, emit

    def two(typing: Any, target: Any, a: Any, b: Any, n: Any) -> Any:
        return kind, emit

    f = two if others == 2 else one_scaled if scaled else one
    f.__name__, f.__doc__ = name, about
    return intrinsic(f)


copy_row: Any = _row_loop("copy_row", "target = other.", 1, lambda b, rows, s: rows[1])
gain_row: Any = _row_loop(
    "gain_row", "target += now - old.", 2, lambda b, rows, s: b.fadd(rows[0], b.fsub(rows[1], rows[2]))
)
change_row: Any = _row_loop("change_row", "target = now - target.", 1, lambda b, rows, s: b.fsub(rows[1], rows[0]))
add_row: Any = _row_loop(
    "add_row",
    "target += scale other.",
    1,
    lambda b, rows, s: b.fadd(rows[0], b.fmul(s, rows[1], flags=FUSED), flags=FUSED),
    scaled=True,
)
scale_row: Any = _row_loop("scale_row", "target = scale other.", 1, lambda b, rows, s: b.fmul(s, rows[1]), scaled=True)


def _fetch_emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    byte, name = ir.IntType(8).as_pointer(), "llvm.prefetch.p0"
    ask = builder.module.globals.get(name)
    if ask is None:
        kind = ir.FunctionType(ir.VoidType(), [byte, INT32, INT32, INT32])
        ask = ir.Function(builder.module, kind, name)
    base = builder.inttoptr(arguments[0], byte)

    def body(at: Any, values: list[Any]) -> list[Any]:
        builder.call(ask, [builder.gep(base, [builder.mul(at, INT(4 * WIDTH))]), INT32(0), INT32(3), INT32(1)])
        return []

    loop(builder, arguments[1], [], body)
    return context.get_dummy_value()


def _fetch(typing: Any, address: Any, n: Any) -> Any:
    """Ask for a row of n vectors to be brought near, without waiting for it."""
    return types.void(types.uintp, types.intp), _fetch_emit


fetch_row: Any = intrinsic(_fetch)
