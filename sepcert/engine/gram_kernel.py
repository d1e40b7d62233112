r"""The rows of a kernel problem: blocks of the signed, normalised Gram matrix, never all of it.

    G_ij = y_i y_j (K(x_i,x_j) + b0^2) / (s_i s_j),   s_i = sqrt(K(x_i,x_i) + b0^2)

Blocks are computed a few rows at a time, so that the temporary arrays stay in the cache of the processor.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sepcert.kernels.base import Kernel, finite, require_positive
from sepcert.problem import FloatArray, IntArray, SignArray

BLOCK_ENTRIES = 1 << 17
"""Kernel values computed at once (1 MB)."""
ROUNDING = 8.0 * float(np.finfo(np.float64).eps)
"""Guessed error of a'Ga relative to (sum |a_i|)^2."""


@dataclass(frozen=True, eq=False)
class KernelRows:
    """Labelled points seen through a kernel.

    Attributes
    ----------
    points : ndarray of float64, shape (n, d), C order
    labels : ndarray of int8, shape (n,)
        y_i in {-1, +1}.
    kernel : Kernel
    bias : float
        b0 >= 0: its square is added to K before G is normalised; 0: there is none.
    """

    points: FloatArray
    labels: SignArray
    kernel: Kernel
    bias: float = 0.0

    @property
    def count(self) -> int:
        """Number of rows n."""
        return len(self.points)

    @cached_property
    def lengths(self) -> FloatArray:
        """s_i = sqrt(K(x_i, x_i) + b0^2), the norms of the raw rows; shape (n,).

        Raises
        ------
        KernelError
            A value overflows, or is 0, so that the row has no normalised form (it is a witness by itself: screen for
            it first).
        """
        with np.errstate(over="ignore", invalid="ignore"):
            squares = np.asarray(self.kernel.diagonal(self.points)) + self.bias**2
        require_positive(finite(squares, self.kernel.name), self.kernel.name)
        return np.asarray(np.sqrt(squares))

    @cached_property
    def _factors(self) -> FloatArray:
        """y_i / s_i."""
        return np.asarray(self.labels / self.lengths)

    def _values(self, left: IntArray | slice, right: IntArray | slice) -> FloatArray:
        """Return K + b0^2, neither signed nor normalised, for two sets of rows."""
        values = np.array(self.kernel.values(self.points[left], self.points[right]), dtype=np.float64, copy=None)
        if self.bias:
            values += self.bias**2
        return values

    def write_columns(self, index: IntArray, table: FloatArray, lines: IntArray) -> None:
        """Write G e_j for these j into these lines of a table, shape (., n); the diagonal is exactly 1."""
        n, factors = self.count, self._factors
        step = max(1, BLOCK_ENTRIES // n)
        width = min(n, BLOCK_ENTRIES)
        for start in range(0, len(index), step):
            chosen = index[start : start + step]
            for left in range(0, n, width):
                part = slice(left, left + width)
                values = self._values(chosen, part)
                values *= factors[part]
                values *= factors[chosen][:, None]
                table[lines[start : start + step], part] = values
        table[lines, index] = 1.0

    def square(self, index: IntArray) -> FloatArray:
        """Return G for these rows and columns, shape (k, k); every pair is computed once, the diagonal is 1."""
        k, factors = len(index), self._factors[index]
        square = np.empty((k, k))
        for part in _blocks(k, k):
            values = self._values(index[part], index[part.start :])
            values *= factors[part.start :]
            values *= factors[part][:, None]
            square[part, part.start :] = values
            square[part.start :, part] = values.T
        np.fill_diagonal(square, 1.0)
        return square

    def combine(self, index: IntArray, coefficients: FloatArray) -> FloatArray:
        """Return sum_j c_j G e_j over these j, shape (n,), without holding a column; symmetry is used among them."""
        c = coefficients * self._factors[index]
        inside = np.zeros(len(index))
        for part in _blocks(len(index), len(index)):
            values = self._values(index[part], index[part.start :])
            inside[part] += values @ c[part.start :]
            later = part.stop - part.start
            inside[part.stop :] += c[part] @ values[:, later:]
        image = np.empty(self.count)
        image[index] = inside
        rest = np.ones(self.count, dtype=bool)
        rest[index] = False
        others = np.flatnonzero(rest)
        for part in _blocks(len(others), len(index)):
            image[others[part]] = self._values(others[part], index) @ c
        image *= self._factors
        return image

    def norm(self, a: FloatArray) -> float:
        """Return |a|_G; equal points are taken together first, so that what cancels there cancels exactly.

        A square that cannot be told from 0 in doubles counts as 0, unless the kernel is strictly positive definite:
        then it is not 0, and counts as large as its rounding error may be.
        """
        support = np.flatnonzero(a)
        if not len(support):
            return 0.0
        points, group = np.unique(self.points[support] + 0.0, axis=0, return_inverse=True)
        c = np.bincount(group.ravel(), weights=a[support] * self._factors[support], minlength=len(points))
        points, c = points[c != 0.0], c[c != 0.0]
        if not len(c):
            return 0.0
        diagonal = np.asarray(self.kernel.diagonal(points))
        square = float((c * c) @ diagonal) + float(c.sum()) ** 2 * self.bias**2
        for part in _blocks(len(points), len(points)):
            values = np.asarray(self.kernel.values(points[part], points[part.start :]))
            square += 2.0 * float(c[part] @ (np.triu(values, 1) @ c[part.start :]))
        rounding = ROUNDING * float(np.abs(c) @ np.sqrt(diagonal + self.bias**2)) ** 2
        if square > rounding:
            return float(np.sqrt(square))
        return float(np.sqrt(rounding)) if self.kernel.strictly_positive_definite else 0.0


def _blocks(rows: int, width: int) -> Iterator[slice]:
    """Yield slices of so many rows that a block of that width has about BLOCK_ENTRIES entries."""
    step = max(1, BLOCK_ENTRIES // max(1, width))
    for start in range(0, rows, step):
        yield slice(start, min(rows, start + step))
