"""Arrays and frames in memory as data sets: what the library is given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sepcert.data import faults
from sepcert.data.array_table import code_labels, find_faults, number_text
from sepcert.data.blocks import MISSING_CODE
from sepcert.data.columns import numbered_names
from sepcert.data.dataset import Dataset
from sepcert.data.description import DataDescription
from sepcert.data.fingerprint import matrix_sha256
from sepcert.data.labels import map_labels, used_codes
from sepcert.data.numerals import EXACT_INTEGERS
from sepcert.data.numpy_files import require_table
from sepcert.data.stored_numbers import StoredNumbers, stored_numbers
from sepcert.errors import DataError, Place
from sepcert.problem import BoolArray, Points
from sepcert.status import Numbers

AnyArray = NDArray[Any]
_X, _Y = Place("X"), Place("y")


def dataset_from_arrays(
    X: Any,
    y: Any,
    *,
    numbers: Numbers = Numbers.BINARY64,
    positive: Any = None,
    feature_names: Sequence[str] | None = None,
) -> Dataset:
    """Make a data set of arrays; a C-contiguous float64 X is not copied.

    Parameters
    ----------
    X : array_like, shape (n, d)
        Real numbers of any type, nested lists, or a frame with ``columns``.
    y : array_like, shape (n,)
        Numbers, booleans or text of two classes.
    numbers : Numbers
        BINARY64: the stored values.  DECIMAL: floats stand for the shortest decimals that round to them.
    positive : optional
        The positive class; None: the last in sorted order.
    feature_names : sequence of str, optional
        None: those of a frame, else x1 ... xd.

    Raises
    ------
    DataError
        Wrong shapes or types, missing or infinite values, or not exactly two classes.
    """
    names = None if feature_names is None else tuple(str(name) for name in feature_names)
    stored, own_names = _table(X, numbers)
    n, d = stored.values.shape
    names = names or own_names or numbered_names(d)
    if len(names) != d or len(set(names)) < d:
        raise DataError(
            faults.DUPLICATE_NAME if len(names) == d else faults.LENGTHS,
            f"{len(names)} feature names, {len(set(names))} of them distinct, for {d} columns",
            place=_X,
            advice="name every column once",
        )
    find_faults(stored.values, range(d), names, "X")
    labels = code_labels(_plain_array(y, _Y), _Y)
    if len(labels.codes) != n:
        raise DataError(
            faults.LENGTHS, f"there are {len(labels.codes)} labels for {n} rows", place=_Y, advice="give one a row"
        )
    absent = labels.codes == MISSING_CODE
    if absent.any():
        row = int(np.argmax(absent)) + 1
        raise DataError(
            faults.MISSING,
            f"the label of row {row} is missing ({int(absent.sum())} in all)",
            place=_Y,
            advice="fill it in",
        )
    stated = None if positive is None else number_text(positive)
    mapping = map_labels(labels.texts, used_codes(labels.codes, len(labels.texts)), stated, _Y)
    signs = mapping.signs[labels.codes]
    points = Points(stored.values, numbers, stored.irregular, None if stored.irregular is None else stored.exact)
    description = DataDescription(
        format="array",
        path=None,
        rows=n,
        rows_read=n,
        features=names,
        columns=names,
        label=None,
        positive=mapping.positive,
        negative=mapping.negative,
        numbers=numbers.value,
    )
    return Dataset(
        points=points,
        labels=signs,
        row_numbers=np.arange(1, n + 1),
        description=description,
        fingerprint=lambda: replace(description, matrix_sha256=matrix_sha256(points, signs)),
        notes=mapping.notes,
    )


def _table(X: Any, numbers: Numbers) -> tuple[StoredNumbers, tuple[str, ...] | None]:
    if hasattr(X, "columns") and hasattr(X, "__getitem__") and not isinstance(X, np.ndarray):
        names = tuple(str(name) for name in X.columns)
        if len(set(names)) == len(names) and names:
            return _frame(X, names, numbers), names
    array = _plain_array(X, _X)
    if array.dtype.kind in "US":
        raise DataError(
            faults.ARRAY_TYPE, "X holds text, not numbers", place=_X, advice="convert it to float64, or encode the text"
        )
    return stored_numbers(require_table(array, "X"), numbers, _X), None


def _frame(X: Any, names: tuple[str, ...], numbers: Numbers) -> StoredNumbers:
    """Read a frame column by column, for a common type of all columns may not hold their values."""
    columns = []
    for key, name in zip(X.columns, names, strict=True):
        column = _plain_array(X[key], _X)
        if column.ndim != 1:
            raise DataError(faults.ARRAY_SHAPE, f"column {name!r} has shape {column.shape}", place=_X)
        if column.dtype.kind not in "fiubO":
            raise DataError(
                faults.ARRAY_TYPE,
                f"column {name!r} holds {column.dtype.name}, not numbers",
                place=_X,
                advice=f"leave out {name!r} or encode it",
            )
        columns.append(column)
    if len({c.dtype for c in columns}) == 1:
        return stored_numbers(require_table(np.stack(columns, axis=1), "X"), numbers, _X)
    parts = [stored_numbers(c.reshape(-1, 1), numbers, _X) for c in columns]
    odd = [part.irregular for part in parts if part.irregular is not None]
    irregular: BoolArray | None = np.logical_or.reduce(odd) if odd else None
    values = np.hstack([part.values for part in parts])
    original = np.empty(values.shape, dtype=object) if odd else values
    if odd:
        for j, part in enumerate(parts):
            original[:, j] = part.original[:, 0]
    return StoredNumbers(require_table(values, "X"), irregular, original, numbers)


def _plain_array(values: Any, place: Place) -> AnyArray:
    if isinstance(values, np.ma.MaskedArray):
        if np.ma.getmaskarray(values).any():
            at = np.argwhere(np.ma.getmaskarray(values))[0] + 1
            raise DataError(
                faults.MISSING,
                f"a value is masked ({', '.join(f'{w} {k}' for w, k in zip(('row', 'column'), at, strict=False))})",
                place=place,
                advice="leave out its row, or fill it in",
            )
        return np.asarray(values.data)
    if isinstance(values, np.ndarray):
        return np.asarray(values)
    if hasattr(values, "toarray") and hasattr(values, "nnz"):
        raise DataError(
            faults.SPARSE, "the matrix is sparse", place=place, advice="use X.toarray() if it fits in memory"
        )
    try:
        if hasattr(values, "to_numpy"):
            return np.asarray(values.to_numpy())
        array = np.asarray(values)
        if not hasattr(values, "__array__") and _lost_types(array):
            array = np.asarray(values, dtype=object)
        return array
    except (ValueError, TypeError) as error:
        raise DataError(
            faults.ARRAY_SHAPE, f"this is no array: {error}", place=place, advice="rows must be equally long"
        ) from error


def _lost_types(array: AnyArray) -> bool:
    """Whether a list became an array of one type at the cost of its entries: numbers as text, integers as floats."""
    if array.dtype.kind == "f":
        size = np.abs(array)
        return bool(((size >= EXACT_INTEGERS) & (size < np.inf)).any())
    return array.dtype.kind in "US" and array.ndim > 0
