"""Whole blocks of text parsed by NumPy; anything unusual is refused, never guessed.

A block is accepted only when this is proved about it: every line has the right number of fields (by the positions of
all delimiters and line ends), and every numeric field is a numeral with a finite value
(:mod:`sepcert.data.text_numbers`).  Text columns are coded and then blanked, so that only numbers remain.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sepcert.data.blocks import MISSING_CODE, Block, CodeArray, Levels
from sepcert.data.columns import Columns
from sepcert.data.decimal_commas import CommaWatch
from sepcert.data.text_numbers import (
    BLANK,
    COMMA,
    POINT,
    Bytes,
    Fields,
    Refused,
    irregular_rows,
    significant_digits,
    values_of,
)
from sepcert.problem import BoolArray, FloatArray, IntArray

__all__ = ["ANCHOR_STEP", "FastParser", "Refused"]

ANCHOR_STEP = 64
LONGEST_TEXT = 4096  # characters of a text field, beyond which a block is refused
_LONGEST_KEY = 64
_NEWLINE, _QUOTE = b'\n"'


class FastParser:
    """Parses blocks of plain lines.

    Parameters
    ----------
    columns : Columns
    levels : list of Levels
        Of the coded columns; new texts are added.
    delimiter : str
    decimal_comma : bool
    commas : CommaWatch, optional
        Is shown the numeric fields where there are decimal commas.
    """

    def __init__(
        self,
        columns: Columns,
        levels: list[Levels],
        *,
        delimiter: str,
        decimal_comma: bool,
        commas: CommaWatch | None = None,
    ) -> None:
        self._columns = columns
        self._levels = levels
        self._delimiter = ord(delimiter)
        self._decimal_comma = decimal_comma
        self._commas = commas
        self._measured = list(columns.measured)
        self._coded = columns.coded
        self._texts = sorted({*columns.coded, *columns.dropped})

    def parse(self, block: bytes, offset: int, line: int) -> Block:
        r"""Parse a block of whole lines.

        Parameters
        ----------
        block : bytes
            Lines that end in ``\n``.
        offset, line : int
            Position of the block in its stream and the number of its first line.

        Raises
        ------
        Refused
            Something in it is unusual.
        """
        text = _plain_lines(block)
        try:
            fields = self._cut(text)
        except Refused:
            if self._delimiter != BLANK:
                raise
            text = _single_blanks(text)
            fields = self._cut(text)
        rows = len(fields.starts)
        codes = [self._codes(fields, j, k) for k, j in enumerate(self._coded)]
        for j in self._texts:
            _blank_column(fields, j)
        measured = fields.take(self._measured)
        if self._decimal_comma:
            if self._commas is not None and not self._commas.certain:
                self._commas.look_at_fields(measured, line)
            _points_for_commas(fields.buffer)
        self._set_commas(measured)
        values, irregular, weightless = self._numbers(measured, exponents=b"e" in text or b"E" in text)
        records = np.arange(0, rows, ANCHOR_STEP)
        first_bytes = fields.starts[:, 0] if len(text) == len(block) else _line_starts(block)
        return Block(
            records=rows,
            values=values,
            codes=codes,
            irregular=irregular,
            zero_weight=weightless,
            anchors=(records, first_bytes[records] + offset),
            line_runs=[(0, line)],
        )

    def _cut(self, text: bytes) -> Fields:
        buffer = np.frombuffer(bytearray(text), dtype=np.uint8)
        newline = buffer == _NEWLINE
        flat = np.flatnonzero((buffer == self._delimiter) | newline)
        rows, left = divmod(flat.size, len(self._columns.names))
        if left or np.count_nonzero(newline) != rows:
            raise Refused
        ends = flat.reshape(rows, len(self._columns.names))
        if not newline[ends[:, -1]].all():
            raise Refused
        starts = np.empty_like(ends)
        starts.reshape(-1)[0] = 0
        np.add(flat[:-1], 1, out=starts.reshape(-1)[1:])
        fields = Fields(buffer, starts, ends, ends - starts)
        if b'"' in text:
            _blank_quotes(fields)
        elif self._delimiter == BLANK and int(fields.lengths.min()) == 0:
            raise Refused
        return fields

    def _codes(self, fields: Fields, column: int, k: int) -> CodeArray:
        starts, ends, lengths = fields.starts[:, column], fields.ends[:, column], fields.lengths[:, column]
        longest = int(lengths.max())
        code = self._levels[k].code_of_bytes
        if longest <= _LONGEST_KEY:
            width = 8 if longest <= 8 else longest
            letters = np.zeros((len(starts), width), dtype=np.uint8)
            for at in range(longest):
                byte = fields.buffer[np.minimum(starts + at, ends)]
                byte[lengths <= at] = 0
                letters[:, at] = byte
            keys: NDArray[Any] = letters.view(f"S{width}" if width > 8 else np.uint64).reshape(-1)
            distinct, inverse = _distinct(keys)
            texts = np.ascontiguousarray(distinct).view(f"S{width}").tolist()
            codes = np.array([code(text) for text in texts], dtype=np.int32)[inverse]
        elif longest <= LONGEST_TEXT:
            data = fields.buffer.tobytes()
            pairs = zip(starts.tolist(), ends.tolist(), strict=True)
            codes = np.array([code(data[a:b]) for a, b in pairs], dtype=np.int32)
        else:
            raise Refused
        if (codes == MISSING_CODE).any():
            raise Refused
        return codes

    def _set_commas(self, measured: Fields) -> None:
        """Put a comma behind every numeric field."""
        if self._delimiter != COMMA:
            measured.buffer[measured.ends] = COMMA
        elif self._measured and self._measured[-1] == len(self._columns.names) - 1:
            measured.buffer[measured.ends[:, -1]] = COMMA

    def _numbers(self, fields: Fields, *, exponents: bool) -> tuple[FloatArray, BoolArray | None, BoolArray | None]:
        rows, width = fields.ends.shape
        if width == 0:
            return np.zeros((rows, 0)), None, None
        values, short = values_of(fields)
        if self._columns.weight is None:
            return values, irregular_rows(fields, values, short=short, exponents=exponents), None
        at = self._columns.measured.index(self._columns.weight)
        weights = values[:, at]
        if weights.min() < 0.0:
            raise Refused
        light: BoolArray = weights == 0.0
        if not short and light.any():
            where = np.flatnonzero(light)
            digits, _ = significant_digits(fields, where, np.full_like(where, at))
            light[where[digits > 0]] = False
        others = [k for k in range(width) if k != at]
        irregular = irregular_rows(fields.take(others), values[:, others], short=short, exponents=exponents)
        return values, irregular, light


def _plain_lines(block: bytes) -> bytes:
    """Return the block with LF line ends and without blank lines at its end."""
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
    return text


def _single_blanks(text: bytes) -> bytes:
    """Return the text with single blanks between fields, for blanks as delimiters."""
    if any(byte in text for byte in b'"\t\v\f'):
        raise Refused
    return b"\n".join([b" ".join(line.split()) for line in text[:-1].split(b"\n")]) + b"\n"


def _line_starts(block: bytes) -> IntArray:
    ends = np.flatnonzero(np.frombuffer(block, dtype=np.uint8) == _NEWLINE)
    starts: IntArray = np.zeros_like(ends)
    starts[1:] = ends[:-1] + 1
    return starts


def _blank_quotes(fields: Fields) -> None:
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
    fields.buffer[quotes] = BLANK


def _blank_column(fields: Fields, column: int) -> None:
    """Blank the fields of a column, and the delimiters behind them."""
    buffer = fields.buffer
    starts, ends, lengths = fields.starts[:, column], fields.ends[:, column], fields.lengths[:, column]
    longest = int(lengths.max())
    if longest > LONGEST_TEXT:
        raise Refused
    if longest <= 32:
        for at in range(longest):
            buffer[np.minimum(starts + at, ends)] = BLANK
    else:
        change = np.zeros(len(buffer), dtype=np.int8)
        filled = lengths > 0
        change[starts[filled]] = 1
        change[ends[filled]] = -1
        buffer[np.cumsum(change, dtype=np.int8).view(np.bool_)] = BLANK
    buffer[ends] = BLANK


def _points_for_commas(buffer: Bytes) -> None:
    """Turn decimal commas into points; a point is refused."""
    if (buffer == POINT).any():
        raise Refused
    buffer[buffer == COMMA] = POINT


def _distinct(keys: NDArray[Any]) -> tuple[NDArray[Any], IntArray]:
    """Return the distinct keys and which of them each key is; quick when there are few."""
    found: list[Any] = []
    inverse: IntArray = np.full(len(keys), -1, dtype=np.int64)
    left = keys
    while left.size and len(found) < 8:
        key = left[0]
        inverse[keys == key] = len(found)
        found.append(key)
        left = keys[inverse < 0]
    if left.size:
        distinct, inverse = np.unique(keys, return_inverse=True)
        return distinct, inverse
    return np.array(found, dtype=keys.dtype), inverse
