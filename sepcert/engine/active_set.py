r"""The point of least norm in the convex hull of finitely many rows, by an active-set method.

Problem: minimise |Z'p| over p >= 0, sum p = 1.  x = Z'p is optimal iff z_j'x >= |x|^2 for every row; then x
separates all rows iff x is not 0, with the largest possible margin |x|, and p is a witness iff x = 0.

Method: Lawson and Hanson's nonnegative least squares for A = [Z'; c 1'], b = (0,..,0,1), whose solution is a
multiple of p (equivalently Wolfe's method).  The iteration: add the rows with the least z_j'x to the passive set
P; while the point of least norm of P's affine hull has a weight <= 0, go towards it until a weight becomes 0 and
remove that row.  |x| falls with every addition, so no passive set comes twice, and there are finitely many.  In
floating point: after some additions in a row without a decrease the rows that come in are rejected until there
is one, a row that depends on the passive ones takes the place of one of them, and the number of iterations is
capped.

Accuracy: P's system is held as a pseudo-inverse (:mod:`sepcert.engine.passive_set`), which is computed from
scratch after additions that may have spoiled it.  x is made orthogonal to
the differences of P's rows a second time, so that the *direction* x/|x| is good even where |x| is far below the
square root of the unit roundoff; there x is a better separator than a sum of rounded products would be.

| symbol | field |
|---|---|
| Z, c | `_columns[:, :D]`, `_columns[:, D]` |
| P, A_P and its pseudo-inverse | `_passive` |
| p on P | `_weights` |
| x | `_point` |

References
----------
C. L. Lawson and R. J. Hanson, Solving Least Squares Problems (1974), chapter 23.
P. Wolfe, Finding the nearest point in a polytope, Mathematical Programming 11 (1976).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sepcert.engine.passive_set import PassiveSet
from sepcert.problem import BoolArray, FloatArray, IntArray

EPS = float(np.finfo(np.float64).eps)
TOLERATED = 1e-8
"""Guessed error of the pseudo-inverse above which it is computed from scratch."""
OPTIMAL = 1e-12
"""Rows are optimal when no z_j'x is below |x|^2 by more than this part of it (and by more than rounding)."""

UNSEEN = 1e-8
"""Below this |x| relative to the rows, the choice of rows rests on rounding (the exact stage settles such data) ..."""
HOPELESS = 5
"""... and after so many additions without a decrease of |x| there the method gives up."""


@dataclass(frozen=True, eq=False)
class MinNormSolution:
    """The least point found, and how far it can be trusted.

    Attributes
    ----------
    weights : ndarray, shape (m,)
        p: nonnegative, sum 1 to rounding; zero off the support.
    point : ndarray, shape (D,)
        x = Z'p; it differs from a sum of products in doubles by at most about `rounding`, and is the better
        direction where |x| is small.
    norm : float
        |x|.
    support : ndarray of int, shape (k,)
        Rows with positive weight, increasing; affinely independent, so k <= D + 1.
    least_product : float
        min_j z_j'x.  Positive: x separates the rows.  The distance of the hull from the origin lies between
        least_product/norm and norm.
    rounding : float
        What the coordinates of x may owe to rounding, in norm: 4 eps sqrt(k) sum_i p_i |z_i|.
    iterations : int
        Additions to the passive set in this call.
    converged : bool
        Whether the optimality conditions hold to rounding; False after the iteration limit or a stall.
    """

    weights: FloatArray
    point: FloatArray
    norm: float
    support: IntArray
    least_product: float
    rounding: float
    iterations: int
    converged: bool

    @property
    def contains_origin(self) -> bool:
        """Whether |x| cannot be told from 0 in doubles: then p is a candidate witness."""
        return self.norm <= self.rounding

    @property
    def separates(self) -> bool:
        """Whether every row has z_j'x > 0 in doubles."""
        return self.least_product > 0 and not self.contains_origin


class MinNormPoint:
    """Min-norm point of rows that come and go; each solve starts from the passive set of the one before.

    Parameters
    ----------
    rows : ndarray of float64, shape (m, D), m >= 1, finite
        Copied.  Any scale; rows may repeat, be opposite, dependent or zero.
    block : int, optional
        How many rows to add at once while far from the optimum; chosen by D when not given.
    """

    def __init__(self, rows: FloatArray, block: int | None = None) -> None:
        self._dimension = rows.shape[1]
        self._block = block or min(8, max(1, self._dimension // 25))
        self._columns = np.empty((0, self._dimension + 1))
        self._norms = np.empty(0)
        self._scale = 0.0
        self._passive = PassiveSet(self._dimension)
        self._weights = np.empty(0)
        self._point = np.zeros(self._dimension)
        self.append(rows)

    @property
    def count(self) -> int:
        """Number of rows m."""
        return len(self._columns)

    def append(self, rows: FloatArray) -> None:
        """Add rows after those there are; shape (b, D)."""
        norms = np.sqrt(np.einsum("ij,ij->i", rows, rows))
        largest = float(norms.max(initial=0.0))
        columns = np.empty((len(rows), self._dimension + 1))
        columns[:, :-1] = rows
        self._columns = np.concatenate([self._columns, columns])
        self._norms = np.concatenate([self._norms, norms])
        rescale = largest > 2.0 * self._scale
        if rescale:
            self._scale = largest
        self._columns[:, -1] = self._scale or 1.0
        if rescale and self._passive.count:
            self._refactor(self._columns[self._passive.index])

    def keep(self, rows: BoolArray | IntArray) -> None:
        """Keep only these rows, in this order; the others are forgotten.

        Parameters
        ----------
        rows : ndarray of bool, shape (m,), or of int without repeats
        """
        index = np.flatnonzero(rows) if rows.dtype == np.bool_ else np.asarray(rows, dtype=np.int64)
        position = np.full(self.count, -1, dtype=np.int64)
        position[index] = np.arange(len(index))
        self._columns = self._columns[index]
        self._norms = self._norms[index]
        numbers = position[self._passive.index]
        gone = np.flatnonzero(numbers < 0)
        if len(gone):
            self._remove(gone)
        self._passive.renumber(numbers[numbers >= 0])

    def solve(self, max_iterations: int | None = None) -> MinNormSolution:
        """Find the least point of the hull of the rows there are.

        Parameters
        ----------
        max_iterations : int, optional
            Additions allowed; 100 + 20 (D + 1) + 3 m when not given, which only a stall should meet.

        Raises
        ------
        ValueError
            There are no rows.
        """
        if not self.count:
            raise ValueError("the hull of no rows has no points")
        limit = 100 + 20 * (self._dimension + 1) + 3 * self.count if max_iterations is None else max_iterations
        self._start()
        rejected = np.zeros(self.count, dtype=bool)
        block, iterations, converged = self._block, 0, False
        idle, patience = 0, self._dimension + 10
        while True:
            excess = self._price()
            if self._norm() <= self._rounding():
                converged = True
                break
            excess[rejected] = 0.0
            candidates = self._violators(excess, block)
            if not len(candidates):
                converged = not rejected.any()
                break
            if iterations >= limit or not self._passive.room:
                break
            iterations += 1
            before = self._norm()
            block_added = self._extend(candidates)
            if block_added and self._norm() < before - 0.5 * EPS * self._size():
                rejected[:] = False
                idle = 0
                continue
            block = 1
            idle += 1
            if not block_added or idle > patience:
                rejected[candidates] = True
            if idle > HOPELESS and self._norm() < UNSEEN * self._scale:
                break
        return self._solution(iterations, converged)

    def _norm(self) -> float:
        return float(np.sqrt(self._point @ self._point))

    def _size(self) -> float:
        """Return sum_i p_i |z_i|, to which |x| is compared."""
        return float(self._weights @ self._norms[self._passive.index])

    def _rounding(self) -> float:
        if self._passive.count == 1:
            return 0.0
        return 4.0 * EPS * float(np.sqrt(self._passive.count)) * self._size()

    def _threshold(self, square: float) -> float:
        """Return by how much z_j'x may be below |x|^2 = `square` for a row that counts as optimal."""
        return OPTIMAL * square + 4.0 * EPS * float(np.sqrt(square)) * self._scale

    def _start(self) -> None:
        """Make the passive set consistent with the rows there are; a shortest row starts an empty one."""
        if self._passive.count:
            self._descend()
            return
        first = np.array([np.argmin(self._norms)])
        self._passive.add(first, self._columns[first])
        self._weights = np.ones(1)
        self._point = self._columns[first[0], :-1].copy()

    def _excess(self) -> FloatArray:
        """Return z_j'x - |x|^2 for every row, shape (m,)."""
        functional = np.empty(self._dimension + 1)
        functional[:-1] = self._point
        functional[-1] = -(self._point @ self._point) / self._columns[0, -1]
        return np.asarray(self._columns @ functional)

    def _price(self) -> FloatArray:
        """Return the excess of every row, 0 on the passive set, after making x as accurate as the choice needs.

        All passive rows should have the same product with x.  Where their spread could hide or feign a
        violator, x is made orthogonal to their differences again, and at last the factorisation is renewed.
        """
        for attempt in range(4):
            excess = self._excess()
            passive = self._passive.index
            spread = float(np.abs(excess[passive]).max(initial=0.0))
            excess[passive] = 0.0
            worst = max(-float(excess.min()), self._threshold(float(self._point @ self._point)))
            if (spread <= 0.1 * worst and self._passive.room) or attempt == 3:
                break
            if attempt == 1 and self._passive.updates:
                self._refactor()
            else:
                self._reorthogonalise()
        return excess

    def _violators(self, excess: FloatArray, block: int) -> IntArray:
        """Return the rows farthest below the optimality condition, at most `block`, the worst first."""
        threshold = -self._threshold(float(self._point @ self._point))
        block = min(block, self._passive.room)
        if block <= 1:
            worst = int(np.argmin(excess))
            return np.array([worst] if excess[worst] < threshold else [], dtype=np.int64)
        found = np.flatnonzero(excess < threshold)
        if len(found) > block:
            found = found[np.argpartition(excess[found], block)[:block]]
        return found[np.argsort(excess[found], kind="stable")]

    def _extend(self, candidates: IntArray) -> bool:
        """Add rows to the passive set and go to its least point; return whether any could be added."""
        added = self._passive.add(candidates, self._columns[candidates])
        if added:
            self._weights = np.concatenate([self._weights, np.zeros(added)])
        elif not self._exchange(candidates[:1]):
            return False
        self._descend()
        return True

    def _exchange(self, candidate: IntArray) -> bool:
        """Let a row enter that depends on the passive ones, in place of the first of them to reach weight 0.

        With a = sum_i d_i a_i for its column, weight moves to it along p_i - t d_i without moving x.
        """
        column = self._columns[candidate]
        coefficients = self._passive.combination(column[0])
        falling = np.flatnonzero(coefficients > 0.0)
        ratios = self._weights[falling] / coefficients[falling]
        step = float(ratios.min())
        self._weights = self._weights - step * coefficients
        self._remove(falling[ratios <= step])
        if not self._passive.add(candidate, column):
            return False
        self._weights = np.append(self._weights, step)
        return True

    def _descend(self) -> None:
        """Go from p towards the least affine weights of the passive set, dropping rows that reach 0."""
        while True:
            target = self._passive.affine_weights()
            negative = np.flatnonzero(target <= 0.0)
            if not len(negative):
                point = target @ self._passive.points
                if point @ point < 1e-8 * self._scale**2:
                    difference = self._passive.nearest_difference(point, target)
                    point -= difference @ self._passive.points
                    target = target - difference
                    negative = np.flatnonzero(target <= 0.0)
                if not len(negative):
                    self._weights, self._point = target, point
                    if self._passive.error <= TOLERATED:
                        return
                    self._renew()
                    continue
            here = self._weights[negative]
            lengths = here - target[negative]
            ratios = np.divide(here, lengths, out=np.zeros_like(here), where=lengths > 0.0)
            step = float(ratios.min())
            self._weights = self._weights + step * (target - self._weights)
            self._remove(negative[ratios <= step])

    def _remove(self, positions: IntArray) -> None:
        self._passive.remove(positions)
        self._weights = np.delete(self._weights, positions)
        total = float(self._weights.sum())
        if total > 0.0:
            self._weights /= total

    def _reorthogonalise(self) -> None:
        """Remove from x what it has along the differences of the passive rows, and correct p alike."""
        weights = self._passive.affine_weights()
        difference = self._passive.nearest_difference(self._point, weights)
        self._point = self._point - difference @ self._passive.points
        corrected = self._weights - difference
        if corrected.min() > 0.0:
            self._weights = corrected

    def _refactor(self, columns: FloatArray | None = None) -> None:
        self._renew(columns)
        self._descend()

    def _renew(self, columns: FloatArray | None = None) -> None:
        """Compute the factorisation from scratch; rows that turn out dependent lose their weight."""
        kept = self._passive.refactor(columns)
        self._weights = self._weights[kept] / self._weights[kept].sum()

    def _solution(self, iterations: int, converged: bool) -> MinNormSolution:
        """Polish p against x = Z'p computed afresh, and report."""
        passive = self._passive.index
        fresh = self._weights @ self._passive.points
        difference = self._passive.nearest_difference(fresh, self._passive.affine_weights())
        polished = self._weights - difference
        if polished.min() > 0.0:
            self._weights = polished / polished.sum()
        weights = np.zeros(self.count)
        weights[passive] = self._weights
        return MinNormSolution(
            weights=weights,
            point=self._point.copy(),
            norm=self._norm(),
            support=np.sort(passive),
            least_product=float((self._columns[:, :-1] @ self._point).min()),
            rounding=self._rounding(),
            iterations=iterations,
            converged=converged,
        )
