"""Losses and rates of scores: the logistic loss as LLVM code on 16 scores at a time, and the softmax.

Relative error of exp and log below 3e-7 (tests). With margin m = sign * score, sign +1 for what stood there and -1 for
what did not: loss = -log sigmoid(m) = max(-m, 0) + log(1 + exp(-|m|)), and the rate of the step is
-lr d loss / d score = sign * lr * sigmoid(-m). Not for matrices.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic

from embcli.kernels._jit import inner_kernel
from embcli.kernels.functions16 import ATANH, everywhere, exp16, polynomial, unary
from embcli.kernels.vectors16 import INT, INT32, VECTOR, WIDTH, load, loop, select_lanes, splat, sum_of_lanes


def _log1p(builder: Any, e: Any) -> Any:
    """Emit log(1 + e) = 2 atanh(e / (2 + e)) for 0 <= e <= 1."""
    z = builder.fdiv(e, builder.fadd(e, everywhere(2)))
    series = polynomial(builder, builder.fmul(z, z), ATANH)
    return builder.fmul(builder.fadd(z, z), series)


def _emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    scores, signs, count, lr = arguments
    at_scores, at_signs = (builder.inttoptr(a, VECTOR.as_pointer()) for a in (scores, signs))
    lanes = ir.Constant(ir.VectorType(INT, WIDTH), list(range(WIDTH)))
    many = ir.VectorType(INT, WIDTH)
    end = builder.insert_element(ir.Constant(many, ir.Undefined), count, INT32(0))
    ends = select_lanes(builder, end, ir.Constant(many, ir.Undefined), [0] * WIDTH)
    zero = ir.Constant(VECTOR, None)

    def body(at: Any, sums: list[Any]) -> list[Any]:
        x, sign = load(builder, at_scores, at), load(builder, at_signs, at)
        m = builder.fmul(x, sign)
        size = unary(builder, "fabs", m)
        far = builder.fcmp_ordered(">", size, everywhere(87))  # NaN stays NaN
        e = exp16(builder, builder.fneg(builder.select(far, everywhere(87), size)))
        whole = builder.fdiv(everywhere(1), builder.fadd(e, everywhere(1)))
        high = builder.fcmp_ordered(">=", m, zero)
        rate = builder.fmul(builder.select(high, builder.fmul(e, whole), whole), builder.fmul(sign, splat(builder, lr)))
        loss = builder.fadd(builder.select(high, zero, builder.fneg(m)), _log1p(builder, e))
        first = builder.insert_element(ir.Constant(many, ir.Undefined), builder.mul(at, INT(WIDTH)), INT32(0))
        place = builder.add(select_lanes(builder, first, first, [0] * WIDTH), lanes)
        inside = builder.icmp_signed("<", place, ends)
        builder.store(builder.select(inside, rate, x), builder.gep(at_scores, [at]), align=4)
        return [builder.fadd(sums[0], builder.select(inside, loss, zero))]

    n = builder.sdiv(builder.add(count, INT(WIDTH - 1)), INT(WIDTH))
    vector = loop(builder, n, [zero], body)[0]
    return sum_of_lanes(builder, vector)


def _logistic(typing: Any, scores: Any, signs: Any, count: Any, lr: Any) -> Any:
    """Turn count >= 1 scores into rates, lr sign sigmoid(-m); return the sum of the losses. By address.

    Both arrays have 16 float32 to spare behind; what is behind the scores stays as it is.
    """
    return types.float32(types.uintp, types.uintp, types.intp, types.float32), _emit


logistic: Any = intrinsic(_logistic)


@inner_kernel
def softmax(scores, start, count, label, lr):  # type: ignore[no-untyped-def]
    """Turn scores[start:start + count] into rates, lr (label - probability); return the loss -log p(label).

    loss = log sum exp(scores) - scores[label], the sum in float64.
    """
    top = scores[start]
    for i in range(start + 1, start + count):
        top = max(top, scores[i])
    right = np.float64(scores[start + label]) - np.float64(top)
    total = 0.0
    for i in range(start, start + count):
        e = np.exp(scores[i] - top)
        scores[i] = e
        total += np.float64(e)
    scale = np.float32(lr / total)
    for i in range(start, start + count):
        scores[i] = -scale * scores[i]
    scores[start + label] += np.float32(lr)
    return np.log(total) - right
