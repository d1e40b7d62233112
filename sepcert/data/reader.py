"""Reading a labelled table from a file, and reading it again as a certificate describes it."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

from sepcert.data import faults
from sepcert.data.array_table import AnyArray, table_of_array
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
from sepcert.data.columns import Request, assign, numbered_names
from sepcert.data.dataset import Dataset
from sepcert.data.description import DataDescription, Dialect
from sepcert.data.exact_text import ExactText
from sepcert.data.file_kinds import Kind, kind_of
from sepcert.data.label_files import labels_of_array, read_label_file
from sepcert.data.numpy_files import load_npy, load_npz, require_table
from sepcert.data.source import STANDARD_INPUT, ByteSource
from sepcert.data.stored_numbers import StoredNumbers, stored_numbers
from sepcert.data.text_table import DialectRequest, Progress, TextTable, read_text
from sepcert.errors import DataError, Place
from sepcert.problem import FloatArray
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
        A file of labels only, one a data row; then no column of the data file is the label.
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
    exact: Callable[[Table, dict[str, tuple[str, ...]], FloatArray], ExactSource]


def read_dataset(
    path: str | os.PathLike[str], options: ReadOptions | None = None, *, progress: Progress | None = None
) -> Dataset:
    """Read a labelled table.

    Parameters
    ----------
    path : str or path-like
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
    path = os.fspath(path)
    options = options or ReadOptions()
    if options.missing not in MISSING_CHOICES:
        raise DataError(
            faults.OPTION, f"missing must be 'error' or 'drop-rows', not {options.missing!r}", advice="choose one"
        )
    separate = options.labels_path is not None
    if separate and options.label is not None:
        raise DataError(
            faults.OPTION, "the labels are either a column or a file", advice="leave out --label or --labels"
        )
    plan = _Plan(
        request=Request(
            label=None if separate else options.label,
            separate_labels=separate,
            drop=options.drop,
            categorical=options.categorical,
            weight=options.weight,
        ),
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
        labels, more = read_label_file(labels_source, plan.dialect.encoding, plan.missing, table)
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


def _read_table(source: ByteSource, kind: Kind, plan: _Plan, progress: Progress | None) -> _Read:
    drop_missing = plan.missing == "drop-rows"
    if kind is Kind.TEXT:
        text = read_text(source, plan.dialect, plan.request, drop_missing=drop_missing, progress=progress)
        return _of_text(source, text)
    array = require_table(load_npy(source), source.path)
    return _of_array(array, source, plan)


def _of_text(source: ByteSource, text: TextTable) -> _Read:
    def exact(table: Table, levels: dict[str, tuple[str, ...]], matrix: FloatArray) -> ExactSource:
        return ExactText(source, text.dialect, text.carriage_returns, table, levels, matrix)

    return _Read(text.table, text.dialect, text.notes, exact)


def _of_array(array: AnyArray, source: ByteSource, plan: _Plan) -> _Read:
    stored = stored_numbers(array, plan.numbers or Numbers.BINARY64, Place(source.path))
    names = numbered_names(array.shape[1])
    columns, notes = assign(names, plan.request, source.path, named=False)
    table, _ = table_of_array(stored, columns, source.path, drop_missing=plan.missing == "drop-rows")

    def exact(table: Table, levels: dict[str, tuple[str, ...]], matrix: FloatArray) -> ExactSource:
        return partial(_exact_stored, stored, table, levels)

    return _Read(table, None, notes, exact)


def _exact_stored(
    stored: StoredNumbers, table: Table, levels: dict[str, tuple[str, ...]], rows: Sequence[int]
) -> list[list[Fraction]]:
    columns = table.columns
    found = []
    for row in rows:
        (entries,) = stored.exact([int(table.record_numbers[row])])
        exact: list[Fraction] = []
        for j in columns.features:
            if j in columns.categorical:
                k = columns.coded.index(j)
                text = table.levels[k].texts[int(table.codes[k][row])]
                exact.extend(Fraction(int(text == level)) for level in levels[columns.names[j]][1:])
            else:
                exact.append(entries[j])
        found.append(exact)
    return found


def _read_npz(source: ByteSource, plan: _Plan) -> tuple[_Read, LabelColumn | None]:
    X, y = load_npz(source)
    X = require_table(X, source.path)
    place = Place(source.path)
    separate = plan.labels_path is not None
    if not separate:
        if plan.request.label not in (None, "y"):
            raise DataError(
                faults.UNKNOWN_COLUMN,
                f"there is no label {plan.request.label!r}: the labels of an NPZ file are its array y",
                place=place,
                advice="leave --label out, or use --labels FILE",
            )
        if y is None:
            raise DataError(
                faults.ARRAY_KEYS,
                "there is no array 'y' in the file",
                place=place,
                advice="save it with numpy.savez(path, X=..., y=...), or use --labels FILE",
            )
    request = replace(plan.request, label=None, separate_labels=True)
    read = _of_array(X, source, replace(plan, request=request))
    if separate or y is None:
        return read, None
    return read, labels_of_array(y, read.table, source.path, plan.missing)


def _not_the_same(path: str, message: str) -> DataError:
    return DataError(
        faults.CHANGED,
        message,
        place=Place(path),
        advice="verify with the file that the certificate was made from",
    )


def rebuild_dataset(description: DataDescription, path: str | None = None, labels_path: str | None = None) -> Dataset:
    """Read a file exactly as a certificate describes it; nothing is guessed.

    Parameters
    ----------
    description : DataDescription
    path, labels_path : str, optional
        Where the files are now; None: where the description says.

    Returns
    -------
    Dataset
        Its number of rows and its fingerprint may differ from those described: that is for the verifier to judge.

    Raises
    ------
    DataError
        There is no file, it cannot be read in the described way, or its columns, levels or classes are not those
        described.
    """
    path = path or description.path
    if path is None or description.format not in {kind.value for kind in Kind}:
        raise DataError(
            faults.FORMAT,
            f"data of format {description.format!r} are in no file",
            advice="give the arrays that the certificate was made from",
        )
    if description.missing not in MISSING_CHOICES:
        raise _not_the_same(path, f"missing is {description.missing!r}")
    separate = description.label is None
    if separate and description.labels_path is not None:
        labels_path = labels_path or description.labels_path
    elif labels_path is not None or description.labels_path is not None:
        raise _not_the_same(path, "the certificate has no separate file of labels")
    elif separate and description.format != Kind.NPZ.value:
        raise _not_the_same(path, "the certificate names neither a label column nor a file of labels")
    dialect = description.dialect or Dialect()
    plan = _Plan(
        request=Request(
            label=description.label,
            separate_labels=separate,
            drop=description.dropped,
            categorical=tuple(description.categorical),
            weight=description.weight,
        ),
        dialect=DialectRequest(dialect.delimiter, dialect.header, dialect.encoding, dialect.decimal_comma),
        labels_path=labels_path,
        positive=description.positive,
        missing=description.missing,
        numbers=_numbers(description.numbers, path),
        levels=description.categorical,
        format=description.format,
    )
    dataset = _carry_out(path, plan, None)
    found = dataset.description
    for what, described, here in (
        ("columns", description.columns, found.columns),
        ("features", description.features, found.features),
        ("label", description.label, found.label),
        ("classes", (description.positive, description.negative), (found.positive, found.negative)),
        ("dropped columns", tuple(sorted(description.dropped)), tuple(sorted(found.dropped))),
        ("compression", dialect.compression, (found.dialect or dialect).compression),
    ):
        if described != here:
            raise _not_the_same(path, f"the {what} are {here!r}, not {described!r}")
    return dataset


def _numbers(name: str, path: str) -> Numbers:
    try:
        return Numbers(name)
    except ValueError:
        raise _not_the_same(path, f"numbers are {name!r}") from None
