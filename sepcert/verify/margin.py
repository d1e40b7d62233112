r"""Rigorous ends of the bracket on the normalised margin.

Lower end, of a separator w: min_i z_i'w / (|z_i| |w|).  Upper end, of nonnegative weights q: |sum q_i z_i| /
sum q_i |z_i| (weak duality).  What `margin_lower` and `margin_upper` return passes `margin_at_least` and
`margin_at_most`: doubles are rounded outward, and exact integers decide where doubles cannot.

Norms in doubles.  For the computed sum s of the squares of D entries, each off by at most u of its size,
|z| <= (1 + u) sqrt(s (1 + gamma_{D+1}) + D 2**-1022) + sqrt(D) 2**-1074 <= sqrt(s + D 2**-1000) (1 + (D + 8) u):
half of D + 2 units are needed, the rest covers the rounding of the entries, of the square root and of the product; the
second term of the root covers underflow, gradual or flushed.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from sepcert.certificate.model import Combination, Separator
from sepcert.problem import FloatArray, IntArray
from sepcert.verify.combination import Direction, combine
from sepcert.verify.rows import BLOCK, SignedRows
from sepcert.verify.signs import UNIT, dot_enclosure

_CLOSE = 2.0**-40
_CHUNK = 1024
_ROOT_BITS = 100
_LONG = 1 << 17
"""Weights times dimension above which doubles with bounds come before exact sums."""


def margin_lower(rows: SignedRows, separator: Separator) -> float:
    """Return a lower bound of min_i z_i'w / (|z_i| |w|).

    Returns
    -------
    float
        Rounded down, and off by at most 1e-12 (or, if larger, 64 (D + 6) u) of its size.  -1.0, the trivial bound,
        where some z_i'w is not positive.
    """
    direction = Direction(rows, separator)
    lower, upper = _row_bounds(direction)
    least = float(upper.min(initial=math.inf))
    close = 1 + max(_CLOSE, 64 * (rows.dimension + 6) * UNIT)
    candidates = np.flatnonzero(~((lower > 0) & (lower * close >= least)))
    best = float(np.delete(lower, candidates).min(initial=1.0))
    for start in range(0, len(candidates), _CHUNK):
        found = _exact_squares(direction, candidates[start : start + _CHUNK])
        if not all(positive for positive, _ in found):
            return -1.0
        best = min(best, root(min(square for _, square in found), up=False))
    return best


def margin_at_least(direction: Direction, bound: Fraction) -> tuple[bool, float]:
    """Say whether every row has z_i'w > 0 and (z_i'w)**2 >= r**2 |z_i|**2 |w|**2, for r = `bound` >= 0.

    Returns
    -------
    holds : bool
    value : float
        The least margin as doubles see it, for people.
    """
    lower, upper = _row_bounds(direction)
    value = float(upper.min(initial=1.0))
    above = float(bound)
    if Fraction(above) < bound:
        above = math.nextafter(above, math.inf)
    doubtful = np.flatnonzero(~((lower > 0) & (lower >= above)))
    square = bound * bound
    for start in range(0, len(doubtful), _CHUNK):
        found = _exact_squares(direction, doubtful[start : start + _CHUNK])
        if not all(positive and exact >= square for positive, exact in found):
            return False, value
    return True, value


def margin_upper(rows: SignedRows, weights: Combination) -> float:
    """Return an upper bound of |sum q_i z_i| / sum q_i |z_i|, rounded up.

    Parameters
    ----------
    rows : SignedRows
    weights : Combination
        q > 0.  Where sum q_i z_i = 0 exactly the bound is 0.0 (such a q is a witness); where all its rows are zero
        it is 1.0, the trivial bound.
    """
    if len(weights.rows) * rows.dimension > _LONG:
        bound = _quotient_in_doubles(rows, weights)
        if bound is not None:
            return bound * (1 + _CLOSE)
    length, size = _quotient(rows, weights)
    return root(length / size**2, up=True) if size > 0 else 1.0


def margin_at_most(rows: SignedRows, weights: Combination, bound: Fraction) -> tuple[bool, float]:
    """Say whether |sum q_i z_i| <= u sum q_i |z_i| for u = `bound` >= 0, with the roots rounded against the claim.

    Returns
    -------
    holds : bool
    value : float
        The quotient, rounded up.
    """
    if len(weights.rows) * rows.dimension > _LONG:
        value = _quotient_in_doubles(rows, weights)
        if value is not None and Fraction(value) <= bound:
            return True, value
    length, size = _quotient(rows, weights)
    if size <= 0:
        return False, 1.0
    return length <= (bound * size) ** 2, root(length / size**2, up=True)


def _quotient_in_doubles(rows: SignedRows, weights: Combination) -> float | None:
    """Return an upper bound of the quotient for many rows, or None where doubles prove none that is worth having.

    With q_i and z_ij off by u each, a sum of m products in blocks is off by at most (m + 8) u times the sum of the
    absolute values (blocks add no more roundings than rows).  Row norms in doubles are off by less than (D + 8) u, and
    by 2**-500 where squares underflow.
    """
    if not 2.0**-300 < float(rows.column_bounds.max(initial=0.0)) < 2.0**300:
        return None
    index = np.array(weights.rows, dtype=np.int64)
    q = np.array([float(v) for v in weights.values])
    q = np.ldexp(q, -int(np.frexp(q.max())[1]))
    total, sizes, size = np.zeros(rows.dimension), np.zeros(rows.dimension), 0.0
    for start in range(0, len(index), BLOCK):
        block, part = rows.floats(index[start : start + BLOCK]), q[start : start + BLOCK]
        norms = np.sqrt(np.einsum("ij,ij->i", block, block)) * (1 - (rows.dimension + 8) * UNIT) - 2.0**-500
        size += float(part @ norms.clip(0))
        total += part @ block
        sizes += part @ np.abs(block)
    gain = (len(index) + 8) * UNIT * (1 + 2.0**-20)
    reach = np.abs(total) + gain * sizes + 2.0**-600
    length = math.sqrt(float(reach @ reach)) * (1 + (rows.dimension + 8) * UNIT)
    size *= 1 - gain
    return length / size * (1 + 8 * UNIT) if size > 2.0**-500 else None


def _quotient(rows: SignedRows, weights: Combination) -> tuple[Fraction, Fraction]:
    """Return |sum q_i z_i|**2 exactly, and sum q_i |z_i| rounded down by less than one part in 2**90."""
    vector = combine(rows, weights.rows, weights.values)
    length = sum((v * v for v in vector), Fraction(0))
    terms: list[Fraction] = []
    for row, q in zip(weights.rows, weights.values, strict=True):
        numerators, denominator = rows.integers(row)
        square = sum(v * v for v in numerators)
        shift = max(0, _ROOT_BITS - square.bit_length() // 2)
        terms.append(q * Fraction(math.isqrt(square << (2 * shift)), denominator << shift))
    grid = _ROOT_BITS + len(terms).bit_length() - _exponent(max(terms, default=Fraction(0)))
    scale = Fraction(1 << grid) if grid >= 0 else Fraction(1, 1 << -grid)
    return length, sum(math.floor(t * scale) for t in terms) / scale


def _exponent(value: Fraction) -> int:
    """Return e with 2**(e-1) < value < 2**(e+1), for value > 0."""
    return value.numerator.bit_length() - value.denominator.bit_length()


def root(square: Fraction, *, up: bool) -> float:
    """Return the square root of a number >= 0 rounded down or up, without the use of subnormals."""
    if square < Fraction(1, 1 << 1800):
        return 2.0**-900 if up and square > 0 else 0.0
    shift = max(0, 64 - _exponent(square) // 2)
    root = math.isqrt((square.numerator << (2 * shift)) // square.denominator)
    result = float(Fraction(root, 1 << shift))
    while Fraction(result) ** 2 > square:
        result = math.nextafter(result, 0.0)
    while up and Fraction(result) ** 2 < square:
        result = math.nextafter(result, math.inf)
    return result


def _row_bounds(direction: Direction) -> tuple[FloatArray, FloatArray]:
    """Return proved lower bounds of z_i'w / (|z_i| |w|), 0 where there is none, and estimates from above."""
    rows = direction.rows
    nothing = np.zeros(rows.count), np.ones(rows.count)
    if direction.enclosure is None:
        return nothing
    centre, radii = direction.enclosure
    with np.errstate(all="ignore"):
        sizes = np.abs(centre) * (1 + 4 * UNIT) + radii * (1 + 4 * UNIT)
        weight_shift = int(np.frexp(sizes.max(initial=0.0))[1])
        sizes = np.ldexp(sizes, -weight_shift)
        weight_norm = math.sqrt(float(sizes @ sizes) + len(sizes) * 2.0**-1000) * (1 + (len(sizes) + 8) * UNIT)
        norms, row_shift = row_norms(rows)
        values, errors = dot_enclosure(rows, centre, radii)
        shift = -(weight_shift + row_shift)
        norms *= weight_norm
        lower = values - errors
        upper = (values + errors) / norms
        np.ldexp(lower, shift, out=lower)
        unproved = ~((lower > 2.0**-900) & (norms < math.inf))
        lower /= norms
        lower *= 1 - 8 * UNIT
        np.ldexp(upper, shift, out=upper)
    lower[unproved] = 0.0
    upper[~np.isfinite(upper)] = 1.0
    return lower, upper


def row_norms(rows: SignedRows) -> tuple[FloatArray, int]:
    """Return upper bounds of |z_i| 2**-shift, and shift, which keeps the squares from overflowing."""
    values, bias = rows.problem.points.values, rows.bias
    exponent = int(np.frexp(rows.column_bounds.max(initial=0.0))[1])
    shift = exponent if abs(exponent) > 400 else 0
    squares = np.empty(rows.count)
    for start in range(0, rows.count, BLOCK):
        block = values[start : start + BLOCK]
        if shift:
            block = np.ldexp(block, -shift)
        squares[start : start + BLOCK] = np.einsum("ij,ij->i", block, block)
    squares += math.ldexp(bias, -shift) ** 2 + rows.dimension * 2.0**-1000
    np.sqrt(squares, out=squares)
    squares *= 1 + (rows.dimension + 8) * UNIT
    return squares, shift


def _exact_squares(direction: Direction, chosen: IntArray) -> list[tuple[bool, Fraction]]:
    """Return, for each row, whether z_i'w > 0, and (z_i'w)**2 / (|z_i|**2 |w|**2), 0 for a zero row."""
    weights = direction.integers
    weight_square = sum(w * w for w in weights)
    wanted = chosen.tolist()
    direction.rows.fetch(wanted)
    found = []
    for row in wanted:
        numerators, _ = direction.rows.integers(row)
        value = sum(v * w for v, w in zip(numerators, weights, strict=True))
        size = weight_square * sum(v * v for v in numerators)
        found.append((value > 0, Fraction(value * value, size) if size else Fraction(0)))
    return found
