r"""Systems with a principal block A of the Gram matrix, factored in place.

A's upper triangle stays as it is; the Cholesky factor of A + delta I takes the lower one and the diagonal, so that a
support of k rows needs k^2 numbers and no copy.  delta is 0 unless A is singular to rounding.
"""

from __future__ import annotations

import numpy as np

from sepcert.problem import FloatArray

WIDTH = 128
"""Columns factored at once."""
EPS = float(np.finfo(np.float64).eps)
SMALLEST_PIVOT = 4.0 * EPS
"""A squared pivot below this times k is rounding: A is singular for our purposes."""
FIRST_SHIFT = 4.0 * EPS
"""The first shift, times k: the order of the rounding errors in a factorisation of k rows of length 1."""
RAISE = 16.0
TAME = 0.01
"""Ratio of the pivots of a diagonal block above which its inverse is used, which is twice as fast as solving."""


class SupportBlock:
    """A symmetric positive semidefinite block, and solutions of (A + delta I) x = r.

    Parameters
    ----------
    matrix : ndarray of float64, shape (k, k), C order
        A; kept, and its lower triangle overwritten.

    Attributes
    ----------
    shift : float
        delta of the last factorisation.
    """

    def __init__(self, matrix: FloatArray) -> None:
        self._matrix = matrix
        self._diagonal = np.diagonal(matrix).copy()
        self._clean = True
        self.shift = 0.0

    @property
    def size(self) -> int:
        """Number of rows k."""
        return len(self._matrix)

    def factor(self, shift: float = 0.0, largest: float = 1e-4) -> bool:
        """Factor A + delta I with the least of the shifts tried, `shift` being the first.

        Returns
        -------
        bool
            False where even `largest` was not enough.
        """
        while shift <= largest:
            if self._factored(shift):
                self.shift = shift
                return True
            shift = max(RAISE * shift, FIRST_SHIFT * self.size)
        return False

    def _restore(self) -> None:
        """Write the upper triangle over the lower one again."""
        matrix = self._matrix
        for start in range(0, self.size, WIDTH):
            stop = min(start + WIDTH, self.size)
            matrix[stop:, start:stop] = matrix[start:stop, stop:].T
            corner = matrix[start:stop, start:stop]
            lower = np.tril_indices(stop - start, -1)
            corner[lower] = corner.T[lower]

    def _factored(self, shift: float) -> bool:
        matrix = self._matrix
        if not self._clean:
            self._restore()
        self._clean = False
        np.fill_diagonal(matrix, self._diagonal + shift)
        smallest = SMALLEST_PIVOT * self.size
        for start in range(0, self.size, WIDTH):
            stop = min(start + WIDTH, self.size)
            lower = np.tril_indices(stop - start)
            corner = matrix[start:stop, start:stop]
            panel = matrix[stop:, start:stop]
            done = matrix[start:stop, :start]
            left = np.tril(corner)
            left += np.tril(corner, -1).T
            if start:
                left -= done @ done.T
                panel -= matrix[stop:, :start] @ done.T
            try:
                root = np.asarray(np.linalg.cholesky(left), dtype=np.float64)
            except np.linalg.LinAlgError:
                return False
            if float(np.diagonal(root).min()) ** 2 < smallest:
                return False
            corner[lower] = root[lower]
            if len(panel):
                panel[:] = panel @ _inverse(root).T if _tame(root) else np.linalg.solve(root, panel.T).T
        return True

    def solve(self, right: FloatArray) -> FloatArray:
        """Return x with (A + delta I) x = right, shape (k,), with one step of iterative refinement."""
        x = self._substituted(right)
        x += self._substituted(right - self.times(x) - self.shift * x)
        return x

    def _substituted(self, right: FloatArray) -> FloatArray:
        matrix, x = self._matrix, right.copy()
        starts = range(0, self.size, WIDTH)
        for start in starts:
            stop = min(start + WIDTH, self.size)
            corner = np.tril(matrix[start:stop, start:stop])
            x[start:stop] -= matrix[start:stop, :start] @ x[:start]
            x[start:stop] = np.linalg.solve(corner, x[start:stop])
        for start in reversed(starts):
            stop = min(start + WIDTH, self.size)
            corner = np.tril(matrix[start:stop, start:stop])
            x[start:stop] -= x[stop:] @ matrix[stop:, start:stop]
            x[start:stop] = np.linalg.solve(corner.T, x[start:stop])
        return x

    def times(self, x: FloatArray) -> FloatArray:
        """Return A x, shape (k,), from the upper triangle."""
        matrix = self._matrix
        result = self._diagonal * x
        for start in range(0, self.size, WIDTH):
            stop = min(start + WIDTH, self.size)
            corner = np.triu(matrix[start:stop, start:stop], 1)
            result[start:stop] += corner @ x[start:stop] + matrix[start:stop, stop:] @ x[stop:]
            result[start:stop] += x[start:stop] @ corner
            result[stop:] += x[start:stop] @ matrix[start:stop, stop:]
        return result


def _tame(root: FloatArray) -> bool:
    """Say whether a triangular factor is so well conditioned that its inverse may be multiplied with."""
    pivots = np.diagonal(root)
    return bool(pivots.min() > TAME * pivots.max())


def _inverse(root: FloatArray) -> FloatArray:
    return np.asarray(np.linalg.solve(root, np.eye(len(root))))
