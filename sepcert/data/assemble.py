"""From a table, and perhaps labels read elsewhere, to a data set."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from sepcert.data import faults
from sepcert.data.blocks import MISSING_CODE, Table
from sepcert.data.columns import expanded_names
from sepcert.data.dataset import Dataset
from sepcert.data.description import DataDescription, Dialect
from sepcert.data.faults import argument, listed
from sepcert.data.fingerprint import matrix_sha256
from sepcert.data.labels import map_labels, used_codes
from sepcert.data.source import ByteSource
from sepcert.errors import DataError, Place
from sepcert.problem import BoolArray, FloatArray, IntArray, Points, SignArray
from sepcert.status import Numbers

_FEWEST_NUMBERED = 3  # rows from which a column that counts them is noted
ExactSource = Callable[[Sequence[int]], list[list[Fraction]]]


@dataclass(frozen=True)
class LabelColumn:
    """Labels of rows: a code for each, -1 for a missing one, and the texts of the codes.

    Attributes
    ----------
    codes : ndarray of int, shape (n,)
    texts : tuple of str
    name : str or None
        Of the label column of the same file.
    path : str
        Where the labels are, for messages.
    """

    codes: IntArray
    texts: tuple[str, ...]
    name: str | None
    path: str


@dataclass(frozen=True)
class Content:
    """Everything that was read, before labels are mapped.

    Attributes
    ----------
    format : str
        See DataDescription.
    source : ByteSource
    labels_source : ByteSource or None
    table : Table
    labels : LabelColumn
        As many as the table has rows.
    levels : dict of str to tuple of str
        Of the categorical columns, sorted.
    dialect : Dialect or None
    """

    format: str
    source: ByteSource
    labels_source: ByteSource | None
    table: Table
    labels: LabelColumn
    levels: dict[str, tuple[str, ...]]
    dialect: Dialect | None


def without_missing_labels(table: Table, labels: LabelColumn) -> tuple[Table, LabelColumn]:
    """Leave out the rows whose separate label is missing; they are counted as missing."""
    keep = labels.codes != MISSING_CODE
    if keep.all():
        return table, labels
    kept = replace(
        table,
        values=table.values[keep],
        codes=[c[keep] for c in table.codes],
        irregular=None if table.irregular is None else table.irregular[keep],
        record_numbers=table.record_numbers[keep],
        missing=table.missing + int((~keep).sum()),
    )
    return kept, replace(labels, codes=labels.codes[keep])


def sorted_levels(
    table: Table, recorded: dict[str, tuple[str, ...]] | None, place: Place
) -> dict[str, tuple[str, ...]]:
    """Return the levels that occur in each categorical column, sorted as text.

    Parameters
    ----------
    table : Table
    recorded : dict or None
        Levels that a certificate states: they must be the same.
    place : Place

    Raises
    ------
    DataError
        The levels are not the recorded ones.
    """
    columns = table.columns
    found: dict[str, tuple[str, ...]] = {}
    for j in columns.categorical:
        k = columns.coded.index(j)
        texts = table.levels[k].texts
        occurs = used_codes(table.codes[k], len(texts))
        name = columns.names[j]
        found[name] = tuple(sorted(text for text, here in zip(texts, occurs, strict=True) if here))
        if recorded is not None and found[name] != tuple(recorded[name]):
            raise DataError(
                faults.CHANGED,
                f"column {name!r} has levels {listed(found[name])}, not {listed(recorded[name])}",
                place=place,
                advice="verify with the file that the certificate was made from",
            )
    return found


def design_matrix(table: Table, levels: dict[str, tuple[str, ...]]) -> FloatArray:
    """Return the values with each categorical column replaced by an indicator for every level but the first."""
    columns = table.columns
    if not columns.categorical:
        return table.values
    width = len(expanded_names(columns, levels))
    matrix = np.empty((len(table.values), width), dtype=np.float64)
    at = 0
    numeric = iter(range(table.values.shape[1]))
    for j in columns.features:
        if j not in columns.categorical:
            matrix[:, at] = table.values[:, next(numeric)]
            at += 1
            continue
        k = columns.coded.index(j)
        codes = table.levels[k].codes
        for level in levels[columns.names[j]][1:]:
            matrix[:, at] = table.codes[k] == codes[level]
            at += 1
    return matrix


def label_column(table: Table, path: str) -> LabelColumn:
    """Return the label column of a table."""
    columns = table.columns
    if columns.label is None:
        raise ValueError("the table has no label column")
    k = columns.coded.index(columns.label)
    return LabelColumn(table.codes[k].astype(np.int64), table.levels[k].texts, columns.names[columns.label], path)


def build_dataset(
    content: Content,
    matrix: FloatArray,
    exact_source: ExactSource | None,
    *,
    numbers: Numbers,
    other: Numbers | None,
    positive: str | None,
    missing: str,
    notes: tuple[str, ...],
) -> Dataset:
    """Map the labels and describe the whole.

    Parameters
    ----------
    content : Content
    matrix : ndarray of float64, shape (n, d)
        Of :func:`design_matrix`.
    exact_source : callable or None
        Exact values of irregular rows.
    numbers : Numbers
        The reading asked for.
    other : Numbers or None
        The other reading, where there is one.
    positive : str or None
        Stated positive class.
    missing : str
        For the description.
    notes : tuple of str

    Raises
    ------
    DataError
        No rows, no columns, or not exactly two classes.
    """
    table, labels = content.table, content.labels
    columns = table.columns
    _require_rows(table, content.source.path)
    features = _feature_names(content)
    comma = content.dialect is not None and content.dialect.decimal_comma
    occurs = used_codes(labels.codes, len(labels.texts))
    mapping = map_labels(labels.texts, occurs, positive, Place(labels.path), comma)
    signs: SignArray = mapping.signs[labels.codes]
    description = DataDescription(
        format=content.format,
        path=content.source.path,
        rows=len(matrix),
        rows_read=table.records,
        features=features,
        columns=tuple(columns.names[j] for j in columns.features),
        label=labels.name,
        positive=mapping.positive,
        negative=mapping.negative,
        numbers=numbers.value,
        dialect=content.dialect,
        labels_path=None if content.labels_source is None else content.labels_source.path,
        dropped=tuple(columns.names[j] for j in columns.dropped),
        categorical=content.levels,
        weight=None if columns.weight is None else columns.names[columns.weight],
        missing=missing,
    )
    stored = content.dialect is None
    points = _points(matrix, table.irregular, exact_source, numbers, stored)
    records, layout = table.record_numbers, table.layout

    def line_numbers(rows: Sequence[int]) -> list[int]:
        return [] if layout is None else layout.lines(records[np.asarray(rows, dtype=np.int64)])

    def fingerprint() -> DataDescription:
        return replace(
            description,
            sha256=content.source.sha256(),
            labels_sha256=None if content.labels_source is None else content.labels_source.sha256(),
            matrix_sha256=matrix_sha256(points, signs),
        )

    return Dataset(
        points=points,
        labels=signs,
        row_numbers=records + 1,
        description=description,
        fingerprint=fingerprint,
        other_reading=None if other is None else _points(matrix, table.irregular, exact_source, other, stored),
        line_numbers=None if layout is None else line_numbers,
        notes=(*notes, *mapping.notes, *_row_numbers(table), *_left_out(table)),
        missing_rows=table.missing,
        zero_weight_rows=table.weightless,
    )


def _points(
    matrix: FloatArray, irregular: BoolArray | None, exact: ExactSource | None, numbers: Numbers, stored: bool
) -> Points:
    # Stored integers may lie between doubles; numerals read as binary64 never do.
    if irregular is None or (numbers is Numbers.BINARY64 and not stored):
        return Points(matrix, numbers)
    return Points(matrix, numbers, irregular, exact)


def _require_rows(table: Table, path: str) -> None:
    if len(table.values):
        return
    reasons = []
    if table.weightless:
        reasons.append(f"{table.weightless} of weight zero")
    if table.missing:
        reasons.append(f"{table.missing} with missing values")
    raise DataError(
        faults.NO_ROWS,
        f"no row can be used: of {table.records} rows {' and '.join(reasons) or 'none'}",
        place=Place(path),
        advice="check the weights and the missing values",
    )


def _feature_names(content: Content) -> tuple[str, ...]:
    columns = content.table.columns
    features = expanded_names(columns, content.levels)
    place = Place(content.source.path)
    if not features:
        raise DataError(
            faults.NO_FEATURES,
            "no feature is left: every categorical column has a single level",
            place=place,
            advice="drop fewer columns",
        )
    if len(set(features)) < len(features):
        twice = next(name for k, name in enumerate(features) if name in features[:k])
        raise DataError(
            faults.DUPLICATE_NAME, f"two columns would be named {twice!r}", place=place, advice="rename one"
        )
    return features


def _left_out(table: Table) -> tuple[str, ...]:
    notes = []
    for count, what in ((table.weightless, "weight zero"), (table.missing, "missing values")):
        if count:
            verbs = ("has", "was") if count == 1 else ("have", "were")
            notes.append(f"{count} of {table.records} rows {verbs[0]} {what} and {verbs[1]} left out")
    return tuple(notes)


def _row_numbers(table: Table) -> tuple[str, ...]:
    """Note numeric columns that only count the rows, from 0 or from 1."""
    if len(table.values) < _FEWEST_NUMBERED:
        return ()
    numbers = table.record_numbers
    notes = []
    for k, j in enumerate(table.columns.numeric):
        column = table.values[:, k]
        start = column[0] - numbers[0]
        if start in (0.0, 1.0) and column[-1] - numbers[-1] == start and bool((column - numbers == start).all()):
            name = table.columns.names[j]
            notes.append(f"column {name!r} looks like row numbers; --drop {argument(name)} leaves it out")
    return tuple(notes)
