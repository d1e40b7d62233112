"""Whole blocks of text parsed by NumPy; anything unusual is refused, never guessed.

A block is accepted only when this is proved about it: every line has the right number of fields (by the positions of
all delimiters and line ends), and every numeric field is a numeral of :mod:`sepcert.data.numerals` with a finite
value.  The second is done in one of two ways.

* Fields of at most 16 characters without exponents: digits, at most one point and at most a leading sign each, by
  counting bytes.  The value is m / 10**k with an integer m and k digits behind the point.  With a point m has at most
  15 digits; m < 2**53 and 10**k <= 10**22 are exact doubles, so that one division rounds correctly (Clinger 1990).
* Other blocks: ``numpy.fromstring`` in text mode, whose ``strtod`` rounds correctly.  Besides numerals it takes only
  NaN and infinity, which are looked for afterwards, and blanks around fields.  It must use up the text and give as
  many numbers as there are fields.

Numerals that a double does not give back (:func:`sepcert.data.numerals.is_irregular`) are found by looking at the
characters of the few fields that are long enough, column of characters by column of characters.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sepcert.data.blocks import MISSING_CODE, Block, CodeArray, Levels
from sepcert.data.columns import Columns
from sepcert.data.numerals import EXACT_DIGITS, EXACT_INTEGERS, SMALLEST_NORMAL
from sepcert.problem import BoolArray, FloatArray, IntArray

Bytes = NDArray[np.uint8]

ANCHOR_STEP = 64
LONGEST_TEXT = 4096  # characters of a text field, beyond which a block is refused
LONGEST_NUMERAL = 300  # characters; a shorter numeral without an exponent cannot underflow
LONGEST_DIVIDED = 16
_NEWLINE, _QUOTE, _BLANK, _COMMA, _POINT, _PLUS, _MINUS, _ZERO = b'\n" ,.+-0'
_POWERS = 10.0 ** np.arange(LONGEST_DIVIDED + 1)


class Refused(Exception):  # noqa: N818
    """The block is not plain; the slow parser decides."""


@dataclass
class _Fields:
    """Where the fields of a block are: field (i, j) is `buffer[starts[i, j]:ends[i, j]]`."""

    buffer: Bytes
    starts: IntArray
    ends: IntArray


class FastParser:
    """Parses blocks of plain lines.

    Parameters
    ----------
    columns : Columns
    levels : list of Levels
        Of the coded columns; new texts are added.
    delimiter : str
    decimal_comma : bool
    """

    def __init__(self, columns: Columns, levels: list[Levels], *, delimiter: str, decimal_comma: bool) -> None:
        self._columns = columns
        self._levels = levels
        self._delimiter = ord(delimiter)
        self._decimal_comma = decimal_comma
        self._measured = np.array(columns.measured, dtype=np.intp)
        self._coded = columns.coded
        self._texts = sorted({*columns.coded, *columns.dropped})

    def parse(self, block: bytes, offset: int, line: int) -> Block:
        """Parse a block of whole lines.

        Parameters
        ----------
        block : bytes
            Lines that end in ``\\n``.
        offset, line : int
            Position of the block in its stream and the number of its first line.

        Raises
        ------
        Refused
            Something in it is unusual.
        """
        text = _plain_lines(block, blanks=self._delimiter == _BLANK)
        fields = self._cut(text)
        rows = len(fields.starts)
        codes = [self._codes(fields, j, k) for k, j in enumerate(self._coded)]
        self._blank_texts(fields)
        measured = fields
        if self._texts:
            measured = _Fields(fields.buffer, fields.starts[:, self._measured], fields.ends[:, self._measured])
        if self._decimal_comma:
            _points_for_commas(measured)
        values, irregular, weightless = self._numbers(measured)
        first_bytes = _line_starts(block, fields, same=len(text) == len(block))
        records = np.arange(0, rows, ANCHOR_STEP)
        return Block(
            records=rows,
            values=values,
            codes=codes,
            irregular=irregular,
            zero_weight=weightless,
            anchors=(records, first_bytes[records] + offset),
            line_runs=[(0, line)],
        )

    def _cut(self, text: bytes) -> _Fields:
        buffer = np.frombuffer(bytearray(text), dtype=np.uint8)
        ends = np.flatnonzero((buffer == self._delimiter) | (buffer == _NEWLINE))
        width = len(self._columns.names)
        rows, left = divmod(ends.size, width)
        ends = ends.reshape(rows, width) if left == 0 else ends
        if left or text.count(b"\n") != rows or not (buffer[ends[:, -1]] == _NEWLINE).all():
            raise Refused
        starts = np.empty_like(ends)
        starts.reshape(-1)[0] = 0
        np.add(ends.reshape(-1)[:-1], 1, out=starts.reshape(-1)[1:])
        fields = _Fields(buffer, starts, ends)
        if b'"' in text:
            _blank_quotes(fields)
        return fields

    def _codes(self, fields: _Fields, column: int, k: int) -> CodeArray:
        starts, ends = fields.starts[:, column], fields.ends[:, column]
        lengths = ends - starts
        longest = int(lengths.max())
        levels = self._levels[k]
        if longest <= 8:
            keys = np.zeros(len(starts), dtype=np.uint64)
            for at in range(longest):
                byte = fields.buffer[np.minimum(starts + at, ends)].astype(np.uint64)
                keys |= np.where(at < lengths, byte, 0).astype(np.uint64) << np.uint64(8 * at)
            distinct, inverse = _distinct(keys)
            texts = [int(key).to_bytes(8, "little").rstrip(b"\0") for key in distinct]
            codes = np.array([levels.code_of_bytes(t) for t in texts], dtype=np.int32)[inverse]
        elif longest <= LONGEST_TEXT:
            data = fields.buffer.tobytes()
            code = levels.code_of_bytes
            pairs = zip(starts.tolist(), ends.tolist(), strict=True)
            codes = np.array([code(data[a:b]) for a, b in pairs], dtype=np.int32)
        else:
            raise Refused
        if (codes == MISSING_CODE).any():
            raise Refused
        return codes

    def _blank_texts(self, fields: _Fields) -> None:
        """Blank the text columns with the delimiters behind them; the other delimiters become commas."""
        buffer = fields.buffer
        commas = fields.ends
        if self._texts:
            commas = commas[:, self._measured]
            for j in self._texts:
                starts, ends = fields.starts[:, j], fields.ends[:, j]
                longest = int((ends - starts).max())
                if longest > LONGEST_TEXT:
                    raise Refused
                if longest <= 16:
                    for at in range(longest):
                        buffer[np.minimum(starts + at, ends)] = _BLANK
                else:
                    change = np.zeros(len(buffer) + 1, dtype=np.int8)
                    filled = ends > starts
                    change[starts[filled]] = 1
                    change[ends[filled]] = -1
                    buffer[np.cumsum(change[:-1], dtype=np.int8).view(np.bool_)] = _BLANK
                buffer[ends] = _BLANK
        if self._decimal_comma:
            return
        buffer[commas.reshape(-1)] = _COMMA

    def _numbers(self, fields: _Fields) -> tuple[FloatArray, BoolArray | None, BoolArray | None]:
        rows, width = fields.starts.shape
        if width == 0:
            if fields.buffer.size and (fields.buffer != _BLANK).any():
                raise Refused
            return np.zeros((rows, 0)), None, None
        lengths = fields.ends - fields.starts
        longest = int(lengths.max())
        if int(lengths.min()) == 0 or longest > LONGEST_NUMERAL:
            raise Refused
        values = _divided(fields) if longest <= LONGEST_DIVIDED else None
        plain = values is not None
        if values is None:
            values = _converted(fields)
        low, high = float(values.min()), float(values.max())
        if not (np.isfinite(low) and np.isfinite(high)):
            raise Refused
        weight = self._columns.weight
        weightless = None
        features, kept = fields, values
        if weight is not None:
            at = self._columns.measured.index(weight)
            weightless = self._weightless(fields, values[:, at], at, exact=plain)
            others = [k for k in range(width) if k != at]
            features = _Fields(fields.buffer, fields.starts[:, others], fields.ends[:, others])
            lengths, kept = lengths[:, others], values[:, others]
        irregular = None
        if max(-low, high) >= EXACT_INTEGERS:
            irregular = (np.abs(kept) >= EXACT_INTEGERS).any(axis=1)
        if not plain and kept.size:
            irregular = _irregular_rows(features, lengths, kept, irregular)
        return values, irregular, weightless

    def _weightless(self, fields: _Fields, weights: FloatArray, at: int, *, exact: bool) -> BoolArray:
        if weights.size and weights.min() < 0.0:
            raise Refused
        light: BoolArray = weights == 0.0
        if not exact and light.any():
            where = np.flatnonzero(light)
            digits, _ = _significant(fields.buffer, fields.starts[where, at], fields.ends[where, at])
            light[where[digits > 0]] = False
        return light


def _plain_lines(block: bytes, *, blanks: bool) -> bytes:
    """Return the block with LF line ends, without blank lines at its end, and with single blanks as delimiters."""
    if not block.isascii():
        try:
            block.decode("utf-8")
        except UnicodeDecodeError:
            raise Refused from None
    text = block
    if b"\r" in text:
        text = text.replace(b"\r\n", b"\n")
        if b"\r" in text:
            raise Refused
    if text.endswith(b"\n\n"):
        text = text.rstrip(b"\n") + b"\n"
    if blanks and (b"  " in text or b" \n" in text or b"\n " in text or b"\t" in text or text.startswith(b" ")):
        if b'"' in text:
            raise Refused
        text = b"\n".join([b" ".join(line.split()) for line in text[:-1].split(b"\n")]) + b"\n"
    if text.startswith(b"\n") or b"\n\n" in text:
        raise Refused
    return text


def _line_starts(block: bytes, fields: _Fields, *, same: bool) -> IntArray:
    if same:
        return fields.starts[:, 0]
    ends = np.flatnonzero(np.frombuffer(block, dtype=np.uint8) == _NEWLINE)[: len(fields.starts)]
    starts = np.empty_like(ends)
    starts[0] = 0
    starts[1:] = ends[:-1] + 1
    return starts


def _blank_quotes(fields: _Fields) -> None:
    """Replace the quotes of fields that are quoted as a whole, and hold no quote, by blanks."""
    quotes = np.flatnonzero(fields.buffer == _QUOTE)
    if quotes.size % 2:
        raise Refused
    opening, closing = quotes[0::2], quotes[1::2]
    ends = fields.ends.reshape(-1)
    at = np.searchsorted(ends, opening)
    whole = (fields.starts.reshape(-1)[at] == opening) & (ends[at] == closing + 1)
    if not whole.all():
        raise Refused
    fields.buffer[quotes] = _BLANK


def _points_for_commas(fields: _Fields) -> None:
    """Turn decimal commas into points, and the delimiters of the fields into commas."""
    buffer = fields.buffer
    if (buffer == _POINT).any():
        raise Refused
    buffer[buffer == _COMMA] = _POINT
    buffer[fields.ends.reshape(-1)] = _COMMA


def _divided(fields: _Fields) -> FloatArray | None:
    """Return the values of short fields of digits, signs and points; None if there is anything else."""
    buffer = fields.buffer
    starts, ends = fields.starts.reshape(-1), fields.ends.reshape(-1)
    points = np.flatnonzero(buffer == _POINT)
    leading = buffer[starts]
    signs = np.count_nonzero((leading == _MINUS) | (leading == _PLUS))
    digits = np.count_nonzero((buffer - _ZERO) < 10)
    blanks = np.count_nonzero(buffer == _BLANK)
    inside = int((fields.ends - fields.starts).sum())
    if digits + points.size + signs != inside or blanks + inside + starts.size != buffer.size:
        return None
    scale: IntArray | None = None
    if points.size:
        if points.size == ends.size and (points >= starts).all() and (points < ends).all():
            scale = ends - points - 1
        else:
            at = np.searchsorted(ends, points)
            if (at[1:] == at[:-1]).any():
                return None
            scale = np.zeros(ends.size, dtype=np.int64)
            scale[at] = ends[at] - points - 1
        text = buffer[: ends[-1]].tobytes().replace(b".", b"")
    else:
        text = buffer[: ends[-1]].tobytes()
    whole = _from_text(text, np.int64, ends.size)
    values = whole.astype(np.float64)
    if scale is not None:
        values /= _POWERS[scale]
    return values.reshape(fields.ends.shape)


def _converted(fields: _Fields) -> FloatArray:
    last = fields.ends.reshape(-1)[-1]
    numbers = _from_text(fields.buffer[:last].tobytes(), np.float64, fields.ends.size)
    return numbers.reshape(fields.ends.shape)


def _from_text(text: bytes, kind: type[np.float64] | type[np.int64], count: int) -> NDArray[np.generic]:
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)
        try:
            numbers = np.fromstring(text, dtype=kind, sep=",")
        except (DeprecationWarning, ValueError):
            raise Refused from None
    if numbers.size != count:
        raise Refused
    return numbers


def _irregular_rows(
    fields: _Fields, lengths: IntArray, values: FloatArray, known: BoolArray | None
) -> BoolArray | None:
    """Return the rows with a numeral that a double does not give back; `known` are those found so far."""
    rows = known if known is not None else np.zeros(len(values), dtype=np.bool_)
    if ((fields.buffer | 32) == ord("e")).any():
        row, column = np.nonzero(np.abs(values) < SMALLEST_NORMAL)
        digits, _ = _significant(fields.buffer, fields.starts[row, column], fields.ends[row, column])
        rows[row[digits > 0]] = True
    candidates = lengths > EXACT_DIGITS
    row = np.flatnonzero(candidates.any(axis=1))
    if row.size:
        _mark_long(fields, row, candidates[row].argmax(axis=1), rows)
        row, column = np.nonzero(candidates & ~rows[:, None])
        _mark_long(fields, row, column, rows)
    return rows if rows.any() else None


def _mark_long(fields: _Fields, row: IntArray, column: IntArray, rows: BoolArray) -> None:
    digits, whole = _significant(fields.buffer, fields.starts[row, column], fields.ends[row, column])
    rows[row[(digits > EXACT_DIGITS) & ~whole]] = True


def _significant(buffer: Bytes, starts: IntArray, ends: IntArray) -> tuple[IntArray, BoolArray]:
    """Count the digits from the first to the last nonzero one; also tell whether there are only digits and signs.

    An exponent of more than three digits is refused: it may exceed the largest that the grammar allows.
    """
    digits = np.zeros(len(starts), dtype=np.int64)
    since_first = np.zeros_like(digits)
    exponent_at = np.full_like(digits, -1)
    whole = np.ones(len(starts), dtype=np.bool_)
    lengths = ends - starts
    for at in range(int(lengths.max(initial=0))):
        byte = buffer[np.minimum(starts + at, ends)]
        inside = at < lengths
        byte[~inside] = _BLANK
        is_e = (byte | 32) == ord("e")
        exponent_at[is_e] = at
        whole &= ~(is_e | (byte == _POINT))
        mantissa = exponent_at < 0
        digit = ((byte - _ZERO) < 10) & mantissa
        nonzero = digit & (byte != _ZERO)
        since_first += digit & ((since_first > 0) | nonzero)
        digits = np.where(nonzero, since_first, digits)
    if ((exponent_at >= 0) & (lengths - exponent_at > 5)).any():
        raise Refused
    return digits, whole


def _distinct(keys: NDArray[np.uint64]) -> tuple[NDArray[np.uint64], IntArray]:
    """Return the distinct keys and which of them each key is; quick when there are few."""
    found: list[np.uint64] = []
    inverse = np.full(len(keys), -1, dtype=np.int64)
    left = keys
    while left.size and len(found) < 8:
        key = left[0]
        inverse[keys == key] = len(found)
        found.append(key)
        left = keys[inverse < 0]
    if left.size:
        distinct, inverse = np.unique(keys, return_inverse=True)
        return distinct, inverse
    return np.array(found, dtype=np.uint64), inverse
