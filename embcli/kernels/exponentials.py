"""exp and the normal distribution inside of loops: in float32 as polynomials that become vectors, in float64 exactly.

float32: relative error of exp below 3e-7 for -75 <= x <= 0, and below that exp(-75), 3e-33: what a softmax makes of it
is still a normal number (others take a hundred times as long). Absolute error of Phi below 3e-7 (Abramowitz and Stegun
1964, 7.1.26). Not for matrices.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]

from embcli.kernels._jit import inner_kernel, numba

_F = np.float32
_LOG2E, _HALF, _LEAST = _F(1 / math.log(2)), _F(0.5), _F(-75.0)
#: log 2 in two parts, so that the first times a whole number is exact
_HIGH, _LOW = _F(0.693359375), _F(-2.12194440e-4)
_E2, _E3, _E4, _E5, _E6 = (_F(1 / math.factorial(i)) for i in range(2, 7))
_E1 = _F(1)
_ROOT, _DENSITY = 1 / math.sqrt(2), 1 / math.sqrt(2 * math.pi)
_P = _F(0.3275911)
_A1, _A2, _A3, _A4, _A5 = (_F(a) for a in (0.254829592, -0.284496736, 1.421413741, -1.453152027, 1.061405429))


@numba.extending.intrinsic
def _as_float(typing: Any, bits: Any) -> Any:
    """Return the float32 that these bits are."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], ir.FloatType())

    return numba.types.float32(numba.types.int32), emit


@numba.extending.intrinsic
def _order(typing: Any, x: Any) -> Any:
    """Return the whole number, 32 or 64 bits, that orders floats: the larger, the larger; its own inverse on bits."""
    bits = 32 if x == numba.types.float32 else 64
    kind = ir.IntType(bits)

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        found = builder.bitcast(args[0], kind)
        sign = builder.ashr(found, kind(bits - 1))
        return builder.xor(found, builder.and_(sign, kind((1 << (bits - 1)) - 1)))

    return numba.types.Integer.from_bitwidth(bits)(x), emit


@numba.extending.intrinsic
def _of_order(typing: Any, order: Any) -> Any:
    """Return the float that ``_order`` made this number of."""
    bits = order.bitwidth
    kind = ir.IntType(bits)

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        sign = builder.ashr(args[0], kind(bits - 1))
        found = builder.xor(args[0], builder.and_(sign, kind((1 << (bits - 1)) - 1)))
        return builder.bitcast(found, ir.FloatType() if bits == 32 else ir.DoubleType())

    return (numba.types.float32 if bits == 32 else numba.types.float64)(order), emit


@inner_kernel
def highest(x):  # type: ignore[no-untyped-def]
    """Return the largest number of a row, NaN if that is there; whole numbers are compared, which vectors can do."""
    top = _order(x[0])
    for j in range(len(x)):
        top = max(top, _order(x[j]))
    return _of_order(top)


def exp_below(x: Any) -> Any:
    """Return exp(x) for x <= 0, inside of kernels."""
    raise NotImplementedError


@numba.extending.overload(exp_below, inline="always")
def _exp_below(x):  # type: ignore[no-untyped-def]
    if x != numba.types.float32:
        return lambda x: math.exp(x)

    def polynomial(x):  # type: ignore[no-untyped-def]
        y = _LEAST if x < _LEAST else x
        k = np.int32(y * _LOG2E - _HALF)
        f = np.float32(k)
        r = (y - f * _HIGH) - f * _LOW
        p = _E1 + r * (_E1 + r * (_E2 + r * (_E3 + r * (_E4 + r * (_E5 + r * _E6)))))
        return p * _as_float(np.int32((k + np.int32(127)) << np.int32(23)))

    return polynomial


def normal(x: Any) -> Any:
    """Return Phi(x) and phi(x), the normal distribution and its density, inside of kernels."""
    raise NotImplementedError


@numba.extending.overload(normal, inline="always")
def _normal(x):  # type: ignore[no-untyped-def]
    if x != numba.types.float32:
        return lambda x: (0.5 * math.erfc(-x * _ROOT), math.exp(-0.5 * x * x) * _DENSITY)

    def polynomial(x):  # type: ignore[no-untyped-def]
        z = abs(x) * np.float32(_ROOT)
        e = exp_below(-z * z)
        t = _E1 / (_E1 + _P * z)
        tail = _HALF * e * t * (_A1 + t * (_A2 + t * (_A3 + t * (_A4 + t * _A5))))
        return (tail if x < _F(0) else _E1 - tail), e * np.float32(_DENSITY)

    return polynomial
