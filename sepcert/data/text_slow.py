"""Records of a text table by the csv module: any quoting, and every fault with its line and column."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NoReturn

import numpy as np

from sepcert.data import faults
from sepcert.data.blocks import MISSING_CODE, Block, CodeArray, Levels
from sepcert.data.columns import Columns
from sepcert.data.faults import FaultLog
from sepcert.data.numerals import (
    BLANKS,
    COMMA_NUMERAL,
    NUMERAL,
    complaint,
    is_irregular,
    is_missing,
    is_numeral,
    significant_digits,
)
from sepcert.data.sniffing import csv_reader_options
from sepcert.data.text_stream import TextStream
from sepcert.errors import DataError, Place

ANCHOR_STEP = 64  # records between those whose offset is kept


class DecimalCommaFound(Exception):  # noqa: N818
    """A numeral has a decimal comma although the first lines had neither comma nor point."""


@dataclass(frozen=True)
class Record:
    """Fields of one record, and where it begins."""

    fields: list[str]
    line: int
    offset: int


class _Lines:
    """Decoded lines of a stream for the csv module, with the place of the next one."""

    def __init__(self, stream: TextStream, delimiter: str) -> None:
        self.stream = stream
        self.at = 0
        self.line = stream.line
        self._blanks = delimiter == " "

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        if self.at >= len(self.stream.block):
            if not self.stream.advance():
                raise StopIteration
            self.at = 0
        end = self.stream.block.index(b"\n", self.at) + 1
        raw = self.stream.block[self.at : end]
        try:
            text = raw.decode("utf-8")
        except UnicodeDecodeError as error:
            self._undecodable(raw, error)
        self.at = end
        self.line += 1
        return text.strip(BLANKS) + "\n" if self._blanks else text

    @property
    def offset(self) -> int:
        return self.stream.offset + self.at

    @property
    def block_is_used_up(self) -> bool:
        return self.at >= len(self.stream.block)

    def _undecodable(self, raw: bytes, error: UnicodeDecodeError) -> NoReturn:
        raise DataError(
            faults.ENCODING,
            f"byte {raw[error.start]:#04x} at byte {self.offset + error.start} is not UTF-8",
            place=Place(self.stream.source.path, self.line),
            advice="save the file as UTF-8, or state its encoding",
        ) from error


def read_records(stream: TextStream, delimiter: str, *, one: bool = False) -> Iterator[Record]:
    """Yield the records of the present block, and where a record goes on into the next block, of that one too.

    Blank lines are no records.

    Parameters
    ----------
    stream : TextStream
        Its block is consumed; with `one`, only up to the end of the first record.
    delimiter : str
    one : bool
        Whether to stop after one record, wherever it is.

    Raises
    ------
    DataError
        Malformed quoting, bytes that are not UTF-8, a NUL byte or an absurdly long field.
    """
    lines = _Lines(stream, delimiter)
    reader = csv.reader(lines, strict=True, **csv_reader_options(delimiter))  # type: ignore[arg-type]
    while one or not lines.block_is_used_up:
        line, offset = lines.line, lines.offset
        try:
            fields = next(reader, None)
        except csv.Error as error:
            raise _malformed(str(error), stream.source.path, line) from error
        if fields is None:
            break
        if not fields or (len(fields) == 1 and not fields[0].strip()):
            continue
        yield Record(fields, line, offset)
        if one:
            break
    stream.skip(min(lines.at, len(stream.block)))


def _malformed(reason: str, path: str, line: int) -> DataError:
    place = Place(path, line)
    if "field larger" in reason:
        advice = "look for a quote that is never closed"
        return DataError(faults.LONG_LINE, "a field has more than 131072 characters", place=place, advice=advice)
    if "end of data" in reason:
        return DataError(
            faults.QUOTE, "the quote opened in this record is never closed", place=place, advice="close it"
        )
    if "new-line" in reason:
        return DataError(
            faults.QUOTE, "a carriage return within the line", place=place, advice="remove it or quote the field"
        )
    return DataError(
        faults.QUOTE,
        "text follows the closing quote of a field",
        place=place,
        advice="double the quotes within a quoted field",
    )


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
    ) -> None:
        self._columns = columns
        self._levels = levels
        self._log = log
        self._delimiter = delimiter
        self._comma = decimal_comma
        self._points_seen = points_seen
        self._drop_missing = drop_missing

    def parse(self, stream: TextStream) -> Block:
        """Parse the present block of the stream and consume it; faulty rows are logged and left out."""
        columns = self._columns
        rows: list[list[float]] = []
        codes: list[list[int]] = []
        irregular: list[bool] = []
        weightless: list[bool] = []
        positions: list[int] = []
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
            parsed = self._row(record)
            if parsed is None:
                continue
            values, row_codes, odd, light = parsed
            rows.append(values)
            codes.append(row_codes)
            irregular.append(odd)
            weightless.append(light)
            positions.append(count - 1)
        table = np.array(rows, dtype=np.float64).reshape(len(rows), len(columns.measured))
        by_column: list[CodeArray] = [
            np.array([c[k] for c in codes], dtype=np.int32) for k in range(len(columns.coded))
        ]
        places = np.array(anchors, dtype=np.int64).reshape(-1, 2)
        return Block(
            records=count,
            values=table,
            codes=by_column,
            irregular=np.array(irregular, dtype=np.bool_),
            positions=np.array(positions, dtype=np.int64),
            zero_weight=np.array(weightless, dtype=np.bool_),
            anchors=(places[:, 0], places[:, 1]),
            line_runs=runs,
        )

    def _row(self, record: Record) -> tuple[list[float], list[int], bool, bool] | None:
        columns, fields = self._columns, record.fields
        if len(fields) != len(columns.names):
            if self._delimiter == " " and len(fields) == len(columns.names) + 1 and not fields[-1]:
                fields = fields[:-1]
            else:
                self._ragged(record)
                return None
        missing: list[tuple[int, str]] = []
        faulty = False
        codes = []
        for k, j in enumerate(columns.coded):
            code = self._levels[k].code(fields[j])
            if code == MISSING_CODE:
                missing.append((j, fields[j].strip()))
            codes.append(code)
        values = []
        odd = light = False
        for j in columns.measured:
            text = fields[j].strip(BLANKS)
            numeral = self._numeral(text, columns.names[j])
            if numeral is None:
                if is_missing(text):
                    missing.append((j, text))
                else:
                    self._fault(text, j, record.line)
                    faulty = True
                values.append(0.0)
                continue
            value = float(numeral)
            values.append(value)
            if j == columns.weight:
                light = value == 0.0 and significant_digits(numeral) == 0
                if value < 0.0:
                    self._log.add(
                        faults.WEIGHT,
                        f"the weight {text!r} is negative (column {columns.names[j]!r})",
                        line=record.line,
                        column=j + 1,
                        advice="weights are zero or positive",
                    )
                    faulty = True
            elif not odd and is_irregular(numeral, value):
                odd = True
        if missing and not self._drop_missing:
            for j, text in sorted(missing):
                code, message, advice = complaint(text, columns.names[j], self._comma)
                if code != faults.MISSING or j in columns.coded:
                    advice = "use --missing drop-rows, or fill it in"
                    code = faults.MISSING
                self._log.add(code, message, line=record.line, column=j + 1, advice=advice)
        return None if missing or faulty else (values, codes, odd, light)

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

    def _fault(self, text: str, j: int, line: int) -> None:
        code, message, advice = complaint(text, self._columns.names[j], self._comma)
        self._log.add(code, message, line=line, column=j + 1, advice=advice)

    def _ragged(self, record: Record) -> None:
        expected, found = len(self._columns.names), len(record.fields)
        advice = "add or remove delimiters so that all rows agree"
        if self._delimiter == "," and found > expected and _decimal_commas(record.fields):
            advice = "if commas are decimal commas here, separate the columns by semicolons; else " + advice
        self._log.add(
            faults.RAGGED,
            f"{found} field{'s' if found != 1 else ''} where the table has {expected} columns",
            line=record.line,
            advice=advice,
        )


def _decimal_commas(fields: list[str]) -> bool:
    return all(NUMERAL.fullmatch(field.strip(BLANKS)) for field in fields)
