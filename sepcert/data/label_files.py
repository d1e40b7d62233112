"""Labels that are kept apart from the rows: a file of labels, or the array y of an NPZ file."""

from __future__ import annotations

import numpy as np

from sepcert.data import faults
from sepcert.data.array_table import AnyArray, code_labels
from sepcert.data.assemble import LabelColumn, label_column
from sepcert.data.blocks import MISSING_CODE, Table
from sepcert.data.columns import Request
from sepcert.data.file_kinds import Kind, kind_of
from sepcert.data.numpy_files import load_npy
from sepcert.data.source import ByteSource
from sepcert.data.text_table import DialectRequest, read_text
from sepcert.errors import DataError, Place

NO_DELIMITER = "\x1f"  # the unit separator, which no file of labels has


def read_label_file(
    source: ByteSource, encoding: str | None, missing: str, table: Table
) -> tuple[LabelColumn, tuple[str, ...]]:
    """Read a file with one label for each record of a table.

    Parameters
    ----------
    source : ByteSource
        Text with one label a line (a header, if there is one, must be recognisable) or NPY.
    encoding : str or None
    missing : str
        See ReadOptions.
    table : Table

    Returns
    -------
    LabelColumn
        Of the rows of the table; the code is -1 where the label is missing.
    notes : tuple of str

    Raises
    ------
    DataError
    """
    kind = kind_of(source)
    if kind is Kind.NPY:
        return labels_of_array(load_npy(source), table, source.path, missing), ()
    if kind is Kind.NPZ:
        raise DataError(
            faults.FORMAT,
            "labels cannot be NPZ",
            place=Place(source.path),
            advice="use text with one label a line, or NPY",
        )
    text = read_text(
        source,
        DialectRequest(delimiter=NO_DELIMITER, encoding=encoding),
        Request(),
        drop_missing=missing == "drop-rows",
        only_labels=True,
    )
    own = label_column(text.table, source.path)
    _require_lengths(text.table.records, table.records, source.path)
    codes = np.full(text.table.records, MISSING_CODE, dtype=np.int64)
    codes[text.table.record_numbers] = own.codes
    return LabelColumn(codes[table.record_numbers], own.texts, None, source.path), text.notes


def labels_of_array(y: AnyArray, table: Table, path: str, missing: str) -> LabelColumn:
    """Return the labels of the rows of a table from an array with one label for each record.

    Raises
    ------
    DataError
        Another length, or a label is missing and must not be.
    """
    coded = code_labels(y, Place(path))
    _require_lengths(len(coded.codes), table.records, path)
    without = np.flatnonzero(coded.codes == MISSING_CODE)
    if without.size and missing == "error":
        raise DataError(
            faults.MISSING,
            f"the label of row {without[0] + 1} is missing ({without.size} in all)",
            place=Place(path),
            advice="use --missing drop-rows, or fill it in",
        )
    return LabelColumn(coded.codes[table.record_numbers], coded.texts, None, path)


def _require_lengths(labels: int, rows: int, path: str) -> None:
    if labels != rows:
        raise DataError(
            faults.LENGTHS,
            f"there are {labels} labels for {rows} rows",
            place=Place(path),
            advice="give one label a data row; a header, if any, must be recognisable as such",
        )
