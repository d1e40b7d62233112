r"""Rigorous ends of margins in three geometries: min_i z_i'w / (s_i |w|), and the weighted rows that bound it.

A geometry is a size s_i of each row and a norm of w:

    NORMALISED   s_i = |z_i|           |w| Euclidean     the paper's rho_2, of rows of unit length
    RAW          s_i = 1               |w| Euclidean     the paper's rho, of the rows as they are
    ONE_NORM     s_i = |z_i|_inf       |w|_1             the paper's rho_1, of rows of unit l_inf norm

A row of zeros is zero in all of them.  Every quotient is homogeneous of degree 0 in w, so w may be any positive
multiple.  In contrast to :mod:`sepcert.verify.margin` the quotients may be negative.

Doubles first: z_i'w lies within `errors` of a computed product (:func:`sepcert.verify.signs.dot_enclosure`).  A sum
of D squares or sizes, each off by 3u, its root and the product with a factor are off by less than (D + 8) u, and so
an upper bound of a norm times 1 - (2 D + 24) u is a lower bound, as long as nothing underflows: numerators and
denominators that are not between 2**-900 and 2**900 in size prove nothing.  What doubles do not prove is decided by
the exact signed square (z_i'w)**2 / (s_i**2 |w|**2).
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from enum import StrEnum
from fractions import Fraction

import numpy as np

from sepcert.certificate.model import Combination
from sepcert.problem import FloatArray, IntArray
from sepcert.verify.combination import combine
from sepcert.verify.margin import root, row_norms
from sepcert.verify.rows import BLOCK, SignedRows
from sepcert.verify.signs import UNIT, common_integers, dot_enclosure, rounded_weights

_CLOSE = 2.0**-40
_CHUNK = 1024
_LEAST, _MOST = 2.0**-900, 2.0**900
_TINY_NORM = 2.0**-440
_MANY_LONGEST = 4096


class Geometry(StrEnum):
    """Sizes of the rows and norm of the direction; see the module's text."""

    NORMALISED = "normalised"
    RAW = "raw"
    ONE_NORM = "one-norm"


def least_quotient(rows: SignedRows, weights: Sequence[Fraction], geometry: Geometry) -> float:
    """Return a lower bound of min_i z_i'w / (s_i |w|), of any sign.

    Parameters
    ----------
    rows : SignedRows
    weights : sequence of Fraction, length D
        w, not zero.
    geometry : Geometry

    Returns
    -------
    float
        Rounded down from the exact quotient; where more than a thousand rows come near the least, off by at most
        1e-12 (or, if larger, 64 (D + 6) u) of its size.

    Raises
    ------
    ValueError
        w is zero.
    """
    exact = _integers(weights)
    lower, estimate = _bounds(rows, exact, geometry)
    least = float(estimate.min(initial=math.inf))
    close = max(_CLOSE, 64 * (rows.dimension + 6) * UNIT)
    doubtful = np.flatnonzero(~(lower >= least + close * abs(least)))
    if len(doubtful) > _CHUNK:
        doubtful = np.flatnonzero(~(lower >= least - close * abs(least)))
    best = float(np.delete(lower, doubtful).min(initial=math.inf))
    for start in range(0, len(doubtful), _CHUNK):
        squares = _signed_squares(rows, exact, geometry, doubtful[start : start + _CHUNK])
        best = min(best, _signed_root(min(squares)))
    return best


def quotients_at_least(
    rows: SignedRows, weights: Sequence[Fraction], geometry: Geometry, bound: Fraction
) -> tuple[bool, float]:
    """Say whether z_i'w >= r s_i |w| for every row, for r = `bound` of any sign.

    Returns
    -------
    holds : bool
    value : float
        The least quotient as doubles see it, for people.
    """
    exact = _integers(weights)
    lower, estimate = _bounds(rows, exact, geometry)
    value = float(estimate.min(initial=math.inf))
    above = rounded(bound, up=True)
    doubtful = np.flatnonzero(~(lower >= above))
    square = bound * abs(bound)
    for start in range(0, len(doubtful), _CHUNK):
        found = _signed_squares(rows, exact, geometry, doubtful[start : start + _CHUNK])
        if any(one < square for one in found):
            return False, value
    return True, value


def weighted_rows_bound(
    rows: SignedRows, weights: Combination, geometry: Geometry, *, nonnegative: bool = False
) -> float:
    """Return an upper bound of the margin from nonnegative weights q over the raw rows, rounded up.

    RAW: |sum q_i z_i| / sum q_i.  ONE_NORM: max_j |sum q_i z_ij| / sum q_i s_i, and without the absolute value where
    only directions w >= 0 count.  (NORMALISED: :func:`sepcert.verify.margin.margin_upper`.)

    Raises
    ------
    ValueError
        The weights are not positive, or the geometry is NORMALISED.
    """
    if not weights.rows or min(weights.values) <= 0:
        raise ValueError("the weights are not positive")
    vector = combine(rows, weights.rows, weights.values)
    if geometry is Geometry.RAW:
        total = sum(weights.values, Fraction(0))
        return _root(sum((v * v for v in vector), Fraction(0)) / total**2, up=True)
    if geometry is Geometry.ONE_NORM:
        total = sum(
            (q * _largest_entry(rows, i) for i, q in zip(weights.rows, weights.values, strict=True)), Fraction()
        )
        return rounded((max(vector) if nonnegative else max(map(abs, vector))) / total, up=True)
    raise ValueError("there is another function for normalised rows")


def _largest_entry(rows: SignedRows, row: int) -> Fraction:
    """Return |z_i|_inf, or 1 for a row of zeros."""
    numerators, denominator = rows.integers(row)
    return Fraction(max(map(abs, numerators)), denominator) or Fraction(1)


def largest_norm(rows: SignedRows) -> tuple[float, float]:
    """Return bounds of max_i |z_i|; infinity where it is not a double."""
    norms, shift = row_norms(rows)
    longest = np.flatnonzero(norms >= norms.max() * (1 - (4 * rows.dimension + 64) * UNIT))
    if norms.max() < math.sqrt(rows.dimension) * _TINY_NORM:
        longest = np.arange(rows.count)
    chosen = longest[:_MANY_LONGEST].tolist()
    rows.fetch(chosen)
    squares = []
    for row in chosen:
        numerators, denominator = rows.integers(row)
        squares.append(Fraction(sum(v * v for v in numerators), denominator**2))
    low, high = _root(max(squares), up=False), _root(max(squares), up=True)
    if len(chosen) == len(longest):
        return low, high
    with np.errstate(over="ignore"):
        return low, max(high, float(np.ldexp(norms.max(), shift)) * (1 + 4 * UNIT))


def rounded(value: Fraction, *, up: bool) -> float:
    """Return the double next to a rational number, above it or below it (or equal)."""
    try:
        result = float(value)
    except OverflowError:
        result = math.inf if value > 0 else -math.inf
    if math.isinf(result):
        end = sys.float_info.max
        return (math.inf if up else end) if value > 0 else (-end if up else -math.inf)
    if up and Fraction(result) < value:
        return math.nextafter(result, math.inf)
    if not up and Fraction(result) > value:
        return math.nextafter(result, -math.inf)
    return result


def _root(square: Fraction, *, up: bool) -> float:
    try:
        return root(square, up=up)
    except OverflowError:
        return math.inf if up else sys.float_info.max


def _signed_root(square: Fraction) -> float:
    """Return the root of a signed square, rounded down."""
    return _root(square, up=False) if square >= 0 else -_root(-square, up=True)


def _integers(weights: Sequence[Fraction]) -> list[int]:
    exact = common_integers(weights)
    if not any(exact):
        raise ValueError("the direction is zero")
    return exact


def _bounds(rows: SignedRows, exact: list[int], geometry: Geometry) -> tuple[FloatArray, FloatArray]:
    """Return proved lower bounds of the quotients, -inf where there is none, and estimates."""
    weights = rounded_weights(exact, rows.column_bounds)
    if weights is None or not _LEAST <= float(np.abs(weights).max()) <= _MOST:
        return np.full(rows.count, -math.inf), np.zeros(rows.count)
    with np.errstate(all="ignore"):
        values, errors = dot_enclosure(rows, weights, np.full_like(weights, 2.0**-1022))
        weight_norm, weight_shift = _norm(weights, geometry)
        sizes, row_shift = _sizes(rows, geometry)
        slack = 1 - (2 * rows.dimension + 24) * UNIT
        numerators = np.ldexp(values - errors, -(weight_shift + row_shift))
        divisors = sizes * weight_norm
        divisors *= np.where(numerators < 0, slack * slack, 1 + 2 * UNIT)
        usable = (divisors >= _LEAST) & (divisors <= _MOST) & (sizes >= _LEAST)
        usable &= (np.abs(numerators) >= _LEAST) & (np.abs(numerators) <= _MOST)
        lower = numerators / divisors
        lower -= np.abs(lower) * (4 * UNIT)
        estimate = np.ldexp(values, -(weight_shift + row_shift)) / (sizes * weight_norm)
    lower[~usable] = -math.inf
    estimate[~np.isfinite(estimate)] = 0.0
    return lower, estimate


def _norm(weights: FloatArray, geometry: Geometry) -> tuple[float, int]:
    """Return an upper bound of |c w| 2**-shift that is good to (D + 8) u, and shift, for c w off by u and a little."""
    sizes = np.abs(weights) * (1 + 4 * UNIT)
    shift = int(np.frexp(sizes.max())[1])
    sizes = np.ldexp(sizes, -shift)
    gain = 1 + (len(sizes) + 8) * UNIT
    if geometry is Geometry.ONE_NORM:
        return (float(sizes.sum()) + len(sizes) * 2.0**-1000) * gain, shift
    return math.sqrt(float(sizes @ sizes) + len(sizes) * 2.0**-1000) * gain, shift


def _sizes(rows: SignedRows, geometry: Geometry) -> tuple[FloatArray, int]:
    """Return upper bounds of s_i 2**-shift that are good to (D + 8) u where they are at least 2**-900, and shift."""
    if geometry is Geometry.NORMALISED:
        norms, shift = row_norms(rows)
        norms[norms < math.sqrt(rows.dimension) * _TINY_NORM] = 0.0
        return norms, shift
    if geometry is Geometry.RAW:
        return np.ones(rows.count), 0
    values = rows.problem.points.values
    largest = np.full(rows.count, rows.bias)
    for start in range(0, rows.count, BLOCK):
        block = np.abs(values[start : start + BLOCK]).max(axis=1, initial=0.0)
        np.maximum(largest[start : start + BLOCK], block, out=largest[start : start + BLOCK])
    return largest * (1 + 4 * UNIT), 0


def _signed_squares(rows: SignedRows, weights: list[int], geometry: Geometry, chosen: IntArray) -> list[Fraction]:
    """Return the exact quotients times their absolute values; 0 for a row of zeros."""
    one = geometry is Geometry.ONE_NORM
    weight_square = sum(map(abs, weights)) ** 2 if one else sum(w * w for w in weights)
    wanted = chosen.tolist()
    rows.fetch(wanted)
    found = []
    for row in wanted:
        numerators, denominator = rows.integers(row)
        value = sum(v * w for v, w in zip(numerators, weights, strict=True))
        if geometry is Geometry.RAW:
            size = denominator**2
        else:
            size = max(map(abs, numerators)) ** 2 if one else sum(v * v for v in numerators)
        found.append(Fraction(value * abs(value), size * weight_square) if size else Fraction(0))
    return found
