r"""Proposals for the margin of the rows as they are, rho = sup over |w| = 1 of min_i z_i'w.

The point x of least norm in the hull of the raw rows (Wolfe 1976): |x| = rho where rho > 0, with w = x and the weights
p of x for the two ends.  Rounds over a working set that begins with the rows nearest to the plane of a separator that
is known: the rows far from it, which may be larger by many orders of magnitude, never come in, and the active-set
method computes at the scale of those that matter.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sepcert.engine.active_set import MinNormPoint
from sepcert.engine.passes import worst_rows
from sepcert.engine.rows import FloatRows
from sepcert.exact.decide import Deadline
from sepcert.problem import FloatArray

ROUNDS = 200
_NEAR = 100.0
"""The first working set has no row that is further than this multiple from the plane of the separator."""
_LEAST, _MOST = 1e-120, 1e120
"""Rows of other sizes have squares that doubles do not hold; they are left to exact arithmetic."""
EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class RawProposal:
    """What the rounds propose; each end stands for itself.

    Attributes
    ----------
    weights : ndarray, shape (D,), or None
        w.
    multipliers : dict of int to float
        p over the raw rows, positive.
    passes : int
    """

    weights: FloatArray | None
    multipliers: dict[int, float]
    passes: int


def raw_proposal(rows: FloatRows, separator: FloatArray, gap: float, deadline: Deadline) -> RawProposal:
    """Run the rounds until the relative gap is below `gap`, or nothing more is gained.

    Parameters
    ----------
    rows : FloatRows
    separator : ndarray, shape (D,)
        With z_i'w > 0 for all rows, or nearly so.
    gap : float
    deadline : Deadline
    """
    batch = 3 * (2 * rows.dimension + 50)
    near = rows.products(separator)
    working = worst_rows(near, 4 * rows.dimension + 50, max(_NEAR * float(near.min()), float(near.min())))
    block = rows.take(working)
    sizes = np.abs(block).max(axis=0, initial=0.0)
    if not len(working) or not _LEAST < sizes.max() < _MOST:
        return RawProposal(None, {}, 1)
    hull = MinNormPoint(block)
    best: tuple[float, FloatArray | None] = (-np.inf, None)
    nearest: tuple[float, dict[int, float]] = (np.inf, {})
    passes = 1
    while passes < ROUNDS and not deadline.passed():
        solution = hull.solve()
        if not 0 < solution.norm < np.inf:
            break
        before = nearest[0]
        if solution.norm < before:
            weights = zip(working[solution.support], solution.weights[solution.support], strict=True)
            nearest = solution.norm, {int(i): float(p) for i, p in weights if p > 0}
        products = rows.products(solution.point)
        passes += 1
        lower = float(products.min()) / solution.norm
        if lower > best[0]:
            best = lower, solution.point
        products[working] = np.inf
        entering = worst_rows(products, batch, solution.norm**2 * (1 - 1e-11) - 8 * EPS * solution.norm)
        gained = solution.norm < before
        if nearest[0] - best[0] <= gap * nearest[0] or not len(entering) or not gained:
            break
        block = rows.take(entering)
        if not np.abs(block).max() < _MOST:
            break
        hull.append(block)
        working = np.concatenate([working, entering])
    return RawProposal(best[1], nearest[1], passes)
