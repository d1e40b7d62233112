r"""Exact signs of z_i'w for all rows: a floating-point filter with a proved bound, integers behind it.

The bound.  Let x_j be an exact entry and \hat x_j its double, w_j an exact weight and \hat w_j its double,
u = 2**-53.  Rounding to nearest gives |\hat x_j - x_j| <= u |\hat x_j| + 2**-1075, and the same for w_j (the last
term only for subnormal results, among them nonzero numbers that became 0).  For the computed sum s of the D products,
in any order, with or without fused multiply-add,

    |s - sum \hat x_j \hat w_j| <= gamma_D M + 2 D 2**-1022,    M = sum |\hat x_j| |\hat w_j|,  gamma_D = D u/(1 - D u)

(Higham, Accuracy and Stability of Numerical Algorithms, sec. 3.1; the second term covers gradual underflow and
hardware that flushes results to zero).  Hardware that reads subnormals as zero adds at most 2**-1022 per unit of
|\hat x_j| and of |\hat w_j|.  The exact products differ from the rounded ones by (2u + u**2) M plus such terms.
Together, for D <= 2**30,

    |s - z_i'w| <= (D + 6) u (1 + 2**-20) M' + 2**-1020 (sum |\hat w_j| + sum |\hat x_j| + 4 (D + 1))

with M' the computed M: (D + 2) u and second-order terms are needed, four units and the factor are left for the
rounding of M' and of the bound itself.  A first pass uses M <= sum |\hat w_j| max_i |\hat x_ij|.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from sepcert.problem import FloatArray, IntArray, SignArray
from sepcert.verify.integer_columns import integer_signs
from sepcert.verify.rows import BLOCK, SignedRows

UNIT = 2.0**-53
_TINY = 2.0**-1020
_FAR = 2.0**20


def common_integers(weights: Sequence[Fraction]) -> list[int]:
    """Return integers without a common factor in the same proportions as `weights`, signs kept."""
    denominator = math.lcm(*(w.denominator for w in weights)) if weights else 1
    numerators = [w.numerator * (denominator // w.denominator) for w in weights]
    divisor = math.gcd(*numerators) or 1
    return [v // divisor for v in numerators]


def signs(rows: SignedRows, weights: Sequence[Fraction], subset: IntArray | None = None) -> SignArray:
    """Return the exact sign of z_i'w for every row.

    Parameters
    ----------
    rows : SignedRows
    weights : sequence of Fraction, length D
    subset : ndarray of int64, optional
        Rows wanted; default all.

    Returns
    -------
    ndarray of int8, shape (n,) or (len(subset),)
        -1, 0 or +1; never wrong.
    """
    count = rows.count if subset is None else len(subset)
    result = np.zeros(count, dtype=np.int8)
    exact = common_integers(weights)
    if not any(exact) or count == 0:
        return result
    doubtful = np.arange(count)
    rounded = rounded_weights(exact, rows.column_bounds)
    if rounded is not None:
        with np.errstate(all="ignore"):
            doubtful = _filtered(rows, rounded, subset, result)
    if len(doubtful):
        wanted = doubtful if subset is None else subset[doubtful]
        result[doubtful] = integer_signs(rows, exact, wanted)
    return result


def rounded_weights(exact: list[int], bounds: FloatArray) -> FloatArray | None:
    """Return doubles proportional to the integers, scaled so that no product is large; None if that cannot be."""
    sizes = [
        v.bit_length() + math.frexp(bound)[1] for v, bound in zip(exact, bounds.tolist(), strict=True) if v and bound
    ]
    if not sizes:
        return None
    shift = max(sizes)
    try:
        return np.array([_scaled(v, -shift) for v in exact])
    except OverflowError:
        return None


def _scaled(value: int, exponent: int) -> float:
    """Return the double nearest to value * 2**exponent."""
    if exponent >= 0:
        return float(value << exponent)
    return float(Fraction(value, 1 << -exponent))


def _filtered(rows: SignedRows, weights: FloatArray, subset: IntArray | None, result: SignArray) -> IntArray:
    """Write the signs that doubles can prove into `result` and return the positions of the others."""
    gain = (rows.dimension + 6) * UNIT * (1 + 2.0**-20)
    sizes = np.abs(weights)
    bounds = rows.column_bounds
    floor = _TINY * (float(sizes.sum()) + float(bounds.sum()) + 4 * (rows.dimension + 1))
    products = rows.times(weights, subset)
    coarse = gain * float(sizes @ bounds) * (1 + 2.0**-40) + floor
    if not math.isfinite(coarse):
        coarse = math.inf
    np.greater(products, coarse, out=result.view(np.bool_))
    result[products < -coarse] = -1
    open_rows = np.flatnonzero(result == 0)
    left: list[IntArray] = []
    for start in range(0, len(open_rows), BLOCK):
        at = open_rows[start : start + BLOCK]
        block = rows.floats(at if subset is None else subset[at])
        error = gain * (np.abs(block) @ sizes) + floor
        value = products[at]
        result[at[value > error]] = 1
        result[at[value < -error]] = -1
        left.append(at[~(np.abs(value) > error)])
    return np.concatenate(left) if left else np.empty(0, dtype=np.int64)


def dot_enclosure(
    rows: SignedRows, weights: FloatArray, radii: FloatArray | None = None, subset: IntArray | None = None
) -> tuple[FloatArray, FloatArray]:
    """Enclose z_i'w for all exact w with |w_j - weights_j| <= u |weights_j| + radii_j.

    Parameters
    ----------
    rows : SignedRows
    weights, radii : ndarray of float64, shape (D,)
    subset : ndarray of int64, optional

    Returns
    -------
    values, errors : ndarray of float64
        |values_i - z_i'w| <= errors_i for every row; not finite where doubles overflow.  The bound of the row itself
        where the product is small, one for all rows elsewhere.
    """
    gain = (rows.dimension + 6) * UNIT * (1 + 2.0**-20)
    sizes = np.abs(weights)
    extra = radii if radii is not None else np.zeros_like(sizes)
    bounds = rows.column_bounds
    with np.errstate(all="ignore"):
        floor = _TINY * (float((sizes + extra).sum()) + float(bounds.sum()) + 4 * (rows.dimension + 1))
        values = rows.times(weights, subset)
        spread = gain * sizes + extra * (1 + 2.0**-40)
        coarse = float(spread @ bounds) * (1 + 2.0**-39) + floor
        errors = np.full_like(values, coarse)
        near = np.flatnonzero(~(np.abs(values) > _FAR * coarse))
        for start in range(0, len(near), BLOCK):
            at = near[start : start + BLOCK]
            block = rows.floats(at if subset is None else subset[at])
            errors[at] = (np.abs(block) @ spread) * (1 + 2.0**-40) + floor
    return values, errors
