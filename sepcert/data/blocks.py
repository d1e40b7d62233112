"""Parsed pieces of a table, and the table they grow into."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sepcert.data.columns import Columns
from sepcert.data.numerals import MISSING_TEXTS
from sepcert.problem import BoolArray, FloatArray, IntArray

CodeArray = NDArray[np.int32]
MISSING_CODE = -1


class Levels:
    """The distinct texts of a column, in the order in which they were met, each with its code 0, 1, ...

    Texts are compared without blanks around them; a missing value has the code -1.
    """

    def __init__(self) -> None:
        self.codes: dict[str, int] = {}
        self._of_bytes: dict[bytes, int] = {}

    def code(self, text: str) -> int:
        """Return the code of a text, a new one if it was not met before."""
        text = text.strip()
        found = self.codes.get(text)
        if found is None:
            if text in MISSING_TEXTS:
                return MISSING_CODE
            found = self.codes[text] = len(self.codes)
        return found

    def code_of_bytes(self, text: bytes) -> int:
        """Return the code of a text in UTF-8."""
        found = self._of_bytes.get(text)
        if found is None:
            found = self._of_bytes[text] = self.code(text.decode("utf-8"))
        return found

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts by code."""
        return tuple(self.codes)


@dataclass
class Block:
    """Consecutive records that were parsed.

    Attributes
    ----------
    records : int
        How many records it stands for, those with missing values included.
    values : ndarray of float64, shape (k, m)
        The measured columns of the k <= `records` rows without missing values.
    codes : list of ndarray of int32, each of shape (k,)
        For each coded column.
    irregular : ndarray of bool, shape (k,), or None
        See Points; the weight column does not count.  None: no row is.
    positions : ndarray of int64, shape (k,), or None
        Which of the records the rows are; None: all.
    zero_weight : ndarray of bool, shape (k,), or None
        Rows whose weight is exactly zero.
    anchors : list of (ndarray of int64, ndarray of int64)
        Numbers of some records within the block, the first included, and where in the stream they begin.
    line_runs : list of (int, int)
        (record, line): from that record on, each record begins one line below the one before.
    """

    records: int
    values: FloatArray
    codes: list[CodeArray]
    irregular: BoolArray | None = None
    positions: IntArray | None = None
    zero_weight: BoolArray | None = None
    anchors: tuple[IntArray, IntArray] = field(default_factory=lambda: (np.zeros(0, np.int64), np.zeros(0, np.int64)))
    line_runs: list[tuple[int, int]] = field(default_factory=list)


class Matrix:
    """A float64 matrix that grows at its end without ever being held twice.

    Parameters
    ----------
    columns : int
    expected_rows : int
        Memory is reserved for so many rows; it is only used up as rows arrive.
    """

    def __init__(self, columns: int, expected_rows: int) -> None:
        self._columns = columns
        self._flat: FloatArray = np.empty(max(expected_rows, 1) * columns, dtype=np.float64)
        self.rows = 0

    def append(self, values: FloatArray) -> None:
        """Add rows, shape (k, columns)."""
        need = (self.rows + len(values)) * self._columns
        if need > self._flat.size:
            self._flat.resize(max(need, int(self._flat.size * 1.2)), refcheck=False)
        self._flat[self.rows * self._columns : need] = values.reshape(-1)
        self.rows += len(values)

    def finish(self) -> FloatArray:
        """Give the matrix away, shape (rows, columns)."""
        self._flat.resize(self.rows * self._columns, refcheck=False)
        return self._flat.reshape(self.rows, self._columns)


@dataclass(frozen=True)
class Layout:
    """Where records begin in a stream and in lines.

    Attributes
    ----------
    anchor_records, anchor_offsets : ndarray of int64
        Numbers of some records (0-based) and their byte offsets.
    run_records, run_lines : ndarray of int64
        Record numbers from which lines follow without a gap, and the lines of those.
    """

    anchor_records: IntArray
    anchor_offsets: IntArray
    run_records: IntArray
    run_lines: IntArray

    def lines(self, records: IntArray) -> list[int]:
        """Return the 1-based lines where the records (0-based numbers) begin."""
        at = np.searchsorted(self.run_records, records, side="right") - 1
        found: list[int] = (self.run_lines[at] + (records - self.run_records[at])).tolist()
        return found


@dataclass(frozen=True)
class Table:
    """All rows of weight other than zero and without missing values.

    Attributes
    ----------
    columns : Columns
    values : ndarray of float64, shape (n, m)
        The numeric features.
    codes : list of ndarray of int32, each of shape (n,)
        For each coded column; `levels` gives the texts.
    levels : list of Levels
    irregular : ndarray of bool, shape (n,), or None
    record_numbers : ndarray of int64, shape (n,)
        0-based.
    records, missing, weightless : int
        Records read, and how many were left out for missing values and for a weight of zero.
    layout : Layout or None
        For text.
    """

    columns: Columns
    values: FloatArray
    codes: list[CodeArray]
    levels: list[Levels]
    irregular: BoolArray | None
    record_numbers: IntArray
    records: int
    missing: int
    weightless: int
    layout: Layout | None = None


class TableBuilder:
    """Collects blocks into a table and removes rows of weight zero on the way."""

    def __init__(self, columns: Columns, expected_rows: int) -> None:
        self.columns = columns
        self.levels = [Levels() for _ in columns.coded]
        measured = columns.measured
        self.weight_at = None if columns.weight is None else measured.index(columns.weight)
        self._features = [k for k in range(len(measured)) if k != self.weight_at]
        self._matrix = Matrix(len(self._features), expected_rows)
        self._codes: list[list[CodeArray]] = [[] for _ in columns.coded]
        self._irregular: list[BoolArray] = []
        self._any_irregular = False
        self._numbers: list[IntArray] = []
        self._anchors: list[tuple[IntArray, IntArray]] = []
        self._runs: list[tuple[int, int]] = []
        self.records = 0
        self._missing = 0
        self._weightless = 0

    def add(self, block: Block) -> None:
        """Append a block."""
        numbers = np.arange(block.records) if block.positions is None else block.positions
        numbers = numbers + self.records
        values, codes, irregular = block.values, block.codes, block.irregular
        if irregular is None:
            irregular = np.zeros(len(values), dtype=np.bool_)
        self._missing += block.records - len(values)
        if block.zero_weight is not None and block.zero_weight.any():
            keep = ~block.zero_weight
            self._weightless += len(values) - int(keep.sum())
            values, numbers, irregular = values[keep], numbers[keep], irregular[keep]
            codes = [c[keep] for c in codes]
        self._matrix.append(values if self.weight_at is None else values[:, self._features])
        for kept, new in zip(self._codes, codes, strict=True):
            kept.append(new)
        self._irregular.append(irregular)
        self._any_irregular = self._any_irregular or bool(irregular.any())
        self._numbers.append(numbers)
        self._anchors.append((block.anchors[0] + self.records, block.anchors[1]))
        for record, line in block.line_runs:
            self._add_run(record + self.records, line)
        self.records += block.records

    def _add_run(self, record: int, line: int) -> None:
        if self._runs:
            last_record, last_line = self._runs[-1]
            if line - last_line == record - last_record:
                return
        self._runs.append((record, line))

    def finish(self) -> Table:
        """Return the table; the builder must not be used any more."""
        runs = np.array(self._runs, dtype=np.int64).reshape(-1, 2)
        layout = Layout(
            _joined([a for a, _ in self._anchors], np.int64),
            _joined([b for _, b in self._anchors], np.int64),
            runs[:, 0],
            runs[:, 1],
        )
        return Table(
            columns=self.columns,
            values=self._matrix.finish(),
            codes=[_joined(parts, np.int32) for parts in self._codes],
            levels=self.levels,
            irregular=_joined(self._irregular, np.bool_) if self._any_irregular else None,
            record_numbers=_joined(self._numbers, np.int64),
            records=self.records,
            missing=self._missing,
            weightless=self._weightless,
            layout=layout if self._runs else None,
        )


def _joined(parts: Sequence[NDArray[Any]], kind: type[np.generic]) -> NDArray[Any]:
    return np.concatenate(parts) if parts else np.zeros(0, dtype=kind)
