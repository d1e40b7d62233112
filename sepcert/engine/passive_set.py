"""The rows that carry weight in an active-set method, with the pseudo-inverse of their system.

For rows z_1..z_k in R^D and a scale c > 0 let A be the (D+1) x k matrix with columns (z_i, c).  Its columns are
independent iff the z_i are affinely independent.  The k x (D+1) pseudo-inverse X of A gives everything a
min-norm-point method asks for, and unlike the inverse of the Gram matrix A'A it does not square the condition
number:

* the last column of X, scaled to sum 1, holds the affine weights of the point of least norm in the affine hull
  of the z_i (it solves (A'A) u = c 1);
* X (x, 0), made to sum 0 by a multiple of those weights, holds the combination of differences z_i - z_j that is
  nearest to x; subtracting it makes x orthogonal to all differences (a second pass of Gram-Schmidt).

Columns are added by Greville's formula and removed by projecting along a row of X; both cost O(k D).

References
----------
T. N. E. Greville, Some applications of the pseudoinverse of a matrix, SIAM Review 2 (1960).
"""

from __future__ import annotations

import numpy as np

from sepcert.problem import BoolArray, FloatArray, IntArray

EPS = float(np.finfo(np.float64).eps)
DEPENDENT = 1e-12
"""A column whose distance from the span of the others is less than this part of its length is not added."""


class PassiveSet:
    """Affinely independent rows and the pseudo-inverse of their system, in buffers that grow up to D + 1 rows.

    Parameters
    ----------
    dimension : int
        D.

    Attributes
    ----------
    count : int
        k, the number of rows held; at most D + 1.
    updates : int
        Rows added and removed since the pseudo-inverse was last computed from scratch.
    error : float
        A guess at the error that additions of nearly dependent rows have left in the pseudo-inverse since then:
        eps over the square of the smallest part of such a column that was independent.
    """

    def __init__(self, dimension: int) -> None:
        self._dimension = dimension
        self._columns = np.empty((0, dimension + 1))
        self._inverse = np.empty((0, dimension + 1))
        self._index = np.empty(0, dtype=np.int64)
        self.count = 0
        self.updates = 0
        self.error = 0.0

    @property
    def index(self) -> IntArray:
        """Caller's numbers of the rows held, shape (k,), in the order of all other arrays (a view)."""
        return self._index[: self.count]

    @property
    def points(self) -> FloatArray:
        """The rows z_i held, shape (k, D) (a view)."""
        return self._columns[: self.count, : self._dimension]

    @property
    def room(self) -> int:
        """How many more independent rows there can be."""
        return self._dimension + 1 - self.count

    def affine_weights(self) -> FloatArray:
        """Return the weights, of any sign and sum 1, of the least point of the affine hull; shape (k,)."""
        weights = self._inverse[: self.count, self._dimension]
        return np.asarray(weights / weights.sum())

    def nearest_difference(self, x: FloatArray, weights: FloatArray) -> FloatArray:
        """Return coefficients d, sum 0, for which sum_i d_i z_i is the projection of x onto the differences.

        Parameters
        ----------
        x : ndarray, shape (D,)
        weights : ndarray, shape (k,)
            The affine weights.
        """
        coefficients = self._inverse[: self.count, : self._dimension] @ x
        return np.asarray(coefficients - coefficients.sum() * weights)

    def combination(self, column: FloatArray) -> FloatArray:
        """Return the coefficients of the combination of the columns held that is nearest to `column`, shape (k,)."""
        return np.asarray(self._inverse[: self.count] @ column)

    def reserve(self, rows: int) -> None:
        """Make the buffers large enough for `rows` rows, or for D + 1 if that is less."""
        capacity = min(rows, self._dimension + 1)
        held = len(self._index)
        if capacity <= held:
            return
        capacity = min(max(capacity, 2 * held), self._dimension + 1)
        k = self.count
        for name in ("_columns", "_inverse"):
            buffer = np.empty((capacity, self._dimension + 1))
            buffer[:k] = getattr(self, name)[:k]
            setattr(self, name, buffer)
        index = np.empty(capacity, dtype=np.int64)
        index[:k] = self._index[:k]
        self._index = index

    def add(self, index: IntArray, columns: FloatArray) -> int:
        """Add rows; return how many were added (rows that depend on those held are left out).

        Parameters
        ----------
        index : ndarray of int, shape (b,), at most `room` entries
        columns : ndarray, shape (b, D + 1)
            (z_i, c) for each.
        """
        k = self.count
        self.reserve(k + len(index))
        held, inverse = self._columns[:k], self._inverse[:k]
        coefficients = columns @ inverse.T
        rest = columns - coefficients @ held
        again = rest @ inverse.T  # twice is enough: the first pass loses what the rows nearly share
        rest -= again @ held
        coefficients += again
        added = self._dual_rows(rest, columns)
        if added is None:
            kept = self._independent(rest, columns)
            return self.add(index[kept], columns[kept]) if kept.any() else 0
        new = k + len(added)
        if k:
            inverse -= coefficients.T @ added
        self._inverse[k:new] = added
        self._columns[k:new] = columns
        self._index[k:new] = index
        self.count = new
        self.updates += len(added)
        self.error = max(self.error, EPS * _largest_square(columns) * _largest_square(added))
        return len(added)

    @staticmethod
    def _dual_rows(rest: FloatArray, columns: FloatArray) -> FloatArray | None:
        """Return the pseudo-inverse of the new columns' independent parts, or None if some are dependent."""
        if len(rest) == 1:
            square = rest[0] @ rest[0]
            if square <= DEPENDENT**2 * (columns[0] @ columns[0]):
                return None
            return np.asarray(rest / square)
        orthogonal, triangle = np.linalg.qr(rest.T)
        if np.any(np.abs(np.diagonal(triangle)) <= DEPENDENT * np.linalg.norm(columns, axis=1)):
            return None
        return np.asarray(np.linalg.solve(triangle, orthogonal.T))

    @staticmethod
    def _independent(rest: FloatArray, columns: FloatArray) -> BoolArray:
        """Return which of the new columns are independent of those held and of the new ones before them."""
        diagonal = np.abs(np.diagonal(np.linalg.qr(rest.T, mode="r")))
        return np.asarray(diagonal > DEPENDENT * np.linalg.norm(columns, axis=1))

    def remove(self, positions: IntArray) -> None:
        """Remove the rows at these positions (not the caller's numbers); the order of the rest is kept."""
        k = self.count
        dual = self._inverse[positions]
        inverse = self._inverse[:k]
        products = inverse @ dual.T
        if len(positions) == 1:
            inverse -= products * (dual / products[positions[0], 0])
        else:
            inverse -= products @ np.linalg.solve(products[positions], dual)
        mask = np.ones(k, dtype=bool)
        mask[positions] = False
        first = int(positions.min())
        kept = np.flatnonzero(mask[first:]) + first
        new = k - len(positions)
        for buffer in (self._inverse, self._columns):
            buffer[first:new] = buffer[kept]
        self._index[first:new] = self._index[kept]
        self.count = new
        self.updates += len(positions)

    def renumber(self, numbers: IntArray) -> None:
        """Replace the caller's numbers; shape (k,)."""
        self._index[: self.count] = numbers

    def refactor(self, columns: FloatArray | None = None) -> BoolArray:
        """Compute the pseudo-inverse from scratch; return which of the rows held before are still held.

        Parameters
        ----------
        columns : ndarray, shape (k, D + 1), optional
            New columns, when the scale c has changed.
        """
        k = self.count
        held = self._columns[:k].copy() if columns is None else columns
        orthogonal, triangle = np.linalg.qr(held.T)
        kept = np.abs(np.diagonal(triangle)) > DEPENDENT * np.linalg.norm(held, axis=1)
        if not kept.all():
            orthogonal, triangle = np.linalg.qr(held[kept].T)
        new = int(kept.sum())
        self._inverse[:new] = np.linalg.solve(triangle, orthogonal.T)
        self._columns[:new] = held[kept]
        self._index[:new] = self._index[:k][kept]
        self.count = new
        self.updates = 0
        self.error = 0.0
        return np.asarray(kept)


def _largest_square(rows: FloatArray) -> float:
    """Return the largest squared norm of a row."""
    return float(np.einsum("ij,ij->i", rows, rows).max())
