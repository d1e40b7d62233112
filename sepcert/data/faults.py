"""Codes of everything that can be wrong with data, and a log that counts faults of one kind."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from typing import NoReturn

from sepcert.errors import DataError, Place, register

# The file itself.
NOT_FOUND = register("DATA-NOT-FOUND", "The file does not exist.")
DIRECTORY = register("DATA-DIRECTORY", "The path is a directory.")
PERMISSION = register("DATA-PERMISSION", "The file may not be read.")
UNREADABLE = register("DATA-UNREADABLE", "The operating system cannot read the file.")
CHANGED = register("DATA-CHANGED", "The file is not the one that was read before, or that a certificate describes.")
FORMAT = register("DATA-FORMAT", "The file is of a kind that cannot be read.")
GZIP = register("DATA-GZIP", "The compressed file is damaged or cut short.")
OPTION = register("DATA-OPTION", "An option for reading data has a value that makes no sense.")

# Its text.
EMPTY = register("DATA-EMPTY", "There is nothing in the file.")
NO_ROWS = register("DATA-NO-ROWS", "The file has no data rows, or none that can be used.")
ENCODING = register("DATA-ENCODING", "The bytes are not text in the stated encoding.")
NUL = register("DATA-NUL", "The text contains a NUL byte.")
LONG_LINE = register("DATA-LONG-LINE", "A line or a field is absurdly long, or a quote is never closed.")
QUOTE = register("DATA-QUOTE", "A quoted field is malformed.")
RAGGED = register("DATA-RAGGED", "A row has another number of fields than the table.")
HEADER = register("DATA-HEADER", "It is not clear whether the first line names the columns.")
DELIMITER = register("DATA-DELIMITER", "The delimiter is not usable.")

# Columns.
DUPLICATE_NAME = register("DATA-DUPLICATE-NAME", "Two columns have the same name.")
UNKNOWN_COLUMN = register("DATA-UNKNOWN-COLUMN", "There is no column of that name or number.")
AMBIGUOUS_LABEL = register("DATA-AMBIGUOUS-LABEL", "Several columns could be the label.")
COLUMN_ROLES = register("DATA-COLUMN-ROLES", "A column has two roles that exclude each other.")
NO_FEATURES = register("DATA-NO-FEATURES", "No column is left as a feature.")

# Fields.
NUMBER = register("DATA-NUMBER", "A field is not a number.")
RANGE = register("DATA-RANGE", "A number is too large for binary64, or its exponent is absurd.")
INFINITE = register("DATA-INFINITE", "A number is infinite.")
MISSING = register("DATA-MISSING", "A value is missing.")
SEPARATORS = register("DATA-SEPARATORS", "A number has thousands separators, or its decimal sign is not certain.")
WEIGHT = register("DATA-WEIGHT", "A weight is negative.")

# Classes.
ONE_CLASS = register("DATA-ONE-CLASS", "All rows are of one class.")
MANY_CLASSES = register("DATA-MANY-CLASSES", "There are more than two classes.")
POSITIVE = register("DATA-POSITIVE", "The positive class does not occur.")
LENGTHS = register("DATA-LENGTHS", "Rows and labels differ in number.")

# Arrays.
ARRAY_TYPE = register("DATA-ARRAY-TYPE", "The array's type cannot be read as real numbers.")
ARRAY_SHAPE = register("DATA-ARRAY-SHAPE", "The array has the wrong shape.")
ARRAY_KEYS = register("DATA-ARRAY-KEYS", "The NPZ file lacks X or y.")
PICKLE = register("DATA-PICKLE", "The array holds Python objects; pickles are never loaded.")
SPARSE = register("DATA-SPARSE", "Sparse matrices cannot be used.")

SHOWN = 5
MOST_COUNTED = 100_000


class FaultLog:
    """Faults in the order in which they were met, counted by kind; the first five of each are kept.

    Parameters
    ----------
    path : str
        The file they are in, as the user knows it.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.total = 0
        self._counts: dict[str, int] = {}
        self._first: dict[str, list[tuple[str, Place, str]]] = {}

    def __bool__(self) -> bool:
        return self.total > 0

    def add(
        self, code: str, message: str, *, line: int | None = None, column: int | None = None, advice: str = ""
    ) -> None:
        """Count one fault; raise once there are absurdly many."""
        self.total += 1
        self._counts[code] = self._counts.get(code, 0) + 1
        kept = self._first.setdefault(code, [])
        if len(kept) < SHOWN:
            kept.append((message, Place(self.path, line, column), advice))
        if self.total >= MOST_COUNTED:
            self.stop()

    def stop(self) -> NoReturn:
        """Raise the first kind of fault as a DataError that also tells of the others."""
        at_least = "at least " if self.total >= MOST_COUNTED else ""
        code = next(iter(self._first))
        (message, place, advice), *others = self._first[code]
        more = [f"{where}: {text}" for text, where, _ in others]
        if self._counts[code] > 1:
            more.append(f"{at_least}{self._counts[code]} faults of this kind in all")
        for other, count in self._counts.items():
            if other != code:
                text, where, _ = self._first[other][0]
                more.append(f"also {at_least}{count} of {other}, the first at {where}: {text}")
        raise DataError(code, message, place=place, advice=advice, more=tuple(more))


def argument(name: str) -> str:
    """Return a column's name as it is typed on a command line, in one line."""
    return shlex.quote(name) if name.isprintable() else repr(name)


def nearest(name: str, names: Iterable[str]) -> str:
    """Return advice that names the closest of `names`, and a few of those there are."""
    import difflib

    known = list(names)
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    if not close:
        close = [k for k in known if k.casefold() == name.casefold()][:1]
    hint = f"did you mean {close[0]!r}? " if close else ""
    return f"{hint}there are {listed(known)}"


def listed(names: Iterable[str], most: int = 10) -> str:
    """Return names quoted and separated by commas; beyond `most` only how many more there are."""
    known = list(names)
    text = ", ".join(repr(k) for k in known[:most])
    return text if len(known) <= most else f"{text} and {len(known) - most} more"
