"""A face: some of the rows, with w restricted to a subspace (the null space of a witness's rows, or a span).

Facial reduction (design of :mod:`sepcert.exact.partition`) asks the same question again and again: do these rows,
restricted to this subspace, have a strict separator or a witness?  A face answers in exact arithmetic about single
rows, and with the verifier's sign filter about all of them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from sepcert.exact.linear_algebra import primitive
from sepcert.problem import FloatArray, IntArray
from sepcert.verify.rows import SignedRows
from sepcert.verify.signs import rounded_weights, signs

_CLEARLY = 2.0**-30


class Face:
    """Rows `members` restricted to the span of `base`.

    Parameters
    ----------
    rows : SignedRows
        All rows z_i in R^D.
    members : ndarray of int64, shape (m,)
        The rows that belong to the face.
    base : list of q integer vectors of length D, or None
        A basis of the subspace in which w is sought; None: all of R^D.
    """

    def __init__(self, rows: SignedRows, members: IntArray, base: list[list[int]] | None = None) -> None:
        self.rows = rows
        self.members = members
        self.base = base
        self.dimension = rows.dimension if base is None else len(base)
        self._whole = len(members) == rows.count

    @property
    def subset(self) -> IntArray | None:
        """The members, or None where they are all rows (which saves a copy of the matrix)."""
        return None if self._whole else self.members

    def integers(self, row: int) -> tuple[list[int], Fraction]:
        """Return the restricted row as a primitive integer vector r, and the factor k > 0 with r = k z_i'B."""
        numerators, denominator = self.rows.integers(row)
        if self.base is not None:
            numerators = [sum(a * b for a, b in zip(numerators, v, strict=True) if a and b) for v in self.base]
        divisor = math.gcd(*numerators) or 1
        return [v // divisor for v in numerators], Fraction(denominator, divisor)

    def reduced(self, row: int) -> list[int]:
        """Return the restricted row as a primitive integer vector."""
        return self.integers(row)[0]

    def lift(self, weights: Sequence[int]) -> list[int]:
        """Return the vector of R^D with coordinates `weights` in the base, made primitive."""
        if self.base is None:
            return primitive(weights)
        columns = zip(*self.base, strict=True)
        return primitive([sum(a * b for a, b in zip(weights, column, strict=True) if a and b) for column in columns])

    def floats(self) -> FloatArray:
        """Return the members in the coordinates of the base as doubles, shape (m, q); a proposal's input only."""
        matrix = self.rows.floats(self.members)
        if self.base is None:
            return matrix
        columns = []
        for vector in self.base:
            largest = max(abs(v) for v in vector)
            columns.append([v / largest for v in vector])
        reduced: FloatArray = matrix @ np.array(columns).T
        return reduced

    def scaled_base(self, weights: FloatArray) -> list[int]:
        """Return the integer vector in R^D of a direction proposed in the coordinates of :meth:`floats`."""
        exact = [Fraction(w) for w in weights.tolist()]
        if self.base is not None:
            exact = [w / max(abs(v) for v in vector) for w, vector in zip(exact, self.base, strict=True)]
        scale = math.lcm(*(w.denominator for w in exact))
        return self.lift([int(w * scale) for w in exact])

    def costs(self) -> list[int]:
        """Return artificial costs for the exact simplex: powers of two that balance the columns."""
        sample = self.members[:: max(1, len(self.members) // 64)].tolist()
        self.rows.fetch(sample)
        sizes = [1] * self.dimension
        for i in sample:
            for j, value in enumerate(self.reduced(i)):
                sizes[j] = max(sizes[j], abs(value).bit_length())
        largest = max(sizes)
        return [1 << (largest - size) for size in sizes]

    def violators(self, weights: Sequence[int]) -> IntArray:
        """Return the members with z_i'w <= 0 for an exact w in R^D, worst first (in doubles); empty: w separates."""
        approximate = rounded_weights(list(weights), self.rows.column_bounds)
        found = signs(self.rows, [Fraction(w) for w in weights], self.subset)
        bad = np.flatnonzero(found <= 0)
        if len(bad) > 1 and approximate is not None:
            with np.errstate(all="ignore"):
                products = self.rows.times(approximate, self.members[bad])
            bad = bad[np.argsort(products, kind="stable")]
        return self.members[bad]

    def worst(self, weights: Sequence[int]) -> int | None:
        """Return a member with z_i'w <= 0, clearly bad ones first; None: z_i'w > 0 has been proved for all."""
        approximate = rounded_weights(list(weights), self.rows.column_bounds)
        if approximate is not None:
            with np.errstate(all="ignore"):
                products = self.rows.times(approximate, self.subset)
            at = int(products.argmin())
            if products[at] < -_CLEARLY:
                row = int(self.members[at])
                numerators, _ = self.rows.integers(row)
                if sum(a * b for a, b in zip(numerators, weights, strict=True)) <= 0:
                    return row
        bad = self.violators(weights)
        return int(bad[0]) if len(bad) else None
