"""Records of a text table by the csv module, each with the place where it begins."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NoReturn

from sepcert.data import faults
from sepcert.data.numerals import BLANKS
from sepcert.data.sniffing import csv_reader_options
from sepcert.data.text_stream import TextStream
from sepcert.errors import DataError, Place


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
            advice="convert the file to UTF-8",
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
            faults.QUOTE,
            "mixed line ends: a carriage return within a line that ends in a line feed",
            place=place,
            advice="end all lines alike, or quote the field",
        )
    return DataError(
        faults.QUOTE,
        "text follows the closing quote of a field",
        place=place,
        advice="double the quotes within a quoted field",
    )
