"""Exact values of rows of a text file, read again when they are asked for."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from sepcert.data.blocks import Table
from sepcert.data.description import Dialect
from sepcert.data.numerals import BLANKS, exact_number, is_numeral
from sepcert.data.source import ByteSource
from sepcert.data.text_records import read_records
from sepcert.data.text_stream import TextStream
from sepcert.problem import FloatArray

_BLOCK_BYTES = 1 << 15
_ZERO, _ONE = Fraction(0), Fraction(1)


class ExactText:
    """Calls with row indices give the exact entries of those rows.

    Nothing is kept but the place of every 64th record: the records asked for are read and parsed again.

    Parameters
    ----------
    source : ByteSource
    dialect : Dialect
    carriage_returns : bool
        Whether CR alone ends a line.
    table : Table
        With its layout.
    levels : dict of str to tuple of str
        Levels of the categorical columns, the baseline first.
    values : ndarray of float64, shape (n, d)
        The matrix, to see that the file is still the same.
    """

    def __init__(
        self,
        source: ByteSource,
        dialect: Dialect,
        carriage_returns: bool,
        table: Table,
        levels: dict[str, tuple[str, ...]],
        values: FloatArray,
    ) -> None:
        if table.layout is None:
            raise ValueError("a text table has a layout")
        self._source = source
        self._dialect = dialect
        self._carriage_returns = carriage_returns
        self._layout = table.layout
        self._columns = table.columns
        self._levels = levels
        self._records = table.record_numbers
        self._values = values

    def __call__(self, rows: Sequence[int]) -> list[list[Fraction]]:
        """Return the exact rows.

        Parameters
        ----------
        rows : sequence of int
            0-based indices among the rows used.

        Raises
        ------
        DataError
            The file changed or vanished since it was read.
        """
        wanted = self._records[np.asarray(rows, dtype=np.int64)]
        order = np.unique(wanted)
        found = self._fetch(order)
        exact = [found[r] for r in wanted.tolist()]
        for row, entries in zip(rows, exact, strict=True):
            if [float(x) for x in entries] != self._values[row].tolist():
                raise self._source.changed()
        return exact

    def _fetch(self, records: np.ndarray[tuple[int], np.dtype[np.int64]]) -> dict[int, list[Fraction]]:
        """Return the exact rows by record number; `records` increase."""
        anchors, offsets = self._layout.anchor_records, self._layout.anchor_offsets
        stream = TextStream(self._source, self._dialect.encoding, self._dialect.compression, block_bytes=_BLOCK_BYTES)
        stream.carriage_returns = self._carriage_returns
        found: dict[int, list[Fraction]] = {}
        try:
            at = np.searchsorted(anchors, records, side="right") - 1
            for anchor in np.unique(at).tolist():
                inside = records[at == anchor].tolist()
                found.update(self._from_anchor(stream, int(offsets[anchor]), int(anchors[anchor]), inside))
        finally:
            stream.close()
        return found

    def _from_anchor(
        self, stream: TextStream, offset: int, first: int, records: list[int]
    ) -> dict[int, list[Fraction]]:
        stream.seek(offset)
        wanted = set(records)
        found: dict[int, list[Fraction]] = {}
        number = first
        while stream.advance():
            for record in read_records(stream, self._dialect.delimiter):
                if number in wanted:
                    found[number] = self._exact(record.fields)
                if number >= records[-1]:
                    return found
                number += 1
        raise self._source.changed()

    def _exact(self, fields: list[str]) -> list[Fraction]:
        columns = self._columns
        if len(fields) < len(columns.names):
            raise self._source.changed()
        row: list[Fraction] = []
        for j in columns.features:
            if j in columns.categorical:
                text = fields[j].strip()
                row.extend(_ONE if text == level else _ZERO for level in self._levels[columns.names[j]][1:])
                continue
            numeral = fields[j].strip(BLANKS)
            if self._dialect.decimal_comma:
                numeral = numeral.replace(",", ".")
            if not is_numeral(numeral):
                raise self._source.changed()
            row.append(exact_number(numeral))
        return row
