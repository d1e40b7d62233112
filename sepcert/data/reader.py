"""Reading a labelled table from a file, and reading it again as a certificate describes it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from sepcert.data import faults
from sepcert.data.assemble import (
    Content,
    ExactSource,
    LabelColumn,
    build_dataset,
    design_matrix,
    label_column,
    sorted_levels,
    without_missing_labels,
)
from sepcert.data.blocks import Table
from sepcert.data.columns import Request
from sepcert.data.dataset import Dataset
from sepcert.data.description import DataDescription, Dialect
from sepcert.data.exact_text import ExactText
from sepcert.data.file_kinds import Kind, kind_of
from sepcert.data.source import STANDARD_INPUT, ByteSource
from sepcert.data.text_table import DialectRequest, Progress, TextTable, read_text
from sepcert.errors import DataError, Place
from sepcert.status import Numbers

MISSING_CHOICES = ("error", "drop-rows")


@dataclass(frozen=True)
class ReadOptions:
    """What the user says about a data file.

    Columns are given by name or, where no column has that name, by 1-based number.

    Attributes
    ----------
    label : str, int or None
        The label column.  None: ``label``, ``y``, ``target`` or ``class`` if exactly one exists, else the last.
    labels_path : str or None
        A file of labels only, one a data row; then no column of the data file is the label, and `label` speaks of
        the file of labels.
    positive : str or None
        The positive class; None: the last in sorted order.
    drop, categorical : tuple of str
        Columns to leave out; columns whose values are levels.
    weight : str or None
        A column of weights; rows of weight zero are left out before anything else, but must be readable.
    missing : str
        ``"error"``, or ``"drop-rows"`` to leave out rows with missing values.
    numbers : Numbers or None
        How numerals are read.  None: as decimals from text, as binary64 from binary files.
    delimiter : str or None
        None: found.
    header : bool or None
        Whether the first line names the columns.  None: found.
    encoding : str or None
        Of text.  None: UTF-8, or UTF-16 with a byte-order mark.
    """

    label: str | int | None = None
    labels_path: str | None = None
    positive: str | None = None
    drop: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    weight: str | None = None
    missing: str = "error"
    numbers: Numbers | None = None
    delimiter: str | None = None
    header: bool | None = None
    encoding: str | None = None


@dataclass(frozen=True)
class _Plan:
    """A reading with nothing left to the options."""

    request: Request
    label_request: Request
    dialect: DialectRequest
    labels_path: str | None
    positive: str | None
    missing: str
    numbers: Numbers | None
    levels: dict[str, tuple[str, ...]] | None = None
    format: str | None = None


@dataclass(frozen=True)
class _Read:
    """A file as a table: `exact` gives its irregular rows once the design matrix is known."""

    table: Table
    dialect: Dialect | None
    notes: tuple[str, ...]
    exact: Callable[[Table, dict[str, tuple[str, ...]], np.ndarray[tuple[int, ...], np.dtype[np.float64]]], ExactSource]


def read_dataset(
    path: str, options: ReadOptions | None = None, *, progress: Progress | None = None
) -> Dataset:
    """Read a labelled table.

    Parameters
    ----------
    path : str
        CSV and its relatives, the same with gzip, NPY or NPZ; ``-`` is standard input.
    options : ReadOptions, optional
    progress : callable, optional
        Called now and then with the bytes read so far and, if known, how many there are.

    Returns
    -------
    Dataset
        Its `notes` say what was chosen and left out.

    Raises
    ------
    DataError
        The file cannot be read, or is not a table of numbers with labels of two classes.
    """
    options = options or ReadOptions()
    if options.missing not in MISSING_CHOICES:
        raise DataError(
            faults.OPTION, f"missing must be 'error' or 'drop-rows', not {options.missing!r}", advice="choose one"
        )
    separate = options.labels_path is not None
    plan = _Plan(
        request=Request(
            label=None if separate else options.label,
            separate_labels=separate,
            drop=options.drop,
            categorical=options.categorical,
            weight=options.weight,
        ),
        label_request=Request(label=options.label if separate else None),
        dialect=DialectRequest(options.delimiter, options.header, options.encoding),
        labels_path=options.labels_path,
        positive=options.positive,
        missing=options.missing,
        numbers=options.numbers,
    )
    return _carry_out(path, plan, progress)


def _carry_out(path: str, plan: _Plan, progress: Progress | None) -> Dataset:
    source = ByteSource(path)
    kind = kind_of(source)
    if plan.format is not None and plan.format != kind.value:
        raise _not_the_same(path, f"the file is of format {kind.value!r}, not {plan.format!r}")
    labels_source = None
    if kind is Kind.NPZ:
        read, labels = _read_npz(source, plan)
    else:
        read = _read_table(source, kind, plan, progress)
        labels = None
    table = read.table
    notes = read.notes
    if plan.labels_path is not None:
        if STANDARD_INPUT == path == plan.labels_path:
            raise DataError(faults.OPTION, "data and labels cannot both be standard input", advice="name a file")
        labels_source = ByteSource(plan.labels_path)
        labels, more = _read_labels(labels_source, plan, table)
        notes = (*notes, *more)
    if labels is None:
        labels = label_column(table, path)
    else:
        table, labels = without_missing_labels(table, labels)
    levels = sorted_levels(table, plan.levels, Place(path))
    matrix = design_matrix(table, levels)
    exact = None if table.irregular is None else read.exact(table, levels, matrix)
    usual, other = (Numbers.BINARY64, None) if kind is not Kind.TEXT else (Numbers.DECIMAL, Numbers.BINARY64)
    numbers = plan.numbers or usual
    if kind is Kind.TEXT and numbers is Numbers.BINARY64:
        other = Numbers.DECIMAL
    content = Content(kind.value, source, labels_source, table, labels, levels, read.dialect)
    return build_dataset(
        content,
        matrix,
        exact,
        numbers=numbers,
        other=other,
        positive=plan.positive,
        missing=plan.missing,
        notes=notes,
    )
