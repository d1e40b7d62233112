"""The raw rows z_i = y_i (b0, x_i) of a linear problem: exact integers for single rows, doubles for all."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from functools import cached_property

import numpy as np

from sepcert.problem import FloatArray, IntArray, Problem
from sepcert.status import Numbers
from sepcert.verify.exact_entries import integer_rows

BLOCK = 1 << 14
_CACHED_ENTRIES = 1 << 21


class SignedRows:
    """The raw rows of a problem; the bias feature, if there is one, comes first.

    Parameters
    ----------
    problem : Problem
        With the linear kernel.

    Attributes
    ----------
    count : int
        Number of rows n.
    dimension : int
        D, the bias feature included.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.count = problem.rows
        self.dimension = problem.dimension
        self._exact: dict[int, tuple[list[int], int]] = {}

    @property
    def bias(self) -> float:
        """The bias feature b0 as a double (off by at most u |b0|), or 0.0 where there is none."""
        return float(self.problem.bias_scale) if self.problem.bias else 0.0

    @property
    def relative_error(self) -> float:
        """How far a double entry may be from the exact one, relative to its size: 0, or u for rounded entries."""
        points = self.problem.points
        exact_bias = not self.problem.bias or Fraction(self.bias) == self.problem.bias_scale
        plain = points.numbers is Numbers.BINARY64 and points.irregular is None
        return 0.0 if plain and exact_bias else 2.0**-53

    @cached_property
    def column_bounds(self) -> FloatArray:
        """Largest size of the entries of each column as doubles; shape (D,), float64."""
        values = self.problem.points.values
        bounds = column_sizes(values)
        return np.concatenate([[self.bias], bounds]) if self.problem.bias else bounds

    def times(self, weights: FloatArray, subset: IntArray | None = None) -> FloatArray:
        """Return the floating-point products z_i'w.

        Parameters
        ----------
        weights : ndarray of float64, shape (D,)
        subset : ndarray of int64, optional
            Rows wanted; default all.

        Returns
        -------
        ndarray of float64, shape (n,) or (len(subset),)
        """
        values, labels = self.problem.points.values, self.problem.labels
        if subset is not None and 2 * len(subset) > self.count:
            return self.times(weights)[subset]
        if subset is not None:
            values, labels = values[subset], labels[subset]
        if not self.problem.bias:
            return values @ weights * labels
        products = values @ weights[1:]
        products += self.bias * weights[0]
        products *= labels
        return products

    def floats(self, rows: IntArray) -> FloatArray:
        """Return the given rows z_i as doubles, shape (m, D)."""
        values, labels = self.problem.points.values[rows], self.problem.labels[rows]
        if self.problem.bias:
            values = np.hstack([np.full((len(values), 1), self.bias), values])
        return values * labels[:, None].astype(np.float64)

    def fetch(self, rows: Iterable[int]) -> None:
        """Make the exact entries of many rows in one go (those of long numerals are read from the file again)."""
        wanted = sorted(i for i in {int(i) for i in rows} if i not in self._exact)
        if not wanted:
            return
        if (len(self._exact) + len(wanted)) * self.dimension > _CACHED_ENTRIES:
            self._exact.clear()
        b0, biased = self.problem.bias_scale, self.problem.bias
        for i, (entries, scale) in zip(wanted, integer_rows(self.problem.points, wanted), strict=True):
            sign = int(self.problem.labels[i])
            if biased:
                common = math.lcm(scale, b0.denominator)
                factor = sign * (common // scale)
                first = sign * b0.numerator * (common // b0.denominator)
                self._exact[i] = [first, *(v * factor for v in entries)], common
            else:
                self._exact[i] = [v * sign for v in entries], scale

    def integers(self, row: int) -> tuple[list[int], int]:
        """Return z_i exactly, as D integers over one positive denominator."""
        if row not in self._exact:
            self.fetch([row])
        return self._exact[row]

    def fractions(self, row: int) -> list[Fraction]:
        """Return the D exact entries of z_i."""
        numerators, denominator = self.integers(row)
        return [Fraction(v, denominator) for v in numerators]


def column_sizes(values: FloatArray) -> FloatArray:
    """Return the largest |entry| of each column, shape (d,); NaN or inf where a column has one.

    Rows are folded first, so that the reduction runs along memory: five times quicker than ``axis=0`` on a tall
    narrow matrix.
    """
    n, d = values.shape
    if n == 0 or d == 0:
        return np.zeros(d)
    fold = max(1, min(n, 2048 // d))
    body = (n // fold) * fold
    folded = values[:body].reshape(n // fold, fold * d)
    high = folded.max(axis=0).reshape(fold, d).max(axis=0)
    low = folded.min(axis=0).reshape(fold, d).min(axis=0)
    if body < n:
        high = np.maximum(high, values[body:].max(axis=0))
        low = np.minimum(low, values[body:].min(axis=0))
    sizes: FloatArray = np.maximum(high, -low)
    return sizes
