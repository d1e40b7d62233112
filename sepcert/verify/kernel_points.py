r"""Points for proved kernel values: doubles with a bound on what separates them from the exact points.

The exact entry x_ij is the double \hat x_ij, or a number that rounds to it, so that |x_ij - \hat x_ij| <=
u |\hat x_ij| + 2**-1075.  The exact point lies within eta_i of the double one, in either norm,

    eta_i = (u ||(\hat x_ij)_{j rounded}|| ) (1 + 2**-20) + 2**-450;

the factor covers the rounding of the norm (d <= 2**30 terms), and the last term subnormal entries, squares that
underflow, and hardware that takes subnormals for zero.  By the triangle inequality the exact distance of two points
differs from that of their doubles by at most eta_i + eta_j.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sepcert.problem import FloatArray, IntArray, Points
from sepcert.status import Numbers

UNIT = 2.0**-53
GAIN = 1 + 2.0**-20
TINY = 2.0**-1000
"""Above all that underflows, also where the hardware flushes subnormals to zero."""
BLOCK = 1 << 15
"""Pairs that are computed at a time."""

_EXACT_INTEGERS = 1e15
_ETA_FLOOR = 2.0**-450


@dataclass(frozen=True, eq=False)
class Side:
    """Some points, column by column.

    Attributes
    ----------
    columns : ndarray of float64, shape (d, m), contiguous
        The doubles.
    euclidean, absolute : ndarray of float64, shape (m,), or None
        Bounds on the distance to the exact points in the 2-norm and the 1-norm; None where all are exact.
    regular : bool
        Whether equal doubles mean equal numbers.
    """

    columns: FloatArray
    euclidean: FloatArray | None
    absolute: FloatArray | None
    regular: bool

    @property
    def count(self) -> int:
        """Number of points m."""
        return int(self.columns.shape[1])


class PointRows:
    """Rows of a table of exactly known numbers.

    Parameters
    ----------
    points : Points
    rows : ndarray of int64, shape (m,), optional
        0-based indices; default all.
    """

    def __init__(self, points: Points, rows: IntArray | None = None) -> None:
        self.points = points
        self.rows = rows
        self.count = points.shape[0] if rows is None else len(rows)

    def part(self, start: int, stop: int) -> PointRows:
        """Return the rows number `start` to `stop` - 1 of these."""
        rows = np.arange(start, min(stop, self.count)) if self.rows is None else self.rows[start:stop]
        return PointRows(self.points, rows)

    def indices(self) -> list[int]:
        """Return the row numbers."""
        return list(range(self.count)) if self.rows is None else [int(i) for i in self.rows]

    def side(self) -> Side:
        """Return these points with their bounds."""
        points = self.points
        values = points.values if self.rows is None else points.values[self.rows]
        odd = None
        if points.irregular is not None:
            odd = points.irregular if self.rows is None else points.irregular[self.rows]
            odd = odd if odd.any() else None
        columns = np.ascontiguousarray(values.T)
        if points.numbers is Numbers.BINARY64 and odd is None:
            return Side(columns, None, None, True)
        sizes = np.abs(columns)
        if points.numbers is Numbers.BINARY64:
            exact = np.broadcast_to(~odd if odd is not None else True, sizes.shape)
        else:
            exact = (np.rint(sizes) == sizes) & (sizes < _EXACT_INTEGERS)
            if odd is not None:
                exact &= ~odd
        if exact.all():
            return Side(columns, None, None, odd is None)
        sizes[exact] = 0.0
        with np.errstate(over="ignore", under="ignore"):
            euclidean = np.sqrt(np.einsum("ij,ij->j", sizes, sizes)) * (UNIT * GAIN) + _ETA_FLOOR
            absolute = sizes.sum(axis=0) * (UNIT * GAIN) + _ETA_FLOOR
        return Side(columns, euclidean, absolute, odd is None)


class Pairs:
    """Pairs of points, for which distances and products are computed with bounds.

    Parameters
    ----------
    left, right : Side
    crossed : bool
        All m k pairs (arrays of shape (m, k)), or pairs of equal number (shape (m,)).
    """

    def __init__(self, left: Side, right: Side, crossed: bool) -> None:
        self.left, self.right, self.crossed = left, right, crossed
        self.shape = (left.count, right.count) if crossed else (left.count,)
        self.dimension = len(left.columns)
        self.same = not crossed and left is right

    @property
    def gain(self) -> float:
        """The relative error (d + 6) u (1 + 2**-20) of a sum of d products, times a factor, plus a number."""
        return (self.dimension + 6) * UNIT * GAIN

    def _outer(self, left: FloatArray, right: FloatArray) -> FloatArray:
        return np.asarray(left[:, None] + right if self.crossed else left + right)

    def squares(self) -> FloatArray:
        """Return |x - z|**2 of the doubles by differences, off by d + 2 roundings of nonnegative terms."""
        total = np.zeros(self.shape)
        for x, z in zip(self.left.columns, self.right.columns, strict=True):
            difference = x[:, None] - z if self.crossed else x - z
            difference *= difference
            total += difference
        return total

    def absolutes(self) -> FloatArray:
        """Return |x - z|_1 of the doubles, off by d roundings of nonnegative terms."""
        total = np.zeros(self.shape)
        for x, z in zip(self.left.columns, self.right.columns, strict=True):
            difference = x[:, None] - z if self.crossed else x - z
            total += np.abs(difference, out=difference)
        return total

    def rounding(self, norm: int, distances: FloatArray) -> FloatArray | None:
        """Bound how far the exact distance, in norm 1 or 2, may be from that of the doubles; None: nothing.

        Where regular entries agree as doubles they agree exactly.  A computed distance of 0 says that they do, or
        differ by less than 2**-511: then they are below 2**-457 in size, and their roundings, below 2**-510 each, add
        up to less than eta's last term.
        """
        bounds = [side.euclidean if norm == 2 else side.absolute for side in (self.left, self.right)]
        if bounds[0] is None and bounds[1] is None:
            return None
        left, right = (
            np.full(side.count, 0.0) if bound is None else bound
            for side, bound in zip((self.left, self.right), bounds, strict=True)
        )
        found = self._outer(left, right)
        if self.left.regular and self.right.regular:
            found[distances == 0.0] = 2.0 * _ETA_FLOOR
        return found

    def products(self) -> tuple[FloatArray, FloatArray]:
        """Enclose x'z of the exact points.

        The bound is that of :mod:`sepcert.verify.signs`, for two factors with rounded entries.
        """
        left, right = self.left.columns, self.right.columns
        sizes, others = np.abs(left), np.abs(right)
        floor = self._outer(sizes.sum(axis=0) * 2.0**-1020, others.sum(axis=0) * 2.0**-1020)
        floor += 2.0**-1018 * (self.dimension + 1)
        if self.crossed:
            values, errors = left.T @ right, sizes.T @ others
        else:
            values, errors = np.einsum("ij,ij->j", left, right), np.einsum("ij,ij->j", sizes, others)
        errors *= self.gain
        errors += floor
        return np.asarray(values), np.asarray(errors)
