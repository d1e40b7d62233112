r"""Bracket on a negative margin: how large a ball around 0 fits into the hull of the rows.

Let the rows span a space of dimension r, s_i be the sizes of a geometry with a Euclidean norm
(:class:`sepcert.verify.quotients.Geometry`), and h(u) = max_i u'z_i / s_i.  The margin is -min h(u) over the unit
vectors u of the span, since min_i z_i'w / s_i = -h(-w); and min h is the radius of the largest ball around 0, within
the span, inside the hull of the z_i / s_i where 0 lies in it (Ramdas and Pena 2014, Theorem 3).

Outer radius.  Any w of the span gives |rho| <= h(-w/|w|) = -min_i z_i'w / (s_i |w|).

Inner radius.  Let F_k = sum q_i z_i and B_k = sum q'_i z_i with q, q' >= 0, k = 1..r, let M_k be at least sum q_i s_i
and sum q'_i s_i, E_k = F_k + B_k, F the matrix of the rows F_k and c = |F F' - I|, the Frobenius norm.  For a unit
vector u of the span u'F_k = sum q_i s_i (u'z_i/s_i) <= h(u) sum q_i s_i, and the same for B_k, so that

    h(u) >= max(u'F_k, u'B_k) / M_k >= (|u'F_k| - |E_k|) / M_k      wherever the right side is positive.

If c < 1 the F_k are independent, and so span the span, and sum_k (u'F_k)**2 >= 1 - c, the least eigenvalue of F F'.
Since sum_k (u'F_k)**2 <= max_k (u'F_k / M_k)**2 sum_k M_k**2,

    |rho| >= sqrt(1 - c) / sqrt(sum_k M_k**2) - max_k |E_k| / M_k.

(The design asks for an orthonormal basis; c and E_k are what rational weights, which cannot hit one, owe.)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from sepcert.certificate.model import Ball, Combination
from sepcert.verify.combination import combine
from sepcert.verify.quotients import Geometry, least_quotient, quotients_at_least, rounded
from sepcert.verify.report import Findings
from sepcert.verify.rows import SignedRows

_ROOT_BITS = 100


def outer_radius(rows: SignedRows, alpha: Combination, geometry: Geometry = Geometry.NORMALISED) -> float:
    """Return an upper bound of |rho| from w = sum alpha_i z_i, rounded up.

    Raises
    ------
    ValueError
        w is zero.
    """
    return -least_quotient(rows, combine(rows, alpha.rows, alpha.values), geometry)


def inner_radius(
    rows: SignedRows,
    forward: Sequence[Combination],
    backward: Sequence[Combination],
    geometry: Geometry = Geometry.NORMALISED,
) -> float:
    """Return a lower bound of |rho|, rounded down; 0.0 where the combinations prove none.

    The right side of the last formula above, off by less than a double's last bit.

    Parameters
    ----------
    rows : SignedRows
        Of rank r: that is the caller's to check.
    forward, backward : r Combinations each, with positive values
        F_k and B_k.
    geometry : Geometry
        NORMALISED or RAW.
    """
    return rounded(_inner(rows, forward, backward, geometry), up=False)


def _inner(
    rows: SignedRows, forward: Sequence[Combination], backward: Sequence[Combination], geometry: Geometry
) -> Fraction:
    """Return the bound with its roots rounded against it by less than one part in 2**90."""
    vectors = [combine(rows, one.rows, one.values) for one in forward]
    opposite = [combine(rows, one.rows, one.values) for one in backward]
    sizes = [
        max(_size(rows, one, geometry), _size(rows, other, geometry))
        for one, other in zip(forward, backward, strict=True)
    ]
    if not sizes or min(sizes) <= 0:
        return Fraction(0)
    spectrum = 1 - _rational_root(_defect_square(vectors), up=True)
    if spectrum <= 0:
        return Fraction(0)
    radius = _rational_root(spectrum / sum(size * size for size in sizes), up=False)
    lost = Fraction(0)
    for one, other, size in zip(vectors, opposite, sizes, strict=True):
        square = sum(((a + b) ** 2 for a, b in zip(one, other, strict=True)), Fraction(0))
        lost = max(lost, square / size**2)
    return max(Fraction(0), radius - _rational_root(lost, up=True))


def check_ball(findings: Findings, rows: SignedRows, ball: Ball) -> None:
    """Check both radii; that the combinations are well formed and that r is the rank has been checked."""
    bound = _inner(rows, ball.forward, ball.backward, Geometry.NORMALISED)
    name, inner = "inner radius: sqrt(1 - c) / sqrt(sum M_k^2) - max |E_k| / M_k", float(bound)
    holds = bound >= Fraction(ball.inner)
    findings.require(holds, name, repr(inner), f"at least {ball.inner!r}", f"{inner - ball.inner:.1e}")
    weights = combine(rows, ball.alpha.rows, ball.alpha.values)
    findings.require(
        any(weights), "sum alpha_i z_i of the outer radius", "zero" if not any(weights) else "w", "not zero"
    )
    holds, value = quotients_at_least(rows, weights, Geometry.NORMALISED, -Fraction(ball.outer))
    name = "least z_i'w / (|z_i| |w|) of the outer radius"
    findings.require(holds, name, repr(value), f"at least {-ball.outer!r}", f"{value + ball.outer:.1e}")


def _rational_root(square: Fraction, *, up: bool) -> Fraction:
    """Return the square root of a number >= 0, rounded up or down by less than one part in 2**90."""
    if not square:
        return Fraction(0)
    shift = _ROOT_BITS - (square.numerator.bit_length() - square.denominator.bit_length()) // 2
    scaled = square * Fraction(4) ** shift
    floor = math.isqrt(scaled.numerator // scaled.denominator)
    return Fraction(floor + (up and floor * floor != scaled)) / Fraction(2) ** shift


def _size(rows: SignedRows, weights: Combination, geometry: Geometry) -> Fraction:
    """Return sum q_i s_i, rounded up by less than one part in 2**90."""
    if geometry is Geometry.RAW:
        return sum(weights.values, Fraction(0))
    if geometry is not Geometry.NORMALISED:
        raise ValueError("a ball needs a Euclidean norm")
    total = Fraction(0)
    rows.fetch(weights.rows)
    for row, q in zip(weights.rows, weights.values, strict=True):
        numerators, denominator = rows.integers(row)
        square = sum(v * v for v in numerators)
        shift = max(0, _ROOT_BITS - square.bit_length() // 2)
        scaled = square << (2 * shift)
        length = math.isqrt(scaled)
        total += q * Fraction(length + (length * length < scaled), denominator << shift)
    return total


def _defect_square(vectors: Sequence[Sequence[Fraction]]) -> Fraction:
    """Return |F F' - I|**2 exactly, the squared Frobenius norm."""
    from flint import fmpz_mat

    scale = math.lcm(*(v.denominator for vector in vectors for v in vector))
    matrix = fmpz_mat([[v.numerator * (scale // v.denominator) for v in vector] for vector in vectors])
    products = matrix * matrix.transpose()
    count, one = len(vectors), scale * scale
    defect = sum((int(products[j, k]) - one * (j == k)) ** 2 for j in range(count) for k in range(count))
    return Fraction(defect, one * one)
