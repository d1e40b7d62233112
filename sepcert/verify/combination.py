r"""Linear combinations of the raw rows: exact, and enclosed in doubles."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property

import numpy as np

from sepcert.certificate.model import Separator
from sepcert.problem import FloatArray, IntArray, SignArray, exact_value
from sepcert.status import Numbers
from sepcert.verify.exact_entries import integer_column
from sepcert.verify.rows import SignedRows
from sepcert.verify.signs import UNIT, common_integers, dot_enclosure, rounded_weights, signs

_CHUNK = 256
_MANY = 512
_SUM_BLOCK = 1 << 13  # integers below 10**15 < 2**50: a block sums to less than 2**63


def combine(rows: SignedRows, chosen: Sequence[int], weights: Sequence[Fraction]) -> list[Fraction]:
    """Return sum_k weights_k z_(chosen_k) exactly, D rationals; no row is chosen twice.

    Rows of equal weight are summed first, many of them at a time: the witness of a large quasi-complete problem
    gives most of its rows the same weight.
    """
    groups: dict[Fraction, list[int]] = {}
    for row, weight in zip(chosen, weights, strict=True):
        groups.setdefault(weight, []).append(row)
    total = [Fraction(0)] * rows.dimension
    single: list[tuple[int, Fraction]] = []
    for weight, members in groups.items():
        if len(members) < _MANY:
            single.extend((row, weight) for row in members)
            continue
        regular, irregular = _split(rows, np.array(members, dtype=np.int64))
        single.extend((row, weight) for row in irregular.tolist())
        total = [t + weight * s for t, s in zip(total, _sum_of_rows(rows, regular), strict=True)]
    for start in range(0, len(single), _CHUNK):
        part = _combine_few(rows, single[start : start + _CHUNK])
        total = [t + s for t, s in zip(total, part, strict=True)]
    return total


def _combine_few(rows: SignedRows, terms: list[tuple[int, Fraction]]) -> list[Fraction]:
    """Return the sum over (row, weight) pairs, in integers over one denominator."""
    rows.fetch(row for row, _ in terms)
    entries = [rows.integers(row) for row, _ in terms]
    factors = [weight / scale for (_, weight), (_, scale) in zip(terms, entries, strict=True)]
    denominator = math.lcm(*(f.denominator for f in factors))
    sums = [0] * rows.dimension
    for (numerators, _), factor in zip(entries, factors, strict=True):
        whole = factor.numerator * (denominator // factor.denominator)
        sums = [s + whole * v for s, v in zip(sums, numerators, strict=True)]
    return [Fraction(s, denominator) for s in sums]


def _split(rows: SignedRows, members: IntArray) -> tuple[IntArray, IntArray]:
    irregular = rows.problem.points.irregular
    if irregular is None:
        return members, members[:0]
    odd = irregular[members]
    return members[~odd], members[odd]


def _sum_of_rows(rows: SignedRows, members: IntArray) -> list[Fraction]:
    """Return the exact sum of regular rows."""
    problem = rows.problem
    total = [Fraction(0)] * problem.points.shape[1]
    for start in range(0, len(members), _SUM_BLOCK):
        part = members[start : start + _SUM_BLOCK]
        block = problem.points.values[part] * problem.labels[part].astype(np.float64)[:, None]
        for j, column in enumerate(np.ascontiguousarray(block.T)):
            total[j] += exact_sum(column, problem.numbers)
    if problem.bias:
        total.insert(0, problem.bias_scale * int(problem.labels[members].astype(np.int64).sum()))
    return total


def exact_sum(values: FloatArray, numbers: Numbers) -> Fraction:
    """Return the sum of at most 2**13 exact values.

    Doubles are taken apart into 53-bit integers and exponents; per exponent, the upper and lower 26 bits are summed
    in int64.  Decimals are summed as integers over one power of ten where there is one.
    """
    if numbers is Numbers.DECIMAL:
        column = integer_column(values, numbers)
        if column is None:
            return sum((exact_value(x, numbers) for x in values.tolist()), Fraction(0))
        return Fraction(int(column[0].sum()), column[1])
    bits = values.view(np.int64)
    exponents = (bits >> 52) & 0x7FF
    mantissas = bits & ((1 << 52) - 1)
    mantissas = np.where(exponents > 0, mantissas | (1 << 52), mantissas)
    mantissas = np.where(bits < 0, -mantissas, mantissas)
    exponents = np.maximum(exponents, 1)
    total = 0
    for exponent in np.unique(exponents).tolist():
        these = mantissas[exponents == exponent]
        high, low = int((these >> 26).sum()), int((these & ((1 << 26) - 1)).sum())
        total += ((high << 26) + low) << exponent
    return Fraction(total, 1 << 1075)


class Direction:
    """The vector w = sum alpha_i z_i of a separator, exact on demand and enclosed in doubles.

    Parameters
    ----------
    rows : SignedRows
    separator : Separator
        Its rows are valid.  If it has `weights`, these are taken for w: whether they are the combination is the
        caller's to check, with `combined`.
    """

    def __init__(self, rows: SignedRows, separator: Separator) -> None:
        self.rows = rows
        self.alpha = separator.alpha
        self.given = separator.weights

    def combined(self) -> list[Fraction]:
        """Return sum alpha_i z_i exactly."""
        return combine(self.rows, self.alpha.rows, self.alpha.values)

    @cached_property
    def integers(self) -> list[int]:
        """Integers without a common factor in the proportions of w."""
        return common_integers(self.given if self.given is not None else self.combined())

    @cached_property
    def enclosure(self) -> tuple[FloatArray, FloatArray] | None:
        """Doubles v and radii e with |c w_j - v_j| <= u |v_j| + e_j for one c > 0; None if there are none."""
        if self.given is None:
            return self._enclosed_combination()
        values = rounded_weights(self.integers, self.rows.column_bounds)
        return None if values is None else (values, np.full_like(values, 2.0**-1022))

    def _enclosed_combination(self) -> tuple[FloatArray, FloatArray] | None:
        """Enclose sum alpha_k z_k for m rows: the bound of :mod:`sepcert.verify.signs`, with m terms for D."""
        coefficients = rounded_weights(common_integers(self.alpha.values), np.ones(len(self.alpha.rows)))
        if coefficients is None:
            return None
        block = self.rows.floats(np.array(self.alpha.rows, dtype=np.int64))
        terms = len(coefficients)
        with np.errstate(all="ignore"):
            values = coefficients @ block
            block = np.abs(block)
            sizes = np.abs(coefficients)
            radii = (terms + 6) * UNIT * (1 + 2.0**-20) * (sizes @ block)
            radii += 2.0**-1020 * (float(sizes.sum()) + block.sum(axis=0) + 4 * (terms + 1))
        return values, radii

    def row_signs(self) -> SignArray:
        """Return the exact signs of z_i'w for all rows."""
        if self.given is not None:
            return signs(self.rows, self.given)
        result = np.zeros(self.rows.count, dtype=np.int8)
        doubtful = np.arange(self.rows.count)
        if self.enclosure is not None:
            values, errors = dot_enclosure(self.rows, *self.enclosure)
            result[values > errors] = 1
            result[values < -errors] = -1
            doubtful = np.flatnonzero(result == 0)
        if len(doubtful):
            exact = [Fraction(v) for v in self.integers]
            result[doubtful] = signs(self.rows, exact, doubtful)
        return result
