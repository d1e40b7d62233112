r"""How the values of each kernel are enclosed in doubles, with the proofs.

Everything is computed from +, -, x, / and sqrt of IEEE 754; matrix products only where a bound holds for every order of
summation; distances always from differences.  u = 2**-53, theta stands for relative errors of at most u each.

Radial kernels.  The computed squared distance of the doubles is sum_j ((\hat x_j - \hat z_j)(1 + theta))**2 (1 + theta)
with at most d - 1 more factors (1 + theta) from the sum: d + 2 in all; times a rounded factor, d + 4.  The computed
exponent s of K = f(tau) therefore satisfies |s - \hat tau| <= c s with c = (d + 6) u (1 + 2**-20), where \hat tau
belongs to the doubles; for the square root of it, c covers half as many and one more.  Entries that are rounded numbers
move the distance by at most h (:mod:`sepcert.verify.kernel_points`), so

    |s - tau| <= D = c s + (2 sqrt(s) g + g**2)(1 + 2**-20),  g = sqrt(gamma) h   (Gaussian),
    |s - tau| <= D = c s + g (1 + 2**-20),  g = gamma h (Laplacian) or sqrt(2 nu) h/l (Matern).

f is exp(-tau), (1 + tau) exp(-tau) or (1 + tau + tau**2/3) exp(-tau); |f'| <= f for all of them, so f(tau)/f(s) lies
between exp(-D) and exp(D), and exp(D) - 1 <= D + D**2 for D <= 1.  The computed v of f(s) has the error of the
exponential, 3 u, that of the factor, at most four roundings of nonnegative terms, and one product.  For D <= 1

    |v - K| <= v (10 u + D + D**2)(1 + 2**-20) + 2**-980;

for D > 1 the bound is 1 + 2**-30, as 0 <= K <= 1; and where s - D >= 700, v is set to 0: K <= (1 + tau + tau**2/3)
exp(-tau) < 2**-980 for tau >= 699.  With exact entries D <= 1 wherever s <= 705, as d <= 2**30, and D**2 <= 705 c D.
Two of the ten units and 2**-980 also cover what underflows: squares below 2**-1022 change s by less than
d 2**-1022 gamma < 2**-690, or the root of it by less than 2**-190 (parameters are at most 2**300 in size).

Polynomials.  With P the exact and \hat P the computed product, off by e, b = gamma P + c0 and the computed \hat b,

    |b - \hat b| <= E = (gamma e + 4 u (gamma |\hat P| + c0 + |\hat b|))(1 + 2**-20) + 2**-1020,
    |b**p - v| <= (p E (|\hat b| + E)**(p-1) + 2 p u |v|)(1 + 2**-20) + 2**-1000,

because v is made with p - 1 products.  Intermediate powers underflow only where |\hat b| < 1, and then the value itself
is tiny.  Sums and products of enclosures add one rounding each.  Where a double overflows, the value is 0 and the error
inf.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from sepcert.kernels.base import Kernel
from sepcert.kernels.combined import ProductKernel, SumKernel
from sepcert.kernels.gaussian import GaussianKernel
from sepcert.kernels.laplacian import LaplacianKernel
from sepcert.kernels.linear import LinearKernel
from sepcert.kernels.matern import SMOOTHNESS, MaternKernel
from sepcert.kernels.polynomial import PolynomialKernel
from sepcert.kernels.precomputed import PrecomputedKernel
from sepcert.problem import FloatArray
from sepcert.verify.kernel_exponential import LARGEST_EXPONENT, exponential
from sepcert.verify.kernel_points import GAIN, TINY, UNIT, Pairs

Enclosure = tuple[FloatArray, FloatArray]
"""Values and errors of one shape: |values - exact| <= errors."""

_DEAD = 700.0
_ANYTHING = 1 + 2.0**-30
_FLOOR = 2.0**-980
_VALUE_UNITS = 10


def enclosed(kernel: Kernel, pairs: Pairs) -> Enclosure:
    """Enclose K for all pairs; not finite where doubles overflow.

    Parameters
    ----------
    kernel : Kernel
        Of a type with a rule in :data:`RULES`.
    pairs : Pairs

    Returns
    -------
    values, errors : ndarray of float64, of the shape of `pairs`
    """
    if pairs.same and kernel.unit_diagonal:
        return np.ones(pairs.shape), np.zeros(pairs.shape)
    rule: Callable[[Any, Pairs], Enclosure] = RULES[type(kernel)]
    return rule(kernel, pairs)


def _linear(kernel: LinearKernel, pairs: Pairs) -> Enclosure:
    return pairs.products()


def _polynomial(kernel: PolynomialKernel, pairs: Pairs) -> Enclosure:
    base, error = pairs.products()
    gamma, constant, p = float(kernel.gamma), float(kernel.coef0), kernel.degree
    base *= gamma
    error *= gamma
    size = np.abs(base)
    base += constant
    error = (error + 4 * UNIT * (size + constant + np.abs(base))) * GAIN + 2.0**-1020
    if p == 1:
        return base, error
    values = _power(base, p)
    errors = (p * (error * _power(np.abs(base) + error, p - 1)) + 2 * p * UNIT * np.abs(values)) * GAIN + TINY
    return values, errors


def _power(base: FloatArray, p: int) -> FloatArray:
    """Return base**p, p >= 1, as a product of p factors in some order."""
    result: FloatArray | None = None
    square = base
    while True:
        if p & 1:
            result = square.copy() if result is None else result * square
        p >>= 1
        if not p:
            return base if result is None else result
        square = square * square


def _gaussian(kernel: GaussianKernel, pairs: Pairs) -> Enclosure:
    s = pairs.squares()
    h = pairs.rounding(2, s)
    s *= float(kernel.gamma)
    if h is None:
        return _decayed(s, None, pairs.gain)
    h *= _root_above(kernel.gamma)
    return _decayed(s, (2.0 * np.sqrt(s) * h + h * h) * GAIN, pairs.gain)


def _laplacian(kernel: LaplacianKernel, pairs: Pairs) -> Enclosure:
    s = pairs.absolutes()
    h = pairs.rounding(1, s)
    s *= float(kernel.gamma)
    return _decayed(s, None if h is None else h * (float(kernel.gamma) * GAIN), pairs.gain)


def _matern(kernel: MaternKernel, pairs: Pairs) -> Enclosure:
    s = pairs.squares()
    h = pairs.rounding(2, s)
    s *= float(kernel.square_factor)
    np.sqrt(s, out=s)
    extra = None if h is None else h * (_root_above(kernel.square_factor) * GAIN)
    if kernel.nu == SMOOTHNESS[0]:
        return _decayed(s, extra, pairs.gain)
    near = np.minimum(s, LARGEST_EXPONENT)
    if kernel.nu == SMOOTHNESS[1]:
        near += 1.0
        return _decayed(s, extra, pairs.gain, near)
    factor = near / 3.0
    factor += 1.0
    factor *= near
    factor += 1.0
    return _decayed(s, extra, pairs.gain, factor)


def _root_above(value: Fraction) -> float:
    """Return a double at least sqrt(value), and not much larger."""
    return math.sqrt(float(value)) * (1 + 2.0**-50)


def _decayed(s: FloatArray, extra: FloatArray | None, gain: float, factor: FloatArray | None = None) -> Enclosure:
    """Enclose f(tau), |tau - s| <= gain s + extra, f the product of exp(-s) and the factor."""
    values = exponential(np.minimum(s, LARGEST_EXPONENT))
    if factor is not None:
        values *= factor
    if extra is None:
        # D = gain s; D**2 <= gain s times the constant gain 705, where s <= 705
        dead = s >= _DEAD + 1
        s *= gain * (1 + gain * LARGEST_EXPONENT) * GAIN
        errors = s
        errors += _VALUE_UNITS * UNIT * GAIN
        errors *= values
        errors += _FLOOR
        if dead.any():
            values[dead] = 0.0
            errors[dead] = _FLOOR
        return values, errors
    spread = s * gain + extra
    unknown = ~(spread <= 1.0)
    dead = s - spread >= _DEAD
    errors = (spread + spread * spread + _VALUE_UNITS * UNIT) * values * GAIN + _FLOOR
    errors[unknown] = _ANYTHING
    values[dead] = 0.0
    errors[dead] = _FLOOR
    return values, errors


def _sum(kernel: SumKernel, pairs: Pairs) -> Enclosure:
    values, errors = enclosed(kernel.of[0], pairs)
    for member in kernel.of[1:]:
        more, error = enclosed(member, pairs)
        values = values + more
        errors = (errors + error + np.abs(values) * UNIT) * GAIN + TINY
    return values, errors


def _product(kernel: ProductKernel, pairs: Pairs) -> Enclosure:
    values, errors = enclosed(kernel.of[0], pairs)
    for member in kernel.of[1:]:
        more, error = enclosed(member, pairs)
        errors = np.abs(values) * error + np.abs(more) * errors + errors * error
        values = values * more
        errors = (errors + np.abs(values) * UNIT) * GAIN + _FLOOR
    return values, errors


def _precomputed(kernel: PrecomputedKernel, pairs: Pairs) -> Enclosure:
    left, right = (kernel.index(side.columns.T) for side in (pairs.left, pairs.right))
    values = kernel.matrix[np.ix_(left, right)] if pairs.crossed else kernel.matrix[left, right]
    return values.copy(), np.zeros(pairs.shape)


RULES: dict[type[Kernel], Callable[..., Enclosure]] = {
    LinearKernel: _linear,
    PolynomialKernel: _polynomial,
    GaussianKernel: _gaussian,
    LaplacianKernel: _laplacian,
    MaternKernel: _matern,
    SumKernel: _sum,
    ProductKernel: _product,
    PrecomputedKernel: _precomputed,
}
"""How the values of each kernel are enclosed; a kernel without a rule cannot be part of a certified statement."""
