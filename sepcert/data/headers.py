"""Whether the first record of a text file names the columns, and when that has to be asked.

Rules for the first lines, in the order in which they apply.

No numeral in the first record: there is a header if some column holds text there and numbers in all records below.
Where no column does (all are text), there is one if the names are not empty, differ from each other and do not occur
as a value of their own column, or if one of them is a usual name of labels that does not recur below it.  A file of
a single record has a header if that record holds no number.  (The first column may lack a name, as in files of R.)

Numerals in the first record, as in ``2019,2020,y``: there is a header if a field is a usual name of labels and does
not recur below it; or if the last field alone is text, does not recur, and has numbers below; or if the first field
alone is empty, its column is not, and the others count up, as in files of pandas.  Otherwise there is none.

Doubt, which is an error rather than a guess: a first record with numerals and a ``y`` that may be a class or a level
(yes and no); the record 0, 1, 2, ... above numbers that all have decimal points; and, once all is read, a guessed name
that recurs in its column after all, or a first record taken for data whose label looks like a name.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from sepcert.data import faults
from sepcert.data.blocks import Table
from sepcert.data.columns import LABEL_NAMES
from sepcert.data.labels import used_codes
from sepcert.data.numerals import COMMA_NUMERAL, MISSING_TEXTS, NUMERAL, POINT_NUMERAL, is_missing
from sepcert.errors import DataError, Place

Records = list[list[str]]


@dataclass(frozen=True)
class HeaderGuess:
    """What the first lines say.

    Attributes
    ----------
    header : bool
    doubtful : bool
        Whether the header was found by weak evidence, so that it is to be noted.
    doubt : str
        Why the user has to be asked; empty where the guess stands.
    """

    header: bool
    doubtful: bool = False
    doubt: str = ""


def find_header(records: Records) -> HeaderGuess:
    """Return whether the first record names columns; the rules are those above."""
    if not records:
        return HeaderGuess(False)
    first, rest = records[0], records[1:]
    if all(field in MISSING_TEXTS for field in first):
        return HeaderGuess(False)
    below = [[r[j] for r in rest if j < len(r)] for j in range(len(first))]
    if any(NUMERAL.fullmatch(field) for field in first):
        return _among_numerals(first, below)
    if not rest:
        return HeaderGuess(True, doubtful=True)
    if any(name and _all_numerals(values) for name, values in zip(first, below, strict=True)):
        return HeaderGuess(True)
    if _label_name(first, below) is not None:
        return HeaderGuess(True, doubtful=True)
    distinct = len(set(first)) == len(first) and all(first[1:])
    recurs = any(name in values for name, values in zip(first, below, strict=True))
    return HeaderGuess(distinct and not recurs, doubtful=True)


def _among_numerals(first: list[str], below: Records) -> HeaderGuess:
    last = len(first) - 1
    j = _label_name(first, below)
    if j is not None:
        values = {v for v in below[j] if not is_missing(v)}
        sure = first[j].casefold() != "y" or not values or _all_numerals(below[j])
        if not sure and (j != last or len(values) == 1):
            return HeaderGuess(False, doubt=f"{first[j]!r} in it is a name or a value")
        return HeaderGuess(True, doubtful=True)
    others = first[1:-1] if not first[0] else first[:-1]
    if _is_text(first[last]) and all(NUMERAL.fullmatch(field) for field in others):
        if first[last] not in below[last] and _all_numerals(below[last]):
            return HeaderGuess(True, doubtful=True)
    elif not first[0] and last >= 2 and count_up(first[1:]) and not any(is_missing(v) for v in below[0]):
        return HeaderGuess(True, doubtful=True)
    elif first == [str(k) for k in range(len(first))] and last >= 1 and below[0]:
        values = {v for column in below[:-1] for v in column}
        if all(POINT_NUMERAL.fullmatch(v) for v in values):
            return HeaderGuess(False, doubt="it counts from 0, as the names of unnamed columns do")
    return HeaderGuess(False)


def _label_name(first: list[str], below: Records) -> int | None:
    """Return a column that is headed by a usual name of labels, which does not recur in it."""
    named = (j for j, field in enumerate(first) if field.casefold() in LABEL_NAMES and field not in below[j])
    return next(named, None)


def _is_text(field: str) -> bool:
    return field not in MISSING_TEXTS and not NUMERAL.fullmatch(field) and not COMMA_NUMERAL.fullmatch(field)


def _all_numerals(values: Sequence[str]) -> bool:
    """Whether there are values and all that are not missing are numerals."""
    present = [v for v in values if not is_missing(v)]
    return bool(present) and all(NUMERAL.fullmatch(v) for v in present)


def count_up(fields: Sequence[str]) -> bool:
    """Whether the fields are two or more integers, each greater by one than that before."""
    if len(fields) < 2 or not all(f.isascii() and f.isdigit() and len(f) < 10 for f in fields):
        return False
    return all(int(b) - int(a) == 1 for a, b in pairwise(fields))


def doubt_after_reading(first: Sequence[str], guess: HeaderGuess, table: Table) -> str:
    """Return why a guess cannot stand once the whole file has been read; empty if it can.

    Parameters
    ----------
    first : sequence of str
        Trimmed fields of the first record.
    guess : HeaderGuess
    table : Table
    """
    columns = table.columns
    if len(first) != len(columns.names):
        return ""
    if guess.header:
        for levels, j in zip(table.levels, columns.coded, strict=True):
            if guess.doubtful and first[j] in levels.codes:
                return f"{first[j]!r} in it recurs as a value of its column"
        return ""
    if not len(table.record_numbers) or table.record_numbers[0] != 0:
        return ""
    for levels, codes, j in zip(table.levels, table.codes, columns.coded, strict=True):
        if len(codes) < 2 or np.count_nonzero(codes == codes[0]) > 1:
            continue
        occurs = used_codes(codes, len(levels.codes))
        others = [t for t, here in zip(levels.texts, occurs, strict=True) if here and t != first[j]]
        if _is_text(first[j]) and all(NUMERAL.fullmatch(t) for t in others):
            return f"{first[j]!r} in it is the only text in its column"
        rest = [f for k, f in enumerate(first) if k != j]
        if j == columns.label and len(codes) > 2 and _is_text(first[j]) and count_up(rest):
            return f"it counts up, and {first[j]!r} in it does not recur"
    return ""


def ask(doubt: str, path: str, line: int) -> DataError:
    """Return the error that asks the user whether there is a header."""
    return DataError(
        faults.HEADER,
        f"the first line may be a header or data: {doubt}",
        place=Place(path, line),
        advice="use --header if it names the columns, --no-header if it is a row of data",
    )
