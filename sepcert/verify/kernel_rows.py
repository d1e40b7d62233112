r"""What the verifier proves about a kernel problem: signs, norms and margins of expansions, in doubles with bounds.

For f = sum_j alpha_j y_j K(x_j, .) and the raw rows z_i = y_i phi(x_i) (a bias adds b0**2 to K):

    z_i'f = y_i sum_j c_j K(x_i, x_j),   |f|^2 = sum_ij c_i c_j K(x_i, x_j),   c_j = alpha_j y_j.

The coefficients are scaled by one power of two, which changes neither signs nor quotients, and rounded to doubles with
a radius of u |c_j|.  Where doubles leave a sign open, balls of rising precision decide.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property

import numpy as np

from sepcert.certificate.model import Combination
from sepcert.problem import FloatArray, IntArray, Problem
from sepcert.verify.kernel_exact import ball_values, exact_points
from sepcert.verify.kernel_points import GAIN, UNIT, PointRows
from sepcert.verify.kernel_values import enclose, enclose_diagonal, enclose_expansion
from sepcert.verify.signs import common_integers, rounded_weights

_BITS = (128, 512, 2048)
_MANY_DOUBTFUL = 20_000


class KernelRows:
    """The raw rows of a kernel problem, of which only values of K are known."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.count = problem.rows
        self.shift = problem.bias_scale**2 if problem.bias else Fraction(0)

    @cached_property
    def lengths(self) -> tuple[FloatArray, FloatArray]:
        """Bounds from below and above of sqrt(K_ii + b0**2), shape (n,)."""
        values, errors = enclose_diagonal(self.problem.kernel, PointRows(self.problem.points), self.shift)
        with np.errstate(invalid="ignore"):
            low = np.sqrt(np.maximum(values - errors, 0.0)) * (1 - 4 * UNIT)
            high = np.sqrt(values + errors) * (1 + 4 * UNIT)
        return low, high


class Expansion:
    """An f in the span of the rows.

    Parameters
    ----------
    rows : KernelRows
    alpha : Combination
        Over the raw rows.
    """

    def __init__(self, rows: KernelRows, alpha: Combination) -> None:
        self.rows = rows
        self.support: IntArray = np.array(alpha.rows, dtype=np.int64)
        labels = rows.problem.labels[self.support].tolist()
        self.exact = common_integers([a * int(y) for a, y in zip(alpha.values, labels, strict=True)])
        rounded = rounded_weights(self.exact, np.ones(len(self.exact)))
        self.coefficients = np.zeros(len(self.exact)) if rounded is None else rounded
        self.radii = UNIT * (1 + UNIT) * np.abs(self.coefficients) + 2.0**-1000

    def products(self) -> tuple[FloatArray, FloatArray]:
        """Enclose z_i'f (up to the scale of the coefficients) for all rows: values and errors, shape (n,)."""
        problem = self.rows.problem
        points = PointRows(problem.points)
        values, errors = enclose_expansion(
            problem.kernel,
            points,
            PointRows(problem.points, self.support),
            self.coefficients,
            self.radii,
            self.rows.shift,
        )
        return values * problem.labels, errors

    def positive(self, values: FloatArray, errors: FloatArray) -> tuple[int, int]:
        """Return how many rows have z_i'f > 0, proved, and how many stay open at the highest precision."""
        doubtful = np.flatnonzero(~(np.abs(values) > errors))
        proved = int(np.count_nonzero(values > errors))
        if len(doubtful) > _MANY_DOUBTFUL:
            return proved, len(doubtful)
        for bits in _BITS:
            if not len(doubtful):
                break
            signs = [self._ball_sign(int(i), bits) for i in doubtful]
            proved += signs.count(1)
            doubtful = doubtful[[sign is None for sign in signs]]
        return proved, len(doubtful)

    def _ball_sign(self, row: int, bits: int) -> int | None:
        from flint import ctx

        problem = self.rows.problem
        left = exact_points(PointRows(problem.points, np.array([row])))
        right = exact_points(PointRows(problem.points, self.support))
        values = ball_values(problem.kernel, left, right, bits, self.rows.shift)[0]
        with ctx.workprec(bits):
            total = sum(value * c for value, c in zip(values, self.exact, strict=True)) * int(problem.labels[row])
            return 1 if total > 0 else -1 if total < 0 else None

    def square(self) -> tuple[float, float]:
        """Return bounds from below and above of |f|^2, at the scale of the coefficients."""
        problem = self.rows.problem
        points = PointRows(problem.points, self.support)
        values, errors = enclose(problem.kernel, points, points, self.rows.shift)
        sizes = np.abs(self.coefficients) + self.radii
        with np.errstate(all="ignore"):
            centre = float(self.coefficients @ (values @ self.coefficients))
            reach = np.abs(values) + errors
            gain = (2 * len(self.coefficients) + 8) * UNIT * GAIN
            error = float(sizes @ ((errors + gain * reach) @ sizes))
            error += 2 * float(self.radii @ (reach @ sizes))
            error = error * GAIN + 2.0**-900
        return max(centre - error, 0.0), centre + error


def kernel_margin_lower(expansion: Expansion) -> float:
    """Return a lower bound of min_i z_i'f / (|z_i| |f|); 0.0 where no positive one is proved."""
    values, errors = expansion.products()
    _, high = expansion.rows.lengths
    _, square = expansion.square()
    if not 0 < square < math.inf:
        return 0.0
    with np.errstate(all="ignore"):
        quotients = (values - errors) / (high * (math.sqrt(square) * (1 + 4 * UNIT)))
    least = float(quotients.min(initial=1.0)) * (1 - 8 * UNIT)
    return least if least > 0 and math.isfinite(least) else 0.0


def kernel_margin_upper(rows: KernelRows, weights: Combination) -> float:
    """Return an upper bound of |sum q_i z_i| / sum q_i |z_i| for q >= 0; inf where none is proved."""
    signed = Expansion(rows, weights)
    _, square = signed.square()
    low, _ = rows.lengths
    with np.errstate(all="ignore"):
        size = float((np.abs(signed.coefficients) - signed.radii).clip(0) @ low[signed.support])
        size *= 1 - (len(signed.support) + 8) * UNIT
        bound = math.sqrt(square) * (1 + 4 * UNIT) / size if size > 0 else math.inf
    return bound * (1 + 4 * UNIT) if math.isfinite(bound) else math.inf
