r"""Proposals for the margin of Winnow's geometry, by linear programs over a working set.

The rows are a_i = z_i / |z_i|_inf (a row of zeros stays zero).  Signed::

    rho_1 = max over |w|_1 <= 1 of min_i a_i'w  =  min over p in the simplex of max_j |sum_i p_i a_ij|

nonnegative: w in the simplex, and max_j without the absolute value (Ramdas and Pena 2014, section 2.2; the signed
margin is the nonnegative one after every feature x has got a companion -x, Littlestone 1988).

Where the margin is positive the scale can go into w: min |w|_1 with a_i'w >= 1 has the optimum 1/rho_1, and the
solver's absolute tolerances become relative ones.  A constant c added to all entries makes any game positive, and
adds c to its value, for w in the simplex.

Iteration: solve for a working set, look at all rows, add the worst; a pass a round.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sepcert.engine.passes import worst_rows
from sepcert.engine.rows import FloatRows
from sepcert.exact.decide import Deadline
from sepcert.problem import FloatArray, IntArray
from sepcert.workflows.programs import cheapest_cover, column_scale

SHIFT = 2.0
ROUNDS = 200
_SATISFIED = 1.0 - 1e-9


@dataclass(frozen=True, eq=False)
class Proposal:
    """What the programs propose; each end stands for itself.

    Attributes
    ----------
    weights : ndarray, shape (D,), or None
        w.
    multipliers : dict of int to float
        q over the raw rows, positive.
    passes : int
    """

    weights: FloatArray | None
    multipliers: dict[int, float]
    passes: int


class OneNormPrograms:
    """The games of one data set.

    Parameters
    ----------
    rows : FloatRows
    seeds : ndarray of int64
        Rows that the first working set shall have.
    gap : float
        Relative; the rounds end sooner than the exact optimum where it is reached.
    deadline : Deadline
    seed : int
        Of the sample.
    """

    def __init__(self, rows: FloatRows, seeds: IntArray, gap: float, deadline: Deadline, seed: int) -> None:
        self.rows, self.gap, self.deadline = rows, gap, deadline
        self.sizes = _largest_entries(rows)
        sample = min(rows.count, 2 * rows.dimension + 50)
        drawn = np.random.default_rng(seed).choice(rows.count, sample, replace=False, shuffle=False)
        self.first = np.union1d(seeds, drawn)

    def signed(self) -> Proposal:
        """Propose for the signed margin, which is known to be positive."""
        return self._rounds(signed=True, shift=0.0)

    def nonnegative(self) -> tuple[Proposal, ...]:
        """Propose for the margin of nonnegative directions, of whatever sign."""
        found = self._rounds(signed=False, shift=SHIFT)
        if found.weights is None or self._least(found.weights) <= 0:
            return (found,)
        return (found, self._rounds(signed=False, shift=0.0))

    def _least(self, weights: FloatArray) -> float:
        return float((self.rows.products(weights) / self.sizes).min())

    def _rounds(self, *, signed: bool, shift: float) -> Proposal:
        working = self.first
        best: tuple[float, FloatArray | None] = (-np.inf, None)
        multipliers: dict[int, float] = {}
        passes = 0
        while passes < ROUNDS and not self.deadline.passed():
            block = self.rows.take(working) / self.sizes[working, None]
            solved = _solve(block + shift, self.deadline, signed=signed)
            if solved is None:
                break
            weights, prices = solved
            total = float(np.abs(weights).sum())
            if not total > 0 or not prices.any():
                break
            multipliers = _over_raw_rows(working, prices, self.sizes)
            column = prices @ block / prices.sum()
            upper = float(np.abs(column).max() if signed else column.max())
            products = self.rows.products(weights) / self.sizes
            passes += 1
            lower = float(products.min()) / total
            if lower > best[0]:
                best = (lower, weights)
            products += shift * total
            products[working] = np.inf
            entering = worst_rows(products, 2 * self.rows.dimension + 50, _SATISFIED)
            if upper - best[0] <= 0.1 * self.gap * abs(upper) or not len(entering):
                break
            working = np.union1d(working, entering)
        return Proposal(best[1], multipliers, passes)


def _solve(matrix: FloatArray, deadline: Deadline, *, signed: bool) -> tuple[FloatArray, FloatArray] | None:
    """Minimise |w|_1 subject to matrix @ w >= 1, and w >= 0 unless it is signed; w and the prices of the rows."""
    scale = column_scale(matrix)
    scaled = matrix * scale
    costs = scale / scale.max()
    if not signed:
        found = cheapest_cover(costs, scaled, np.ones(len(matrix)), deadline)
        return None if found is None else (found[0] * scale, found[1])
    doubled = np.hstack([scaled, -scaled])
    found = cheapest_cover(np.tile(costs, 2), doubled, np.ones(len(matrix)), deadline)
    if found is None:
        return None
    up, down = np.split(found[0], 2)
    return (up - down) * scale, found[1]


def _over_raw_rows(working: IntArray, prices: FloatArray, sizes: FloatArray) -> dict[int, float]:
    at = np.flatnonzero(prices)
    found = prices[at] / prices[at].max() / sizes[working[at]]
    return {int(i): float(q) for i, q in zip(working[at], found, strict=True) if 0 < q < np.inf}


def _largest_entries(rows: FloatRows) -> FloatArray:
    """Return |z_i|_inf, 1 for rows of zeros; shape (n,)."""
    sizes = np.empty(rows.count)
    step = max(1, (1 << 17) // max(1, rows.dimension))
    for start in range(0, rows.count, step):
        sizes[start : start + step] = np.abs(rows.points[start : start + step]).max(axis=1, initial=0.0)
    np.maximum(sizes, rows.bias, out=sizes)
    sizes[sizes == 0.0] = 1.0
    return sizes
