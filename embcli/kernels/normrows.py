"""Row by row over states (M, d): layer norm, GELU, residual sums with dropout, RoPE, lookup, and the ways back.

Kernels of ``embcli.models.network``; float32 or float64, C order. Gradients of gains, biases and tables are added to
what is there, rows in order, so that sums do not depend on threads. The formulas are those of ``models.layers``.
"""

from __future__ import annotations

import math

import numpy as np

from embcli.kernels._jit import inner_kernel, kernel, sum_kernel
from embcli.kernels.draws import GOLD, mix
from embcli.kernels.exponentials import normal

_EPSILON = 1e-5
_S40 = np.uint64(40)


@inner_kernel
def _kept(key, index, limit):  # type: ignore[no-untyped-def]
    """Return whether dropout leaves number ``index`` in: 24 bits of its hash below ``limit``."""
    return np.int64(mix(key + np.uint64(index) * GOLD) >> _S40) < limit


@sum_kernel
def norm_rows(X, gain, bias, Y, unit, inverse):  # type: ignore[no-untyped-def]
    """Y = unit gain + bias, unit = (x - mean) inverse, inverse = 1 / sqrt(variance + 1e-5), of each row."""
    M, d = X.shape
    one, share = X.dtype.type(1), X.dtype.type(1 / d)
    for i in range(M):
        x, y, u = X[i], Y[i], unit[i]
        total = x[0] - x[0]
        for j in range(d):
            total += x[j]
        mean = total * share
        total = x[0] - x[0]
        for j in range(d):
            total += (x[j] - mean) * (x[j] - mean)
        inv = one / math.sqrt(total * share + X.dtype.type(_EPSILON))
        inverse[i] = inv
        for j in range(d):
            u[j] = (x[j] - mean) * inv
            y[j] = u[j] * gain[j] + bias[j]


@sum_kernel
def norm_back(dY, gain, unit, inverse, dX, dgain, dbias):  # type: ignore[no-untyped-def]
    """DX += inverse (a - mean(a) - unit mean(a unit)), a = dY gain; dgain += dY unit, dbias += dY. dY is used up."""
    M, d = dY.shape
    share = dY.dtype.type(1 / d)
    for i in range(M):
        dy, u, dx, inv = dY[i], unit[i], dX[i], inverse[i]
        first = dy[0] - dy[0]
        second = dy[0] - dy[0]
        for j in range(d):
            dgain[j] += dy[j] * u[j]
            dbias[j] += dy[j]
            a = dy[j] * gain[j]
            dy[j] = a
            first += a
            second += a * u[j]
        first *= share
        second *= share
        for j in range(d):
            dx[j] += inv * (dy[j] - first - u[j] * second)


@sum_kernel
def gelu_rows(U, bias, G):  # type: ignore[no-untyped-def]
    """G = gelu(U + bias); U becomes the derivative Phi(x) + x phi(x)."""
    M, f = U.shape
    for i in range(M):
        u, g = U[i], G[i]
        for j in range(f):
            x = u[j] + bias[j]
            below, density = normal(x)
            g[j] = x * below
            u[j] = below + x * density


@kernel
def gelu_back(dG, derivative, dbias):  # type: ignore[no-untyped-def]
    """DG *= derivative; dbias += dG."""
    M, f = dG.shape
    for i in range(M):
        g, u = dG[i], derivative[i]
        for j in range(f):
            g[j] *= u[j]
            dbias[j] += g[j]


@kernel
def add_rows(X, bias, H):  # type: ignore[no-untyped-def]
    """H += X + bias."""
    M, d = H.shape
    for i in range(M):
        x, h = X[i], H[i]
        for j in range(d):
            h[j] += x[j] + bias[j]


@kernel
def add_bias(X, bias):  # type: ignore[no-untyped-def]
    """X += bias."""
    M, d = X.shape
    for i in range(M):
        x = X[i]
        for j in range(d):
            x[j] += bias[j]


@kernel
def sum_rows(X, total):  # type: ignore[no-untyped-def]
    """Total += the sum of the rows."""
    M, d = X.shape
    for i in range(M):
        x = X[i]
        for j in range(d):
            total[j] += x[j]


@kernel
def drop_rows(X, Y, places, key, limit):  # type: ignore[no-untyped-def]
    """Y = X with numbers left out by the hash of (key, place of the row, column), the others times 2^24 / limit."""
    M, d = X.shape
    factor = X.dtype.type(float(1 << 24) / limit)
    nothing = X.dtype.type(0)
    for i in range(M):
        at = places[i] * d
        for j in range(d):
            Y[i, j] = X[i, j] * factor if _kept(key, at + j, limit) else nothing


@kernel
def turn_rows(X, cos, sin, at, heads, back):  # type: ignore[no-untyped-def]
    """Turn the pairs (2 r, 2 r + 1) of each head of row i by the angle of position at[i]; ``back`` -1 the other way."""
    M, d = X.shape
    pairs = d // heads // 2
    for i in range(M):
        x, c, s = X[i], cos[at[i]], sin[at[i]]
        for head in range(heads):
            start = head * 2 * pairs
            for r in range(pairs):
                a, b = x[start + 2 * r], x[start + 2 * r + 1]
                x[start + 2 * r] = a * c[r] - back * b * s[r]
                x[start + 2 * r + 1] = back * a * s[r] + b * c[r]


@kernel
def look_up(E, ids, scale, P, at, H):  # type: ignore[no-untyped-def]
    """H = scale E[ids] + P[at]; a P without rows adds nothing. An id below 0 is an empty place: zeros."""
    M, d = H.shape
    for i in range(M):
        h = H[i]
        if ids[i] < 0:
            h[:] = 0
            continue
        e = E[ids[i]]
        for j in range(d):
            h[j] = scale * e[j]
        if len(P):
            p = P[at[i]]
            for j in range(d):
                h[j] += p[j]


@kernel
def look_up_back(dH, ids, scale, at, dE, dP):  # type: ignore[no-untyped-def]
    """dE[ids] += scale dH (S^T G), dP[at] += dH; tables without rows are left alone. Rows in order."""
    M, d = dH.shape
    for i in range(M):
        if ids[i] < 0:
            continue
        h = dH[i]
        if len(dE):
            e = dE[ids[i]]
            for j in range(d):
                e[j] += scale * h[j]
        if len(dP):
            p = dP[at[i]]
            for j in range(d):
                p[j] += h[j]
