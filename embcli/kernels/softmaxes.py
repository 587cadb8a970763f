"""Softmax of attention scores and of word scores, in place, and their gradients.

Kernels of ``embcli.models.network``. What a row may look at is a span of columns, which says causal, padding and rows
of text that share a window in one way; an empty span gives weights 0.
"""

from __future__ import annotations

import math

from embcli.kernels._jit import inner_kernel, sum_kernel
from embcli.kernels.exponentials import exp_below, highest

#: loops over a span begin and end at multiples of this, so that all of it goes through vectors; and they run over a
#: slice from 0, since an index that might be negative keeps them from it
_STEP = 32


@inner_kernel
def _widened(a, b, columns):  # type: ignore[no-untyped-def]
    """Return the span [a, b), widened to multiples of ``_STEP`` but not beyond the columns."""
    return max(a // _STEP * _STEP, columns[0]), min(-(-b // _STEP) * _STEP, columns[1])


@sum_kernel
def weigh(S, first, last, rows, columns, scale, slopes):  # type: ignore[no-untyped-def]
    """Turn scores S (heads, T, T) into weights, for rows [rows) and columns [columns).

    Row i: softmax over first[i] <= j < last[i] of scale S[h, i, j] - slopes[h] |i - j|; 0 in other columns.
    """
    zero, never = S.dtype.type(0), S.dtype.type(-3e38)
    for head in range(S.shape[0]):
        slope = slopes[head]
        for i in range(rows[0], rows[1]):
            s = S[head, i]
            a, b = first[i], last[i]
            if a >= b:
                s[columns[0] : columns[1]] = zero
                continue
            c, d = _widened(a, b, columns)
            x, behind = s[c:d], i - c
            if slope == zero:
                for j in range(len(x)):
                    x[j] *= scale
            else:
                for j in range(len(x)):
                    x[j] = scale * x[j] - slope * S.dtype.type(abs(behind - j))
            s[c:a] = never
            s[b:d] = never
            top = highest(x)
            total = zero
            for j in range(len(x)):
                e = exp_below(x[j] - top)  # of ``never`` some 1e-33, which no sum of 1 or more notices
                x[j] = e
                total += e
            share = S.dtype.type(1) / total
            for j in range(len(x)):
                x[j] *= share
            s[columns[0] : a] = zero
            s[b : columns[1]] = zero


@sum_kernel
def weigh_back(A, dA, first, last, rows, columns, scale):  # type: ignore[no-untyped-def]
    """Turn gradients of weights into those of scores: dS = scale A (dA - sum(A dA)), 0 outside of a row's span."""
    zero = A.dtype.type(0)
    for head in range(A.shape[0]):
        for i in range(rows[0], rows[1]):
            w, g = A[head, i], dA[head, i]
            c, d = _widened(first[i], max(first[i], last[i]), columns)
            g[columns[0] : c] = zero
            g[d : columns[1]] = zero
            x, y = w[c:d], g[c:d]
            total = zero
            for j in range(len(x)):
                total += x[j] * y[j]
            for j in range(len(x)):
                y[j] = scale * x[j] * (y[j] - total)


@sum_kernel
def cross_entropy(Z, bias, targets, share):  # type: ignore[no-untyped-def]
    """Return the sum of -log softmax(z + bias)[target] over rows Z (R, V); Z becomes share (p - onehot(target)).

    A bias without entries is none.
    """
    R, V = Z.shape
    loss = 0.0
    for i in range(R):
        z = Z[i]
        if len(bias):
            for j in range(V):
                z[j] += bias[j]
        top = highest(z)
        right = z[targets[i]] - top
        total = Z.dtype.type(0)
        for j in range(V):
            e = exp_below(z[j] - top)
            z[j] = e
            total += e
        loss += math.log(total) - right
        factor = Z.dtype.type(share) / total
        for j in range(V):
            z[j] *= factor
        z[targets[i]] -= Z.dtype.type(share)
    return loss
