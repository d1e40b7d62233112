"""The data as the float engine sees them: signed rows that are never copied.

The rows are z_i = y_i (b0, s * (x_i - m)): the bias feature first, then the columns in the order of the file,
shifted by m and scaled by s where that is wanted.  Shift and scale are applied to vectors of length d, not to
the data.  With a bias they are an invertible linear map of the rows (without one only the scale is), so that
verdicts and witnesses do not change; margins do.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sepcert.problem import FloatArray, IntArray, SignArray

BLOCK_ENTRIES = 1 << 17
"""Entries of the data in one block of a computation that needs a temporary copy (1 MB)."""


@dataclass(frozen=True, eq=False)
class FloatRows:
    """A view of n labelled points as rows z_i in R^D; D counts the bias feature if there is one.

    Attributes
    ----------
    points : ndarray of float64, shape (n, d), C order
    labels : ndarray of int8, shape (n,)
        y_i in {-1, +1}.
    bias : float
        b0 >= 0, the value of the bias feature; 0: there is none.
    scale, shift : ndarray of float64, shape (d,), or None
        s and m; None: 1 and 0.  A shift needs a bias.
    """

    points: FloatArray
    labels: SignArray
    bias: float = 1.0
    scale: FloatArray | None = None
    shift: FloatArray | None = None

    def __post_init__(self) -> None:
        if self.shift is not None and not self.bias:
            raise ValueError("columns can be shifted only where there is a bias")

    @property
    def count(self) -> int:
        """Number of rows n."""
        return len(self.points)

    @property
    def dimension(self) -> int:
        """Dimension D of the rows."""
        return int(self.points.shape[1]) + (1 if self.bias else 0)

    def unsigned_products(self, w: FloatArray) -> FloatArray:
        """Return y_i z_i'w for all rows, shape (n,); one pass over the data."""
        coefficients, constant = self._in_units(w)
        result = self.points @ coefficients
        if constant:
            result += constant
        return np.asarray(result)

    def products(self, w: FloatArray) -> FloatArray:
        """Return z_i'w for all rows, shape (n,); one pass over the data."""
        result = self.unsigned_products(w)
        result *= self.labels
        return result

    def unsigned_combination(self, t: FloatArray) -> FloatArray:
        """Return sum_i t_i y_i z_i, shape (D,); one pass over the data."""
        features = t @ self.points
        if self.shift is not None:
            features -= t.sum() * self.shift
        if self.scale is not None:
            features *= self.scale
        return np.concatenate([[self.bias * t.sum()], features]) if self.bias else np.asarray(features)

    def combination(self, p: FloatArray) -> FloatArray:
        """Return Z'p = sum_i p_i z_i, shape (D,); one pass over the data."""
        return self.unsigned_combination(p * self.labels)

    def in_units_of_the_data(self, w: FloatArray) -> FloatArray:
        """Return w' with (b0, x_i)'w' = (b0, s (x_i - m))'w: the same separator for unscaled rows."""
        coefficients, constant = self._in_units(w)
        return np.concatenate([[constant / self.bias], coefficients]) if self.bias else coefficients

    def _in_units(self, w: FloatArray) -> tuple[FloatArray, float]:
        coefficients = w[1:] if self.bias else w
        constant = float(self.bias * w[0]) if self.bias else 0.0
        if self.scale is not None:
            coefficients = coefficients * self.scale
        if self.shift is not None:
            constant -= float(self.shift @ coefficients)
        return coefficients, constant

    def take(self, index: IntArray) -> FloatArray:
        """Return a copy of the rows z_i with these indices, shape (k, D)."""
        first = 1 if self.bias else 0
        rows = np.empty((len(index), self.dimension))
        rows[:, first:] = self._features(self.points[index])
        if first:
            rows[:, 0] = self.bias
        rows *= self.labels[index, None]
        return rows

    def _features(self, points: FloatArray) -> FloatArray:
        if self.shift is not None:
            points = points - self.shift
        if self.scale is not None:
            points = points * self.scale
        return points

    def between(self, start: int, stop: int) -> FloatRows:
        """Return a view of the rows start..stop-1."""
        return replace(self, points=self.points[start:stop], labels=self.labels[start:stop])

    def norms(self) -> FloatArray:
        """Return |z_i|, shape (n,); one pass over the data."""
        squares = np.empty(self.count)
        step = max(1, BLOCK_ENTRIES // max(1, self.points.shape[1]))
        for start in range(0, self.count, step):
            features = self._features(self.points[start : start + step])
            np.einsum("ij,ij->i", features, features, out=squares[start : start + step])
        squares += self.bias**2
        return np.sqrt(squares, out=squares)


def condition_columns(rows: FloatRows, sample: int = 1000, seed: int = 0) -> FloatRows:
    """Return the same rows with columns shifted and scaled to comparable size, judged by a sample of rows.

    The scale is a power of two, about one over the spread of the column; a column is shifted (where there is a
    bias) only if its values are far from 0 in comparison to their spread, as timestamps are.

    Parameters
    ----------
    rows : FloatRows
    sample : int
        Rows looked at; columns that are constant in the sample are looked at in full.
    seed : int
    """
    points = rows.points
    if rows.count > sample:
        chosen = np.sort(np.random.default_rng(seed).choice(rows.count, sample, replace=False))
        points = points[chosen]
    centre = np.median(points, axis=0)
    spread = np.abs(points - centre).mean(axis=0)
    shift = np.where(np.abs(centre) > 8.0 * spread, centre, 0.0) if rows.bias else np.zeros(len(centre))
    for j in np.flatnonzero(spread == 0.0):
        spread[j] = np.abs(rows.points[:, j] - shift[j]).max()
    usable = (spread > 0.0) & np.isfinite(spread)
    exponent = np.zeros(len(centre))
    np.log2(spread, where=usable, out=exponent)
    scale = np.ldexp(1.0, -np.clip(np.round(exponent), -1000, 1000).astype(np.int64))
    return replace(rows, scale=scale, shift=shift if np.any(shift) else None)
