"""Which dialect a text file is in, from its first lines.

Rules, in the order in which they apply.

Line ends: LF and CRLF; where the sample has no LF but CRs, CR ends a line.

Delimiter: of comma, tab, semicolon, bar and blank the one with which most of the first 50 records have the same
number (at least two) of fields and most fields are numbers or free of other delimiters; a comma when none does, for
then there is one column.

Decimal comma: where the delimiter is no comma, and more fields of numeric columns are numerals only with a decimal
comma than are numerals only with a decimal point, the others being faults; the label counts where those have neither.
Which columns are numeric is known later, so that here fields are counted by column.

Header: see :mod:`sepcert.data.headers`.
"""

from __future__ import annotations

import contextlib
import csv
import re
from collections import Counter
from dataclasses import dataclass

from sepcert.data import faults
from sepcert.data.headers import HeaderGuess, find_header
from sepcert.data.numerals import (
    BLANKS,
    COMMA_NUMERAL,
    NUMERAL,
    POINT_NUMERAL,
)
from sepcert.errors import DataError

DELIMITERS = ",\t;| "
RECORDS = 50
_NAMED = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "bar": "|", "pipe": "|", "space": " ", "blank": " "}

Records = list[list[str]]


@dataclass(frozen=True)
class Guess:
    """What the sample says.

    Attributes
    ----------
    delimiter : str
    header : HeaderGuess
    first : tuple of str
        Trimmed fields of the first record.
    empty_last : bool
        Whether the last field of every record is empty, that of a header included, and there are other fields.
    points, commas : Counter of int
        For each column (0-based) how many fields are numerals with a decimal point, and with a decimal comma.
    width : int
        The usual number of fields.
    """

    delimiter: str
    header: HeaderGuess
    first: tuple[str, ...]
    empty_last: bool
    points: Counter[int]
    commas: Counter[int]
    width: int


def check_delimiter(delimiter: str) -> str:
    """Return the delimiter as one character, or raise a DataError."""
    found = _NAMED.get(delimiter, delimiter)
    if len(found) != 1 or not found.isascii() or found in '"\r\n\0+-.' or found.isalnum():
        raise DataError(
            faults.DELIMITER,
            f"{delimiter!r} cannot delimit fields",
            advice="use one character such as , ; | or tab",
        )
    return found


def sniff(sample: bytes, complete: bool, delimiter: str | None, header: bool | None) -> Guess:
    """Guess a dialect.

    Parameters
    ----------
    sample : bytes
        The first lines, with LF line ends.
    complete : bool
        Whether that is the whole file; if not, its last line is left out.
    delimiter, header : optional
        Given by the user: not guessed.
    """
    text = sample.decode("utf-8", errors="replace")
    lines = text.split("\n")
    if not complete and len(lines) > 1:
        lines.pop()
    lines = [line for line in lines if line.strip()][:RECORDS]
    if delimiter is None:
        tables = {d: _records(lines, d) for d in DELIMITERS if any(d in line for line in lines)}
        scores = {d: _score(table, d) for d, table in tables.items()}
        delimiter = max(scores, key=lambda d: scores[d], default=",")
        if not scores or scores[delimiter][0] <= 0:
            delimiter = ","
    records = _records(lines, delimiter)
    first = tuple(records[0]) if records else ()
    points = _count(records, POINT_NUMERAL)
    commas: Counter[int] = Counter() if delimiter == "," else _count(records, COMMA_NUMERAL)
    if commas:
        records = [[f.replace(",", ".") if COMMA_NUMERAL.fullmatch(f) else f for f in record] for record in records]
    found = find_header(records) if header is None else HeaderGuess(header)
    widths = Counter(len(record) for record in records[int(found.header) :] or records)
    width = widths.most_common(1)[0][0] if widths else 1
    empty_last = len(records) > int(found.header) and all(len(r) == width > 1 and not r[-1] for r in records)
    return Guess(delimiter, found, first, empty_last, points, commas, width)


def _count(records: Records, pattern: re.Pattern[str]) -> Counter[int]:
    return Counter(j for record in records for j, field in enumerate(record) if pattern.fullmatch(field))


def csv_reader_options(delimiter: str) -> dict[str, object]:
    """Return what csv.reader has to know of a dialect."""
    return {"delimiter": delimiter, "quotechar": '"', "doublequote": True, "skipinitialspace": delimiter == " "}


def _records(lines: list[str], delimiter: str) -> Records:
    if delimiter == " ":
        lines = [line.strip(BLANKS) for line in lines]
    reader = csv.reader(lines, strict=False, **csv_reader_options(delimiter))  # type: ignore[arg-type]
    records: Records = []
    with contextlib.suppress(csv.Error):  # the parser will say where; what came before is enough to guess by
        records.extend([field.strip(BLANKS) for field in record] for record in reader if record)
    return records


def _score(records: Records, delimiter: str) -> tuple[float, float]:
    """Share of the records with the usual number of fields, and the share of sound fields."""
    if not records:
        return 0.0, 0.0
    (width, count), *_ = Counter(len(record) for record in records).most_common(1)
    if width < 2:
        return 0.0, 0.0
    others = [d for d in DELIMITERS if d not in (delimiter, " ", ",")] + ([","] if delimiter == " " else [])
    fields = [field for record in records for field in record]
    sound = sum(
        1.0
        if NUMERAL.fullmatch(field) or (delimiter != "," and COMMA_NUMERAL.fullmatch(field))
        else 0.5 * (not any(d in field for d in others))
        for field in fields
    )
    return count / len(records) * (sound / len(fields)), count / len(records)
