"""Adaptive sums of steps (Maleki et al. 2021, "Scaling distributed training with adaptive summation", section 3).

Two steps of a row that point the same way are averaged, two that have nothing to do with each other are added:
a (1 - a.b / 2 a.a) + b (1 - a.b / 2 b.b). For rows that were trained side by side; the products are in float64, each
in the order of its numbers, so that equal rows give equal bits.
"""

import numpy as np

from embcli.kernels._jit import inner_kernel, kernel


@inner_kernel
def _added(a, b, out):  # type: ignore[no-untyped-def]
    """Set out to the adaptive sum of two steps."""
    ab = aa = bb = 0.0
    for k in range(len(a)):
        x, y = np.float64(a[k]), np.float64(b[k])
        ab += x * y
        aa += x * x
        bb += y * y
    f, g = 1.0, 1.0
    if aa > 0 and bb > 0:
        f, g = 1 - ab / (2 * aa), 1 - ab / (2 * bb)
    for k in range(len(a)):
        out[k] = np.float32(f * a[k] + g * b[k])


@kernel
def add_steps(a_rows, a, b_rows, b, rows, out):  # type: ignore[no-untyped-def]
    """Set ``out`` (m, d) to the steps of ``rows``: those of ``a`` (n, d), of ``b``, or their adaptive sum.

    a_rows, b_rows : int64, ascending; the rows of ``a`` and ``b``. rows : int64 (n_a + n_b at most), to be filled.
    Returns m, how many rows there are.
    """
    i = j = m = 0
    while i < len(a_rows) or j < len(b_rows):
        if j == len(b_rows) or (i < len(a_rows) and a_rows[i] < b_rows[j]):
            rows[m] = a_rows[i]
            out[m] = a[i]
            i += 1
        elif i == len(a_rows) or b_rows[j] < a_rows[i]:
            rows[m] = b_rows[j]
            out[m] = b[j]
            j += 1
        else:
            rows[m] = a_rows[i]
            _added(a[i], b[j], out[m])
            i += 1
            j += 1
        m += 1
    return m


@kernel
def add_longer(rows, steps, total, scale, new):  # type: ignore[no-untyped-def]
    """Add to ``new`` (n, d), at ``rows``, the longer of ``steps`` (m, d) and ``scale`` * ``total``, (n,) and (n, d)."""
    for i in range(len(rows)):
        row = rows[i]
        one, other = steps[i], total[row]
        aa = bb = 0.0
        for k in range(len(one)):
            x, y = np.float64(one[k]), scale[row] * other[k]
            aa += x * x
            bb += y * y
        for k in range(len(one)):
            new[row, k] += np.float32(scale[row] * other[k]) if bb > aa else one[k]


@kernel
def changed_rows(old, new, rows):  # type: ignore[no-untyped-def]
    """Set ``rows`` to the rows in which two tables differ, ascending; return how many there are."""
    n = 0
    for i in range(len(old)):
        for k in range(old.shape[1]):
            if old[i, k] != new[i, k]:
                rows[n] = i
                n += 1
                break
    return n
