"""Softmax of attention scores and of word scores, in place, and their gradients.

Kernels of ``embcli.models.network``. What a row may look at is a span of columns, which says causal, padding and rows
of text that share a window in one way; an empty span gives weights 0.
"""

from __future__ import annotations

import math

import numpy as np

from embcli.kernels._jit import sum_kernel
from embcli.kernels.exponentials import exp_below


@sum_kernel
def weigh(S, first, last, rows, columns, scale, slopes):  # type: ignore[no-untyped-def]
    """Turn scores S (heads, T, T) into weights, for rows [rows) and columns [columns).

    Row i: softmax over first[i] <= j < last[i] of scale S[h, i, j] - slopes[h] |i - j|; 0 in other columns.
    """
    zero = S.dtype.type(0)
    for head in range(S.shape[0]):
        slope = slopes[head]
        for i in range(rows[0], rows[1]):
            s = S[head, i]
            a, b = first[i], last[i]
            for j in range(columns[0], min(a, columns[1])):
                s[j] = zero
            for j in range(max(b, columns[0]), columns[1]):
                s[j] = zero
            if a >= b:
                s[columns[0] : columns[1]] = zero
                continue
            top = S.dtype.type(-np.inf)
            for j in range(a, b):
                value = scale * s[j] - slope * S.dtype.type(abs(i - j))
                s[j] = value
                top = max(top, value)
            total = zero
            for j in range(a, b):
                e = exp_below(s[j] - top)
                s[j] = e
                total += e
            share = S.dtype.type(1) / total
            for j in range(a, b):
                s[j] *= share


@sum_kernel
def weigh_back(A, dA, first, last, rows, columns, scale):  # type: ignore[no-untyped-def]
    """Turn gradients of weights into those of scores: dS = scale A (dA - sum(A dA)), 0 outside of a row's span."""
    zero = A.dtype.type(0)
    for head in range(A.shape[0]):
        for i in range(rows[0], rows[1]):
            w, g = A[head, i], dA[head, i]
            a, b = max(first[i], columns[0]), min(last[i], columns[1])
            for j in range(columns[0], min(a, columns[1])):
                g[j] = zero
            for j in range(max(b, columns[0]), columns[1]):
                g[j] = zero
            total = zero
            for j in range(a, b):
                total += w[j] * g[j]
            for j in range(a, b):
                g[j] = scale * w[j] * (g[j] - total)


@sum_kernel
def cross_entropy(Z, bias, targets, share):  # type: ignore[no-untyped-def]
    """Return the sum of -log softmax(z + bias)[target] over rows Z (R, V); Z becomes share (p - onehot(target)).

    A bias without entries is none.
    """
    R, V = Z.shape
    loss = 0.0
    for i in range(R):
        z = Z[i]
        top = Z.dtype.type(-np.inf)
        if len(bias):
            for j in range(V):
                z[j] += bias[j]
        for j in range(V):
            top = max(top, z[j])
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
