r"""Exact revised simplex for strict separation: rows r_i in Z^q, is there a w with r_i'w > 0 for all i?

The linear program and its dual:

    minimise  sum_j c_j (u_j + v_j)   over p, u, v >= 0 with  sum_i p_i r_i + u - v = 0,  sum_i p_i = 1
    maximise  t   over w, t with  r_i'w >= t,  |w_j| <= c_j

Value 0: p is a witness.  Otherwise the dual vector w of any basis with r_i'w > 0 for all i separates, optimal or
not; a row with r_i'w <= 0 < t has a negative reduced cost and enters.  So u and v never enter again: this is phase 1
with artificial variables.  The basis inverse is kept as an integer matrix over one determinant (Edmonds' integer
pivoting, all divisions exact).  The lexicographic rule for the leaving variable makes it finite whatever row enters
(Dantzig, Orden and Wolfe 1955).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

ObjectArray = NDArray[Any]


@dataclass(frozen=True)
class SimplexAnswer:
    """What the simplex found; exactly one of the first two is not None unless it was stopped.

    Attributes
    ----------
    separator : list of int or None
        w with r_i'w > 0 for every row, as the `violated` callback has confirmed.
    witness : dict of int to int or None
        Row index -> positive integer weight with sum p_i r_i = 0; the rows of a basic solution, hence a minimal
        conflict: every proper subset of them is separable.
    pivots : int
    """

    separator: list[int] | None
    witness: dict[int, int] | None
    pivots: int


class IntegerBasis:
    """A basis of the linear program with its inverse in integers.

    Attributes
    ----------
    members : list of int
        Row index of each basic variable, or -1 for an artificial one.
    inverse : object ndarray of int, shape (q + 1, q + 1)
        The inverse times `determinant`; the last column holds the basic solution.
    determinant : int
        Positive.
    """

    def __init__(self, first: int, row: Sequence[int], costs: Sequence[int]) -> None:
        q = len(row)
        self.members = [first] + [-1] * q
        self.inverse: ObjectArray = np.zeros((q + 1, q + 1), dtype=object)
        self.inverse[0, q] = 1
        self.costs = np.array([0, *costs], dtype=object)
        for j, value in enumerate(row):
            side = -1 if value > 0 else 1
            self.inverse[j + 1, j] = side
            self.inverse[j + 1, q] = -side * value
        self.determinant = 1

    def multipliers(self) -> tuple[list[int], int]:
        """Return (w, t), both times the determinant: the dual solution of this basis."""
        dual = self.costs @ self.inverse
        return [-v for v in dual[:-1].tolist()], dual[-1]

    def solution(self) -> dict[int, int]:
        """Return the positive weights of the basic rows, times the determinant."""
        return {i: v for i, v in zip(self.members, self.inverse[:, -1].tolist(), strict=True) if i >= 0 and v > 0}

    def artificial_cost(self) -> int:
        """Return the objective times the determinant; 0 means that the basic solution is a witness."""
        return int(self.costs @ self.inverse[:, -1])

    def enter(self, index: int, row: Sequence[int]) -> None:
        """Bring a row into the basis; the lexicographic ratio test says what leaves."""
        column = self.inverse @ np.array([*row, 1], dtype=object)
        leaving = self._leaving(column.tolist())
        pivot = column[leaving]
        kept = self.inverse[leaving].copy()
        self.inverse = (pivot * self.inverse - np.outer(column, kept)) // self.determinant
        self.inverse[leaving] = kept
        self.determinant = pivot
        self.members[leaving] = index
        self.costs[leaving] = 0

    def _leaving(self, column: list[int]) -> int:
        """Return the position whose row (basic value, inverse row) / column entry is lexicographically smallest."""
        best = -1
        for k, entry in enumerate(column):
            if entry <= 0:
                continue
            if best < 0 or self._precedes(k, entry, best, column[best]):
                best = k
        if best < 0:
            raise ArithmeticError("the linear program has no leaving variable")
        return best

    def _precedes(self, k: int, entry: int, other: int, other_entry: int) -> bool:
        mine, theirs = self.inverse[k], self.inverse[other]
        q = len(mine) - 1
        for j in (q, *range(q)):
            difference = mine[j] * other_entry - theirs[j] * entry
            if difference:
                return bool(difference < 0)
        return False


def separate(
    row: Callable[[int], list[int]],
    violated: Callable[[list[int]], int | None],
    first: int,
    costs: Sequence[int],
    stop: Callable[[], bool],
) -> SimplexAnswer:
    """Decide strict separability of integer rows.

    Parameters
    ----------
    row : callable
        Row index -> r_i, q integers.
    violated : callable
        w -> the index of a row with r_i'w <= 0 (any one; the worst in floating point is a good choice), or None
        when r_i'w > 0 has been proved for every row.
    first : int
        A row to start from.
    costs : sequence of int, length q
        Positive costs c_j of the artificial variables; the reciprocals of the column sizes balance the pivoting.
    stop : callable
        Asked before every pivot; True ends the run without an answer.

    Returns
    -------
    SimplexAnswer
    """
    basis = IntegerBasis(first, row(first), costs)
    pivots = 0
    while True:
        if basis.artificial_cost() == 0:
            return SimplexAnswer(None, basis.solution(), pivots)
        weights, _ = basis.multipliers()
        entering = violated(weights)
        if entering is None:
            return SimplexAnswer(weights, None, pivots)
        if stop():
            return SimplexAnswer(None, None, pivots)
        basis.enter(entering, row(entering))
        pivots += 1
