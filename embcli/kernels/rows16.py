"""Small products of rows of float32, as LLVM code: scores of a row with some others, and the step that they take.

Rows are given by address and are whole vectors of 16 float32 long. Numba's loops cannot hold a tile of sums in
registers across rows; here one row meets up to eight others at a time, and their sums are folded together. Who calls
has to keep the arrays alive. For a few rows out of large tables; not for matrices.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic

from embcli.kernels._jit import inner_kernel
from embcli.kernels.vectors16 import FLOAT, FUSED, INT, VECTOR, WIDTH, load, loop, rows_at, select_lanes, splat

#: rows of the other side that one call looks at
TILE = 8


def _folded(builder: Any, vectors: list[Any]) -> Any:
    """Return one vector whose first lanes are the sums of the vectors, folded by halves in a fixed order."""
    groups, lanes = 1, WIDTH
    while lanes > 1:
        half = lanes // 2
        if len(vectors) > 1:
            if len(vectors) % 2:
                vectors = [*vectors, ir.Constant(VECTOR, None)]
            starts = [*range(0, WIDTH, lanes), *range(WIDTH, 2 * WIDTH, lanes)]
            pairs = list(zip(vectors[::2], vectors[1::2], strict=True))
            groups *= 2
        else:
            starts = list(range(0, groups * lanes, lanes))
            pairs = [(vectors[0], ir.Constant(vectors[0].type, ir.Undefined))]
        low = [start + i for start in starts for i in range(half)]
        vectors = [
            builder.fadd(select_lanes(builder, a, b, low), select_lanes(builder, a, b, [i + half for i in low]))
            for a, b in pairs
        ]
        lanes = half
    return vectors[0]


def _store_first(builder: Any, vector: Any, count: int, address: Any) -> None:
    """Store the first ``count`` lanes, in pieces of 8, 4, 2 and 1."""
    nothing, done = ir.Constant(vector.type, ir.Undefined), 0
    for size in (8, 4, 2, 1):
        while count - done >= size:
            piece = select_lanes(builder, vector, nothing, list(range(done, done + size)))
            target = builder.inttoptr(builder.add(address, INT(4 * done)), piece.type.as_pointer())
            builder.store(piece, target, align=4)
            done += size


def _scores(count: int) -> Any:
    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        row, others, n, out = arguments
        mine, rows = builder.inttoptr(row, VECTOR.as_pointer()), rows_at(builder, others, count)

        def body(at: Any, sums: list[Any]) -> list[Any]:
            x = load(builder, mine, at)
            return [
                builder.fadd(total, builder.fmul(x, load(builder, other, at), flags=FUSED), flags=FUSED)
                for total, other in zip(sums, rows, strict=True)
            ]

        sums = loop(builder, n, [ir.Constant(VECTOR, None)] * count, body)
        _store_first(builder, _folded(builder, sums), count, out)
        return context.get_dummy_value()

    def scores(typing: Any, row: Any, others: Any, n: Any, out: Any) -> Any:
        """out[k] = row . others[k]; addresses of a row, of the addresses of others, vectors a row, and of float32."""
        return types.void(types.uintp, types.uintp, types.intp, types.uintp), emit

    return intrinsic(scores)


def _step(count: int) -> Any:
    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        source, target, others, n, rates, thaw = arguments
        mine, moving = (builder.inttoptr(a, VECTOR.as_pointer()) for a in (source, target))
        rows = rows_at(builder, others, count)
        numbers = builder.inttoptr(rates, FLOAT.as_pointer())
        scales = [builder.load(builder.gep(numbers, [INT(i)])) for i in range(count)]
        pull = [splat(builder, g) for g in scales]
        push = [splat(builder, builder.fmul(g, thaw)) for g in scales]

        def body(at: Any, values: list[Any]) -> list[Any]:
            x, moved = load(builder, mine, at), load(builder, moving, at)
            for g, h, other in zip(pull, push, rows, strict=True):
                y = load(builder, other, at)
                moved = builder.fadd(moved, builder.fmul(g, y, flags=FUSED), flags=FUSED)
                change = builder.fadd(y, builder.fmul(h, x, flags=FUSED), flags=FUSED)
                builder.store(change, builder.gep(other, [at]), align=4)
            builder.store(moved, builder.gep(moving, [at]), align=4)
            return []

        loop(builder, n, [], body)
        return context.get_dummy_value()

    def step(typing: Any, source: Any, target: Any, others: Any, n: Any, rates: Any, thaw: Any) -> Any:
        """Target += sum of rates[k] others[k], one k after the other; others[k] += thaw rates[k] source."""
        kind = types.void(types.uintp, types.uintp, types.uintp, types.intp, types.uintp, types.float32)
        return kind, emit

    return intrinsic(step)


scores1, scores2, scores3, scores4, scores5, scores6, scores7, scores8 = (_scores(k) for k in range(1, TILE + 1))
step1, step2, step3, step4, step5, step6, step7, step8 = (_step(k) for k in range(1, TILE + 1))


@inner_kernel
def scores(row, others, count, n, out):  # type: ignore[no-untyped-def]
    """out[k] = row . others[k] for 1 <= count <= TILE others; n vectors a row; all by address."""
    if count == 8:
        scores8(row, others, n, out)
    elif count == 7:
        scores7(row, others, n, out)
    elif count == 6:
        scores6(row, others, n, out)
    elif count == 5:
        scores5(row, others, n, out)
    elif count == 4:
        scores4(row, others, n, out)
    elif count == 3:
        scores3(row, others, n, out)
    elif count == 2:
        scores2(row, others, n, out)
    else:
        scores1(row, others, n, out)


@inner_kernel
def step(source, target, others, count, n, rates, thaw):  # type: ignore[no-untyped-def]
    """Target += sum of rates[k] others[k]; others[k] += thaw rates[k] source; one k after the other.

    The source may be the target: its value from before the step counts. ``thaw`` 0 leaves the others as they are.
    """
    if count == 8:
        step8(source, target, others, n, rates, thaw)
    elif count == 7:
        step7(source, target, others, n, rates, thaw)
    elif count == 6:
        step6(source, target, others, n, rates, thaw)
    elif count == 5:
        step5(source, target, others, n, rates, thaw)
    elif count == 4:
        step4(source, target, others, n, rates, thaw)
    elif count == 3:
        step3(source, target, others, n, rates, thaw)
    elif count == 2:
        step2(source, target, others, n, rates, thaw)
    else:
        step1(source, target, others, n, rates, thaw)
