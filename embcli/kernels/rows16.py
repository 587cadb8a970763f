"""Small products of rows of float32, as LLVM code: scores of a row with some others, and the step that they take.

Rows are given by address and are whole vectors of 16 float32 long. Numba's loops cannot hold a tile of sums in
registers across rows; here one row meets up to eight others at a time, and their sums are folded together. Who calls
has to keep the arrays alive. For a few rows out of large tables; not for matrices.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic

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


def _by_count(builder: Any, count: Any, emit: Callable[[int], None]) -> None:
    """Emit a branch for each of 1 to TILE, in which ``count`` is known: its sums have registers of their own."""
    after = builder.append_basic_block("counted")
    cases = builder.switch(count, after)
    for known in range(1, TILE + 1):
        case = builder.append_basic_block(f"count{known}")
        cases.add_case(INT(known), case)
        builder.position_at_end(case)
        emit(known)
        builder.branch(after)
    builder.position_at_end(after)


def _scores(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    row, others, count, n, out = arguments
    mine = builder.inttoptr(row, VECTOR.as_pointer())

    def emit(known: int) -> None:
        rows = rows_at(builder, others, known)

        def body(at: Any, sums: list[Any]) -> list[Any]:
            x = load(builder, mine, at)
            return [
                builder.fadd(total, builder.fmul(x, load(builder, other, at), flags=FUSED), flags=FUSED)
                for total, other in zip(sums, rows, strict=True)
            ]

        sums = loop(builder, n, [ir.Constant(VECTOR, None)] * known, body)
        _store_first(builder, _folded(builder, sums), known, out)

    _by_count(builder, count, emit)
    return context.get_dummy_value()


def _step(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    source, target, others, count, n, rates, thaw = arguments
    mine, moving = (builder.inttoptr(a, VECTOR.as_pointer()) for a in (source, target))
    numbers = builder.inttoptr(rates, FLOAT.as_pointer())

    def emit(known: int) -> None:
        rows = rows_at(builder, others, known)
        scales = [builder.load(builder.gep(numbers, [INT(i)])) for i in range(known)]
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

    _by_count(builder, count, emit)
    return context.get_dummy_value()


@intrinsic
def scores(typing: Any, row: Any, others: Any, count: Any, n: Any, out: Any) -> Any:
    """out[k] = row . others[k] for 1 <= count <= TILE others.

    Addresses of a row, of the addresses of others, their count, vectors a row, and the address of float32.
    """
    return types.void(types.uintp, types.uintp, types.intp, types.intp, types.uintp), _scores


@intrinsic
def step(typing: Any, source: Any, target: Any, others: Any, count: Any, n: Any, rates: Any, thaw: Any) -> Any:
    """Target += sum of rates[k] others[k]; others[k] += thaw rates[k] source; one k after the other, as ``scores``.

    The source may be the target: its value from before the step counts. ``thaw`` 0 leaves the others as they are.
    """
    kind = types.void(types.uintp, types.uintp, types.uintp, types.intp, types.intp, types.uintp, types.float32)
    return kind, _step
