"""Arrays of stored numbers as doubles, and the exact values of entries that doubles do not hold.

Floats of 16 and 32 bits are widened, booleans are 0 and 1, integers stay exact.  Python objects may be int, float,
Fraction or Decimal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sepcert.data import faults
from sepcert.data.numerals import EXACT_INTEGERS, SMALLEST_NORMAL
from sepcert.errors import DataError, Place
from sepcert.problem import BoolArray, FloatArray, exact_value
from sepcert.status import Numbers

AnyArray = NDArray[Any]

_LARGEST_EXPONENT = 9999


@dataclass(frozen=True)
class StoredNumbers:
    """A table of stored numbers.

    Attributes
    ----------
    values : ndarray of float64, shape (n, d)
        The nearest doubles; NaN and infinity are still in it.
    irregular : ndarray of bool, shape (n,), or None
        See Points.
    exact : callable
        Given row indices, the exact entries of those rows.
    """

    values: FloatArray
    irregular: BoolArray | None
    original: AnyArray
    numbers: Numbers

    def exact(self, rows: Sequence[int]) -> list[list[Fraction]]:
        """Return the exact entries of the given rows (0-based)."""
        return [[_exact(x, self.numbers) for x in self.original[row].tolist()] for row in rows]


def _exact(x: Any, numbers: Numbers) -> Fraction:
    if isinstance(x, float):
        if numbers is Numbers.DECIMAL:
            return Fraction(Decimal(repr(x)))
        return Fraction(x)
    return Fraction(x)


def stored_numbers(array: AnyArray, numbers: Numbers, place: Place | None = None) -> StoredNumbers:
    """Read an array.

    Parameters
    ----------
    array : ndarray, shape (n, d)
        Any real type.
    numbers : Numbers
        DECIMAL: a float stands for the shortest decimal that rounds to it (of the widened double).
    place : Place, optional
        For messages.

    Raises
    ------
    DataError
        The type is not one of real numbers.
    """
    kind = array.dtype.kind
    if kind == "f" and array.dtype.itemsize <= 8:
        values = np.ascontiguousarray(array, dtype=np.float64)
        return StoredNumbers(values, _odd_floats(values, numbers), values, numbers)
    if kind == "b":
        values = np.ascontiguousarray(array, dtype=np.float64)
        return StoredNumbers(values, None, array, numbers)
    if kind in "iu":
        return _integers(array, numbers)
    if kind == "O":
        return _objects(array, numbers, place)
    raise wrong_type(array, place)


def wrong_type(array: AnyArray, place: Place | None) -> DataError:
    """Return the error for an array that does not hold real numbers."""
    names = {"c": "complex numbers", "V": "records", "U": "text", "S": "bytes", "M": "dates", "m": "time spans"}
    what = names.get(array.dtype.kind, f"numbers of type {array.dtype}")
    return DataError(
        faults.ARRAY_TYPE,
        f"the array holds {what}, not real numbers",
        place=place,
        advice="convert it to float64",
    )


def _odd_floats(values: FloatArray, numbers: Numbers) -> BoolArray | None:
    if numbers is Numbers.BINARY64 or values.size == 0:
        return None
    size = np.abs(values)
    odd = np.asarray(((size >= EXACT_INTEGERS) | ((size < SMALLEST_NORMAL) & (size > 0.0))).any(axis=1))
    return odd if odd.any() else None


def _integers(array: AnyArray, numbers: Numbers) -> StoredNumbers:
    values = np.ascontiguousarray(array, dtype=np.float64)
    irregular = None
    if array.dtype.itemsize == 8 and array.size:
        odd = np.asarray((np.abs(values) >= EXACT_INTEGERS).any(axis=1))
        irregular = odd if odd.any() else None
    return StoredNumbers(values, irregular, array, numbers)


def _objects(array: AnyArray, numbers: Numbers, place: Place | None) -> StoredNumbers:
    n, d = array.shape
    values = np.empty((n, d), dtype=np.float64)
    odd = np.zeros(n, dtype=np.bool_)
    exact = np.empty((n, d), dtype=object)
    for i in range(n):
        for j in range(d):
            x = array[i, j]
            x = x.item() if isinstance(x, np.generic) else x
            if x is None or type(x).__name__ in {"NAType", "NaTType"}:
                x = float("nan")
            if isinstance(x, Decimal) and x.is_finite() and abs(x.adjusted()) > _LARGEST_EXPONENT:
                raise DataError(
                    faults.RANGE,
                    f"a decimal has the exponent {x.adjusted()} (row {i + 1}, column {j + 1})",
                    place=place,
                    advice=f"exponents go up to {_LARGEST_EXPONENT} in size",
                )
            if (isinstance(x, Decimal) and x.is_snan()) or not isinstance(x, int | float | Fraction | Decimal):
                raise DataError(
                    faults.NUMBER,
                    f"{str(x)[:40]!r} is not a number (row {i + 1}, column {j + 1})",
                    place=place,
                    advice="convert the column to numbers or leave it out",
                )
            exact[i, j] = x
            values[i, j] = nearest = _nearest(x, i, j, place)
            if np.isfinite(nearest):
                odd[i] |= Fraction(x) != Fraction(nearest) or (
                    numbers is Numbers.DECIMAL and _exact(x, numbers) != exact_value(nearest, numbers)
                )
    return StoredNumbers(values, odd if odd.any() else None, exact, numbers)


def _nearest(x: int | float | Fraction | Decimal, i: int, j: int, place: Place | None) -> float:
    try:
        return float(Fraction(x)) if not isinstance(x, float) and _is_finite(x) else float(x)
    except OverflowError:
        raise DataError(
            faults.RANGE,
            f"a number is too large for binary64 (row {i + 1}, column {j + 1})",
            place=place,
            advice="numbers must be below 1.8e308",
        ) from None


def _is_finite(x: int | Fraction | Decimal) -> bool:
    return x.is_finite() if isinstance(x, Decimal) else True
