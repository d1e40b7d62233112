"""Kernel values beyond doubles: exact rationals where the kernel has them, balls of any precision for all kernels.

Products and squared distances are computed exactly, on integers over one denominator; only the exponential, the root
and the final arithmetic are balls, each of which contains the exact number (Johansson, Arb: efficient
arbitrary-precision midpoint-radius interval arithmetic, 2017).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from sepcert.kernels.base import Kernel
from sepcert.kernels.combined import CombinedKernel, ProductKernel
from sepcert.kernels.gaussian import GaussianKernel
from sepcert.kernels.laplacian import LaplacianKernel
from sepcert.kernels.linear import LinearKernel
from sepcert.kernels.matern import SMOOTHNESS, MaternKernel
from sepcert.kernels.polynomial import PolynomialKernel
from sepcert.kernels.precomputed import PrecomputedKernel
from sepcert.verify.exact_entries import integer_rows
from sepcert.verify.kernel_points import PointRows

Ball = Any
"""A `flint.arb`: a midpoint with a radius."""
ExactPoint = tuple[list[int], int]
"""Integers over one positive denominator."""


def exact_value(kernel: Kernel, x: Sequence[Fraction], z: Sequence[Fraction]) -> Fraction:
    """Return K(x, z) of a kernel whose values are rational.

    Parameters
    ----------
    kernel : Kernel
        With ``kernel.rational``.
    x, z : sequence of Fraction, length d

    Raises
    ------
    ValueError
        The kernel's values are not rational.
    """
    return exact_values(kernel, [_over_one(x)], [_over_one(z)])[0][0]


def exact_points(rows: PointRows) -> list[ExactPoint]:
    """Return the exact points of these rows, for :func:`exact_values` and :func:`ball_values`."""
    return integer_rows(rows.points, rows.indices())


def exact_values(
    kernel: Kernel, left: Sequence[ExactPoint], right: Sequence[ExactPoint], shift: Fraction = Fraction(0)
) -> list[list[Fraction]]:
    """Return K(x, z) + shift for all pairs, exactly, of a kernel whose values are rational.

    Parameters
    ----------
    kernel : Kernel
        With ``kernel.rational``.
    left, right : sequence
        m and k exact points; see :func:`exact_points`.
    shift : Fraction
        b0**2 where there is a bias, else 0.

    Raises
    ------
    ValueError
        The kernel's values are not rational.
    """
    values = _exact(kernel, left, right)
    return [[value + shift for value in row] for row in values] if shift else values


def _exact(kernel: Kernel, left: Sequence[ExactPoint], right: Sequence[ExactPoint]) -> list[list[Fraction]]:
    if isinstance(kernel, LinearKernel):
        return _products(left, right)
    if isinstance(kernel, PolynomialKernel):
        gamma, constant, degree = kernel.gamma, kernel.coef0, kernel.degree
        return [[(gamma * value + constant) ** degree for value in row] for row in _products(left, right)]
    if isinstance(kernel, PrecomputedKernel):
        rows, columns = (_matrix_rows(kernel, points) for points in (left, right))
        return [[Fraction(float(kernel.matrix[i, j])) for j in columns] for i in rows]
    if isinstance(kernel, CombinedKernel) and kernel.rational:
        first, *others = (_exact(member, left, right) for member in kernel.of)
        for other in others:
            for row, more in zip(first, other, strict=True):
                for j, value in enumerate(more):
                    row[j] = row[j] * value if isinstance(kernel, ProductKernel) else row[j] + value
        return first
    raise ValueError(f"the values of the {kernel.name} kernel are not rational")


def _over_one(point: Sequence[Fraction]) -> ExactPoint:
    denominator = math.lcm(*(v.denominator for v in point))
    return [v.numerator * (denominator // v.denominator) for v in point], denominator


def _common(left: Sequence[ExactPoint], right: Sequence[ExactPoint]) -> tuple[list[list[int]], list[list[int]], int]:
    """Write all points over one denominator."""
    denominator = math.lcm(*{d for _, d in left}, *{d for _, d in right})
    sides = (
        [
            [v * (denominator // below) for v in entries] if below != denominator else entries
            for entries, below in points
        ]
        for points in (left, right)
    )
    first, second = sides
    return first, second, denominator


def _integer_products(first: list[list[int]], second: list[list[int]]) -> list[list[int]]:
    from flint import fmpz_mat

    if not first or not second:
        return [[] for _ in first]
    if not first[0]:
        return [[0] * len(second) for _ in first]
    product = fmpz_mat(first) * fmpz_mat(second).transpose()
    return [[int(v) for v in row] for row in product.tolist()]


def _products(left: Sequence[ExactPoint], right: Sequence[ExactPoint]) -> list[list[Fraction]]:
    first, second, denominator = _common(left, right)
    square = denominator * denominator
    return [[Fraction(v, square) for v in row] for row in _integer_products(first, second)]


def _matrix_rows(kernel: PrecomputedKernel, points: Sequence[ExactPoint]) -> list[int]:
    numbers = np.array([entries[0] / below for entries, below in points], dtype=np.float64)
    return [int(i) for i in kernel.index(numbers[:, None])]


def ball_value(
    kernel: Kernel, x: Sequence[Fraction], z: Sequence[Fraction], bits: int, shift: Fraction = Fraction(0)
) -> Ball:
    """Return a ball that contains K(x, z) + shift; otherwise as :func:`ball_values`."""
    return ball_values(kernel, [_over_one(x)], [_over_one(z)], bits, shift)[0][0]


def ball_values(
    kernel: Kernel,
    left: Sequence[ExactPoint],
    right: Sequence[ExactPoint],
    bits: int,
    shift: Fraction = Fraction(0),
) -> list[list[Ball]]:
    """Return balls that contain K(x, z) + shift for all pairs.

    Parameters
    ----------
    kernel : Kernel
    left, right : sequence
        m and k exact points; see :func:`exact_points`.
    bits : int
        Precision; the radii are a few units of 2**-bits relative to the values.
    shift : Fraction
        b0**2 where there is a bias, else 0.

    Returns
    -------
    list of list of flint.arb, m by k
    """
    from flint import ctx

    with ctx.workprec(bits):
        values = _balls(kernel, left, right)
        if shift:
            more = _ball(shift)
            values = [[value + more for value in row] for row in values]
    return values


def _ball(value: Fraction) -> Ball:
    from flint import arb, fmpq

    return arb(fmpq(value.numerator, value.denominator))


def _balls(kernel: Kernel, left: Sequence[ExactPoint], right: Sequence[ExactPoint]) -> list[list[Ball]]:
    from flint import arb

    if isinstance(kernel, CombinedKernel):
        first, *others = (_balls(member, left, right) for member in kernel.of)
        for other in others:
            for row, more in zip(first, other, strict=True):
                for j, value in enumerate(more):
                    row[j] = row[j] * value if isinstance(kernel, ProductKernel) else row[j] + value
        return first
    if isinstance(kernel, PrecomputedKernel):
        return [[_ball(value) for value in row] for row in _exact(kernel, left, right)]
    first, second, denominator = _common(left, right)
    if isinstance(kernel, LaplacianKernel):
        factor = -_ball(kernel.gamma / denominator)
        distances = ([sum(map(abs, map(int.__sub__, x, z))) for z in second] for x in first)
        return [[(factor * arb(v)).exp() for v in row] for row in distances]
    if isinstance(kernel, GaussianKernel):
        factor = -_ball(kernel.gamma / denominator**2)
        return [[(factor * arb(v)).exp() for v in row] for row in _squares(first, second)]
    if isinstance(kernel, MaternKernel):
        factor = _ball(kernel.square_factor / denominator**2)
        return [[_matern(kernel, (factor * arb(v)).sqrt()) for v in row] for row in _squares(first, second)]
    if isinstance(kernel, LinearKernel):
        factor = _ball(Fraction(1, denominator**2))
        return [[factor * arb(v) for v in row] for row in _integer_products(first, second)]
    if isinstance(kernel, PolynomialKernel):
        factor, constant = _ball(kernel.gamma / denominator**2), _ball(kernel.coef0)
        return [
            [(factor * arb(v) + constant) ** kernel.degree for v in row] for row in _integer_products(first, second)
        ]
    raise ValueError(f"there is no rule for the {kernel.name} kernel")


def _squares(first: list[list[int]], second: list[list[int]]) -> list[list[int]]:
    """Return the squared distances of integer points."""
    here, there = ([sum(v * v for v in point) for point in points] for points in (first, second))
    products = _integer_products(first, second)
    return [[a + b - 2 * v for b, v in zip(there, row, strict=True)] for a, row in zip(here, products, strict=True)]


def _matern(kernel: MaternKernel, q: Ball) -> Ball:
    decay = (-q).exp()
    if kernel.nu == SMOOTHNESS[0]:
        return decay
    return (1 + q) * decay if kernel.nu == SMOOTHNESS[1] else (1 + q * (1 + q / 3)) * decay
