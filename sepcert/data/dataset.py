"""A labelled table in memory, with what is needed to speak of its rows and columns as the user knows them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sepcert.data.description import DataDescription
from sepcert.problem import IntArray, Points, SignArray


@dataclass(frozen=True)
class RowCounts:
    """What became of the data rows of a file.

    Attributes
    ----------
    read : int
        All data rows.
    used : int
        Those in the data set: `read` less the two others.
    missing : int
        Rows left out for missing values (also those whose weight is zero).
    zero_weight : int
        Rows left out because their weight is zero.
    """

    read: int
    used: int
    missing: int = 0
    zero_weight: int = 0


@dataclass(frozen=True, eq=False)
class Dataset:
    """Points and labels that were read, and their description.

    Attributes
    ----------
    points : Points
        The n rows used.
    labels : ndarray of int8, shape (n,)
        +1 for the positive class, -1 for the other.
    row_numbers : ndarray of int64, shape (n,)
        For each row used its 1-based number among the data rows of the file; increasing.
    description : DataDescription
        Fingerprints are None in it; :meth:`fingerprint` gives one that has them.
    other_reading : Points or None
        The same numerals read the other way (decimal / binary64); None where there is only one reading.
    line_numbers : callable or None
        Given indices of used rows (0-based), the lines of the file where they begin (1-based); None where lines
        make no sense.
    notes : tuple of str
        What was chosen or left out while reading, for the log.
    fingerprint : callable
        Returns the description with sha256, labels_sha256 and matrix_sha256 filled in.
    missing_rows, zero_weight_rows : int
        Rows left out for missing values, and for a weight of zero; see :attr:`counts`.
    """

    points: Points
    labels: SignArray
    row_numbers: IntArray
    description: DataDescription
    fingerprint: Callable[[], DataDescription]
    other_reading: Points | None = None
    line_numbers: Callable[[Sequence[int]], list[int]] | None = None
    notes: tuple[str, ...] = ()
    missing_rows: int = 0
    zero_weight_rows: int = 0

    @property
    def counts(self) -> RowCounts:
        """What became of the data rows."""
        description = self.description
        return RowCounts(description.rows_read, description.rows, self.missing_rows, self.zero_weight_rows)
