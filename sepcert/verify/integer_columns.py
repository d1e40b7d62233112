"""Exact signs of z_i'w in integers: many rows at a time where the columns allow it, Python integers elsewhere.

A column whose entries are all m / s with one power s of ten (decimals) or of two (doubles) and integers
|m| < 10**15 is an integer column.  Then z_i'w has the sign of sum_j m_ij c_j for integers c_j, which int64 evaluates
exactly after both factors are cut into limbs.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from sepcert.problem import IntArray, SignArray
from sepcert.verify.exact_entries import integer_column
from sepcert.verify.rows import BLOCK, SignedRows

_FEW = 64


def integer_signs(rows: SignedRows, weights: list[int], subset: IntArray) -> SignArray:
    """Return the exact signs of z_i'w for the rows in `subset`, with integer weights of any size."""
    if len(subset) <= _FEW:
        return _one_by_one(rows, weights, subset)
    result = np.zeros(len(subset), dtype=np.int8)
    for start in range(0, len(subset), BLOCK):
        part = subset[start : start + BLOCK]
        result[start : start + len(part)] = _block_signs(rows, weights, part)
    return result


def _one_by_one(rows: SignedRows, weights: list[int], subset: IntArray) -> SignArray:
    wanted = subset.tolist()
    used = [j for j, w in enumerate(weights) if w]
    result = np.zeros(len(wanted), dtype=np.int8)
    rows.fetch(wanted)
    for k, i in enumerate(wanted):
        numerators, _ = rows.integers(i)
        value = sum(numerators[j] * weights[j] for j in used)
        result[k] = (value > 0) - (value < 0)
    return result


def _block_signs(rows: SignedRows, weights: list[int], subset: IntArray) -> SignArray:
    """Return exact signs for one block, vectorised for the rows and columns that allow it."""
    points = rows.problem.points
    result = np.zeros(len(subset), dtype=np.int8)
    regular = np.ones(len(subset), dtype=np.bool_)
    if points.irregular is not None:
        regular = ~points.irregular[subset]
    shift = int(rows.problem.bias)
    used = [j for j in range(shift, rows.dimension) if weights[j]]
    chosen = subset[regular]
    columns = [integer_column(points.values[chosen, j - shift], points.numbers) for j in used]
    if all(column is not None for column in columns):
        entries = [column[0] for column in columns if column is not None]
        factors = [Fraction(weights[j]) / c[1] for j, c in zip(used, columns, strict=True) if c is not None]
        if shift and weights[0]:
            entries.append(np.ones(len(chosen), dtype=np.int64))
            factors.append(weights[0] * rows.problem.bias_scale)
        denominator = math.lcm(*(f.denominator for f in factors))
        scaled = [int(f * denominator) for f in factors]
        result[regular] = _signs_of_sums(entries, scaled, len(chosen)) * rows.problem.labels[chosen]
        rest = np.flatnonzero(~regular)
    else:
        rest = np.arange(len(subset))
    if len(rest):
        result[rest] = _one_by_one(rows, weights, subset[rest])
    return result


def _signs_of_sums(entries: list[IntArray], factors: list[int], count: int) -> SignArray:
    """Return the signs of sum_j entries_j factors_j; |entries| < 2**50, integer factors of any size.

    Both are cut into limbs of b bits (floor division, so only the top limb of an entry is signed).  Digit k of the
    sum is sum over a + l = k of entries_a @ factors_l; at most four products of D terms below 2**(2b) meet in it,
    and b is chosen so that this stays below 2**61.
    """
    if not entries:
        return np.zeros(count, dtype=np.int8)
    width = (61 - 2 - len(entries).bit_length()) // 2
    mask = (1 << width) - 1
    matrix = np.stack(entries, axis=1)
    parts: list[IntArray] = []
    for at in range(0, 51, width):
        last = at + width > 50
        parts.append(matrix >> at if last else (matrix >> at) & mask)
    limbs: list[IntArray] = []
    sizes = [abs(f) for f in factors]
    while any(sizes):
        limbs.append(np.array([(v & mask) * (1 if f > 0 else -1) for v, f in zip(sizes, factors, strict=True)]))
        sizes = [v >> width for v in sizes]
    carry = np.zeros(count, dtype=np.int64)
    below = np.zeros(count, dtype=np.bool_)
    for digit in range(len(parts) + len(limbs) - 1):
        total = carry
        for a, part in enumerate(parts):
            if 0 <= digit - a < len(limbs):
                total = total + part @ limbs[digit - a]
        below |= (total & mask) != 0
        carry = total >> width
    return np.where(carry != 0, np.sign(carry), below).astype(np.int8)
