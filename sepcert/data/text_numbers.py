"""Many numeric fields of a text at once: their values, and which of them a double does not give back.

A numeral without an exponent is m / 10**k with an integer m and k digits behind the point.  That its field has digits,
at most one point and at most a leading sign, and nothing else, is proved by counting bytes.

* Fields of at most 16 characters: with a point m has at most 15 digits; m < 2**53 and 10**k <= 10**22 are exact
  doubles, so that one division rounds correctly (Clinger 1990, "How to read floating point numbers accurately").
* Longer fields, where long doubles have 64 bits: m < 2**63 and 10**k <= 10**27 are exact there, and the quotient r is
  correctly rounded to 64 bits.  Halfway points between doubles are 64-bit numbers, and rounding is monotonic: unless r
  is such a point, it lies on the same side of each as the true quotient, and rounding r to a double is right.  The
  one field in 2000 where r is halfway, and the few fields with an exponent, are converted one by one.
* All other text: ``numpy.fromstring`` in text mode, whose ``strtod`` rounds correctly.  Besides numerals it takes only
  NaN and infinity, which are looked for afterwards, blanks around fields, and fields of nothing but blanks (as -1),
  which are looked for before.  It must use up the text and give as many numbers as there are fields.

Numerals that a double does not give back (:func:`sepcert.data.numerals.is_irregular`) are found by looking at the
characters of the few fields that are long enough, one column of characters after the other.
"""

from __future__ import annotations

import sys
import warnings
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from sepcert.data.numerals import EXACT_DIGITS, EXACT_INTEGERS, SMALLEST_NORMAL, is_numeral
from sepcert.problem import BoolArray, FloatArray, IntArray

Bytes = NDArray[np.uint8]

LONGEST_NUMERAL = 300  # characters; a shorter numeral without an exponent cannot underflow
LONGEST_DIVIDED = 16
LONGEST_QUOTIENT = 28
BLANK, COMMA, POINT, PLUS, MINUS, ZERO = b" ,.+-0"
_POWERS = np.array([float(10**k) for k in range(23)])
_LONG_POWERS = np.cumprod(np.array([1] + [10] * 27, dtype=np.longdouble))
# Whether long doubles are the 80-bit numbers of the x87, in 16 bytes each, and divide to 64 bits.
_LONG_DOUBLES = (
    np.finfo(np.longdouble).nmant == 63
    and np.dtype(np.longdouble).itemsize == 16
    and sys.byteorder == "little"
    and int((np.ones(1, dtype=np.longdouble) / 3).view(np.uint64)[0]) == 0xAAAAAAAAAAAAAAAB
)


class Refused(Exception):  # noqa: N818
    """The text is not plain; the slow parser decides."""


@dataclass(frozen=True)
class Fields:
    """Where fields are: field (i, j) is ``buffer[starts[i, j]:ends[i, j]]``.

    Attributes
    ----------
    buffer : ndarray of uint8
    starts, ends, lengths : ndarray of int64, shape (rows, columns), C order
    """

    buffer: Bytes
    starts: IntArray
    ends: IntArray
    lengths: IntArray

    def take(self, columns: list[int]) -> Fields:
        """Return some of the columns."""
        if columns == list(range(self.ends.shape[1])):
            return self
        at = np.array(columns, dtype=np.intp)
        starts, ends, lengths = (np.take(a, at, axis=1) for a in (self.starts, self.ends, self.lengths))
        return Fields(self.buffer, starts, ends, lengths)


def values_of(fields: Fields) -> tuple[FloatArray, bool]:
    """Return the values of numeric fields.

    Parameters
    ----------
    fields : Fields
        At least one; in the buffer a comma follows each, and everything else is blank.

    Returns
    -------
    values : ndarray of float64, shape (rows, columns)
        Correctly rounded, finite.
    short : bool
        Whether all fields were short: then only integers from 2**53 on are irregular.

    Raises
    ------
    Refused
        Some field is no numeral, or out of range.
    """
    longest = int(fields.lengths.max())
    if int(fields.lengths.min()) == 0 or longest > LONGEST_NUMERAL:
        raise Refused
    if longest <= LONGEST_DIVIDED:
        quotient = _quotient(fields, _POWERS)
        if quotient is not None:
            exact: FloatArray = quotient[0] / quotient[1]
            return exact.reshape(fields.ends.shape), True
    if _LONG_DOUBLES and longest <= LONGEST_QUOTIENT:
        values = _long_divided(fields)
        if values is not None:
            return values, False
    _require_digits(fields)
    values = _from_text(fields, fields.buffer[: fields.ends[-1, -1]], np.float64).reshape(fields.ends.shape)
    if not (np.isfinite(values.min()) and np.isfinite(values.max())):
        raise Refused
    return values, False


def _quotient(fields: Fields, powers: NDArray[Any]) -> tuple[IntArray, Any] | None:
    """Return m and 10**k (out of `powers`) for fields of digits, signs and points; None if there is anything else."""
    buffer = fields.buffer
    ends, lengths = fields.ends.reshape(-1), fields.lengths.reshape(-1)
    points = np.flatnonzero(buffer == POINT)
    leading = buffer[fields.starts.reshape(-1)]
    signs = np.count_nonzero((leading == MINUS) | (leading == PLUS))
    digits = np.count_nonzero((buffer - ZERO) < 10)
    inside = int(lengths.sum())
    blanks = np.count_nonzero(buffer == BLANK)
    if digits + points.size + signs != inside or blanks + inside + ends.size != buffer.size:
        return None
    least = int(lengths.min())
    if least <= 2:  # else there is a digit besides sign and point
        count = lengths - ((leading == MINUS) | (leading == PLUS))
        np.subtract.at(count, np.minimum(np.searchsorted(ends, points), ends.size - 1), 1)
        least = int(count.min())
    if least < 1:
        return None
    text = buffer[: ends[-1]]
    if not points.size:
        return _from_text(fields, text, np.int64), powers[0]
    if points.size == ends.size:
        behind = ends - points
        behind -= 1
        if int(behind.min()) < 0 or not (behind < lengths).all():
            return None
    else:
        at = np.searchsorted(ends, points)
        if (at[1:] == at[:-1]).any():
            return None
        behind = np.zeros_like(ends)
        behind[at] = ends[at] - points - 1
    most = int(behind.max())
    if most >= len(powers):
        return None
    whole = _from_text(fields, text.tobytes().replace(b".", b""), np.int64)
    return whole, powers[most] if most == int(behind.min()) else powers[behind]


def _long_divided(fields: Fields) -> FloatArray | None:
    """Return the values of longer fields by division of long doubles; None if too many are unusual."""
    buffer = fields.buffer
    is_e = (buffer | 32) == ord("e")
    if np.count_nonzero(is_e) > fields.ends.size // 64:
        return None
    ends = fields.ends.reshape(-1)
    alone = np.unique(np.searchsorted(ends, np.flatnonzero(is_e)))
    if alone.size:
        buffer = buffer.copy()
        for k in alone.tolist():
            buffer[fields.starts.flat[k] : ends[k]] = ZERO
    quotient = _quotient(Fields(buffer, fields.starts, fields.ends, fields.lengths), _LONG_POWERS)
    if quotient is None:
        return None
    whole, powers = quotient
    if whole.size and max(-int(whole.min()), int(whole.max())) >= 2**63 - 1:
        return None  # strtoll stops there
    longs = whole / powers
    values: FloatArray = longs.astype(np.float64)
    halfway = (longs.view(np.uint64)[0::2] & np.uint64(0x7FF)) == 0x400
    for k in (*alone.tolist(), *np.flatnonzero(halfway).tolist()):
        numeral = fields.buffer[fields.starts.flat[k] : ends[k]].tobytes().decode("ascii", "replace")
        if not is_numeral(numeral):
            raise Refused
        values[k] = float(numeral)
    return values.reshape(fields.ends.shape)


def _require_digits(fields: Fields) -> None:
    """Refuse control characters, and fields of nothing but blanks."""
    if (fields.buffer < BLANK).any():
        raise Refused
    blanks = np.count_nonzero(fields.buffer == BLANK)
    if blanks + int(fields.lengths.sum()) + fields.ends.size != fields.buffer.size:
        digits = (fields.buffer - ZERO) < 10
        if not np.logical_or.reduceat(digits, fields.starts.reshape(-1)).all():
            raise Refused


def _from_text(fields: Fields, text: bytes | Bytes, kind: type[np.generic]) -> NDArray[Any]:
    if isinstance(text, np.ndarray):
        text = text.view()
        text.flags.writeable = False  # fromstring wants an immutable buffer
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)
        try:
            numbers: NDArray[Any] = np.fromstring(cast(bytes, text), dtype=kind, sep=",")
        except (DeprecationWarning, ValueError):
            raise Refused from None
    if numbers.size != fields.ends.size:
        raise Refused
    return numbers


def irregular_rows(fields: Fields, values: FloatArray, *, short: bool, exponents: bool) -> BoolArray | None:
    """Return the rows with a numeral that a double does not give back.

    Parameters
    ----------
    fields : Fields
    values : ndarray of float64, shape (rows, columns)
        Of :func:`values_of`, as is `short`.
    short : bool
    exponents : bool
        Whether there may be exponents.

    Returns
    -------
    ndarray of bool, shape (rows,), or None
        None: there are no such rows.
    """
    rows = np.zeros(len(values), dtype=np.bool_)
    if not values.size:
        return None
    if max(-values.min(), values.max()) >= EXACT_INTEGERS:
        rows |= np.asarray((np.abs(values) >= EXACT_INTEGERS).any(axis=1))
    if not short:
        if exponents:
            row, column = np.nonzero(np.abs(values) < SMALLEST_NORMAL)
            digits, _ = significant_digits(fields, row, column)
            rows[row[digits > 0]] = True
        candidates = fields.lengths > EXACT_DIGITS
        row = np.flatnonzero(candidates.any(axis=1))
        if row.size:
            _mark_long(fields, row, candidates[row].argmax(axis=1), rows)
            if not rows.all():
                row, column = np.nonzero(candidates & ~rows[:, None])
                _mark_long(fields, row, column, rows)
    return rows if rows.any() else None


def _mark_long(fields: Fields, row: IntArray, column: IntArray, rows: BoolArray) -> None:
    digits, whole = significant_digits(fields, row, column)
    rows[row[(digits > EXACT_DIGITS) & ~whole]] = True


def significant_digits(fields: Fields, row: IntArray, column: IntArray) -> tuple[NDArray[np.int16], BoolArray]:
    """Count the digits of some fields from the first to the last nonzero one.

    Parameters
    ----------
    fields : Fields
    row, column : ndarray of int64, shape (k,)
        Which fields.

    Returns
    -------
    digits : ndarray of int16, shape (k,)
        0 for zero.
    whole : ndarray of bool, shape (k,)
        Fields without point and exponent.

    Raises
    ------
    Refused
        An exponent has more than three digits: it may exceed the largest that the grammar allows.
    """
    starts, ends, lengths = fields.starts[row, column], fields.ends[row, column], fields.lengths[row, column]
    digits = np.zeros(len(starts), dtype=np.int16)
    since_first = np.zeros_like(digits)
    exponent_at = np.full_like(digits, -1)
    whole = np.ones(len(starts), dtype=np.bool_)
    for at in range(int(lengths.max(initial=0))):
        byte = fields.buffer[np.minimum(starts + at, ends)]
        byte[lengths <= at] = BLANK
        is_e = (byte | 32) == ord("e")
        if is_e.any():
            exponent_at[is_e] = at
            whole &= ~is_e
        whole &= byte != POINT
        digit = ((byte - ZERO) < 10) & (exponent_at < 0)
        nonzero = digit & (byte != ZERO)
        since_first += digit & (nonzero | (since_first > 0))
        np.copyto(digits, since_first, where=nonzero)
    if ((exponent_at >= 0) & (lengths - exponent_at > 5)).any():
        raise Refused
    return digits, whole
