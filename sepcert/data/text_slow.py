"""Blocks of text parsed record by record: any quoting, and every fault with its line and column."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import numpy as np

from sepcert.data import faults
from sepcert.data.blocks import MISSING_CODE, Block, CodeArray, Levels
from sepcert.data.columns import Columns
from sepcert.data.decimal_commas import CommaWatch
from sepcert.data.faults import FaultLog, argument
from sepcert.data.numerals import (
    BLANKS,
    COMMA_NUMERAL,
    EXACT_DIGITS,
    EXACT_INTEGERS,
    NUMERAL,
    complaint,
    is_irregular,
    is_missing,
    is_numeral,
    significant_digits,
)
from sepcert.data.text_records import Record, read_records
from sepcert.data.text_stream import TextStream

ANCHOR_STEP = 64  # records between those whose offset is kept
_PLAIN = r"[ \t]*[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?[ \t]*"


class DecimalCommaFound(Exception):  # noqa: N818
    """A numeral has a decimal comma although the first lines had neither comma nor point."""


@dataclass
class _Rows:
    """Rows parsed so far: see Block."""

    values: list[list[float]] = field(default_factory=list)
    codes: list[list[int]] = field(default_factory=list)
    irregular: list[bool] = field(default_factory=list)
    weightless: list[bool] = field(default_factory=list)
    positions: list[int] = field(default_factory=list)


class SlowParser:
    """Parses records one by one; faults go to a log.

    Parameters
    ----------
    columns : Columns
    levels : list of Levels
        Of the coded columns; new texts are added.
    log : FaultLog
    delimiter : str
    decimal_comma : bool
    points_seen : bool
        Whether a decimal point was seen, so that a comma in a number is a fault; otherwise DecimalCommaFound.
    drop_missing : bool
        Whether rows with missing values are left out instead of being faults.
    commas : CommaWatch, optional
        Is shown the numeric fields where there are decimal commas.
    """

    def __init__(
        self,
        columns: Columns,
        levels: list[Levels],
        log: FaultLog,
        *,
        delimiter: str,
        decimal_comma: bool,
        points_seen: bool,
        drop_missing: bool,
        commas: CommaWatch | None = None,
    ) -> None:
        self._columns = columns
        self._measured = columns.measured
        self._coded = columns.coded
        self._weight_at = None if columns.weight is None else self._measured.index(columns.weight)
        self._plain_row = re.compile(_plain_row(len(self._measured)))
        self._levels = levels
        self._log = log
        self._delimiter = delimiter
        self._comma = decimal_comma
        self._points_seen = points_seen
        self._drop_missing = drop_missing
        self._commas = commas

    def parse(self, stream: TextStream) -> Block:
        """Parse the present block of the stream and consume it; faulty rows are logged and left out."""
        rows = _Rows()
        anchors: list[tuple[int, int]] = []
        runs: list[tuple[int, int]] = []
        expected_line = -1
        count = 0
        for count, record in enumerate(read_records(stream, self._delimiter), start=1):
            if (count - 1) % ANCHOR_STEP == 0:
                anchors.append((count - 1, record.offset))
            if record.line != expected_line:
                runs.append((count - 1, record.line))
            expected_line = record.line + 1
            if self._row(record, rows):
                rows.positions.append(count - 1)
        places = np.array(anchors, dtype=np.int64).reshape(-1, 2)
        codes: list[CodeArray] = [np.array([c[k] for c in rows.codes], dtype=np.int32) for k in range(len(self._coded))]
        return Block(
            records=count,
            values=np.array(rows.values, dtype=np.float64).reshape(len(rows.values), len(self._measured)),
            codes=codes,
            irregular=np.array(rows.irregular, dtype=np.bool_),
            positions=np.array(rows.positions, dtype=np.int64),
            zero_weight=np.array(rows.weightless, dtype=np.bool_),
            anchors=(places[:, 0], places[:, 1]),
            line_runs=runs,
        )

    def _row(self, record: Record, rows: _Rows) -> bool:
        """Parse one record; return whether it gave a row."""
        fields = record.fields
        if len(fields) != len(self._columns.names):
            self._ragged(record)
            return False
        codes = [levels.code(fields[j]) for levels, j in zip(self._levels, self._coded, strict=True)]
        texts = [fields[j] for j in self._measured]
        if self._comma:
            if self._commas is not None and not self._commas.certain:
                self._commas.look(texts, record.line)
            texts = [t.replace(",", ".") if "." not in t else "" for t in texts]
        values = None
        if self._plain_row.fullmatch(",".join(texts)):
            values = list(map(float, texts))
            if float("inf") in values or float("-inf") in values:
                values = None
        if values is None:
            values = self._measure(record)
        sound = values is not None
        if MISSING_CODE in codes:
            sound = False
            if not self._drop_missing:
                for j, code in zip(self._coded, codes, strict=True):
                    if code == MISSING_CODE:
                        self._missing(fields[j].strip(), j, record.line)
        if values is None or not sound:
            return False
        light = self._weightless(texts, values, record.line)
        if light is None:
            return False
        rows.values.append(values)
        rows.codes.append(codes)
        rows.irregular.append(self._is_irregular(texts, values))
        rows.weightless.append(light)
        return True

    def _measure(self, record: Record) -> list[float] | None:
        """Return the numbers of a record that is not plain; None if any is missing or at fault."""
        values = []
        sound = True
        for j in self._measured:
            text = record.fields[j].strip(BLANKS)
            numeral = self._numeral(text, self._columns.names[j])
            if numeral is not None:
                values.append(float(numeral))
                continue
            sound = False
            if not is_missing(text):
                points = self._points_seen and self._delimiter != ","
                code, message, advice = complaint(text, self._columns.names[j], self._comma, points=points)
                if j == self._columns.weight and code in (faults.NUMBER, faults.INFINITE):
                    advice = "weights are numbers, zero or positive; correct it, or leave out --weight"
                self._log.add(code, message, line=record.line, column=j + 1, advice=advice)
            elif not self._drop_missing:
                self._missing(text, j, record.line)
        return values if sound else None

    def _numeral(self, text: str, name: str) -> str | None:
        if self._comma:
            if "." in text:
                return None
            text = text.replace(",", ".")
        if is_numeral(text):
            return text
        if not self._comma and not self._points_seen and self._delimiter != "," and COMMA_NUMERAL.fullmatch(text):
            raise DecimalCommaFound(name)
        return None

    def _weightless(self, texts: list[str], values: list[float], line: int) -> bool | None:
        """Whether the weight is zero; None if it is negative."""
        if self._weight_at is None:
            return False
        weight, text = values[self._weight_at], texts[self._weight_at].strip(BLANKS)
        if weight < 0.0:
            column = self._measured[self._weight_at]
            self._log.add(
                faults.WEIGHT,
                f"the weight {text!r} is negative (column {self._columns.names[column]!r})",
                line=line,
                column=column + 1,
                advice="weights are zero or positive",
            )
            return None
        return weight == 0.0 and significant_digits(text) == 0

    def _is_irregular(self, texts: list[str], values: list[float]) -> bool:
        for at, (text, value) in enumerate(zip(texts, values, strict=True)):
            suspicious = len(text) > EXACT_DIGITS or not 1e-15 < abs(value) < EXACT_INTEGERS
            if suspicious and at != self._weight_at and is_irregular(text.strip(BLANKS), value):
                return True
        return False

    def _missing(self, text: str, j: int, line: int) -> None:
        name = self._columns.names[j]
        message = f"{text!r} is no value (column {name!r})" if text else f"a value is missing (column {name!r})"
        advice = "use --missing drop-rows, or fill it in"
        if j in self._columns.numeric:
            advice = f"use --missing drop-rows, or --drop {argument(name)}"
        self._log.add(faults.MISSING, message, line=line, column=j + 1, advice=advice)

    def _ragged(self, record: Record) -> None:
        expected, found = len(self._columns.names), len(record.fields)
        advice = "add or remove delimiters so that all rows agree"
        if self._delimiter == "," and found > expected and _all_numerals(record.fields):
            advice = "if commas are decimal commas here, separate the columns by semicolons; else " + advice
        self._log.add(
            faults.RAGGED,
            f"{found} field{'s' if found != 1 else ''} where the table has {expected} columns",
            line=record.line,
            advice=advice,
        )


def _plain_row(count: int) -> str:
    return f"{_PLAIN}(?:,{_PLAIN}){{{count - 1}}}" if count else ""


def _all_numerals(fields: list[str]) -> bool:
    return all(NUMERAL.fullmatch(text.strip(BLANKS)) for text in fields)
