r"""The point of least norm in rational arithmetic, for data on which doubles do not get close (Wolfe 1976).

Columns of very different size, timestamps, or rows that nearly meet leave the active set in doubles with a point
that is far from the least one.  Here the same method runs over a working set in integers: the rows as they are over one
denominator (RAW), or z_i / |z_i| rounded to BITS bits (NORMALISED).  Major step: add the row of least v_i'x.  Minor
steps: while the least point of the affine hull of the corral has a weight <= 0, go towards it until a weight vanishes.
Then all rows are looked at in doubles, and rows that may violate the optimality condition join the working set.

It proposes like any other search: what it finds is proved elsewhere.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from sepcert.exact.decide import Deadline
from sepcert.problem import FloatArray, IntArray
from sepcert.verify.quotients import Geometry
from sepcert.verify.rows import SignedRows
from sepcert.verify.signs import common_integers, dot_enclosure, rounded_weights

BITS = 192
KEPT_BITS = 256
"""Significant bits of the weights that are returned: the point is recomputed from them exactly."""
LARGEST_DIMENSION = 60
ROUNDS = 25


class _Hull:
    """Integer vectors v_i of a working set with Wolfe's method on them; vectors are v_i = scales_i z_i."""

    def __init__(self, rows: SignedRows, working: IntArray, geometry: Geometry) -> None:
        from flint import fmpz_mat

        self.index: list[int] = working.tolist()
        rows.fetch(self.index)
        exact = [rows.integers(i) for i in self.index]
        if geometry is Geometry.RAW:
            common = math.lcm(*(denominator for _, denominator in exact))
            self.scales = [Fraction(common)] * len(exact)
            vectors = [[v * (common // denominator) for v in numerators] for numerators, denominator in exact]
        else:
            lengths = [math.isqrt(sum(v * v for v in row) << (2 * BITS)) for row, _ in exact]
            vectors = [[(v << (2 * BITS)) // n for v in row] for (row, _), n in zip(exact, lengths, strict=True)]
            self.scales = [
                Fraction(denominator << (2 * BITS), n) for (_, denominator), n in zip(exact, lengths, strict=True)
            ]
        self.matrix: Any = fmpz_mat(vectors)

    def least(self, stop: Fraction, deadline: Deadline) -> tuple[list[int], list[Fraction], list[Fraction]]:
        """Return the corral (positions), its weights (sum 1) and the point; `stop`: relative, of the condition."""
        norms = [sum(int(v) ** 2 for v in self._row(k)) for k in range(self.matrix.nrows())]
        corral, weights = [min(range(len(norms)), key=norms.__getitem__)], [Fraction(1)]
        for _ in range(50 + 10 * self.matrix.ncols()):
            point = self._point(corral, weights)
            values = self._products(point)
            worst = min(range(len(values)), key=values.__getitem__)
            square = sum((v * v for v in point), Fraction(0))
            if values[worst] >= square * (1 - stop) or worst in corral or deadline.passed():
                break
            corral, weights = self._minor([*corral, worst], [*weights, Fraction(0)])
        return corral, weights, self._point(corral, weights)

    def _minor(self, corral: list[int], weights: list[Fraction]) -> tuple[list[int], list[Fraction]]:
        while True:
            affine = self._affine(corral)
            if affine is None:
                return corral[:-1], [v / sum(weights[:-1]) for v in weights[:-1]]
            if min(affine) > 0:
                return corral, affine
            step = min(w / (w - a) for w, a in zip(weights, affine, strict=True) if a <= 0 and w > a)
            moved = [w + step * (a - w) for w, a in zip(weights, affine, strict=True)]
            kept = [k for k, v in enumerate(moved) if v > 0]
            corral, weights = [corral[k] for k in kept], [moved[k] for k in kept]

    def _affine(self, corral: list[int]) -> list[Fraction] | None:
        """Return the weights of the least point of the affine hull; None where the rows are affinely dependent."""
        from flint import fmpz_mat

        chosen = fmpz_mat([self._row(k) for k in corral])
        gram = (chosen * chosen.transpose()).tolist()
        size = len(corral)
        bordered: Any = [[*row, 1] for row in gram] + [[1] * size + [0]]
        system = fmpz_mat(bordered)
        try:
            solution = system.solve(fmpz_mat([[int(k == size)] for k in range(size + 1)]))
        except ZeroDivisionError:
            return None
        return [Fraction(int(v.p), int(v.q)) for v in solution.entries()[:size]]

    def _row(self, k: int) -> list[Any]:
        return [self.matrix[k, j] for j in range(self.matrix.ncols())]

    def _point(self, corral: list[int], weights: list[Fraction]) -> list[Fraction]:
        rows = [[int(v) for v in self._row(k)] for k in corral]
        columns = zip(*rows, strict=True)
        return [sum((w * v for w, v in zip(weights, column, strict=True)), Fraction(0)) for column in columns]

    def _products(self, point: list[Fraction]) -> list[Fraction]:
        from flint import fmpz_mat

        scale = math.lcm(*(v.denominator for v in point))
        whole = fmpz_mat([[v.numerator * (scale // v.denominator)] for v in point])
        return [Fraction(int(v), scale) for v in (self.matrix * whole).entries()]


def exact_point(
    rows: SignedRows, first: IntArray, sizes: FloatArray, geometry: Geometry, gap: float, deadline: Deadline
) -> dict[int, Fraction] | None:
    """Look for the least point of the hull of all rows.

    Parameters
    ----------
    rows : SignedRows
        None of them zero.
    first : ndarray of int64
        The first working set.
    sizes : ndarray, shape (n,)
        s_i in doubles.
    geometry : Geometry
        RAW or NORMALISED.
    gap : float
        Relative; the method stops where it is reached.
    deadline : Deadline

    Returns
    -------
    dict of int to Fraction, or None
        Positive weights over the raw rows whose combination is a multiple of the point.  None: the hull contains 0,
        or the dimension is too large.
    """
    if rows.dimension > LARGEST_DIMENSION or not len(first):
        return None
    working = np.unique(first)
    found: dict[int, Fraction] | None = None
    for _ in range(ROUNDS):
        hull = _Hull(rows, working, geometry)
        corral, weights, point = hull.least(Fraction(gap) / 4, deadline)
        if not any(point):
            return found
        chosen = [hull.index[k] for k in corral]
        found = _shortened({i: w * hull.scales[k] for i, k, w in zip(chosen, corral, weights, strict=True)})
        entering = _violating(rows, point, sizes, working, np.array(chosen), gap)
        if deadline.passed() or not len(entering):
            break
        working = np.union1d(working, entering)
    return found


def _shortened(weights: dict[int, Fraction]) -> dict[int, Fraction]:
    """Round positive weights to KEPT_BITS bits each, and scale them so that the largest is near 1."""
    largest = max(weights.values())
    kept = {}
    for i, value in weights.items():
        exact = value / largest
        shift = KEPT_BITS + exact.denominator.bit_length() - exact.numerator.bit_length()
        kept[i] = Fraction(round(exact * (1 << shift)), 1 << shift)
    return kept


def _violating(
    rows: SignedRows, point: list[Fraction], sizes: FloatArray, working: IntArray, corral: IntArray, gap: float
) -> IntArray:
    """Return rows outside the working set that may be below the optimality condition, the worst first."""
    weights = rounded_weights(common_integers(point), rows.column_bounds)
    if weights is None:
        return working[:0]
    values, errors = dot_enclosure(rows, weights)
    lower = (values - errors) / sizes
    lower[working] = np.inf
    wanted = float((values[corral] / sizes[corral]).min())
    below = np.flatnonzero(lower < wanted * (1 - gap / 8))
    return below[np.argsort(lower[below], kind="stable")][: 2 * rows.dimension + 50]
