"""A text file as a table: the dialect, the header, then block after block by the fast or the slow parser."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from sepcert.data import faults
from sepcert.data.blocks import Table, TableBuilder
from sepcert.data.columns import Columns, Request, assign, header_names, label_only, numbered_names
from sepcert.data.decimal_commas import CommaWatch
from sepcert.data.description import Dialect
from sepcert.data.faults import FaultLog, listed
from sepcert.data.file_kinds import GZIP_MAGIC
from sepcert.data.headers import ask, doubt_after_reading
from sepcert.data.labels import MOST_CLASSES, too_many
from sepcert.data.sniffing import Guess, check_delimiter, sniff
from sepcert.data.source import ByteSource
from sepcert.data.text_fast import FastParser, Refused
from sepcert.data.text_records import Record, read_records
from sepcert.data.text_slow import DecimalCommaFound, SlowParser
from sepcert.data.text_stream import TextStream
from sepcert.errors import DataError, Place

Progress = Callable[[int, int | None], None]

SAMPLE_LINES = 3
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
_DELIMITER_LINE = re.compile(rb'\s*"?sep=([^\r\n"]|"(?="))"?[ \t]*\r?\n', re.IGNORECASE)
_KEPT_BYTES = 16 << 20
_SLOW_IN_A_ROW = 4  # refused blocks after which the fast parser is tried less often


@dataclass(frozen=True)
class TextTable:
    """A table, the dialect that it was read in, what was chosen on the way, and whether CR alone ends lines."""

    table: Table
    dialect: Dialect
    notes: tuple[str, ...]
    carriage_returns: bool


@dataclass(frozen=True)
class DialectRequest:
    """What is known of the dialect beforehand; None is sniffed."""

    delimiter: str | None = None
    header: bool | None = None
    encoding: str | None = None
    decimal_comma: bool | None = None


def read_text(
    source: ByteSource,
    known: DialectRequest,
    request: Request,
    *,
    drop_missing: bool = False,
    progress: Progress | None = None,
    only_labels: bool = False,
) -> TextTable:
    """Read a text file.

    Parameters
    ----------
    source : ByteSource
    known : DialectRequest
    request : Request
        Roles of columns.
    drop_missing : bool
        Whether rows with missing values are left out; otherwise they are faults.
    progress : callable, optional
        Called with the number of raw bytes read, and how many there are.
    only_labels : bool
        A file of labels: its one column is the label.

    Raises
    ------
    DataError
    """
    stated = known.decimal_comma is not None
    try:
        return _Reading(source, known, request, drop_missing, progress, only_labels, CommaWatch(certain=stated)).run()
    except DecimalCommaFound:
        known = replace(known, decimal_comma=True)
        return _Reading(source, known, request, drop_missing, progress, only_labels, CommaWatch(certain=stated)).run()


class _Reading:
    def __init__(
        self,
        source: ByteSource,
        known: DialectRequest,
        request: Request,
        drop_missing: bool,
        progress: Progress | None,
        only_labels: bool,
        commas: CommaWatch,
    ) -> None:
        self.source = source
        self.known = known
        self.request = request
        self.drop_missing = drop_missing
        self.progress = progress
        self.only_labels = only_labels
        self.commas = commas
        self.place = Place(source.path)

    def run(self) -> TextTable:
        encoding, compression = self._outer_layers()
        stream = TextStream(self.source, encoding, compression, hashing=True)
        try:
            return self._read(stream, encoding, compression)
        finally:
            stream.close()

    def _outer_layers(self) -> tuple[str, str | None]:
        with self.source.open() as raw:
            start = raw.read(4)
        compression = "gzip" if start.startswith(GZIP_MAGIC) else None
        if self.known.encoding is not None:
            return _check_encoding(self.known.encoding), compression
        if compression is None and start.startswith(_UTF16_MARKS):
            return "utf-16", None
        return "utf-8", compression

    def _read(self, stream: TextStream, encoding: str, compression: str | None) -> TextTable:
        delimiter = None if self.known.delimiter is None else check_delimiter(self.known.delimiter)
        sample = stream.peek(SAMPLE_LINES)
        if b"\r" in sample and b"\n" not in sample:
            stream.end_lines_at_carriage_returns()
            sample = sample.replace(b"\r", b"\n")
        if not sample.strip():
            what = "the file is empty" if not sample else "the file has only blank lines"
            raise DataError(faults.EMPTY, what, place=self.place, advice="is it the right file?")
        first_line = 1 + _blank_lines(sample)
        _refuse_delimiter_line(sample, Place(self.source.path, first_line))
        guess = sniff(sample, stream.ended, delimiter, self.known.header)
        if not guess.first:  # not even the first record can be cut into fields: have the parser say why
            list(read_records(stream, guess.delimiter, one=True))
            raise DataError(
                faults.LONG_LINE,
                f"no line that is not blank ends within the first {len(sample)} bytes",
                place=self.place,
                advice="delete the blank lines at the beginning",
            )
        self._check_first_line(guess, first_line)
        dialect = Dialect(guess.delimiter, guess.header.header, encoding, compression)
        columns, notes = self._columns(stream, guess, dialect, first_line)
        comma, points = _decimal_sign(guess, columns)
        if self.known.decimal_comma is not None:
            # Before the first decimal sign nothing is known, unless the caller says so.
            comma, points = self.known.decimal_comma, points or not self.known.decimal_comma
        dialect = replace(dialect, decimal_comma=comma)
        builder = TableBuilder(columns, self._expected_rows(sample))
        self._blocks(stream, builder, dialect, points)
        if builder.records == 0:
            what = "there is a header but no data row" if dialect.header else "there is no data row"
            raise DataError(faults.NO_ROWS, what, place=self.place, advice="is it the right file?")
        if comma:
            notes = (*notes, "numbers have a decimal comma")
        table = builder.finish()
        if self.known.header is None and (doubt := doubt_after_reading(guess.first, guess.header, table)):
            raise ask(doubt, self.source.path, first_line)
        return TextTable(table, dialect, notes, stream.carriage_returns)

    def _columns(
        self, stream: TextStream, guess: Guess, dialect: Dialect, first_line: int
    ) -> tuple[Columns, tuple[str, ...]]:
        """Consume the header, if there is one; return the roles of the columns, and notes."""
        notes: tuple[str, ...]
        if dialect.header:
            record = self._first_record(stream, dialect)
            names, notes = header_names(record.fields, self.source.path, record.line)
        else:
            names, notes = numbered_names(guess.width), ()
        if self.known.header is None and not self.only_labels:
            notes = (*notes, *_header_notes(guess, names))
        if self.only_labels:
            return label_only(names), notes
        columns, chosen = assign(names, self.request, self.source.path, named=dialect.header)
        self._check_last_column(guess, columns, first_line)
        return columns, (*notes, *chosen)

    def _check_first_line(self, guess: Guess, line: int) -> None:
        if guess.header.doubt:
            raise ask(guess.header.doubt, self.source.path, line)
        if guess.first and guess.first[0].startswith("#") and len(guess.first) != guess.width:
            raise DataError(
                faults.RAGGED,
                f"the first line begins with '#' and has {_fields(len(guess.first))}, those below have {guess.width}",
                place=Place(self.source.path, line),
                advice="'#' does not begin a comment here: delete such lines, or delete the '#' before names",
            )

    def _check_last_column(self, guess: Guess, columns: Columns, line: int) -> None:
        last = len(columns.names) - 1
        if not guess.empty_last or last in columns.dropped or (self.drop_missing and not guess.header.header):
            return
        number = str(last + 1)
        raise DataError(
            faults.MISSING,
            "the last column is empty: every line ends with a delimiter",
            place=Place(self.source.path, line, last + 1),
            advice=f"use --drop {number if number not in columns.names else columns.names[last]}",
        )

    def _first_record(self, stream: TextStream, dialect: Dialect) -> Record:
        (record,) = read_records(stream, dialect.delimiter, one=True)
        return record

    def _expected_rows(self, sample: bytes) -> int:
        lines = sum(1 for line in sample.split(b"\n") if line.strip())
        return int(self.source.size / len(sample) * lines * 1.02) + 16

    def _blocks(self, stream: TextStream, builder: TableBuilder, dialect: Dialect, points_seen: bool) -> None:
        if self.source.size > 4 * stream.block_bytes:
            _keep_freed_memory()
        log = FaultLog(self.source.path)
        columns = builder.columns
        fast = FastParser(
            columns,
            builder.levels,
            delimiter=dialect.delimiter,
            decimal_comma=dialect.decimal_comma,
            commas=self.commas,
        )
        slow = SlowParser(
            columns,
            builder.levels,
            log,
            delimiter=dialect.delimiter,
            decimal_comma=dialect.decimal_comma,
            points_seen=points_seen,
            drop_missing=self.drop_missing,
            commas=self.commas,
        )
        refused = skip = 0
        while stream.block or stream.advance():
            block = None
            if skip > 0:
                skip -= 1
            else:
                try:
                    block = fast.parse(stream.block, stream.offset, stream.line)
                    refused = 0
                except Refused:
                    refused += 1
                    skip = min(refused, 16) if refused >= _SLOW_IN_A_ROW else 0
            if block is None:
                block = slow.parse(stream)
            else:
                stream.skip(len(stream.block))
            if not log:
                builder.add(block)
            self._watch_classes(builder)
            if self.progress is not None:
                self.progress(min(stream.raw_position, self.source.size), self.source.size)
        if log:
            log.stop()
        self.commas.require_certainty(self.source.path)

    def _watch_classes(self, builder: TableBuilder) -> None:
        columns = builder.columns
        if columns.label is None:
            return
        texts = builder.levels[columns.coded.index(columns.label)].texts
        if len(texts) > MOST_CLASSES:
            name = columns.names[columns.label]
            raise too_many(texts, f"more than {MOST_CLASSES} values in the label column {name!r}, too many", self.place)


def _header_notes(guess: Guess, names: tuple[str, ...]) -> tuple[str, ...]:
    if not guess.header.header:
        return (f"there is no header: the columns are called {listed(names, most=3)}",)
    notes = []
    if guess.header.doubtful:
        notes.append(f"the first line is taken for a header: {listed(names)}")
    if guess.first[0].startswith("#"):
        notes.append(f"'#' does not begin a comment here: the first column is called {names[0]!r}")
    return tuple(notes)


def _decimal_sign(guess: Guess, columns: Columns) -> tuple[bool, bool]:
    """Return whether the decimal sign is a comma, and whether decimal points were seen in numeric columns."""
    points, commas = (sum(found[j] for j in columns.measured) for found in (guess.points, guess.commas))
    if not points and not commas and columns.label is not None:
        return guess.commas[columns.label] > guess.points[columns.label], False
    return commas > points, points > 0


def _fields(count: int) -> str:
    return f"{count} field{'s' * (count != 1)}"


def _blank_lines(sample: bytes) -> int:
    """Count the blank lines before the first other one."""
    return sample.count(b"\n", 0, len(sample) - len(sample.lstrip()))


def _refuse_delimiter_line(sample: bytes, place: Place) -> None:
    """Refuse the line ``sep=;`` that some spreadsheets put first."""
    found = _DELIMITER_LINE.match(sample)
    if found is not None:
        character = found[1].decode("ascii", "replace")
        raise DataError(
            faults.DELIMITER,
            f"the first line, 'sep={character}', is not part of the table",
            place=place,
            advice="delete that line; the delimiter is found, or stated with --delimiter",
        )


def _keep_freed_memory() -> None:
    """Have the allocator of the C library keep the temporary arrays of a block for the next block.

    Freeing a large piece that was mapped on its own makes glibc raise the size from which it maps pieces, and the size
    from which it gives memory back.  Without that each block costs thousands of page faults, a third of the time.
    """
    np.empty(_KEPT_BYTES, dtype=np.uint8)


def _check_encoding(encoding: str) -> str:
    import codecs

    try:
        codecs.lookup(encoding)
        "".encode(encoding)
    except (LookupError, ValueError) as error:
        raise DataError(
            faults.OPTION, f"there is no text encoding {encoding!r}", advice="such as utf-8 or latin-1"
        ) from error
    return encoding
