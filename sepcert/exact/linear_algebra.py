"""Exact linear algebra over the integers, through FLINT.

Rows are lists of Python integers.  FLINT raises ZeroDivisionError for a singular system; here that is None.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from flint import fmpz_mat, nmod_mat

IntegerRows = Sequence[Sequence[int]]

PRIME = 2**61 - 1
"""Rank modulo this is never above the true rank, so full rank modulo it is a proof."""


def primitive(vector: Sequence[int]) -> list[int]:
    """Return the vector divided by the greatest common divisor of its entries (a zero vector as it is)."""
    divisor = math.gcd(*vector) or 1
    return [v // divisor for v in vector]


def pivot_columns(rows: IntegerRows) -> list[int]:
    """Return the pivot columns of the reduced row echelon form; their number is the rank."""
    if not rows or not rows[0]:
        return []
    modular = _pivots_modulo(rows)
    if len(modular) == len(rows[0]):
        return modular
    reduced, _, rank = fmpz_mat([list(row) for row in rows]).rref()
    return _pivots(reduced, rank)


def independent(rows: IntegerRows) -> list[int]:
    """Return the positions of a maximal set of linearly independent rows, first ones preferred."""
    if not rows or not rows[0]:
        return []
    columns = [list(column) for column in zip(*rows, strict=True)]
    modular = _pivots_modulo(columns)
    return modular if len(modular) == len(columns) else pivot_columns(columns)


def _pivots_modulo(rows: IntegerRows) -> list[int]:
    """Return the pivot columns modulo a prime; columns independent there are so over the rationals."""
    reduced, rank = nmod_mat([[v % PRIME for v in row] for row in rows], PRIME).rref()
    return _pivots(reduced, rank)


def _pivots(reduced: fmpz_mat | nmod_mat, rank: int) -> list[int]:
    pivots: list[int] = []
    column = 0
    for row in range(rank):
        while reduced[row, column] == 0:
            column += 1
        pivots.append(column)
        column += 1
    return pivots


def null_space(rows: IntegerRows, dimension: int) -> list[list[int]]:
    """Return a basis of {v in Q^D : row'v = 0 for all rows} as primitive integer vectors."""
    if not rows:
        return [[int(j == k) for j in range(dimension)] for k in range(dimension)]
    reduced, denominator, rank = fmpz_mat([list(row) for row in rows]).rref()
    pivots = _pivots(reduced, rank)
    basis = []
    for free in sorted(set(range(dimension)) - set(pivots)):
        vector = [0] * dimension
        vector[free] = int(denominator)
        for row, pivot in enumerate(pivots):
            vector[pivot] = -int(reduced[row, free])
        basis.append(primitive(vector))
    return basis


def solve(matrix: IntegerRows, right: Sequence[int]) -> list[Fraction] | None:
    """Solve the square system matrix @ x = right; None where it is singular."""
    try:
        solution = fmpz_mat([list(row) for row in matrix]).solve(fmpz_mat(len(right), 1, list(right)))
    except ZeroDivisionError:
        return None
    return [Fraction(int(v.p), int(v.q)) for v in solution.entries()]


def combination(rows: IntegerRows, target: Sequence[Fraction]) -> list[Fraction] | None:
    """Write `target` as sum_k c_k rows_k for linearly independent rows; None where that cannot be.

    Parameters
    ----------
    rows : r linearly independent integer rows of length D
    target : sequence of Fraction, length D

    Returns
    -------
    list of Fraction, length r, or None
    """
    if not rows:
        return [] if not any(target) else None
    equations = pivot_columns(rows)
    if len(equations) < len(rows):
        return None
    scale = math.lcm(*(t.denominator for t in target))
    scaled = [int(t * scale) for t in target]
    found = solve([[row[j] for row in rows] for j in equations], [scaled[j] for j in equations])
    if found is None:
        return None
    coefficients = [c / scale for c in found]
    for j in range(len(target)):
        if sum((c * row[j] for c, row in zip(coefficients, rows, strict=True)), Fraction(0)) != target[j]:
            return None
    return coefficients


def projection(rows: IntegerRows, vector: Sequence[Fraction]) -> list[Fraction]:
    """Return c with sum_k c_k rows_k the orthogonal projection of `vector` on the span of independent rows."""
    if not rows:
        return []
    matrix = fmpz_mat([list(row) for row in rows])
    gram = matrix * matrix.transpose()
    scale = math.lcm(*(v.denominator for v in vector))
    right = matrix * fmpz_mat(len(vector), 1, [int(v * scale) for v in vector])
    solution = gram.solve(right)
    return [Fraction(int(v.p), int(v.q)) / scale for v in solution.entries()]
