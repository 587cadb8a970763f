"""exp, log and polynomials of 16 float32 at a time, as LLVM code for other kernels. Relative error below 3e-7."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]

from embcli.kernels.vectors16 import FUSED, INT32, VECTOR, WIDTH

INTS = ir.VectorType(INT32, WIDTH)
#: log 2 in two parts, so that the first times a whole number is exact
_LN2_HIGH, _LN2_LOW = 0.693359375, -2.12194440e-4
#: exp(f) for |f| <= log(2) / 2, and atanh(z) / z in powers of z^2 for |z| <= 1/3
_EXP = [1 / math.factorial(i) for i in range(8)]
ATANH = [1 / i for i in range(1, 16, 2)]


def everywhere(value: float) -> Any:
    """Return the constant vector whose lanes all are ``value``."""
    return ir.Constant(VECTOR, [float(np.float32(value))] * WIDTH)


def whole(value: int) -> Any:
    """Return the constant vector of integers whose lanes all are ``value``."""
    return ir.Constant(INTS, [value] * WIDTH)


def unary(builder: Any, name: str, x: Any, flags: tuple[str, ...] = ()) -> Any:
    """Emit llvm.name of a vector."""
    full = f"llvm.{name}.v{WIDTH}f32"
    f = builder.module.globals.get(full)
    f = f or ir.Function(builder.module, ir.FunctionType(VECTOR, [VECTOR]), full)
    return builder.call(f, [x], fastmath=flags)


def fma(builder: Any, a: Any, b: Any, c: Any) -> Any:
    """Emit a b + c, as one instruction where there is one."""
    return builder.fadd(builder.fmul(a, b, flags=FUSED), c, flags=FUSED)


def polynomial(builder: Any, x: Any, powers: list[float]) -> Any:
    """Emit powers[0] + powers[1] x + powers[2] x^2 ..."""
    total = everywhere(powers[-1])
    for power in powers[-2::-1]:
        total = fma(builder, total, x, everywhere(power))
    return total


def exp16(builder: Any, x: Any) -> Any:
    """Emit exp(x) for -87 <= x <= 0: 2^k times a polynomial."""
    k = unary(builder, "floor", fma(builder, x, everywhere(1 / math.log(2)), everywhere(0.5)))
    rest = fma(builder, k, everywhere(-_LN2_LOW), fma(builder, k, everywhere(-_LN2_HIGH), x))
    bits = builder.add(builder.fptosi(k, INTS), whole(127))
    power = builder.bitcast(builder.shl(bits, whole(23)), VECTOR)
    return builder.fmul(polynomial(builder, rest, _EXP), power)


def log16(builder: Any, x: Any) -> Any:
    """Emit log(x) for normal numbers x > 0: k log 2 + 2 atanh((m - 1) / (m + 1)), x = 2^k m, m from 0.7 to 1.5."""
    bits = builder.bitcast(x, INTS)
    k = builder.ashr(builder.sub(bits, whole(0x3F333333)), whole(23))
    m = builder.bitcast(builder.sub(bits, builder.shl(k, whole(23))), VECTOR)
    z = builder.fdiv(builder.fsub(m, everywhere(1)), builder.fadd(m, everywhere(1)))
    series = builder.fmul(builder.fadd(z, z), polynomial(builder, builder.fmul(z, z), ATANH))
    power = builder.sitofp(k, VECTOR)
    return fma(builder, power, everywhere(_LN2_HIGH), fma(builder, power, everywhere(_LN2_LOW), series))
