"""A plain-Fractions simplex, the definition of truth for small problems."""

from fractions import Fraction

import numpy as np
import pytest

from sepcert.problem import Points, Problem
from sepcert.status import Numbers
from sepcert.verify.rows import SignedRows


def nonnegative_solution(columns, right):
    """Return q >= 0 with sum q_k columns_k = right, or None: phase 1 with Bland's rule on a Fraction tableau."""
    height, width = len(right), len(columns)
    table = [[Fraction(columns[k][j]) for k in range(width)] + [Fraction(right[j])] for j in range(height)]
    for row in table:
        if row[-1] < 0:
            row[:] = [-v for v in row]
    basis = [None] * height
    while True:
        cost = [sum((table[r][k] for r in range(height) if basis[r] is None), Fraction(0)) for k in range(width + 1)]
        entering = next((k for k in range(width) if cost[k] > 0 and k not in basis), None)
        if cost[-1] == 0 or entering is None:
            break
        ratios = [
            (table[r][-1] / table[r][entering], -1 if basis[r] is None else basis[r], r)
            for r in range(height)
            if table[r][entering] > 0
        ]
        leaving = min(ratios)[2]
        pivot = table[leaving][entering]
        table[leaving] = [v / pivot for v in table[leaving]]
        for r in range(height):
            if r != leaving and table[r][entering]:
                factor = table[r][entering]
                table[r] = [a - factor * b for a, b in zip(table[r], table[leaving], strict=True)]
        basis[leaving] = entering
    if cost[-1] != 0:
        return None
    return {basis[r]: table[r][-1] for r in range(height) if basis[r] is not None and table[r][-1] > 0}


def true_never_strict(rows):
    """Return the set N of rows that lie on every weakly separating hyperplane: those with -z_i in the cone."""
    return {i for i, z in enumerate(rows) if nonnegative_solution(rows, [-v for v in z]) is not None}


def true_separation(rows):
    never = true_never_strict(rows)
    return "complete" if not never else "overlap" if len(never) == len(rows) else "quasi-complete"


@pytest.fixture(scope="session")
def truth():
    """The reference functions."""

    class Truth:
        solution = staticmethod(nonnegative_solution)
        never_strict = staticmethod(true_never_strict)
        separation = staticmethod(true_separation)

    return Truth


@pytest.fixture(scope="session")
def make_rows():
    def make(values, labels, numbers=Numbers.BINARY64, bias=True, scale=Fraction(1)):
        points = Points(np.ascontiguousarray(values, dtype=np.float64), numbers)
        return SignedRows(Problem(points, np.asarray(labels, dtype=np.int8), bias=bias, bias_scale=scale))

    return make
