"""The weights of an implicit witness, to the last digit of a double; its proof needs none of them."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from flint import fmpz_mat

from sepcert.verify.rows import SignedRows

_BITS = 160
_ROUNDS = 6


def implicit_weights(rows: SignedRows, support: Sequence[int]) -> list[Fraction]:
    """Return the weights p of D + 1 rows in general position with sum p_i z_i = 0, within 2**-70 of their sum or so.

    The system is solved in doubles and refined with residuals computed in integers (iterative refinement, Wilkinson
    1963), so that each round gains the digits that the condition leaves.

    Parameters
    ----------
    rows : SignedRows
    support : sequence of int, length D + 1

    Returns
    -------
    list of Fraction, length D + 1
        Positive, not normalised.
    """
    rows.fetch(support)
    exact = [rows.integers(i) for i in support]
    exponents = [max(v.bit_length() for v in numerators) for numerators, _ in exact]
    top = max(exponents)
    equations = [
        [v << (top - e) for v, e in zip(column, exponents, strict=True)]
        for column in zip(*(numerators for numerators, _ in exact), strict=True)
    ]
    scales = [max(v.bit_length() for v in equation) for equation in equations]
    system = np.array(
        [[float(Fraction(v, 1 << s)) for v in equation] for equation, s in zip(equations, scales, strict=True)]
        + [[1.0] * len(support)]
    )
    inverse = np.linalg.inv(system)
    integers = fmpz_mat([*equations, [1] * len(support)])
    solution = [0] * len(support)
    for _ in range(_ROUNDS):
        image = [int(v) for v in (integers * fmpz_mat(len(support), 1, solution)).entries()]
        residual = [-v for v in image[:-1]] + [(1 << _BITS) - image[-1]]
        size = max((abs(v).bit_length() - s for v, s in zip(residual, [*scales, 0], strict=True) if v), default=0)
        scaled = [
            float(Fraction(v, 1) / Fraction(2) ** (s + size)) for v, s in zip(residual, [*scales, 0], strict=True)
        ]
        correction = inverse @ np.array(scaled)
        solution = [
            x + int(Fraction(c) * Fraction(2) ** size) for x, c in zip(solution, correction.tolist(), strict=True)
        ]
    return [
        Fraction(x * denominator, 1 << e) for x, e, (_, denominator) in zip(solution, exponents, exact, strict=True)
    ]
