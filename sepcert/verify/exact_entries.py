"""Exact entries of a table as integers, many at a time where the columns allow it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from sepcert.problem import FloatArray, IntArray, Points
from sepcert.status import Numbers

IntegerRow = tuple[list[int], int]
"""The entries of a row as integers over one positive denominator."""

_LARGEST = 10**15
_POWERS_OF_TEN = [10.0**k for k in range(16)]
_SMALLEST_NORMAL = 1 << 52


def integer_rows(points: Points, rows: Sequence[int]) -> list[IntegerRow]:
    """Return the exact entries of the given rows (0-based indices), each row over a denominator of its own."""
    index = np.asarray(rows, dtype=np.int64)
    odd = np.zeros(len(index), dtype=np.bool_) if points.irregular is None else points.irregular[index]
    found: list[IntegerRow | None] = [None] * len(index)
    regular = np.flatnonzero(~odd)
    for k, row in zip(regular.tolist(), _regular(points.values[index[regular]], points.numbers), strict=True):
        found[k] = row
    strange = np.flatnonzero(odd)
    for k, entries in zip(strange.tolist(), points.exact_rows(index[strange].tolist()), strict=True):
        found[k] = _over_one_denominator(entries)
    return [row for row in found if row is not None]


def _regular(block: FloatArray, numbers: Numbers) -> list[IntegerRow]:
    if numbers is Numbers.BINARY64:
        return _doubles(block)
    columns = [integer_column(np.ascontiguousarray(column), numbers) for column in block.T]
    if len(block) and all(column is not None for column in columns):
        scales = [column[1] for column in columns if column is not None]
        largest = max(scales, default=1)
        factors = [largest // scale for scale in scales]
        entries = [column[0].tolist() for column in columns if column is not None]
        if not entries:
            return [([], 1)] * len(block)
        return [([v * f for v, f in zip(row, factors, strict=True)], largest) for row in zip(*entries, strict=True)]
    points = Points(block, numbers)
    return [_over_one_denominator(row) for row in points.exact_rows(range(len(block)))]


def _doubles(block: FloatArray) -> list[IntegerRow]:
    """Take doubles apart: entry = mantissa 2**exponent with a 53-bit integer; per row over the least power of two."""
    mantissas, exponents = np.frexp(block)
    whole = np.ldexp(mantissas, 53).astype(np.int64)
    powers = np.where(whole == 0, 1 << 20, exponents.astype(np.int64) - 53)
    least = np.minimum(powers.min(axis=1, initial=1 << 20), 0)
    shifts = np.where(whole == 0, 0, powers - least[:, None])
    return [
        ([v << s for v, s in zip(row, shift, strict=True)], 1 << -power)
        for row, shift, power in zip(whole.tolist(), shifts.tolist(), least.tolist(), strict=True)
    ]


def _over_one_denominator(entries: Sequence[Fraction]) -> IntegerRow:
    denominator = math.lcm(*(v.denominator for v in entries))
    return [v.numerator * (denominator // v.denominator) for v in entries], denominator


def integer_column(values: FloatArray, numbers: Numbers) -> tuple[IntArray, int] | None:
    """Write a column as integers over one power of ten or of two.

    Parameters
    ----------
    values : ndarray of float64, shape (m,), contiguous
        Regular entries (see :class:`sepcert.problem.Points`).
    numbers : Numbers
        DECIMAL: an entry is the decimal of at most 15 digits that rounds to it.  If m has fewer than 16 digits and
        fl(m / 10**k) is the entry (10**k is a double, so this is one correct rounding), then m / 10**k is that
        decimal, for no two decimals of at most 15 digits round to the same double.

    Returns
    -------
    (integers, scale) or None
        entry = integers / scale exactly, |integers| < 10**15; None where there is no such scale.
    """
    bits = np.abs(values).view(np.int64)
    if bool(((bits > 0) & (bits < _SMALLEST_NORMAL)).any()):
        return None  # hardware set to read subnormals as zero would take them for integers
    with np.errstate(all="ignore"):
        for power in range(16):
            scale = _POWERS_OF_TEN[power] if numbers is Numbers.DECIMAL else 2.0 ** (4 * power)
            scaled = np.rint(values * scale)
            if not np.abs(scaled).max(initial=0.0) < _LARGEST:
                return None
            if np.array_equal(scaled / scale, values):
                return scaled.astype(np.int64), int(scale)
    return None
