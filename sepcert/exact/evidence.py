"""From weights and directions to the separators and witnesses of a certificate."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from fractions import Fraction
from itertools import islice

import numpy as np

from sepcert.certificate.model import Combination, Separator, Witness
from sepcert.exact.linear_algebra import independent, null_space, pivot_columns, primitive, projection
from sepcert.verify.combination import combine
from sepcert.verify.rows import SignedRows
from sepcert.verify.signs import signs

LARGEST_EXPLICIT = 1 << 18
"""A separator keeps exact weights next to alpha while support times dimension is at most this."""


def combination(weights: Mapping[int, Fraction]) -> Combination:
    """Return the sparse vector with its rows in order and without zeros."""
    items = sorted((i, v) for i, v in weights.items() if v)
    return Combination(tuple(i for i, _ in items), tuple(v for _, v in items))


def _power_of_two(size: Fraction) -> Fraction:
    """Return the power of two 2**k with 2**k <= size < 2**(k + 1)."""
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    power = Fraction(2) ** exponent
    return power if power <= size else power / 2


def separator_from_alpha(rows: SignedRows, alpha: Mapping[int, Fraction]) -> Separator | None:
    """Return the separator w = sum alpha_i z_i, scaled by a power of two so that its largest entry is in [1, 2).

    Nothing is checked but that w is not zero (else None).  Where w would be long, only alpha is kept, unscaled.
    """
    kept = combination(alpha)
    if len(kept.rows) * rows.dimension > LARGEST_EXPLICIT:
        return Separator(kept, None)
    weights = combine(rows, kept.rows, kept.values)
    largest = max((abs(w) for w in weights), default=Fraction(0))
    if not largest:
        return None
    scale = _power_of_two(largest)
    return Separator(Combination(kept.rows, tuple(a / scale for a in kept.values)), tuple(w / scale for w in weights))


def separator_from_direction(rows: SignedRows, direction: list[int], hints: Iterable[int]) -> Separator:
    """Return a separator with the same products z_i'w as `direction`: its projection on the span of the rows."""
    spanning = spanning_rows(rows, hints)
    exact = [rows.integers(i) for i in spanning]
    found = projection([numerators for numerators, _ in exact], [Fraction(v) for v in direction])
    alpha = {i: c * denominator for i, c, (_, denominator) in zip(spanning, found, exact, strict=True)}
    separator = separator_from_alpha(rows, alpha)
    if separator is None:
        raise ArithmeticError("a separator is orthogonal to every row")
    return separator


def integer_witness(weights: Mapping[int, Fraction]) -> Witness:
    """Return the explicit witness with positive integer weights in the same proportions."""
    sparse = combination(weights)
    scale = math.lcm(*(v.denominator for v in sparse.values))
    whole = primitive([int(v * scale) for v in sparse.values])
    return Witness(Combination(sparse.rows, tuple(Fraction(v) for v in whole)))


def spanning_rows(rows: SignedRows, hints: Iterable[int] = ()) -> list[int]:
    """Return independent rows that span all rows, exactly; the first few `hints` are tried first."""
    first = list(islice(hints, 2 * rows.dimension + 10))
    spread = np.linspace(0, rows.count - 1, min(rows.count, 2 * rows.dimension + 10)).astype(np.int64)
    chosen = list(dict.fromkeys([*first, *spread.tolist()]))
    while True:
        rows.fetch(chosen)
        kept = independent([rows.integers(i)[0] for i in chosen])
        spanning = [chosen[k] for k in kept]
        if len(spanning) == rows.dimension or len(chosen) == rows.count:
            return spanning
        outside: list[int] = []
        for vector in null_space([rows.integers(i)[0] for i in spanning], rows.dimension):
            found = np.flatnonzero(signs(rows, [Fraction(v) for v in vector]))
            outside += found[:2].tolist()
        if not outside:
            return spanning
        chosen = list(dict.fromkeys([*spanning, *outside]))


def aliased_columns(rows: SignedRows, hints: Iterable[int] = ()) -> list[int]:
    """Return the columns of z (0-based, the bias first if there is one) that depend linearly on earlier ones."""
    spanning = spanning_rows(rows, hints)
    if len(spanning) == rows.dimension:
        return []
    pivots = set(pivot_columns([rows.integers(i)[0] for i in spanning]))
    return [j for j in range(rows.dimension) if j not in pivots]
