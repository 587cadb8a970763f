"""Steps of AdamW and plain gradient descent over a span of all parameters, and sums of gradients in a fixed order.

Loops run over slices from 0: an index that might be negative keeps them from using vectors.
"""

from __future__ import annotations

import math

from embcli.kernels._jit import kernel, sum_kernel


@sum_kernel
def gather(gradients, start, stop):  # type: ignore[no-untyped-def]
    """Add numbers [start, stop) of all rows to the first, in order; return the sum of their squares, float64."""
    total = 0.0
    g = gradients[0, start:stop]
    for lane in range(1, len(gradients)):
        other = gradients[lane, start:stop]
        for j in range(len(g)):
            g[j] += other[j]
    for j in range(len(g)):
        total += float(g[j]) * float(g[j])
    return total


@kernel
def adamw(theta, g, mean, square, factor, lr, beta1, beta2, first, second, keep):  # type: ignore[no-untyped-def]
    """One step of AdamW (Loshchilov and Hutter 2019, algorithm 2) for some numbers.

    g is taken times ``factor`` (clipping). first = 1 - beta1^t, second = 1 - beta2^t; keep = 1 - lr decay.
    """
    real = theta.dtype.type
    one, eps = real(1), real(1e-8)
    rate, root = real(lr / first), real(1 / math.sqrt(second))
    f, b1, b2, k = real(factor), real(beta1), real(beta2), real(keep)
    for j in range(len(theta)):
        x = g[j] * f
        m = b1 * mean[j] + (one - b1) * x
        v = b2 * square[j] + (one - b2) * x * x
        mean[j], square[j] = m, v
        theta[j] = theta[j] * k - rate * m / (math.sqrt(v) * root + eps)


@kernel
def descend(theta, g, factor, lr):  # type: ignore[no-untyped-def]
    """Take ``lr factor g`` from theta."""
    rate = theta.dtype.type(lr * factor)
    for j in range(len(theta)):
        theta[j] -= rate * g[j]
